//! DeepSeek Harness's log: a header and numbered events. The model sees the *surface*: messages appended to it, and stretches
//! of it replaced by one message, which is how this host compacts.

use sha2::{Digest as _, Sha256};

use super::super::blocks::{self, IMAGE_LIMIT, Picture, Speech, shown, unfinished};
use super::super::view::Object;
use crate::handoff::document::Role;
use crate::handoff::reader::{Options, Outline, Record, SessionReader, Sink, Span, Surroundings, Tally};
use crate::handoff::refusal::{Kind, Refusal};
use crate::hosts::sessions::{Place, Sessions};

/// Events that say nothing to the model.
const SILENT: &[&str] = &[
    "agent-preset/selected",
    "agent/inbox/spliced",
    "approval/asked",
    "approval/decided",
    "approval/policy",
    "assistant/chunk",
    "command/done",
    "command/run",
    "compaction/end",
    "compaction/prune",
    "compaction/start",
    "compaction/summary",
    "feedback/record",
    "goal/change",
    "hook/invoked",
    "hook/result",
    "llm/retry",
    "llm/retry-started",
    "permission/preset",
    "plan/mode",
    "reasoning-chunks",
    "request/context",
    "request/header",
    "sandbox/mode",
    "schedule/change",
    "session/end-seed",
    "session/title",
    "session/title-llm-request",
    "step/end",
    "step/start",
    "subagent/descriptor",
    "team/member",
    "team/message/delivered",
    "team/message/queued",
    "team/task",
    "text-chunks",
    "todo/write",
    "tool-call-chunks",
    "tool-workflow/agent-end",
    "tool-workflow/agent-start",
    "tool-workflow/run-end",
    "tool-workflow/run-start",
    "tool/call",
    "tool/code-dispatch",
    "tool/code-dispatch-start",
    "turn/end",
    "turn/start",
    "web/deepseek-search-llm-request",
];

/// How sessions are read.
pub(crate) const SESSIONS: Sessions = Sessions {
    place: Some(Place { setting: "DSH_HOME", folder: ".dsh", pattern: "sessions/*/{id}/session.jsonl*" }),
    ..Sessions::lines("deepseek", "deepseek session", reader)
};

fn reader(_: &Options) -> Box<dyn SessionReader> {
    Box::new(Reader::default())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
    Tool,
}

/// A message of the surface.
#[derive(Debug, Clone, Copy)]
struct Node {
    seq: u64,
    at: Span,
    speaker: Speaker,
    interrupted: bool,
}

#[derive(Default)]
struct Reader {
    has_header: bool,
    id: Option<String>,
    cwd: Option<String>,
    title: Option<String>,
    next_seq: u64,
    surface: Vec<Node>,
    boundary: Option<u64>,
    turn_is_open: bool,
}

impl SessionReader for Reader {
    fn scan(&mut self, record: Record<'_>) -> Result<(), Refusal> {
        let line = record.at.line;
        let event = Object::read(record.text, line)?;
        if !self.has_header {
            return self.header(&event, line);
        }
        let kind = event.kind();
        let data = event.object("data").unwrap_or_default();
        let seq = self.number(&event, &data, line)?;
        match kind.as_str() {
            "turn/start" => self.turn_is_open = true,
            "turn/end" => self.turn_is_open = false,
            "session/title" => self.title = data.filled("title").or_else(|| self.title.take()),
            _ => {}
        }
        let speaker = match kind.as_str() {
            "user/message" => Speaker::User,
            "assistant/message" => Speaker::Assistant,
            "tool/result" => Speaker::Tool,
            known if SILENT.contains(&known) || event.is_true("ignorable") => return Ok(()),
            other => {
                return Err(unsupported(line, &format!("an event of the type {}, which is not known", shown(other))));
            }
        };
        let interrupted =
            data.is_true("interrupted") || data.object("message").is_some_and(|message| message.is_true("interrupted"));
        self.place(&event, Node { seq, at: record.at, speaker, interrupted })
    }

    fn outline(&mut self, _: &mut dyn Surroundings) -> Result<Outline, Refusal> {
        if self.turn_is_open {
            return Err(unfinished("the last turn"));
        }
        if let Some(node) = self.surface.last().filter(|node| node.interrupted) {
            return Err(unfinished(&format!("event {}", node.seq)));
        }
        Ok(Outline {
            session_id: self.id.clone(),
            title: self.title.clone(),
            cwd: self.cwd.clone(),
            compact_boundary: self.boundary.map(|seq| seq.to_string()),
            ..Outline::default()
        })
    }

