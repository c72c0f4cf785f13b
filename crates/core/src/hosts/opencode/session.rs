//! OpenCode's export: one document `{info, messages: [{info, parts}]}`, the same objects its SDK gives.

use serde_json::Value;
use serde_json::value::RawValue;

use super::super::blocks::{self, IMAGE_LIMIT, Picture, Speech, push_text, shown, unfinished, unsupported};
use super::super::view::Object;
use crate::handoff::content::{self, Runs};
use crate::handoff::document::Role;
use crate::handoff::json;
use crate::handoff::native::MARK;
use crate::handoff::reader::{Options, Outline, Record, SessionReader, Sink, Span, Surroundings, Tally};
use crate::handoff::refusal::{Kind, Refusal};
use crate::hosts::sessions::{Form, Sessions};

/// What stands where the user asked for a compaction.
pub(crate) const COMPACTION_REQUESTED: &str = "[compaction requested]";
const SUBTASK: &str = "[subtask started by the user]";
const CLEARED: &str = "[old tool result cleared by OpenCode]";
/// The tool that a handoff from inside runs in.
const HANDOFF_TOOL: &str = "mem0_handoff";

/// How sessions are read.
pub(crate) const SESSIONS: Sessions =
    Sessions { form: Form::Document, ..Sessions::lines("opencode", "opencode session", reader) };

fn reader(options: &Options) -> Box<dyn SessionReader> {
    Box::new(Reader {
        exclude: options.exclude_call_id.clone(),
        allow_missing: options.allow_missing_results,
        document: None,
        outline: Outline::default(),
    })
}

struct Reader {
    exclude: Option<String>,
    allow_missing: bool,
    document: Option<Span>,
    outline: Outline,
}

impl SessionReader for Reader {
    fn scan(&mut self, record: Record<'_>) -> Result<(), Refusal> {
        let document = Object::read(record.text, record.at.line)?;
        let info = document.object("info").unwrap_or_default();
        self.outline = Outline {
            session_id: info.filled("id"),
            title: info.filled("title"),
            cwd: info.filled("directory"),
            source_records: Some(messages(&document)?.len() as u64),
            ..Outline::default()
        };
        self.document = Some(record.at);
        Ok(())
    }

    fn outline(&mut self, _: &mut dyn Surroundings) -> Result<Outline, Refusal> {
        Ok(self.outline.clone())
    }

    fn items(&mut self, around: &mut dyn Surroundings, sink: &mut Sink<'_>) -> Result<Tally, Refusal> {
        let mut speech = Speech::new(sink, None);
        let Some(span) = self.document else { return Ok(speech.tally()) };
        let text = around.record(span)?;
        let document = Object::read(&text, span.line)?;
        let messages = messages(&document)?;
        let order = active(&messages)?;
        let last_user = order.iter().rposition(|&index| messages[index].role == "user");
        for (place, &index) in order.iter().enumerate() {
            let message = &messages[index];
            let is_last_turn = last_user.is_none_or(|last| last < place);
            if self.keeps(message, is_last_turn, &mut speech)? {
                self.parts(message, &mut speech, around)?;
            }
        }
        Ok(speech.tally())
    }
}

/// A message and its parts.
struct Message<'a> {
    id: String,
    role: String,
    info: Object<'a>,
    parts: Vec<Object<'a>>,
}

fn messages<'a>(document: &Object<'a>) -> Result<Vec<Message<'a>>, Refusal> {
    let unsupported = |what: &str| {
        let message = format!("{what}: this is not the layout of an OpenCode 1.x export");
        Refusal::new(Kind::UnsupportedRecord, message)
    };
    let list = document.list("messages").ok_or_else(|| unsupported("there is no list of messages"))?;
    let read = |raw: &'a RawValue| {
        let message = Object::of(raw)?;
        let info = message.object("info")?;
        let parts = message.list("parts")?.into_iter().map(Object::of).collect::<Option<Vec<_>>>()?;
        Some(Message { id: info.text("id").unwrap_or_default(), role: info.text("role")?, info, parts })
    };
    let numbered = list.into_iter().enumerate();
    numbered.map(|(index, raw)| read(raw).ok_or_else(|| unsupported(&format!("message {}", index + 1)))).collect()
}

