//! Which rows a filter lets through, decided before anything is ranked.
//!
//! A filter is asked once an owner when it only names owners, once a facet when it names what a packet
//! shares, and once a row only when it names what rows have for themselves.

use std::borrow::Cow;
use std::collections::BTreeSet;

use mem0_code_core::filter::{Filter, Record};
use rusqlite::Connection;
use serde_json::Value;

use super::rows;

/// Keys of `metadata` that a row has for itself.
const ROW_KEYS: [&str; 8] = ["kind", "role", "is_source", "rule", "lane", "confidence", "sources", "superseded_by"];

/// The rows a filter lets through.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Allowed {
    /// All rows of these owners.
    Owners(Bits),
    /// All rows of these facets.
    Facets(Bits),
    /// These rows.
    Rows(Bits),
}

impl Allowed {
    /// Asks the filter.
    pub(crate) fn new(db: &Connection, filter: &Filter, written: &Value) -> rusqlite::Result<Self> {
        let names = filter.field_names();
        let only = |known: &[&str]| names.iter().all(|name| known.contains(name));
        if only(&["user_id", "agent_id", "app_id"]) {
            Self::owners(db, filter)
        } else if only(&["user_id", "agent_id", "app_id", "run_id", "categories", "metadata"])
            && !names_row_keys(written)
        {
            Self::facets(db, filter)
        } else {
            let mut bits = Bits::default();
            rows::each(db, |row| {
                if filter.matches(&row.memory) {
                    bits.set(row.seq);
                }
            })?;
            Ok(Self::Rows(bits))
        }
    }

    fn owners(db: &Connection, filter: &Filter) -> rusqlite::Result<Self> {
        let mut bits = Bits::default();
        let mut statement = db.prepare_cached("SELECT id, user_id, agent_id, app_id FROM owner")?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            let asked = Asked { owner: [row.get(1)?, row.get(2)?, row.get(3)?], ..Asked::default() };
            if filter.matches(&asked) {
                bits.set(row.get(0)?);
            }
        }
        Ok(Self::Owners(bits))
    }

    fn facets(db: &Connection, filter: &Filter) -> rusqlite::Result<Self> {
        let mut bits = Bits::default();
        let mut statement = db.prepare_cached(
            "SELECT f.id, o.user_id, o.agent_id, o.app_id, f.run_id, f.categories, f.metadata \
             FROM facet f JOIN owner o ON o.id = f.owner",
        )?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            let asked = Asked {
                owner: [row.get(1)?, row.get(2)?, row.get(3)?],
                run_id: row.get(4)?,
                categories: row.get(5)?,
                metadata: row.get(6)?,
            };
            if filter.matches(&asked) {
                bits.set(row.get(0)?);
            }
        }
        Ok(Self::Facets(bits))
    }

    /// Tells whether a row passes.
    #[inline]
    pub(crate) fn passes(&self, owner: u32, facet: u32, seq: u32) -> bool {
        match self {
            Self::Owners(bits) => bits.has(owner),
            Self::Facets(bits) => bits.has(facet),
            Self::Rows(bits) => bits.has(seq),
        }
    }
}

fn names_row_keys(written: &Value) -> bool {
    match written {
        Value::Object(map) => map.iter().any(|(key, value)| ROW_KEYS.contains(&key.as_str()) || names_row_keys(value)),
        Value::Array(list) => list.iter().any(names_row_keys),
        _ => false,
    }
}

/// An owner or a facet, as a filter sees it.
#[derive(Default)]
struct Asked {
    owner: [String; 3],
    run_id: String,
    categories: String,
    metadata: String,
}

impl Record for Asked {
    fn field(&self, name: &str) -> Option<Cow<'_, Value>> {
        let text = |text: &str| (!text.is_empty()).then(|| Cow::Owned(Value::String(text.to_owned())));
        let json = |text: &str| serde_json::from_str(text).ok().map(Cow::Owned);
        match name {
            "user_id" => text(&self.owner[0]),
            "agent_id" => text(&self.owner[1]),
            "app_id" => text(&self.owner[2]),
            "run_id" => text(&self.run_id),
            "categories" => json(&self.categories),
            "metadata" => json(&self.metadata),
            _ => None,
        }
    }
}

/// A set of small numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    pub(crate) fn set(&mut self, at: i64) {
        let Ok(at) = usize::try_from(at) else { return };
        if self.0.len() <= at / 64 {
            self.0.resize(at / 64 + 1, 0);
        }
        self.0[at / 64] |= 1 << (at % 64);
    }

    #[inline]
    pub(crate) fn has(&self, at: u32) -> bool {
        self.0.get(at as usize / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    /// The members, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = i64> {
        (0_i64..)
            .zip(&self.0)
            .flat_map(|(at, word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit))
    }
}

/// Returns the numbers of all rows that pass, newest first.
pub(crate) fn seqs(db: &Connection, allowed: &Allowed) -> rusqlite::Result<Vec<i64>> {
    let mut out = Vec::new();
    match allowed {
        Allowed::Rows(bits) => out.extend(bits.iter()),
        Allowed::Owners(bits) | Allowed::Facets(bits) => {
            let column = if matches!(allowed, Allowed::Owners(_)) { "owner" } else { "id" };
            let wanted: BTreeSet<i64> = bits.iter().collect();
            let mut facets = db.prepare_cached(&format!("SELECT id FROM facet WHERE {column} = ?1"))?;
            let mut of_facet = db.prepare_cached("SELECT seq FROM memory WHERE facet = ?1")?;
            for id in wanted {
                let facets: Vec<i64> = facets.query_map([id], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
                for facet in facets {
                    for seq in of_facet.query_map([facet], |row| row.get(0))? {
                        out.push(seq?);
                    }
                }
            }
        }
    }
    out.sort_unstable_by(|a, b| b.cmp(a));
    Ok(out)
}
