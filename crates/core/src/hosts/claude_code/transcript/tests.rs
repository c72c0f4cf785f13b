use serde_json::{Value, json};

use super::*;

/// A row with the fields every row has; `more` adds to it.
fn row(uuid: &str, parent: &str, kind: &str, content: Value, more: Value) -> Value {
    let parent = if parent.is_empty() { Value::Null } else { json!(parent) };
    let mut row = json!({"uuid": uuid, "parentUuid": parent, "sessionId": "s1", "isSidechain": false, "type": kind,
        "message": {"content": content}});
    row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    row
}

fn user(uuid: &str, parent: &str, text: &str) -> Value {
    row(uuid, parent, "user", json!(text), json!({"origin": {"kind": "human"}}))
}

fn answer(uuid: &str, parent: &str, text: &str) -> Value {
    row(uuid, parent, "assistant", json!([{"type": "text", "text": text}]), json!({}))
}

fn call(uuid: &str, parent: &str, id: &str, name: &str, input: Value) -> Value {
    row(uuid, parent, "assistant", json!([{"type": "tool_use", "id": id, "name": name, "input": input}]), json!({}))
}

fn result(uuid: &str, parent: &str, id: &str, text: &str) -> Value {
    row(uuid, parent, "user", json!([{"type": "tool_result", "tool_use_id": id, "content": text}]), json!({}))
}

fn notification(uuid: &str, parent: &str, call: &str, result: &str) -> Value {
    let text = format!(
        "<task-notification>\n<tool-use-id>{call}</tool-use-id>\n<status>completed</status>\n<result>{result}</result>\n</task-notification>"
    );
    row(uuid, parent, "user", json!(text), json!({"origin": {"kind": "task-notification"}}))
}

