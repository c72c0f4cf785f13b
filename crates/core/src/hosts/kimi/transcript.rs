//! Kimi Code's `wire.jsonl`: JSON lines in the order things happened.
//!
//! The same text is written several times, as what was typed, as the model's context and as messages of the agent. One
//! family is read: what was typed (`turn.prompt`, `turn.steer`) and what a turn's loop did (`context.append_loop_event`).

use std::collections::{HashMap, VecDeque};

use super::HOST_TAGS;
use super::wire::{Content, Line, LoopEvent, Origin};
use crate::hosts::exchange::said;
use crate::hosts::ledger::{self, Ledger};
use crate::hosts::{json, plumbing, tools};
use crate::transcript::{CommandOutcome, Reader, Since, Slice};

/// Sub-agents' calls and commands remembered until their result comes, of each kind.
const MAX_OPEN_CALLS: usize = 64;
/// Commands kept of a turn, the last ones: hooks lose the last ones, when the host ends.
const MAX_OUTCOMES: usize = 64;

/// A broken line at least this long is taken for a message we lost; shorter ones for noise.
const LOST_LINE_BYTES: usize = 64 << 10;

/// The reader of a main agent's file.
#[derive(Debug, Default)]
pub(super) struct Wire {
    ledger: Ledger,
    /// What the model has said in the step that runs, and the line it was last said in.
    step_text: String,
    step_line: u64,
    /// Whether the turn goes on after what was read.
    is_open: bool,
    open_calls: HashMap<String, Call>,
    open_commands: HashMap<String, String>,
    /// Of the turn that was begun last.
    outcomes: VecDeque<CommandOutcome>,
    unknown_lines: u64,
}

/// A sub-agent's call.
#[derive(Debug)]
struct Call {
    label: String,
    assignment: String,
}

impl Reader for Wire {
    fn push_line(&mut self, bytes: &[u8]) {
        match json::line::<Line>(bytes) {
            Some(line) => self.push(ledger::hash_of(bytes), line),
            None if bytes.len() >= LOST_LINE_BYTES => self.skip_line(bytes.len() as u64),
            None => {}
        }
    }

    fn skip_line(&mut self, bytes: u64) {
        self.end_step();
        self.ledger.push_lost(bytes);
    }

    fn finish(mut self: Box<Self>, since: &Since) -> Slice {
        self.end_step();
        // Sub-agents' stops come with the main session's id: while the main agent's turn goes on, a stop is not its own.
        if self.is_open && !since.is_over {
            return Slice {
                leaf: since.leaf.clone(),
                unknown_lines: self.unknown_lines,
                is_open: true,
                ..Slice::default()
            };
        }
        let outcomes = self.outcomes.into();
        Slice { unknown_lines: self.unknown_lines, outcomes, ..self.ledger.finish(since) }
    }
}

impl Wire {
    fn push(&mut self, at: u64, line: Line) {
        match line.kind.text() {
            "turn.prompt" => {
                self.end_step();
                self.ledger.begin_turn();
                self.outcomes.clear();
                self.is_open = true;
                self.push_typed(at, line.input.0, line.origin.0);
            }
            "turn.steer" => {
                self.end_step();
                self.push_typed(at, line.input.0, line.origin.0);
            }
            "context.append_loop_event" => {
                if let Some(event) = line.event.0 {
                    self.push_event(at, event);
                }
            }
            "turn.ended" | "turn.step.interrupted" => {
                self.end_step();
                self.is_open = false;
            }
            "context.undo" => {
                self.end_step();
                let n_turns = line.count.0.and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
                self.ledger.undo_turns(n_turns);
                self.outcomes.clear();
            }
            // Repetitions, bookkeeping, and what the host tells the model.
            "metadata" | "forked" => {}
            kind => {
                let is_known = [
                    "agent.",
                    "config.",
                    "context.",
                    "cron.",
                    "full_compaction.",
                    "goal.",
                    "llm.",
                    "mcp.",
                    "permission.",
                    "plan.",
                    "plugin.",
                    "profile.",
                    "prompt.",
                    "runtime.",
                    "session.",
                    "skill.",
                    "subagent.",
                    "swarm.",
                    "task.",
                    "token_counting.",
                    "tool.",
                    "turn.",
                    "usage.",
                ]
                .iter()
                .any(|family| kind.starts_with(family));
                self.unknown_lines += u64::from(!is_known);
            }
        }
    }

