//! The readers over the fixtures of handoffs: what a command line adds (titles, digests, pairing) is tested with it.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests read fixtures")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mem0_code_core::handoff::document::Item;
use mem0_code_core::handoff::json::mended;
use mem0_code_core::handoff::reader::{Options, Outline, Record, Span, Surroundings, Tally};
use mem0_code_core::handoff::refusal::{Kind, Refusal};
use mem0_code_core::hosts::sessions::{self, Form, Sessions};
use serde_json::{Value, json};

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
        Ok(mended(&self.text[start..start + at.len]).into_owned())
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
struct Reading {
    outline: Outline,
    items: Vec<Item>,
    tally: Tally,
}

fn read_with(host: &Sessions, options: &Options, mut files: Files) -> Result<Reading, Refusal> {
    let mut reader = (host.reader)(options);
    let mut scan = |offset: usize, text: &str, line: u64| {
        let at = Span { offset: offset as u64, len: text.len(), line };
        reader.scan(Record { at, text: &mended(text) })
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

/// Reads lines that stand in no file.
fn read_lines(host: &str, path: &str, lines: &[Value]) -> Result<Reading, Refusal> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    read_with(find(host), &Options::default(), Files { path: PathBuf::from(path), text, dsh_home: None })
}

/// What was said, and by whom, a line each.
fn said(reading: &Reading) -> String {
    let line = |item: &Item| match item {
        Item::Message { role, content, .. } => {
            let parts = serde_json::to_value(content).unwrap();
            let texts: Vec<&str> =
                parts.as_array().unwrap().iter().map(|part| part["text"].as_str().unwrap_or("(image)")).collect();
            format!("{role:?}: {}", texts.join("|")).to_lowercase()
        }
        Item::FunctionCall { call_id, name, arguments, .. } => format!("{call_id} {name}({arguments})"),
        Item::FunctionCallOutput { call_id, output, .. } => format!("{call_id} = {output}"),
    };
    reading.items.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn kimi_event(event: Value) -> Value {
    json!({ "type": "context.append_loop_event", "event": event })
}

fn kimi_user(text: &str) -> Value {
    let message = json!({ "role": "user", "content": [{ "type": "text", "text": text }], "toolCalls": [], "origin": { "kind": "user" } });
    json!({ "type": "context.append_message", "message": message })
}

#[test]
fn kimi_holds_a_message_back_until_the_open_calls_are_answered() {
    let reading = read_lines(
        "kimi",
        "/x/wire.jsonl",
        &[
            kimi_user("go"),
            kimi_event(json!({ "type": "step.begin", "uuid": "s" })),
            kimi_event(json!({ "type": "tool.call", "stepUuid": "s", "toolCallId": "a", "name": "Bash", "args": { "z": 1, "b": 1.50 } })),
            kimi_event(json!({ "type": "tool.call", "stepUuid": "s", "toolCallId": "b", "name": "Bash", "args": null })),
            kimi_user("typed meanwhile"),
            kimi_event(json!({ "type": "tool.result", "toolCallId": "b", "result": { "output": "" } })),
            kimi_event(json!({ "type": "tool.result", "toolCallId": "a", "result": { "output": "one" } })),
            kimi_event(json!({ "type": "step.end", "uuid": "s", "finishReason": "tool_use" })),
        ],
    )
    .unwrap();
    let expected = "user: go\na Bash({\"b\":1.5,\"z\":1})\nb Bash({})\nb = []\na = [{\"text\":\"one\",\"type\":\"text\"}]\nuser: typed meanwhile";
    assert_eq!(said(&reading), expected);
}

#[test]
fn kimi_refuses_what_it_cannot_follow() {
    let begin = kimi_event(json!({ "type": "step.begin", "uuid": "s" }));
    for (records, kind) in [
        (
            vec![begin.clone(), kimi_event(json!({ "type": "content.part", "stepUuid": "t", "part": {} }))],
            Kind::UnsupportedRecord,
        ),
        (
            vec![begin.clone(), kimi_event(json!({ "type": "step.end", "uuid": "s", "finishReason": "interrupted" }))],
            Kind::UnfinishedTurn,
        ),
        (vec![begin, json!({ "type": "context.apply_compaction", "summary": "s" })], Kind::UnfinishedTurn),
        (vec![json!({ "type": "context.apply_compaction", "compactedCount": 0 })], Kind::OpaqueCompaction),
        (
            vec![json!({ "type": "context.apply_compaction", "summary": "s", "compactedCount": 9 })],
            Kind::OpaqueCompaction,
        ),
        (
            vec![
                kimi_user(&"é".repeat(20_001)),
                json!({ "type": "context.apply_compaction", "summary": "s", "keptUserMessageCount": 1 }),
            ],
            Kind::OpaqueCompaction,
        ),
        (vec![kimi_event(json!({ "type": "step.teleport" }))], Kind::UnsupportedRecord),
        (
            vec![
                json!({ "type": "context.append_message", "message": { "role": "user", "content": [{ "type": "video_url" }] } }),
            ],
            Kind::UnsupportedContent,
        ),
        (
            vec![
                json!({ "type": "context.append_message", "message": { "role": "user", "content": [{ "type": "image_url", "imageUrl": { "url": "blobref:image/png;../../secret" } }] } }),
            ],
            Kind::UnavailableImage,
        ),
    ] {
        assert_eq!(
            read_lines("kimi", "/x/wire.jsonl", &records).err().map(|refusal| refusal.kind),
            Some(kind),
            "{records:?}"
        );
    }
}

#[test]
fn pi_follows_its_branch_only() {
    let header = json!({ "type": "session", "version": 3, "id": "root", "cwd": "/srv" });
    let user = |id: &str, parent: Option<&str>, text: &str| json!({ "type": "message", "id": id, "parentId": parent, "message": { "role": "user", "content": text } });
    let rooted = [
        header.clone(),
        user("a", Some("root"), "one"),
        user("x", Some("a"), "elsewhere"),
        user("b", Some("a"), "two"),
    ];
    assert_eq!(said(&read_lines("pi-agent", "/x.jsonl", &rooted).unwrap()), "user: one\nuser: two");
    let teleport = json!({ "type": "teleport", "id": "t", "parentId": "a" });
    for (records, kind) in [
        (vec![header.clone(), user("a", Some("b"), "1"), user("b", Some("a"), "2")], Kind::ParentCycle),
        (vec![header.clone(), user("a", None, "1"), user("a", None, "2")], Kind::DuplicateRecordId),
        (vec![user("a", None, "1")], Kind::UnsupportedRecord),
        (
            vec![header.clone(), json!({ "type": "message", "message": { "role": "user", "content": "v1" } })],
            Kind::UnsupportedRecord,
        ),
        (
            vec![
                header.clone(),
                user("a", None, "1"),
                json!({ "type": "compaction", "id": "c", "parentId": "a", "firstKeptEntryId": "a" }),
            ],
            Kind::OpaqueCompaction,
        ),
    ] {
        assert_eq!(
            read_lines("pi-agent", "/x.jsonl", &records).err().map(|refusal| refusal.kind),
            Some(kind),
            "{records:?}"
        );
    }
    // An entry nobody knows is only refused where the model would see it.
    let off_branch = [header, user("a", None, "one"), teleport, user("b", Some("a"), "two")];
    assert_eq!(said(&read_lines("openclaw", "/x.jsonl", &off_branch).unwrap()), "user: one\nuser: two");
}

#[test]
fn deepseek_counts_its_events_and_follows_its_surface() {
    let header = json!({ "type": "session", "version": 0, "id": "d", "cwd": "/srv" });
    let user = |seq: u64, text: &str, op: Value| {
        let data =
            json!({ "role": "user", "content": [{ "type": "text", "text": text }], "source": { "kind": "user" } });
        json!({ "type": "user/message", "seq": seq, "data": data, "surfaceOp": op })
    };
    let older = json!({ "type": "assistant/message", "seq": 1, "surfaceOp": "append", "data": { "content": [{ "type": "tool-call", "id": "c", "name": "ls", "arguments": "{ }" }] } });
    let result = json!({ "type": "tool/result", "seq": 2, "surfaceOp": "append", "data": { "callId": "c", "content": "out", "isError": true } });
    let log = [header.clone(), user(0, "go", json!("append")), older, result];
    let reading = read_lines("deepseek", "/x/session.jsonl", &log).unwrap();
    assert_eq!(said(&reading), "user: go\nc ls({ })\nc = [{\"text\":\"out\",\"type\":\"text\"}]");
    for records in [
        vec![header.clone(), user(1, "gap", json!("append"))],
        vec![header.clone(), user(0, "nowhere", Value::Null)],
        vec![
            header.clone(),
            user(0, "a", json!("append")),
            user(1, "b", json!({ "op": "replace", "start": 0, "end": 7 })),
        ],
        vec![header, json!({ "type": "text-chunks", "seq0": 0, "data": { "texts": [] } })],
    ] {
        let refusal = read_lines("deepseek", "/x/session.jsonl", &records).err().map(|refusal| refusal.kind);
        assert_eq!(refusal, Some(Kind::UnsupportedRecord), "{records:?}");
    }
}

fn opencode(messages: Value, exclude: Option<&str>) -> Result<Reading, Refusal> {
    let text = json!({ "info": { "id": "ses", "directory": "/srv" }, "messages": messages }).to_string();
    let options = Options { exclude_call_id: exclude.map(str::to_owned), ..Options::default() };
    read_with(find("opencode"), &options, Files { path: PathBuf::from("/x/export.json"), text, dsh_home: None })
}

#[test]
fn opencode_leaves_out_its_own_running_handoff_and_answers_that_broke_off() {
    let ask = |id: &str, text: &str| json!({ "info": { "id": id, "role": "user" }, "parts": [{ "type": "text", "text": text }] });
    let running = json!({ "info": { "id": "m", "role": "assistant", "time": { "created": 1 } }, "parts": [
        { "type": "text", "text": "Saving." },
        { "type": "tool", "callID": "h", "tool": "mem0_handoff", "state": { "status": "running", "input": {} } },
    ] });
    let own = json!([ask("a", "save"), running]);
    assert_eq!(said(&opencode(own.clone(), Some("h")).unwrap()), "user: save\nassistant: saving.");
    assert_eq!(opencode(own.clone(), Some("other")).err().map(|refusal| refusal.kind), Some(Kind::UnfinishedTurn));
    assert_eq!(opencode(own, None).err().map(|refusal| refusal.kind), Some(Kind::UnfinishedTurn));
    let broken = |name: &str| json!({ "info": { "id": "b", "role": "assistant", "error": { "name": name } }, "parts": [{ "type": "text", "text": "half" }] });
    let aborted = opencode(json!([ask("a", "1"), broken("MessageAbortedError"), ask("c", "2")]), None).unwrap();
    assert_eq!(said(&aborted), "user: 1\nassistant: half\nuser: 2");
    let failed = opencode(json!([ask("a", "1"), broken("APIError"), ask("c", "2")]), None).unwrap();
    assert_eq!(said(&failed), "user: 1\nuser: 2");
    assert_eq!(
        codes(failed.tally.warnings.iter().map(String::as_str)).into_iter().collect::<Vec<_>>(),
        ["interrupted_turn_omitted"]
    );
    let last = opencode(json!([ask("a", "1"), broken("APIError")]), None).err().map(|refusal| refusal.kind);
    assert_eq!(last, Some(Kind::UnfinishedTurn));
}

#[test]
fn opencode_reads_a_local_picture_only_if_it_is_one() {
    let folder = tempfile_folder();
    let png = folder.join("a shot.png");
    std::fs::write(&png, b"\x89PNG\r\n\x1a\nrest").unwrap();
    let url = format!("file://{}", png.to_str().unwrap().replace(' ', "%20"));
    let with = |mime: &str, url: &str| {
        opencode(
            json!([{ "info": { "id": "a", "role": "user" }, "parts": [{ "type": "file", "mime": mime, "url": url }] }]),
            None,
        )
    };
    assert_eq!(said(&with("image/png", &url).unwrap()), "user: (image)");
    for (mime, url, kind) in [
        ("image/gif", url.as_str(), Kind::UnavailableImage),
        ("image/png", "file:///nowhere.png", Kind::UnavailableImage),
        ("image/png", "https://example.invalid/x.png", Kind::UnavailableImage),
        ("application/pdf", url.as_str(), Kind::UnsupportedContent),
    ] {
        assert_eq!(with(mime, url).err().map(|refusal| refusal.kind), Some(kind), "{mime} {url}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

fn tempfile_folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("mem0-code-sessions-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Whatever stands in a record, a reader answers.
#[test]
fn no_record_makes_a_reader_panic() {
    let odd = [
        json!({}),
        json!({ "type": 7, "role": [], "message": "x" }),
        json!({ "type": "session", "version": 0, "id": {} }),
        json!({ "type": "session", "version": 3, "id": "s" }),
        json!({ "type": "user/message", "seq": 0, "surfaceOp": { "op": "replace" } }),
        json!({ "type": "message", "id": "a", "message": { "role": "assistant", "content": [[], 1, null, { "type": "toolCall" }] } }),
        json!({ "role": "assistant", "message": { "content": [{ "type": "tool_use", "id": 3 }] } }),
        json!({ "type": "PLANNER_RESPONSE", "source": "MODEL", "status": "DONE", "step_index": -1, "tool_calls": [5] }),
        json!({ "info": 1, "messages": [{ "info": {}, "parts": [1] }] }),
        json!({ "messages": [null, { "role": "tool", "content": 5 }, { "role": "assistant", "toolCalls": [0] }] }),
    ];
    for host in sessions::ALL.iter().chain([&sessions::MESSAGES]) {
        for first in &odd {
            for second in &odd {
                let text = match host.form {
                    Form::Document => first.to_string(),
                    Form::Lines => format!("{first}\n{second}\n"),
                };
                let _ = read_with(
                    host,
                    &Options::default(),
                    Files { path: PathBuf::from("/x/y.jsonl"), text, dsh_home: None },
                );
            }
        }
    }
}
