//! The one protocol of the hosts that load JavaScript: their packages translate what the host says into it.
//!
//! A package calls `mem0-code hook <host> <event>` with one object on stdin and reads `{"context": TEXT}` or nothing.
//! Events: `session-start`, `prompt`, `reminder`, `tool`, `turn-end`, `pre-compact`, `session-end`. Every field but
//! `session_id` may be missing. What a text is worth is decided here and in the hosts' folders, never in a package.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::json;
use super::lenient::{Maybe, objects};
use crate::event::{Event, EventKind, ToolUse, UNKNOWN_SESSION};
use crate::host::{Capabilities, Capability, ContextLimit, HookSpec, HostSpec, PayloadError};
use crate::transcript::Said;

/// The events a package can tell, in the order of a session, with the seconds it waits for an answer.
const HOOKS: &[HookSpec] = &[
    HookSpec { native: "session-start", matcher: None, timeout_s: 2 },
    HookSpec { native: "prompt", matcher: None, timeout_s: 3 },
    HookSpec { native: "reminder", matcher: None, timeout_s: 2 },
    HookSpec { native: "tool", matcher: None, timeout_s: 2 },
    HookSpec { native: "turn-end", matcher: None, timeout_s: 2 },
    HookSpec { native: "pre-compact", matcher: None, timeout_s: 2 },
    HookSpec { native: "session-end", matcher: None, timeout_s: 2 },
];

/// What a package can tell and give.
const CAPABILITIES: Capabilities = Capabilities {
    prompts: Capability::Yes,
    answers: Capability::Yes,
    failed_tools: Capability::Yes,
    interruptions: Capability::Limited("a turn that was broken off is left out"),
    compaction: Capability::Yes,
    session_end: Capability::Limited("not when the host is interrupted; the session is sent when it falls silent"),
    subagents: Capability::Limited("their sessions are left out"),
    context_at_prompt: Capability::Yes,
    context_for_subagents: Capability::No("their sessions are left out"),
};

/// What these hosts have in common; each adds its id, its name and where it differs.
pub(crate) const HOST: HostSpec = HostSpec {
    id: "",
    name: "",
    hooks: HOOKS,
    normalize: |native, payload| normalize(&PLAIN, native, payload),
    render,
    context_limit: ContextLimit::Utf16(100_000),
    transcript: None,
    outcomes_in_transcript: false,
    find_transcript: None,
    project_variable: None,
    hand_on_options: None,
    capabilities: CAPABILITIES,
};

/// How one host's texts differ from what a person and a model said.
pub(crate) struct Manners {
    /// Takes what the host itself wrote out of a text.
    pub(crate) clean: fn(&str) -> Cow<'_, str>,
    /// Tells whether a cleaned message is of no use to anybody.
    pub(crate) is_noise: fn(role: &str, text: &str) -> bool,
    /// Sorts the messages of a `turn-end` into what came before the turn and what belongs to it.
    pub(crate) split: fn(Vec<Said>) -> Told,
}

/// The messages of a `turn-end`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// What came before the turn.
    pub(crate) earlier: Vec<Said>,
    /// What was said in it.
    pub(crate) turn: Vec<Said>,
}

