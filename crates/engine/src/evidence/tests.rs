use std::fs;

use jiff::ToSpan;
use mem0_code_core::evidence::StoredEvent;
use mem0_code_core::packet::Reason;
use mem0_code_core::transcript::CommandOutcome;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

const SESSION: Session<'static> = Session { identity: "https://h/o/r", app_id: "o-r", id: "s1" };

fn now() -> Timestamp {
    "2026-05-01T12:00:00Z".parse().unwrap()
}

fn store() -> (TempDir, Evidence) {
    let folder = TempDir::new().unwrap();
    let evidence = Evidence::open(&folder.path().join("data"), Role::Hook).unwrap();
    (folder, evidence)
}

fn event<'a>(kind: &'a str, payload: &'a Value) -> NewEvent<'a> {
    NewEvent { session: SESSION, kind, payload, now: now() }
}

fn exchange(evidence: &mut Evidence, number: usize) {
    evidence.record_prompt(&event("user_prompt", &json!({ "text": format!("question {number}") }))).unwrap();
    evidence.record_spoken_answer(&event("assistant_stop", &json!({ "text": format!("answer {number}") }))).unwrap();
}

#[test]
fn a_database_of_an_older_plugin_opens_and_continues() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(FILE_NAME);
    let old = Connection::open(&path).unwrap();
    old.execute_batch(
        "CREATE TABLE session_scopes (session_id TEXT PRIMARY KEY, repo_id TEXT NOT NULL, app_id TEXT NOT NULL,
             root TEXT NOT NULL, branch TEXT NOT NULL, head_sha TEXT NOT NULL, created_at TEXT NOT NULL);
         CREATE TABLE flushes (packet_id TEXT PRIMARY KEY, repo_id TEXT NOT NULL, app_id TEXT NOT NULL,
             session_id TEXT NOT NULL, reason TEXT NOT NULL, event_start INTEGER NOT NULL, event_end INTEGER NOT NULL,
             status TEXT NOT NULL, episode_event_id TEXT, semantic_event_id TEXT, error TEXT,
             created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
         CREATE TABLE sidekick_calls (id INTEGER);
         INSERT INTO session_scopes VALUES ('s1', 'https://h/o/r', 'o-r', '/r', 'main', '', '2026-01-01');",
    )
    .unwrap();
    drop(old);
    let evidence = Evidence::open(folder.path(), Role::Worker).unwrap();
    assert_eq!(evidence.set_aside(), None);
    let pin = evidence.pin("s1").unwrap().unwrap();
    assert_eq!((pin.app_id.as_str(), pin.directory.as_str(), pin.project_id), ("o-r", "", None));
    let dropped = evidence.connection.prepare("SELECT 1 FROM sidekick_calls");
    assert!(dropped.is_err());
}

#[test]
fn a_newer_database_is_refused_and_left_alone() {
    let (folder, evidence) = store();
    evidence.connection.pragma_update(None, "user_version", 99).unwrap();
    drop(evidence);
    let error = Evidence::open(&folder.path().join("data"), Role::Hook).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
}

#[test]
fn the_same_prompt_twice_in_a_row_is_one_prompt() {
    let (_folder, mut evidence) = store();
    let payload = json!({ "text": "Do it." });
    assert!(matches!(evidence.record_prompt(&event("user_prompt", &payload)).unwrap(), Recorded::Stored(_)));
    assert_eq!(evidence.record_prompt(&event("user_prompt", &payload)).unwrap(), Recorded::Repeated);
    exchange(&mut evidence, 1);
    assert!(matches!(evidence.record_prompt(&event("user_prompt", &payload)).unwrap(), Recorded::Stored(_)));
}

#[test]
fn an_answer_that_another_process_stored_meanwhile_is_stale() {
    let (_folder, mut evidence) = store();
    let seen = evidence.transcript_state(SESSION).unwrap();
    let payload = json!({ "text": "a", "transcript_leaf_uuid": "u2", "transcript_path": "/t", "transcript_offset": 7 });
    let answer = event("assistant_stop", &payload);
    assert!(matches!(evidence.record_read_answer(&answer, &seen, &[]).unwrap(), Recorded::Stored(_)));
    assert_eq!(evidence.record_read_answer(&answer, &seen, &[]).unwrap(), Recorded::Stale);
    let state = evidence.transcript_state(SESSION).unwrap();
    assert_eq!((state.leaf.as_deref(), state.offset, state.last_text.as_deref()), (Some("u2"), 7, Some("a")));
}

