//! Ids and names by example, messages by table, batches by law.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::evidence::StoredEvent;
use crate::memory::{Message, Role};

fn events(list: &[(&str, Value)]) -> Vec<StoredEvent> {
    list.iter()
        .zip(1_i64..)
        .map(|((kind, payload), id)| StoredEvent {
            id,
            created_at: format!("2026-01-05T10:00:{id:02}+00:00"),
            kind: (*kind).to_owned(),
            payload: payload.clone(),
        })
        .collect()
}

/// One line a message: `U`, `A` or `T`, then the content with its line breaks shown.
fn show(messages: &[Message]) -> Vec<String> {
    messages
        .iter()
        .map(|message| {
            let role = match message.role {
                Role::User => 'U',
                Role::Assistant => 'A',
                Role::Tool => 'T',
            };
            format!("{role} {}", message.content.replace('\n', "⏎"))
        })
        .collect()
}

#[test]
fn ids_and_names() {
    assert_eq!(
        packet_id("https://github.com/acme/widgets", "s1", 1, 3),
        digest::hex(&["https://github.com/acme/widgets\0s1\x001\x003"], 32)
    );
    assert_eq!(
        stem("/w", "s1", &Reason::SessionEnd, "0123abcd"),
        format!("{}-0123abcd", digest::hex(&["/w\0s1\0session-end"], 24))
    );
    let idle = stem("/w", "s1", &Reason::Idle, "0123abcd");
    assert_eq!(idle, format!("idle-{}-0123abcd", digest::hex(&["idle\0/w\0s1"], 24)));
    assert!(idle.starts_with(&idle_prefix("/w", "s1")) && !idle.starts_with(&idle_prefix("/w", "s2")));
}

#[test]
fn packet_files() {
    let text =
        r#"{"hook_input": {"session_id": "s1"}, "reason": "pre-compact", "wait_for_inflight": true, "later": 1}"#;
    let packet: PacketFile = serde_json::from_str(text).expect("a packet");
    assert_eq!((&packet.reason, packet.wait_for_inflight, packet.delay_seconds), (&Reason::PreCompact, true, None));
    assert_eq!(
        serde_json::to_value(&packet).expect("json"),
        json!({"hook_input": {"session_id": "s1"}, "reason": "pre-compact", "wait_for_inflight": true})
    );
    for bad in ["{}", "[]", r#"{"hook_input": 1}"#, r#"{"hook_input": {}, "reason": 5}"#] {
        assert!(serde_json::from_str::<PacketFile>(bad).is_err(), "{bad}");
    }
    for word in ["periodic", "idle", "pre-compact", "session-end", "manual"] {
        assert_eq!(Reason::parse(word).as_str(), word);
    }
}

#[test]
fn prompts_answers_and_transcripts() {
    let said = |role: &str, content: &str| json!({"role": role, "content": content});
    let list = events(&[
        ("session_start", json!({"source": "startup"})),
        ("user_prompt", json!({"text": "one"})),
        ("user_prompt", json!({"text": "queued"})),
        (
            "assistant_stop",
            json!({"text": "x", "transcript_messages": [
                said("user", "one"), said("assistant", "hm"), said("user", "asked in between"),
                said("assistant", "Main Claude response:\ndone"),
            ]}),
        ),
        ("subagent_stop", json!({"final_message": "sub"})),
        ("user_prompt", json!({"text": "two"})),
        ("assistant_stop", json!({"text": "plain"})),
        ("future_kind", json!({"text": "z"})),
        ("user_prompt", json!({"text": "left over"})),
    ]);
    assert_eq!(
        show(&conversation(&list, Some("task"))),
        [
            "U queued",
            "U one",
            "A hm",
            "U asked in between",
            "A Main Claude response:⏎done",
            "U two",
            "A plain",
            "U left over"
        ]
    );
    let turns = turns(&list);
    assert_eq!(
        show(&turns),
        ["U one", "U queued", "A hm", "U asked in between", "A done", "U two", "A plain", "U left over"]
    );
    assert_eq!(turns[0].at.map(|at| at.to_string()).as_deref(), Some("2026-01-05T10:00:02Z"));
}

#[test]
fn a_task_stands_in_for_a_missing_prompt() {
    let list = events(&[("assistant_stop", json!({"text": "done"}))]);
    assert_eq!(show(&conversation(&list, Some("index the docs"))), ["U index the docs", "A done"]);
    assert_eq!(show(&conversation(&list, Some(" "))), ["A done"]);
    assert!(conversation(&[], None).is_empty() && turns(&[]).is_empty());
}

