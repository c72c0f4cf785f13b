//! What a transcript that is a plain list of lines has said so far, within bounds.
//!
//! A reader puts in what people and the agent said, with the line it stands in; [`Ledger::finish`] finds what is new.

use crate::hosts::exchange::{self, KEPT_LIMIT, Newest};
use crate::transcript::{Said, Since, Slice};

/// The messages of one reading.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    list: Vec<Entry>,
    /// The turn that runs, counted from the first that was read.
    turn: u64,
    /// The line of the last message, also when it was taken back since.
    newest: Option<u64>,
    kept_bytes: usize,
    dropped_bytes: u64,
}

#[derive(Debug)]
struct Entry {
    line: u64,
    turn: u64,
    /// The host's number of it, where it has one.
    step: i64,
    says: Says,
}

#[derive(Debug)]
enum Says {
    This(Said),
    Lost(u64),
}

impl Ledger {
    /// Begins a turn.
    pub(crate) fn begin_turn(&mut self) {
        self.turn += 1;
    }

    /// Takes a message that stands in this line; `step` is the host's number of it, or 0.
    pub(crate) fn push(&mut self, line: u64, step: i64, said: Said) {
        if said.content.trim().is_empty() {
            return;
        }
        self.newest = Some(line);
        self.kept_bytes += kept(&said);
        self.list.push(Entry { line, turn: self.turn, step, says: Says::This(said) });
        if self.kept_bytes > KEPT_LIMIT {
            let n_dropped = self.list.len().div_ceil(2);
            self.dropped_bytes += self.take_out(0..n_dropped) as u64;
        }
    }

    /// Takes note of a line that was too long to be held.
    pub(crate) fn push_lost(&mut self, bytes: u64) {
        let step = self.list.last().map_or(0, |entry| entry.step);
        self.list.push(Entry { line: 0, turn: self.turn, step, says: Says::Lost(bytes) });
    }

    /// Takes back the last turns.
    pub(crate) fn undo_turns(&mut self, n_turns: u64) {
        let Some(before) = n_turns.checked_sub(1) else { return };
        let first = self.turn.saturating_sub(before);
        let from = self.list.partition_point(|entry| entry.turn < first);
        self.take_out(from..self.list.len());
        self.turn = first.saturating_sub(1);
    }

    /// Takes back the messages of this step and of later ones.
    pub(crate) fn rewind_to(&mut self, step: i64) {
        let from = self.list.iter().rposition(|entry| entry.step < step).map_or(0, |at| at + 1);
        self.take_out(from..self.list.len());
    }

    fn take_out(&mut self, range: std::ops::Range<usize>) -> usize {
        let bytes = self.list.drain(range).map(|entry| entry.says.kept()).sum();
        self.kept_bytes -= bytes;
        bytes
    }

    /// Returns what is new.
    pub(crate) fn finish(self, since: &Since) -> Slice {
        let stored = since.leaf.as_deref();
        let newest = self.newest.map(leaf);
        let has_news = newest.is_some() && newest.as_deref() != stored;
        let begin = self.begin(since);
        let mut slice = Slice { leaf: newest.or_else(|| since.leaf.clone()), ..Slice::default() };
        if self.dropped_bytes > 0 && begin == 0 {
            slice.messages.push(exchange::dropped_mark(self.dropped_bytes));
        }
        if has_news {
            slice.messages.extend(self.list.into_iter().skip(begin).map(|entry| match entry.says {
                Says::This(said) => said,
                Says::Lost(bytes) => exchange::skipped_mark(bytes),
            }));
        }
        let place = if !has_news && stored.is_some() { Newest::Known } else { Newest::Other };
        exchange::place_answer(&mut slice.messages, since, None, place);
        slice
    }

    /// Returns the first message that is new.
    fn begin(&self, since: &Since) -> usize {
        let stored = since.leaf.as_deref();
        if let Some(found) = self.list.iter().rposition(|entry| Some(leaf(entry.line).as_str()) == stored) {
            return found + 1;
        }
        if since.resumed {
            return 0;
        }
        let is_asked = |entry: &Entry| match (&entry.says, &since.last_prompt) {
            (Says::This(said), Some(recorded)) if said.role == "user" => {
                exchange::is_same_prompt(recorded, &said.content)
            }
            (Says::This(said), None) => said.role == "user",
            _ => false,
        };
        self.list.iter().rposition(is_asked).unwrap_or(0)
    }
}

impl Says {
    fn kept(&self) -> usize {
        match self {
            Says::This(said) => kept(said),
            Says::Lost(_) => 0,
        }
    }
}

/// Returns how much memory a message takes, about.
fn kept(said: &Said) -> usize {
    said.content.len() + size_of::<Entry>()
}

fn leaf(line: u64) -> String {
    format!("line:{line:016x}")
}

/// FNV-1a of 64 bits, to know a line again.
pub(crate) fn hash_of(line: &[u8]) -> u64 {
    line.trim_ascii()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::exchange::said;

    fn ledger() -> Ledger {
        let mut ledger = Ledger::default();
        for turn in 0..3 {
            ledger.begin_turn();
            ledger.push(turn * 2, turn as i64 * 2, said("user", format!("p{turn}")));
            ledger.push(turn * 2 + 1, turn as i64 * 2 + 1, said("assistant", format!("a{turn}")));
        }
        ledger
    }

    fn texts(ledger: Ledger, since: &Since) -> String {
        ledger.finish(since).messages.into_iter().map(|said| said.content).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_new_begins_behind_the_stored_leaf_or_at_the_last_prompt() {
        let at = |leaf_of: Option<u64>, last_prompt: Option<&str>, resumed| Since {
            leaf: leaf_of.map(leaf),
            resumed,
            last_prompt: last_prompt.map(str::to_owned),
            ..Since::default()
        };
        for (since, expected) in [
            (at(None, None, true), "p0 a0 p1 a1 p2 a2"),
            (at(None, None, false), "p2 a2"),
            (at(None, Some("p1"), false), "p1 a1 p2 a2"),
            (at(Some(3), None, false), "p2 a2"),
            (at(Some(3), None, true), "p2 a2"),
            (at(Some(5), None, false), ""),
            (at(Some(99), Some("p0"), false), "p0 a0 p1 a1 p2 a2"),
        ] {
            assert_eq!(texts(ledger(), &since), expected, "{since:?}");
        }
    }

    #[test]
    fn turns_are_taken_back_from_the_end() {
        let everything = Since { resumed: true, ..Since::default() };
        for (n_turns, expected) in [(0, "p0 a0 p1 a1 p2 a2"), (1, "p0 a0 p1 a1"), (2, "p0 a0"), (3, ""), (9, "")] {
            let mut ledger = ledger();
            ledger.undo_turns(n_turns);
            assert_eq!(texts(ledger, &everything), expected, "{n_turns}");
        }
        let mut ledger = ledger();
        ledger.rewind_to(3);
        ledger.push(77, 3, said("assistant", "b1"));
        assert_eq!(texts(ledger, &everything), "p0 a0 p1 b1");
    }

    #[test]
    fn what_is_held_is_bounded_and_says_what_went() {
        let mut ledger = Ledger::default();
        for line in 0..40 {
            ledger.push(line, 0, said("assistant", "x".repeat(1 << 20)));
            assert!(ledger.kept_bytes <= KEPT_LIMIT);
        }
        let slice = ledger.finish(&Since { resumed: true, ..Since::default() });
        assert!(slice.messages[0].content.contains("bytes of earlier text"), "{}", slice.messages[0].content);
    }
}
