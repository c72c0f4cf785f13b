//! Signs beside the words: what kind of answer a question wants, and what a memory carries.

use std::sync::LazyLock;

use regex::Regex;

use super::terms;

/// What is known of a memory before any question: bits, as stored in index segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// Said by the person.
    pub const USER: Self = Self(1);
    /// A tool call and its result.
    pub const TOOL: Self = Self(1 << 1);
    /// Part of a conversation, so that its neighbors mean something.
    pub const TALK: Self = Self(1 << 2);
    /// Has a time expression.
    pub const TIME: Self = Self(1 << 3);
    /// Has a number.
    pub const NUMBER: Self = Self(1 << 4);
    /// Is only a short question.
    pub const QUESTION: Self = Self(1 << 5);
    /// Durable: found by a rule, or stored on request.
    pub const DURABLE: Self = Self(1 << 6);
    /// A durable memory came out of it.
    pub const SOURCE: Self = Self(1 << 7);
    /// A newer statement took its place.
    pub const SUPERSEDED: Self = Self(1 << 8);

    /// Tells whether all bits of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns both sets of bits.
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the bits without those of `other`.
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// Speakers that are kinds of record and not names.
const KINDS: &[&str] = &["user", "assistant", "tool", "commit", "session", "note", "decision"];

/// Speakers of records that stand alone: what lies beside them in time says nothing about them.
const ALONE: &[&str] =
    &["commit", "note", "decision", "session", "event", "reference", "fact", "document", "memory", "summary"];

static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i-u)\b(?:yesterday|today|tonight|tomorrow|last|next|this (?:week|month|year|morning|weekend)|ago|week|month|year|weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|since|recently|earlier|[0-9]{4}|[0-9]{1,2}(?:st|nd|rd|th)?)\b",
    )
    .ok()
});
static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i-u)\b(?:[0-9][0-9,.%]*|one|two|three|four|five|six|seven|eight|nine|ten|once|twice|couple|several|few|dozen|hundred)\b",
    )
    .ok()
});
static WHEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i-u)\b(?:when|what (?:date|day|month|year|time)|how long|which (?:day|month|year))\b").ok()
});
static MANY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i-u)\bhow (?:many|much|often)\b").ok());
static LATEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i-u)\b(?:current|currently|now|latest|newest|most recent|these days|at present)\b").ok()
});

fn finds(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Reads the flags of a memory's text and speaker (`user`, `assistant`, `tool`, a kind of record, or a name).
pub fn flags_of(text: &str, speaker: &str) -> Flags {
    let mut flags = Flags::default();
    let mut set = |flag, holds: bool| {
        if holds {
            flags = flags.with(flag);
        }
    };
    let speaker = speaker.to_lowercase();
    set(Flags::USER, speaker == "user");
    set(Flags::TOOL, speaker == "tool");
    set(Flags::TALK, !ALONE.contains(&speaker.as_str()));
    set(Flags::TIME, finds(&TIME, text));
    set(Flags::NUMBER, finds(&NUMBER, text));
    set(Flags::QUESTION, is_short_question(text));
    flags
}

/// Returns the hash of a speaker who is a name, 0 for kinds of record. Compare with [`Cues::names`].
pub fn speaker_of(speaker: &str) -> u32 {
    let lower = speaker.to_lowercase();
    if lower.is_empty() || KINDS.contains(&lower.as_str()) { 0 } else { short_hash(&lower) }
}

/// Returns the text that is indexed: a named speaker belongs to what was said.
pub fn indexed_text<'a>(text: &'a str, speaker: &str) -> std::borrow::Cow<'a, str> {
    if speaker.is_empty() || KINDS.contains(&speaker) { text.into() } else { format!("{speaker}: {text}").into() }
}

fn is_short_question(text: &str) -> bool {
    let text = text.trim();
    text.ends_with(['?', '？']) && text.split_whitespace().count() < 25
}

fn short_hash(lower: &str) -> u32 {
    (terms::hash(lower) >> 32) as u32 | 1
}

/// What a question asks for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cues {
    /// Asks for a time.
    pub wants_time: bool,
    /// Asks for a number.
    pub wants_number: bool,
    /// Asks for how things are now.
    pub wants_latest: bool,
    /// Hashes of its words, to find named speakers.
    pub names: Vec<u32>,
    /// Passages in quotation marks, as written, without the marks; at most four.
    pub quotes: Vec<String>,
}

/// Reads the cues of a question.
pub fn cues_of(query: &str) -> Cues {
    let lower = query.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    Cues {
        wants_time: finds(&WHEN, query),
        wants_number: finds(&MANY, query),
        wants_latest: finds(&LATEST, query),
        names: words.map(short_hash).collect(),
        quotes: quotes(query),
    }
}

fn quotes(query: &str) -> Vec<String> {
    let mut out = Vec::new();
    for mark in ['"', '`', '“'] {
        let close = if mark == '“' { '”' } else { mark };
        let mut rest = query;
        while let Some((_, after)) = rest.split_once(mark) {
            let Some((inside, tail)) = after.split_once(close) else { break };
            if (3..200).contains(&inside.trim().len()) && out.len() < 4 {
                out.push(inside.trim().to_owned());
            }
            rest = tail;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_by_example() {
        let check = |text: &str, speaker: &str, flag: Flags, expected: bool| {
            assert_eq!(flags_of(text, speaker).has(flag), expected, "{speaker}: {text}");
        };
        check("hello", "user", Flags::USER, true);
        check("hello", "Tool", Flags::TOOL, true);
        check("hello", "commit", Flags::TALK, false);
        check("hello", "Dana", Flags::TALK, true);
        check("we met last week", "user", Flags::TIME, true);
        check("we met", "user", Flags::TIME, false);
        check("it took three tries", "user", Flags::NUMBER, true);
        check("why does it fail?", "user", Flags::QUESTION, true);
        check("它为什么失败？", "user", Flags::QUESTION, true);
        check("It failed.", "user", Flags::QUESTION, false);
    }

    #[test]
    fn patterns_compile() {
        for pattern in [&TIME, &NUMBER, &WHEN, &MANY, &LATEST] {
            assert!(pattern.is_some());
        }
    }

    #[test]
    fn a_named_speaker_is_found_in_the_question() {
        let cues = cues_of("What did Dana say about \"blue pier\"?");
        assert!(cues.names.contains(&speaker_of("Dana")));
        assert_eq!(speaker_of("user"), 0);
        assert_eq!(cues.quotes, ["blue pier"]);
    }
}