fn work() -> Vec<StoredEvent> {
    events(&[
        ("user_prompt", json!({"text": "go"})),
        ("tool_result", json!({"tool": "Read", "path": "/r/docs/a.md", "repo_path": "docs/a.md", "failed": false})),
        (
            "tool_result",
            json!({"tool": "Edit", "path": "/r/src/m.rs", "repo_path": "src/m.rs", "mutation_chars": 1, "failed": false, "agent_role": "main"}),
        ),
        (
            "tool_result",
            json!({"tool": "Write", "path": "/else/M.md", "repo_path": "", "mutation_chars": 1, "failed": false}),
        ),
        (
            "tool_result",
            json!({"tool": "Edit", "repo_path": "sub/only.rs", "mutation_chars": 1, "agent_role": "subagent"}),
        ),
        (
            "tool_result",
            json!({"tool": "Bash", "command": "cargo\n test", "command_kind": "test", "failed": false, "result_preview": "{\"stdout\":\"88 passed\\nok\"}"}),
        ),
        ("tool_result", json!({"tool": "Grep", "pattern": "x", "failed": false})),
        ("assistant_stop", json!({"text": "Half-even now."})),
    ])
}

#[test]
fn evidence_names_changed_files() {
    let messages = conversation(&work(), None);
    assert_eq!(show(&messages), ["U go", "A Half-even now.⏎⏎Files changed:⏎- src/m.rs"]);
}

#[test]
fn a_failed_command_brings_all_commands() {
    let mut list = work();
    let failure = json!({"tool": "Bash", "command": "make x", "command_kind": "build", "failed": null, "error": "no rule", "result_preview": "no rule"});
    list.insert(1, events(&[("tool_failure", failure)]).remove(0));
    let messages = conversation(&list, None);
    assert_eq!(
        show(&messages)[1],
        "A Half-even now.⏎⏎Files changed:⏎- src/m.rs⏎⏎Commands run:⏎[failed/build] make x -> no rule⏎[succeeded/test] cargo test -> 88 passed ok"
    );
    // Nothing was said: the evidence stands alone.
    let alone = conversation(&list[1..2], None);
    assert_eq!(show(&alone), ["A Commands run:⏎[failed/build] make x -> no rule"]);
}

#[test]
fn evidence_is_bounded() {
    let mut list = vec![];
    for index in 0..60 {
        list.push((
            "tool_result",
            json!({"tool": "Write", "repo_path": format!("f{}.rs", index / 2), "mutation_chars": 1}),
        ));
        list.push(("tool_failure", json!({"tool": "Bash", "command": format!("cmd-{index}-"), "failed": true, "result_preview": "y".repeat(900)})));
    }
    let text = conversation(&events(&list), None).remove(0).content;
    assert!(text.chars().count() <= 8_000 + 40, "{}", text.len());
    assert!(text.contains("f19.rs") && !text.contains("f20.rs"));
    assert!(text.contains("cmd-30-") && !text.contains("cmd-29-"));
    assert!(text.contains(&format!(" -> {}\n", "y".repeat(500))));
}

#[test]
fn turns_carry_tools() {
    let mut list = work();
    list.insert(
        2,
        events(&[("tool_failure", json!({"tool": "WebFetch", "url": "https://x", "error": "timeout"}))]).remove(0),
    );
    let turns = turns(&list);
    assert_eq!(
        show(&turns),
        [
            "U go",
            "T WebFetch https://x⏎timeout",
            "T Edit src/m.rs",
            "T Write /else/M.md",
            "T cargo⏎ test⏎88 passed⏎ok",
            "A Half-even now."
        ]
    );
    let command = turns[4].tool.as_ref().expect("a tool");
    assert_eq!(
        (
            command.name.as_str(),
            command.command.as_deref(),
            command.command_kind.as_deref(),
            command.failed,
            command.output.as_str()
        ),
        ("Bash", Some("cargo\n test"), Some("test"), Some(false), "88 passed\nok")
    );
    let edit = turns[2].tool.as_ref().expect("a tool");
    assert_eq!((edit.path.as_deref(), edit.failed), (Some("src/m.rs"), Some(false)));
    assert_eq!(turns[1].tool.as_ref().expect("a tool").failed, Some(true));
}

#[test]
fn secrets_are_taken_once_more() {
    let secret = "q".repeat(20);
    let list = events(&[
        ("user_prompt", json!({"text": format!("password={secret}")})),
        (
            "tool_failure",
            json!({"tool": "Bash", "command": format!("login --password={secret}"), "failed": true, "result_preview": secret.clone() + " ok"}),
        ),
    ]);
    let text = show(&conversation(&list, None)).join("\n") + &show(&turns(&list)).join("\n");
    assert!(!text.contains(&format!("password={secret}")) && text.contains(crate::redact::MARK));
}

