//! What install did, so that uninstall can undo exactly that: `~/.mem0/install/record.json` and the files as they were.
//!
//! It is written before the files it speaks of. After a kill in between, the record says more than was done, and both install and
//! uninstall look at the files themselves before they believe it.

use super::edit::Form;
use super::splice::Splice;
use crate::fsx;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Everything that was installed, by host.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Record {
    /// The program's copy, if install made one.
    pub program: Option<ProgramCopy>,
    /// What was written for each host, by its id.
    pub hosts: BTreeMap<String, HostRecord>,
    /// Folders that were made under our own home, and the home itself.
    pub folders: Vec<PathBuf>,
}

/// The copy of the program that hosts run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ProgramCopy {
    /// Where it is.
    pub path: PathBuf,
    /// SHA-256 of what was copied, in hexadecimal.
    pub sha256: String,
}

/// What was written for one host.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct HostRecord {
    /// The way the host was wired; empty in records from when there was one way only.
    pub way: String,
    /// Whole files of ours: path → SHA-256 of every version that was written.
    pub files: BTreeMap<PathBuf, Vec<String>>,
    /// The user's files that were added to.
    pub edits: Vec<EditRecord>,
    /// Folders that were made.
    pub folders: Vec<PathBuf>,
}

/// An edit of a user's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EditRecord {
    /// The file.
    pub path: PathBuf,
    /// Its kind.
    pub form: Form,
    /// Name of the copy of the file as it was, beside the record; `None` when there was no file.
    pub before: Option<String>,
    /// What was put in.
    pub splices: Vec<Splice>,
    /// SHA-256 of the file afterwards, in hexadecimal.
    pub after_sha256: String,
}

/// The record and the folder it is kept in.
#[derive(Debug, Clone)]
pub(super) struct Store {
    folder: PathBuf,
    /// The record as last read or written.
    pub record: Record,
}

impl Store {
    /// Reads the record of a mem0 home; there may be none.
    ///
    /// # Errors
    /// When it cannot be read or is not a record. It is not guessed at: it says what may be deleted.
    pub(super) fn open(mem0_dir: &Path) -> anyhow::Result<Self> {
        let folder = mem0_dir.join("install");
        let path = folder.join("record.json");
        let record = match fsx::read_optional(&path).with_context(|| format!("reading {}", path.display()))? {
            Some(bytes) => serde_json::from_slice(&bytes)
                .with_context(|| format!("{} is not an install record", path.display()))?,
            None => Record::default(),
        };
        Ok(Self { folder, record })
    }

    /// The edit of one file of a host, and the file as it was (`None` inside: there was none).
    pub(super) fn edit(&self, host: &str, path: &Path) -> Option<(&EditRecord, Option<String>)> {
        let edit = self.record.hosts.get(host)?.edits.iter().find(|edit| edit.path == path)?;
        let before = match &edit.before {
            Some(name) => Some(std::fs::read_to_string(self.folder.join(name)).ok()?),
            None => None,
        };
        Some((edit, before))
    }

    /// Where the copy of a file as it was is kept.
    pub(super) fn backup_path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Keeps a copy of a file as it was. One a file: a later one replaces it.
    pub(super) fn keep(&self, name: &str, text: &str) -> anyhow::Result<()> {
        fsx::create_folders(&self.folder, true).with_context(|| format!("making {}", self.folder.display()))?;
        let path = self.backup_path(name);
        fsx::write_atomic(&path, text.as_bytes(), fsx::Mode::Private)
            .with_context(|| format!("writing {}", path.display()))
    }

    /// Writes the record.
    pub(super) fn save(&self) -> anyhow::Result<()> {
        fsx::create_folders(&self.folder, true).with_context(|| format!("making {}", self.folder.display()))?;
        let path = self.folder.join("record.json");
        let text = serde_json::to_string_pretty(&self.record)? + "\n";
        fsx::write_atomic(&path, text.as_bytes(), fsx::Mode::Private)
            .with_context(|| format!("writing {}", path.display()))
    }

    /// Removes the copies no edit names any more, and with the last host the record itself and the folders that were made.
    pub(super) fn tidy(&self) -> anyhow::Result<()> {
        let named: Vec<&String> =
            self.record.hosts.values().flat_map(|host| &host.edits).filter_map(|edit| edit.before.as_ref()).collect();
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".before") && !named.contains(&&name) {
                fsx::remove_file(&entry.path())?;
            }
        }
        if self.record.hosts.is_empty() && self.record.program.is_none() {
            fsx::remove_file(&self.folder.join("record.json"))?;
            fsx::remove_empty_folders(std::slice::from_ref(&self.folder));
            fsx::remove_empty_folders(&self.record.folders);
        }
        Ok(())
    }

    /// The folder of the record.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// SHA-256 in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
