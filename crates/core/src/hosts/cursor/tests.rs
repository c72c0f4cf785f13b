use serde_json::json;

use super::*;

#[track_caller]
fn event(native: &str, payload: Value) -> Option<Event> {
    normalize(native, payload.to_string().as_bytes()).unwrap()
}

fn tool(native: &str, more: Value) -> ToolUse {
    let mut payload = json!({"conversation_id": "c1", "tool_name": "Shell", "tool_input": {"command": "ls"}});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    match event(native, payload).unwrap().kind {
        EventKind::Tool(tool) => tool,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_session_is_its_conversation_and_a_project_its_first_root() {
    for (payload, session, cwd) in [
        (json!({"conversation_id": "c1", "workspace_roots": ["/a", "/b"], "cwd": "/a/x"}), "c1", Some("/a")),
        (json!({"conversation_id": "c1", "workspace_roots": ["", "/b"]}), "c1", Some("/b")),
        (json!({"session_id": "c2", "workspace_roots": [], "cwd": "/a/x"}), "c2", Some("/a/x")),
        (json!({"parent_conversation_id": "c3", "workspace_roots": null}), "c3", None),
        (json!({"conversation_id": 7, "workspace_roots": "no list"}), UNKNOWN_SESSION, None),
    ] {
        let found = event("stop", payload.clone()).unwrap();
        assert_eq!((found.session_id.as_str(), found.cwd), (session, cwd.map(Into::into)), "{payload}");
    }
}

#[test]
fn only_what_a_person_typed_is_a_prompt() {
    for (prompt, is_prompt) in [
        ("Fix the parser", true),
        ("<timestamp> is printed, why?", true),
        ("<system_reminder>\ntodo\n</system_reminder>", false),
        (" \n", false),
    ] {
        let expected = is_prompt.then(|| EventKind::Prompt { text: prompt.to_owned() });
        let found = event("beforeSubmitPrompt", json!({"conversation_id": "c1", "prompt": prompt}));
        assert_eq!(found.map(|event| event.kind), expected, "{prompt}");
    }
    assert!(normalize("beforeSubmitPrompt", br#"{"prompt": ["a"]}"#).is_err());
}

#[test]
fn a_response_is_what_its_string_holds_and_its_exit_code_tells_a_failure() {
    for (output, response, failed) in [
        (json!("listing"), json!("listing"), false),
        (json!(r#"{"exitCode": 0, "stdout": "ok"}"#), json!({"exitCode": 0, "stdout": "ok"}), false),
        (json!(r#"{"exitCode": 2, "stderr": "bad"}"#), json!({"exitCode": 2, "stderr": "bad"}), true),
        (json!({"exit_code": 1}), json!({"exit_code": 1}), true),
        (json!(r#"{"isError": true}"#), json!({"isError": true}), true),
        (json!("{torn"), json!("{torn"), false),
        (Value::Null, Value::Null, false),
    ] {
        let found = tool("postToolUse", json!({"tool_output": output, "duration": 12}));
        assert_eq!((&found.response, found.failed), (&response, Some(failed)), "{output}");
        assert_eq!((found.error.is_some(), found.duration_ms), (failed, json!(12)), "{output}");
    }
}

#[test]
fn a_tool_a_person_stopped_has_neither_failed_nor_not() {
    let failed = tool("postToolUseFailure", json!({"error_message": "timed out", "failure_type": "timeout"}));
    assert_eq!((failed.failed, failed.error.as_deref()), (Some(true), Some("timed out")));
    let stopped = tool("postToolUseFailure", json!({"error_message": "aborted", "is_interrupt": true}));
    assert_eq!(stopped.failed, None);
}

#[test]
fn a_sub_agents_events_are_not_the_sessions() {
    let inside = |native: &str| {
        let payload = json!({"conversation_id": "child", "parent_conversation_id": "c1", "subagent_type": "explore",
            "prompt": "Find uses.", "text": "None."});
        event(native, payload)
    };
    for native in ["sessionStart", "beforeSubmitPrompt", "afterAgentResponse", "stop", "preCompact", "sessionEnd"] {
        assert_eq!(inside(native), None, "{native}");
    }
    let tool = inside("postToolUse").unwrap();
    assert_eq!((tool.session_id.as_str(), tool.agent.unwrap().id.as_deref()), ("c1", Some("child")));
}

#[test]
fn files_are_known_by_their_path() {
    let read = tool("postToolUse", json!({"tool_name": "Read", "tool_input": {"path": "/a.rs"}}));
    assert_eq!((read.name.as_deref(), read.input), (Some("Read"), json!({"file_path": "/a.rs"})));
    let write = tool("postToolUse", json!({"tool_name": "Write", "tool_input": {"file_path": "/a.rs", "path": "b"}}));
    assert_eq!(write.input, json!({"file_path": "/a.rs", "path": "b"}));
}
