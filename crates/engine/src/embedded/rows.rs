//! Rows in and out of the database: owners, facets, memories, their history, and their index entries.

use std::sync::LazyLock;

use jiff::Timestamp;
use mem0_code_core::memory::{Entities, Memory};
use mem0_code_core::rank::cues::Flags;
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::{Map, Value};

use super::doc::{Indexer, Place};

/// A row to be stored.
pub(crate) struct NewRow<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) is_durable: bool,
    pub(crate) is_source: bool,
    pub(crate) role: &'a str,
    pub(crate) text: &'a str,
    pub(crate) rule: Option<&'a str>,
    pub(crate) lane: Option<&'a str>,
    pub(crate) confidence: Option<f32>,
    pub(crate) sources: &'a [String],
    /// Microseconds since 1970.
    pub(crate) created_at: i64,
}

/// What the rows of a packet share: a facet that is in the database.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) owner: i64,
    pub(crate) facet: i64,
    pub(crate) run_id: String,
    pub(crate) author: String,
}

/// A stored row as the engine needs it.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) seq: i64,
    pub(crate) is_durable: bool,
    pub(crate) is_superseded: bool,
    pub(crate) confidence: f32,
    pub(crate) role: String,
    /// See [`text_hash`].
    pub(crate) hash: i64,
    pub(crate) memory: Memory,
}

const COLUMNS: &str = "m.seq, m.id, m.hash, m.is_durable, m.is_source, m.role, m.text, m.rule, m.lane, m.confidence, m.sources, \
     m.superseded_by, m.created_at, m.updated_at, f.run_id, f.categories, f.metadata, o.user_id, o.agent_id, o.app_id";
const FROM: &str = "FROM memory m JOIN facet f ON f.id = m.facet JOIN owner o ON o.id = f.owner";

static BY_SEQ: LazyLock<String> = LazyLock::new(|| format!("SELECT {COLUMNS} {FROM} WHERE m.seq = ?1"));
static BY_ID: LazyLock<String> = LazyLock::new(|| format!("SELECT {COLUMNS} {FROM} WHERE m.id = ?1"));
static ALL: LazyLock<String> = LazyLock::new(|| format!("SELECT {COLUMNS} {FROM} ORDER BY m.seq"));

/// Returns the row with this number.
pub(crate) fn by_seq(db: &Connection, seq: i64) -> rusqlite::Result<Option<Stored>> {
    db.prepare_cached(&BY_SEQ)?.query_row([seq], stored).optional()
}

/// Returns the first `most` characters of a row's text.
pub(crate) fn beginning(db: &Connection, seq: i64, most: u32) -> rusqlite::Result<Option<String>> {
    db.prepare_cached("SELECT substr(text, 1, ?2) FROM memory WHERE seq = ?1")?
        .query_row((seq, most), |row| row.get(0))
        .optional()
}

/// Returns the row with this id.
pub(crate) fn by_id(db: &Connection, id: &str) -> rusqlite::Result<Option<Stored>> {
    db.prepare_cached(&BY_ID)?.query_row([id], stored).optional()
}

/// Calls `each` with every row, oldest first.
pub(crate) fn each(db: &Connection, mut each: impl FnMut(Stored)) -> rusqlite::Result<()> {
    let mut statement = db.prepare_cached(&ALL)?;
    for row in statement.query_map([], stored)? {
        each(row?);
    }
    Ok(())
}

/// Reads a row of [`COLUMNS`], by place: looking columns up by name costs a tenth of a search.
fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    let is_durable: bool = row.get(3)?;
    let is_source: bool = row.get(4)?;
    let role: String = row.get(5)?;
    let confidence: Option<f32> = row.get(9)?;
    let superseded_by: Option<String> = row.get(11)?;
    let filled = |column: usize| row.get(column).map(|text: String| Some(text).filter(|text| !text.is_empty()));
    let metadata: String = row.get(16)?;
    let mut metadata: Map<String, Value> = serde_json::from_str(&metadata).unwrap_or_default();
    let mut put = |name: &str, value: Value| metadata.insert(name.to_owned(), value);
    put("kind", if is_durable { "durable" } else { "turn" }.into());
    put("role", role.as_str().into());
    if is_source {
        put("is_source", true.into());
    }
    if let Some(rule) = row.get::<_, Option<String>>(7)? {
        put("rule", rule.into());
    }
    if let Some(lane) = row.get::<_, Option<String>>(8)? {
        put("lane", lane.into());
    }
    if let Some(confidence) = confidence {
        put("confidence", ((f64::from(confidence) * 1000.0).round() / 1000.0).into());
    }
    if let Some(sources) = row.get::<_, Option<String>>(10)? {
        put("sources", serde_json::from_str(&sources).unwrap_or_default());
    }
    if let Some(by) = &superseded_by {
        put("superseded_by", by.as_str().into());
    }
    let categories: String = row.get(15)?;
    Ok(Stored {
        seq: row.get(0)?,
        is_durable,
        is_superseded: superseded_by.is_some(),
        confidence: confidence.unwrap_or(0.0),
        role,
        hash: row.get(2)?,
        memory: Memory {
            id: row.get(1)?,
            memory: row.get(6)?,
            user_id: filled(17)?,
            agent_id: filled(18)?,
            app_id: filled(19)?,
            run_id: filled(14)?,
            categories: serde_json::from_str(&categories).ok(),
            metadata: Some(metadata),
            created_at: Some(rfc3339(row.get(12)?)),
            updated_at: Some(rfc3339(row.get(13)?)),
            score: None,
        },
    })
}