/// The places of the messages the model sees, in the order it sees them.
fn active(messages: &[Message<'_>]) -> Result<Vec<usize>, Refusal> {
    let opaque = |message: &Message<'_>, what: &str| {
        let text = format!("message {}: the compaction {what}", shown(&message.id));
        Refusal::new(Kind::OpaqueCompaction, text)
    };
    let summary = messages.iter().rposition(|message| {
        let info = &message.info;
        let is_summary = info.is_truthy("summary") && info.is_truthy("finish");
        message.role == "assistant" && is_summary && !info.is_truthy("error")
    });
    let Some(summary) = summary else { return Ok((0..messages.len()).collect()) };
    let parent = messages[summary].info.text("parentID");
    let boundary = parent.and_then(|parent| messages.iter().position(|message| message.id == parent));
    let request = boundary.and_then(|boundary| {
        let part = messages[boundary].parts.iter().find(|part| part.kind() == "compaction")?;
        Some((boundary, part.text("tail_start_id")))
    });
    let (boundary, tail) = request.ok_or_else(|| opaque(&messages[summary], "does not say what it stands for"))?;
    let Some(tail) = tail else { return Ok((boundary..messages.len()).collect()) };
    let start = messages[..boundary].iter().position(|message| message.id == tail);
    let start = start
        .filter(|_| boundary <= summary)
        .ok_or_else(|| opaque(&messages[summary], "keeps messages that are not there"))?;
    Ok((boundary..=summary).chain(start..boundary).chain(summary + 1..messages.len()).collect())
}

impl Reader {
    /// Whether a message counts; an answer that broke off is refused in the last turn.
    fn keeps(&self, message: &Message<'_>, is_last_turn: bool, speech: &mut Speech<'_, '_>) -> Result<bool, Refusal> {
        if message.role != "assistant" {
            return Ok(true);
        }
        let at = format!("message {}: the unfinished answer", shown(&message.id));
        if let Some(error) = message.info.get("error") {
            if is_last_turn {
                return Err(unfinished(&at));
            }
            let name = Object::of(error).and_then(|error| error.text("name"));
            if name.as_deref() == Some("MessageAbortedError") {
                return Ok(true);
            }
            speech.warnings.add("interrupted_turn_omitted");
            return Ok(false);
        }
        let is_complete = message.info.object("time").is_some_and(|time| time.get("completed").is_some());
        let is_this_handoff = message.parts.iter().any(|part| self.is_excluded(part));
        if is_complete || is_this_handoff { Ok(true) } else { Err(unfinished(&at)) }
    }

    /// Whether a part is the running handoff itself.
    fn is_excluded(&self, part: &Object<'_>) -> bool {
        let state = part.object("state").and_then(|state| state.text("status"));
        self.exclude.is_some()
            && part.kind() == "tool"
            && part.text("callID") == self.exclude
            && part.text("tool").as_deref() == Some(HANDOFF_TOOL)
            && state.as_deref() == Some("running")
    }

    fn parts(
        &self,
        message: &Message<'_>,
        speech: &mut Speech<'_, '_>,
        around: &mut dyn Surroundings,
    ) -> Result<(), Refusal> {
        let at = format!("message {}", shown(&message.id));
        let role = match message.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            other => return Err(unsupported(&format!("the role {}", shown(other)), &at)),
        };
        let mut runs = Runs::new(role);
        let mut later = Vec::new();
        for part in &message.parts {
            match part.kind().as_str() {
                "text" if part.is_truthy("ignored") => {}
                "text" => runs.text(part.text("text").ok_or_else(|| unsupported("a text part without text", &at))?),
                "reasoning" => speech.reasoning(),
                "tool" if self.is_excluded(part) => {}
                "tool" => {
                    speech.end(&mut runs)?;
                    if let Some(result) = self.tool(part, &at, speech, around)? {
                        later.push(result);
                    }
                }
                "file" => {
                    if let Some(picture) = file(part, role, &at, around)? {
                        runs.image(picture.url());
                    }
                }
                "compaction" => runs.text(COMPACTION_REQUESTED),
                "subtask" => runs.text(SUBTASK),
                "step-start" | "step-finish" | "snapshot" | "patch" | "agent" | "retry" => {}
                other => return Err(unsupported(&format!("a part of the type {}", shown(other)), &at)),
            }
        }
        speech.end(&mut runs)?;
        later.sort_by_key(|result| result.order);
        later.into_iter().try_for_each(|result| speech.result(result.call_id, result.output, result.is_error, &at))
    }

    /// Gives a call and its result; returns a result that comes later.
    fn tool(
        &self,
        part: &Object<'_>,
        at: &str,
        speech: &mut Speech<'_, '_>,
        around: &mut dyn Surroundings,
    ) -> Result<Option<Later>, Refusal> {
        let (id, tool) = (part.text("callID").unwrap_or_default(), part.text("tool").unwrap_or_default());
        let state = part.object("state").unwrap_or_default();
        let arguments = state.get("input").map(|input| json::compact(input.get()));
        let arguments = arguments
            .ok_or_else(|| Refusal::new(Kind::InvalidToolCall, format!("{at} holds a tool call without input")))?;
        let status = state.text("status").unwrap_or_default();
        let is_over = matches!(status.as_str(), "completed" | "error");
        if !is_over && !self.allow_missing {
            let message =
                format!("{at}: the call {} of {} has no result; finish that turn first", shown(&id), shown(&tool));
            return Err(Refusal::new(Kind::MissingToolResult, message));
        }
        speech.call(id.clone(), tool, arguments, at)?;
        if !is_over {
            return Ok(None);
        }
        let (mut output, is_error) =
            if status == "completed" { (completed(&state, at, speech, around)?, false) } else { failed(&state, at)? };
        let mark = state.object("metadata").and_then(|metadata| metadata.object(MARK)).unwrap_or_default();
        separate(&mut output, &mark);
        let output = blocks::kept_output(state.object("metadata")).unwrap_or(Value::Array(output));
        match mark.number("order") {
            Some(order) => Ok(Some(Later { order, call_id: id, output, is_error })),
            None => speech.result(id, output, is_error, at).map(|()| None),
        }
    }
}

