//! The commands, one module each.

pub(crate) mod bundle;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod eval_engine;
pub(crate) mod event;
pub(crate) mod forget;
pub(crate) mod generate;
pub(crate) mod handoff;
pub(crate) mod install;
pub(crate) mod manual;
pub(crate) mod mcp;
pub(crate) mod memories;
pub(crate) mod pause;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod telemetry;
pub(crate) mod worker;
