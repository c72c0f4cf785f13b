//! OpenCode.

pub(super) mod session;
