//! Runs of sub-agents.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::{Evidence, Session, iso};
use crate::db::StoreError;

/// A sub-agent's run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run<'a> {
    /// The host's id of the run.
    pub agent_id: &'a str,
    /// The sub-agent's kind.
    pub agent_type: &'a str,
}

/// How a sub-agent's run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped<'a> {
    /// The host's id of the run; without one it is guessed only when there is no doubt.
    pub agent_id: Option<&'a str>,
    /// The sub-agent's kind.
    pub agent_type: &'a str,
    /// Its transcript.
    pub transcript_path: &'a str,
    /// Its last message, redacted.
    pub final_message: &'a str,
}

impl Evidence {
    /// Opens a run; returns whether it is this id's first start in the session.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn start_run(
        &self,
        session: Session<'_>,
        run: Run<'_>,
        context_chars: usize,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.connection
            .execute(
                "INSERT OR IGNORE INTO sidekick_runs(repo_id, session_id, agent_id, agent_type, started_at, context_chars)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![session.identity, session.id, run.agent_id, run.agent_type, iso(now), context_chars as i64],
            )
            .map(|n_rows| n_rows == 1)
            .map_err(|error| self.error(error))
    }

    /// Closes a run and returns its id: the given one, else that of the only open run of this kind, else a made-up one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn stop_run(
        &mut self,
        session: Session<'_>,
        stopped: Stopped<'_>,
        now: Timestamp,
    ) -> Result<String, StoreError> {
        self.immediate(|transaction| {
            let agent_id = match stopped.agent_id {
                Some(agent_id) => agent_id.to_owned(),
                None => {
                    let open: Vec<String> = transaction
                        .prepare_cached(
                            "SELECT agent_id FROM sidekick_runs
                             WHERE repo_id = ?1 AND session_id = ?2 AND agent_type = ?3 AND stopped_at IS NULL LIMIT 2",
                        )?
                        .query_map((session.identity, session.id, stopped.agent_type), |row| row.get(0))?
                        .collect::<rusqlite::Result<_>>()?;
                    match open.as_slice() {
                        [only] => only.clone(),
                        _ => format!("unknown-agent-{}", now.as_nanosecond()),
                    }
                }
            };
            transaction.execute(
                "INSERT INTO sidekick_runs(repo_id, session_id, agent_id, agent_type, started_at, stopped_at, transcript_path, final_message)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7)
                 ON CONFLICT(repo_id, session_id, agent_id) DO UPDATE SET
                     stopped_at = excluded.stopped_at, transcript_path = excluded.transcript_path,
                     final_message = excluded.final_message",
                params![
                    session.identity,
                    session.id,
                    agent_id,
                    stopped.agent_type,
                    iso(now),
                    stopped.transcript_path,
                    stopped.final_message
                ],
            )?;
            Ok(agent_id)
        })
    }

    /// Tells whether a run of this id was opened in the session.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn has_run(&self, session: Session<'_>, agent_id: &str) -> Result<bool, StoreError> {
        self.connection
            .query_row(
                "SELECT 1 FROM sidekick_runs WHERE repo_id = ?1 AND session_id = ?2 AND agent_id = ?3",
                (session.identity, session.id, agent_id),
                |_| Ok(()),
            )
            .optional()
            .map(|found| found.is_some())
            .map_err(|error| self.error(error))
    }
}
