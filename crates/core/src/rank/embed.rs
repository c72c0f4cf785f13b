//! A static embedding: a row a word piece, averaged. No model runs and nothing is built at start.
//!
//! The table's bytes come from the caller (the engine compiles them in; see its `model/README.md` for
//! format, origin and license). Text is lower-cased, accents dropped, split at white space, punctuation
//! and CJK characters, then cut greedily into the longest known pieces.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Dimensions of a vector.
pub const DIMS: usize = 256;

/// Words longer than this many bytes have no pieces, as in BERT.
const MAX_WORD: usize = 100;

/// No word piece is longer than this many bytes.
const MAX_PIECE: usize = 32;

/// An L2-normalized vector of [`DIMS`] f32, or all zero for a text without known pieces.
pub type Vector = [f32; DIMS];

/// A vector in one byte a dimension; `scale * values` is the vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Packed {
    /// One step of a value.
    pub scale: f32,
    /// The steps, -127 to 127.
    pub values: [i8; DIMS],
}

/// The embedding table over borrowed bytes.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    scales: &'a [u8],
    rows: &'a [u8],
    vocab: Vocab<'a>,
}

/// The word pieces as an open-addressed hash table, made when the program is built.
#[derive(Debug, Clone, Copy)]
struct Vocab<'a> {
    slots: &'a [u8],
    offsets: &'a [u8],
    text: &'a [u8],
}

impl<'a> Table<'a> {
    /// Reads the headers of a table (`SEMB1`) and of a vocabulary made by [`pack_vocab`].
    ///
    /// Returns `None` when either is not what it should be.
    pub fn new(table: &'a [u8], vocab: &'a [u8]) -> Option<Self> {
        let rest = table.strip_prefix(b"SEMB1\0\0\0")?;
        let n_rows = usize::try_from(word(rest, 0)?).ok()?;
        if usize::try_from(word(rest, 1)?).ok()? != DIMS {
            return None;
        }
        let scales = rest.get(8..8 + 4 * n_rows)?;
        let rows = rest.get(8 + 4 * n_rows..8 + (4 + DIMS) * n_rows)?;
        let n_pieces = usize::try_from(word(vocab, 0)?).ok()?;
        let n_slots = usize::try_from(word(vocab, 1)?).ok()?;
        if n_pieces != n_rows || !n_slots.is_power_of_two() || n_slots <= n_pieces {
            return None;
        }
        let slots = vocab.get(8..8 + 2 * n_slots)?;
        let offsets = vocab.get(8 + 2 * n_slots..8 + 2 * n_slots + 4 * (n_pieces + 1))?;
        let text = vocab.get(8 + 2 * n_slots + 4 * (n_pieces + 1)..)?;
        Some(Self { scales, rows, vocab: Vocab { slots, offsets, text } })
    }

    /// Returns the vector of a text. About 0.4 microseconds a word.
    pub fn embed(&self, text: &str) -> Vector {
        let mut sum = [0_f32; DIMS];
        let mut word = String::new();
        for c in text.chars() {
            if c.is_ascii_alphanumeric() {
                word.push(c.to_ascii_lowercase());
            } else if c.is_whitespace() {
                self.add_word(&mut word, &mut sum);
            } else if c.is_ascii() {
                self.add_word(&mut word, &mut sum);
                if c.is_ascii_punctuation() {
                    word.push(c);
                    self.add_word(&mut word, &mut sum);
                }
            } else if is_single(c) {
                self.add_word(&mut word, &mut sum);
                word.push(c);
                self.add_word(&mut word, &mut sum);
            } else if c.is_alphanumeric() || is_combining_mark(c) {
                let lower = c.to_lowercase();
                word.extend(lower.flat_map(|c| std::iter::once(c).nfd()).filter(|c| !is_combining_mark(*c)));
            } else if !c.is_control() && !is_format(c) {
                self.add_word(&mut word, &mut sum);
                word.push(c);
                self.add_word(&mut word, &mut sum);
            }
        }
        self.add_word(&mut word, &mut sum);
        normalize(&mut sum);
        sum
    }

