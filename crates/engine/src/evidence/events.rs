//! Appending events, and the scope a session is pinned to.

use jiff::Timestamp;
use mem0_code_core::event::UNKNOWN_SESSION;
use mem0_code_core::evidence::StoredEvent;
use mem0_code_core::scope::{self, Scope};
use mem0_code_core::transcript::CommandOutcome;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior};
use serde_json::Value;

use super::{Evidence, iso};
use crate::db::StoreError;

/// Whose events are meant: a session of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session<'a> {
    /// The repository's identity.
    pub identity: &'a str,
    /// Its slug.
    pub app_id: &'a str,
    /// The host's session id.
    pub id: &'a str,
}

/// An event to append.
#[derive(Debug, Clone, Copy)]
pub struct NewEvent<'a> {
    /// Whose.
    pub session: Session<'a>,
    /// Such as `user_prompt`.
    pub kind: &'a str,
    /// Redacted.
    pub payload: &'a Value,
    /// When.
    pub now: Timestamp,
}

/// The scope a session began in; never changed afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Repository identity.
    pub identity: String,
    /// Slug.
    pub app_id: String,
    /// Shared namespace; absent in rows of older releases.
    pub project_id: Option<String>,
    /// Root of the checkout the session began in.
    pub root: String,
    /// Branch at the first event.
    pub branch: String,
    /// Commit at the first event.
    pub head_sha: String,
    /// Directory below the root.
    pub directory: String,
}

/// What appending did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// The row with this id was written.
    Stored(i64),
    /// The same thing had been stored just before: nothing was written.
    Repeated,
    /// Another process stored an answer since the caller looked: look again.
    Stale,
}

/// What the next reading of a transcript needs to know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptState {
    /// Id of the session's last `assistant_stop` row.
    pub last_answer: Option<i64>,
    /// The row it ended in.
    pub leaf: Option<String>,
    /// The file it was read from.
    pub path: Option<String>,
    /// Where reading ended, in bytes.
    pub offset: u64,
    /// The text of the session's last answer.
    pub last_text: Option<String>,
    /// The session's last recorded prompt.
    pub last_prompt: Option<String>,
}

/// Events of a session among which a call is looked for that a transcript told of before its hook came.
const MAX_LATE_BY: i64 = 64;

