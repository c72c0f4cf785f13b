//! Text to index terms: words, identifiers whole and split, stems, and pairs of CJK characters.
//!
//! The index stores [`hash`]es of terms, never the terms: a forgotten memory leaves no readable word
//! behind in a derived file.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{UnicodeNormalization, is_nfkc_quick};

/// English words that carry no subject. Sorted; looked up by binary search.
const STOP: &[&str] = &[
    "a", "about", "after", "am", "an", "and", "are", "as", "at", "be", "been", "before", "being", "but", "by", "can",
    "could", "d", "did", "do", "does", "doing", "done", "down", "for", "from", "had", "has", "have", "having", "he",
    "her", "here", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "ll", "m", "may", "me", "might",
    "must", "my", "no", "not", "of", "off", "on", "or", "our", "out", "over", "re", "s", "shall", "she", "should",
    "so", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "too",
    "up", "ve", "very", "was", "we", "were", "what", "when", "where", "which", "who", "whom", "why", "will", "with",
    "would", "you", "your",
];

/// The longest term kept, in bytes. What is longer is a payload, not a word.
const MAX_TERM: usize = 96;

/// Pairs of neighbors looked at for [`Tokenizer::compounds`]; what follows is pasted text.
const MAX_COMPOUNDS: usize = 32;

/// Turns text into index terms. Holds the stemmer and scratch buffers; make one, use it for many texts.
pub struct Tokenizer {
    stemmer: Stemmer,
    lower: String,
}

impl Default for Tokenizer {
    fn default() -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English), lower: String::new() }
    }
}

impl Tokenizer {
    /// Calls `each` with every term of `text`, in order, repeats included.
    ///
    /// `snake_case`, `camelCase`, `a/b.rs` and `--flag-name` give the whole and its parts. Runs of Han,
    /// Kana and Hangul give every character and every pair of neighbors.
    pub fn each(&mut self, text: &str, mut each: impl FnMut(&str)) {
        self.walk(text, false, &mut each);
    }

    /// The terms of a question: as [`Self::each`], but a CJK run of two characters or more gives its
    /// pairs only, so that single common characters do not drown them.
    pub fn query(&mut self, text: &str) -> Vec<String> {
        let mut out = Vec::new();
        self.walk(text, true, &mut |term| out.push(term.to_owned()));
        out
    }

    /// The single words that two neighbors of a question may be written as: `byte offset` gives `byteoffset`
    /// (also the whole of `byteOffset`), `byte-offset`, `byte_offset`, `byte/offset` and `byte.offset`.
    pub fn compounds(&mut self, text: &str) -> Vec<String> {
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let mut out = Vec::new();
        for pair in words.windows(2).take(MAX_COMPOUNDS) {
            let &[first, second] = pair else { continue };
            let is_word = |word: &str| word.is_ascii() && !is_stop(word);
            if !is_word(first) || !is_word(second) || first.len() + second.len() >= MAX_TERM {
                continue;
            }
            let joined = format!("{first}{second}");
            let stem = self.stemmer.stem(&joined).into_owned();
            out.extend(["-", "_", "/", "."].map(|mark| format!("{first}{mark}{second}")));
            if stem != joined {
                out.push(stem);
            }
            out.push(joined);
        }
        out.sort_unstable();
        out.dedup();
        out
    }

    fn walk(&mut self, text: &str, is_query: bool, each: &mut dyn FnMut(&str)) {
        let text = normalized(text);
        let mut rest = text.as_ref();
        while let Some(start) = rest.find(is_word) {
            rest = &rest[start..];
            let first = rest.chars().next().unwrap_or(' ');
            if is_cjk(first) {
                let end = rest.find(|c| !is_cjk(c)).unwrap_or(rest.len());
                pairs(&rest[..end], is_query, each);
                rest = &rest[end..];
            } else {
                let end = word_end(rest);
                self.word(&rest[..end], each);
                rest = &rest[end..];
            }
        }
    }

    /// One run such as `src/lib.rs`, `--flag-name` (without the dashes) or `HttpClient`.
    fn word(&mut self, run: &str, each: &mut dyn FnMut(&str)) {
        if run.is_ascii() && run.bytes().all(|b| b.is_ascii_lowercase()) {
            return self.plain(run, each);
        }
        let mut parts = run.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
        let (Some(first), second) = (parts.next(), parts.next()) else { return };
        if second.is_some() && run.len() <= MAX_TERM {
            self.lower.clear();
            self.lower.extend(run.chars().flat_map(char::to_lowercase));
            each(&self.lower);
        }
        for part in std::iter::once(first).chain(second).chain(parts) {
            self.part(part, each);
        }
    }

    fn part(&mut self, part: &str, each: &mut dyn FnMut(&str)) {
        if part.is_ascii() && !is_upper(part) && humps(part).nth(1).is_some() {
            if part.len() <= MAX_TERM {
                self.lower.clear();
                self.lower.push_str(part);
                self.lower.make_ascii_lowercase();
                each(&self.lower);
            }
            for hump in humps(part) {
                let lower = hump.to_ascii_lowercase();
                self.plain(&lower, each);
            }
        } else {
            let lower: String = part.chars().flat_map(char::to_lowercase).collect();
            self.plain(&lower, each);
        }
    }

    /// One lower-case word: dropped when it is a stop word, else stemmed.
    fn plain(&mut self, lower: &str, each: &mut dyn FnMut(&str)) {
        if lower.len() > MAX_TERM || is_stop(lower) {
            return;
        }
        if lower.is_ascii() {
            each(&self.stemmer.stem(lower));
        } else {
            each(lower);
        }
    }
}

