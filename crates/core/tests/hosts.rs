//! The hosts against everything they were seen to send: payloads, transcripts, captures of real runs.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests read fixtures")]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use mem0_code_core::event::Event;
use mem0_code_core::host::HostSpec;
use mem0_code_core::hosts;
use mem0_code_core::transcript::{Since, Slice};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Hosts with fixtures of their payloads.
const HOSTS: &[&str] = &["claude-code", "cursor", "codex", "kimi", "antigravity"];
/// Hosts of which real runs were recorded.
const RECORDED: &[&str] = &["claude-code", "codex", "kimi"];
/// Hosts whose transcripts are read, and how the names of the fixtures begin.
const TRANSCRIPTS: &[(&str, &str)] = &[
    ("claude-code", "transcript-"),
    ("codex", "transcript-rollout-"),
    ("kimi", "transcript-wire-"),
    ("antigravity", "transcript-cli"),
];

const CONTEXT: &str = "Relevant memories: units are \"metres\" 🌊";

fn fixtures(host: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(host)
}

fn host(id: &str) -> &'static HostSpec {
    hosts::find(id).expect("the host is known")
}

/// The host's fixtures whose names begin so, by name.
fn files(host: &str, start: &str) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(fixtures(host))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .filter(|(name, _)| name.starts_with(start))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no fixtures {start}* of {host}");
    files
}

fn normalized(host: &HostSpec, native: &str, payload: &[u8]) -> Option<Event> {
    (host.normalize)(native, payload).unwrap_or_else(|error| panic!("{native}: {error}"))
}

/// Cuts long lines, so that snapshots can be read.
fn short(text: &str) -> String {
    let cut = |line: &str| match line.char_indices().nth(160) {
        Some((at, _)) => format!("{}… ({} bytes)", &line[..at], line.len()),
        None => line.to_owned(),
    };
    text.lines().map(cut).collect::<Vec<_>>().join("\n")
}

fn read(host: &HostSpec, session: &str, text: &[u8], since: &Since) -> Slice {
    let mut reader = host.transcript.expect("the host has transcripts")(session);
    // As the caller does: only lines that end count.
    let complete = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    for line in text[..complete].split_inclusive(|byte| *byte == b'\n') {
        reader.push_line(line.strip_suffix(b"\n").unwrap_or(line));
    }
    reader.finish(since)
}

fn everything() -> Since {
    Since { resumed: true, ..Since::default() }
}

fn shown(slice: &Slice) -> String {
    let mut out = String::new();
    for message in &slice.messages {
        out.push_str(&format!("{}: {}\n", message.role, message.content));
    }
    for outcome in &slice.outcomes {
        out.push_str(&format!("$ {} -> {} {:?}\n", outcome.command, outcome.exit_code, outcome.output));
    }
    let Slice { leaf, unknown_lines, needs_whole_file, parent, .. } = slice;
    out.push_str(&format!("leaf {leaf:?}, unknown {unknown_lines}, whole {needs_whole_file}, parent {parent:?}"));
    if let Some(asked) = &slice.asked {
        out.push_str(&format!("\nasked {}: {}", asked.row, asked.text));
    }
    if slice.is_open {
        out.push_str("\nopen");
    }
    short(&out)
}

fn prompts(slice: &Slice) -> Vec<String> {
    let users = slice.messages.iter().filter(|message| message.role == "user");
    users.map(|message| message.content.chars().take(40).collect()).collect()
}

/// The event of a payload: as it says, or as its file is called.
fn native_of(name: &str, payload: &[u8]) -> String {
    let payload: Value = serde_json::from_slice(payload).unwrap();
    let named = name.trim_end_matches(".json").split('-').nth(1).unwrap();
    payload["hook_event_name"].as_str().unwrap_or(named).to_owned()
}

#[test]
fn every_payload_becomes_what_it_means() {
    for id in HOSTS {
        let host = host(id);
        let mut out = String::new();
        for (name, payload) in files(id, "hook-") {
            let native = native_of(&name, &payload);
            let event = normalized(host, &native, &payload);
            let rendered = String::from_utf8((host.render)(&native, CONTEXT)).unwrap();
            out.push_str(&format!("## {name}\n{event:#?}\n> {rendered}\n\n"));
        }
        insta::assert_snapshot!(format!("payloads_{id}"), short(&out));
    }
}

