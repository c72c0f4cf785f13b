//! The worker: turns packets into memories, one process a packet, and ends.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use mem0_code_core::hosts;
use mem0_code_core::packet::{PacketFile, Reason};
use mem0_code_engine::db::{Role, StoreError};
use mem0_code_engine::evidence::{Evidence, FILE_NAME};
use serde_json::Value;

use crate::capture::Turn;
use crate::deliver::{self, Outcome};
use crate::session::Session;
use crate::setup::Setup;
use crate::{backend, capture, log, pending};

/// Longest nap between two heartbeats.
const NAP: Duration = Duration::from_secs(20);
/// Pause between two looks at what is in flight.
const LOOK: Duration = Duration::from_millis(250);

/// Delivers a claimed packet.
pub(crate) fn packet(setup: &Setup, claimed: &Path) {
    run(setup, claimed, false);
    tidy(setup);
}

/// Delivers every packet that waits now, oldest first, and returns how many there were and how many remain. `is_now`: also
/// those that wait for silence, at once.
pub(crate) fn all(setup: &Setup, is_now: bool) -> (usize, usize) {
    // Tells hooks that what they would start a worker for is being done; without it they start one more.
    let _at_work = pending::at_work(&setup.data_folder);
    take_up_abandoned(setup);
    pending::recover(&setup.data_folder, true);
    let waiting = pending::waiting(&setup.data_folder);
    let mut n_left = 0;
    let n_taken = waiting
        .iter()
        .filter_map(|path| pending::claim(path))
        .map(|claimed| {
            run(setup, &claimed, is_now);
            n_left += usize::from(claimed.with_extension("json").exists());
        })
        .count();
    tidy(setup);
    (n_taken, n_left)
}

/// Makes packets of what killed hosts and hooks left behind.
fn take_up_abandoned(setup: &Setup) {
    if !setup.settings.auto_flush || !setup.data_folder.join(FILE_NAME).is_file() {
        return;
    }
    let taken = Evidence::open(&setup.data_folder, Role::Worker).and_then(|evidence| {
        // Delivering may take long, and every hook reads the log meanwhile.
        evidence.checkpoint();
        if evidence.is_paused()? { Ok(()) } else { pending::adopt(setup, &evidence) }
    });
    if let Err(error) = taken {
        log::append(&setup.data_folder, log::WORKER, format!("taking up sessions: {error}"));
    }
}

fn run(setup: &Setup, claimed: &Path, is_now: bool) {
    let Some(packet) = pending::read(claimed) else {
        log::append(&setup.data_folder, log::WORKER, format!("not a packet: {}", claimed.display()));
        let _ = std::fs::rename(claimed, claimed.with_extension("bad"));
        return;
    };
    if !is_now && !wait_out(claimed, packet.clone()) {
        return;
    }
    match deliver_packet(setup, claimed, &packet) {
        Ok(outcome) => {
            let line = serde_json::to_string(&outcome).unwrap_or_else(|error| error.to_string());
            log::append(&setup.data_folder, log::WORKER, line);
            if outcome.is_done() {
                let _ = std::fs::remove_file(claimed);
            } else {
                pending::give_back(claimed);
            }
        }
        Err(error) => {
            log::append(&setup.data_folder, log::WORKER, format!("error: {error}"));
            pending::give_back(claimed);
        }
    }
}

/// Sits out an idle packet's delay with its heartbeat going. `false` when newer activity removed the packet.
fn wait_out(claimed: &Path, mut packet: PacketFile) -> bool {
    let Some(delay) = packet.delay_seconds.take().filter(|delay| *delay > 0.0) else { return true };
    // A packet recovered after a crash must not sleep again.
    if pending::rewrite(claimed, &packet).is_err() {
        return false;
    }
    let end = Instant::now() + Duration::try_from_secs_f64(delay).unwrap_or_default();
    while Instant::now() < end {
        thread::sleep(NAP.min(end.saturating_duration_since(Instant::now())));
        if !pending::touch(claimed) {
            return false;
        }
    }
    claimed.exists()
}

fn deliver_packet(setup: &Setup, claimed: &Path, packet: &PacketFile) -> Result<Outcome, StoreError> {
    let text = |key: &str| packet.hook_input.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut setup = setup.clone();
    setup.host = text("host").or(setup.host);
    let setup = &setup;
    let mut evidence = Evidence::open(&setup.data_folder, Role::Worker)?;
    if evidence.is_paused()? {
        return Ok(Outcome { status: "paused".to_owned(), ..Outcome::default() });
    }
    let id = text("session_id").filter(|id| !id.is_empty());
    let id = id.unwrap_or_else(|| mem0_code_core::event::UNKNOWN_SESSION.to_owned());
    let cwd = text("cwd").map_or_else(|| setup.env.cwd.clone(), Into::into);
    let session = Session::resolve(setup, &evidence, &id, &cwd, Timestamp::now())?;
    if packet.wait_for_inflight {
        let end = Instant::now() + setup.settings.extraction_wait;
        while evidence.is_in_flight(session.key())? && Instant::now() < end {
            pending::touch(claimed);
            thread::sleep(LOOK);
        }
    }
    let is_unread = packet.hook_input.get(pending::UNREAD).is_some();
    if (is_unread || (packet.wait_for_inflight && packet.reason == Reason::SessionEnd))
        && let Some(host) = setup.host.as_deref().and_then(hosts::find)
    {
        let transcript = text("transcript_path").map(std::path::PathBuf::from);
        let is_over = packet.reason == Reason::SessionEnd;
        let turn = Turn { transcript: transcript.as_deref(), is_over, ..Turn::default() };
        let _ = capture::answer(host, &mut evidence, &session, &turn, Timestamp::now())?;
    }
    deliver::deliver(setup, &mut evidence, &session, &packet.reason, text("task").as_deref(), Some(claimed))
}

/// What is due when memories have changed: the engine's index, and the write-ahead log that hooks never trim.
fn tidy(setup: &Setup) {
    let upkeep = backend::open_embedded(setup).and_then(|engine| match engine {
        Some(mut engine) => engine.maintain(false).map(drop),
        None => Ok(()),
    });
    if let Err(error) = upkeep {
        log::append(&setup.data_folder, log::WORKER, format!("index: {error}"));
    }
    match Evidence::open(&setup.data_folder, Role::Worker) {
        Ok(evidence) => evidence.checkpoint(),
        Err(error) => log::append(&setup.data_folder, log::WORKER, format!("checkpoint: {error}")),
    }
}
