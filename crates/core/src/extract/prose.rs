//! Prose out of a message: what was said, in sentences, without code, logs, quotes and harness text.
//!
//! Rules look at sentences; what is *not* a sentence of a person or an agent is dropped here, so that no
//! rule has to think of it again.

use super::pattern;

/// One sentence, list item or heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    /// The sentence, white space collapsed, emphasis marks removed; inline code keeps its back-ticks.
    pub(super) text: String,
    /// The same in ASCII lower case: byte offsets agree with `text`.
    pub(super) lower: String,
    /// What it was in the message.
    pub(super) form: Form,
    /// Number of the paragraph it stands in, from 0.
    pub(super) paragraph: usize,
}

/// What a sentence was in its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Running text.
    Plain,
    /// An item of a list.
    Item,
    /// A heading.
    Heading,
}

impl Sentence {
    /// Makes a sentence of a text that is one already.
    pub(super) fn new(text: &str, form: Form, paragraph: usize) -> Self {
        let text = collapse(text);
        Self { lower: text.to_ascii_lowercase(), text, form, paragraph }
    }

    /// Returns how many words it has; a CJK character counts as half a word.
    pub(super) fn words(&self) -> usize {
        words(&self.text)
    }
}

/// Returns how many words a text has; a CJK character counts as half a word.
pub(super) fn words(text: &str) -> usize {
    let wide = text.chars().filter(|&c| is_cjk(c)).count();
    let narrow = text.split_whitespace().filter(|word| word.chars().any(|c| c.is_alphanumeric() && !is_cjk(c))).count();
    narrow + wide / 2
}

/// Tells whether a character belongs to a script written without spaces (Hangul is counted in: its words are short).
pub(super) fn is_cjk(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff)
}

/// Blocks that harnesses put into messages, and our own; nothing inside them was said by anyone.
const FOREIGN: [&str; 16] = [
    "mem0-memory",
    "system-reminder",
    "task-notification",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "command-name",
    "command-message",
    "command-args",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "environment_context",
    "user_instructions",
    "private",
    "ide_selection",
];

/// Cuts out the blocks of [`FOREIGN`]; one that is never closed hides the rest of the message.
pub(super) fn without_foreign(text: &str) -> String {
    let mut out = text.to_owned();
    if !out.contains('<') {
        return out;
    }
    for tag in FOREIGN {
        let open = format!("<{tag}");
        let close = format!("</{tag}");
        let mut from = 0;
        loop {
            let lower = out.to_ascii_lowercase();
            let Some(start) = lower[from..].find(&open).map(|at| at + from) else { break };
            let after = &lower[start + open.len()..];
            // A longer tag name, or a tag somebody only talks about in back-ticks.
            if !after.starts_with(['>', ' ', '\n', '/']) || out[..start].ends_with('`') {
                from = start + open.len();
                continue;
            }
            let end = after.find(&close).map_or(out.len(), |at| {
                let tail = start + open.len() + at;
                lower[tail..].find('>').map_or(out.len(), |gt| tail + gt + 1)
            });
            out.replace_range(start..end, "\n\n");
            from = start;
        }
    }
    out
}

