//! Codex's JSON, as far as it matters here: hook payloads, hook output, rollout lines.
//!
//! Facts were read from codex-cli 0.171.0 (its embedded hook schemas among them) and from older rollouts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::hosts::lenient::{FromAny, Maybe, objects};

/// A hook's payload. Every event's fields in one struct: which are there depends on the event.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload {
    /// The root session's, in sub-agents too.
    pub(super) session_id: Maybe<String>,
    pub(super) transcript_path: Maybe<String>,
    pub(super) cwd: Maybe<String>,
    pub(super) agent_id: Maybe<String>,
    pub(super) agent_type: Maybe<String>,
    pub(super) source: Maybe<String>,
    pub(super) model: Maybe<String>,
    pub(super) prompt: Value,
    pub(super) tool_name: Maybe<String>,
    pub(super) tool_input: Value,
    pub(super) tool_response: Value,
    pub(super) stop_hook_active: Maybe<bool>,
    pub(super) agent_transcript_path: Maybe<String>,
    pub(super) last_assistant_message: Maybe<String>,
}

/// What a hook prints. The host refuses the whole output for a single key it does not know.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output<'a> {
    pub(super) hook_specific_output: SpecificOutput<'a>,
}

/// The part of the output that belongs to one event.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SpecificOutput<'a> {
    pub(super) hook_event_name: &'a str,
    pub(super) additional_context: &'a str,
}

/// A rollout line. The oldest files have no envelope: a line is then the item itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Line {
    /// Since 0.149.
    pub(super) ordinal: Maybe<i64>,
    #[serde(rename = "type")]
    pub(super) kind: Maybe<String>,
    pub(super) payload: Maybe<LinePayload>,
    pub(super) metadata: Maybe<LineMetadata>,
    // Without an envelope:
    pub(super) role: Maybe<String>,
    pub(super) content: Maybe<Content>,
    pub(super) name: Maybe<String>,
    pub(super) arguments: Maybe<String>,
    pub(super) call_id: Maybe<String>,
    pub(super) output: Maybe<String>,
}

/// Bookkeeping beside a line's payload.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LineMetadata {
    /// The message is the summary a compaction made.
    pub(super) compaction_output: Maybe<bool>,
}

/// A line's payload: of a session header, a response item or an event.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LinePayload {
    #[serde(rename = "type")]
    pub(super) kind: Maybe<String>,
    // Header.
    pub(super) id: Maybe<String>,
    pub(super) forked_from_id: Maybe<String>,
    pub(super) parent_thread_id: Maybe<String>,
    pub(super) source: Maybe<Source>,
    pub(super) thread_source: Maybe<String>,
    /// Lines before this ordinal are the parent's.
    pub(super) subagent_history_start_ordinal: Maybe<i64>,
    // Response item.
    pub(super) role: Maybe<String>,
    pub(super) content: Maybe<Content>,
    pub(super) name: Maybe<String>,
    pub(super) arguments: Maybe<String>,
    pub(super) action: Maybe<Action>,
    pub(super) call_id: Maybe<String>,
    pub(super) output: Maybe<String>,
    #[serde(rename = "internal_chat_message_metadata_passthrough")]
    pub(super) passthrough: Maybe<Passthrough>,
    pub(super) metadata: Maybe<LineMetadata>,
    // Event.
    pub(super) item: Maybe<Item>,
    pub(super) message: Maybe<String>,
    pub(super) num_turns: Maybe<i64>,
    pub(super) command: Maybe<Command>,
    pub(super) exit_code: Maybe<i64>,
    pub(super) aggregated_output: Maybe<String>,
}

/// Where a session comes from, when it is more than a word.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Source {
    pub(super) subagent: Maybe<SubagentSource>,
}

/// What made a sub-agent: a word, or the thread that spawned it.
#[derive(Debug)]
pub(super) struct SubagentSource {
    pub(super) spawn: Maybe<ThreadSpawn>,
}

impl<'de> FromAny<'de> for SubagentSource {
    fn from_text(_text: &str) -> Option<Self> {
        Some(SubagentSource { spawn: Maybe(None) })
    }

    fn from_object<A: serde::de::MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Fields {
            thread_spawn: Maybe<ThreadSpawn>,
        }
        let fields: Option<Fields> = crate::hosts::lenient::object(object)?;
        Ok(fields.map(|fields| SubagentSource { spawn: fields.thread_spawn }))
    }
}

/// The parent of a sub-agent and what it is.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ThreadSpawn {
    pub(super) parent_thread_id: Maybe<String>,
    pub(super) agent_role: Maybe<String>,
}

/// A text, or content items.
#[derive(Debug)]
pub(super) enum Content {
    Text(String),
    Items(Vec<ContentItem>),
}

impl<'de> FromAny<'de> for Content {
    fn from_text(text: &str) -> Option<Self> {
        String::from_text(text).map(Content::Text)
    }

    fn from_list<A: serde::de::SeqAccess<'de>>(list: A) -> Result<Option<Self>, A::Error> {
        Ok(Vec::from_list(list)?.map(Content::Items))
    }
}

/// One of `input_text`, `output_text`, `text`, `Text`; images and encrypted items have no text.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ContentItem {
    pub(super) text: Maybe<String>,
}

/// What the host notes about a message's content items.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Passthrough {
    /// `user.text` is a person's; `hooks.additional_context` and the like are not.
    pub(super) content_item_kinds: Maybe<Vec<String>>,
}

/// A finished item, since 0.149.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Item {
    #[serde(rename = "type")]
    pub(super) kind: Maybe<String>,
    /// Of a command: its call's id.
    pub(super) id: Maybe<String>,
    pub(super) content: Maybe<Content>,
    pub(super) command: Maybe<Command>,
    pub(super) exit_code: Maybe<i64>,
    pub(super) aggregated_output: Maybe<String>,
}

/// What a `local_shell_call` does.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Action {
    pub(super) command: Maybe<Command>,
}

/// A command: a line, or the words of one.
#[derive(Debug)]
pub(super) enum Command {
    Line(String),
    Words(Vec<String>),
}

impl<'de> FromAny<'de> for Command {
    fn from_text(text: &str) -> Option<Self> {
        String::from_text(text).map(Command::Line)
    }

    fn from_list<A: serde::de::SeqAccess<'de>>(list: A) -> Result<Option<Self>, A::Error> {
        Ok(Vec::from_list(list)?.map(Command::Words))
    }
}

/// The arguments of a shell tool, which come as JSON in a string: `exec_command` has `cmd`, `shell` has `command`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ShellArguments {
    pub(super) cmd: Maybe<Command>,
    pub(super) command: Maybe<Command>,
}

/// The output of the older shell tool, which is JSON in a string.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ShellOutput {
    pub(super) output: Maybe<String>,
    pub(super) metadata: Maybe<ShellMetadata>,
}

/// How the older shell tool's command ended.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ShellMetadata {
    pub(super) exit_code: Maybe<i64>,
}

objects!(Line, LineMetadata, LinePayload, Source, ThreadSpawn, ContentItem, Passthrough, Item, Action, ShellMetadata);