#[test]
fn what_real_runs_sent_becomes_what_it_means() {
    for id in RECORDED {
        let host = host(id);
        let mut out = String::new();
        for scenario in ["basic", "compacted", "continued", "interrupted", "subagent"] {
            out.push_str(&format!("## {scenario}\n"));
            let events =
                std::fs::read_to_string(fixtures(id).join("real").join(scenario).join("events.jsonl")).unwrap();
            for line in events.lines() {
                let recorded: Value = serde_json::from_str(line).unwrap();
                let native = recorded["event"].as_str().unwrap();
                let event = normalized(host, native, recorded["stdin"].to_string().as_bytes());
                let kind = event.map_or("-".to_owned(), |event| {
                    let agent = event.agent.map_or(String::new(), |agent| format!(" in {:?}", agent.kind));
                    format!("{:?}{agent}", event.kind)
                });
                out.push_str(&format!("{native}: {kind}\n"));
            }
        }
        insta::assert_snapshot!(format!("real_events_{id}"), short(&out));
    }
}

#[test]
fn every_transcript_is_read() {
    for (id, start) in TRANSCRIPTS {
        let host = host(id);
        let mut out = String::new();
        for (name, text) in files(id, start) {
            let session = session_of(id, &text);
            out.push_str(&format!("## {name}\n{}\n\n", shown(&read(host, &session, &text, &everything()))));
        }
        for scenario in ["basic", "compacted", "continued", "interrupted", "subagent"] {
            for file in ["transcript1.jsonl", "transcript2.jsonl", "agent.jsonl"] {
                let Ok(text) = std::fs::read(fixtures(id).join("real").join(scenario).join(file)) else { continue };
                let session = session_of(id, &text);
                let slice = read(host, &session, &text, &everything());
                out.push_str(&format!("## real/{scenario}/{file}\n{}\n\n", shown(&slice)));
            }
        }
        insta::assert_snapshot!(format!("transcripts_{id}"), out);
    }
}

/// The session of a transcript: that of its last row with one (Claude Code), that of its header (Codex).
fn session_of(id: &str, text: &[u8]) -> String {
    let lines = text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let ids: Vec<String> = lines
        .filter_map(|line| {
            if id == "codex" { line["payload"]["id"].as_str() } else { line["sessionId"].as_str() }.map(str::to_owned)
        })
        .collect();
    if id == "codex" { ids.first() } else { ids.last() }.cloned().unwrap_or_default()
}

#[test]
fn human_prompts_are_those_people_typed() {
    let claude = std::fs::read(fixtures("claude-code").join("transcript-main.jsonl")).unwrap();
    let slice = read(host("claude-code"), "7d1f0c52-3a7e-4c5b-9b63-0f6f5a2f1e11", &claude, &everything());
    let expected = [
        "Fix the naïve tide parser in src/tide.rs",
        "Answers to the agent's questions:\nUser h",
        "What is wrong in this screenshot?",
        "also check the docs",
        "/mem:search tide parser decision",
        "Run the slow benchmark",
        "Now bump the version to 0.4.0 — und schr",
    ];
    assert_eq!(prompts(&slice), expected);

    let codex = std::fs::read(fixtures("codex").join("transcript-rollout-0171.jsonl")).unwrap();
    let slice = read(host("codex"), "01a22e3b-8245-7f32-bf04-a5c2fd80f057", &codex, &everything());
    let expected = [
        "Fix the naïve tide parser — it drops \"gr",
        "What is wrong here?",
        "Bump the version. The harbour log repeat",
    ];
    assert_eq!(prompts(&slice), expected);
    let answers: Vec<&str> = slice
        .messages
        .iter()
        .filter(|message| message.role == "assistant")
        .map(|message| message.content.as_str())
        .collect();
    assert_eq!(answers, ["Let me look.", "All done — tests pass ✓", "Bumped to 0.4.0."]);
}

