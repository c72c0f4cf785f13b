//! `mem0-code`: one memory for every coding agent on a machine.
//!
//! The effects live here; what is decided is decided in `mem0-code-core`, what is kept is kept by
//! `mem0-code-engine`. Hooks run on every prompt and every tool call, so they are told apart before clap,
//! configuration, logging or TLS exist.

mod backend;
mod bundle;
mod capture;
mod cli;
mod commands;
mod deliver;
mod env;
mod fsx;
mod git;
mod handoff;
mod hook;
mod install;
mod log;
mod lookup;
mod mcp;
mod output;
mod pending;
mod recall;
mod report;
mod serve;
mod session;
mod setup;
mod spawn;
mod telemetry;
mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match hook::arguments(&arguments) {
        Some(call) => hook::main(call),
        None => cli::main(arguments),
    }
}
