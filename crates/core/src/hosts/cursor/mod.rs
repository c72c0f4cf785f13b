//! Cursor: hooks as child processes with JSON on stdin, each event with a payload and an answer of its own.
//!
//! [`SPEC`] is the host as data; `wire` mirrors its JSON. Its transcripts are not read: they have no tool results, no
//! times and no ids, and are written anew at will, while the hooks tell every prompt and every answer.

pub(super) mod session;
mod wire;

use std::collections::BTreeMap;

use serde_json::Value;

use self::wire::{Payload, Permission, PromptOutput, StartOutput};
use crate::event::{Agent, Event, EventKind, ToolUse, UNKNOWN_SESSION};
use crate::host::{Capabilities, Capability, ContextLimit, HookSpec, HostSpec, PayloadError};
use crate::hosts::{json, plumbing, tools};

/// Cursor as data.
pub const SPEC: HostSpec = HostSpec {
    id: "cursor",
    name: "Cursor",
    hooks: HOOKS,
    normalize,
    render,
    context_limit: ContextLimit::Utf16(10_000),
    transcript: None,
    outcomes_in_transcript: false,
    find_transcript: None,
    // Hooks of the user run in the host's own folder.
    project_variable: Some("CURSOR_PROJECT_DIR"),
    hand_on_options: Some(hand_on_options),
    capabilities: CAPABILITIES,
};

const CAPABILITIES: Capabilities = Capabilities {
    prompts: Capability::Yes,
    answers: Capability::Yes,
    failed_tools: Capability::Yes,
    interruptions: Capability::Limited("what was answered until then is kept"),
    compaction: Capability::Yes,
    session_end: Capability::Limited("not in cloud agents"),
    subagents: Capability::Limited("told apart where the host names the parent conversation"),
    context_at_prompt: Capability::Limited("undocumented; clients before 2026 may drop it"),
    context_for_subagents: Capability::No("the hook can only allow or deny"),
};

/// Sub-agents' hooks are not among them: they may only allow or deny, and what a sub-agent found is in the answer.
const HOOKS: &[HookSpec] = &[
    HookSpec { native: "sessionStart", matcher: None, timeout_s: 5 },
    HookSpec { native: "beforeSubmitPrompt", matcher: None, timeout_s: 6 },
    HookSpec { native: "postToolUse", matcher: None, timeout_s: 3 },
    HookSpec { native: "postToolUseFailure", matcher: None, timeout_s: 3 },
    HookSpec { native: "afterAgentResponse", matcher: None, timeout_s: 3 },
    HookSpec { native: "stop", matcher: None, timeout_s: 3 },
    HookSpec { native: "preCompact", matcher: None, timeout_s: 5 },
    HookSpec { native: "sessionEnd", matcher: None, timeout_s: 5 },
];

/// Tags of the blocks the host itself puts where a person's messages go.
const HOST_TAGS: &[&str] =
    &["attached_files", "system_reminder", "open_and_recently_viewed_files", "user_info", "timestamp", "hook_context"];

