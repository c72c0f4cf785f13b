//! Precision and recall of the rules of extraction on labelled conversation blocks.
//!
//! Blocks lie in `tests/fixtures/extraction/*.json`, see `SOURCE.md` there. `dev` blocks were there for tuning, `held`
//! blocks are only scored. A memory that matches no expected phrase is a false positive. Run with `--nocapture` for the
//! table and every miss.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads its fixtures, trusts them and prints its table"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use mem0_code_core::extract::{Candidate, MAX_CHARS, Relation, extract, relate};
use mem0_code_core::memory::{Message, Role, ToolOutcome};
use proptest::prelude::*;
use regex::Regex;
use serde_json::Value;

/// One labelled block.
struct Case {
    name: String,
    set: String,
    kind: String,
    messages: Vec<Message>,
    expect: Vec<Expected>,
    secrets: Vec<String>,
}

/// A memory that should (or may) be found.
struct Expected {
    pattern: Regex,
    optional: bool,
    lane: Option<String>,
    categories: Vec<String>,
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/extraction"))
}

/// Makes something that looks like a secret of this kind, from pieces, anew for each case.
fn made_secret(kind: &str, seed: usize) -> String {
    let mut state = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut body = |n: usize| -> String {
        (0..n)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                char::from(b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"[(state >> 33) as usize % 56])
            })
            .collect()
    };
    match kind {
        "sk" => ["sk", "proj", &body(40)].join("-"),
        "ghp" => ["ghp", &body(36)].join("_"),
        _ => format!("{}7q4Z9{}", body(4), body(4)),
    }
}

/// Fills `{{secret:…}}`, `{{long:…}}` and `{{blob}}`.
fn filled(text: &str, redacted: bool, secrets: &mut Vec<String>) -> String {
    let placeholder = Regex::new(r"(?s)\{\{(secret|long|blob)(?::(.*?))?\}\}").unwrap();
    placeholder
        .replace_all(text, |found: &regex::Captures<'_>| match &found[1] {
            "secret" if redacted => "[REDACTED]".to_owned(),
            "secret" => {
                let secret = made_secret(&found[2], secrets.len());
                secrets.push(secret.clone());
                secret
            }
            "long" => vec![&found[2]; 20].join(" "),
            _ => "iVBORw0KGgo".repeat(400),
        })
        .into_owned()
}

fn message(entry: &Value, redacted: bool, secrets: &mut Vec<String>) -> Message {
    let (role, value) = entry.as_object().unwrap().iter().next().unwrap();
    if role == "tool" {
        let text = |key: &str| value[key].as_str().map(|text| filled(text, redacted, &mut Vec::new()));
        let tool = ToolOutcome {
            name: text("name").unwrap_or_default(),
            command: text("command"),
            command_kind: text("kind"),
            failed: value["failed"].as_bool(),
            output: text("output").unwrap_or_default(),
            path: text("path"),
        };
        let head = tool.command.as_deref().unwrap_or(&tool.name);
        return Message { role: Role::Tool, content: format!("{head}\n{}", tool.output), at: None, tool: Some(tool) };
    }
    let role = if role == "user" { Role::User } else { Role::Assistant };
    Message { role, content: filled(value.as_str().unwrap(), redacted, secrets), at: None, tool: None }
}

fn cases(redacted: bool) -> Vec<Case> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let mut out = Vec::new();
    for file in files {
        let blocks: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(&file).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for block in blocks {
            let mut secrets = Vec::new();
            let strings = |value: &Value| -> Vec<String> {
                match value {
                    Value::String(text) => vec![text.clone()],
                    Value::Array(list) => list.iter().map(|text| text.as_str().unwrap().to_owned()).collect(),
                    _ => Vec::new(),
                }
            };
            out.push(Case {
                name: block["name"].as_str().unwrap().to_owned(),
                set: block["set"].as_str().unwrap().to_owned(),
                kind: block["kind"].as_str().unwrap().to_owned(),
                messages: block["messages"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|entry| message(entry, redacted, &mut secrets))
                    .collect(),
                expect: block["expect"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|expected| Expected {
                        pattern: Regex::new(&format!("(?i){}", expected["match"].as_str().unwrap())).unwrap(),
                        optional: expected["optional"].as_bool().unwrap_or(false),
                        lane: expected["lane"].as_str().map(str::to_owned),
                        categories: strings(&expected["category"]),
                    })
                    .collect(),
                secrets,
            });
        }
    }
    out
}

