//! The document: format `mem0.session-handoff.v1`. Field names and shapes are those of the Mem0 plugins, which share
//! the folder it is kept in.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The format we write.
pub const FORMAT: &str = "mem0.session-handoff.v1";

/// Where a document comes from. Exactly these keys: readers of the Mem0 plugins refuse others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Canonical path of the transcript, or `<host>:<session id>` where there is none.
    pub path: String,
    /// SHA-256 of the transcript's bytes, 64 lower-case hex digits.
    pub sha256: String,
    /// The session's id in its host.
    pub session_id: String,
    /// A title for people.
    pub title: String,
    /// Where the session started.
    pub cwd: String,
    /// The last record of the active branch.
    pub leaf_uuid: String,
    /// The compaction that was applied, if any.
    pub compact_boundary_uuid: Option<String>,
    /// The first record that was taken.
    pub first_imported_uuid: String,
    /// The last record that was taken.
    pub last_imported_uuid: String,
    /// Root of the repository when it was saved; `None` before.
    pub project_cwd: Option<String>,
    /// The host's id, `[a-z][a-z0-9-]*`.
    pub host: String,
}

/// What was counted while reading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Records of the transcript.
    pub source_records: u64,
    /// Records of the active branch.
    pub active_records: u64,
    /// Records taken.
    pub imported_records: u64,
    /// Items.
    pub responses_items: u64,
    /// Blocks of hidden reasoning left out.
    pub hidden_reasoning_blocks_skipped: u64,
    /// A quarter of the characters of the items, pictures counted as seven.
    pub approximate_tokens: u64,
}

/// One element of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Item {
    /// Something said.
    Message {
        /// Who.
        role: Role,
        /// What.
        content: Vec<Part>,
        /// Keys of other programs' documents, kept.
        #[serde(flatten)]
        more: Map<String, Value>,
    },
    /// A tool called.
    FunctionCall {
        /// Unique in the document.
        call_id: String,
        /// The tool.
        name: String,
        /// JSON text.
        arguments: String,
        /// `namespace`, `synthetic` and foreign keys.
        #[serde(flatten)]
        more: Map<String, Value>,
    },
    /// What a call gave.
    FunctionCallOutput {
        /// The call's.
        call_id: String,
        /// The call's; filled in when a foreign document leaves it out.
        #[serde(default)]
        name: String,
        /// Text, or a list of text and picture blocks; Claude's and Cursor's are kept as they are.
        output: Value,
        /// `is_error`, `synthetic` and foreign keys.
        #[serde(flatten)]
        more: Map<String, Value>,
    },
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Text of a user's message.
    InputText {
        /// The text.
        text: String,
    },
    /// Text of an assistant's message.
    OutputText {
        /// The text.
        text: String,
    },
    /// A picture.
    InputImage {
        /// `data:<type>;base64,<data>`.
        image_url: String,
    },
}
