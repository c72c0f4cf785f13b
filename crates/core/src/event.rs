//! What a host tells us, in our words.
//!
//! A host's `normalize` turns its JSON into an [`Event`]; nothing after it knows which host spoke.
//! What of an event is kept is decided in [`crate::evidence`].

use std::path::PathBuf;

use serde_json::Value;

use crate::transcript::Said;

/// The session id that stands in when a host sends none. Such a session is stored but never pinned and never sent.
pub const UNKNOWN_SESSION: &str = "unknown-session";

/// One thing that happened in a host's session.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The host's session id; [`UNKNOWN_SESSION`] when it sent none.
    pub session_id: String,
    /// The folder the session works in; `None` when the host did not say (the hook's own folder counts then).
    pub cwd: Option<PathBuf>,
    /// The host's own record of the session, where it has one.
    pub transcript_path: Option<PathBuf>,
    /// Set when the event comes from inside a sub-agent.
    pub agent: Option<Agent>,
    /// What happened.
    pub kind: EventKind,
}

/// A sub-agent, as the host names it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agent {
    /// The host's id of this run of the sub-agent.
    pub id: Option<String>,
    /// Which kind of sub-agent it is, such as `mem0:sidekick`.
    pub kind: Option<String>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// A session began, was resumed, cleared, compacted or forked.
    SessionStart {
        /// The host's word for how it began; `startup` when it gave none.
        source: String,
        /// The model, where the host names it.
        model: Option<String>,
    },
    /// A human prompt. Never a task notification or a sub-agent's assignment: adapters filter those.
    Prompt {
        /// The whole prompt.
        text: String,
    },
    /// The host is about to call its model, once or more in a turn. What the person asked is in the transcript, and
    /// context lasts for one call: it is to be given again at each.
    ModelCall,
    /// A tool ran to its end.
    Tool(ToolUse),
    /// The main agent finished a turn.
    Answer {
        /// The final message, where the host sends it.
        text: Option<String>,
    },
    /// A turn was completed, told by a host that leaves no record of it for us to read.
    Turn {
        /// What was said before the turn, for a session nothing was recorded of yet.
        earlier: Vec<Said>,
        /// What was said in it, in order; the prompt may be among it.
        said: Vec<Said>,
    },
    /// A host that keeps no injected text asks for what the session was shown.
    Reminder,
    /// A sub-agent started.
    SubagentStart,
    /// A sub-agent yielded; it may start again under the same id.
    SubagentStop {
        /// The sub-agent's own transcript.
        transcript_path: Option<PathBuf>,
        /// Its last message.
        message: Option<String>,
    },
    /// The host is about to compact the conversation.
    Compaction,
    /// The session is over.
    SessionEnd,
}

/// One finished tool call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolUse {
    /// The host's name of the tool.
    pub name: Option<String>,
    /// The arguments as the host sent them.
    pub input: Value,
    /// The result as the host sent it; `Null` when there was none.
    pub response: Value,
    /// Whether it failed; `None` when the host does not tell.
    pub failed: Option<bool>,
    /// The host's failure text, in text form.
    pub error: Option<String>,
    /// How long it ran, in milliseconds, as the host sent it (a number or `Null`).
    pub duration_ms: Value,
    /// The host's id of the call, where the transcript may tell of it before the hook does.
    pub call_id: Option<String>,
}
