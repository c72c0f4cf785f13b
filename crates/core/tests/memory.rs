//! What readers hold while a large transcript goes through them, measured at the allocator (B057).
#![expect(unsafe_code, reason = "a counting allocator forwards to the system's")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use mem0_code_core::hosts;
use mem0_code_core::transcript::{Since, Slice};

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on unchanged; the counters do not influence what is returned.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(held, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        let held = HELD.fetch_add(size, Ordering::Relaxed) + size;
        PEAK.fetch_max(held, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MIB: usize = 1 << 20;

/// Feeds lines until `bytes` have gone through; returns what was found, the most that was held on the way beside the
/// line itself, and the number of lines.
fn feed(host: &str, bytes: usize, line: impl Fn(usize) -> String) -> (Slice, usize, usize) {
    let mut reader = hosts::find(host).unwrap().transcript.unwrap()("s1");
    let before = HELD.load(Ordering::Relaxed);
    let (mut fed, mut n_lines, mut peak) = (0, 0, 0);
    while fed < bytes {
        let line = line(n_lines);
        fed += line.len();
        n_lines += 1;
        PEAK.store(0, Ordering::Relaxed);
        reader.push_line(line.as_bytes());
        peak = peak.max(PEAK.load(Ordering::Relaxed).saturating_sub(before + line.capacity()));
    }
    PEAK.store(0, Ordering::Relaxed);
    let slice = reader.finish(&Since { resumed: true, ..Since::default() });
    (slice, peak.max(PEAK.load(Ordering::Relaxed).saturating_sub(before)), n_lines)
}

/// A session of a prompt, a tool result of `result_bytes`, a snapshot of the same size and an answer, over and over.
fn claude_line(n: usize, result_bytes: usize) -> String {
    let parent = if n == 0 { "null".to_owned() } else { format!("\"row-{}\"", n - 1) };
    let filler = "x".repeat(result_bytes);
    let says = match n % 4 {
        0 => format!(r#""type":"user","message":{{"content":"prompt {n}"}}"#),
        1 => format!(
            r#""type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"{filler}"}}]}}"#
        ),
        2 => format!(r#""type":"attachment","attachment":{{"type":"prompt_snapshot","systemPrompt":["{filler}"]}}"#),
        _ => format!(r#""type":"assistant","message":{{"content":[{{"type":"text","text":"answer {n}"}}]}}"#),
    };
    format!(r#"{{"uuid":"row-{n}","parentUuid":{parent},"sessionId":"s1",{says}}}"#)
}

fn codex_line(n: usize, result_bytes: usize) -> String {
    let filler = "x".repeat(result_bytes);
    let (kind, payload) = match n % 4 {
        0 => ("event_msg", format!(r#"{{"type":"user_message","message":"prompt {n}"}}"#)),
        1 => ("response_item", format!(r#"{{"type":"function_call_output","call_id":"c{n}","output":"{filler}"}}"#)),
        2 => ("compacted", format!(r#"{{"message":"m","replacement_history":["{filler}"]}}"#)),
        _ => ("event_msg", format!(r#"{{"type":"agent_message","message":"answer {n}"}}"#)),
    };
    format!(r#"{{"timestamp":"t","ordinal":{n},"type":"{kind}","payload":{payload}}}"#)
}

// One test, since the counters are the process's.
#[test]
fn b057_a_large_transcript_is_held_by_what_is_said() {
    for (host, line) in [("claude-code", claude_line as fn(usize, usize) -> String), ("codex", codex_line)] {
        // Large rows that say nothing: memory is a few lines.
        let (slice, peak, n_lines) = feed(host, 64 * MIB, |n| line(n, 64 << 10));
        assert_eq!(slice.messages.len(), n_lines.div_ceil(4) + n_lines / 4, "{host}: every message is there");
        assert!(peak < 2 * MIB, "{host}: {peak} bytes held for {n_lines} large lines");

        // One line of 40 MB, and the rows around it.
        let (slice, peak, _) = feed(host, 41 * MIB, |n| line(n, if n == 5 { 40 * MIB } else { 1 << 10 }));
        assert!(!slice.messages.is_empty());
        assert!(peak < 16 * MIB, "{host}: {peak} bytes held for a line of 40 MiB");

        // Small rows, half of them messages, all taken at once: the worst case, and still less than the file.
        let (slice, peak, n_lines) = feed(host, 16 * MIB, |n| line(n, 900));
        assert_eq!(slice.messages.len(), n_lines.div_ceil(4) + n_lines / 4);
        assert!(peak < 12 * MIB, "{host}: {peak} bytes held for {n_lines} small lines");

        // Nothing but text: the oldest is let go, and a mark says so.
        let said = |n: usize| {
            line(4 * n + 3, 0)
                .replace("answer", &"words ".repeat(2_000))
                .replace(&format!("row-{}\"", 4 * n + 2), &format!("row-{}\"", (4 * n).wrapping_sub(1)))
        };
        let (slice, peak, _) = feed(host, 100 * MIB, said);
        assert!(slice.messages[0].content.contains("left out of this transcript"), "{host}");
        assert!(peak < 50 * MIB, "{host}: {peak} bytes held for 100 MiB of text");
    }
}
