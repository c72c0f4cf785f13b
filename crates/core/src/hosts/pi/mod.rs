//! Pi.

pub(super) mod session;
