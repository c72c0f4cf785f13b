//! Writing a segment: the one there is, minus rows that changed, plus new entries. Old parts are copied,
//! not computed again, so that adding a thousand rows to a hundred thousand costs a fraction of a second.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};

use mem0_code_core::rank::cues::Flags;

use super::layout::{Checksum, HEADER_LEN, Header, Sections};
use super::{Segment, encode_postings};
use crate::embedded::doc::Doc;
use crate::embedded::simd;

/// What a new segment is made of.
pub(crate) struct Source<'a> {
    /// The database's number.
    pub(crate) database: u64,
    /// The segment so far.
    pub(crate) old: Option<&'a Segment>,
    /// Tells whether a row of the old segment is left out.
    pub(crate) is_stale: &'a dyn Fn(u32) -> bool,
    /// Entries to put in.
    pub(crate) new: &'a [Doc],
}

/// Where a memory of the new segment comes from.
#[derive(Clone, Copy)]
enum From {
    Old(u32),
    New(u32),
}

/// Writes a segment to `file` (at its start) and returns its header.
pub(crate) fn build(source: &Source<'_>, file: &mut (impl Write + io::Seek)) -> io::Result<Header> {
    let order = order(source);
    let sessions = sessions(source, &order);
    let pieces = Pieces::number(source, &order);
    let postings = postings(source, &pieces);
    let n_vectors: usize = order.iter().map(|from| source.n_vectors(*from)).sum();
    let count =
        |n: usize| u32::try_from(n).map_err(|_| io::Error::other("an index segment holds at most 2^32 entries"));
    let mut header = Header {
        database: source.database,
        n_docs: count(order.len())?,
        n_pieces: count(pieces.lengths.len())?,
        n_vectors: count(n_vectors)?,
        n_sessions: count(sessions.keys.len())?,
        n_terms: count(postings.hashes.len())?,
        postings_len: count(postings.bytes.len())?,
        file_len: 0,
        body_check: 0,
    };
    header.file_len = Sections::of(&header).ok_or_else(|| io::Error::other("an index segment is too large"))?.end;

    file.write_all(&[0; HEADER_LEN])?;
    let mut out =
        Output { inner: BufWriter::with_capacity(1 << 16, file), check: Checksum::default(), block: Vec::new() };
    out.u32s(order.iter().map(|from| source.seq(*from)))?;
    out.u32s(order.iter().map(|from| source.owner(*from)))?;
    out.u32s(order.iter().map(|from| source.facet(*from)))?;
    out.u32s(sessions.of_doc.iter().copied())?;
    out.u32s(starts(order.iter().map(|from| source.n_pieces(*from))))?;
    out.u32s(starts(order.iter().map(|from| source.n_vectors(*from))))?;
    out.u32s(order.iter().map(|from| source.time(*from)))?;
    out.u32s(order.iter().map(|from| source.speaker(*from)))?;
    out.u16s(order.iter().map(|from| source.flags(*from).0))?;
    out.u16s(pieces.lengths.iter().copied())?;
    out.u64s(sessions.keys.iter().copied())?;
    let vectors = || order.iter().flat_map(|from| (0..source.n_vectors(*from)).map(|n| source.vector(*from, n)));
    out.u32s(vectors().map(|(_, scale)| scale.to_bits()))?;
    if header.has_sketches() {
        out.u64s(vectors().flat_map(|(values, _)| simd::sketch_of(&values)))?;
    }
    for (at, (values, _)) in vectors().enumerate() {
        out.bytes(&values)?;
        if let (0, Some(segment)) = (at % 8_192, source.old) {
            segment.release();
        }
    }
    out.pad()?;
    out.u64s(postings.hashes.iter().copied())?;
    out.u32s(postings.at.iter().copied())?;
    out.bytes(&postings.bytes)?;
    out.pad()?;
    let (file, check) = out.finish()?;
    header.body_check = check;
    file.seek(io::SeekFrom::Start(0))?;
    file.write_all(&header.write())?;
    Ok(header)
}

