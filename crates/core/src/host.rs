//! What a host is: the data every adapter declares and the two functions it has.

use crate::event::Event;
use crate::transcript::Reader;

/// A coding agent that can call our hooks.
///
/// Everything that differs between hosts is a field here or one of the functions; code outside
/// [`crate::hosts`] never asks which host it is.
#[derive(Debug, Clone, Copy)]
pub struct HostSpec {
    /// Stable id, as in `mem0-code hook <id> <event>`; also the `X-Application` header.
    pub id: &'static str,
    /// The name people use.
    pub name: &'static str,
    /// The hooks our package registers, in the host's own order.
    pub hooks: &'static [HookSpec],
    /// Turns a native payload into an event. `Ok(None)`: valid, and of no use to us.
    pub normalize: fn(native_event: &str, payload: &[u8]) -> Result<Option<Event>, PayloadError>,
    /// What the host must be given on stdout so that `context` reaches the model; empty when it cannot.
    pub render: fn(native_event: &str, context: &str) -> Vec<u8>,
    /// Most the host takes as one hook's context before it spills it to a file.
    pub context_limit: ContextLimit,
    /// Makes a reader for this host's transcripts; `None` when it has none we read.
    pub transcript: Option<NewReader>,
    /// Whether command outcomes must be looked up in the transcript, since hooks do not report failures.
    pub outcomes_in_transcript: bool,
}

/// Makes a reader for the transcript of the session with this id.
pub type NewReader = fn(session_id: &str) -> Box<dyn Reader>;

/// One hook of a host's package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookSpec {
    /// The host's name of the event.
    pub native: &'static str,
    /// The host's matcher, where the event takes one.
    pub matcher: Option<&'static str>,
    /// The time limit written into the package, in seconds.
    pub timeout_s: u32,
}

/// How a host measures the context a hook prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextLimit {
    /// UTF-16 units.
    Utf16(usize),
    /// UTF-8 bytes.
    Bytes(usize),
}

/// A payload that is not what the host's contract says.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    /// Not JSON, or not a JSON object. Position as the parser saw it.
    #[error("hook payload is not a JSON object (line {line}, column {column}): {reason}")]
    Malformed {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What was wrong.
        reason: String,
    },
    /// A field we need has another type than the contract says.
    #[error("hook payload field `{field}` is not {expected}")]
    Field {
        /// The field's name.
        field: &'static str,
        /// What it should have been.
        expected: &'static str,
    },
}
