//! One memory as the index sees it, and its bytes in the `pending` table.

use mem0_code_core::rank::chunk;
use mem0_code_core::rank::cues::{self, Flags};
use mem0_code_core::rank::embed::{self, DIMS, Packed, Table, Vector};
use mem0_code_core::rank::terms::{self, Tokenizer};

/// Text beyond this many bytes is stored but not indexed.
const MAX_INDEXED: usize = 60_000;

/// First byte of an entry; another one means "made by another version, index the row again".
const FORMAT: u8 = 1;

/// A memory's index entry.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Doc {
    /// The row.
    pub(crate) seq: u32,
    /// The row's owner.
    pub(crate) owner: u32,
    /// The row's facet.
    pub(crate) facet: u32,
    /// Hash of owner and session; unique for rows without a session.
    pub(crate) session: u64,
    /// When it was stored, seconds since 1970.
    pub(crate) time: u32,
    /// See `cues::speaker_of`.
    pub(crate) speaker: u32,
    /// See [`Flags`].
    pub(crate) flags: Flags,
    /// Pieces for BM25, at least one.
    pub(crate) pieces: Vec<Piece>,
    /// One vector a piece of `chunk::DENSE`.
    pub(crate) vectors: Vec<Packed>,
}

/// A piece's terms.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Piece {
    /// How many terms, repeats included.
    pub(crate) length: u16,
    /// Distinct term hashes, ascending, with how often each occurs.
    pub(crate) terms: Vec<(u64, u8)>,
}

/// Where a row stands: what an entry needs beside the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) seq: i64,
    pub(crate) owner: i64,
    pub(crate) facet: i64,
    /// The session; empty for none.
    pub(crate) run_id: &'a str,
    /// Microseconds since 1970.
    pub(crate) created_at: i64,
    /// Role or name of who said it.
    pub(crate) speaker: &'a str,
    /// Who the person is, for rows said by the user; empty when unknown.
    pub(crate) author: &'a str,
    /// [`Flags::DURABLE`], [`Flags::SOURCE`] and [`Flags::SUPERSEDED`].
    pub(crate) flags: Flags,
}

/// Makes index entries.
pub(crate) struct Indexer {
    pub(crate) tokenizer: Tokenizer,
    pub(crate) table: Table<'static>,
    scratch: Vec<u64>,
}

impl Indexer {
    pub(crate) fn new() -> Self {
        Self { tokenizer: Tokenizer::default(), table: super::model::table(), scratch: Vec::new() }
    }

    /// Returns the vector of a text.
    pub(crate) fn embed(&self, text: &str) -> Vector {
        self.table.embed(text)
    }

    /// Indexes a text. 20 to 60 microseconds for a usual turn.
    pub(crate) fn doc(&mut self, text: &str, place: Place<'_>) -> Doc {
        let mut end = text.len().min(MAX_INDEXED);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = &text[..end];
        let indexed = cues::indexed_text(text, place.speaker);
        let mut flags = cues::flags_of(text, place.speaker).with(place.flags);
        if place.flags.has(Flags::DURABLE) {
            flags = flags.without(Flags::TALK).without(Flags::USER);
        }
        let pieces = chunk::pieces(&indexed, chunk::LEXICAL)
            .into_iter()
            .map(|range| self.piece(&indexed[range.clone()], range.start == 0))
            .collect();
        let vectors = chunk::pieces(&indexed, chunk::DENSE)
            .into_iter()
            .map(|range| embed::pack(&self.table.embed(&indexed[range])))
            .collect();
        Doc {
            seq: index_of(place.seq),
            owner: index_of(place.owner),
            facet: index_of(place.facet),
            session: session_key(place.owner, place.run_id, place.seq),
            time: u32::try_from(place.created_at.div_euclid(1_000_000).max(0)).unwrap_or(u32::MAX),
            speaker: if place.speaker == "user" {
                cues::speaker_of(place.author)
            } else {
                cues::speaker_of(place.speaker)
            },
            flags,
            pieces,
            vectors,
        }
    }

    /// One piece's terms. The first line of a text of several lines is its title, as in commits, reports and
    /// lists of work: its words count twice (measured: +0.3 points over all sets, +3 on coding sessions).
    fn piece(&mut self, text: &str, is_first: bool) -> Piece {
        let scratch = &mut self.scratch;
        scratch.clear();
        self.tokenizer.each(text, |term| scratch.push(terms::hash(term)));
        if is_first && let Some(title) = title(text) {
            self.tokenizer.each(title, |term| scratch.push(terms::hash(term)));
        }
        let length = u16::try_from(scratch.len()).unwrap_or(u16::MAX);
        scratch.sort_unstable();
        let terms = scratch
            .chunk_by(|a, b| a == b)
            .map(|same| (same[0], u8::try_from(same.len()).unwrap_or(u8::MAX)))
            .collect();
        Piece { length, terms }
    }
}

