//! What hosts call: `mem0-code hook <host> <event>`, JSON on stdin.
//!
//! A hook exits 0 whatever happens and prints what its host accepts or nothing. It opens no network connection,
//! except for a first prompt whose memories are kept by a server, and waits for nobody else.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use jiff::Timestamp;
use mem0_code_core::event::{Event, EventKind};
use mem0_code_core::evidence;
use mem0_code_core::host::HostSpec;
use mem0_code_core::hosts;
use mem0_code_core::packet::Reason;
use mem0_code_engine::db::{Role, StoreError};
use mem0_code_engine::evidence::{Evidence, NewEvent, Recorded, Run, Stopped};
use serde_json::json;

use crate::capture::{self, Reading, Turn};
use crate::env::Env;
use crate::session::Session;
use crate::setup::{Globals, Setup};
use crate::{log, output, pending, recall, spawn};

/// Largest payload read, in bytes; the rest of a larger one is not waited for.
const MAX_PAYLOAD_BYTES: u64 = 64 * 1024 * 1024;
/// How long a host may take to send its payload.
const PAYLOAD_TIMEOUT: Duration = Duration::from_secs(2);
/// A write-ahead log of this size is worth a worker that trims it.
const LARGE_WAL_BYTES: u64 = 1024 * 1024;

/// Begins the names of variables that hold a plugin's options.
const OPTION: &str = "PLUGIN_OPTION_";

/// A hook's command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Call {
    globals: Globals,
    host: String,
    event: String,
}

/// Recognizes a hook's command line without parsing any other.
pub(crate) fn arguments(arguments: &[OsString]) -> Option<Call> {
    let mut call = Call::default();
    let mut words = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.to_str() {
            Some("--plugin-data-dir") => call.globals.data_folder = rest.next().map(PathBuf::from),
            Some("--harness") => call.globals.host = rest.next().and_then(|host| host.to_str()).map(str::to_owned),
            Some(word) => words.push(word),
            None => words.push(""),
        }
        if words.first().is_some_and(|word| *word != "hook") {
            return None;
        }
    }
    let mut words = words.into_iter();
    words.next()?;
    call.host = words.next().unwrap_or_default().to_owned();
    call.event = words.next().unwrap_or_default().to_owned();
    call.globals.host.get_or_insert_with(|| call.host.clone());
    Some(call)
}

/// Runs a hook.
pub(crate) fn main(call: Call) -> ExitCode {
    let env = Env::read();
    let host = hosts::find(&call.host);
    // Some hosts take an answer that is missing for a refusal.
    let silence = host.map(|host| (host.render)(&call.event, "")).unwrap_or_default();
    // Hooks fired by what our own worker runs would have it work for itself without end.
    if env.get(spawn::WORKER_MARK).is_some() {
        output::print_bytes(&silence);
        return ExitCode::SUCCESS;
    }
    let setup = Setup::new(env, &call.globals);
    exit_cleanly_on_panic(&setup, silence.clone());
    let complain = |error: &dyn Display| {
        log::append(&setup.data_folder, log::ERRORS, format!("hook {} {}: {error}", call.host, call.event));
    };
    let Some(host) = host else {
        complain(&"unknown host");
        return ExitCode::SUCCESS;
    };
    let printed = answer_to(&setup, host, &call.event).unwrap_or_else(|error| {
        complain(&error);
        Vec::new()
    });
    output::print_bytes(if printed.is_empty() { &silence } else { &printed });
    ExitCode::SUCCESS
}

/// Takes in what the host says and returns what to print; nothing when there is nothing to say.
fn answer_to(setup: &Setup, host: &HostSpec, native: &str) -> anyhow::Result<Vec<u8>> {
    let payload = read_payload()?;
    let mut event = match (host.normalize)(native, &payload) {
        Ok(Some(event)) => event,
        Ok(None) => return Ok(Vec::new()),
        Err(error) => {
            // The store is there from the first call on, so that a host that calls is told from one that does not.
            let _ = Evidence::open(&setup.data_folder, Role::Hook);
            return Err(error.into());
        }
    };
    if event.transcript_path.is_none() && matches!(event.kind, EventKind::Answer { .. } | EventKind::SessionEnd) {
        event.transcript_path = capture::find(&setup.env, host, &event.session_id);
    }
    Ok(act(setup, host, native, &event)?)
}