/// A host's hooks may come after the answer or never: a command is recorded once, by whoever tells it first.
#[test]
fn commands_no_hook_told_of_are_taken_from_the_transcript() {
    let (_folder, mut evidence) = store();
    let told = |command: &str, failed: bool| json!({ "tool": "Bash", "failed": failed, "command": command });
    let by_hook = |evidence: &mut Evidence, command: &str, call_id: &str| {
        evidence.record_call(&event("tool_result", &told(command, false)), call_id).unwrap()
    };
    let outcome = |call_id: &str, command: &str, exit_code| CommandOutcome {
        command: command.to_owned(),
        exit_code,
        output: "boom".to_owned(),
        call_id: Some(call_id.to_owned()),
    };
    let answer = |evidence: &mut Evidence, outcomes: &[CommandOutcome]| {
        let seen = evidence.transcript_state(SESSION).unwrap();
        evidence.record_read_answer(&event("assistant_stop", &json!({ "text": "a" })), &seen, outcomes).unwrap()
    };
    let commands = |evidence: &Evidence| -> Vec<(String, String)> {
        let of = |event: StoredEvent| (event.kind, event.payload["command"].as_str().unwrap_or("-").to_owned());
        evidence.unsent(SESSION).unwrap().into_iter().map(of).collect()
    };
    let row = |kind: &str, command: &str| (kind.to_owned(), command.to_owned());

    by_hook(&mut evidence, "ls", "c1");
    answer(&mut evidence, &[outcome("c1", "ls", 0), outcome("c2", "ls", 0), outcome("c3", "make", 2)]);
    let first =
        [row("tool_result", "ls"), row("tool_result", "ls"), row("tool_failure", "make"), row("assistant_stop", "-")];
    assert_eq!(commands(&evidence), first);

    // Hooks that come after all tell nothing new; another call of the same command does.
    assert_eq!(by_hook(&mut evidence, "make", "c3"), Recorded::Repeated);
    assert_eq!(by_hook(&mut evidence, "ls", "c2"), Recorded::Repeated);
    assert!(matches!(by_hook(&mut evidence, "make", "c4"), Recorded::Stored(_)));
    answer(&mut evidence, &[outcome("c4", "make", 0)]);
    let second = [row("tool_result", "make"), row("assistant_stop", "-")];
    assert_eq!(commands(&evidence), [&first[..], &second].concat());

    // Ids that a model uses again are of another command.
    assert!(matches!(by_hook(&mut evidence, "pwd", "c3"), Recorded::Stored(_)));
}

#[test]
fn unknown_outcomes_are_settled_by_the_transcript() {
    let (_folder, mut evidence) = store();
    for command in ["make test", "make test", "ls"] {
        let payload = json!({ "tool": "Bash", "failed": null, "command": command, "result_preview": "" });
        evidence.record(&event("tool_result", &payload)).unwrap();
    }
    let outcomes = [("make test", 2, "boom"), ("make test", 0, "ok")].map(|(command, exit_code, output)| {
        CommandOutcome { command: command.to_owned(), exit_code, output: output.to_owned(), call_id: None }
    });
    let seen = evidence.transcript_state(SESSION).unwrap();
    evidence.record_read_answer(&event("assistant_stop", &json!({ "text": "a" })), &seen, &outcomes).unwrap();
    let found: Vec<(String, Value, Value)> = evidence
        .unsent(SESSION)
        .unwrap()
        .into_iter()
        .map(|event| (event.kind, event.payload["failed"].clone(), event.payload["error"].clone()))
        .collect();
    assert_eq!(found[0], ("tool_failure".to_owned(), json!(true), json!("exit status 2\nboom")));
    assert_eq!(found[1], ("tool_result".to_owned(), json!(false), Value::Null));
    assert_eq!(found[2], ("tool_result".to_owned(), Value::Null, Value::Null));
}

