//! The Mem0 Platform, or any server with its API, as a place for memories.
//!
//! Requests and limits are those of the Mem0 plugins 0.3.x. The plumbing is in [`http`]; what to send and
//! when to try again later is decided by the worker.

pub mod http;
#[cfg(test)]
pub(crate) mod stub;

use std::fmt;
use std::time::{Duration, Instant};

use mem0_code_core::memory::{Detail, Memory, Message, Role};
use serde_json::{Map, Value, json};

use self::http::{Http, HttpError, Method, Reply};
use crate::api::{
    Account, AddEvent, AddRequest, ApiError, Change, EventStatus, ListRequest, MemoryApi, Page, SearchRequest,
};

/// The value of `source` and `X-Mem0-Source`, by which the Platform tells plugins from other clients.
const SOURCE: &str = "MEM0_PLUGIN";
/// Time for a store, list, get, update, delete or history request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);
/// Time for the account request.
const PING_TIMEOUT: Duration = Duration::from_secs(5);
/// Most time for one look at an event.
const MAX_EVENT_TIMEOUT: Duration = Duration::from_secs(10);
/// How much longer than the poll interval one look at an event may take.
const EVENT_TIMEOUT_SLACK: Duration = Duration::from_secs(5);
/// How long a search waits before its one repetition.
const SEARCH_RETRY_PAUSE: Duration = Duration::from_millis(250);

/// Where the Platform is and who we are.
#[derive(Clone)]
pub struct PlatformConfig<'a> {
    /// Address of the server, without the paths of the API. Trailing slashes are cut.
    pub url: String,
    /// The API key. Must not be empty.
    pub api_key: String,
    /// The host's id, sent as `X-Application`; `None` sends none.
    pub application: Option<String>,
    /// Version of this program, sent in `X-Mem0-Client`.
    pub version: &'a str,
    /// How often the caller looks at an event, which bounds how long one look may take.
    pub poll: Duration,
}

impl fmt::Debug for PlatformConfig<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlatformConfig")
            .field("url", &self.url)
            .field("api_key", &"[REDACTED]")
            .field("application", &self.application)
            .field("version", &self.version)
            .field("poll", &self.poll)
            .finish()
    }
}

/// A client of the Platform. See the module's documentation.
#[derive(Debug)]
pub struct Platform {
    http: Http,
    event_timeout: Duration,
}

impl Platform {
    /// Prepares a client. Nothing is resolved, connected or read from disk before the first request.
    ///
    /// # Errors
    /// [`ApiError::Invalid`] without a key, or when the address or the key cannot be used.
    pub fn open(config: PlatformConfig<'_>) -> Result<Self, ApiError> {
        let key = config.api_key.trim();
        if key.is_empty() {
            return Err(ApiError::Invalid("no API key is configured for the memory server".to_owned()));
        }
        let mut headers = vec![
            ("authorization", format!("Token {key}")),
            ("x-mem0-source", SOURCE.to_owned()),
            ("x-mem0-client", format!("mem0-plugin/{}", config.version)),
        ];
        if let Some(application) = config.application.filter(|application| !application.is_empty()) {
            headers.push(("x-application", application));
        }
        let http = Http::new(&config.url, &format!("mem0-code/{}", config.version), headers)
            .map_err(|error| ApiError::Invalid(error.to_string()))?;
        let event_timeout = MAX_EVENT_TIMEOUT.min(config.poll.saturating_add(EVENT_TIMEOUT_SLACK));
        Ok(Self { http, event_timeout })
    }

    fn ask(&self, method: Method, path: &str, body: Option<&Value>, timeout: Duration) -> Result<Value, ApiError> {
        accept(&self.http.send(method, path, body, timeout).map_err(unreachable)?)
    }

    /// Asks something of one memory, whose absence is an error of its own.
    fn ask_memory(&self, method: Method, id: &str, suffix: &str, body: Option<&Value>) -> Result<Value, ApiError> {
        let path = format!("/v1/memories/{}/{suffix}", segment(id)?);
        let reply = self.http.send(method, &path, body, REQUEST_TIMEOUT).map_err(unreachable)?;
        if reply.status == 404 { Err(ApiError::NotFound(id.to_owned())) } else { accept(&reply) }
    }
}

impl MemoryApi for Platform {
    fn detail(&self) -> Detail {
        Detail::Conversation
    }