/// A panic is our bug, not the host's problem: it becomes a line in the log and a success.
fn exit_cleanly_on_panic(setup: &Setup, silence: Vec<u8>) {
    let folder = setup.data_folder.clone();
    std::panic::set_hook(Box::new(move |panic| {
        log::append(&folder, log::ERRORS, format!("panic: {panic}"));
        output::print_bytes(&silence);
        #[expect(
            clippy::exit,
            reason = "the release profile aborts on panic, which a host would report as a failed hook"
        )]
        std::process::exit(0);
    }));
}

fn read_payload() -> io::Result<Vec<u8>> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(Vec::new());
    }
    let mut payload = Vec::with_capacity(8 * 1024);
    let mut chunk = vec![0; 64 * 1024];
    let mut stdin = stdin.lock();
    // Some hosts keep the pipe open: a payload that is whole is not waited behind.
    while wait_readable(Duration::ZERO)? || (!is_whole(&payload) && wait_readable(PAYLOAD_TIMEOUT)?) {
        let n_bytes = stdin.read(&mut chunk)?;
        if n_bytes == 0 || payload.len() as u64 > MAX_PAYLOAD_BYTES {
            break;
        }
        payload.extend_from_slice(&chunk[..n_bytes]);
    }
    Ok(payload)
}

/// Tells whether a payload is a whole JSON object.
fn is_whole(payload: &[u8]) -> bool {
    payload.trim_ascii_end().ends_with(b"}") && serde_json::from_slice::<serde::de::IgnoredAny>(payload).is_ok()
}

