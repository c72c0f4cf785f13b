//! Claude Code's transcript: JSON lines that form a tree by `parentUuid`.
//!
//! [`Transcript`] holds 32 bytes a row for the tree and the texts of messages, nothing else of a line. What the active
//! branch says is found at the end: from the last row of this session back to the root. Sources: the rows of 2.1.332
//! and of public parsers' samples for older versions.

use std::collections::{HashMap, HashSet};

use super::wire::{Attachment, Block, Content, Message, Row, RowKind};
use super::{HOST_TAGS, TASK_NOTIFICATION, is_interruption};
use crate::hosts::exchange::{self, KEPT_LIMIT, Newest, said};
use crate::hosts::{json, plumbing};
use crate::transcript::{Reader, Said, Since, Slice};

/// Stands before the final answer among the messages.
const ANSWER_LABEL: &str = "Main Claude response:";

/// Begins a prompt that came with an attachment.
const ATTACH_MARK: &str = "<!-- attach -->";

/// A broken line at least this long is taken for a row we lost; shorter ones for noise.
const LOST_ROW_BYTES: usize = 64 << 10;

/// Lost rows bridged in one walk; each costs a scan of the rows before it.
const MAX_BRIDGES: usize = 64;

/// The reader of one session's transcript.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    session_id: String,
    /// The tree: main-chain rows in file order. Parents come before their children.
    rows: Vec<TreeRow>,
    /// What rows say, in file order.
    parts: Vec<Part>,
    /// The API message each assistant row belongs to.
    messages: Vec<(u32, u64)>,
    /// Calls of the tools whose results are kept.
    calls: HashMap<u128, Call>,
    /// Lines that were lost, by the row they came before.
    gaps: Vec<Gap>,
    /// Rows that are compaction boundaries.
    boundaries: HashSet<u32>,
    newest: Option<Leaf>,
    newest_of_any_session: Option<Leaf>,
    kept_bytes: usize,
    dropped: Option<Dropped>,
    unknown_lines: u64,
    parent: Option<String>,
}

#[derive(Debug, Clone, Copy)]
struct TreeRow {
    key: u128,
    /// 0 for a root.
    parent: u128,
}

#[derive(Debug)]
struct Part {
    row: u32,
    /// Copied from the session this one was forked from, and taken there.
    is_copied: bool,
    says: Says,
}

#[derive(Debug)]
enum Says {
    Prompt(String),
    /// A slash command without arguments: a place to begin, not a message.
    Command(String),
    Answer {
        message: u64,
        texts: Vec<String>,
        calls: Vec<u128>,
    },
    Result {
        call: u128,
        text: String,
    },
    Notification {
        call: u128,
        result: String,
    },
}

#[derive(Debug)]
enum Call {
    Agent { label: String, prompt: String },
    Question,
    Plan(String),
}

#[derive(Debug, Clone, Copy)]
struct Gap {
    before_row: u32,
    bytes: u64,
}

#[derive(Debug)]
struct Leaf {
    row: u32,
    uuid: String,
    is_answer: bool,
}

#[derive(Debug, Clone, Copy)]
struct Dropped {
    up_to_row: u32,
    bytes: u64,
}

impl Transcript {
    /// Makes a reader for this session.
    pub(super) fn new(session_id: &str) -> Self {
        Transcript { session_id: session_id.to_owned(), ..Transcript::default() }
    }
}

impl Reader for Transcript {
    fn push_line(&mut self, line: &[u8]) {
        match json::line::<Row>(line) {
            Some(row) => self.push_row(row),
            None if line.len() >= LOST_ROW_BYTES => self.skip_line(line.len() as u64),
            None => {}
        }
    }

    fn skip_line(&mut self, bytes: u64) {
        self.gaps.push(Gap { before_row: self.next_row(), bytes });
    }

