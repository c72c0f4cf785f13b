//! Our entries in a JSON file of the user's, comments and trailing commas included.
//!
//! What stands where is a [`Shape`]; here it is put in, found and taken out. Entries are only ever inserted, so every byte that was
//! there stays. Ours go to the end of their list: hosts that ask the user to trust a hook remember it by its position.

use super::edit::{EditError, Position, bom_len};
use super::shapes::{Mark, Segment, Shape};
use super::splice::Splice;
use crate::bundle::ordered::{Json, Layout, quote};
use jsonc_parser::ast::{Array, Object, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::cst::{CstNode, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions};
use serde_json::Value;

/// JSON with comments and trailing commas; with `is_loose` also the other liberties of JSON5. What is refused here the host would
/// not read either.
fn parse_options(is_loose: bool) -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: is_loose,
        allow_missing_commas: false,
        allow_single_quoted_strings: is_loose,
        allow_hexadecimal_numbers: is_loose,
        allow_unary_plus_numbers: is_loose,
        allow_bare_decimal_point_numbers: is_loose,
        allow_non_finite_numbers: is_loose,
        allow_extended_string_escapes: is_loose,
    }
}

/// The value of a file of JSON with comments; `None` when it holds nothing but white space and comments.
///
/// # Errors
/// Where and why it is not JSON.
pub(super) fn parse(text: &str) -> Result<Option<Value>, EditError> {
    read(text, false)
}

/// The same, with the liberties of JSON5 where the host takes them.
///
/// # Errors
/// Where and why it is not that.
pub(super) fn read(text: &str, is_loose: bool) -> Result<Option<Value>, EditError> {
    match jsonc_parser::parse_to_ast(&text[bom_len(text)..], &CollectOptions::default(), &parse_options(is_loose)) {
        Ok(parsed) => Ok(parsed.value.map(Value::from)),
        Err(error) => Err(unparsable(&error)),
    }
}

fn unparsable(error: &jsonc_parser::errors::ParseError) -> EditError {
    EditError::Unparsable {
        at: Position { line: error.line_display(), column: error.column_display() },
        reason: error.kind().to_string(),
    }
}

/// Whether the file has any entry of ours.
pub(super) fn has_ours(text: &str, shape: &Shape, host: &str) -> bool {
    read(text, shape.is_loose)
        .ok()
        .flatten()
        .is_some_and(|value| shape.marks.iter().any(|mark| n_ours(&value, mark, host) > 0))
}

fn n_ours(value: &Value, mark: &Mark, host: &str) -> usize {
    count(value, mark.path, &|node| (mark.is_ours)(value, node, host))
}

fn count(node: &Value, path: &[Segment], is_ours: &dyn Fn(&Value) -> bool) -> usize {
    let Some((first, rest)) = path.split_first() else { return usize::from(is_ours(node)) };
    match first {
        Segment::Key(key) => node.get(key).map_or(0, |child| count(child, rest, is_ours)),
        Segment::AnyKey => node.as_object().into_iter().flatten().map(|(_, child)| count(child, rest, is_ours)).sum(),
        Segment::Each => node.as_array().into_iter().flatten().map(|child| count(child, rest, is_ours)).sum(),
    }
}

/// Whether every entry is there once, as it would be written now, and nothing else is ours.
pub(super) fn is_current(text: &str, shape: &Shape, host: &str, document: &Json) -> bool {
    let Ok(Some(value)) = read(text, shape.is_loose) else { return false };
    let document_value = document.value();
    let is_once = |mark: &Mark| mark.may_be_theirs || n_ours(&value, mark, host) == n_ours(&document_value, mark, host);
    shape.marks.iter().all(is_once) && has(&value, document, shape.depth)
}

/// Whether a value has all that is to be merged into it.
fn has(value: &Value, wanted: &Json, depth: usize) -> bool {
    match wanted {
        Json::Object(entries) if depth > 0 => {
            entries.iter().all(|(key, wanted)| value.get(key).is_some_and(|value| has(value, wanted, depth - 1)))
        }
        Json::Array(elements) => value.as_array().is_some_and(|list| {
            elements.iter().all(|wanted| list.iter().any(|element| covers(element, &wanted.value())))
        }),
        Json::Object(_) => covers(value, &wanted.value()),
        // A setting of the file as a whole; what the user has there stays.
        Json::Text(_) | Json::Number(_) | Json::Bool(_) => true,
    }
}

/// Keys of an entry that are the user's or the host's to change: an entry that differs in them alone is as it should be.
const FREE: &[&str] = &["enabled", "installedAt", "updatedAt"];

