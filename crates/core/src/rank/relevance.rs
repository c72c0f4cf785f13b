//! How well a memory answers a question, on a scale that does not depend on what else is stored.
//!
//! Ranking only says which memory is best; the best of a thousand unrelated ones is still unrelated.
//! [`relevance`] is the share of the question's subject that the memory covers: each term of the
//! question weighs its rarity among the memories at hand, a term nobody ever stored weighs most.

use std::collections::BTreeSet;

use super::score;
use super::terms::{self, Tokenizer};

/// A durable memory is shown unasked from here on.
pub const DURABLE_FROM: f32 = 0.45;

/// What the person once said, verbatim, is shown unasked from here on.
pub const TURN_FROM: f32 = 0.62;

/// A rule must be this sure of a durable memory for it to be shown unasked.
pub const CONFIDENCE_FROM: f32 = 0.5;

/// Words of coding talk that say little about a subject, whatever their frequency. Stems, sorted.
const WEAK: &[&str] = &[
    "add",
    "anyth",
    "ask",
    "better",
    "chang",
    "check",
    "code",
    "come",
    "creat",
    "current",
    "explain",
    "file",
    "find",
    "fix",
    "get",
    "give",
    "go",
    "good",
    "happen",
    "help",
    "implement",
    "kind",
    "know",
    "let",
    "like",
    "list",
    "look",
    "made",
    "make",
    "mean",
    "need",
    "new",
    "now",
    "ok",
    "one",
    "pleas",
    "possibl",
    "project",
    "put",
    "question",
    "read",
    "realli",
    "remov",
    "repositori",
    "run",
    "say",
    "see",
    "set",
    "show",
    "someth",
    "start",
    "still",
    "sure",
    "take",
    "tell",
    "thank",
    "thing",
    "think",
    "time",
    "today",
    "tri",
    "two",
    "understand",
    "updat",
    "us",
    "use",
    "want",
    "way",
    "work",
    "write",
    "yes",
];

/// The subject of a question: its distinct terms with their weights.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Subject {
    terms: Vec<(String, f32)>,
}

impl Subject {
    /// Reads a question. `found` returns in how many of the `total` memories at hand a term occurs.
    pub fn new(query: &str, total: usize, found: impl Fn(&str) -> usize) -> Self {
        let distinct: BTreeSet<String> = Tokenizer::default().query(query).into_iter().collect();
        // In a nearly empty store every term looks common: weigh as if some more were there.
        let total = total.max(50);
        let terms = distinct
            .into_iter()
            .map(|term| {
                let weight = score::idf(found(&term), total);
                let weight = if WEAK.binary_search(&term.as_str()).is_ok() { weight * 0.3 } else { weight };
                (term, weight)
            })
            .collect();
        Self { terms }
    }

    /// Returns the share of the subject that `text` covers, 0 to 1, and how many strong terms it shares.
    fn coverage(&self, text: &str, tokenizer: &mut Tokenizer) -> (f32, usize) {
        let mut present = BTreeSet::new();
        tokenizer.each(text, |term| {
            present.insert(terms::hash(term));
        });
        let (mut covered, mut all, mut n_strong) = (0.0, 0.0, 0);
        for (term, weight) in &self.terms {
            all += weight;
            if present.contains(&terms::hash(term)) {
                covered += weight;
                n_strong += usize::from(WEAK.binary_search(&term.as_str()).is_err());
            }
        }
        if all > 0.0 { (covered / all, n_strong) } else { (0.0, 0) }
    }
}

/// Returns how well `text` answers the question, 0 to 1.
///
/// Three quarters coverage of the subject, one quarter cosine. Without one strong word in common it
/// takes a cosine that unrelated texts do not reach (0.5 and more); a long question cannot be covered
/// by one memory, so two strong words in common and closeness make up for what is missing.
pub fn relevance(subject: &Subject, text: &str, cosine: f32, tokenizer: &mut Tokenizer) -> f32 {
    let (coverage, n_strong) = subject.coverage(text, tokenizer);
    let cosine = cosine.clamp(0.0, 1.0);
    let closeness = ((cosine - 0.15) / 0.55).clamp(0.0, 1.0);
    let sum = 0.70 * coverage + 0.30 * closeness;
    match n_strong {
        0 => sum.min(closeness * 0.6),
        1 => sum,
        _ => sum.max(0.5 * closeness + 0.1 * (n_strong.min(4) as f32)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_words_are_sorted() {
        assert!(WEAK.is_sorted());
    }

    #[test]
    fn coverage_needs_the_subject() {
        let subject = Subject::new("What is the acceptance marker for this project?", 500, |_| 1);
        let mut tokenizer = Tokenizer::default();
        let hit =
            relevance(&subject, "The acceptance marker for this project is cobalt-orchid-731.", 0.7, &mut tokenizer);
        let miss = relevance(&subject, "The project uses tabs for indentation.", 0.2, &mut tokenizer);
        assert!(hit >= TURN_FROM, "{hit}");
        assert!(miss < DURABLE_FROM, "{miss}");
    }
}
