//! Words that stand together in the question stand together in its answer.
//!
//! BM25 does not see order: a long report that has every word of a question somewhere beats the sentence
//! that says it. [`Closeness`] reads the best candidates' texts and measures how near each other they
//! have the terms that are neighbors in the question.

use super::terms::{self, Tokenizer};

/// Terms of a question that are looked at; what follows is pasted text.
const MAX_TERMS: usize = 32;

/// Occurrences of a term that are remembered.
const MAX_PLACES: usize = 64;

/// Two terms at most this far apart are together.
const TOGETHER: u32 = 2;

/// Two terms farther apart than this are not related.
const RELATED: u32 = 8;

/// In a text of this many terms nearness is worth half: there everything is near everything.
const SHORT: f32 = 4.0;

/// The pairs of a question's terms that are next to each other, or have one term between them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Closeness {
    /// Distinct terms by hash, ascending.
    terms: Vec<u64>,
    /// Two places in `terms`, and the pair's share of all.
    pairs: Vec<(usize, usize, f32)>,
}

impl Closeness {
    /// Reads a question's terms, in order. A pair weighs as its terms do: `weight_of` is their rarity.
    pub fn new(asked: &[String], weight_of: impl Fn(u64) -> f32) -> Self {
        let asked: Vec<u64> = asked.iter().take(MAX_TERMS).map(|term| terms::hash(term)).collect();
        let mut terms = asked.clone();
        terms.sort_unstable();
        terms.dedup();
        let place = |hash: &u64| terms.binary_search(hash).ok();
        let next = asked.iter().zip(asked.iter().skip(1));
        let next_but_one = asked.iter().zip(asked.iter().skip(2));
        let mut pairs: Vec<(usize, usize, f32)> = next
            .chain(next_but_one)
            .filter(|(a, b)| a != b)
            .filter_map(|(a, b)| Some((place(a)?, place(b)?, weight_of(*a) + weight_of(*b))))
            .collect();
        let total: f32 = pairs.iter().map(|(_, _, weight)| weight).sum();
        pairs.iter_mut().for_each(|(_, _, weight)| *weight /= total.max(1e-6));
        Self { terms, pairs }
    }

    /// Tells whether the question has no pairs: then every text is worth 0.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns the share of the pairs that `text` has together, 0 to 1.
    pub fn of(&self, text: &str, tokenizer: &mut Tokenizer) -> f32 {
        let mut places: Vec<Vec<u32>> = vec![Vec::new(); self.terms.len()];
        let mut length = 0_u32;
        tokenizer.each(text, |term| {
            if let Ok(at) = self.terms.binary_search(&terms::hash(term))
                && places[at].len() < MAX_PLACES
            {
                places[at].push(length);
            }
            length = length.saturating_add(1);
        });
        let sum: f32 = self
            .pairs
            .iter()
            .filter_map(|(a, b, weight)| match nearest(&places[*a], &places[*b])? {
                0..=TOGETHER => Some(*weight),
                apart @ ..=RELATED => Some(*weight * TOGETHER as f32 / apart as f32),
                _ => None,
            })
            .sum();
        sum * length as f32 / (length as f32 + SHORT)
    }
}

/// Returns the least distance between two ascending lists; `None` when one is empty.
fn nearest(mut a: &[u32], mut b: &[u32]) -> Option<u32> {
    let mut least = None;
    while let (Some(first), Some(second)) = (a.first(), b.first()) {
        let apart = first.abs_diff(*second);
        least = Some(least.map_or(apart, |least: u32| least.min(apart)));
        if first < second {
            a = &a[1..];
        } else {
            b = &b[1..];
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closeness(question: &str, text: &str) -> f32 {
        let mut tokenizer = Tokenizer::default();
        Closeness::new(&tokenizer.query(question), |_| 1.0).of(text, &mut tokenizer)
    }

    #[test]
    fn neighbors_of_the_question_count_when_near() {
        let together = closeness("retry limit", "the retry limit is five, set in the client settings of the uploader");
        let apart =
            closeness("retry limit", "retry the upload once; the client settings of the uploader hold the limit");
        let none = closeness("retry limit", "the limit of the client settings");
        assert!(together > apart && apart > none && none == 0.0, "{together} {apart} {none}");
        assert!(together < 1.0);
    }

    #[test]
    fn one_term_has_no_neighbors() {
        assert_eq!(closeness("cache", "cache cache cache"), 0.0);
        assert_eq!(closeness("cache cache", "cache cache cache"), 0.0);
        assert_eq!(closeness("", "cache"), 0.0);
    }

    #[test]
    fn a_pair_of_rare_terms_weighs_more() {
        let mut tokenizer = Tokenizer::default();
        let asked = tokenizer.query("blue pier with some cheese");
        let rare = [terms::hash("blue"), terms::hash("pier")];
        let closeness = Closeness::new(&asked, |hash| if rare.contains(&hash) { 5.0 } else { 0.1 });
        assert!(closeness.of("a blue pier", &mut tokenizer) > closeness.of("some cheese", &mut tokenizer));
    }

    #[test]
    fn the_least_distance_is_found() {
        assert_eq!(nearest(&[1, 50], &[20, 52]), Some(2));
        assert_eq!(nearest(&[], &[1]), None);
    }
}
