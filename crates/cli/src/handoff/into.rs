//! A document becomes a session of another host: what the host's writer made is put in its folder, as new files only.
//!
//! The writer proves that nothing is lost before a file exists; here no file of the host is ever opened for writing, and
//! when something fails half way, what was made is taken away again.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use mem0_code_core::handoff::bundle::Bundle;
use mem0_code_core::handoff::native::{Folder, Origin};
use mem0_code_core::handoff::refusal::{Kind, Refusal};
use mem0_code_core::handoff::validate::Validator;
use mem0_code_core::hosts::sessions;
use serde_json::{Value, json};

use crate::env::Env;
use crate::fsx;

/// Largest settings file that is looked into.
const MAX_CONFIG_BYTES: u64 = 4 << 20;

/// A session that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resumed {
    /// The host's id.
    pub(crate) host: &'static str,
    /// The new session's id.
    pub(crate) session_id: String,
    /// The files that were made.
    pub(crate) files: Vec<PathBuf>,
    /// The folder to go on in.
    pub(crate) cwd: PathBuf,
    /// The commands to run there.
    pub(crate) commands: Vec<Vec<String>>,
    /// What the user should know.
    pub(crate) notes: Vec<String>,
}

/// Writes a document's conversation as a new session of a host.
///
/// `cwd`: the folder to go on in; without it the one the session started in, or its project's.
///
/// # Errors
/// A refusal; then nothing is left behind.
pub(crate) fn resume(env: &Env, document: &str, host: &str, cwd: Option<&Path>) -> Result<Resumed, Refusal> {
    let native = sessions::native(host).ok_or_else(|| {
        let known: Vec<&str> = sessions::NATIVE.iter().map(|native| native.sessions.id).collect();
        Refusal::new(
            Kind::UnsupportedFormat,
            format!("no session can be written for this host; there are {}", known.join(", ")),
        )
    })?;
    let bundle = Bundle::read(document)?;
    let mut items = Vec::new();
    let mut validator = Validator::default();
    bundle.items(&mut |mut item| {
        validator.admit(&mut item)?;
        items.push(item);
        Ok(())
    })?;
    validator.finish(false)?;
    let cwd = folder_to_go_on_in(&bundle, cwd)?;
    let root = place(env, native.root)?;
    let config = match native.config {
        Some((folder, file)) => config(&place(env, folder)?.join(file)),
        None => None,
    };
    let title: String = bundle.field("title").unwrap_or_default().chars().filter(|char| !char.is_control()).collect();
    let origin = Origin {
        pieces: &[],
        title: &title,
        cwd: text(&cwd)?,
        root: text(&root)?,
        config: config.as_deref(),
        seed: *uuid::Uuid::new_v4().as_bytes(),
        now_ms: u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default(),
    };
    let prepared = native.prepare(&items, &origin)?;
    let written = prepared.written;
    let files: Vec<(PathBuf, Vec<u8>)> =
        written.files.into_iter().map(|(path, bytes)| (root.join(path), bytes)).collect();
    put(&files)?;
    Ok(Resumed {
        host: native.sessions.id,
        session_id: written.session_id,
        files: files.into_iter().map(|(path, _)| path).collect(),
        cwd,
        commands: written.commands,
        notes: prepared.notes,
    })
}

impl Resumed {
    /// For programs.
    pub(crate) fn json(&self) -> Value {
        json!({
            "host": self.host,
            "session_id": self.session_id,
            "files": self.files,
            "cwd": self.cwd,
            "commands": self.commands,
            "notes": self.notes,
        })
    }

    /// For people: what was written and what to run.
    pub(crate) fn text(&self) -> String {
        let mut lines = vec![format!("Written as session {} of {}:", self.session_id, self.host)];
        lines.extend(self.files.iter().map(|file| format!("  {}", file.display())));
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        lines.push("Run:".to_owned());
        lines.push(format!("  cd {}", quoted(&self.cwd.to_string_lossy())));
        lines.extend(self.commands.iter().map(|command| {
            let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
            format!("  {}", words.join(" "))
        }));
        lines.join("\n")
    }
}

/// A word as a POSIX shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '/' | '.' | '-' | '_' | ':' | '=');
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn folder_to_go_on_in(bundle: &Bundle<'_>, cwd: Option<&Path>) -> Result<PathBuf, Refusal> {
    let named = cwd.map(Path::to_path_buf);
    let known = ["cwd", "project_cwd"].into_iter().filter_map(|field| bundle.field(field)).map(PathBuf::from);
    let mut candidates: Box<dyn Iterator<Item = PathBuf>> = match named {
        Some(named) => Box::new(std::iter::once(named)),
        None => Box::new(known),
    };
    let found = candidates.find_map(|folder| folder.canonicalize().ok().filter(|folder| folder.is_dir()));
    found.ok_or_else(|| {
        Refusal::new(Kind::CwdNotFound, "the folder of the session is not here; name the one to go on in with --cwd")
    })
}

fn place(env: &Env, folder: Folder) -> Result<PathBuf, Refusal> {
    if let Some(named) = Some(folder.setting).filter(|name| !name.is_empty()).and_then(|name| env.get(name)) {
        return Ok(env.cwd.join(named).join(folder.below));
    }
    let home = env.home.as_ref().ok_or_else(|| Refusal::new(Kind::Io, "the home folder is not known"))?;
    Ok(home.join(folder.home))
}

