//! A session that is large: taken whole, in memory that does not grow with it.

use serde_json::Value;

use super::{command, read_json};

#[path = "../../../examples/large_session.rs"]
#[expect(dead_code, reason = "the example has a main of its own")]
mod large_session;

/// Far below what the whole session would take.
const MAX_KIB: i64 = 80 << 10;

#[test]
fn a_large_session_is_saved_in_bounded_memory() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("large.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    let cwd = home.path().canonicalize().unwrap();
    let n_items = large_session::write_session(48 << 20, cwd.to_str().unwrap(), &mut file).unwrap();
    drop(file);
    let mut command = command(home.path());
    command.args(["handoff", "save", "--json", "--source", "claude-code", "--session"]).arg(&path);
    let child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let (stdout, max_kib) = finish(child);
    let saved: Value = serde_json::from_str(&stdout).unwrap();
    let document = read_json(std::path::Path::new(saved["resource"].as_str().unwrap()));
    assert_eq!(document["items"].as_array().unwrap().len() as u64, n_items);
    assert_eq!(document["counts"]["responses_items"], n_items);
    assert!(max_kib < MAX_KIB, "{max_kib} KiB");
}

/// What a process printed, and the most memory it had, in KiB.
#[expect(unsafe_code, reason = "only wait4 tells the memory of one child")]
fn finish(mut child: std::process::Child) -> (String, i64) {
    let stdout = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
    let mut status = 0;
    // SAFETY: both pointers are to valid, writable values, and the child was not waited for.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        assert_eq!(libc::wait4(child.id() as i32, &raw mut status, 0, &raw mut usage), child.id() as i32);
        usage
    };
    assert_eq!(status, 0);
    (stdout, usage.ru_maxrss)
}
