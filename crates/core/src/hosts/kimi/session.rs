//! Reads sessions of Kimi Code for a handoff.
