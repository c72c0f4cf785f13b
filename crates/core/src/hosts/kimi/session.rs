//! Kimi Code's wire log, replayed: what its context holds at the end is what the model would be sent.
//!
//! Kept while replaying: for each message where its records lie, whether a compaction would keep it and what it weighs.

use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::super::blocks::{self, IMAGE_LIMIT, Picture, Speech, push_note, push_text, shown, unfinished, unsupported};
use super::super::view::{self, Object};
use crate::handoff::content::Runs;
use crate::handoff::document::Role;
use crate::handoff::reader::{Options, Outline, Record, SessionReader, Sink, Span, Surroundings, Tally};
use crate::handoff::refusal::{Kind, Refusal};
use crate::hosts::sessions::{Place, Sessions};

/// Above this estimate of users' words Kimi cuts them when it compacts.
const KEPT_USER_TOKENS: u64 = 20_000;
const MEDIA_TOKENS: u64 = 2_000;
const STATE: &str = "../../state.json";
const STATE_LIMIT: u64 = 16 * 1024 * 1024;

/// How sessions are read.
pub(crate) const SESSIONS: Sessions = Sessions {
    place: Some(Place {
        setting: "KIMI_CODE_HOME",
        folder: ".kimi-code",
        pattern: "sessions/*/{id}/agents/main/wire.jsonl",
    }),
    ..Sessions::lines("kimi", "kimi session", reader)
};

fn reader(_: &Options) -> Box<dyn SessionReader> {
    Box::new(Reader::default())
}

/// A message of the context.
#[derive(Debug, Clone)]
struct Message {
    /// Its records: one, or the events of a step.
    at: Vec<Span>,
    source: Source,
    /// Whether a compaction keeps it, word for word.
    is_users: bool,
    is_injection: bool,
    tokens: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Appended,
    Step,
    ToolResult,
    Summary,
}

impl Message {
    fn of(source: Source, at: Span) -> Self {
        Self { at: vec![at], source, is_users: false, is_injection: false, tokens: 0 }
    }
}

/// An answer that is being written.
#[derive(Debug)]
struct Step {
    uuid: String,
    /// Its message's place in the context.
    place: usize,
    /// Whether there is anything in it.
    says: bool,
    unanswered: Vec<String>,
}

#[derive(Default)]
struct Reader {
    cwd: Option<String>,
    context: Vec<Message>,
    step: Option<Step>,
    /// Messages that wait for the results of the open step.
    held: Vec<Message>,
}

impl SessionReader for Reader {
    fn scan(&mut self, record: Record<'_>) -> Result<(), Refusal> {
        let line = record.at.line;
        let object = Object::read(record.text, line)?;
        if object.get("agentId").is_some() && object.text("agentId").as_deref() != Some("main") {
            return Ok(());
        }
        match object.kind().as_str() {
            "profile.bind" | "config.update" => {
                let disclosed = object.object("environmentDisclosure").and_then(|seen| seen.filled("cwd"));
                self.cwd = disclosed.or_else(|| object.filled("cwd")).or_else(|| self.cwd.take());
                Ok(())
            }
            "context.append_message" => {
                let message = object.object("message").unwrap_or_default();
                self.append(described(&message, record.at));
                Ok(())
            }
            "context.append_loop_event" => {
                let event = object.object("event").unwrap_or_default();
                self.event(&event, record.at)
            }
            "context.clear" => {
                self.context.clear();
                self.held.clear();
                self.step = None;
                Ok(())
            }
            "context.apply_compaction" => self.compact(&object, record.at),
            kind @ ("context.undo" | "micro_compaction.apply" | "context.spliced") => Err(Refusal::new(
                Kind::NeedsNativeExport,
                format!("line {line}: {kind} took something back, so the log does not say what the context is"),
            )),
            "context.update_token_count" => Ok(()),
            kind if kind.starts_with("context.") => Err(unknown(line, kind)),
            _ => Ok(()),
        }
    }

    fn outline(&mut self, around: &mut dyn Surroundings) -> Result<Outline, Refusal> {
        if self.step.is_some() {
            return Err(Refusal::new(
                Kind::UnfinishedTurn,
                "the last answer is still streaming or was interrupted; finish that turn first",
            ));
        }
        self.release();
        let session_id = session_id(around.path());
        let title = session_id.is_some().then(|| title(around)).flatten();
        Ok(Outline { session_id, title, cwd: self.cwd.clone(), ..Outline::default() })
    }