pattern!(
    LOG_LINE,
    r#"^\s*(?:[❯➜$%⏺⎿›✗✓✘]\s|>>>\s|\[?\d{4}-\d\d-\d\d[t ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|at .{1,160}[:(]\S*\d|file "|traceback|caused by:|error\[|(?:error|warn|warning|info|debug|trace|fatal|fail|pass|panic)[:\s]|[\w.]*(?:error|exception): |npm (?:err!|error|warn)|exit (?:status|code)|thread '|\+\+\+ |--- |@@ |diff --git|[+-]\d|\+\s|\[[a-z_-]+\] |#\d+ \[|e   |[─━│┃╭╰┌└═▀▄█⠀-⣿])"#
);
pattern!(PASTE_START, r"^\s*(?:[❯➜$%]\s|traceback|thread '|diff --git)");
pattern!(ITEM, r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+(?:\[[ xX]\]\s+)?");
pattern!(HEADING, r"^\s*#{1,6}\s+|^\s*\*\*[^*]{1,80}\*\*:?\s*$");

/// Tells whether a line is output of a program rather than something said.
pub(super) fn is_log_line(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    if LOG_LINE.is_match(&lower) || line.split_whitespace().any(|word| word.len() > 160) {
        return true;
    }
    let visible = line.chars().filter(|c| !c.is_whitespace()).count();
    let letters = line.chars().filter(|c| c.is_alphanumeric()).count();
    visible > 20 && letters * 2 < visible
}

/// Splits a message into sentences. Code blocks, quoted lines, tables, pasted output and harness text are left out.
pub(super) fn sentences(message: &str) -> Vec<Sentence> {
    let text = without_foreign(message).replace(['\u{2019}', '\u{2018}'], "'").replace('\r', "");
    let mut out = Vec::new();
    let mut unit = String::new();
    let (mut fence, mut pasting, mut paragraph) = (None, false, 0);
    for line in text.lines() {
        let trimmed = line.trim();
        let mark = trimmed.get(..3).filter(|mark| matches!(*mark, "```" | "~~~"));
        if fence.is_some() {
            if mark == fence {
                fence = None;
            }
            continue;
        }
        if mark.is_some() {
            fence = mark;
            flush(&mut unit, Form::Plain, paragraph, &mut out);
            continue;
        }
        if trimmed.is_empty() {
            flush(&mut unit, Form::Plain, paragraph, &mut out);
            paragraph += 1;
            pasting = false;
            continue;
        }
        pasting = pasting || PASTE_START.is_match(&line.to_ascii_lowercase());
        let indented_code = line.starts_with("    ") && unit.is_empty() && !ITEM.is_match(line);
        if pasting || indented_code || trimmed.starts_with(['>', '|']) || is_log_line(line) {
            flush(&mut unit, Form::Plain, paragraph, &mut out);
            continue;
        }
        if HEADING.is_match(line) {
            flush(&mut unit, Form::Plain, paragraph, &mut out);
            let mut heading = trimmed.trim_start_matches('#').trim().to_owned();
            flush(&mut heading, Form::Heading, paragraph, &mut out);
        } else if let Some(found) = ITEM.find(line) {
            flush(&mut unit, Form::Plain, paragraph, &mut out);
            let mut item = line[found.end()..].to_owned();
            flush(&mut item, Form::Item, paragraph, &mut out);
        } else {
            // A hard-wrapped line goes on in the next; any other line end closes a sentence.
            let wraps = !unit.ends_with(['.', '!', '?', ':'])
                && trimmed.starts_with(|c: char| c.is_lowercase() || c == '`')
                && (unit.len() >= 60 || (!unit.is_empty() && goes_on(trimmed)));
            if !wraps {
                flush(&mut unit, Form::Plain, paragraph, &mut out);
            } else {
                unit.push(' ');
            }
            unit.push_str(trimmed);
        }
    }
    flush(&mut unit, Form::Plain, paragraph, &mut out);
    out
}

/// Whether a line can only go on with what the one before began.
fn goes_on(line: &str) -> bool {
    const GOING_ON: &[&str] = &[
        "is", "are", "was", "were", "must", "should", "will", "can", "has", "have", "and", "or", "but", "not", "to",
        "of", "in", "on", "at", "by", "for", "with", "from", "that", "which", "because", "instead", "than",
    ];
    line.split(|c: char| !c.is_alphabetic()).next().is_some_and(|word| GOING_ON.contains(&word))
}

/// Moves a finished piece of text into the list; running text is split into sentences first.
fn flush(unit: &mut String, form: Form, paragraph: usize, out: &mut Vec<Sentence>) {
    let text = without_emphasis(unit);
    unit.clear();
    if form != Form::Plain {
        let sentence = Sentence::new(&text, form, paragraph);
        if !sentence.text.is_empty() {
            out.push(sentence);
        }
        return;
    }
    for part in split(&text) {
        let sentence = Sentence::new(part, form, paragraph);
        if !sentence.text.is_empty() {
            out.push(sentence);
        }
    }
}

/// Splits running text after sentence marks. Inline code, numbers and common abbreviations hold together.
pub(super) fn split(text: &str) -> Vec<&str> {
    const SHORT: [&str; 10] = ["e.g.", "i.e.", "etc.", "vs.", "approx.", "cf.", "z.b.", "bzw.", "p.ej.", "no."];
    let mut out = Vec::new();
    let (mut start, mut code) = (0, false);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let ends = match c {
            '`' => {
                code = !code;
                false
            }
            '。' | '！' | '？' | '；' => !code,
            '.' | '!' | '?' | '…' if !code => {
                let word = text[start..end].rsplit(char::is_whitespace).next().unwrap_or("").to_ascii_lowercase();
                let ordinal = word.len() <= 3 && word.trim_end_matches('.').chars().all(|d| d.is_ascii_digit());
                chars.peek().is_none_or(|(_, next)| next.is_whitespace() || is_cjk(*next))
                    && !SHORT.contains(&word.trim_start_matches('('))
                    && !(ordinal && c == '.' && word.len() > 1 && start + word.len() == end)
            }
            _ => false,
        };
        if ends {
            out.push(&text[start..end]);
            start = end;
        }
    }
    out.push(&text[start..]);
    out
}

