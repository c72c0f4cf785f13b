//! Codex's rollout: JSON lines in the order things happened.
//!
//! The same text is written twice, as the model saw it (`response_item`) and as the interface showed it (`event_msg`).
//! Events are preferred, in both their shapes (`item_completed` since 0.149, `user_message` and `agent_message` before);
//! a rollout that has none is read by its items, with the host's own text filtered out.

use std::collections::HashMap;

use super::HOST_TAGS;
use super::outcome;
use super::wire::{Command, Content, ContentItem, Item, Line, LinePayload, ShellArguments};
use crate::hosts::exchange::{self, KEPT_LIMIT, Newest, said};
use crate::hosts::lenient::Maybe;
use crate::hosts::{json, plumbing, tools};
use crate::transcript::{CommandOutcome, Reader, Said, Since, Slice};

/// Commands kept of one reading, the last ones; no turn runs as many.
const MAX_OUTCOMES: usize = 2_000;

/// Open calls remembered until their output comes.
const MAX_OPEN_CALLS: usize = 10_000;

/// A broken line at least this long is taken for a message we lost; shorter ones for noise.
const LOST_LINE_BYTES: usize = 64 << 10;

/// The reader of one rollout.
#[derive(Debug, Default)]
pub(super) struct Rollout {
    session_id: String,
    events: Messages,
    items: Messages,
    /// Whether the rollout says where a turn begins; older ones do not, and each prompt begins one.
    turns_are_told: bool,
    outcomes: Vec<Outcome>,
    open_calls: HashMap<String, String>,
    has_header: bool,
    has_event_lines: bool,
    parent: Option<String>,
    subagent: Option<Subagent>,
    kept_bytes: usize,
    unknown_lines: u64,
}

/// Whose rollout it is, when it is a sub-agent's.
#[derive(Debug)]
struct Subagent {
    role: String,
    /// Lines before this ordinal are the parent's.
    first_ordinal: i64,
}

/// The messages of one of the two layers.
#[derive(Debug, Default)]
struct Messages {
    list: Vec<Message>,
    /// The turn that runs.
    turn: u64,
    /// The last message's line, also when it was rolled back since.
    newest: Option<LineId>,
    dropped_bytes: u64,
}

#[derive(Debug)]
struct Message {
    line: LineId,
    turn: u64,
    says: Says,
}

#[derive(Debug)]
enum Says {
    User(String),
    Assistant(String),
    Lost(u64),
}

/// A line's place: its ordinal, or what it is made of where it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineId {
    Ordinal(i64),
    Hash(u64),
}

#[derive(Debug)]
struct Outcome {
    call_id: String,
    is_event: bool,
    outcome: CommandOutcome,
}

/// The layer a reading's messages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    Events,
    Items,
}

impl Layer {
    fn name(self) -> &'static str {
        match self {
            Layer::Events => "event",
            Layer::Items => "item",
        }
    }

    fn leaf(self, line: LineId) -> String {
        match line {
            LineId::Ordinal(ordinal) => format!("{}:{ordinal}", self.name()),
            LineId::Hash(hash) => format!("{}:#{hash:016x}", self.name()),
        }
    }
}

impl Rollout {
    /// Makes a reader for this session.
    pub(super) fn new(session_id: &str) -> Self {
        Rollout { session_id: session_id.to_owned(), ..Rollout::default() }
    }
}

impl Reader for Rollout {
    fn push_line(&mut self, line: &[u8]) {
        match json::line::<Line>(line) {
            Some(parsed) => {
                let id = parsed.ordinal.0.map_or_else(|| LineId::Hash(hash_of(line)), LineId::Ordinal);
                self.push(id, parsed);
            }
            None if line.len() >= LOST_LINE_BYTES => self.skip_line(line.len() as u64),
            None => {}
        }
    }

    fn skip_line(&mut self, bytes: u64) {
        for layer in [&mut self.events, &mut self.items] {
            layer.list.push(Message { line: LineId::Hash(0), turn: layer.turn, says: Says::Lost(bytes) });
        }
    }

