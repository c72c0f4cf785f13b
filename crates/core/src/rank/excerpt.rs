//! The part of a long text that answers a question.

use std::collections::BTreeSet;
use std::ops::Range;

use super::terms::Tokenizer;

/// Returns `text` when it fits in `max_chars`, else the sentences with most of the question's words,
/// in order, with `…` for what is left out. Never longer than `max_chars`.
pub fn excerpt(text: &str, query: &str, max_chars: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    // Stems are nearly always beginnings of their words: looking for them as they are is enough here, and
    // a hundred times faster than stemming a long text.
    let wanted: BTreeSet<String> = Tokenizer::default().query(query).into_iter().collect();
    let sentences = sentences(text, max_chars.saturating_sub(4).max(1));
    let scores: Vec<usize> = sentences
        .iter()
        .map(|range| {
            let sentence = text[range.clone()].to_lowercase();
            wanted.iter().filter(|term| sentence.contains(term.as_str())).count()
        })
        .collect();
    let Some(best) = (0..scores.len()).max_by_key(|at| (scores[*at], usize::MAX - at)) else { return String::new() };
    let length = |range: &Range<usize>| text[range.clone()].chars().count() + 1;
    let (mut from, mut to) = (best, best + 1);
    let mut used = length(&sentences[best]) + 4;
    loop {
        let after = sentences.get(to).map(&length).filter(|more| used + more <= max_chars);
        let before = from.checked_sub(1).map(|at| length(&sentences[at])).filter(|more| used + more <= max_chars);
        match (after, before) {
            (Some(more), _) if before.is_none() || scores[to] >= scores[from - 1] => {
                used += more;
                to += 1;
            }
            (_, Some(more)) => {
                used += more;
                from -= 1;
            }
            _ => break,
        }
    }
    let mut out = String::new();
    if from > 0 {
        out.push_str("… ");
    }
    out.push_str(text[sentences[from].start..sentences[to - 1].end].trim());
    if to < sentences.len() {
        out.push_str(" …");
    }
    if out.chars().count() > max_chars {
        out.chars().take(max_chars.saturating_sub(1)).chain(['…']).collect()
    } else {
        out
    }
}

/// Sentences and lines, none longer than `max_chars`, together the whole text.
fn sentences(text: &str, max_chars: usize) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut n_chars = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        n_chars += 1;
        let end = at + c.len_utf8();
        let next = chars.peek().map(|(_, next)| *next);
        let is_end = match c {
            '\n' | '。' | '！' | '？' => true,
            '.' | '!' | '?' => next.is_none_or(char::is_whitespace),
            _ => next.is_none(),
        };
        if is_end || n_chars >= max_chars {
            out.push(start..end);
            start = end;
            n_chars = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_matching_sentence_is_kept() {
        let text =
            format!("{}The staging port is 5433. {}", "Nothing here. ".repeat(40), "More filler text. ".repeat(40));
        let cut = excerpt(&text, "which port does staging use?", 100);
        assert!(cut.contains("staging port is 5433"), "{cut}");
        assert!(cut.starts_with('…') && cut.ends_with('…') && cut.chars().count() <= 100, "{cut}");
        assert_eq!(excerpt("short", "q", 100), "short");
    }

    proptest! {
        #[test]
        fn never_longer_than_asked(text in "[a-z .\\n。é]{0,300}", max in 10_usize..120) {
            prop_assert!(excerpt(&text, "a b", max).chars().count() <= max);
        }
    }
}
