//! The database file: opening, settings, migrations, and what happens to one that cannot be read.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};

use super::Access;
use super::salvage::salvage;
use crate::api::ApiError;

/// Migrations in order; `user_version` counts the applied ones.
const MIGRATIONS: &[&str] =
    &[include_str!("../../migrations/memory/0001.sql"), include_str!("../../migrations/memory/0002.sql")];

/// How long a writer waits for another one.
const WRITE_WAIT: Duration = Duration::from_secs(10);

/// How long a search waits; readers of a WAL database hardly ever do.
const SEARCH_WAIT: Duration = Duration::from_millis(200);

/// Turns SQLite's errors into ours, naming the file.
pub(crate) fn store_error(path: &Path) -> impl Fn(rusqlite::Error) -> ApiError + '_ {
    |source| ApiError::Store { path: path.to_owned(), source }
}

/// Turns the system's errors into ours, naming the file.
pub(crate) fn file_error(path: &Path) -> impl Fn(std::io::Error) -> ApiError + '_ {
    |source| ApiError::File { path: path.to_owned(), source }
}

/// Opens the database at `path`; `None` when there is none and `access` may not create one.
pub(crate) fn open(path: &Path, access: Access) -> Result<Option<Connection>, ApiError> {
    if access == Access::Search && !path.exists() {
        return Ok(None);
    }
    match open_once(path, access) {
        Ok(db) => Ok(Some(db)),
        Err(ApiError::Store { source, .. }) if is_unreadable(&source) => {
            if access == Access::Search {
                return Ok(None);
            }
            replace(path, &source).map(Some)
        }
        Err(error) => Err(error),
    }
}

/// Puts a damaged database aside and begins a new one with what can be saved of it; a note in it tells.
pub(crate) fn replace(path: &Path, reason: &rusqlite::Error) -> Result<Connection, ApiError> {
    let lock_path = with_suffix(path, ".lock");
    let lock = crate::db::private_file(&lock_path).map_err(file_error(&lock_path))?;
    lock.lock().map_err(file_error(&lock_path))?;
    // Another process may have done it while we waited.
    if let Ok(db) = open_once(path, Access::ReadWrite)
        && db.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0)).is_ok_and(|said| said == "ok")
    {
        return Ok(db);
    }
    salvage(path, reason)?;
    open_once(path, Access::ReadWrite)
}

fn open_once(path: &Path, access: Access) -> Result<Connection, ApiError> {
    let fail = store_error(path);
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if access == Access::ReadWrite {
        private_folder(path.parent().unwrap_or(Path::new(".")))?;
        private_file(path)?;
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let mut db = Connection::open_with_flags(path, flags).map_err(&fail)?;
    db.busy_timeout(if access == Access::Search { SEARCH_WAIT } else { WRITE_WAIT }).map_err(&fail)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(&fail)?;
    // The bundled SQLite has STAT4, and so compiles a statement again for every new parameter, to look the
    // value up in statistics we do not keep. Stable plans took 40% off a search.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(&fail)?;
    // WAL with NORMAL: a power cut may lose the last commits but cannot corrupt the file.
    db.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON; PRAGMA cache_size = -4000;")
        .map_err(&fail)?;
    let version: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(&fail)?;
    let applied = usize::try_from(version).unwrap_or(usize::MAX);
    if applied > MIGRATIONS.len() {
        return Err(ApiError::Invalid(format!(
            "memory database {}: made by a newer version (schema {version}, this one knows {})",
            path.display(),
            MIGRATIONS.len()
        )));
    }
    if applied < MIGRATIONS.len() {
        migrate(&mut db).map_err(&fail)?;
    }
    // The first page may be whole and the next ones gone.
    meta(&db, "database").map_err(&fail)?;
    if access == Access::Search {
        db.execute_batch("PRAGMA query_only = ON").map_err(&fail)?;
    }
    Ok(db)
}

fn migrate(db: &mut Connection) -> rusqlite::Result<()> {
    let mode: String = db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    debug_assert!(!mode.is_empty());
    let tx = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let version: i64 = tx.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    for migration in MIGRATIONS.iter().skip(usize::try_from(version).unwrap_or(0)) {
        tx.execute_batch(migration)?;
    }
    tx.pragma_update(None, "user_version", i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX))?;
    if meta(&tx, "database")?.is_none() {
        set_meta(&tx, "database", &uuid::Uuid::now_v7().simple().to_string())?;
    }
    tx.commit()
}

/// Reads one of the database's own notes.
pub(crate) fn meta(db: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    db.prepare_cached("SELECT value FROM meta WHERE name = ?1")?.query_row([name], |row| row.get(0)).optional()
}

/// Writes one of the database's own notes.
pub(crate) fn set_meta(db: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2")?
        .execute([name, value])
        .map(drop)
}

/// Tells whether the file is no database of ours, or is damaged.
pub(crate) fn is_unreadable(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

/// Puts `fresh` in the place of a damaged database, which is kept under another name with its companions.
pub(crate) fn exchange(path: &Path, fresh: &Path) -> Result<PathBuf, ApiError> {
    let kept = (Timestamp::now().as_second()..)
        .map(|second| with_suffix(path, &format!(".corrupt-{second}")))
        .find(|kept| !kept.exists())
        .unwrap_or_else(|| with_suffix(path, ".corrupt"));
    // Linked, not moved: nobody must find the place empty and begin a database that is then overwritten.
    fs::hard_link(path, &kept).map_err(file_error(path))?;
    for suffix in ["-wal", "-shm"] {
        // Absent after a clean close.
        let _ = fs::rename(with_suffix(path, suffix), with_suffix(&kept, suffix));
    }
    fs::rename(fresh, path).map_err(file_error(path))?;
    Ok(kept)
}

/// Returns `path` with `suffix` behind its name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes a folder only the user can enter, if it is not there.
pub(crate) fn private_folder(folder: &Path) -> Result<(), ApiError> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(file_error(folder))
}

/// Makes a file only the user can read, if it is not there. SQLite gives its companions the same mode.
fn private_file(path: &Path) -> Result<(), ApiError> {
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop).map_err(file_error(path))
}