    fn finish(mut self: Box<Self>, since: &Since) -> Slice {
        let mut slice = Slice { unknown_lines: self.unknown_lines, parent: self.parent.clone(), ..Slice::default() };
        let Some(leaf) = self.newest.as_ref().or(self.newest_of_any_session.as_ref()) else {
            slice.leaf = since.leaf.clone();
            let newest = if since.leaf.is_some() { Newest::Known } else { Newest::Other };
            exchange::place_answer(&mut slice.messages, since, Some(ANSWER_LABEL), newest);
            return slice;
        };
        slice.leaf = Some(leaf.uuid.clone());
        let (leaf_row, is_answer) = (leaf.row, leaf.is_answer);
        let stored = since.leaf.as_deref().map(key_of);
        let stored_row = stored.and_then(|key| self.rows.iter().rposition(|row| row.key == key));
        // Behind the newest row of the conversation lie rows that other readers of this evidence end in.
        if stored_row.is_some_and(|stored| stored >= leaf_row as usize) {
            exchange::place_answer(&mut slice.messages, since, Some(ANSWER_LABEL), Newest::Known);
            return slice;
        }
        let path = self.path(leaf_row);
        let begin = self.begin(&path, stored_row, since);
        let emitted = self.messages(&path, begin);
        slice.messages = emitted.messages;
        slice.needs_whole_file = since.resumed && stored_row.is_none() && emitted.has_unknown_call;
        let newest = if is_answer { Newest::Text } else { Newest::Other };
        exchange::place_answer(&mut slice.messages, since, Some(ANSWER_LABEL), newest);
        slice
    }
}

// Taking rows in.
impl Transcript {
    fn next_row(&self) -> u32 {
        u32::try_from(self.rows.len()).unwrap_or(u32::MAX)
    }

    fn push_row(&mut self, row: Row) {
        let kind = row.kind.0.unwrap_or(RowKind::Unknown);
        if kind == RowKind::Unknown {
            self.unknown_lines += 1;
        }
        // Sub-agents' rows: in a file of their own now, in the main file before 2.0.
        if row.is_sidechain.is_set() || kind == RowKind::Bookkeeping {
            return;
        }
        let Some(uuid) = row.uuid.clone().filled() else { return };
        let at = self.next_row();
        let parent = row.parent_uuid.get().or(row.logical_parent_uuid.get());
        let is_boundary = row.subtype.text() == "compact_boundary";
        self.rows.push(TreeRow { key: key_of(&uuid), parent: parent.map_or(0, |uuid| key_of(uuid)) });
        if is_boundary {
            self.boundaries.insert(at);
        }
        if let Some(from) = row.forked_from.get().and_then(|from| from.session_id.clone().filled()) {
            self.parent = Some(from);
        }
        let is_ours = row.session_id.get().is_none_or(|id| *id == self.session_id);
        // Hooks' attachments may hang off the chain, so only what takes part in the conversation can be its end.
        let is_queued = row.attachment.get().is_some_and(|attachment| attachment.kind.text() == "queued_command");
        let is_conversation = is_boundary || is_queued || matches!(kind, RowKind::User | RowKind::Assistant);

        let is_copied = row.forked_from.get().is_some();
        let says = match kind {
            RowKind::User => self.user_says(row),
            RowKind::Assistant => self.assistant_says(at, row),
            RowKind::Attachment => row.attachment.0.and_then(attachment_says).into_iter().collect(),
            _ => Vec::new(),
        };
        if is_conversation {
            let is_answer = matches!(says.last(), Some(Says::Answer { texts, .. }) if !texts.is_empty());
            let leaf = Leaf { row: at, uuid, is_answer };
            if is_ours {
                self.newest = Some(leaf);
            } else {
                self.newest_of_any_session = Some(leaf);
            }
        }
        for says in says {
            self.kept_bytes += says.bytes();
            self.parts.push(Part { row: at, is_copied, says });
        }
        if self.kept_bytes > KEPT_LIMIT {
            self.drop_oldest();
        }
    }

    fn user_says(&self, row: Row) -> Vec<Says> {
        let is_hidden = row.is_meta.is_set()
            || row.is_compact_summary.is_set()
            || row.is_visible_in_transcript_only.is_set()
            || row.row_source.text() == "harness";
        let Some(content) = row.message.0.and_then(|message| message.content.0) else { return Vec::new() };
        if let Content::Blocks(blocks) = &content
            && blocks.iter().any(|block| block.kind.text() == "tool_result")
        {
            let launched = row
                .tool_use_result
                .get()
                .is_some_and(|result| result.is_async.is_set() || result.status.text() == "async_launched");
            if launched {
                return Vec::new();
            }
            let Content::Blocks(blocks) = content else { return Vec::new() };
            return blocks.into_iter().filter_map(|block| self.result_says(block)).collect();
        }
        if is_hidden {
            return Vec::new();
        }
        let is_human = row.origin.get().and_then(|origin| origin.kind.get()).is_none_or(|kind| kind == "human");
        typed_says(content.into_text(), is_human).into_iter().collect()
    }

