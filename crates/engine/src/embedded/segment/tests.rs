use std::fs;
use std::io::Cursor;

use mem0_code_core::rank::terms::hash;
use proptest::prelude::*;

use super::*;
use crate::embedded::doc::tests::place;
use crate::embedded::doc::{Doc, Indexer};

fn docs(texts: &[String]) -> Vec<Doc> {
    let mut indexer = Indexer::new();
    let run = ["a", "b", ""];
    (0..).zip(texts).map(|(at, text)| indexer.doc(text, place(at + 1, run[at as usize % 3]))).collect()
}

fn write(old: Option<&Segment>, stale: &[u32], new: &[Doc]) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    build(&Source { database: 7, old, is_stale: &|seq| stale.contains(&seq), new }, &mut file).unwrap();
    file.into_inner()
}

fn open(bytes: &[u8]) -> Option<Segment> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seg");
    fs::write(&path, bytes).unwrap();
    Segment::open(&path, 7)
}

/// Everything a segment says, in a form that does not depend on how it was made.
fn contents(segment: &Segment) -> Vec<String> {
    let mut out = Vec::new();
    for doc in 0..segment.n_docs() {
        let pieces: Vec<u16> = segment.pieces(doc).map(|piece| segment.piece_length(piece)).collect();
        let vectors: Vec<(&[u8], f32)> = segment.vectors(doc).map(|vector| segment.vector(vector)).collect();
        let key = segment.session_key(segment.session(doc));
        let flags = segment.flags(doc);
        out.push(format!("{} {key} {flags:?} {} {pieces:?} {vectors:?}", segment.seq(doc), segment.time(doc)));
    }
    for term in 0..segment.n_terms() {
        out.push(format!("{} {:?}", segment.term_hash(term), segment.term_postings(term).collect::<Vec<_>>()));
    }
    out
}

#[test]
fn sessions_lie_together_and_terms_are_found() {
    let texts: Vec<String> =
        ["red apple", "green pear", "lone plum", "red cherry", "pear tree"].map(String::from).into();
    let segment = open(&write(None, &[], &docs(&texts))).unwrap();
    assert!(segment.is_sound());
    let seqs: Vec<u32> = (0..5).map(|doc| segment.seq(doc)).collect();
    assert_eq!(seqs, [1, 4, 2, 5, 3]);
    assert_eq!(segment.session(0), segment.session(1));
    assert_ne!(segment.session(1), segment.session(2));
    let found: Vec<_> = segment.postings(hash("red")).collect();
    assert_eq!(found, [(0, 1), (1, 1)]);
    assert_eq!(segment.postings(hash("absent")).count(), 0);
}

#[test]
fn broken_files_are_no_segments() {
    let texts: Vec<String> = (0..20).map(|n| format!("note {n} about caching")).collect();
    let bytes = write(None, &[], &docs(&texts));
    assert!(open(&bytes).is_some_and(|segment| segment.is_sound()));
    for cut in [0, 1, 64, 127, 128, bytes.len() / 2, bytes.len() - 1] {
        assert!(open(&bytes[..cut]).is_none(), "cut at {cut}");
    }
    assert!(open(&[bytes.as_slice(), b"more"].concat()).is_none());
    for at in 0..128 {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x40;
        assert!(open(&bytes).is_none(), "header byte {at}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seg");
    fs::write(&path, &bytes).unwrap();
    assert!(Segment::open(&path, 8).is_none(), "another database's");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn merging_is_building_anew(texts in prop::collection::vec("[a-e ]{0,30}", 0..24), cut in 0_usize..24, stale in prop::collection::vec(1_u32..24, 0..6)) {
        let all = docs(&texts);
        let cut = cut.min(all.len());
        let first = open(&write(None, &[], &all[..cut])).unwrap();
        let merged = open(&write(Some(&first), &stale, &all[cut..])).unwrap();
        let kept: Vec<Doc> = all.iter().enumerate()
            .filter(|(at, doc)| *at >= cut || !stale.contains(&doc.seq)).map(|(_, doc)| doc.clone()).collect();
        let anew = open(&write(None, &[], &kept)).unwrap();
        prop_assert!(merged.is_sound() && anew.is_sound());
        prop_assert_eq!(contents(&merged), contents(&anew));
    }

    #[test]
    fn damage_is_noticed_and_never_panics(at in 128_usize..4000, flip in 1_u8..255) {
        let texts: Vec<String> = (0..12).map(|n| format!("note {n} about the cache and queue")).collect();
        let mut bytes = write(None, &[], &docs(&texts));
        let at = at.min(bytes.len() - 1);
        bytes[at] ^= flip;
        let segment = open(&bytes).unwrap();
        prop_assert!(!segment.is_sound());
        let _ = contents(&segment);
    }

    #[test]
    fn postings_survive_the_trip(list in prop::collection::btree_map(any::<u32>(), 1_u8..255, 0..50)) {
        let list: Vec<(u32, u8)> = list.into_iter().collect();
        let mut bytes = Vec::new();
        encode_postings(&list, &mut bytes);
        let read: Vec<_> = Postings { bytes: &bytes, piece: 0, is_first: true }.collect();
        prop_assert_eq!(read, list);
    }
}
