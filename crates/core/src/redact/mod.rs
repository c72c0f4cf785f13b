//! Taking secrets out of text.
//!
//! This is the one place where it happens: every text passes here before it is first written or sent. The
//! rules are data ([`rules`]). One scan for their key words tells which rules could match at all; only
//! those are compiled (once a process) and run, so that clean text, the usual case, costs the scan.
//! Parts marked private by the person vanish here too ([`private`]); [`without_blobs`] is separate, since
//! only tool output goes through it.
//!
//! Invariant: `text(text(x)) == text(x)`, held by a property test.

mod blobs;
mod private;
mod rules;

use std::borrow::Cow;
use std::sync::OnceLock;

use regex::bytes::{Captures, Regex, RegexBuilder};
use serde_json::{Map, Value};

pub use blobs::without_blobs;

use crate::graphemes;
use rules::{RULES, Rule};

/// What stands where a secret stood.
pub const MARK: &str = "[REDACTED]";

/// How often a text is gone over until nothing changes. Two is the usual number after a hit; the rest is for
/// texts made to be awkward.
const PASSES: usize = 8;

/// Returns the text without secrets and without parts marked private.
///
/// Costs one scan for clean text, without allocation; each kind of secret costs its rule's compilation once a process.
pub fn text(text: &str) -> Cow<'_, str> {
    let mut current = Cow::Borrowed(text);
    for _ in 0..PASSES {
        match pass(&current) {
            Some(next) => current = Cow::Owned(next),
            None => break,
        }
    }
    current
}

/// Returns the value with every string inside it redacted, and with the texts of fields named like
/// credentials replaced.
pub fn value(value: &Value) -> Value {
    match value {
        Value::String(string) => Value::String(text(string).into_owned()),
        Value::Array(items) => Value::Array(items.iter().map(self::value).collect()),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, field)| (key.clone(), member(key, field))).collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Returns the value as redacted text: a string as it is, anything else as JSON with sorted keys.
pub fn to_text(value: &Value) -> String {
    match value {
        Value::String(string) => text(string).into_owned(),
        Value::Null => "null".to_owned(),
        _ => self::value(value).to_string(),
    }
}

/// Returns the text redacted, trimmed, and cut to `max_chars` characters if it is longer; a line then says how
/// many characters were cut. No grapheme is cut in two.
pub fn bounded(text: &str, max_chars: usize) -> String {
    let redacted = self::text(text);
    let trimmed = redacted.trim();
    let head = graphemes::head(trimmed, max_chars);
    if head.len() == trimmed.len() {
        return trimmed.to_owned();
    }
    let cut = trimmed[head.len()..].chars().count();
    format!("{head}\n...[truncated {cut} chars]")
}

/// One field of an object: JSON text of it would fall under the rule for quoted fields.
fn member(key: &str, field: &Value) -> Value {
    match field {
        Value::String(string) if !string.is_empty() && rules::is_credential_name(key) => Value::String(MARK.to_owned()),
        _ => value(field),
    }
}

/// Goes over a text once; `None` when it stays as it is.
fn pass(text: &str) -> Option<String> {
    let hits = scan(text);
    if hits.is_empty() {
        return None;
    }
    let mut current = Cow::Borrowed(text);
    if hits.private {
        current = private::without(current);
    }
    for (index, rule) in RULES.iter().enumerate() {
        if hits.rules & (1 << index) != 0
            && let Some(replaced) = apply(rule, compiled(index), &current)
        {
            current = Cow::Owned(replaced);
        }
    }
    match current {
        Cow::Owned(changed) if changed != text => Some(changed),
        _ => None,
    }
}

/// What a text's key words allow for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Hits {
    /// A bit for each rule.
    rules: u128,
    private: bool,
}

impl Hits {
    fn is_empty(&self) -> bool {
        self.rules == 0 && !self.private
    }
}

