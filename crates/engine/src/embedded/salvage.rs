//! Saving what can be read of a damaged database: every readable row goes into a new file, the damaged one
//! is kept beside it. A page that is gone takes the rows on it along and no others.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

use super::{Access, store};
use crate::api::ApiError;

/// What [`salvage`] found and kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Salvage {
    /// Memories the damaged file should have, as far as it can still be counted.
    pub(crate) before: usize,
    /// Memories in the new file.
    pub(crate) kept: usize,
    /// Where the damaged file lies now.
    pub(crate) set_aside: PathBuf,
}

/// Rows looked for when nothing tells how many there were.
const MAX_ROWS: i64 = 1 << 20;
/// Ranges that cannot be read before a table is given up: its upper pages are gone then, and with them the way to
/// every row.
const MAX_UNREADABLE: usize = 10_000;

/// Tables with their columns, in the order they are copied.
const TABLES: [(&str, &str); 5] = [
    ("owner", "id, user_id, agent_id, app_id"),
    ("facet", "id, owner, run_id, categories, metadata"),
    (
        "memory",
        "seq, id, facet, is_durable, is_source, role, text, hash, rule, lane, confidence, sources, superseded_by, created_at, updated_at",
    ),
    ("history", "id, memory, event, old_text, new_text, created_at"),
    ("event", "id, key, results, created_at"),
];

/// Copies the readable rows of the database at `path` into a new one in its place, and sets the old one
/// aside; `reason` is what was noticed. The index is built anew by the next `maintain`.
///
/// # Errors
/// [`ApiError::Store`] and [`ApiError::File`]; the old file is untouched until the new one is complete.
pub(crate) fn salvage(path: &Path, reason: &rusqlite::Error) -> Result<Salvage, ApiError> {
    let fail = store::store_error(path);
    let fresh = store::with_suffix(path, ".salvage");
    for suffix in ["", "-wal", "-shm"] {
        let leftover = store::with_suffix(&fresh, suffix);
        if leftover.exists() {
            fs::remove_file(&leftover).map_err(store::file_error(&leftover))?;
        }
    }
    let old = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(&fail)?;
    let new = store::open(&fresh, Access::ReadWrite)?
        .ok_or_else(|| ApiError::Invalid(format!("{} could not be made", fresh.display())))?;
    let tx = new.unchecked_transaction().map_err(&fail)?;
    for (table, columns) in TABLES {
        copy(&old, &tx, table, columns).map_err(&fail)?;
    }
    tx.execute_batch(
        "INSERT INTO words (words) VALUES ('rebuild'); INSERT OR IGNORE INTO pending (seq, doc) SELECT seq, x'' FROM memory ORDER BY seq;",
    )
    .map_err(&fail)?;
    let kept: u32 = tx.query_row("SELECT count(*) FROM memory", [], |row| row.get(0)).map_err(&fail)?;
    tx.commit().map_err(&fail)?;
    let count = |sql: &str| old.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap_or(0);
    let before = count("SELECT count(*) FROM memory INDEXED BY memory_facet").max(kept) as usize;
    drop(old);
    new.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").map_err(&fail)?;
    drop(new);
    let set_aside = store::exchange(path, &fresh)?;
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(store::with_suffix(&fresh, suffix)); // empty after the checkpoint
    }
    let note = format!(
        "the memory database was damaged ({reason}) and was set aside as {}; {kept} of {before} memories were saved from it",
        set_aside.display()
    );
    if let Some(db) = store::open(path, Access::ReadWrite)? {
        store::set_meta(&db, "note", &note).map_err(&fail)?;
    }
    Ok(Salvage { before, kept: kept as usize, set_aside })
}

/// Copies a table row by row; where a page cannot be read, the range is halved until only it is left out.
fn copy(old: &Connection, new: &Connection, table: &str, columns: &str) -> rusqlite::Result<()> {
    let n_columns = columns.split(", ").count();
    let marks = vec!["?"; n_columns].join(", ");
    let mut insert = new.prepare(&format!("INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})"))?;
    let mut put = |row: &rusqlite::Row<'_>| -> rusqlite::Result<()> {
        let values: Vec<Value> = (0..n_columns).map(|at| row.get(at)).collect::<rusqlite::Result<_>>()?;
        insert.execute(rusqlite::params_from_iter(values)).map(drop)
    };
    if table == "event" {
        // Without row numbers: what comes before the damage is what there is.
        if let Ok(mut select) = old.prepare(&format!("SELECT {columns} FROM {table}")) {
            let mut rows = select.query([])?;
            while let Ok(Some(row)) = rows.next() {
                put(row)?;
            }
        }
        return Ok(());
    }
    let Ok(mut select) = old.prepare(&format!("SELECT {columns} FROM {table} WHERE rowid BETWEEN ?1 AND ?2")) else {
        return Ok(());
    };
    let last = old.query_row(&format!("SELECT max(rowid) FROM {table}"), [], |row| row.get(0));
    // No table has more rows than there were memories, but for history, of which the newest rows may be lost then.
    let counted = || old.query_row("SELECT seq FROM sqlite_sequence WHERE name = 'memory'", [], |row| row.get(0));
    let last: i64 = last.or_else(|_| counted()).unwrap_or(MAX_ROWS);
    let mut ranges = vec![(1, last)];
    let mut n_unreadable = 0;
    while let Some((from, to)) = ranges.pop() {
        if n_unreadable > MAX_UNREADABLE {
            break;
        }
        let mut rows = select.query((from, to))?;
        let is_whole = loop {
            match rows.next() {
                Ok(Some(row)) => put(row)?,
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        n_unreadable += usize::from(!is_whole);
        if !is_whole && from < to {
            let middle = from + (to - from) / 2;
            ranges.extend([(middle + 1, to), (from, middle)]);
        }
    }
    Ok(())
}
