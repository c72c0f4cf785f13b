//! The two logs of a data folder. Lines are redacted; a log never grows beyond a few megabytes.

use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use mem0_code_core::redact;

/// Errors of hooks, one line each: `<unix time> <what>`.
pub(crate) const ERRORS: &str = "plugin-errors.log";
/// What workers did.
pub(crate) const WORKER: &str = "flush-worker.log";

/// Size at which a log is moved to `<name>.1`, in bytes.
const MAX_BYTES: u64 = 2 * 1024 * 1024;
/// Longest line, in characters.
const MAX_LINE_CHARS: usize = 2_000;

/// Appends one line to a log. Best effort: there is nobody to tell when the log itself cannot be written.
pub(crate) fn append(folder: &Path, log: &str, line: impl Display) {
    let _ = try_append(folder, log, &line.to_string());
}

fn try_append(folder: &Path, log: &str, line: &str) -> std::io::Result<()> {
    mem0_code_engine::db::private_folder(folder)?;
    let path = folder.join(log);
    if fs::metadata(&path).is_ok_and(|metadata| metadata.len() > MAX_BYTES) {
        fs::rename(&path, folder.join(format!("{log}.1")))?;
    }
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let line = redact::bounded(line, MAX_LINE_CHARS).replace(['\n', '\r'], " ");
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    // One write, so that lines of many processes do not mix.
    file.write_all(format!("{seconds} {line}\n").as_bytes())
}

/// Returns a recent line of the error log that tells of trouble with the disk or the database: what a hook could not
/// store, it could not say either.
pub(crate) fn last_trouble(folder: &Path) -> Option<String> {
    const RECENT_S: u64 = 24 * 3_600;
    let text = fs::read_to_string(folder.join(ERRORS)).ok()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let line = text.lines().rev().take(200).find(|line| {
        ["no space left", "cannot be opened", "is damaged", "set aside", "os error"]
            .iter()
            .any(|word| line.contains(word))
    })?;
    let (seconds, what) = line.split_once(' ')?;
    let time: u64 = seconds.parse().ok()?;
    (now.saturating_sub(time) < RECENT_S).then(|| format!("{what} ({} s ago)", now.saturating_sub(time)))
}
