//! Claude Code's JSON, as far as it matters here: hook payloads, hook output, transcript rows.
//!
//! Facts were read from Claude Code 2.1.332 and its public documentation; older names are noted where they differ.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::hosts::lenient::{FromAny, Maybe, objects};

/// A hook's payload. Every event's fields in one struct: which are there depends on the event.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload {
    pub(super) session_id: Maybe<String>,
    pub(super) transcript_path: Maybe<String>,
    pub(super) cwd: Maybe<String>,
    /// Inside a sub-agent.
    pub(super) agent_id: Maybe<String>,
    /// Inside a sub-agent; also in a main session started as an agent, then without `agent_id`.
    pub(super) agent_type: Maybe<String>,
    /// Only when Cursor runs the hooks it found in Claude Code's settings.
    pub(super) cursor_version: Value,
    /// As `cursor_version`: Cursor's name of a session.
    pub(super) conversation_id: Value,
    pub(super) source: Maybe<String>,
    pub(super) model: Maybe<String>,
    pub(super) prompt: Value,
    pub(super) tool_name: Maybe<String>,
    pub(super) tool_input: Value,
    pub(super) tool_response: Value,
    pub(super) error: Value,
    pub(super) duration_ms: Value,
    pub(super) stop_hook_active: Maybe<bool>,
    pub(super) agent_transcript_path: Maybe<String>,
    pub(super) last_assistant_message: Maybe<String>,
}

/// What a hook prints. Unknown keys are ignored by the host; a wrong `hookEventName` loses the context.
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

/// A transcript row. Rows without `uuid` are bookkeeping and not part of the tree.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Row {
    #[serde(rename = "type")]
    pub(super) kind: Maybe<RowKind>,
    pub(super) subtype: Maybe<String>,
    pub(super) uuid: Maybe<String>,
    pub(super) parent_uuid: Maybe<String>,
    /// On a compaction boundary: the row the conversation really goes on from.
    pub(super) logical_parent_uuid: Maybe<String>,
    pub(super) session_id: Maybe<String>,
    pub(super) is_sidechain: Maybe<bool>,
    pub(super) is_meta: Maybe<bool>,
    pub(super) is_compact_summary: Maybe<bool>,
    pub(super) is_visible_in_transcript_only: Maybe<bool>,
    pub(super) is_api_error_message: Maybe<bool>,
    /// `local`, `recorded` or `harness`; the last marks notices such as an interruption.
    pub(super) row_source: Maybe<String>,
    pub(super) origin: Maybe<Origin>,
    pub(super) message: Maybe<Message>,
    pub(super) attachment: Maybe<Attachment>,
    pub(super) tool_use_result: Maybe<ToolUseResult>,
    pub(super) forked_from: Maybe<ForkedFrom>,
}

/// The row types; the second group never has a place in the tree or says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowKind {
    User,
    Assistant,
    System,
    Attachment,
    Bookkeeping,
    Unknown,
}

impl FromAny<'_> for RowKind {
    fn from_text(text: &str) -> Option<Self> {
        Some(match text {
            "user" => RowKind::User,
            "assistant" => RowKind::Assistant,
            "system" => RowKind::System,
            "attachment" => RowKind::Attachment,
            "progress"
            | "summary"
            | "ai-title"
            | "custom-title"
            | "agent-name"
            | "last-prompt"
            | "tools-used"
            | "mode"
            | "permission-mode"
            | "file-history-snapshot"
            | "queue-operation"
            | "pr-link"
            | "worktree-state"
            | "relocated"
            | "bridge-session"
            | "cost-state"
            | "atis-latch"
            | "api-request"
            | "api-request-shape"
            | "api-request-blob" => RowKind::Bookkeeping,
            _ => RowKind::Unknown,
        })
    }
}

/// Where a user row comes from; absent in headless runs and old versions.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Origin {
    pub(super) kind: Maybe<String>,
}

/// Where a copied row comes from.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ForkedFrom {
    pub(super) session_id: Maybe<String>,
}

/// The API message of a user or assistant row. One message may be spread over rows, a block each.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    pub(super) id: Maybe<String>,
    /// `<synthetic>` for what the host puts in the model's mouth.
    pub(super) model: Maybe<String>,
    pub(super) content: Maybe<Content>,
}

/// A text, or blocks.
#[derive(Debug)]
pub(super) enum Content {
    Text(String),
    Blocks(Vec<Block>),
}

impl<'de> FromAny<'de> for Content {
    fn from_text(text: &str) -> Option<Self> {
        String::from_text(text).map(Content::Text)
    }

    fn from_list<A: serde::de::SeqAccess<'de>>(list: A) -> Result<Option<Self>, A::Error> {
        Ok(Vec::from_list(list)?.map(Content::Blocks))
    }
}

impl Content {
    /// Returns the texts; images and other blocks have none.
    pub(super) fn into_text(self) -> String {
        match self {
            Content::Text(text) => text,
            Content::Blocks(blocks) => {
                let texts = blocks.into_iter().filter(|block| block.kind.text() == "text");
                texts.filter_map(|block| block.text.filled()).collect::<Vec<_>>().join("\n")
            }
        }
    }
}

/// A content block: `text`, `tool_use`, `tool_result`, `image`, `thinking`, …
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block {
    #[serde(rename = "type")]
    pub(super) kind: Maybe<String>,
    pub(super) text: Maybe<String>,
    /// Of a `tool_use`.
    pub(super) id: Maybe<String>,
    pub(super) name: Maybe<String>,
    pub(super) input: Maybe<ToolInput>,
    /// Of a `tool_result`.
    pub(super) tool_use_id: Maybe<String>,
    pub(super) content: Maybe<Content>,
    pub(super) is_error: Maybe<bool>,
}

/// The arguments of the few tools whose arguments say something.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolInput {
    /// Of `Agent`.
    pub(super) description: Maybe<String>,
    pub(super) subagent_type: Maybe<String>,
    pub(super) prompt: Maybe<String>,
    /// Of `ExitPlanMode`.
    pub(super) plan: Maybe<String>,
}

/// The host's structured copy of a tool's result, beside the block.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ToolUseResult {
    pub(super) status: Maybe<String>,
    pub(super) is_async: Maybe<bool>,
}

/// What the host attaches between messages.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Attachment {
    #[serde(rename = "type")]
    pub(super) kind: Maybe<String>,
    /// Of a `queued_command`: what was typed while the agent worked.
    pub(super) prompt: Maybe<Content>,
    pub(super) is_meta: Maybe<bool>,
    pub(super) origin: Maybe<Origin>,
}

objects!(Row, Origin, ForkedFrom, Message, Block, ToolInput, ToolUseResult, Attachment);
