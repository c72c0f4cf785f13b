//! OpenCode.

pub(super) mod resume;
pub(super) mod session;
