//! What is written for a host reads back as it was: every native writer over documents made at random.

#![expect(clippy::disallowed_methods, reason = "tests read fixtures")]

use mem0_code_core::handoff::document::{Item, Part, Role};
use mem0_code_core::handoff::native::Origin;
use mem0_code_core::hosts::sessions;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGO4o6EBRAwQCgAjrgSxn17XlQAAAABJRU5ErkJggg==";

fn origin() -> Origin<'static> {
    Origin {
        pieces: &[],
        title: "A \"title\"\n\u{1b}[31m 🚀",
        cwd: "/srv/demo/rocket invoice",
        root: "/home/dev/.host",
        config: None,
        seed: [7; 16],
        now_ms: 1_796_075_206_515,
    }
}

/// Text with what makes trouble: line ends of all kinds, escapes, other scripts, marks that hosts use themselves.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{0,12}[a-z]",
        "\\PC{1,20}x",
        Just("a\u{2028}b\r\nc\\u d83d \u{0} \t\"é🚀".to_owned()),
        Just("[Earlier conversation, compacted by the source host]\n<summary>\nWe ship.\n</summary>".to_owned()),
    ]
}

fn message(role: Role, parts: Vec<Part>) -> Item {
    Item::Message { role, content: parts, more: Map::new() }
}

fn user() -> impl Strategy<Value = Vec<Item>> {
    let part = prop_oneof![
        4 => text().prop_map(|text| Part::InputText { text }),
        1 => Just(Part::InputImage { image_url: format!("data:image/png;base64,{PNG}") }),
    ];
    prop::collection::vec(part, 1..4).prop_map(|parts| vec![message(Role::User, parts)])
}

fn assistant() -> impl Strategy<Value = Vec<Item>> {
    let part = text().prop_map(|text| Part::OutputText { text });
    prop::collection::vec(part, 1..3).prop_map(|parts| vec![message(Role::Assistant, parts)])
}

fn output() -> impl Strategy<Value = (Value, bool)> {
    let texts = prop::collection::vec(text(), 0..4);
    (texts, 0..3usize, any::<bool>()).prop_map(|(texts, pictures, is_error)| {
        let picture =
            json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": PNG } });
        let pictures = if is_error { 0 } else { pictures };
        let blocks = texts.iter().map(|text| json!({ "type": "text", "text": text }));
        match (texts.as_slice(), pictures) {
            ([text], 0) => (json!(text), is_error),
            ([], 0) => (Value::Null, is_error),
            ([one, rest @ ..], 1) => {
                let odd = json!([{ "type": "tool_reference", "tool_name": one }, picture, { "type": "text", "text": one, "rest": rest }]);
                (odd, is_error)
            }
            _ => (blocks.chain(std::iter::repeat_n(picture, pictures)).collect(), is_error),
        }
    })
}

