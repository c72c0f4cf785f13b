//! The tree of a transcript's records, small enough for a transcript of any size.

use std::collections::HashMap;

use crate::handoff::reader::Span;
use crate::handoff::refusal::{Kind as RefusalKind, Refusal};
use crate::handoff::validate::shown;

/// No record, no name.
pub(super) const NONE: u32 = u32::MAX;

/// What a record is for the order of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Assistant,
    /// Where a compaction ended what was before.
    Boundary,
    /// In the chain, but never before the model.
    Passed,
    Other,
}

/// A record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) at: Span,
    /// Name of the parent, which may come later in the file.
    pub(super) parent: u32,
    /// Name of the message that it is a piece of.
    pub(super) message: u32,
    pub(super) kind: Kind,
    pub(super) is_summary: bool,
}

/// Records in file order, by number; names of records, messages and calls by number.
#[derive(Debug, Default)]
pub(super) struct Tree {
    names: HashMap<Box<str>, u32>,
    /// The record that has a name.
    named: Vec<u32>,
    nodes: Vec<Node>,
    /// The record's own name.
    own: Vec<u32>,
    /// Record and name of the call, in file order.
    calls: Vec<(u32, u32)>,
    results: Vec<(u32, u32)>,
}

impl Tree {
    /// The number of a name.
    pub(super) fn name(&mut self, name: &str) -> u32 {
        if let Some(number) = self.names.get(name) {
            return *number;
        }
        let number = self.named.len() as u32;
        self.named.push(NONE);
        self.names.insert(name.into(), number);
        number
    }

    /// Adds a record; `None` when there is one of that name.
    pub(super) fn add(&mut self, uuid: &str, node: Node) -> Option<u32> {
        let name = self.name(uuid);
        let slot = self.named.get_mut(name as usize)?;
        if *slot != NONE {
            return None;
        }
        let number = self.nodes.len() as u32;
        *slot = number;
        self.nodes.push(node);
        self.own.push(name);
        Some(number)
    }

    pub(super) fn add_call(&mut self, node: u32, id: &str) {
        let name = self.name(id);
        self.calls.push((node, name));
    }

    pub(super) fn add_result(&mut self, node: u32, id: &str) {
        let name = self.name(id);
        self.results.push((node, name));
    }

    /// Names of the calls in a record.
    pub(super) fn calls_of(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let from = self.calls.partition_point(|(holder, _)| *holder < node);
        self.calls[from..].iter().take_while(move |(holder, _)| *holder == node).map(|(_, call)| *call)
    }

    /// For each call, the records that hold a result of it, in file order.
    pub(super) fn results_by_call(&self) -> HashMap<u32, Vec<u32>> {
        let mut by_call: HashMap<u32, Vec<u32>> = HashMap::with_capacity(self.results.len());
        for (node, call) in &self.results {
            by_call.entry(*call).or_default().push(*node);
        }
        by_call
    }

    pub(super) fn find(&self, uuid: &str) -> Option<u32> {
        let name = *self.names.get(uuid)?;
        self.named.get(name as usize).copied().filter(|node| *node != NONE)
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn last(&self) -> Option<u32> {
        self.nodes.len().checked_sub(1).map(|last| last as u32)
    }

    pub(super) fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    /// The id of a record. Looks through all names: for what is said once.
    pub(super) fn uuid(&self, node: u32) -> String {
        self.own.get(node as usize).map_or_else(String::new, |own| self.text(*own))
    }

    fn text(&self, name: u32) -> String {
        self.names.iter().find(|(_, number)| **number == name).map_or_else(String::new, |(text, _)| text.to_string())
    }

    /// The parent of a record; `None` for a root and for one that is not here.
    pub(super) fn parent(&self, node: u32) -> Option<u32> {
        let name = self.nodes.get(node as usize)?.parent;
        self.named.get(name as usize).copied().filter(|node| *node != NONE)
    }

    /// The way from the root to a record.
    pub(super) fn branch(&self, leaf: u32) -> Result<Vec<u32>, Refusal> {
        let mut is_seen = vec![false; self.nodes.len()];
        let mut branch = Vec::new();
        let mut at = leaf;
        loop {
            if std::mem::replace(&mut is_seen[at as usize], true) {
                let uuid = shown(&self.uuid(at));
                return Err(Refusal::new(
                    RefusalKind::ParentCycle,
                    format!("the record {uuid} is its own ancestor, so the conversation has no beginning"),
                ));
            }
            branch.push(at);
            if self.nodes[at as usize].parent == NONE {
                branch.reverse();
                return Ok(branch);
            }
            at = self.parent(at).ok_or_else(|| {
                let (uuid, parent) = (self.uuid(at), self.text(self.nodes[at as usize].parent));
                Refusal::new(
                    RefusalKind::MissingParent,
                    format!(
                        "the record {} follows the record {}, which is not in the file",
                        shown(&uuid),
                        shown(&parent)
                    ),
                )
            })?;
        }
    }
}
