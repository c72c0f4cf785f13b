//! Our MCP server in a TOML file of the user's.
//!
//! A table is put behind everything else, where TOML lets it stand whatever is above; only an inline `mcp_servers` is opened up.
//! Every byte that was there stays.

use super::edit::{EditError, Entries, Position, bom_len};
use super::splice::Splice;
use serde_json::Value;
use std::ops::Range;
use toml_edit::{Document, Item, TableLike};

/// The table of servers, and the name of ours in it.
const SERVERS: &str = "mcp_servers";
const NAME: &str = "mem0";

fn parse(text: &str) -> Result<Document<&str>, EditError> {
    let body = &text[bom_len(text)..];
    Document::parse(body).map_err(|error| EditError::Unparsable {
        at: Position::of(body, error.span().map_or(0, |span| span.start)),
        reason: error.message().split_whitespace().collect::<Vec<_>>().join(" "),
    })
}

fn is_ours(server: &Item) -> bool {
    let Some(server) = server.as_table_like() else { return false };
    let command = server.get("command").and_then(Item::as_str).unwrap_or_default();
    let first = server.get("args").and_then(Item::as_array).and_then(|args| args.get(0)?.as_str());
    command.contains("mem0-code") && first == Some("mcp")
}

/// Whether the file has our server.
pub(super) fn has_ours(text: &str) -> bool {
    parse(text).is_ok_and(|document| server(&document).is_some_and(is_ours))
}

/// Whether our server is there as it would be written now; what the user or the host added to it does not count.
pub(super) fn is_current(text: &str, entries: &Entries<'_>) -> bool {
    let expected = insert("", entries).ok().and_then(|splices| Some(server_value(&splices.first()?.text)));
    let Ok(document) = parse(text) else { return false };
    match (expected, server(&document).map(item_value)) {
        (Some(Value::Object(expected)), Some(server)) => {
            expected.iter().all(|(key, value)| server.get(key) == Some(value))
        }
        _ => false,
    }
}

/// The value of our server in a text that holds only it.
fn server_value(text: &str) -> Value {
    parse(text).ok().and_then(|document| server(&document).map(item_value)).unwrap_or_default()
}

fn server<'a>(document: &'a Document<&str>) -> Option<&'a Item> {
    document.get(SERVERS)?.as_table_like()?.get(NAME)
}

/// The file's value without our server, and without a table of servers that held nothing else.
pub(super) fn without_ours(text: &str) -> Result<Value, EditError> {
    let document = parse(text)?;
    let mut value = table_value(document.as_table());
    if let Some(servers) = value.get_mut(SERVERS).and_then(Value::as_object_mut) {
        if server(&document).is_some_and(is_ours) {
            servers.remove(NAME);
        }
        if servers.is_empty()
            && let Some(root) = value.as_object_mut()
        {
            root.remove(SERVERS);
        }
    }
    Ok(value)
}

/// A TOML value as JSON; dates and numbers as they are spelled. Enough for comparing two files.
fn item_value(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Table(table) => table_value(table),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| table_value(table)).collect(),
        Item::Value(toml_edit::Value::InlineTable(table)) => table_value(table),
        Item::Value(toml_edit::Value::Array(array)) => {
            array.iter().map(|value| item_value(&Item::Value(value.clone()))).collect()
        }
        Item::Value(toml_edit::Value::String(text)) => Value::from(text.value().as_str()),
        Item::Value(toml_edit::Value::Integer(number)) => Value::from(*number.value()),
        Item::Value(toml_edit::Value::Boolean(flag)) => Value::from(*flag.value()),
        // In a list, so that they differ from a string of the same spelling.
        Item::Value(toml_edit::Value::Float(number)) => Value::from(vec![number.value().to_string()]),
        Item::Value(toml_edit::Value::Datetime(time)) => Value::from(vec![time.value().to_string()]),
    }
}

fn table_value(table: &dyn TableLike) -> Value {
    Value::Object(table.iter().map(|(key, item)| (key.to_owned(), item_value(item))).collect())
}