    fn items(&mut self, around: &mut dyn Surroundings, sink: &mut Sink<'_>) -> Result<Tally, Refusal> {
        let mut speech = Speech::new(sink, None);
        for message in std::mem::take(&mut self.context) {
            if message.is_injection {
                speech.harness();
                continue;
            }
            match message.source {
                Source::Step => step(&message.at, &mut speech, around)?,
                source => {
                    let Some(&span) = message.at.first() else { continue };
                    let text = around.record(span)?;
                    let object = Object::read(&text, span.line)?;
                    let at = format!("line {}", span.line);
                    match source {
                        Source::Summary => summary(&object, &at, &mut speech, around)?,
                        Source::ToolResult => tool_result(&object, &at, &mut speech, around)?,
                        _ => {
                            let message = object.object("message").unwrap_or_default();
                            said(&message, &at, &mut speech, around)?;
                        }
                    }
                }
            }
        }
        Ok(speech.tally())
    }
}

impl Reader {
    fn append(&mut self, message: Message) {
        match &self.step {
            Some(step) if !step.unanswered.is_empty() => self.held.push(message),
            _ => self.context.push(message),
        }
    }

    fn release(&mut self) {
        self.context.append(&mut self.held);
    }

    fn event(&mut self, event: &Object<'_>, at: Span) -> Result<(), Refusal> {
        match event.kind().as_str() {
            "step.begin" => {
                self.settle();
                self.step = Some(Step {
                    uuid: event.text("uuid").unwrap_or_default(),
                    place: self.context.len(),
                    says: false,
                    unanswered: Vec::new(),
                });
                self.context.push(Message { at: Vec::new(), ..Message::of(Source::Step, at) });
                Ok(())
            }
            "content.part" => {
                let part = event.object("part").unwrap_or_default();
                let step = self.open_step(event, at)?;
                step.says |= says(&part);
                self.add_to_step(at);
                Ok(())
            }
            "tool.call" => {
                let step = self.open_step(event, at)?;
                step.says = true;
                step.unanswered.push(event.text("toolCallId").unwrap_or_default());
                self.add_to_step(at);
                Ok(())
            }
            "tool.result" => {
                self.context.push(Message::of(Source::ToolResult, at));
                let id = event.text("toolCallId").unwrap_or_default();
                let all_answered = self.step.as_mut().is_some_and(|step| {
                    step.unanswered.retain(|open| *open != id);
                    step.unanswered.is_empty()
                });
                if all_answered {
                    self.release();
                }
                Ok(())
            }
            "step.end" => {
                let is_bad = matches!(event.text("finishReason").as_deref(), Some("error" | "interrupted"));
                let is_its = self.step.as_ref().is_some_and(|step| Some(&step.uuid) == event.text("uuid").as_ref());
                if is_its && !is_bad {
                    self.settle();
                }
                Ok(())
            }
            other => Err(unknown(at.line, other)),
        }
    }

    fn open_step(&mut self, event: &Object<'_>, at: Span) -> Result<&mut Step, Refusal> {
        let uuid = event.text("stepUuid").unwrap_or_default();
        self.step.as_mut().filter(|step| step.uuid == uuid).ok_or_else(|| {
            let message = format!("line {}: a piece of an answer that is not being written", at.line);
            Refusal::new(Kind::UnsupportedRecord, message)
        })
    }

    fn add_to_step(&mut self, at: Span) {
        if let Some(message) = self.step.as_ref().and_then(|step| self.context.get_mut(step.place)) {
            message.at.push(at);
        }
    }

    /// Ends the open step; an answer that says nothing is as if it had never begun.
    fn settle(&mut self) {
        if let Some(step) = self.step.take() {
            if !step.says && step.place < self.context.len() {
                self.context.remove(step.place);
            }
            self.release();
        }
    }

    fn compact(&mut self, record: &Object<'_>, at: Span) -> Result<(), Refusal> {
        let opaque =
            |what: &str| Refusal::new(Kind::OpaqueCompaction, format!("line {}: the compaction {what}", at.line));
        if self.step.is_some() {
            return Err(unfinished(&format!("line {}: what was compacted", at.line)));
        }
        if record.text("contextSummary").or_else(|| record.text("summary")).is_none()
            && record.object("summary").is_none()
        {
            return Err(opaque("has no summary that can be read"));
        }
        let summary = Message::of(Source::Summary, at);
        let is_legacy =
            record.get("legacyTail").map_or(record.get("keptUserMessageCount").is_none(), |tail| tail.get() == "true");
        if is_legacy {
            let count = record.number("compactedCount").or_else(|| record.number("count"));
            let count =
                count.and_then(|count| usize::try_from(count).ok()).filter(|&count| count <= self.context.len());
            let count = count.ok_or_else(|| opaque("does not say how much it stands for"))?;
            self.context.splice(..count, [summary]);
            return Ok(());
        }
        self.context.retain(|message| message.is_users);
        let tokens: u64 = self.context.iter().map(|message| message.tokens).sum();
        if tokens > KEPT_USER_TOKENS || record.is_truthy("keptHeadUserMessageCount") {
            return Err(opaque("dropped user content"));
        }
        self.context.push(summary);
        Ok(())
    }
}

