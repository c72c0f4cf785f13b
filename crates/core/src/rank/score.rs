//! The weighted sum. Every signal is scaled to 1 at the question's best memory, then added.
//!
//! Sums beat rank fusion here: the lexical signal is the strongest, and ranks throw its margin away.

use super::cues::{Cues, Flags};

/// What each signal is worth. The defaults were measured on several sets together, never on one.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// BM25 of a neighbor in the same session, before and after.
    pub neighbor: f32,
    /// BM25 of the neighbor's neighbor.
    pub second_neighbor: f32,
    /// BM25 of the whole session.
    pub session: f32,
    /// Cosine of the memory's best piece.
    pub dense: f32,
    /// Best cosine in the memory's session.
    pub session_dense: f32,
    /// Said by the person.
    pub user: f32,
    /// A tool's output (subtracted).
    pub tool: f32,
    /// A time in it, when a time is asked for.
    pub time: f32,
    /// A number in it, when a number is asked for.
    pub number: f32,
    /// Only a short question (subtracted).
    pub question: f32,
    /// Its speaker is named in the question.
    pub speaker: f32,
    /// Durable.
    pub durable: f32,
    /// A durable memory came out of it.
    pub source: f32,
    /// Replaced by a newer statement (subtracted).
    pub superseded: f32,
    /// Lies in the window of time the question names.
    pub window: f32,
    /// Newest among near equals.
    pub recency: f32,
    /// Has a word that begins like one of the question nobody wrote.
    pub beginning: f32,
    /// Holds a passage quoted in the question, word for word.
    pub quote: f32,
    /// Has the question's neighboring terms near each other. Of the best [`CHECKED`] memories only, and not of
    /// people's talk by name. Measured from 0.2 to 0.5: flat for commits, best at 0.45 for coding sessions.
    pub close: f32,
    /// A term that writes two words of the question as one, against 1 for a term of the question. As much as
    /// a term of its own costs long chats 1 point of recall at 10; nothing costs agents' logs as much.
    pub compound: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            neighbor: 0.25,
            second_neighbor: 0.10,
            session: 0.40,
            dense: 0.50,
            session_dense: 0.40,
            user: 0.45,
            tool: 0.60,
            time: 0.15,
            number: 0.25,
            question: 0.15,
            speaker: 0.15,
            durable: 0.25,
            source: 0.15,
            superseded: 0.30,
            window: 0.35,
            recency: 0.01,
            beginning: 0.20,
            quote: 0.15,
            close: 0.45,
            compound: 0.50,
        }
    }
}

/// So many of the best memories are read once more for the nearness of the question's terms.
pub const CHECKED: usize = 40;

/// BM25's two constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25 {
    /// How soon repeats stop counting.
    pub k1: f32,
    /// How much length counts, 0 to 1.
    pub b: f32,
}

/// For a piece of a memory. 0.6/0.3 is better on short turns alone and much worse on mixed lengths.
pub const PIECE: Bm25 = Bm25 { k1: 0.9, b: 0.75 };

/// For a whole session.
pub const SESSION: Bm25 = Bm25 { k1: 1.2, b: 0.75 };

impl Bm25 {
    /// Returns what one term adds: `tf` times in a text of `length` terms, `average` being usual.
    pub fn term(self, idf: f32, tf: f32, length: f32, average: f32) -> f32 {
        self.normed(idf, tf, self.norm(length, average))
    }

    /// Returns what a text's length adds to the denominator: the same for all its terms.
    pub fn norm(self, length: f32, average: f32) -> f32 {
        self.k1 * (1.0 - self.b + self.b * length / average.max(1e-6))
    }

    /// [`Self::term`] with the [`Self::norm`] of the text known.
    #[inline]
    pub fn normed(self, idf: f32, tf: f32, norm: f32) -> f32 {
        idf * tf * (self.k1 + 1.0) / (tf + norm)
    }
}

/// Returns the inverse document frequency of a term in `found` of `total` texts; never negative.
pub fn idf(found: usize, total: usize) -> f32 {
    let (found, total) = (found as f32, total.max(found) as f32);
    (1.0 + (total - found + 0.5) / (found + 0.5)).ln()
}

/// Scales values so that the best is 1; leaves them zero when none is above zero.
pub fn scale_to_best(values: &mut [f32]) {
    let best = values.iter().copied().fold(0.0, f32::max);
    let factor = if best > 1e-9 { 1.0 / best } else { 0.0 };
    values.iter_mut().for_each(|value| *value *= factor);
}

impl Weights {
    /// Sets a weight by its field's name; false when there is no such weight. For measuring.
    pub fn set(&mut self, name: &str, value: f32) -> bool {
        let weight = match name {
            "neighbor" => &mut self.neighbor,
            "second_neighbor" => &mut self.second_neighbor,
            "session" => &mut self.session,
            "dense" => &mut self.dense,
            "session_dense" => &mut self.session_dense,
            "user" => &mut self.user,
            "tool" => &mut self.tool,
            "time" => &mut self.time,
            "number" => &mut self.number,
            "question" => &mut self.question,
            "speaker" => &mut self.speaker,
            "durable" => &mut self.durable,
            "source" => &mut self.source,
            "superseded" => &mut self.superseded,
            "window" => &mut self.window,
            "recency" => &mut self.recency,
            "beginning" => &mut self.beginning,
            "quote" => &mut self.quote,
            "close" => &mut self.close,
            "compound" => &mut self.compound,
            _ => return false,
        };
        *weight = value;
        true
    }

    /// Returns what a memory is worth by its flags and speaker alone, for this question.
    pub fn standing(&self, flags: Flags, speaker: u32, cues: &Cues) -> f32 {
        let mut sum = 0.0;
        let mut add = |holds: bool, weight: f32| {
            if holds {
                sum += weight;
            }
        };
        add(flags.has(Flags::USER), self.user);
        add(flags.has(Flags::TOOL), -self.tool);
        add(cues.wants_time && flags.has(Flags::TIME), self.time);
        add(cues.wants_number && flags.has(Flags::NUMBER), self.number);
        add(flags.has(Flags::QUESTION), -self.question);
        add(speaker != 0 && cues.names.contains(&speaker), self.speaker);
        add(flags.has(Flags::DURABLE), self.durable);
        add(flags.has(Flags::SOURCE), self.source);
        add(flags.has(Flags::SUPERSEDED), -self.superseded);
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_terms_weigh_more() {
        assert!(idf(1, 100) > idf(50, 100));
        assert!(idf(100, 100) > 0.0);
        assert!(idf(0, 0) >= 0.0);
    }

    #[test]
    fn scaling_keeps_zero() {
        let mut values = [0.0, 0.0];
        scale_to_best(&mut values);
        assert_eq!(values, [0.0, 0.0]);
        let mut values = [1.0, 4.0];
        scale_to_best(&mut values);
        assert_eq!(values, [0.25, 1.0]);
    }

    #[test]
    fn what_the_person_said_stands_above_tool_output() {
        let weights = Weights::default();
        let cues = Cues::default();
        assert!(weights.standing(Flags::USER, 0, &cues) > weights.standing(Flags::TOOL, 0, &cues));
    }
}
