//! Antigravity: hooks as child processes with JSON on stdin that does not name the event, and strict answers.
//!
//! [`SPEC`] is the host as data; `wire` mirrors its JSON, `transcript` reads its steps. The one hook that gives context
//! runs before every call of the model, and what it gives lasts for that call.

pub(super) mod session;
mod transcript;
mod wire;

use serde_json::Value;

use self::wire::{DecisionOutput, InjectOutput, InjectStep, Payload};
use crate::event::{Event, EventKind, ToolUse, UNKNOWN_SESSION};
use crate::host::{Capabilities, Capability, ContextLimit, HookSpec, HostSpec, PayloadError};
use crate::hosts::{json, tools};

/// Antigravity as data.
pub const SPEC: HostSpec = HostSpec {
    id: "antigravity",
    name: "Antigravity",
    hooks: HOOKS,
    normalize,
    render,
    context_limit: ContextLimit::Utf16(10_000),
    transcript: Some(|_| Box::new(transcript::Steps::default())),
    outcomes_in_transcript: true,
    find_transcript: None,
    project_variable: None,
    hand_on_options: None,
    capabilities: CAPABILITIES,
};

const CAPABILITIES: Capabilities = Capabilities {
    prompts: Capability::Limited("read from the transcript before the model is called"),
    answers: Capability::Limited("read from the transcript at each stop"),
    failed_tools: Capability::Limited("how a command ended is read from the transcript; 1.1.27 has no tool hooks"),
    interruptions: Capability::Yes,
    compaction: Capability::No("there is no hook"),
    session_end: Capability::Limited("a stop ends a turn only; the session is sent when it falls silent"),
    subagents: Capability::No("nothing marks them"),
    context_at_prompt: Capability::Limited("lasts for one call of the model and is given again at each of the turn"),
    context_for_subagents: Capability::No("there is no hook"),
};

/// `PreToolUse` must never be among them: it denies the tool whenever the answer is missing. Other events came and went
/// between releases.
const HOOKS: &[HookSpec] = &[
    HookSpec { native: "PreInvocation", matcher: None, timeout_s: 5 },
    HookSpec { native: "PostToolUse", matcher: Some("*"), timeout_s: 3 },
    HookSpec { native: "Stop", matcher: None, timeout_s: 5 },
];

fn normalize(native_event: &str, payload: &[u8]) -> Result<Option<Event>, PayloadError> {
    let Some(payload) = json::payload::<Payload>(payload)? else { return Ok(None) };
    // A chat without a folder belongs to no project.
    let Some(cwd) = payload.workspace_paths.0.unwrap_or_default().into_iter().find(|path| !path.is_empty()) else {
        return Ok(None);
    };
    let kind = match native_event {
        "PreInvocation" => EventKind::ModelCall,
        "PostToolUse" => {
            let error = tools::error_text(payload.error);
            let call = payload.tool_call.0.unwrap_or_default();
            let input = call.args.0.map_or(Value::Null, |arguments| Value::Object(arguments.0));
            // A command that fails is no error to the host: how it ended is in the transcript.
            let is_command = input.get("CommandLine").is_some();
            EventKind::Tool(tools::named(
                TOOLS,
                ToolUse {
                    name: call.name.filled(),
                    input,
                    response: Value::Null,
                    failed: if error.is_some() { Some(true) } else { (!is_command).then_some(false) },
                    error,
                    duration_ms: Value::Null,
                    call_id: None,
                },
            ))
        }
        "Stop" => EventKind::Answer { text: payload.final_model_output.filled() },
        "SessionStart" => EventKind::SessionStart { source: "startup".to_owned(), model: payload.model_name.filled() },
        "SessionEnd" => EventKind::SessionEnd,
        _ => return Ok(None),
    };
    Ok(Some(Event {
        session_id: payload.conversation_id.filled().unwrap_or_else(|| UNKNOWN_SESSION.to_owned()),
        cwd: Some(cwd.into()),
        transcript_path: payload.transcript_path.filled().map(Into::into),
        agent: None,
        kind,
    }))
}

/// The host's tools whose arguments are kept, and what we call both.
const TOOLS: &[tools::Tool] = &[
    tools::Tool { native: "run_command", name: "run_command", arguments: &[("CommandLine", "command")] },
    tools::Tool { native: "view_file", name: "Read", arguments: &[("AbsolutePath", "file_path")] },
    tools::Tool {
        native: "write_to_file",
        name: "Write",
        arguments: &[("TargetFile", "file_path"), ("CodeContent", "content")],
    },
    tools::Tool {
        native: "replace_file_content",
        name: "Edit",
        arguments: &[("TargetFile", "file_path"), ("ReplacementContent", "new_string")],
    },
    tools::Tool {
        native: "multi_replace_file_content",
        name: "MultiEdit",
        arguments: &[("TargetFile", "file_path"), ("ReplacementChunks", "edits")],
    },
    tools::Tool { native: "grep_search", name: "Grep", arguments: &[("Query", "pattern"), ("SearchPath", "path")] },
    tools::Tool {
        native: "find_by_name",
        name: "Glob",
        arguments: &[("Pattern", "pattern"), ("SearchDirectory", "path")],
    },
    tools::Tool { native: "search_web", name: "WebSearch", arguments: &[] },
    tools::Tool { native: "read_url_content", name: "WebFetch", arguments: &[("Url", "url")] },
];

fn render(native_event: &str, context: &str) -> Vec<u8> {
    match native_event {
        "PreToolUse" => json::print(&DecisionOutput { decision: "allow" }),
        "PreInvocation" if !context.trim().is_empty() => {
            json::print(&InjectOutput { inject_steps: [InjectStep { ephemeral_message: context }] })
        }
        _ => b"{}".to_vec(),
    }
}

#[cfg(test)]
mod tests;
