//! Starting a worker that outlives its host.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::setup::Setup;

/// Tells processes below a worker that they are: hooks fired there do nothing.
pub(crate) const WORKER_MARK: &str = "MEM0_CODE_WORKER";

/// Starts `mem0-code worker [PACKET]` detached: own session, no standard streams, no inherited descriptors.
/// Does nothing when `MEM0_CODE_SPAWN=manual`.
pub(crate) fn worker(setup: &Setup, packet: Option<&Path>) -> io::Result<()> {
    let packet = packet.map(Path::as_os_str);
    detached(setup, [OsStr::new("worker")].into_iter().chain(packet))
}

/// Starts `mem0-code telemetry flush` detached.
pub(crate) fn telemetry_sender(setup: &Setup) -> io::Result<()> {
    detached(setup, ["telemetry", "flush"].into_iter().map(OsStr::new))
}

/// Tells whether hooks may start processes.
pub(crate) fn is_manual(setup: &Setup) -> bool {
    setup.settings.manual_spawn
}

/// Puts the calling process into a session of its own; the first thing a detached process does.
pub(crate) fn leave_session() {
    // Fails only for a group leader, which is where we want to be.
    let _ = rustix::process::setsid();
}

fn detached<'a>(setup: &Setup, arguments: impl Iterator<Item = &'a OsStr>) -> io::Result<()> {
    if is_manual(setup) {
        return Ok(());
    }
    close_on_exec();
    let mut command = Command::new(&setup.env.binary);
    command.arg("--plugin-data-dir").arg(&setup.data_folder);
    if let Some(host) = &setup.host {
        command.arg("--harness").arg(host);
    }
    command
        .args(arguments)
        .arg("--detached")
        .env("MEM0_CODE_DATA_DIR", &setup.data_folder)
        .env("MEM0_DIR", &setup.mem0)
        // A folder that may vanish must not be the worker's.
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
}

/// Marks every descriptor above the standard ones close-on-exec: a pipe of the host kept open by the worker would
/// make the host wait for it.
fn close_on_exec() {
    use std::os::fd::BorrowedFd;

    use rustix::io::{FdFlags, fcntl_setfd};

    for folder in ["/proc/self/fd", "/dev/fd"] {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        let descriptors: Vec<i32> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|fd| *fd > 2)
            .collect();
        for descriptor in descriptors {
            #[expect(unsafe_code, reason = "the descriptor is borrowed only to set a flag on it")]
            // SAFETY: the number was just listed as open; if it was closed since, fcntl fails with EBADF and nothing happens.
            let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
            let _ = fcntl_setfd(borrowed, FdFlags::CLOEXEC);
        }
        return;
    }
}
