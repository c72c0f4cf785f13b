//! Which hosts' sessions can be read for a handoff. Ids are those of the document, where Pi is `pi-agent`.

use super::{claude_code, codex};
use crate::handoff::reader::NewSessionReader;

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
    /// Makes a reader.
    pub reader: NewSessionReader,
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
pub const ALL: &[Sessions] = &[claude_code::session::SESSIONS, codex::session::SESSIONS];

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
