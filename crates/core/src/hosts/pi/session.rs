//! Sessions of Pi, and of OpenClaw, which keeps the same: a header, then entries that name their parents.

use std::collections::{HashMap, HashSet};

use super::super::blocks::{self, Ending, Speech, shown};
use super::super::view::Object;
use crate::handoff::document::Role;
use crate::handoff::reader::{Options, Outline, Record, SessionReader, Sink, Span, Surroundings, Tally};
use crate::handoff::refusal::{Kind, Refusal};
use crate::hosts::sessions::{Place, Sessions};

/// What stands before a summary that took the place of a conversation.
pub(crate) const COMPACTED: &str = "[Earlier conversation, compacted by the source host]\n<summary>\n";
/// What stands before the summary of a branch that was left.
pub(crate) const BRANCH: &str = "[Summary of an abandoned branch]\n<summary>\n";
/// What stands after either.
pub(crate) const SUMMARY_END: &str = "\n</summary>";

/// How sessions are read.
pub(crate) const SESSIONS: Sessions = Sessions {
    place: Some(Place { setting: "PI_CODING_AGENT_DIR", folder: ".pi/agent", pattern: "sessions/*/*_{id}.jsonl" }),
    ..Sessions::lines("pi-agent", "pi-agent session", reader)
};

fn reader(_: &Options) -> Box<dyn SessionReader> {
    Box::new(Reader::default())
}

/// What an entry is, as far as the choice of entries needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    User,
    Failed,
    Message,
    Compaction,
    BranchSummary,
    CustomMessage,
    /// Known, and not shown to the model.
    Silent,
    Unknown,
}

struct Entry {
    at: Span,
    parent: Option<String>,
    what: What,
}

#[derive(Default)]
struct Reader {
    id: Option<String>,
    cwd: Option<String>,
    title: Option<String>,
    entries: Vec<Entry>,
    by_id: HashMap<String, usize>,
    has_header: bool,
    /// Entries the model sees, in order.
    active: Vec<usize>,
}

impl SessionReader for Reader {
    fn scan(&mut self, record: Record<'_>) -> Result<(), Refusal> {
        let line = record.at.line;
        let entry = Object::read(record.text, line)?;
        let kind = entry.kind();
        if !self.has_header {
            if kind != "session" {
                return Err(unsupported(line, "the session does not begin with its header"));
            }
            self.has_header = true;
            self.id = entry.filled("id");
            self.cwd = entry.filled("cwd");
            return Ok(());
        }
        let Some(id) = entry.filled("id") else {
            return Err(unsupported(
                line,
                "an entry has no id; open the session in its host once, which brings it up to date",
            ));
        };
        if kind == "session_info" {
            self.title = entry.filled("name");
        }
        let what = match kind.as_str() {
            "message" => entry.object("message").map_or(What::Unknown, |message| message_kind(&message)),
            "compaction" => What::Compaction,
            "branch_summary" => What::BranchSummary,
            "custom_message" => What::CustomMessage,
            "model_change" | "thinking_level_change" | "custom" | "label" | "session_info" => What::Silent,
            _ => What::Unknown,
        };
        if self.by_id.insert(id.clone(), self.entries.len()).is_some() {
            return Err(Refusal::new(Kind::DuplicateRecordId, format!("two entries have the id {}", shown(&id))));
        }
        self.entries.push(Entry { at: record.at, parent: entry.filled("parentId"), what });
        Ok(())
    }

    fn outline(&mut self, around: &mut dyn Surroundings) -> Result<Outline, Refusal> {
        let branch = self.branch()?;
        let compaction = branch.iter().rposition(|&entry| self.entries[entry].what == What::Compaction);
        let mut boundary = None;
        self.active = match compaction {
            None => branch,
            Some(place) => {
                let entry = &self.entries[branch[place]];
                let text = around.record(entry.at)?;
                let object = Object::read(&text, entry.at.line)?;
                boundary = object.filled("id");
                let kept = object.filled("firstKeptEntryId").and_then(|id| self.by_id.get(&id).copied());
                let from = kept.and_then(|kept| branch[..place].iter().position(|&entry| entry == kept));
                let tail = from.map_or(&[][..], |from| &branch[from..place]);
                let kept = tail.iter().copied().filter(|&entry| self.entries[entry].what != What::Compaction);
                [branch[place]].into_iter().chain(kept).chain(branch[place + 1..].iter().copied()).collect()
            }
        };
        Ok(Outline {
            session_id: self.id.clone(),
            title: self.title.clone(),
            cwd: self.cwd.clone(),
            compact_boundary: boundary,
            ..Outline::default()
        })
    }