/// Returns a time in microseconds since 1970 as RFC 3339.
pub(crate) fn rfc3339(micros: i64) -> String {
    Timestamp::from_microsecond(micros).unwrap_or_default().to_string()
}

/// Finds or makes the owner and facet of rows that share these.
pub(crate) fn shared(
    db: &Connection,
    entities: &Entities,
    categories: &[&str],
    metadata: &Map<String, Value>,
) -> rusqlite::Result<Shared> {
    let whom = [&entities.user_id, &entities.agent_id, &entities.app_id];
    db.prepare_cached("INSERT OR IGNORE INTO owner (user_id, agent_id, app_id) VALUES (?1, ?2, ?3)")?.execute(whom)?;
    let owner: i64 = db
        .prepare_cached("SELECT id FROM owner WHERE user_id = ?1 AND agent_id = ?2 AND app_id = ?3")?
        .query_row(whom, |row| row.get(0))?;
    let run_id = entities.run_id.clone().unwrap_or_default();
    let categories = if categories.is_empty() { String::new() } else { Value::from(categories).to_string() };
    let what = (owner, &run_id, &categories, Value::Object(metadata.clone()).to_string());
    db.prepare_cached("INSERT OR IGNORE INTO facet (owner, run_id, categories, metadata) VALUES (?1, ?2, ?3, ?4)")?
        .execute((&what.0, what.1, what.2, &what.3))?;
    let facet = db
        .prepare_cached("SELECT id FROM facet WHERE owner = ?1 AND run_id = ?2 AND categories = ?3 AND metadata = ?4")?
        .query_row((&what.0, what.1, what.2, &what.3), |row| row.get(0))?;
    let author = metadata.get("author").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Shared { owner, facet, run_id, author })
}

/// Stores a row with its words and its index entry; returns its number and its id.
pub(crate) fn insert(db: &Connection, indexer: &mut Indexer, row: &NewRow<'_>) -> rusqlite::Result<(i64, String)> {
    let id = uuid::Uuid::now_v7().to_string();
    let sources = (!row.sources.is_empty()).then(|| Value::from(row.sources).to_string());
    db.prepare_cached(
        "INSERT INTO memory (id, facet, is_durable, is_source, role, text, hash, rule, lane, confidence, sources, created_at, updated_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12)",
    )?
    .execute((
        &id,
        row.shared.facet,
        row.is_durable,
        row.is_source,
        row.role,
        row.text,
        text_hash(row.text),
        row.rule,
        row.lane,
        row.confidence,
        sources,
        row.created_at,
    ))?;
    let seq = db.last_insert_rowid();
    db.prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")?.execute((seq, row.text))?;
    let mut flags = Flags::default();
    if row.is_durable {
        flags = flags.with(Flags::DURABLE);
    }
    if row.is_source {
        flags = flags.with(Flags::SOURCE);
    }
    let place = Place {
        seq,
        owner: row.shared.owner,
        facet: row.shared.facet,
        run_id: &row.shared.run_id,
        created_at: row.created_at,
        speaker: row.role,
        author: &row.shared.author,
        flags,
    };
    put_pending(db, seq, Some(&indexer.doc(row.text, place).encode()))?;
    Ok((seq, id))
}

/// Notes that the segment does not show this row as it is; `doc` is `None` for a deleted row.
pub(crate) fn put_pending(db: &Connection, seq: i64, doc: Option<&[u8]>) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR REPLACE INTO pending (seq, doc) VALUES (?1, ?2)")?.execute((seq, doc)).map(drop)
}

