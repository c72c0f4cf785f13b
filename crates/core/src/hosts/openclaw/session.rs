//! Reads sessions of OpenClaw for a handoff.