    /// Adds the rows of a word's pieces, and empties the word. A word with an unknown piece adds nothing.
    fn add_word(&self, word: &mut String, sum: &mut Vector) {
        if word.is_empty() {
            return;
        }
        if word.len() <= MAX_WORD {
            let mut ids = [0_u16; MAX_WORD];
            if let Some(n_ids) = self.vocab.cut(word, &mut ids) {
                for id in &ids[..n_ids] {
                    self.add_row(usize::from(*id), sum);
                }
            }
        }
        word.clear();
    }

    fn add_row(&self, id: usize, sum: &mut Vector) {
        let Some(scale) = word(self.scales, id).map(f32::from_bits) else { return };
        let Some(row) = self.rows.get(id * DIMS..(id + 1) * DIMS) else { return };
        for (total, value) in sum.iter_mut().zip(row) {
            *total += scale * f32::from(value.cast_signed());
        }
    }
}

impl Vocab<'_> {
    /// Cuts a word into the longest known pieces, left to right; `None` when a part is unknown.
    fn cut(&self, word: &str, ids: &mut [u16; MAX_WORD]) -> Option<usize> {
        let mut n_ids = 0;
        let mut start = 0;
        while start < word.len() {
            let rest = &word[start..];
            let seed = if start == 0 { FNV } else { step(step(FNV, b'#'), b'#') };
            let reach = rest.len().min(MAX_PIECE);
            let mut states = [0_u32; MAX_PIECE + 1];
            let mut state = seed;
            for (at, byte) in rest.bytes().take(reach).enumerate() {
                state = step(state, byte);
                states[at + 1] = state;
            }
            let (end, id) = (1..=reach)
                .rev()
                .filter(|end| rest.is_char_boundary(*end))
                .find_map(|end| Some((end, self.find(states[end], &rest.as_bytes()[..end], start > 0)?)))?;
            ids[n_ids] = id;
            n_ids += 1;
            start += end;
        }
        Some(n_ids)
    }

    fn find(&self, state: u32, piece: &[u8], is_inner: bool) -> Option<u16> {
        let n_slots = self.slots.len() / 2;
        let mut slot = spread(state) as usize & (n_slots - 1);
        loop {
            let pair = self.slots.get(2 * slot..2 * slot + 2)?;
            let id = u16::from_le_bytes([pair[0], pair[1]]);
            if id == u16::MAX {
                return None;
            }
            let from = usize::try_from(word(self.offsets, usize::from(id))?).ok()?;
            let to = usize::try_from(word(self.offsets, usize::from(id) + 1)?).ok()?;
            let known = self.text.get(from..to)?;
            let known = if is_inner { known.strip_prefix(b"##".as_slice()) } else { Some(known) };
            if known == Some(piece) {
                return Some(id);
            }
            slot = (slot + 1) & (n_slots - 1);
        }
    }
}

