//! Scoring a view: postings and vectors into signals, signals into one score a memory.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mem0_code_core::rank::cues::{Cues, Flags};
use mem0_code_core::rank::embed::Vector;
use mem0_code_core::rank::score::{PIECE, SESSION, Weights, idf, scale_to_best};
use mem0_code_core::rank::terms;
use mem0_code_core::rank::time::Window;

use super::simd::Probe;
use super::view::{NONE, SKETCHES_FROM, View};

/// After a scan of sketches this many memories get their exact cosine.
const RESCORED: usize = 1_000;

/// A question, taken apart.
pub(crate) struct Question {
    /// Distinct terms by hash, with how often each is asked for.
    pub(crate) terms: Vec<(u64, f32)>,
    pub(crate) vector: Vector,
    pub(crate) cues: Cues,
    pub(crate) window: Option<Window>,
    /// Rows found by other means (exact phrases, beginnings of words), with what that is worth.
    pub(crate) hints: BTreeMap<u32, f32>,
}

impl Question {
    /// Counts the terms of a question; `compounds` that are none of them weigh `compound` each.
    pub(crate) fn count(terms: &[String], compounds: &[String], compound: f32) -> Vec<(u64, f32)> {
        let mut counts: BTreeMap<u64, f32> = BTreeMap::new();
        for term in terms {
            *counts.entry(terms::hash(term)).or_default() += 1.0;
        }
        if compound > 0.0 {
            for term in compounds {
                counts.entry(terms::hash(term)).or_insert(compound);
            }
        }
        counts.into_iter().collect()
    }
}

/// What a view is worth for a question.
pub(crate) struct Scores {
    /// The score of every memory.
    pub(crate) docs: Vec<f32>,
    /// BM25 of every memory, 1 at the best.
    pub(crate) lexical: Vec<f32>,
    /// The inverse frequency of each term of the question, in its order.
    idfs: Vec<f32>,
}

impl Scores {
    /// The inverse frequency of a term of the question.
    pub(crate) fn idf(&self, question: &Question, hash: u64) -> f32 {
        let at = question.terms.binary_search_by_key(&hash, |(hash, _)| *hash).ok();
        at.and_then(|at| self.idfs.get(at)).copied().unwrap_or(0.0)
    }
}

/// Returns the score of every memory of a view.
pub(crate) fn scores(view: &View, question: &Question, weights: &Weights) -> Scores {
    let lexical = lexical(view, &question.terms);
    let mut cosines = cosines(view, &Probe::new(&question.vector));
    scale_to_best(&mut cosines);
    let session_cosines = session_cosines(view, &cosines);
    let mut out: Vec<f32> = (0..view.n_docs())
        .map(|doc| {
            let flags = view.flags[doc];
            let session = view.sessions[doc] as usize;
            let mut sum = lexical.docs[doc]
                + weights.session * lexical.sessions[session]
                + weights.dense * cosines[doc]
                + weights.standing(flags, view.speakers[doc], &question.cues)
                + timeliness(view, question, weights, doc);
            if flags.has(Flags::TALK) {
                sum += weights.session_dense * session_cosines[session];
            }
            sum
        })
        .collect();
    add_neighbors(view, &lexical.docs, weights, &mut out);
    if !question.hints.is_empty() {
        for (score, seq) in out.iter_mut().zip(&view.seqs) {
            *score += question.hints.get(seq).copied().unwrap_or(0.0);
        }
    }
    Scores { docs: out, lexical: lexical.docs, idfs: lexical.idfs }
}

/// A tie-break by age, and how near the memory lies to the time the question names. Times ahead of the
/// newest memory cannot occur; a clock that was ahead only makes its memories the newest.
fn timeliness(view: &View, question: &Question, weights: &Weights, doc: usize) -> f32 {
    let age_days = view.newest.saturating_sub(view.times[doc]) as f32 / 86_400.0;
    let recency = if question.cues.wants_latest { 5.0 * weights.recency } else { weights.recency };
    let window = question.window.map_or(0.0, |window| {
        let at = Timestamp::from_second(i64::from(view.times[doc])).unwrap_or_default();
        weights.window * window.closeness(at)
    });
    recency / (1.0 + age_days / 30.0) + window
}

/// Adds what was said just before and after, and one step further.
fn add_neighbors(view: &View, lexical: &[f32], weights: &Weights, out: &mut [f32]) {
    for doc in 0..view.n_docs() {
        let before = view.previous[doc];
        if before == NONE || !view.flags[doc].has(Flags::TALK) {
            continue;
        }
        let before = before as usize;
        out[doc] += weights.neighbor * lexical[before];
        out[before] += weights.neighbor * lexical[doc];
        let second = view.previous[before];
        if second != NONE {
            out[doc] += weights.second_neighbor * lexical[second as usize];
            out[second as usize] += weights.second_neighbor * lexical[doc];
        }
    }
}

struct Lexical {
    /// BM25 of each memory's best piece, 1 at the best.
    docs: Vec<f32>,
    /// BM25 of each session, 1 at the best.
    sessions: Vec<f32>,
    /// The inverse frequency of each term.
    idfs: Vec<f32>,
}

