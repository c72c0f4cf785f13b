//! Session handoff: every fixture of `tests/fixtures/handoff`, the scenarios of the store and of the MCP tool, and what an
//! attacker could put into a session or its path.

#![expect(clippy::unwrap_used, reason = "helpers of tests: what is not there fails the test")]

mod attacks;
mod fixtures;
mod large;
mod listing;
mod scenarios;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::process::{self, Outcome};

/// How long a call may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Where the fixtures are.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/handoff").canonicalize().unwrap()
}

fn read_json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The binary with nothing of the surroundings but a home of its own.
fn command(home: &Path) -> Command {
    let mut command = Command::new(process::BINARY);
    command.env_clear().env("HOME", home).current_dir(home);
    command
}

/// Runs `handoff` with these arguments.
fn handoff(home: &Path, arguments: &[&str], stdin: &[u8]) -> Outcome {
    let mut command = command(home);
    command.arg("handoff").args(arguments);
    process::run(command, stdin, LIMIT)
}

/// The kind of the error on stderr.
fn kind(outcome: &Outcome) -> String {
    let line = outcome.stderr.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{outcome:?}"));
    let error: Value = serde_json::from_str(line).unwrap();
    error["error"]["kind"].as_str().unwrap().to_owned()
}
