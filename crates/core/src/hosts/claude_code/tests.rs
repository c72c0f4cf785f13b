use serde_json::json;

use super::*;

#[track_caller]
fn event(native: &str, payload: Value) -> Option<Event> {
    normalize(native, payload.to_string().as_bytes()).unwrap()
}

#[test]
fn only_what_a_person_typed_is_a_prompt() {
    for (prompt, is_prompt) in [
        ("Fix the parser", true),
        ("/mem0:search tide parser", true),
        ("What does <system-reminder> mean in my transcript?", true),
        ("<system-reminder>x</system-reminder> is what I see. Why?", true),
        ("[Request interrupted by user] shows up twice, [why]?", true),
        ("[Request interrupted by user]", false),
        ("[Request interrupted by user for tool use]", false),
        (" <task-notification>\n<task-id>a</task-id>\n</task-notification>\nRead the output file.", false),
        ("<system-reminder>\ntodo list is empty\n</system-reminder>", false),
        ("<command-name>/cost</command-name>\n<command-args></command-args>", false),
        ("<local-command-stdout>$0.12</local-command-stdout>", false),
        ("<bash-input>ls</bash-input>", false),
        (" \n", false),
        ("", false),
    ] {
        let expected = is_prompt.then(|| EventKind::Prompt { text: prompt.to_owned() });
        let found = event("UserPromptSubmit", json!({"session_id": "s1", "prompt": prompt})).map(|event| event.kind);
        assert_eq!(found, expected, "{prompt}");
    }
}

#[test]
fn a_sub_agents_events_are_not_the_sessions() {
    let inside = |native: &str| {
        event(native, json!({"session_id": "s1", "agent_id": "a1", "agent_type": "Explore", "prompt": "List callers."}))
    };
    for native in ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact"] {
        assert_eq!(inside(native), None, "{native}");
    }
    for native in ["PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop"] {
        let agent = inside(native).unwrap().agent.unwrap();
        assert_eq!((agent.id.as_deref(), agent.kind.as_deref()), (Some("a1"), Some("Explore")), "{native}");
    }
    // A main session that was started as an agent is none.
    let main =
        event("PostToolUse", json!({"session_id": "s1", "agent_type": "reviewer", "tool_name": "Bash"})).unwrap();
    assert_eq!(main.agent, None);
}

#[test]
fn b002_a_stop_that_a_stop_hook_caused_is_no_event() {
    assert_eq!(
        event("Stop", json!({"session_id": "s1", "stop_hook_active": true, "last_assistant_message": "a"})),
        None
    );
}

#[test]
fn b037_cursor_running_these_hooks_is_no_event() {
    for native in HOOKS.iter().map(|hook| hook.native) {
        for mark in ["cursor_version", "conversation_id"] {
            let payload = json!({"session_id": "s1", "prompt": "Hello there", mark: "3.1"});
            assert_eq!(event(native, payload), None, "{native} {mark}");
        }
    }
}

#[test]
fn an_agent_that_compaction_ran_is_no_event() {
    assert_eq!(event("SubagentStop", json!({"session_id": "s1", "agent_id": "a1", "agent_type": ""})), None);
    assert!(event("SubagentStop", json!({"session_id": "s1", "agent_id": "a1"})).is_some());
    assert!(event("SubagentStop", json!({"session_id": "s1", "agent_type": "mem0:sidekick"})).is_some());
}

#[test]
fn fields_of_another_type_count_as_absent_but_a_prompt_must_be_text() {
    let odd = json!({"session_id": 7, "cwd": [], "transcript_path": {}, "source": true, "model": 1.5});
    let expected = Event {
        session_id: UNKNOWN_SESSION.to_owned(),
        cwd: None,
        transcript_path: None,
        agent: None,
        kind: EventKind::SessionStart { source: "startup".to_owned(), model: None },
    };
    assert_eq!(event("SessionStart", odd), Some(expected));
    let error = normalize("UserPromptSubmit", br#"{"prompt": ["a"]}"#).unwrap_err();
    assert_eq!(error.to_string(), "hook payload field `prompt` is not a string");
}

#[test]
fn a_tool_failed_when_the_failure_hook_says_so() {
    let tool = |native: &str, more: Value| {
        let mut payload = json!({"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "ls"}});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        match event(native, payload).unwrap().kind {
            EventKind::Tool(tool) => (tool.failed, tool.error, tool.duration_ms),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(tool("PostToolUse", json!({"duration_ms": 9})), (Some(false), None, json!(9)));
    assert_eq!(tool("PostToolUse", json!({"tool_response": {"interrupted": true}})), (None, None, Value::Null));
    let failures = [
        (json!("Exit code 3\noops"), Some("Exit code 3\noops")),
        (json!({"message": "no such tool"}), Some("no such tool")),
        (json!({"code": 3}), Some("{\"code\":3}")),
        (Value::Null, None),
    ];
    for (error, text) in failures {
        let found = tool("PostToolUseFailure", json!({"error": error, "duration_ms": "9"}));
        assert_eq!(found, (Some(true), text.map(str::to_owned), Value::Null), "{error}");
    }
}

#[test]
fn a_payload_is_read_to_where_it_breaks() {
    let error = normalize("Stop", b"{\"session_id\": \"sk-secret\",,}").unwrap_err().to_string();
    assert!(error.contains("line 1, column 28"), "{error}");
    assert!(!error.contains("secret"), "{error}");
}

#[test]
fn every_way_a_session_begins_is_registered() {
    let matcher = HOOKS[0].matcher.unwrap();
    for source in ["startup", "resume", "clear", "compact", "fork"] {
        assert!(matcher.split('|').any(|name| name == source), "{source}");
    }
}
