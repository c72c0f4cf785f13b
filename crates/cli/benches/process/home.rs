//! The home the measured hooks run in, and what they are given.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The question of every first prompt. The filled store holds the answer among its memories.
pub(crate) const QUESTION: &str = "What is the acceptance marker for this project?";

/// The answer.
pub(crate) const MARKER: &str = "cobalt-orchid-731";

/// A temporary home with a repository.
pub(crate) struct BenchHome {
    // Removed when dropped, by the process that made it.
    _folder: Option<TempDir>,
    root: PathBuf,
    binary: PathBuf,
}

impl BenchHome {
    /// Makes the home.
    pub(crate) fn new(binary: &Path) -> Self {
        let folder = TempDir::with_prefix("mem0-code-bench-").expect("making a temporary folder");
        let root = folder.path().canonicalize().expect("a new folder has a real path");
        let home = Self { _folder: Some(folder), root, binary: binary.to_owned() };
        fs::create_dir(repo(&home.root)).expect("making the repository's folder");
        for args in
            [&["init", "-q", "-b", "main"][..], &["remote", "add", "origin", "https://host.example/acme/widgets.git"]]
        {
            let status = Command::new("git").arg("-C").arg(repo(&home.root)).args(args).status();
            assert!(status.is_ok_and(|status| status.success()), "git {args:?}");
        }
        home
    }

    /// A home that another process made.
    pub(crate) fn at(binary: &Path, root: &Path) -> Self {
        Self { _folder: None, root: root.to_owned(), binary: binary.to_owned() }
    }

    /// The home folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A hook with its input in a file and its output thrown away.
    pub(crate) fn hook(&self, event: &str, session: &str, fields: &Value, host: &str) -> Command {
        let mut payload = json!({
            "session_id": session,
            "transcript_path": self.root.join("no-transcript.jsonl"),
            "cwd": repo(&self.root),
            "hook_event_name": event,
        });
        for (key, value) in fields.as_object().into_iter().flatten() {
            payload[key] = value.clone();
        }
        let input = self.root.join(format!("payload-{host}-{event}-{session}.json"));
        fs::write(&input, payload.to_string()).expect("writing the payload");
        let mut command = Command::new(&self.binary);
        command.args(["hook", host, event]);
        dress(&mut command, &self.root);
        command.stdin(File::open(input).expect("the payload was just written"));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Delivers what the hooks left.
    ///
    /// # Panics
    /// When the worker does not start.
    pub(crate) fn work(&self) {
        let mut command = Command::new(&self.binary);
        command.arg("worker");
        let status = self.plain(command).status();
        assert!(status.is_ok(), "the worker does not start");
    }

    /// Another program, in the same surroundings.
    pub(crate) fn plain(&self, mut command: Command) -> Command {
        dress(&mut command, &self.root);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Makes sure that the measured first prompt recalls something.
    ///
    /// # Panics
    /// When it does not: its time would mean nothing.
    pub(crate) fn assert_recall_works(&self) {
        let mut hook = self.hook("UserPromptSubmit", "check", &prompt_fields(QUESTION), "claude-code");
        let output = hook.stdout(Stdio::piped()).output().expect("the binary starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(MARKER), "the first prompt recalls nothing: {text:?}");
    }
}

/// The repository of a home.
pub(crate) fn repo(root: &Path) -> PathBuf {
    root.join("widgets")
}

/// Gives a command the home's environment and nothing else.
pub(crate) fn dress(command: &mut Command, root: &Path) {
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", root)
        .env("MEM0_DIR", root.join(".mem0"))
        .envs([
            ("LANG", "C.UTF-8"),
            ("MEM0_CODE_USER_ID", "bench"),
            ("MEM0_TELEMETRY", "false"),
            ("MEM0_CODE_SPAWN", "manual"),
            // A Stop leaves its idle packet as always; the worker need not sit it out.
            ("MEM0_CODE_IDLE_FLUSH_SECONDS", "0.01"),
        ])
        .current_dir(repo(root));
}

/// A shell command's result of about 1 KB.
pub(crate) fn tool_fields() -> Value {
    json!({
        "tool_name": "Bash",
        "tool_input": {"command": "cargo test -p widgets"},
        "tool_response": {"stdout": "test result: ok. 41 passed; 0 failed\n".repeat(27), "stderr": "", "interrupted": false},
        "duration_ms": 1200,
    })
}

/// A prompt.
pub(crate) fn prompt_fields(text: &str) -> Value {
    json!({"prompt": text})
}

/// A fresh session.
pub(crate) fn start_fields() -> Value {
    json!({"source": "startup", "model": "some-model"})
}

/// An answer; each differs, as answers do.
pub(crate) fn stop_fields(round: usize) -> Value {
    json!({"stop_hook_active": false, "last_assistant_message": format!("Round {round} is done. {}", "All tests pass. ".repeat(30))})
}