impl Evidence {
    /// Returns the scope this session is pinned to.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn pin(&self, session_id: &str) -> Result<Option<Pin>, StoreError> {
        pin(&self.connection, session_id).map_err(|error| self.error(error))
    }

    /// Pins a session to a scope unless it has one, and returns the one it has. Sessions without an id are never pinned.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn pin_to(&self, session_id: &str, scope: &Scope, now: Timestamp) -> Result<Pin, StoreError> {
        let wanted = Pin {
            identity: scope.identity.clone(),
            app_id: scope.app_id.clone(),
            project_id: Some(scope.project_id.clone()),
            root: scope.root.to_string_lossy().into_owned(),
            branch: scope.branch.clone(),
            head_sha: scope.head_sha.clone(),
            directory: scope.directory.clone(),
        };
        if session_id == UNKNOWN_SESSION {
            return Ok(wanted);
        }
        let pin_it = || -> rusqlite::Result<Option<Pin>> {
            let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let n_pinned = transaction.execute(
                "INSERT OR IGNORE INTO session_scopes
                 (session_id, repo_id, app_id, root, branch, head_sha, created_at, directory, project_id)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                (
                    session_id,
                    &wanted.identity,
                    &wanted.app_id,
                    &wanted.root,
                    &wanted.branch,
                    &wanted.head_sha,
                    iso(now),
                    &wanted.directory,
                    &wanted.project_id,
                ),
            )?;
            if n_pinned > 0 {
                take_along(&transaction, session_id, &wanted)?;
            }
            let pinned = pin(&transaction, session_id)?;
            transaction.commit()?;
            Ok(pinned)
        };
        pin_it().map(|pinned| pinned.unwrap_or(wanted)).map_err(|error| self.error(error))
    }

    /// Tells whether the session has an event of this kind.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn has_event(&self, session: Session<'_>, kind: &str) -> Result<bool, StoreError> {
        self.connection
            .prepare_cached("SELECT 1 FROM events WHERE repo_id = ?1 AND session_id = ?2 AND kind = ?3 LIMIT 1")
            .and_then(|mut statement| statement.exists((session.identity, session.id, kind)))
            .map_err(|error| self.error(error))
    }

    /// Appends an event.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn record(&self, event: &NewEvent<'_>) -> Result<i64, StoreError> {
        insert(&self.connection, event).map_err(|error| self.error(error))
    }

    /// Appends a prompt unless it is the session's last event already: a host may fire the same hook twice,
    /// and a prompt taken back before any output is submitted again. One that was read from a transcript names its row
    /// (`transcript_row`) and is stored once, whatever came in between.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn record_prompt(&mut self, event: &NewEvent<'_>) -> Result<Recorded, StoreError> {
        self.immediate(|transaction| {
            let payload = event.payload.to_string();
            let last = last_event(transaction, event.session)?;
            if last.is_some_and(|(kind, last_payload)| kind == event.kind && last_payload == payload) {
                return Ok(Recorded::Repeated);
            }
            if let Some(row) = event.payload["transcript_row"].as_str()
                && last_prompt_row(transaction, event.session)?.as_deref() == Some(row)
            {
                return Ok(Recorded::Repeated);
            }
            insert(transaction, event).map(Recorded::Stored)
        })
    }

    /// Appends an answer that was not read from a transcript, unless it equals the last one with no prompt in between.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn record_spoken_answer(&mut self, event: &NewEvent<'_>) -> Result<Recorded, StoreError> {
        self.immediate(|transaction| {
            let last: Option<(String, Option<String>)> = transaction
                .prepare_cached(
                    "SELECT kind, json_extract(payload_json, '$.text') FROM events
                     WHERE repo_id = ?1 AND session_id = ?2 AND kind IN ('assistant_stop', 'user_prompt')
                     ORDER BY id DESC LIMIT 1",
                )?
                .query_row((event.session.identity, event.session.id), |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let is_repeated = last.is_some_and(|(kind, text)| {
                kind == "assistant_stop" && text.as_deref() == event.payload["text"].as_str()
            });
            if is_repeated {
                return Ok(Recorded::Repeated);
            }
            insert(transaction, event).map(Recorded::Stored)
        })
    }

    /// Returns what the next reading of this session's transcript needs to know.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn transcript_state(&self, session: Session<'_>) -> Result<TranscriptState, StoreError> {
        transcript_state(&self.connection, session).map_err(|error| self.error(error))
    }

    /// Appends a finished tool call, unless a transcript told of it before: `call_id` is the host's id of the call.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn record_call(&mut self, event: &NewEvent<'_>, call_id: &str) -> Result<Recorded, StoreError> {
        self.immediate(|transaction| {
            let is_known = transaction
                .prepare_cached(
                    "SELECT 1 FROM (SELECT kind, payload_json FROM events WHERE repo_id = ?1 AND session_id = ?2
                                    ORDER BY id DESC LIMIT ?3)
                     WHERE kind IN ('tool_result', 'tool_failure') AND json_extract(payload_json, '$.call_id') = ?4
                       AND json_extract(payload_json, '$.command') = ?5",
                )?
                .exists((
                    event.session.identity,
                    event.session.id,
                    MAX_LATE_BY,
                    call_id,
                    event.payload["command"].as_str(),
                ))?;
            if is_known {
                return Ok(Recorded::Repeated);
            }
            insert(transaction, event).map(Recorded::Stored)
        })
    }

    /// Appends an answer read from a transcript, provided that nothing was appended since `seen` was looked up.
    /// Commands whose outcome was unknown learn it from `outcomes`, oldest first; those with a call's id that no hook told
    /// of are appended before the answer.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn record_read_answer(
        &mut self,
        event: &NewEvent<'_>,
        seen: &TranscriptState,
        outcomes: &[CommandOutcome],
    ) -> Result<Recorded, StoreError> {
        self.immediate(|transaction| {
            if last_answer(transaction, event.session)? != seen.last_answer {
                return Ok(Recorded::Stale);
            }
            settle_outcomes(transaction, event.session, outcomes)?;
            append_unseen(transaction, event, seen.last_answer, outcomes)?;
            insert(transaction, event).map(Recorded::Stored)
        })
    }

    /// Returns the session's events that no packet has taken, oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn unsent(&self, session: Session<'_>) -> Result<Vec<StoredEvent>, StoreError> {
        unsent(&self.connection, session).map_err(|error| self.error(error))
    }

    /// Returns the events a packet has taken, oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn taken(&self, packet_id: &str) -> Result<Vec<StoredEvent>, StoreError> {
        taken(&self.connection, packet_id).map_err(|error| self.error(error))
    }
}

