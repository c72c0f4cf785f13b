//! Pi: a package in JavaScript that translates the host's events into the protocol of [`super::shim`].

pub(super) mod resume;
pub(super) mod session;

use crate::host::HostSpec;
use crate::hosts::shim;

/// Pi as data.
pub const SPEC: HostSpec = HostSpec { id: "pi", name: "Pi", ..shim::HOST };
