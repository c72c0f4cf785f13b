//! Antigravity's transcripts: one step a line. Results name no call; they are paired by what kind of tool made them.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::super::blocks::{Speech, shown, unfinished};
use super::super::view::Object;
use crate::handoff::content;
use crate::handoff::document::{Item, Role};
use crate::handoff::json;
use crate::handoff::reader::{Options, Outline, Record, SessionReader, Sink, Span, Surroundings, Tally};
use crate::handoff::refusal::{Kind, Refusal};
use crate::hosts::sessions::{Place, Sessions};

/// The transcript with whole texts, beside the one that is read.
const FULL: &str = "transcript_full.jsonl";
const FULL_LIMIT: u64 = 256 * 1024 * 1024;

/// Which tools a result step answers.
const RESULTS: &[(&str, &[&str])] = &[
    ("VIEW_FILE", &["view_file", "view_file_outline", "view_code_item"]),
    ("LIST_DIRECTORY", &["list_dir", "list_directory"]),
    ("RUN_COMMAND", &["run_command", "command_status", "send_command_input"]),
    ("GREP_SEARCH", &["grep_search", "find_by_name"]),
    ("CODE_ACTION", &["write_to_file", "write_file", "replace_file_content", "multi_replace_file_content"]),
    ("SEARCH_WEB", &["search_web"]),
];

/// How sessions are read.
pub(crate) const SESSIONS: Sessions = Sessions {
    place: Some(Place {
        setting: "",
        folder: ".gemini/antigravity-cli",
        pattern: "brain/{id}/.system_generated/logs/transcript.jsonl",
    }),
    ..Sessions::lines("antigravity", "antigravity session", reader)
};

fn reader(_: &Options) -> Box<dyn SessionReader> {
    Box::new(Reader::default())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Harness,
    Checkpoint,
    User,
    Planner,
    /// A row of [`RESULTS`].
    Result(usize),
}

#[derive(Default)]
struct Reader {
    steps: Vec<(Span, Step, bool)>,
}

impl SessionReader for Reader {
    fn scan(&mut self, record: Record<'_>) -> Result<(), Refusal> {
        let line = record.at.line;
        let step = Object::read(record.text, line)?;
        let (kind, source) = (step.kind(), step.text("source").unwrap_or_default());
        if step.text("status").as_deref() != Some("DONE") {
            return Err(unfinished(&format!("step {} (line {line})", number(&step))));
        }
        let what = match (source.as_str(), kind.as_str()) {
            ("SYSTEM", "CONVERSATION_HISTORY" | "EPHEMERAL_MESSAGE" | "SYSTEM_MESSAGE") => Some(Step::Harness),
            ("SYSTEM", "CHECKPOINT") => Some(Step::Checkpoint),
            ("SYSTEM", _) => None,
            (_, "USER_INPUT") => Some(Step::User),
            ("MODEL", "PLANNER_RESPONSE") => Some(Step::Planner),
            ("MODEL", kind) => RESULTS.iter().position(|(name, _)| *name == kind).map(Step::Result),
            _ => None,
        };
        let what = what.ok_or_else(|| {
            let message = format!(
                "step {} (line {line}) is a {} of {}, which cannot be handed over",
                number(&step),
                shown(&kind),
                shown(&source)
            );
            Refusal::new(Kind::UnsupportedRecord, message)
        })?;
        let cut = !matches!(what, Step::Harness | Step::Checkpoint) && is_cut(&step);
        self.steps.push((record.at, what, cut));
        Ok(())
    }

    fn outline(&mut self, around: &mut dyn Surroundings) -> Result<Outline, Refusal> {
        Ok(Outline { session_id: conversation_id(around.path()), ..Outline::default() })
    }

    fn items(&mut self, around: &mut dyn Surroundings, sink: &mut Sink<'_>) -> Result<Tally, Refusal> {
        let mut speech = Speech::new(sink, None);
        let mut full = None;
        let mut open: Vec<(String, String)> = Vec::new();
        for &(span, what, cut) in &self.steps {
            let mut text = around.record(span)?;
            if cut {
                if full.is_none() {
                    full = Some(Full::read(around)?);
                }
                text = whole(&text, span, full.as_ref())?;
            }
            let step = Object::read(&text, span.line)?;
            let content = step.text("content").unwrap_or_default();
            match what {
                Step::Harness if content.is_empty() => {}
                Step::Harness => speech.harness(),
                Step::Checkpoint => speech.warnings.add("checkpoint_skipped"),
                Step::User => speech.text(Role::User, content)?,
                Step::Planner => planner(&step, content, &mut open, &mut speech)?,
                Step::Result(row) => result(&step, content, row, &mut open, &mut speech)?,
            }
        }
        Ok(speech.tally())
    }
}

