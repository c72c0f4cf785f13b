//! Adding: turns as they were said, and the durable memories that rules find in them.

use jiff::Timestamp;
use mem0_code_core::extract::{self, Candidate, Relation, Rule};
use mem0_code_core::memory::{Entities, Lane, Message, Role};
use mem0_code_core::rank::cues::Flags;
use mem0_code_core::rank::embed::{self, Vector};
use rusqlite::{Connection, OptionalExtension};

use super::rows::{self, NewRow, Shared};
use super::search::State;
use super::{Embedded, store};
use crate::api::{AddRequest, ApiError};

/// Longest text of a row, in bytes.
const MAX_TEXT: usize = 64 * 1024;

/// A new durable memory is compared with this many nearest ones of its scope.
const NEAREST: usize = 8;

/// Cosine below which two durable memories are not compared at all.
const FAR: f32 = 0.30;

impl Embedded {
    /// The add behind `MemoryApi::add`: everything in one transaction, with the key that makes it repeatable.
    pub(super) fn store(&mut self, request: &AddRequest) -> Result<String, ApiError> {
        let whom = &request.entities;
        if whom.user_id.is_empty() && whom.agent_id.is_empty() && whom.app_id.is_empty() {
            return Err(ApiError::Invalid(
                "a memory must belong to someone: user_id, agent_id and app_id are all empty".to_owned(),
            ));
        }
        self.connect()?;
        let path = self.path.clone();
        let fail = store::store_error(&path);
        let Some(mut db) = self.db.take() else {
            return Err(ApiError::Invalid("the memory was opened for searching only".to_owned()));
        };
        // A model takes seconds: it is asked before the database is locked, and only for what is new.
        let is_known = request.idempotency_key.as_ref().is_some_and(|key| known(&db, key).is_ok_and(|id| id.is_some()));
        let found = match &mut self.extractor {
            Some(extractor) if request.infer && !is_known => extractor.extract(&request.messages),
            _ => None,
        };
        let result = self.store_on(&mut db, request, found);
        self.db = Some(db);
        self.noted(result.map_err(fail))
    }

    /// `found`: what is durable in the messages, where something else than the rules looked.
    fn store_on(
        &mut self,
        db: &mut Connection,
        request: &AddRequest,
        found: Option<Vec<Candidate>>,
    ) -> rusqlite::Result<String> {
        let tx = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        if let Some(key) = &request.idempotency_key
            && let Some(event) = known(&tx, key)?
        {
            return Ok(event);
        }
        let now = request.now.unwrap_or_else(Timestamp::now).as_microsecond();
        let n_results = if request.infer {
            let candidates = found.unwrap_or_else(|| extract::extract(&request.messages));
            self.store_turns(&tx, request, &candidates, now)?
        } else {
            self.store_as_told(&tx, request, now)?
        };
        let event = uuid::Uuid::now_v7().to_string();
        tx.prepare_cached("INSERT INTO event (id, key, results, created_at) VALUES (?1, ?2, ?3, ?4)")?.execute((
            &event,
            &request.idempotency_key,
            u32::try_from(n_results).unwrap_or(u32::MAX),
            now,
        ))?;
        tx.commit()?;
        Ok(event)
    }

    /// Each message is one durable memory.
    fn store_as_told(&mut self, db: &Connection, request: &AddRequest, now: i64) -> rusqlite::Result<usize> {
        let categories = told_categories(request);
        let categories: Vec<&str> = categories.iter().map(String::as_str).collect();
        let shared = rows::shared(db, &request.entities, &categories, &request.metadata)?;
        let lane = if request.entities.agent_id.is_empty() { Lane::Personal } else { Lane::Project };
        let mut n_results = 0;
        for message in request.messages.iter().filter(|message| !message.content.trim().is_empty()) {
            let told = Told {
                text: bounded(message.content.trim()),
                rule: Rule::Explicit,
                lane,
                confidence: 1.0,
                role: role_name(message.role),
                sources: Vec::new(),
            };
            n_results += usize::from(self.store_durable(db, &shared, &told, now)?);
        }
        Ok(n_results)
    }