    /// Returns the event's id, or an empty string when the server accepted the request and named none.
    fn add(&mut self, request: &AddRequest) -> Result<String, ApiError> {
        let body = add_body(request)?;
        let key = request.idempotency_key.as_deref().filter(|key| key.bytes().all(|byte| byte.is_ascii_graphic()));
        let headers: Vec<(&'static str, &str)> = key.map(|key| ("idempotency-key", key)).into_iter().collect();
        let reply = self
            .http
            .exchange(Method::Post, "/v3/memories/add/", Some(&body), &headers, REQUEST_TIMEOUT)
            .map_err(unreachable)?;
        let answer = accept(&reply)?;
        let first = answer.as_array().and_then(|items| items.first()).unwrap_or(&answer);
        Ok(first.get("event_id").and_then(identifier).unwrap_or_default())
    }

    fn event(&mut self, id: &str) -> Result<AddEvent, ApiError> {
        let path = format!("/v1/event/{}/", segment(id)?);
        let answer = self.ask(Method::Get, &path, None, self.event_timeout)?;
        let status = answer.get("status").and_then(Value::as_str).unwrap_or_default().to_ascii_uppercase();
        let status = match status.as_str() {
            "SUCCEEDED" => EventStatus::Succeeded,
            "FAILED" => EventStatus::Failed,
            _ => EventStatus::Pending,
        };
        let results = answer.get("results").and_then(Value::as_array).map_or(0, Vec::len);
        Ok(AddEvent { status, results })
    }

    /// Repeats the request once after 250 ms when there was no connection, never after an answer, and only
    /// within `request.timeout` as a whole.
    fn search(&mut self, request: &SearchRequest) -> Result<Vec<Memory>, ApiError> {
        if request.query.trim().is_empty() {
            return Err(ApiError::Invalid("the query is empty".to_owned()));
        }
        let body = json!({
            "query": request.query,
            "app_id": request.app_id,
            "filters": request.filters,
            "top_k": request.top_k,
            "rerank": false,
            "latest_only": true,
        });
        let started = Instant::now();
        let post = |timeout| self.http.send(Method::Post, "/v3/memories/search/", Some(&body), timeout);
        let reply = match post(request.timeout) {
            Err(HttpError::Connection(reason)) => {
                let rest = request.timeout.saturating_sub(started.elapsed());
                if rest <= SEARCH_RETRY_PAUSE {
                    return Err(ApiError::Unreachable(reason));
                }
                std::thread::sleep(SEARCH_RETRY_PAUSE);
                post(rest - SEARCH_RETRY_PAUSE)
            }
            other => other,
        };
        let answer = accept(&reply.map_err(unreachable)?)?;
        let mut memories: Vec<Memory> =
            items(&answer)?.iter().filter(|item| !is_raw_episode(item)).filter_map(memory).collect();
        memories.truncate(request.top_k);
        Ok(memories)
    }

    /// Leaves nothing out but what is not an object, so that a page shorter than asked for is the last one.
    fn list(&mut self, request: &ListRequest) -> Result<Page, ApiError> {
        let path = format!("/v2/memories/?page={}&page_size={}", request.page, request.page_size);
        let body = json!({ "filters": request.filters });
        let answer = self.ask(Method::Post, &path, Some(&body), REQUEST_TIMEOUT)?;
        let total = answer.get("count").and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
        Ok(Page { results: items(&answer)?.iter().filter_map(memory).collect(), total })
    }

    fn get(&mut self, id: &str) -> Result<Memory, ApiError> {
        let answer = self.ask_memory(Method::Get, id, "", None)?;
        memory(&answer).ok_or_else(|| ApiError::Protocol("a memory that is not an object".to_owned()))
    }

    fn update(&mut self, id: &str, text: &str) -> Result<Memory, ApiError> {
        let answer = self.ask_memory(Method::Put, id, "", Some(&json!({ "text": text })))?;
        let mut updated = memory(&answer).unwrap_or_default();
        // Some servers answer with a sentence instead of the memory.
        if updated.id.is_empty() {
            id.clone_into(&mut updated.id);
        }
        if updated.memory.is_empty() {
            text.clone_into(&mut updated.memory);
        }
        Ok(updated)
    }

    fn delete(&mut self, id: &str) -> Result<(), ApiError> {
        self.ask_memory(Method::Delete, id, "", None).map(|_| ())
    }

    fn history(&mut self, id: &str) -> Result<Vec<Change>, ApiError> {
        let answer = self.ask_memory(Method::Get, id, "history/", None)?;
        Ok(items(&answer)?.iter().filter_map(change).collect())
    }

    fn ping(&mut self) -> Result<Account, ApiError> {
        let answer = self.ask(Method::Get, "/v1/ping/", None, PING_TIMEOUT)?;
        Ok(Account { email: text(&answer, "user_email") })
    }
}

/// Returns the body of an add request. Absent things are left out, never sent as null or empty.
fn add_body(request: &AddRequest) -> Result<Value, ApiError> {
    let entities = &request.entities;
    let named = [
        ("agent_id", entities.agent_id.as_str()),
        ("user_id", entities.user_id.as_str()),
        ("app_id", entities.app_id.as_str()),
        ("run_id", entities.run_id.as_deref().unwrap_or_default()),
    ];
    let mut body = Map::new();
    for (name, id) in named {
        // An asterisk means "anyone" to the Platform.
        if !id.is_empty() && id.chars().all(|c| c == '*') {
            return Err(ApiError::Invalid(format!("`{name}` is a wildcard")));
        }
        if !id.is_empty() {
            body.insert(name.to_owned(), json!(id));
        }
    }
    if !body.contains_key("agent_id") && !body.contains_key("user_id") {
        return Err(ApiError::Invalid("a memory needs a user or a namespace".to_owned()));
    }
    // Tool calls are for places that keep turns.
    let messages: Vec<&Message> = request.messages.iter().filter(|message| message.role != Role::Tool).collect();
    if messages.is_empty() {
        return Err(ApiError::Invalid("there is no message to store".to_owned()));
    }
    body.insert("source".to_owned(), json!(SOURCE));
    body.insert("infer".to_owned(), json!(request.infer));
    body.insert("messages".to_owned(), json!(messages));
    body.insert("metadata".to_owned(), Value::Object(request.metadata.clone()));
    if let Some(categories) = &request.categories {
        body.insert("custom_categories".to_owned(), categories.clone());
    }
    if let Some(instructions) = &request.agent_instructions {
        body.insert("agent_custom_instructions".to_owned(), json!(instructions));
    }
    if let Some(instructions) = &request.instructions {
        body.insert("custom_instructions".to_owned(), json!(instructions));
    }
    Ok(Value::Object(body))
}

fn accept(reply: &Reply) -> Result<Value, ApiError> {
    let status = reply.status;
    match status {
        200..300 if reply.body.iter().all(u8::is_ascii_whitespace) => Ok(Value::Null),
        200..300 => serde_json::from_slice(&reply.body)
            .map_err(|error| ApiError::Protocol(format!("not JSON ({error}): {}", reply.detail()))),
        401 | 403 => Err(ApiError::Unauthorized { status, detail: reply.detail() }),
        402 | 408 | 429 | 500.. => Err(ApiError::Unavailable { status, detail: reply.detail() }),
        _ => Err(ApiError::Rejected { status, detail: reply.detail() }),
    }
}

fn unreachable(error: HttpError) -> ApiError {
    match error {
        HttpError::Connection(_) | HttpError::Timeout(_) => ApiError::Unreachable(error.to_string()),
        HttpError::Answer(reason) => ApiError::Protocol(reason),
    }
}

/// Returns the items of an answer that is a list, or an object with `results`.
fn items(answer: &Value) -> Result<&[Value], ApiError> {
    let list = if answer.is_array() { Some(answer) } else { answer.get("results") };
    list.and_then(Value::as_array)
        .map(Vec::as_slice)
        .ok_or_else(|| ApiError::Protocol("neither a list nor an object with `results`".to_owned()))
}

/// Tells whether an item is a raw record that the Platform keeps for itself.
fn is_raw_episode(item: &Value) -> bool {
    item.pointer("/metadata/record_kind").and_then(Value::as_str) == Some("task_episode")
}

/// Reads a memory field by field: one of an unexpected type is absent, and costs no other.
fn memory(item: &Value) -> Option<Memory> {
    let fields = item.as_object()?;
    Some(Memory {
        id: fields.get("id").and_then(identifier).unwrap_or_default(),
        memory: text(item, "memory").or_else(|| text(item, "text")).unwrap_or_default(),
        user_id: text(item, "user_id"),
        agent_id: text(item, "agent_id"),
        app_id: text(item, "app_id"),
        run_id: text(item, "run_id"),
        categories: fields
            .get("categories")
            .and_then(Value::as_array)
            .map(|list| list.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
        metadata: fields.get("metadata").and_then(Value::as_object).cloned(),
        created_at: text(item, "created_at"),
        updated_at: text(item, "updated_at"),
        score: fields.get("score").and_then(Value::as_f64),
    })
}

fn change(item: &Value) -> Option<Change> {
    item.as_object()?;
    Some(Change {
        event: text(item, "event").unwrap_or_default(),
        old_memory: text(item, "old_memory"),
        new_memory: text(item, "new_memory"),
        created_at: text(item, "created_at").unwrap_or_default(),
    })
}

fn text(item: &Value, name: &str) -> Option<String> {
    item.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn identifier(value: &Value) -> Option<String> {
    match value {
        Value::String(id) if !id.is_empty() => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Returns an id as one segment of a path, whatever is in it.
fn segment(id: &str) -> Result<String, ApiError> {
    if id.is_empty() || id == "." || id == ".." {
        return Err(ApiError::Invalid(format!("`{id}` is not an id")));
    }
    let mut out = String::with_capacity(id.len());
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