/// A host that adds nothing of its own to texts and tells a turn's own messages alone.
pub(crate) const PLAIN: Manners = Manners {
    clean: |text| Cow::Borrowed(text),
    is_noise: |_, _| false,
    split: |turn| Told { earlier: Vec::new(), turn },
};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Payload {
    session_id: Maybe<String>,
    cwd: Maybe<String>,
    transcript_path: Maybe<String>,
    /// How a session began.
    reason: Maybe<String>,
    model: Maybe<String>,
    prompt: Maybe<String>,
    tool: Maybe<Tool>,
    messages: Maybe<Vec<Message>>,
    /// How a turn ended; only a `completed` one is kept.
    outcome: Maybe<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tool {
    name: Maybe<String>,
    input: Value,
    output: Maybe<String>,
    exit_code: Maybe<i64>,
    failed: Maybe<bool>,
    duration_ms: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message {
    role: Maybe<String>,
    content: Maybe<String>,
    /// Why the model stopped, where the host tells.
    stop_reason: Maybe<String>,
}

objects!(Tool, Message);

/// Turns a package's payload into an event.
pub(crate) fn normalize(manners: &Manners, native: &str, payload: &[u8]) -> Result<Option<Event>, PayloadError> {
    let Some(payload) = json::payload::<Payload>(payload)? else { return Ok(None) };
    let kind = match native {
        "session-start" => EventKind::SessionStart {
            source: payload.reason.filled().unwrap_or_else(|| "startup".to_owned()),
            model: payload.model.filled(),
        },
        "prompt" => {
            let text = (manners.clean)(payload.prompt.text()).into_owned();
            if text.trim().is_empty() || (manners.is_noise)("user", &text) {
                return Ok(None);
            }
            EventKind::Prompt { text }
        }
        "reminder" => EventKind::Reminder,
        "tool" => match payload.tool.0 {
            Some(tool) => EventKind::Tool(tool.told()),
            None => return Err(PayloadError::Field { field: "tool", expected: "an object" }),
        },
        "turn-end" if payload.outcome.get().is_none_or(|outcome| outcome == "completed") => {
            let told = (manners.split)(said(manners, payload.messages.0.unwrap_or_default()));
            if told.turn.is_empty() {
                return Ok(None);
            }
            EventKind::Turn { earlier: told.earlier, said: told.turn }
        }
        "pre-compact" => EventKind::Compaction,
        "session-end" => EventKind::SessionEnd,
        _ => return Ok(None),
    };
    Ok(Some(Event {
        session_id: payload.session_id.filled().unwrap_or_else(|| UNKNOWN_SESSION.to_owned()),
        cwd: payload.cwd.filled().map(Into::into),
        transcript_path: payload.transcript_path.filled().map(Into::into),
        agent: None,
        kind,
    }))
}

/// Prints what reaches the model; nothing for events no host takes context at.
pub(crate) fn render(native: &str, context: &str) -> Vec<u8> {
    #[derive(Serialize)]
    struct Output<'a> {
        context: &'a str,
    }
    if !matches!(native, "prompt" | "reminder") || context.trim().is_empty() {
        return Vec::new();
    }
    json::print(&Output { context })
}

/// The messages worth keeping. An attempt that broke off is not: the host tried again.
fn said(manners: &Manners, messages: Vec<Message>) -> Vec<Said> {
    let broke_off = |message: &Message| matches!(message.stop_reason.text(), "error" | "aborted" | "pending");
    messages
        .into_iter()
        .filter(|message| matches!(message.role.text(), "user" | "assistant") && !broke_off(message))
        .map(|message| Said {
            content: (manners.clean)(message.content.text()).into_owned(),
            role: message.role.filled().unwrap_or_default(),
        })
        .filter(|said| !said.content.trim().is_empty() && !(manners.is_noise)(&said.role, &said.content))
        .collect()
}

impl Tool {
    /// The call in the words all hosts share.
    fn told(self) -> ToolUse {
        let exit_code = self.exit_code.get().copied();
        // A command that ended badly is a failure, whatever the host thinks of its own tool.
        let failed = match exit_code {
            Some(code) if code != 0 => Some(true),
            Some(_) => self.failed.0.or(Some(false)),
            None => self.failed.0,
        };
        let output = self.output.filled().unwrap_or_default();
        let error = (failed == Some(true)).then(|| match exit_code {
            Some(code) => format!("exit status {code}\n{output}").trim_end().to_owned(),
            None => output.clone(),
        });
        let name = self.name.filled();
        let input = name.as_deref().map_or(Value::Null, |name| renamed(name, self.input));
        let mut response = Map::new();
        if !output.is_empty() {
            response.insert("output".into(), output.into());
        }
        let duration_ms = if self.duration_ms.is_number() { self.duration_ms } else { Value::Null };
        ToolUse {
            name: name.map(|name| shared_name(&name).map_or(name, str::to_owned)),
            input,
            response: Value::Object(response),
            failed,
            error,
            duration_ms,
            call_id: None,
        }
    }
}

/// Our name of a tool that works on files or looks for something; `None` for every other.
fn shared_name(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "read" | "read_file" => "Read",
        "write" | "write_file" => "Write",
        "edit" | "edit_file" | "str_replace" => "Edit",
        "multiedit" => "MultiEdit",
        "grep" => "Grep",
        "glob" | "find" => "Glob",
        "webfetch" | "web_fetch" => "WebFetch",
        "websearch" | "web_search" => "WebSearch",
        _ => return None,
    })
}

