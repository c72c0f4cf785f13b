//! A scope laid out for scoring: the allowed memories of the segment and of the tail behind it, numbered
//! from 0, with the statistics of exactly this set.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use mem0_code_core::rank::cues::Flags;
use mem0_code_core::rank::score::PIECE;

use super::allowed::{Allowed, Bits};
use super::doc::Doc;
use super::segment::Segment;
use super::simd::Probe;

/// "No such memory", "not allowed".
pub(crate) const NONE: u32 = u32::MAX;

/// From this many vectors on a scan goes through sketches first.
pub(crate) use super::segment::SKETCHES_FROM;

/// The allowed memories.
pub(crate) struct View {
    segment: Option<Arc<Segment>>,
    tail: Vec<Doc>,
    /// How many memories, the first ones, come from the segment.
    n_mapped: usize,
    /// The row of each memory.
    pub(crate) seqs: Vec<u32>,
    /// See [`Flags`].
    pub(crate) flags: Vec<Flags>,
    pub(crate) speakers: Vec<u32>,
    /// Seconds since 1970.
    pub(crate) times: Vec<u32>,
    /// Session of each memory, numbered from 0.
    pub(crate) sessions: Vec<u32>,
    /// The memory said before in the same conversation, or [`NONE`].
    pub(crate) previous: Vec<u32>,
    /// First piece of each memory, and the number of pieces.
    first_piece: Vec<u32>,
    /// Memory of each piece.
    piece_docs: Vec<u32>,
    /// Session of each piece.
    piece_sessions: Vec<u32>,
    piece_lengths: Vec<u16>,
    /// What a piece's length adds to BM25's denominator.
    piece_norms: Vec<f32>,
    /// First vector of each memory, and the number of vectors.
    first_vector: Vec<u32>,
    /// The segment's vectors, in order; those of the tail follow.
    mapped_vectors: Vec<u32>,
    /// The segment's piece of the first entry of `piece_of`.
    first_mapped_piece: u32,
    /// Our piece of a piece of the segment, or [`NONE`].
    piece_of: Vec<u32>,
    session_lengths: Vec<u32>,
    /// Mean length of a piece, in terms.
    mean_piece: f32,
    /// Mean length of a session, in terms.
    pub(crate) mean_session: f32,
    /// The newest memory's time.
    pub(crate) newest: u32,
}

impl View {
    /// Lays out the memories of `segment` and `tail` that are allowed; `stale` rows of the segment are
    /// left out, their new form is in the tail.
    pub(crate) fn new(segment: Option<Arc<Segment>>, stale: &Bits, tail: Vec<Doc>, allowed: &Allowed) -> Self {
        let mut tail: Vec<Doc> = tail.into_iter().filter(|doc| allowed.passes(doc.owner, doc.facet, doc.seq)).collect();
        tail.sort_by_key(|doc| (doc.session, doc.seq));
        let mut view = Self {
            segment: segment.clone(),
            tail: Vec::new(),
            n_mapped: 0,
            seqs: Vec::new(),
            flags: Vec::new(),
            speakers: Vec::new(),
            times: Vec::new(),
            sessions: Vec::new(),
            previous: Vec::new(),
            first_piece: vec![0],
            piece_docs: Vec::new(),
            piece_sessions: Vec::new(),
            piece_lengths: Vec::new(),
            piece_norms: Vec::new(),
            first_vector: vec![0],
            mapped_vectors: Vec::new(),
            first_mapped_piece: 0,
            piece_of: Vec::new(),
            session_lengths: Vec::new(),
            mean_piece: 0.0,
            mean_session: 0.0,
            newest: 0,
        };
        // Session numbers and last memories of sessions that go on in the tail.
        let mut open: HashMap<u64, (u32, u32)> = tail.iter().map(|doc| (doc.session, (NONE, NONE))).collect();
        if let Some(segment) = &segment {
            view.add_mapped(segment, stale, allowed, &mut open);
        }
        view.n_mapped = view.seqs.len();
        for doc in &tail {
            let (mut session, last) = open.get(&doc.session).copied().unwrap_or((NONE, NONE));
            if session == NONE {
                session = view.session_lengths.len() as u32;
                view.session_lengths.push(0);
            }
            let at = view.push(doc.seq, doc.flags, doc.speaker, doc.time, session, last);
            open.insert(doc.session, (session, if doc.flags.has(Flags::TALK) { at } else { last }));
            for piece in &doc.pieces {
                view.push_piece(at, piece.length);
            }
            view.first_piece.push(view.piece_docs.len() as u32);
            let before = view.first_vector.last().copied().unwrap_or(0);
            view.first_vector.push(before + doc.vectors.len() as u32);
        }
        view.tail = tail;
        let terms: u64 = view.piece_lengths.iter().map(|length| u64::from(*length)).sum();
        view.mean_piece = terms as f32 / view.piece_lengths.len().max(1) as f32;
        view.mean_session = terms as f32 / view.session_lengths.len().max(1) as f32;
        view.piece_norms =
            view.piece_lengths.iter().map(|length| PIECE.norm(f32::from(*length), view.mean_piece)).collect();
        view.piece_lengths = Vec::new();
        view.newest = view.times.iter().copied().max().unwrap_or(0);
        view
    }

