//! Reading, changing and deleting single memories, and the figures for `status`.

use jiff::Timestamp;
use mem0_code_core::filter::Filter;
use mem0_code_core::memory::Memory;
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Map, Value};

use super::allowed::{self, Allowed};
use super::doc::Indexer;
use super::search::State;
use super::{Access, Embedded, rows, store};
use crate::api::{AddEvent, ApiError, Change, EventStatus, ListRequest, Page};

/// Rows deleted in one transaction, so that a long deletion does not keep writers waiting.
const DELETED_AT_ONCE: usize = 2_000;

/// The figures of a memory, for `status`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stats {
    /// Memories stored, turns and durable ones.
    pub rows: usize,
    /// Durable memories that no newer one replaced.
    pub durable: usize,
    /// Memories in the index segment.
    pub indexed: usize,
    /// Rows that came or changed since the segment was built.
    pub tail: usize,
    /// Usable segments: 0 or 1.
    pub segments: usize,
    /// A segment is named but cannot be used: searches fall back until the worker has built it again.
    pub is_degraded: bool,
    /// Bytes of the database file.
    pub database_bytes: u64,
    /// Bytes of the segment.
    pub index_bytes: u64,
    /// Bytes of the segment for each memory in it.
    pub index_bytes_per_memory: f64,
    /// What happened to this database that its user should know, such as a damaged one set aside.
    pub note: Option<String>,
    /// The last error of this process.
    pub last_error: Option<String>,
}

/// Somebody or something that memories belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    /// `user`, `agent`, `app` or `run`.
    pub kind: &'static str,
    /// The id.
    pub name: String,
    /// Memories that belong to it.
    pub memories: usize,
    /// When the first of them was stored, RFC 3339.
    pub created_at: String,
    /// When the last of them was changed, RFC 3339.
    pub updated_at: String,
}

impl Embedded {
    /// Returns everybody and everything that memories belong to, by kind and then by name. With `viewer`, other people's
    /// memories do not count.
    ///
    /// # Errors
    /// [`ApiError::Store`].
    pub fn entities(&mut self, viewer: Option<&str>) -> Result<Vec<Entity>, ApiError> {
        if !self.connect()? {
            return Ok(Vec::new());
        }
        self.with(|db| {
            let mut out = Vec::new();
            for (kind, column) in
                [("user", "o.user_id"), ("agent", "o.agent_id"), ("app", "o.app_id"), ("run", "f.run_id")]
            {
                let mut statement = db.prepare_cached(&format!(
                    "SELECT {column}, count(*), min(m.created_at), max(m.updated_at) FROM memory m \
                     JOIN facet f ON f.id = m.facet JOIN owner o ON o.id = f.owner WHERE {column} <> '' \
                     AND (?1 IS NULL OR o.user_id IN ('', ?1)) GROUP BY {column} ORDER BY {column}"
                ))?;
                let found = statement.query_map([viewer], |row| {
                    Ok(Entity {
                        kind,
                        name: row.get(0)?,
                        memories: row.get::<_, u32>(1)? as usize,
                        created_at: rows::rfc3339(row.get(2)?),
                        updated_at: rows::rfc3339(row.get(3)?),
                    })
                })?;
                for entity in found {
                    out.push(entity?);
                }
            }
            Ok(out)
        })
    }

    /// Replaces the free facts of a memory; what the engine itself says of it stays.
    ///
    /// # Errors
    /// [`ApiError::NotFound`], [`ApiError::Store`].
    pub fn set_metadata(&mut self, id: &str, metadata: &Map<String, Value>) -> Result<Memory, ApiError> {
        self.edit(id, |tx, indexer, row| {
            rows::set_metadata(tx, indexer, row, metadata, Timestamp::now().as_microsecond())
        })
    }

    /// Returns the ids of the memories that this one replaced, and that those replaced, newest first.
    ///
    /// # Errors
    /// [`ApiError::Store`].
    pub fn superseded(&mut self, id: &str) -> Result<Vec<String>, ApiError> {
        if !self.connect()? {
            return Ok(Vec::new());
        }
        self.with(|db| {
            let mut statement = db.prepare_cached(
                "WITH RECURSIVE older (id, seq) AS (SELECT id, seq FROM memory WHERE superseded_by = ?1 UNION \
                 SELECT memory.id, memory.seq FROM memory JOIN older ON memory.superseded_by = older.id) \
                 SELECT id FROM older ORDER BY seq DESC",
            )?;
            statement.query_map([id], |row| row.get(0))?.collect()
        })
    }

