//! Reads sessions of Codex for a handoff.
