//! What a block of events says: messages for places that extract by a model, and turns for the embedded engine.
//!
//! The payloads' shapes are those of [`crate::evidence`].

use std::collections::{BTreeSet, VecDeque};
use std::sync::OnceLock;

use jiff::Timestamp;
use regex::Regex;
use serde_json::{Map, Value};

use crate::evidence::StoredEvent;
use crate::memory::{Message, Role, ToolOutcome};
use crate::redact;

/// Longest evidence text, in characters.
const MAX_EVIDENCE: usize = 8_000;
/// Longest result of a command in the evidence text, in characters.
const MAX_EVIDENCE_RESULT: usize = 500;
/// Changed files named in the evidence text.
const MAX_FILES: usize = 20;
/// Commands listed in the evidence text.
const MAX_COMMANDS: usize = 30;
/// Longest result of a tool in a turn, in characters.
const MAX_TURN_RESULT: usize = 1_200;

/// Tools that write files. Others count when the host told how much they changed.
const WRITERS: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];

/// Returns what was said, with one text of evidence (files changed; commands, if one failed) at the end of the
/// last answer. `task` is what a session without a prompt was started for.
pub fn conversation(events: &[StoredEvent], task: Option<&str>) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut waiting: Vec<Message> = Vec::new();
    for event in events {
        match event.kind.as_str() {
            "user_prompt" => waiting.extend(said(event, Role::User, text(event, "text"))),
            "assistant_stop" => {
                let transcript = transcript(event);
                if transcript.is_empty() {
                    messages.append(&mut waiting);
                    messages.extend(said(event, Role::Assistant, text(event, "text")));
                } else {
                    let known: BTreeSet<&str> = transcript
                        .iter()
                        .filter(|message| message.role == Role::User)
                        .map(|message| message.content.trim())
                        .collect();
                    messages.extend(waiting.drain(..).filter(|prompt| !known.contains(prompt.content.trim())));
                    messages.extend(transcript);
                }
            }
            _ => {}
        }
    }
    messages.append(&mut waiting);
    let task = task.map(|task| redact::text(task).into_owned()).filter(|task| !task.trim().is_empty());
    if let Some(task) = task
        && messages.iter().all(|message| message.role != Role::User)
    {
        messages.insert(0, Message { role: Role::User, content: task, at: None, tool: None });
    }
    if let Some(evidence) = evidence(events) {
        match messages.iter_mut().rfind(|message| message.role == Role::Assistant) {
            Some(answer) => {
                answer.content.push_str("\n\n");
                answer.content.push_str(&evidence);
            }
            None => messages.push(Message { role: Role::Assistant, content: evidence, at: None, tool: None }),
        }
    }
    messages
}

/// Returns every turn in order, each with its time: prompts, answers (without the label of the final one), and the
/// main agent's commands, failed tools and file writes as [`Role::Tool`].
///
/// A tool's content is its command (or name and subject) and, on the next lines, the first 1,200 characters of its
/// result.
pub fn turns(events: &[StoredEvent]) -> Vec<Message> {
    let mut messages = Vec::new();
    // Prompts since the last answer: a transcript repeats them.
    let mut prompts: VecDeque<String> = VecDeque::new();
    for event in events {
        match event.kind.as_str() {
            "user_prompt" => {
                if let Some(prompt) = said(event, Role::User, text(event, "text")) {
                    prompts.push_back(prompt.content.trim().to_owned());
                    messages.push(prompt);
                }
            }
            "assistant_stop" => {
                let transcript = transcript(event);
                if transcript.is_empty() {
                    messages.extend(said(event, Role::Assistant, text(event, "text")).and_then(unlabeled));
                }
                for message in transcript {
                    let repeated = message.role == Role::User
                        && prompts.iter().position(|prompt| prompt == message.content.trim()).is_some_and(|index| {
                            prompts.remove(index);
                            true
                        });
                    if !repeated {
                        messages.extend(unlabeled(message));
                    }
                }
                prompts.clear();
            }
            _ => messages.extend(Tool::of(event).and_then(|tool| tool.turn(event))),
        }
    }
    messages
}

/// Makes a message, unless there is nothing to say.
fn said(event: &StoredEvent, role: Role, text: &str) -> Option<Message> {
    let content = redact::text(text);
    (!content.trim().is_empty()).then(|| Message { role, content: content.into_owned(), at: time(event), tool: None })
}

fn time(event: &StoredEvent) -> Option<Timestamp> {
    event.created_at.parse().ok()
}

fn text<'a>(event: &'a StoredEvent, field: &str) -> &'a str {
    event.payload.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn transcript(event: &StoredEvent) -> Vec<Message> {
    let rows = event.payload.get("transcript_messages").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    rows.iter()
        .filter_map(|row| {
            let role = match row.get("role")?.as_str()? {
                "user" => Role::User,
                "assistant" => Role::Assistant,
                _ => return None,
            };
            said(event, role, row.get("content")?.as_str()?)
        })
        .collect()
}

