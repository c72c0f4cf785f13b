//! Import, index, warm and cold search times of the embedded engine on made-up memories from a fixed seed.
//!
//! `engine_speed FOLDER N` imports N memories (two sessions of 20 a project day, 22 terms each on average), indexes them
//! and asks 300 questions; `engine_speed FOLDER ask` asks one question, to be timed as a process of its own.
//! Times are CPU-bound: on a loaded machine quote the minimum and the median.

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use mem0_code_core::memory::{Entities, Message, Role};
use mem0_code_engine::api::{AddRequest, MemoryApi, Purpose, SearchRequest};
use mem0_code_engine::embedded::{Access, Embedded};
use serde_json::json;

/// Sentences are drawn from this many words with a long tail, as in real text.
const WORDS: u64 = 40_000;

/// The most common words, left out.
const COMMON: f64 = 60.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let folder = args.next().ok_or("engine_speed FOLDER N|ask")?;
    let what = args.next().ok_or("engine_speed FOLDER N|ask")?;
    let path = Path::new(&folder).join("memory.sqlite3");
    let mut random = Random(7);
    if what == "ask" {
        let started = Instant::now();
        let mut engine = Embedded::open(&path, Access::Search)?;
        let found = engine.search(&question(&mut Random(std::process::id().into())))?;
        report(&format!("{} found in {:.2} ms", found.len(), started.elapsed().as_secs_f64() * 1e3));
        return Ok(());
    }
    let n: usize = what.parse()?;
    let mut engine = Embedded::open(&path, Access::ReadWrite)?;
    let started = Instant::now();
    for session in 0..n.div_ceil(20) {
        let messages = (0..20).map(|turn| message(&mut random, turn)).collect();
        engine.add(&AddRequest {
            messages,
            entities: Entities { run_id: Some(format!("s{session}")), ..whom() },
            infer: true,
            now: Some("2026-01-01T00:00:00Z".parse()?),
            ..AddRequest::default()
        })?;
        if session % 1_000 == 999 {
            engine.maintain(true)?;
        }
    }
    engine.maintain(true)?;
    let took = started.elapsed();
    let stats = engine.stats()?;
    report(&format!("import and index {n}: {:.2} s, {:.0}/s", took.as_secs_f64(), n as f64 / took.as_secs_f64()));
    report(&format!(
        "index {:.0} bytes a memory, database {} MB",
        stats.index_bytes_per_memory,
        stats.database_bytes >> 20
    ));
    let mut adds = Vec::new();
    for _ in 0..100 {
        let request = AddRequest {
            messages: vec![message(&mut random, 0)],
            entities: whom(),
            infer: true,
            ..AddRequest::default()
        };
        let started = Instant::now();
        engine.add(&request)?;
        adds.push(started.elapsed());
    }
    print("add of one message", &mut adds);
    engine.maintain(true)?;
    let mut searches = Vec::new();
    for _ in 0..300 {
        let request = question(&mut random);
        let started = Instant::now();
        engine.search(&request)?;
        searches.push(started.elapsed());
    }
    print("search, warm", &mut searches);
    report(&format!("peak memory {}", peak()));
    Ok(())
}

fn whom() -> Entities {
    Entities { user_id: "u".into(), agent_id: "p-1".into(), app_id: "p".into(), run_id: None }
}

fn message(random: &mut Random, turn: usize) -> Message {
    let n_words = 12 + random.below(40);
    let content: Vec<String> = (0..n_words).map(|_| random.word()).collect();
    let role = if turn.is_multiple_of(2) { Role::User } else { Role::Assistant };
    Message { role, content: content.join(" "), at: None, tool: None }
}

fn question(random: &mut Random) -> SearchRequest {
    let words: Vec<String> = (0..8).map(|_| random.word()).collect();
    SearchRequest {
        query: format!("what about {}?", words.join(" ")),
        app_id: "p".into(),
        filters: json!({"OR": [{"AND": [{"agent_id": "p-1"}, {"app_id": "p"}]}, {"AND": [{"user_id": "u"}, {"app_id": "p"}]}]}),
        top_k: 10,
        purpose: Purpose::Search,
        now: Timestamp::now(),
        timeout: Duration::from_secs(5),
    }
}

fn print(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    report(&format!("{what}: min {:.2} p50 {:.2} p95 {:.2} ms", at(0.0), at(0.5), at(0.95)));
}

/// The most memory this process had at once, as the system counts it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .map_or_else(|| "unknown".to_owned(), |kb| kb.trim().to_owned())
}

fn report(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// xorshift: the same memories every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// A word by Zipf's law, roughly: the n-th is drawn about 1/n of the time. The first [`COMMON`] are left
    /// out: in real text those are the stop words, which no index holds.
    fn word(&mut self) -> String {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let rank = (COMMON * (WORDS as f64 / COMMON).powf(share)) as u64;
        let mut seed = Random(rank.wrapping_mul(977));
        const PARTS: [&str; 16] =
            ["ca", "do", "re", "mi", "lo", "ta", "ne", "pu", "si", "wo", "ka", "ve", "ju", "zi", "hy", "qo"];
        (0..2 + rank % 3).map(|_| PARTS[seed.below(16) as usize]).collect()
    }
}