/// Whether an entry says all that ours would; what was added to it does not count.
fn covers(theirs: &Value, ours: &Value) -> bool {
    match (theirs, ours) {
        (Value::Object(theirs), Value::Object(ours)) => ours.iter().all(|(key, value)| {
            FREE.contains(&key.as_str()) || theirs.get(key).is_some_and(|theirs| covers(theirs, value))
        }),
        (Value::Array(theirs), Value::Array(ours)) => {
            theirs.len() == ours.len() && theirs.iter().zip(ours).all(|(theirs, ours)| covers(theirs, ours))
        }
        _ => theirs == ours,
    }
}

/// The file's value without our entries, and without lists and objects on the way to them that held nothing else.
pub(super) fn without_ours(text: &str, shape: &Shape, host: &str) -> Result<Value, EditError> {
    let whole = read(text, shape.is_loose)?.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    let mut value = whole.clone();
    for mark in shape.marks {
        cut(&mut value, mark.path, &|node| (mark.is_ours)(&whole, node, host));
    }
    Ok(value)
}

/// Takes what is ours at the end of a path out of a value; returns whether nothing is left of the value itself.
fn cut(node: &mut Value, path: &[Segment], is_ours: &dyn Fn(&Value) -> bool) -> bool {
    let Some((first, rest)) = path.split_first() else { return is_ours(node) };
    match (first, node) {
        (Segment::Key(key), Value::Object(object)) => {
            if object.get_mut(*key).is_some_and(|child| cut(child, rest, is_ours)) {
                object.remove(*key);
            }
            object.is_empty()
        }
        (Segment::AnyKey, Value::Object(object)) => {
            object.retain(|_, child| !cut(child, rest, is_ours));
            object.is_empty()
        }
        (Segment::Each, Value::Array(list)) => {
            list.retain_mut(|element| match rest.split_first() {
                // An element that is a group of entries goes with the last of them, whatever else it says.
                Some((Segment::Key(key), inner)) => {
                    !element.get_mut(*key).is_some_and(|child| cut(child, inner, is_ours))
                }
                _ => !cut(element, rest, is_ours),
            });
            list.is_empty()
        }
        _ => false,
    }
}

/// The insertions that put a document in; the text must have nothing of ours.
///
/// # Errors
/// When the text is not JSON, a key on our way is there twice, the place of an entry is taken, or something on our way has another
/// type than the host takes.
pub(super) fn insert(text: &str, shape: &Shape, document: &Json) -> Result<Vec<Splice>, EditError> {
    let skip = bom_len(text);
    let body = &text[skip..];
    if read(text, shape.is_loose)?.is_none() {
        let layout = layout(body);
        let prefix = if body.is_empty() || body.ends_with('\n') { "" } else { layout.newline };
        let file = document.pretty(layout, "");
        return Ok(vec![Splice { at: text.len(), text: format!("{prefix}{file}{}", layout.newline) }]);
    }
    let collected = jsonc_parser::parse_to_ast(body, &CollectOptions::default(), &parse_options(shape.is_loose));
    let root = collected.ok().and_then(|result| result.value);
    let (Some(Ast::Object(root)), Json::Object(entries)) = (&root, document) else {
        return Err(wrong(body, 0, "the file", "an object"));
    };
    let mut editor = Editor { body, layout: layout(body), splices: Vec::new() };
    editor.merge(root, entries, shape.depth, "")?;
    let mut splices = editor.splices;
    splices.sort_by_key(|splice| splice.at);
    for splice in &mut splices {
        splice.at += skip;
    }
    Ok(splices)
}

/// Removes our entries by the syntax tree, for a file whose state before is not known.
///
/// # Errors
/// When the text is not JSON.
pub(super) fn remove(text: &str, shape: &Shape, host: &str) -> Result<String, EditError> {
    let expected = without_ours(text, shape, host)?;
    let whole = read(text, shape.is_loose)?.unwrap_or_default();
    let skip = bom_len(text);
    let root = CstRootNode::parse(&text[skip..], &parse_options(shape.is_loose)).map_err(|error| unparsable(&error))?;
    for Mark { path, is_ours, .. } in shape.marks {
        if let Some(node) = root.value() {
            cut_tree(&node, path, &|node| is_ours(&whole, node, host));
        }
    }
    let removed = format!("{}{root}", &text[..skip]);
    // A list that was empty before us goes too; the host reads both the same.
    match without_ours(&removed, shape, host) {
        Ok(value) if value == expected && !has_ours(&removed, shape, host) => Ok(removed),
        _ => Err(EditError::Unsure),
    }
}

