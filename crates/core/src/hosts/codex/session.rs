//! Reads sessions of Codex for a handoff.
//!
//! A rollout is a log of what was added to the model's history. A compaction that the host wrote down replaces the
//! history by its own list; one that only the service knows cannot be followed.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::handoff::bundle::each;
use crate::handoff::content::{self, Runs, Warnings, image_block, split_data_url, text_block};
use crate::handoff::document::{Item, Role};
use crate::handoff::json;
use crate::handoff::reader::{Options, Outline, Record, SessionReader, Sink, Span, Surroundings, Tally};
use crate::handoff::refusal::{Kind, Refusal};
use crate::handoff::validate::shown;
use crate::hosts::lenient::{Maybe, objects};
use crate::hosts::sessions::{Place, Sessions};

/// Sessions of Codex.
pub(in crate::hosts) const SESSIONS: Sessions = Sessions {
    place: Some(Place { setting: "CODEX_HOME", folder: ".codex", pattern: "sessions/*/*/*/rollout-*-{id}.jsonl" }),
    ..Sessions::lines("codex", "codex session", |_: &Options| Box::<Session>::default())
};

/// Elements a user's message may consist of that the host put there: how they begin and end.
const ENVELOPES: [(&str, &str); 5] = [
    ("<environment_context>", "</environment_context>"),
    ("<user_instructions>", "</user_instructions>"),
    ("# AGENTS.md ", "</INSTRUCTIONS>"),
    ("<INSTRUCTIONS>", "</INSTRUCTIONS>"),
    ("<recommended_plugins>", "</recommended_plugins>"),
];

/// A line while all are seen.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Line {
    #[serde(rename = "type")]
    kind: Maybe<String>,
    payload: Maybe<Payload>,
}

/// What a payload says about the whole session.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Payload {
    #[serde(rename = "type")]
    kind: Maybe<String>,
    id: Maybe<String>,
    session_id: Maybe<String>,
    cwd: Maybe<String>,
    replacement_history: Maybe<Vec<Anything>>,
}

/// An element that is only counted.
#[derive(Debug, Default, serde::Deserialize)]
struct Anything {}

objects!(Payload, Anything);

/// A line whose history is wanted.
#[derive(Debug, serde::Deserialize)]
struct HistoryLine {
    payload: Box<RawValue>,
}

#[derive(Debug, serde::Deserialize)]
struct Replacement {
    replacement_history: Box<RawValue>,
}

/// An item of the history; which fields count depends on its type.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct HistoryItem {
    #[serde(rename = "type")]
    kind: Maybe<String>,
    role: Maybe<String>,
    status: Maybe<String>,
    call_id: Option<String>,
    id: Maybe<String>,
    name: Option<String>,
    namespace: Maybe<String>,
    content: Option<Box<RawValue>>,
    arguments: Option<Box<RawValue>>,
    input: Option<Box<RawValue>>,
    action: Option<Box<RawValue>>,
    output: Option<Value>,
    tools: Option<Box<RawValue>>,
    /// What sessions that were written for Codex say beside an output: see [`crate::handoff::native::MARK`].
    mem0_handoff: Option<Mark>,
}

/// An error, which Codex has no mark for, and an output of another shape than its own.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Mark {
    is_error: bool,
    output: Option<Value>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct MessagePart {
    #[serde(rename = "type")]
    kind: Maybe<String>,
    text: Option<String>,
    image_url: Option<Value>,
}

/// One transcript.
#[derive(Debug, Default)]
struct Session {
    meta: Option<(Option<String>, Option<String>)>,
    /// Lines that make the history: items, and the list that a compaction put in place of what was before.
    history: Vec<Span>,
    is_replaced: bool,
}

impl SessionReader for Session {
    fn scan(&mut self, record: Record<'_>) -> Result<(), Refusal> {
        let line: Line = json::read(record.text, record.at.line)?;
        let at = record.at.line;
        let payload = line.payload.0.unwrap_or_default();
        match line.kind.text() {
            "session_meta" => {
                self.meta
                    .get_or_insert_with(|| (payload.id.filled().or(payload.session_id.filled()), payload.cwd.filled()));
            }
            "response_item" => self.history.push(record.at),
            "compacted" => {
                // Elements of other kinds are looked at when the list is read.
                if payload.replacement_history.0.is_none_or(|list| list.is_empty()) {
                    return Err(Refusal::new(
                        Kind::OpaqueCompaction,
                        format!("line {at}: a compaction without a readable replacement history"),
                    ));
                }
                self.history.clear();
                self.history.push(record.at);
                self.is_replaced = true;
            }
            "event_msg" if payload.kind.text() == "thread_rolled_back" => {
                return Err(Refusal::new(
                    Kind::NeedsNativeExport,
                    format!(
                        "line {at}: a rollback took turns back, and the log does not say what the model still sees"
                    ),
                ));
            }
            "event_msg"
            | "turn_context"
            | "world_state"
            | "token_usage_record"
            | "security_risk_score"
            | "inter_agent_communication_metadata" => {}
            other => {
                let other = shown(other);
                return Err(Refusal::new(
                    Kind::UnsupportedRecord,
                    format!("line {at}: records of type {other} are not known"),
                ));
            }
        }
        Ok(())
    }

