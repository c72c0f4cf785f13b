//! Documents and errors of the fixtures, as `manifest.json` lists them.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{LIMIT, command, fixtures, kind, read_json};
use crate::process;

/// Hosts whose `arguments` are compared byte for byte.
const EXACT_ARGUMENTS: [&str; 3] = ["codex", "deepseek", "bundle"];
/// Words that mark what must not travel.
const MARKED: [&str; 9] =
    ["SECRET", "HARNESS", "OLD-", "ABANDONED", "SIDECHAIN", "DUPLICATE", "EXCLUDED", "REASONING", "INJECTED"];

#[test]
fn every_case_gives_its_document_or_error() {
    let root = fixtures();
    let manifest = read_json(&root.join("manifest.json"));
    let cases = manifest["cases"].as_array().unwrap();
    assert!(cases.len() > 60);
    let mut failed = Vec::new();
    for case in cases {
        if let Err(told) = std::panic::catch_unwind(|| check(case)) {
            let told = told.downcast_ref::<String>().cloned().unwrap_or_default();
            failed.push(format!("{}: {}", case["input"], told.chars().take(1_500).collect::<String>()));
        }
    }
    assert!(failed.is_empty(), "{} of {} cases failed:\n{}", failed.len(), cases.len(), failed.join("\n\n"));
}

fn check(case: &Value) {
    let root = fixtures();
    let home = tempfile::tempdir().unwrap();
    let host = case["host"].as_str().unwrap();
    let input = root.join(case["input"].as_str().unwrap());
    let mut command = command(home.path());
    command.args(["handoff", "convert", "--json"]);
    match host {
        "bundle" | "messages" => command.arg(format!("--{host}")).arg(&input),
        _ => command.args(["--source", host, "--session"]).arg(&input),
    };
    command.args(case["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()));
    for (name, value) in case["env"].as_object().unwrap() {
        command.env(name, root.join(value.as_str().unwrap()));
    }
    let outcome = process::run(command, b"", LIMIT);
    let expect = root.join(case["expect"].as_str().unwrap());
    let leak = MARKED.iter().find(|word| outcome.stdout.contains(**word) || outcome.stderr.contains(**word));
    if let Some(error) = case["kind"].as_str() {
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        assert_eq!(outcome.stdout, "");
        assert_eq!(kind(&outcome), error, "{outcome:?}");
        let text = std::fs::read_to_string(&expect).unwrap();
        let mentions = text.lines().nth(1).unwrap().strip_prefix("mentions: ").unwrap().to_lowercase();
        let is_told = mentions == "-" || outcome.stderr.to_lowercase().contains(&mentions);
        assert!(is_told, "not mentioned: {mentions} in {}", outcome.stderr);
        assert_eq!(leak, None);
        return;
    }
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let expected_text = std::fs::read_to_string(&expect).unwrap();
    assert!(leak.is_none_or(|word| expected_text.contains(word)), "leaked {leak:?}");
    let mut actual: Map<String, Value> = serde_json::from_str(&outcome.stdout).unwrap();
    let mut expected: Map<String, Value> = serde_json::from_str(&expected_text).unwrap();
    for extra in ["saved_at", "engine", "integrity"] {
        actual.remove(extra);
    }
    if expected["source"]["path"] == "{{PATH}}" {
        expected["source"]["path"] = input.to_string_lossy().into_owned().into();
    }
    let tokens = |document: &Map<String, Value>| document["counts"]["approximate_tokens"].as_f64().unwrap();
    let (told, wanted) = (tokens(&actual), tokens(&expected));
    assert!((told - wanted).abs() <= (wanted * 0.02).max(1.0), "approximate_tokens {told}, expected {wanted}");
    actual["counts"]["approximate_tokens"] = expected["counts"]["approximate_tokens"].clone();
    if host != "bundle" {
        assert_eq!(codes(&actual), codes(&expected), "warnings");
        actual["warnings"] = expected["warnings"].clone();
    }
    if !EXACT_ARGUMENTS.contains(&host) {
        parse_arguments(&mut actual);
        parse_arguments(&mut expected);
    }
    let (actual, expected) = (Value::Object(actual), Value::Object(expected));
    if actual != expected {
        let (actual, expected) =
            (serde_json::to_string_pretty(&actual).unwrap(), serde_json::to_string_pretty(&expected).unwrap());
        let at = actual.lines().zip(expected.lines()).position(|(left, right)| left != right).unwrap_or(0);
        let around = |text: &str| text.lines().skip(at.saturating_sub(2)).take(6).collect::<Vec<_>>().join("\n");
        panic!("line {at}:\n{}\nexpected:\n{}", around(&actual), around(&expected));
    }
}

fn codes(document: &Map<String, Value>) -> BTreeSet<String> {
    let warnings = document["warnings"].as_array().unwrap();
    warnings.iter().map(|text| text.as_str().unwrap().split(':').next().unwrap().to_owned()).collect()
}

fn parse_arguments(document: &mut Map<String, Value>) {
    for item in document["items"].as_array_mut().unwrap() {
        if let Some(text) = item.get("arguments").and_then(Value::as_str) {
            item["arguments"] = serde_json::from_str(text).unwrap();
        }
    }
}