#[test]
fn a_packet_lends_its_name_and_is_given_up_after_five_attempts() {
    let (_folder, mut evidence) = store();
    (1..=5).for_each(|number| exchange(&mut evidence, number));
    let periodic = evidence.prepare(SESSION, &Reason::Periodic, now()).unwrap().unwrap();
    assert_eq!(periodic.events.len(), 10);
    assert!(evidence.is_in_flight(SESSION).unwrap());
    let forced = evidence.prepare(SESSION, &Reason::SessionEnd, now()).unwrap().unwrap();
    assert_eq!((&forced.flush.packet_id, &forced.flush.reason), (&periodic.flush.packet_id, &Reason::SessionEnd));
    for _ in 0..5 {
        evidence.set_status(&forced.flush.packet_id, Status::Failed, None, Some("no"), true, now()).unwrap();
    }
    exchange(&mut evidence, 6);
    let next = evidence.prepare(SESSION, &Reason::SessionEnd, now()).unwrap().unwrap();
    assert_eq!(next.events.len(), 2);
    let given_up = evidence.flush(&periodic.flush.packet_id).unwrap().unwrap();
    assert_eq!((given_up.status, given_up.attempts), (Status::GaveUp, 5));
    assert_eq!(evidence.waiting(SESSION.identity).unwrap().gave_up, 1);
}

#[test]
fn a_lease_keeps_others_out_until_its_holder_is_gone() {
    let (_folder, mut evidence) = store();
    exchange(&mut evidence, 1);
    let packet = evidence.prepare(SESSION, &Reason::SessionEnd, now()).unwrap().unwrap().flush.packet_id;
    let minute = std::time::Duration::from_secs(60);
    let mut lease =
        |owner: &str, at: Timestamp, is_alive: bool| evidence.lease(&packet, owner, minute, at, |_| is_alive).unwrap();
    assert!(lease("1", now(), true));
    assert!(lease("1", now(), true), "renewed");
    assert!(!lease("2", now(), true), "held");
    assert!(lease("2", now(), false), "its holder is dead");
    assert!(lease("3", now() + 2.minutes(), true), "it has run out");
}

#[test]
fn what_killed_hosts_and_hooks_left_is_found() {
    let (_folder, mut evidence) = store();
    let scope = mem0_code_core::scope::resolve(
        &mem0_code_core::scope::Place {
            given: "/r".into(),
            given_root: "/r".into(),
            cwd: "/r".into(),
            root: "/r".into(),
            git: None,
        },
        &mem0_code_core::scope::Naming { project_id: None, project_map: None },
    );
    let pin = evidence.pin_to("s1", &scope, now()).unwrap();
    let session = Session { identity: &pin.identity, app_id: &pin.app_id, id: "s1" };
    let payload = json!({ "source": "startup" });
    evidence.record(&NewEvent { session, kind: "session_start", payload: &payload, now: now() }).unwrap();
    assert_eq!(evidence.abandoned(now() + 1.hour()).unwrap(), [], "a start alone is nothing");
    let payload = json!({ "text": "why?" });
    evidence.record_prompt(&NewEvent { session, kind: "user_prompt", payload: &payload, now: now() }).unwrap();
    assert_eq!(evidence.abandoned(now()).unwrap(), [], "it may still be at work");
    let ids = |found: Vec<Abandoned>| found.into_iter().map(|left| left.session_id).collect::<Vec<_>>();
    assert_eq!(ids(evidence.abandoned(now() + 1.hour()).unwrap()), ["s1"]);
    let packet = evidence.prepare(session, &Reason::SessionEnd, now()).unwrap().unwrap().flush.packet_id;
    assert_eq!(ids(evidence.abandoned(now() + 1.hour()).unwrap()), ["s1"], "prepared, and then nothing");
    evidence.set_status(&packet, Status::Succeeded, None, None, false, now()).unwrap();
    assert_eq!(evidence.abandoned(now() + 1.hour()).unwrap(), []);
}

#[test]
fn forgotten_bytes_are_in_no_file() {
    let (folder, mut evidence) = store();
    let secret = "the-heron-nests-at-dawn";
    evidence.record_prompt(&event("user_prompt", &json!({ "text": secret }))).unwrap();
    let gone = evidence.forget(SESSION.identity).unwrap();
    assert_eq!(gone.events, 1);
    drop(evidence);
    for entry in fs::read_dir(folder.path().join("data")).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert!(memchr_find(&bytes, secret.as_bytes()).is_none());
    }
}

fn memchr_find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[test]
fn pausing_is_remembered() {
    let (folder, evidence) = store();
    assert!(!evidence.is_paused().unwrap());
    evidence.set_paused(true, now()).unwrap();
    drop(evidence);
    let evidence = Evidence::open(&folder.path().join("data"), Role::Worker).unwrap();
    assert!(evidence.is_paused().unwrap());
    evidence.set_paused(false, now()).unwrap();
    assert!(!evidence.is_paused().unwrap());
}