pub(super) fn unsent(connection: &Connection, session: Session<'_>) -> rusqlite::Result<Vec<StoredEvent>> {
    connection
        .prepare_cached(
            "SELECT id, created_at, kind, payload_json FROM events
             WHERE repo_id = ?1 AND session_id = ?2 AND flush_id IS NULL ORDER BY id",
        )?
        .query_map((session.identity, session.id), stored)?
        .collect()
}

pub(super) fn taken(connection: &Connection, packet_id: &str) -> rusqlite::Result<Vec<StoredEvent>> {
    connection
        .prepare_cached("SELECT id, created_at, kind, payload_json FROM events WHERE flush_id = ?1 ORDER BY id")?
        .query_map([packet_id], stored)?
        .collect()
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredEvent> {
    let payload: String = row.get(3)?;
    Ok(StoredEvent {
        id: row.get(0)?,
        created_at: row.get(1)?,
        kind: row.get(2)?,
        payload: serde_json::from_str(&payload).unwrap_or(Value::Null),
    })
}

fn pin(connection: &Connection, session_id: &str) -> rusqlite::Result<Option<Pin>> {
    if session_id == UNKNOWN_SESSION {
        return Ok(None);
    }
    connection
        .prepare_cached(
            "SELECT repo_id, app_id, project_id, root, branch, head_sha, directory FROM session_scopes WHERE session_id = ?1",
        )?
        .query_row([session_id], |row| {
            Ok(Pin {
                identity: row.get(0)?,
                app_id: row.get(1)?,
                project_id: row.get(2)?,
                root: row.get(3)?,
                branch: row.get(4)?,
                head_sha: row.get(5)?,
                directory: row.get(6)?,
            })
        })
        .optional()
}

/// Gives what a session recorded while its repository could not be read to the repository.
fn take_along(connection: &Connection, session_id: &str, pin: &Pin) -> rusqlite::Result<()> {
    let meanwhile = scope::local_identity(&pin.root);
    if meanwhile == pin.identity {
        return Ok(());
    }
    for table in ["events", "flushes"] {
        connection.execute(
            &format!("UPDATE {table} SET repo_id = ?1, app_id = ?2 WHERE repo_id = ?3 AND session_id = ?4"),
            (&pin.identity, &pin.app_id, &meanwhile, session_id),
        )?;
    }
    Ok(())
}

fn insert(connection: &Connection, event: &NewEvent<'_>) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "INSERT INTO events(repo_id, app_id, session_id, created_at, kind, payload_json) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .insert((
            event.session.identity,
            event.session.app_id,
            event.session.id,
            iso(event.now),
            event.kind,
            event.payload.to_string(),
        ))
}

fn last_event(connection: &Connection, session: Session<'_>) -> rusqlite::Result<Option<(String, String)>> {
    connection
        .prepare_cached(
            "SELECT kind, payload_json FROM events WHERE repo_id = ?1 AND session_id = ?2 ORDER BY id DESC LIMIT 1",
        )?
        .query_row((session.identity, session.id), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

fn last_prompt_row(connection: &Connection, session: Session<'_>) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached(
            "SELECT json_extract(payload_json, '$.transcript_row') FROM events
             WHERE repo_id = ?1 AND session_id = ?2 AND kind = 'user_prompt' ORDER BY id DESC LIMIT 1",
        )?
        .query_row((session.identity, session.id), |row| row.get(0))
        .optional()
        .map(Option::flatten)
}

fn last_answer(connection: &Connection, session: Session<'_>) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached(
            "SELECT MAX(id) FROM events WHERE repo_id = ?1 AND session_id = ?2 AND kind = 'assistant_stop'",
        )?
        .query_row((session.identity, session.id), |row| row.get(0))
}

