//! What a session was shown, and a log of what was asked.

use std::collections::HashSet;

use jiff::Timestamp;
use rusqlite::params;

use super::{Evidence, Session, iso};
use crate::db::StoreError;

/// Longest error kept with an operation, in characters.
const MAX_ERROR_CHARS: usize = 1_000;
/// Longest memory text kept with a retrieval, in characters.
const MAX_MEMORY_CHARS: usize = 4_000;

/// One search or flush, for `status`.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation<'a> {
    /// `first-prompt-search`, `search`, `flush` or `flush-retry`.
    pub name: &'a str,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
    /// How many memories it gave or made; `Err` with the reason when it failed.
    pub outcome: Result<usize, String>,
    /// Size of what was asked, in characters.
    pub request_chars: usize,
    /// Size of what came back, in characters.
    pub response_chars: usize,
}

/// A memory that was put into a session's context.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownMemory {
    /// The memory's id.
    pub id: String,
    /// Its text as shown.
    pub text: String,
    /// Its score, where the place gave one.
    pub score: Option<f64>,
}

impl Evidence {
    /// Tells whether a search of this name was made in the session.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn has_operation(&self, session: Session<'_>, name: &str) -> Result<bool, StoreError> {
        self.connection
            .prepare_cached(
                "SELECT 1 FROM operations WHERE repo_id = ?1 AND session_id = ?2 AND operation = ?3 LIMIT 1",
            )
            .and_then(|mut statement| statement.exists((session.identity, session.id, name)))
            .map_err(|error| self.error(error))
    }

    /// Logs an operation.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn log_operation(
        &self,
        session: Session<'_>,
        operation: &Operation<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (is_success, n_items, error) = match &operation.outcome {
            Ok(n_items) => (true, *n_items, None),
            Err(error) => (false, 0, Some(mem0_code_core::redact::bounded(error, MAX_ERROR_CHARS))),
        };
        self.connection
            .execute(
                "INSERT INTO operations(created_at, repo_id, session_id, operation, duration_ms, success, item_count,
                                        request_chars, response_chars, error)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                params![
                    iso(now),
                    session.identity,
                    session.id,
                    operation.name,
                    operation.duration_ms,
                    is_success,
                    n_items as i64,
                    operation.request_chars as i64,
                    operation.response_chars as i64,
                    error
                ],
            )
            .map(drop)
            .map_err(|error| self.error(error))
    }

    /// Returns the ids of all memories this session was shown.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn shown_ids(&self, session: Session<'_>) -> Result<HashSet<String>, StoreError> {
        self.connection
            .prepare_cached("SELECT memory_id FROM retrievals WHERE repo_id = ?1 AND session_id = ?2")
            .and_then(|mut statement| statement.query_map((session.identity, session.id), |row| row.get(0))?.collect())
            .map_err(|error| self.error(error))
    }

    /// Returns what this session was shown, in order of rank, time and id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn shown(&self, session: Session<'_>) -> Result<Vec<ShownMemory>, StoreError> {
        self.shown_from(
            session,
            "SELECT memory_id, COALESCE(memory_text, ''), score FROM retrievals
             WHERE repo_id = ?1 AND session_id = ?2 ORDER BY rank, injected_at, memory_id",
        )
    }

    /// Returns what this session was shown since its last prompt, in the same order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn shown_since_prompt(&self, session: Session<'_>) -> Result<Vec<ShownMemory>, StoreError> {
        self.shown_from(
            session,
            "SELECT memory_id, COALESCE(memory_text, ''), score FROM retrievals
             WHERE repo_id = ?1 AND session_id = ?2 AND injected_at >= (
                 SELECT created_at FROM events
                 WHERE repo_id = ?1 AND session_id = ?2 AND kind = 'user_prompt' ORDER BY id DESC LIMIT 1)
             ORDER BY rank, injected_at, memory_id",
        )
    }

    fn shown_from(&self, session: Session<'_>, sql: &str) -> Result<Vec<ShownMemory>, StoreError> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement
                    .query_map((session.identity, session.id), |row| {
                        Ok(ShownMemory { id: row.get(0)?, text: row.get(1)?, score: row.get(2)? })
                    })?
                    .collect()
            })
            .map_err(|error| self.error(error))
    }

    /// Notes that these memories were put into the session's context, best first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn mark_shown(
        &mut self,
        session: Session<'_>,
        memories: &[ShownMemory],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.immediate(|transaction| {
            for (position, memory) in memories.iter().enumerate() {
                let text = mem0_code_core::redact::bounded(&memory.text, MAX_MEMORY_CHARS);
                transaction
                    .prepare_cached(
                        "INSERT OR IGNORE INTO retrievals
                         (session_id, repo_id, memory_id, injected_at, rank, score, memory_text, context_chars)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                    )?
                    .execute(params![
                        session.id,
                        session.identity,
                        memory.id,
                        iso(now),
                        position as i64 + 1,
                        memory.score,
                        text,
                        memory.text.chars().count() as i64
                    ])?;
            }
            Ok(())
        })
    }
}
