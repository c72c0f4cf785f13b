//! Kimi Code: hooks as child processes with JSON on stdin, plain text back, and a transcript the payloads do not name.
//!
//! [`SPEC`] is the host as data; `wire` mirrors its JSON, `transcript` reads its `wire.jsonl`. What a hook prints is put
//! before the model as it is, an empty object too: nothing to say is nothing printed.

pub(super) mod resume;
pub(super) mod session;
mod transcript;
mod wire;

use std::path::PathBuf;

use self::wire::{Payload, Prompt};
use crate::event::{Agent, Event, EventKind, ToolUse, UNKNOWN_SESSION};
use crate::host::{Capabilities, Capability, ContextLimit, HookSpec, HostSpec, PayloadError, Places};
use crate::hosts::{json, plumbing, tools};

/// Kimi Code as data.
pub const SPEC: HostSpec = HostSpec {
    id: "kimi",
    name: "Kimi Code",
    hooks: HOOKS,
    normalize,
    render,
    // The host has no limit of its own, and shows the text to the person as well.
    context_limit: ContextLimit::Utf16(10_000),
    transcript: Some(|_| Box::new(transcript::Wire::default())),
    outcomes_in_transcript: false,
    find_transcript: Some(find_transcript),
    project_variable: None,
    hand_on_options: None,
    capabilities: CAPABILITIES,
};

const CAPABILITIES: Capabilities = Capabilities {
    prompts: Capability::Limited("no hook fires for plugin commands and skills; the transcript has them"),
    answers: Capability::Limited("read from the session's `wire.jsonl`: hooks do not tell them"),
    failed_tools: Capability::Yes,
    interruptions: Capability::Limited("the next stop takes them from `wire.jsonl`"),
    compaction: Capability::Yes,
    session_end: Capability::Limited("only in the terminal interface, never with `-p`"),
    subagents: Capability::Limited("their tool calls carry no mark; their answers are told apart by `wire.jsonl`"),
    context_at_prompt: Capability::Limited("plain text, shown to the person too"),
    context_for_subagents: Capability::No("what the hook prints is dropped"),
};

/// `Interrupt` is not among them, since a direct registration that names an event the host does not know switches every
/// hook off: what was said until then is taken at the session's next stop or its end.
const HOOKS: &[HookSpec] = &[
    HookSpec { native: "SessionStart", matcher: None, timeout_s: 5 },
    HookSpec { native: "UserPromptSubmit", matcher: None, timeout_s: 6 },
    HookSpec { native: "PostToolUse", matcher: Some(".*"), timeout_s: 3 },
    HookSpec { native: "PostToolUseFailure", matcher: Some(".*"), timeout_s: 3 },
    HookSpec { native: "Stop", matcher: None, timeout_s: 3 },
    HookSpec { native: "PreCompact", matcher: None, timeout_s: 5 },
    HookSpec { native: "SessionEnd", matcher: None, timeout_s: 5 },
];

/// Tags of the blocks the host itself puts where a person's messages go.
const HOST_TAGS: &[&str] = &["system-reminder", "hook_result", "git-context", "notification"];

fn normalize(native_event: &str, payload: &[u8]) -> Result<Option<Event>, PayloadError> {
    let Some(payload) = json::payload::<Payload>(payload)? else { return Ok(None) };
    let mut agent = None;
    let kind = match native_event {
        "SessionStart" => EventKind::SessionStart {
            source: payload.source.filled().unwrap_or_else(|| "startup".to_owned()),
            model: payload.model.filled(),
        },
        "UserPromptSubmit" => {
            let text = match payload.prompt {
                Prompt::None => return Ok(None),
                Prompt::Text(text) => text,
                Prompt::Parts(parts) => wire::texts(parts, "\n"),
                Prompt::Other => {
                    return Err(PayloadError::Field { field: "prompt", expected: "a list of parts or a string" });
                }
            };
            if text.trim().is_empty() || plumbing::only_blocks(&text, HOST_TAGS) {
                return Ok(None);
            }
            EventKind::Prompt { text }
        }
        "PostToolUse" => EventKind::Tool(tools::named(
            TOOLS,
            ToolUse {
                name: payload.tool_name.filled(),
                input: payload.tool_input,
                response: payload.tool_output,
                // The event itself means success.
                failed: Some(false),
                call_id: payload.tool_call_id.filled(),
                ..ToolUse::default()
            },
        )),
        "PostToolUseFailure" => EventKind::Tool(tools::named(
            TOOLS,
            ToolUse {
                name: payload.tool_name.filled(),
                input: payload.tool_input,
                response: payload.tool_output,
                failed: Some(true),
                error: tools::error_text(payload.error),
                call_id: payload.tool_call_id.filled(),
                ..ToolUse::default()
            },
        )),
        // Sub-agents' stops look the same: whose it is shows in the transcript. A stop that a stop hook had called for
        // is taken at the next one, and a hook that answers its own stop can go on for ever.
        "Stop" if !payload.stop_hook_active.is_set() => EventKind::Answer { text: None },
        "Interrupt" => EventKind::Answer { text: None },
        "SubagentStart" => {
            agent = Some(Agent { id: None, kind: payload.agent_name.filled() });
            EventKind::SubagentStart
        }
        "SubagentStop" => {
            agent = Some(Agent { id: None, kind: payload.agent_name.filled() });
            EventKind::SubagentStop { transcript_path: None, message: payload.response.filled() }
        }
        "PreCompact" => EventKind::Compaction,
        "SessionEnd" => EventKind::SessionEnd,
        _ => return Ok(None),
    };
    Ok(Some(Event {
        session_id: payload.session_id.filled().unwrap_or_else(|| UNKNOWN_SESSION.to_owned()),
        cwd: payload.cwd.filled().map(Into::into),
        transcript_path: None,
        agent,
        kind,
    }))
}

/// The host's tools whose arguments are kept, and what we call both.
const TOOLS: &[tools::Tool] = &[
    tools::Tool { native: "Read", name: "Read", arguments: &[("path", "file_path")] },
    tools::Tool { native: "Write", name: "Write", arguments: &[("path", "file_path")] },
    tools::Tool { native: "Edit", name: "Edit", arguments: &[("path", "file_path")] },
    tools::Tool { native: "FetchURL", name: "WebFetch", arguments: &[] },
];

/// Names where a session's `wire.jsonl` may be: `<home>/sessions/wd_<name>_<hash>/<session>/agents/main/wire.jsonl`.
///
/// The folder between is made from a path that need not be the one hooks are told, so every one is a candidate.
fn find_transcript(places: &Places<'_>, session_id: &str) -> Vec<PathBuf> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if session_id.is_empty() || !session_id.chars().all(is_plain) {
        return Vec::new();
    }
    let named = (places.variable)("KIMI_CODE_HOME").map(PathBuf::from);
    let home = named.or_else(|| places.home.map(|home| home.join(".kimi-code")));
    let place = |home: PathBuf| home.join("sessions/*").join(session_id).join("agents/main/wire.jsonl");
    home.map(place).into_iter().collect()
}

fn render(native_event: &str, context: &str) -> Vec<u8> {
    if native_event != "UserPromptSubmit" || context.trim().is_empty() {
        return Vec::new();
    }
    context.as_bytes().to_vec()
}

#[cfg(test)]
mod tests;
