//! Hooks in odd surroundings: relative folders, broken repositories, transcripts too long to read in time.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::home::{Home, LIMIT, open};
use crate::process;

/// A worker finds the folders of the hook that started it, however they were spelled.
#[test]
fn relative_folders_are_the_same_to_a_worker() {
    for args in [&["hook", "claude-code"][..], &["--plugin-data-dir", "data", "hook", "claude-code"]] {
        let home = Home::new();
        for (event, fields) in [
            ("UserPromptSubmit", json!({"prompt": "Remember: kestrel deploys on Fridays."})),
            ("SessionEnd", json!({})),
        ] {
            let mut hook = home.command(&[args, &[event]].concat());
            hook.env("MEM0_DIR", "here").env_remove("MEM0_CODE_SPAWN");
            let outcome = process::run(hook, home.payload(event, "one", fields).as_bytes(), LIMIT);
            assert!(outcome.is_success(), "{event}: {outcome:?}");
        }
        let memory = home.repo().join("here/memory.sqlite3");
        let data = home.repo().join(if args.len() > 2 { "data" } else { "here/claude-code-plugin" });
        let is_done = || fs::read_to_string(data.join("flush-worker.log")).is_ok_and(|log| log.contains("succeeded"));
        let end = Instant::now() + LIMIT;
        while !(memory.exists() && is_done()) {
            assert!(Instant::now() < end, "{args:?}: the worker went elsewhere");
            thread::sleep(Duration::from_millis(20));
        }
        // It ends by itself; what it writes until then would outlive the folder.
        thread::sleep(Duration::from_millis(300));
    }
}

/// A session in a repository that cannot be read for a while stays whole, whatever folder its events come from.
#[test]
fn a_session_outlives_a_broken_repository() {
    let home = Home::new();
    let below = home.repo().join("sub");
    fs::create_dir(&below).expect("making a folder");
    let config = home.repo().join(".git/config");
    let good = fs::read_to_string(&config).expect("a new repository has a configuration");
    fs::write(&config, "[remote \"origin\n").expect("breaking the configuration");
    for (folder, prompt) in [(home.repo(), "The first prompt."), (below.clone(), "The second prompt.")] {
        let outcome = home.hook("UserPromptSubmit", "broken", json!({"prompt": prompt, "cwd": folder}));
        assert!(outcome.is_success(), "{outcome:?}");
    }
    assert_eq!(home.count("SELECT COUNT(DISTINCT repo_id) FROM events"), 1);
    fs::write(&config, good).expect("repairing the configuration");
    let outcome = home.hook("UserPromptSubmit", "broken", json!({"prompt": "The third prompt.", "cwd": below}));
    assert!(outcome.is_success(), "{outcome:?}");
    home.settle(&["broken".to_owned()]);
    assert_eq!(home.count("SELECT COUNT(*) FROM events WHERE repo_id LIKE 'https:%' AND kind = 'user_prompt'"), 3);
    assert_eq!(home.turns().len(), 3, "{:?}", home.turns());
}

/// A killed session whose repository could not be read is taken up as any other. B020.
#[test]
fn what_a_broken_repository_left_is_taken_up() {
    let home = Home::new();
    fs::write(home.repo().join(".git/config"), "[remote \"origin\n").expect("breaking the configuration");
    home.prompt("killed", "The only prompt of this session.");
    open(&home.evidence())
        .execute("UPDATE events SET created_at = '2020-01-01T00:00:00.000000+00:00'", [])
        .expect("dating events back");
    assert!(home.work().is_success());
    assert_eq!(home.count("SELECT COUNT(*) FROM flushes WHERE status = 'semantic-succeeded'"), 1);
}

/// An empty `.git` is no repository to git either: the session is the folder's, for good.
#[test]
fn an_empty_git_folder_is_no_repository() {
    let home = Home::new();
    let plain = home.root().join("plain");
    fs::create_dir_all(plain.join("sub")).expect("making folders");
    fs::create_dir(plain.join(".git")).expect("making a folder");
    for folder in [plain.clone(), plain.join("sub")] {
        let outcome = home.hook(
            "UserPromptSubmit",
            "plain",
            json!({"prompt": format!("In {}.", folder.display()), "cwd": folder}),
        );
        assert!(outcome.is_success(), "{outcome:?}");
    }
    assert_eq!(home.count("SELECT COUNT(*) FROM session_scopes"), 1);
    assert_eq!(home.count("SELECT COUNT(DISTINCT repo_id) FROM events"), 1);
}

