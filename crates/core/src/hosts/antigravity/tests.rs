use serde_json::json;

use super::*;

#[track_caller]
fn event(native: &str, more: Value) -> Option<Event> {
    let mut payload = json!({"conversationId": "c1", "workspacePaths": ["/p"], "transcriptPath": "/t.jsonl"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    normalize(native, payload.to_string().as_bytes()).unwrap()
}

fn tool(more: Value) -> ToolUse {
    match event("PostToolUse", more).unwrap().kind {
        EventKind::Tool(tool) => tool,
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_a_project_there_is_nothing_to_do() {
    for paths in [json!([]), json!([""]), Value::Null, json!("/p")] {
        for native in ["PreInvocation", "PostToolUse", "Stop", "SessionStart", "SessionEnd"] {
            assert_eq!(event(native, json!({"workspacePaths": paths})), None, "{native} {paths}");
            assert_eq!(render(native, ""), b"{}", "{native}");
        }
    }
}

#[test]
fn a_tool_is_never_refused() {
    for context in ["", "Relevant memories"] {
        assert_eq!(render("PreToolUse", context), br#"{"decision":"allow"}"#);
    }
    assert_eq!(event("PreToolUse", json!({"toolCall": {"name": "run_command", "args": {}}})), None);
}

#[test]
fn a_tools_error_is_a_failure_and_a_commands_end_is_not_known() {
    let command = json!({"name": "run_command", "args": {"CommandLine": "cargo test", "Cwd": "/p"}});
    let view = json!({"name": "view_file", "args": {"AbsolutePath": "/p/a.rs"}});
    for (more, name, failed) in [
        (json!({"error": "", "toolCall": command}), Some("run_command"), None),
        (json!({"error": "refused", "toolCall": command}), Some("run_command"), Some(true)),
        (json!({"error": "no such file", "toolCall": view}), Some("Read"), Some(true)),
        (json!({"toolCall": view}), Some("Read"), Some(false)),
        (json!({"stepIdx": 3, "error": ""}), None, Some(false)),
        (json!({"toolCall": "odd", "error": 3}), None, Some(true)),
    ] {
        let found = tool(more.clone());
        assert_eq!((found.name.as_deref(), found.failed), (name, failed), "{more}");
    }
    assert_eq!(tool(json!({"toolCall": command})).input, json!({"command": "cargo test", "Cwd": "/p"}));
    assert_eq!(tool(json!({"toolCall": view})).input, json!({"file_path": "/p/a.rs"}));
}