/// Calls side by side, some said between them, then their results in any order.
fn calls() -> impl Strategy<Value = Vec<Item>> {
    let name = prop_oneof![Just("Bash"), Just("mcp__probe__echo"), Just("read-file")];
    let arguments =
        text().prop_map(|text| format!(r#"{{"z":{},"a":[1.50,{{"n":12345678901234567890123}}]}}"#, json!(text)));
    let call = (name, arguments, output(), prop::option::of(text()), any::<u32>());
    prop::collection::vec(call, 1..4).prop_map(|calls| {
        let mut items = Vec::new();
        let mut results = Vec::new();
        for (index, (name, arguments, (output, is_error), said, order)) in calls.into_iter().enumerate() {
            // Made unique below.
            let call_id = format!("{index}");
            items.push(Item::FunctionCall {
                call_id: call_id.clone(),
                name: name.to_owned(),
                arguments,
                more: Map::new(),
            });
            if let Some(text) = said {
                items.push(message(Role::Assistant, vec![Part::OutputText { text }]));
            }
            let mut more = Map::new();
            if is_error {
                more.insert("is_error".to_owned(), json!(true));
            }
            results.push((order, Item::FunctionCallOutput { call_id, name: name.to_owned(), output, more }));
        }
        results.sort_by_key(|(order, _)| *order);
        items.extend(results.into_iter().map(|(_, item)| item));
        items
    })
}

fn items() -> impl Strategy<Value = Vec<Item>> {
    let turns = prop::collection::vec(prop_oneof![user(), assistant(), calls()], 0..12);
    (user(), turns, any::<bool>()).prop_map(|(first, turns, has_odd_ids)| {
        let mut items = first;
        for (turn, mut more) in turns.into_iter().enumerate() {
            for item in &mut more {
                if let Item::FunctionCall { call_id, .. } | Item::FunctionCallOutput { call_id, .. } = item {
                    *call_id = if has_odd_ids {
                        format!("functions.bash:{turn}/{call_id} é")
                    } else {
                        format!("call_{turn}_{call_id}")
                    };
                }
            }
            items.extend(more);
        }
        items
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    /// `prepare` reads back and compares by itself: that nothing is refused is what is asked here.
    #[test]
    fn what_is_written_reads_back(items in items()) {
        for native in sessions::NATIVE {
            let prepared = native.prepare(&items, &origin());
            prop_assert!(prepared.is_ok(), "{}: {:?}\n{items:#?}", native.sessions.id, prepared.err());
        }
    }
}

/// Every document of the fixtures goes into every host, or is refused for a reason that is known.
#[test]
fn fixtures_go_into_every_host() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/handoff");
    let mut count = 0;
    for host in std::fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        for file in std::fs::read_dir(host.path()).unwrap().flatten() {
            let path = file.path();
            if !path.to_str().is_some_and(|path| path.ends_with(".expected.json")) {
                continue;
            }
            let document: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let items: Vec<Item> = serde_json::from_value(document["items"].clone()).unwrap();
            for native in sessions::NATIVE {
                let name = format!("{} into {}", path.file_name().unwrap().display(), native.sessions.id);
                match native.prepare(&items, &origin()) {
                    Ok(_) => count += 1,
                    // Keys of another program, which no host has a place for.
                    Err(refusal) => assert!(name.starts_with("extra-keys"), "{name}: {refusal}"),
                }
            }
        }
    }
    assert!(count > 100, "only {count} sessions were written");
}

#[test]
fn what_a_host_cannot_hold_is_refused_by_name() {
    let ask = message(Role::User, vec![Part::InputText { text: "SECRET".to_owned() }]);
    let call = |arguments: &str| Item::FunctionCall {
        call_id: "c".to_owned(),
        name: "run".to_owned(),
        arguments: arguments.to_owned(),
        more: Map::new(),
    };
    let result = |output: Value| Item::FunctionCallOutput {
        call_id: "c".to_owned(),
        name: "run".to_owned(),
        output,
        more: Map::new(),
    };
    let picture = Part::InputImage { image_url: format!("data:image/png;base64,{PNG}") };
    let said = message(Role::Assistant, vec![picture]);
    let between = message(Role::User, vec![Part::InputText { text: "SECRET".to_owned() }]);
    for (host, items, mentions) in [
        ("claude-code", vec![ask.clone(), call("[1]"), result(json!(""))], "item 2"),
        ("codex", vec![ask.clone(), said.clone()], "item 2"),
        ("opencode", vec![ask.clone(), call("{}"), between, result(json!(""))], "item 2"),
        ("kimi", vec![ask.clone(), said], "assistant"),
        ("pi-agent", vec![ask.clone(), call("[]"), result(json!(""))], "item 2"),
    ] {
        let refusal = sessions::native(host).unwrap().prepare(&items, &origin()).unwrap_err();
        assert!(refusal.message.contains(mentions) && !refusal.message.contains("SECRET"), "{host}: {refusal}");
    }
}

#[test]
fn the_same_seed_writes_the_same_bytes_and_another_none_of_the_ids() {
    let ask = [message(Role::User, vec![Part::InputText { text: "hi".to_owned() }])];
    for native in sessions::NATIVE {
        let once = native.prepare(&ask, &origin()).unwrap();
        assert_eq!(once, native.prepare(&ask, &origin()).unwrap());
        let other = native.prepare(&ask, &Origin { seed: [8; 16], ..origin() }).unwrap();
        assert_ne!(once.written.session_id, other.written.session_id);
        assert_ne!(once.written.files[0].0, other.written.files[0].0);
    }
}
