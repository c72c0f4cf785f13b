//! The worker's part: segments are built and checked here, leftovers swept, the log of the database emptied.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::allowed::Bits;
use super::doc::Doc;
use super::search::State;
use super::segment::{self, Segment, Source};
use super::{Embedded, rows, store};
use crate::api::ApiError;

/// A tail of this many rows is worth a new segment.
const TAIL: i64 = 1_000;

/// Entries held in memory at once while a segment is built.
const BATCH: usize = 8_000;

/// What [`Embedded::maintain`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Maintenance {
    /// A new segment was written.
    pub is_rebuilt: bool,
    /// Leftover files that were removed.
    pub n_swept: usize,
}

impl Embedded {
    /// Builds a segment when the tail is long (or, with `now`, whenever there is a tail), builds it anew
    /// when it is missing or damaged, sweeps leftovers and empties the database's log. Safe to kill at any
    /// point and to run twice at once: the second one does nothing.
    ///
    /// # Errors
    /// [`ApiError::Store`] and [`ApiError::File`]; searching goes on with what there is.
    pub fn maintain(&mut self, now: bool) -> Result<Maintenance, ApiError> {
        if !self.connect()? || self.access == super::Access::Search {
            return Ok(Maintenance::default());
        }
        let folder = self.folder();
        store::private_folder(&folder)?;
        let lock_path = folder.join("lock");
        let lock = private(&lock_path, true)?;
        if lock.try_lock().is_err() {
            return Ok(Maintenance::default());
        }
        let path = self.path.clone();
        let fail = store::store_error(&path);
        let Some(db) = self.db.take() else { return Ok(Maintenance::default()) };
        let result = self.maintain_on(&db, &folder, now, &fail);
        self.db = Some(db);
        self.noted(result)
    }

    fn maintain_on(
        &mut self,
        db: &Connection,
        folder: &Path,
        now: bool,
        fail: &dyn Fn(rusqlite::Error) -> ApiError,
    ) -> Result<Maintenance, ApiError> {
        let state = State::read(db).map_err(fail)?;
        let segment = self.segment(&state);
        let is_lost = state.segment.is_some() && !segment.as_ref().is_some_and(|segment| segment.is_sound());
        let n_tail: i64 = db.query_row("SELECT count(*) FROM pending", [], |row| row.get(0)).map_err(fail)?;
        let mut done = Maintenance::default();
        if is_lost {
            self.rebuild(db, folder, fail)?;
            done.is_rebuilt = true;
        } else if n_tail > TAIL || (now && n_tail > 0) {
            while self.extend(db, folder, fail)? {}
            done.is_rebuilt = true;
        }
        done.n_swept = sweep(folder, State::read(db).map_err(fail)?.segment.as_deref())?;
        // Forgotten bytes live on in the log until it is emptied; readers may delay that to the next time.
        db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").map_err(fail)?;
        Ok(done)
    }

    /// Builds a segment from the rows alone. Searches use the old state until it is published.
    fn rebuild(
        &mut self,
        db: &Connection,
        folder: &Path,
        fail: &dyn Fn(rusqlite::Error) -> ApiError,
    ) -> Result<(), ApiError> {
        self.open_segment = None;
        let last_rev: i64 =
            db.query_row("SELECT coalesce(max(rev), 0) FROM pending", [], |row| row.get(0)).map_err(fail)?;
        let mut old: Option<Segment> = None;
        let mut after = 0;
        let mut made = None;
        loop {
            let limit = BATCH.max(old.as_ref().map_or(0, |segment| segment.n_docs() as usize / 8));
            let seqs: Vec<i64> = db
                .prepare_cached("SELECT seq FROM memory WHERE seq > ?1 ORDER BY seq LIMIT ?2")
                .and_then(|mut statement| {
                    statement.query_map((after, i64::try_from(limit).unwrap_or(i64::MAX)), |row| row.get(0))?.collect()
                })
                .map_err(fail)?;
            let Some(last) = seqs.last() else { break };
            after = *last;
            let mut docs = Vec::with_capacity(seqs.len());
            for seq in seqs {
                docs.extend(rows::doc_of(db, &mut self.indexer, seq).map_err(fail)?);
            }
            let source = Source {
                database: self.database.unwrap_or_default(),
                old: old.as_ref(),
                is_stale: &|_| false,
                new: &docs,
            };
            let (path, name) = write(folder, &source)?;
            old = Segment::open(&path, source.database);
            if let Some((before, _)) = made.replace((path, name)) {
                let _ = fs::remove_file(before); // a step of this build; swept if this fails
            }
        }
        match made {
            Some((path, name)) => self.publish(db, folder, &path, Some(&name), last_rev, fail),
            None => self.publish(db, folder, folder, None, last_rev, fail),
        }
    }

