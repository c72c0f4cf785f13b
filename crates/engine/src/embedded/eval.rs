//! The JSON Lines protocol of a retrieval benchmark, over the same store, index and ranking as the product.
//!
//! One request a line, one answer a line: `reset`, `add` and `add_batch` (`id`, `scope`, `session`, `time`,
//! `role`, `text`), `flush`, `search` (`scope`, `query`, `k`, `time`, and `purpose` for what a
//! first prompt would be shown) giving `{"results":[{"id","score"}]}`,
//! `stats`. Rows live in a temporary folder; a scope is a repository's slug, a session a run.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Write};
use std::time::Duration;

use jiff::Timestamp;
use mem0_code_core::extract;
use mem0_code_core::memory::{Entities, Role};
use mem0_code_core::rank::score::Weights;
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::rows::{self, NewRow};
use super::{Access, Embedded, remember};
use crate::api::{ApiError, MemoryApi, Purpose, SearchRequest};

/// Messages of one session given to the rules at once, as a packet would hold.
const PACKET: usize = 24;

#[derive(Deserialize)]
struct Request {
    op: String,
    #[serde(default)]
    items: Vec<Item>,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

#[derive(Deserialize)]
struct Item {
    id: String,
    scope: String,
    session: String,
    time: String,
    role: String,
    text: String,
}

/// Answers requests from `input` until it ends.
///
/// # Errors
/// When a stream breaks or no temporary folder can be made. A request that cannot be done is answered with `error`.
pub fn run(input: impl BufRead, output: impl Write) -> io::Result<()> {
    run_with(&Weights::default(), input, output)
}

/// [`run`] with other weights, to measure them.
///
/// # Errors
/// As [`run`].
pub fn run_with(weights: &Weights, input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut round = 0;
    let mut bench = Bench::new(folder.path(), round, weights).map_err(io::Error::other)?;
    for line in input.lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let answer = match serde_json::from_str::<Request>(&line) {
            Ok(request) if request.op == "reset" => {
                round += 1;
                bench = Bench::new(folder.path(), round, weights).map_err(io::Error::other)?;
                json!({"ok": true})
            }
            Ok(request) => bench.answer(request).unwrap_or_else(|error| json!({"error": error.to_string()})),
            Err(error) => json!({"error": error.to_string()}),
        };
        serde_json::to_writer(&mut output, &answer)?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(())
}

struct Bench {
    engine: Embedded,
    /// The caller's id of each row.
    ids: HashMap<i64, String>,
    shared: HashMap<(String, String), rows::Shared>,
    /// Rows of conversations the rules have not read yet, by scope and session.
    unread: BTreeMap<(String, String), Vec<i64>>,
}

impl Bench {
    fn new(folder: &std::path::Path, round: usize, weights: &Weights) -> Result<Self, ApiError> {
        let mut engine = Embedded::open(&folder.join(round.to_string()).join("memory.sqlite3"), Access::ReadWrite)?;
        engine.weights = weights.clone();
        Ok(Self { engine, ids: HashMap::new(), shared: HashMap::new(), unread: BTreeMap::new() })
    }

    fn answer(&mut self, request: Request) -> Result<Value, Box<dyn std::error::Error>> {
        match request.op.as_str() {
            "add" => {
                let item: Item = serde_json::from_value(Value::Object(request.fields))?;
                self.add(&[item])?;
                Ok(json!({"ok": true}))
            }
            "add_batch" => {
                self.add(&request.items)?;
                Ok(json!({"ok": true}))
            }
            "flush" => {
                self.read_all()?;
                self.engine.maintain(true)?;
                Ok(json!({"ok": true}))
            }
            "weights" => {
                for (name, value) in &request.fields {
                    let value = value.as_f64().ok_or("a weight is a number")? as f32;
                    if !self.engine.weights.set(name, value) {
                        return Err(format!("no weight named {name}").into());
                    }
                }
                Ok(json!({"ok": true}))
            }
            "search" => self.search(&request.fields),
            "stats" => {
                let stats = self.engine.stats()?;
                Ok(json!({
                    "rows": stats.rows, "indexed": stats.indexed, "tail": stats.tail, "database_bytes": stats.database_bytes,
                    "index_bytes": stats.index_bytes, "index_bytes_per_memory": stats.index_bytes_per_memory,
                }))
            }
            other => Err(format!("unknown op {other}").into()),
        }
    }

