//! Answers: one function an operation, from a request that was read to a status and JSON.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;
use mem0_code_core::memory::Memory;
use mem0_code_engine::api::{ApiError, Change, ListRequest, MemoryApi, Purpose, SearchRequest};
use serde_json::{Value, json};

use super::engines::Engines;
use super::guard::{Guard, Who};
use super::routes::{Operation, Route};
use super::{mcp, openapi, requests};
use crate::setup::Setup;

/// A request that was routed.
#[derive(Debug)]
pub(super) struct Asked {
    /// What for.
    pub(super) route: &'static Route,
    /// The parameters of the path, decoded.
    pub(super) parameters: Vec<String>,
    /// The query, decoded.
    pub(super) query: Vec<(String, String)>,
    /// The body.
    pub(super) body: Vec<u8>,
    /// The header of this name.
    pub(super) idempotency_key: Option<String>,
    /// The server's address as the client sees it.
    pub(super) base: String,
    /// Who asks.
    pub(super) who: Who,
}

/// What is sent back.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// HTTP status.
    pub(super) status: u16,
    /// JSON; `None` for nothing at all.
    pub(super) body: Option<Value>,
    /// More headers.
    pub(super) headers: Vec<(&'static str, String)>,
}

impl Answer {
    fn of(body: Value) -> Self {
        Self { status: 200, body: Some(body), headers: Vec::new() }
    }

    fn message(text: impl Into<String>) -> Self {
        Self::of(json!({ "message": text.into() }))
    }
}

/// A refusal, as the SDKs read it.
#[derive(Debug)]
pub(super) struct Failure {
    /// HTTP status.
    pub(super) status: u16,
    /// What is wrong.
    pub(super) detail: String,
    /// More headers.
    pub(super) headers: Vec<(&'static str, String)>,
}

impl Failure {
    pub(super) fn new(status: u16, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), headers: Vec::new() }
    }

    /// A request that cannot be meant.
    pub(super) fn bad(detail: impl Into<String>) -> Self {
        Self::new(400, detail)
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        let status = match &error {
            ApiError::Invalid(_) => 400,
            ApiError::NotFound(_) => 404,
            // A store that is locked or full may be better in a moment.
            _ => 503,
        };
        Self::new(status, error.to_string())
    }
}

type Result<T> = std::result::Result<T, Failure>;

/// Does what is asked.
pub(super) fn answer(setup: &Setup, engines: &Engines, guard: &Guard, asked: &Asked) -> Result<Answer> {
    let id = || asked.parameters.first().map(String::as_str).unwrap_or_default();
    match asked.route.operation {
        Operation::Health => Ok(Answer::of(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))),
        Operation::Document => Ok(Answer::of(openapi::document())),
        Operation::Ping => Ok(Answer::of(json!({
            "status": "ok",
            "org_id": "local",
            "project_id": "local",
            "user_email": null,
            "user_id": asked.who.person(),
        }))),
        Operation::Add => add(engines, asked),
        Operation::Event => event(engines, asked, id()),
        Operation::Search => Ok(Answer::of(json!({ "results": search(engines, asked)? }))),
        Operation::SearchList => Ok(Answer::of(json!(search(engines, asked)?))),
        Operation::List => {
            let body = if asked.body.is_empty() { requests::Body::new() } else { requests::body(&asked.body)? };
            list(engines, asked, requests::filter(&body, &asked.who)?)
        }
        Operation::ListByQuery => list(engines, asked, requests::filter_of_query(&asked.query, &asked.who)?),
        Operation::Get => Ok(Answer::of(json!(engines.read(|engine| visible(engine, id(), &asked.who))?))),
        Operation::Update => {
            update(engines, asked, id(), &requests::body(&asked.body)?).map(|one| Answer::of(json!(one)))
        }
        Operation::Delete => delete(engines, asked, id()),
        Operation::DeleteMatching => delete_matching(engines, &requests::filter_of_query(&asked.query, &asked.who)?),
        Operation::History => history(engines, asked, id()),
        Operation::UpdateMany => update_many(engines, asked),
        Operation::DeleteMany => delete_many(engines, asked),
        Operation::Entities => entities(engines, asked),
        Operation::DeleteEntity => delete_entity(engines, asked),
        Operation::Mcp if guard.is_open() => mcp::answer(setup, asked),
        Operation::Mcp => Err(Failure::new(404, "the tools are about this machine and offered on loopback only")),
    }
}