    /// Takes what started or steered a turn. Only a person's own words are kept.
    fn push_typed(&mut self, at: u64, input: Option<Content>, origin: Option<Origin>) {
        let origin = origin.unwrap_or_default();
        let text = match origin.kind.text() {
            "" | "user" => input.map(Content::into_text).unwrap_or_default(),
            // The input is the command's own text then; what was typed is its name and arguments.
            "plugin_command" => typed_command(
                format!("/{}:{}", origin.plugin_id.text(), origin.command_name.text()),
                origin.command_args.text(),
            ),
            "skill_activation" => {
                typed_command(format!("/skill:{}", origin.skill_name.text()), origin.skill_args.text())
            }
            _ => return,
        };
        if !plumbing::only_blocks(&text, HOST_TAGS) {
            self.ledger.push(at, 0, said("user", text));
        }
    }

    fn push_event(&mut self, at: u64, event: LoopEvent) {
        match event.kind.text() {
            "step.begin" => {
                self.end_step();
                self.is_open = true;
            }
            "content.part" => {
                let Some(part) = event.part.0.filter(|part| part.kind.text() == "text") else { return };
                self.step_text.push_str(part.text.text());
                self.step_line = at;
            }
            "tool.call" if event.name.text() == "Agent" => {
                let (Some(id), Some(arguments)) = (event.tool_call_id.filled(), event.args.0) else { return };
                if self.open_calls.len() < MAX_OPEN_CALLS {
                    let kind = arguments.subagent_type.filled().unwrap_or_else(|| "agent".to_owned());
                    let label = match arguments.description.filled() {
                        Some(description) => format!("{kind}: {description}"),
                        None => kind,
                    };
                    self.open_calls.insert(id, Call { label, assignment: arguments.prompt.0.unwrap_or_default() });
                }
            }
            "tool.call" => {
                let command = event.args.0.and_then(|arguments| arguments.command.filled());
                if let (Some(id), Some(command)) = (event.tool_call_id.filled(), command)
                    && self.open_commands.len() < MAX_OPEN_CALLS
                {
                    self.open_commands.insert(id, command);
                }
            }
            "tool.result" => {
                let Some(id) = event.tool_call_id.filled() else { return };
                let is_error = event.result.get().is_some_and(|result| result.is_error.is_set());
                let output = || event.result.0.and_then(|result| result.output.0).map(Content::into_text);
                if let Some(command) = self.open_commands.remove(&id) {
                    self.outcomes.extend(outcome_of(id, command, is_error, output().unwrap_or_default()));
                    let n_over = self.outcomes.len().saturating_sub(MAX_OUTCOMES);
                    self.outcomes.drain(..n_over);
                    return;
                }
                let Some(call) = self.open_calls.remove(&id).filter(|_| !is_error) else { return };
                let Some(output) = output() else { return };
                if let Some(response) = response_in(&output) {
                    self.end_step();
                    let Call { label, assignment } = call;
                    self.ledger.push(at, 0, said("assistant", format!("Subagent assignment ({label}):\n{assignment}")));
                    self.ledger.push(at, 0, said("assistant", format!("Subagent response ({label}):\n{response}")));
                }
            }
            "step.end" => {
                self.end_step();
                self.is_open = event.finish_reason.text() == "tool_use";
            }
            _ => {}
        }
    }

    /// What was said in a step is one message, however many parts it came in.
    fn end_step(&mut self) {
        let text = std::mem::take(&mut self.step_text);
        self.ledger.push(self.step_line, 0, said("assistant", text));
    }
}

/// Returns a command as it was typed; nothing for one without arguments, which says nothing by itself.
fn typed_command(name: String, arguments: &str) -> String {
    let arguments = arguments.trim();
    if arguments.is_empty() { String::new() } else { format!("{name} {arguments}") }
}

/// Returns how a command ended. `None` for one that was interrupted or refused: no failure it would have had by itself.
fn outcome_of(call_id: String, command: String, is_error: bool, output: String) -> Option<CommandOutcome> {
    let exit_code = if is_error {
        let (_, code) = output.trim_end().rsplit_once("Command failed with exit code: ")?;
        code.trim_end_matches('.').parse().ok()?
    } else {
        0
    };
    Some(CommandOutcome { command, exit_code, output: tools::kept_output(output), call_id: Some(call_id) })
}

