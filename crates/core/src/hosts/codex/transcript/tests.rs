use serde_json::{Value, json};

use super::*;

fn event(payload: Value) -> Value {
    json!({"type": "event_msg", "payload": payload})
}

fn asked(text: &str) -> Value {
    event(json!({"type": "user_message", "message": text}))
}

fn answered(text: &str) -> Value {
    event(
        json!({"type": "item_completed", "item": {"type": "AgentMessage", "content": [{"type": "Text", "text": text}]}}),
    )
}

fn item(role: &str, kind: &str, text: &str) -> Value {
    json!({"type": "response_item", "payload": {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}})
}

fn meta(payload: Value) -> Value {
    json!({"type": "session_meta", "payload": payload})
}

fn read(lines: &[Value], since: &Since) -> Slice {
    let mut reader = Box::new(Rollout::new("s1"));
    for (at, line) in lines.iter().enumerate() {
        let mut line = line.clone();
        line["timestamp"] = json!(at);
        reader.push_line(line.to_string().as_bytes());
    }
    reader.finish(since)
}

fn texts(slice: &Slice) -> Vec<String> {
    slice.messages.iter().map(|message| format!("{} {}", &message.role[..1], message.content)).collect()
}

fn everything() -> Since {
    Since { resumed: true, ..Since::default() }
}

#[test]
fn b061_b075_every_era_is_read() {
    let eras = [
        vec![
            item("user", "input_text", "one"),
            asked("one"),
            answered("first"),
            item("assistant", "output_text", "first"),
        ],
        vec![item("user", "input_text", "one"), item("assistant", "output_text", "first")],
        vec![
            json!({"id": "s1", "timestamp": "2025-06-01", "instructions": null}),
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "one"}]}),
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "first"}]}),
        ],
        // New kinds of events, and the items are all that is understood.
        vec![
            event(json!({"type": "turn_v9"})),
            item("user", "input_text", "one"),
            item("assistant", "output_text", "first"),
        ],
    ];
    for (at, era) in eras.iter().enumerate() {
        assert_eq!(texts(&read(era, &everything())), ["u one", "a first"], "era {at}");
    }
}

