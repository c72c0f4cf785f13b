//! What of an event is kept, and in which shape.
//!
//! This is the one door texts come through: everything that goes into the evidence store is redacted
//! here, before the first write. File contents and the values of unknown tools' arguments are never kept.
//! Shapes are those of the Mem0 plugins' evidence store (`events.payload_json`).

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::context;
use crate::event::{Agent, Event, ToolUse};
use crate::redact;
use crate::transcript::{Asked, CommandOutcome, Said, Slice};

/// Longest command kept, in characters.
pub const MAX_COMMAND_CHARS: usize = 2_000;
/// Longest result preview kept, in characters.
pub const MAX_RESULT_CHARS: usize = 2_500;
/// Longest error kept, in characters.
pub const MAX_ERROR_CHARS: usize = 2_500;
/// Longest path, pattern, query or URL kept, in characters.
pub const MAX_FIELD_CHARS: usize = 1_000;
/// Longest model, agent id or agent kind kept, in characters.
pub const MAX_NAME_CHARS: usize = 200;
/// Longest transcript path kept, in characters.
pub const MAX_PATH_CHARS: usize = 2_000;
/// Most argument names kept of a tool we know nothing about.
const MAX_KEYS: usize = 20;

/// Tools that read or change one file, by the names hosts give them.
const FILE_TOOLS: &[&str] = &["Read", "Write", "Edit", "MultiEdit", "NotebookEdit"];
/// Tools whose question is worth keeping.
const SEARCH_TOOLS: &[&str] = &["Grep", "Glob", "WebSearch", "WebFetch"];
/// What is kept of a command's structured result.
const RESULT_KEYS: &[&str] = &["stdout", "stderr", "output", "content", "error", "filePath", "success", "interrupted"];

/// A row of the evidence store's `events` table.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEvent {
    /// Row id; order of arrival.
    pub id: i64,
    /// ISO 8601 UTC with offset.
    pub created_at: String,
    /// Kind, such as `user_prompt`; unknown kinds are carried along and ignored.
    pub kind: String,
    /// The payload, redacted.
    pub payload: Value,
}

/// What is written for an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The row's kind.
    pub kind: &'static str,
    /// The row's payload.
    pub payload: Value,
}

/// Returns what is kept of a session's start.
pub fn session_start(source: &str, model: Option<&str>, branch: &str, head_sha: &str) -> Record {
    let payload = json!({
        "source": redact::bounded(source, MAX_NAME_CHARS),
        "model": redact::bounded(model.unwrap_or(""), MAX_NAME_CHARS),
        "branch": redact::text(branch),
        "head_sha": head_sha,
    });
    Record { kind: "session_start", payload }
}

/// Returns what is kept of a prompt, or `None` when nothing of it is the person's.
pub fn prompt(text: &str) -> Option<Record> {
    let text = spoken(text);
    (!text.trim().is_empty()).then(|| Record { kind: "user_prompt", payload: json!({ "text": text }) })
}

/// Returns what is kept of a prompt that was read from a transcript, or `None` when nothing of it is the person's.
pub fn read_prompt(asked: &Asked) -> Option<Record> {
    let mut record = prompt(&asked.text)?;
    record.payload["transcript_row"] = asked.row.clone().into();
    Some(record)
}

/// Returns what is kept of an answer the host sent without a transcript, or `None` when it is empty.
pub fn answer(text: &str) -> Option<Record> {
    let text = spoken(text);
    (!text.trim().is_empty()).then(|| Record { kind: "assistant_stop", payload: json!({ "text": text }) })
}

/// Returns what is kept of a completed turn whose messages the host told, or `None` when nothing was said.
pub fn turn<'a>(said: impl Iterator<Item = &'a Said>) -> Option<Record> {
    let messages: Vec<Said> = said
        .map(|said| Said { role: said.role.clone(), content: spoken(&said.content).into_owned() })
        .filter(|said| !said.content.trim().is_empty())
        .collect();
    let text = messages.iter().rev().find(|said| said.role == "assistant").map(|said| said.content.clone());
    let payload = json!({ "text": text.unwrap_or_default(), "transcript_messages": messages });
    (!messages.is_empty()).then_some(Record { kind: "assistant_stop", payload })
}

