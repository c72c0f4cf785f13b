//! The readers over the fixtures of handoffs: what a command line adds (titles, digests, pairing) is tested with it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::sessions::{self, Form, Sessions};
use crate::handoff::document::Item;
use crate::handoff::json;
use crate::handoff::reader::{Options, Outline, Record, Span, Surroundings, Tally};
use crate::handoff::refusal::{Kind, Refusal};

struct Files {
    path: PathBuf,
    text: String,
    dsh_home: Option<String>,
}

impl Surroundings for Files {
    fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }

    fn record(&mut self, at: Span) -> Result<String, Refusal> {
        let start = usize::try_from(at.offset).unwrap();
        Ok(json::mended(&self.text[start..start + at.len]).into_owned())
    }

    fn file(&mut self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Refusal> {
        let path = self.path.parent().unwrap().join(path);
        let Ok(bytes) = std::fs::read(path) else { return Ok(None) };
        if bytes.len() as u64 > limit {
            return Err(Refusal::new(Kind::TooLarge, "too large"));
        }
        Ok(Some(bytes))
    }

    fn setting(&self, name: &str) -> Option<String> {
        (name == "DSH_HOME").then(|| self.dsh_home.clone()).flatten()
    }
}

/// What a reader makes of a text.
pub(super) struct Reading {
    pub(super) outline: Outline,
    pub(super) items: Vec<Item>,
    pub(super) tally: Tally,
}

fn read_with(host: &Sessions, options: &Options, mut files: Files) -> Result<Reading, Refusal> {
    let mut reader = (host.reader)(options);
    let mut scan = |offset: usize, text: &str, line: u64| {
        let at = Span { offset: offset as u64, len: text.len(), line };
        reader.scan(Record { at, text: &json::mended(text) })
    };
    if host.form == Form::Document {
        scan(0, &files.text, 1)?;
    } else {
        let mut offset = 0;
        for (index, line) in files.text.split_terminator('\n').enumerate() {
            if !line.is_empty() {
                scan(offset, line, index as u64 + 1)?;
            }
            offset += line.len() + 1;
        }
    }
    let outline = reader.outline(&mut files)?;
    let mut items = Vec::new();
    let tally = reader.items(&mut files, &mut |item| {
        items.push(item);
        Ok(())
    })?;
    Ok(Reading { outline, items, tally })
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/handoff")
}

fn find(host: &str) -> &'static Sessions {
    if host == "messages" {
        return &sessions::MESSAGES;
    }
    sessions::ALL.iter().find(|sessions| sessions.id == host).unwrap_or_else(|| panic!("{host}"))
}

/// Results get the names of their calls, as the validator gives them.
fn named(items: &[Item]) -> Vec<Value> {
    let mut items: Vec<Value> = items.iter().map(|item| serde_json::to_value(item).unwrap()).collect();
    for place in 0..items.len() {
        if items[place]["type"] == "function_call_output" {
            let call =
                items.iter().find(|item| item["type"] == "function_call" && item["call_id"] == items[place]["call_id"]);
            let name = call.map(|call| call["name"].clone()).unwrap_or_default();
            items[place]["name"] = name;
        }
    }
    items
}

fn codes<'a>(warnings: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    warnings.map(|warning| warning.split(':').next().unwrap().to_owned()).collect()
}

#[test]
fn every_case_of_these_hosts_reads_as_expected() {
    let manifest: Value = serde_json::from_slice(&std::fs::read(folder().join("manifest.json")).unwrap()).unwrap();
    let cases = manifest.as_array().or_else(|| manifest["cases"].as_array()).unwrap();
    let mut failures = Vec::new();
    let mut count = 0;
    for case in cases {
        let host = case["host"].as_str().unwrap();
        if matches!(host, "claude-code" | "codex" | "bundle") {
            continue;
        }
        count += 1;
        let input = case["input"].as_str().unwrap();
        if let Err(failure) = case_reads(case, host, input) {
            failures.push(format!("{input}: {failure}"));
        }
    }
    assert!(count > 40, "{count} cases");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn case_reads(case: &Value, host: &str, input: &str) -> Result<(), String> {
    let path = folder().join(input).canonicalize().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let arguments = case["args"].as_array().unwrap();
    let document: Value = if host == "messages" { serde_json::from_str(&text).unwrap() } else { Value::Null };
    let options = Options {
        allow_missing_results: arguments.iter().any(|argument| argument == "--allow-missing-results"),
        exclude_call_id: document["exclude_call_id"].as_str().map(str::to_owned),
    };
    let dsh_home = case["env"]["DSH_HOME"].as_str().map(|home| folder().join(home).to_str().unwrap().to_owned());
    let reading = read_with(find(host), &options, Files { path, text, dsh_home });
    let expect = std::fs::read_to_string(folder().join(case["expect"].as_str().unwrap())).unwrap();
    if let Some(kind) = case["kind"].as_str() {
        let mentions = expect.lines().nth(1).and_then(|line| line.strip_prefix("mentions: ")).unwrap().to_lowercase();
        return match reading {
            Err(refusal) if refusal.kind.name() != kind => Err(format!("{refusal:?}")),
            Err(refusal) if mentions != "-" && !refusal.message.to_lowercase().contains(&mentions) => {
                Err(format!("does not mention {mentions}: {refusal:?}"))
            }
            Err(_) => Ok(()),
            // These are found by who has the whole.
            Ok(_) if matches!(kind, "missing_cwd" | "missing_tool_result") => Ok(()),
            Ok(_) => Err(format!("read, but should be {kind}")),
        };
    }
    let reading = reading.map_err(|refusal| format!("{refusal:?}"))?;
    let expected: Value = serde_json::from_str(&expect).unwrap();
    let mut items = named(&reading.items);
    let mut wanted = expected["items"].as_array().unwrap().clone();
    if options.allow_missing_results {
        wanted.retain(|item| item["type"] != "function_call_output" || item["synthetic"] != true);
    }
    if host != "deepseek" {
        for item in items.iter_mut().chain(&mut wanted) {
            if let Some(arguments) = item["arguments"].as_str() {
                item["arguments"] = serde_json::from_str(arguments).unwrap();
            }
        }
    }
    compare("items", &Value::Array(items), &Value::Array(wanted))?;
    let skipped = expected["counts"]["hidden_reasoning_blocks_skipped"].as_u64();
    compare("reasoning", &reading.tally.reasoning.into(), &skipped.into())?;
    let mut warned = codes(expected["warnings"].as_array().unwrap().iter().filter_map(Value::as_str));
    warned.remove("missing_results_filled");
    let got = codes(reading.tally.warnings.iter().map(String::as_str));
    if got != warned {
        return Err(format!("warnings {got:?}, not {warned:?}"));
    }
    let source = &expected["source"];
    if let Some(id) = &reading.outline.session_id {
        compare("session id", &id.clone().into(), &source["session_id"])?;
    }
    if let Some(title) = &reading.outline.title {
        compare("title", &title.clone().into(), &source["title"])?;
    }
    compare("boundary", &reading.outline.compact_boundary.clone().into(), &source["compact_boundary_uuid"])?;
    match reading.outline.source_records {
        Some(records) => compare("records", &records.into(), &expected["counts"]["source_records"]),
        None => Ok(()),
    }
}

fn compare(what: &str, got: &Value, wanted: &Value) -> Result<(), String> {
    if got == wanted { Ok(()) } else { Err(format!("{what}\n  got  {got}\n  want {wanted}")) }
}
