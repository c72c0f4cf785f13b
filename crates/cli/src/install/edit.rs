//! The two kinds of user files that are edited, behind one set of functions; and why an edit is refused.

use super::splice::{self, Splice};
use super::{jsonc, toml};
use mem0_code_core::host::HookSpec;
use serde::{Deserialize, Serialize};

/// Why a file is left alone.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum EditError {
    /// The file is not what its host would read either.
    #[error("{at}: {reason}")]
    Unparsable {
        /// Where the parser stopped.
        at: Position,
        /// What it met there.
        reason: String,
    },
    /// The file is not UTF-8 from this byte on.
    #[error("not UTF-8 at byte {at}")]
    NotText {
        /// Offset from 0.
        at: usize,
    },
    /// An object on the way to our entries has a key twice.
    #[error("{at}: the key `{key}` is there twice")]
    TwinKey {
        /// The second one.
        at: Position,
        /// The key.
        key: String,
    },
    /// Something on the way to our entries is not of the kind the host takes.
    #[error("{at}: {what} is not {expected}")]
    WrongType {
        /// Where it is.
        at: Position,
        /// What it is.
        what: String,
        /// What it should be.
        expected: &'static str,
    },
    /// The place of our entry holds somebody else's.
    #[error("{at}: {what} is there already and is not mem0-code's")]
    Taken {
        /// Where it is.
        at: Position,
        /// What it is.
        what: String,
    },
    /// The edited text would not say what it should; nothing was written.
    #[error("the change could not be made without touching the rest of the file")]
    Unsure,
}

/// A place in a text, as editors count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

impl Position {
    /// The position of a byte offset.
    pub(super) fn of(text: &str, at: usize) -> Self {
        let before = &text[..text.floor_char_boundary(at)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Bytes of a byte-order mark at the start, 0 or 3.
pub(super) fn bom_len(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// A kind of file, and which entries of it are ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Form {
    /// JSON with a `hooks` object.
    JsonHooks,
    /// TOML with an `mcp_servers` table.
    TomlServers,
}

/// What is to be registered.
#[derive(Debug, Clone)]
pub(super) struct Entries<'a> {
    /// The host's id.
    pub host: &'a str,
    /// Its hooks.
    pub hooks: &'a [HookSpec],
    /// Shell text that runs the program.
    pub shell: &'a str,
    /// The program's absolute path.
    pub path: &'a str,
    /// Variables the MCP server must have.
    pub env: &'a [(String, String)],
}

impl Form {
    /// Whether the text has entries of ours. A text that cannot be read has none.
    pub(super) fn has_ours(self, text: &str, host: &str) -> bool {
        match self {
            Form::JsonHooks => jsonc::has_ours(text, host),
            Form::TomlServers => toml::has_ours(text),
        }
    }

    /// The insertions that register everything, into a text without entries of ours; the result is checked.
    ///
    /// # Errors
    /// See [`EditError`].
    pub(super) fn insert(self, text: &str, entries: &Entries<'_>) -> Result<Vec<Splice>, EditError> {
        let splices = match self {
            Form::JsonHooks => jsonc::insert(text, entries.host, entries.hooks, entries.shell)?,
            Form::TomlServers => toml::insert(text, entries)?,
        };
        let after = splice::apply(text, &splices).ok_or(EditError::Unsure)?;
        let kept = self.without_ours(&after, entries.host)? == self.without_ours(text, entries.host)?;
        if kept && self.has_ours(&after, entries.host) { Ok(splices) } else { Err(EditError::Unsure) }
    }

    /// Whether the text has exactly the entries that [`Form::insert`] would put in, wherever they stand.
    pub(super) fn is_current(self, text: &str, entries: &Entries<'_>) -> bool {
        match self {
            Form::JsonHooks => jsonc::is_current(text, entries.host, entries.hooks, entries.shell),
            Form::TomlServers => toml::is_current(text, entries),
        }
    }

    /// Takes our entries out: exactly where it is known what was put in, else by the syntax tree.
    ///
    /// # Errors
    /// See [`EditError`].
    pub(super) fn remove(self, text: &str, host: &str, known: Option<(&str, &[Splice])>) -> Result<String, EditError> {
        let exact = known.and_then(|(before, splices)| splice::take_out(before, splices, text));
        if let Some(exact) = exact
            && !self.has_ours(&exact, host)
            && self.without_ours(&exact, host).ok() == Some(self.without_ours(text, host)?)
        {
            return Ok(exact);
        }
        match self {
            Form::JsonHooks => jsonc::remove(text, host),
            Form::TomlServers => toml::remove(text),
        }
    }

    fn without_ours(self, text: &str, host: &str) -> Result<serde_json::Value, EditError> {
        match self {
            Form::JsonHooks => jsonc::without_ours(text, host),
            Form::TomlServers => toml::without_ours(text),
        }
    }

    /// Whether nothing would be lost with a text: no entries and no comments.
    pub(super) fn is_blank(self, text: &str) -> bool {
        let text = text.trim_start_matches('\u{feff}').trim();
        match self {
            Form::JsonHooks => text.is_empty() || text.split_whitespace().collect::<String>() == "{}",
            Form::TomlServers => text.is_empty(),
        }
    }
}