    fn outline(&mut self, _around: &mut dyn Surroundings) -> Result<Outline, Refusal> {
        let (session_id, cwd) = self.meta.take().unwrap_or_default();
        Ok(Outline { session_id, cwd, ..Outline::default() })
    }

    fn items(&mut self, around: &mut dyn Surroundings, sink: &mut Sink<'_>) -> Result<Tally, Refusal> {
        let mut reading = Reading::default();
        for (index, at) in self.history.iter().enumerate() {
            let line: HistoryLine = json::read(&around.record(*at)?, at.line)?;
            if index == 0 && self.is_replaced {
                let replacement: Replacement = json::read(line.payload.get(), at.line)?;
                each(replacement.replacement_history.get(), &mut |_, item| reading.item(item, at.line, sink))?;
            } else {
                reading.item(line.payload.get(), at.line, sink)?;
            }
        }
        if reading.reasoning > 0 {
            reading.warnings.add("reasoning_omitted");
        }
        Ok(Tally { reasoning: reading.reasoning, warnings: reading.warnings.texts() })
    }
}

#[derive(Debug, Default)]
struct Reading {
    reasoning: u64,
    warnings: Warnings,
}

impl Reading {
    fn item(&mut self, text: &str, line: u64, sink: &mut Sink<'_>) -> Result<(), Refusal> {
        let refuse = |kind, told: &str| Refusal::new(kind, format!("line {line}: {told}"));
        let item: HistoryItem = json::read(text, line)?;
        if matches!(item.status.text(), "incomplete" | "in_progress") {
            let told = format!("an item is {}; finish or stop the turn and save again", item.status.text());
            return Err(refuse(Kind::UnfinishedTurn, &told));
        }
        let no_call = || refuse(Kind::InvalidToolCall, "a tool call lacks its id, name or arguments");
        match item.kind.text() {
            "message" => self.message(&item, line, sink),
            "reasoning" => {
                self.reasoning += 1;
                Ok(())
            }
            "function_call" => {
                let arguments = item.arguments.as_ref().filter(|raw| raw.get().starts_with('"')).ok_or_else(no_call)?;
                let arguments: String = json::read(arguments.get(), line)?;
                let (id, name) = (item.call_id.ok_or_else(no_call)?, item.name.ok_or_else(no_call)?);
                let mut call = content::call(id, name, arguments);
                if let (Item::FunctionCall { more, .. }, Some(namespace)) = (&mut call, item.namespace.filled()) {
                    more.insert("namespace".to_owned(), Value::String(namespace));
                }
                sink(call)
            }
            "custom_tool_call" => {
                let input = item.input.ok_or_else(no_call)?;
                let arguments = format!("{{\"input\":{}}}", json::compact(input.get()));
                sink(content::call(item.call_id.ok_or_else(no_call)?, item.name.ok_or_else(no_call)?, arguments))
            }
            "local_shell_call" => {
                let id = item.call_id.or(item.id.filled()).ok_or_else(no_call)?;
                let action = item.action.ok_or_else(no_call)?;
                sink(content::call(id, "local_shell", json::compact(action.get())))
            }
            "tool_search_call" => {
                let arguments = item.arguments.ok_or_else(no_call)?;
                let arguments = match arguments.get().as_bytes().first() {
                    Some(b'"') => json::read(arguments.get(), line)?,
                    _ => json::compact(arguments.get()),
                };
                sink(content::call(item.call_id.ok_or_else(no_call)?, "tool_search", arguments))
            }
            "tool_search_output" => {
                let id = item.call_id.ok_or_else(|| refuse(Kind::UnmatchedToolResult, "a result names no call"))?;
                let tools = item.tools.map_or_else(|| "[]".to_owned(), |tools| json::compact(tools.get()));
                sink(content::result(id, Value::Array(vec![text_block(&tools)]), false))
            }
            "function_call_output" | "custom_tool_call_output" => {
                let id = item.call_id.ok_or_else(|| refuse(Kind::UnmatchedToolResult, "a result names no call"))?;
                let (output, is_error) = output(item.output.unwrap_or_default(), line)?;
                let mark = item.mem0_handoff.unwrap_or_default();
                sink(content::result(id, mark.output.unwrap_or(output), is_error || mark.is_error))
            }
            "web_search_call" => {
                self.warnings.add("hosted_tool_summarised");
                let action = item.action.map_or_else(|| "{}".to_owned(), |action| json::compact(action.get()));
                let mut said = Runs::new(Role::Assistant);
                said.text(format!("[web_search] {action}"));
                said.end(sink)
            }
            "ghost_snapshot" => Ok(()),
            "compaction" | "compaction_summary" | "context_compaction" => {
                Err(refuse(Kind::OpaqueCompaction, "an opaque compaction, which only the model's service can read"))
            }
            other => {
                let told = format!("items of type {} cannot be carried", shown(other));
                Err(refuse(Kind::UnsupportedContent, &told))
            }
        }
    }

