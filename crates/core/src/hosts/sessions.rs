//! Which hosts' sessions can be read for a handoff. Ids are those of the document, where Pi is `pi-agent`.

use super::{antigravity, claude_code, codex, cursor, deepseek, kimi, messages, openclaw, opencode, pi};
use crate::handoff::native::Native;
use crate::handoff::reader::NewSessionReader;
use crate::handoff::refusal::{Kind, Refusal};

/// How a host's sessions are read.
#[derive(Debug, Clone, Copy)]
pub struct Sessions {
    /// The id in documents.
    pub id: &'static str,
    /// Whether its default title is `Claude session …` with 8 characters of the id, or `<id> session …` with 12.
    pub default_title: DefaultTitle,
    /// Whether `--cwd` replaces the session's own folder.
    pub cwd_replaces: bool,
    /// What a record of the transcript is.
    pub form: Form,
    /// Where a session is looked for by its id; `None`: it must be named by its path.
    pub place: Option<Place>,
    /// Said when calls have no result, by a host that does not record results.
    pub without_results: Option<&'static str>,
    /// Makes a reader.
    pub reader: NewSessionReader,
}

impl Sessions {
    /// Lines, a title by the id, a folder that `--cwd` replaces: what most hosts have in common.
    pub(crate) const fn lines(id: &'static str, words: &'static str, reader: NewSessionReader) -> Self {
        let default_title = DefaultTitle { words, id_chars: 12 };
        Self { id, default_title, cwd_replaces: true, form: Form::Lines, place: None, without_results: None, reader }
    }

    /// A refusal with what this host has to add to it.
    #[must_use]
    pub fn explained(&self, mut refusal: Refusal) -> Refusal {
        if let (Kind::MissingToolResult, Some(note)) = (refusal.kind, self.without_results) {
            refusal.message.push_str(". ");
            refusal.message.push_str(note);
        }
        refusal
    }
}

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A line.
    Lines,
    /// The whole file.
    Document,
}

/// Where a host keeps its sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The variable that moves the host's folder.
    pub setting: &'static str,
    /// The host's folder below the home otherwise.
    pub folder: &'static str,
    /// The file below that folder. `*` stands for any text without a slash, `{id}` for the session's id.
    pub pattern: &'static str,
}

/// The title of a session that has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefaultTitle {
    /// The words before the id.
    pub words: &'static str,
    /// Characters of the id.
    pub id_chars: usize,
}

/// Every host whose sessions can be read.
pub const ALL: &[Sessions] = &[
    claude_code::session::SESSIONS,
    codex::session::SESSIONS,
    cursor::session::SESSIONS,
    kimi::session::SESSIONS,
    antigravity::session::SESSIONS,
    opencode::session::SESSIONS,
    openclaw::session::SESSIONS,
    pi::session::SESSIONS,
    deepseek::session::SESSIONS,
];

/// The neutral messages that shims send; the host's id is in the document.
pub const MESSAGES: Sessions = messages::SESSIONS;

/// Every host that a session can be written for.
pub const NATIVE: &[Native] = &[
    claude_code::resume::NATIVE,
    codex::resume::NATIVE,
    kimi::resume::NATIVE,
    opencode::resume::NATIVE,
    pi::resume::NATIVE,
];

/// Returns how sessions for the host with this id are written.
pub fn native(id: &str) -> Option<&'static Native> {
    NATIVE.iter().find(|native| native.sessions.id == id)
}

/// Returns how sessions of the host with this id are read.
pub fn find(id: &str) -> Option<&'static Sessions> {
    ALL.iter().find(|sessions| sessions.id == id)
}

impl DefaultTitle {
    /// The title of the session with this id.
    pub fn of(&self, session_id: &str) -> String {
        let head: String = session_id.chars().take(self.id_chars).collect();
        format!("{} {head}", self.words)
    }
}