    fn result_says(&self, block: Block) -> Option<Says> {
        let call = key_of(block.tool_use_id.get()?);
        let known = self.calls.get(&call)?;
        if block.is_error.is_set() {
            return None;
        }
        let text = block.content.0.map(Content::into_text).unwrap_or_default();
        if matches!(known, Call::Agent { .. }) && text.starts_with("Async agent launched") {
            return None;
        }
        Some(Says::Result { call, text })
    }

    fn assistant_says(&mut self, at: u32, row: Row) -> Vec<Says> {
        let Some(message) = row.message.0 else { return Vec::new() };
        let Message { id, model, content } = message;
        // The host's own words under the model's name: API errors, notes about interruptions.
        if row.is_api_error_message.is_set() || model.text() == "<synthetic>" {
            return Vec::new();
        }
        // Sibling rows of one message share its id; without an id a row stands alone.
        let message = id.filled().map_or(u64::MAX - u64::from(at), |id| key_of(&id) as u64);
        self.messages.push((at, message));
        let (mut texts, mut calls) = (Vec::new(), Vec::new());
        match content.0 {
            None => {}
            Some(Content::Text(text)) => texts.push(text),
            Some(Content::Blocks(blocks)) => {
                for block in blocks {
                    match block.kind.text() {
                        "text" => texts.extend(block.text.filled()),
                        "tool_use" => calls.extend(self.note_call(block)),
                        _ => {}
                    }
                }
            }
        }
        texts.retain(|text| !text.trim().is_empty());
        if texts.is_empty() && calls.is_empty() {
            return Vec::new();
        }
        vec![Says::Answer { message, texts, calls }]
    }

    fn note_call(&mut self, block: Block) -> Option<u128> {
        let call = key_of(block.id.get()?);
        let input = block.input.0.unwrap_or_default();
        let noted = match block.name.text() {
            // `Task` before 2.1.
            "Agent" | "Task" => {
                let kind = input.subagent_type.filled().unwrap_or_else(|| "general-purpose".to_owned());
                let label = match input.description.filled() {
                    Some(description) => format!("{kind}: {description}"),
                    None => kind,
                };
                Call::Agent { label, prompt: input.prompt.0.unwrap_or_default() }
            }
            "AskUserQuestion" => Call::Question,
            "ExitPlanMode" => Call::Plan(input.plan.0.unwrap_or_default()),
            _ => return None,
        };
        self.calls.insert(call, noted);
        Some(call)
    }

    /// Lets go of the oldest half of the texts.
    fn drop_oldest(&mut self) {
        let mut bytes = 0;
        let half = self.kept_bytes / 2;
        let n_parts = self
            .parts
            .iter()
            .take_while(|part| {
                let goes_on = bytes < half;
                bytes += if goes_on { part.says.bytes() } else { 0 };
                goes_on
            })
            .count();
        let up_to_row = self.parts[n_parts.saturating_sub(1)].row;
        self.parts.drain(..n_parts);
        self.kept_bytes -= bytes;
        let before = self.dropped.map_or(0, |dropped| dropped.bytes);
        self.dropped = Some(Dropped { up_to_row, bytes: before + bytes as u64 });
    }
}

/// The rows from the root, or from the first row read, to the leaf.
struct Path {
    on_path: Vec<bool>,
    /// Lines lost on the way.
    gaps: Vec<Gap>,
}

struct Emitted {
    messages: Vec<Said>,
    has_unknown_call: bool,
}

