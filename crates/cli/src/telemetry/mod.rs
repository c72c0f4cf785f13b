//! Usage events: recorded on disk, sent later, and only to an endpoint that the user named.
//!
//! Without `MEM0_TELEMETRY_URL`, or with `MEM0_TELEMETRY` off, nothing is recorded, written or sent. What
//! an event may hold is decided in [`mem0_code_core::telemetry`].
//!
//! * This module records: one line appended to the spool, no network, no waiting, no error.
//! * [`claims`] is the spool's files: who may send which of them, and when again.
//! * [`sender`] delivers and knows who the events are from.
//! * [`install`] notices that the program is new here, or newer than last time.

mod claims;
mod install;
mod sender;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use mem0_code_core::telemetry::{self, Common, Occurrence};
use mem0_code_engine::api::ApiError;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use uuid::Uuid;

pub(crate) use self::sender::Delivery;

/// Events that wait to be sent, one JSON object a line.
const SPOOL: &str = "telemetry.jsonl";
const SALT: &str = "telemetry-salt";
/// A spool above this size takes no more events.
const MAX_SPOOL_BYTES: u64 = 256 * 1024;

/// What telemetry needs to know of the settings.
#[derive(Clone, Default)]
pub(crate) struct Settings {
    /// The value of `MEM0_TELEMETRY`.
    pub(crate) switch: Option<String>,
    /// The value of `MEM0_TELEMETRY_URL`; without one there is no telemetry.
    pub(crate) url: Option<String>,
    /// The host's id.
    pub(crate) host: Option<String>,
    /// Version of this program.
    pub(crate) version: String,
    /// The API key, by which the sender learns whose events they are. Never sent to the endpoint.
    pub(crate) api_key: Option<String>,
    /// Address of the Mem0 Platform.
    pub(crate) api_url: String,
}

/// The recorder of one data folder.
pub(crate) struct Telemetry {
    data_dir: PathBuf,
    settings: Settings,
    is_active: bool,
    was_empty: bool,
}

/// Why events are kept, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Events are recorded and sent.
    On,
    /// `MEM0_TELEMETRY` switches it off.
    OptedOut,
    /// No endpoint is named.
    NoEndpoint,
}

/// What would be sent now.
#[derive(Debug)]
pub(crate) struct Preview {
    /// Whether anything would.
    pub(crate) state: State,
    /// Where to.
    pub(crate) url: Option<String>,
    /// Who the events would be from, as far as is known without asking anybody.
    pub(crate) distinct_id: Option<String>,
    /// The waiting events, as they would go out.
    pub(crate) events: Vec<Value>,
}

impl Telemetry {
    /// Looks at the data folder. Make it before anything else writes there: an install is told from an
    /// upgrade by whether the folder was empty. Costs nothing but that look, and not even it when off.
    pub(crate) fn new(data_dir: &Path, settings: Settings) -> Self {
        let is_active = state(&settings) == State::On;
        let was_empty = is_active && fs::read_dir(data_dir).map_or(true, |mut entries| entries.next().is_none());
        Self { data_dir: data_dir.to_owned(), settings, is_active, was_empty }
    }

    /// Records an event, e.g. `search`. Never fails, waits or uses the network; does nothing when off.
    ///
    /// `repo` and `session` leave only as salted hashes. Of `properties` only counts and words are kept.
    pub(crate) fn record(
        &self,
        event: &str,
        repo: Option<&str>,
        session: Option<&str>,
        properties: &Map<String, Value>,
    ) {
        if !self.is_active {
            return;
        }
        // A full disk or a folder of another user loses the event, which nobody misses.
        let _ = self.append(event, repo, session, properties);
    }

    /// Tells whether the sender has anything to do. Start it only then.
    pub(crate) fn has_work(&self) -> bool {
        self.is_active && (self.path(SPOOL).exists() || !claims::parked(&self.data_dir).is_empty())
    }

    /// Sends what waits, once. Does nothing when off.
    pub(crate) fn flush_once(&self) -> Delivery {
        if self.is_active { sender::flush(self) } else { Delivery::default() }
    }

    /// Records `install` or `upgrade` when the program is new in this data folder. To be called at a
    /// session's start.
    pub(crate) fn install_markers(&self) {
        if !self.is_active {
            return;
        }
        if let Some((event, properties)) = install::news(&self.data_dir, &self.settings.version, self.was_empty) {
            self.record(event, None, None, &properties);
        }
    }