/// Makes the index entry of a row as it is in the database now; `None` when it is gone.
pub(crate) fn doc_of(db: &Connection, indexer: &mut Indexer, seq: i64) -> rusqlite::Result<Option<super::doc::Doc>> {
    let mut statement = db.prepare_cached(
        "SELECT f.owner, m.facet, f.run_id, m.created_at, m.role, m.text, m.is_durable, m.is_source, \
         m.superseded_by IS NOT NULL, coalesce(f.metadata ->> 'author', '') \
         FROM memory m JOIN facet f ON f.id = m.facet WHERE m.seq = ?1",
    )?;
    statement
        .query_row([seq], |row| {
            let (run_id, role, text): (String, String, String) = (row.get(2)?, row.get(4)?, row.get(5)?);
            let author: String = row.get(9)?;
            let mut flags = Flags::default();
            for (column, flag) in [(6, Flags::DURABLE), (7, Flags::SOURCE), (8, Flags::SUPERSEDED)] {
                if row.get(column)? {
                    flags = flags.with(flag);
                }
            }
            let place = Place {
                seq,
                owner: row.get(0)?,
                facet: row.get(1)?,
                run_id: &run_id,
                created_at: row.get(3)?,
                speaker: &role,
                author: &author,
                flags,
            };
            Ok(indexer.doc(&text, place))
        })
        .optional()
}

/// Makes a row's index entry anew after it changed.
pub(crate) fn reindex(db: &Connection, indexer: &mut Indexer, seq: i64) -> rusqlite::Result<()> {
    let doc = doc_of(db, indexer, seq)?;
    put_pending(db, seq, doc.map(|doc| doc.encode()).as_deref())
}

/// Writes a line of a memory's history.
pub(crate) fn log(
    db: &Connection,
    id: &str,
    event: &str,
    old: Option<&str>,
    new: Option<&str>,
    at: i64,
) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO history (memory, event, old_text, new_text, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute((id, event, old, new, at))
    .map(drop)
}

/// Replaces a row's text.
pub(crate) fn replace(
    db: &Connection,
    indexer: &mut Indexer,
    row: &Stored,
    text: &str,
    at: i64,
) -> rusqlite::Result<()> {
    forget_words(db, row.seq, &row.memory.memory)?;
    db.prepare_cached("UPDATE memory SET text = ?2, hash = ?3, updated_at = ?4 WHERE seq = ?1")?.execute((
        row.seq,
        text,
        text_hash(text),
        at,
    ))?;
    db.prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")?.execute((row.seq, text))?;
    log(db, &row.memory.id, "UPDATE", Some(&row.memory.memory), Some(text), at)?;
    reindex(db, indexer, row.seq)
}

/// Names of metadata that the engine itself says of a row; see [`stored`].
const OWN_METADATA: [&str; 8] = ["kind", "role", "is_source", "rule", "lane", "confidence", "sources", "superseded_by"];

/// Moves a row to a facet with other metadata; owner, session and categories stay.
pub(crate) fn set_metadata(
    db: &Connection,
    indexer: &mut Indexer,
    row: &Stored,
    metadata: &Map<String, Value>,
    at: i64,
) -> rusqlite::Result<()> {
    let entity = |id: &Option<String>| id.clone().unwrap_or_default();
    let memory = &row.memory;
    let whom = Entities {
        user_id: entity(&memory.user_id),
        agent_id: entity(&memory.agent_id),
        app_id: entity(&memory.app_id),
        run_id: memory.run_id.clone(),
    };
    let categories: Vec<&str> = memory.categories.iter().flatten().map(String::as_str).collect();
    let mut metadata = metadata.clone();
    metadata.retain(|name, _| !OWN_METADATA.contains(&name.as_str()));
    let shared = shared(db, &whom, &categories, &metadata)?;
    db.prepare_cached("UPDATE memory SET facet = ?2, updated_at = ?3 WHERE seq = ?1")?.execute((
        row.seq,
        shared.facet,
        at,
    ))?;
    db.execute("DELETE FROM facet WHERE NOT EXISTS (SELECT 1 FROM memory WHERE memory.facet = facet.id)", [])?;
    reindex(db, indexer, row.seq)
}

/// Deletes a row; its texts are erased from its history too, which keeps only that it was deleted.
pub(crate) fn remove(db: &Connection, seq: i64, id: &str, text: &str, at: i64) -> rusqlite::Result<()> {
    forget_words(db, seq, text)?;
    db.prepare_cached("DELETE FROM memory WHERE seq = ?1")?.execute([seq])?;
    db.prepare_cached("DELETE FROM history WHERE memory = ?1")?.execute([id])?;
    log(db, id, "DELETE", None, None, at)?;
    put_pending(db, seq, None)
}

fn forget_words(db: &Connection, seq: i64, text: &str) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT INTO words (words, rowid, text) VALUES ('delete', ?1, ?2)")?
        .execute((seq, text))
        .map(drop)
}

/// Returns the hash of a text without case, punctuation and spacing: equal for texts that say the same.
pub(crate) fn text_hash(text: &str) -> i64 {
    mem0_code_core::rank::terms::hash(&plain(text)).cast_signed()
}

/// Returns the lower-case words of a text, single-spaced.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
    // A text of signs only is its own form: otherwise all of them would be the same.
    if out.is_empty() { text.trim().to_owned() } else { out }
}