/// A folder a host names relatively is meant from where the hook runs.
#[test]
fn a_relative_folder_is_found() {
    let home = Home::new();
    fs::create_dir(home.repo().join("sub")).expect("making a folder");
    let outcome = home.hook("UserPromptSubmit", "relative", json!({"prompt": "Where am I?", "cwd": "sub"}));
    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(home.count("SELECT COUNT(*) FROM session_scopes WHERE repo_id LIKE 'https:%' AND directory = 'sub'"), 1);
}

/// Somebody reads the store for long: the worker that would trim its log must not make hooks wait. B022, B091.
#[test]
fn trimming_the_log_never_holds_hooks_up() {
    let home = Home::new();
    home.prompt("busy", "The first prompt.");
    let writer = open(&home.evidence());
    writer
        .execute_batch("CREATE TABLE filler (x); INSERT INTO filler VALUES (zeroblob(3000000));")
        .expect("filling the log");
    let reader = open(&home.evidence());
    reader.execute_batch("BEGIN; SELECT COUNT(*) FROM events;").expect("reading");
    writer.execute_batch("INSERT INTO filler VALUES (1)").expect("writing behind the reader");
    for round in 0..5 {
        let mut hook = home.command(&["hook", "claude-code", "UserPromptSubmit"]);
        hook.env_remove("MEM0_CODE_SPAWN");
        let payload = home.payload("UserPromptSubmit", "busy", json!({"prompt": format!("Prompt {round}.")}));
        let outcome = process::run(hook, payload.as_bytes(), LIMIT);
        assert!(outcome.is_success() && outcome.elapsed < Duration::from_secs(1), "{outcome:?}");
        thread::sleep(Duration::from_millis(30));
    }
    assert_eq!(home.stored_prompts().len(), 6);
}

