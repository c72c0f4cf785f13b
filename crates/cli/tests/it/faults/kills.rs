//! `kill -9` at any instant: nothing accepted is lost, nothing is stored twice.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::home::{Home, assert_intact};
use crate::process::{self, kill_process};

/// Kills that must hit a living hook, and the same number for the worker.
const KILLS_EACH: usize = 100;

/// Ends a loop whose kills keep coming too late.
const MAX_ROUNDS: usize = 500;

/// A tiny generator: the instants of the kills differ, and a seed repeats them as far as a machine can.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit.max(1)
    }
}

/// What was sent, by its unique text, and whether its hook said it was taken.
type Sent = BTreeMap<String, bool>;

/// Hooks and foreground workers, killed at random instants of their lives.
#[test]
fn two_hundred_kills_lose_no_accepted_prompt_and_double_nothing() {
    let home = Home::new();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut sent = Sent::new();
    let sessions: Vec<String> = (0..6).map(|idx| format!("s{idx}")).collect();
    home.exchange("warm-up", "Measures how long a hook takes here.", "Fine.");
    home.end("warm-up");
    let hook_life = time(|| drop(home.hook("PostToolUse", "warm-up", json!({"tool_name": "Read"}))));
    let worker_life = time(|| drop(home.work()));
    let (mut hook_kills, mut worker_kills, mut rounds) = (0, 0, 0);
    while (hook_kills < KILLS_EACH || worker_kills < KILLS_EACH) && rounds < MAX_ROUNDS {
        let session = &sessions[rounds % sessions.len()];
        if hook_kills < KILLS_EACH {
            hook_kills += usize::from(killed_hook(&home, session, rounds, hook_life, &mut dice, &mut sent));
        }
        if worker_kills < KILLS_EACH {
            // Something to work on, of a session that this round's hook did not touch.
            let other = &sessions[(rounds + 1) % sessions.len()];
            let text = format!("Worker round {rounds} asks about part w{rounds}x.");
            home.exchange(other, &text, &format!("Part w{rounds}x is answered."));
            sent.insert(text, true);
            sent.insert(format!("Part w{rounds}x is answered."), true);
            home.end(other);
            worker_kills += usize::from(killed_worker(&home, worker_life, &mut dice));
        }
        rounds += 1;
    }
    eprintln!("{hook_kills} hooks and {worker_kills} workers killed in {rounds} rounds");
    assert!(hook_kills + worker_kills >= 2 * KILLS_EACH, "only {hook_kills} and {worker_kills} kills hit");
    home.settle(&sessions);
    check(&home, &sent);
}

/// Hooks that start their own worker, which is killed wherever it is.
#[test]
fn killed_detached_workers_lose_and_double_nothing() {
    let home = Home::new();
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let mut sent = Sent::new();
    let sessions: Vec<String> = (0..4).map(|idx| format!("d{idx}")).collect();
    let mut kills = 0;
    for round in 0..24 {
        let session = &sessions[round % sessions.len()];
        let text = format!("Detached round {round} asks about part d{round}x.");
        home.exchange(session, &text, &format!("Part d{round}x is answered."));
        sent.insert(text, true);
        sent.insert(format!("Part d{round}x is answered."), true);
        for event in ["SessionEnd", "SessionStart"] {
            let mut hook = home.command(&["hook", "claude-code", event]);
            hook.env_remove("MEM0_CODE_SPAWN");
            let fields = json!({"reason": "other", "source": "startup"});
            let outcome = process::run(hook, home.payload(event, session, fields).as_bytes(), Duration::from_secs(10));
            assert!(outcome.is_success() && !outcome.output_held, "{event}: {outcome:?}");
        }
        thread::sleep(Duration::from_micros(dice.below(40_000)));
        for pid in processes_of(&home) {
            kill_process(pid);
            kills += 1;
        }
        home.age_claims();
    }
    eprintln!("{kills} detached workers killed");
    assert!(kills > 0, "no detached worker was ever seen alive");
    wait_until_quiet(&home);
    home.settle(&sessions);
    check(&home, &sent);
}

