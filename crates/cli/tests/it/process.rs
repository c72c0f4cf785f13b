//! Running the binary and catching what it does, with a limit on how long.
//!
//! Nothing here knows what a command means: `cases` and `faults` decide that.

use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// The binary under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_mem0-code");

/// How long the output may stay open after the process has ended. Longer means that something the
/// process started holds its stdout or stderr, which would make a host wait.
const PIPE_GRACE: Duration = Duration::from_secs(2);

/// What a process did.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// Exit status; `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
    /// Standard output; invalid UTF-8 is replaced.
    pub(crate) stdout: String,
    /// Standard error; invalid UTF-8 is replaced.
    pub(crate) stderr: String,
    /// From start to end.
    pub(crate) elapsed: Duration,
    /// Whether the limit was reached and the process group killed.
    pub(crate) timed_out: bool,
    /// Whether somebody else still held its output after it had ended.
    pub(crate) output_held: bool,
}

impl Outcome {
    /// Tells whether the process ended by itself with status 0.
    pub(crate) fn is_success(&self) -> bool {
        self.code == Some(0)
    }
}

/// A started process that reads `stdin` and whose output is collected.
pub(crate) struct Running {
    child: Child,
    stdout: mpsc::Receiver<Vec<u8>>,
    stderr: mpsc::Receiver<Vec<u8>>,
    started: Instant,
}

/// Starts a command in its own process group.
///
/// # Panics
/// When it cannot be started: every test needs that.
pub(crate) fn start(mut command: Command, stdin: &[u8]) -> Running {
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap_or_else(|error| panic!("starting {command:?}: {error}"));
    let mut input = child.stdin.take().expect("stdin is piped");
    let text = stdin.to_vec();
    // A process that never reads its input closes the pipe; that is its right.
    thread::spawn(move || drop(input.write_all(&text)));
    let stdout = collect(child.stdout.take().expect("stdout is piped"));
    let stderr = collect(child.stderr.take().expect("stderr is piped"));
    Running { child, stdout, stderr, started }
}

/// Starts a command and waits for its end, at most `limit`.
pub(crate) fn run(command: Command, stdin: &[u8], limit: Duration) -> Outcome {
    start(command, stdin).finish(limit)
}

impl Running {
    /// Kills the process group now and collects what came out.
    pub(crate) fn kill(self) -> Outcome {
        kill_group(self.child.id());
        self.finish(Duration::from_secs(10))
    }

    /// Waits for the end, at most `limit`; then kills the group.
    pub(crate) fn finish(mut self, limit: Duration) -> Outcome {
        let mut timed_out = false;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("waiting for a child") {
                break status;
            }
            if self.started.elapsed() > limit {
                timed_out = true;
                kill_group(self.child.id());
                break self.child.wait().expect("waiting for a killed child");
            }
            thread::sleep(Duration::from_micros(500));
        };
        let elapsed = self.started.elapsed();
        let stdout = self.stdout.recv_timeout(PIPE_GRACE);
        let stderr = self.stderr.recv_timeout(PIPE_GRACE);
        Outcome {
            code: status.code(),
            signal: status.signal(),
            output_held: stdout.is_err() || stderr.is_err(),
            stdout: String::from_utf8_lossy(&stdout.unwrap_or_default()).into_owned(),
            stderr: String::from_utf8_lossy(&stderr.unwrap_or_default()).into_owned(),
            elapsed,
            timed_out,
        }
    }
}

/// Kills a process group that a test started; nothing happens when it is gone.
pub(crate) fn kill_group(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        rustix::process::kill_process_group(pid, Signal::KILL).ok();
    }
}

/// Kills one process; nothing happens when it is gone.
pub(crate) fn kill_process(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        rustix::process::kill_process(pid, Signal::KILL).ok();
    }
}

fn collect(mut from: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).ok();
        send.send(bytes).ok();
    });
    receive
}