/// Reads a transcript in pieces, as the stops of a session do, and as a whole: nothing is lost and nothing comes twice.
#[test]
fn reading_in_pieces_takes_everything_once() {
    let bare = |slice: &Slice| -> Vec<String> {
        let text = |content: &str| content.strip_prefix("Main Claude response:\n").unwrap_or(content).to_owned();
        slice.messages.iter().map(|message| short(&format!("{} {}", message.role, text(&message.content)))).collect()
    };
    for (id, file, stops) in [
        ("claude-code", "transcript-main.jsonl", vec![27, 32, 35, 38, 44, 48, 57]),
        ("claude-code", "real/subagent/transcript1.jsonl", vec![15, 33, 41]),
        ("codex", "transcript-rollout-0171.jsonl", (1..48).collect()),
        ("codex", "real/continued/transcript1.jsonl", (1..40).collect()),
        ("codex", "real/compacted/transcript1.jsonl", (1..34).collect()),
        ("kimi", "transcript-wire-main.jsonl", (1..60).collect()),
        ("kimi", "real/subagent/transcript1.jsonl", (1..60).collect()),
        ("kimi", "real/continued/transcript1.jsonl", (1..80).collect()),
        ("kimi", "real/interrupted/transcript1.jsonl", (1..40).collect()),
        ("antigravity", "transcript-cli.jsonl", (1..18).collect()),
    ] {
        let host = host(id);
        let mut text = std::fs::read(fixtures(id).join(file)).unwrap();
        // What is taken back after it was read stays read.
        let taken_back = br#""context.undo","#;
        if let Some(at) = text.windows(taken_back.len()).position(|bytes| bytes == taken_back) {
            text.truncate(text[..at].iter().rposition(|byte| *byte == b'\n').unwrap() + 1);
        }
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let session = session_of(id, &text);
        let whole = bare(&read(host, &session, &text, &everything()));

        let mut pieces = Vec::new();
        let mut since = everything();
        let mut from = 0;
        for stop in stops.into_iter().chain([lines.len()]) {
            let stop = stop.clamp(from, lines.len());
            let mut slice = read(host, &session, &lines[from..stop].concat(), &since);
            if slice.needs_whole_file {
                slice = read(host, &session, &lines[..stop].concat(), &since);
            }
            // While a turn goes on nothing is stored, and the next reading begins where this one did.
            if slice.is_open {
                continue;
            }
            pieces.extend(bare(&slice));
            since = Since { leaf: slice.leaf, ..everything() };
            from = stop;
        }
        assert_eq!(pieces, whole, "{file}");
        // The last reading once more, from the start of the file.
        let again = read(host, &session, &text, &since);
        assert_eq!(bare(&again), Vec::<String>::new(), "{file}");
    }
}

/// What we print for Codex has no key that its schema does not list, and all that it asks for.
#[test]
fn codex_accepts_what_is_printed() {
    let text = std::fs::read_to_string(fixtures("codex").join("schema-hook-fields-0.171.json")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    for (name, event) in schema["events"].as_object().unwrap() {
        let native: String = name.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
        let printed = (host("codex").render)(&native, CONTEXT);
        let takes = ["SessionStart", "UserPromptSubmit", "SubagentStart"].contains(&native.as_str());
        assert_eq!(!printed.is_empty(), takes, "{native}");
        if takes {
            let printed: Value = serde_json::from_slice(&printed).unwrap();
            assert_accepted(&printed, &event["output"], &native);
        }
    }
}

#[track_caller]
fn assert_accepted(value: &Value, schema: &Value, place: &str) {
    let fields = schema.get("fields").or(schema.get("object")).and_then(Value::as_object).unwrap();
    let object = value.as_object().unwrap();
    for (key, value) in object {
        let field = fields.get(key).unwrap_or_else(|| panic!("{place}: `{key}` is unknown to the host"));
        match field {
            Value::Object(known) if known.contains_key("one_of") => {
                assert!(known["one_of"].as_array().unwrap().contains(value), "{place}.{key}: {value}");
            }
            Value::Object(known) if known.contains_key("object") => {
                assert_accepted(value, field, &format!("{place}.{key}"))
            }
            Value::String(kind) if kind == "string" => assert!(value.is_string(), "{place}.{key}: {value}"),
            other => panic!("{place}.{key}: {other}"),
        }
    }
    for required in schema["required"].as_array().unwrap() {
        assert!(object.contains_key(required.as_str().unwrap()), "{place}: {required} is missing");
    }
}

#[test]
fn hooks_that_say_nothing_are_no_events() {
    for host in hosts::ALL {
        for hook in host.hooks {
            for payload in ["{}", " {} ", "\u{feff}{}"] {
                assert_eq!(normalized(host, hook.native, payload.as_bytes()), None, "{} {}", host.id, hook.native);
            }
            for payload in ["", "   ", "null", "[]", "\"x\"", "{", "\u{feff}", "\u{feff}\u{feff}"] {
                assert!((host.normalize)(hook.native, payload.as_bytes()).is_err(), "{} {payload:?}", host.id);
            }
        }
        // A host that takes no empty answer is given the one that means nothing.
        let silent = if host.id == "antigravity" { "{}" } else { "" };
        for (native, context) in [("SessionStart", " \n"), ("Stop", CONTEXT)] {
            assert_eq!(String::from_utf8((host.render)(native, context)).unwrap(), silent, "{} {native}", host.id);
        }
    }
}

fn natives() -> Vec<&'static str> {
    let mut natives: Vec<&str> = hosts::ALL.iter().flat_map(|host| host.hooks).map(|hook| hook.native).collect();
    natives.push("Interrupt");
    natives.push("Nonsense");
    natives
}

