//! The one printer. Nothing else writes to stdout or stderr.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Prints a line. A closed pipe ends output quietly.
pub(crate) fn line(text: impl std::fmt::Display) {
    print_bytes(format!("{}\n", harmless(&text.to_string())).as_bytes());
}

/// Prints a value as indented JSON.
pub(crate) fn json(value: &impl Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => print_bytes(format!("{}\n", escaped_json(&text)).as_bytes()),
        Err(error) => error_line(format_args!("error: {error}")),
    }
}

/// Prints bytes as they are.
pub(crate) fn print_bytes(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    if let Err(error) = stdout.write_all(bytes).and_then(|()| stdout.flush())
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        HAS_FAILED.store(true, Ordering::Relaxed);
    }
}

/// Tells whether something could not be printed, for another reason than a reader that had enough.
pub(crate) fn has_failed() -> bool {
    HAS_FAILED.load(Ordering::Relaxed)
}

/// Prints a line for people on stderr.
pub(crate) fn error_line(text: impl std::fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{}", harmless(&text.to_string()));
}

/// Shows where a long task is, on a terminal only; an empty text takes it away.
pub(crate) fn progress(text: &str) {
    let mut stderr = io::stderr().lock();
    if io::IsTerminal::is_terminal(&stderr) {
        let _ = write!(stderr, "\r\u{1b}[K{}", harmless(text)).and_then(|()| stderr.flush());
    }
}

/// Writes JSON of any size to stdout, escaped as [`json`] does.
#[derive(Default)]
pub(crate) struct JsonWriter {
    /// Bytes whose last character may be incomplete.
    pending: Vec<u8>,
}

impl JsonWriter {
    fn pass_on(&mut self, is_end: bool) {
        let n_bytes = match std::str::from_utf8(&self.pending) {
            Ok(text) => text.len(),
            Err(_) if is_end => self.pending.len(),
            Err(error) => error.valid_up_to(),
        };
        let rest = self.pending.split_off(n_bytes);
        print_bytes(escaped_json(&String::from_utf8_lossy(&self.pending)).as_bytes());
        self.pending = rest;
    }
}

impl Write for JsonWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() > 64 << 10 {
            self.pass_on(false);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on(true);
        Ok(())
    }
}

/// Takes out what would make a terminal do something or show text in another order: memories hold what anybody said.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().map(|char| if is_harmful(char) { char::REPLACEMENT_CHARACTER } else { char }).collect()
}

/// Tells whether a terminal would act on the character, or show the text around it in another order.
fn is_harmful(char: char) -> bool {
    (char.is_control() && !matches!(char, '\n' | '\t'))
        || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes the same in JSON, where nothing may get lost. Outside of strings JSON has none of these characters.
fn escaped_json(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        if is_harmful(char) {
            let _ = write!(escaped, "\\u{:04x}", u32::from(char));
        } else {
            escaped.push(char);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_only_ever_shown_text() {
        assert_eq!(harmless("a\u{1b}[31mred\u{7}\r\n\tb"), "a\u{fffd}[31mred\u{fffd}\u{fffd}\n\tb");
        assert_eq!(harmless("x\u{202e}y\u{9b}z"), "x\u{fffd}y\u{fffd}z");
        assert_eq!(harmless("日本語 ✓"), "日本語 ✓");
    }

    #[test]
    fn json_is_harmless_and_whole() {
        let text = "a\u{1b}b\u{9b}c\u{202e}d\u{7f}\n漢 \u{1f468}\u{200d}\u{1f469}";
        let json = escaped_json(&serde_json::to_string_pretty(&[text]).unwrap());
        assert!(!json.contains(is_harmful), "{json}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), [text]);
    }
}
