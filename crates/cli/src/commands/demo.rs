//! `demo`: a fact goes from a Claude Code session into a Codex session, in a temporary home.
//!
//! Nothing is simulated: a session recorded from the real host is replayed through the commands hosts call, a detached
//! worker turns it into memories, and another host's first prompt gets what is relevant.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::env::Env;
use crate::output;
use crate::report::{CommandResult, Ending};

/// What the recorded session is about: the first line of each event is `{"event", "stdin"}`.
const EVENTS: &str = include_str!("../../../../tests/fixtures/claude-code/real/basic/events.jsonl");
/// What the host itself wrote about that session.
const TRANSCRIPT: &str = include_str!("../../../../tests/fixtures/claude-code/real/basic/transcript1.jsonl");
/// Where the recording took place.
const RECORDED_PROJECT: &str = "/home/dev/project";
/// What is asked in the other host, and what must come back.
const QUESTION: &str = "How do we deploy this project?";
const FACT: &str = "make ship";
/// How long the worker may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs the demonstration.
pub(crate) fn run() -> CommandResult {
    let stage = Stage::build()?;
    output::line("A recorded Claude Code session is replayed in a temporary home, then Codex is asked about it.\n");

    output::line("1  Claude Code, session 1 (hooks as the host calls them)");
    let mut costs = Vec::new();
    for line in EVENTS.lines() {
        let recorded: Value = serde_json::from_str(line).context("reading the recording")?;
        let event = recorded["event"].as_str().unwrap_or_default();
        let Some(told) = tell(event, &recorded["stdin"]) else { continue };
        let ran = stage.hook("claude-code", event, &stage.replayed(&recorded["stdin"]))?;
        costs.push(ran.cost);
        output::line(format_args!("   {:>5.1} ms  {event:<19} {told}", ms(ran.cost)));
    }
    costs.sort();

    let started = Instant::now();
    stage.wait_for_worker()?;
    output::line(format_args!(
        "\n2  The detached worker made memories of it in {:.0} ms; durable ones:",
        ms(started.elapsed())
    ));
    let memories: Value =
        serde_json::from_slice(&stage.run(&stage.project, &["list", "--durable", "--json"], None)?.stdout)?;
    for memory in memories["results"].as_array().into_iter().flatten() {
        output::line(format_args!("   - {}", one_line(memory["memory"].as_str().unwrap_or_default(), 90)));
    }

    output::line("\n3  Codex, session 2, same repository");
    output::line(format_args!("   > {QUESTION}"));
    let prompt = |folder: &Path, id: &str| {
        json!({
            "session_id": id, "cwd": folder, "hook_event_name": "UserPromptSubmit", "turn_id": "1",
            "transcript_path": null, "model": "any", "permission_mode": "default", "prompt": QUESTION,
        })
    };
    let asked = stage.hook("codex", "UserPromptSubmit", &prompt(&stage.project, "codex-1"))?;
    let injected: Value = serde_json::from_slice(&asked.stdout).unwrap_or_default();
    let context = injected["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned();
    for line in context.lines() {
        output::line(format_args!("   | {}", one_line(line, 94)));
    }
    output::line(format_args!(
        "   {:.1} ms, {} characters, put before the model with the prompt",
        ms(asked.cost),
        context.chars().count()
    ));

    let elsewhere = stage.hook("codex", "UserPromptSubmit", &prompt(&stage.elsewhere, "codex-2"))?;
    output::line("\n4  Codex, session 3, another repository, same question");
    output::line(format_args!(
        "   nothing is injected: {}",
        if elsewhere.stdout.is_empty() { "right" } else { "WRONG" }
    ));

    let is_recalled = context.contains(FACT) && elsewhere.stdout.is_empty();
    let middle = costs.get(costs.len() / 2).copied().unwrap_or_default();
    output::line(format_args!(
        "\n{} Hooks took {:.1} ms at the median, process start included. No account, no network, no daemon.",
        if is_recalled { "The fact was recalled." } else { "The fact was NOT recalled." },
        ms(middle)
    ));
    output::line("\nTo use it:  cargo install --path crates/cli  &&  mem0-code install --all");
    Ok(if is_recalled { Ending::Done } else { Ending::Failed })
}

/// A temporary home with two repositories in it.
struct Stage {
    binary: PathBuf,
    path: String,
    root: TempDir,
    project: PathBuf,
    elsewhere: PathBuf,
    transcript: PathBuf,
}

/// What a command did.
struct Ran {
    stdout: Vec<u8>,
    cost: Duration,
}

impl Stage {
    fn build() -> anyhow::Result<Self> {
        let env = Env::read();
        let root = tempfile::Builder::new().prefix("mem0-code-demo-").tempdir().context("making a temporary home")?;
        let real = fs::canonicalize(root.path())?;
        let project = repository(&real, "lantern")?;
        let elsewhere = repository(&real, "anchor")?;
        let transcript = real.join("session.jsonl");
        fs::write(&transcript, TRANSCRIPT)?;
        let path = env.get("PATH").unwrap_or_default();
        Ok(Self { binary: env.binary, path, root, project, elsewhere, transcript })
    }

    /// A recorded payload, moved to this stage.
    fn replayed(&self, payload: &Value) -> Value {
        let text = payload.to_string().replace(RECORDED_PROJECT, &self.project.to_string_lossy());
        let mut moved: Value = serde_json::from_str(&text).unwrap_or_default();
        if moved.get("transcript_path").is_some() {
            moved["transcript_path"] = self.transcript.to_string_lossy().into();
        }
        moved
    }

    fn hook(&self, host: &str, event: &str, payload: &Value) -> anyhow::Result<Ran> {
        self.run(&self.project, &["hook", host, event], Some(payload))
    }

    fn run(&self, folder: &Path, arguments: &[&str], input: Option<&Value>) -> anyhow::Result<Ran> {
        let started = Instant::now();
        let mut child = Command::new(&self.binary)
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", self.root.path())
            .env("MEM0_DIR", self.root.path().join(".mem0"))
            .env("MEM0_CODE_USER_ID", "demo")
            .env("MEM0_CODE_IDLE_FLUSH_SECONDS", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {}", self.binary.display()))?;
        if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
            stdin.write_all(input.to_string().as_bytes())?;
        }
        let ended = child.wait_with_output()?;
        let cost = started.elapsed();
        ensure!(ended.status.success(), "`{}` failed: {}", arguments.join(" "), String::from_utf8_lossy(&ended.stderr));
        Ok(Ran { stdout: ended.stdout, cost })
    }

    /// Waits until no packet is left and every event is in one.
    fn wait_for_worker(&self) -> anyhow::Result<()> {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            let status: Value = serde_json::from_slice(&self.run(&self.project, &["status", "--json"], None)?.stdout)?;
            let is_waiting = ["pending_packets", "running_packets", "unfinished_packets"]
                .iter()
                .any(|key| status[key].as_u64().is_some_and(|n_packets| n_packets > 0));
            if !is_waiting {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(20));
        }
        bail!("the worker did not finish within {} s", PATIENCE.as_secs())
    }
}

