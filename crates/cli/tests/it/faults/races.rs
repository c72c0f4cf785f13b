//! Many processes at once.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::home::{Home, LIMIT, assert_intact, open};
use crate::process;

/// 20 sessions with 10 hooks each, all started before any is waited for.
#[test]
fn two_hundred_concurrent_hooks_lose_nothing() {
    let home = Home::new();
    let mut hooks = Vec::new();
    for idx in 0..200 {
        let (session, number) = (format!("session-{}", idx % 20), idx / 20);
        let (event, fields) = match number % 5 {
            0 | 3 => {
                ("UserPromptSubmit", json!({"prompt": format!("Prompt {number} of {session}, long enough to search.")}))
            }
            1 | 4 => ("Stop", json!({"last_assistant_message": format!("Answer {number} of {session}.")})),
            _ => (
                "PostToolUse",
                json!({"tool_name": "Bash", "tool_input": {"command": format!("echo {idx}")}, "tool_response": {"stdout": "x"}}),
            ),
        };
        let payload = home.payload(event, &session, fields);
        hooks.push((event, process::start(home.command(&["hook", "claude-code", event]), payload.as_bytes())));
    }
    let failed: Vec<_> = hooks
        .into_iter()
        .map(|(event, running)| (event, running.finish(LIMIT)))
        .filter(|(_, outcome)| !outcome.is_success() || outcome.output_held)
        .collect();
    assert!(failed.is_empty(), "{} hooks failed, first {:?}", failed.len(), failed.first());
    let sql = "SELECT session_id || ' ' || kind, COUNT(*) FROM events GROUP BY 1";
    let connection = open(&home.evidence());
    let mut statement = connection.prepare(sql).expect("the events table exists");
    let rows = statement
        .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))
        .expect("events can be read");
    let counts: BTreeMap<String, i64> = rows.collect::<rusqlite::Result<_>>().expect("events can be read");
    let expected = (0..20).flat_map(|session| {
        // An answer equal to the last one is not stored twice; these differ.
        [("user_prompt", 4), ("assistant_stop", 4), ("tool_result", 2)]
            .map(|(kind, count)| (format!("session-{session} {kind}"), count))
    });
    assert_eq!(counts, expected.collect());
    assert_eq!(home.count("SELECT COUNT(*) FROM session_scopes"), 20);
    assert_eq!(home.count("SELECT COUNT(DISTINCT repo_id || app_id) FROM events"), 1);
    assert_intact(&home.evidence());
}

/// Writers for a while, against a writer that holds long transactions. B091.
#[test]
fn hooks_beside_long_transactions_lose_nothing() {
    let home = Home::new();
    home.prompt("first", "Creates the database before the others start.");
    let stored = thread::scope(|scope| {
        let busy = scope.spawn(|| {
            let connection = open(&home.evidence());
            for _ in 0..4 {
                connection.execute_batch("BEGIN IMMEDIATE").expect("the write lock is free at times");
                thread::sleep(Duration::from_millis(500));
                connection.execute_batch("COMMIT").expect("an empty transaction commits");
                thread::sleep(Duration::from_millis(100));
            }
        });
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let home = &home;
                scope.spawn(move || {
                    (0..6)
                        .map(|number| {
                            let text = format!("Writer {writer} number {number}");
                            home.prompt(&format!("writer-{writer}"), &text);
                            text
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        busy.join().expect("the long transactions work");
        writers.into_iter().flat_map(|writer| writer.join().expect("a writer works")).collect::<BTreeSet<_>>()
    });
    let prompts: BTreeSet<String> =
        home.stored_prompts().into_iter().filter(|text| text.starts_with("Writer")).collect();
    assert_eq!(prompts, stored);
    assert_eq!(home.count("SELECT COUNT(*) FROM events WHERE kind = 'user_prompt'"), 49);
}

/// Ten workers on one packet make one delivery.
#[test]
fn a_packet_is_delivered_by_one_of_ten_workers() {
    let home = Home::new();
    home.exchange("s1", "Which queue backs the mailer service?", "The mailer uses a Redis stream named outbox.");
    home.end("s1");
    assert_eq!(home.packets().len(), 1, "{:?}", home.packets());
    let workers: Vec<_> = (0..10).map(|_| process::start(home.command(&["worker"]), b"")).collect();
    for worker in workers {
        let outcome = worker.finish(LIMIT);
        assert!(outcome.is_success(), "{outcome:?}");
    }
    assert_eq!(home.packets(), Vec::<String>::new());
    assert_eq!(home.count("SELECT COUNT(*) FROM operations WHERE operation LIKE 'flush%'"), 1);
    assert_eq!(home.count("SELECT COUNT(*) FROM flushes WHERE status = 'semantic-succeeded'"), 1);
    let turns = home.turns();
    for text in ["Which queue backs", "a Redis stream named outbox"] {
        assert_eq!(turns.iter().filter(|turn| turn.contains(text)).count(), 1, "{text:?} in {turns:?}");
    }
}

/// Two sessions' packets and five workers: each session is delivered once.
#[test]
fn workers_share_many_packets_without_doubling() {
    let home = Home::new();
    let sessions: Vec<String> = (0..12).map(|idx| format!("s{idx}")).collect();
    for session in &sessions {
        home.exchange(session, &format!("Question asked in {session}?"), &format!("Answer given in {session}."));
        home.end(session);
    }
    let workers: Vec<_> = (0..5).map(|_| process::start(home.command(&["worker"]), b"")).collect();
    for worker in workers {
        let outcome = worker.finish(LIMIT);
        assert!(outcome.is_success(), "{outcome:?}");
    }
    home.settle(&sessions);
    let turns = home.turns();
    for session in &sessions {
        for text in [format!("asked in {session}?"), format!("given in {session}.")] {
            assert_eq!(turns.iter().filter(|turn| turn.contains(&text)).count(), 1, "{text:?} in {turns:?}");
        }
    }
}

/// Short sessions are memory too: with an end, and without one. B020.
#[test]
fn short_sessions_are_stored_with_and_without_an_end() {
    let home = Home::new();
    home.exchange("ended", "Remember that we deploy on Tuesdays only.", "Noted.");
    home.end("ended");
    // No answer and no end: the host was killed, and that is two days ago.
    home.prompt("killed", "Remember that the staging host is called heron.");
    let sql = "UPDATE events SET created_at = '2026-01-01T00:00:00.000000+00:00' WHERE session_id = 'killed'";
    open(&home.evidence()).execute_batch(sql).expect("setting a time");
    // Nothing of that session comes any more; another session's start has to see to it.
    let outcome = home.hook("SessionStart", "next", json!({"source": "startup"}));
    assert!(outcome.is_success(), "{outcome:?}");
    for _ in 0..2 {
        let outcome = home.work();
        assert!(outcome.is_success(), "{outcome:?}");
    }
    let turns = home.turns().join("\n");
    for text in ["deploy on Tuesdays", "is called heron"] {
        assert!(turns.contains(text), "{text:?} not in {turns}");
    }
}
