//! Reads sessions of Pi for a handoff.