    fn finish(mut self: Box<Self>, since: &Since) -> Slice {
        let stored = since.leaf.as_deref();
        let was_events = stored.is_some_and(|leaf| leaf.starts_with(Layer::Events.name()));
        // What belongs to an event may lie before or behind the place where the last reading ended, so items alone do
        // not make a rollout one without events.
        let layer = if self.events.newest.is_some() || was_events { Layer::Events } else { Layer::Items };
        let messages = std::mem::take(if layer == Layer::Events { &mut self.events } else { &mut self.items });

        // A prompt's item comes before its event: unless the items were read before, an answer without an event has to
        // show that there are none.
        let was_items = stored.is_some_and(|leaf| leaf.starts_with(Layer::Items.name()));
        let may_have_events = (self.has_event_lines || since.resumed) && !was_items;
        let is_undecided = layer == Layer::Items && may_have_events && !messages.has_answer();
        let newest = messages.newest.filter(|_| !is_undecided).map(|line| layer.leaf(line));
        let has_news = newest.is_some() && newest.as_deref() != stored;
        let begin = messages.begin(layer, since);
        let mut slice = Slice {
            leaf: newest.or_else(|| since.leaf.clone()),
            unknown_lines: self.unknown_lines,
            parent: self.parent.clone(),
            ..Slice::default()
        };
        if messages.dropped_bytes > 0 && begin == 0 {
            slice.messages.push(exchange::dropped_mark(messages.dropped_bytes));
        }
        if has_news {
            slice.messages.extend(messages.list.into_iter().skip(begin).map(|message| self.as_said(message)));
        }
        let place = if !has_news && stored.is_some() { Newest::Known } else { Newest::Other };
        exchange::place_answer(&mut slice.messages, since, None, place);
        slice.outcomes = self.outcomes.into_iter().map(|outcome| outcome.outcome).collect();
        slice
    }
}

impl Messages {
    /// Returns the first message that is new.
    fn begin(&self, layer: Layer, since: &Since) -> usize {
        let stored = since.leaf.as_deref();
        if let Some(found) = self.list.iter().rposition(|message| Some(layer.leaf(message.line).as_str()) == stored) {
            return found + 1;
        }
        if since.resumed {
            return 0;
        }
        let is_asked = |message: &Message| match (&message.says, &since.last_prompt) {
            (Says::User(text), Some(recorded)) => exchange::is_same_prompt(recorded, text),
            (Says::User(_), None) => true,
            _ => false,
        };
        self.list.iter().rposition(is_asked).unwrap_or(0)
    }

    fn has_answer(&self) -> bool {
        self.list.iter().any(|message| matches!(message.says, Says::Assistant(_)))
    }

    /// Takes a message; returns the bytes it is held in.
    fn push(&mut self, line: LineId, says: Says) -> usize {
        let bytes = says.kept();
        self.newest = Some(line);
        self.list.push(Message { line, turn: self.turn, says });
        bytes
    }

    /// Takes back the last turns that hold a prompt, and what came after them; returns how many bytes that was.
    fn roll_back(&mut self, n_turns: u64) -> usize {
        let mut bytes = 0;
        for _ in 0..n_turns {
            let prompt = self.list.iter().rposition(|message| matches!(message.says, Says::User(_)));
            let Some(turn) = prompt.map(|at| self.list[at].turn) else { break };
            let first = self.list.partition_point(|message| message.turn < turn);
            bytes += self.list.drain(first..).map(|message| message.says.kept()).sum::<usize>();
        }
        bytes
    }

    /// Lets go of the oldest half; returns how many bytes that was.
    fn drop_oldest(&mut self) -> usize {
        let n_dropped = self.list.len().div_ceil(2);
        let bytes = self.list.drain(..n_dropped).map(|message| message.says.kept()).sum();
        self.dropped_bytes += bytes as u64;
        bytes
    }
}