    fn add(&mut self, items: &[Item]) -> Result<(), Box<dyn std::error::Error>> {
        let mut db = self.engine.db.take().ok_or("the database is not open")?;
        let result = self.add_on(&mut db, items);
        self.engine.db = Some(db);
        result?;
        if self.engine.with_tail(|n_tail| n_tail > 20_000)? {
            self.engine.maintain(true)?;
        }
        Ok(())
    }

    fn add_on(&mut self, db: &mut Connection, items: &[Item]) -> Result<(), Box<dyn std::error::Error>> {
        let tx = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        for item in items {
            let key = (item.scope.clone(), item.session.clone());
            if !self.shared.contains_key(&key) {
                let whom = Entities {
                    agent_id: item.scope.clone(),
                    app_id: item.scope.clone(),
                    run_id: Some(item.session.clone()),
                    ..Entities::default()
                };
                self.shared.insert(key.clone(), rows::shared(&tx, &whom, &[], &Map::new())?);
            }
            let at: Timestamp = item.time.parse()?;
            let row = NewRow {
                shared: &self.shared[&key],
                is_durable: false,
                is_source: false,
                role: &item.role,
                text: &item.text,
                rule: None,
                lane: None,
                confidence: None,
                sources: &[],
                created_at: at.as_microsecond(),
            };
            let (seq, _) = rows::insert(&tx, &mut self.engine.indexer, &row)?;
            self.ids.insert(seq, item.id.clone());
            if role(&item.role).is_some() {
                self.unread.entry(key).or_default().push(seq);
            }
        }
        tx.commit()?;
        Ok(())
    }

    /// Lets the rules read what was said, and marks the rows that durable memories would come from.
    fn read_all(&mut self) -> Result<(), Box<dyn std::error::Error>> {
        let db = self.engine.db.take().ok_or("the database is not open")?;
        let unread = std::mem::take(&mut self.unread);
        let result = (|| {
            let tx = db.unchecked_transaction()?;
            for seqs in unread.values().flat_map(|seqs| seqs.chunks(PACKET)) {
                let mut messages = Vec::new();
                for seq in seqs {
                    if let Some(row) = rows::by_seq(&tx, *seq)? {
                        messages.push(remember::message(
                            role(&row.role).unwrap_or(Role::User),
                            &row.memory.memory,
                            None,
                        ));
                    }
                }
                let candidates = extract::extract(&messages);
                for at in candidates
                    .iter()
                    .filter(|candidate| candidate.confidence >= 0.5)
                    .flat_map(|candidate| &candidate.sources)
                {
                    let Some(seq) = seqs.get(*at) else { continue };
                    tx.execute("UPDATE memory SET is_source = 1 WHERE seq = ?1", [seq])?;
                    rows::reindex(&tx, &mut self.engine.indexer, *seq)?;
                }
            }
            tx.commit()
        })();
        self.engine.db = Some(db);
        Ok(result?)
    }

    fn search(&mut self, fields: &Map<String, Value>) -> Result<Value, Box<dyn std::error::Error>> {
        let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
        let request = SearchRequest {
            query: text("query").to_owned(),
            app_id: text("scope").to_owned(),
            filters: json!({"app_id": text("scope")}),
            top_k: fields.get("k").and_then(Value::as_u64).and_then(|k| usize::try_from(k).ok()).unwrap_or(10),
            purpose: if text("purpose") == "recall" { Purpose::Recall } else { Purpose::Search },
            now: text("time").parse().unwrap_or_else(|_| Timestamp::now()),
            timeout: Duration::from_secs(5),
        };
        let found = self.engine.search(&request)?;
        let db = self.engine.db.as_ref().ok_or("the database is not open")?;
        let mut results = Vec::new();
        for memory in found {
            let seq: i64 =
                db.prepare_cached("SELECT seq FROM memory WHERE id = ?1")?.query_row([&memory.id], |row| row.get(0))?;
            if let Some(id) = self.ids.get(&seq) {
                results.push(json!({"id": id, "score": memory.score}));
            }
        }
        Ok(json!({"results": results}))
    }
}

impl Embedded {
    fn with_tail(&self, test: impl Fn(i64) -> bool) -> rusqlite::Result<bool> {
        let Some(db) = &self.db else { return Ok(false) };
        let spread = "SELECT coalesce(max(rev) - min(rev), 0) FROM pending";
        Ok(test(db.prepare_cached(spread)?.query_row([], |row| row.get(0))?))
    }
}

fn role(name: &str) -> Option<Role> {
    match name {
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        "tool" => Some(Role::Tool),
        _ => None,
    }
}