/// Makes what git would call an empty repository with a remote; git itself is not needed for it.
fn repository(home: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let root = home.join(name);
    let git = root.join(".git");
    fs::create_dir_all(git.join("objects"))?;
    fs::create_dir_all(git.join("refs/heads"))?;
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = https://git.example/team/{name}.git\n"
    );
    fs::write(git.join("config"), config)?;
    Ok(root)
}

/// What an event is about, in a few words; `None` for those no hook of ours is registered for.
fn tell(event: &str, payload: &Value) -> Option<String> {
    let text = |key: &str| one_line(payload[key].as_str().unwrap_or_default(), 66);
    let told = match event {
        "UserPromptSubmit" => format!("> {}", text("prompt")),
        "Stop" => text("last_assistant_message"),
        "PostToolUse" => one_line(payload["tool_input"]["command"].as_str().unwrap_or_default(), 66),
        "PostToolUseFailure" => one_line(
            &format!("{} -> {}", payload["tool_input"]["command"].as_str().unwrap_or_default(), text("error")),
            66,
        ),
        "SessionStart" | "SessionEnd" => String::new(),
        _ => return None,
    };
    Some(told)
}

fn one_line(text: &str, max_chars: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= max_chars {
        return text;
    }
    let cut: String = text.chars().take(max_chars - 1).collect();
    format!("{cut}…")
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}
