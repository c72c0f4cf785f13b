//! The embedded engine: memories in one SQLite file, ranked search without a model, a server or a network.
//!
//! `memory.sqlite3` is the truth; `memory.sqlite3.d/` beside it holds an index segment that is derived
//! from it ([`Embedded::maintain`] builds it, usually in the worker). A search reads the segment through a
//! memory map, plus the tail of rows that came or changed since; without a usable segment it makes do with
//! FTS5 and the newest rows. What a memory is worth for a question is arithmetic in `mem0_code_core::rank`.
//!
//! - `store` opens the file, `rows` moves rows, `remember` adds, `search` answers, `maintain` indexes,
//!   `manage` lists, changes and deletes, [`eval`] measures.
//!
//! **Invariants.** Filters are applied before ranking and asked again about every row that is returned. A
//! deleted row is never found again, and its text is in no file of ours after the next `maintain`. A
//! segment that is missing, stale or damaged is never an error of a search.

mod allowed;
mod doc;
pub mod eval;
mod maintain;
mod manage;
mod model;
mod remember;
mod rows;
mod salvage;
mod score;
mod search;
mod segment;
mod simd;
mod store;
mod view;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mem0_code_core::memory::{Detail, Memory};
use mem0_code_core::rank::score::Weights;
use mem0_code_core::rank::terms;
use rusqlite::Connection;

use crate::api::{Account, AddEvent, AddRequest, ApiError, Change, ListRequest, MemoryApi, Page, SearchRequest};
use crate::llm::Extractor;
use doc::Indexer;
use segment::Segment;

pub use maintain::Maintenance;
pub use manage::Stats;

/// What the database is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everything. The file and its folder are made when they are not there.
    ReadWrite,
    /// Searching and reading only, on the way of a prompt: waits 0.2 s at most for a lock, creates
    /// nothing; a missing file is an empty memory.
    Search,
}

/// The embedded engine on one database file.
pub struct Embedded {
    path: PathBuf,
    access: Access,
    /// `None` for a search on a file that is not there (yet), and while a call works on it.
    db: Option<Connection>,
    /// The database's number, for segments to name.
    database: Option<u64>,
    indexer: Indexer,
    weights: Weights,
    open_segment: Option<(String, Arc<Segment>)>,
    views: Vec<search::Kept>,
    last_error: Option<String>,
    extractor: Option<Box<dyn Extractor>>,
}

impl Embedded {
    /// Opens the memory at `path` (`memory.sqlite3`; its segments live in `memory.sqlite3.d`).
    ///
    /// # Errors
    /// [`ApiError::Store`] when the file cannot be used, [`ApiError::File`] when it cannot be made, and
    /// [`ApiError::Invalid`] when a newer version made it. A file that is no database, or a damaged one, is
    /// set aside as `memory.sqlite3.corrupt-<seconds>` and a new one begun; [`Stats::note`] says so.
    pub fn open(path: &Path, access: Access) -> Result<Self, ApiError> {
        let mut out = Self {
            path: path.to_owned(),
            access,
            db: None,
            database: None,
            indexer: Indexer::new(),
            weights: Weights::default(),
            open_segment: None,
            views: Vec::new(),
            last_error: None,
            extractor: None,
        };
        out.connect()?;
        Ok(out)
    }

    /// Has durable memories looked for by `extractor` first; the rules stay for what it leaves to them.
    #[must_use]
    pub fn with_extractor(mut self, extractor: Box<dyn Extractor>) -> Self {
        self.extractor = Some(extractor);
        self
    }

    /// Opens the database if it is not open; false when there is none and none may be made.
    fn connect(&mut self) -> Result<bool, ApiError> {
        if self.db.is_none() {
            self.db = store::open(&self.path, self.access)?;
            self.database = None;
        }
        if let (Some(db), None) = (&self.db, self.database) {
            let name = store::meta(db, "database").map_err(store::store_error(&self.path))?;
            self.database = name.map(|name| terms::hash(&name));
        }
        Ok(self.db.is_some())
    }

    /// The folder of the segments.
    fn folder(&self) -> PathBuf {
        store::with_suffix(&self.path, ".d")
    }

    /// Begins a new database with what can be saved of the damaged one.
    fn replace_damaged(&mut self, reason: &rusqlite::Error) -> Result<(), ApiError> {
        self.db = None;
        self.database = None;
        self.open_segment = None;
        self.views.clear();
        self.db = Some(store::replace(&self.path, reason)?);
        self.connect()?;
        self.maintain(true).map(drop)
    }

    /// Keeps the words of an error for `stats`.
    fn noted<T>(&mut self, result: Result<T, ApiError>) -> Result<T, ApiError> {
        if let Err(error) = &result {
            self.last_error = Some(error.to_string());
        }
        result
    }
}

impl MemoryApi for Embedded {
    fn detail(&self) -> Detail {
        Detail::Turns
    }

    fn add(&mut self, request: &AddRequest) -> Result<String, ApiError> {
        match self.store(request) {
            // Damage that opening does not notice shows at the first touch of a broken page.
            Err(ApiError::Store { source, .. }) if store::is_unreadable(&source) => {
                self.replace_damaged(&source)?;
                self.store(request)
            }
            result => result,
        }
    }

    fn event(&mut self, id: &str) -> Result<AddEvent, ApiError> {
        self.event_of(id)
    }

    fn search(&mut self, request: &SearchRequest) -> Result<Vec<Memory>, ApiError> {
        let found = self.find(request);
        self.noted(found)
    }

    fn list(&mut self, request: &ListRequest) -> Result<Page, ApiError> {
        self.page(request)
    }

    fn get(&mut self, id: &str) -> Result<Memory, ApiError> {
        self.read(id)
    }

    fn update(&mut self, id: &str, text: &str) -> Result<Memory, ApiError> {
        let changed = self.change(id, text);
        self.noted(changed)
    }

    fn delete(&mut self, id: &str) -> Result<(), ApiError> {
        match self.delete_many(&[id])? {
            0 => Err(ApiError::NotFound(id.to_owned())),
            _ => Ok(()),
        }
    }

    fn history(&mut self, id: &str) -> Result<Vec<Change>, ApiError> {
        self.changes(id)
    }

    fn ping(&mut self) -> Result<Account, ApiError> {
        self.connect()?;
        Ok(Account::default())
    }
}

#[cfg(test)]
mod tests;