/// Gives the arguments of a file tool the names they have elsewhere.
fn renamed(name: &str, input: Value) -> Value {
    let is_file_tool = matches!(shared_name(name), Some("Read" | "Write" | "Edit" | "MultiEdit"));
    let Value::Object(fields) = input else { return input };
    let renamed = fields.into_iter().map(|(key, value)| {
        let key = match key.as_str() {
            "path" | "filePath" | "file" if is_file_tool => "file_path".to_owned(),
            "newString" | "newText" | "new_text" if is_file_tool => "new_string".to_owned(),
            _ => key,
        };
        (key, value)
    });
    Value::Object(renamed.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind(native: &str, payload: Value) -> Option<EventKind> {
        normalize(&PLAIN, native, payload.to_string().as_bytes()).unwrap().map(|event| event.kind)
    }

    fn tool(payload: Value) -> ToolUse {
        match kind("tool", json!({ "session_id": "s", "tool": payload })) {
            Some(EventKind::Tool(call)) => call,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_turn_keeps_what_was_said_and_nothing_that_broke_off() {
        let messages = json!([
            { "role": "system", "content": "be brief" },
            { "role": "user", "content": "fix the parser" },
            { "role": "assistant", "content": "I will l", "stop_reason": "error" },
            { "role": "assistant", "content": "I look.", "stop_reason": "toolUse" },
            { "role": "toolResult", "content": "x" },
            { "role": "assistant", "content": "", "stop_reason": "stop" },
            { "role": "assistant", "content": "Fixed.", "stop_reason": "stop" },
            "nonsense", 3, null,
        ]);
        let said = |text: &str, role: &str| Said { role: role.to_owned(), content: text.to_owned() };
        let expected = vec![said("fix the parser", "user"), said("I look.", "assistant"), said("Fixed.", "assistant")];
        for outcome in [json!(null), json!("completed")] {
            let payload = json!({ "session_id": "s", "messages": messages, "outcome": outcome });
            assert_eq!(kind("turn-end", payload), Some(EventKind::Turn { earlier: vec![], said: expected.clone() }));
        }
        for outcome in ["aborted", "failed", "max-tokens"] {
            let payload = json!({ "session_id": "s", "messages": messages, "outcome": outcome });
            assert_eq!(kind("turn-end", payload), None, "{outcome}");
        }
        for messages in [json!([]), json!(null), json!("text"), json!([{ "role": "user", "content": " " }])] {
            assert_eq!(kind("turn-end", json!({ "session_id": "s", "messages": messages })), None);
        }
    }

    #[test]
    fn commands_fail_by_their_exit_status() {
        let call = tool(json!({
            "name": "bash", "input": { "command": "make" }, "output": "oops\n", "exit_code": 3, "failed": false,
            "duration_ms": 12,
        }));
        assert_eq!((call.failed, call.error.as_deref()), (Some(true), Some("exit status 3\noops")));
        assert_eq!((call.name.as_deref(), &call.duration_ms), (Some("bash"), &json!(12)));
        let call = tool(json!({ "name": "bash", "input": { "command": "ls" }, "output": "a", "exit_code": 0 }));
        assert_eq!((call.failed, call.error, call.response), (Some(false), None, json!({ "output": "a" })));
        let call = tool(json!({ "name": "x", "input": 3, "failed": true, "output": "no such tool" }));
        assert_eq!((call.failed, call.error.as_deref()), (Some(true), Some("no such tool")));
    }

    #[test]
    fn file_tools_have_the_names_they_have_elsewhere() {
        for (name, input, expected) in [
            ("read", json!({ "path": "/a" }), ("Read", json!({ "file_path": "/a" }))),
            ("read", json!({ "filePath": "/a" }), ("Read", json!({ "file_path": "/a" }))),
            (
                "edit",
                json!({ "filePath": "/a", "newString": "b" }),
                ("Edit", json!({ "file_path": "/a", "new_string": "b" })),
            ),
            ("grep", json!({ "pattern": "x", "path": "/a" }), ("Grep", json!({ "pattern": "x", "path": "/a" }))),
            ("exec", json!({ "command": "ls" }), ("exec", json!({ "command": "ls" }))),
        ] {
            let call = tool(json!({ "name": name, "input": input }));
            assert_eq!((call.name.as_deref().unwrap(), call.input), expected);
        }
    }

    #[test]
    fn context_is_printed_where_it_is_asked_for() {
        assert_eq!(render("prompt", "a \"b\""), br#"{"context":"a \"b\""}"#);
        assert_eq!(render("reminder", "a"), br#"{"context":"a"}"#);
        for (native, context) in [("prompt", " "), ("turn-end", "a"), ("tool", "a"), ("anything", "a")] {
            assert!(render(native, context).is_empty());
        }
    }

    #[test]
    fn unknown_events_are_nothing() {
        for native in ["", "Stop", "prompt ", "agent_end"] {
            assert_eq!(kind(native, json!({ "session_id": "s", "prompt": "hello" })), None);
        }
    }
}