    fn add_mapped(&mut self, segment: &Segment, stale: &Bits, allowed: &Allowed, open: &mut HashMap<u64, (u32, u32)>) {
        let passes = |doc: u32| {
            let seq = segment.seq(doc);
            allowed.passes(segment.owner(doc), segment.facet(doc), seq) && !stale.has(seq)
        };
        let docs: Vec<u32> = (0..segment.n_docs()).filter(|doc| passes(*doc)).collect();
        let (Some(first), Some(last)) = (docs.first(), docs.last()) else { return };
        self.first_mapped_piece = segment.pieces(*first).start;
        let n_spanned = segment.pieces(*last).end.saturating_sub(self.first_mapped_piece);
        self.piece_of = vec![NONE; n_spanned as usize];
        let mut mapped_session = NONE;
        let mut before = NONE;
        for doc in docs {
            if segment.session(doc) != mapped_session {
                mapped_session = segment.session(doc);
                self.session_lengths.push(0);
                before = NONE;
            }
            let session = self.session_lengths.len() as u32 - 1;
            let at = self.push(
                segment.seq(doc),
                segment.flags(doc),
                segment.speaker(doc),
                segment.time(doc),
                session,
                before,
            );
            if segment.flags(doc).has(Flags::TALK) {
                before = at;
            }
            if !open.is_empty()
                && let Some(known) = open.get_mut(&segment.session_key(mapped_session))
            {
                *known = (session, before);
            }
            for piece in segment.pieces(doc) {
                let mine = self.push_piece(at, segment.piece_length(piece));
                if let Some(slot) = self.piece_of.get_mut(piece.wrapping_sub(self.first_mapped_piece) as usize) {
                    *slot = mine;
                }
            }
            self.first_piece.push(self.piece_docs.len() as u32);
            self.mapped_vectors.extend(segment.vectors(doc));
            self.first_vector.push(self.mapped_vectors.len() as u32);
        }
    }

    fn push(&mut self, seq: u32, flags: Flags, speaker: u32, time: u32, session: u32, previous: u32) -> u32 {
        self.seqs.push(seq);
        self.flags.push(flags);
        self.speakers.push(speaker);
        self.times.push(time);
        self.sessions.push(session);
        self.previous.push(previous);
        self.seqs.len() as u32 - 1
    }

    fn push_piece(&mut self, doc: u32, length: u16) -> u32 {
        self.piece_docs.push(doc);
        self.piece_sessions.push(self.sessions[doc as usize]);
        self.piece_lengths.push(length);
        if let Some(total) = self.session_lengths.get_mut(self.sessions[doc as usize] as usize) {
            *total += u32::from(length);
        }
        self.piece_docs.len() as u32 - 1
    }

    /// How many memories.
    pub(crate) fn n_docs(&self) -> usize {
        self.seqs.len()
    }

    /// How many pieces.
    pub(crate) fn n_pieces(&self) -> usize {
        self.piece_docs.len()
    }

    /// How many sessions.
    pub(crate) fn n_sessions(&self) -> usize {
        self.session_lengths.len()
    }

    pub(crate) fn n_vectors(&self) -> usize {
        self.first_vector.last().map_or(0, |n| *n as usize)
    }

    /// A session's length in terms.
    pub(crate) fn session_length(&self, session: u32) -> f32 {
        self.session_lengths[session as usize] as f32
    }

