//! Messages made of blocks, as the TypeScript hosts keep them and their shims send them: one reading for all of them.
//!
//! What a host does differently lies in its own folder; what no reader may do is to pass over a block it does not know.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use serde_json::value::RawValue;

use super::deepseek;
use super::view::{self, Object};
use crate::handoff::content::{self, Runs, Warnings};
use crate::handoff::document::{Item, Role};
use crate::handoff::json;
use crate::handoff::native::MARK;
use crate::handoff::reader::{Sink, Surroundings, Tally};
use crate::handoff::refusal::{Kind, Refusal};

/// The largest picture that is read from beside a transcript, in bytes.
pub(crate) const IMAGE_LIMIT: u64 = 20 * 1024 * 1024;

/// A picture with its bytes, as base64.
#[derive(Debug, Clone)]
pub(crate) struct Picture {
    media: String,
    data: String,
}

impl Picture {
    /// A picture by its parts; whether they fit is the validator's to say.
    pub(crate) fn new(media: impl Into<String>, data: impl Into<String>) -> Self {
        Self { media: media.into(), data: data.into() }
    }

    /// A picture of these bytes.
    pub(crate) fn of_bytes(media: impl Into<String>, bytes: &[u8]) -> Self {
        Self { media: media.into(), data: STANDARD.encode(bytes) }
    }

    /// A picture by its `data:` address.
    pub(crate) fn of_url(url: &str) -> Result<Self, Refusal> {
        let (media, data) = content::split_data_url(url)?;
        Ok(Self::new(media, data))
    }

    /// The base64 text.
    pub(crate) fn data(&self) -> &str {
        &self.data
    }

    /// As a part of a message.
    pub(crate) fn url(&self) -> String {
        content::data_url(&self.media, &self.data)
    }

    /// As a block of a result.
    pub(crate) fn block(&self) -> Value {
        content::image_block(&self.media, &self.data)
    }
}

/// One block of a message.
#[derive(Debug)]
pub(crate) enum Block<'a> {
    Text(String),
    Reasoning,
    Picture(Picture),
    Call { id: String, name: String, arguments: String },
    Result { call_id: String, content: Option<&'a RawValue>, is_error: bool },
}

impl<'a> Block<'a> {
    /// Reads a block of the shared dialect. `at` says where, for a refusal.
    pub(crate) fn read(raw: &'a RawValue, at: &str, around: &mut dyn Surroundings) -> Result<Self, Refusal> {
        let Some(block) = Object::of(raw) else {
            return Err(unsupported("a block that is no object", at));
        };
        let kind = block.kind();
        match kind.as_str() {
            "text" => block.text("text").map(Self::Text).ok_or_else(|| unsupported("a text block without text", at)),
            "thinking" | "redacted_thinking" | "think" | "reasoning" => Ok(Self::Reasoning),
            "image" => image(&block, at, around).map(Self::Picture),
            "image_url" | "input_image" => linked_image(&block, at).map(Self::Picture),
            "toolCall" | "tool_use" | "tool-call" => call(&block, at),
            "tool-result" => Ok(Self::Result {
                call_id: block.text("toolCallId").unwrap_or_default(),
                content: block.get("content"),
                is_error: block.is_true("isError"),
            }),
            other => Err(unsupported(&format!("a block of the type {}", shown(other)), at)),
        }
    }
}

/// Refuses a content.
pub(crate) fn unsupported(what: &str, at: &str) -> Refusal {
    Refusal::new(Kind::UnsupportedContent, format!("{at} holds {what}, which cannot be handed over"))
}

/// A name out of a transcript, for a message: short, and without controls.
pub(crate) fn shown(name: &str) -> String {
    let clean: String = name.chars().filter(|char| !char.is_control()).take(60).collect();
    if clean.is_empty() { "(none)".to_owned() } else { clean }
}

fn image(block: &Object<'_>, at: &str, around: &mut dyn Surroundings) -> Result<Picture, Refusal> {
    if let Some(source) = block.object("source") {
        return match (source.kind().as_str(), source.text("media_type"), source.text("data")) {
            ("base64", Some(media), Some(data)) => Ok(Picture::new(media, data)),
            _ => Err(no_bytes(at)),
        };
    }
    if let Some(attachment) = block.object("attachment") {
        return deepseek::session::attachment(&attachment, at, around);
    }
    match (block.text("data"), block.text("mimeType")) {
        (Some(data), Some(media)) => Ok(Picture::new(media, data)),
        _ => linked_image(block, at),
    }
}

/// `image_url` or `imageUrl`, each a string or `{url}`.
pub(crate) fn image_address(block: &Object<'_>) -> Option<String> {
    ["image_url", "imageUrl"]
        .iter()
        .find_map(|key| block.text(key).or_else(|| block.object(key).and_then(|object| object.text("url"))))
}

fn linked_image(block: &Object<'_>, at: &str) -> Result<Picture, Refusal> {
    Picture::of_url(&image_address(block).ok_or_else(|| no_bytes(at))?)
}

