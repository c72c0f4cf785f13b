//! An index segment: one memory-mapped file beside the database, derived from it, replaceable any time.
//!
//! Memories lie in the order owner, session, arrival, so that a scope is a few ranges and a memory's
//! neighbors are its session's. Nothing is parsed or built when a segment is opened: terms are found by
//! binary search in the map. The file holds hashes, counts and vectors; no text.
//!
//! A header that does not fit, a wrong length or another database's file means there is no segment. What
//! lies behind the header is checked whenever it is read ([`Segment::is_sound`] checks all of it, for the
//! worker), so that a damaged file can make results worse until it is rebuilt, but never more than that.

mod build;
mod layout;

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use mem0_code_core::rank::cues::Flags;
use mem0_code_core::rank::embed::DIMS;
use memmap2::Mmap;

pub(crate) use build::{Source, build};
pub(crate) use layout::{Header, SKETCHES_FROM};

use layout::Sections;

/// An open segment.
pub(crate) struct Segment {
    map: Mmap,
    header: Header,
    at: Sections,
}

impl Segment {
    /// Maps the file at `path`; `None` when it is not a whole segment of this database.
    pub(crate) fn open(path: &Path, database: u64) -> Option<Self> {
        let file = File::open(path).ok()?;
        #[expect(unsafe_code, reason = "a memory map of a file that is only ever written before it gets its name")]
        // SAFETY: segments are written under another name and never changed after; every read is bounds-checked.
        let map = unsafe { Mmap::map(&file) }.ok()?;
        let header = Header::read(&map)?;
        let at = Sections::of(&header)?;
        (header.database == database && u64::try_from(map.len()).ok()? == at.end && header.file_len == at.end)
            .then_some(Self { map, header, at })
    }

    /// Reads the whole file and compares its checksum.
    pub(crate) fn is_sound(&self) -> bool {
        let body = self.map.get(layout::HEADER_LEN..).unwrap_or_default();
        let mut sum = layout::Checksum::default();
        for part in body.chunks(1 << 22) {
            sum.add(part);
            self.release();
        }
        sum.finish() == self.header.body_check
    }

