//! Questions: which rows may answer, how good each is, and what is shown.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use jiff::tz::TimeZone;
use mem0_code_core::filter::Filter;
use mem0_code_core::memory::Memory;
use mem0_code_core::rank::closeness::Closeness;
use mem0_code_core::rank::cues::{self, Flags};
use mem0_code_core::rank::embed;
use mem0_code_core::rank::excerpt::excerpt;
use mem0_code_core::rank::relevance::{self, Subject};
use mem0_code_core::rank::score::CHECKED;
use mem0_code_core::rank::terms::{self, Tokenizer};
use mem0_code_core::rank::time;
use rusqlite::Connection;
use serde_json::Value;

use super::allowed::{Allowed, Bits};
use super::doc::Doc;
use super::score::{self, Question, Scores};
use super::segment::Segment;
use super::simd::Probe;
use super::view::View;
use super::{Embedded, rows};
use crate::api::{ApiError, Purpose, SearchRequest};

/// A question is read up to this many bytes; what follows would be a pasted file.
const MAX_QUERY: usize = 8_000;

/// Verbatim turns are shown up to this many characters, around the match; `get` has the whole.
const TURN_CHARS: usize = 600;

/// So much of a memory is read for the nearness of the question's terms.
const CHECKED_CHARS: u32 = 12_000;

/// Cosine from which two memories say the same.
const SAME: f32 = 0.95;

/// Without a usable segment, this many rows are indexed on the spot: the best by FTS5 and the newest.
const FALLBACK_ROWS: usize = 400;

/// Views kept for the next question of a long-lived process.
const VIEWS: usize = 4;

/// A view with what it was made from.
pub(super) struct Kept {
    filter: String,
    state: State,
    view: Arc<View>,
}

/// Which index there is: a view is good as long as this stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    /// The segment's file name, when there is one.
    pub(super) segment: Option<String>,
    /// The last change.
    rev: i64,
}

impl State {
    pub(super) fn read(db: &Connection) -> rusqlite::Result<Self> {
        let rev = db
            .prepare_cached("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'pending'), 0)")?
            .query_row([], |row| row.get(0))?;
        Ok(Self { segment: super::store::meta(db, "segment")?, rev })
    }
}

impl Embedded {
    /// The search behind `MemoryApi::search`.
    pub(super) fn find(&mut self, request: &SearchRequest) -> Result<Vec<Memory>, ApiError> {
        let query = bounded(&request.query);
        let terms = self.indexer.tokenizer.query(query);
        if !query.chars().any(char::is_alphanumeric) {
            return Ok(Vec::new());
        }
        let filter = Filter::parse(&request.filters).map_err(|error| ApiError::Invalid(error.to_string()))?;
        if !self.connect()? {
            return Ok(Vec::new());
        }
        self.ranked(request, query, &terms, &filter).map_err(super::store::store_error(&self.path.clone()))
    }

    fn ranked(
        &mut self,
        request: &SearchRequest,
        query: &str,
        terms: &[String],
        filter: &Filter,
    ) -> rusqlite::Result<Vec<Memory>> {
        let db = self.db.take().ok_or(rusqlite::Error::InvalidQuery)?;
        let result = self.ranked_on(&db, request, query, terms, filter);
        self.db = Some(db);
        result
    }

    fn ranked_on(
        &mut self,
        db: &Connection,
        request: &SearchRequest,
        query: &str,
        terms: &[String],
        filter: &Filter,
    ) -> rusqlite::Result<Vec<Memory>> {
        // One snapshot: the segment's name, the tail and the rows belong together. A worker may replace the
        // file between the snapshot and the opening: then the next snapshot names the new one.
        let mut snapshot = db.unchecked_transaction()?;
        for _ in 0..2 {
            let state = State::read(db)?;
            if state.segment.is_none() || self.segment(&state).is_some() {
                break;
            }
            snapshot.commit()?;
            snapshot = db.unchecked_transaction()?;
        }
        let view = self.view(db, &request.filters, filter, query)?;
        let vector = self.indexer.embed(query);
        let zone = || request.now.to_zoned_datetime(TimeZone::system());
        let compounds = self.indexer.tokenizer.compounds(query);
        let question = Question {
            terms: Question::count(terms, &compounds, self.weights.compound),
            vector,
            cues: cues::cues_of(query),
            window: time::window(query, &zone()),
            hints: self.hints(db, &view, query, terms)?,
        };
        let mut scores = score::scores(&view, &question, &self.weights);
        self.add_closeness(db, terms, &view, &question, &mut scores)?;
        let scores = scores.docs;
        let found = match request.purpose {
            Purpose::Search => self.shown(db, request, query, filter, &view, &scores),
            Purpose::Recall => self.recalled(db, request, query, filter, &view, &question, &scores),
        };
        snapshot.commit()?;
        found
    }