/// Waits until stdin has something to say or ends; `false` when it says nothing for this long.
fn wait_readable(timeout: Duration) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let stdin = io::stdin();
    let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
    let timeout = Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: timeout.subsec_nanos().into() };
    match poll(&mut polled, Some(&timeout)) {
        Ok(n_ready) => Ok(n_ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Does what an event asks for and returns what to print.
fn act(setup: &Setup, host: &HostSpec, native: &str, event: &Event) -> Result<Vec<u8>, StoreError> {
    let is_start = matches!(event.kind, EventKind::SessionStart { .. });
    // Before anything is written: an untouched folder means a new installation.
    let telemetry = (is_start || event.kind == EventKind::ModelCall).then(|| setup.telemetry());
    pending::cache_plugin_key(setup, is_start);
    if let Some(telemetry) = telemetry {
        telemetry.install_markers();
        // Where no hook tells of a start, the session's first event sends what waits.
        if is_start && telemetry.has_work() {
            // It is sent at another start when it cannot be sent now.
            let _ = spawn::telemetry_sender(setup);
        }
    }
    let evidence = Evidence::open(&setup.data_folder, Role::Hook)?;
    match act_with(setup, host, native, event, evidence) {
        // Damage that opening does not notice shows at the first touch of a broken page.
        Err(StoreError::Corrupt { .. }) => {
            let evidence = Evidence::open(&setup.data_folder, Role::Hook)?.replace_damaged(Role::Hook)?;
            act_with(setup, host, native, event, evidence)
        }
        result => result,
    }
}

fn act_with(
    setup: &Setup,
    host: &HostSpec,
    native: &str,
    event: &Event,
    mut evidence: Evidence,
) -> Result<Vec<u8>, StoreError> {
    if let Some(kept) = evidence.set_aside() {
        let kept = kept.display();
        let line = format!("the evidence store was unreadable and has been set aside as {kept}");
        log::append(&setup.data_folder, log::ERRORS, line);
        setup.count("db_quarantined", None, json!({}));
    }
    if has_large_wal(&evidence) {
        start_worker(setup, None);
    }
    let now = Timestamp::now();
    if evidence.is_paused()? {
        if matches!(event.kind, EventKind::SessionStart { .. }) {
            pending::touch_all(&setup.data_folder);
            setup.count("session_start", None, json!({ "paused": true }));
        }
        return Ok(Vec::new());
    }
    let named = || host.project_variable.and_then(|name| setup.env.get(name)).map(PathBuf::from);
    let cwd = setup.env.cwd.join(event.cwd.clone().or_else(named).unwrap_or_default());
    let session = Session::resolve(setup, &evidence, &event.session_id, &cwd, now)?;
    if setup.settings.excludes(session.root(), setup.env.home.as_deref().and_then(std::path::Path::to_str)) {
        return Ok(Vec::new());
    }
    let record = |evidence: &Evidence, record: &evidence::Record| {
        evidence.record(&NewEvent { session: session.key(), kind: record.kind, payload: &record.payload, now })
    };
    match &event.kind {
        EventKind::SessionStart { source, model } => {
            begin(setup, &evidence, &session, source, model.as_deref(), now)?;
            return Ok(host.hand_on_options.map(|print| print(&options(setup))).unwrap_or_default());
        }
        EventKind::Prompt { text } => {
            let Some(prompt) = evidence::prompt(text) else { return Ok(Vec::new()) };
            let stored = evidence.record_prompt(&NewEvent {
                session: session.key(),
                kind: prompt.kind,
                payload: &prompt.payload,
                now,
            })?;
            let text = prompt.payload["text"].as_str().unwrap_or_default();
            if matches!(stored, Recorded::Stored(_))
                && let Some(context) = recall::first_prompt(setup, host, &mut evidence, &session, text)?
            {
                return Ok((host.render)(native, &context));
            }
        }
        EventKind::ModelCall => {
            let context = model_call(setup, host, &mut evidence, &session, event, now)?;
            return Ok(context.map(|context| (host.render)(native, &context)).unwrap_or_default());
        }
        EventKind::Tool(call) => {
            let kept = evidence::tool(event, call, session.root());
            match &call.call_id {
                Some(id) => {
                    let event = NewEvent { session: session.key(), kind: kept.kind, payload: &kept.payload, now };
                    evidence.record_call(&event, id)?;
                }
                None => {
                    record(&evidence, &kept)?;
                }
            }
        }
        EventKind::SubagentStart => {
            let agent = event.agent.clone().unwrap_or_default();
            let id = agent.id.as_deref().unwrap_or("unknown-agent");
            let kept = evidence::subagent_start(id, agent.kind.as_deref().unwrap_or_default(), 0, session.root());
            let run = Run {
                agent_id: kept.payload["agent_id"].as_str().unwrap_or_default(),
                agent_type: kept.payload["agent_type"].as_str().unwrap_or_default(),
            };
            let context = match evidence.has_run(session.key(), run.agent_id)? {
                true => None,
                false => recall::shown_before(setup, host, &evidence, &session)?,
            };
            let n_chars = context.as_ref().map_or(0, |context| context.chars().count());
            let is_first = evidence.start_run(session.key(), run, n_chars, now)?;
            let context = context.filter(|_| is_first);
            let n_chars = context.as_ref().map_or(0, |context| context.chars().count());
            record(&evidence, &evidence::subagent_start(run.agent_id, run.agent_type, n_chars, session.root()))?;
            let properties = json!({ "phase": "start", "first_start": is_first, "context_chars": n_chars });
            setup.count("subagent", Some(session.key()), properties);
            return Ok(context.map(|context| (host.render)(native, &context)).unwrap_or_default());
        }
        EventKind::SubagentStop { transcript_path, message } => {
            let agent = event.agent.clone().unwrap_or_default();
            let agent_type = agent.kind.unwrap_or_default();
            let stop = |agent_id: &str| {
                let message = message.as_deref().unwrap_or_default();
                evidence::subagent_stop(agent_id, &agent_type, transcript_path.as_deref(), message)
            };
            let kept = stop(agent.id.as_deref().unwrap_or_default());
            let stopped = Stopped {
                agent_id: agent.id.is_some().then(|| kept.payload["agent_id"].as_str()).flatten(),
                agent_type: kept.payload["agent_type"].as_str().unwrap_or_default(),
                transcript_path: kept.payload["transcript_path"].as_str().unwrap_or_default(),
                final_message: kept.payload["final_message"].as_str().unwrap_or_default(),
            };
            let agent_id = evidence.stop_run(session.key(), stopped, now)?;
            record(&evidence, &stop(&agent_id))?;
            let properties = json!({
                "phase": "stop",
                "has_transcript": transcript_path.is_some(),
                "message_chars": message.as_ref().map_or(0, |message| message.chars().count()),
            });
            setup.count("subagent", Some(session.key()), properties);
        }
        EventKind::Answer { text } => {
            let turn = Turn { text: text.as_deref(), ..Turn::default() };
            if answer(setup, host, &mut evidence, &session, event, turn, now)? == Reading::TooLong {
                start_packet(setup, pending::write_unread(setup, &session, event, Reason::Idle));
            } else {
                hand_off_or_idle(setup, &mut evidence, &session, event, now)?;
            }
        }
        EventKind::Turn { earlier, said } => {
            let is_known = evidence.transcript_state(session.key())?.last_answer.is_some();
            let earlier = if is_known { &[] } else { earlier.as_slice() };
            if let Some(turn) = evidence::turn(earlier.iter().chain(said)) {
                let event = NewEvent { session: session.key(), kind: turn.kind, payload: &turn.payload, now };
                evidence.record_spoken_answer(&event)?;
            }
            hand_off_or_idle(setup, &mut evidence, &session, event, now)?;
        }
        EventKind::Reminder => {
            let context = recall::shown_before(setup, host, &evidence, &session)?;
            return Ok(context.map(|context| (host.render)(native, &context)).unwrap_or_default());
        }
        EventKind::Compaction => {
            hand_off(setup, &mut evidence, &session, event, Reason::PreCompact, now)?;
        }
        EventKind::SessionEnd => {
            let turn = Turn { is_over: true, ..Turn::default() };
            let reading = answer(setup, host, &mut evidence, &session, event, turn, now)?;
            pending::drop_idle(&setup.data_folder, &session);
            if reading == Reading::TooLong {
                start_packet(setup, pending::write_unread(setup, &session, event, Reason::SessionEnd));
            } else {
                hand_off(setup, &mut evidence, &session, event, Reason::SessionEnd, now)?;
            }
        }
    }
    Ok(Vec::new())
}

/// Begins a session: records it, and takes up what earlier ones left behind.
fn begin(
    setup: &Setup,
    evidence: &Evidence,
    session: &Session,
    source: &str,
    model: Option<&str>,
    now: Timestamp,
) -> Result<(), StoreError> {
    setup.link_data_folder();
    let start = evidence::session_start(source, model, &session.branch(), &session.head_sha());
    evidence.record(&NewEvent { session: session.key(), kind: start.kind, payload: &start.payload, now })?;
    let recovered = pending::recover(&setup.data_folder, spawn::is_manual(setup));
    for packet in &recovered {
        start_worker(setup, Some(packet));
    }
    if !recovered.is_empty() {
        setup.count("handoff_recovered", Some(session.key()), json!({ "count": recovered.len() }));
    }
    let properties = json!({
        "trigger": source,
        "model": model,
        "api_key_configured": setup.api_key.is_some(),
        "is_git_repo": !session.key().identity.starts_with("local:"),
    });
    setup.count("session_start", Some(session.key()), properties);
    let quiet = setup.settings.idle_flush.unwrap_or_default().max(pending::STALE);
    if setup.settings.auto_flush && !evidence.abandoned(now - quiet)?.is_empty() {
        start_worker(setup, None);
    }
    Ok(())
}

/// The plugin options the host gave this hook.
fn options(setup: &Setup) -> Vec<(&str, &str)> {
    let options = setup.env.variables().iter().filter(|(name, value)| name.starts_with(OPTION) && !value.is_empty());
    options.map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// Before the model is called: records what was asked, if that is new, and returns what the turn was shown.
fn model_call(
    setup: &Setup,
    host: &HostSpec,
    evidence: &mut Evidence,
    session: &Session,
    event: &Event,
    now: Timestamp,
) -> Result<Option<String>, StoreError> {
    if !evidence.has_event(session.key(), "session_start")? {
        begin(setup, evidence, session, "startup", None, now)?;
        if setup.telemetry().has_work() {
            // It is sent at another start when it cannot be sent now.
            let _ = spawn::telemetry_sender(setup);
        }
    }
    let asked = match &event.transcript_path {
        Some(path) => capture::asked(host, evidence, session, path)?,
        None => None,
    };
    if let Some(prompt) = asked.as_ref().and_then(evidence::read_prompt) {
        // Looking may have taken a moment, and what is shown from now on belongs to this prompt.
        let now = Timestamp::now();
        let new = NewEvent { session: session.key(), kind: prompt.kind, payload: &prompt.payload, now };
        evidence.record_prompt(&new)?;
        let text = prompt.payload["text"].as_str().unwrap_or_default();
        recall::first_prompt(setup, host, evidence, session, text)?;
    }
    recall::shown_in_turn(setup, host, evidence, session)
}

/// Records an answer, unless that takes longer than a hook may and there will be a worker to do it.
fn answer(
    setup: &Setup,
    host: &HostSpec,
    evidence: &mut Evidence,
    session: &Session,
    event: &Event,
    turn: Turn<'_>,
    now: Timestamp,
) -> Result<Reading, StoreError> {
    let max_bytes = (setup.settings.auto_flush && session.is_named()).then_some(capture::MAX_BYTES_IN_HOOK);
    let turn = Turn { transcript: event.transcript_path.as_deref(), max_bytes, ..turn };
    capture::answer(host, evidence, session, &turn, now)
}

/// At the end of a turn: a periodic packet when one is due, else one that waits for silence.
fn hand_off_or_idle(
    setup: &Setup,
    evidence: &mut Evidence,
    session: &Session,
    event: &Event,
    now: Timestamp,
) -> Result<(), StoreError> {
    if hand_off(setup, evidence, session, event, Reason::Periodic, now)? {
        return Ok(());
    }
    let settings = &setup.settings;
    let Some(delay) = settings.idle_flush else { return Ok(()) };
    let wants_idle = settings.auto_flush
        && session.is_named()
        && crate::backend::is_ready(setup)
        && !evidence.is_in_flight(session.key())?
        && !evidence.unsent(session.key())?.is_empty();
    if wants_idle {
        pending::drop_idle(&setup.data_folder, session);
        start_packet(setup, pending::write_idle(setup, session, event, delay));
    }
    Ok(())
}

/// Prepares a packet and hands it to a worker; tells whether there was one.
fn hand_off(
    setup: &Setup,
    evidence: &mut Evidence,
    session: &Session,
    event: &Event,
    reason: Reason,
    now: Timestamp,
) -> Result<bool, StoreError> {
    if !setup.settings.auto_flush || !session.is_named() {
        return Ok(false);
    }
    let is_in_flight = evidence.is_in_flight(session.key())?;
    if is_in_flight && reason != Reason::SessionEnd {
        return Ok(false);
    }
    let wait_for_inflight = is_in_flight;
    if !wait_for_inflight && evidence.prepare(session.key(), &reason, now)?.is_none() {
        return Ok(false);
    }
    start_packet(setup, pending::write(setup, session, event, reason, wait_for_inflight));
    Ok(true)
}

/// Claims a packet file and starts a worker on it. When that fails the file waits for the next session's start.
fn start_packet(setup: &Setup, written: io::Result<PathBuf>) {
    match written {
        Ok(packet) if spawn::is_manual(setup) => drop(packet),
        Ok(packet) => match pending::claim(&packet) {
            Some(claimed) => start_worker(setup, Some(&claimed)),
            None => start_worker(setup, None),
        },
        // The events are prepared and stay in the store: the next forced packet of the session takes them along.
        Err(error) => log::append(&setup.data_folder, log::ERRORS, format!("writing a packet: {error}")),
    }
}

fn start_worker(setup: &Setup, claimed: Option<&std::path::Path>) {
    if claimed.is_none() && pending::is_at_work(&setup.data_folder) {
        return;
    }
    if let Err(error) = spawn::worker(setup, claimed) {
        if let Some(claimed) = claimed {
            pending::give_back(claimed);
        }
        log::append(&setup.data_folder, log::ERRORS, format!("starting a worker: {error}"));
    }
}

fn has_large_wal(evidence: &Evidence) -> bool {
    let wal = mem0_code_engine::db::suffixed(evidence.path(), "-wal");
    std::fs::metadata(wal).is_ok_and(|metadata| metadata.len() > LARGE_WAL_BYTES)
}