    /// Moves one batch of the tail into a new segment; false when nothing is left.
    fn extend(
        &mut self,
        db: &Connection,
        folder: &Path,
        fail: &dyn Fn(rusqlite::Error) -> ApiError,
    ) -> Result<bool, ApiError> {
        let state = State::read(db).map_err(fail)?;
        let old = self.segment(&state);
        let limit = BATCH.max(old.as_ref().map_or(0, |segment| segment.n_docs() as usize / 8));
        let batch = self.batch(db, limit).map_err(fail)?;
        let Some(last_rev) = batch.last_rev else { return Ok(false) };
        let source = Source {
            database: self.database.unwrap_or_default(),
            old: old.as_deref(),
            is_stale: &|seq| batch.seqs.has(seq),
            new: &batch.docs,
        };
        let (path, name) = write(folder, &source)?;
        drop(old);
        self.publish(db, folder, &path, Some(&name), last_rev, fail)?;
        Ok(true)
    }

    /// Gives a finished file its name and makes it the segment, in this order: a kill in between leaves a
    /// file that the next run sweeps. Rows changed since `last_rev` stay in the tail.
    fn publish(
        &mut self,
        db: &Connection,
        folder: &Path,
        path: &Path,
        name: Option<&str>,
        last_rev: i64,
        fail: &dyn Fn(rusqlite::Error) -> ApiError,
    ) -> Result<(), ApiError> {
        self.open_segment = None;
        self.views.clear();
        let before = State::read(db).map_err(fail)?.segment;
        if let Some(name) = name {
            fs::rename(path, folder.join(name)).map_err(store::file_error(path))?;
        }
        let tx = db.unchecked_transaction().map_err(fail)?;
        match name {
            Some(name) => store::set_meta(&tx, "segment", name).map_err(fail)?,
            None => drop(tx.execute("DELETE FROM meta WHERE name = 'segment'", []).map_err(fail)?),
        }
        tx.execute("DELETE FROM pending WHERE rev <= ?1", [last_rev]).map_err(fail)?;
        tx.commit().map_err(fail)?;
        if let Some(before) = before {
            let _ = fs::remove_file(folder.join(before)); // missing already, or swept next time
        }
        Ok(())
    }

    fn batch(&mut self, db: &Connection, limit: usize) -> rusqlite::Result<Batch> {
        let mut out = Batch::default();
        let mut missing = BTreeSet::new();
        let mut statement = db.prepare("SELECT rev, seq, doc FROM pending ORDER BY rev LIMIT ?1")?;
        let mut found = statement.query([i64::try_from(limit).unwrap_or(i64::MAX)])?;
        while let Some(row) = found.next()? {
            let seq: i64 = row.get(1)?;
            out.last_rev = Some(row.get(0)?);
            out.seqs.set(seq);
            if let Some(bytes) = row.get_ref(2)?.as_blob_or_null().ok().flatten() {
                match Doc::decode(bytes) {
                    Some(doc) => out.docs.push(doc),
                    None => drop(missing.insert(seq)),
                }
            }
        }
        for seq in missing {
            out.docs.extend(rows::doc_of(db, &mut self.indexer, seq)?);
        }
        Ok(out)
    }
}

/// Writes a segment under a temporary name; returns its path and the name it will have.
fn write(folder: &Path, source: &Source<'_>) -> Result<(PathBuf, String), ApiError> {
    let name = format!("{}.seg", uuid::Uuid::now_v7().simple());
    let path = folder.join(format!("{name}.tmp"));
    let mut file = private(&path, false)?;
    segment::build(source, &mut file).map_err(store::file_error(&path))?;
    file.sync_all().map_err(store::file_error(&path))?;
    Ok((path, name))
}

#[derive(Default)]
struct Batch {
    last_rev: Option<i64>,
    seqs: Bits,
    docs: Vec<Doc>,
}

/// Removes what is not the current segment: half-written files, and segments whose removal was cut short.
fn sweep(folder: &Path, current: Option<&str>) -> Result<usize, ApiError> {
    let mut n_swept = 0;
    for entry in fs::read_dir(folder).map_err(store::file_error(folder))?.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours = name.ends_with(".seg") || name.ends_with(".seg.tmp");
        if is_ours && Some(name.as_ref()) != current && fs::remove_file(entry.path()).is_ok() {
            n_swept += 1;
        }
    }
    Ok(n_swept)
}

/// Opens a file only the user can read, made when it is not there.
fn private(path: &Path, keep: bool) -> Result<File, ApiError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(!keep);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(store::file_error(path))
}