impl Says {
    /// Returns how much memory this takes, about; a lost line is not counted.
    fn kept(&self) -> usize {
        match self {
            Says::User(text) | Says::Assistant(text) => text.len() + size_of::<Message>(),
            Says::Lost(_) => 0,
        }
    }
}

// Taking lines in.
impl Rollout {
    fn push(&mut self, id: LineId, line: Line) {
        let Line { kind, payload, metadata, role, content, name, arguments, call_id, output, .. } = line;
        let is_summary = metadata.get().is_some_and(|metadata| metadata.compaction_output.is_set());
        let payload = match payload.0 {
            Some(payload) => payload,
            None => {
                let kind = kind.clone();
                LinePayload { kind, role, content, name, arguments, call_id, output, ..LinePayload::default() }
            }
        };
        match kind.text() {
            "session_meta" => self.push_header(payload),
            "event_msg" => {
                self.has_event_lines = true;
                self.push_event(id, payload);
            }
            "response_item" => self.push_item(id, payload, is_summary),
            // `compacted` repeats what was said before.
            "turn_context"
            | "world_state"
            | "compacted"
            | "token_usage_record"
            | "inter_agent_communication_metadata" => {}
            // Without an envelope; the oldest files have such a header, too.
            "message" | "function_call" | "function_call_output" | "reasoning" | "local_shell_call" => {
                self.push_item(id, payload, is_summary);
            }
            "" => {}
            _ => self.unknown_lines += 1,
        }
    }

    /// Takes a header. A forked rollout may hold its parent's as well, with what was copied after it: lines belong to
    /// the rollout by their place, so a second header only names the parent.
    fn push_header(&mut self, header: LinePayload) {
        let id = header.id.filled();
        let spawn = header.source.0.and_then(|source| source.subagent.0);
        let is_subagent = spawn.is_some() || header.thread_source.text() == "subagent";
        let spawn = spawn.and_then(|source| source.spawn.0).unwrap_or_default();
        let named = [header.forked_from_id, header.parent_thread_id, spawn.parent_thread_id];
        let named = named.into_iter().find_map(Maybe::filled);
        if self.has_header {
            let other = id.filter(|id| *id != self.session_id);
            self.parent = self.parent.take().or(named).or(other);
            return;
        }
        self.has_header = true;
        self.parent = named;
        if is_subagent {
            let role = spawn.agent_role.filled().unwrap_or_else(|| "agent".to_owned());
            let first_ordinal = header.subagent_history_start_ordinal.0.unwrap_or(0);
            self.subagent = Some(Subagent { role, first_ordinal });
        }
    }

    fn push_event(&mut self, id: LineId, event: LinePayload) {
        match event.kind.text() {
            "user_message" => self.push_text(Layer::Events, id, true, event.message.0),
            "agent_message" => self.push_text(Layer::Events, id, false, event.message.0),
            "item_completed" => {
                if let Some(item) = event.item.0 {
                    self.push_finished(id, item);
                }
            }
            "task_started" | "turn_started" => {
                self.turns_are_told = true;
                self.events.turn += 1;
                self.items.turn += 1;
            }
            "thread_rolled_back" => {
                let n_turns = event.num_turns.0.and_then(|n| u64::try_from(n).ok()).unwrap_or(0).min(10_000);
                self.kept_bytes -= self.events.roll_back(n_turns) + self.items.roll_back(n_turns);
            }
            "exec_command_end" => {
                let call_id = event.call_id.0.unwrap_or_default();
                self.push_outcome(call_id, true, event.command.0, event.exit_code.0, event.aggregated_output.0);
            }
            "task_complete"
            | "turn_complete"
            | "turn_aborted"
            | "token_count"
            | "thread_settings_applied"
            | "agent_reasoning"
            | "agent_reasoning_raw_content"
            | "agent_reasoning_section_break"
            | "exec_command_begin"
            | "exec_command_output_delta"
            | "mcp_tool_call_begin"
            | "mcp_tool_call_end"
            | "patch_apply_begin"
            | "patch_apply_end"
            | "web_search_begin"
            | "web_search_end"
            | "context_compacted"
            | "entered_review_mode"
            | "exited_review_mode"
            | "undo_started"
            | "undo_completed"
            | "error"
            | "warning"
            | "stream_error"
            | "thread_name_updated"
            | "item_started"
            | "turn_diff"
            | "plan_update"
            | "view_image_tool_call"
            | "image_generation_end"
            | "background_event" => {}
            kind if kind.starts_with("collab_") => {}
            _ => self.unknown_lines += 1,
        }
    }

