//! What must not happen: recursion, orphans, forgotten text that is still there.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::home::{CLAUDE_CODE_EVENTS, CODEX_EVENTS, Home, LIMIT};
use crate::process;

/// Hooks of an agent that a worker started: nothing is stored, nothing printed. B002, B004.
#[test]
fn hooks_below_a_worker_do_nothing() {
    let home = Home::new();
    for (host, events) in [("claude-code", CLAUDE_CODE_EVENTS), ("codex", CODEX_EVENTS)] {
        for event in events {
            let mut hook = home.command(&["hook", host, event]);
            hook.env("MEM0_CODE_WORKER", "1").env_remove("MEM0_CODE_SPAWN");
            let fields = json!({"prompt": "Summarize the session so far, please.", "source": "startup"});
            let outcome = process::run(hook, home.payload(event, "inner", fields).as_bytes(), LIMIT);
            assert!(outcome.is_success() && outcome.stdout.is_empty(), "{host} {event}: {outcome:?}");
        }
    }
    assert!(!home.evidence().exists(), "a database was made");
    assert_eq!(home.packets(), Vec::<String>::new());
}

/// A Stop that our own Stop hook caused queues nothing new. B002.
#[test]
fn a_stop_within_a_stop_queues_no_work() {
    let home = Home::new();
    let fields = json!({"stop_hook_active": true, "last_assistant_message": "Going on."});
    let outcome = home.hook("Stop", "ghost", fields);
    assert!(outcome.is_success() && outcome.stdout.is_empty(), "{outcome:?}");
    assert_eq!(home.packets(), Vec::<String>::new());
}

/// The MCP server ends with its input. B006.
#[test]
fn the_mcp_server_ends_with_its_input() {
    let home = Home::new();
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let inputs = [
        ("nothing", String::new()),
        ("initialize", format!("{initialize}\n")),
        ("half a line", initialize.to_string()[..40].to_owned()),
        ("garbage", "\u{0}\u{1}{]\n\n\n[1]\n".to_owned()),
    ];
    for (what, input) in inputs {
        let outcome = process::run(home.command(&["mcp"]), input.as_bytes(), LIMIT);
        assert!(outcome.is_success() && !outcome.output_held, "{what}: {outcome:?}");
        assert!(outcome.elapsed < Duration::from_secs(1), "{what}: {:?}", outcome.elapsed);
        for line in outcome.stdout.lines() {
            let message: serde_json::Value =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{what}: {error}: {line}"));
            assert_eq!(message["jsonrpc"], "2.0", "{what}");
        }
    }
    let outcome = process::run(home.shell("</dev/null", &["mcp"]), b"", LIMIT);
    assert!(outcome.is_success() && outcome.elapsed < Duration::from_secs(1), "{outcome:?}");
}

/// After forget, the words are in no file of ours; killed half-way, a second run finishes it. B105.
#[test]
fn forgotten_text_is_in_no_file_even_after_kills() {
    let home = Home::new();
    let secret = "heliotrope-cantaloupe";
    let mut life = Duration::from_millis(20);
    for round in 0..24_u32 {
        home.exchange("s1", &format!("Remember that round {round} uses the {secret} layout."), "Noted.");
        home.end("s1");
        home.work();
        let forget = ["--harness", "claude-code", "forget", "--yes", "--remote", "--include-project-memory"];
        let started = Instant::now();
        let running = process::start(home.command(&forget), b"");
        thread::sleep(life * round / 24);
        running.kill();
        let outcome = home.run(&forget);
        assert!(outcome.is_success(), "{outcome:?}");
        life = life.max(outcome.elapsed.min(started.elapsed()));
        let left = files_with(&home, secret);
        assert!(left.is_empty(), "round {round}: {left:?}");
    }
}

/// Half-made files of killed processes do not pile up. B101.
#[test]
fn temporary_files_do_not_pile_up() {
    let home = Home::new();
    for round in 0..20 {
        home.exchange("s1", &format!("Which part is round {round} about?"), "The index.");
        home.end("s1");
        let worker = process::start(home.command(&["worker"]), b"");
        thread::sleep(Duration::from_millis(round));
        worker.kill();
        home.age_claims();
    }
    home.settle(&["s1".to_owned()]);
    let names = files_with(&home, "");
    let temporary: Vec<_> = names.iter().filter(|name| name.contains("tmp") || name.contains(".partial")).collect();
    assert!(temporary.len() <= 2, "{temporary:?}");
    assert!(names.len() < 40, "{names:?}");
}

/// Files below our folder whose bytes contain `text`.
fn files_with(home: &Home, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![home.mem0_dir()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("our folders can be read").filter_map(Result::ok) {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).contains(text) {
                found.push(path.strip_prefix(home.mem0_dir()).unwrap_or(&path).display().to_string());
            }
        }
    }
    found
}
