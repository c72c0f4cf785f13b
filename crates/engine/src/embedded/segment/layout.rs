//! The bytes of a segment: a header, then arrays at places that follow from its counts.

use mem0_code_core::rank::embed::DIMS;

/// Bytes before the first section.
pub(super) const HEADER_LEN: usize = 128;

/// Magic with the version of the layout: another version is another file, rebuilt.
const MAGIC: &[u8; 8] = b"M0SEG\0\0\x01";

/// From this many vectors on a scan goes through sketches first.
pub(crate) const SKETCHES_FROM: u32 = 16_384;

/// What a segment says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Header {
    /// Of the database it was made from.
    pub(crate) database: u64,
    pub(crate) n_docs: u32,
    pub(crate) n_pieces: u32,
    pub(crate) n_vectors: u32,
    pub(crate) n_sessions: u32,
    pub(crate) n_terms: u32,
    /// Bytes of all postings.
    pub(crate) postings_len: u32,
    /// Bytes of the file.
    pub(crate) file_len: u64,
    /// Checksum of everything behind the header.
    pub(crate) body_check: u64,
}

impl Header {
    pub(crate) fn has_sketches(&self) -> bool {
        self.n_vectors >= SKETCHES_FROM
    }

    pub(super) fn read(map: &[u8]) -> Option<Self> {
        let bytes = map.get(..HEADER_LEN)?;
        let u32_at = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
        let u64_at = |at: usize| bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
        if !bytes.starts_with(MAGIC) || u64_at(HEADER_LEN - 8)? != checksum(&bytes[..HEADER_LEN - 8]) {
            return None;
        }
        Some(Self {
            database: u64_at(8)?,
            file_len: u64_at(16)?,
            body_check: u64_at(24)?,
            n_docs: u32_at(32)?,
            n_pieces: u32_at(36)?,
            n_vectors: u32_at(40)?,
            n_sessions: u32_at(44)?,
            n_terms: u32_at(48)?,
            postings_len: u32_at(52)?,
        })
    }

    pub(super) fn write(&self) -> [u8; HEADER_LEN] {
        let mut out = [0; HEADER_LEN];
        out[..8].copy_from_slice(MAGIC);
        out[8..16].copy_from_slice(&self.database.to_le_bytes());
        out[16..24].copy_from_slice(&self.file_len.to_le_bytes());
        out[24..32].copy_from_slice(&self.body_check.to_le_bytes());
        let counts = [self.n_docs, self.n_pieces, self.n_vectors, self.n_sessions, self.n_terms, self.postings_len];
        for (at, count) in counts.into_iter().enumerate() {
            out[32 + 4 * at..36 + 4 * at].copy_from_slice(&count.to_le_bytes());
        }
        let check = checksum(&out[..HEADER_LEN - 8]);
        out[HEADER_LEN - 8..].copy_from_slice(&check.to_le_bytes());
        out
    }
}

/// Where each section starts, in bytes from the start of the file; every start is a multiple of 8.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sections {
    pub(super) seq: usize,
    pub(super) owner: usize,
    pub(super) facet: usize,
    pub(super) session: usize,
    pub(super) first_piece: usize,
    pub(super) first_vector: usize,
    pub(super) time: usize,
    pub(super) speaker: usize,
    pub(super) flags: usize,
    pub(super) piece_length: usize,
    pub(super) session_key: usize,
    pub(super) vector_scale: usize,
    pub(super) sketch: usize,
    pub(super) vector: usize,
    pub(super) term_hash: usize,
    pub(super) term_at: usize,
    pub(super) postings: usize,
    pub(super) end: u64,
}

impl Sections {
    /// Returns the places; `None` when the counts do not fit this machine's addresses.
    pub(super) fn of(header: &Header) -> Option<Self> {
        let mut at = Self::default();
        let mut end = HEADER_LEN;
        let mut place = |section: &mut usize, count: u32, extra: usize, size: usize| -> Option<()> {
            *section = end;
            let bytes = usize::try_from(count).ok()?.checked_add(extra)?.checked_mul(size)?;
            end = end.checked_add(bytes)?.checked_next_multiple_of(8)?;
            Some(())
        };
        let docs = header.n_docs;
        place(&mut at.seq, docs, 0, 4)?;
        place(&mut at.owner, docs, 0, 4)?;
        place(&mut at.facet, docs, 0, 4)?;
        place(&mut at.session, docs, 0, 4)?;
        place(&mut at.first_piece, docs, 1, 4)?;
        place(&mut at.first_vector, docs, 1, 4)?;
        place(&mut at.time, docs, 0, 4)?;
        place(&mut at.speaker, docs, 0, 4)?;
        place(&mut at.flags, docs, 0, 2)?;
        place(&mut at.piece_length, header.n_pieces, 0, 2)?;
        place(&mut at.session_key, header.n_sessions, 0, 8)?;
        place(&mut at.vector_scale, header.n_vectors, 0, 4)?;
        place(&mut at.sketch, if header.has_sketches() { header.n_vectors } else { 0 }, 0, 32)?;
        place(&mut at.vector, header.n_vectors, 0, DIMS)?;
        place(&mut at.term_hash, header.n_terms, 0, 8)?;
        place(&mut at.term_at, header.n_terms, 1, 4)?;
        place(&mut at.postings, header.postings_len, 0, 1)?;
        at.end = u64::try_from(end).ok()?;
        Some(at)
    }
}

/// A checksum against damage, not against malice: 64-bit, eight bytes a step.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = Checksum::default();
    sum.add(bytes);
    sum.finish()
}

/// [`checksum`] over bytes that come in parts, each a multiple of eight but the last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
}

impl Checksum {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.step(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.step(u64::from_le_bytes(word));
        }
    }

    fn step(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29);
    }

    pub(super) fn finish(self) -> u64 {
        self.0 ^ (self.0 >> 31)
    }
}
