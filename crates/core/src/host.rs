//! What a host is: the data every adapter declares and the functions it has.

use std::path::{Path, PathBuf};

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
    /// What the host must be given on stdout so that `context` reaches the model. With an empty context, or where the
    /// host takes none: what it must be given when there is nothing to say, which most hosts want to be nothing.
    pub render: fn(native_event: &str, context: &str) -> Vec<u8>,
    /// Most the host takes as one hook's context before it spills it to a file.
    pub context_limit: ContextLimit,
    /// Makes a reader for this host's transcripts; `None` when it has none we read.
    pub transcript: Option<NewReader>,
    /// Whether command outcomes must be looked up in the transcript, since hooks do not report failures.
    pub outcomes_in_transcript: bool,
    /// Where a session's transcript may be, when the host has one and its payloads do not say where.
    pub find_transcript: Option<FindTranscript>,
    /// A variable that names the project where a payload does not. Without one the hook's own folder counts.
    pub project_variable: Option<&'static str>,
    /// What a session's start prints so that its later hooks are given these plugin options as well.
    pub hand_on_options: Option<HandOnOptions>,
    /// What the host lets us capture and give, for the reference page.
    pub capabilities: Capabilities,
}

/// Prints option variables, name and value each, in the form the host takes them.
pub type HandOnOptions = fn(options: &[(&str, &str)]) -> Vec<u8>;

/// Names the places a session's transcript may be, best first. One component of a place may be `*`, which stands for
/// every folder there.
pub type FindTranscript = fn(&Places<'_>, session_id: &str) -> Vec<PathBuf>;

/// Where a host may keep its files.
pub struct Places<'a> {
    /// Looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The user's home.
    pub home: Option<&'a Path>,
}

/// What a host's hooks tell us and take from us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// What a person typed.
    pub prompts: Capability,
    /// The agent's final answers.
    pub answers: Capability,
    /// Tool calls that failed, told from those that did not.
    pub failed_tools: Capability,
    /// Turns the person interrupted.
    pub interruptions: Capability,
    /// That a conversation is about to be compacted.
    pub compaction: Capability,
    /// That a session is over.
    pub session_end: Capability,
    /// Sub-agents, told from the main agent.
    pub subagents: Capability,
    /// Memories given with a prompt.
    pub context_at_prompt: Capability,
    /// Memories given to a sub-agent that starts.
    pub context_for_subagents: Capability,
}

impl Capabilities {
    /// All of them with the name each has for people, in the order of a table's columns.
    pub fn named(&self) -> [(&'static str, Capability); 9] {
        [
            ("prompts", self.prompts),
            ("answers", self.answers),
            ("failed tools", self.failed_tools),
            ("interruptions", self.interruptions),
            ("compaction", self.compaction),
            ("session end", self.session_end),
            ("sub-agents", self.subagents),
            ("context at a prompt", self.context_at_prompt),
            ("context for sub-agents", self.context_for_subagents),
        ]
    }
}

/// Whether a host can do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// It can.
    Yes,
    /// It can, in this way or within this limit.
    Limited(&'static str),
    /// It cannot, for this reason.
    No(&'static str),
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