/// Tells whether a lower-case word is an English stop word.
pub fn is_stop(lower: &str) -> bool {
    STOP.binary_search(&lower).is_ok()
}

/// Returns the 64-bit FNV-1a hash of a term, with its bits spread. Stable: segments on disk hold it.
pub fn hash(term: &str) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for byte in term.as_bytes() {
        state = (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    state ^= state >> 32;
    state.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Tells whether a character belongs to a script written without spaces, or is Hangul.
pub fn is_cjk(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x11ff | 0x2e80..=0x2fdf | 0x3005..=0x3007 | 0x3040..=0x30ff | 0x3130..=0x318f | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xa960..=0xa97f | 0xac00..=0xd7ff | 0xf900..=0xfaff
        | 0x2_0000..=0x3_ffff | 0x0e00..=0x0e7f)
        && c != '\u{30fb}'
}

fn normalized(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == unicode_normalization::IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

fn is_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() || c == '_' } else { c.is_alphanumeric() }
}

/// The end of a run: word characters, and `-./:` between an alphanumeric character and another.
fn word_end(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if is_word(c) && !is_cjk(c) {
            continue;
        }
        let joins = matches!(c, '-' | '.' | '/' | ':')
            && chars.peek().is_some_and(|(_, next)| next.is_ascii_alphanumeric() || *next == '_');
        if !joins {
            return at;
        }
    }
    text.len()
}

/// Neighboring pairs of a CJK run. An index gets the single characters too.
fn pairs(run: &str, is_query: bool, each: &mut dyn FnMut(&str)) {
    let mut previous: Option<usize> = None;
    let is_single = run.chars().nth(1).is_none();
    for (at, c) in run.char_indices() {
        let end = at + c.len_utf8();
        if !is_query || is_single {
            each(&run[at..end]);
        }
        if let Some(start) = previous {
            each(&run[start..end]);
        }
        previous = Some(at);
    }
}

fn is_upper(part: &str) -> bool {
    part.bytes().any(|b| b.is_ascii_uppercase()) && !part.bytes().any(|b| b.is_ascii_lowercase())
}

/// The humps of an ASCII identifier: `parseHTTPHeader2` gives `parse`, `HTTP`, `Header`, `2`.
fn humps(part: &str) -> impl Iterator<Item = &str> {
    let bytes = part.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        let first = *bytes.get(start)?;
        let run = |from: usize, test: fn(&u8) -> bool| from + bytes[from..].iter().take_while(|b| test(b)).count();
        at = if first.is_ascii_digit() {
            run(start, u8::is_ascii_digit)
        } else if first.is_ascii_lowercase() {
            run(start, u8::is_ascii_lowercase)
        } else {
            let upper = run(start, u8::is_ascii_uppercase);
            match bytes.get(upper) {
                Some(next) if next.is_ascii_lowercase() && upper - start > 1 => upper - 1,
                Some(next) if next.is_ascii_lowercase() => run(upper, u8::is_ascii_lowercase),
                _ => upper,
            }
        };
        at = at.max(start + 1);
        Some(&part[start..at])
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut terms = Vec::new();
        Tokenizer::default().each(text, |term| terms.push(term.to_owned()));
        assert_eq!(terms.join(" "), expected, "{text:?}");
    }

    #[test]
    fn terms_by_example() {
        check("The tests were failing", "test fail");
        check("run `cargo test --no-run`", "run cargo test no-run run");
        check("src/main.rs:42", "src/main.rs:42 src main rs 42");
        check("snake_case_name", "snake_case_name snake case name");
        check("parseHTTPHeader2", "parsehttpheader2 pars http header 2");
        check("HTTP README", "http readm");
        check("pre-edit hook", "pre-edit pre edit hook");
        check("end. Start", "end start");
        check("naïve Ärger", "naïve ärger");
        check("запомни это", "запомни это");
        check("支付", "支 付 支付");
        check("use支付now", "use 支 付 支付 now");
        check("ＡＢＣ１２", "abc12");
        check("", "");
        check("?!… 🙂", "");
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP.is_sorted());
    }

    #[test]
    fn a_cjk_question_is_pairs() {
        let mut tokenizer = Tokenizer::default();
        assert_eq!(tokenizer.query("消息队列"), ["消息", "息队", "队列"]);
        assert_eq!(tokenizer.query("猫"), ["猫"]);
    }

    #[test]
    fn neighbors_may_be_written_as_one_word() {
        let mut tokenizer = Tokenizer::default();
        assert_eq!(
            tokenizer.compounds("the byte offset"),
            ["byte-offset", "byte.offset", "byte/offset", "byte_offset", "byteoffset"]
        );
        let mut terms = Vec::new();
        tokenizer.each("byteOffset", |term| terms.push(term.to_owned()));
        assert!(terms.contains(&"byteoffset".to_owned()));
        assert!(tokenizer.compounds("the cache").is_empty());
        assert!(tokenizer.compounds("").is_empty());
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,80}") {
            Tokenizer::default().each(&text, |term| assert!(!term.is_empty()));
            Tokenizer::default().compounds(&text);
        }

        #[test]
        fn identifiers_survive(text in "[A-Za-z0-9_./:-]{0,60}") {
            Tokenizer::default().each(&text, |term| assert!(term.len() <= MAX_TERM));
        }
    }
}