/// What was counted over a group of blocks.
#[derive(Debug, Default, Clone, Copy)]
struct Score {
    blocks: usize,
    /// Memories that match a phrase that had to be found.
    right: usize,
    /// Memories that match only a phrase that may be found; they count for nothing.
    allowed: usize,
    wrong: usize,
    expected: usize,
    found: usize,
    lanes: (usize, usize),
    categories: (usize, usize),
}

impl Score {
    fn precision(self) -> f64 {
        ratio(self.right, self.right + self.wrong)
    }
    fn recall(self) -> f64 {
        ratio(self.found, self.expected)
    }
    fn add(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.right += other.right;
        self.allowed += other.allowed;
        self.wrong += other.wrong;
        self.expected += other.expected;
        self.found += other.found;
        self.lanes = (self.lanes.0 + other.lanes.0, self.lanes.1 + other.lanes.1);
        self.categories = (self.categories.0 + other.categories.0, self.categories.1 + other.categories.1);
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// Scores one block and tells of each fault.
fn score(case: &Case, found: &[Candidate], faults: &mut Vec<String>) -> Score {
    let mut score = Score { blocks: 1, ..Score::default() };
    for candidate in found {
        let matches: Vec<&Expected> =
            case.expect.iter().filter(|expected| expected.pattern.is_match(&candidate.text)).collect();
        match matches.iter().find(|expected| !expected.optional) {
            Some(expected) => {
                score.right += 1;
                let (lane, category) = (format!("{:?}", candidate.lane).to_lowercase(), candidate.category.as_str());
                if let Some(wanted) = &expected.lane {
                    score.lanes.1 += 1;
                    score.lanes.0 += usize::from(*wanted == lane);
                }
                if !expected.categories.is_empty() {
                    score.categories.1 += 1;
                    score.categories.0 += usize::from(expected.categories.iter().any(|wanted| wanted == category));
                }
                if expected.lane.as_ref().is_some_and(|wanted| *wanted != lane)
                    || !(expected.categories.is_empty() || expected.categories.iter().any(|wanted| wanted == category))
                {
                    faults.push(format!("{}: placed in {lane}/{category}: {}", case.name, candidate.text));
                }
            }
            None if !matches.is_empty() => score.allowed += 1,
            None => {
                score.wrong += 1;
                faults.push(format!("{}: WRONG {:?} {:?}", case.name, candidate.rule, candidate.text));
            }
        }
    }
    for expected in case.expect.iter().filter(|expected| !expected.optional) {
        score.expected += 1;
        if found.iter().any(|candidate| expected.pattern.is_match(&candidate.text)) {
            score.found += 1;
        } else {
            faults.push(format!("{}: MISSED {}", case.name, expected.pattern));
        }
    }
    score
}

#[test]
fn precision_and_recall() {
    let mut table: BTreeMap<(String, String), Score> = BTreeMap::new();
    let mut faults: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in cases(true) {
        let scored = score(&case, &extract(&case.messages), faults.entry(case.set.clone()).or_default());
        table.entry((case.set.clone(), case.kind.clone())).or_default().add(scored);
        table.entry((case.set.clone(), "~ all".to_owned())).or_default().add(scored);
    }
    println!(
        "| set | kind | blocks | expected | found | right | wrong | allowed | precision | recall | lane | category |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for ((set, kind), score) in &table {
        println!(
            "| {set} | {kind} | {} | {} | {} | {} | {} | {} | {:.2} | {:.2} | {}/{} | {}/{} |",
            score.blocks,
            score.expected,
            score.found,
            score.right,
            score.wrong,
            score.allowed,
            score.precision(),
            score.recall(),
            score.lanes.0,
            score.lanes.1,
            score.categories.0,
            score.categories.1
        );
    }
    for (set, faults) in &faults {
        if set == "held" && std::env::var_os("EXTRACTION_HIDE_HELD").is_some() {
            continue;
        }
        faults.iter().for_each(|fault| println!("{set}  {fault}"));
    }
    for set in ["dev", "held"] {
        let score = table[&(set.to_owned(), "~ all".to_owned())];
        assert!(score.precision() >= 0.9, "{set}: precision {:.3}", score.precision());
        assert!(score.recall() >= 0.7, "{set}: recall {:.3}", score.recall());
        assert!(ratio(score.lanes.0, score.lanes.1) >= 0.9, "{set}: lanes {:?}", score.lanes);
        assert!(ratio(score.categories.0, score.categories.1) >= 0.8, "{set}: categories {:?}", score.categories);
    }
}

#[test]
fn no_memory_holds_a_secret_even_when_redaction_saw_none() {
    for case in cases(false).iter().filter(|case| !case.secrets.is_empty()) {
        for candidate in extract(&case.messages) {
            for secret in &case.secrets {
                assert!(!candidate.text.contains(secret.as_str()), "{}: a secret in a memory", case.name);
            }
        }
    }
}

/// Ten turns as a session has them: prompts, answers with lists, commands that fail and pass, a file that was read.
fn ten_turns() -> Vec<Message> {
    let mut all: Vec<Message> = Vec::new();
    for case in cases(true).into_iter().filter(|case| case.messages.len() >= 3 && !case.name.contains("long")) {
        all.extend(case.messages);
        if all.iter().filter(|message| message.role == Role::User).count() >= 10 {
            break;
        }
    }
    all
}

/// Budget: 2 ms a block of ten turns in release, patterns compiled; debug builds get fifty times that.
#[test]
fn speed_of_ten_turns() {
    let block = ten_turns();
    let first = std::time::Instant::now();
    extract(&block);
    let cold = first.elapsed();
    let mut times: Vec<std::time::Duration> = (0..50)
        .map(|_| {
            let start = std::time::Instant::now();
            std::hint::black_box(extract(std::hint::black_box(&block)));
            start.elapsed()
        })
        .collect();
    times.sort();
    let bytes: usize = block.iter().map(|message| message.content.len()).sum();
    println!(
        "{} messages, {bytes} bytes: first {cold:?}, then least {:?}, median {:?}",
        block.len(),
        times[0],
        times[25]
    );
    let budget = if cfg!(debug_assertions) { 100 } else { 2 };
    assert!(times[0] < std::time::Duration::from_millis(budget), "{:?}", times[0]);
}

/// Pieces that rules react to, mixed with arbitrary text.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => any::<String>(),
        1 => "[a-zA-Z0-9 `.,:;?!'\"()/_<>*#\\n-]{0,120}",
        4 => prop::sample::select(vec![
            "remember that ", "Always ", "never ", "I prefer ", "no, ", "\n- ", "\n## ", "```\n", "~~~", "<mem0-memory>", "</mem0-memory>",
            "<system-reminder>", "Approved plan: ", "Answers to the agent's questions:\n- What? ", "Done. Added `x` to ", "Root cause: the ",
            " instead of ", "记住：", "覚えて", "기억해줘", "Запомни, ", "merk dir ", "# ", "/remember ", "the port is 5433. ", "`", "“", "ß", "İ", "\u{2019}",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn any_message() -> impl Strategy<Value = Message> {
    let tool = (text(), prop::option::of(text()), prop::option::of(any::<bool>()), text(), prop::option::of(text()))
        .prop_map(|(name, command, failed, output, path)| Message {
            role: Role::Tool,
            content: output.clone(),
            at: None,
            tool: Some(ToolOutcome { name, command, command_kind: None, failed, output, path }),
        });
    prop_oneof![
        (prop::bool::ANY, text()).prop_map(|(user, content)| Message {
            role: if user { Role::User } else { Role::Assistant },
            content,
            at: None,
            tool: None
        }),
        tool,
    ]
}

proptest! {
    #[test]
    fn whatever_is_said_memories_are_sound(messages in prop::collection::vec(any_message(), 0..12)) {
        for candidate in extract(&messages) {
            prop_assert!(!candidate.text.trim().is_empty());
            prop_assert!(candidate.text.chars().count() <= MAX_CHARS, "{}", candidate.text);
            prop_assert!(!candidate.text.to_lowercase().contains("mem0-memory>"), "{}", candidate.text);
            prop_assert!(!candidate.text.contains("[REDACTED"));
            prop_assert!((0.0..=1.0).contains(&candidate.confidence));
            prop_assert!(candidate.sources.iter().all(|&source| source < messages.len()));
        }
    }

    #[test]
    fn relating_never_panics_and_knows_itself(one in text(), other in text(), cosine in -1.0f32..=1.0) {
        relate(&one, &other, cosine);
        prop_assert_eq!(relate(&one, &one, 1.0), Relation::Duplicate);
    }
}

#[test]
fn there_are_enough_blocks() {
    let all = cases(true);
    let held = all.iter().filter(|case| case.set == "held").count();
    assert!(all.len() >= 80, "{} blocks", all.len());
    assert!(held * 5 >= all.len() * 2, "{held} of {} held", all.len());
}