#[test]
fn the_hosts_own_messages_are_nobodys_words() {
    let kinds = |text: &str, kind: &str| {
        json!({"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}],
            "internal_chat_message_metadata_passthrough": {"content_item_kinds": [kind]}}})
    };
    let lines = [
        item("developer", "input_text", "Be brief."),
        item("user", "input_text", "<environment_context>\n<cwd>/p</cwd>\n</environment_context>"),
        item("user", "input_text", "<user_instructions>Use tabs.</user_instructions>"),
        item("user", "input_text", "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>"),
        kinds("Relevant memories", "hooks.additional_context"),
        kinds("What is an <environment_context>?", "user.text"),
        json!({"type": "response_item", "metadata": {"compaction_output": true}, "payload": {"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "SUMMARY"}]}}),
        item("assistant", "output_text", "A note."),
    ];
    assert_eq!(texts(&read(&lines, &everything())), ["u What is an <environment_context>?", "a A note."]);
}

#[test]
fn a_rollback_takes_back_whole_turns() {
    let started = event(json!({"type": "task_started"}));
    let back = |n: u64| event(json!({"type": "thread_rolled_back", "num_turns": n}));
    let turn = |text: &str| vec![asked(text), answered(text)];
    let old = [turn("one"), turn("two"), vec![back(1)], turn("three")].concat();
    assert_eq!(texts(&read(&old, &everything())), ["u one", "a one", "u three", "a three"]);
    // Two prompts in one turn: the second was typed while the agent worked.
    let new = [vec![started.clone()], turn("one"), vec![started], turn("two"), turn("steered"), vec![back(1)]].concat();
    assert_eq!(texts(&read(&new, &everything())), ["u one", "a one"]);
    assert_eq!(texts(&read(&[turn("one"), vec![back(u64::MAX)]].concat(), &everything())), ["u one", "a one"]);
    assert!(texts(&read(&[turn("one"), vec![back(9)]].concat(), &everything())).is_empty());
}

#[test]
fn b063_a_second_header_names_the_parent_and_costs_nothing() {
    let lines = [
        meta(json!({"id": "s1", "cwd": "/a"})),
        meta(json!({"id": "s0", "cwd": "/b"})),
        asked("one"),
        answered("first"),
    ];
    let slice = read(&lines, &everything());
    assert_eq!((texts(&slice), slice.parent.as_deref()), (vec!["u one".to_owned(), "a first".to_owned()], Some("s0")));
    let forked = read(&[meta(json!({"id": "s1", "forked_from_id": "p1"})), meta(json!({"id": "s1"}))], &everything());
    assert_eq!(forked.parent.as_deref(), Some("p1"));
}

#[test]
fn b055_a_sub_agents_assignment_is_not_a_persons() {
    let source = json!({"subagent": {"thread_spawn": {"parent_thread_id": "p1", "agent_role": "explorer"}}});
    let header = meta(json!({"id": "c1", "session_id": "p1", "source": source}));
    let slice = read(&[header, asked("Find uses."), answered("None.")], &everything());
    assert_eq!(texts(&slice), ["a Subagent assignment (explorer):\nFind uses.", "a None."]);
    assert_eq!(slice.parent.as_deref(), Some("p1"));
    let review = meta(json!({"id": "c1", "source": {"subagent": "review"}}));
    assert_eq!(texts(&read(&[review, asked("Review.")], &everything())), ["a Subagent assignment (agent):\nReview."]);
}

#[test]
fn a_commands_end_is_told_once() {
    let call = |name: &str, arguments: Value| json!({"type": "response_item", "payload": {"type": "function_call", "name": name, "call_id": "c1", "arguments": arguments.to_string()}});
    let output = |text: &str| json!({"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c1", "output": text}});
    let finished = |code: i64| {
        event(
            json!({"type": "item_completed", "item": {"type": "CommandExecution", "id": "c1", "command": ["/bin/bash", "-lc", "npm test"],
            "exit_code": code, "aggregated_output": "bad"}}),
        )
    };
    let exec = call("exec_command", json!({"cmd": "npm test"}));
    let failed = output("Wall time: 1 s\nProcess exited with code 2\nOutput:\nbad");
    let shell = call("shell", json!({"command": ["bash", "-lc", "npm test"]}));
    let old = output("{\"output\":\"bad\",\"metadata\":{\"exit_code\":2}}");
    let legacy = event(
        json!({"type": "exec_command_end", "call_id": "c1", "command": ["bash", "-lc", "npm test"], "exit_code": 2, "aggregated_output": "bad"}),
    );
    for lines in [
        vec![exec.clone(), finished(2), failed.clone()],
        vec![exec.clone(), failed.clone(), finished(2)],
        vec![exec.clone(), failed],
        vec![shell.clone(), legacy, old.clone()],
        vec![shell, old],
    ] {
        let expected = CommandOutcome { command: "npm test".into(), exit_code: 2, output: "bad".into(), call_id: None };
        assert_eq!(read(&lines, &everything()).outcomes, [expected]);
    }
    let unknown = [exec, output("Wall time: 6.4 seconds\naborted by user"), finished(-1)];
    assert!(read(&unknown, &everything()).outcomes.is_empty(), "an interrupted command has no outcome");
    let other = [call("search_memories", json!({"command": "x"})), output("Exit code: 1\nOutput:\nx")];
    assert!(read(&other, &everything()).outcomes.is_empty(), "no command at all");
}

#[test]
fn the_answer_is_there_once_and_has_no_label() {
    let lines = [asked("one"), answered("first")];
    let slice = read(&lines, &Since { answer: Some("first".into()), ..Since::default() });
    assert_eq!(texts(&slice), ["u one", "a first"]);
    let again = Since { leaf: slice.leaf.clone(), answer: Some("first".into()), resumed: true, ..Since::default() };
    assert!(texts(&read(&[], &again)).is_empty());
    assert_eq!(read(&[], &again).leaf, slice.leaf);
    let behind = read(&lines[..1], &Since { answer: Some("first".into()), ..Since::default() });
    assert_eq!(texts(&behind), ["u one", "a first"]);
}

#[test]
fn a_first_reading_begins_at_the_last_prompt() {
    let lines = [asked("one"), answered("first"), asked("two"), answered("second")];
    assert_eq!(texts(&read(&lines, &Since::default())), ["u two", "a second"]);
    let since = Since { last_prompt: Some("one".into()), ..Since::default() };
    assert_eq!(texts(&read(&lines, &since)).len(), 4);
}

#[test]
fn unknown_kinds_are_counted() {
    let lines = [
        json!({"type": "hologram", "payload": {"x": 1}}),
        event(json!({"type": "aurora_ping"})),
        event(json!({"type": "item_completed", "item": {"type": "Dream"}})),
        json!({"type": "response_item", "payload": {"type": "telepathy"}}),
        event(json!({"type": "token_count"})),
        json!({"type": "compacted", "payload": {"message": "SUMMARY"}}),
    ];
    assert_eq!(read(&lines, &everything()).unknown_lines, 4);
}