fn message(role: Role, content: &str) -> Message {
    Message { role, content: content.to_owned(), at: None, tool: None }
}

/// The estimate as the contract words it, over the JSON itself.
fn estimate_by_json(messages: &[Message]) -> usize {
    let parts: Vec<String> = messages
        .iter()
        .map(|message| {
            let text = |value: &Value| serde_json::to_string(value).expect("json");
            let value = serde_json::to_value(message).expect("json");
            format!("{{\"role\": {}, \"content\": {}}}", text(&value["role"]), text(&value["content"]))
        })
        .collect();
    let json = format!("[{}]", parts.join(", "));
    let ascii = json.chars().filter(char::is_ascii).count();
    (2 * ascii + 5 * (json.chars().count() - ascii)).div_ceil(5)
}

#[test]
fn batches_by_table() {
    let long = |chars: usize| "x".repeat(chars);
    // 24,000 tokens are 60,000 ASCII characters less the frame.
    let roles = |requests: &[Vec<Message>]| {
        requests
            .iter()
            .map(|request| {
                show(request)
                    .iter()
                    .map(|line| format!("{}{}", &line[..1], line.chars().count() - 2))
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect::<Vec<_>>()
    };
    assert!(batches(vec![]).is_empty());
    assert_eq!(batches(vec![message(Role::User, "a"), message(Role::Assistant, "b")]).len(), 1);
    let exchange = |size: usize| vec![message(Role::User, "q"), message(Role::Assistant, &long(size))];
    assert_eq!(
        roles(&batches([exchange(25_000), exchange(25_000), exchange(25_000)].concat())),
        ["U1 A25000 U1 A25000", "U1 A25000"]
    );
    // An exchange above the limit is taken apart; its first part shares a request with what went before.
    assert_eq!(
        roles(&batches(
            [
                exchange(100),
                vec![
                    message(Role::User, "q"),
                    message(Role::Assistant, &long(40_000)),
                    message(Role::Assistant, &long(40_000))
                ]
            ]
            .concat()
        )),
        ["U1 A100 U1 A40000", "A40000"]
    );
    // Assignment and response stay together.
    let pair = |size: usize| {
        vec![
            message(Role::Assistant, &format!("Subagent assignment (t):{}", long(size))),
            message(Role::Assistant, &format!("Subagent response (t):{}", long(size))),
        ]
    };
    assert_eq!(
        roles(&batches(
            [vec![message(Role::User, "q"), message(Role::Assistant, &long(20_000))], pair(25_000)].concat()
        )),
        ["U1 A20000", "A25024 A25022"]
    );
    // A single message above the limit is cut where the limit is.
    let requests = batches(vec![message(Role::Assistant, &long(150_000))]);
    assert_eq!(requests.iter().map(|request| estimate(request)).collect::<Vec<_>>()[..2], [24_000, 24_000]);
}

fn any_messages() -> impl Strategy<Value = Vec<Message>> {
    let content = prop_oneof![
        "\\PC{0,40}",
        (prop::sample::select(vec!["x", "é", "🧠", "\"", "\n", "\u{1}", "ab 你"]), 0_usize..40_000)
            .prop_map(|(piece, times)| piece.repeat(times)),
        "[a-z]{0,9}".prop_map(|tail| format!("Subagent assignment ({tail}")),
        (0_usize..30_000).prop_map(|times| format!("Subagent response ({}", "y".repeat(times))),
    ];
    let role = prop::sample::select(vec![Role::User, Role::Assistant, Role::Tool]);
    prop::collection::vec((role, content).prop_map(|(role, content)| message(role, &content)), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_is_lost_doubled_or_moved(messages in any_messages()) {
        let requests = batches(messages.clone());
        for request in &requests {
            prop_assert!(!request.is_empty() && estimate(request) <= MAX_ESTIMATE);
        }
        // Gluing pieces of one message together again gives the messages back.
        let mut pieces = requests.into_iter().flatten().peekable();
        for whole in &messages {
            let mut glued = pieces.next().expect("a piece for every message");
            prop_assert_eq!(glued.role, whole.role);
            while glued.content.len() < whole.content.len() {
                glued.content.push_str(&pieces.next().expect("the rest").content);
            }
            prop_assert_eq!(&glued.content, &whole.content);
        }
        prop_assert!(pieces.next().is_none());
    }

    #[test]
    fn the_estimate_is_that_of_the_json(messages in any_messages()) {
        prop_assert_eq!(estimate(&messages), estimate_by_json(&messages));
    }
}
