//! Reads sessions of Antigravity for a handoff.
