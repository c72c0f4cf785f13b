//! Kimi Code.

pub(super) mod session;