    /// Returns what would be sent now.
    pub(crate) fn show(&self) -> Preview {
        let mut events = Vec::new();
        let spool = [self.path(SPOOL)];
        for path in claims::parked(&self.data_dir).iter().chain(&spool) {
            events.extend(fs::read_to_string(path).map(|text| claims::events(&text)).unwrap_or_default());
        }
        Preview {
            state: state(&self.settings),
            url: self.settings.url.clone().filter(|url| !url.trim().is_empty()),
            distinct_id: sender::known_sender(&self.data_dir),
            events,
        }
    }

    fn append(
        &self,
        event: &str,
        repo: Option<&str>,
        session: Option<&str>,
        properties: &Map<String, Value>,
    ) -> io::Result<()> {
        let spool = self.path(SPOOL);
        if fs::metadata(&spool).is_ok_and(|metadata| metadata.len() > MAX_SPOOL_BYTES) {
            return Ok(());
        }
        private_dir(&self.data_dir)?;
        let common = Common {
            host: self.settings.host.clone(),
            version: self.settings.version.clone(),
            os: std::env::consts::OS,
            runtime: "native",
        };
        let uuid = Uuid::now_v7().to_string();
        let at = Timestamp::now();
        let occurrence = Occurrence { name: event, repo, session, properties, at, uuid: &uuid };
        let mut line = telemetry::event(&occurrence, &common, salt(&self.data_dir).as_deref()).to_string();
        line.push('\n');
        // One write of one line: appends of several processes do not mix.
        private(OpenOptions::new().create(true).append(true)).open(spool)?.write_all(line.as_bytes())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.data_dir.join(name)
    }
}

/// Returns the coarse kind of a failure for the property `error_kind`.
pub(crate) fn error_kind(error: &ApiError) -> &'static str {
    match error {
        ApiError::Unauthorized { status, .. }
        | ApiError::Rejected { status, .. }
        | ApiError::Unavailable { status, .. } => telemetry::error_kind(*status),
        ApiError::Unreachable(reason) if reason.starts_with("no answer within") => "timeout",
        ApiError::Unreachable(_) => "network",
        ApiError::Protocol(_) => "protocol",
        ApiError::NotFound(_) => "not-found",
        ApiError::Invalid(_) => "invalid",
        ApiError::Store { .. } | ApiError::File { .. } => "storage",
    }
}

fn state(settings: &Settings) -> State {
    if !telemetry::is_enabled(settings.switch.as_deref()) {
        State::OptedOut
    } else if settings.url.as_deref().is_none_or(|url| url.trim().is_empty()) {
        State::NoEndpoint
    } else {
        State::On
    }
}

/// Returns the folder's salt, made if there is none; `None` when that fails, and then nothing is hashed.
fn salt(data_dir: &Path) -> Option<String> {
    let path = data_dir.join(SALT);
    if let Some(salt) = read_salt(&path) {
        return Some(salt);
    }
    let random: String = Sha256::new()
        .chain_update(Uuid::now_v7())
        .chain_update(Uuid::now_v7())
        .finalize()
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    // Linked into place whole: of several processes one wins, and nobody reads half a salt.
    let draft = data_dir.join(format!("{SALT}.{}.tmp", Uuid::now_v7().simple()));
    let linked = write_private(&draft, random.as_bytes()).and_then(|()| fs::hard_link(&draft, &path));
    let _ = fs::remove_file(&draft);
    if linked.is_err() && !path.exists() {
        // Some file systems have no hard links.
        let _ = create_private(&path).and_then(|mut file| file.write_all(random.as_bytes()));
    }
    read_salt(&path)
}

fn read_salt(path: &Path) -> Option<String> {
    let salt = fs::read_to_string(path).ok()?;
    telemetry::is_salt(salt.trim()).then(|| salt.trim().to_owned())
}

/// Makes a file that must not exist yet, readable by its owner only.
fn create_private(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().write(true).create_new(true)).open(path)
}

/// Writes a new private file and waits until it is on disk.
fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = create_private(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Replaces a private file as a whole.
fn replace_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let draft = path.with_added_extension(format!("{}.tmp", Uuid::now_v7().simple()));
    let replaced = write_private(&draft, content).and_then(|()| fs::rename(&draft, path));
    if replaced.is_err() {
        let _ = fs::remove_file(&draft);
    }
    replaced
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

fn private_dir(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(test)]
mod tests;