fn add(engines: &Engines, asked: &Asked) -> Result<Answer> {
    let body = requests::body(&asked.body)?;
    let request = requests::add(&body, &asked.who, asked.idempotency_key.as_deref())?;
    let (event_id, memories) = engines.write(|engine| {
        let event_id = engine.add(&request)?;
        let memories: Vec<Memory> =
            engine.event(&event_id)?.memories.iter().filter_map(|id| engine.get(id).ok()).collect();
        Ok((event_id, memories))
    })?;
    Ok(Answer::of(json!({
        "event_id": event_id,
        "status": "SUCCEEDED",
        "message": "The messages are stored and can be found.",
        "results": added(&memories),
    })))
}

fn added(memories: &[Memory]) -> Vec<Value> {
    memories.iter().map(|memory| json!({ "id": memory.id, "memory": memory.memory, "event": "ADD" })).collect()
}

fn event(engines: &Engines, asked: &Asked, id: &str) -> Result<Answer> {
    let memories = engines.read(|engine| {
        let event = engine.event(id)?;
        Ok(event.memories.iter().filter_map(|id| visible(engine, id, &asked.who).ok()).collect::<Vec<Memory>>())
    })?;
    Ok(Answer::of(json!({ "id": id, "event_type": "ADD", "status": "SUCCEEDED", "results": added(&memories) })))
}

fn search(engines: &Engines, asked: &Asked) -> Result<Vec<Memory>> {
    let body = requests::body(&asked.body)?;
    let threshold = requests::threshold(&body)?;
    let request = SearchRequest {
        query: requests::question(&body)?,
        app_id: String::new(),
        filters: requests::filter(&body, &asked.who)?,
        top_k: requests::top_k(&body)?,
        purpose: Purpose::Search,
        now: Timestamp::now(),
        timeout: Duration::from_secs(5),
    };
    let mut found = engines.read(|engine| engine.search(&request))?;
    for memory in &mut found {
        // Clients expect something from 0 to 1; the order stays.
        memory.score = memory.score.map(|score| score.max(0.0) / (1.0 + score.max(0.0)));
    }
    found.retain(|memory| threshold.is_none_or(|least| memory.score.unwrap_or(0.0) >= least));
    Ok(found)
}

fn list(engines: &Engines, asked: &Asked, filters: Value) -> Result<Answer> {
    let (page, page_size) = requests::page(&asked.query)?;
    let found = engines.read(|engine| engine.list(&ListRequest { filters, page, page_size }))?;
    let total = found.total.unwrap_or(found.results.len());
    let link = |page: usize| {
        let rest: String = asked
            .query
            .iter()
            .filter(|(name, _)| name != "page" && name != "page_size")
            .map(|(name, value)| format!("&{}={}", encoded(name), encoded(value)))
            .collect();
        format!("{}{}?page={page}&page_size={page_size}{rest}", asked.base, asked.route.path)
    };
    let next = (page.saturating_mul(page_size) < total).then(|| link(page + 1));
    let previous = (page > 1).then(|| link(page - 1));
    Ok(Answer::of(json!({ "count": total, "next": next, "previous": previous, "results": found.results })))
}

fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// A memory, if who asks may see it. What is another person's own is not there for anybody else.
fn visible(engine: &mut impl MemoryApi, id: &str, who: &Who) -> std::result::Result<Memory, ApiError> {
    let memory = engine.get(id)?;
    let is_theirs = |person: &str| memory.user_id.as_deref().is_none_or(|owner| owner == person);
    if who.person().is_none_or(is_theirs) { Ok(memory) } else { Err(ApiError::NotFound(id.to_owned())) }
}

fn update(engines: &Engines, asked: &Asked, id: &str, body: &requests::Body) -> Result<Memory> {
    if body.get("expiration_date").is_some_and(|date| !date.is_null()) {
        return Err(Failure::bad("`expiration_date` is not supported by this server"));
    }
    let (text, metadata) = (requests::text(body)?, requests::metadata(body)?);
    if text.is_none() && metadata.is_none() {
        return Err(Failure::bad("one of `text` and `metadata` must say what to change"));
    }
    Ok(engines.write(|engine| {
        let mut memory = visible(engine, id, &asked.who)?;
        if let Some(text) = &text {
            memory = engine.update(id, text)?;
        }
        if let Some(metadata) = &metadata {
            memory = engine.set_metadata(id, metadata)?;
        }
        Ok(memory)
    })?)
}

