//! Cursor.

pub(super) mod session;
