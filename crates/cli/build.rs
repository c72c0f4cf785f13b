//! Links the program at a fixed address on Linux with glibc.
//!
//! A host waits for every hook, and a third of the time of a short one went into adjusting 24,000 pointers for an address
//! that is another one each time: a hundred pages are written to before `main` begins. The stack, the heap and the
//! libraries stay at random addresses.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
