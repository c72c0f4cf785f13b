//! Delivering a session's packets to the place memories live in.
//!
//! Every step is written down before the next is taken, so that a run cut off anywhere is continued, not repeated:
//! a batch that was accepted has its receipt in the store, and only batches without one are sent.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use mem0_code_core::instructions;
use mem0_code_core::memory::{Detail, Entities, Message};
use mem0_code_core::packet::{self, Reason};
use mem0_code_core::scope::{self, Scope};
use mem0_code_engine::api::{AddRequest, ApiError, EventStatus, MemoryApi};
use mem0_code_engine::db::StoreError;
use mem0_code_engine::evidence::{Evidence, Operation, Prepared, Status};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::session::Session;
use crate::setup::Setup;
use crate::{backend, pending};

/// How long the right to deliver lasts without being renewed; above any single request's limit.
const LEASE: Duration = Duration::from_secs(60);

/// What came of a delivery; one line of JSON in the worker's log.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Outcome {
    /// A packet status, or `local-only`, `nothing-to-flush`, `busy`, `paused`.
    pub(crate) status: String,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) packet_id: Option<String>,
    /// Receipts, as stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) semantic_event_id: Option<Value>,
    /// Memories made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory_count: Option<usize>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<u64>,
    /// Whether an earlier run had begun it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resumed: Option<bool>,
}

impl Outcome {
    fn plain(status: &str) -> Self {
        Self { status: status.to_owned(), ..Self::default() }
    }

    fn error(reason: &str) -> Self {
        Self { status: "error".to_owned(), reason: Some(reason.to_owned()), ..Self::default() }
    }

    /// Tells whether the packet file has done its work.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.status.as_str(), "semantic-succeeded" | "explicitly-stored" | "nothing-to-flush")
    }
}

/// Delivers everything of a session that its reason asks for.
pub(crate) fn deliver(
    setup: &Setup,
    evidence: &mut Evidence,
    session: &Session,
    reason: &Reason,
    task: Option<&str>,
    claim: Option<&Path>,
) -> Result<Outcome, StoreError> {
    if !backend::is_ready(setup) {
        return Ok(Outcome { reason: Some("no-api-key".to_owned()), ..Outcome::plain("local-only") });
    }
    if !session.is_named() {
        return Ok(Outcome::error("no-session-id"));
    }
    let scope = session.current_scope(setup);
    let names = [&setup.settings.user_id, &scope.app_id, &scope.project_id];
    if names.iter().any(|name| name.trim().is_empty() || scope::is_wildcard(name)) {
        return Ok(Outcome::error("wildcard-scope"));
    }
    let mut api = match backend::open(setup) {
        Ok(api) => api,
        Err(error) => return Ok(Outcome::error(&error.to_string())),
    };
    let mut last = Outcome::plain("nothing-to-flush");
    let mut reason = reason.clone();
    while let Some(prepared) = evidence.prepare(session.key(), &reason, Timestamp::now())? {
        let packet_id = prepared.flush.packet_id.clone();
        let mut run = Run { setup, evidence, session, scope: &scope, api: api.as_mut(), task, claim, owner: owner() };
        last = run.packet(prepared)?;
        run.evidence.release(&packet_id, &run.owner)?;
        if last.status != Status::Succeeded.as_str() && last.status != "nothing-to-flush" {
            return Ok(last);
        }
        // The packet may have been asked for more urgently meanwhile.
        if let Some(flush) = evidence.flush(&packet_id)? {
            reason = flush.reason;
        }
        let unsent = evidence.unsent(session.key())?;
        let is_resumed_session = unsent.first().is_none_or(|event| event.kind == "session_start");
        if is_resumed_session || (reason == Reason::Periodic && mem0_code_core::checkpoint::due(&unsent).is_none()) {
            return Ok(last);
        }
    }
    Ok(last)
}

/// Names this process among those that may deliver: its id and, where the system tells, when it started, since ids
/// are used again.
fn owner() -> String {
    let id = std::process::id();
    format!("{id}:{}", started(&id.to_string()).unwrap_or_default())
}

/// Tells whether the process a lease names still exists.
fn is_alive(owner: &str) -> bool {
    let (id, start) = owner.split_once(':').unwrap_or((owner, ""));
    if Path::new("/proc/self/stat").exists() {
        return started(id).is_some_and(|found| start.is_empty() || found == start);
    }
    id.parse()
        .ok()
        .and_then(rustix::process::Pid::from_raw)
        .is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// When a process started, in the system's own ticks; `None` when there is none, or only what its parent has not yet
/// taken note of (a zombie delivers nothing).
fn started(id: &str) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name, in parentheses, may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X")).then(|| fields.nth(18).unwrap_or_default().to_owned())
}