    /// Each message is a row as it is, and so is each durable memory found in them.
    fn store_turns(
        &mut self,
        db: &Connection,
        request: &AddRequest,
        candidates: &[Candidate],
        now: i64,
    ) -> rusqlite::Result<usize> {
        let shared = rows::shared(db, &request.entities, &[], &request.metadata)?;
        let mut ids: Vec<Option<String>> = Vec::with_capacity(request.messages.len());
        for (at, message) in request.messages.iter().enumerate() {
            if is_boilerplate(&message.content) {
                ids.push(None);
                continue;
            }
            let is_source = candidates.iter().any(|candidate| candidate.sources.contains(&at));
            let row = NewRow {
                shared: &shared,
                is_durable: false,
                is_source,
                role: role_name(message.role),
                text: bounded(&message.content),
                rule: None,
                lane: None,
                confidence: None,
                sources: &[],
                created_at: message.at.map_or(now, Timestamp::as_microsecond),
            };
            ids.push(Some(rows::insert(db, &mut self.indexer, &row)?.1));
        }
        let mut n_results = 0;
        for candidate in candidates {
            n_results += usize::from(self.store_candidate(db, request, candidate, &ids, now)?);
        }
        Ok(n_results)
    }

    fn store_candidate(
        &mut self,
        db: &Connection,
        request: &AddRequest,
        candidate: &Candidate,
        ids: &[Option<String>],
        now: i64,
    ) -> rusqlite::Result<bool> {
        let whom = lane_entities(&request.entities, candidate.lane);
        let shared = rows::shared(db, &whom, &[candidate.category.as_str()], &request.metadata)?;
        let role =
            candidate.sources.first().and_then(|at| request.messages.get(*at)).map_or("user", |m| role_name(m.role));
        let told = Told {
            text: &candidate.text,
            rule: candidate.rule,
            lane: candidate.lane,
            confidence: candidate.confidence,
            role,
            sources: candidate.sources.iter().filter_map(|at| ids.get(*at).cloned().flatten()).collect(),
        };
        let at = candidate.sources.iter().filter_map(|at| request.messages.get(*at)?.at).max();
        self.store_durable(db, &shared, &told, at.map_or(now, Timestamp::as_microsecond))
    }

    /// Stores a durable memory unless its scope has it already; a newer statement of the same subject
    /// marks the older one. Returns whether a row was added.
    fn store_durable(&mut self, db: &Connection, shared: &Shared, told: &Told<'_>, at: i64) -> rusqlite::Result<bool> {
        let same = "SELECT m.seq FROM memory m JOIN facet f ON f.id = m.facet \
             WHERE m.hash = ?1 AND m.is_durable = 1 AND f.owner = ?2 AND m.superseded_by IS NULL LIMIT 1";
        let same: Option<i64> = db
            .prepare_cached(same)?
            .query_row((rows::text_hash(told.text), shared.owner), |row| row.get(0))
            .optional()?;
        if let Some(seq) = same {
            touch(db, seq, told, at)?;
            return Ok(false);
        }
        let mut superseded = Vec::new();
        for (seq, cosine) in self.nearest(db, shared.owner, &self.indexer.embed(told.text))? {
            let Some(row) = rows::by_seq(db, seq)?.filter(|row| row.is_durable && !row.is_superseded) else { continue };
            match extract::relate(told.text, &row.memory.memory, cosine) {
                Relation::Unrelated => {}
                Relation::Duplicate => {
                    touch(db, seq, told, at)?;
                    return Ok(false);
                }
                Relation::Supersedes => superseded.push(row),
            }
        }
        let row = NewRow {
            shared,
            is_durable: true,
            is_source: false,
            role: told.role,
            text: told.text,
            rule: Some(told.rule.as_str()),
            lane: Some(if told.lane == Lane::Personal { "personal" } else { "project" }),
            confidence: Some(told.confidence),
            sources: &told.sources,
            created_at: at,
        };
        let (_, id) = rows::insert(db, &mut self.indexer, &row)?;
        for old in superseded {
            db.prepare_cached("UPDATE memory SET superseded_by = ?2, updated_at = ?3 WHERE seq = ?1")?
                .execute((old.seq, &id, at))?;
            rows::log(db, &old.memory.id, "SUPERSEDE", Some(&old.memory.memory), Some(told.text), at)?;
            rows::reindex(db, &mut self.indexer, old.seq)?;
        }
        Ok(true)
    }

