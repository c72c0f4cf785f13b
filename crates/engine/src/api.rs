//! One contract for memory, whatever holds it. Methods and types are those of the Mem0 API.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use mem0_code_core::memory::{Detail, Entities, Memory, Message};
use serde_json::{Map, Value};

/// A place memories live in.
///
/// Calls block. None of them retries by itself unless its documentation says so.
pub trait MemoryApi {
    /// Returns how much of a session `add` wants to be given.
    fn detail(&self) -> Detail;

    /// Stores what `messages` say and returns the id of the event that tracks it.
    ///
    /// # Errors
    /// See [`ApiError`]. With [`AddRequest::idempotency_key`] set, repeating an accepted request is
    /// harmless where the place can tell (the embedded engine can).
    fn add(&mut self, request: &AddRequest) -> Result<String, ApiError>;

    /// Returns how far an accepted `add` has come.
    fn event(&mut self, id: &str) -> Result<AddEvent, ApiError>;

    /// Returns the best memories for a query, best first.
    fn search(&mut self, request: &SearchRequest) -> Result<Vec<Memory>, ApiError>;

    /// Returns one page of the memories that pass a filter, newest first.
    fn list(&mut self, request: &ListRequest) -> Result<Page, ApiError>;

    /// Returns one memory.
    fn get(&mut self, id: &str) -> Result<Memory, ApiError>;

    /// Replaces a memory's text; the old text goes to its history.
    fn update(&mut self, id: &str, text: &str) -> Result<Memory, ApiError>;

    /// Deletes a memory.
    fn delete(&mut self, id: &str) -> Result<(), ApiError>;

    /// Returns what happened to a memory, oldest first.
    fn history(&mut self, id: &str) -> Result<Vec<Change>, ApiError>;

    /// Returns whom the place takes us for; an error when it does not take us at all.
    fn ping(&mut self) -> Result<Account, ApiError>;
}

/// What to store.
#[derive(Debug, Clone, Default)]
pub struct AddRequest {
    /// In order. [`Detail`] says what kind.
    pub messages: Vec<Message>,
    /// Whom it belongs to.
    pub entities: Entities,
    /// `source`, `author`, `dirs`, `branch`, `git_sha`.
    pub metadata: Map<String, Value>,
    /// What to extract for the shared namespace. Ignored by the embedded engine, whose rules are fixed.
    pub agent_instructions: Option<String>,
    /// What to extract for the person. Ignored by the embedded engine.
    pub instructions: Option<String>,
    /// Categories with a sentence each, as `[{name: sentence}]`.
    pub categories: Option<Value>,
    /// Extract durable memories (`true`), or store each message as one durable memory as it is (`false`).
    pub infer: bool,
    /// Makes a repeated request store nothing new.
    pub idempotency_key: Option<String>,
    /// When it happened; the embedded engine's clock is otherwise the caller's `now`.
    pub now: Option<Timestamp>,
}

/// How far an `add` has come.
#[derive(Debug, Clone, PartialEq)]
pub struct AddEvent {
    /// Where it stands.
    pub status: EventStatus,
    /// How many memories came of it.
    pub results: usize,
    /// Their ids, where the place tells them.
    pub memories: Vec<String>,
}

/// Where an `add` stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventStatus {
    /// Not finished.
    Pending,
    /// Finished; its memories can be found.
    Succeeded,
    /// Given up by the place.
    Failed,
}

/// What to look for.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// The question, redacted.
    pub query: String,
    /// The repository's slug (the Platform wants it beside the filter).
    pub app_id: String,
    /// A filter in the Mem0 language; every branch names one literal user or namespace.
    pub filters: Value,
    /// At most this many results, 1 to 100.
    pub top_k: usize,
    /// Who asks.
    pub purpose: Purpose,
    /// When the question is asked.
    pub now: Timestamp,
    /// How long a remote place may take.
    pub timeout: Duration,
}

/// Who asks, which decides how much must speak for a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A person or a model asked: everything that matches, best first.
    Search,
    /// A session's first prompt: only what is worth its tokens unasked. Durable memories first, and
    /// none at all when nothing is relevant.
    Recall,
}

/// Which memories to list.
#[derive(Debug, Clone)]
pub struct ListRequest {
    /// A filter in the Mem0 language.
    pub filters: Value,
    /// Page, from 1.
    pub page: usize,
    /// Memories a page, 1 to 1,000.
    pub page_size: usize,
}

/// One page of memories.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// The memories.
    pub results: Vec<Memory>,
    /// How many there are on all pages, where the place counts them.
    pub total: Option<usize>,
}

/// One change of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// `ADD`, `UPDATE`, `DELETE` or `SUPERSEDE`.
    pub event: String,
    /// The text before, where there was one.
    pub old_memory: Option<String>,
    /// The text after, where there is one.
    pub new_memory: Option<String>,
    /// When, RFC 3339.
    pub created_at: String,
}

/// Whom a place takes us for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// The account's e-mail address, on the Platform.
    pub email: Option<String>,
}

/// Why a place could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The key was missing, refused or has no right to this (401, 403).
    #[error("the memory server refused the API key ({status}): {detail}")]
    Unauthorized {
        /// HTTP status.
        status: u16,
        /// The server's words, bounded and redacted.
        detail: String,
    },
    /// The request itself was refused (other 4xx).
    #[error("the memory server refused the request ({status}): {detail}")]
    Rejected {
        /// HTTP status.
        status: u16,
        /// The server's words, bounded and redacted.
        detail: String,
    },
    /// The server is overloaded, out of credit or broken (402, 408, 429, 5xx).
    #[error("the memory server is not available ({status}): {detail}")]
    Unavailable {
        /// HTTP status.
        status: u16,
        /// The server's words, bounded and redacted.
        detail: String,
    },
    /// No connection, a broken one, or no answer in time.
    #[error("the memory server could not be reached: {0}")]
    Unreachable(String),
    /// The answer was not what the API promises.
    #[error("the memory server gave an unexpected answer: {0}")]
    Protocol(String),
    /// No memory has this id.
    #[error("no memory has the id {0}")]
    NotFound(String),
    /// The caller's mistake, found before anything was asked.
    #[error("{0}")]
    Invalid(String),
    /// The embedded database could not be used.
    #[error("memory database {path}: {source}")]
    Store {
        /// The database file.
        path: PathBuf,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
    /// A file beside the embedded database could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

impl ApiError {
    /// Tells whether the surroundings are to blame (connection, key, overload), so that trying again
    /// later costs no attempt.
    pub fn is_environmental(&self) -> bool {
        matches!(
            self,
            Self::Unauthorized { .. }
                | Self::Unavailable { .. }
                | Self::Unreachable(_)
                | Self::Store { .. }
                | Self::File { .. }
        )
    }
}
