//! Cutting text where a reader would.
//!
//! Not full Unicode segmentation: enough that a cut never leaves half a family emoji, half a flag or a letter
//! without its accents.

/// Returns the longest head of at most `max_chars` characters that does not end inside a grapheme.
/// A grapheme longer than `max_chars` is cut between characters, since nothing would be left otherwise.
pub(crate) fn head(text: &str, max_chars: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(max_chars) else { return text };
    let mut cut = end;
    while cut > 0 && !is_boundary(text, cut) {
        cut = text[..cut].char_indices().next_back().map_or(0, |(index, _)| index);
    }
    if cut == 0 { &text[..end] } else { &text[..cut] }
}

/// Tells whether a grapheme ends at `at`, a character boundary inside `text`.
fn is_boundary(text: &str, at: usize) -> bool {
    let (Some(before), Some(after)) = (text[..at].chars().next_back(), text[at..].chars().next()) else { return true };
    if before == '\r' && after == '\n' {
        return false;
    }
    if before == '\u{200d}' || extends(after) {
        return false;
    }
    // Flags are pairs: an odd number of indicators before the cut means that a pair is open.
    !(is_flag_half(after) && text[..at].chars().rev().take_while(|&char| is_flag_half(char)).count() % 2 == 1)
}

fn is_flag_half(char: char) -> bool {
    ('\u{1f1e6}'..='\u{1f1ff}').contains(&char)
}

/// Tells whether a character belongs to the one before it.
fn extends(char: char) -> bool {
    unicode_normalization::char::is_combining_mark(char)
        || matches!(char, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::head;

    #[test]
    fn cuts_by_table() {
        let family = "👨\u{200d}👩\u{200d}👧";
        for (text, max, expected) in [
            ("abc", 5, "abc"),
            ("abc", 2, "ab"),
            ("", 0, ""),
            ("abc", 0, ""),
            ("e\u{301}e\u{301}", 3, "e\u{301}"),
            (&format!("a{family}b"), 4, "a"),
            (&format!("a{family}b"), 6, &format!("a{family}")),
            ("🇩🇪🇫🇷", 3, "🇩🇪"),
            ("👍🏽x", 1, "👍"),
            ("a👍🏽x", 2, "a"),
            ("你好吗", 2, "你好"),
        ] {
            assert_eq!(head(text, max), expected, "{text} at {max}");
        }
    }
}