/// Takes the label of a final answer away; `None` if nothing else was there.
fn unlabeled(mut message: Message) -> Option<Message> {
    static LABEL: OnceLock<Regex> = OnceLock::new();
    let label =
        LABEL.get_or_init(|| Regex::new(r"^Main [^\n:]{1,40} response:[ \t]*\n*").expect("a constant expression"));
    if message.role == Role::Assistant
        && let Some(found) = label.find(&message.content)
    {
        message.content.drain(..found.end());
    }
    (!message.content.trim().is_empty()).then_some(message)
}

/// A tool event of the main agent.
struct Tool<'a> {
    payload: &'a Map<String, Value>,
    failed: Option<bool>,
}

impl<'a> Tool<'a> {
    fn of(event: &'a StoredEvent) -> Option<Self> {
        let is_failure = match event.kind.as_str() {
            "tool_failure" => true,
            "tool_result" => false,
            _ => return None,
        };
        let payload = event.payload.as_object()?;
        let is_main = payload.get("agent_role").and_then(Value::as_str).is_none_or(|role| role == "main");
        let failed = payload.get("failed").and_then(Value::as_bool).or(is_failure.then_some(true));
        is_main.then_some(Self { payload, failed })
    }

    fn field(&self, name: &str) -> Option<&'a str> {
        self.payload.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
    }

    fn name(&self) -> &'a str {
        self.field("tool").unwrap_or("unknown")
    }

    /// What it gave back: of a result kept as JSON, the texts a reader would see.
    fn output(&self) -> String {
        let raw = self.field("result_preview").or(self.field("error")).unwrap_or_default();
        let Ok(Value::Object(parts)) = serde_json::from_str(raw) else { return raw.to_owned() };
        let texts: Vec<&str> = ["stdout", "stderr", "output", "content", "error"]
            .iter()
            .filter_map(|name| parts.get(*name)?.as_str())
            .map(str::trim_end)
            .filter(|text| !text.is_empty())
            .collect();
        if texts.is_empty() && !parts.keys().any(|key| matches!(key.as_str(), "stdout" | "stderr" | "output")) {
            return raw.to_owned();
        }
        texts.join("\n")
    }

    /// The file it changed, inside the repository.
    fn changed_file(&self) -> Option<&'a str> {
        let writes = WRITERS.contains(&self.name()) || self.payload.contains_key("mutation_chars");
        if writes && self.failed != Some(true) { self.field("repo_path") } else { None }
    }

    fn turn(&self, event: &StoredEvent) -> Option<Message> {
        let command = self.field("command");
        let writes = WRITERS.contains(&self.name()) || self.payload.contains_key("mutation_chars");
        if command.is_none() && self.failed != Some(true) && !writes {
            return None;
        }
        let path = self.field("repo_path");
        let subject =
            path.or(self.field("path")).or(self.field("pattern")).or(self.field("query")).or(self.field("url"));
        let line = match (command, subject) {
            (Some(command), _) => command.to_owned(),
            (None, Some(subject)) => format!("{} {subject}", self.name()),
            (None, None) => self.name().to_owned(),
        };
        let output: String = redact::text(self.output().trim()).chars().take(MAX_TURN_RESULT).collect();
        let line = redact::text(&line).into_owned();
        let content = if output.is_empty() { line } else { format!("{line}\n{output}") };
        let tool = ToolOutcome {
            name: self.name().to_owned(),
            command: command.map(|command| redact::text(command).into_owned()),
            command_kind: self.field("command_kind").map(str::to_owned),
            failed: self.failed,
            output,
            path: if writes { path.map(str::to_owned) } else { None },
        };
        Some(Message { role: Role::Tool, content, at: time(event), tool: Some(tool) })
    }

    /// One line of the evidence text; `None` when the tool is no command.
    fn evidence(&self) -> Option<String> {
        let command = one_line(self.field("command")?);
        let outcome = match self.failed {
            Some(true) => "failed",
            Some(false) => "succeeded",
            None => "unknown",
        };
        let kind = self.field("command_kind").unwrap_or("shell");
        let result: String = one_line(&self.output()).chars().take(MAX_EVIDENCE_RESULT).collect();
        let arrow = if result.is_empty() { "" } else { " -> " };
        Some(format!("[{outcome}/{kind}] {command}{arrow}{result}"))
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Files changed and, only if a command failed, the commands; `None` when there is neither.
fn evidence(events: &[StoredEvent]) -> Option<String> {
    let tools: Vec<Tool<'_>> = events.iter().filter_map(Tool::of).collect();
    let mut sections = Vec::new();
    let mut files: Vec<&str> = Vec::new();
    for file in tools.iter().filter_map(Tool::changed_file) {
        if files.len() < MAX_FILES && !files.contains(&file) {
            files.push(file);
        }
    }
    if !files.is_empty() {
        sections.push(format!("Files changed:\n- {}", files.join("\n- ")));
    }
    let failed = |tool: &Tool<'_>| tool.failed == Some(true) && tool.field("command").is_some();
    if tools.iter().any(failed) {
        let lines: Vec<String> = tools.iter().filter_map(Tool::evidence).collect();
        let recent = &lines[lines.len().saturating_sub(MAX_COMMANDS)..];
        sections.push(format!("Commands run:\n{}", recent.join("\n")));
    }
    (!sections.is_empty()).then(|| redact::bounded(&sections.join("\n\n"), MAX_EVIDENCE))
}