/// Returns what a sub-agent answered: its summary, between notes for the model. `None` for one that has not finished.
fn response_in(output: &str) -> Option<&str> {
    if !output.starts_with("agent_id: ") {
        return Some(output);
    }
    let (head, summary) = output.split_once("[summary]\n")?;
    let is_done = head.lines().any(|line| line == "status: completed");
    is_done.then(|| summary.rsplit_once("\n\nresume_hint:").map_or(summary, |(summary, _)| summary))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str], since: &Since) -> Slice {
        let mut reader = Box::new(Wire::default());
        for line in lines {
            reader.push_line(line.as_bytes());
        }
        reader.finish(since)
    }

    fn everything() -> Since {
        Since { resumed: true, ..Since::default() }
    }

    const PROMPT: &str =
        r#"{"type":"turn.prompt","input":[{"type":"text","text":"Fix it"}],"origin":{"kind":"user"},"turnId":0}"#;
    const BEGIN: &str = r#"{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"S1"}}"#;
    const TEXT: &str =
        r#"{"type":"context.append_loop_event","event":{"type":"content.part","part":{"type":"text","text":"Done."}}}"#;

    fn end(reason: &str) -> String {
        format!(r#"{{"type":"context.append_loop_event","event":{{"type":"step.end","finishReason":"{reason}"}}}}"#)
    }

    #[test]
    fn a_stop_within_the_main_agents_turn_is_not_its_own() {
        let turn_ended = r#"{"type":"turn.ended","reason":"cancelled"}"#;
        let (tool_use, end_turn) = (end("tool_use"), end("end_turn"));
        for (after, is_open) in [
            (vec![], true),
            (vec![BEGIN], true),
            (vec![BEGIN, TEXT], true),
            (vec![BEGIN, TEXT, &tool_use], true),
            (vec![BEGIN, TEXT, &tool_use, BEGIN], true),
            (vec![BEGIN, TEXT, &end_turn], false),
            (vec![BEGIN, TEXT, &end_turn, turn_ended], false),
            (vec![BEGIN, TEXT, turn_ended], false),
        ] {
            let lines = [vec![PROMPT], after].concat();
            let slice = read(&lines, &everything());
            assert_eq!((slice.is_open, slice.messages.is_empty()), (is_open, is_open), "{lines:?}");
            // When the session is over, what is there is all there is.
            let slice = read(&lines, &Since { is_over: true, ..everything() });
            assert!(!slice.is_open && !slice.messages.is_empty(), "{lines:?}");
        }
        assert!(!read(&[], &everything()).is_open);
    }

    #[test]
    fn the_last_turns_commands_tell_how_they_ended() {
        let call = |id: &str, name: &str, arguments: &str| {
            let event = format!(r#"{{"type":"tool.call","toolCallId":"{id}","name":"{name}","args":{arguments}}}"#);
            format!(r#"{{"type":"context.append_loop_event","event":{event}}}"#)
        };
        let result = |id: &str, output: &str, is_error: bool| {
            let result = format!(r#"{{"output":"{output}","isError":{is_error}}}"#);
            let event = format!(r#"{{"type":"tool.result","toolCallId":"{id}","result":{result}}}"#);
            format!(r#"{{"type":"context.append_loop_event","event":{event}}}"#)
        };
        let failed = "ld: no\\nCommand failed with exit code: 101.";
        let lines = [
            PROMPT.to_owned(),
            call("c0", "Bash", r#"{"command":"earlier turn"}"#),
            result("c0", "x", false),
            PROMPT.to_owned(),
            call("c1", "Bash", r#"{"command":"cargo test"}"#),
            call("c2", "Bash", r#"{"command":"ls"}"#),
            call("c3", "Read", r#"{"path":"a.rs"}"#),
            call("c4", "Bash", r#"{"command":"sleep 60"}"#),
            call("c5", "Bash", r#"{"command":"still running"}"#),
            result("c2", "a.rs", false),
            result("c1", failed, true),
            result("c3", "fn main() {}", false),
            result("c4", "Interrupted by user", true),
            end("end_turn"),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let outcomes = read(&lines, &everything()).outcomes;
        let told: Vec<_> = outcomes.iter().map(|one| (one.call_id.as_deref(), &*one.command, one.exit_code)).collect();
        assert_eq!(told, [(Some("c2"), "ls", 0), (Some("c1"), "cargo test", 101)]);
        assert!(outcomes[1].output.starts_with("ld: no\n"), "{outcomes:?}");
    }

    #[test]
    fn a_sub_agents_answer_is_taken_out_of_the_notes_around_it() {
        let done =
            "agent_id: agent-0\nstatus: completed\n\n[summary]\nTwo files.\n\nSee a.rs.\n\nresume_hint: Continue";
        let running = "agent_id: agent-0\nstatus: running\n\n[summary]\nnone";
        for (output, expected) in [
            (done, Some("Two files.\n\nSee a.rs.")),
            (running, None),
            ("agent_id: agent-0\nstatus: failed", None),
            ("No other uses.", Some("No other uses.")),
        ] {
            assert_eq!(response_in(output), expected, "{output}");
        }
    }
}
