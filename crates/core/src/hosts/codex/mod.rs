//! Codex: hooks as child processes with JSON on stdin and strict output, and rollouts as JSON lines.
//!
//! [`SPEC`] is the host as data; `wire` mirrors its JSON, `transcript` reads its rollouts, `outcome` how commands ended.

mod outcome;
pub(super) mod resume;
pub(super) mod session;
mod transcript;
mod wire;

use serde_json::Value;

use self::wire::{Output, Payload, SpecificOutput};
use crate::event::{Agent, Event, EventKind, ToolUse, UNKNOWN_SESSION};
use crate::host::{Capabilities, Capability, ContextLimit, HookSpec, HostSpec, PayloadError};
use crate::hosts::{json, plumbing, tools};

/// Codex as data.
pub const SPEC: HostSpec = HostSpec {
    id: "codex",
    name: "Codex",
    hooks: HOOKS,
    normalize,
    render,
    context_limit: ContextLimit::Bytes(10_000),
    transcript: Some(|session_id| Box::new(transcript::Rollout::new(session_id))),
    outcomes_in_transcript: true,
    find_transcript: None,
    project_variable: None,
    hand_on_options: None,
    capabilities: CAPABILITIES,
};

const CAPABILITIES: Capabilities = Capabilities {
    prompts: Capability::Yes,
    answers: Capability::Yes,
    failed_tools: Capability::Limited("commands only, read from the rollout: hooks do not report failures"),
    interruptions: Capability::Limited("the next stop takes them from the rollout"),
    compaction: Capability::Yes,
    session_end: Capability::Limited("in the terminal interface about a minute late"),
    subagents: Capability::Yes,
    context_at_prompt: Capability::Yes,
    context_for_subagents: Capability::Yes,
};

/// `Interrupt` is not among them: what was said until then is in the rollout, and the session's next stop or its end
/// takes it from there.
const HOOKS: &[HookSpec] = &[
    HookSpec { native: "SessionStart", matcher: Some("startup|resume|clear|compact|fork"), timeout_s: 3 },
    HookSpec { native: "UserPromptSubmit", matcher: None, timeout_s: 6 },
    HookSpec { native: "PostToolUse", matcher: Some("*"), timeout_s: 3 },
    HookSpec { native: "SubagentStart", matcher: None, timeout_s: 3 },
    HookSpec { native: "SubagentStop", matcher: None, timeout_s: 3 },
    HookSpec { native: "Stop", matcher: None, timeout_s: 3 },
    HookSpec { native: "PreCompact", matcher: None, timeout_s: 3 },
    // The host allows no more than 3 s here.
    HookSpec { native: "SessionEnd", matcher: None, timeout_s: 3 },
];

/// Tags of the blocks the host itself puts where a person's messages go.
const HOST_TAGS: &[&str] = &[
    "environment_context",
    "user_instructions",
    "skills_instructions",
    "subagent_notification",
    "turn_aborted",
    "hook_prompt",
    "ENVIRONMENT_CONTEXT",
    "INSTRUCTIONS",
];

fn normalize(native_event: &str, payload: &[u8]) -> Result<Option<Event>, PayloadError> {
    let Some(payload) = json::payload::<Payload>(payload)? else { return Ok(None) };
    let agent_id = payload.agent_id.clone().filled();
    let agent_type = payload.agent_type.clone().filled();
    let is_main = agent_id.is_none();
    let mut agent = agent_id.map(|id| Agent { id: Some(id), kind: agent_type.clone() });

    let kind = match native_event {
        "SessionStart" if is_main => EventKind::SessionStart {
            source: payload.source.filled().unwrap_or_else(|| "startup".to_owned()),
            model: payload.model.filled(),
        },
        "UserPromptSubmit" => match payload.prompt {
            // In a sub-agent it is the assignment, which the model wrote.
            Value::String(text) if is_main && !text.trim().is_empty() && !plumbing::only_blocks(&text, HOST_TAGS) => {
                EventKind::Prompt { text }
            }
            Value::Null | Value::String(_) => return Ok(None),
            _ => return Err(PayloadError::Field { field: "prompt", expected: "a string" }),
        },
        "PostToolUse" => {
            let failed = has_failed(&payload.tool_response);
            EventKind::Tool(ToolUse {
                name: payload.tool_name.filled(),
                input: payload.tool_input,
                failed,
                error: (failed == Some(true)).then(|| tools::text_of(&payload.tool_response)),
                response: payload.tool_response,
                duration_ms: Value::Null,
                call_id: None,
            })
        }
        // A stop that a stop hook had called for: what it added is in the rollout and is taken at the next stop or at
        // the end, and a hook that answers its own stop can go on for ever.
        "Stop" if is_main && !payload.stop_hook_active.is_set() => {
            EventKind::Answer { text: payload.last_assistant_message.filled() }
        }
        "SubagentStart" => {
            agent.get_or_insert(Agent { id: None, kind: agent_type });
            EventKind::SubagentStart
        }
        "SubagentStop" => {
            agent.get_or_insert(Agent { id: None, kind: agent_type });
            EventKind::SubagentStop {
                transcript_path: payload.agent_transcript_path.filled().map(Into::into),
                message: payload.last_assistant_message.filled(),
            }
        }
        "PreCompact" if is_main => EventKind::Compaction,
        "SessionEnd" if is_main => EventKind::SessionEnd,
        _ => return Ok(None),
    };
    // Inside a sub-agent the host names the sub-agent's rollout here, except when it stops.
    let is_own = is_main || matches!(kind, EventKind::SubagentStop { .. });
    let transcript_path = payload.transcript_path.filled().filter(|_| is_own);
    Ok(Some(Event {
        session_id: payload.session_id.filled().unwrap_or_else(|| UNKNOWN_SESSION.to_owned()),
        cwd: payload.cwd.filled().map(Into::into),
        transcript_path: transcript_path.map(Into::into),
        agent,
        kind,
    }))
}

/// Returns whether a tool failed, where its response tells: a shell's is its output alone and does not.
fn has_failed(response: &Value) -> Option<bool> {
    if let Value::String(text) = response {
        let text = text.trim_start();
        let starts_with_code = text.starts_with("Exit code: ") || text.starts_with("{\"output\":");
        return starts_with_code.then(|| outcome::of_output(text))?.map(|ended| ended.exit_code != 0);
    }
    let code = response.get("exit_code").or_else(|| response.get("metadata")?.get("exit_code")).and_then(Value::as_f64);
    let flag = |name: &str| response.get(name).and_then(Value::as_bool);
    let told =
        [code.map(|code| code != 0.0), flag("isError"), flag("is_error"), flag("success").map(|success| !success)];
    let told: Vec<bool> = told.into_iter().flatten().collect();
    (!told.is_empty()).then(|| told.contains(&true))
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
