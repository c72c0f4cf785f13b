//! Antigravity's transcript: JSON lines, one a step, numbered.
//!
//! A step may be written again, and a number that goes down takes back what was said from there on. Commands have no
//! outcome of their own: the step that follows the call says in words how it ended.

use std::collections::VecDeque;

use super::wire::{Step, ToolCall};
use crate::hosts::exchange::said;
use crate::hosts::ledger::{self, Ledger};
use crate::hosts::{json, tools};
use crate::transcript::{Asked, CommandOutcome, Reader, Since, Slice};

/// Commands kept of one reading, the last ones.
const MAX_OUTCOMES: usize = 2_000;
/// Prompts remembered, should later ones be taken back.
const MAX_ASKED: usize = 16;
/// Commands remembered until their step comes.
const MAX_OPEN_CALLS: usize = 1_000;
/// A broken line at least this long is taken for a message we lost; shorter ones for noise.
const LOST_LINE_BYTES: usize = 64 << 10;

/// Blocks the host adds to what a person typed.
const HOST_BLOCKS: &[&str] = &["ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE"];

/// The reader of one conversation.
#[derive(Debug, Default)]
pub(super) struct Steps {
    ledger: Ledger,
    last_step: Option<i64>,
    /// What was asked, each with its step's number, rising; what a rewind takes back is no longer in it.
    asked: Vec<(i64, Asked)>,
    open_commands: VecDeque<String>,
    outcomes: VecDeque<CommandOutcome>,
    unknown_lines: u64,
}

impl Reader for Steps {
    fn push_line(&mut self, bytes: &[u8]) {
        match json::line::<Step>(bytes) {
            Some(step) => self.push(ledger::hash_of(bytes), step),
            None if bytes.len() >= LOST_LINE_BYTES => self.skip_line(bytes.len() as u64),
            None => {}
        }
    }

    fn skip_line(&mut self, bytes: u64) {
        self.ledger.push_lost(bytes);
    }

    fn finish(self: Box<Self>, since: &Since) -> Slice {
        Slice {
            unknown_lines: self.unknown_lines,
            outcomes: self.outcomes.into(),
            asked: self.asked.into_iter().next_back().map(|(_, asked)| asked),
            ..self.ledger.finish(since)
        }
    }
}

impl Steps {
    fn push(&mut self, at: u64, step: Step) {
        // A step is written when it begins, too.
        if step.status.get().is_some_and(|status| status != "DONE") {
            return;
        }
        let number = match (step.step_index.0, self.last_step) {
            (Some(number), Some(last)) if number <= last => {
                self.ledger.rewind_to(number);
                self.asked.retain(|(asked_at, _)| *asked_at < number);
                number
            }
            (Some(number), _) => number,
            (None, last) => last.unwrap_or(0),
        };
        self.last_step = Some(number);
        let content = step.content.0.unwrap_or_default();
        match (step.source.text(), step.kind.text()) {
            ("MODEL" | "SYSTEM", "USER_INPUT") => {}
            (_, "USER_INPUT") => {
                self.open_commands.clear();
                let text = request_in(&content);
                if !text.is_empty() {
                    let asked = Asked { row: format!("{number}:{at:016x}"), text: text.clone() };
                    self.asked.push((number, asked));
                    let n_over = self.asked.len().saturating_sub(MAX_ASKED);
                    self.asked.drain(..n_over);
                    self.ledger.begin_turn();
                    self.ledger.push(at, number, said("user", text));
                }
            }
            ("MODEL", "PLANNER_RESPONSE") => {
                let calls = step.tool_calls.0.unwrap_or_default();
                self.open_commands.extend(calls.into_iter().filter_map(command_of));
                let n_over = self.open_commands.len().saturating_sub(MAX_OPEN_CALLS);
                self.open_commands.drain(..n_over);
                self.ledger.push(at, number, said("assistant", content));
            }
            ("MODEL", "RUN_COMMAND") => {
                let Some(command) = self.open_commands.pop_front() else { return };
                self.outcomes.extend(outcome_of(command, &content));
                let n_over = self.outcomes.len().saturating_sub(MAX_OUTCOMES);
                self.outcomes.drain(..n_over);
            }
            // Every other step of the model is a tool's result; the system's are summaries and notices.
            ("MODEL" | "SYSTEM", _) => {}
            _ => self.unknown_lines += 1,
        }
    }
}

