//! Claude Code: hooks as child processes with JSON on stdin, and a transcript that is a tree of JSON lines.
//!
//! [`SPEC`] is the host as data; `wire` mirrors its JSON, `transcript` reads its transcripts.

pub(super) mod resume;
pub(super) mod session;
mod transcript;
mod wire;

use serde_json::Value;

use self::wire::{Output, Payload, SpecificOutput};
use crate::event::{Agent, Event, EventKind, ToolUse, UNKNOWN_SESSION};
use crate::host::{Capabilities, Capability, ContextLimit, HookSpec, HostSpec, PayloadError};
use crate::hosts::{json, plumbing, tools};

/// Claude Code as data.
pub const SPEC: HostSpec = HostSpec {
    id: "claude-code",
    name: "Claude Code",
    hooks: HOOKS,
    normalize,
    render,
    context_limit: ContextLimit::Utf16(10_000),
    transcript: Some(|session_id| Box::new(transcript::Transcript::new(session_id))),
    outcomes_in_transcript: false,
    find_transcript: None,
    project_variable: None,
    hand_on_options: None,
    capabilities: CAPABILITIES,
};

const CAPABILITIES: Capabilities = Capabilities {
    prompts: Capability::Yes,
    answers: Capability::Yes,
    failed_tools: Capability::Yes,
    interruptions: Capability::Limited("no hook fires; the next stop takes them from the transcript"),
    compaction: Capability::Yes,
    session_end: Capability::Limited("the host stops the hook after about 1.4 s"),
    subagents: Capability::Yes,
    context_at_prompt: Capability::Yes,
    context_for_subagents: Capability::Yes,
};

const HOOKS: &[HookSpec] = &[
    HookSpec { native: "SessionStart", matcher: Some("startup|resume|clear|compact|fork"), timeout_s: 5 },
    HookSpec { native: "UserPromptSubmit", matcher: None, timeout_s: 6 },
    HookSpec { native: "PostToolUse", matcher: Some("*"), timeout_s: 3 },
    HookSpec { native: "PostToolUseFailure", matcher: Some("*"), timeout_s: 3 },
    HookSpec { native: "SubagentStart", matcher: None, timeout_s: 5 },
    HookSpec { native: "SubagentStop", matcher: None, timeout_s: 5 },
    HookSpec { native: "Stop", matcher: None, timeout_s: 3 },
    HookSpec { native: "PreCompact", matcher: None, timeout_s: 5 },
    // The host stops a plugin's SessionEnd hook after about 1.4 s whatever is written here.
    HookSpec { native: "SessionEnd", matcher: None, timeout_s: 5 },
];

/// Tags of the blocks the host itself puts where prompts go.
const HOST_TAGS: &[&str] = &["local-command-*", "command-*", "system-reminder", "task-notification", "bash-*"];

/// Begins the prompt the host submits when a background agent is done.
const TASK_NOTIFICATION: &str = "<task-notification>";

fn normalize(native_event: &str, payload: &[u8]) -> Result<Option<Event>, PayloadError> {
    let Some(payload) = json::payload::<Payload>(payload)? else { return Ok(None) };
    // Cursor runs the hooks it finds in Claude Code's settings as well; its own adapter reports those sessions.
    if !payload.cursor_version.is_null() || !payload.conversation_id.is_null() {
        return Ok(None);
    }
    let agent_id = payload.agent_id.clone().filled();
    let agent_type = payload.agent_type.clone().filled();
    let is_main = agent_id.is_none();
    // A main session started as an agent has a type and no id.
    let mut agent = agent_id.map(|id| Agent { id: Some(id), kind: agent_type.clone() });

    let kind = match native_event {
        "SessionStart" if is_main => EventKind::SessionStart {
            source: payload.source.filled().unwrap_or_else(|| "startup".to_owned()),
            model: payload.model.filled(),
        },
        "UserPromptSubmit" => match payload.prompt {
            // In a sub-agent it is the assignment, which the model wrote.
            Value::String(text) if is_main && !text.trim().is_empty() && !is_host_made(&text) => {
                EventKind::Prompt { text }
            }
            Value::Null | Value::String(_) => return Ok(None),
            _ => return Err(PayloadError::Field { field: "prompt", expected: "a string" }),
        },
        "PostToolUse" => EventKind::Tool(ToolUse {
            name: payload.tool_name.filled(),
            // The event itself means success; only a command that was cut off is neither.
            failed: (payload.tool_response.get("interrupted") != Some(&Value::Bool(true))).then_some(false),
            input: payload.tool_input,
            response: payload.tool_response,
            error: None,
            duration_ms: tools::number(payload.duration_ms),
            call_id: None,
        }),
        "PostToolUseFailure" => EventKind::Tool(ToolUse {
            name: payload.tool_name.filled(),
            failed: Some(true),
            input: payload.tool_input,
            response: payload.tool_response,
            error: tools::error_text(payload.error),
            duration_ms: tools::number(payload.duration_ms),
            call_id: None,
        }),
        // A stop that a stop hook had called for: what it added is in the transcript and is taken at the next stop
        // or at the end, and a hook that answers its own stop can go on for ever.
        "Stop" if is_main && !payload.stop_hook_active.is_set() => {
            EventKind::Answer { text: payload.last_assistant_message.filled() }
        }
        "SubagentStart" => {
            agent.get_or_insert(Agent { id: None, kind: agent_type });
            EventKind::SubagentStart
        }
        // Compaction runs agents of its own that stop without ever having started; their type is empty and their
        // transcript does not exist.
        "SubagentStop" if payload.agent_type.get().is_none_or(|kind| !kind.is_empty()) => {
            agent.get_or_insert(Agent { id: None, kind: agent_type });
            EventKind::SubagentStop {
                transcript_path: payload.agent_transcript_path.filled().map(Into::into),
                message: payload.last_assistant_message.filled(),
            }
        }
        "PreCompact" if is_main => EventKind::Compaction,
        "SessionEnd" => EventKind::SessionEnd,
        _ => return Ok(None),
    };
    Ok(Some(Event {
        session_id: payload.session_id.filled().unwrap_or_else(|| UNKNOWN_SESSION.to_owned()),
        cwd: payload.cwd.filled().map(Into::into),
        transcript_path: payload.transcript_path.filled().map(Into::into),
        agent,
        kind,
    }))
}

/// Returns whether a whole prompt is the host's own doing.
fn is_host_made(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(TASK_NOTIFICATION) || is_interruption(text) || plumbing::only_blocks(text, HOST_TAGS)
}

/// Returns whether a text is the host's note that the person interrupted.
fn is_interruption(text: &str) -> bool {
    let rest = text.trim().strip_prefix("[Request interrupted by user");
    rest.is_some_and(|rest| rest.find(']') == rest.len().checked_sub(1))
}

fn render(native_event: &str, context: &str) -> Vec<u8> {
    let takes_context = matches!(native_event, "SessionStart" | "UserPromptSubmit" | "SubagentStart");
    if !takes_context || context.trim().is_empty() {
        return Vec::new();
    }
    let specific = SpecificOutput { hook_event_name: native_event, additional_context: context };
    json::print(&Output { hook_specific_output: specific })
}

#[cfg(test)]
mod tests;