/// Packs a list of word pieces, one a line, in the order of the table's rows, for [`Table::new`].
///
/// Layout, little endian: u32 pieces, u32 slots, slots u16 (65535 is empty), pieces + 1 offsets u32, text.
pub fn pack_vocab(lines: &str) -> Vec<u8> {
    let pieces: Vec<&str> = lines.lines().collect();
    let n_slots = (pieces.len() * 2).next_power_of_two();
    let mut slots = vec![u16::MAX; n_slots];
    let mut offsets = vec![0_u32];
    let mut text = Vec::new();
    for (id, piece) in (0_u16..u16::MAX).zip(&pieces) {
        let mut slot = spread(piece.bytes().fold(FNV, step)) as usize & (n_slots - 1);
        while slots[slot] != u16::MAX {
            slot = (slot + 1) & (n_slots - 1);
        }
        slots[slot] = id;
        text.extend_from_slice(piece.as_bytes());
        offsets.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
    }
    let mut out = Vec::new();
    out.extend(u32::try_from(pieces.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend(u32::try_from(n_slots).unwrap_or(u32::MAX).to_le_bytes());
    out.extend(slots.iter().flat_map(|slot| slot.to_le_bytes()));
    out.extend(offsets.iter().flat_map(|offset| offset.to_le_bytes()));
    out.extend(text);
    out
}

/// Packs a vector into bytes; its zero vector stays zero.
pub fn pack(vector: &Vector) -> Packed {
    let most = vector.iter().fold(0_f32, |most, value| most.max(value.abs()));
    let scale = most / 127.0;
    let mut values = [0_i8; DIMS];
    if most > 0.0 {
        for (to, from) in values.iter_mut().zip(vector) {
            *to = (from / scale).round() as i8;
        }
    }
    Packed { scale, values }
}

/// Returns the cosine of two normalized vectors.
pub fn cosine(a: &Vector, b: &Vector) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

const FNV: u32 = 0x811c_9dc5;

fn step(state: u32, byte: u8) -> u32 {
    (state ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

fn spread(state: u32) -> u32 {
    (state ^ (state >> 15)).wrapping_mul(0x2c1b_3c6d)
}

fn word(bytes: &[u8], index: usize) -> Option<u32> {
    let four = bytes.get(4 * index..4 * index + 4)?;
    Some(u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

fn normalize(vector: &mut Vector) {
    let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|value| *value /= norm);
    }
}

/// Characters that BERT takes one by one: CJK ideographs (Kana and Hangul are letters to it).
fn is_single(c: char) -> bool {
    matches!(u32::from(c), 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x2_fa1f)
}

fn is_format(c: char) -> bool {
    matches!(u32::from(c), 0xad | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x2064 | 0xfe00..=0xfe0f | 0xfeff | 0xfffd)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table_bytes(rows: &[Vector]) -> Vec<u8> {
        let mut out = b"SEMB1\0\0\0".to_vec();
        out.extend(u32::try_from(rows.len()).unwrap().to_le_bytes());
        out.extend(u32::try_from(DIMS).unwrap().to_le_bytes());
        out.extend(rows.iter().flat_map(|_| 1_f32.to_le_bytes()));
        out.extend(rows.iter().flatten().map(|value| (*value as i8).cast_unsigned()));
        out
    }

    fn axis(n: usize) -> Vector {
        let mut vector = [0.0; DIMS];
        vector[n] = 1.0;
        vector
    }

    #[track_caller]
    fn check(text: &str, axes: &[usize]) {
        let bytes = table_bytes(&[axis(0), axis(1), axis(2), axis(3), axis(4), axis(5)]);
        let vocab = pack_vocab("pay\n##ment\n.\n支\npaid\nnaive\n");
        let vector = Table::new(&bytes, &vocab).unwrap().embed(text);
        let got: Vec<usize> = (0..6).filter(|n| vector[*n] > 0.0).collect();
        assert_eq!(got, axes, "{text:?}");
    }

    #[test]
    fn words_become_pieces() {
        check("payment", &[0, 1]);
        check("PAID.", &[2, 4]);
        check("pay支", &[0, 3]);
        check("naïve", &[5]);
        check("payroll", &[]);
        check("", &[]);
    }

    #[test]
    fn broken_tables_are_refused() {
        let bytes = table_bytes(&[axis(0)]);
        let vocab = pack_vocab("a\n");
        assert!(Table::new(&bytes[..bytes.len() - 1], &vocab).is_none());
        assert!(Table::new(&bytes, &vocab[..8]).is_none());
        assert!(Table::new(b"", &vocab).is_none());
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,60}") {
            check_any(&text);
        }
    }

    fn check_any(text: &str) {
        let bytes = table_bytes(&[axis(0), axis(1)]);
        let vocab = pack_vocab("a\n##a\n");
        let vector = Table::new(&bytes, &vocab).unwrap().embed(text);
        let norm: f32 = vector.iter().map(|v| v * v).sum();
        assert!(norm < 1.001);
    }
}