/// [`cut`] on the syntax tree; true only where something of ours was taken out and nothing else is left.
fn cut_tree(node: &CstNode, path: &[Segment], is_ours: &dyn Fn(&Value) -> bool) -> bool {
    let Some((first, rest)) = path.split_first() else {
        return node.to_serde_value().is_some_and(|value| is_ours(&value));
    };
    match first {
        Segment::Key(_) | Segment::AnyKey => {
            let Some(object) = node.as_object() else { return false };
            let mut is_cut = false;
            for property in object.properties() {
                let is_meant = match first {
                    Segment::Key(key) => name_of(&property).as_deref() == Some(*key),
                    _ => true,
                };
                if is_meant && property.value().is_some_and(|child| cut_tree(&child, rest, is_ours)) {
                    property.remove();
                    is_cut = true;
                }
            }
            is_cut && object.properties().is_empty()
        }
        Segment::Each => {
            let Some(list) = node.as_array() else { return false };
            let mut is_cut = false;
            for element in list.elements() {
                let is_void = match rest.split_first() {
                    Some((Segment::Key(key), inner)) => element
                        .as_object()
                        .and_then(|group| group.get(key)?.value())
                        .is_some_and(|child| cut_tree(&child, inner, is_ours)),
                    _ => cut_tree(&element, rest, is_ours),
                };
                if is_void {
                    element.remove();
                    is_cut = true;
                }
            }
            is_cut && list.elements().is_empty()
        }
    }
}

fn name_of(property: &jsonc_parser::cst::CstObjectProp) -> Option<String> {
    property.name()?.decoded_value().ok()
}

fn get<'a, 'b>(object: &'b Object<'a>, key: &str) -> Option<&'b Ast<'a>> {
    object.properties.iter().find(|property| property.name.as_str() == key).map(|property| &property.value)
}

/// Parsers disagree on which of two equal keys counts, so an object on our way must not have any.
fn no_twin(body: &str, object: &Object<'_>) -> Result<(), EditError> {
    let mut seen = std::collections::HashSet::new();
    match object.properties.iter().find(|property| !seen.insert(property.name.as_str())) {
        None => Ok(()),
        Some(property) => Err(EditError::TwinKey {
            at: Position::of(body, property.name.start()),
            key: property.name.as_str().to_owned(),
        }),
    }
}

fn wrong(body: &str, at: usize, what: &str, expected: &'static str) -> EditError {
    EditError::WrongType { at: Position::of(body, at), what: what.to_owned(), expected }
}

/// Newline and indentation as the text has them.
fn layout(body: &str) -> Layout<'_> {
    let newline = if body.find('\n').is_some_and(|at| body[..at].ends_with('\r')) { "\r\n" } else { "\n" };
    let indent = body.lines().skip(1).find_map(|line| {
        let text = line.trim_start_matches([' ', '\t']);
        let indent = &line[..line.len() - text.len()];
        (!indent.is_empty() && text.starts_with(['"', '/', '{', '['])).then_some(indent)
    });
    Layout { newline, unit: indent.unwrap_or("  ") }
}

struct Editor<'a> {
    body: &'a str,
    layout: Layout<'a>,
    splices: Vec<Splice>,
}

/// A pair of brackets, its last item and where to write.
struct Slot {
    open: usize,
    close: usize,
    last: Option<(usize, usize)>,
}

