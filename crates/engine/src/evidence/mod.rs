//! The evidence store: what hooks accepted, kept until a worker has turned it into memories.
//!
//! One database a host. A hook appends one row and leaves; decisions that read and write are single
//! immediate transactions, so that any number of processes may do the same at once. What goes into a
//! payload is decided in `mem0_code_core::evidence`.

mod events;
mod flushes;
mod runs;
mod shown;
mod tally;

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use crate::db::{self, Role, Schema, StoreError};

pub use events::{NewEvent, Pin, Recorded, Session, TranscriptState};
pub use flushes::{Abandoned, Flush, Prepared, Status};
pub use runs::{Run, Stopped};
pub use shown::{Operation, ShownMemory};
pub use tally::{Counts, LastOperation, LastRun, Waiting};

/// The file's name in a data folder.
pub const FILE_NAME: &str = "evidence.sqlite3";

/// Every hook writes a handful of pages to the write-ahead log and every next one reads the log again: small pages keep
/// both short (a quarter of the bytes of SQLite's default).
const PAGE_SIZE: u32 = 1_024;

const SCHEMA: Schema = Schema { migrate, version: 1, page_size: PAGE_SIZE };

/// Columns that releases of the Mem0 plugins added over time, or that are ours.
const ADDED_COLUMNS: &[(&str, &str, &str)] = &[
    ("session_scopes", "directory", "TEXT NOT NULL DEFAULT ''"),
    ("session_scopes", "project_id", "TEXT"),
    ("retrievals", "rank", "INTEGER"),
    ("retrievals", "score", "REAL"),
    ("retrievals", "memory_text", "TEXT"),
    ("retrievals", "context_chars", "INTEGER NOT NULL DEFAULT 0"),
    ("flushes", "attempts", "INTEGER NOT NULL DEFAULT 0"),
    ("flushes", "lease_owner", "TEXT"),
    ("flushes", "lease_until", "TEXT"),
];

/// An open evidence store.
#[derive(Debug)]
pub struct Evidence {
    connection: Connection,
    path: PathBuf,
    set_aside: Option<PathBuf>,
}

impl Evidence {
    /// Opens the store of a data folder, creating and migrating it as needed.
    ///
    /// # Errors
    /// [`StoreError`]; a damaged file is none of them, see [`Evidence::set_aside`].
    pub fn open(data_folder: &Path, role: Role) -> Result<Self, StoreError> {
        let path = data_folder.join(FILE_NAME);
        let opened = db::open(&path, role, &SCHEMA)?;
        Ok(Self { connection: opened.connection, path, set_aside: opened.set_aside })
    }

    /// Where an unreadable file was put when this store was opened.
    pub fn set_aside(&self) -> Option<&Path> {
        self.set_aside.as_deref()
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Moves a store found damaged after it had opened out of the way and starts a new one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn replace_damaged(self, role: Role) -> Result<Self, StoreError> {
        let Self { connection, path, .. } = self;
        drop(connection);
        let set_aside = db::set_aside(&path, role, &SCHEMA)?;
        let opened = db::open(&path, role, &SCHEMA)?;
        Ok(Self { connection: opened.connection, path, set_aside })
    }

    /// Tells whether the user paused this host's memory.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn is_paused(&self) -> Result<bool, StoreError> {
        let value: Option<String> = self
            .connection
            .prepare_cached("SELECT value FROM settings WHERE key = 'paused'")
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)).optional())
            .map_err(|error| self.error(error))?;
        Ok(value.is_some_and(|value| value == "true"))
    }

    /// Pauses or resumes this host's memory.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn set_paused(&self, is_paused: bool, now: Timestamp) -> Result<(), StoreError> {
        self.connection
            .execute(
                "INSERT INTO settings(key, value, updated_at) VALUES ('paused', ?1, ?2)
                 ON CONFLICT(key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at",
                (if is_paused { "true" } else { "false" }, iso(now)),
            )
            .map(drop)
            .map_err(|error| self.error(error))
    }

    /// Trims the WAL; what hooks leave behind is trimmed nowhere else.
    pub fn checkpoint(&self) {
        db::checkpoint(&self.connection, Duration::ZERO);
    }

    /// Reads every page of the file.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when one is damaged.
    pub fn check(&self) -> Result<(), StoreError> {
        let said: String = self
            .connection
            .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
            .map_err(|error| self.error(error))?;
        if said == "ok" {
            return Ok(());
        }
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        Err(self.error(rusqlite::Error::SqliteFailure(code, Some(said))))
    }

    fn error(&self, source: rusqlite::Error) -> StoreError {
        StoreError::new(&self.path, source)
    }

    /// Runs `act` in one immediate transaction.
    fn immediate<T>(&mut self, act: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let path = self.path.clone();
        let run = |connection: &mut Connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = act(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        run(&mut self.connection).map_err(|error| StoreError::new(&path, error))
    }
}

/// The form of every time in the store: ISO 8601 UTC with microseconds and offset.
pub fn iso(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%6f+00:00").to_string()
}

fn migrate(connection: &Connection, _from: i64) -> rusqlite::Result<()> {
    connection.execute_batch(include_str!("../../migrations/evidence/001.sql"))?;
    for (table, column, declaration) in ADDED_COLUMNS {
        let exists = connection
            .query_row("SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2", (table, column), |_| Ok(()))
            .optional()?
            .is_some();
        if !exists {
            connection.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {column} {declaration}"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
