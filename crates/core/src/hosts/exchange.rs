//! What every transcript reader does alike: where to begin, and where the final answer goes.

use crate::redact;
use crate::transcript::{Said, Since};

/// A reader keeps at most this much text, in bytes; past it the oldest half is let go. Far above any exchange, and low
/// enough for a transcript of hundreds of megabytes: the rows' bookkeeping and the messages that are returned come on top.
pub(crate) const KEPT_LIMIT: usize = 32 << 20;

/// Makes a message.
pub(crate) fn said(role: &str, content: impl Into<String>) -> Said {
    Said { role: role.to_owned(), content: content.into() }
}

/// Returns the mark that stands for a line that was too long to be held.
pub(crate) fn skipped_mark(bytes: u64) -> Said {
    said("assistant", format!("[a line of {bytes} bytes was left out of this transcript]"))
}

/// Returns the mark that stands for text that was let go to bound memory.
pub(crate) fn dropped_mark(bytes: u64) -> Said {
    said("assistant", format!("[{bytes} bytes of earlier text were left out of this transcript]"))
}

/// What stands for a secret in what hooks recorded.
const REDACTED: &str = redact::MARK;

/// Returns whether a transcript's prompt is the one a hook recorded.
///
/// What was recorded is redacted, perhaps by other rules than today's: each mark in it stands for anything.
pub(crate) fn is_same_prompt(recorded: &str, found: &str) -> bool {
    let (recorded, found) = (recorded.trim(), found.trim());
    if redact::text(found).trim() == recorded {
        return true;
    }
    let mut pieces = recorded.split(REDACTED);
    let Some(mut rest) = found.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    false
}

/// What is known of the newest row when the answer is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Newest {
    /// It is the row the last reading ended in, or nothing was read after it.
    Known,
    /// It is an assistant's text, the last of the messages.
    Text,
    /// It is something else.
    Other,
}

/// Puts the final answer where it belongs among the new messages and gives it the host's label.
///
/// The message that equals it is labelled; with none, it is appended, since hosts may call the stop hook before the
/// row is in the file. Whoever stores the messages takes out a row that turns up later.
pub(crate) fn place_answer(messages: &mut Vec<Said>, since: &Since, label: Option<&str>, newest: Newest) {
    let labelled = |text: &str| label.map_or_else(|| text.to_owned(), |label| format!("{label}\n{text}"));
    let answer = since.answer.as_deref().filter(|text| !text.trim().is_empty());
    let Some(answer) = answer else {
        if newest == Newest::Text
            && let Some(last) = messages.last_mut().filter(|last| last.role == "assistant")
        {
            last.content = labelled(&last.content);
        }
        return;
    };
    if messages.is_empty() && newest == Newest::Known {
        return;
    }
    match find_answer(messages, answer) {
        Some(range) => {
            messages[range.start].content = labelled(answer);
            messages.drain(range.start + 1..range.end);
        }
        None => messages.push(said("assistant", labelled(answer))),
    }
}

fn is_same(left: &str, right: &str) -> bool {
    left.trim() == right.trim()
}

/// Finds the messages that make up the answer, from the end: one, or a few in a row where the host writes each text
/// block of an answer as a row.
fn find_answer(messages: &[Said], answer: &str) -> Option<std::ops::Range<usize>> {
    let is_answer = |range: std::ops::Range<usize>| {
        let blocks = &messages[range];
        blocks.iter().all(|block| block.role == "assistant")
            && ["", "\n", "\n\n"].iter().any(|between| {
                let texts: Vec<&str> = blocks.iter().map(|block| block.content.trim()).collect();
                is_same(&texts.join(between), answer)
            })
    };
    let single = (0..messages.len()).rev().find(|&at| is_answer(at..at + 1)).map(|at| at..at + 1);
    single.or_else(|| {
        (2..=4)
            .filter_map(|n| messages.len().checked_sub(n))
            .map(|at| at..messages.len())
            .find(|range| is_answer(range.clone()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(messages: &[(&str, &str)], since: Since, newest: Newest) -> Vec<String> {
        let mut messages: Vec<Said> = messages.iter().map(|(role, text)| said(role, *text)).collect();
        place_answer(&mut messages, &since, Some("L:"), newest);
        messages.into_iter().map(|message| format!("{} {}", message.role, message.content)).collect()
    }

    fn answer(text: &str) -> Since {
        Since { answer: Some(text.to_owned()), ..Since::default() }
    }

    #[test]
    fn a_recorded_prompt_is_found_though_its_secrets_were_cut() {
        for (recorded, found, expected) in [
            ("a", " a\n", true),
            ("a", "ab", false),
            ("key [REDACTED] end", "key xyz end", true),
            ("key [REDACTED]", "key xyz", true),
            ("[REDACTED] and [REDACTED].", "x and y.", true),
            ("[REDACTED] and [REDACTED].", "x or y.", false),
            ("key [REDACTED] end", "key end", false),
            ("before  after", "before <private>x</private> after", true),
        ] {
            assert_eq!(is_same_prompt(recorded, found), expected, "{recorded} / {found}");
        }
    }

    #[test]
    fn the_answer_is_labelled_where_it_stands() {
        let messages = [("assistant", "one"), ("assistant", "two"), ("user", "one")];
        assert_eq!(placed(&messages, answer("one"), Newest::Other), ["assistant L:\none", "assistant two", "user one"]);
        let parts = [("user", "p"), ("assistant", "one"), ("assistant", "two")];
        assert_eq!(placed(&parts, answer("one\n\ntwo"), Newest::Text), ["user p", "assistant L:\none\n\ntwo"]);
    }

    #[test]
    fn an_answer_that_is_not_there_is_appended() {
        assert_eq!(placed(&[("user", "p")], answer("a"), Newest::Other), ["user p", "assistant L:\na"]);
        assert_eq!(placed(&[], answer("a"), Newest::Other), ["assistant L:\na"]);
    }

    #[test]
    fn nothing_new_stays_nothing() {
        assert!(placed(&[], answer("a"), Newest::Known).is_empty());
    }

    #[test]
    fn without_an_answer_the_newest_text_is_it() {
        let messages = [("user", "p"), ("assistant", "a")];
        assert_eq!(placed(&messages, Since::default(), Newest::Text), ["user p", "assistant L:\na"]);
        assert_eq!(placed(&messages, Since::default(), Newest::Other), ["user p", "assistant a"]);
    }
}
