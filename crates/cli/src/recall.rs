//! The first prompt: memories worth its tokens, once a session.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use mem0_code_core::context;
use mem0_code_core::host::HostSpec;
use mem0_code_core::memory::Memory;
use mem0_code_core::redact;
use mem0_code_core::scope;
use mem0_code_engine::api::{ApiError, Purpose, SearchRequest};
use mem0_code_engine::db::StoreError;
use mem0_code_engine::evidence::{Evidence, Operation, ShownMemory};
use serde_json::json;

use crate::backend;
use crate::session::Session;
use crate::setup::Setup;
use crate::telemetry;

/// The operation's name in the store.
const OPERATION: &str = "first-prompt-search";
/// Most memories a first prompt is given.
const TOP_K: usize = 5;
/// Longest query, in characters.
const MAX_QUERY_CHARS: usize = 6_000;
/// How long a server may take.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Returns the context for a session's first prompt that is long enough to search with; `None` for every later
/// one, and when nothing is relevant.
pub(crate) fn first_prompt(
    setup: &Setup,
    host: &HostSpec,
    evidence: &mut Evidence,
    session: &Session,
    prompt: &str,
) -> Result<Option<String>, StoreError> {
    if prompt.trim().chars().count() < setup.settings.min_query_chars
        || evidence.has_operation(session.key(), OPERATION)?
    {
        return Ok(None);
    }
    if !backend::is_ready(setup) {
        return Ok(None);
    }
    let started = Instant::now();
    let query = redact::bounded(prompt, MAX_QUERY_CHARS);
    let found = search(setup, session, &query);
    let error_kind = found.as_ref().err().map(telemetry::error_kind);
    let outcome = match &found {
        Ok(found) => Ok(found.len()),
        Err(error) => Err(error.to_string()),
    };
    let mut operation = Operation {
        name: OPERATION,
        duration_ms: started.elapsed().as_secs_f64() * 1_000.0,
        outcome,
        request_chars: query.chars().count(),
        response_chars: 0,
    };
    let now = Timestamp::now();
    let mut memories = found.unwrap_or_default();
    let n_matched = memories.len();
    let shown = evidence.shown_ids(session.key())?;
    memories.retain(|memory| memory.id.is_empty() || !shown.contains(&memory.id));
    let injection = context::injection(&memories, setup.settings.max_context_chars, host.context_limit);
    if let Some(injection) = &injection {
        operation.response_chars = injection.text.chars().count();
        let shown: Vec<ShownMemory> = injection.shown.iter().map(|index| shown_memory(&memories[*index])).collect();
        evidence.mark_shown(session.key(), &shown, now)?;
    }
    evidence.log_operation(session.key(), &operation, now)?;
    let properties = json!({
        "trigger": "first-prompt",
        "success": error_kind.is_none(),
        "duration_ms": operation.duration_ms,
        "matched_count": n_matched,
        "returned_count": memories.len(),
        "already_shown_count": n_matched - memories.len(),
        "top_k": TOP_K,
        "has_category": false,
        "error_kind": error_kind,
    });
    setup.count("search", Some(session.key()), properties);
    if let Some(injection) = &injection {
        let properties = json!({
            "trigger": "first-prompt",
            "memory_count": injection.shown.len(),
            "context_chars": operation.response_chars,
            "prompt_chars": prompt.chars().count(),
        });
        setup.count("context_injected", Some(session.key()), properties);
    }
    Ok(injection.map(|injection| injection.text))
}

/// Returns what the session was shown so far, for a sub-agent that starts in it.
pub(crate) fn shown_before(
    setup: &Setup,
    host: &HostSpec,
    evidence: &Evidence,
    session: &Session,
) -> Result<Option<String>, StoreError> {
    let memories: Vec<Memory> = evidence
        .shown(session.key())?
        .into_iter()
        .map(|shown| Memory { id: shown.id, memory: shown.text, ..Memory::default() })
        .collect();
    let injection = context::injection(&memories, setup.settings.max_context_chars, host.context_limit);
    Ok(injection.map(|injection| injection.text))
}

fn search(setup: &Setup, session: &Session, query: &str) -> Result<Vec<Memory>, ApiError> {
    let scope = session.scope();
    let settings = &setup.settings;
    let filters = scope::filters(&scope, &settings.user_id, settings.search_scope, None, None)
        .map_err(|error| ApiError::Invalid(error.to_string()))?;
    let request = SearchRequest {
        query: query.to_owned(),
        app_id: scope.app_id.clone(),
        filters: backend::confined(setup, &scope, filters),
        top_k: TOP_K,
        purpose: Purpose::Recall,
        now: Timestamp::now(),
        timeout: TIMEOUT,
    };
    let mut found = backend::open_for_search(setup)?.search(&request)?;
    found.retain(|memory| scope::is_of(memory, &scope));
    found.truncate(TOP_K);
    Ok(found)
}

fn shown_memory(memory: &Memory) -> ShownMemory {
    ShownMemory { id: memory.id.clone(), text: memory.memory.clone(), score: memory.score }
}