fn normalize(native_event: &str, payload: &[u8]) -> Result<Option<Event>, PayloadError> {
    let Some(payload) = json::payload::<Payload>(payload)? else { return Ok(None) };
    let conversation = payload.conversation_id.filled().or_else(|| payload.session_id.filled());
    let parent = payload.parent_conversation_id.filled();
    // A conversation with a parent is a sub-agent's; a hook that tells about a sub-agent names the parent twice.
    let child = match (&conversation, &parent) {
        (Some(conversation), Some(parent)) if conversation != parent => Some(conversation.clone()),
        _ => None,
    };
    let agent_type = payload.subagent_type.filled();
    let is_main = child.is_none();
    let session_id = if is_main { conversation.or(parent) } else { parent };
    let mut agent = child.map(|id| Agent { id: Some(id), kind: agent_type.clone() });

    let kind = match native_event {
        "sessionStart" if is_main => {
            EventKind::SessionStart { source: "startup".to_owned(), model: payload.model.filled() }
        }
        "beforeSubmitPrompt" => match payload.prompt {
            // In a sub-agent it is the assignment, which the model wrote.
            Value::String(text) if is_main && !text.trim().is_empty() && !plumbing::only_blocks(&text, HOST_TAGS) => {
                EventKind::Prompt { text }
            }
            Value::Null | Value::String(_) => return Ok(None),
            _ => return Err(PayloadError::Field { field: "prompt", expected: "a string" }),
        },
        "postToolUse" => {
            let response = decoded(payload.tool_output);
            let failed = has_failed(&response);
            EventKind::Tool(tools::named(
                TOOLS,
                ToolUse {
                    name: payload.tool_name.filled(),
                    input: decoded(payload.tool_input),
                    // The event itself means success; only a command's exit code says otherwise.
                    failed: Some(failed),
                    error: failed.then(|| tools::text_of(&response)),
                    response,
                    duration_ms: tools::number(payload.duration),
                    call_id: None,
                },
            ))
        }
        "postToolUseFailure" => {
            let failed = !payload.is_interrupt.is_set();
            EventKind::Tool(tools::named(
                TOOLS,
                ToolUse {
                    name: payload.tool_name.filled(),
                    input: decoded(payload.tool_input),
                    response: Value::Null,
                    // How a tool would have ended that a person stopped is not known.
                    failed: failed.then_some(true),
                    error: tools::error_text(payload.error_message),
                    duration_ms: tools::number(payload.duration),
                    call_id: None,
                },
            ))
        }
        // More than one may come in a turn.
        "afterAgentResponse" if is_main => match payload.text.filled() {
            Some(text) => EventKind::Answer { text: Some(text) },
            None => return Ok(None),
        },
        "stop" if is_main => EventKind::Answer { text: None },
        "subagentStart" => {
            agent = Some(Agent { id: payload.subagent_id.filled(), kind: agent_type });
            EventKind::SubagentStart
        }
        "subagentStop" => {
            // The host gives no id here.
            agent = Some(Agent { id: payload.subagent_id.filled(), kind: agent_type });
            EventKind::SubagentStop {
                transcript_path: payload.agent_transcript_path.filled().map(Into::into),
                message: payload.summary.filled(),
            }
        }
        "preCompact" if is_main => EventKind::Compaction,
        "sessionEnd" if is_main => EventKind::SessionEnd,
        _ => return Ok(None),
    };
    let root = payload.workspace_roots.0.unwrap_or_default().into_iter().find(|root| !root.is_empty());
    Ok(Some(Event {
        session_id: session_id.unwrap_or_else(|| UNKNOWN_SESSION.to_owned()),
        cwd: root.or_else(|| payload.cwd.filled()).map(Into::into),
        transcript_path: payload.transcript_path.filled().map(Into::into),
        agent,
        kind,
    }))
}

/// The host's tools whose arguments are kept, and what we call both.
const TOOLS: &[tools::Tool] = &[
    tools::Tool { native: "Read", name: "Read", arguments: &[("path", "file_path")] },
    tools::Tool { native: "Write", name: "Write", arguments: &[("path", "file_path"), ("contents", "content")] },
    tools::Tool { native: "Edit", name: "Edit", arguments: &[("path", "file_path")] },
    tools::Tool { native: "StrReplace", name: "Edit", arguments: &[("path", "file_path")] },
];

/// Returns what a string holds when it is JSON for an object or a list; what is no such string stays.
fn decoded(value: Value) -> Value {
    match &value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => serde_json::from_str(text).unwrap_or(value),
        _ => value,
    }
}

/// Returns whether a response tells of a command that failed.
fn has_failed(response: &Value) -> bool {
    let code = response.get("exitCode").or_else(|| response.get("exit_code")).and_then(Value::as_f64);
    code.is_some_and(|code| code != 0.0) || response.get("isError") == Some(&Value::Bool(true))
}

fn render(native_event: &str, context: &str) -> Vec<u8> {
    let is_silent = context.trim().is_empty();
    match native_event {
        "sessionStart" if !is_silent => {
            json::print(&StartOutput { env: BTreeMap::new(), additional_context: Some(context) })
        }
        "beforeSubmitPrompt" if !is_silent => json::print(&PromptOutput { goes_on: true, additional_context: context }),
        // Asked whether it may go on, the hook has to say so.
        "subagentStart" | "preToolUse" | "beforeShellExecution" | "beforeMCPExecution" | "beforeReadFile" => {
            json::print(&Permission { permission: "allow" })
        }
        _ => Vec::new(),
    }
}

fn hand_on_options(options: &[(&str, &str)]) -> Vec<u8> {
    if options.is_empty() {
        return Vec::new();
    }
    json::print(&StartOutput { env: options.iter().copied().collect(), additional_context: None })
}

#[cfg(test)]
mod tests;
