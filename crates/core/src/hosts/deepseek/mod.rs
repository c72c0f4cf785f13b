//! DeepSeek Harness.

pub(super) mod session;
