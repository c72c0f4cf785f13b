//! What a host waits for: whole processes of the release binary, from spawn to exit.
//!
//! `cargo bench -p mem0-code --bench process [-- --rounds N --memories N --events N --binary PATH]` prints
//! a Markdown table for `BENCHMARKS.md`. All commands run in turn, round after round, so that a busy
//! moment of the machine hits every one of them. Nothing is built here but an empty program to compare with.
//!
//! Budgets (minimum / median on a quiet machine): `PostToolUse` 3 / 5 ms and at most three times the empty
//! process; first prompt with recall from 10,000 memories 10 / 15 ms; a hook's memory 25 MB; binary 30 MB.

mod child;
mod home;
mod seed;
mod table;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use home::BenchHome;
use table::Row;

/// How often a worker delivers what the hooks left, unmeasured: without one, logs would grow as they never do.
const ROUNDS_A_WORKER: usize = 10;

/// What can be set on the command line.
struct Options {
    binary: PathBuf,
    rounds: usize,
    memories: usize,
    events: usize,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, binary, folder, memories, events] = &args[..]
        && mode == "--seed"
    {
        seed::fill(Path::new(binary), Path::new(folder), number(memories), number(events));
        return ExitCode::SUCCESS;
    }
    let options = Options {
        binary: option(&args, "--binary").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_mem0-code")), PathBuf::from),
        rounds: option(&args, "--rounds").map_or(200, number),
        memories: option(&args, "--memories").map_or(10_000, number),
        events: option(&args, "--events").map_or(100_000, number),
    };
    let home = BenchHome::new(&options.binary);
    // In a process of its own: a child's peak memory counts what its parent held when it was started.
    let seeded = Command::new(std::env::current_exe().expect("this program has a path"))
        .arg("--seed")
        .arg(&options.binary)
        .arg(home.root())
        .args([options.memories.to_string(), options.events.to_string()])
        .status();
    assert!(seeded.is_ok_and(|status| status.success()), "the store could not be filled");
    home.assert_recall_works();
    table::print(&measure(&options, &home), &options.binary);
    ExitCode::SUCCESS
}

/// Runs every command `rounds` times, in turn.
fn measure(options: &Options, home: &BenchHome) -> Vec<Row> {
    let empty = empty_program();
    let (memories, events) = (options.memories, options.events);
    let mut rows = vec![
        Row::new("empty Rust process"),
        Row::new("`PostToolUse`"),
        Row::new(format!("`PostToolUse`, {events} events stored")),
        Row::new(format!("`UserPromptSubmit`, first prompt, {memories} memories")),
        Row::new("`UserPromptSubmit`, later prompt"),
        Row::new("`SessionStart`"),
        Row::new("`Stop`"),
        Row::new("`python3 -c 0`"),
        Row::new("`node -e 0`"),
    ];
    for round in 0..options.rounds {
        let session = format!("bench-{round}");
        let tool = ("PostToolUse", "tools", home::tool_fields());
        let later = ("UserPromptSubmit", "tools", home::prompt_fields("And which one comes after that, in general?"));
        let first = ("UserPromptSubmit", session.as_str(), home::prompt_fields(home::QUESTION));
        let begin = ("SessionStart", session.as_str(), home::start_fields());
        let stop = ("Stop", "tools", home::stop_fields(round));
        let commands = [
            Some(home.plain(Command::new(&empty))),
            Some(home.hook(tool.0, tool.1, &tool.2, "claude-code")),
            // Codex has an evidence database of its own: the large one.
            Some(home.hook(tool.0, tool.1, &tool.2, "codex")),
            Some(home.hook(first.0, first.1, &first.2, "claude-code")),
            Some(home.hook(later.0, later.1, &later.2, "claude-code")),
            Some(home.hook(begin.0, begin.1, &begin.2, "claude-code")),
            Some(home.hook(stop.0, stop.1, &stop.2, "claude-code")),
            interpreter("python3", "-c").map(|command| home.plain(command)),
            interpreter("node", "-e").map(|command| home.plain(command)),
        ];
        // Every command follows every other one in turn: what ran before leaves its mark on the caches.
        let mut pairs: Vec<_> = rows.iter_mut().zip(commands).collect();
        let n_pairs = pairs.len();
        pairs.rotate_left(round % n_pairs);
        for (row, command) in pairs {
            if let Some(command) = command {
                row.samples.push(child::measure(command));
            }
        }
        if round % ROUNDS_A_WORKER == ROUNDS_A_WORKER - 1 {
            home.work();
        }
    }
    rows.retain(|row| !row.samples.is_empty());
    rows
}

/// Compiles the program that does nothing: what starting a process costs on this machine.
fn empty_program() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join("empty.rs"), folder.join("empty"));
    std::fs::write(&source, "fn main() {}\n").expect("writing the empty program");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let status = Command::new(rustc).args(["-O", "--edition", "2024", "-o"]).arg(&program).arg(&source).status();
    assert!(status.is_ok_and(|status| status.success()), "the empty program does not compile");
    program
}

/// `PROGRAM FLAG 0`, if the program is there. Resolved to the real one: a version manager's shim is a shell script.
fn interpreter(name: &str, flag: &str) -> Option<Command> {
    use std::sync::LazyLock;
    static FOUND: LazyLock<[Option<PathBuf>; 2]> = LazyLock::new(|| {
        let ask = |name: &str, flag: &str, code: &str| {
            let output =
                Command::new(name).args([flag, code]).output().ok().filter(|output| output.status.success())?;
            Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
        };
        [ask("python3", "-c", "import sys; print(sys.executable)"), ask("node", "-p", "process.execPath")]
    });
    let path = FOUND[usize::from(name == "node")].as_ref()?;
    let mut command = Command::new(path);
    command.args([flag, "0"]);
    Some(command)
}

fn option<'a>(args: &'a [String], name: &str) -> Option<&'a String> {
    args.iter().position(|arg| arg == name).and_then(|idx| args.get(idx + 1))
}

fn number(text: &String) -> usize {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}
