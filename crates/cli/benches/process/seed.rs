//! Fills the stores the hooks are measured with. Runs in a process of its own.

use std::path::Path;
use std::process::{Command, Stdio};

use mem0_code_core::memory::{Entities, Message, Role};
use mem0_code_engine::api::{AddRequest, MemoryApi};
use mem0_code_engine::embedded::{Access, Embedded};
use rusqlite::{Connection, params};
use serde_json::Value;

use crate::home::{BenchHome, MARKER, dress, tool_fields};

/// What the made-up work is about. Fixed, so that every run measures the same store.
const THINGS: [&str; 12] = [
    "parser",
    "scheduler",
    "ledger",
    "mailer",
    "importer",
    "cache",
    "router",
    "exporter",
    "indexer",
    "renderer",
    "billing",
    "session",
];
const ACTIONS: [&str; 9] =
    ["retries", "drops", "rounds", "locks", "merges", "flushes", "validates", "renames", "splits"];
const PLACES: [&str; 11] =
    ["queue", "table", "config", "request", "branch", "token", "schema", "worker", "header", "fixture", "page"];

/// Messages of one made-up session.
const TURNS: usize = 20;

/// Puts `memories` memories into the embedded engine and `events` events into Codex's evidence database.
pub(crate) fn fill(binary: &Path, root: &Path, memories: usize, events: usize) {
    let status = status(binary, root);
    let text = |key: &str| status[key].as_str().unwrap_or_else(|| panic!("status has no {key}")).to_owned();
    let entities = |run_id: String| Entities {
        user_id: text("user_id"),
        agent_id: text("project_id"),
        app_id: text("app_id"),
        run_id: Some(run_id),
    };
    let mut engine =
        Embedded::open(&root.join(".mem0/memory.sqlite3"), Access::ReadWrite).expect("the memory database opens");
    for session in 0..memories.div_ceil(TURNS) {
        let messages = (0..TURNS.min(memories - session * TURNS)).map(|turn| message(session, turn)).collect();
        let run_id = format!("old-{session}");
        let request = AddRequest { messages, entities: entities(run_id), infer: true, ..AddRequest::default() };
        engine.add(&request).expect("turns can be added");
    }
    let fact = spoken(Role::User, format!("The acceptance marker for this project is {MARKER}."));
    let request = AddRequest {
        messages: vec![fact],
        entities: entities("marker".to_owned()),
        infer: false,
        ..AddRequest::default()
    };
    engine.add(&request).expect("a fact can be added");
    engine.maintain(true).expect("the index can be built");
    fill_events(binary, root, events, &text("repo_id"), &text("app_id"));
}

fn message(session: usize, turn: usize) -> Message {
    let number = session * TURNS + turn;
    let (thing, action, place) =
        (THINGS[number % THINGS.len()], ACTIONS[number / 3 % ACTIONS.len()], PLACES[number / 7 % PLACES.len()]);
    if turn.is_multiple_of(2) {
        spoken(Role::User, format!("Why does the {thing} handle {number} so that it {action} the {place} twice?"))
    } else {
        spoken(
            Role::Assistant,
            format!(
                "The {thing} {action} the {place} in src/{thing}/{place}.rs:{number}, because its {place} of {session} \
                 entries is read before the lock is taken. Moving the read below the lock settles it."
            ),
        )
    }
}

fn spoken(role: Role, content: String) -> Message {
    Message { role, content, at: None, tool: None }
}

/// The large evidence database: what a year of heavy use leaves.
fn fill_events(binary: &Path, root: &Path, events: usize, repo_id: &str, app_id: &str) {
    let home = BenchHome::at(binary, root);
    let created = home.hook("PostToolUse", "tools", &tool_fields(), "codex").status();
    assert!(created.is_ok_and(|status| status.success()), "the hook fails");
    let path = root.join(".mem0/codex-plugin/evidence.sqlite3");
    let connection = Connection::open(&path).expect("the evidence database opens");
    let sql = "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
        INSERT INTO events (repo_id, app_id, session_id, created_at, kind, payload_json)
        SELECT ?2, ?3, 'old-' || (n / 60), '2026-01-01T00:00:00.000000+00:00', 'tool_result',
               json_object('tool', 'Bash', 'command', 'cargo test -p part' || n, 'result_preview', printf('%.600c', 'x'))
        FROM numbers";
    let count = i64::try_from(events).expect("a count fits");
    connection.execute(sql, params![count, repo_id, app_id]).expect("events can be inserted");
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("the log is folded in");
}

fn status(binary: &Path, root: &Path) -> Value {
    let mut command = Command::new(binary);
    command.args(["status", "--json"]);
    dress(&mut command, root);
    let output = command.stdin(Stdio::null()).output().expect("the binary starts");
    serde_json::from_slice(&output.stdout).expect("status prints JSON")
}