/// Returns what a person typed: the request, without the blocks the host adds behind it or, in older files, in it.
fn request_in(content: &str) -> String {
    let inside = match content.split_once("<USER_REQUEST>") {
        // The end may be missing.
        Some((_, rest)) => rest.rsplit_once("</USER_REQUEST>").map_or(rest, |(inside, _)| inside),
        None => content,
    };
    let mut text = inside.to_owned();
    for name in HOST_BLOCKS {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        while let Some(start) = text.find(&open) {
            let end = text[start..].find(&close).map_or(text.len(), |at| start + at + close.len());
            text.replace_range(start..end, "");
        }
    }
    text.trim().to_owned()
}

/// Returns the command a call runs. Arguments are JSON in strings; what does not decode is the text itself.
fn command_of(call: ToolCall) -> Option<String> {
    if call.name.text() != "run_command" {
        return None;
    }
    let line = call.args.0?.0.get("CommandLine")?.as_str()?.to_owned();
    Some(serde_json::from_str(&line).unwrap_or(line))
}

/// Returns how a command ended, where the step's text says so.
fn outcome_of(command: String, content: &str) -> Option<CommandOutcome> {
    let (head, output) = content.split_once("\nOutput:\n").unwrap_or((content, ""));
    let code_in = |line: &str| match line.split_once("exit code: ") {
        Some((_, code)) => code.trim().trim_end_matches('.').parse().ok(),
        None => line.starts_with("The command completed successfully").then_some(0),
    };
    let exit_code = head.lines().take(8).find_map(code_in)?;
    Some(CommandOutcome { command, exit_code, output: tools::kept_output(output.to_owned()), call_id: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Slice {
        let mut reader = Box::new(Steps::default());
        for line in lines {
            reader.push_line(line.as_bytes());
        }
        reader.finish(&Since { resumed: true, ..Since::default() })
    }

    #[test]
    fn a_request_is_what_a_person_typed() {
        for (content, expected) in [
            (
                "<USER_REQUEST>\nFix the build\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nx\n</ADDITIONAL_METADATA>",
                "Fix the build",
            ),
            ("<USER_REQUEST>Fix it <ADDITIONAL_METADATA>{}</ADDITIONAL_METADATA></USER_REQUEST>", "Fix it"),
            ("<USER_REQUEST>Fix it", "Fix it"),
            ("<USER_REQUEST>Fix it<USER_SETTINGS_CHANGE>model", "Fix it"),
            ("Fix it", "Fix it"),
            ("<USER_REQUEST>What is </USER_REQUEST> for?</USER_REQUEST>", "What is </USER_REQUEST> for?"),
            ("<USER_REQUEST>\n</USER_REQUEST>", ""),
            ("<ADDITIONAL_METADATA>a</ADDITIONAL_METADATA>", ""),
        ] {
            assert_eq!(request_in(content), expected, "{content}");
        }
    }

    #[test]
    fn a_number_that_goes_down_takes_back_what_followed() {
        let input = |number: u32, text: &str| {
            format!(
                r#"{{"step_index":{number},"source":"USER_EXPLICIT","type":"USER_INPUT","status":"DONE","content":"{text}"}}"#
            )
        };
        let answer = |number: u32, status: &str, text: &str| {
            format!(
                r#"{{"step_index":{number},"source":"MODEL","type":"PLANNER_RESPONSE","status":"{status}","content":"{text}"}}"#
            )
        };
        let lines = [
            input(0, "first"),
            answer(1, "RUNNING", "on"),
            answer(1, "DONE", "one"),
            input(2, "second"),
            answer(3, "DONE", "two"),
            input(2, "other"),
            answer(3, "DONE", "three"),
        ];
        let slice = read(&lines.each_ref().map(String::as_str));
        let texts: Vec<&str> = slice.messages.iter().map(|said| said.content.as_str()).collect();
        assert_eq!(texts, ["first", "one", "other", "three"]);
        let asked = slice.asked.unwrap();
        assert_eq!(asked.text, "other");
        assert!(asked.row.starts_with("2:"), "{}", asked.row);
        // A prompt that was taken back is not what was asked.
        assert_eq!(
            read(&[&lines[0], &lines[3], &answer(1, "DONE", "x")].map(|line| line.as_str())).asked.unwrap().text,
            "first"
        );
    }

    #[test]
    fn a_commands_end_is_read_from_its_step() {
        for (content, expected) in [
            ("The command completed successfully.\nOutput:\na.txt\n", Some((0, "a.txt\n"))),
            ("The command failed with exit code: 101\nOutput:\nerror\n", Some((101, "error\n"))),
            ("The command failed with exit code: 3.", Some((3, ""))),
            ("Running in the background.", None),
            ("", None),
        ] {
            let found = outcome_of("x".to_owned(), content).map(|outcome| (outcome.exit_code, outcome.output));
            assert_eq!(found, expected.map(|(code, output)| (code, output.to_owned())), "{content}");
        }
    }
}