    /// The nearest durable rows of an owner, by cosine.
    fn nearest(&mut self, db: &Connection, owner: i64, vector: &Vector) -> rusqlite::Result<Vec<(i64, f32)>> {
        let owner = u32::try_from(owner).unwrap_or(u32::MAX);
        let probe = super::simd::Probe::new(vector);
        let (stale, tail) = self.tail(db)?;
        let mut found: Vec<(i64, f32)> = tail
            .iter()
            .filter(|doc| doc.owner == owner && doc.flags.has(Flags::DURABLE) && !doc.flags.has(Flags::SUPERSEDED))
            .filter_map(|doc| {
                let first = doc.vectors.first()?;
                let other = std::array::from_fn(|at| f32::from(first.values[at]) * first.scale);
                Some((i64::from(doc.seq), embed::cosine(vector, &other)))
            })
            .collect();
        if let Some(segment) = self.segment(&State::read(db)?) {
            found.extend((0..segment.n_docs()).filter_map(|doc| {
                let flags = segment.flags(doc);
                if !flags.has(Flags::DURABLE)
                    || flags.has(Flags::SUPERSEDED)
                    || segment.owner(doc) != owner
                    || stale.has(segment.seq(doc))
                {
                    return None;
                }
                let (values, scale) = segment.vector(segment.vectors(doc).start);
                Some((i64::from(segment.seq(doc)), probe.cosine(values, scale)))
            }));
        }
        found.retain(|(_, cosine)| *cosine >= FAR);
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        found.truncate(NEAREST);
        Ok(found)
    }
}

/// The event of an earlier request with this key.
fn known(db: &Connection, key: &str) -> rusqlite::Result<Option<String>> {
    db.prepare_cached("SELECT id FROM event WHERE key = ?1")?.query_row([key], |row| row.get(0)).optional()
}

/// A durable memory about to be stored.
struct Told<'a> {
    text: &'a str,
    rule: Rule,
    lane: Lane,
    confidence: f32,
    role: &'a str,
    sources: Vec<String>,
}

/// Said again: the row is fresh, and as sure as the surer of both.
fn touch(db: &Connection, seq: i64, told: &Told<'_>, at: i64) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE memory SET updated_at = max(updated_at, ?2), confidence = max(coalesce(confidence, 0), ?3) WHERE seq = ?1",
    )?
    .execute((seq, at, told.confidence))
    .map(drop)
}

/// Durable project memories belong to the project, personal ones to the person; both stay in the repository's slug.
fn lane_entities(whom: &Entities, lane: Lane) -> Entities {
    let mut out = whom.clone();
    match lane {
        Lane::Project if !whom.agent_id.is_empty() => out.user_id.clear(),
        Lane::Personal if !whom.user_id.is_empty() => out.agent_id.clear(),
        _ => {}
    }
    out
}

/// `categories` as the caller of a direct store names them: `["a"]`, or the Platform's `[{"a": sentence}]` when it is one.
fn told_categories(request: &AddRequest) -> Vec<String> {
    let Some(list) = request.categories.as_ref().and_then(serde_json::Value::as_array) else { return Vec::new() };
    let named: Vec<String> = list.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect();
    match (named.is_empty(), list.as_slice()) {
        (true, [serde_json::Value::Object(one)]) => one.keys().cloned().collect(),
        _ => named,
    }
}

/// Words of the machinery, not of anyone.
fn is_boilerplate(text: &str) -> bool {
    let text = text.trim();
    text.is_empty()
        || text.starts_with("[Request interrupted")
        || text.starts_with("<local-command-stdout></local-command-stdout>")
        || text == "(no content)"
}

fn bounded(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The name of a role on the wire.
pub(super) fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

/// The messages of a test or an evaluation as `extract` wants them.
pub(super) fn message(role: Role, content: &str, at: Option<Timestamp>) -> Message {
    Message { role, content: content.to_owned(), at, tool: None }
}
