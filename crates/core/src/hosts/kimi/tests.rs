use std::path::Path;

use serde_json::{Value, json};

use super::*;

#[track_caller]
fn event(native: &str, payload: Value) -> Option<Event> {
    normalize(native, payload.to_string().as_bytes()).unwrap()
}

#[test]
fn b033_a_prompt_is_the_text_of_its_parts() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image_url", "imageUrl": {"url": "data:image/png;base64,AA=="}});
    for (prompt, expected) in [
        (json!([text("Fix it")]), Some("Fix it")),
        (json!([text("What is"), image, text("this?")]), Some("What is\nthis?")),
        (json!("Fix it"), Some("Fix it")),
        (json!([text("a"), 3, null, {"type": "text"}, {"type": "text", "text": 5}]), Some("a")),
        (json!([image]), None),
        (json!([]), None),
        (json!(""), None),
        (json!([text("<system-reminder>\nx\n</system-reminder>")]), None),
        (json!([text("What is a <system-reminder>?")]), Some("What is a <system-reminder>?")),
        (Value::Null, None),
    ] {
        let expected = expected.map(|text| EventKind::Prompt { text: text.to_owned() });
        let found = event("UserPromptSubmit", json!({"session_id": "session_1", "prompt": prompt}));
        assert_eq!(found.map(|event| event.kind), expected, "{prompt}");
    }
    let error = normalize("UserPromptSubmit", br#"{"prompt": 3}"#).unwrap_err();
    assert_eq!(error.to_string(), "hook payload field `prompt` is not a list of parts or a string");
}

#[test]
fn a_failure_is_an_object_or_a_string() {
    for (error, text) in [
        (json!({"code": "internal", "message": "exit code: 3.", "retryable": false}), Some("exit code: 3.")),
        (json!("Command failed"), Some("Command failed")),
        (json!({"code": 3}), Some("{\"code\":3}")),
        (Value::Null, None),
    ] {
        let payload = json!({"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "x"}, "error": error});
        let EventKind::Tool(tool) = event("PostToolUseFailure", payload).unwrap().kind else { panic!("no tool") };
        assert_eq!((tool.failed, tool.error.as_deref()), (Some(true), text), "{error}");
    }
}

#[test]
fn b027_nothing_to_say_is_nothing_printed_and_context_is_plain_text() {
    for native in ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SubagentStart", "SessionEnd"] {
        assert!(render(native, "").is_empty(), "{native}");
        let takes = native == "UserPromptSubmit";
        assert_eq!(render(native, "a \"b\""), if takes { b"a \"b\"".to_vec() } else { Vec::new() }, "{native}");
    }
}

#[test]
fn a_session_is_looked_for_below_the_hosts_home_alone() {
    let named = |name: &str| (name == "KIMI_CODE_HOME").then(|| "/k".to_owned());
    let nothing = |_: &str| None;
    let home = Path::new("/home/dev");
    for (variable, session, expected) in [
        (
            &named as &dyn Fn(&str) -> Option<String>,
            "session_1-a",
            Some("/k/sessions/*/session_1-a/agents/main/wire.jsonl"),
        ),
        (&nothing, "session_1", Some("/home/dev/.kimi-code/sessions/*/session_1/agents/main/wire.jsonl")),
        (&nothing, "../../x", None),
        (&nothing, "*", None),
        (&nothing, "", None),
    ] {
        let found = find_transcript(&Places { variable, home: Some(home) }, session);
        assert_eq!(found, expected.map(PathBuf::from).into_iter().collect::<Vec<_>>(), "{session}");
    }
    assert!(find_transcript(&Places { variable: &nothing, home: None }, "s").is_empty());
}

#[test]
fn stops_that_are_none_are_no_events() {
    let answer = Some(EventKind::Answer { text: None });
    let kind = |native: &str, payload: Value| event(native, payload).map(|event| event.kind);
    assert_eq!(kind("Stop", json!({"session_id": "s", "stop_hook_active": false})), answer);
    assert_eq!(kind("Stop", json!({"session_id": "s", "stop_hook_active": true})), None);
    assert_eq!(kind("Interrupt", json!({"session_id": "s", "turn_id": 0, "reason": "cancelled"})), answer);
    for native in ["TurnStarted", "PreToolUse", "StopFailure", "PostCompact", "Notification"] {
        assert_eq!(kind(native, json!({"session_id": "s", "prompt": "x"})), None, "{native}");
    }
}