    /// Returns the figures of this memory.
    ///
    /// # Errors
    /// [`ApiError::Store`] when the database cannot be read.
    pub fn stats(&mut self) -> Result<Stats, ApiError> {
        if !self.connect()? {
            let note = self
                .path
                .exists()
                .then(|| "the memory database cannot be read; the next write sets it aside".to_owned());
            return Ok(Stats { note, last_error: self.last_error.clone(), ..Stats::default() });
        }
        let mut out = self.with(|db| {
            let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, u32>(0).map(|n| n as usize));
            Ok(Stats {
                rows: count("SELECT count(*) FROM memory")?,
                durable: count("SELECT count(*) FROM memory WHERE is_durable = 1 AND superseded_by IS NULL")?,
                tail: count("SELECT count(*) FROM pending")?,
                note: store::meta(db, "note")?,
                ..Stats::default()
            })
        })?;
        let state = self.with(State::read)?;
        let segment = self.segment(&state);
        out.is_degraded = state.segment.is_some() && segment.is_none();
        if let Some(segment) = segment {
            out.segments = 1;
            out.indexed = segment.n_docs() as usize;
            out.index_bytes = segment.len();
            out.index_bytes_per_memory = segment.len() as f64 / f64::from(segment.n_docs().max(1));
        }
        out.database_bytes = std::fs::metadata(&self.path).map(|file| file.len()).unwrap_or_default();
        out.last_error = self.last_error.clone();
        Ok(out)
    }

    /// Deletes memories by id, however many; returns how many were there.
    ///
    /// # Errors
    /// [`ApiError::Store`]; what was deleted by then stays deleted.
    pub fn delete_many(&mut self, ids: &[impl AsRef<str>]) -> Result<usize, ApiError> {
        self.need_write()?;
        let ids: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
        let mut n_deleted = 0;
        for part in ids.chunks(DELETED_AT_ONCE) {
            n_deleted += self.with(|db| {
                let tx = rusqlite::Transaction::new_unchecked(db, rusqlite::TransactionBehavior::Immediate)?;
                let at = Timestamp::now().as_microsecond();
                let mut n_deleted = 0;
                for id in part {
                    if let Some((seq, text)) = seq_and_text(&tx, id)? {
                        rows::remove(&tx, seq, id, &text, at)?;
                        n_deleted += 1;
                    }
                }
                if n_deleted > 0 {
                    // Facets name folders and branches: what nobody uses any more goes too.
                    tx.execute(
                        "DELETE FROM facet WHERE NOT EXISTS (SELECT 1 FROM memory WHERE memory.facet = facet.id)",
                        [],
                    )?;
                }
                tx.commit()?;
                Ok(n_deleted)
            })?;
        }
        if n_deleted > 0 {
            // What was deleted lives on in the log until it is emptied.
            self.with(|db| db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)"))?;
        }
        Ok(n_deleted)
    }

    /// Deletes the memories a filter lets through; returns how many.
    ///
    /// # Errors
    /// [`ApiError::Invalid`] for a filter that cannot be read, [`ApiError::Store`].
    pub fn delete_where(&mut self, filters: &Value) -> Result<usize, ApiError> {
        self.need_write()?;
        let filter = parse(filters)?;
        let ids = self.with(|db| {
            let seqs = allowed::seqs(db, &Allowed::new(db, &filter, filters)?)?;
            let mut statement = db.prepare_cached("SELECT id FROM memory WHERE seq = ?1")?;
            seqs.iter()
                .map(|seq| statement.query_row([seq], |row| row.get(0)))
                .collect::<rusqlite::Result<Vec<String>>>()
        })?;
        let n_deleted = self.delete_many(&ids)?;
        // Also when nothing was left to delete: a call before this one may have been killed between its two steps.
        self.maintain(true)?;
        Ok(n_deleted)
    }

    pub(super) fn event_of(&mut self, id: &str) -> Result<AddEvent, ApiError> {
        if !self.connect()? {
            return Err(ApiError::NotFound(id.to_owned()));
        }
        let found = self.with(|db| {
            db.prepare_cached("SELECT results, memories FROM event WHERE id = ?1")?
                .query_row([id], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, Option<String>>(1)?)))
                .optional()
        })?;
        let (results, memories) = found.ok_or_else(|| ApiError::NotFound(id.to_owned()))?;
        let memories = memories.and_then(|ids| serde_json::from_str(&ids).ok()).unwrap_or_default();
        Ok(AddEvent { status: EventStatus::Succeeded, results: results as usize, memories })
    }

    pub(super) fn page(&mut self, request: &ListRequest) -> Result<Page, ApiError> {
        let filter = parse(&request.filters)?;
        if !self.connect()? {
            return Ok(Page { results: Vec::new(), total: Some(0) });
        }
        self.with(|db| {
            let seqs = allowed::seqs(db, &Allowed::new(db, &filter, &request.filters)?)?;
            let size = request.page_size.clamp(1, 1_000);
            let start = request.page.max(1).saturating_sub(1).saturating_mul(size);
            let mut results = Vec::new();
            for seq in seqs.iter().skip(start).take(size) {
                results.extend(rows::by_seq(db, *seq)?.map(|row| row.memory));
            }
            Ok(Page { results, total: Some(seqs.len()) })
        })
    }

    pub(super) fn read(&mut self, id: &str) -> Result<Memory, ApiError> {
        let row = if self.connect()? { self.with(|db| rows::by_id(db, id))? } else { None };
        row.map(|row| row.memory).ok_or_else(|| ApiError::NotFound(id.to_owned()))
    }

    pub(super) fn change(&mut self, id: &str, text: &str) -> Result<Memory, ApiError> {
        if text.trim().is_empty() {
            return Err(ApiError::Invalid("a memory's text cannot be empty".to_owned()));
        }
        self.edit(id, |tx, indexer, row| match row.memory.memory == text {
            true => Ok(()),
            false => rows::replace(tx, indexer, row, text, Timestamp::now().as_microsecond()),
        })
    }

    /// Changes one memory in a transaction of its own; returns it as it is then.
    fn edit(
        &mut self,
        id: &str,
        work: impl FnOnce(&Connection, &mut Indexer, &rows::Stored) -> rusqlite::Result<()>,
    ) -> Result<Memory, ApiError> {
        self.need_write()?;
        let Some(db) = self.db.take() else { return Err(ApiError::NotFound(id.to_owned())) };
        let changed = (|| {
            let tx = rusqlite::Transaction::new_unchecked(&db, rusqlite::TransactionBehavior::Immediate)?;
            let Some(row) = rows::by_id(&tx, id)? else { return Ok(None) };
            work(&tx, &mut self.indexer, &row)?;
            let row = rows::by_id(&tx, id)?;
            tx.commit()?;
            Ok(row)
        })();
        self.db = Some(db);
        let row: Option<rows::Stored> = changed.map_err(store::store_error(&self.path))?;
        row.map(|row| row.memory).ok_or_else(|| ApiError::NotFound(id.to_owned()))
    }

    pub(super) fn changes(&mut self, id: &str) -> Result<Vec<Change>, ApiError> {
        if !self.connect()? {
            return Err(ApiError::NotFound(id.to_owned()));
        }
        let out = self.with(|db| {
            let mut statement = db.prepare_cached(
                "SELECT event, old_text, new_text, created_at FROM history WHERE memory = ?1 ORDER BY id",
            )?;
            let mut out: Vec<Change> = statement
                .query_map([id], |row| {
                    Ok(Change {
                        event: row.get(0)?,
                        old_memory: row.get(1)?,
                        new_memory: row.get(2)?,
                        created_at: rows::rfc3339(row.get(3)?),
                    })
                })?
                .collect::<rusqlite::Result<_>>()?;
            if let Some(row) = rows::by_id(db, id)? {
                // Being added is not logged: the row and its first change say it.
                let first =
                    out.iter().find(|change| change.event == "UPDATE").and_then(|change| change.old_memory.clone());
                let created_at = row.memory.created_at.unwrap_or_default();
                let new_memory = Some(first.unwrap_or(row.memory.memory));
                out.insert(0, Change { event: "ADD".to_owned(), old_memory: None, new_memory, created_at });
            }
            Ok(out)
        })?;
        if out.is_empty() { Err(ApiError::NotFound(id.to_owned())) } else { Ok(out) }
    }

    fn need_write(&mut self) -> Result<(), ApiError> {
        if self.access == Access::Search {
            return Err(ApiError::Invalid("the memory was opened for searching only".to_owned()));
        }
        self.connect().map(drop)
    }

    fn with<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, ApiError> {
        let db = self.db.as_ref().ok_or(rusqlite::Error::InvalidQuery);
        db.and_then(work).map_err(store::store_error(&self.path))
    }
}

fn parse(filters: &Value) -> Result<Filter, ApiError> {
    Filter::parse(filters).map_err(|error| ApiError::Invalid(error.to_string()))
}

fn seq_and_text(db: &Connection, id: &str) -> rusqlite::Result<Option<(i64, String)>> {
    db.prepare_cached("SELECT seq, text FROM memory WHERE id = ?1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}
