//! DeepSeek Harness: a package in JavaScript that translates the host's events into the protocol of [`super::shim`].

pub(super) mod session;

use crate::host::HostSpec;
use crate::hosts::shim;

/// DeepSeek Harness as data.
pub const SPEC: HostSpec = HostSpec { id: "deepseek", name: "DeepSeek Harness", ..shim::HOST };
