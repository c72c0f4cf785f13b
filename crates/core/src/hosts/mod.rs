//! The hosts: one folder each, data plus pure functions. No other module names a host.
//!
//! Beside the folders lies what hosts have in common: `json` and `lenient` (reading their JSON), `plumbing` (their
//! own text among people's), `tools` (their names for tools), `exchange` (where a transcript reading begins and where the
//! answer goes), `ledger` (a transcript that is a plain list).

pub mod antigravity;
pub mod claude_code;
pub mod codex;
pub mod cursor;
pub mod deepseek;
mod exchange;
mod json;
pub mod kimi;
mod ledger;
mod lenient;
pub mod openclaw;
pub mod opencode;
pub mod pi;
mod plumbing;
pub mod sessions;
mod tools;

use crate::host::HostSpec;

/// Every host whose hooks we serve.
pub const ALL: &[HostSpec] = &[claude_code::SPEC, cursor::SPEC, codex::SPEC, kimi::SPEC, antigravity::SPEC];

/// Returns the host with this id.
pub fn find(id: &str) -> Option<&'static HostSpec> {
    ALL.iter().find(|host| host.id == id)
}