/// Returns the first line when it is short and more follows.
fn title(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once('\n')?;
    (rest.len() > 20 && first.split_whitespace().count() <= 20).then_some(first)
}

/// Row ids fit 32 bits in the index: four billion memories.
fn index_of(id: i64) -> u32 {
    u32::try_from(id).unwrap_or(u32::MAX)
}

fn session_key(owner: i64, run_id: &str, seq: i64) -> u64 {
    if run_id.is_empty() { terms::hash(&format!("\u{1}{seq}")) } else { terms::hash(&format!("{owner}\u{0}{run_id}")) }
}

impl Doc {
    /// Returns the entry's bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(
            64 + self.pieces.iter().map(|p| 5 + 9 * p.terms.len()).sum::<usize>() + 264 * self.vectors.len(),
        );
        out.push(FORMAT);
        for value in [self.seq, self.owner, self.facet, self.time, self.speaker] {
            out.extend(value.to_le_bytes());
        }
        out.extend(self.session.to_le_bytes());
        out.extend(self.flags.0.to_le_bytes());
        out.extend(short(self.pieces.len()).to_le_bytes());
        out.extend(short(self.vectors.len()).to_le_bytes());
        for piece in &self.pieces {
            out.extend(piece.length.to_le_bytes());
            out.extend(short(piece.terms.len()).to_le_bytes());
            for (hash, tf) in &piece.terms {
                out.extend(hash.to_le_bytes());
                out.push(*tf);
            }
        }
        for vector in &self.vectors {
            out.extend(vector.scale.to_le_bytes());
            out.extend(vector.values.iter().map(|value| value.cast_unsigned()));
        }
        out
    }

    /// Reads an entry; `None` when the bytes are not one.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = Bytes(bytes);
        if rest.take::<1>()? != [FORMAT] {
            return None;
        }
        let mut next = || rest.take().map(u32::from_le_bytes);
        let (seq, owner, facet, time, speaker) = (next()?, next()?, next()?, next()?, next()?);
        let session = u64::from_le_bytes(rest.take()?);
        let flags = Flags(u16::from_le_bytes(rest.take()?));
        let n_pieces = u16::from_le_bytes(rest.take()?);
        let n_vectors = u16::from_le_bytes(rest.take()?);
        let mut pieces = Vec::with_capacity(usize::from(n_pieces));
        for _ in 0..n_pieces {
            let length = u16::from_le_bytes(rest.take()?);
            let n_terms = u16::from_le_bytes(rest.take()?);
            let mut terms = Vec::with_capacity(usize::from(n_terms));
            for _ in 0..n_terms {
                terms.push((u64::from_le_bytes(rest.take()?), rest.take::<1>()?[0]));
            }
            if !terms.is_sorted_by(|a, b| a.0 < b.0) {
                return None;
            }
            pieces.push(Piece { length, terms });
        }
        let mut vectors = Vec::with_capacity(usize::from(n_vectors));
        for _ in 0..n_vectors {
            let scale = f32::from_le_bytes(rest.take()?);
            let values = rest.take::<DIMS>()?.map(u8::cast_signed);
            vectors.push(Packed { scale, values });
        }
        (rest.0.is_empty() && !pieces.is_empty()).then_some(Self {
            seq,
            owner,
            facet,
            session,
            time,
            speaker,
            flags,
            pieces,
            vectors,
        })
    }
}

fn short(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk::<N>()?;
        self.0 = tail;
        Some(*head)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn place(seq: i64, run_id: &str) -> Place<'_> {
        Place {
            seq,
            owner: 1,
            facet: 1,
            run_id,
            created_at: 1_000_000 * seq,
            speaker: "user",
            author: "",
            flags: Flags::default(),
        }
    }

    proptest! {
        #[test]
        fn entries_survive_the_trip(text in "\\PC{0,400}", seq in 1_i64..1000) {
            let doc = Indexer::new().doc(&text, place(seq, "s"));
            prop_assert_eq!(Doc::decode(&doc.encode()), Some(doc));
        }

        #[test]
        fn broken_entries_are_refused(cut in 0_usize..300, flip in any::<u8>()) {
            let mut bytes = Indexer::new().doc("some words about caching", place(1, "s")).encode();
            let last = bytes.len() - 1;
            prop_assert!(Doc::decode(&bytes[..last - cut % last]).is_none());
            let at = cut % bytes.len();
            bytes[at] ^= flip;
            let _ = Doc::decode(&bytes);
        }
    }
}