    fn items(&mut self, around: &mut dyn Surroundings, sink: &mut Sink<'_>) -> Result<Tally, Refusal> {
        let mut speech = Speech::new(sink, None);
        let last_user = self.active.iter().rposition(|&entry| self.entries[entry].what == What::User);
        let mut dropped_calls = HashSet::new();
        for (place, &index) in self.active.iter().enumerate() {
            let Entry { at: span, what, .. } = &self.entries[index];
            if *what == What::Silent {
                continue;
            }
            let text = around.record(*span)?;
            let entry = Object::read(&text, span.line)?;
            let at = format!("entry {}", shown(&entry.text("id").unwrap_or_default()));
            match what {
                What::Silent => {}
                What::Unknown => {
                    return Err(unsupported(span.line, &format!("{at} is of the type {}", type_of(&entry))));
                }
                What::Compaction => speech.text(Role::User, summary(&entry, COMPACTED, &at)?)?,
                What::BranchSummary => speech.text(Role::User, summary(&entry, BRANCH, &at)?)?,
                What::CustomMessage => speech.content(Role::User, entry.get("content"), &at, around)?,
                What::Failed if last_user.is_some_and(|last| last > place) => {
                    dropped_calls.extend(entry.object("message").iter().flat_map(call_ids));
                    speech.warnings.add("interrupted_turn_omitted");
                }
                What::User | What::Failed | What::Message => {
                    let Some(message) = entry.object("message") else { continue };
                    let answers = message.text("toolCallId").is_some_and(|id| dropped_calls.contains(&id));
                    if !answers {
                        said(&message, &at, &mut speech, around)?;
                    }
                }
            }
        }
        Ok(speech.tally())
    }
}

impl Reader {
    /// The entries from the root to the last one of the file.
    fn branch(&self) -> Result<Vec<usize>, Refusal> {
        let mut branch = Vec::new();
        let mut next = self.entries.len().checked_sub(1);
        while let Some(index) = next {
            if branch.len() == self.entries.len() {
                let line = self.entries[index].at.line;
                return Err(Refusal::new(
                    Kind::ParentCycle,
                    format!("the entries' parents go in a circle (line {line})"),
                ));
            }
            branch.push(index);
            next = match &self.entries[index].parent {
                None => None,
                Some(parent) => match self.by_id.get(parent) {
                    Some(&parent) => Some(parent),
                    None if self.id.as_ref() == Some(parent) => None,
                    None => {
                        let message = format!(
                            "line {}: the parent {} is not in the file",
                            self.entries[index].at.line,
                            shown(parent)
                        );
                        return Err(Refusal::new(Kind::MissingParent, message));
                    }
                },
            };
        }
        branch.reverse();
        Ok(branch)
    }
}

fn message_kind(message: &Object<'_>) -> What {
    match message.text("role").unwrap_or_default().as_str() {
        "user" => What::User,
        "assistant" if blocks::ending(message) == Ending::Failed => What::Failed,
        _ => What::Message,
    }
}

fn type_of(entry: &Object<'_>) -> String {
    shown(&entry.kind())
}

fn unsupported(line: u64, what: &str) -> Refusal {
    Refusal::new(Kind::UnsupportedRecord, format!("line {line}: {what}; it cannot be handed over"))
}

fn summary(entry: &Object<'_>, before: &str, at: &str) -> Result<String, Refusal> {
    let summary = entry
        .text("summary")
        .ok_or_else(|| Refusal::new(Kind::OpaqueCompaction, format!("{at} is a summary that cannot be read")))?;
    Ok(format!("{before}{summary}{SUMMARY_END}"))
}

fn call_ids(message: &Object<'_>) -> Vec<String> {
    let blocks = message.list("content").unwrap_or_default();
    blocks.into_iter().filter_map(Object::of).filter_map(|block| block.text("id")).collect()
}

fn said(
    message: &Object<'_>,
    at: &str,
    speech: &mut Speech<'_, '_>,
    around: &mut dyn Surroundings,
) -> Result<(), Refusal> {
    match message.text("role").unwrap_or_default().as_str() {
        "custom" | "hookMessage" => speech.content(Role::User, message.get("content"), at, around),
        "bashExecution" if message.is_true("excludeFromContext") => Ok(()),
        "bashExecution" => speech.text(Role::User, shell_text(message, at)?),
        _ => speech.message(message, at, around),
    }
}

fn shell_text(message: &Object<'_>, at: &str) -> Result<String, Refusal> {
    if message.is_true("truncated") {
        let message = format!("{at} is a shell command whose output was cut when it was kept");
        return Err(Refusal::new(Kind::TruncatedContent, message));
    }
    let command = message.text("command").unwrap_or_default();
    let output = message.text("output").filter(|output| !output.is_empty());
    let mut text = format!("$ {command}\n{}", output.as_deref().unwrap_or("(no output)"));
    match message.get("exitCode").map(serde_json::value::RawValue::get) {
        _ if message.is_true("cancelled") => text.push_str("\n[cancelled]"),
        None | Some("0") => {}
        Some(code) => text.push_str(&format!("\n[exit code {code}]")),
    }
    Ok(text)
}
