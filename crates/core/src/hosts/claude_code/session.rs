//! Reads sessions of Claude Code for a handoff.
//!
//! A transcript is a tree of records written to one file: branches that were left, copies of old records that a resume
//! appends, results that stand beside the chain because their calls ran at once. Only the way from the last record to
//! its root is what the model saw. [`Session`] keeps ids, parents and places of records; texts are read again.

mod content;
mod tree;

use std::collections::HashMap;

use serde_json::Value;

use self::tree::{Kind as NodeKind, NONE, Node, Tree};
use crate::handoff::content::Warnings;
use crate::handoff::json;
use crate::handoff::reader::{Options, Outline, Record, RecordIds, SessionReader, Sink, Span, Surroundings, Tally};
use crate::handoff::refusal::{Kind, Refusal};
use crate::handoff::validate::shown;
use crate::hosts::lenient::{Maybe, objects};
use crate::hosts::sessions::{DefaultTitle, Form, Place, Sessions};

/// Sessions of Claude Code.
pub(in crate::hosts) const SESSIONS: Sessions = Sessions {
    id: "claude-code",
    default_title: DefaultTitle { words: "Claude session", id_chars: 8 },
    cwd_replaces: false,
    form: Form::Lines,
    place: Some(Place { setting: "CLAUDE_CONFIG_DIR", folder: ".claude", pattern: "projects/*/{id}.jsonl" }),
    without_results: None,
    reader: new,
};

fn new(_options: &Options) -> Box<dyn SessionReader> {
    Box::<Session>::default()
}

/// What is kept of a record while all are seen.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line {
    uuid: Maybe<String>,
    parent_uuid: Maybe<String>,
    #[serde(rename = "type")]
    kind: Maybe<String>,
    subtype: Maybe<String>,
    is_sidechain: Maybe<bool>,
    is_compact_summary: Maybe<bool>,
    session_id: Maybe<String>,
    custom_title: Maybe<String>,
    ai_title: Maybe<String>,
    message: Maybe<Message>,
}

/// The ids in a message.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Message {
    id: Maybe<String>,
    content: Maybe<Vec<BlockIds>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct BlockIds {
    #[serde(rename = "type")]
    kind: Maybe<String>,
    id: Maybe<String>,
    tool_use_id: Maybe<String>,
}

