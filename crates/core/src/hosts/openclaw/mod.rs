//! OpenClaw: a package in JavaScript that translates the host's events into the protocol of [`super::shim`].
//!
//! The host is an assistant on many channels, so much of what passes through it was said by nobody: `noise` tells it
//! from the rest.

mod noise;
pub(super) mod session;

use crate::event::Event;
use crate::host::{HostSpec, PayloadError};
use crate::hosts::shim::{self, Manners, Told};
use crate::transcript::Said;

/// OpenClaw as data.
pub const SPEC: HostSpec = HostSpec { id: "openclaw", name: "OpenClaw", normalize, ..shim::HOST };

/// Messages before a session's first known turn that are taken along.
const N_RECENT: usize = 20;

const MANNERS: Manners = Manners { clean: noise::clean, is_noise: noise::is_noise, split };

fn normalize(native_event: &str, payload: &[u8]) -> Result<Option<Event>, PayloadError> {
    shim::normalize(&MANNERS, native_event, payload)
}

/// The host tells the whole conversation: the turn begins at its last prompt. Of what came before, the recent messages
/// count, and answers that sum up work.
fn split(mut said: Vec<Said>) -> Told {
    let start = said.iter().rposition(|message| message.role == "user").unwrap_or(0);
    let turn = said.split_off(start);
    let recent = said.len().saturating_sub(N_RECENT);
    let mut index = 0;
    said.retain(|message| {
        index += 1;
        index > recent || (message.role == "assistant" && noise::is_summary(&message.content))
    });
    Told { earlier: said, turn }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(role: &str, content: &str) -> Said {
        Said { role: role.to_owned(), content: content.to_owned() }
    }

    #[test]
    fn a_turn_begins_at_the_last_prompt() {
        let mut all =
            vec![said("user", "old"), said("assistant", "## Changes Made\n- parser"), said("assistant", "old")];
        all.extend((0..N_RECENT).map(|index| said("assistant", &format!("recent {index}"))));
        let recent: Vec<Said> = all[3..].to_vec();
        let turn = [said("user", "now"), said("assistant", "first"), said("assistant", "done")];
        all.extend(turn.clone());
        let Told { earlier, turn: this } = split(all);
        assert_eq!(this, turn);
        assert_eq!(earlier, [vec![said("assistant", "## Changes Made\n- parser")], recent].concat());
        assert_eq!(split(vec![]), Told { earlier: vec![], turn: vec![] });
        let alone = vec![said("assistant", "a")];
        assert_eq!(split(alone.clone()), Told { earlier: vec![], turn: alone });
    }
}