// Finding what is new.
impl Transcript {
    fn path(&self, leaf: u32) -> Path {
        let mut path = Path { on_path: vec![false; self.rows.len()], gaps: Vec::new() };
        let mut at = leaf as usize;
        let mut n_bridges = 0;
        loop {
            path.on_path[at] = true;
            let parent = self.rows[at].parent;
            if parent == 0 {
                break;
            }
            // A parent always stands before its children, so the walk cannot turn in a circle.
            if let Some(found) = self.rows[..at].iter().rposition(|row| row.key == parent) {
                at = found;
                continue;
            }
            n_bridges += 1;
            if n_bridges > MAX_BRIDGES {
                break;
            }
            let gap = self.gaps.iter().rev().find(|gap| gap.before_row as usize <= at).copied();
            let before = match gap {
                // A boundary may name a row that was never written.
                _ if self.boundaries.contains(&(at as u32)) => at,
                Some(gap) => {
                    path.gaps.push(gap);
                    gap.before_row as usize
                }
                None => break,
            };
            match before.checked_sub(1) {
                Some(before) => at = before,
                None => break,
            }
        }
        path.gaps.reverse();
        path
    }

    /// Returns the first row that is new.
    fn begin(&self, path: &Path, stored_row: Option<usize>, since: &Since) -> u32 {
        // File order serves where the branch was left as well: what the new branch added comes later in the file.
        if let Some(stored) = stored_row {
            return u32::try_from(stored + 1).unwrap_or(u32::MAX);
        }
        if since.resumed {
            return 0;
        }
        let on_path = || self.parts.iter().rev().filter(|part| path.on_path[part.row as usize]);
        let prompt = on_path().find(|part| match (&part.says, &since.last_prompt) {
            (Says::Prompt(text) | Says::Command(text), Some(recorded)) => exchange::is_same_prompt(recorded, text),
            (Says::Prompt(_), None) => true,
            _ => false,
        });
        let notification = || on_path().find(|part| matches!(part.says, Says::Notification { .. }));
        prompt.or_else(notification).map_or(0, |part| part.row)
    }

    fn messages(&mut self, path: &Path, begin: u32) -> Emitted {
        // Parallel tool calls leave rows beside the path that belong to it: rows of the same API message, and results
        // of its calls.
        let messages: HashSet<u64> =
            self.messages.iter().filter(|(row, _)| path.on_path[*row as usize]).map(|(_, id)| *id).collect();
        let is_said = |part: &Part| {
            path.on_path[part.row as usize]
                || matches!(&part.says, Says::Answer { message, .. } if messages.contains(message))
        };
        let calls: HashSet<u128> = self
            .parts
            .iter()
            .filter(|part| is_said(part))
            .filter_map(|part| if let Says::Answer { calls, .. } = &part.says { Some(calls) } else { None })
            .flatten()
            .copied()
            .collect();

        let mut out = Emitted { messages: Vec::new(), has_unknown_call: false };
        if let Some(dropped) = self.dropped.filter(|dropped| dropped.up_to_row >= begin) {
            out.messages.push(exchange::dropped_mark(dropped.bytes));
        }
        let mut gaps = path.gaps.iter().filter(|gap| gap.before_row >= begin).peekable();
        let mut results = HashSet::new();
        // Texts are moved, not copied: what is said may be most of what is held.
        for part in std::mem::take(&mut self.parts).into_iter().filter(|part| part.row >= begin && !part.is_copied) {
            while let Some(gap) = gaps.next_if(|gap| gap.before_row <= part.row) {
                out.messages.push(exchange::skipped_mark(gap.bytes));
            }
            let is_said = is_said(&part);
            match part.says {
                Says::Prompt(text) if is_said => out.messages.push(said("user", text)),
                Says::Answer { texts, .. } if is_said => {
                    out.messages.extend(texts.into_iter().map(|text| said("assistant", text)));
                }
                Says::Result { call, text }
                    if (calls.contains(&call) || is_said) && results.insert((call, key_of(&text))) =>
                {
                    out.messages.extend(self.result_messages(call, &text));
                }
                Says::Notification { call, result } if is_said => match self.calls.get(&call) {
                    Some(Call::Agent { .. }) if results.insert((call, key_of(&result))) => {
                        out.messages.extend(self.result_messages(call, &result));
                    }
                    None => out.has_unknown_call = true,
                    Some(_) => {}
                },
                _ => {}
            }
        }
        out.messages.extend(gaps.map(|gap| exchange::skipped_mark(gap.bytes)));
        out
    }

