//! OpenClaw.

pub(super) mod session;
