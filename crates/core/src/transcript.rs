//! Reading a host's own record of a session, incrementally.
//!
//! A reader is fed complete lines from a stored byte offset on and then asked for what is new.
//! It holds texts, not lines: memory is bounded by what is said, not by the size of the file.

use serde::{Deserialize, Serialize};

/// Consumes a transcript line by line.
pub trait Reader {
    /// Takes one complete line, without its newline. Lines that mean nothing are ignored.
    fn push_line(&mut self, line: &[u8]);
    /// Takes note that a line was too long to be held (`bytes` long); it is skipped. Where it lay between
    /// messages that are returned, a mark says so.
    fn skip_line(&mut self, bytes: u64);
    /// Returns what is new, given where the last reading ended.
    fn finish(self: Box<Self>, since: &Since) -> Slice;
}

/// Where the last reading of this session ended, and what the hooks know.
///
/// To take a whole file (an import), leave `leaf` empty and set `resumed`: everything read is new then. Without
/// either, only what follows the last prompt is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Since {
    /// The leaf row stored with the previous answer.
    pub leaf: Option<String>,
    /// Whether reading began at a stored offset above 0.
    pub resumed: bool,
    /// The last prompt a hook recorded in this session.
    pub last_prompt: Option<String>,
    /// The final answer the hook was given (`last_assistant_message`).
    pub answer: Option<String>,
    /// Whether the session is over, so that a turn that has no end yet will not get one.
    pub is_over: bool,
}

/// What a reading found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Slice {
    /// New messages, in order; the final answer among them is labelled where the host has a label for it.
    pub messages: Vec<Said>,
    /// The row the active branch ends in now. Opaque to all but the reader that gave it.
    pub leaf: Option<String>,
    /// Commands whose outcome the transcript tells, in order.
    pub outcomes: Vec<CommandOutcome>,
    /// Lines of kinds this reader does not know.
    pub unknown_lines: u64,
    /// A line the reader needs that lies before the offset it began at (an agent call started turns ago):
    /// the caller reads again from 0, once, and passes the same `Since`.
    pub needs_whole_file: bool,
    /// The session this one was forked from or belongs to as a sub-agent, where the transcript names it.
    pub parent: Option<String>,
    /// The last thing a person asked, where hooks do not tell it.
    pub asked: Option<Asked>,
    /// The main agent's turn goes on: the stop was a sub-agent's, or the end is not written yet.
    pub is_open: bool,
}

/// A prompt, as a transcript tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The row it stands in. Opaque to all but the reader that gave it.
    pub row: String,
    /// What was asked.
    pub text: String,
}

/// One message of a transcript. Field names are those of the evidence payload (`transcript_messages`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// `user` or `assistant`.
    pub role: String,
    /// The text.
    pub content: String,
}

/// How a command ended, as the transcript tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutcome {
    /// The command as the hook saw it.
    pub command: String,
    /// Its exit status.
    pub exit_code: i64,
    /// What it printed.
    pub output: String,
    /// The host's id of the call, where its hook may come late or not at all: a command no hook told of is recorded then.
    pub call_id: Option<String>,
}
