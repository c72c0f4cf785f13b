//! Reads sessions of Cursor for a handoff.