/// Key words of all rules, in order of their first byte.
///
/// Looking them up by that byte needs no automaton: building one for these words costs half a millisecond, which a
/// hook, being a process of its own, would pay on every call.
struct Keywords {
    /// A word and the rule it belongs to (`RULES.len()` for the private tags).
    words: Vec<(&'static [u8], usize)>,
    /// For each byte of a text, in either case, the words that begin with it: a range of `words`.
    starts: [(u16, u16); 256],
}

impl Keywords {
    fn get() -> &'static Self {
        static KEYWORDS: OnceLock<Keywords> = OnceLock::new();
        KEYWORDS.get_or_init(Self::build)
    }

    fn build() -> Self {
        let mut words: Vec<(&'static [u8], usize)> = RULES
            .iter()
            .enumerate()
            .flat_map(|(owner, rule)| rule.keywords.iter().map(move |word| (word.as_bytes(), owner)))
            .collect();
        words.push((private::KEYWORD.as_bytes(), RULES.len()));
        words.sort_unstable_by_key(|(word, _)| word[0].to_ascii_lowercase());
        let mut starts = [(0, 0); 256];
        for byte in 0..=u8::MAX {
            let first = |word: &[u8]| word[0].to_ascii_lowercase();
            let begin = words.partition_point(|(word, _)| first(word) < byte.to_ascii_lowercase());
            let end = words.partition_point(|(word, _)| first(word) <= byte.to_ascii_lowercase());
            starts[usize::from(byte)] = (begin as u16, end as u16);
        }
        Self { words, starts }
    }
}

fn scan(text: &str) -> Hits {
    let keywords = Keywords::get();
    let bytes = text.as_bytes();
    let mut hits = Hits::default();
    for (at, byte) in bytes.iter().enumerate() {
        let (begin, end) = keywords.starts[usize::from(*byte)];
        for (word, owner) in &keywords.words[usize::from(begin)..usize::from(end)] {
            let Some(found) = bytes.get(at..at + word.len()) else { continue };
            match RULES.get(*owner) {
                None => hits.private |= found.eq_ignore_ascii_case(word),
                Some(rule) => {
                    let is_hit = if rule.any_case { found.eq_ignore_ascii_case(word) } else { found == *word };
                    hits.rules |= u128::from(is_hit) << owner;
                }
            }
        }
    }
    for (index, rule) in RULES.iter().enumerate() {
        let bit = 1 << index;
        if hits.rules & bit != 0 && rule.needs.is_some_and(|byte| memchr::memchr(byte, bytes).is_none()) {
            hits.rules &= !bit;
        }
    }
    hits
}

/// The rule's expression, compiled at its first use in this process.
fn compiled(index: usize) -> &'static Regex {
    static COMPILED: [OnceLock<Regex>; RULES.len()] = [const { OnceLock::new() }; RULES.len()];
    COMPILED[index].get_or_init(|| compile(&RULES[index]))
}

fn compile(rule: &Rule) -> Regex {
    RegexBuilder::new(rule.pattern)
        .unicode(false)
        .case_insensitive(rule.any_case)
        .build()
        .expect("every pattern of the table compiles: held by a test")
}

/// Replaces what a rule finds; `None` when it finds nothing.
fn apply(rule: &Rule, expression: &Regex, text: &str) -> Option<String> {
    let replaced = expression.replace_all(text.as_bytes(), |found: &Captures<'_>| {
        let group = |index: usize| found.get(index).map_or(&b""[..], |group| group.as_bytes());
        let mut kept = Vec::with_capacity(64);
        if rule.keeps_before {
            kept.extend_from_slice(group(1));
        }
        kept.extend_from_slice(MARK.as_bytes());
        if rule.keeps_after {
            kept.extend_from_slice(group(2));
        }
        kept
    });
    match replaced {
        Cow::Borrowed(_) => None,
        // Expressions see bytes; what they take starts and ends at ASCII, so the rest stays UTF-8.
        Cow::Owned(bytes) => Some(
            String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
        ),
    }
}

#[cfg(test)]
mod tests;