/// A store that a Mem0 plugin left readable to everybody becomes private.
#[test]
fn an_older_store_becomes_private() {
    use std::os::unix::fs::PermissionsExt;

    let home = Home::new();
    fs::create_dir_all(home.data()).expect("making the folder");
    fs::write(home.evidence(), b"").expect("making a store");
    fs::set_permissions(home.evidence(), fs::Permissions::from_mode(0o644)).expect("opening it to all");
    home.prompt("one", "The first prompt.");
    for name in ["evidence.sqlite3", "evidence.sqlite3-wal"] {
        let mode = fs::metadata(home.data().join(name)).expect("it exists").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

/// A session that begins in a folder that is gone belongs to the repository the folder was in.
#[test]
fn a_removed_folder_was_in_its_repository() {
    let home = Home::new();
    let gone = home.repo().join("gone/deep");
    let outcome = home.hook("UserPromptSubmit", "gone", json!({"prompt": "Where am I?", "cwd": gone}));
    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(home.count("SELECT COUNT(*) FROM session_scopes WHERE repo_id LIKE 'https:%'"), 1);
}

/// Kimi Code does not wait for the hooks of tools, and stops those that still run when it ends. What they would have told
/// is taken from its own log, once.
#[test]
fn commands_whose_hooks_are_lost_or_late_are_known() {
    let home = Home::new();
    let log = home.root().join(".kimi-code/sessions/wd_repo_0/s1/agents/main/wire.jsonl");
    fs::create_dir_all(log.parent().expect("a folder")).expect("making the folder");
    let step = |event: Value| json!({ "type": "context.append_loop_event", "event": event }).to_string();
    let call = |id: &str, command: &str| {
        step(json!({ "type": "tool.call", "toolCallId": id, "name": "Bash", "args": { "command": command } }))
    };
    let result = |id: &str, output: &str, is_error: bool| {
        step(json!({ "type": "tool.result", "toolCallId": id, "result": { "output": output, "isError": is_error } }))
    };
    let failed = "error: no such test\nCommand failed with exit code: 101.";
    let lines = [
        json!({ "type": "turn.prompt", "input": [{ "type": "text", "text": "Run both." }], "origin": { "kind": "user" } })
            .to_string(),
        call("c1", "printf works"),
        result("c1", "works", false),
        call("c2", "cargo test parser"),
        result("c2", failed, true),
        step(json!({ "type": "content.part", "part": { "type": "text", "text": "One failed." } })),
        step(json!({ "type": "step.end", "finishReason": "end_turn" })),
    ];
    fs::write(&log, lines.map(|line| line + "\n").concat()).expect("writing the log");

    let hook = |event: &str, fields: Value| {
        let mut payload = json!({ "hook_event_name": event, "session_id": "s1", "cwd": home.repo() });
        payload.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
        let outcome = process::run(home.command(&["hook", "kimi", event]), payload.to_string().as_bytes(), LIMIT);
        assert!(outcome.is_success() && outcome.stdout.is_empty(), "{event}: {outcome:?}");
    };
    let tool = |id: &str, command: &str| json!({ "tool_name": "Bash", "tool_call_id": id, "tool_input": { "command": command } });
    let commands = || -> Vec<(String, bool)> {
        let store = open(&home.mem0_dir().join("kimi-plugin/evidence.sqlite3"));
        let sql = "SELECT json_extract(payload_json, '$.command'), kind = 'tool_failure' FROM events
                   WHERE kind LIKE 'tool_%' ORDER BY id";
        let mut rows = store.prepare(sql).expect("a table");
        let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
        rows.collect::<Result<_, _>>().expect("texts")
    };
    hook("UserPromptSubmit", json!({ "prompt": [{ "type": "text", "text": "Run both." }] }));
    hook("PostToolUse", tool("c1", "printf works"));
    hook("Stop", json!({}));
    let known = [("printf works".to_owned(), false), ("cargo test parser".to_owned(), true)];
    assert_eq!(commands(), known);
    let mut late = tool("c2", "cargo test parser");
    late["error"] = json!({ "message": failed });
    hook("PostToolUseFailure", late);
    hook("Stop", json!({}));
    assert_eq!(commands(), known);
}

/// A host gives a session's end little more than a second: what takes longer is read by the worker. B057.
#[test]
fn a_huge_transcript_is_read_by_the_worker() {
    let home = Home::new();
    let path = home.root().join("huge.jsonl");
    write_transcript(&path, 90 << 20);
    home.prompt("huge", "What did the long search find?");
    for event in ["Stop", "SessionEnd"] {
        let fields = json!({"transcript_path": path, "last_assistant_message": "It found the zebra."});
        let outcome = home.hook(event, "huge", fields);
        assert!(outcome.is_success() && outcome.elapsed < Duration::from_millis(500), "{event}: {outcome:?}");
    }
    home.settle(&["huge".to_owned()]);
    let turns = home.turns();
    let n_found = turns.iter().filter(|turn| turn.contains("It found the zebra.")).count();
    assert_eq!(n_found, 1, "{turns:?}");
    assert_eq!(home.count("SELECT COUNT(*) FROM events WHERE kind = 'assistant_stop'"), 1);
}

/// Row ids begin anew in a store that replaced another; what is sent then is still new.
#[test]
fn a_new_store_does_not_repeat_old_packets() {
    let home = Home::new();
    for prompt in ["Remember: kestrel deploys on Fridays.", "Remember: heron deploys on Mondays."] {
        home.prompt("again", prompt);
        home.settle(&["again".to_owned()]);
        fs::remove_dir_all(home.data()).expect("removing the store");
    }
    let turns = home.turns();
    assert!(
        turns.iter().any(|turn| turn.contains("kestrel")) && turns.iter().any(|turn| turn.contains("heron")),
        "{turns:?}"
    );
}

/// What a host calls a sub-agent is redacted as everything else is.
#[test]
fn names_of_sub_agents_are_redacted() {
    let home = Home::new();
    let secret = format!("ghp_{}", (0..36).map(|n| char::from(b'a' + (n * 7 % 26) as u8)).collect::<String>());
    for event in ["SubagentStart", "SubagentStop"] {
        let outcome = home.hook(
            event,
            "one",
            json!({"agent_id": format!("id {secret}"), "agent_type": format!("type {secret}")}),
        );
        assert!(outcome.is_success(), "{outcome:?}");
    }
    open(&home.evidence()).execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("trimming the log");
    let file = fs::read(home.evidence()).expect("the store exists");
    assert!(!file.windows(secret.len()).any(|part| part == secret.as_bytes()));
    assert_eq!(home.count("SELECT COUNT(*) FROM sidekick_runs WHERE stopped_at IS NOT NULL"), 1);
}

/// Writes a transcript of one turn with this much tool output in it.
fn write_transcript(path: &std::path::Path, n_bytes: usize) {
    let mut file = BufWriter::new(File::create(path).expect("making a transcript"));
    let mut parent = Value::Null;
    let mut write = |uuid: String, kind: &str, content: Value| {
        let row = json!({
            "uuid": uuid, "parentUuid": parent, "sessionId": "huge", "isSidechain": false, "type": kind,
            "message": {"role": kind, "content": content},
        });
        parent = uuid.into();
        writeln!(file, "{row}").expect("writing a transcript");
    };
    write("first".to_owned(), "user", "What did the long search find?".into());
    let output = "x".repeat(1 << 20);
    for n in 0..n_bytes >> 20 {
        write(
            format!("row-{n}"),
            "user",
            json!([{"type": "tool_result", "tool_use_id": n.to_string(), "content": output}]),
        );
    }
    write("last".to_owned(), "assistant", json!([{"type": "text", "text": "It found the zebra."}]));
}