    /// What a piece's length adds to BM25's denominator.
    #[inline]
    pub(crate) fn piece_norm(&self, piece: u32) -> f32 {
        self.piece_norms[piece as usize]
    }

    /// The session a piece belongs to.
    #[inline]
    pub(crate) fn piece_session(&self, piece: u32) -> u32 {
        self.piece_sessions[piece as usize]
    }

    #[inline]
    /// The memory a piece belongs to.
    pub(crate) fn piece_doc(&self, piece: u32) -> u32 {
        self.piece_docs[piece as usize]
    }

    /// The vectors of a memory.
    pub(crate) fn vectors(&self, doc: u32) -> Range<u32> {
        self.first_vector[doc as usize]..self.first_vector[doc as usize + 1]
    }

    /// Collects the pieces with a term, ascending, with how often it occurs.
    pub(crate) fn postings(&self, hash: u64, out: &mut Vec<(u32, u8)>) {
        out.clear();
        if let Some(segment) = &self.segment
            && !self.piece_of.is_empty()
        {
            let first = self.first_mapped_piece;
            out.extend(segment.postings(hash).filter_map(|(piece, tf)| {
                let mine = *self.piece_of.get(piece.wrapping_sub(first) as usize)?;
                (mine != NONE).then_some((mine, tf))
            }));
        }
        for (doc, first) in self.tail.iter().zip(&self.first_piece[self.n_mapped..]) {
            for (n, piece) in (0..).zip(&doc.pieces) {
                if let Ok(at) = piece.terms.binary_search_by_key(&hash, |(hash, _)| *hash) {
                    out.push((first + n, piece.terms[at].1));
                }
            }
        }
    }

    /// The cosine of a memory's nearest piece, not below 0.
    pub(crate) fn cosine(&self, doc: u32, probe: &Probe) -> f32 {
        let (mapped, tail) = self.vectors_of(doc);
        let mapped = mapped.iter().filter_map(|vector| {
            let (values, scale) = self.segment.as_ref()?.vector(*vector);
            Some(probe.cosine(values, scale))
        });
        let tail = tail.into_iter().flat_map(|doc| &doc.vectors).map(|vector| {
            let bytes = vector.values.map(i8::cast_unsigned);
            probe.cosine(&bytes, vector.scale)
        });
        mapped.chain(tail).fold(0.0, f32::max)
    }

    fn vectors_of(&self, doc: u32) -> (&[u32], Option<&Doc>) {
        match (doc as usize).checked_sub(self.n_mapped) {
            Some(at) => (&[], self.tail.get(at)),
            None => {
                let range = self.vectors(doc);
                (self.mapped_vectors.get(range.start as usize..range.end as usize).unwrap_or_default(), None)
            }
        }
    }

    /// Sign distances of all vectors of the segment's memories here, in order; empty without sketches.
    pub(crate) fn distances(&self, probe: &Probe, out: &mut Vec<u16>) {
        out.clear();
        let Some(segment) = &self.segment else { return };
        // Runs of neighbors in the file are scanned in one go.
        for run in self.mapped_vectors.chunk_by(|a, b| a + 1 == *b) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
            probe.distances(segment.sketches(*first..last + 1), out);
        }
        if out.len() != self.mapped_vectors.len() {
            out.clear();
        }
    }

    /// How many memories come from the segment; they are the first ones.
    pub(crate) fn n_mapped(&self) -> usize {
        self.n_mapped
    }

    /// The first vector of a memory as floats; zero when it has none.
    pub(crate) fn vector(&self, doc: u32) -> mem0_code_core::rank::embed::Vector {
        let mut out = [0.0; mem0_code_core::rank::embed::DIMS];
        let (mapped, tail) = self.vectors_of(doc);
        if let (Some(vector), Some(segment)) = (mapped.first(), &self.segment) {
            let (values, scale) = segment.vector(*vector);
            out.iter_mut().zip(values).for_each(|(to, from)| *to = f32::from(from.cast_signed()) * scale);
        } else if let Some(vector) = tail.and_then(|doc| doc.vectors.first()) {
            out.iter_mut().zip(vector.values).for_each(|(to, from)| *to = f32::from(from) * vector.scale);
        }
        out
    }
}