struct Run<'a> {
    setup: &'a Setup,
    evidence: &'a mut Evidence,
    session: &'a Session,
    scope: &'a Scope,
    api: &'a mut dyn MemoryApi,
    task: Option<&'a str>,
    claim: Option<&'a Path>,
    owner: String,
}

/// Why a delivery stopped before its end.
struct Stop {
    status: Status,
    error: String,
    counts_attempt: bool,
}

impl Run<'_> {
    fn packet(&mut self, prepared: Prepared) -> Result<Outcome, StoreError> {
        let started = Instant::now();
        let packet_id = prepared.flush.packet_id.clone();
        if !self.renew(&packet_id)? {
            return Ok(Outcome { packet_id: Some(packet_id), ..Outcome::plain("busy") });
        }
        // Another worker may have finished it between our looking and our taking the lease.
        if self.evidence.flush(&packet_id)?.is_none_or(|flush| flush.status.is_final()) {
            return Ok(Outcome { packet_id: Some(packet_id), ..Outcome::plain(Status::Succeeded.as_str()) });
        }
        let messages = match self.api.detail() {
            Detail::Conversation => packet::conversation(&prepared.events, self.task),
            Detail::Turns => packet::turns(&prepared.events),
        };
        let batches = packet::batches(messages);
        let request_chars: usize = batches.iter().flatten().map(|message| message.content.chars().count()).sum();
        let mut receipts = self.receipts(&prepared, batches.len())?;
        let is_resumed = receipts.iter().any(|receipt| !receipt.is_empty());
        if batches.is_empty() {
            self.evidence.set_status(&packet_id, Status::Succeeded, None, None, false, Timestamp::now())?;
            return Ok(Outcome { packet_id: Some(packet_id), ..Outcome::plain("nothing-to-flush") });
        }
        // Row ids, and so packet ids, begin anew in a store that replaced a damaged one.
        let began_at = prepared.events.first().map_or("", |event| event.created_at.as_str());
        let delivered = match self.submit(&packet_id, began_at, batches, &mut receipts)? {
            Ok(()) => self.follow(&packet_id, &mut receipts)?,
            Err(stop) => Err(stop),
        };
        let receipts_json = json!(receipts).to_string();
        let now = Timestamp::now();
        let (status, memory_count, error) = match delivered {
            Ok(n_memories) => {
                self.evidence.set_status(&packet_id, Status::Succeeded, Some(&receipts_json), None, false, now)?;
                (Status::Succeeded, n_memories, None)
            }
            Err(stop) => {
                let error = mem0_code_core::redact::bounded(&stop.error, 1_000);
                self.evidence.set_status(
                    &packet_id,
                    stop.status,
                    Some(&receipts_json),
                    Some(&error),
                    stop.counts_attempt,
                    now,
                )?;
                (stop.status, 0, Some(error))
            }
        };
        let duration = started.elapsed();
        let operation = Operation {
            name: if is_resumed { "flush-retry" } else { "flush" },
            duration_ms: duration.as_secs_f64() * 1_000.0,
            outcome: error.clone().map_or(Ok(memory_count), Err),
            request_chars,
            response_chars: receipts_json.len(),
        };
        self.evidence.log_operation(self.session.key(), &operation, now)?;
        let properties = json!({
            "reason": prepared.flush.reason.as_str(),
            "status": status.as_str(),
            "success": status == Status::Succeeded,
            "duration_ms": operation.duration_ms,
            "memory_count": memory_count,
            "batch_count": receipts.len(),
            "request_chars": request_chars,
            "resumed": is_resumed,
            "attempts": prepared.flush.attempts,
        });
        self.setup.count("flush", Some(self.session.key()), properties);
        Ok(Outcome {
            status: status.as_str().to_owned(),
            reason: error,
            packet_id: Some(packet_id),
            semantic_event_id: Some(json!(receipts)),
            memory_count: Some(memory_count),
            duration_ms: Some(duration.as_millis() as u64),
            resumed: Some(is_resumed),
        })
    }

    /// Returns the stored receipts, one a batch. A bare id of an older release stood for the whole packet.
    fn receipts(&mut self, prepared: &Prepared, n_batches: usize) -> Result<Vec<String>, StoreError> {
        let mut receipts: Vec<String> = match prepared.flush.receipts.as_deref() {
            None | Some("") => Vec::new(),
            Some(text) => match serde_json::from_str(text) {
                Ok(receipts) => receipts,
                // Every batch shares the one id: nothing is submitted again unless following it says so.
                Err(_) => vec![text.to_owned(); n_batches],
            },
        };
        receipts.resize(n_batches, String::new());
        Ok(receipts)
    }

    /// Submits every batch that has no receipt, writing each receipt down at once.
    fn submit(
        &mut self,
        packet_id: &str,
        began_at: &str,
        batches: Vec<Vec<Message>>,
        receipts: &mut [String],
    ) -> Result<Result<(), Stop>, StoreError> {
        for (index, messages) in batches.into_iter().enumerate() {
            if !receipts[index].is_empty() {
                continue;
            }
            if !self.renew(packet_id)? {
                return Ok(Err(Stop {
                    status: Status::Error,
                    error: "another worker took the packet over".to_owned(),
                    counts_attempt: false,
                }));
            }
            let request = self.request(messages, format!("{packet_id}/{began_at}/{index}"));
            match self.api.add(&request) {
                Ok(receipt) => receipts[index] = receipt,
                Err(error) => {
                    let counts_attempt = !error.is_environmental();
                    return Ok(Err(Stop { status: Status::Error, error: error.to_string(), counts_attempt }));
                }
            }
            let stored = json!(receipts).to_string();
            self.evidence.set_status(packet_id, Status::Queued, Some(&stored), None, false, Timestamp::now())?;
        }
        Ok(Ok(()))
    }

    /// Follows the submitted batches to their end, in order; the first that does not succeed decides.
    fn follow(&mut self, packet_id: &str, receipts: &mut [String]) -> Result<Result<usize, Stop>, StoreError> {
        let mut n_memories = 0;
        for index in 0..receipts.len() {
            let receipt = receipts[index].clone();
            if receipt.is_empty() {
                return Ok(Err(Stop {
                    status: Status::Missing,
                    error: "the memory server accepted a request without an event id".to_owned(),
                    counts_attempt: true,
                }));
            }
            if index > 0 && receipts[index - 1] == receipt {
                continue;
            }
            match self.wait(packet_id, &receipt)? {
                Ok(n_results) => n_memories += n_results,
                Err(stop) => {
                    if stop.status == Status::Failed {
                        for same in receipts.iter_mut().filter(|same| **same == receipt) {
                            same.clear();
                        }
                    }
                    return Ok(Err(stop));
                }
            }
        }
        Ok(Ok(n_memories))
    }

    /// Polls one event until it ends or the wait is over.
    fn wait(&mut self, packet_id: &str, receipt: &str) -> Result<Result<usize, Stop>, StoreError> {
        let end = Instant::now() + self.setup.settings.extraction_wait;
        loop {
            if let Some(claim) = self.claim {
                pending::touch(claim);
            }
            self.renew(packet_id)?;
            match self.api.event(receipt) {
                Ok(event) if event.status == EventStatus::Succeeded => return Ok(Ok(event.results)),
                Ok(event) if event.status == EventStatus::Failed => {
                    let error = "the memory server could not extract memories".to_owned();
                    return Ok(Err(Stop { status: Status::Failed, error, counts_attempt: true }));
                }
                Ok(_) | Err(ApiError::Unavailable { .. } | ApiError::Unreachable(_)) => {}
                Err(error) => {
                    let counts_attempt = !error.is_environmental();
                    return Ok(Err(Stop { status: Status::Error, error: error.to_string(), counts_attempt }));
                }
            }
            if Instant::now() >= end {
                let error = format!("not finished after {} s", self.setup.settings.extraction_wait.as_secs());
                return Ok(Err(Stop { status: Status::TimedOut, error, counts_attempt: true }));
            }
            thread::sleep(self.setup.settings.event_poll);
        }
    }

    fn renew(&mut self, packet_id: &str) -> Result<bool, StoreError> {
        self.evidence.lease(packet_id, &self.owner, LEASE, Timestamp::now(), is_alive)
    }

    fn request(&self, messages: Vec<Message>, idempotency_key: String) -> AddRequest {
        let scope = self.scope;
        let user_id = self.setup.settings.user_id.clone();
        let mut metadata = Map::new();
        if let Some(host) = &self.setup.host {
            metadata.insert("source".into(), format!("{}_plugin", host.replace('-', "_")).into());
        }
        metadata.insert("author".into(), user_id.clone().into());
        metadata.insert("dirs".into(), json!(scope::directory_chain(&scope.directory)));
        if !matches!(scope.branch.as_str(), "" | "detached" | "unknown") {
            metadata.insert("branch".into(), scope.branch.clone().into());
        }
        if !scope.head_sha.is_empty() {
            metadata.insert("git_sha".into(), scope.head_sha.clone().into());
        }
        AddRequest {
            messages,
            entities: Entities {
                user_id,
                agent_id: scope.project_id.clone(),
                app_id: scope.app_id.clone(),
                run_id: Some(self.session.id.clone()),
            },
            metadata,
            agent_instructions: Some(instructions::AGENT.to_owned()),
            instructions: Some(instructions::PERSONAL.to_owned()),
            categories: Some(instructions::categories()),
            infer: true,
            idempotency_key: Some(idempotency_key),
            now: None,
        }
    }
}
