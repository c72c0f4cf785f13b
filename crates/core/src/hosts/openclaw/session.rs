//! OpenClaw's session files are those of Pi.

use super::super::pi;
use crate::hosts::sessions::Sessions;

/// How sessions are read.
pub(crate) const SESSIONS: Sessions = Sessions::lines("openclaw", "openclaw session", pi::session::SESSIONS.reader);