    /// Gives the pages read so far back to the system; they are read again when asked for. For long walks
    /// through the whole file, so that it does not count as this process's memory.
    pub(crate) fn release(&self) {
        #[cfg(unix)]
        {
            #[expect(unsafe_code, reason = "the map is private to reading and never written")]
            // SAFETY: nothing was written to the map, so dropping its pages loses nothing.
            let done = unsafe { self.map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
            drop(done); // advice: it may be ignored
        }
    }

    /// Bytes of the file.
    pub(crate) fn len(&self) -> u64 {
        self.header.file_len
    }

    /// Memories in it.
    pub(crate) fn n_docs(&self) -> u32 {
        self.header.n_docs
    }

    /// Distinct terms in it.
    fn n_terms(&self) -> u32 {
        self.header.n_terms
    }

    fn u16(&self, section: usize, index: u32) -> u16 {
        let at = section + 2 * index as usize;
        self.map.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
    }

    fn u32(&self, section: usize, index: u32) -> u32 {
        let at = section + 4 * index as usize;
        self.map.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    fn u64(&self, section: usize, index: u32) -> u64 {
        let at = section + 8 * index as usize;
        self.map.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
    }

    /// The row of a memory.
    pub(crate) fn seq(&self, doc: u32) -> u32 {
        self.u32(self.at.seq, doc)
    }

    /// The owner of a memory.
    pub(crate) fn owner(&self, doc: u32) -> u32 {
        self.u32(self.at.owner, doc)
    }

    /// The facet of a memory.
    pub(crate) fn facet(&self, doc: u32) -> u32 {
        self.u32(self.at.facet, doc)
    }

    /// The session of a memory, an index into this segment's sessions.
    pub(crate) fn session(&self, doc: u32) -> u32 {
        self.u32(self.at.session, doc)
    }

    /// When a memory was stored, seconds since 1970.
    pub(crate) fn time(&self, doc: u32) -> u32 {
        self.u32(self.at.time, doc)
    }

    /// The hash of a memory's speaker.
    pub(crate) fn speaker(&self, doc: u32) -> u32 {
        self.u32(self.at.speaker, doc)
    }

    /// A memory's flags.
    pub(crate) fn flags(&self, doc: u32) -> Flags {
        Flags(self.u16(self.at.flags, doc))
    }

    /// The pieces of a memory.
    pub(crate) fn pieces(&self, doc: u32) -> Range<u32> {
        self.range(self.at.first_piece, doc, self.header.n_pieces)
    }

    /// The vectors of a memory.
    pub(crate) fn vectors(&self, doc: u32) -> Range<u32> {
        self.range(self.at.first_vector, doc, self.header.n_vectors)
    }

    fn range(&self, section: usize, index: u32, limit: u32) -> Range<u32> {
        let (from, to) = (self.u32(section, index), self.u32(section, index + 1));
        if from <= to && to <= limit { from..to } else { 0..0 }
    }

    /// A piece's length in terms.
    pub(crate) fn piece_length(&self, piece: u32) -> u16 {
        self.u16(self.at.piece_length, piece)
    }

    /// A session's key, see `Doc::session`.
    pub(crate) fn session_key(&self, session: u32) -> u64 {
        self.u64(self.at.session_key, session)
    }

    /// A vector's bytes and scale.
    pub(crate) fn vector(&self, vector: u32) -> (&[u8], f32) {
        let at = self.at.vector + DIMS * vector as usize;
        let scale = f32::from_bits(self.u32(self.at.vector_scale, vector));
        (self.map.get(at..at + DIMS).unwrap_or_default(), if scale.is_finite() { scale } else { 0.0 })
    }

    /// The 32-byte sketches of a range of vectors; empty when the segment is too small to have them.
    pub(crate) fn sketches(&self, vectors: Range<u32>) -> &[u8] {
        if !self.header.has_sketches() {
            return &[];
        }
        let at = |vector: u32| self.at.sketch + 32 * vector as usize;
        self.map.get(at(vectors.start)..at(vectors.end)).unwrap_or_default()
    }

    /// The postings of a term, ascending by piece.
    pub(crate) fn postings(&self, hash: u64) -> Postings<'_> {
        let (mut low, mut high) = (0, self.n_terms());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.u64(self.at.term_hash, middle).cmp(&hash) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.term_postings(middle),
            }
        }
        Postings { bytes: &[], piece: 0, is_first: true }
    }

    fn term_hash(&self, term: u32) -> u64 {
        self.u64(self.at.term_hash, term)
    }

    fn term_postings(&self, term: u32) -> Postings<'_> {
        let at = |term: u32| self.at.postings + self.u32(self.at.term_at, term) as usize;
        let (from, to) = (at(term), at(term + 1));
        Postings { bytes: self.map.get(from..to).unwrap_or_default(), piece: 0, is_first: true }
    }
}

/// A term's postings: `(piece, how often)`.
///
/// A posting is a variable-length number: the step to the next piece, doubled, plus one when the term
/// occurs more than once, in which case a byte with the count follows.
pub(crate) struct Postings<'a> {
    bytes: &'a [u8],
    piece: u32,
    is_first: bool,
}

impl Iterator for Postings<'_> {
    type Item = (u32, u8);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let mut value = 0_u64;
        let mut shift = 0;
        loop {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
            if shift > 35 {
                self.bytes = &[];
                return None;
            }
        }
        let tf = if value & 1 == 1 {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            *byte
        } else {
            1
        };
        let step = (value >> 1) as u32;
        self.piece = if self.is_first { step } else { self.piece.wrapping_add(step) };
        self.is_first = false;
        Some((self.piece, tf))
    }
}

/// Appends postings in the form [`Postings`] reads; `list` is ascending by piece.
fn encode_postings(list: &[(u32, u8)], out: &mut Vec<u8>) {
    let mut previous = 0;
    for (piece, tf) in list {
        let mut value = u64::from(piece.wrapping_sub(previous)) << 1 | u64::from(*tf > 1);
        previous = *piece;
        while value >= 0x80 {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
        if *tf > 1 {
            out.push(*tf);
        }
    }
}

#[cfg(test)]
mod tests;
