use mem0_code_core::memory::Role;
use serde_json::{Value, json};

use super::*;
use crate::platform::stub::{Answer, Stub};

const TOLD: &str = r#"{"memories": [{"text": "The importer keeps 12 connections.", "category": "project_knowledge",
    "lane": "project", "sources": [0]}]}"#;

fn said() -> Vec<Message> {
    let content = "The importer keeps 12 connections in its pool, which is enough.";
    vec![Message { role: Role::Assistant, content: content.to_owned(), at: None, tool: None }]
}

fn extractor(url: &str, folder: &Path, daily_tokens: u64) -> ModelExtractor {
    let config = LlmConfig {
        url: url.to_owned(),
        model: "small".to_owned(),
        api_key: Some(Secret::new("key-of-a-test".to_owned())),
        daily_tokens,
    };
    ModelExtractor::new(config, folder, "0", Box::new(|_| {})).unwrap()
}

fn usage(folder: &Path) -> ledger::Usage {
    Ledger::in_folder(folder).usage(Timestamp::now())
}

#[test]
fn addresses_tell_whom_they_speak_to() {
    let cases = [
        ("https://api.openai.com/v1", Provider::OpenAi, "https://api.openai.com/v1"),
        ("http://127.0.0.1:8000/v1/chat/completions/", Provider::OpenAi, "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:11434/v1", Provider::OpenAi, "http://127.0.0.1:11434/v1"),
        ("http://127.0.0.1:11434", Provider::Ollama, "http://127.0.0.1:11434"),
        ("http://box:9000/api/chat", Provider::Ollama, "http://box:9000"),
        ("https://api.anthropic.com", Provider::Anthropic, "https://api.anthropic.com"),
        ("https://api.anthropic.com/v1", Provider::Anthropic, "https://api.anthropic.com"),
        ("http://gate.example/x/v1/messages", Provider::Anthropic, "http://gate.example/x"),
    ];
    for (url, provider, base) in cases {
        assert_eq!(Provider::of(url), (provider, base.to_owned()), "{url}");
    }
}

#[test]
fn each_provider_is_asked_in_its_own_shape() {
    let cases: [(&str, Value, &str, u64); 3] = [
        (
            "/v1",
            json!({ "choices": [{ "message": { "content": TOLD } }], "usage": { "prompt_tokens": 900, "completion_tokens": 50 } }),
            "/v1/chat/completions",
            950,
        ),
        (
            "/v1/messages",
            json!({ "content": [{ "type": "text", "text": TOLD }], "usage": { "input_tokens": 800, "output_tokens": 60 } }),
            "/v1/messages",
            860,
        ),
        (
            "/api",
            json!({ "message": { "content": TOLD }, "prompt_eval_count": 700, "eval_count": 70 }),
            "/api/chat",
            770,
        ),
    ];
    for (path, answer, asked, tokens) in cases {
        let stub = Stub::start(vec![Answer::Reply(200, answer.to_string())]);
        let folder = tempfile::tempdir().unwrap();
        let found = extractor(&format!("{}{path}", stub.url), folder.path(), 100_000).extract(&said()).unwrap();
        assert_eq!(found[0].text, "The importer keeps 12 connections.");
        let seen = stub.seen();
        assert_eq!((seen.len(), seen[0].path.as_str()), (1, asked));
        assert_eq!(seen[0].body["model"], "small");
        assert!(seen[0].body.to_string().contains("[0] assistant: The importer keeps"));
        let key = if path == "/v1/messages" { seen[0].header("x-api-key") } else { seen[0].header("authorization") };
        assert!(key.is_some_and(|key| key.ends_with("key-of-a-test")));
        let usage = usage(folder.path());
        assert_eq!((usage.requests, usage.tokens, usage.fallbacks), (1, tokens, 0), "{asked}");
    }
}

#[test]
fn a_refused_option_is_left_out() {
    let answer = json!({ "choices": [{ "message": { "content": TOLD } }] }).to_string();
    let stub = Stub::start(vec![
        Answer::Reply(400, r#"{"error": {"message": "unsupported parameter"}}"#.to_owned()),
        Answer::Reply(200, answer),
    ]);
    let folder = tempfile::tempdir().unwrap();
    assert!(extractor(&stub.url, folder.path(), 100_000).extract(&said()).is_some());
    let seen = stub.seen();
    assert!(seen[0].body.get("temperature").is_some() && seen[1].body.get("temperature").is_none());
}

#[test]
fn whatever_goes_wrong_the_rules_stand_in_and_it_is_said() {
    let wrong = [
        Answer::Reply(401, r#"{"error": "bad key"}"#.to_owned()),
        Answer::Reply(200, "<html>".to_owned()),
        Answer::Reply(200, r#"{"choices": []}"#.to_owned()),
        Answer::Reply(200, json!({ "choices": [{ "message": { "content": "I cannot" } }] }).to_string()),
        Answer::Drop,
    ];
    for answer in wrong {
        let stub = Stub::start(vec![answer]);
        let folder = tempfile::tempdir().unwrap();
        let mut extractor = extractor(&stub.url, folder.path(), 100_000);
        assert_eq!(extractor.extract(&said()), None);
        let noted = usage(folder.path());
        assert_eq!(noted.fallbacks, 1);
        assert!(noted.last_failure.is_some_and(|(_, reason)| !reason.is_empty() && !reason.contains("key-of-a-test")));
        // It is left alone for a while: no storm.
        let n_sent = stub.seen().len();
        assert_eq!(extractor.extract(&said()), None);
        assert_eq!(stub.seen().len(), n_sent);
    }
}

#[test]
fn issue_b177_the_days_limit_holds_for_all_workers_together() {
    let answer = json!({ "choices": [{ "message": { "content": TOLD } }],
        "usage": { "prompt_tokens": 700, "completion_tokens": 1_300 } });
    let stub = Stub::start((0..200).map(|_| Answer::Reply(200, answer.to_string())).collect());
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut extractor = extractor(&stub.url, folder.path(), 50_000);
                for _ in 0..20 {
                    extractor.extract(&said());
                }
            });
        }
    });
    let usage = usage(folder.path());
    assert!(usage.tokens <= 50_000 && usage.tokens > 40_000, "{usage:?}");
    assert_eq!((usage.requests as usize, usage.requests + usage.fallbacks), (stub.seen().len(), 160));
    assert_eq!(usage.last_failure, None, "a limit is no trouble of the server");
}

#[test]
fn an_account_that_cannot_be_kept_spends_nothing() {
    let stub = Stub::start(Vec::new());
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("model-usage.lock")).unwrap();
    assert_eq!(extractor(&stub.url, folder.path(), 50_000).extract(&said()), None);
    assert!(stub.seen().is_empty());
}
