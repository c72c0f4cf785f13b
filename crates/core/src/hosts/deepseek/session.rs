//! Reads sessions of DeepSeek Harness for a handoff.
