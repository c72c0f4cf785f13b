//! Insertions into a text, and taking them back out of a text that has changed since.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Text put into a file at a byte offset of the file as it was before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Splice {
    /// Byte offset in the text before; several splices are sorted by it.
    pub at: usize,
    /// What is inserted there.
    pub text: String,
}

/// Puts the splices, sorted by offset, into `before`. `None` when an offset is not one of the text.
pub(super) fn apply(before: &str, splices: &[Splice]) -> Option<String> {
    let mut after = String::with_capacity(before.len() + splices.iter().map(|splice| splice.text.len()).sum::<usize>());
    let mut done = 0;
    for splice in splices {
        after.push_str(before.get(done..splice.at)?);
        after.push_str(&splice.text);
        done = splice.at;
    }
    after.push_str(before.get(done..)?);
    Some(after)
}

/// Takes the splices out of `current`, which is what `apply(before, splices)` gave, with one stretch of it changed.
///
/// `None` when the change touches a splice: then where the splice ends and the change begins cannot be told from the bytes.
pub(super) fn take_out(before: &str, splices: &[Splice], current: &str) -> Option<String> {
    let after = apply(before, splices)?;
    let n_prefix = common(after.bytes(), current.bytes());
    let rest = after.len().min(current.len()) - n_prefix;
    let n_suffix = common(after.bytes().rev(), current.bytes().rev()).min(rest);
    let changed = n_prefix..after.len() - n_suffix;
    let mut kept = String::with_capacity(current.len());
    let mut done = 0;
    for range in inserted(splices) {
        let in_current = if range.end <= changed.start {
            range
        } else if range.start >= changed.end {
            range.start + current.len() - after.len()..range.end + current.len() - after.len()
        } else {
            return None;
        };
        kept.push_str(current.get(done..in_current.start)?);
        done = in_current.end;
    }
    kept.push_str(current.get(done..)?);
    Some(kept)
}

/// Where the inserted texts are afterwards.
fn inserted(splices: &[Splice]) -> Vec<Range<usize>> {
    let mut shift = 0;
    let range = |splice: &Splice| {
        let start = splice.at + shift;
        shift += splice.text.len();
        start..start + splice.text.len()
    };
    splices.iter().map(range).collect()
}

fn common(one: impl Iterator<Item = u8>, other: impl Iterator<Item = u8>) -> usize {
    one.zip(other).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn splice(at: usize, text: &str) -> Splice {
        Splice { at, text: text.to_owned() }
    }

    #[test]
    fn a_change_between_two_splices_stays() {
        let splices = [splice(2, "<1>"), splice(6, "<2>")];
        assert_eq!(apply("abcdefgh", &splices).unwrap(), "ab<1>cdef<2>gh");
        assert_eq!(take_out("abcdefgh", &splices, "ab<1>cXef<2>gh").unwrap(), "abcXefgh");
        assert_eq!(take_out("abcdefgh", &splices, "ab<1>cdef<2>ghi\n").unwrap(), "abcdefghi\n");
        assert_eq!(take_out("abcdefgh", &splices, "ab<1>cdef<X>gh"), None);
        assert_eq!(apply("ab", &[splice(3, "x")]), None);
    }

    proptest! {
        #[test]
        fn taking_out_what_was_put_in_gives_the_text_back(before in "\\PC{0,40}", cuts in proptest::collection::vec(0usize..60, 0..4), text in "\\PC{1,9}") {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| before.floor_char_boundary(cut)).collect();
            cuts.sort_unstable();
            let splices: Vec<Splice> = cuts.into_iter().map(|at| splice(at, &text)).collect();
            let after = apply(&before, &splices).unwrap();
            prop_assert_eq!(take_out(&before, &splices, &after), Some(before));
        }
    }
}