    fn message(&mut self, item: &HistoryItem, line: u64, sink: &mut Sink<'_>) -> Result<(), Refusal> {
        let unsupported = |told: &str| Refusal::new(Kind::UnsupportedContent, format!("line {line}: {told}"));
        let role = match item.role.text() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" | "developer" => {
                self.warnings.add("harness_omitted");
                return Ok(());
            }
            other => return Err(unsupported(&format!("messages of the role {} are not known", shown(other)))),
        };
        let parts: Vec<MessagePart> = match item.content.as_ref().map(|content| content.get()) {
            Some(content) if content.starts_with('[') => json::read(content, line)?,
            Some(content) if content.starts_with('"') => {
                let text = Some(json::read(content, line)?);
                vec![MessagePart { kind: Maybe(Some("text".to_owned())), text, image_url: None }]
            }
            _ => return Err(unsupported("a message has no readable content")),
        };
        let is_text = |part: &MessagePart| matches!(part.kind.text(), "input_text" | "output_text" | "text");
        let is_harness = role == Role::User
            && !parts.is_empty()
            && parts.iter().all(|part| is_text(part) && part.text.as_deref().is_some_and(is_envelopes));
        if is_harness {
            self.warnings.add("harness_omitted");
            return Ok(());
        }
        let mut said = Runs::new(role);
        for part in parts {
            match (part.kind.text(), part.text, part.image_url) {
                ("input_text" | "output_text" | "text", Some(text), _) => said.text(text),
                ("input_image", _, Some(Value::String(url))) => said.image(url),
                ("input_image", ..) => {
                    let told =
                        format!("line {line}: an image is not in the file, so it has no bytes that could travel");
                    return Err(Refusal::new(Kind::UnavailableImage, told));
                }
                (kind, ..) => return Err(unsupported(&format!("parts of type {} cannot be carried", shown(kind)))),
            }
        }
        said.end(sink)
    }
}

/// An output as documents have it, and whether it is an error.
fn output(output: Value, line: u64) -> Result<(Value, bool), Refusal> {
    let unsupported = |told: &str| Refusal::new(Kind::UnsupportedContent, format!("line {line}: {told}"));
    match output {
        Value::String(_) => Ok((output, false)),
        Value::Array(blocks) => {
            let blocks =
                blocks.iter().map(|block| self::block(block, line)).collect::<Result<Vec<Value>, Refusal>>()?;
            Ok((Value::Array(blocks), false))
        }
        Value::Object(mut object) => match (object.remove("content"), object.get("success")) {
            (Some(content @ Value::String(_)), success) => Ok((content, success == Some(&Value::Bool(false)))),
            _ => Err(unsupported("an output of a tool has no readable content")),
        },
        _ => Err(unsupported("an output of a tool has no readable content")),
    }
}

fn block(block: &Value, line: u64) -> Result<Value, Refusal> {
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
    let field = |name: &str| block.get(name).and_then(Value::as_str);
    match kind {
        "input_text" | "output_text" | "text" => field("text").map(text_block).ok_or_else(|| {
            Refusal::new(Kind::UnsupportedContent, format!("line {line}: a text block of an output holds no text"))
        }),
        "input_image" => {
            let (media_type, data) = split_data_url(field("image_url").unwrap_or_default())
                .map_err(|refusal| Refusal::new(refusal.kind, format!("line {line}: {}", refusal.message)))?;
            Ok(image_block(media_type, data))
        }
        other => {
            let told = format!("line {line}: blocks of type {} in an output cannot be carried", shown(other));
            Err(Refusal::new(Kind::UnsupportedContent, told))
        }
    }
}

/// Tells whether a text is nothing but what the host puts into user messages.
fn is_envelopes(text: &str) -> bool {
    let mut rest = text.trim();
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let after = ENVELOPES.iter().find_map(|(begin, end)| {
            let inner = rest.strip_prefix(begin)?;
            inner.find(end).map(|at| &inner[at + end.len()..])
        });
        match after {
            Some(after) => rest = after.trim_start(),
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::is_envelopes;

    #[test]
    fn only_what_is_nothing_but_envelopes_is_the_hosts() {
        for (text, expected) in [
            ("<environment_context>a</environment_context>", true),
            (" <user_instructions>a</user_instructions>\n\n<INSTRUCTIONS>b</INSTRUCTIONS> ", true),
            ("# AGENTS.md instructions for /x\n<INSTRUCTIONS>\na\n</INSTRUCTIONS>", true),
            ("<recommended_plugins></recommended_plugins>", true),
            ("<environment_context>a</environment_context> please fix it", false),
            ("<environment_context>a", false),
            ("<turn_aborted>a</turn_aborted>", false),
            ("", false),
        ] {
            assert_eq!(is_envelopes(text), expected, "{text}");
        }
    }
}
