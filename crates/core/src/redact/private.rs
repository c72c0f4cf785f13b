//! Parts of a text the person marked as private: `<private>…</private>`.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex::Regex;

/// The word without which a text has no private part.
pub(super) const KEYWORD: &str = "private";

/// Returns the text without its private parts, tags included. Tags may be written in any case, with spaces and
/// attributes; they nest; one that is never closed hides everything to the end.
pub(super) fn without(text: Cow<'_, str>) -> Cow<'_, str> {
    static TAG: OnceLock<Regex> = OnceLock::new();
    let tag = TAG.get_or_init(|| {
        Regex::new(r"(?i)<\s*(/?)\s*private(?:\s[^<>]*)?>").expect("a constant expression, compiled in every test run")
    });
    let mut kept = String::new();
    let mut depth = 0_usize;
    // The end of the last private part: everything from here on is not yet copied.
    let mut from = 0;
    for found in tag.captures_iter(&text) {
        let Some(whole) = found.get(0) else { continue };
        let closes = found.get(1).is_some_and(|slash| !slash.is_empty());
        match (depth, closes) {
            (0, true) => {}
            (0, false) => {
                kept.push_str(&text[from..whole.start()]);
                depth = 1;
            }
            (1, true) => {
                depth = 0;
                from = whole.end();
            }
            (_, true) => depth -= 1,
            (_, false) => depth += 1,
        }
    }
    if depth == 0 && from == 0 {
        return text;
    }
    if depth == 0 {
        kept.push_str(&text[from..]);
    }
    Cow::Owned(kept)
}
