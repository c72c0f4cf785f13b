//! Antigravity.

pub(super) mod session;