    fn items(&mut self, around: &mut dyn Surroundings, sink: &mut Sink<'_>) -> Result<Tally, Refusal> {
        let mut speech = Speech::new(sink, None);
        for node in &self.surface {
            let text = around.record(node.at)?;
            let event = Object::read(&text, node.at.line)?;
            let data = event.object("data").unwrap_or_default();
            let at = format!("event {}", node.seq);
            match node.speaker {
                Speaker::User if is_harness(&data) => speech.harness(),
                Speaker::User => speech.content(Role::User, data.get("content"), &at, around)?,
                Speaker::Assistant => {
                    let message = data.object("message").unwrap_or(data);
                    speech.content(Role::Assistant, message.get("content"), &at, around)?;
                }
                Speaker::Tool => match data.object("message") {
                    Some(message) => speech.content(Role::User, message.get("content"), &at, around)?,
                    None => {
                        let output = blocks::output(data.get("content"), &at, around)?;
                        let call_id = data.text("callId").unwrap_or_default();
                        speech.result(call_id, output.into(), data.is_true("isError"), &at)?;
                    }
                },
            }
        }
        Ok(speech.tally())
    }
}

impl Reader {
    fn header(&mut self, header: &Object<'_>, line: u64) -> Result<(), Refusal> {
        if header.kind() != "session" {
            return Err(unsupported(line, "no header, where the log should begin with one"));
        }
        if header.number("version") != Some(0) {
            return Err(unsupported(line, "a log of another version than 0"));
        }
        self.has_header = true;
        self.id = header.filled("id");
        self.cwd = header.filled("cwd");
        Ok(())
    }

    /// Checks that no event is missing before this one, which may stand for several.
    fn number(&mut self, event: &Object<'_>, data: &Object<'_>, line: u64) -> Result<u64, Refusal> {
        let packed = match event.kind().as_str() {
            "text-chunks" | "reasoning-chunks" => Some("texts"),
            "tool-call-chunks" => Some("args"),
            _ => None,
        };
        let (seq, events) = match packed {
            Some(key) => (event.number("seq0"), data.list(key).map_or(0, |list| list.len() as u64)),
            None => (event.number("seq"), 1),
        };
        if seq != Some(self.next_seq) || events == 0 {
            let message = format!("another event than number {}, so that some are missing", self.next_seq);
            return Err(unsupported(line, &message));
        }
        self.next_seq += events;
        Ok(self.next_seq - events)
    }

    fn place(&mut self, event: &Object<'_>, node: Node) -> Result<(), Refusal> {
        if event.text("surfaceOp").as_deref() == Some("append") {
            self.surface.push(node);
            return Ok(());
        }
        let replaced =
            event.object("surfaceOp").filter(|op| op.text("op").as_deref() == Some("replace")).and_then(|op| {
                let place = |key| op.number(key).and_then(|seq| self.surface.iter().position(|node| node.seq == seq));
                Some((place("start")?, place("end")?)).filter(|(start, end)| start <= end)
            });
        let Some((start, end)) = replaced else {
            return Err(unsupported(node.at.line, "a message that does not say where it belongs"));
        };
        self.surface.splice(start..=end, [node]);
        if node.speaker == Speaker::User {
            self.boundary = Some(node.seq);
        }
        Ok(())
    }
}

fn unsupported(line: u64, what: &str) -> Refusal {
    Refusal::new(Kind::UnsupportedRecord, format!("line {line} holds {what}; it cannot be handed over"))
}

fn is_harness(message: &Object<'_>) -> bool {
    message.object("source").is_some_and(|source| {
        let form = source.text("form").unwrap_or_default();
        matches!(form.as_str(), "instructions" | "catalog" | "snapshot")
            && source.text("kind").as_deref() != Some("user")
    })
}

/// Reads a picture out of the host's attachment store.
pub(crate) fn attachment(attachment: &Object<'_>, at: &str, around: &mut dyn Surroundings) -> Result<Picture, Refusal> {
    let id = attachment.text("attachmentId").unwrap_or_default();
    let digest = id
        .strip_prefix("sha256:")
        .filter(|hex| hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
    let missing = |what: &str| Refusal::new(Kind::UnavailableImage, format!("{at} names an attachment {what}"));
    let digest = digest.ok_or_else(|| missing("of a kind that is not known"))?;
    let home = around.setting("DSH_HOME").or_else(|| around.setting("HOME").map(|home| format!("{home}/.dsh")));
    let home = home.ok_or_else(|| missing("whose store is not known"))?;
    let path = format!("{home}/attachments/v1/objects/{}/{digest}", &digest[..2]);
    let bytes = around.file(&path, IMAGE_LIMIT)?.ok_or_else(|| missing("that is not in the host's store"))?;
    let found: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if found != digest {
        return Err(Refusal::new(
            Kind::InvalidImage,
            format!("{at}: the attachment {digest} has other bytes than its name says"),
        ));
    }
    Ok(Picture::of_bytes(attachment.text("mediaType").unwrap_or_default(), &bytes))
}