/// Which way a preserved stretch runs.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Boundary {
    compact_metadata: Maybe<CompactMetadata>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CompactMetadata {
    preserved_segment: Maybe<Segment>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Segment {
    head_uuid: Maybe<String>,
    anchor_uuid: Maybe<String>,
    tail_uuid: Maybe<String>,
}

/// The identity of a record, to tell a copy from another record.
#[derive(Debug, serde::Deserialize)]
struct Body {
    #[serde(rename = "type", default)]
    kind: Value,
    #[serde(default)]
    message: Value,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Folder {
    cwd: Maybe<String>,
}

objects!(Message, BlockIds, CompactMetadata, Segment);

/// One transcript.
#[derive(Debug, Default)]
struct Session {
    tree: Tree,
    session_id: Option<String>,
    custom_title: Option<String>,
    ai_title: Option<String>,
    /// Copies: the first record and the later one.
    copies: Vec<(u32, Span)>,
    /// Nodes in the order of their items; a group of streamed pieces is one message.
    groups: Vec<Vec<u32>>,
    warnings: Warnings,
}

impl SessionReader for Session {
    fn scan(&mut self, record: Record<'_>) -> Result<(), Refusal> {
        let line: Line = json::read(record.text, record.at.line)?;
        if let Some(id) = line.session_id.filled() {
            self.session_id = Some(id);
        }
        match line.kind.text() {
            "custom-title" => self.custom_title = line.custom_title.filled().or(self.custom_title.take()),
            "ai-title" => self.ai_title = line.ai_title.filled().or(self.ai_title.take()),
            _ => {}
        }
        let Some(uuid) = line.uuid.0 else { return Ok(()) };
        if line.is_sidechain.0 == Some(true) {
            return Ok(());
        }
        let kind = match (line.kind.text(), line.subtype.text()) {
            ("user", _) => NodeKind::User,
            ("assistant", _) => NodeKind::Assistant,
            ("system", "compact_boundary") => NodeKind::Boundary,
            ("system" | "progress", _) => NodeKind::Passed,
            _ => NodeKind::Other,
        };
        let message = line.message.0.unwrap_or_default();
        let node = Node {
            at: record.at,
            parent: line.parent_uuid.0.map_or(NONE, |parent| self.tree.name(&parent)),
            message: message.id.filled().map_or(NONE, |id| self.tree.name(&id)),
            kind,
            is_summary: line.is_compact_summary.is_set(),
        };
        let Some(node) = self.tree.add(&uuid, node) else {
            let first = self.tree.find(&uuid).unwrap_or(NONE);
            self.copies.push((first, record.at));
            return Ok(());
        };
        for block in message.content.0.unwrap_or_default() {
            match (kind, block.kind.text()) {
                (NodeKind::Assistant, "tool_use") => {
                    if let Some(id) = block.id.0 {
                        self.tree.add_call(node, &id);
                    }
                }
                (NodeKind::User, "tool_result") => {
                    if let Some(id) = block.tool_use_id.0 {
                        self.tree.add_result(node, &id);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn outline(&mut self, around: &mut dyn Surroundings) -> Result<Outline, Refusal> {
        self.check_copies(around)?;
        let Some(leaf) = self.tree.last() else {
            return Err(Refusal::new(Kind::NoConversation, "the transcript has no records of the main agent"));
        };
        let branch = self.tree.branch(leaf)?;
        let cwd = self.cwd(&branch, around)?;
        let (kept, boundary) = self.after_compaction(&branch, around)?;
        let kept: Vec<u32> = kept
            .into_iter()
            .filter(|node| !matches!(self.tree.node(*node).kind, NodeKind::Passed | NodeKind::Boundary))
            .collect();
        self.groups = self.with_results(&kept);
        let (Some(first), Some(last)) =
            (self.groups.first().and_then(|group| group.first()), self.groups.last().and_then(|group| group.last()))
        else {
            return Err(Refusal::new(Kind::NoItems, "nothing of the conversation is left after the last compaction"));
        };
        let ids = RecordIds { leaf: self.tree.uuid(leaf), first: self.tree.uuid(*first), last: self.tree.uuid(*last) };
        let imported = self.groups.iter().map(Vec::len).sum::<usize>() as u64;
        Ok(Outline {
            session_id: self.session_id.take(),
            title: self.custom_title.take().or(self.ai_title.take()),
            cwd,
            compact_boundary: boundary.map(|node| self.tree.uuid(node)),
            ids: Some(ids),
            records: Some((branch.len() as u64, imported)),
            source_records: None,
        })
    }

    fn items(&mut self, around: &mut dyn Surroundings, sink: &mut Sink<'_>) -> Result<Tally, Refusal> {
        let mut reading = content::Reading::new(std::mem::take(&mut self.warnings));
        for group in &self.groups {
            for node in group {
                let at = self.tree.node(*node).at;
                let text = around.record(at)?;
                reading.record(&text, at.line, sink)?;
            }
            reading.end_group(sink)?;
        }
        Ok(reading.tally())
    }
}

impl Session {
    /// A record with an id seen before counts when it is the same record again.
    fn check_copies(&mut self, around: &mut dyn Surroundings) -> Result<(), Refusal> {
        for (first, later) in std::mem::take(&mut self.copies) {
            let original = self.tree.node(first).at;
            let (left, right) = (around.record(original)?, around.record(later)?);
            let is_copy = left == right || {
                let left: Body = json::read(&left, original.line)?;
                let right: Body = json::read(&right, later.line)?;
                left.kind == right.kind && left.message == right.message
            };
            if !is_copy {
                let uuid = shown(&self.tree.uuid(first));
                return Err(Refusal::new(
                    Kind::DuplicateRecordId,
                    format!("lines {} and {} are different records with the id {uuid}", original.line, later.line),
                ));
            }
            self.warnings.add("duplicate_records_ignored");
        }
        Ok(())
    }

    fn cwd(&self, branch: &[u32], around: &mut dyn Surroundings) -> Result<Option<String>, Refusal> {
        for node in branch {
            let at = self.tree.node(*node).at;
            let folder: Folder = json::read(&around.record(at)?, at.line)?;
            if let Some(cwd) = folder.cwd.filled() {
                return Ok(Some(cwd));
            }
        }
        Ok(None)
    }

    /// What the last compaction on the branch left, and its record.
    fn after_compaction(
        &self,
        branch: &[u32],
        around: &mut dyn Surroundings,
    ) -> Result<(Vec<u32>, Option<u32>), Refusal> {
        let Some(place) = branch.iter().rposition(|node| self.tree.node(*node).kind == NodeKind::Boundary) else {
            return Ok((branch.to_vec(), None));
        };
        let boundary = branch[place];
        let opaque = |told: &str| {
            let uuid = shown(&self.tree.uuid(boundary));
            Refusal::new(Kind::OpaqueCompaction, format!("the compaction {uuid} {told}"))
        };
        let mut kept = branch[place + 1..].to_vec();
        let said = kept.iter().find(|node| matches!(self.tree.node(**node).kind, NodeKind::User | NodeKind::Assistant));
        if !said.is_some_and(|node| self.tree.node(*node).is_summary) {
            return Err(opaque("has no readable summary after it"));
        }
        let at = self.tree.node(boundary).at;
        let record: Boundary = json::read(&around.record(at)?, at.line)?;
        if let Some(segment) = record.compact_metadata.0.and_then(|metadata| metadata.preserved_segment.0) {
            self.keep_segment(&segment, boundary, &mut kept)
                .ok_or_else(|| opaque("kept a stretch of records that cannot be followed"))?;
        }
        Ok((kept, Some(boundary)))
    }

    /// Puts the stretch that a compaction kept word for word after its anchor. `None`: it cannot be followed.
    fn keep_segment(&self, segment: &Segment, boundary: u32, kept: &mut Vec<u32>) -> Option<()> {
        let find = |uuid: &Maybe<String>| self.tree.find(uuid.get()?);
        let (tail, head) = (find(&segment.tail_uuid)?, find(&segment.head_uuid)?);
        if kept.contains(&tail) {
            return Some(());
        }
        let anchor = find(&segment.anchor_uuid)?;
        let place = if anchor == boundary { 0 } else { kept.iter().position(|node| *node == anchor)? + 1 };
        let mut stretch = vec![tail];
        while stretch.last() != Some(&head) {
            let next = self.tree.parent(*stretch.last()?)?;
            if stretch.len() > self.tree.len() {
                return None;
            }
            stretch.push(next);
        }
        stretch.reverse();
        kept.splice(place..place, stretch);
        Some(())
    }

    /// Groups streamed pieces of one message, and puts the results of a group's calls after it.
    fn with_results(&self, kept: &[u32]) -> Vec<Vec<u32>> {
        let on_branch = {
            let mut on_branch = vec![false; self.tree.len()];
            kept.iter().for_each(|node| on_branch[*node as usize] = true);
            on_branch
        };
        let results: HashMap<u32, Vec<u32>> = self.tree.results_by_call();
        let mut is_taken = vec![false; self.tree.len()];
        let mut groups = Vec::new();
        let mut at = 0;
        while at < kept.len() {
            let first = kept[at];
            let message = self.tree.node(first).message;
            let mut end = at + 1;
            if self.tree.node(first).kind == NodeKind::Assistant && message != NONE {
                while kept.get(end).is_some_and(|next| {
                    let next = self.tree.node(*next);
                    next.kind == NodeKind::Assistant && next.message == message
                }) {
                    end += 1;
                }
            }
            let group: Vec<u32> = kept[at..end].iter().copied().filter(|node| !is_taken[*node as usize]).collect();
            at = end;
            if group.is_empty() {
                continue;
            }
            group.iter().for_each(|node| is_taken[*node as usize] = true);
            let mut holders: Vec<u32> = group
                .iter()
                .flat_map(|node| self.tree.calls_of(*node))
                .filter_map(|call| {
                    let holders = results.get(&call)?;
                    holders.iter().find(|node| on_branch[**node as usize]).or_else(|| holders.first()).copied()
                })
                .filter(|node| !is_taken[*node as usize])
                .collect();
            holders.sort_unstable();
            holders.dedup();
            groups.push(group);
            for holder in holders {
                is_taken[holder as usize] = true;
                groups.push(vec![holder]);
            }
        }
        groups
    }
}
