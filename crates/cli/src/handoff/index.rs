//! What was found of a store's files, kept beside the store so that those that did not change need not be read again.
//!
//! JSON lines in our home (`handoffs-….index`): a file's name, what tells whether it changed, and what it is. The last line
//! of a name counts, and a line that cannot be read is as good as none: without the index every file is read. Saving adds
//! a line; listing writes it anew when it learnt much.

use std::collections::HashMap;
use std::fs::{self, Metadata, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use mem0_code_core::digest;
use serde::{Deserialize, Serialize};

use super::listing::Found;
use crate::fsx;
use crate::setup::Setup;

/// Lines more than files from which on the index is written anew, besides as many as there are files.
const SLACK: usize = 64;

/// What of a file changes when its content does: length, times of content and of inode in nanoseconds, inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State(u64, i64, i64, u64);

impl State {
    /// State of a link that leads nowhere.
    pub(super) const NOWHERE: Self = Self(0, 0, 0, 0);

    /// Looks at a file; `None` when it is not there.
    pub(super) fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().and_then(|metadata| Self::in_metadata(&metadata))
    }

    #[cfg(unix)]
    #[expect(clippy::unnecessary_wraps, reason = "not every system tells all of it")]
    fn in_metadata(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let nanos = |seconds: i64, nanos: i64| seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos);
        let modified = nanos(metadata.mtime(), metadata.mtime_nsec());
        Some(Self(metadata.len(), modified, nanos(metadata.ctime(), metadata.ctime_nsec()), metadata.ino()))
    }

    #[cfg(not(unix))]
    fn in_metadata(metadata: &Metadata) -> Option<Self> {
        let modified = metadata.modified().ok().and_then(|time| jiff::Timestamp::try_from(time).ok())?;
        Some(Self(metadata.len(), i64::try_from(modified.as_nanosecond()).ok()?, 0, 0))
    }
}

/// The index of one store.
#[derive(Debug)]
pub(super) struct Index {
    path: PathBuf,
    files: HashMap<String, (State, Found)>,
    n_lines: usize,
}

/// A line.
#[derive(Serialize, Deserialize)]
struct Line<N, F>(N, State, F);

impl Index {
    /// Reads the index of a store, named by its real path.
    pub(super) fn read(setup: &Setup, folder: &Path) -> Self {
        let path = place(setup, folder);
        let text = if is_file_or_absent(&path) { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        let mut index = Self { path, files: HashMap::new(), n_lines: 0 };
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            index.n_lines += 1;
            if let Ok(Line(name, state, found)) = serde_json::from_slice(line) {
                index.files.insert(name, (state, found));
            }
        }
        index
    }

    /// Tells whether nothing is known.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Takes out what is known of a file, unless it changed.
    pub(super) fn take(&mut self, name: &str, state: State) -> Option<Found> {
        self.files.remove(name).filter(|(known, _)| *known == state).map(|(_, found)| found)
    }

    /// Tells whether most of it is out of date.
    pub(super) fn is_stale(&self, n_files: usize) -> bool {
        self.n_lines > 2 * n_files + SLACK
    }

    /// Keeps what is known of every file. A convenience: what cannot be kept is found again.
    pub(super) fn replace<'a>(&self, files: impl Iterator<Item = (&'a str, State, &'a Found)>) {
        let mut text = Vec::new();
        files.for_each(|(name, state, found)| push(&mut text, name, state, found));
        let _ = fsx::write_atomic(&self.path, &text, fsx::Mode::Private);
    }
}

/// Adds a file that was written just now to the index of its store. A convenience as well.
pub(super) fn add(setup: &Setup, file: &Path, found: &Found) {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return };
    let Some(state) = State::of(file) else { return };
    let index = place(setup, folder);
    if !is_file_or_absent(&index) {
        return;
    }
    let mut line = Vec::new();
    push(&mut line, &name.to_string_lossy(), state, found);
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(index).and_then(|mut index| index.write_all(&line));
}

/// Tells whether opening it cannot block, as a pipe's would.
fn is_file_or_absent(path: &Path) -> bool {
    fs::metadata(path).ok().is_none_or(|metadata| metadata.is_file())
}

fn push(text: &mut Vec<u8>, name: &str, state: State, found: &Found) {
    if let Ok(line) = serde_json::to_vec(&Line(name, state, found)) {
        text.extend_from_slice(&line);
        text.push(b'\n');
    }
}

fn place(setup: &Setup, folder: &Path) -> PathBuf {
    let folder = folder.to_string_lossy();
    setup.mem0.join(format!("handoffs-{}.index", digest::hex(&[env!("CARGO_PKG_VERSION"), &folder], 12)))
}
