//! Antigravity's JSON, as far as it matters here: hook payloads, hook output, transcript steps.
//!
//! Facts were read from its documentation and from public reports about 1.0 to 1.2.6, which differ: every field may be
//! missing.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::hosts::lenient::{FromAny, Maybe, objects};

/// A hook's payload. Every event's fields in one struct: which are there depends on the event, which none names.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Payload {
    pub(super) conversation_id: Maybe<String>,
    pub(super) workspace_paths: Maybe<Vec<String>>,
    pub(super) transcript_path: Maybe<String>,
    pub(super) model_name: Maybe<String>,
    /// In some versions only.
    pub(super) tool_call: Maybe<ToolCall>,
    /// Empty when a tool ran well.
    pub(super) error: Value,
    /// Of a stop, in some versions.
    pub(super) final_model_output: Maybe<String>,
}

/// A tool call. In a transcript the arguments are JSON in strings.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolCall {
    pub(super) name: Maybe<String>,
    pub(super) args: Maybe<Arguments>,
}

/// A tool's arguments.
#[derive(Debug, Default)]
pub(super) struct Arguments(pub(super) Map<String, Value>);

impl<'de> FromAny<'de> for Arguments {
    fn from_object<A: serde::de::MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        Ok(crate::hosts::lenient::object(object)?.map(Arguments))
    }
}

/// What a hook before a model call prints. The host refuses what is not exactly this.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InjectOutput<'a> {
    pub(super) inject_steps: [InjectStep<'a>; 1],
}

/// A message for one model call alone; the host's other kind would stay as if a person had typed it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InjectStep<'a> {
    pub(super) ephemeral_message: &'a str,
}

/// What a hook before a tool prints. Anything else, and nothing, denies the tool.
#[derive(Debug, Serialize)]
pub(super) struct DecisionOutput {
    pub(super) decision: &'static str,
}

/// A step of a transcript.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Step {
    pub(super) step_index: Maybe<i64>,
    /// `USER_EXPLICIT`, `MODEL` or `SYSTEM`.
    pub(super) source: Maybe<String>,
    #[serde(rename = "type")]
    pub(super) kind: Maybe<String>,
    /// `DONE`, or what it was while it ran.
    pub(super) status: Maybe<String>,
    pub(super) content: Maybe<String>,
    pub(super) tool_calls: Maybe<Vec<ToolCall>>,
}

objects!(ToolCall, Step);