/// Refuses a picture whose bytes are elsewhere.
pub(crate) fn no_bytes(at: &str) -> Refusal {
    Refusal::new(Kind::UnavailableImage, format!("{at} names an image whose bytes are not in the session"))
}

fn call<'a>(block: &Object<'_>, at: &str) -> Result<Block<'a>, Refusal> {
    let arguments = block.get("arguments").or_else(|| block.get("input"));
    let function = block.object("function");
    let within = |key: &str| function.as_ref().and_then(|function| function.text(key));
    Ok(Block::Call {
        id: block.text("id").unwrap_or_default(),
        name: block.text("name").or_else(|| within("name")).unwrap_or_default(),
        arguments: arguments
            .or_else(|| function.as_ref().and_then(|function| function.get("arguments")))
            .map(arguments_text)
            .ok_or_else(|| Refusal::new(Kind::InvalidToolCall, format!("{at} holds a tool call without arguments")))?,
    })
}

/// Arguments as JSON text: a string keeps its bytes, anything else is written compactly.
pub(crate) fn arguments_text(raw: &RawValue) -> String {
    view::text(raw).unwrap_or_else(|| json::compact(raw.get()))
}

/// How an assistant's message ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Finished,
    InProgress,
    Failed,
}

/// Says how a message of the shared dialect ended.
pub(crate) fn ending(message: &Object<'_>) -> Ending {
    if message.is_truthy("partial") || message.is_truthy("error") {
        return Ending::Failed;
    }
    let words = ["stopReason", "stop_reason", "finishReason", "finish_reason", "status"]
        .iter()
        .filter_map(|key| message.text(key).or_else(|| message.object(key).and_then(|object| object.text("kind"))));
    words.fold(Ending::Finished, |ending, word| match (ending, word.as_str()) {
        (_, "aborted" | "error" | "interrupted" | "incomplete") => Ending::Failed,
        (Ending::Finished, "in_progress") => Ending::InProgress,
        (ending, _) => ending,
    })
}

/// Turns messages into items and keeps the tally.
pub(crate) struct Speech<'s, 'k> {
    sink: &'s mut Sink<'k>,
    exclude: Option<String>,
    reasoning: u64,
    /// What was left out.
    pub(crate) warnings: Warnings,
}

impl<'s, 'k> Speech<'s, 'k> {
    /// Begins. `exclude`: the call that is the handoff itself.
    pub(crate) fn new(sink: &'s mut Sink<'k>, exclude: Option<String>) -> Self {
        Self { sink, exclude, reasoning: 0, warnings: Warnings::default() }
    }

    /// Counts a block of hidden reasoning.
    pub(crate) fn reasoning(&mut self) {
        self.reasoning += 1;
        self.warnings.add("reasoning_omitted");
    }

    /// Says that text of the harness was left out.
    pub(crate) fn harness(&mut self) {
        self.warnings.add("harness_omitted");
    }

    /// Gives an item as it is.
    pub(crate) fn item(&mut self, item: Item) -> Result<(), Refusal> {
        (self.sink)(item)
    }

    /// Gives a message of one text; an empty one is nothing.
    pub(crate) fn text(&mut self, role: Role, text: String) -> Result<(), Refusal> {
        let mut runs = Runs::new(role);
        runs.text(text);
        runs.end(self.sink)
    }

    /// Ends a run of text and pictures.
    pub(crate) fn end(&mut self, runs: &mut Runs) -> Result<(), Refusal> {
        runs.end(self.sink)
    }

    /// Gives a call, unless it is the one that is left out.
    pub(crate) fn call(&mut self, id: String, name: String, arguments: String, at: &str) -> Result<(), Refusal> {
        if !id.is_empty() && self.exclude.as_deref() == Some(id.as_str()) {
            return Ok(());
        }
        if id.is_empty() || name.is_empty() {
            let lacks = if id.is_empty() { "an id" } else { "a name" };
            return Err(Refusal::new(Kind::InvalidToolCall, format!("{at} holds a tool call without {lacks}")));
        }
        self.item(content::call(id, name, arguments))
    }

    /// Gives a result.
    pub(crate) fn result(&mut self, call_id: String, output: Value, is_error: bool, at: &str) -> Result<(), Refusal> {
        if call_id.is_empty() {
            let message = format!("{at} holds a tool result that names no call");
            return Err(Refusal::new(Kind::UnmatchedToolResult, message));
        }
        if self.exclude.as_deref() == Some(call_id.as_str()) {
            let message = "this handoff call has already finished; ask for the handoff again";
            return Err(Refusal::new(Kind::HandoffAlreadyCompleted, message));
        }
        self.item(content::result(call_id, output, is_error))
    }

