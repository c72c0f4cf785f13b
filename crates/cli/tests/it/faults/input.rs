//! Whatever arrives on standard input, and outputs nobody reads.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use super::home::{CLAUDE_CODE_EVENTS, Home, LIMIT, hosts, is_valid_output};
use crate::process;

/// Inputs that say nothing. B018, and more of the kind.
fn nonsense() -> Vec<(&'static str, Vec<u8>)> {
    let utf16: Vec<u8> =
        [0xfeff_u16].into_iter().chain("{\"prompt\":\"x\"}".encode_utf16()).flat_map(u16::to_le_bytes).collect();
    vec![
        ("nothing", b"".to_vec()),
        ("spaces", b"  \n\t ".to_vec()),
        ("null", b"null".to_vec()),
        ("an empty list", b"[]".to_vec()),
        ("a text", b"\"x\"".to_vec()),
        ("a number", b"1e999".to_vec()),
        ("an open brace", b"{".to_vec()),
        ("a byte-order mark alone", b"\xef\xbb\xbf".to_vec()),
        ("UTF-16", utf16),
        ("invalid UTF-8", b"{\"prompt\":\"\xff\xfe\xc3\x28\"".to_vec()),
        ("zeros", vec![0; 4096]),
        ("deep nesting", b"[".repeat(100_000)),
        ("a megabyte of garbage", b"{\"a\":".repeat(200_000)),
    ]
}