fn lexical(view: &View, terms: &[(u64, f32)]) -> Lexical {
    let mut pieces = vec![0_f32; view.n_pieces()];
    let mut sessions = vec![0_f32; view.n_sessions()];
    let mut in_session = vec![0_f32; view.n_sessions()];
    let mut touched: Vec<u32> = Vec::new();
    let mut postings = Vec::new();
    let mut idfs = Vec::with_capacity(terms.len());
    for (hash, asked) in terms {
        view.postings(*hash, &mut postings);
        let rarity = idf(postings.len(), view.n_pieces());
        idfs.push(rarity);
        let weight = asked * rarity;
        for (piece, tf) in &postings {
            pieces[*piece as usize] += PIECE.normed(weight, f32::from(*tf), view.piece_norm(*piece));
        }
        // Two words written as one name a thing in a sentence; what a session is about has the words alone.
        if *asked < 1.0 {
            continue;
        }
        for (piece, tf) in &postings {
            let tf = f32::from(*tf);
            let session = view.piece_session(*piece);
            let total = &mut in_session[session as usize];
            if *total == 0.0 {
                touched.push(session);
            }
            *total += tf;
        }
        let weight = asked * idf(touched.len(), view.n_sessions());
        for session in touched.drain(..) {
            let tf = std::mem::take(&mut in_session[session as usize]);
            sessions[session as usize] += SESSION.term(weight, tf, view.session_length(session), view.mean_session);
        }
    }
    let mut docs = vec![0_f32; view.n_docs()];
    for (piece, score) in (0..).zip(&pieces) {
        let doc = &mut docs[view.piece_doc(piece) as usize];
        *doc = doc.max(*score);
    }
    scale_to_best(&mut docs);
    scale_to_best(&mut sessions);
    Lexical { docs, sessions, idfs }
}

/// The cosine of every memory's nearest piece; negative ones are 0.
fn cosines(view: &View, probe: &Probe) -> Vec<f32> {
    let n_docs = view.n_docs() as u32;
    let mut distances = Vec::new();
    if view.n_vectors() >= SKETCHES_FROM as usize {
        view.distances(probe, &mut distances);
    }
    if distances.is_empty() {
        return (0..n_docs).map(|doc| view.cosine(doc, probe)).collect();
    }
    let nearest = |doc: u32| {
        let range = view.vectors(doc);
        distances[range.start as usize..range.end as usize]
            .iter()
            .min()
            .map_or(256, |least| usize::from(*least).min(256))
    };
    // The share of equal signs tells the angle: near enough for the many, exact for the best. Estimates
    // scatter; those of the unchecked are lowered, so that they do not outshine a checked one.
    let estimates: Vec<f32> =
        (0..=256).map(|distance| 0.8 * (std::f32::consts::PI * distance as f32 / 256.0).cos().max(0.0)).collect();
    let mapped: Vec<u16> = (0..view.n_mapped() as u32).map(|doc| nearest(doc) as u16).collect();
    let mut counts = [0_usize; 257];
    mapped.iter().for_each(|distance| counts[usize::from(*distance)] += 1);
    let mut left = RESCORED;
    let limit =
        counts.iter().take_while(|count| left.checked_sub(**count).inspect(|rest| left = *rest).is_some()).count();
    (0..n_docs)
        .map(|doc| match mapped.get(doc as usize) {
            Some(distance) if usize::from(*distance) >= limit => estimates[usize::from(*distance)],
            _ => view.cosine(doc, probe),
        })
        .collect()
}

fn session_cosines(view: &View, cosines: &[f32]) -> Vec<f32> {
    let mut out = vec![0_f32; view.n_sessions()];
    for (cosine, session) in cosines.iter().zip(&view.sessions) {
        let best = &mut out[*session as usize];
        *best = best.max(*cosine);
    }
    out
}

/// Returns the `n` best memories with their scores, best first; equal scores go by arrival, oldest first.
pub(crate) fn best(view: &View, scores: &[f32], n: usize, is_wanted: impl Fn(u32) -> bool) -> Vec<(u32, f32)> {
    let by_score = |a: &(u32, f32), b: &(u32, f32)| {
        b.1.total_cmp(&a.1).then_with(|| view.seqs[a.0 as usize].cmp(&view.seqs[b.0 as usize]))
    };
    // Whenever twice as many as asked for have come, the worse half goes and the bar rises.
    let mut ranked: Vec<(u32, f32)> = Vec::with_capacity(2 * n + 1);
    let mut bar = f32::NEG_INFINITY;
    for (doc, score) in (0..).zip(scores.iter().copied()) {
        if score < bar || !is_wanted(doc) {
            continue;
        }
        ranked.push((doc, score));
        if ranked.len() > 2 * n {
            ranked.sort_unstable_by(by_score);
            ranked.truncate(n);
            bar = ranked.last().map_or(bar, |(_, score)| *score);
        }
    }
    ranked.sort_unstable_by(by_score);
    ranked.truncate(n);
    ranked
}

/// Returns in how many pieces of the view each term occurs, for `relevance::Subject`.
pub(crate) fn frequency(view: &View, term: &str) -> usize {
    let mut postings = Vec::new();
    view.postings(terms::hash(term), &mut postings);
    postings.len()
}