/// Every payload and every transcript line, to be damaged.
fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for id in HOSTS {
        seeds.extend(files(id, "hook-").into_iter().map(|(_, payload)| payload));
    }
    for (id, start) in TRANSCRIPTS {
        for (_, text) in files(id, start) {
            seeds.extend(text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
        }
    }
    seeds.retain(|seed| seed.len() < 4_000);
    seeds
}

static SEEDS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(seeds);

/// The lines of a host's transcripts, a file each, by the host's id.
type HostLines = (&'static str, Vec<Vec<u8>>);

static LINES: LazyLock<Vec<HostLines>> = LazyLock::new(|| {
    let lines = |text: Vec<u8>| text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let of_host = |(id, start): &(&'static str, &str)| {
        let id = *id;
        files(id, start).into_iter().map(move |(_, text)| (id, lines(text))).collect::<Vec<_>>()
    };
    TRANSCRIPTS.iter().flat_map(of_host).collect()
});

#[derive(Debug, Clone)]
enum Damage {
    Flip(usize, u8),
    Cut(usize),
    Remove(usize, usize),
    /// Puts another value where a value begins.
    Replace(usize, &'static str),
}

fn damaged(seed: &[u8], damages: &[Damage]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for damage in damages {
        if bytes.is_empty() {
            break;
        }
        let len = bytes.len();
        match damage {
            Damage::Flip(at, byte) => bytes[at % len] = *byte,
            Damage::Cut(at) => bytes.truncate(at % len),
            Damage::Remove(at, n) => drop(bytes.drain(at % len..(at % len + n % 20).min(len))),
            Damage::Replace(nth, value) => {
                let places: Vec<usize> = (1..len).filter(|at| bytes[at - 1] == b':').collect();
                if let Some(&at) = nth.checked_rem(places.len()).and_then(|nth| places.get(nth)) {
                    let end = (at..len).find(|end| matches!(bytes[*end], b',' | b'}' | b'\n')).unwrap_or(len);
                    bytes.splice(at..end, value.bytes());
                }
            }
        }
    }
    bytes
}

fn damage() -> impl Strategy<Value = Damage> {
    let values =
        prop::sample::select(vec!["null", "3", "-1.5e9", "true", "[]", "{}", "[[{\"a\":1}]]", "\"\\ud83e\"", "\"\""]);
    prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        any::<usize>().prop_map(Damage::Cut),
        (any::<usize>(), any::<usize>()).prop_map(|(at, n)| Damage::Remove(at, n)),
        (any::<usize>(), values).prop_map(|(nth, value)| Damage::Replace(nth, value)),
    ]
}

fn try_all(bytes: &[u8], since: &Since) {
    for host in hosts::ALL {
        for native in natives() {
            let _ = (host.normalize)(native, bytes);
        }
        if host.transcript.is_some() {
            let _ = read(host, "s1", &[bytes, b"\n"].concat(), since);
        }
    }
}

/// Says what is wrong with what a host is given for `context`, or nothing.
fn fault_in(host: &str, native: &str, context: &str, printed: &[u8]) -> Option<String> {
    let takes = matches!(
        (host, native),
        ("claude-code" | "codex", "SessionStart" | "UserPromptSubmit" | "SubagentStart")
            | ("cursor", "sessionStart" | "beforeSubmitPrompt")
            | ("kimi", "UserPromptSubmit")
            | ("antigravity", "PreInvocation")
            | ("opencode" | "openclaw" | "pi" | "deepseek", "prompt" | "reminder")
    ) && !context.trim().is_empty();
    let expected = match (host, native, takes) {
        ("antigravity", "PreToolUse", _) => json!({"decision": "allow"}),
        ("antigravity", _, false) => json!({}),
        ("antigravity", _, true) => json!({"injectSteps": [{"ephemeralMessage": context}]}),
        ("cursor", "sessionStart", true) => json!({"additional_context": context}),
        ("cursor", _, true) => json!({"continue": true, "additional_context": context}),
        (
            "cursor",
            "subagentStart" | "preToolUse" | "beforeShellExecution" | "beforeMCPExecution" | "beforeReadFile",
            _,
        ) => {
            json!({"permission": "allow"})
        }
        ("opencode" | "openclaw" | "pi" | "deepseek", _, true) => json!({"context": context}),
        ("kimi", _, true) => return (printed != context.as_bytes()).then(|| format!("{native}: not the text itself")),
        (_, _, true) => {
            json!({"hookSpecificOutput": {"hookEventName": native, "additionalContext": context}})
        }
        (_, _, false) => {
            return (!printed.is_empty()).then(|| format!("{host} {native}: something is printed without need"));
        }
    };
    match serde_json::from_slice::<Value>(printed) {
        Ok(found) if found == expected => None,
        found => Some(format!("{host} {native}: {found:?} is not {expected}")),
    }
}

#[test]
fn hosts_are_given_exactly_what_they_take() {
    let more = ["PreToolUse", "PostInvocation", "subagentStart", "subagentStop", "preToolUse", "SubagentStart"];
    for host in hosts::ALL {
        for native in natives().into_iter().chain(more) {
            for context in ["", " \n", CONTEXT] {
                assert_eq!(fault_in(host.id, native, context, &(host.render)(native, context)), None);
            }
        }
    }
}

/// A package must not register what its host punishes.
#[test]
fn antigravity_is_never_asked_before_a_tool() {
    assert!(host("antigravity").hooks.iter().all(|hook| hook.native != "PreToolUse"));
}

#[test]
fn options_are_handed_on_where_a_host_takes_them() {
    let print = host("cursor").hand_on_options.unwrap();
    assert!(print(&[]).is_empty());
    let printed: Value =
        serde_json::from_slice(&print(&[("PLUGIN_OPTION_TOP_K", "5"), ("PLUGIN_OPTION_X", "a\"b")])).unwrap();
    assert_eq!(printed, json!({"env": {"PLUGIN_OPTION_TOP_K": "5", "PLUGIN_OPTION_X": "a\"b"}}));
    assert!(hosts::ALL.iter().filter(|host| host.id != "cursor").all(|host| host.hand_on_options.is_none()));
}

proptest! {
    // `PROPTEST_CASES` tells how many cases each is tried with; 256 without it.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_context_makes_an_answer_a_host_refuses(context in any::<String>(), native in prop::sample::select(natives())) {
        for host in hosts::ALL {
            prop_assert_eq!(fault_in(host.id, native, &context, &(host.render)(native, &context)), None);
        }
    }

    #[test]
    fn no_bytes_make_a_host_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), prefix in "[{}\\[\\]\":,a-z\\\\u]{0,40}") {
        try_all(&bytes, &Since::default());
        try_all(&[prefix.as_bytes(), &bytes].concat(), &Since::default());
    }

    #[test]
    fn no_damaged_line_makes_a_host_panic(
        nth in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..6),
        leaf in prop::option::of("[a-z0-9:#]{0,20}"),
        last_prompt in prop::option::of("(\\[REDACTED\\]|[a-z ]){0,10}"),
        answer in prop::option::of(".{0,20}"),
        resumed in any::<bool>(),
    ) {
        let line = damaged(&SEEDS[nth.index(SEEDS.len())], &damages);
        let since = Since { leaf, resumed, last_prompt, answer, is_over: false };
        try_all(&line, &since);
    }

    /// Lines in any order, some twice, some lost: still no panic and no endless walk.
    #[test]
    fn no_order_of_lines_makes_a_reader_panic(
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..120),
        resumed in any::<bool>(),
    ) {
        for (id, lines) in LINES.iter() {
            let mut reader = host(id).transcript.unwrap()("7d1f0c52-3a7e-4c5b-9b63-0f6f5a2f1e11");
            for (pick, is_lost) in &picks {
                if *is_lost && pick.index(4) == 0 { reader.skip_line(9) } else { reader.push_line(&lines[pick.index(lines.len())]) }
            }
            let _ = reader.finish(&Since { resumed, ..Since::default() });
        }
    }
}