/// Returns what is kept of an answer together with what a transcript tells about the turn, or `None` when
/// it tells nothing new. A transcript may lag behind its hook: an answer stored last time (`previous`) that shows up
/// at the head of the new messages is not new.
pub fn read_answer(
    text: Option<&str>,
    slice: &Slice,
    path: &Path,
    offset: u64,
    previous: Option<&str>,
) -> Option<Record> {
    let mut messages: Vec<Said> = slice
        .messages
        .iter()
        .map(|said| Said { role: said.role.clone(), content: spoken(&said.content).into_owned() })
        .filter(|said| !said.content.trim().is_empty())
        .collect();
    let last = messages.iter().rev().find(|said| said.role == "assistant").map(|said| said.content.clone());
    let n_late = messages
        .iter()
        .take_while(|said| said.role == "assistant" && previous.is_some_and(|text| said.content.trim() == text.trim()))
        .count();
    messages.drain(..n_late);
    if messages.is_empty() {
        return None;
    }
    let payload = json!({
        "text": text.map(|text| spoken(text).into_owned()).or(last).unwrap_or_default(),
        "transcript_messages": messages,
        "transcript_leaf_uuid": slice.leaf,
        "transcript_path": redact::bounded(&path.to_string_lossy(), MAX_PATH_CHARS),
        "transcript_offset": offset,
    });
    Some(Record { kind: "assistant_stop", payload })
}

/// Returns what is kept of a tool call. `root` is the session's repository.
pub fn tool(event: &Event, call: &ToolUse, root: &Path) -> Record {
    tool_of(event.agent.as_ref(), call, root)
}

/// Returns what is kept of a command that only the transcript told of: what its hook would have told, and the call's id,
/// by which a hook that comes after all is known.
pub fn unseen_command(outcome: &CommandOutcome) -> Record {
    let is_failure = outcome.exit_code != 0;
    let call = ToolUse {
        name: Some("Bash".to_owned()),
        input: json!({ "command": outcome.command }),
        response: outcome.output.as_str().into(),
        failed: Some(is_failure),
        error: is_failure.then(|| outcome.output.clone()),
        ..ToolUse::default()
    };
    let mut record = tool_of(None, &call, Path::new(""));
    record.payload["call_id"] = outcome.call_id.as_deref().into();
    record
}

fn tool_of(agent: Option<&Agent>, call: &ToolUse, root: &Path) -> Record {
    let mut payload = Map::new();
    let name = call.name.as_deref().unwrap_or("unknown");
    payload.insert("tool".into(), redact::bounded(name, MAX_FIELD_CHARS).into());
    payload.insert("failed".into(), call.failed.map_or(Value::Null, Value::Bool));
    payload.insert("duration_ms".into(), call.duration_ms.clone());
    payload.insert("agent_role".into(), if agent.is_some() { "subagent" } else { "main" }.into());
    if let Some(Agent { id, kind }) = agent {
        for (key, value) in [("agent_id", id), ("agent_type", kind)] {
            if let Some(value) = value {
                payload.insert(key.into(), redact::bounded(value, MAX_NAME_CHARS).into());
            }
        }
    }
    let is_failure = call.failed == Some(true);
    let error = call.error.as_deref().map(|error| redact::bounded(&redact::without_blobs(error), MAX_ERROR_CHARS));
    if FILE_TOOLS.contains(&name) {
        keep_file(&mut payload, name, &call.input, root);
    } else if let Some(text) = call.input.get("command") {
        let text = redact::to_text(text);
        payload.insert("command_kind".into(), command_kind(&text).into());
        payload.insert("command".into(), command(&text).into());
        let preview = error.clone().filter(|_| is_failure).unwrap_or_else(|| result_preview(&call.response));
        payload.insert("result_preview".into(), preview.into());
    } else if SEARCH_TOOLS.contains(&name) {
        for key in ["pattern", "path", "query", "url"] {
            if let Some(value) = call.input.get(key) {
                payload.insert(key.into(), redact::bounded(&redact::to_text(value), MAX_FIELD_CHARS).into());
            }
        }
    } else {
        payload.insert("input_keys".into(), keys(&call.input));
    }
    if is_failure {
        payload.insert("error".into(), error.unwrap_or_default().into());
    }
    Record { kind: if is_failure { "tool_failure" } else { "tool_result" }, payload: Value::Object(payload) }
}

/// Returns what is kept of a sub-agent's start.
pub fn subagent_start(agent_id: &str, agent_type: &str, context_chars: usize, root: &Path) -> Record {
    let payload = json!({
        "agent_id": redact::bounded(agent_id, MAX_NAME_CHARS),
        "agent_type": redact::bounded(agent_type, MAX_NAME_CHARS),
        "context_chars": context_chars,
        "repo_root": redact::bounded(&root.to_string_lossy(), MAX_PATH_CHARS),
    });
    Record { kind: "subagent_start", payload }
}

/// Returns what is kept of a sub-agent's end.
pub fn subagent_stop(agent_id: &str, agent_type: &str, transcript: Option<&Path>, message: &str) -> Record {
    let transcript = transcript.map(|path| path.to_string_lossy()).unwrap_or_default();
    let payload = json!({
        "agent_id": redact::bounded(agent_id, MAX_NAME_CHARS),
        "agent_type": redact::bounded(agent_type, MAX_NAME_CHARS),
        "transcript_path": redact::bounded(&transcript, MAX_PATH_CHARS),
        "final_message": spoken(message),
    });
    Record { kind: "subagent_stop", payload }
}

