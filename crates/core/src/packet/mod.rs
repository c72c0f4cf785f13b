//! A packet: a block of a session's events on its way to where memories live.
//!
//! Here are its id, the file that hands it from a hook to a worker, and the messages made of its events
//! ([`conversation`] and [`turns`]), cut into requests ([`batches`]). Claiming and sending are effects and
//! live elsewhere.

mod batch;
mod messages;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

pub use batch::{MAX_ESTIMATE, batches, estimate};
pub use messages::{conversation, turns};

use crate::digest;

/// Returns the id of the packet that holds the events `first` to `last` of a session.
pub fn packet_id(identity: &str, session: &str, first: i64, last: i64) -> String {
    digest::hex(&[identity, session, &first.to_string(), &last.to_string()], 32)
}

/// What a hook leaves for a worker: the content of `pending/<stem>.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PacketFile {
    /// The hook's input, redacted. A file without it is not a packet.
    pub hook_input: Map<String, Value>,
    /// Why the packet was made.
    #[serde(default)]
    pub reason: Reason,
    /// Whether to wait for packets of the session that are on their way.
    #[serde(default)]
    pub wait_for_inflight: bool,
    /// How long to sleep first, in seconds; nothing is sent if the file is gone then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_seconds: Option<f64>,
}

/// Why a packet was made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A block was due at an answer.
    Periodic,
    /// Nothing happened for a while.
    Idle,
    /// The host is about to compact the conversation.
    PreCompact,
    /// The session ended.
    SessionEnd,
    /// A word of another version.
    Other(String),
}

impl Reason {
    /// The word in files and tables.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Periodic => "periodic",
            Self::Idle => "idle",
            Self::PreCompact => "pre-compact",
            Self::SessionEnd => "session-end",
            Self::Other(word) => word,
        }
    }

    /// Returns the reason with this word.
    pub fn parse(word: &str) -> Self {
        match word {
            "periodic" => Self::Periodic,
            "idle" => Self::Idle,
            "pre-compact" => Self::PreCompact,
            "session-end" => Self::SessionEnd,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl Default for Reason {
    /// A file that does not say why counts as made by hand.
    fn default() -> Self {
        Self::Other("manual".to_owned())
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|word| Self::parse(&word))
    }
}

/// Returns the name of a packet's file without `.json`. `random8` is eight hexadecimal digits that keep two
/// packets of one session apart.
pub fn stem(cwd: &str, session: &str, reason: &Reason, random8: &str) -> String {
    match reason {
        Reason::Idle => format!("{}-{random8}", idle_prefix(cwd, session)),
        _ => format!("{}-{random8}", digest::hex(&[cwd, session, reason.as_str()], 24)),
    }
}

/// Returns what the names of all idle packets of a folder and session begin with; newer activity deletes them.
pub fn idle_prefix(cwd: &str, session: &str) -> String {
    format!("idle-{}", digest::hex(&["idle", cwd, session], 24))
}

#[cfg(test)]
mod tests;
