//! Reads sessions of OpenCode for a handoff.
