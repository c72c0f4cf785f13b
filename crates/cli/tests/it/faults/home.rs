//! A temporary home with a repository in it, and the few commands the fault tests run there.

use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{self, BINARY, Outcome};

/// Hooks Claude Code fires, by its own names.
pub(crate) const CLAUDE_CODE_EVENTS: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "StopFailure",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
    "EventOfTheFuture",
];

/// Hooks Codex fires, by its own names.
pub(crate) const CODEX_EVENTS: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
    "EventOfTheFuture",
];

/// Every host with the hooks it fires, and some it might.
pub(crate) fn hosts() -> Vec<(&'static str, Vec<&'static str>)> {
    mem0_code_core::hosts::ALL
        .iter()
        .map(|host| match host.id {
            "claude-code" => (host.id, CLAUDE_CODE_EVENTS.to_vec()),
            "codex" => (host.id, CODEX_EVENTS.to_vec()),
            _ => {
                let own = host.hooks.iter().map(|hook| hook.native);
                (host.id, own.chain(["PreToolUse", "preToolUse", "EventOfTheFuture"]).collect())
            }
        })
        .collect()
}

/// How long any single command of a fault test may take.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// The home. Everything in it goes when it is dropped.
pub(crate) struct Home {
    _folder: TempDir,
    root: PathBuf,
}

impl Home {
    /// Makes a home with a repository that has a remote.
    pub(crate) fn new() -> Self {
        let folder = TempDir::with_prefix("mem0-code-fault-").expect("making a temporary folder");
        let root = folder.path().canonicalize().expect("a new folder has a real path");
        let home = Self { _folder: folder, root };
        fs::create_dir(home.repo()).expect("making the repository's folder");
        for args in
            [&["init", "-q", "-b", "main"][..], &["remote", "add", "origin", "https://host.example/acme/widgets.git"]]
        {
            let mut git = Command::new("git");
            git.arg("-C").arg(home.repo()).args(args).env("HOME", &home.root).env("GIT_CONFIG_NOSYSTEM", "1");
            assert!(git.status().expect("git starts").success(), "git {args:?}");
        }
        home
    }

    /// The home folder itself.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The repository that commands run in.
    pub(crate) fn repo(&self) -> PathBuf {
        self.root.join("widgets")
    }

    /// The folder that holds everything of ours.
    pub(crate) fn mem0_dir(&self) -> PathBuf {
        self.root.join(".mem0")
    }

    /// The data folder of Claude Code's hooks.
    pub(crate) fn data(&self) -> PathBuf {
        self.mem0_dir().join("claude-code-plugin")
    }

    /// The evidence database of Claude Code's hooks.
    pub(crate) fn evidence(&self) -> PathBuf {
        self.data().join("evidence.sqlite3")
    }

    /// The memory database.
    pub(crate) fn memory(&self) -> PathBuf {
        self.mem0_dir().join("memory.sqlite3")
    }

    /// Waiting and claimed packets, by name.
    pub(crate) fn packets(&self) -> Vec<String> {
        let entries = fs::read_dir(self.data().join("pending")).into_iter().flatten().filter_map(Result::ok);
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Gives a command this home's environment. Nothing of the tester's own gets through.
    pub(crate) fn dress(&self, command: &mut Command) {
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.root)
            .env("MEM0_DIR", self.mem0_dir())
            .envs([
                ("LANG", "C.UTF-8"),
                ("GIT_CONFIG_NOSYSTEM", "1"),
                ("MEM0_CODE_USER_ID", "test-user"),
                ("MEM0_TELEMETRY", "false"),
                ("MEM0_CODE_SPAWN", "manual"),
                ("MEM0_CODE_IDLE_FLUSH_SECONDS", "0"),
                // A packet that waits for another one of its session waits no longer than this.
                ("MEM0_CODE_EXTRACTION_WAIT_SECONDS", "2"),
                ("MEM0_CODE_EVENT_POLL_SECONDS", "0.1"),
            ])
            .current_dir(self.repo());
    }

