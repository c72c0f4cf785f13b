//! The store step by step, and the MCP tool over it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{LIMIT, command, fixtures, kind, read_json};
use crate::process::{self, Outcome};

/// A scenario in a folder of its own.
struct Scenario {
    folder: tempfile::TempDir,
    bound: BTreeMap<String, String>,
}

impl Scenario {
    fn new(fixture: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().to_string_lossy().into_owned();
        let scenario = Self { folder, bound: BTreeMap::from([("TMP".to_owned(), root)]) };
        for dir in fixture["setup"]["dirs"].as_array().unwrap() {
            std::fs::create_dir_all(scenario.filled(dir.as_str().unwrap())).unwrap();
        }
        for (path, text) in fixture["setup"]["files"].as_object().unwrap() {
            std::fs::write(scenario.filled(path), text.as_str().unwrap()).unwrap();
        }
        scenario
    }

    fn filled(&self, text: &str) -> String {
        self.bound.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value))
    }

    fn filled_json(&self, value: &Value) -> Value {
        serde_json::from_str(&self.filled(&value.to_string())).unwrap()
    }

    fn home(&self) -> String {
        self.filled("{{TMP}}/home")
    }

    fn store(&self) -> String {
        self.filled("{{TMP}}/home/.mem0/handoffs")
    }

    fn step(&mut self, step: &Value) {
        for (path, text) in step["write"].as_object().into_iter().flatten() {
            std::fs::write(self.filled(path), text.as_str().unwrap()).unwrap();
        }
        if let Some(edit) = step["edit"].as_object() {
            let path = &self.bound[edit["file"].as_str().unwrap()];
            let text = std::fs::read_to_string(path).unwrap();
            let (from, to) = (edit["replace"][0].as_str().unwrap(), edit["replace"][1].as_str().unwrap());
            assert!(text.contains(from));
            std::fs::write(path, text.replace(from, to)).unwrap();
        }
        if step["argv"].to_string().contains("COPY_OF_A") {
            let copy = self.filled("{{TMP}}/a b $(x).json");
            std::fs::copy(&self.bound["A"], &copy).unwrap();
            self.bound.insert("COPY_OF_A".to_owned(), copy);
        }
        let before: BTreeMap<&String, Vec<u8>> = step["unchanged"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|name| {
                (&self.bound[name.as_str().unwrap()], std::fs::read(&self.bound[name.as_str().unwrap()]).unwrap())
            })
            .collect();
        let mut command = command(Path::new(&self.home()));
        command.arg("handoff");
        command.args(step["argv"].as_array().unwrap().iter().map(|arg| self.filled(arg.as_str().unwrap())));
        let wants_kind = step["kind"].is_string();
        if wants_kind && !step["argv"].to_string().contains("--json") {
            command.arg("--json");
        }
        let stdin = if step["stdin"].is_null() { String::new() } else { self.filled_json(&step["stdin"]).to_string() };
        let outcome = process::run(command, stdin.as_bytes(), LIMIT);
        for (path, bytes) in before {
            assert_eq!(std::fs::read(path).unwrap(), bytes);
        }
        self.check(step, &outcome);
    }

    fn check(&mut self, step: &Value, outcome: &Outcome) {
        let about = format!("{}: {outcome:?}", step["id"]);
        assert_eq!(outcome.code.map(i64::from), step["exit"].as_i64(), "{about}");
        if let Some(expected) = step["kind"].as_str() {
            assert_eq!(kind(outcome), expected, "{about}");
        }
        if step["stdout_empty"] == true {
            assert_eq!(outcome.stdout, "", "{about}");
        }
        if step["stdout_nonempty"] == true {
            assert!(!outcome.stdout.trim().is_empty(), "{about}");
        }
        let json: Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
        if let Some(name) = step["bind"].as_str() {
            self.bound.insert(name.to_owned(), json["resource"].as_str().unwrap().to_owned());
        }
        for (key, value) in step["stdout_json"].as_object().into_iter().flatten() {
            assert_eq!(json[key], self.filled_json(value), "{about}");
        }
        for (path, value) in step["stdout_json_paths"].as_object().into_iter().flatten() {
            assert_eq!(*at(&json, path), self.filled_json(value), "{about}");
        }
        if !step["stdout_resources"].is_null() {
            let listed: Vec<&Value> =
                json["resources"].as_array().unwrap().iter().map(|row| &row["resource"]).collect();
            let expected: Vec<Value> = step["stdout_resources"]
                .as_array()
                .unwrap()
                .iter()
                .map(|name| self.bound[name.as_str().unwrap()].clone().into())
                .collect();
            assert_eq!(listed, expected.iter().collect::<Vec<_>>(), "{about}");
        }
        for (index, expected) in step["stdout_unreadable"].as_array().into_iter().flatten().enumerate() {
            for (key, value) in expected.as_object().unwrap() {
                assert_eq!(json["unreadable"][index][key], self.filled_json(value), "{about}");
            }
        }
        for excluded in step["stdout_excludes"].as_array().into_iter().flatten() {
            assert!(!outcome.stdout.contains(&self.filled(excluded.as_str().unwrap())), "{about}");
        }
        for contained in step["stderr_contains"].as_array().into_iter().flatten() {
            assert!(outcome.stderr.contains(&self.filled(contained.as_str().unwrap())), "{about}");
        }
        if let Some(pattern) = step["resource_matches"].as_str() {
            let root = regex::escape(&self.bound["TMP"]);
            let pattern = pattern.replace("\\{\\{TMP\\}\\}", &root);
            assert!(regex::Regex::new(&pattern).unwrap().is_match(json["resource"].as_str().unwrap()), "{about}");
        }
        let mode = |path: &str| format!("{:04o}", std::fs::metadata(path).unwrap().permissions().mode() & 0o7777);
        if let Some(expected) = step["file_mode"].as_str() {
            assert_eq!(mode(json["resource"].as_str().unwrap()), expected);
        }
        if let Some(expected) = step["dir_mode"].as_str() {
            assert_eq!(mode(&self.store()), expected);
        }
        if let Some(expected) = step["store_file_count"].as_u64() {
            assert_eq!(std::fs::read_dir(self.store()).unwrap().count() as u64, expected, "{about}");
        }
        for (path, value) in step["saved_json_paths"].as_object().into_iter().flatten() {
            let saved = read_json(Path::new(json["resource"].as_str().unwrap()));
            assert_eq!(*at(&saved, path), self.filled_json(value), "{about}");
        }
        if let Some([left, right]) = step["different"].as_array().map(Vec::as_slice) {
            assert_ne!(self.bound[left.as_str().unwrap()], self.bound[right.as_str().unwrap()]);
        }
    }
}

fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.').fold(value, |value, step| match step.parse::<usize>() {
        Ok(index) if value.is_array() => &value[index],
        _ => &value[step],
    })
}

#[test]
fn the_store_step_by_step() {
    let fixture = read_json(&fixtures().join("store-scenario.json"));
    let mut scenario = Scenario::new(&fixture);
    for step in fixture["steps"].as_array().unwrap() {
        scenario.step(step);
    }
    drop(scenario.folder);
}

#[test]
fn the_mcp_tool_over_the_store() {
    let store = read_json(&fixtures().join("store-scenario.json"));
    let fixture = read_json(&fixtures().join("mcp-scenario.json"));
    let mut scenario = Scenario::new(&store);
    for step in store["steps"].as_array().unwrap().iter().take(3) {
        scenario.step(step);
    }
    let mut server = command(Path::new(&scenario.home()));
    server.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = server.spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let mut ask = |request: &Value| {
        writeln!(input, "{request}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    let tools = ask(&json!({"jsonrpc": "2.0", "id": 0, "method": "tools/list"}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == "handoff_resource").unwrap();
    let expected = &fixture["tools_list_has"];
    assert_eq!(tool["inputSchema"]["required"], expected["required"]);
    assert_eq!(tool["inputSchema"]["properties"]["action"]["enum"], expected["action_enum"]);
    assert_eq!(tool["inputSchema"]["additionalProperties"], expected["additionalProperties"]);
    for (name, value) in expected["annotations"].as_object().unwrap() {
        assert_eq!(tool["annotations"][name], *value);
    }
    for request in fixture["refused"].as_array().unwrap() {
        let answer = ask(&scenario.filled_json(request));
        assert_eq!(answer["result"]["isError"], true, "{request} {answer}");
    }
    for case in fixture["answered"].as_array().unwrap() {
        let answer = ask(&scenario.filled_json(&case["request"]));
        assert_eq!(answer["result"]["isError"], case["isError"] == true, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        for contained in case["text_contains"].as_array().into_iter().flatten() {
            assert!(text.contains(&scenario.filled(contained.as_str().unwrap())), "{text}");
        }
        for excluded in case["text_excludes"].as_array().into_iter().flatten() {
            assert!(!text.contains(&scenario.filled(excluded.as_str().unwrap())), "{text}");
        }
        if let Some(expected) = case["json_after_first_blank_line"].as_object() {
            let (guard, json) = text.split_once("\n\n").unwrap();
            assert!(guard.contains("evidence"));
            let json: Value = serde_json::from_str(json).unwrap();
            for (key, value) in expected {
                assert_eq!(json[key], scenario.filled_json(value));
            }
        }
    }
    drop(input);
    server.wait().unwrap();
}
