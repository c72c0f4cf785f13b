//! Cursor's JSON, as far as it matters here: hook payloads and hook output.
//!
//! Facts were read from Cursor's documentation, its plugin schemas, and what public tools saw of 3.x clients.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::hosts::lenient::Maybe;

/// A hook's payload. Every event's fields in one struct: which are there depends on the event.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload {
    pub(super) conversation_id: Maybe<String>,
    /// Of a sub-agent's events: the conversation it works for.
    pub(super) parent_conversation_id: Maybe<String>,
    /// At a session's start and end; the conversation's id.
    pub(super) session_id: Maybe<String>,
    pub(super) workspace_roots: Maybe<Vec<String>>,
    /// With tools only.
    pub(super) cwd: Maybe<String>,
    pub(super) transcript_path: Maybe<String>,
    pub(super) model: Maybe<String>,
    pub(super) prompt: Value,
    pub(super) tool_name: Maybe<String>,
    pub(super) tool_input: Value,
    /// JSON in a string.
    pub(super) tool_output: Value,
    /// In milliseconds.
    pub(super) duration: Value,
    pub(super) error_message: Value,
    /// Of a tool that did not end because the person stopped it.
    pub(super) is_interrupt: Maybe<bool>,
    /// Of an answer.
    pub(super) text: Maybe<String>,
    pub(super) subagent_id: Maybe<String>,
    pub(super) subagent_type: Maybe<String>,
    /// What a sub-agent found.
    pub(super) summary: Maybe<String>,
    pub(super) agent_transcript_path: Maybe<String>,
}

/// What `sessionStart` prints: context, or variables that the session's later hooks are to be given.
#[derive(Debug, Serialize)]
pub(super) struct StartOutput<'a> {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) env: BTreeMap<&'a str, &'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) additional_context: Option<&'a str>,
}

/// What `beforeSubmitPrompt` prints. Without `continue` the prompt would not be sent.
#[derive(Debug, Serialize)]
pub(super) struct PromptOutput<'a> {
    #[serde(rename = "continue")]
    pub(super) goes_on: bool,
    pub(super) additional_context: &'a str,
}

/// What hooks print that are asked whether something may be done.
#[derive(Debug, Serialize)]
pub(super) struct Permission {
    pub(super) permission: &'static str,
}
