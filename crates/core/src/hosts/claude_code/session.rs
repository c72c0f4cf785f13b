//! Reads sessions of Claude Code for a handoff.