/// A detached worker outlives its hook and ends by itself.
#[test]
fn a_detached_worker_delivers_and_ends() {
    let home = Home::new();
    home.exchange("s1", "Where do the migrations of the service live?", "Under db/migrations, one file a change.");
    let mut hook = home.command(&["hook", "claude-code", "SessionEnd"]);
    hook.env_remove("MEM0_CODE_SPAWN");
    let payload = home.payload("SessionEnd", "s1", json!({"reason": "other"}));
    let outcome = process::run(hook, payload.as_bytes(), Duration::from_secs(10));
    assert!(outcome.is_success() && !outcome.output_held, "{outcome:?}");
    let end = Instant::now() + Duration::from_secs(20);
    while !home.packets().is_empty() && Instant::now() < end {
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(home.packets(), Vec::<String>::new());
    wait_until_quiet(&home);
    assert!(home.turns().iter().any(|turn| turn.contains("Under db/migrations")));
}

/// Starts a prompt's hook and kills it somewhere in its life. Returns whether the kill came in time.
fn killed_hook(home: &Home, session: &str, round: usize, life: Duration, dice: &mut Dice, sent: &mut Sent) -> bool {
    let text = format!("Hook round {round} asks about part h{round}x.");
    let payload = home.payload("UserPromptSubmit", session, json!({"prompt": text}));
    let hook = process::start(home.command(&["hook", "claude-code", "UserPromptSubmit"]), payload.as_bytes());
    thread::sleep(within(life, dice));
    let outcome = hook.kill();
    sent.insert(text, outcome.is_success());
    outcome.signal.is_some()
}

/// Starts a worker, kills it somewhere in its life and lets its claim look abandoned.
fn killed_worker(home: &Home, life: Duration, dice: &mut Dice) -> bool {
    let worker = process::start(home.command(&["worker"]), b"");
    thread::sleep(within(life, dice));
    let hit = worker.kill().signal.is_some();
    home.age_claims();
    let recovering = home.hook("SessionStart", "recovery", json!({"source": "startup"}));
    assert!(recovering.is_success(), "{recovering:?}");
    hit
}

/// Compares what was sent with evidence and memories.
#[track_caller]
fn check(home: &Home, sent: &Sent) {
    assert_intact(&home.evidence());
    assert_intact(&home.memory());
    let prompts = home.stored_prompts();
    let turns = home.turns();
    let mut faults = Vec::new();
    for (text, accepted) in sent {
        let stored = prompts.iter().filter(|prompt| *prompt == text).count();
        let remembered = turns.iter().filter(|turn| turn.contains(text.as_str())).count();
        let is_prompt = text.contains("round");
        if is_prompt && (stored > 1 || (*accepted && stored != 1)) {
            faults.push(format!("{text:?} (accepted: {accepted}) is {stored} times in the evidence"));
        }
        if remembered > 1 || (*accepted && remembered != 1) || (is_prompt && stored != remembered) {
            faults.push(format!("{text:?} (accepted: {accepted}, evidence {stored}) is {remembered} times in memory"));
        }
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), sent.len(), faults.join("\n"));
    let pending =
        home.count("SELECT COUNT(*) FROM flushes WHERE status NOT IN ('semantic-succeeded', 'explicitly-stored')");
    assert_eq!(pending, 0, "flushes that did not succeed");
}

fn within(life: Duration, dice: &mut Dice) -> Duration {
    Duration::from_micros(dice.below(life.as_micros() as u64))
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Processes that run in this home: its path is in their environment, and in nobody else's.
fn processes_of(home: &Home) -> Vec<u32> {
    let marker = format!("MEM0_DIR={}", home.mem0_dir().display());
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_ours = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == marker.as_bytes())
    };
    pids.filter(is_ours).collect()
}

#[track_caller]
fn wait_until_quiet(home: &Home) {
    let end = Instant::now() + Duration::from_secs(20);
    while !processes_of(home).is_empty() {
        assert!(Instant::now() < end, "still running: {:?}", processes_of(home));
        thread::sleep(Duration::from_millis(20));
    }
}