fn unknown(line: u64, kind: &str) -> Refusal {
    Refusal::new(
        Kind::UnsupportedRecord,
        format!("line {line} is a record of the type {}, which is not known", shown(kind)),
    )
}

fn described(message: &Object<'_>, at: Span) -> Message {
    let origin = message.object("origin").unwrap_or_default();
    let kind = origin.text("kind").unwrap_or_default();
    let by_user = match kind.as_str() {
        "" | "user" => true,
        "skill_activation" | "plugin_command" => origin.text("trigger").as_deref() == Some("user-slash"),
        _ => false,
    };
    Message {
        is_users: by_user && message.text("role").as_deref() == Some("user"),
        is_injection: kind == "injection" || message.text("role").as_deref() == Some("system"),
        tokens: estimate(message),
        ..Message::of(Source::Appended, at)
    }
}

/// Kimi's own guess of what a message weighs.
fn estimate(message: &Object<'_>) -> u64 {
    let of_text = |text: &str| {
        let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
        let others = text.chars().filter(|char| !char.is_ascii()).count() as u64;
        ascii.div_ceil(4) + others
    };
    let Some(content) = message.get("content") else { return 1 };
    if let Some(text) = view::text(content) {
        return 1 + of_text(&text);
    }
    let parts = view::list(content).unwrap_or_default().into_iter().filter_map(Object::of);
    let weights = parts.map(|part| match part.kind().as_str() {
        "text" => of_text(&part.text("text").unwrap_or_default()),
        "think" => of_text(&part.text("think").unwrap_or_default()),
        _ => MEDIA_TOKENS,
    });
    1 + weights.sum::<u64>()
}

fn says(part: &Object<'_>) -> bool {
    match part.kind().as_str() {
        "text" => part.filled("text").is_some(),
        "think" => part.filled("think").is_some() || part.is_truthy("encrypted"),
        _ => true,
    }
}

/// `…/<session id>/agents/main/wire.jsonl`
fn session_id(path: &str) -> Option<String> {
    let mut names = path.rsplit(['/', '\\']);
    let is_native = names.next() == Some("wire.jsonl") && names.next() == Some("main");
    names.next()?;
    names.next().filter(|id| is_native && !id.is_empty()).map(str::to_owned)
}

fn title(around: &mut dyn Surroundings) -> Option<String> {
    let bytes = around.file(STATE, STATE_LIMIT).ok().flatten()?;
    let text = String::from_utf8(bytes).ok()?;
    Object::read(&text, 0).ok()?.filled("title")
}

/// One answer: its parts and calls, in order.
fn step(at: &[Span], speech: &mut Speech<'_, '_>, around: &mut dyn Surroundings) -> Result<(), Refusal> {
    let mut runs = Runs::new(Role::Assistant);
    for span in at {
        let text = around.record(*span)?;
        let record = Object::read(&text, span.line)?;
        let event = record.object("event").unwrap_or_default();
        let at = format!("line {}", span.line);
        if let Some(piece) = event.get("part") {
            part(piece, &mut runs, &at, speech, around)?;
        } else {
            speech.end(&mut runs)?;
            call(&event, "toolCallId", event.get("args"), &at, speech)?;
        }
    }
    speech.end(&mut runs)
}

fn call(
    call: &Object<'_>,
    id: &str,
    arguments: Option<&RawValue>,
    at: &str,
    speech: &mut Speech<'_, '_>,
) -> Result<(), Refusal> {
    let arguments = arguments.map_or_else(|| "{}".to_owned(), blocks::arguments_text);
    speech.call(call.text(id).unwrap_or_default(), call.text("name").unwrap_or_default(), arguments, at)
}

