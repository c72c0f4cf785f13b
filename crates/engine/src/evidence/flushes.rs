//! Packets: which events belong together, how far their delivery has come, and who delivers.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use mem0_code_core::checkpoint;
use mem0_code_core::event::UNKNOWN_SESSION;
use mem0_code_core::evidence::StoredEvent;
use mem0_code_core::packet::{Reason, packet_id};
use rusqlite::{Connection, OptionalExtension, Row};

use super::events::{taken, unsent};
use super::{Evidence, Session, iso};
use crate::db::StoreError;

/// Attempts after which a packet is given up.
const MAX_ATTEMPTS: i64 = 5;

/// Where a packet's delivery stands. Names are those of the Mem0 plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Events assigned, nothing submitted.
    Prepared,
    /// At least one request accepted.
    Queued,
    /// Every extraction succeeded, or there was no text.
    Succeeded,
    /// An extraction reported failure.
    Failed,
    /// A reply had no event id.
    Missing,
    /// Not finished in time.
    TimedOut,
    /// A request or a poll raised an error.
    Error,
    /// All attempts used.
    GaveUp,
    /// Only in files of older releases.
    ExplicitlyStored,
}

impl Status {
    /// The word in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prepared => "prepared",
            Self::Queued => "semantic-queued",
            Self::Succeeded => "semantic-succeeded",
            Self::Failed => "semantic-failed",
            Self::Missing => "semantic-missing",
            Self::TimedOut => "semantic-timeout",
            Self::Error => "error",
            Self::GaveUp => "gave-up",
            Self::ExplicitlyStored => "explicitly-stored",
        }
    }

    /// Reads the word; an unknown one counts as an error, which is retried.
    pub fn parse(word: &str) -> Self {
        [
            Self::Prepared,
            Self::Queued,
            Self::Succeeded,
            Self::Failed,
            Self::Missing,
            Self::TimedOut,
            Self::GaveUp,
            Self::ExplicitlyStored,
        ]
        .into_iter()
        .find(|status| status.as_str() == word)
        .unwrap_or(Self::Error)
    }

    /// Tells whether nothing more will happen to the packet.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::GaveUp | Self::ExplicitlyStored)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A packet's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flush {
    /// Id, derived from identity, session and event range.
    pub packet_id: String,
    /// Why it was made.
    pub reason: Reason,
    /// Where it stands.
    pub status: Status,
    /// What the place for memories answered: a JSON list of event ids, one a batch, empty for missing; one bare
    /// id in rows of older releases.
    pub receipts: Option<String>,
    /// Attempts used.
    pub attempts: i64,
}

/// A packet and its events.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// The row.
    pub flush: Flush,
    /// Its events, oldest first.
    pub events: Vec<StoredEvent>,
}

/// A session that something is left of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abandoned {
    /// Its id.
    pub session_id: String,
    /// Root of the checkout it began in.
    pub root: String,
    /// The folder below the root it began in.
    pub directory: String,
}

const IN_FLIGHT: &str = "status IN ('prepared', 'semantic-queued')";
const NOT_FINAL: &str = "status NOT IN ('semantic-succeeded', 'explicitly-stored', 'gave-up')";

