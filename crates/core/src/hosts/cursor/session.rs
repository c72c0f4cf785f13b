//! Cursor's transcripts: `{"role","message":{"content":[…]}}` a line, and markers of ended turns.
//!
//! What Cursor itself writes has tool calls without ids and no results at all; exports that have both are read whole.

use serde_json::{Value, json};

use super::super::blocks::{self, Picture, Speech, shown, unsupported};
use super::super::view::{self, Object};
use crate::handoff::content::{self, Runs};
use crate::handoff::document::{Item, Role};
use crate::handoff::json;
use crate::handoff::reader::{Options, Outline, Record, SessionReader, Sink, Span, Surroundings, Tally};
use crate::handoff::refusal::{Kind, Refusal};
use crate::hosts::sessions::{Place, Sessions};

/// How sessions are read.
pub(crate) const SESSIONS: Sessions = Sessions {
    place: Some(Place { setting: "", folder: ".cursor", pattern: "projects/*/agent-transcripts/{id}/{id}.jsonl" }),
    without_results: Some("Cursor does not record results"),
    ..Sessions::lines("cursor", "cursor session", reader)
};

fn reader(options: &Options) -> Box<dyn SessionReader> {
    Box::new(Reader { allow_missing: options.allow_missing_results, ..Reader::default() })
}

#[derive(Default)]
struct Reader {
    allow_missing: bool,
    messages: Vec<(Span, Role)>,
    session_id: Option<String>,
    cwd: Option<String>,
    /// The line of a turn that ended badly, until the user speaks again.
    broken_turn: Option<u64>,
}

impl SessionReader for Reader {
    fn scan(&mut self, record: Record<'_>) -> Result<(), Refusal> {
        let line = record.at.line;
        let object = Object::read(record.text, line)?;
        self.session_id = self.session_id.take().or_else(|| object.filled("session_id"));
        self.cwd = self.cwd.take().or_else(|| object.filled("cwd"));
        let kind = object.kind();
        if kind == "turn_ended" {
            let status = object.text("status").unwrap_or_default();
            self.broken_turn = (status != "success").then_some(line);
            return Ok(());
        }
        let role = match object.text("role").unwrap_or(kind).as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            other => {
                let message = format!("line {line} is a record of the type {}, which is not known", shown(other));
                return Err(Refusal::new(Kind::UnsupportedRecord, message));
            }
        };
        if role == Role::User {
            self.broken_turn = None;
        }
        self.messages.push((record.at, role));
        Ok(())
    }

    fn outline(&mut self, _: &mut dyn Surroundings) -> Result<Outline, Refusal> {
        if let Some(line) = self.broken_turn {
            let message = format!("the last turn (line {line}) did not end well; finish it or ask again first");
            return Err(Refusal::new(Kind::UnfinishedTurn, message));
        }
        Ok(Outline { session_id: self.session_id.clone(), cwd: self.cwd.clone(), ..Outline::default() })
    }

    fn items(&mut self, around: &mut dyn Surroundings, sink: &mut Sink<'_>) -> Result<Tally, Refusal> {
        let mut speech = Speech::new(sink, None);
        let mut calls = 0;
        for (span, role) in std::mem::take(&mut self.messages) {
            let text = around.record(span)?;
            let at = format!("line {}", span.line);
            let object = Object::read(&text, span.line)?;
            let content = object.object("message").and_then(|message| message.get("content"));
            let content = content.ok_or_else(|| unsupported("a message without content", &at))?;
            if let Some(text) = view::text(content) {
                speech.text(role, text)?;
                continue;
            }
            let blocks = view::list(content).ok_or_else(|| unsupported("a content that is no list", &at))?;
            let mut runs = Runs::new(role);
            for raw in blocks {
                let block = Object::of(raw).ok_or_else(|| unsupported("a block that is no object", &at))?;
                self.block(&block, role, &at, &mut calls, &mut runs, &mut speech)?;
            }
            speech.end(&mut runs)?;
        }
        Ok(speech.tally())
    }
}

impl Reader {
    fn block(
        &self,
        block: &Object<'_>,
        role: Role,
        at: &str,
        calls: &mut u64,
        runs: &mut Runs,
        speech: &mut Speech<'_, '_>,
    ) -> Result<(), Refusal> {
        match (block.kind().as_str(), role) {
            ("text", _) => {
                runs.text(block.text("text").ok_or_else(|| unsupported("a text block without text", at))?);
                Ok(())
            }
            ("thinking" | "redacted_thinking", Role::Assistant) => {
                speech.reasoning();
                Ok(())
            }
            ("image", _) => {
                let source = block.object("source").filter(|source| source.kind() == "base64");
                let picture =
                    source.and_then(|source| Some(Picture::new(source.text("media_type")?, source.text("data")?)));
                runs.image(picture.ok_or_else(|| blocks::no_bytes(at))?.url());
                Ok(())
            }
            ("tool_use", Role::Assistant) => {
                *calls += 1;
                speech.end(runs)?;
                self.call(block, at, *calls, speech)
            }
            ("tool_result", Role::User) => {
                speech.end(runs)?;
                // Kept as it is: its shape is the document's own.
                let output = match block.get("content") {
                    None => Value::Null,
                    Some(raw) => {
                        serde_json::from_str(raw.get()).map_err(|_| unsupported("a result too deep to read", at))?
                    }
                };
                speech.result(block.text("tool_use_id").unwrap_or_default(), output, block.is_true("is_error"), at)
            }
            (other, _) => Err(unsupported(&format!("a block of the type {}", shown(other)), at)),
        }
    }

    fn call(&self, block: &Object<'_>, at: &str, number: u64, speech: &mut Speech<'_, '_>) -> Result<(), Refusal> {
        let name = block.text("name").unwrap_or_default();
        let Some(input) = block.get("input") else {
            return Err(Refusal::new(Kind::InvalidToolCall, format!("{at} holds a tool call without input")));
        };
        let arguments = json::compact(input.get());
        if let Some(id) = block.filled("id") {
            return speech.call(id, name, arguments, at);
        }
        if !self.allow_missing {
            return Err(Refusal::new(
                Kind::MissingToolResult,
                format!(
                    "{at}: Cursor does not record the results of its tools; save with --allow-missing-results to mark them as missing"
                ),
            ));
        }
        if name.is_empty() {
            return Err(Refusal::new(Kind::InvalidToolCall, format!("{at} holds a tool call without a name")));
        }
        let Item::FunctionCall { call_id, name, arguments, mut more } =
            content::call(format!("cursor-{number}"), name, arguments)
        else {
            return Ok(());
        };
        more.insert("synthetic".to_owned(), json!(true));
        speech.item(Item::FunctionCall { call_id, name, arguments, more })
    }
}
