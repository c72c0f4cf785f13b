//! Memories kept by a server that is slow, gone, or refuses.

use std::net::TcpListener;
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::home::{Home, LIMIT};
use crate::cases::platform::Platform;
use crate::process::{self, Outcome};

const ADD: &str = "POST /v3/memories/add/";

/// What a first prompt may take, whatever the server does.
const PROMPT_LIMIT: Duration = Duration::from_millis(2900);

/// Points a command to a server.
fn with_server(mut command: Command, url: &str) -> Command {
    command.envs([("MEM0_API_URL", url), ("MEM0_API_KEY", "m0-test-key")]);
    command
}

fn run(home: &Home, url: &str, args: &[&str], stdin: &str) -> Outcome {
    process::run(with_server(home.command(args), url), stdin.as_bytes(), LIMIT)
}

/// Records a session with one exchange and leaves its packet.
fn ended_session(home: &Home, url: &str) {
    for (event, fields) in [
        ("UserPromptSubmit", json!({"prompt": "Which queue backs it?"})),
        ("Stop", json!({"last_assistant_message": "A Redis stream named outbox."})),
        ("SessionEnd", json!({"reason": "other"})),
    ] {
        let outcome = run(home, url, &["hook", "claude-code", event], &home.payload(event, "s1", fields));
        assert!(outcome.is_success(), "{event}: {outcome:?}");
    }
    assert_eq!(home.packets().len(), 1, "{:?}", home.packets());
}

fn status(home: &Home, url: &str) -> Value {
    let outcome = run(home, url, &["--harness", "claude-code", "status", "--json"], "");
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("status: {error}: {outcome:?}"))
}

/// Ten workers on one packet make one request, also when the server takes its time.
#[test]
fn ten_workers_send_one_request() {
    let (home, platform) = (Home::new(), Platform::start());
    ended_session(&home, platform.url());
    platform.set_rules(&[json!({"on": ADD, "reply": {"delay_ms": 700}})]);
    let worker = || process::start(with_server(home.command(&["worker"]), platform.url()), b"");
    let workers: Vec<_> = (0..10).map(|_| worker()).collect();
    for worker in workers {
        let outcome = worker.finish(LIMIT);
        assert!(outcome.is_success(), "{outcome:?}");
    }
    assert_eq!(platform.count(ADD), 1);
    assert_eq!(home.packets(), Vec::<String>::new());
}

/// A worker killed while it waited for the extraction: the next one asks on and sends nothing again, without
/// sitting out the lease of the dead one.
#[test]
fn a_worker_after_a_killed_one_sends_nothing_twice() {
    let (home, platform) = (Home::new(), Platform::start());
    ended_session(&home, platform.url());
    platform.set_rules(&[json!({"on": "GET /v1/event/*", "reply": {"json": {"status": "PENDING"}}})]);
    let worker = process::start(with_server(home.command(&["worker"]), platform.url()), b"");
    while platform.count("GET /v1/event/*") == 0 {
        thread::sleep(Duration::from_millis(5));
    }
    worker.kill();
    platform.set_rules(&[]);
    home.age_claims();
    let recovery = home.payload("SessionStart", "s2", json!({"source": "startup"}));
    run(&home, platform.url(), &["hook", "claude-code", "SessionStart"], &recovery);
    let outcome = run(&home, platform.url(), &["worker"], "");
    assert!(outcome.is_success() && outcome.elapsed < Duration::from_secs(5), "{outcome:?}");
    assert_eq!(platform.count(ADD), 1);
    assert_eq!(home.count("SELECT COUNT(*) FROM flushes WHERE status = 'semantic-succeeded'"), 1);
}

/// A server that refuses: the work waits, status says so, and nothing claims to be done. B024.
#[test]
fn a_refusing_server_is_told_by_status_and_loses_nothing() {
    for (code, times) in [(401, 7), (402, 7), (500, 7)] {
        let (home, platform) = (Home::new(), Platform::start());
        ended_session(&home, platform.url());
        platform.set_rules(&[json!({"on": ADD, "reply": {"status": code, "json": {"detail": "no"}}})]);
        for _ in 0..times {
            run(&home, platform.url(), &["worker"], "");
        }
        let said = status(&home, platform.url());
        assert!(said["pending_packets"].as_u64().is_some_and(|count| count > 0), "{code}: {said}");
        assert!(said["last_error"].to_string().contains(&code.to_string()), "{code}: {said}");
        assert_eq!(said["gave_up"], 0, "{code}: the server's trouble used up the attempts");
        platform.set_rules(&[]);
        let outcome = run(&home, platform.url(), &["worker"], "");
        assert!(outcome.is_success(), "{code}: {outcome:?}");
        assert_eq!(home.count("SELECT COUNT(*) FROM flushes WHERE status = 'semantic-succeeded'"), 1, "{code}");
        assert_eq!(home.packets(), Vec::<String>::new(), "{code}");
    }
}

