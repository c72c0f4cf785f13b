//! What passes through OpenClaw's conversations without being part of one: heartbeats, acknowledgements, data the host
//! wraps around a channel's messages.

use std::borrow::Cow;

/// Answers that stand for silence.
const SILENT: &[&str] = &["heartbeat_ok", "no_reply", "announce_skip", "reply_skip"];
/// Begins of messages that are the host's or a tool's.
const HOST_STARTS: &[&str] =
    &["tool result:", "tool output:", "error:", "[error]", "system:", "read heartbeat.md", "[media attached"];
/// Words a message of one word may be and say nothing.
const ACKNOWLEDGEMENTS: &[&str] = &[
    "ok", "okay", "yes", "no", "sure", "thanks", "thx", "ty", "done", "yep", "nope", "cool", "great", "nice", "got it",
    "k", "y", "n", "hi", "hello", "hey", "continue", "go", "good",
];
/// Begins of short answers that promise and tell nothing.
const PROMISES: &[&str] = &[
    "i see you've shared",
    "thanks for sharing",
    "thank you for sharing",
    "got it",
    "understood",
    "how can i help",
    "how can i assist",
    "let me know if",
    "sure, i can help",
    "i'm here to help",
];
/// Longest answer that can be a mere promise, in characters.
const MAX_PROMISE_CHARS: usize = 300;
/// Begins of lines that head a report of work done.
const SUMMARY_HEADS: &[&str] = &[
    "what i accomplished",
    "what i built",
    "what i updated",
    "what i changed",
    "here's the recap",
    "here's a summary",
    "here is a summary",
    "here's what i updated",
    "changes made",
    "implementation status",
    "summary of changes",
];
/// Marks of the data the host puts beside a channel's message.
const UNTRUSTED: &str = "(untrusted metadata)";
const CONTEXT_START: &str = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>";
const CONTEXT_END: &str = "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>";

/// Returns a text without what the host put around it: its internal context, blocks of a channel's metadata, the time
/// stamp before a message.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    while let Some(start) = text.find(CONTEXT_START) {
        let Some(length) = text[start..].find(CONTEXT_END) else { break };
        text = Cow::Owned([&text[..start], &text[start + length + CONTEXT_END.len()..]].concat());
    }
    if text.contains(UNTRUSTED) {
        text = Cow::Owned(without_metadata(&text));
    }
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(without_stamp(text)),
        Cow::Owned(text) => Cow::Owned(without_stamp(&text).to_owned()),
    }
}

/// Tells whether a cleaned message says nothing.
pub(super) fn is_noise(role: &str, text: &str) -> bool {
    let text = text.trim();
    let lower = text.to_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let is_data = (text.starts_with('{') && text.ends_with('}') || text.starts_with('[') && text.ends_with(']'))
        && serde_json::from_str::<serde_json::Value>(text).is_ok();
    bare.is_empty()
        || SILENT.contains(&bare)
        || ACKNOWLEDGEMENTS.contains(&bare)
        || HOST_STARTS.iter().any(|start| lower.starts_with(start))
        || is_data
        || (role == "assistant"
            && text.chars().count() <= MAX_PROMISE_CHARS
            && !text.contains('\n')
            && PROMISES.iter().any(|start| lower.starts_with(start)))
}

/// Tells whether an answer sums up work that was done.
pub(super) fn is_summary(text: &str) -> bool {
    text.lines().take(40).any(|line| {
        let line = line.trim_start_matches(['#', '*', ' ', '_']).replace('’', "'").to_lowercase();
        let marks_done = line.strip_prefix('✅').is_some_and(|rest| {
            let rest = rest.trim_start_matches(['*', ' ', '\u{fe0f}']);
            rest.starts_with("done") || rest.starts_with("complete")
        });
        marks_done || SUMMARY_HEADS.iter().any(|head| line.starts_with(head))
    })
}

/// Drops each heading that ends in the mark together with the fenced block that follows it.
fn without_metadata(text: &str) -> String {
    let mut kept = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.trim_end().trim_end_matches(':').ends_with(UNTRUSTED) {
            kept.push(line);
            continue;
        }
        if lines.peek().is_some_and(|next| next.trim_start().starts_with("```")) {
            lines.next();
            for inside in lines.by_ref() {
                if inside.trim() == "```" {
                    break;
                }
            }
        }
    }
    kept.join("\n").trim().to_owned()
}

/// Drops `[Mon 2026-11-30 21:42 UTC] ` from the head of a message.
fn without_stamp(text: &str) -> &str {
    let trimmed = text.trim_start();
    let Some((stamp, rest)) = trimmed.strip_prefix('[').and_then(|inside| inside.split_once(']')) else { return text };
    let words: Vec<&str> = stamp.split(' ').collect();
    let is_date = |word: &str| {
        word.len() == 10
            && word.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            })
    };
    if words.len() <= 4 && words.iter().any(|word| is_date(word)) { rest.trim_start() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_said_is_taken_out() {
        for (text, expected) in [
            ("deploy with make ship", "deploy with make ship"),
            ("[Mon 2026-11-30 21:42 UTC] deploy", "deploy"),
            ("[link] 2026-11-30 stays", "[link] 2026-11-30 stays"),
            ("[see [1]] text", "[see [1]] text"),
            ("Conversation info (untrusted metadata):\n```json\n{\"id\": 1}\n```\n\ndeploy", "deploy"),
            ("Sender (untrusted metadata):\n```json\n{\"a\": 1", ""),
            ("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nx\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>deploy", "deploy"),
            ("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>> quoted", "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>> quoted"),
        ] {
            assert_eq!(clean(text), expected);
        }
    }

    #[test]
    fn noise_by_table() {
        for (role, text, expected) in [
            ("assistant", "HEARTBEAT_OK", true),
            ("assistant", "NO_REPLY.", true),
            ("user", "ok", true),
            ("user", "Thanks!", true),
            ("user", "👍", true),
            ("user", "{\"a\": [1]}", true),
            ("user", "[1, 2]", true),
            ("user", "[draft] is how we mark them", false),
            ("user", "Error: cannot find module", true),
            ("assistant", "Tool result: 3 files", true),
            ("assistant", "Got it, I will look.", true),
            ("assistant", "Got it.\nThe parser drops the last line.", false),
            ("user", "Understood, but we use pnpm here", false),
            ("user", "deploy", false),
            ("assistant", "The build uses make ship.", false),
        ] {
            assert_eq!(is_noise(role, text), expected, "{text}");
        }
    }

    #[test]
    fn summaries_by_table() {
        for (text, expected) in [
            ("## What I Accomplished\n- a", true),
            ("**Changes Made**\n- a", true),
            ("✅ Done: the parser", true),
            ("Here’s a summary of it", true),
            ("The changes made it worse", false),
            ("Implementation status", true),
            ("ok", false),
        ] {
            assert_eq!(is_summary(text), expected, "{text}");
        }
    }
}