fn read(rows: &[Value], since: &Since) -> Slice {
    let mut reader = Box::new(Transcript::new("s1"));
    for row in rows {
        match row.get("lost").and_then(Value::as_u64) {
            Some(bytes) => reader.skip_line(bytes),
            None => reader.push_line(row.to_string().as_bytes()),
        }
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
fn reading_begins_where_the_last_one_ended() {
    let rows =
        [user("u1", "", "one"), answer("a1", "u1", "first"), user("u2", "a1", "two"), answer("a2", "u2", "second")];
    let cases = [
        (Since { leaf: Some("a1".into()), ..Since::default() }, vec!["u two", "a Main Claude response:\nsecond"]),
        (Since { leaf: Some("a2".into()), answer: Some("second".into()), ..Since::default() }, vec![]),
        (
            Since { leaf: Some("gone".into()), resumed: true, ..Since::default() },
            vec!["u one", "a first", "u two", "a Main Claude response:\nsecond"],
        ),
        (
            Since { last_prompt: Some("one".into()), ..Since::default() },
            vec!["u one", "a first", "u two", "a Main Claude response:\nsecond"],
        ),
        (
            Since { last_prompt: Some("two".into()), ..Since::default() },
            vec!["u two", "a Main Claude response:\nsecond"],
        ),
        (Since::default(), vec!["u two", "a Main Claude response:\nsecond"]),
        (
            Since { answer: Some("third".into()), ..Since::default() },
            vec!["u two", "a second", "a Main Claude response:\nthird"],
        ),
    ];
    for (since, expected) in cases {
        let slice = read(&rows, &since);
        assert_eq!(texts(&slice), expected, "{since:?}");
        assert_eq!(slice.leaf.as_deref(), Some("a2"));
    }
}

#[test]
fn no_rows_after_the_stored_leaf_are_nothing_new() {
    let since = Since { leaf: Some("a1".into()), resumed: true, answer: Some("first".into()), ..Since::default() };
    let slice = read(&[], &since);
    assert_eq!((texts(&slice), slice.leaf.as_deref()), (vec![], Some("a1")));
    // Without a transcript the answer stands alone.
    assert_eq!(
        texts(&read(&[], &Since { answer: Some("a".into()), ..Since::default() })),
        ["a Main Claude response:\na"]
    );
}

#[test]
fn a_leaf_that_is_no_message_counts_as_well() {
    let system =
        json!({"uuid": "s1", "parentUuid": "a1", "sessionId": "s1", "type": "system", "subtype": "turn_duration"});
    let rows = [user("u1", "", "one"), answer("a1", "u1", "first"), system];
    let since = Since { leaf: Some("s1".into()), answer: Some("first".into()), ..Since::default() };
    assert!(texts(&read(&rows, &since)).is_empty());
    let more = [rows.as_slice(), &[user("u2", "s1", "two")]].concat();
    assert_eq!(texts(&read(&more, &Since { answer: None, ..since })), ["u two"]);
}

#[test]
fn a_background_agent_is_paired_across_turns() {
    let before = [
        user("u1", "", "one"),
        call("a1", "u1", "t1", "Agent", json!({"description": "Map callers", "prompt": "List callers."})),
        result("r1", "a1", "t1", "Async agent launched successfully."),
        answer("a2", "r1", "It runs."),
    ];
    let after = [notification("n1", "a2", "t1", "A &amp; B &lt;x&gt; &#233; &nope;"), answer("a3", "n1", "Done.")];
    let since = Since { leaf: Some("a2".into()), ..everything() };
    let part = read(&after, &since);
    assert!(part.needs_whole_file);
    let whole = read(&[before.as_slice(), &after].concat(), &since);
    assert!(!whole.needs_whole_file);
    let expected = [
        "a Subagent assignment (general-purpose: Map callers):\nList callers.",
        "a Subagent response (general-purpose: Map callers):\nA & B <x> é &nope;",
        "a Main Claude response:\nDone.",
    ];
    assert_eq!(texts(&whole), expected);
}

#[test]
fn notifications_of_other_tasks_say_nothing() {
    let failed = |status: &str| {
        let text = format!(
            "<task-notification><tool-use-id>t1</tool-use-id><status>{status}</status><result>x</result></task-notification>"
        );
        row("n1", "", "user", json!(text), json!({}))
    };
    for row in [failed("failed"), failed("killed")] {
        let slice = read(&[row], &everything());
        assert_eq!((texts(&slice), slice.needs_whole_file), (vec![], false));
    }
    let command = "<task-notification><tool-use-id>t1</tool-use-id><status>completed</status></task-notification>";
    let slice = read(&[row("n1", "", "user", json!(command), json!({}))], &everything());
    assert!(!slice.needs_whole_file, "a command has no result");
}

#[test]
fn results_beside_the_path_are_found() {
    // Two calls of one message; the first one's result hangs off the chain, and so does a text of that message.
    let message = |id: &str| json!({"message": {"id": "m1", "content": [{"type": "text", "text": id}]}});
    let rows = [
        user("u1", "", "one"),
        call("a1", "u1", "t1", "Task", json!({"subagent_type": "Explore", "prompt": "p"})),
        call("a2", "a1", "t2", "AskUserQuestion", json!({})),
        result("r1", "a1", "t1", "found"),
        result("r2", "a2", "t2", "yes"),
        row("a3", "r2", "assistant", json!(null), message("on the path")),
        row("a4", "r2", "assistant", json!(null), message("beside it")),
        answer("a5", "a3", "Done."),
    ];
    let expected = [
        "u one",
        "a Subagent assignment (Explore):\np",
        "a Subagent response (Explore):\nfound",
        "u Answers to the agent's questions:\nyes",
        "a on the path",
        "a beside it",
        "a Main Claude response:\nDone.",
    ];
    assert_eq!(texts(&read(&rows, &everything())), expected);
}

#[test]
fn hooks_attachments_do_not_lead_the_walk_astray() {
    let attachment = json!({"uuid": "h1", "parentUuid": "u1", "sessionId": "s1", "type": "attachment",
        "attachment": {"type": "hook_success", "content": "x"}});
    let slice = read(&[user("u1", "", "one"), answer("a1", "u1", "first"), attachment], &everything());
    assert_eq!(texts(&slice), ["u one", "a Main Claude response:\nfirst"]);
    assert_eq!(slice.leaf.as_deref(), Some("a1"));
}

#[test]
fn a_branch_that_was_left_is_not_said_again() {
    let rows = [user("u1", "", "one"), answer("a1", "u1", "left"), user("u2", "u1", "two"), answer("a2", "u2", "kept")];
    let since = Since { leaf: Some("a1".into()), ..Since::default() };
    assert_eq!(texts(&read(&rows, &since)), ["u two", "a Main Claude response:\nkept"]);
    assert_eq!(texts(&read(&rows, &everything())), ["u one", "u two", "a Main Claude response:\nkept"]);
}

#[test]
fn a_compaction_goes_on_where_it_says_or_before_it() {
    for logical in ["a1", "never-written"] {
        let boundary = json!({"uuid": "b", "parentUuid": null, "logicalParentUuid": logical, "sessionId": "s1",
            "type": "system", "subtype": "compact_boundary"});
        let summary =
            row("s", "b", "user", json!("This session is being continued"), json!({"isCompactSummary": true}));
        let rows = [
            user("u1", "", "one"),
            answer("a1", "u1", "first"),
            boundary,
            summary,
            user("u2", "s", "two"),
            answer("a2", "u2", "x"),
        ];
        let slice = read(&rows, &everything());
        assert_eq!(texts(&slice), ["u one", "a first", "u two", "a Main Claude response:\nx"], "{logical}");
    }
}

#[test]
fn b057_a_line_that_was_too_long_is_bridged_and_marked() {
    let rows = [user("u1", "", "one"), json!({"lost": 40_000_000}), answer("a2", "lost-row", "second")];
    let mark = "a [a line of 40000000 bytes was left out of this transcript]";
    assert_eq!(texts(&read(&rows, &everything())), ["u one", mark, "a Main Claude response:\nsecond"]);
    // One that was no part of the conversation leaves no mark.
    let rows = [user("u1", "", "one"), json!({"lost": 40_000_000}), answer("a2", "u1", "second")];
    assert_eq!(texts(&read(&rows, &everything())), ["u one", "a Main Claude response:\nsecond"]);
}

#[test]
fn b069_the_hosts_own_rows_are_nobodys_words() {
    let rows = [
        user("u0", "", "<local-command-caveat>ignore</local-command-caveat>"),
        user("u1", "u0", "<command-name>/cost</command-name><command-args>x</command-args>"),
        user("u2", "u1", "<command-message>status</command-message>\n<command-name>/mem0:status</command-name>"),
        user("u3", "u2", "<system-reminder>todo</system-reminder>"),
        user("u4", "u3", "<bash-input>ls</bash-input>"),
        row("u5", "u4", "user", json!([{"type": "text", "text": "[Request interrupted by user]"}]), json!({})),
        row("u6", "u5", "user", json!("expanded skill"), json!({"isMeta": true})),
        row("u7", "u6", "user", json!("from a channel"), json!({"origin": {"kind": "channel"}})),
        row(
            "u8",
            "u7",
            "assistant",
            json!([{"type": "text", "text": "API Error"}]),
            json!({"isApiErrorMessage": true}),
        ),
        user("u9", "u8", "<!-- attach -->\nWhat is a system-reminder? <system-reminder>"),
        row(
            "q",
            "u9",
            "attachment",
            json!(null),
            json!({"attachment": {"type": "queued_command", "prompt": [{"type": "text", "text": "and quickly"}]}}),
        ),
        answer("a", "q", "A note."),
    ];
    let slice = read(&rows, &everything());
    let expected =
        ["u What is a system-reminder? <system-reminder>", "u and quickly", "a Main Claude response:\nA note."];
    assert_eq!(texts(&slice), expected);
}

#[test]
fn a_command_without_arguments_is_a_place_to_begin() {
    let rows = [
        user("u1", "", "one"),
        answer("a1", "u1", "first"),
        user("u2", "a1", "<command-message>status</command-message>\n<command-name>/mem0:status</command-name>"),
        answer("a2", "u2", "fine"),
    ];
    let since = Since { last_prompt: Some("/mem0:status".into()), ..Since::default() };
    assert_eq!(texts(&read(&rows, &since)), ["a Main Claude response:\nfine"]);
}

#[test]
fn unknown_kinds_are_counted_and_noise_is_not() {
    let mut reader = Box::new(Transcript::new("s1"));
    for line in ["{\"type\":\"quantum-foam\"}", "{\"type\":\"ai-title\"}", "no json", "", "[]", "{\"a\":1}"] {
        reader.push_line(line.as_bytes());
    }
    assert_eq!(reader.finish(&everything()).unknown_lines, 2);
}
