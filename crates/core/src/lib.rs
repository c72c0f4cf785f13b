//! The pure half of mem0-code.
//!
//! Everything here takes values and returns values: no file, clock, environment, thread or network is
//! touched (`clippy.toml` beside this crate's manifest names the forbidden calls). `mem0-code-engine`
//! keeps the state, the binary has the effects.
//!
//! Shared words, one an idea: *host*, *event*, *evidence*, *scope*, *checkpoint*, *packet*, *memory*.

pub mod checkpoint;
pub mod config;
pub mod context;
pub mod digest;
pub mod envvars;
pub mod event;
pub mod evidence;
pub mod extract;
pub mod filter;
mod graphemes;
pub mod handoff;
pub mod host;
pub mod hosts;
pub mod instructions;
pub mod memory;
pub mod packet;
pub mod rank;
pub mod redact;
pub mod scope;
pub mod telemetry;
pub mod transcript;
