//! Pi: a package in JavaScript that translates the host's events into the protocol of [`super::shim`].

pub(super) mod resume;
pub(super) mod session;

use crate::event::Event;
use crate::host::{ContextLimit, HostSpec, PayloadError};
use crate::hosts::shim;

/// Pi as data.
pub const SPEC: HostSpec = HostSpec {
    id: "pi",
    name: "Pi",
    hooks: shim::HOOKS,
    normalize,
    render: shim::render,
    context_limit: ContextLimit::Utf16(100_000),
    transcript: None,
    outcomes_in_transcript: false,
    find_transcript: None,
    project_variable: None,
    hand_on_options: None,
    capabilities: shim::CAPABILITIES,
};

fn normalize(native_event: &str, payload: &[u8]) -> Result<Option<Event>, PayloadError> {
    shim::normalize(&shim::PLAIN, native_event, payload)
}
