//! Codex.

use crate::event::Event;
use crate::host::{ContextLimit, HookSpec, HostSpec, PayloadError};

/// Codex as data.
pub const SPEC: HostSpec = HostSpec {
    id: "codex",
    name: "Codex",
    hooks: HOOKS,
    normalize,
    render,
    context_limit: ContextLimit::Bytes(10_000),
    transcript: None,
    outcomes_in_transcript: false,
};

const HOOKS: &[HookSpec] = &[];

fn normalize(_native_event: &str, _payload: &[u8]) -> Result<Option<Event>, PayloadError> {
    Ok(None)
}

fn render(_native_event: &str, _context: &str) -> Vec<u8> {
    Vec::new()
}