    /// Gives what a content of the shared dialect holds: a string, or blocks.
    pub(crate) fn content(
        &mut self,
        role: Role,
        content: Option<&RawValue>,
        at: &str,
        around: &mut dyn Surroundings,
    ) -> Result<(), Refusal> {
        let Some(content) = content else { return Ok(()) };
        if let Some(text) = view::text(content) {
            return self.text(role, text);
        }
        let blocks = view::list(content).ok_or_else(|| unsupported("a content that is neither text nor blocks", at))?;
        let mut runs = Runs::new(role);
        for raw in blocks {
            match Block::read(raw, at, around)? {
                Block::Text(text) => runs.text(text),
                Block::Picture(picture) => runs.image(picture.url()),
                Block::Reasoning => self.reasoning(),
                Block::Call { .. } if role == Role::User => return Err(unsupported("a tool call of the user", at)),
                Block::Call { id, name, arguments } => {
                    runs.end(self.sink)?;
                    self.call(id, name, arguments, at)?;
                }
                Block::Result { call_id, content, is_error } => {
                    runs.end(self.sink)?;
                    let output = output(content, at, around)?;
                    self.result(call_id, Value::Array(output), is_error, at)?;
                }
            }
        }
        runs.end(self.sink)
    }

    /// Gives a message of the shared dialect, with its role.
    pub(crate) fn message(
        &mut self,
        message: &Object<'_>,
        at: &str,
        around: &mut dyn Surroundings,
    ) -> Result<(), Refusal> {
        let role = message.text("role").unwrap_or_default();
        match role.as_str() {
            "user" => self.content(Role::User, message.get("content"), at, around),
            "assistant" => self.assistant(message, at, around),
            "toolResult" | "tool" => self.tool_message(message, at, around),
            "system" | "developer" => {
                self.harness();
                Ok(())
            }
            other => Err(unsupported(&format!("a message of the role {}", shown(other)), at)),
        }
    }

    fn assistant(&mut self, message: &Object<'_>, at: &str, around: &mut dyn Surroundings) -> Result<(), Refusal> {
        let calls = message.list("toolCalls").or_else(|| message.list("tool_calls")).unwrap_or_default();
        match ending(message) {
            Ending::Finished => {}
            Ending::InProgress if self.holds_excluded(message, &calls) => {}
            Ending::InProgress | Ending::Failed => return Err(unfinished(at)),
        }
        self.content(Role::Assistant, message.get("content"), at, around)?;
        for raw in calls {
            let Some(object) = Object::of(raw) else {
                return Err(unsupported("a tool call that is no object", at));
            };
            if let Block::Call { id, name, arguments } = call(&object, at)? {
                self.call(id, name, arguments, at)?;
            }
        }
        Ok(())
    }

    fn holds_excluded(&self, message: &Object<'_>, calls: &[&RawValue]) -> bool {
        let Some(excluded) = self.exclude.as_deref() else { return false };
        let blocks = message.list("content").unwrap_or_default();
        calls
            .iter()
            .chain(&blocks)
            .filter_map(|raw| Object::of(raw))
            .any(|block| block.text("id").is_some_and(|id| id == excluded))
    }

    fn tool_message(&mut self, message: &Object<'_>, at: &str, around: &mut dyn Surroundings) -> Result<(), Refusal> {
        let call_id = message.text("toolCallId").or_else(|| message.text("tool_call_id")).unwrap_or_default();
        let mut output = output(message.get("content"), at, around)?;
        push_note(&mut output, message);
        let output = kept_output(message.object("details")).unwrap_or(Value::Array(output));
        self.result(call_id, output, message.is_true("isError"), at)
    }

    /// Ends; what was left out.
    pub(crate) fn tally(&self) -> Tally {
        Tally { reasoning: self.reasoning, warnings: self.warnings.texts() }
    }
}

/// The output that a session which was written for its host keeps beside what the host shows.
pub(crate) fn kept_output(beside: Option<Object<'_>>) -> Option<Value> {
    let output = beside?.object(MARK)?.get("output")?;
    serde_json::from_str(output.get()).ok()
}

/// Adds the `note` of a result as a block of its own.
pub(crate) fn push_note(output: &mut Vec<Value>, result: &Object<'_>) {
    if let Some(note) = result.text("note").filter(|note| !note.is_empty()) {
        output.push(content::text_block(&note));
    }
}

/// Refuses an answer that has not come to its end.
pub(crate) fn unfinished(at: &str) -> Refusal {
    let message = format!("{at} is an answer that was interrupted or is still being written; finish that turn first");
    Refusal::new(Kind::UnfinishedTurn, message)
}

/// The output of a result: a string, or text and picture blocks. Empty text is dropped.
pub(crate) fn output(
    content: Option<&RawValue>,
    at: &str,
    around: &mut dyn Surroundings,
) -> Result<Vec<Value>, Refusal> {
    let Some(content) = content else { return Ok(Vec::new()) };
    let mut output = Vec::new();
    if let Some(text) = view::text(content) {
        push_text(&mut output, &text);
        return Ok(output);
    }
    let blocks = view::list(content).ok_or_else(|| unsupported("a result that is neither text nor blocks", at))?;
    for raw in blocks {
        match Block::read(raw, at, around)? {
            Block::Text(text) => push_text(&mut output, &text),
            Block::Picture(picture) => output.push(picture.block()),
            _ => return Err(unsupported("a result with other blocks than text and images", at)),
        }
    }
    Ok(output)
}

/// Adds a text block, unless it is empty.
pub(crate) fn push_text(output: &mut Vec<Value>, text: &str) {
    if !text.is_empty() {
        output.push(content::text_block(text));
    }
}
