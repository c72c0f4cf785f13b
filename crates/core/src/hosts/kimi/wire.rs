//! Kimi Code's JSON, as far as it matters here: hook payloads and the lines of `wire.jsonl`.
//!
//! Facts were read from Kimi Code 2.1.0 and its public source; the older Python CLI is noted where it differs.

use serde::Deserialize;
use serde_json::Value;

use crate::hosts::lenient::{FromAny, Maybe, objects};

/// A hook's payload. Every event's fields in one struct: which are there depends on the event.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload {
    /// The main session's, in sub-agents too.
    pub(super) session_id: Maybe<String>,
    pub(super) cwd: Maybe<String>,
    pub(super) source: Maybe<String>,
    pub(super) model: Maybe<String>,
    pub(super) prompt: Prompt,
    pub(super) tool_name: Maybe<String>,
    pub(super) tool_input: Value,
    pub(super) tool_call_id: Maybe<String>,
    /// The first 2,000 characters.
    pub(super) tool_output: Value,
    /// An object with a message; a string in the older CLI.
    pub(super) error: Value,
    pub(super) stop_hook_active: Maybe<bool>,
    pub(super) agent_name: Maybe<String>,
    /// What a sub-agent answered.
    pub(super) response: Maybe<String>,
}

/// What was submitted: parts, or a text in the older CLI.
#[derive(Debug, Default)]
pub(super) enum Prompt {
    /// Absent or null.
    #[default]
    None,
    Text(String),
    Parts(Vec<Part>),
    /// Of a type that no version sends.
    Other,
}

impl<'de> Deserialize<'de> for Prompt {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Value::deserialize(deserializer)? {
            Value::Null => Prompt::None,
            Value::String(text) => Prompt::Text(text),
            Value::Array(parts) => {
                Prompt::Parts(parts.into_iter().filter_map(|part| serde_json::from_value(part).ok()).collect())
            }
            _ => Prompt::Other,
        })
    }
}

/// A part of a message: `text`, `think`, `image_url`, …
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    #[serde(rename = "type")]
    pub(super) kind: Maybe<String>,
    pub(super) text: Maybe<String>,
}

/// Returns the texts of parts; images and thoughts have none.
pub(super) fn texts(parts: Vec<Part>, between: &str) -> String {
    let texts = parts.into_iter().filter(|part| part.kind.text() == "text");
    texts.filter_map(|part| part.text.filled()).collect::<Vec<_>>().join(between)
}

/// A line of `wire.jsonl`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Line {
    #[serde(rename = "type")]
    pub(super) kind: Maybe<String>,
    /// Of `turn.prompt` and `turn.steer`: what was typed.
    pub(super) input: Maybe<Content>,
    pub(super) origin: Maybe<Origin>,
    /// Of `context.append_loop_event`.
    pub(super) event: Maybe<LoopEvent>,
    /// Of `context.undo`: turns taken back.
    pub(super) count: Maybe<i64>,
}

/// Where a prompt comes from. Only `user` is a person typing.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Origin {
    pub(super) kind: Maybe<String>,
    pub(super) plugin_id: Maybe<String>,
    pub(super) command_name: Maybe<String>,
    pub(super) command_args: Maybe<String>,
    pub(super) skill_name: Maybe<String>,
    pub(super) skill_args: Maybe<String>,
}

/// One thing that happened in a turn.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct LoopEvent {
    #[serde(rename = "type")]
    pub(super) kind: Maybe<String>,
    /// Of `content.part`.
    pub(super) part: Maybe<Part>,
    /// Of `tool.call` and `tool.result`.
    pub(super) tool_call_id: Maybe<String>,
    pub(super) name: Maybe<String>,
    pub(super) args: Maybe<Arguments>,
    pub(super) result: Maybe<ToolResult>,
    /// Of `step.end`: `tool_use`, `end_turn`, `interrupted` or `error`.
    pub(super) finish_reason: Maybe<String>,
}

/// Arguments of the tools whose calls say something: `Agent`, and the shell.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Arguments {
    pub(super) description: Maybe<String>,
    pub(super) prompt: Maybe<String>,
    pub(super) subagent_type: Maybe<String>,
    pub(super) command: Maybe<String>,
}

/// What a tool gave.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ToolResult {
    pub(super) output: Maybe<Content>,
    pub(super) is_error: Maybe<bool>,
}

/// A text, or parts.
#[derive(Debug)]
pub(super) enum Content {
    Text(String),
    Parts(Vec<Part>),
}

impl<'de> FromAny<'de> for Content {
    fn from_text(text: &str) -> Option<Self> {
        String::from_text(text).map(Content::Text)
    }

    fn from_list<A: serde::de::SeqAccess<'de>>(list: A) -> Result<Option<Self>, A::Error> {
        Ok(Vec::from_list(list)?.map(Content::Parts))
    }
}

impl Content {
    /// Returns the texts, a line each.
    pub(super) fn into_text(self) -> String {
        match self {
            Content::Text(text) => text,
            Content::Parts(parts) => texts(parts, "\n"),
        }
    }
}

objects!(Line, Origin, LoopEvent, Arguments, ToolResult, Part);
