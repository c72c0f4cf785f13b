//! One process, measured from spawn to exit.

use std::process::Command;
use std::time::{Duration, Instant};

/// What a process cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// From before the spawn to after the wait.
    pub(crate) wall: Duration,
    /// User and system time of the process.
    pub(crate) cpu: Duration,
    /// Peak resident memory, in KiB. At least this program's own, which is why that is kept small.
    pub(crate) peak_kib: u64,
}

/// Runs a command to its end.
///
/// # Panics
/// When it does not start or does not exit with 0: a failing process measures nothing.
#[expect(clippy::zombie_processes, reason = "`wait` below reaps it")]
pub(crate) fn measure(mut command: Command) -> Sample {
    let start = Instant::now();
    let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (status, usage) = wait(child.id());
    let wall = start.elapsed();
    assert_eq!(status, 0, "{command:?}");
    let time = |value: libc::timeval| {
        Duration::from_secs(value.tv_sec.unsigned_abs()) + Duration::from_micros(value.tv_usec.unsigned_abs())
    };
    Sample { wall, cpu: time(usage.ru_utime) + time(usage.ru_stime), peak_kib: usage.ru_maxrss.unsigned_abs() }
}

/// Waits for a child as `std` cannot: with what it used.
#[expect(unsafe_code, reason = "neither std nor rustix has wait4")]
fn wait(pid: u32) -> (i32, libc::rusage) {
    let pid = i32::try_from(pid).expect("a process id fits");
    let mut status = 0;
    // SAFETY: rusage is plain numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live locals; the child is ours and nobody else waits for it.
    let waited = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
    assert_eq!(waited, pid, "wait4: {}", std::io::Error::last_os_error());
    (status, usage)
}