/// Returns a command as a payload keeps it.
pub fn command(text: &str) -> String {
    redact::bounded(text, MAX_COMMAND_CHARS)
}

/// Gives a command recorded with an unknown outcome the one its transcript tells.
pub fn settle(mut payload: Value, outcome: &CommandOutcome) -> (&'static str, Value) {
    let is_failure = outcome.exit_code != 0;
    payload["failed"] = is_failure.into();
    if !is_failure {
        return ("tool_result", payload);
    }
    let output = outcome.output.trim();
    let error = if output.is_empty() {
        format!("exit status {}", outcome.exit_code)
    } else {
        format!("exit status {}\n{output}", outcome.exit_code)
    };
    let error = redact::bounded(&redact::without_blobs(&error), MAX_ERROR_CHARS);
    payload["result_preview"] = error.clone().into();
    payload["error"] = error.into();
    ("tool_failure", payload)
}

/// Sorts a command into `test`, `build` or `shell` by the words it contains.
///
/// By hand, since it runs on every tool call: compiling a pattern costs more than the rest of the record.
pub fn command_kind(command: &str) -> &'static str {
    let words: Vec<String> = command.split_whitespace().map(str::to_lowercase).collect();
    let follows = |tools: &[&str], goal: &str| {
        words.iter().enumerate().any(|(at, word)| {
            let is_script_runner = matches!(word.as_str(), "npm" | "pnpm") || (goal == "build" && word == "yarn");
            let next = |step: usize| words.get(at + step).map(String::as_str);
            tools.contains(&word.as_str())
                && (next(1) == Some(goal) || (is_script_runner && next(1) == Some("run") && next(2) == Some(goal)))
        })
    };
    let runs_tests = words.iter().any(|word| matches!(word.as_str(), "pytest" | "py.test" | "jest" | "vitest"));
    if runs_tests || follows(&["go", "cargo", "npm", "pnpm", "yarn", "mvn", "gradle", "make"], "test") {
        "test"
    } else if follows(&["npm", "pnpm", "yarn", "cargo", "go", "mvn", "gradle", "make"], "build") {
        "build"
    } else {
        "shell"
    }
}

/// What somebody said: without our own injected blocks, then redacted.
fn spoken(text: &str) -> Cow<'_, str> {
    match context::strip(text) {
        Cow::Borrowed(text) => redact::text(text),
        Cow::Owned(text) => Cow::Owned(redact::text(&text).into_owned()),
    }
}

fn keep_file(payload: &mut Map<String, Value>, name: &str, input: &Value, root: &Path) {
    let path = input.get("file_path").or_else(|| input.get("notebook_path")).and_then(Value::as_str).unwrap_or("");
    let relative = Path::new(path).strip_prefix(root).map(|path| path.to_string_lossy().replace('\\', "/"));
    payload.insert("path".into(), redact::bounded(path, MAX_FIELD_CHARS).into());
    payload.insert("repo_path".into(), redact::bounded(&relative.unwrap_or_default(), MAX_FIELD_CHARS).into());
    if name != "Read" {
        let n_chars: usize = ["content", "new_string", "new_source", "edits"]
            .iter()
            .filter_map(|key| input.get(*key))
            .map(|value| value.as_str().map_or_else(|| value.to_string().chars().count(), |text| text.chars().count()))
            .sum();
        payload.insert("mutation_chars".into(), n_chars.into());
    }
}

fn result_preview(response: &Value) -> String {
    let text = match response {
        Value::Null => String::new(),
        Value::Object(fields) => {
            let kept: Map<String, Value> = RESULT_KEYS
                .iter()
                .filter_map(|key| fields.get(*key).map(|value| ((*key).to_owned(), without_blobs(value))))
                .collect();
            if kept.is_empty() { keys(response).to_string() } else { redact::to_text(&Value::Object(kept)) }
        }
        other => redact::to_text(&without_blobs(other)),
    };
    redact::bounded(&text, MAX_RESULT_CHARS)
}

fn without_blobs(value: &Value) -> Value {
    match value {
        Value::String(text) => redact::without_blobs(text).into_owned().into(),
        Value::Array(items) => items.iter().map(without_blobs).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), without_blobs(value))).collect(),
        other => other.clone(),
    }
}

fn keys(value: &Value) -> Value {
    let mut names: Vec<&str> =
        value.as_object().map(|fields| fields.keys().map(String::as_str).collect()).unwrap_or_default();
    names.sort_unstable();
    names.truncate(MAX_KEYS);
    names.into_iter().map(|name| redact::bounded(name, MAX_NAME_CHARS)).collect()
}