impl Source<'_> {
    fn pick<T>(&self, from: From, old: impl Fn(&Segment, u32) -> T, new: impl Fn(&Doc) -> T) -> T {
        match (from, self.old) {
            (From::Old(doc), Some(segment)) => old(segment, doc),
            (From::Old(_), None) => unreachable!("old entries come from the old segment"),
            (From::New(at), _) => new(&self.new[at as usize]),
        }
    }

    fn seq(&self, from: From) -> u32 {
        self.pick(from, Segment::seq, |doc| doc.seq)
    }

    fn owner(&self, from: From) -> u32 {
        self.pick(from, Segment::owner, |doc| doc.owner)
    }

    fn facet(&self, from: From) -> u32 {
        self.pick(from, Segment::facet, |doc| doc.facet)
    }

    fn time(&self, from: From) -> u32 {
        self.pick(from, Segment::time, |doc| doc.time)
    }

    fn speaker(&self, from: From) -> u32 {
        self.pick(from, Segment::speaker, |doc| doc.speaker)
    }

    fn flags(&self, from: From) -> Flags {
        self.pick(from, Segment::flags, |doc| doc.flags)
    }

    fn session(&self, from: From) -> u64 {
        self.pick(from, |segment, doc| segment.session_key(segment.session(doc)), |doc| doc.session)
    }

    fn n_pieces(&self, from: From) -> usize {
        self.pick(from, |segment, doc| segment.pieces(doc).len(), |doc| doc.pieces.len())
    }

    fn n_vectors(&self, from: From) -> usize {
        self.pick(from, |segment, doc| segment.vectors(doc).len(), |doc| doc.vectors.len())
    }

    fn vector(&self, from: From, n: usize) -> ([u8; 256], f32) {
        self.pick(
            from,
            |segment, doc| {
                let (values, scale) = segment.vector(segment.vectors(doc).start + n as u32);
                (values.try_into().unwrap_or([0; 256]), scale)
            },
            |doc| (doc.vectors[n].values.map(i8::cast_unsigned), doc.vectors[n].scale),
        )
    }
}

/// Owner, then session by its first arrival, then arrival.
fn order(source: &Source<'_>) -> Vec<From> {
    let old = source
        .old
        .into_iter()
        .flat_map(|segment| (0..segment.n_docs()).filter(|doc| !(source.is_stale)(segment.seq(*doc))).map(From::Old));
    let new = (0..source.new.len()).map(|at| From::New(at as u32));
    let all: Vec<From> = old.chain(new).collect();
    let mut first_seen: HashMap<(u32, u64), u32> = HashMap::new();
    for from in &all {
        let seq = source.seq(*from);
        first_seen
            .entry((source.owner(*from), source.session(*from)))
            .and_modify(|first| *first = seq.min(*first))
            .or_insert(seq);
    }
    let mut keyed: Vec<(u32, u32, u32, From)> = all
        .into_iter()
        .map(|from| {
            let owner = source.owner(from);
            (owner, first_seen.get(&(owner, source.session(from))).copied().unwrap_or(0), source.seq(from), from)
        })
        .collect();
    keyed.sort_unstable_by_key(|(owner, first, seq, _)| (*owner, *first, *seq));
    keyed.into_iter().map(|(.., from)| from).collect()
}

struct Sessions {
    of_doc: Vec<u32>,
    keys: Vec<u64>,
}

fn sessions(source: &Source<'_>, order: &[From]) -> Sessions {
    let mut out = Sessions { of_doc: Vec::with_capacity(order.len()), keys: Vec::new() };
    for from in order {
        let key = source.session(*from);
        if out.keys.last() != Some(&key) {
            out.keys.push(key);
        }
        out.of_doc.push((out.keys.len() - 1) as u32);
    }
    out
}

/// New numbers of pieces.
struct Pieces {
    /// By old number; `u32::MAX` for those left out.
    of_old: Vec<u32>,
    /// First piece of each new entry.
    of_new: Vec<u32>,
    lengths: Vec<u16>,
}

impl Pieces {
    fn number(source: &Source<'_>, order: &[From]) -> Self {
        let n_old = source.old.map_or(0, |segment| segment.header.n_pieces as usize);
        let mut out = Self { of_old: vec![u32::MAX; n_old], of_new: vec![0; source.new.len()], lengths: Vec::new() };
        for from in order {
            let next = out.lengths.len() as u32;
            match (*from, source.old) {
                (From::Old(doc), Some(segment)) => {
                    for (n, piece) in (0..).zip(segment.pieces(doc)) {
                        out.of_old[piece as usize] = next + n;
                        out.lengths.push(segment.piece_length(piece));
                    }
                }
                (From::Old(_), None) => {}
                (From::New(at), _) => {
                    out.of_new[at as usize] = next;
                    out.lengths.extend(source.new[at as usize].pieces.iter().map(|piece| piece.length));
                }
            }
        }
        out
    }
}