fn number(step: &Object<'_>) -> String {
    step.number("step_index").map_or_else(|| "?".to_owned(), |number| number.to_string())
}

/// Whether anything but the reasoning was cut.
fn is_cut(step: &Object<'_>) -> bool {
    let fields = step.list("truncated_fields").unwrap_or_default();
    fields.into_iter().any(|field| field.get() != "\"thinking\"")
}

/// `…/<conversation id>/.system_generated/logs/transcript.jsonl`
fn conversation_id(path: &str) -> Option<String> {
    let mut names = path.rsplit(['/', '\\']);
    let is_native = names.next() == Some("transcript.jsonl") && names.next() == Some("logs");
    names.next()?;
    names.next().filter(|id| is_native && !id.is_empty()).map(str::to_owned)
}

fn planner(
    step: &Object<'_>,
    content: String,
    open: &mut Vec<(String, String)>,
    speech: &mut Speech<'_, '_>,
) -> Result<(), Refusal> {
    let at = format!("step {}", number(step));
    if step.text("thinking").is_some_and(|thinking| !thinking.is_empty()) {
        speech.reasoning();
    }
    speech.text(Role::Assistant, content)?;
    for (index, raw) in step.list("tool_calls").unwrap_or_default().into_iter().enumerate() {
        let call = Object::of(raw).unwrap_or_default();
        let name = call.text("name").unwrap_or_default();
        let Some(args) = call.get("args") else {
            return Err(Refusal::new(Kind::InvalidToolCall, format!("{at} holds a tool call without arguments")));
        };
        let id = format!("agy-{}-{index}", number(step));
        open.push((id.clone(), name.clone()));
        speech.call(id, name, json::compact(args.get()), &at)?;
    }
    Ok(())
}

fn result(
    step: &Object<'_>,
    content: String,
    row: usize,
    open: &mut Vec<(String, String)>,
    speech: &mut Speech<'_, '_>,
) -> Result<(), Refusal> {
    let at = format!("step {}", number(step));
    let (kind, tools) = RESULTS[row];
    let answered = open.iter().position(|(_, name)| tools.contains(&name.as_str()));
    let id = match answered {
        Some(place) => open.remove(place).0,
        None => {
            let id = format!("agy-{}-r", number(step));
            speech.warnings.add("synthetic_calls");
            speech.item(synthetic_call(&id, &kind.to_lowercase()))?;
            id
        }
    };
    speech.result(id, Value::String(content), false, &at)
}

fn synthetic_call(id: &str, name: &str) -> Item {
    let mut item = content::call(id, name, "{}");
    if let Item::FunctionCall { more, .. } = &mut item {
        more.insert("synthetic".to_owned(), json!(true));
    }
    item
}

/// The other transcript, with its steps by number and type.
struct Full {
    text: String,
    steps: HashMap<(String, String), std::ops::Range<usize>>,
}

impl Full {
    fn read(around: &mut dyn Surroundings) -> Result<Self, Refusal> {
        let bytes = around.file(FULL, FULL_LIMIT)?.unwrap_or_default();
        let text = json::mended(&String::from_utf8_lossy(&bytes)).into_owned();
        let mut steps = HashMap::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            if let Some(step) = Object::read(line, 0).ok().filter(|step| !is_cut(step)) {
                steps.insert((number(&step), step.kind()), start..start + line.len());
            }
            start += line.len();
        }
        Ok(Self { text, steps })
    }
}

/// The whole form of a step that was cut.
fn whole(text: &str, span: Span, full: Option<&Full>) -> Result<String, Refusal> {
    let step = Object::read(text, span.line)?;
    let found = full.and_then(|full| {
        let range = full.steps.get(&(number(&step), step.kind()))?;
        full.text.get(range.clone())
    });
    found.map(str::to_owned).ok_or_else(|| {
        let message = format!("step {} was cut when it was kept, and {FULL} does not have it whole", number(&step));
        Refusal::new(Kind::TruncatedContent, message)
    })
}