/// Removes emphasis marks and link targets, but not what stands in back-ticks.
fn without_emphasis(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (idx, part) in text.split('`').enumerate() {
        if idx > 0 {
            out.push('`');
        }
        if idx % 2 == 1 {
            out.push_str(part);
            continue;
        }
        let plain = part.replace("**", "").replace("__", "\u{1}");
        // `__name__` is an identifier, not emphasis.
        out.push_str(&plain.replace('\u{1}', "__"));
    }
    out
}

/// Collapses white space and trims.
pub(super) fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Shortens to at most `max_chars` characters, at a word where possible; says so with an ellipsis.
pub(super) fn clip(text: &str, max_chars: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(max_chars) else { return text.to_owned() };
    let room = text[..end].char_indices().last().map_or(0, |(at, _)| at);
    let cut = text[..room].rfind(char::is_whitespace).filter(|at| at * 3 > room * 2).unwrap_or(room);
    format!("{}…", text[..cut].trim_end_matches(|c: char| c.is_whitespace() || ",;:".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(message: &str) -> Vec<String> {
        sentences(message).into_iter().map(|sentence| sentence.text).collect()
    }

    #[test]
    fn sentences_hold_code_numbers_and_abbreviations_together() {
        assert_eq!(
            texts("Use v1.2.3, e.g. `a. b` here. Then stop! 端口是 5433。好的。"),
            ["Use v1.2.3, e.g. `a. b` here.", "Then stop!", "端口是 5433。", "好的。"]
        );
    }

    #[test]
    fn code_logs_quotes_and_harness_blocks_are_left_out() {
        let message = "see\n```\nalways x\n```\n> quoted never\n2026-01-01T10:00:00Z INFO always\n\
                       <mem0-memory>\n1. never\n</mem0-memory>\nthe end";
        assert_eq!(texts(message), ["see", "the end"]);
        assert_eq!(texts("a <system-reminder>never closed"), ["a"]);
        assert_eq!(texts("what is `<system-reminder>` for"), ["what is `<system-reminder>` for"]);
    }

    #[test]
    fn clipping_keeps_whole_characters_and_words() {
        assert_eq!(clip("one two three", 9), "one two…");
        assert_eq!(clip("端口端口端口", 4), "端口端…");
        assert_eq!(clip("short", 5), "short");
    }
}