    /// The binary with arguments, in this home.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command.args(args);
        self.dress(&mut command);
        command
    }

    /// The binary behind a shell that redirects descriptors first: `>&-` closes standard output.
    pub(crate) fn shell(&self, redirections: &str, args: &[&str]) -> Command {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(format!("exec \"$0\" \"$@\" {redirections}")).arg(BINARY).args(args);
        self.dress(&mut command);
        command
    }

    /// Runs a command without input.
    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        process::run(self.command(args), b"", LIMIT)
    }

    /// Fires a Claude Code hook.
    pub(crate) fn hook(&self, event: &str, session: &str, fields: Value) -> Outcome {
        let payload = self.payload(event, session, fields);
        process::run(self.command(&["hook", "claude-code", event]), payload.as_bytes(), LIMIT)
    }

    /// A hook's input as a host sends it.
    pub(crate) fn payload(&self, event: &str, session: &str, fields: Value) -> String {
        let mut payload = json!({
            "session_id": session,
            "transcript_path": self.root.join("no-such-transcript.jsonl"),
            "cwd": self.repo(),
            "hook_event_name": event,
        });
        for (key, value) in fields.as_object().cloned().unwrap_or_default() {
            payload[key] = value;
        }
        payload.to_string()
    }

    /// Fires the hooks of a prompt and its answer; both must succeed.
    #[track_caller]
    pub(crate) fn exchange(&self, session: &str, prompt: &str, answer: &str) {
        self.prompt(session, prompt);
        let outcome = self.hook("Stop", session, json!({"last_assistant_message": answer}));
        assert!(outcome.is_success(), "stop: {outcome:?}");
    }

    /// Fires the hook of a prompt; it must succeed.
    #[track_caller]
    pub(crate) fn prompt(&self, session: &str, prompt: &str) {
        let outcome = self.hook("UserPromptSubmit", session, json!({"prompt": prompt}));
        assert!(outcome.is_success(), "prompt: {outcome:?}");
    }

    /// Ends a session; the hook must succeed.
    #[track_caller]
    pub(crate) fn end(&self, session: &str) {
        let outcome = self.hook("SessionEnd", session, json!({"reason": "other"}));
        assert!(outcome.is_success(), "session end: {outcome:?}");
    }

    /// Works off every packet in the foreground.
    pub(crate) fn work(&self) -> Outcome {
        self.run(&["worker"])
    }

    /// Lets claims of dead workers look abandoned, as five minutes would.
    pub(crate) fn age_claims(&self) {
        for name in self.packets().iter().filter(|name| name.ends_with(".running")) {
            set_age(&self.data().join("pending").join(name), Duration::from_secs(420));
        }
    }

    /// Ends the sessions and works until no packet is left.
    ///
    /// # Panics
    /// When packets remain after ten rounds, or after half a minute.
    #[track_caller]
    pub(crate) fn settle(&self, sessions: &[String]) {
        for session in sessions {
            self.end(session);
        }
        let (started, mut last) = (Instant::now(), None);
        for _ in 0..10 {
            self.age_claims();
            let recovering = self.hook("SessionStart", "recovery", json!({"source": "startup"}));
            assert!(recovering.is_success(), "session start: {recovering:?}");
            // It may fail, and notice on the way what has to be set aside; the next round goes on.
            last = Some(self.work());
            // A session of which a packet was under way gets its next one only now.
            for session in sessions {
                self.end(session);
            }
            if self.packets().is_empty() {
                return;
            }
            if started.elapsed() > LIMIT {
                break;
            }
        }
        panic!("packets remain: {:?}; last worker: {last:?}", self.packets());
    }

    /// Every memory of the repository, verbatim turns included, as `list --json` gives them.
    #[track_caller]
    pub(crate) fn memories(&self) -> Vec<Value> {
        const PAGE_SIZE: usize = 1_000;
        let mut all = Vec::new();
        for page in 1.. {
            let (page, size) = (page.to_string(), PAGE_SIZE.to_string());
            let outcome = self.run(&["list", "--json", "--page", &page, "--page-size", &size]);
            assert!(outcome.is_success(), "list: {outcome:?}");
            let parsed: Value =
                serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("list: {error}: {outcome:?}"));
            let list = parsed["results"].as_array().unwrap_or_else(|| panic!("list: no results in {parsed}"));
            all.extend(list.iter().cloned());
            if list.len() < PAGE_SIZE {
                break;
            }
        }
        all
    }

    /// Texts of the memories that are verbatim turns.
    #[track_caller]
    pub(crate) fn turns(&self) -> Vec<String> {
        let is_turn = |memory: &Value| memory["metadata"]["kind"] == "turn";
        let turns = self.memories().into_iter().filter(is_turn);
        turns.map(|memory| memory["memory"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// What `status --json` says. Its exit status tells whether all is well; the text has to come either way.
    #[track_caller]
    pub(crate) fn status(&self) -> String {
        let outcome = self.run(&["--harness", "claude-code", "status", "--json"]);
        assert!(matches!(outcome.code, Some(0 | 1)), "status: {outcome:?}");
        let parsed: Result<Value, _> = serde_json::from_str(&outcome.stdout);
        assert!(parsed.is_ok_and(|status| status.is_object()), "status: {outcome:?}");
        outcome.stdout
    }

    /// One number from the evidence database.
    #[track_caller]
    pub(crate) fn count(&self, sql: &str) -> i64 {
        open(&self.evidence()).query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Texts of the stored prompts, oldest first.
    #[track_caller]
    pub(crate) fn stored_prompts(&self) -> Vec<String> {
        let connection = open(&self.evidence());
        let sql = "SELECT json_extract(payload_json, '$.text') FROM events WHERE kind = 'user_prompt' ORDER BY id";
        let mut statement = connection.prepare(sql).expect("the events table exists");
        let rows = statement.query_map([], |row| row.get(0)).expect("prompts can be read");
        rows.collect::<rusqlite::Result<_>>().expect("prompts can be read")
    }
}

/// Opens an existing database for looking into it.
///
/// # Panics
/// When it does not open.
#[track_caller]
pub(crate) fn open(path: &Path) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let connection =
        Connection::open_with_flags(path, flags).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    connection.busy_timeout(Duration::from_secs(10)).expect("setting a timeout");
    connection
}

/// Asserts that SQLite finds no fault in a database.
#[track_caller]
pub(crate) fn assert_intact(path: &Path) {
    let verdict: String = open(path).query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("the check runs");
    assert_eq!(verdict, "ok", "{}", path.display());
}

/// Sets a file's time of change back.
pub(crate) fn set_age(path: &Path, age: Duration) {
    // Gone is fine: a worker may have finished meanwhile.
    let Ok(file) = File::open(path) else { return };
    let then = SystemTime::now() - age;
    file.set_times(FileTimes::new().set_accessed(then).set_modified(then)).expect("setting a file's time");
}

/// How a hook's output must look: nothing, or one JSON object.
pub(crate) fn is_valid_output(stdout: &str) -> bool {
    stdout.is_empty() || serde_json::from_str::<Value>(stdout).is_ok_and(|value| value.is_object())
}
