//! The spool's files, and who may send them.
//!
//! A sender takes the spool by renaming it: `telemetry-<pid>-<8 hex>-a<attempts>.sending`. The claim's
//! modification time is a lease of two minutes. A claim whose sender died is taken by the next one
//! when the lease is over; what was sent has been cut off it after each batch, so nothing goes out twice.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use uuid::Uuid;

use super::{SPOOL, write_private};

/// How long a claim belongs to whoever touched it last.
pub(super) const LEASE: Duration = Duration::from_secs(120);
/// How much longer each failed attempt makes the next one wait, at most a lease.
const COOLDOWN: Duration = Duration::from_secs(60);
/// Attempts after which a claim is given up.
pub(super) const MAX_ATTEMPTS: u32 = 3;
/// Age at which a claim or a broken file is given up.
const EXPIRY: Duration = Duration::from_secs(7 * 24 * 3600);

/// A file of events that this process may send.
#[derive(Debug)]
pub(super) struct Claim {
    path: PathBuf,
    attempts: u32,
}

/// What a claim holds.
pub(super) enum Content {
    /// Events, oldest first.
    Events(Vec<Value>),
    /// Nothing to send; the file is gone or set aside.
    Nothing,
    /// It cannot be read at the moment.
    Unreadable,
}

impl Claim {
    /// Takes the spool, if there is one.
    pub(super) fn spool(data_dir: &Path) -> Option<Self> {
        let random = Uuid::now_v7().simple().to_string();
        // The last digits are the random ones.
        let name = format!("telemetry-{}-{}-a0.sending", std::process::id(), &random[24..]);
        let path = data_dir.join(name);
        fs::rename(data_dir.join(SPOOL), &path).ok()?;
        let claim = Self { path, attempts: 0 };
        let _ = claim.touch(SystemTime::now());
        Some(claim)
    }

    /// Takes over a claim of another process, unless its lease runs. One that was tried or kept too
    /// long is deleted.
    pub(super) fn parked(path: &Path) -> Option<Self> {
        let age = age(path)?;
        if age < LEASE {
            return None;
        }
        let attempts = attempts(path);
        if attempts >= MAX_ATTEMPTS || age > EXPIRY {
            let _ = fs::remove_file(path);
            return None;
        }
        let taken = path.with_file_name(next_name(path, attempts + 1)?);
        fs::rename(path, &taken).ok()?;
        let claim = Self { path: taken, attempts: attempts + 1 };
        let _ = claim.touch(SystemTime::now());
        Some(claim)
    }

    /// Reads the events. A file without any is deleted if empty, else set aside.
    pub(super) fn content(&self) -> Content {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Content::Nothing,
            Err(_) => return Content::Unreadable,
        };
        if bytes.is_empty() {
            self.delete();
            return Content::Nothing;
        }
        let events = std::str::from_utf8(&bytes).map(events).unwrap_or_default();
        if events.is_empty() {
            let _ = fs::rename(&self.path, self.path.with_extension("corrupt"));
            return Content::Nothing;
        }
        Content::Events(events)
    }

    /// Leaves only `rest` in the claim and renews the lease.
    ///
    /// # Errors
    /// When the file cannot be replaced; the caller must then stop, or it would send twice.
    pub(super) fn keep(&self, rest: &[Value]) -> io::Result<()> {
        let partial = self.path.with_extension("partial");
        let _ = fs::remove_file(&partial);
        let lines: String = rest.iter().map(|event| format!("{event}\n")).collect();
        write_private(&partial, lines.as_bytes())?;
        fs::rename(&partial, &self.path)?;
        self.touch(SystemTime::now())
    }

    /// Ends the lease after a failure, so that the next attempt waits longer each time and the first not at all.
    pub(super) fn park(&self) {
        let wait = COOLDOWN.saturating_mul(self.attempts).min(LEASE);
        let now = SystemTime::now();
        let _ = self.touch(now.checked_sub(LEASE.saturating_sub(wait)).unwrap_or(now));
    }

    /// Deletes the claim: everything in it was sent.
    pub(super) fn delete(&self) {
        let _ = fs::remove_file(&self.path);
    }

    fn touch(&self, at: SystemTime) -> io::Result<()> {
        OpenOptions::new().append(true).open(&self.path)?.set_modified(at)
    }
}

/// Returns the events in a spool or claim. Lines that are none, such as a torn one, are left out.
pub(super) fn events(text: &str) -> Vec<Value> {
    text.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|event| event.get("event").is_some_and(Value::is_string))
        .collect()
}

/// Returns the claims in the folder, oldest first.
pub(super) fn parked(data_dir: &Path) -> Vec<PathBuf> {
    let mut claims: Vec<(SystemTime, PathBuf)> = own_files(data_dir, "sending")
        .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
        .collect();
    claims.sort();
    claims.into_iter().map(|(_, path)| path).collect()
}

/// Deletes halves of a rewrite whose writer is gone, and broken files that nobody came for.
pub(super) fn sweep(data_dir: &Path) {
    for (extension, limit) in [("partial", LEASE), ("corrupt", EXPIRY)] {
        for path in own_files(data_dir, extension) {
            if age(&path).is_some_and(|age| age > limit) {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

fn own_files(data_dir: &Path, extension: &'static str) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(data_dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(move |path| path.extension() == Some(OsStr::new(extension)))
        .filter(|path| stem(path).is_some_and(|stem| stem.starts_with("telemetry-")))
}

/// Returns how old a file is; a time in the future is now.
fn age(path: &Path) -> Option<Duration> {
    let modified = fs::metadata(path).ok()?.modified().ok()?;
    Some(SystemTime::now().duration_since(modified).unwrap_or_default())
}

/// Reads the attempts from a claim's name. Names of older versions have none.
fn attempts(path: &Path) -> u32 {
    let fields: Vec<&str> = stem(path).unwrap_or_default().split('-').collect();
    match fields[..] {
        [_, _, _, attempts] => attempts.strip_prefix('a').and_then(|count| count.parse().ok()).unwrap_or(0),
        _ => 0,
    }
}

fn next_name(path: &Path, attempts: u32) -> Option<String> {
    let fields: Vec<&str> = stem(path)?.split('-').take(3).collect();
    Some(format!("{}-a{attempts}.sending", fields.join("-")))
}

fn stem(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()
}