impl Editor<'_> {
    /// Adds entries to an object: objects are merged `depth` levels down, lists get ours at their end, settings that are there stay.
    fn merge(
        &mut self,
        object: &Object<'_>,
        entries: &[(String, Json)],
        depth: usize,
        above: &str,
    ) -> Result<(), EditError> {
        no_twin(self.body, object)?;
        let mut new = Vec::new();
        for (key, wanted) in entries {
            let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
            match (get(object, key), wanted) {
                (None, _) => new.push((key.clone(), wanted.clone())),
                (Some(Ast::Object(below)), Json::Object(entries)) if depth > 1 => {
                    self.merge(below, entries, depth - 1, &path)?;
                }
                (Some(Ast::Array(list)), Json::Array(elements)) => self.add_to_array(list, elements),
                (Some(other), Json::Object(_)) if depth <= 1 => {
                    let at = Position::of(self.body, other.start());
                    return Err(EditError::Taken { at, what: format!("`{path}`") });
                }
                (Some(other), Json::Object(_)) => {
                    return Err(wrong(self.body, other.start(), &format!("`{path}`"), "an object"));
                }
                (Some(other), Json::Array(_)) => {
                    return Err(wrong(self.body, other.start(), &format!("`{path}`"), "a list"));
                }
                (Some(_), Json::Text(_) | Json::Number(_) | Json::Bool(_)) => {}
            }
        }
        self.add_to_object(object, &new);
        Ok(())
    }

    fn add_to_object(&mut self, object: &Object<'_>, entries: &[(String, Json)]) {
        let last = object.properties.last().map(|property| (property.start(), property.end()));
        let slot = Slot { open: object.start() + 1, close: object.end() - 1, last };
        let write = |value: &(String, Json), at: Option<(Layout<'_>, &str)>| {
            let text = at.map_or_else(|| value.1.compact(), |(layout, indent)| value.1.pretty(layout, indent));
            format!("{}: {text}", quote(&value.0))
        };
        self.insert(&slot, entries, write);
    }

    fn add_to_array(&mut self, array: &Array<'_>, elements: &[Json]) {
        let last = array.elements.last().map(|element| (element.start(), element.end()));
        let slot = Slot { open: array.start() + 1, close: array.end() - 1, last };
        let write = |value: &Json, at: Option<(Layout<'_>, &str)>| {
            at.map_or_else(|| value.compact(), |(layout, indent)| value.pretty(layout, indent))
        };
        self.insert(&slot, elements, write);
    }

    fn insert<T>(&mut self, slot: &Slot, items: &[T], write: impl Fn(&T, Option<(Layout<'_>, &str)>) -> String) {
        if items.is_empty() {
            return;
        }
        let (body, newline) = (self.body, self.layout.newline);
        let inside = &body[slot.open..slot.close];
        let tail_start = slot.last.map_or(slot.open, |(_, end)| end);
        let tail = Tail::scan(&body[tail_start..slot.close]);
        let content_end = tail_start + tail.content_end;
        // An empty pair of brackets opens up as the whole file is written.
        let on_lines = if slot.last.is_some() {
            inside.contains('\n')
        } else {
            body.trim_end().contains('\n') || tail.has_line_comment
        };
        let outer = indent_of_line(body, slot.open);
        let indent = match slot.last {
            Some((start, _)) if body[..start].ends_with(indent_of_line(body, start)) && starts_line(body, start) => {
                indent_of_line(body, start).to_owned()
            }
            _ => format!("{outer}{}", self.layout.unit),
        };
        let needs_comma = slot.last.is_some() && !tail.has_comma;
        if needs_comma && content_end > tail_start {
            self.push(tail_start, ",".to_owned());
        }
        let mut text = String::new();
        if needs_comma && content_end == tail_start {
            text.push(',');
        }
        for (item_idx, item) in items.iter().enumerate() {
            if item_idx > 0 {
                text.push(',');
            }
            if on_lines {
                text.push_str(newline);
                text.push_str(&indent);
                text.push_str(&write(item, Some((self.layout, &indent))));
            } else {
                if item_idx > 0 || slot.last.is_some() || content_end > slot.open {
                    text.push(' ');
                }
                text.push_str(&write(item, None));
            }
        }
        if tail.has_comma {
            text.push(',');
        }
        if on_lines && !body[content_end..slot.close].contains('\n') {
            text.push_str(newline);
            text.push_str(outer);
        }
        self.push(content_end, text);
    }

    fn push(&mut self, at: usize, text: String) {
        self.splices.push(Splice { at, text });
    }
}

/// What stands between the last item and the closing bracket.
struct Tail {
    has_comma: bool,
    has_line_comment: bool,
    /// Offset behind the last byte that is not white space.
    content_end: usize,
}

impl Tail {
    fn scan(text: &str) -> Tail {
        let mut tail = Tail { has_comma: false, has_line_comment: false, content_end: 0 };
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let n_bytes = if rest.starts_with("//") {
                tail.has_line_comment = true;
                rest.find(['\n', '\r']).unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |at| at + 2)
            } else {
                tail.has_comma |= first == ',';
                first.len_utf8()
            };
            let at = text.len() - rest.len();
            if !first.is_whitespace() {
                tail.content_end = at + n_bytes;
            }
            rest = &rest[n_bytes..];
        }
        tail
    }
}

/// The white space at the start of the line that `at` is in.
fn indent_of_line(body: &str, at: usize) -> &str {
    let start = body[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &body[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether only white space stands before `at` on its line.
fn starts_line(body: &str, at: usize) -> bool {
    let start = body[..at].rfind('\n').map_or(0, |newline| newline + 1);
    body[start..at].trim().is_empty()
}