/// A result that comes after all calls of its message.
struct Later {
    order: u64,
    call_id: String,
    output: Value,
    is_error: bool,
}

/// Puts the texts of an output apart again where the mark says how many characters each has.
fn separate(output: &mut Vec<Value>, mark: &Object<'_>) {
    let lengths = mark.list("texts").unwrap_or_default();
    let lengths: Vec<usize> = lengths.iter().filter_map(|raw| raw.get().parse().ok()).collect();
    let Some(text) = output.first().and_then(|block| block["text"].as_str()) else { return };
    let mut chars = text.chars();
    let mut texts = Vec::new();
    for (index, length) in lengths.iter().enumerate() {
        if index > 0 && chars.next() != Some('\n') {
            return;
        }
        let piece: String = chars.by_ref().take(*length).collect();
        texts.push(content::text_block(&piece));
    }
    if !texts.is_empty() && chars.next().is_none() {
        output.splice(..1, texts);
    }
}

fn completed(
    state: &Object<'_>,
    at: &str,
    speech: &mut Speech<'_, '_>,
    around: &mut dyn Surroundings,
) -> Result<Vec<Value>, Refusal> {
    if state.object("time").is_some_and(|time| time.is_truthy("compacted")) {
        speech.warnings.add("host_pruned_output");
        return Ok(vec![content::text_block(CLEARED)]);
    }
    let mut output = Vec::new();
    push_text(&mut output, &state.text("output").ok_or_else(|| unsupported("a result without output", at))?);
    for raw in state.list("attachments").unwrap_or_default() {
        let attachment = Object::of(raw).ok_or_else(|| unsupported("an attachment that is no object", at))?;
        match file(&attachment, Role::Assistant, at, around)? {
            Some(picture) => output.push(picture.block()),
            None => return Err(unsupported("an attachment that is no image", at)),
        }
    }
    Ok(output)
}

fn failed(state: &Object<'_>, at: &str) -> Result<(Vec<Value>, bool), Refusal> {
    let metadata = state.object("metadata").filter(|metadata| metadata.is_true("interrupted"));
    let (text, is_error) = match metadata.and_then(|metadata| metadata.text("output")) {
        Some(output) => (Some(output), false),
        None => (state.text("error"), true),
    };
    let mut output = Vec::new();
    push_text(&mut output, &text.ok_or_else(|| unsupported("a failed tool without its error", at))?);
    Ok((output, is_error))
}

/// A file that is a picture; `None` for one whose text stands beside it.
fn file(part: &Object<'_>, role: Role, at: &str, around: &mut dyn Surroundings) -> Result<Option<Picture>, Refusal> {
    let mime = part.text("mime").unwrap_or_default();
    if role == Role::User && matches!(mime.as_str(), "text/plain" | "application/x-directory") {
        return Ok(None);
    }
    if !mime.to_ascii_lowercase().starts_with("image/") {
        return Err(unsupported(&format!("a file of the type {}", shown(&mime)), at));
    }
    let url = part.text("url").unwrap_or_default();
    if url.starts_with("data:") {
        return Picture::of_url(&url).map(Some);
    }
    let unavailable =
        || Refusal::new(Kind::UnavailableImage, format!("{at}: an image is neither in the export nor in a local file"));
    let path =
        url.strip_prefix("file://").map(unescaped).filter(|path| path.starts_with('/')).ok_or_else(unavailable)?;
    let bytes = around.file(&path, IMAGE_LIMIT)?.filter(|bytes| is_a(&mime, bytes)).ok_or_else(unavailable)?;
    Ok(Some(Picture::of_bytes(mime, &bytes)))
}

/// Whether the bytes begin as a picture of this type does.
fn is_a(mime: &str, bytes: &[u8]) -> bool {
    match mime.to_ascii_lowercase().as_str() {
        "image/png" => bytes.starts_with(b"\x89PNG\r\n\x1a\n"),
        "image/jpeg" => bytes.starts_with(b"\xff\xd8\xff"),
        "image/gif" => bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a"),
        "image/webp" => bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP"),
        _ => false,
    }
}

/// Takes the `%XX` of an address apart.
fn unescaped(path: &str) -> String {
    let bytes = path.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%')
            .then(|| path.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok()))
            .flatten();
        plain.push(code.unwrap_or(bytes[at]));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&plain).into_owned()
}
