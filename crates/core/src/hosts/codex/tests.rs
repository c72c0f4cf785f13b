use serde_json::json;

use super::*;

#[track_caller]
fn event(native: &str, payload: Value) -> Option<Event> {
    normalize(native, payload.to_string().as_bytes()).unwrap()
}

fn tool(response: Value) -> ToolUse {
    let payload = json!({"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "npm test"}, "tool_response": response});
    match event("PostToolUse", payload).unwrap().kind {
        EventKind::Tool(tool) => tool,
        other => panic!("{other:?}"),
    }
}

#[test]
fn outcomes_are_true_false_or_unknown() {
    for (response, expected) in [
        (json!("plain text"), None),
        (json!(""), None),
        (Value::Null, None),
        (json!([1]), None),
        (json!({"content": [{"type": "text", "text": "ok"}]}), None),
        (json!({"exit_code": 2, "stderr": "bad"}), Some(true)),
        (json!({"exit_code": 0}), Some(false)),
        (json!({"exit_code": "2"}), None),
        (json!({"metadata": {"exit_code": 1}}), Some(true)),
        (json!({"isError": false}), Some(false)),
        (json!({"isError": true}), Some(true)),
        (json!({"success": false}), Some(true)),
        (json!({"success": true, "exit_code": 3}), Some(true)),
        (json!("Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess."), Some(false)),
        (json!("Exit code: 1\nWall time: 0 seconds\nOutput:\nno such file"), Some(true)),
        (json!("Exit codes are listed below"), None),
        (json!("{\"output\":\"x\",\"metadata\":{\"exit_code\":1}}"), Some(true)),
        (json!("{\"name\":\"package\"}"), None),
    ] {
        assert_eq!(tool(response.clone()).failed, expected, "{response}");
    }
}

#[test]
fn b071_a_failure_keeps_its_response_and_tells_it() {
    let failed = tool(json!({"exit_code": 1, "stderr": "bad"}));
    assert_eq!(failed.name.as_deref(), Some("Bash"));
    assert_eq!(failed.input, json!({"command": "npm test"}));
    assert_eq!(failed.response, json!({"exit_code": 1, "stderr": "bad"}));
    assert_eq!(failed.error.as_deref(), Some("{\"exit_code\":1,\"stderr\":\"bad\"}"));
    assert_eq!(tool(json!("listing")).response, json!("listing"));
    assert_eq!(tool(json!("listing")).error, None);
}

#[test]
fn b055_a_sub_agents_events_are_not_the_sessions() {
    let inside = |native: &str| {
        let payload = json!({"session_id": "root", "agent_id": "a1", "agent_type": "explorer", "prompt": "Find uses.",
            "transcript_path": "/child.jsonl", "agent_transcript_path": "/child.jsonl"});
        event(native, payload)
    };
    for native in ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"] {
        assert_eq!(inside(native), None, "{native}");
    }
    let tool = inside("PostToolUse").unwrap();
    assert_eq!((tool.session_id.as_str(), tool.agent.unwrap().kind.as_deref()), ("root", Some("explorer")));
    assert_eq!(tool.transcript_path, None, "the sub-agent's rollout is not the session's");
    assert!(inside("SubagentStop").unwrap().transcript_path.is_some());
}

#[test]
fn only_what_a_person_typed_is_a_prompt() {
    for (prompt, is_prompt) in [
        ("Fix the parser", true),
        ("Why is <hook_prompt> in my rollout?", true),
        ("<hook_prompt hook_run_id=\"stop:10:x\">check X</hook_prompt>", false),
        ("<environment_context>\n  <cwd>/p</cwd>\n</environment_context>", false),
        ("  ", false),
    ] {
        let expected = is_prompt.then(|| EventKind::Prompt { text: prompt.to_owned() });
        let found = event("UserPromptSubmit", json!({"session_id": "s1", "prompt": prompt})).map(|event| event.kind);
        assert_eq!(found, expected, "{prompt}");
    }
    assert!(normalize("UserPromptSubmit", br#"{"prompt": {"text": "a"}}"#).is_err());
}

#[test]
fn stops_that_are_none_are_no_events() {
    let stop = json!({"session_id": "s1", "stop_hook_active": false, "last_assistant_message": null});
    assert_eq!(event("Stop", stop).unwrap().kind, EventKind::Answer { text: None });
    assert_eq!(event("Stop", json!({"session_id": "s1", "stop_hook_active": true})), None);
    assert_eq!(event("Interrupt", json!({"session_id": "s1", "turn_id": "t"})), None);
}

#[test]
fn b027_nothing_to_say_is_nothing_printed() {
    assert!(render("SessionStart", "").is_empty());
    assert_eq!(
        String::from_utf8(render("SessionStart", "a\"b")).unwrap(),
        r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"a\"b"}}"#
    );
}
