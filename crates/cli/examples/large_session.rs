//! Writes a synthetic Claude Code transcript of so many MiB to standard output: `large_session 500 > session.jsonl`.
//! Turns of prose, tool calls with short and long outputs, and a record that is not on the branch now and then.

use std::io::{self, BufWriter, Write};

fn main() -> io::Result<()> {
    let n_mib: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut out = BufWriter::new(io::stdout().lock());
    write_session(n_mib << 20, "/srv/demo", &mut out)?;
    out.flush()
}

/// Writes a session of at least `n_bytes`; returns how many items it has.
pub(crate) fn write_session(n_bytes: u64, cwd: &str, out: &mut dyn Write) -> io::Result<u64> {
    const WORDS: [&str; 8] = ["ledger", "invoice", "\\\"total\\\"", "naïve", "retry", "parser\\n", "cache", "✓"];
    let mut written = 0;
    let mut parent = "null".to_owned();
    let mut items = 0;
    let mut turn = 0_usize;
    let text = |n_words: usize, seed: usize| -> String {
        (0..n_words).map(|at| WORDS[(at * 7 + seed * 3 + at / 5) % WORDS.len()]).collect::<Vec<_>>().join(" ")
    };
    while written < n_bytes {
        let long = if turn % 40 == 39 { 12_000 } else { 300 };
        let bodies = [
            ("user", format!(r#"{{"role":"user","content":"{}"}}"#, text(30, turn)), 1),
            (
                "assistant",
                format!(
                    r#"{{"id":"m{turn}","role":"assistant","content":[{{"type":"text","text":"{}"}},{{"type":"tool_use","id":"t{turn}","name":"Bash","input":{{"command":"run {turn}"}}}}]}}"#,
                    text(60, turn)
                ),
                2,
            ),
            (
                "user",
                format!(
                    r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{turn}","content":"{}"}}]}}"#,
                    text(long, turn)
                ),
                1,
            ),
        ];
        for (index, (kind, message, n_items)) in bodies.into_iter().enumerate() {
            let uuid = format!("{turn:08x}-0000-4000-8000-00000000000{index}");
            let line = format!(
                r#"{{"parentUuid":{parent},"isSidechain":false,"sessionId":"large","cwd":"{cwd}","type":"{kind}","message":{message},"uuid":"{uuid}","timestamp":"2026-01-01T00:00:00.000Z"}}"#
            );
            writeln!(out, "{line}")?;
            written += line.len() as u64 + 1;
            parent = format!("\"{uuid}\"");
            items += n_items;
        }
        turn += 1;
    }
    Ok(items)
}
