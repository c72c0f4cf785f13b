//! Packet files: what a hook leaves for a worker.
//!
//! A packet is written whole and renamed into place; who renames it to `.running` owns it. Its modification time is
//! its heartbeat. Packets of dead workers are offered again at a session's start.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use mem0_code_core::config::KeySource;
use mem0_code_core::event::Event;
use mem0_code_core::packet::{self, PacketFile, Reason};
use mem0_code_core::redact;
use mem0_code_engine::db::{StoreError, private_file, private_folder};
use mem0_code_engine::evidence::Evidence;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::log;
use crate::session::Session;
use crate::setup::{KEY_FILE, Setup};

/// A claim untouched for this long belongs to nobody.
pub(crate) const STALE: Duration = Duration::from_secs(300);
/// A packet older than this is not delivered any more.
const EXPIRY: Duration = Duration::from_secs(7 * 24 * 3_600);
/// A half-written file older than this is a leftover.
const LEFTOVER: Duration = Duration::from_secs(3_600);
/// Most packets taken up at one session's start.
const MAX_RECOVERED: usize = 5;

/// Names the field of a packet whose transcript is still to be read.
pub(crate) const UNREAD: &str = "unread";
/// Held by the worker that takes everything that waits.
const LOCK: &str = "worker.lock";

/// Writes a packet for the session.
pub(crate) fn write(
    setup: &Setup,
    session: &Session,
    event: &Event,
    reason: Reason,
    wait_for_inflight: bool,
) -> io::Result<PathBuf> {
    let stem = packet::stem(&session.cwd.to_string_lossy(), &session.id, &reason, &random8());
    // One that says the same still waits: a second would only wait after it.
    let same = |path: &PathBuf| file_name(path).get(..24) == stem.get(..24) && has_extension(path, "json");
    if let Some(waiting) = entries(&setup.data_folder).into_iter().find(same) {
        touch(&waiting);
        return Ok(waiting);
    }
    let file =
        PacketFile { hook_input: hook_input(setup, session, event), reason, wait_for_inflight, delay_seconds: None };
    put(&setup.data_folder, &stem, &file)
}

/// Writes a packet whose worker reads the session's transcript first, which is too long for a hook.
pub(crate) fn write_unread(setup: &Setup, session: &Session, event: &Event, reason: Reason) -> io::Result<PathBuf> {
    let stem = packet::stem(&session.cwd.to_string_lossy(), &session.id, &reason, &random8());
    let mut hook_input = hook_input(setup, session, event);
    hook_input.insert(UNREAD.to_owned(), true.into());
    put(&setup.data_folder, &stem, &PacketFile { hook_input, reason, wait_for_inflight: false, delay_seconds: None })
}

/// Writes a packet that waits for silence.
pub(crate) fn write_idle(setup: &Setup, session: &Session, event: &Event, delay: Duration) -> io::Result<PathBuf> {
    let stem = format!("{}-{}", packet::idle_prefix(&session.cwd.to_string_lossy(), &session.id), random8());
    let file = PacketFile {
        hook_input: hook_input(setup, session, event),
        reason: Reason::Idle,
        wait_for_inflight: false,
        delay_seconds: Some(delay.as_secs_f64()),
    };
    put(&setup.data_folder, &stem, &file)
}

/// Writes packets for sessions that something is left of and that nobody has touched for a while.
pub(crate) fn adopt(setup: &Setup, evidence: &Evidence) -> Result<(), StoreError> {
    let quiet = setup.settings.idle_flush.unwrap_or_default().max(STALE);
    let abandoned = evidence.abandoned(Timestamp::now() - quiet)?;
    if abandoned.is_empty() {
        return Ok(());
    }
    let waiting: HashSet<String> = entries(&setup.data_folder)
        .iter()
        .filter_map(|path| read(path)?.hook_input.get("session_id")?.as_str().map(str::to_owned))
        .collect();
    for left in abandoned.into_iter().filter(|left| !waiting.contains(&left.session_id)) {
        let cwd = Path::new(&left.root).join(&left.directory).to_string_lossy().into_owned();
        let mut input = Map::new();
        input.insert("session_id".into(), left.session_id.clone().into());
        input.insert("cwd".into(), cwd.clone().into());
        if let Some(host) = &setup.host {
            input.insert("host".into(), host.clone().into());
        }
        let reason = Reason::SessionEnd;
        let stem = packet::stem(&cwd, &left.session_id, &reason, &random8());
        let file = PacketFile { hook_input: input, reason, wait_for_inflight: false, delay_seconds: None };
        if let Err(error) = put(&setup.data_folder, &stem, &file) {
            log::append(&setup.data_folder, log::WORKER, format!("taking up session {}: {error}", left.session_id));
        }
    }
    Ok(())
}