    /// Reads the best memories and adds what the nearness of the question's terms in them is worth.
    fn add_closeness(
        &mut self,
        db: &Connection,
        terms: &[String],
        view: &View,
        question: &Question,
        scores: &mut Scores,
    ) -> rusqlite::Result<()> {
        let closeness = Closeness::new(terms, |hash| scores.idf(question, hash));
        if closeness.is_empty() || self.weights.close == 0.0 {
            return Ok(());
        }
        // People who talk by name: a question has the name beside what was done, an answer has it only as its
        // speaker. There the signal is noise (measured: -0.5 points of nDCG).
        let is_named_talk = |doc: usize| view.flags[doc].has(Flags::TALK) && view.speakers[doc] != 0;
        for (doc, _) in score::best(view, &scores.docs, CHECKED, |_| true) {
            let doc = doc as usize;
            // What the person said to an agent is no such talk, even when the person has a name.
            let is_asked = view.flags[doc].has(Flags::USER) || !is_named_talk(doc);
            if is_asked
                && scores.lexical[doc] > 0.0
                && let Some(text) = rows::beginning(db, i64::from(view.seqs[doc]), CHECKED_CHARS)?
            {
                scores.docs[doc] += self.weights.close * closeness.of(&text, &mut self.indexer.tokenizer);
            }
        }
        Ok(())
    }

    /// Everything that matches, best first, near duplicates folded.
    fn shown(
        &self,
        db: &Connection,
        request: &SearchRequest,
        query: &str,
        filter: &Filter,
        view: &View,
        scores: &[f32],
    ) -> rusqlite::Result<Vec<Memory>> {
        let mut out = Vec::new();
        let mut shown = Shown::default();
        let wanted = request.top_k * 2 + 20;
        for (doc, score) in score::best(view, scores, wanted, |_| true) {
            if out.len() == request.top_k {
                break;
            }
            let Some(row) = rows::by_seq(db, i64::from(view.seqs[doc as usize]))? else { continue };
            // The index only proposes: what a filter says of the row itself decides.
            if !filter.matches(&row.memory) || !shown.is_new(view, doc, row.hash) {
                continue;
            }
            out.push(present(row, query, score));
        }
        Ok(out)
    }

    /// Only what is worth its tokens unasked.
    #[expect(clippy::too_many_arguments, reason = "one question's parts, used once")]
    fn recalled(
        &self,
        db: &Connection,
        request: &SearchRequest,
        query: &str,
        filter: &Filter,
        view: &View,
        question: &Question,
        scores: &[f32],
    ) -> rusqlite::Result<Vec<Memory>> {
        let subject = Subject::new(query, view.n_pieces(), |term| score::frequency(view, term));
        let probe = Probe::new(&question.vector);
        let asked = rows::text_hash(query);
        let durable = |doc: u32| {
            let flags = view.flags[doc as usize];
            flags.has(Flags::DURABLE) && !flags.has(Flags::SUPERSEDED)
        };
        let said = |doc: u32| {
            let flags = view.flags[doc as usize];
            flags.has(Flags::USER) && !flags.has(Flags::QUESTION) && !flags.has(Flags::SUPERSEDED)
        };
        let mut tokenizer = Tokenizer::default();
        let mut out = Vec::new();
        let mut shown = Shown::default();
        // Turns whose durable memory is shown already: they would say the same again in more words.
        let mut told: HashSet<String> = HashSet::new();
        let legs: [(&dyn Fn(u32) -> bool, f32); 2] =
            [(&durable, relevance::DURABLE_FROM), (&said, relevance::TURN_FROM)];
        for (is_wanted, threshold) in legs {
            let mut relevant = Vec::new();
            for (doc, score) in score::best(view, scores, request.top_k.max(10) * 3, is_wanted) {
                let Some(row) = rows::by_seq(db, i64::from(view.seqs[doc as usize]))? else { continue };
                let is_sure = !row.is_durable || row.confidence >= relevance::CONFIDENCE_FROM;
                if !is_sure || row.is_superseded || !filter.matches(&row.memory) {
                    continue;
                }
                let text = excerpt(&row.memory.memory, query, TURN_CHARS);
                let relevance = relevance::relevance(&subject, &text, view.cosine(doc, &probe), &mut tokenizer);
                if relevance >= threshold && row.hash != asked {
                    relevant.push((relevance, score, doc, row));
                }
            }
            relevant.sort_by(|a, b| (b.0 + 0.2 * b.1).total_cmp(&(a.0 + 0.2 * a.1)));
            for (_, score, doc, row) in relevant {
                let is_told = told.contains(&row.memory.id);
                if out.len() < request.top_k && !is_told && shown.is_new(view, doc, row.hash) {
                    told.extend(sources(&row.memory));
                    out.push(present(row, query, score));
                }
            }
        }
        Ok(out)
    }