    fn push_finished(&mut self, id: LineId, item: Item) {
        match item.kind.text() {
            "UserMessage" => {
                self.push_text(Layer::Events, id, true, item.content.0.map(|content| joined(content, "\n")))
            }
            "AgentMessage" => {
                self.push_text(Layer::Events, id, false, item.content.0.map(|content| joined(content, "")))
            }
            "CommandExecution" => {
                let call_id = item.id.0.unwrap_or_default();
                self.push_outcome(call_id, true, item.command.0, item.exit_code.0, item.aggregated_output.0);
            }
            "Reasoning"
            | "FileChange"
            | "McpToolCall"
            | "HookPrompt"
            | "ContextCompaction"
            | "SubAgentActivity"
            | "CollabAgentToolCall"
            | "WebSearch"
            | "ImageView"
            | "ImageGeneration"
            | "Plan"
            | "TodoList" => {}
            _ => self.unknown_lines += 1,
        }
    }

    fn push_item(&mut self, id: LineId, item: LinePayload, is_summary: bool) {
        let is_summary = is_summary || item.metadata.get().is_some_and(|metadata| metadata.compaction_output.is_set());
        match item.kind.text() {
            "message" if is_summary => {}
            "message" => {
                let Some(content) = item.content.0 else { return };
                match item.role.text() {
                    "assistant" => self.push_text(Layer::Items, id, false, Some(joined(content, ""))),
                    "user" => {
                        let kinds = item.passthrough.0.and_then(|passthrough| passthrough.content_item_kinds.0);
                        self.push_text(Layer::Items, id, true, Some(typed(content, kinds.as_deref())));
                    }
                    _ => {}
                }
            }
            "function_call" | "local_shell_call" => {
                let arguments = item.arguments.0.unwrap_or_default();
                let arguments: ShellArguments = json::line(arguments.as_bytes()).unwrap_or_default();
                let action = item.action.0.and_then(|action| action.command.0);
                let is_shell = matches!(
                    item.name.text(),
                    "" | "shell" | "shell_command" | "exec_command" | "local_shell" | "container.exec"
                );
                let command = arguments.cmd.0.or(arguments.command.0).or(action).filter(|_| is_shell);
                if let (Some(command), Some(call_id)) = (command, item.call_id.0)
                    && self.open_calls.len() < MAX_OPEN_CALLS
                {
                    self.open_calls.insert(call_id, outcome::command_line(command));
                }
            }
            "function_call_output" => {
                let call_id = item.call_id.0.unwrap_or_default();
                let Some(command) = self.open_calls.remove(&call_id) else { return };
                if let Some(ended) = item.output.get().and_then(|output| outcome::of_output(output)) {
                    let command = Some(Command::Line(command));
                    self.push_outcome(call_id, false, command, Some(ended.exit_code), Some(ended.output));
                }
            }
            "reasoning"
            | "custom_tool_call"
            | "custom_tool_call_output"
            | "agent_message"
            | "web_search_call"
            | "tool_search_call"
            | "tool_search_output"
            | "tool_search_call_output"
            | "image_generation_call"
            | "ghost_snapshot"
            | "compaction"
            | "compaction_summary"
            | "local_shell_call_output" => {}
            _ => self.unknown_lines += 1,
        }
    }