fn literal(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

/// The insertion that registers the server; the text must not have ours.
///
/// # Errors
/// When the text is not TOML, or a server of that name is somebody else's.
pub(super) fn insert(text: &str, entries: &Entries<'_>) -> Result<Vec<Splice>, EditError> {
    let skip = bom_len(text);
    let body = &text[skip..];
    let document = parse(text)?;
    if let Some(taken) = server(&document) {
        let at = taken.span().map_or(0, |span| span.start);
        return Err(EditError::Taken { at: Position::of(body, at), what: format!("the MCP server `{NAME}`") });
    }
    let newline = if body.find('\n').is_some_and(|at| body[..at].ends_with('\r')) { "\r\n" } else { "\n" };
    let args = format!("[\"mcp\", \"--host\", {}]", literal(entries.host));
    let env: Vec<String> = entries.env.iter().map(|(name, value)| format!("{name} = {}", literal(value))).collect();
    let handed_on: Vec<String> = crate::bundle::HANDED_ON
        .iter()
        .filter(|name| !entries.env.iter().any(|(set, _)| set == *name))
        .map(|name| literal(name))
        .collect();
    match document.get(SERVERS) {
        Some(Item::Value(toml_edit::Value::InlineTable(servers))) if !servers.is_dotted() => {
            let span = servers.span().ok_or(EditError::Unsure)?;
            let close = span.end - 1;
            let ours = format!(
                "{NAME} = {{ command = {}, args = {args}, {}env_vars = [{}] }}",
                literal(entries.path),
                if env.is_empty() { String::new() } else { format!("env = {{ {} }}, ", env.join(", ")) },
                handed_on.join(", ")
            );
            let inside = &body[span.start + 1..close];
            let at = close - (inside.len() - inside.trim_end().len());
            let comma = if servers.is_empty() || inside.trim_end().ends_with(',') { " " } else { ", " };
            Ok(vec![Splice { at: skip + at, text: format!("{comma}{ours}") }])
        }
        None | Some(Item::Table(_) | Item::Value(toml_edit::Value::InlineTable(_))) => {
            let gap = match body {
                "" => String::new(),
                _ if body.ends_with('\n') => newline.to_owned(),
                _ => format!("{newline}{newline}"),
            };
            let mut lines = vec![
                format!("[{SERVERS}.{NAME}]"),
                format!("command = {}", literal(entries.path)),
                format!("args = {args}"),
            ];
            if !env.is_empty() {
                lines.push(format!("env = {{ {} }}", env.join(", ")));
            }
            lines.push("env_vars = [".to_owned());
            lines.extend(handed_on.iter().map(|name| format!("    {name},")));
            lines.push(format!("]{newline}"));
            Ok(vec![Splice { at: text.len(), text: gap + &lines.join(newline) }])
        }
        Some(other) => {
            let at = Position::of(body, other.span().map_or(0, |span| span.start));
            Err(EditError::WrongType { at, what: format!("`{SERVERS}`"), expected: "a table" })
        }
    }
}

/// Removes our server and what stands below it, by the spans of the parsed file.
///
/// # Errors
/// When the text is not TOML, or ours is part of an inline table and cannot be cut out.
pub(super) fn remove(text: &str) -> Result<String, EditError> {
    let skip = bom_len(text);
    let body = &text[skip..];
    let expected = without_ours(text)?;
    let document = parse(text)?;
    let mut cuts: Vec<Range<usize>> = Vec::new();
    match server(&document) {
        Some(Item::Table(table)) if is_ours(&Item::Table(table.clone())) => tables(table, body, &mut cuts),
        Some(server @ Item::Value(_)) if is_ours(server) => cuts.extend(inline(&document, body)),
        _ => return Ok(text.to_owned()),
    }
    cuts.sort_by_key(|cut| cut.start);
    let mut removed = text[..skip].to_owned();
    let mut done = 0;
    for cut in cuts {
        removed.push_str(body.get(done..cut.start).ok_or(EditError::Unsure)?);
        done = cut.end;
    }
    removed.push_str(&body[done..]);
    if without_ours(&removed)? == expected && !has_ours(&removed) { Ok(removed) } else { Err(EditError::Unsure) }
}

/// The stretches of a table with a header and of the tables below it, each with the line end behind and one blank line before.
fn tables(table: &toml_edit::Table, body: &str, cuts: &mut Vec<Range<usize>>) {
    if let Some(span) = table.span().filter(|_| !table.is_implicit() && !table.is_dotted()) {
        let mut end = span.end.max(values_end(table));
        end = body[end..].find('\n').map_or(body.len(), |at| end + at + 1);
        let before = &body[..span.start];
        let blank = ["\r\n", "\n"]
            .into_iter()
            .find(|newline| before.strip_suffix(newline).is_some_and(|rest| rest.is_empty() || rest.ends_with('\n')));
        cuts.push(span.start - blank.map_or(0, str::len)..end);
    }
    for (_, item) in table.iter() {
        match item {
            Item::Table(below) => tables(below, body, cuts),
            Item::ArrayOfTables(below) => below.iter().for_each(|table| tables(table, body, cuts)),
            _ => {}
        }
    }
}

/// Where the last value below a header ends, dotted keys included.
fn values_end(table: &toml_edit::Table) -> usize {
    let end = |item: &Item| match item {
        Item::Value(value) => value.span().map_or(0, |span| span.end),
        Item::Table(below) if below.is_dotted() => values_end(below),
        _ => 0,
    };
    table.iter().map(|(_, item)| end(item)).max().unwrap_or(0)
}

/// The stretch of our entry in an inline table of servers, with one comma.
fn inline(document: &Document<&str>, body: &str) -> Option<Range<usize>> {
    let servers = document.get(SERVERS)?.as_inline_table()?;
    let (key, item) = servers.get_key_value(NAME)?;
    let start = key.span()?.start;
    let end = item.span()?.end;
    let before = body[..start].trim_end();
    let after = &body[end..];
    let spaces = after.len() - after.trim_start().len();
    if before.ends_with(',') {
        Some(before.len() - 1..end)
    } else if after.trim_start().starts_with(',') {
        Some(start..end + spaces + 1)
    } else {
        Some(start..end)
    }
}
