//! Opening SQLite files: pragmas by role, migration by `user_version`, and setting a broken file aside.
//!
//! What a database holds is its own module's business; this one knows only how to get a connection
//! that is safe to use, quickly, beside many other processes doing the same.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

/// Who opens a database, which decides how long it may wait and who trims the WAL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A hook: waits at most two seconds for a lock and never checkpoints, since closing the last
    /// connection the default way costs an fsync (4.5 ms at best against 1).
    Hook,
    /// A worker or a command: may wait and trims the WAL.
    Worker,
}

impl Role {
    /// Longest wait for another process's lock.
    pub fn busy_timeout(self) -> Duration {
        match self {
            Self::Hook => HOOK_PAUSE * HOOK_TRIES.unsigned_abs(),
            Self::Worker => Duration::from_secs(10),
        }
    }
}

/// A hook looks again this often. SQLite's own handler ends up sleeping 100 ms at a time and misses the short gaps
/// between the long transactions of others.
const HOOK_PAUSE: Duration = Duration::from_millis(10);
/// How often a hook looks before it gives up: 1.5 s in all.
const HOOK_TRIES: i32 = 150;

/// Waits for a lock on behalf of a hook.
fn wait_in_hook(n_tries: i32) -> bool {
    thread::sleep(HOOK_PAUSE);
    n_tries < HOOK_TRIES
}

/// Why a database could not be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process held the lock for as long as we may wait.
    #[error("{path} is locked by another process")]
    Locked {
        /// The database.
        path: PathBuf,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
    /// The disk, or the quota, is full.
    #[error("no space left for {path}")]
    Full {
        /// The database.
        path: PathBuf,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
    /// The file or its folder may not be read or written.
    #[error("{path} cannot be opened for writing")]
    Denied {
        /// The database.
        path: PathBuf,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
    /// Pages of the file are damaged.
    #[error("{path} is damaged")]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
    /// A newer release wrote this file.
    #[error("{path} was written by a newer release (schema {found}, this one knows {known})")]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The newest we know.
        known: i64,
    },
    /// Anything else SQLite says.
    #[error("{path}: {source}")]
    Sql {
        /// The database.
        path: PathBuf,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
    /// The folder could not be made, or a file could not be moved.
    #[error("{path}: {source}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl StoreError {
    /// Sorts an SQLite error by what it means for the caller.
    pub fn new(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path, source },
            Some(ErrorCode::DiskFull) => Self::Full { path, source },
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                Self::Denied { path, source }
            }
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Self::Corrupt { path, source },
            _ => Self::Sql { path, source },
        }
    }
}

/// A schema: numbered steps, each applied once.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// Applied in one transaction to a file of any older version; must bear being applied to a file
    /// that another product's release created.
    pub migrate: fn(&Connection, from: i64) -> rusqlite::Result<()>,
    /// The version `migrate` leads to.
    pub version: i64,
    /// Page size of a new file, in bytes.
    pub page_size: u32,
}

/// An open database.
#[derive(Debug)]
pub struct Opened {
    /// The connection.
    pub connection: Connection,
    /// Where an unreadable file was put, when there was one.
    pub set_aside: Option<PathBuf>,
}

/// Opens the database at `path`, creating it (0600, in a 0700 folder) and migrating it as needed.
///
/// A file that is not a readable database is set aside as `<name>.corrupt-<unix seconds>` and a new one
/// is started; a lock, a full disk or a missing permission never counts as that.
///
/// # Errors
/// See [`StoreError`].
pub fn open(path: &Path, role: Role, schema: &Schema) -> Result<Opened, StoreError> {
    match connect(path, role, schema) {
        Err(StoreError::Corrupt { .. }) => {
            let set_aside = set_aside(path, role, schema)?;
            connect(path, role, schema).map(|connection| Opened { connection, set_aside })
        }
        other => other.map(|connection| Opened { connection, set_aside: None }),
    }
}