fn delete(engines: &Engines, asked: &Asked, id: &str) -> Result<Answer> {
    let is_linked = requests::is_on(&asked.query, "delete_linked");
    engines.write(|engine| {
        visible(engine, id, &asked.who)?;
        let mut ids = if is_linked { engine.superseded(id)? } else { Vec::new() };
        ids.retain(|older| visible(engine, older, &asked.who).is_ok());
        ids.push(id.to_owned());
        engine.delete_many(&ids)
    })?;
    Ok(Answer::message("Memory deleted successfully!"))
}

fn delete_matching(engines: &Engines, filter: &Value) -> Result<Answer> {
    if !requests::names_somebody(filter) {
        return Err(Failure::bad("a deletion must name one user_id, agent_id, app_id or run_id"));
    }
    let n_deleted = engines.write(|engine| engine.delete_where(filter))?;
    let noun = if n_deleted == 1 { "memory" } else { "memories" };
    Ok(Answer::message(format!("{n_deleted} {noun} deleted successfully!")))
}

fn history(engines: &Engines, asked: &Asked, id: &str) -> Result<Answer> {
    let changes = engines.read(|engine| {
        match visible(engine, id, &asked.who) {
            // A deleted memory still has a history, without its texts.
            Err(ApiError::NotFound(_)) if asked.who.person().is_none() => {}
            seen => drop(seen?),
        }
        engine.history(id)
    })?;
    let entry = |(at, change): (usize, &Change)| {
        json!({
            "id": format!("{id}-{at}"),
            "memory_id": id,
            "event": change.event,
            "old_memory": change.old_memory,
            "new_memory": change.new_memory,
            "created_at": change.created_at,
            "updated_at": change.created_at,
        })
    };
    Ok(Answer::of(changes.iter().enumerate().map(entry).collect()))
}

fn update_many(engines: &Engines, asked: &Asked) -> Result<Answer> {
    let entries = requests::batch(&requests::body(&asked.body)?)?;
    // All are looked at before one is changed.
    for (id, body) in &entries {
        engines.read(|engine| visible(engine, id, &asked.who))?;
        if requests::text(body)?.is_none() && requests::metadata(body)?.is_none() {
            return Err(Failure::bad(format!("one of `text` and `metadata` must say what to change of {id}")));
        }
    }
    for (id, body) in &entries {
        update(engines, asked, id, body)?;
    }
    Ok(Answer::message(format!("Successfully updated {} memories", entries.len())))
}

fn delete_many(engines: &Engines, asked: &Asked) -> Result<Answer> {
    let entries = requests::batch(&requests::body(&asked.body)?)?;
    let ids: BTreeSet<&str> = entries.iter().map(|(id, _)| id.as_str()).collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    for id in &ids {
        engines.read(|engine| visible(engine, id, &asked.who))?;
    }
    let n_deleted = engines.write(|engine| engine.delete_many(&ids))?;
    Ok(Answer::message(format!("Successfully deleted {n_deleted} memories")))
}

fn entities(engines: &Engines, asked: &Asked) -> Result<Answer> {
    let found = engines.read(|engine| engine.entities(asked.who.person()))?;
    let results: Vec<Value> = found
        .iter()
        .map(|entity| {
            json!({
                "id": entity.name,
                "name": entity.name,
                "type": entity.kind,
                "total_memories": entity.memories,
                "created_at": entity.created_at,
                "updated_at": entity.updated_at,
            })
        })
        .collect();
    Ok(Answer::of(json!({ "count": results.len(), "next": null, "previous": null, "results": results })))
}

fn delete_entity(engines: &Engines, asked: &Asked) -> Result<Answer> {
    let [kind, name] = asked.parameters.as_slice() else { return Err(Failure::bad("an entity has a type and a name")) };
    if !["user", "agent", "app", "run"].contains(&kind.as_str()) {
        return Err(Failure::bad("the type must be user, agent, app or run"));
    }
    if mem0_code_core::scope::is_wildcard(name) {
        return Err(Failure::bad("the name must be one entity's"));
    }
    let filter = requests::confined(json!({ format!("{kind}_id"): name }), &asked.who);
    let exists = engines.read(|engine| {
        engine
            .list(&ListRequest { filters: filter.clone(), page: 1, page_size: 1 })
            .map(|page| !page.results.is_empty())
    })?;
    if !exists {
        return Err(Failure::new(404, format!("no {kind} of this name has memories")));
    }
    delete_matching(engines, &filter)?;
    Ok(Answer::message("Entity deleted successfully!"))
}
