//! Our row in a YAML file of the user's that is a list of operations, one block entry each.
//!
//! No YAML is interpreted: the entries of a block list at the top of a file can be told apart by their indentation alone, and that is
//! all that is needed to put one behind the others and to take it out again. A file that is anything else is refused.

use super::edit::{EditError, Entries, Position, bom_len};
use super::shapes::{NAME, PACKAGE_FOLDER};
use super::splice::Splice;
use serde_json::Value;
use std::ops::Range;

/// The entries of a file, as byte ranges of whole lines, and how far they are indented.
struct List {
    entries: Vec<Range<usize>>,
    indent: usize,
}

/// Finds the entries.
///
/// # Errors
/// Where the text stops being a list of block entries.
fn parse(text: &str) -> Result<List, EditError> {
    let mut list = List { entries: Vec::new(), indent: 0 };
    let mut at = bom_len(text);
    let mut brackets = Brackets::default();
    for line in text[at..].split_inclusive('\n') {
        let start = at;
        at += line.len();
        let content = line.trim_start_matches(' ');
        let indent = line.len() - content.len();
        let unparsable = |offset: usize, reason: &str| EditError::Unparsable {
            at: Position::of(&text[bom_len(text)..], start + offset - bom_len(text)),
            reason: reason.to_owned(),
        };
        let trimmed = content.trim_end();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if content.starts_with('\t') {
            return Err(unparsable(indent, "a tab where only spaces may indent"));
        }
        let is_entry = trimmed == "-" || content.starts_with("- ");
        match list.entries.last_mut() {
            None if trimmed == "---" => continue,
            None if is_entry => {
                list.indent = indent;
                list.entries.push(start..at);
            }
            Some(_) if is_entry && indent == list.indent => {
                brackets.end().map_err(|(open, c)| bracket(text, open, c))?;
                list.entries.push(start..at);
            }
            Some(entry) if indent > list.indent => entry.end = at,
            _ => return Err(unparsable(indent, "a list entry was expected, which starts with `- `")),
        }
        brackets.line(start, line).map_err(|offset| unparsable(offset, "a bracket that was not opened"))?;
    }
    brackets.end().map_err(|(open, c)| bracket(text, open, c))?;
    Ok(list)
}

fn bracket(text: &str, at: usize, open: char) -> EditError {
    let skip = bom_len(text);
    EditError::Unparsable { at: Position::of(&text[skip..], at - skip), reason: format!("`{open}` is not closed") }
}

/// Brackets and quotes that are open; text of block scalars does not count.
#[derive(Default)]
struct Brackets {
    open: Vec<(usize, char)>,
    /// Indentation of the line that began a block scalar.
    scalar: Option<usize>,
}

impl Brackets {
    /// Reads one line; the error is the offset of a bracket that closes nothing.
    fn line(&mut self, start: usize, line: &str) -> Result<(), usize> {
        let indent = line.len() - line.trim_start_matches(' ').len();
        if self.scalar.is_some_and(|scalar| indent > scalar) {
            return Ok(());
        }
        self.scalar = None;
        let mut previous = ' ';
        let mut letters = line.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            let quote = self.open.last().map(|(_, c)| *c).filter(|c| matches!(c, '"' | '\''));
            // Quotes and brackets mean something only where a value may begin.
            let begins = matches!(previous, ' ' | '[' | '{' | ',' | ':' | '(');
            match (quote, letter) {
                (Some('"'), '\\') => drop(letters.next()),
                (Some(quote), _) if letter == quote => drop(self.open.pop()),
                (Some(_), _) => {}
                (None, '#') if previous == ' ' => break,
                (None, '"' | '\'' | '[' | '{') if begins || !self.open.is_empty() => {
                    self.open.push((start + at, letter));
                }
                (None, ']' | '}') if !self.open.is_empty() => {
                    let wanted = if letter == ']' { '[' } else { '{' };
                    if self.open.pop().is_none_or(|(_, open)| open != wanted) {
                        return Err(at);
                    }
                }
                _ => {}
            }
            previous = letter;
        }
        let end = line.trim_end();
        let last = end.rsplit(' ').next().unwrap_or_default();
        let is_header = last.starts_with(['|', '>']) && last[1..].chars().all(|c| "+-0123456789".contains(c));
        if self.open.is_empty() && is_header {
            self.scalar = Some(indent);
        }
        Ok(())
    }

    /// The end of an entry: nothing may be open.
    fn end(&mut self) -> Result<(), (usize, char)> {
        self.scalar = None;
        self.open.pop().map_or(Ok(()), Err)
    }
}

fn is_ours(entry: &str) -> bool {
    let has_id = entry.lines().any(|line| line.trim().trim_start_matches("- ").trim() == format!("id: {NAME}"));
    has_id && entry.contains(&format!("/{PACKAGE_FOLDER}/"))
}

/// Whether the file has an entry of ours.
pub(super) fn has_ours(text: &str) -> bool {
    parse(text).is_ok_and(|list| list.entries.iter().any(|entry| is_ours(&text[entry.clone()])))
}

/// Whether our entry is there once, as it would be written now.
pub(super) fn is_current(text: &str, entries: &Entries<'_>) -> bool {
    let Ok(list) = parse(text) else { return false };
    let ours: Vec<&str> =
        list.entries.iter().map(|entry| &text[entry.clone()]).filter(|entry| is_ours(entry)).collect();
    let lines = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    matches!(ours.as_slice(), [one] if lines(one) == lines(&row(entries, "", "\n")))
}

/// The entries of the file but ours, each as it is spelled.
///
/// # Errors
/// When the text is no such list.
pub(super) fn without_ours(text: &str) -> Result<Value, EditError> {
    let list = parse(text)?;
    let others =
        list.entries.into_iter().map(|entry| text[entry].trim_end()).filter(|entry| !is_ours(&format!("{entry}\n")));
    Ok(others.collect())
}

/// The insertion that adds our entry; the text must have none of ours.
///
/// # Errors
/// When the text is no such list.
pub(super) fn insert(text: &str, entries: &Entries<'_>) -> Result<Vec<Splice>, EditError> {
    let list = parse(text)?;
    let newline = if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" };
    let gap = if text[bom_len(text)..].is_empty() || text.ends_with('\n') { "" } else { newline };
    let row = row(entries, &" ".repeat(list.indent), newline);
    Ok(vec![Splice { at: text.len(), text: format!("{gap}{row}") }])
}

/// Removes our entry, for a file whose state before is not known.
///
/// # Errors
/// When the text is no such list.
pub(super) fn remove(text: &str) -> Result<String, EditError> {
    let mut kept = text.to_owned();
    for entry in parse(text)?.entries.into_iter().rev() {
        if is_ours(&text[entry.clone()]) {
            kept.replace_range(entry, "");
        }
    }
    Ok(kept)
}

/// The entry that mounts our module.
fn row(entries: &Entries<'_>, indent: &str, newline: &str) -> String {
    let lines = [
        "- insert:".to_owned(),
        format!("    - id: {NAME}"),
        // A JSON string is a YAML string.
        format!("      name: {}", crate::bundle::ordered::quote(entries.module)),
        "      config: {}".to_owned(),
    ];
    lines.iter().map(|line| format!("{indent}{line}{newline}")).collect()
}
