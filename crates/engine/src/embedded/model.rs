//! The embedding table this binary carries.

use mem0_code_core::rank::embed::Table;

static TABLE: &[u8] = include_bytes!("../../model/static256.bin");
static VOCAB: &[u8] = include_bytes!("../../model/vocab.bin");

/// Returns the table over the compiled-in bytes; nothing is built or copied.
pub(crate) fn table() -> Table<'static> {
    Table::new(TABLE, VOCAB).expect("the compiled-in table is whole: a test of this module reads it")
}

#[cfg(test)]
mod tests {
    use mem0_code_core::rank::embed::{cosine, pack_vocab};

    use super::*;

    #[test]
    fn the_packed_list_is_the_list() {
        assert!(pack_vocab(include_str!("../../model/vocab.txt")) == VOCAB, "run pack_vocab over vocab.txt again");
    }

    #[test]
    fn related_texts_are_near() {
        let table = table();
        let near = |a: &str, b: &str| cosine(&table.embed(a), &table.embed(b));
        let same = near("the database connection timed out", "postgres connect timeout error");
        let other = near("the database connection timed out", "we ate pasta in the garden");
        assert!(same > other + 0.2, "{same} {other}");
    }
}