fn part(
    raw: &RawValue,
    runs: &mut Runs,
    at: &str,
    speech: &mut Speech<'_, '_>,
    around: &mut dyn Surroundings,
) -> Result<(), Refusal> {
    let part = Object::of(raw).ok_or_else(|| unsupported("a part that is no object", at))?;
    match part.kind().as_str() {
        "text" => runs.text(part.text("text").ok_or_else(|| unsupported("a text part without text", at))?),
        "think" => speech.reasoning(),
        "image_url" => runs.image(picture(&part, at, around)?.url()),
        other => return Err(unsupported(&format!("a part of the type {}", shown(other)), at)),
    }
    Ok(())
}

fn picture(part: &Object<'_>, at: &str, around: &mut dyn Surroundings) -> Result<Picture, Refusal> {
    let url = blocks::image_address(part).ok_or_else(|| blocks::no_bytes(at))?;
    let Some((media, hash)) = url.strip_prefix("blobref:").and_then(|rest| rest.rsplit_once(';')) else {
        return Picture::of_url(&url);
    };
    if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(blocks::no_bytes(at));
    }
    let bytes = around.file(&format!("blobs/{hash}"), IMAGE_LIMIT)?.ok_or_else(|| blocks::no_bytes(at))?;
    let picture = Picture::of_bytes(media, &bytes);
    // The name is the digest of the base64 text, not of the bytes.
    let digest: String = Sha256::digest(picture.data()).iter().map(|byte| format!("{byte:02x}")).collect();
    if digest != hash.to_ascii_lowercase() {
        return Err(Refusal::new(
            Kind::InvalidImage,
            format!("{at}: the image {hash} has other bytes than its name says"),
        ));
    }
    Ok(picture)
}

fn said(
    message: &Object<'_>,
    at: &str,
    speech: &mut Speech<'_, '_>,
    around: &mut dyn Surroundings,
) -> Result<(), Refusal> {
    let role = match message.text("role").unwrap_or_default().as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => {
            let mut output = output(message.get("content"), at, around)?;
            push_note(&mut output, message);
            let call_id = message.text("toolCallId").or_else(|| message.text("tool_call_id")).unwrap_or_default();
            return speech.result(call_id, Value::Array(output), message.is_true("isError"), at);
        }
        other => return Err(unsupported(&format!("a message of the role {}", shown(other)), at)),
    };
    let mut runs = Runs::new(role);
    match message.get("content") {
        None => {}
        Some(content) => match view::text(content) {
            Some(text) => runs.text(text),
            None => {
                let parts = view::list(content).ok_or_else(|| unsupported("a content that is no list", at))?;
                for raw in parts {
                    part(raw, &mut runs, at, speech, around)?;
                }
            }
        },
    }
    speech.end(&mut runs)?;
    for raw in message.list("toolCalls").unwrap_or_default() {
        let object = Object::of(raw).ok_or_else(|| unsupported("a tool call that is no object", at))?;
        call(&object, "id", object.get("arguments"), at, speech)?;
    }
    Ok(())
}

fn summary(
    record: &Object<'_>,
    at: &str,
    speech: &mut Speech<'_, '_>,
    around: &mut dyn Surroundings,
) -> Result<(), Refusal> {
    match record.text("contextSummary").or_else(|| record.text("summary")) {
        Some(text) => speech.text(Role::User, text),
        None => said(&record.object("summary").unwrap_or_default(), at, speech, around),
    }
}

fn tool_result(
    record: &Object<'_>,
    at: &str,
    speech: &mut Speech<'_, '_>,
    around: &mut dyn Surroundings,
) -> Result<(), Refusal> {
    let event = record.object("event").unwrap_or_default();
    let result = event.object("result").unwrap_or_default();
    let mut output = output(result.get("output"), at, around)?;
    push_note(&mut output, &result);
    let is_error = result.is_true("isError");
    let output = blocks::kept_output(Some(result)).unwrap_or(Value::Array(output));
    speech.result(event.text("toolCallId").unwrap_or_default(), output, is_error, at)
}

fn output(content: Option<&RawValue>, at: &str, around: &mut dyn Surroundings) -> Result<Vec<Value>, Refusal> {
    let mut output = Vec::new();
    let Some(content) = content else { return Ok(output) };
    if let Some(text) = view::text(content) {
        push_text(&mut output, &text);
        return Ok(output);
    }
    for raw in view::list(content).ok_or_else(|| unsupported("a result that is neither text nor parts", at))? {
        let part = Object::of(raw).ok_or_else(|| unsupported("a part that is no object", at))?;
        match part.kind().as_str() {
            "text" => push_text(&mut output, &part.text("text").unwrap_or_default()),
            "image_url" => output.push(picture(&part, at, around)?.block()),
            other => return Err(unsupported(&format!("a result part of the type {}", shown(other)), at)),
        }
    }
    Ok(output)
}