fn transcript_state(connection: &Connection, session: Session<'_>) -> rusqlite::Result<TranscriptState> {
    let mut state = connection
        .prepare_cached(
            "SELECT id, json_extract(payload_json, '$.transcript_leaf_uuid'), json_extract(payload_json, '$.transcript_path'),
                    json_extract(payload_json, '$.transcript_offset'), json_extract(payload_json, '$.text')
             FROM events WHERE repo_id = ?1 AND session_id = ?2 AND kind = 'assistant_stop' ORDER BY id DESC LIMIT 1",
        )?
        .query_row((session.identity, session.id), |row| {
            Ok(TranscriptState {
                last_answer: row.get(0)?,
                leaf: row.get(1)?,
                path: row.get(2)?,
                offset: row.get::<_, Option<i64>>(3)?.and_then(|offset| offset.try_into().ok()).unwrap_or(0),
                last_text: row.get(4)?,
                last_prompt: None,
            })
        })
        .optional()?
        .unwrap_or_default();
    state.last_prompt = connection
        .prepare_cached(
            "SELECT json_extract(payload_json, '$.text') FROM events
             WHERE repo_id = ?1 AND session_id = ?2 AND kind = 'user_prompt' ORDER BY id DESC LIMIT 1",
        )?
        .query_row((session.identity, session.id), |row| row.get(0))
        .optional()?
        .flatten();
    Ok(state)
}

/// Appends the commands that no hook has told of since the last answer.
fn append_unseen(
    connection: &Connection,
    answer: &NewEvent<'_>,
    last_answer: Option<i64>,
    outcomes: &[CommandOutcome],
) -> rusqlite::Result<()> {
    if outcomes.iter().all(|outcome| outcome.call_id.is_none()) {
        return Ok(());
    }
    let mut told: Vec<String> = connection
        .prepare_cached(
            "SELECT json_extract(payload_json, '$.command') FROM events
             WHERE repo_id = ?1 AND session_id = ?2 AND id > ?3 AND kind IN ('tool_result', 'tool_failure')
               AND json_type(payload_json, '$.command') = 'text'",
        )?
        .query_map((answer.session.identity, answer.session.id, last_answer.unwrap_or(0)), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for outcome in outcomes.iter().filter(|outcome| outcome.call_id.is_some()) {
        let record = mem0_code_core::evidence::unseen_command(outcome);
        match told.iter().position(|command| record.payload["command"] == **command) {
            Some(position) => drop(told.swap_remove(position)),
            None => {
                insert(connection, &NewEvent { kind: record.kind, payload: &record.payload, ..*answer })?;
            }
        }
    }
    Ok(())
}

/// Gives commands recorded with an unknown outcome the one their transcript tells, in order of arrival.
fn settle_outcomes(connection: &Connection, session: Session<'_>, outcomes: &[CommandOutcome]) -> rusqlite::Result<()> {
    if outcomes.is_empty() {
        return Ok(());
    }
    let mut unknown: Vec<StoredEvent> = connection
        .prepare_cached(
            "SELECT id, created_at, kind, payload_json FROM events
             WHERE repo_id = ?1 AND session_id = ?2 AND kind = 'tool_result' AND flush_id IS NULL
               AND json_type(payload_json, '$.failed') = 'null' AND json_extract(payload_json, '$.command') IS NOT NULL
             ORDER BY id",
        )?
        .query_map((session.identity, session.id), stored)?
        .collect::<rusqlite::Result<_>>()?;
    for outcome in outcomes {
        let command = mem0_code_core::evidence::command(&outcome.command);
        let Some(position) = unknown.iter().position(|event| event.payload["command"].as_str() == Some(&command))
        else {
            continue;
        };
        let event = unknown.remove(position);
        let (kind, payload) = mem0_code_core::evidence::settle(event.payload, outcome);
        connection.prepare_cached("UPDATE events SET kind = ?1, payload_json = ?2 WHERE id = ?3")?.execute((
            kind,
            payload.to_string(),
            event.id,
        ))?;
    }
    Ok(())
}