    /// The allowed memories, from the last question when nothing has changed since.
    fn view(&mut self, db: &Connection, written: &Value, filter: &Filter, query: &str) -> rusqlite::Result<Arc<View>> {
        let state = State::read(db)?;
        let key = written.to_string();
        self.views.retain(|kept| kept.state == state);
        if let Some(kept) = self.views.iter().find(|kept| kept.filter == key) {
            return Ok(Arc::clone(&kept.view));
        }
        let allowed = Allowed::new(db, filter, written)?;
        let segment = self.segment(&state);
        let is_whole = segment.is_some() || state.segment.is_none();
        let (stale, mut tail) = self.tail(db)?;
        if !is_whole {
            let known: HashSet<u32> = tail.iter().map(|doc| doc.seq).collect();
            let found = self.fallback(db, &allowed, query, &known)?;
            tail.extend(found);
        }
        let view = Arc::new(View::new(segment, &stale, tail, &allowed));
        if is_whole {
            self.views.truncate(VIEWS - 1);
            self.views.insert(0, Kept { filter: key, state, view: Arc::clone(&view) });
        }
        Ok(view)
    }

    /// The open segment; `None` when there is none, or none that can be used.
    pub(super) fn segment(&mut self, state: &State) -> Option<Arc<Segment>> {
        let name = state.segment.as_ref()?;
        if self.open_segment.as_ref().is_none_or(|(open, _)| open != name) {
            let segment = self.database.and_then(|database| Segment::open(&self.folder().join(name), database));
            self.open_segment = segment.map(|segment| (name.clone(), Arc::new(segment)));
        }
        self.open_segment.as_ref().map(|(_, segment)| Arc::clone(segment))
    }