/// Moves the database out of the way unless another process has done so meanwhile.
///
/// # Errors
/// [`StoreError::File`] when the file cannot be moved.
pub fn set_aside(path: &Path, role: Role, schema: &Schema) -> Result<Option<PathBuf>, StoreError> {
    let lock_path = suffixed(path, ".lock");
    let lock = private_file(&lock_path).map_err(|source| StoreError::File { path: lock_path.clone(), source })?;
    lock.lock().map_err(|source| StoreError::File { path: lock_path, source })?;
    if let Ok(connection) = connect(path, role, schema)
        && connection
            .query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
            .is_ok_and(|said| said == "ok")
    {
        return Ok(None);
    }
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let kept = (seconds..)
        .map(|stamp| suffixed(path, &format!(".corrupt-{stamp}")))
        .find(|kept| !kept.exists())
        .unwrap_or_else(|| suffixed(path, ".corrupt"));
    // The database goes last: a new one beside the old log would have the log emptied.
    for suffix in ["-wal", "-shm"] {
        // Absent after a clean close; there is nothing to keep then.
        let _ = fs::rename(suffixed(path, suffix), suffixed(&kept, suffix));
    }
    fs::rename(path, &kept).map_err(|source| StoreError::File { path: path.to_owned(), source })?;
    Ok(Some(kept))
}

/// Trims the WAL to nothing. Best effort: a reader may be in the way, and is waited for no longer than `patience`.
///
/// Trimming holds the writers' lock, so most of the work is done before: a hook would wait as long, and then give up.
pub fn checkpoint(connection: &Connection, patience: Duration) {
    let run = |mode: &str| {
        let _ = connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
    };
    run("PASSIVE");
    if connection.busy_timeout(patience).is_ok() {
        run("TRUNCATE");
        let _ = connection.busy_timeout(Role::Worker.busy_timeout());
    }
}

/// Makes a folder that only its owner can enter; parents too.
///
/// # Errors
/// The system's.
pub fn private_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Opens a file for writing, creating it for its owner alone.
///
/// # Errors
/// The system's.
pub fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Appends to a file's name.
pub fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn connect(path: &Path, role: Role, schema: &Schema) -> Result<Connection, StoreError> {
    let file_error = |source| StoreError::File { path: path.to_owned(), source };
    if !path.exists() {
        private_folder(path.parent().unwrap_or(Path::new("."))).map_err(file_error)?;
        private_file(path).map_err(file_error)?;
    }
    let wrap = |source| StoreError::new(path, source);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(wrap)?;
    match role {
        Role::Hook => connection.busy_handler(Some(wait_in_hook)),
        Role::Worker => connection.busy_timeout(role.busy_timeout()),
    }
    .map_err(wrap)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, role == Role::Hook).map_err(wrap)?;
    // Without it SQLite plans a statement anew for every new parameter.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(wrap)?;
    connection.pragma_update(None, "synchronous", "NORMAL").map_err(wrap)?;
    if role == Role::Hook {
        connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(wrap)?;
    }
    let version: i64 =
        patiently(role, || connection.query_row("PRAGMA user_version", [], |row| row.get(0))).map_err(wrap)?;
    if version > schema.version {
        return Err(StoreError::Newer { path: path.to_owned(), found: version, known: schema.version });
    }
    if version < schema.version {
        // The Mem0 plugins left their files readable to others.
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o600));
        migrate(&connection, role, schema).map_err(wrap)?;
    }
    Ok(connection)
}

fn migrate(connection: &Connection, role: Role, schema: &Schema) -> rusqlite::Result<()> {
    // Without effect on a file that has pages.
    connection.pragma_update(None, "page_size", schema.page_size)?;
    // A file system without shared memory answers with another mode; a rollback journal works there too.
    patiently(role, || connection.query_row("PRAGMA journal_mode=WAL", [], |row| row.get::<_, String>(0)))?;
    patiently(role, || connection.execute_batch("BEGIN IMMEDIATE"))?;
    let migrated = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).and_then(|from: i64| {
        if from < schema.version {
            (schema.migrate)(connection, from)?;
            connection.pragma_update(None, "user_version", schema.version)?;
        }
        Ok(())
    });
    match migrated {
        Ok(()) => connection.execute_batch("COMMIT"),
        Err(error) => {
            // The first error is the one to tell; SQLite may have rolled back by itself.
            let _ = connection.execute_batch("ROLLBACK");
            Err(error)
        }
    }
}

/// Repeats what SQLite refuses as busy without asking the busy handler (a change of journal mode, the
/// recovery of a WAL), for as long as the role may wait.
fn patiently<T>(role: Role, mut act: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let end = Instant::now() + role.busy_timeout();
    loop {
        match act() {
            Err(error)
                if matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
                    && Instant::now() < end =>
            {
                thread::sleep(Duration::from_millis(5));
            }
            result => return result,
        }
    }
}
