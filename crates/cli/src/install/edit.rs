//! The kinds of user files that are edited, behind one set of functions; and why an edit is refused.

use super::shapes::{self, Shape};
use super::splice::{self, Splice};
use super::{jsonc, toml, yaml};
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
    /// JSON with hooks in groups.
    JsonHooks,
    /// JSON with hooks in one list an event.
    JsonHookLists,
    /// JSON with an `mcpServers` object.
    JsonServers,
    /// JSON with a list of installed plugins.
    JsonPluginRows,
    /// JSON5 with the folders plugins are loaded from and an entry for each plugin.
    JsonPluginPaths,
    /// TOML with an `mcp_servers` table.
    TomlServers,
    /// YAML that is a list of operations.
    YamlRows,
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
    /// Absolute path of the folder our package is put into, for a host that is told of it.
    pub package: &'a str,
    /// Absolute path of the package's module, for a host that is told of that.
    pub module: &'a str,
    /// The moment, as RFC 3339.
    pub now: &'a str,
}

impl Form {
    /// What of ours stands where, for the JSON kinds.
    fn shape(self) -> Option<&'static Shape> {
        match self {
            Form::JsonHooks => Some(&shapes::HOOK_GROUPS),
            Form::JsonHookLists => Some(&shapes::HOOK_LISTS),
            Form::JsonServers => Some(&shapes::SERVERS),
            Form::JsonPluginRows => Some(&shapes::PLUGIN_ROWS),
            Form::JsonPluginPaths => Some(&shapes::PLUGIN_PATHS),
            Form::TomlServers | Form::YamlRows => None,
        }
    }

    /// Whether the text has entries of ours. A text that cannot be read has none.
    pub(super) fn has_ours(self, text: &str, host: &str) -> bool {
        match self.shape() {
            Some(shape) => jsonc::has_ours(text, shape, host),
            None if self == Form::TomlServers => toml::has_ours(text),
            None => yaml::has_ours(text),
        }
    }

    /// The insertions that register everything, into a text without entries of ours; the result is checked.
    ///
    /// # Errors
    /// See [`EditError`].
    pub(super) fn insert(self, text: &str, entries: &Entries<'_>) -> Result<Vec<Splice>, EditError> {
        let splices = match self.shape() {
            Some(shape) => jsonc::insert(text, shape, &(shape.document)(entries))?,
            None if self == Form::TomlServers => toml::insert(text, entries)?,
            None => yaml::insert(text, entries)?,
        };
        let after = splice::apply(text, &splices).ok_or(EditError::Unsure)?;
        let kept = self.kept(&after, text, entries)?;
        if kept && self.has_ours(&after, entries.host) { Ok(splices) } else { Err(EditError::Unsure) }
    }

    /// Whether the text after says all that the text before said, and beside our entries nothing but what a new file needs.
    fn kept(self, after: &str, before: &str, entries: &Entries<'_>) -> Result<bool, EditError> {
        let (mut after, before) = (self.without_ours(after, entries.host)?, self.without_ours(before, entries.host)?);
        if let (Some(shape), Some(after)) = (self.shape(), after.as_object_mut())
            && let serde_json::Value::Object(ours) = (shape.document)(entries).value()
        {
            after.retain(|key, value| before.get(key).is_some() || ours.get(key) != Some(value));
        }
        Ok(after == before)
    }

    /// Whether the text has exactly the entries that [`Form::insert`] would put in, wherever they stand.
    pub(super) fn is_current(self, text: &str, entries: &Entries<'_>) -> bool {
        match self.shape() {
            Some(shape) => jsonc::is_current(text, shape, entries.host, &(shape.document)(entries)),
            None if self == Form::TomlServers => toml::is_current(text, entries),
            None => yaml::is_current(text, entries),
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
            && self.is_same_beside_ours(&exact, text, host)?
        {
            return Ok(exact);
        }
        match self.shape() {
            Some(shape) => jsonc::remove(text, shape, host),
            None if self == Form::TomlServers => toml::remove(text),
            None => yaml::remove(text),
        }
    }

    /// Settings that came with our entries may go with them; nothing else may.
    fn is_same_beside_ours(self, exact: &str, text: &str, host: &str) -> Result<bool, EditError> {
        let Ok(exact) = self.without_ours(exact, host) else { return Ok(false) };
        let mut rest = self.without_ours(text, host)?;
        if let Some(rest) = rest.as_object_mut() {
            rest.retain(|key, value| exact.get(key).is_some() || !value.is_number());
        }
        Ok(exact == rest)
    }

    fn without_ours(self, text: &str, host: &str) -> Result<serde_json::Value, EditError> {
        match self.shape() {
            Some(shape) => jsonc::without_ours(text, shape, host),
            None if self == Form::TomlServers => toml::without_ours(text),
            None => yaml::without_ours(text),
        }
    }

    /// Whether nothing would be lost with a text: no entries and no comments.
    pub(super) fn is_blank(self, text: &str) -> bool {
        let text = text.trim_start_matches('\u{feff}').trim();
        let squeezed = || text.split_whitespace().collect::<String>();
        match self {
            Form::TomlServers | Form::YamlRows => text.is_empty(),
            // A file that tells its version has nothing to tell about.
            _ => text.is_empty() || matches!(squeezed().as_str(), "{}" | r#"{"version":1}"#),
        }
    }
}