#[derive(Default)]
struct Inverted {
    hashes: Vec<u64>,
    at: Vec<u32>,
    bytes: Vec<u8>,
}

/// Merges the old postings with those of the new entries, term by term.
fn postings(source: &Source<'_>, pieces: &Pieces) -> Inverted {
    let mut new: Vec<(u64, u32, u8)> = Vec::new();
    for (doc, first) in source.new.iter().zip(&pieces.of_new) {
        for (n, piece) in (0..).zip(&doc.pieces) {
            new.extend(piece.terms.iter().map(|(hash, tf)| (*hash, first + n, *tf)));
        }
    }
    new.sort_unstable();
    let mut new = new.as_slice();
    let mut out = Inverted { at: vec![0], ..Inverted::default() };
    let mut list: Vec<(u32, u8)> = Vec::new();
    let mut flush = |hash: u64, list: &mut Vec<(u32, u8)>| {
        if !list.is_empty() {
            list.sort_unstable();
            encode_postings(list, &mut out.bytes);
            out.hashes.push(hash);
            out.at.push(out.bytes.len() as u32);
            list.clear();
        }
    };
    let take_new = |new: &mut &[(u64, u32, u8)], hash: u64, list: &mut Vec<(u32, u8)>| {
        let n_same = new.iter().take_while(|(other, ..)| *other == hash).count();
        list.extend(new[..n_same].iter().map(|(_, piece, tf)| (*piece, *tf)));
        *new = &new[n_same..];
    };
    for term in 0..source.old.map_or(0, Segment::n_terms) {
        let Some(segment) = source.old else { break };
        let hash = segment.term_hash(term);
        while let Some((other, ..)) = new.first().filter(|(other, ..)| *other < hash).copied() {
            take_new(&mut new, other, &mut list);
            flush(other, &mut list);
        }
        for (piece, tf) in segment.term_postings(term) {
            if let Some(piece) = pieces.of_old.get(piece as usize).filter(|piece| **piece != u32::MAX) {
                list.push((*piece, tf));
            }
        }
        take_new(&mut new, hash, &mut list);
        flush(hash, &mut list);
    }
    while let Some((other, ..)) = new.first().copied() {
        take_new(&mut new, other, &mut list);
        flush(other, &mut list);
    }
    out
}

fn starts(counts: impl Iterator<Item = usize>) -> impl Iterator<Item = u32> {
    std::iter::once(0).chain(counts.scan(0_u32, |total, count| {
        *total += count as u32;
        Some(*total)
    }))
}

/// Writes sections, each padded to eight bytes, and sums them up.
struct Output<W: Write> {
    inner: BufWriter<W>,
    check: Checksum,
    block: Vec<u8>,
}

impl<W: Write> Output<W> {
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.block.extend_from_slice(bytes);
        if self.block.len() >= 1 << 15 { self.drain() } else { Ok(()) }
    }

    /// Writes what is a multiple of eight bytes.
    fn drain(&mut self) -> io::Result<()> {
        let whole = self.block.len() / 8 * 8;
        self.check.add(&self.block[..whole]);
        self.inner.write_all(&self.block[..whole])?;
        self.block.drain(..whole);
        Ok(())
    }

    fn pad(&mut self) -> io::Result<()> {
        self.block.resize(self.block.len().next_multiple_of(8), 0);
        self.drain()
    }

    fn u16s(&mut self, values: impl Iterator<Item = u16>) -> io::Result<()> {
        values.into_iter().try_for_each(|value| self.bytes(&value.to_le_bytes()))?;
        self.pad()
    }

    fn u32s(&mut self, values: impl Iterator<Item = u32>) -> io::Result<()> {
        values.into_iter().try_for_each(|value| self.bytes(&value.to_le_bytes()))?;
        self.pad()
    }

    fn u64s(&mut self, values: impl Iterator<Item = u64>) -> io::Result<()> {
        values.into_iter().try_for_each(|value| self.bytes(&value.to_le_bytes()))?;
        self.pad()
    }

    fn finish(self) -> io::Result<(W, u64)> {
        let writer = self.inner.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok((writer, self.check.finish()))
    }
}