/// Says that a worker takes everything that waits, until the returned file is closed. `None` when another does.
pub(crate) fn at_work(data_folder: &Path) -> Option<fs::File> {
    let lock = data_folder.is_dir().then(|| private_file(&data_folder.join(LOCK)))?.ok()?;
    lock.try_lock().is_ok().then_some(lock)
}

/// Tells whether a worker takes everything that waits: a second one would find nothing to do.
pub(crate) fn is_at_work(data_folder: &Path) -> bool {
    let lock = fs::File::open(data_folder.join(LOCK));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
}

/// Removes the session's packets that wait for silence: there was none.
pub(crate) fn drop_idle(data_folder: &Path, session: &Session) {
    let prefix = packet::idle_prefix(&session.cwd.to_string_lossy(), &session.id);
    for path in entries(data_folder) {
        if file_name(&path).starts_with(&prefix) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Takes a packet for this process; `None` when somebody else has it.
pub(crate) fn claim(packet: &Path) -> Option<PathBuf> {
    let claimed = packet.with_extension("running");
    fs::rename(packet, &claimed).ok()?;
    touch(&claimed);
    Some(claimed)
}

/// Offers a claimed packet again.
pub(crate) fn give_back(claimed: &Path) {
    let _ = fs::rename(claimed, claimed.with_extension("json"));
}

/// Shows that a claimed packet's worker lives. `false` when the packet is gone.
pub(crate) fn touch(packet: &Path) -> bool {
    fs::File::options().write(true).open(packet).and_then(|file| file.set_modified(SystemTime::now())).is_ok()
}

/// Refreshes every packet, so that none expires while its memory is paused.
pub(crate) fn touch_all(data_folder: &Path) {
    for path in entries(data_folder) {
        if has_extension(&path, "json") || has_extension(&path, "running") {
            touch(&path);
        }
    }
}

/// Offers what dead workers left, removes what is too old or broken, and claims the oldest few.
///
/// With `only_offer` nothing is claimed.
pub(crate) fn recover(data_folder: &Path, only_offer: bool) -> Vec<PathBuf> {
    sweep(data_folder);
    if only_offer {
        return Vec::new();
    }
    waiting(data_folder).iter().take(MAX_RECOVERED).filter_map(|path| claim(path)).collect()
}

/// Returns every packet that waits for a worker, oldest first.
pub(crate) fn waiting(data_folder: &Path) -> Vec<PathBuf> {
    let mut packets: Vec<(SystemTime, PathBuf)> = entries(data_folder)
        .into_iter()
        .filter(|path| has_extension(path, "json"))
        .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
        .collect();
    packets.sort();
    packets.into_iter().map(|(_, path)| path).collect()
}

/// Counts the packets of a data folder: waiting, and being delivered.
pub(crate) fn count(data_folder: &Path) -> (usize, usize) {
    let all = entries(data_folder);
    let count = |extension| all.iter().filter(|path| has_extension(path, extension)).count();
    (count("json"), count("running"))
}

/// Removes every packet of sessions that `is_theirs` names, waiting or claimed.
pub(crate) fn forget(data_folder: &Path, is_theirs: impl Fn(&Map<String, Value>) -> bool) -> usize {
    let mut n_gone = 0;
    for path in entries(data_folder) {
        if read(&path).is_some_and(|packet| is_theirs(&packet.hook_input)) && fs::remove_file(path).is_ok() {
            n_gone += 1;
        }
    }
    n_gone
}

/// Reads a packet; `None` when it is none.
pub(crate) fn read(path: &Path) -> Option<PacketFile> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Rewrites a claimed packet in place, unless it was removed meanwhile.
pub(crate) fn rewrite(path: &Path, packet: &PacketFile) -> io::Result<()> {
    let text = serde_json::to_vec(packet)?;
    let mut file = fs::File::options().write(true).truncate(true).open(path)?;
    file.write_all(&text)
}

/// Keeps the key a host gives only to hooks where the MCP server finds it, and forgets it when the host stops giving
/// one: a removed setting must not live on.
pub(crate) fn cache_plugin_key(setup: &Setup, is_session_start: bool) {
    let cached = setup.data_folder.join(KEY_FILE);
    match &setup.api_key {
        Some((key, KeySource::Plugin(_))) if fs::read_to_string(&cached).ok().as_deref() != Some(key.expose()) => {
            let _ = private_folder(&setup.data_folder).and_then(|()| write_private(&cached, key.expose().as_bytes()));
        }
        Some((_, KeySource::Plugin(_) | KeySource::Environment)) => {}
        _ if is_session_start => {
            let _ = fs::remove_file(cached);
        }
        _ => {}
    }
}

fn sweep(data_folder: &Path) {
    for path in entries(data_folder) {
        let age = fs::metadata(&path)
            .and_then(|metadata| metadata.modified())
            .ok()
            .and_then(|modified| SystemTime::now().duration_since(modified).ok())
            .unwrap_or_default();
        if has_extension(&path, "running") && (age > STALE || is_ahead(&path)) {
            // The age of a packet counts from when it was written, so its time is kept by the rename.
            give_back(&path);
        } else if has_extension(&path, "tmp") && age > LEFTOVER {
            let _ = fs::remove_file(&path);
        }
    }
    for path in waiting(data_folder) {
        let age = fs::metadata(&path)
            .and_then(|metadata| metadata.modified())
            .ok()
            .and_then(|modified| SystemTime::now().duration_since(modified).ok())
            .unwrap_or_default();
        if age > EXPIRY {
            let _ = fs::remove_file(&path);
        } else if read(&path).is_none() {
            let _ = fs::rename(&path, path.with_extension("bad"));
        }
    }
}

/// Tells whether a file is dated so far ahead that the clock must have been wrong: nobody keeps such a heartbeat.
fn is_ahead(path: &Path) -> bool {
    let ahead = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    ahead.and_then(|time| time.duration_since(SystemTime::now()).ok()).is_some_and(|ahead| ahead > STALE)
}

fn hook_input(setup: &Setup, session: &Session, event: &Event) -> Map<String, Value> {
    let mut input = Map::new();
    input.insert("session_id".into(), session.id.clone().into());
    input.insert("cwd".into(), session.cwd.to_string_lossy().into_owned().into());
    if let Some(path) = &event.transcript_path {
        input.insert("transcript_path".into(), path.to_string_lossy().into_owned().into());
    }
    if let Some(host) = &setup.host {
        input.insert("host".into(), host.clone().into());
    }
    match redact::value(&Value::Object(input)) {
        Value::Object(input) => input,
        _ => Map::new(),
    }
}

fn put(data_folder: &Path, stem: &str, packet: &PacketFile) -> io::Result<PathBuf> {
    let folder = data_folder.join("pending");
    private_folder(&folder)?;
    let path = folder.join(format!("{stem}.json"));
    write_private(&path, &serde_json::to_vec(packet)?)?;
    Ok(path)
}

/// Writes a private file whole: to a temporary name, then into place.
fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension(format!("{}.tmp", random8()));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    let written = file.write_all(content).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn entries(data_folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(data_folder.join("pending"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn random8() -> String {
    // The tail of a time-ordered id is its random part.
    let id = Uuid::now_v7().simple().to_string();
    id[id.len() - 8..].to_owned()
}