    fn push_text(&mut self, layer: Layer, id: LineId, is_user: bool, text: Option<String>) {
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return };
        if is_user && is_host_made(&text) {
            return;
        }
        if let (Some(subagent), LineId::Ordinal(ordinal)) = (&self.subagent, id)
            && ordinal < subagent.first_ordinal
        {
            return;
        }
        let has_events = self.events.newest.is_some();
        if layer == Layer::Items && has_events {
            return;
        }
        if layer == Layer::Events && !has_events {
            // From here on the items are known to be repetitions.
            self.kept_bytes -= self.items.list.drain(..).map(|message| message.says.kept()).sum::<usize>();
        }
        let messages = if layer == Layer::Events { &mut self.events } else { &mut self.items };
        if is_user && !self.turns_are_told {
            messages.turn += 1;
        }
        self.kept_bytes += messages.push(id, if is_user { Says::User(text) } else { Says::Assistant(text) });
        if self.kept_bytes > KEPT_LIMIT {
            self.kept_bytes -= messages.drop_oldest();
        }
    }

    fn push_outcome(
        &mut self,
        call_id: String,
        is_event: bool,
        command: Option<Command>,
        exit_code: Option<i64>,
        output: Option<String>,
    ) {
        // A negative code stands for a command that was interrupted: how it would have ended is not known.
        let (Some(command), Some(exit_code @ 0..)) = (command, exit_code) else { return };
        let command = outcome::command_line(command);
        let output = tools::kept_output(output.unwrap_or_default());
        let outcome = CommandOutcome { command, exit_code, output, call_id: None };
        let known =
            self.outcomes.iter_mut().rev().take(64).find(|known| !call_id.is_empty() && known.call_id == call_id);
        match known {
            Some(known) if is_event && !known.is_event => *known = Outcome { call_id, is_event, outcome },
            Some(_) => {}
            None => self.outcomes.push(Outcome { call_id, is_event, outcome }),
        }
        if self.outcomes.len() > 2 * MAX_OUTCOMES {
            self.outcomes.drain(..MAX_OUTCOMES);
        }
    }

    fn as_said(&self, message: Message) -> Said {
        match (message.says, &self.subagent) {
            (Says::Lost(bytes), _) => exchange::skipped_mark(bytes),
            // What another agent asked for is never a person's word.
            (Says::User(text), Some(subagent)) => {
                said("assistant", format!("Subagent assignment ({}):\n{text}", subagent.role))
            }
            (Says::User(text), None) => said("user", text),
            (Says::Assistant(text), _) => said("assistant", text),
        }
    }
}

/// Returns whether a message in the user's place is the host's.
fn is_host_made(text: &str) -> bool {
    plumbing::only_blocks(text, HOST_TAGS)
        || (text.trim_start().starts_with("# AGENTS.md instructions") && text.contains("<INSTRUCTIONS>"))
}

/// Returns what a person typed: the items the host says are a person's, or those that are not its own.
fn typed(content: Content, kinds: Option<&[String]>) -> String {
    let items = match content {
        Content::Text(text) => return text,
        Content::Items(items) => items,
    };
    let is_typed = |at: usize, item: &ContentItem| match kinds {
        Some(kinds) => {
            kinds.get(at).is_some_and(|kind| kind == "user.text" || kind == "unknown")
                && !is_host_made(item.text.text())
        }
        None => !is_host_made(item.text.text()),
    };
    let items = items.into_iter().enumerate().filter(|(at, item)| is_typed(*at, item));
    items.filter_map(|(_, item)| item.text.filled()).collect::<Vec<_>>().join("\n")
}

fn joined(content: Content, between: &str) -> String {
    match content {
        Content::Text(text) => text,
        Content::Items(items) => {
            items.into_iter().filter_map(|item| item.text.filled()).collect::<Vec<_>>().join(between)
        }
    }
}

/// FNV-1a of 64 bits, to know a line again.
fn hash_of(line: &[u8]) -> u64 {
    line.trim_ascii()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests;