/// Servers that are not there, hang up, or never answer: the first prompt goes on in time. B014 (d).
#[test]
fn an_unreachable_server_holds_up_no_prompt() {
    let silent = TcpListener::bind(("127.0.0.1", 0)).expect("binding a loopback port");
    let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).expect("a free port");
    let platform = Platform::start();
    platform.set_rules(&[json!({"on": "*", "reply": {"fail": "close"}})]);
    let servers = [
        format!("http://{}", silent.local_addr().expect("a bound socket has an address")),
        format!("http://{free}"),
        platform.url().to_owned(),
        "http://no-such-host.invalid".to_owned(),
        "not an address".to_owned(),
    ];
    for url in servers {
        let home = Home::new();
        let prompt = json!({"prompt": "What is the acceptance marker for this project?"});
        let payload = home.payload("UserPromptSubmit", "s1", prompt);
        let outcome = run(&home, &url, &["hook", "claude-code", "UserPromptSubmit"], &payload);
        assert!(outcome.is_success() && outcome.stdout.is_empty(), "{url}: {outcome:?}");
        assert!(outcome.elapsed < PROMPT_LIMIT, "{url}: {:?}", outcome.elapsed);
        assert_eq!(home.stored_prompts().len(), 1, "{url}");
    }
}

/// A packet of three requests, its worker killed while any one of its six requests is under way: the next worker
/// sends what no answer came for, and nothing else.
#[test]
fn a_worker_killed_at_any_request_sends_each_text_once() {
    const REQUESTS: usize = 6;
    let words: Vec<String> = (0..15_000).map(|number| format!("w{number:05}")).collect();
    let prompt = words.join(" ... ");
    for (boundary, is_accepted) in (1..=REQUESTS).flat_map(|boundary| [(boundary, false), (boundary, true)]) {
        let (home, platform) = (Home::new(), Platform::start());
        for (event, fields) in [
            ("UserPromptSubmit", json!({"prompt": prompt})),
            ("Stop", json!({"last_assistant_message": "Noted."})),
            ("SessionEnd", json!({"reason": "other"})),
        ] {
            run(&home, platform.url(), &["hook", "claude-code", event], &home.payload(event, "s1", fields));
        }
        platform.clear_log();
        // The stub notes a request when it has read it; `close` answers nothing, a delay answers to nobody.
        let fatal = if is_accepted { json!({"delay_ms": 400}) } else { json!({"delay_ms": 400, "fail": "close"}) };
        platform.set_rules(&[
            json!({"on": "*", "times": boundary - 1, "reply": {}}),
            json!({"on": "*", "times": 1, "reply": fatal}),
        ]);
        let worker = process::start(with_server(home.command(&["worker"]), platform.url()), b"");
        while platform.count("*") < boundary {
            thread::sleep(Duration::from_millis(2));
        }
        worker.kill();
        home.age_claims();
        let outcome = run(&home, platform.url(), &["worker"], "");
        assert!(outcome.is_success(), "{boundary}: {outcome:?}");
        assert_eq!(home.packets(), Vec::<String>::new(), "{boundary}");
        let adds: Vec<_> = platform.log().into_iter().filter(|request| request.on == ADD).collect();
        let is_fatal_add = boundary <= 3;
        assert_eq!(adds.len(), 3 + usize::from(is_fatal_add), "{boundary}");
        // What was under way at the kill comes again, with the same key if a server took it the first time.
        let key = |index: usize| adds[index].headers["idempotency-key"].as_str().expect("a key").to_owned();
        let mut accepted = Vec::new();
        for index in 0..adds.len() {
            let again = (index + 1..adds.len()).any(|later| key(later) == key(index));
            assert_eq!(again, is_fatal_add && index + 1 == boundary, "{boundary}");
            if !again {
                accepted.push(&adds[index]);
            }
        }
        let sent: Vec<String> = accepted
            .iter()
            .flat_map(|request| request.body["messages"].as_array().cloned().unwrap_or_default())
            .filter(|message| message["role"] == "user")
            .map(|message| message["content"].as_str().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(sent.concat(), prompt, "{boundary}: the pieces join up to the prompt, each once and in order");
    }
}