/// Every hook of every host: exit 0, a valid answer or none, nothing stored.
#[test]
fn nonsense_on_any_hook_is_silent_and_stores_nothing() {
    let mut faults = Vec::new();
    for (host, events) in hosts() {
        let home = Home::new();
        for event in events {
            for (what, bytes) in nonsense() {
                let outcome = process::run(home.command(&["hook", host, event]), &bytes, LIMIT);
                if !outcome.is_success()
                    || !is_valid_output(&outcome.stdout)
                    || outcome.elapsed > Duration::from_secs(2)
                {
                    faults.push(format!("{host} {event} with {what}: {outcome:?}"));
                }
            }
        }
        let evidence = home.mem0_dir().join(format!("{host}-plugin/evidence.sqlite3"));
        if evidence.exists() {
            let connection = super::home::open(&evidence);
            let events: i64 =
                connection.query_row("SELECT COUNT(*) FROM events", [], |row| row.get(0)).expect("a number");
            if events != 0 {
                faults.push(format!("{host}: {events} rows were stored"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// `{}` is a valid payload that says nothing: no text comes of it.
#[test]
fn an_empty_object_on_any_hook_stores_no_text() {
    for (host, events) in hosts() {
        let home = Home::new();
        for event in events {
            let outcome = process::run(home.command(&["hook", host, event]), b"{}", LIMIT);
            assert!(outcome.is_success() && is_valid_output(&outcome.stdout), "{host} {event}: {outcome:?}");
        }
        let evidence = home.mem0_dir().join(format!("{host}-plugin/evidence.sqlite3"));
        if evidence.exists() {
            let sql = "SELECT COUNT(*) FROM events WHERE kind IN ('user_prompt', 'assistant_stop')";
            let rows: i64 = super::home::open(&evidence).query_row(sql, [], |row| row.get(0)).expect("a number");
            assert_eq!(rows, 0, "{host}");
        }
        let outcome = home.work();
        assert!(outcome.is_success(), "{host}: {outcome:?}");
    }
}

/// One or two byte-order marks before a sound payload. B039.
#[test]
fn byte_order_marks_are_skipped() {
    let home = Home::new();
    for marks in 0..3 {
        let payload = home.payload("UserPromptSubmit", "s1", json!({"prompt": format!("after {marks} marks")}));
        let bytes = ["\u{feff}".repeat(marks), payload].concat();
        let outcome = process::run(home.command(&["hook", "claude-code", "UserPromptSubmit"]), bytes.as_bytes(), LIMIT);
        assert!(outcome.is_success(), "{outcome:?}");
    }
    assert_eq!(home.stored_prompts(), ["after 0 marks", "after 1 marks", "after 2 marks"]);
}

/// A prompt of a megabyte is kept whole; a host may cut the connection before it has sent it all.
#[test]
fn large_input_is_stored_whole_and_half_input_not_at_all() {
    let home = Home::new();
    let prompt = "Größe, 大小, size. ".repeat(50_000);
    home.prompt("large", &prompt);
    let stored = home.stored_prompts();
    assert_eq!(stored.len(), 1);
    // White space at the ends is nobody's concern.
    assert!(stored[0].trim() == prompt.trim(), "{} of {} bytes", stored[0].len(), prompt.len());
    let payload = home.payload("UserPromptSubmit", "half", json!({"prompt": prompt}));
    let half = &payload.as_bytes()[..payload.len() / 2];
    let outcome = process::run(home.command(&["hook", "claude-code", "UserPromptSubmit"]), half, LIMIT);
    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(home.stored_prompts().len(), 1);
}

/// Closed or full descriptors: exit 0, and what arrived is stored. B016.
#[test]
fn closed_outputs_lose_nothing() {
    let home = Home::new();
    let redirections = [">&-", "2>&-", ">&- 2>&-", ">/dev/full", "2>/dev/full", ">/dev/full 2>/dev/full"];
    for (host, events) in hosts() {
        for event in events {
            for redirection in redirections {
                let payload = home.payload(event, redirection, json!({"prompt": format!("{host} {redirection}")}));
                let hook = home.shell(redirection, &["hook", host, event]);
                let outcome = process::run(hook, payload.as_bytes(), LIMIT);
                assert!(outcome.is_success(), "{host} {event} {redirection}: {outcome:?}");
            }
        }
    }
    assert_eq!(home.stored_prompts(), redirections.map(|redirection| format!("claude-code {redirection}")));
}

/// Standard input that is closed or a folder, and a reader that has gone away.
#[test]
fn odd_descriptors_end_a_hook_quietly() {
    let home = Home::new();
    home.exchange("before", "Remember that the release branch is cut on Mondays.", "Noted.");
    home.settle(&["before".to_owned()]);
    for redirection in ["<&-", "</", "<&- >&- 2>&-", "</dev/null"] {
        for event in CLAUDE_CODE_EVENTS {
            let outcome = process::run(home.shell(redirection, &["hook", "claude-code", event]), b"", LIMIT);
            assert!(outcome.is_success(), "{event} {redirection}: {outcome:?}");
        }
    }
    // The pipe's reader is gone before the hook answers.
    let payload = home.payload("UserPromptSubmit", "gone", json!({"prompt": "When is the release branch cut?"}));
    let input = home.root().join("payload.json");
    std::fs::write(&input, payload).expect("writing the payload");
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg("(\"$0\" hook claude-code UserPromptSubmit <\"$1\"; echo $? >\"$1.status\") | true; sleep 0.3");
    shell.arg(process::BINARY).arg(&input).stdin(Stdio::null());
    home.dress(&mut shell);
    process::run(shell, b"", LIMIT);
    let status = std::fs::read_to_string(home.root().join("payload.json.status")).expect("the hook ended");
    assert_eq!(status.trim(), "0");
}

/// Commands for people, piped into something that stops reading.
#[test]
fn a_closed_pipe_is_no_error() {
    let home = Home::new();
    for args in ["status", "status --json", "--help", "list --json"] {
        let script = format!("\"$0\" {args} >&- 2>/dev/null; echo $? >status; \"$0\" {args} | true");
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(script).arg(process::BINARY);
        home.dress(&mut shell);
        let outcome = process::run(shell, b"", LIMIT);
        assert!(!outcome.stderr.contains("panicked"), "{args}: {outcome:?}");
        let status = std::fs::read_to_string(home.repo().join("status")).expect("the command ended");
        assert!(matches!(status.trim(), "0" | "1"), "{args}: status {status}");
    }
}