impl Evidence {
    /// Finds the session's unfinished packet or makes one from its unsent events, in one transaction.
    ///
    /// [`Reason::Periodic`] takes a block only when one is due; every other reason takes the first due block, or all
    /// there is, and lends its name to a periodic packet it finds.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn prepare(
        &mut self,
        session: Session<'_>,
        reason: &Reason,
        now: Timestamp,
    ) -> Result<Option<Prepared>, StoreError> {
        self.immediate(|transaction| prepare(transaction, session, reason, now))
    }

    /// Tells whether a packet of the session is prepared or submitted and unfinished.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn is_in_flight(&self, session: Session<'_>) -> Result<bool, StoreError> {
        is_in_flight(&self.connection, session).map_err(|error| self.error(error))
    }

    /// Returns the sessions that something is left of and that nobody has touched since `before`: events no packet has
    /// taken, or a packet whose delivery is not finished. Hosts get killed, and so do hooks between two steps.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn abandoned(&self, before: Timestamp) -> Result<Vec<Abandoned>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Abandoned>> {
            self.connection
                .prepare(&format!(
                    // Sessions whose repository could not be read have no pin; their identity tells the folder.
                    "SELECT left_over.session_id, COALESCE(session_scopes.root, substr(left_over.repo_id, 7)),
                            COALESCE(session_scopes.directory, '') FROM (
                         SELECT session_id, repo_id, MAX(created_at) AS touched_at FROM events
                         WHERE flush_id IS NULL GROUP BY repo_id, session_id
                         HAVING SUM(kind <> 'session_start') > 0
                         UNION ALL
                         SELECT session_id, repo_id, MAX(updated_at) FROM flushes WHERE {NOT_FINAL} GROUP BY repo_id, session_id
                     ) AS left_over
                     LEFT JOIN session_scopes USING (session_id, repo_id)
                     WHERE session_scopes.session_id IS NOT NULL OR (
                         left_over.repo_id LIKE 'local:%' AND left_over.session_id <> '{UNKNOWN_SESSION}'
                         AND left_over.session_id NOT IN (SELECT session_id FROM session_scopes))
                     GROUP BY left_over.session_id HAVING MAX(touched_at) < ?1 ORDER BY MAX(touched_at)"
                ))?
                .query_map([iso(before)], |row| {
                    Ok(Abandoned { session_id: row.get(0)?, root: row.get(1)?, directory: row.get(2)? })
                })?
                .collect()
        };
        read().map_err(|error| self.error(error))
    }

    /// Returns a packet's row.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn flush(&self, packet_id: &str) -> Result<Option<Flush>, StoreError> {
        self.connection
            .query_row(&format!("SELECT {FLUSH_COLUMNS} FROM flushes WHERE packet_id = ?1"), [packet_id], flush)
            .optional()
            .map_err(|error| self.error(error))
    }

    /// Writes where a packet stands.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn set_status(
        &self,
        packet_id: &str,
        status: Status,
        receipts: Option<&str>,
        error: Option<&str>,
        counts_attempt: bool,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.connection
            .execute(
                "UPDATE flushes SET status = ?2, semantic_event_id = ?3, error = ?4, attempts = attempts + ?5, updated_at = ?6
                 WHERE packet_id = ?1",
                (packet_id, status.as_str(), receipts, error, i64::from(counts_attempt), iso(now)),
            )
            .map(drop)
            .map_err(|error| self.error(error))
    }

    /// Takes or renews the right to deliver a packet. Fails when `owner` differs from a holder whose lease runs on
    /// and who, by `is_alive`, still exists.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn lease(
        &mut self,
        packet_id: &str,
        owner: &str,
        lasts: Duration,
        now: Timestamp,
        is_alive: impl Fn(&str) -> bool,
    ) -> Result<bool, StoreError> {
        self.immediate(|transaction| {
            let (holder, until): (Option<String>, Option<String>) = transaction
                .query_row("SELECT lease_owner, lease_until FROM flushes WHERE packet_id = ?1", [packet_id], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .optional()?
                .unwrap_or_default();
            let is_held = holder.as_deref().is_some_and(|holder| {
                holder != owner && until.is_some_and(|until| until > iso(now)) && is_alive(holder)
            });
            if is_held {
                return Ok(false);
            }
            transaction.execute(
                "UPDATE flushes SET lease_owner = ?2, lease_until = ?3 WHERE packet_id = ?1",
                (packet_id, owner, iso(now + lasts)),
            )?;
            Ok(true)
        })
    }

    /// Gives the right to deliver back.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn release(&self, packet_id: &str, owner: &str) -> Result<(), StoreError> {
        self.connection
            .execute(
                "UPDATE flushes SET lease_owner = NULL, lease_until = NULL WHERE packet_id = ?1 AND lease_owner = ?2",
                (packet_id, owner),
            )
            .map(drop)
            .map_err(|error| self.error(error))
    }
}

