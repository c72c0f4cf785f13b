//! Counting what is stored about a repository, and forgetting it.

use std::time::Duration;

use rusqlite::OptionalExtension;
use serde::Serialize;

use super::Evidence;
use crate::db::{self, StoreError};

/// Rows of one repository, by table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Events.
    pub events: u64,
    /// Pinned sessions.
    pub session_scopes: u64,
    /// Packets.
    pub flushes: u64,
    /// Memories shown.
    pub retrievals: u64,
    /// Logged operations.
    pub operations: u64,
    /// Runs of sub-agents.
    pub subagent_runs: u64,
}

/// The last operation of a repository.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LastOperation {
    /// When.
    pub created_at: String,
    /// Which.
    pub operation: String,
    /// How long it took.
    pub duration_ms: f64,
    /// 1 when it succeeded, else 0.
    pub success: i64,
    /// How many memories it gave or made.
    pub item_count: i64,
    /// Why it failed.
    pub error: Option<String>,
}

/// The last sub-agent of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LastRun {
    /// Its session.
    pub session_id: String,
    /// Its id.
    pub agent_id: String,
    /// Its kind.
    pub agent_type: String,
    /// When it started.
    pub started_at: String,
    /// When it stopped.
    pub stopped_at: Option<String>,
    /// How many characters of memory it was given.
    pub context_chars: i64,
}

/// What of a repository is not yet memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// Events no packet has taken.
    pub unsent_events: u64,
    /// Packets whose delivery is not finished.
    pub unfinished_packets: u64,
    /// Packets given up after the last attempt.
    pub gave_up: u64,
    /// The last error of a packet not delivered, with its time.
    pub last_error: Option<(String, String)>,
}

impl Evidence {
    /// Counts what is stored about a repository.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn counts(&self, identity: &str) -> Result<Counts, StoreError> {
        let count = |table: &str| -> Result<u64, StoreError> {
            self.connection
                .query_row(&format!("SELECT COUNT(*) FROM {table} WHERE repo_id = ?1"), [identity], |row| {
                    row.get::<_, i64>(0)
                })
                .map(i64::unsigned_abs)
                .map_err(|error| self.error(error))
        };
        Ok(Counts {
            events: count("events")?,
            session_scopes: count("session_scopes")?,
            flushes: count("flushes")?,
            retrievals: count("retrievals")?,
            operations: count("operations")?,
            subagent_runs: count("sidekick_runs")?,
        })
    }

    /// Returns the repository's last operation.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn last_operation(&self, identity: &str) -> Result<Option<LastOperation>, StoreError> {
        self.connection
            .query_row(
                "SELECT created_at, operation, duration_ms, success, item_count, error FROM operations
                 WHERE repo_id = ?1 ORDER BY id DESC LIMIT 1",
                [identity],
                |row| {
                    Ok(LastOperation {
                        created_at: row.get(0)?,
                        operation: row.get(1)?,
                        duration_ms: row.get(2)?,
                        success: row.get(3)?,
                        item_count: row.get(4)?,
                        error: row.get(5)?,
                    })
                },
            )
            .optional()
            .map_err(|error| self.error(error))
    }

    /// Returns the repository's last sub-agent.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn last_run(&self, identity: &str) -> Result<Option<LastRun>, StoreError> {
        self.connection
            .query_row(
                "SELECT session_id, agent_id, agent_type, started_at, stopped_at, context_chars FROM sidekick_runs
                 WHERE repo_id = ?1 ORDER BY COALESCE(stopped_at, started_at) DESC, rowid DESC LIMIT 1",
                [identity],
                |row| {
                    Ok(LastRun {
                        session_id: row.get(0)?,
                        agent_id: row.get(1)?,
                        agent_type: row.get(2)?,
                        started_at: row.get(3)?,
                        stopped_at: row.get(4)?,
                        context_chars: row.get(5)?,
                    })
                },
            )
            .optional()
            .map_err(|error| self.error(error))
    }

    /// Returns what of a repository is not yet memory.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn waiting(&self, identity: &str) -> Result<Waiting, StoreError> {
        let read = || -> rusqlite::Result<Waiting> {
            let connection = &self.connection;
            let count =
                |sql: &str| connection.query_row(sql, [identity], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs);
            Ok(Waiting {
                unsent_events: count("SELECT COUNT(*) FROM events WHERE repo_id = ?1 AND flush_id IS NULL")?,
                unfinished_packets: count(
                    "SELECT COUNT(*) FROM flushes WHERE repo_id = ?1
                     AND status NOT IN ('semantic-succeeded', 'explicitly-stored', 'gave-up')",
                )?,
                gave_up: count("SELECT COUNT(*) FROM flushes WHERE repo_id = ?1 AND status = 'gave-up'")?,
                last_error: connection
                    .query_row(
                        "SELECT updated_at, error FROM flushes WHERE repo_id = ?1 AND error IS NOT NULL
                         AND status <> 'semantic-succeeded' ORDER BY updated_at DESC LIMIT 1",
                        [identity],
                        |row| Ok((row.get(0)?, row.get(1)?)),
                    )
                    .optional()?,
            })
        };
        read().map_err(|error| self.error(error))
    }

    /// Returns when a session of any repository last sent an event, ISO 8601.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn last_event_at(&self) -> Result<Option<String>, StoreError> {
        self.connection
            .query_row("SELECT created_at FROM events ORDER BY id DESC LIMIT 1", [], |row| row.get(0))
            .optional()
            .map_err(|error| self.error(error))
    }

    /// Returns the sessions of a repository that have events, newest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn sessions(&self, identity: &str) -> Result<Vec<String>, StoreError> {
        self.connection
            .prepare("SELECT session_id FROM events WHERE repo_id = ?1 GROUP BY session_id ORDER BY MAX(id) DESC")
            .and_then(|mut statement| statement.query_map([identity], |row| row.get(0))?.collect())
            .map_err(|error| self.error(error))
    }

    /// Deletes every row of a repository in one transaction, overwriting the bytes, and returns how many went.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn forget(&mut self, identity: &str) -> Result<Counts, StoreError> {
        self.connection.pragma_update(None, "secure_delete", true).map_err(|error| self.error(error))?;
        let gone = self.immediate(|transaction| {
            let delete = |table: &str| -> rusqlite::Result<u64> {
                transaction
                    .execute(&format!("DELETE FROM {table} WHERE repo_id = ?1"), [identity])
                    .map(|n_rows| n_rows as u64)
            };
            Ok(Counts {
                events: delete("events")?,
                session_scopes: delete("session_scopes")?,
                flushes: delete("flushes")?,
                retrievals: delete("retrievals")?,
                operations: delete("operations")?,
                subagent_runs: delete("sidekick_runs")?,
            })
        })?;
        // The WAL still holds the old pages until it is trimmed, which is worth a wait that hooks bear.
        db::checkpoint(&self.connection, Duration::from_secs(1));
        Ok(gone)
    }
}