    /// The rows that the segment does not show, and the index entries of those that are still there.
    pub(super) fn tail(&mut self, db: &Connection) -> rusqlite::Result<(Bits, Vec<Doc>)> {
        let mut stale = Bits::default();
        let mut docs = Vec::new();
        let mut statement = db.prepare_cached("SELECT seq, doc FROM pending")?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            let seq: i64 = row.get(0)?;
            stale.set(seq);
            let Some(bytes) = row.get_ref(1)?.as_blob_or_null().ok().flatten() else { continue };
            // An entry of another version is made again from the row.
            let doc = match Doc::decode(bytes) {
                Some(doc) => Some(doc),
                None => rows::doc_of(db, &mut self.indexer, seq)?,
            };
            docs.extend(doc);
        }
        Ok((stale, docs))
    }

    /// What can be searched without the segment: the best rows by FTS5, those with the question's CJK
    /// words, and the newest.
    fn fallback(
        &mut self,
        db: &Connection,
        allowed: &Allowed,
        query: &str,
        known: &HashSet<u32>,
    ) -> rusqlite::Result<Vec<Doc>> {
        let mut seqs: Vec<i64> = Vec::new();
        let words: Vec<String> = query
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty() && !terms::is_stop(&word.to_lowercase()))
            .take(64)
            .map(|word| format!("\"{word}\"*"))
            .collect();
        let candidates = |sql: &str, value: &str| -> rusqlite::Result<Vec<i64>> {
            let mut statement = db.prepare_cached(sql)?;
            let mut out = Vec::new();
            let mut found = statement.query([value])?;
            while let Some(row) = found.next()? {
                let (seq, facet, owner): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
                let small = |id: i64| u32::try_from(id).unwrap_or(u32::MAX);
                if allowed.passes(small(owner), small(facet), small(seq)) {
                    out.push(seq);
                }
                if out.len() == FALLBACK_ROWS {
                    break;
                }
            }
            Ok(out)
        };
        if !words.is_empty() {
            seqs.extend(candidates(
                "SELECT m.seq, m.facet, f.owner FROM words JOIN memory m ON m.seq = words.rowid JOIN facet f ON f.id = m.facet \
                 WHERE words MATCH ?1 ORDER BY bm25(words)",
                &words.join(" OR "),
            )?);
        }
        for run in query.split(|c: char| !terms::is_cjk(c)).filter(|run| !run.is_empty()).take(8) {
            seqs.extend(candidates(
                "SELECT m.seq, m.facet, f.owner FROM memory m JOIN facet f ON f.id = m.facet \
                 WHERE instr(m.text, ?1) > 0 ORDER BY m.seq DESC",
                run,
            )?);
        }
        seqs.extend(candidates(
            "SELECT m.seq, m.facet, f.owner FROM memory m JOIN facet f ON f.id = m.facet WHERE ?1 IS NOT NULL ORDER BY m.seq DESC",
            "",
        )?);
        let mut out = Vec::new();
        let mut taken = HashSet::new();
        for seq in seqs {
            if taken.insert(seq) && !u32::try_from(seq).is_ok_and(|seq| known.contains(&seq)) {
                out.extend(rows::doc_of(db, &mut self.indexer, seq)?);
            }
        }
        Ok(out)
    }

    /// Rows that hold a quoted passage word for word, or a word that begins like one nobody wrote.
    fn hints(
        &self,
        db: &Connection,
        view: &View,
        query: &str,
        terms: &[String],
    ) -> rusqlite::Result<BTreeMap<u32, f32>> {
        let mut out: BTreeMap<u32, f32> = BTreeMap::new();
        let mut statement = db.prepare_cached("SELECT rowid FROM words WHERE words MATCH ?1 LIMIT 400")?;
        let mut add = |phrase: &str, worth: f32| -> rusqlite::Result<()> {
            for seq in statement.query_map([phrase], |row| row.get::<_, u32>(0))? {
                let slot = out.entry(seq?).or_default();
                *slot = slot.max(worth);
            }
            Ok(())
        };
        for quote in cues::cues_of(query).quotes {
            let words = rows::plain(&quote);
            if words.contains(char::is_alphanumeric) {
                add(&format!("\"{}\"", words.replace('"', "\"\"")), self.weights.quote)?;
            }
        }
        for term in terms.iter().take(32) {
            let is_word =
                term.len() >= 4 && term.chars().all(char::is_alphanumeric) && !term.chars().any(terms::is_cjk);
            if is_word && score::frequency(view, term) == 0 {
                add(&format!("\"{term}\"*"), self.weights.beginning)?;
            }
        }
        Ok(out)
    }
}

/// What has been shown, so that the same is not shown twice.
#[derive(Default)]
struct Shown {
    texts: HashSet<i64>,
    vectors: Vec<embed::Vector>,
}

impl Shown {
    /// Takes note of a memory; false when one that says the same was there before.
    fn is_new(&mut self, view: &View, doc: u32, hash: i64) -> bool {
        if !self.texts.insert(hash) {
            return false;
        }
        let vector = view.vector(doc);
        let is_new =
            view.vectors(doc).len() != 1 || self.vectors.iter().all(|other| embed::cosine(other, &vector) <= SAME);
        if is_new {
            self.vectors.push(vector);
        }
        is_new
    }
}

fn present(row: rows::Stored, query: &str, score: f32) -> Memory {
    let mut memory = row.memory;
    if !row.is_durable {
        memory.memory = excerpt(&memory.memory, query, TURN_CHARS);
    }
    memory.score = Some((f64::from(score) * 10_000.0).round() / 10_000.0);
    memory
}

fn bounded(query: &str) -> &str {
    let mut end = query.len().min(MAX_QUERY);
    while !query.is_char_boundary(end) {
        end -= 1;
    }
    query[..end].trim()
}

/// The turns a durable memory comes from.
fn sources(memory: &Memory) -> impl Iterator<Item = String> {
    let sources = memory.metadata.as_ref().and_then(|metadata| metadata.get("sources")).and_then(Value::as_array);
    sources.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned)
}