fn prepare(
    connection: &Connection,
    session: Session<'_>,
    reason: &Reason,
    now: Timestamp,
) -> rusqlite::Result<Option<Prepared>> {
    while let Some(mut found) = oldest_unfinished(connection, session)? {
        if found.attempts >= MAX_ATTEMPTS {
            end(connection, &found.packet_id, Status::GaveUp, now)?;
            continue;
        }
        let events = taken(connection, &found.packet_id)?;
        if events.is_empty() {
            // Its events were forgotten meanwhile.
            end(connection, &found.packet_id, Status::Succeeded, now)?;
            continue;
        }
        if found.reason == Reason::Periodic && *reason != Reason::Periodic {
            connection.execute(
                "UPDATE flushes SET reason = ?2, updated_at = ?3 WHERE packet_id = ?1",
                (&found.packet_id, reason.as_str(), iso(now)),
            )?;
            found.reason = reason.clone();
        }
        return Ok(Some(Prepared { flush: found, events }));
    }
    let mut events = unsent(connection, session)?;
    match checkpoint::due(&events) {
        Some(n_events) => events.truncate(n_events),
        None if *reason == Reason::Periodic => return Ok(None),
        None => {}
    }
    let (Some(first), Some(last)) = (events.first(), events.last()) else {
        return Ok(None);
    };
    let packet_id = packet_id(session.identity, session.id, first.id, last.id);
    connection.execute(
        "INSERT INTO flushes(packet_id, repo_id, app_id, session_id, reason, event_start, event_end, status, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'prepared', ?8, ?8)",
        (&packet_id, session.identity, session.app_id, session.id, reason.as_str(), first.id, last.id, iso(now)),
    )?;
    connection.execute(
        "UPDATE events SET flush_id = ?1
         WHERE repo_id = ?2 AND session_id = ?3 AND flush_id IS NULL AND id BETWEEN ?4 AND ?5",
        (&packet_id, session.identity, session.id, first.id, last.id),
    )?;
    let flush = Flush { packet_id, reason: reason.clone(), status: Status::Prepared, receipts: None, attempts: 0 };
    Ok(Some(Prepared { flush, events }))
}

fn end(connection: &Connection, packet_id: &str, status: Status, now: Timestamp) -> rusqlite::Result<()> {
    connection
        .execute(
            "UPDATE flushes SET status = ?2, updated_at = ?3 WHERE packet_id = ?1",
            (packet_id, status.as_str(), iso(now)),
        )
        .map(drop)
}

fn is_in_flight(connection: &Connection, session: Session<'_>) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(&format!(
            "SELECT 1 FROM flushes WHERE repo_id = ?1 AND session_id = ?2 AND {IN_FLIGHT} LIMIT 1"
        ))?
        .exists((session.identity, session.id))
}

fn oldest_unfinished(connection: &Connection, session: Session<'_>) -> rusqlite::Result<Option<Flush>> {
    connection
        .query_row(
            &format!(
                "SELECT {FLUSH_COLUMNS} FROM flushes WHERE repo_id = ?1 AND session_id = ?2 AND {NOT_FINAL}
                 ORDER BY event_start LIMIT 1"
            ),
            (session.identity, session.id),
            flush,
        )
        .optional()
}

const FLUSH_COLUMNS: &str = "packet_id, reason, status, semantic_event_id, attempts";

fn flush(row: &Row<'_>) -> rusqlite::Result<Flush> {
    Ok(Flush {
        packet_id: row.get(0)?,
        reason: Reason::parse(&row.get::<_, String>(1)?),
        status: Status::parse(&row.get::<_, String>(2)?),
        receipts: row.get(3)?,
        attempts: row.get(4)?,
    })
}