fn config(path: &Path) -> Option<String> {
    let size = std::fs::metadata(path).ok()?.len();
    (size <= MAX_CONFIG_BYTES).then(|| std::fs::read_to_string(path).ok()).flatten()
}

fn text(path: &Path) -> Result<&str, Refusal> {
    path.to_str().ok_or_else(|| Refusal::new(Kind::Io, format!("{} is not Unicode", path.display())))
}

/// Makes all the files, or none. The first, which the host looks for, is made last.
fn put(files: &[(PathBuf, Vec<u8>)]) -> Result<(), Refusal> {
    let mut made = Vec::new();
    let mut folders = Vec::new();
    let done = files.iter().rev().try_for_each(|(path, bytes)| {
        let folder = path.parent().unwrap_or(path);
        folders.extend(fsx::missing_folders(folder));
        fsx::create_folders(folder, true).and_then(|()| create(path, bytes, &mut made)).map_err(|error| {
            Refusal::new(Kind::Io, format!("the new session cannot be written to {}: {error}", path.display()))
        })
    });
    if done.is_err() {
        for path in made {
            let _ = std::fs::remove_file(path);
        }
        fsx::remove_empty_folders(&folders);
    }
    done
}

/// Makes a file whole or not at all: written under another name, which no host looks for, read back, and then given its own,
/// which must be free.
fn create(path: &Path, bytes: &[u8], made: &mut Vec<PathBuf>) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    // 0600, as temporary files are.
    let mut file = tempfile::Builder::new().prefix(".mem0-code-").suffix(".part").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    if std::fs::read(file.path())? != bytes {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it did not read back as it was written"));
    }
    file.persist_noclobber(path).map_err(|error| error.error)?;
    made.push(path.to_path_buf());
    // The name is on the disk when its folder is; not every system lets a folder be synced.
    let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(cwd: &Path) -> String {
        json!({
            "format": "mem0.session-handoff.v1",
            "source": { "host": "cursor", "session_id": "s", "title": "Ti\u{1b}tle", "cwd": cwd },
            "items": [
                { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Run the tests" }] },
                { "type": "function_call", "call_id": "c1", "name": "Shell", "arguments": "{\"command\":\"false\"}" },
                { "type": "function_call_output", "call_id": "c1", "output": "exit 1", "is_error": true },
            ],
        })
        .to_string()
    }

    fn every_file(folder: &Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() { files.extend(every_file(&entry.path())) } else { files.push(entry.path()) }
        }
        files
    }

    #[test]
    fn every_host_gets_new_private_files_and_a_command() {
        let home = tempfile::tempdir().unwrap();
        let env = Env::of_home(home.path().to_path_buf());
        let project = tempfile::tempdir().unwrap();
        for native in sessions::NATIVE {
            let resumed = resume(&env, &document(project.path()), native.sessions.id, None).unwrap();
            let again = resume(&env, &document(project.path()), native.sessions.id, None).unwrap();
            assert_ne!(resumed.session_id, again.session_id);
            assert!(resumed.commands.iter().flatten().any(|word| word.contains(&resumed.session_id)), "{resumed:?}");
            for file in &resumed.files {
                assert!(!std::fs::read_to_string(file).unwrap().contains("\\u001b"), "{}", file.display());
                #[cfg(unix)]
                {
                    use std::os::unix::fs::PermissionsExt as _;
                    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
                }
            }
        }
    }

    #[test]
    fn a_refusal_leaves_nothing_behind() {
        let home = tempfile::tempdir().unwrap();
        let env = Env::of_home(home.path().to_path_buf());
        let project = tempfile::tempdir().unwrap();
        let odd = document(project.path()).replace(r#"{\"command\":\"false\"}"#, "[1]");
        for native in sessions::NATIVE.iter().filter(|native| native.sessions.id != "codex") {
            let refusal = resume(&env, &odd, native.sessions.id, None).unwrap_err();
            assert_eq!(refusal.kind, Kind::InvalidToolCall, "{refusal}");
        }
        let gone = document(Path::new("/nowhere/at/all"));
        assert_eq!(resume(&env, &gone, "codex", None).unwrap_err().kind, Kind::CwdNotFound);
        assert_eq!(resume(&env, &gone, "cursor", None).unwrap_err().kind, Kind::UnsupportedFormat);
        assert_eq!(every_file(home.path()), Vec::<PathBuf>::new());
    }

    #[test]
    fn half_a_session_is_taken_away_again_and_no_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("old.jsonl");
        std::fs::write(&old, "old").unwrap();
        let files = vec![(old.clone(), b"new".to_vec()), (folder.path().join("deep/er/state.json"), b"{}".to_vec())];
        assert_eq!(put(&files).unwrap_err().kind, Kind::Io);
        assert_eq!(every_file(folder.path()), std::slice::from_ref(&old));
        assert_eq!(std::fs::read_to_string(old).unwrap(), "old");
        assert!(!folder.path().join("deep").exists());
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, expected) in
            [("claude", "claude"), ("/a b", "'/a b'"), ("it's $HOME", r"'it'\''s $HOME'"), ("", "''")]
        {
            assert_eq!(quoted(word), expected);
        }
    }
}
