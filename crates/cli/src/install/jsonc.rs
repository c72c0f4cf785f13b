//! Hook entries in a JSON file of the user's, comments and trailing commas included.
//!
//! Entries are only ever inserted, so every byte that was there stays. Our group goes to the end of its event's list: hosts that
//! ask the user to trust a hook remember it by its position.

use super::edit::{EditError, Position, bom_len};
use super::splice::Splice;
use crate::bundle::hooks;
use crate::bundle::ordered::{Json, Layout, quote};
use jsonc_parser::ast::{Array, Object, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::cst::{CstNode, CstObject, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions};
use mem0_code_core::host::HookSpec;
use serde_json::Value;

/// JSON with comments and trailing commas, and nothing looser: what is refused here a host would not read either.
fn parse_options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// The file's value; `None` when it holds nothing but white space and comments.
///
/// # Errors
/// Where and why it is not JSON.
pub(super) fn parse(text: &str) -> Result<Option<Value>, EditError> {
    match jsonc_parser::parse_to_ast(&text[bom_len(text)..], &CollectOptions::default(), &parse_options()) {
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

/// Whether a handler is one of ours for this host.
fn is_ours(handler: &Value, host: &str) -> bool {
    handler["command"]
        .as_str()
        .is_some_and(|command| command.contains("mem0-code") && (command.contains(&format!(" hook {host} "))))
}

/// Whether the file has any entry of ours.
pub(super) fn has_ours(text: &str, host: &str) -> bool {
    let Ok(Some(value)) = parse(text) else { return false };
    handlers(&value).any(|handler| is_ours(handler, host))
}

/// Whether every hook is registered once, as it would be now, and no other handler is ours.
pub(super) fn is_current(text: &str, host: &str, specs: &[HookSpec], program: &str) -> bool {
    let Ok(Some(value)) = parse(text) else { return false };
    let is_registered = |spec: &HookSpec| {
        let expected = hooks::group(host, spec, program).value();
        value["hooks"][spec.native].as_array().is_some_and(|groups| groups.contains(&expected))
    };
    handlers(&value).filter(|handler| is_ours(handler, host)).count() == specs.len() && specs.iter().all(is_registered)
}

fn handlers(value: &Value) -> impl Iterator<Item = &Value> {
    let groups = value["hooks"].as_object().into_iter().flat_map(|events| events.values()).filter_map(Value::as_array);
    groups.flatten().filter_map(|group| group["hooks"].as_array()).flatten()
}

/// The file's value without our entries, and without lists and objects that held nothing else.
pub(super) fn without_ours(text: &str, host: &str) -> Result<Value, EditError> {
    let mut value = parse(text)?.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    if let Some(events) = value.get_mut("hooks").and_then(Value::as_object_mut) {
        for groups in events.values_mut().filter_map(Value::as_array_mut) {
            for group in groups.iter_mut() {
                if let Some(handlers) = group.get_mut("hooks").and_then(Value::as_array_mut) {
                    handlers.retain(|handler| !is_ours(handler, host));
                }
            }
            groups.retain(|group| group["hooks"].as_array().is_none_or(|handlers| !handlers.is_empty()));
        }
        events.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
        if events.is_empty()
            && let Some(root) = value.as_object_mut()
        {
            root.remove("hooks");
        }
    }
    Ok(value)
}

/// The insertions that register every hook; the text must have none of ours.
///
/// # Errors
/// When the text is not JSON, a key on our way is there twice, or something on our way has another type than the host takes.
pub(super) fn insert(text: &str, host: &str, specs: &[HookSpec], program: &str) -> Result<Vec<Splice>, EditError> {
    let skip = bom_len(text);
    let body = &text[skip..];
    if parse(text)?.is_none() {
        let layout = layout(body);
        let prefix = if body.is_empty() || body.ends_with('\n') { "" } else { layout.newline };
        let file = hooks::file(host, specs, program).pretty(layout, "");
        return Ok(vec![Splice { at: text.len(), text: format!("{prefix}{file}{}", layout.newline) }]);
    }
    let collected = jsonc_parser::parse_to_ast(body, &CollectOptions::default(), &parse_options());
    let root = collected.ok().and_then(|result| result.value);
    let Some(Ast::Object(root)) = &root else { return Err(wrong(body, 0, "the file", "an object")) };
    no_twin(body, root)?;
    let mut editor = Editor { body, layout: layout(body), splices: Vec::new() };
    match get(root, "hooks") {
        None => {
            let hooks = hooks::file(host, specs, program);
            let Json::Object(entries) = hooks else { return Ok(Vec::new()) };
            editor.add_to_object(root, &entries);
        }
        Some(Ast::Object(events)) => {
            no_twin(body, events)?;
            let mut new_events = Vec::new();
            for spec in specs {
                let group = hooks::group(host, spec, program);
                match get(events, spec.native) {
                    None => new_events.push((spec.native.to_owned(), Json::Array(vec![group]))),
                    Some(Ast::Array(groups)) => editor.add_to_array(groups, &group),
                    Some(other) => {
                        return Err(wrong(body, other.start(), &format!("`hooks.{}`", spec.native), "a list"));
                    }
                }
            }
            editor.add_to_object(events, &new_events);
        }
        Some(other) => return Err(wrong(body, other.start(), "`hooks`", "an object")),
    }
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
pub(super) fn remove(text: &str, host: &str) -> Result<String, EditError> {
    let expected = without_ours(text, host)?;
    let skip = bom_len(text);
    let root = CstRootNode::parse(&text[skip..], &parse_options()).map_err(|error| unparsable(&error))?;
    if let Some(object) = root.object_value()
        && let Some(events) = object.object_value("hooks")
    {
        remove_from(&events, host);
        if events.properties().is_empty()
            && let Some(property) = object.get("hooks")
        {
            property.remove();
        }
    }
    let removed = format!("{}{root}", &text[..skip]);
    // A list that was empty before us goes too; the host reads both the same.
    match without_ours(&removed, host) {
        Ok(value) if value == expected && !has_ours(&removed, host) => Ok(removed),
        _ => Err(EditError::Unsure),
    }
}

fn remove_from(events: &CstObject, host: &str) {
    for property in events.properties() {
        let Some(groups) = property.array_value() else { continue };
        for group in groups.elements() {
            let Some(handlers) = group.as_object().and_then(|group| group.array_value("hooks")) else { continue };
            let (ours, others): (Vec<CstNode>, Vec<CstNode>) = handlers
                .elements()
                .into_iter()
                .partition(|handler| handler.to_serde_value().is_some_and(|value| is_ours(&value, host)));
            if ours.is_empty() {
                continue;
            }
            if others.is_empty() {
                group.remove();
            } else {
                ours.into_iter().for_each(CstNode::remove);
            }
        }
        if groups.elements().is_empty() {
            property.remove();
        }
    }
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
    fn add_to_object(&mut self, object: &Object<'_>, entries: &[(String, Json)]) {
        let last = object.properties.last().map(|property| (property.start(), property.end()));
        let slot = Slot { open: object.start() + 1, close: object.end() - 1, last };
        let write = |value: &(String, Json), at: Option<(Layout<'_>, &str)>| {
            let text = at.map_or_else(|| value.1.compact(), |(layout, indent)| value.1.pretty(layout, indent));
            format!("{}: {text}", quote(&value.0))
        };
        self.insert(&slot, entries, write);
    }

    fn add_to_array(&mut self, array: &Array<'_>, element: &Json) {
        let last = array.elements.last().map(|element| (element.start(), element.end()));
        let slot = Slot { open: array.start() + 1, close: array.end() - 1, last };
        let write = |value: &Json, at: Option<(Layout<'_>, &str)>| {
            at.map_or_else(|| value.compact(), |(layout, indent)| value.pretty(layout, indent))
        };
        self.insert(&slot, std::slice::from_ref(element), write);
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
