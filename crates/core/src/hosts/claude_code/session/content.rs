//! Items of a record.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::handoff::content::{self, Runs, Warnings, data_url};
use crate::handoff::document::Role;
use crate::handoff::json;
use crate::handoff::reader::{Sink, Tally};
use crate::handoff::refusal::{Kind, Refusal};
use crate::handoff::validate::shown;
use crate::hosts::lenient::{Maybe, objects};

/// A record whose contents are wanted.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line {
    uuid: Maybe<String>,
    #[serde(rename = "type")]
    kind: Maybe<String>,
    is_meta: Maybe<bool>,
    is_api_error_message: Maybe<bool>,
    message: Option<Message>,
    attachment: Option<Box<RawValue>>,
}

#[derive(Debug, serde::Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<Box<RawValue>>,
}

/// A block of content; which fields count depends on its type.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Block {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<Value>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Box<RawValue>>,
    source: Option<Value>,
    tool_use_id: Option<String>,
    content: Option<Value>,
    is_error: Option<Value>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Attachment {
    #[serde(rename = "type")]
    kind: Maybe<String>,
    content: Maybe<AttachedContent>,
    filename: Maybe<String>,
    display_path: Maybe<String>,
    command_mode: Option<Value>,
    prompt: Option<Box<RawValue>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct AttachedContent {
    #[serde(rename = "type")]
    kind: Maybe<String>,
    file: Option<AttachedFile>,
    image_url: Option<Value>,
    data: Option<Value>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AttachedFile {
    file_path: Option<String>,
    content: Option<String>,
    base64: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

objects!(AttachedContent);

/// Turns records into items.
pub(super) struct Reading {
    assistant: Runs,
    reasoning: u64,
    warnings: Warnings,
}

/// Where content stands, for messages.
struct Where<'a> {
    uuid: &'a str,
    line: u64,
}

impl Where<'_> {
    fn refuse(&self, kind: Kind, told: &str) -> Refusal {
        Refusal::new(kind, format!("record {} (line {}): {told}", shown(self.uuid), self.line))
    }

    fn unsupported(&self, what: &str, kind: Option<&str>) -> Refusal {
        let kind = kind.map_or_else(|| "without a type".to_owned(), |kind| format!("of type {}", shown(kind)));
        self.refuse(Kind::UnsupportedContent, &format!("{what} {kind} cannot be carried"))
    }
}

impl Reading {
    pub(super) fn new(warnings: Warnings) -> Self {
        Self { assistant: Runs::new(Role::Assistant), reasoning: 0, warnings }
    }

    pub(super) fn tally(mut self) -> Tally {
        if self.reasoning > 0 {
            self.warnings.add("reasoning_omitted");
        }
        Tally { reasoning: self.reasoning, warnings: self.warnings.texts() }
    }

    /// A message is complete: all its pieces were read.
    pub(super) fn end_group(&mut self, sink: &mut Sink<'_>) -> Result<(), Refusal> {
        self.assistant.end(sink)
    }

    pub(super) fn record(&mut self, text: &str, line: u64, sink: &mut Sink<'_>) -> Result<(), Refusal> {
        let record: Line = json::read(text, line)?;
        let at = Where { uuid: record.uuid.text(), line };
        let content = record.message.and_then(|message| message.content);
        match record.kind.text() {
            "assistant" if record.is_api_error_message.is_set() => {
                self.warnings.add("api_error_omitted");
                Ok(())
            }
            "assistant" => {
                let content = content.ok_or_else(|| at.refuse(Kind::UnsupportedRecord, "it has no message"))?;
                self.assistant_content(content.get(), &at, sink)
            }
            "user" => {
                let content = content.ok_or_else(|| at.refuse(Kind::UnsupportedRecord, "it has no message"))?;
                let mut said = Runs::new(Role::User);
                self.user_content(content.get(), record.is_meta.is_set(), &at, &mut said, sink)?;
                said.end(sink)
            }
            "attachment" => {
                let attachment = record.attachment.filter(|attachment| attachment.get().starts_with('{'));
                let attachment = attachment
                    .ok_or_else(|| at.refuse(Kind::UnsupportedContent, "the attachment has no readable content"))?;
                self.attachment(&json::read(attachment.get(), line)?, &at, sink)
            }
            other => {
                let told = format!("records of type {} are not known", shown(other));
                Err(at.refuse(Kind::UnsupportedRecord, &told))
            }
        }
    }

    fn assistant_content(&mut self, content: &str, at: &Where<'_>, sink: &mut Sink<'_>) -> Result<(), Refusal> {
        for block in blocks(content, at)? {
            match block {
                Content::Text(text) => self.assistant.text(text),
                Content::Block(block) => match block.kind.as_deref() {
                    Some("text") => self.assistant.text(text_of(&block, at)?),
                    Some("thinking" | "redacted_thinking") => self.reasoning += 1,
                    Some("tool_use") => {
                        self.assistant.end(sink)?;
                        let (Some(id), Some(name), Some(input)) = (block.id, block.name, block.input) else {
                            return Err(at.refuse(Kind::InvalidToolCall, "a tool call lacks its id, name or input"));
                        };
                        sink(content::call(id, name, json::compact(input.get())))?;
                    }
                    kind => return Err(at.unsupported("a block of an answer", kind)),
                },
            }
        }
        Ok(())
    }

    fn user_content(
        &mut self,
        content: &str,
        is_meta: bool,
        at: &Where<'_>,
        said: &mut Runs,
        sink: &mut Sink<'_>,
    ) -> Result<(), Refusal> {
        for block in blocks(content, at)? {
            let block = match block {
                Content::Text(text) if !is_meta => {
                    said.text(text);
                    continue;
                }
                Content::Text(_) => continue,
                Content::Block(block) => block,
            };
            match block.kind.as_deref() {
                Some("text" | "image") if is_meta => {}
                Some("text") => said.text(text_of(&block, at)?),
                Some("image") => said.image(image_of(block.source.as_ref(), at)?),
                Some("tool_result") => {
                    said.end(sink)?;
                    let Some(id) = block.tool_use_id else {
                        return Err(at.refuse(Kind::UnmatchedToolResult, "a tool result names no call"));
                    };
                    let is_error = block.is_error == Some(Value::Bool(true));
                    sink(content::result(id, block.content.unwrap_or(Value::Null), is_error))?;
                }
                kind => return Err(at.unsupported("a block of a message", kind)),
            }
        }
        Ok(())
    }

    fn attachment(&mut self, attachment: &Attachment, at: &Where<'_>, sink: &mut Sink<'_>) -> Result<(), Refusal> {
        let mut said = Runs::new(Role::User);
        match attachment.kind.text() {
            kind @ ("file" | "image") => {
                let content = attachment.content.get();
                let file = content.and_then(|content| content.file.as_ref());
                match (content.map_or("", |content| content.kind.text()), file) {
                    ("text", Some(AttachedFile { content: Some(text), file_path, .. })) if kind == "file" => {
                        let path = file_path.as_deref().or(attachment.filename.get().map(String::as_str));
                        let path = path.or(attachment.display_path.get().map(String::as_str)).unwrap_or_default();
                        said.text(format!("<attached_file path=\"{}\">\n{text}\n</attached_file>", escaped(path)));
                    }
                    ("image", Some(AttachedFile { base64: Some(data), kind: Some(media_type), .. })) => {
                        said.image(data_url(media_type, data));
                    }
                    _ => {
                        let url = content.and_then(|content| {
                            content.image_url.as_ref().or(content.data.as_ref()).and_then(Value::as_str)
                        });
                        match url.filter(|_| kind == "image") {
                            Some(url) => said.image(url),
                            None => return Err(at.unsupported("an attachment", Some(kind))),
                        }
                    }
                }
            }
            "queued_command" => {
                let is_prompt = match &attachment.command_mode {
                    None => true,
                    Some(mode) => mode.is_null() || mode == "prompt",
                };
                if is_prompt && let Some(prompt) = &attachment.prompt {
                    self.user_content(prompt.get(), false, at, &mut said, sink)?;
                }
            }
            _ => {}
        }
        said.end(sink)
    }
}

/// A piece of content.
enum Content {
    Text(String),
    Block(Box<Block>),
}

/// The pieces of content, which is a text or a list of blocks.
fn blocks(content: &str, at: &Where<'_>) -> Result<Vec<Content>, Refusal> {
    match content.as_bytes().first() {
        Some(b'"') => Ok(vec![Content::Text(json::read(content, at.line)?)]),
        Some(b'[') => {
            let blocks: Vec<Box<RawValue>> = json::read(content, at.line)?;
            blocks
                .iter()
                .map(|block| match block.get().as_bytes().first() {
                    Some(b'{') => Ok(Content::Block(json::read(block.get(), at.line)?)),
                    _ => Err(at.unsupported("a block", None)),
                })
                .collect()
        }
        _ => Err(at.unsupported("content", None)),
    }
}

fn text_of(block: &Block, at: &Where<'_>) -> Result<String, Refusal> {
    match &block.text {
        Some(Value::String(text)) => Ok(text.clone()),
        _ => Err(at.refuse(Kind::UnsupportedContent, "a text block holds no text")),
    }
}

fn image_of(source: Option<&Value>, at: &Where<'_>) -> Result<String, Refusal> {
    let field = |name: &str| source.and_then(|source| source.get(name)).and_then(Value::as_str);
    match (field("type"), field("media_type"), field("data")) {
        (Some("base64"), Some(media_type), Some(data)) => Ok(data_url(media_type, data)),
        (Some("base64"), ..) => Err(at.refuse(Kind::InvalidImage, "an image lacks its media type or payload")),
        _ => Err(at.refuse(
            Kind::UnavailableImage,
            "an image is only named by an address or a file, so it has no bytes that could travel",
        )),
    }
}

fn escaped(path: &str) -> String {
    path.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
