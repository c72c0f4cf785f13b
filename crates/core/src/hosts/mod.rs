//! The hosts: one folder each, data plus pure functions. No other module names a host.

pub mod claude_code;
pub mod codex;

use crate::host::HostSpec;

/// Every host whose hooks we serve.
pub const ALL: &[HostSpec] = &[claude_code::SPEC, codex::SPEC];

/// Returns the host with this id.
pub fn find(id: &str) -> Option<&'static HostSpec> {
    ALL.iter().find(|host| host.id == id)
}
