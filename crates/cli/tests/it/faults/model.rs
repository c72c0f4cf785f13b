//! A language model that looks for memories: what it finds is kept, and without it nothing is lost.

use std::net::TcpListener;
use std::process::Command;

use serde_json::{Value, json};

use super::home::{Home, LIMIT};
use crate::cases::platform::Platform;
use crate::process::{self, Outcome};

const ASK: &str = "POST /v1/chat/completions";

fn with_model(mut command: Command, url: &str) -> Command {
    command.envs([("MEM0_CODE_LLM_URL", url), ("MEM0_CODE_LLM_MODEL", "small")]);
    command
}

fn run(home: &Home, url: &str, args: &[&str], stdin: &str) -> Outcome {
    process::run(with_model(home.command(args), url), stdin.as_bytes(), LIMIT)
}

fn json_of(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome:?}"))
}

fn ended_session(home: &Home, url: &str) {
    for (event, fields) in [
        ("UserPromptSubmit", json!({"prompt": "Why do uploads stall? Remember that the mirror is called heron-4."})),
        ("Stop", json!({"last_assistant_message": "Uploads stall since the proxy in edge/relay.rs buffers 64 KB."})),
        ("SessionEnd", json!({"reason": "other"})),
    ] {
        let outcome = run(home, url, &["hook", "claude-code", event], &home.payload(event, "s1", fields));
        assert!(outcome.is_success(), "{event}: {outcome:?}");
    }
}

fn durable(home: &Home, url: &str) -> Vec<(String, String)> {
    let listed = json_of(&run(home, url, &["list", "--durable", "--json"], ""));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut found: Vec<(String, String)> = listed["results"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|memory| (text(&memory["metadata"]["rule"]), text(&memory["memory"])))
        .collect();
    found.sort();
    found
}

#[test]
fn what_a_model_finds_is_kept_beside_what_was_asked_to_be_remembered() {
    let (home, platform) = (Home::new(), Platform::start());
    let url = format!("{}/v1", platform.url());
    ended_session(&home, &url);
    let told = json!({ "memories": [
        { "text": "Uploads stall because the proxy in edge/relay.rs buffers 64 KB.", "category": "problems_and_fixes",
          "lane": "project", "sources": [1] },
        { "text": "Uploads are limited to 900 KB.", "category": "results", "lane": "project", "sources": [1] },
    ]});
    platform.set_rules(&[json!({"on": ASK, "reply": {"json": {
        "choices": [{ "message": { "content": told.to_string() } }],
        "usage": { "prompt_tokens": 1_200, "completion_tokens": 80 },
    }}})]);
    let outcome = run(&home, &url, &["worker"], "");
    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(platform.count(ASK), 1);
    let found = durable(&home, &url);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].0 == "explicit" && found[0].1.contains("heron-4"), "{found:?}");
    assert!(found[1].0 == "model" && found[1].1.contains("relay.rs"), "{found:?}");
    let status = json_of(&run(&home, &url, &["status", "--json"], ""));
    assert_eq!(status["model"]["tokens_today"], 1_280, "{status}");
    assert_eq!(status["model"]["fallbacks_today"], 0, "{status}");
}

#[test]
fn without_its_server_the_rules_extract_and_status_says_so() {
    let home = Home::new();
    let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).expect("a free port");
    let url = format!("http://{free}/v1");
    ended_session(&home, &url);
    let outcome = run(&home, &url, &["worker"], "");
    assert!(outcome.is_success(), "{outcome:?}");
    assert!(durable(&home, &url).iter().any(|(rule, text)| rule == "explicit" && text.contains("heron-4")));
    let status = json_of(&run(&home, &url, &["status", "--json"], ""));
    assert_eq!(status["model"]["fallbacks_today"], 1, "{status}");
    assert!(
        status["model"]["last_failure"]["reason"].as_str().is_some_and(|reason| reason.contains("reached")),
        "{status}"
    );
    assert!(run(&home, &url, &["status"], "").stdout.contains("rules stood in 1 times"));
}