    fn result_messages(&self, call: u128, text: &str) -> Vec<Said> {
        match self.calls.get(&call) {
            // Assignment and response stay neighbors: they are sent together.
            Some(Call::Agent { label, prompt }) => vec![
                said("assistant", format!("Subagent assignment ({label}):\n{prompt}")),
                said("assistant", format!("Subagent response ({label}):\n{text}")),
            ],
            Some(Call::Question) => vec![said("user", format!("Answers to the agent's questions:\n{text}"))],
            Some(Call::Plan(plan)) => {
                let plan = if plan.trim().is_empty() { text } else { plan };
                vec![said("assistant", format!("Approved plan:\n{plan}"))]
            }
            None => Vec::new(),
        }
    }
}

impl Says {
    /// Returns how much memory the texts take, about.
    fn bytes(&self) -> usize {
        let texts = match self {
            Says::Prompt(text) | Says::Command(text) | Says::Result { text, .. } => text.len(),
            Says::Notification { result, .. } => result.len(),
            Says::Answer { texts, calls, .. } => {
                texts.iter().map(|text| text.len() + 2 * size_of::<String>()).sum::<usize>() + calls.len() * 32
            }
        };
        texts + size_of::<Part>()
    }
}

fn attachment_says(attachment: Attachment) -> Option<Says> {
    if attachment.kind.text() != "queued_command" || attachment.is_meta.is_set() {
        return None;
    }
    let is_human = attachment.origin.get().and_then(|origin| origin.kind.get()).is_none_or(|kind| kind == "human");
    typed_says(attachment.prompt.0?.into_text(), is_human)
}

/// Returns what a text in a prompt's place is: a prompt, a finished background agent, or nothing.
fn typed_says(text: String, is_human: bool) -> Option<Says> {
    let trimmed = text.trim_start();
    if trimmed.starts_with(TASK_NOTIFICATION) {
        return notification_says(trimmed);
    }
    if !is_human {
        return None;
    }
    let prompt = match trimmed.strip_prefix(ATTACH_MARK) {
        Some(rest) => rest.trim_start(),
        None => text.as_str(),
    };
    let start = prompt.trim_start();
    // A command that goes to the model begins with its message; one that the host runs itself, with its name.
    if start.starts_with("<command-message>") {
        return command_says(start);
    }
    let is_host_tag = |tag: &&str| {
        let tag = tag.trim_end_matches('*');
        start.strip_prefix('<').is_some_and(|rest| rest.starts_with(tag))
    };
    if start.is_empty() || is_interruption(start) || HOST_TAGS.iter().any(is_host_tag) {
        return None;
    }
    Some(Says::Prompt(prompt.to_owned()))
}

/// Returns a slash command as it was typed, which is how the prompt hook was given it.
fn command_says(text: &str) -> Option<Says> {
    let name = plumbing::element(text, "command-name")?.trim();
    match plumbing::element(text, "command-args").map(str::trim) {
        Some(arguments) if !arguments.is_empty() => Some(Says::Prompt(format!("{name} {arguments}"))),
        _ => Some(Says::Command(name.to_owned())),
    }
}

fn notification_says(text: &str) -> Option<Says> {
    let status = plumbing::element(text, "status")?;
    // Only agents have a result; commands that ran in the background have an output file.
    let result = plumbing::element(text, "result")?;
    let call = key_of(plumbing::element(text, "tool-use-id")?.trim());
    (status.trim() == "completed").then(|| Says::Notification { call, result: unescaped(result) })
}

/// Decodes XML entities; what is none stays.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match rest.find(';').filter(|end| *end <= 10).and_then(|end| Some((entity(&rest[1..end])?, end))) {
            Some((c, end)) => {
                out.push(c);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn entity(name: &str) -> Option<char> {
    let number = name.strip_prefix('#');
    match (name, number) {
        ("amp", _) => Some('&'),
        ("lt", _) => Some('<'),
        ("gt", _) => Some('>'),
        ("quot", _) => Some('"'),
        ("apos", _) => Some('\''),
        (_, Some(number)) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
        _ => None,
    }
}

/// Returns a key for an id: FNV-1a of 128 bits, never 0. Ids are told apart by it, nothing is protected by it.
fn key_of(id: &str) -> u128 {
    let hash = id.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    });
    hash.max(1)
}

#[cfg(test)]
mod tests;
