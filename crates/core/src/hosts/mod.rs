//! The hosts: one folder each, data plus pure functions. No other module names a host.
//!
//! Beside the folders lies what hosts have in common: `json` and `lenient` (reading their JSON), `plumbing` (their
//! own text among people's), `tools` (their names for tools), `exchange` (where a transcript reading begins and where the
//! answer goes), `ledger` (a transcript that is a plain list), `shim` (the protocol of the packages in JavaScript); for
//! handoffs `sessions` (who can be read), `view` and `blocks` (records and messages), `messages` (what shims send).

pub mod antigravity;
mod blocks;
pub mod claude_code;
pub mod codex;
pub mod cursor;
pub mod deepseek;
mod exchange;
mod json;
pub mod kimi;
mod ledger;
mod lenient;
mod messages;
pub mod openclaw;
pub mod opencode;
pub mod pi;
mod plumbing;
pub mod sessions;
mod shim;
mod tools;
mod view;

use crate::host::HostSpec;

/// Every host whose hooks we serve.
pub const ALL: &[HostSpec] = &[
    claude_code::SPEC,
    cursor::SPEC,
    codex::SPEC,
    kimi::SPEC,
    antigravity::SPEC,
    opencode::SPEC,
    openclaw::SPEC,
    pi::SPEC,
    deepseek::SPEC,
];

/// Returns the host with this id.
pub fn find(id: &str) -> Option<&'static HostSpec> {
    ALL.iter().find(|host| host.id == id)
}
