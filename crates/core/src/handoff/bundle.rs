//! Reading a document that another program may have written: strict about what it says of itself, item by item.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer as _, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::document::{Counts, FORMAT, Item, Part, Role, Source};
use super::json;
use super::refusal::{Kind, Refusal};
use super::validate::shown;

/// The format's names before it got its present one.
const OLD_FORMATS: [&str; 2] = ["mem0.claude-to-codex.v1", "memo.claude-to-codex.v1"];
/// Host of documents in the older formats, which knew one.
const OLD_HOST: &str = "claude-code";

/// A document whose items are still text.
#[derive(Debug, Clone)]
pub struct Bundle<'a> {
    /// Where it comes from; empty ids where it leaves them out, see [`Bundle::source`].
    source: Map<String, Value>,
    /// The exact text of its items.
    pub items: &'a str,
    counts: Map<String, Value>,
    /// Warnings, as they are.
    pub warnings: Vec<String>,
    /// When it was saved, if it says so.
    pub saved_at: Option<String>,
    /// Digest of the items' text, if it has one.
    pub items_sha256: Option<String>,
}

/// Top level, each part as text.
#[derive(Default)]
struct Top<'a> {
    format: Option<&'a RawValue>,
    source: Option<&'a RawValue>,
    items: Option<&'a RawValue>,
    counts: Option<&'a RawValue>,
    warnings: Option<&'a RawValue>,
    saved_at: Option<&'a RawValue>,
    integrity: Option<&'a RawValue>,
}

impl<'a> Top<'a> {
    fn read(text: &'a str) -> Result<Self, serde_json::Error> {
        struct TopVisitor;
        impl<'de> Visitor<'de> for TopVisitor {
            type Value = Top<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Top<'de>, A::Error> {
                let mut top = Top::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "format" => top.format = Some(map.next_value()?),
                        "source" => top.source = Some(map.next_value()?),
                        "items" => top.items = Some(map.next_value()?),
                        "counts" => top.counts = Some(map.next_value()?),
                        "warnings" => top.warnings = Some(map.next_value()?),
                        "saved_at" => top.saved_at = Some(map.next_value()?),
                        "integrity" => top.integrity = Some(map.next_value()?),
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(top)
            }
        }
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let top = deserializer.deserialize_map(TopVisitor)?;
        deserializer.end()?;
        Ok(top)
    }
}

fn invalid(told: impl Into<String>) -> Refusal {
    Refusal::new(Kind::InvalidBundle, told)
}

fn value(raw: &RawValue, field: &str) -> Result<Value, Refusal> {
    serde_json::from_str(&json::mended(raw.get())).map_err(|_| invalid(format!("{field} cannot be read")))
}

fn object(raw: Option<&RawValue>, field: &str) -> Result<Map<String, Value>, Refusal> {
    match raw.map(|raw| value(raw, field)).transpose()? {
        None => Ok(Map::new()),
        Some(Value::Object(map)) => Ok(map),
        Some(_) => Err(invalid(format!("{field} is not an object"))),
    }
}

impl<'a> Bundle<'a> {
    /// Reads everything but the items.
    ///
    /// # Errors
    /// `invalid_json`, `unsupported_format`, `invalid_bundle`.
    pub fn read(text: &'a str) -> Result<Self, Refusal> {
        let top = Top::read(text.strip_prefix('\u{feff}').unwrap_or(text)).map_err(|error| {
            if error.classify() == serde_json::error::Category::Data {
                Refusal::new(Kind::UnsupportedFormat, "the file is JSON but not a handoff document")
            } else {
                Refusal::new(Kind::InvalidJson, format!("the document is not valid JSON (line {})", error.line()))
            }
        })?;
        let format = top.format.map(|raw| value(raw, "format")).transpose()?;
        let is_old = match format.as_ref().and_then(Value::as_str) {
            Some(FORMAT) => false,
            Some(format) if OLD_FORMATS.contains(&format) => true,
            Some(format) => {
                let format = shown(format);
                return Err(Refusal::new(
                    Kind::UnsupportedFormat,
                    format!("the format {format} is not known; {FORMAT} is"),
                ));
            }
            None => {
                return Err(Refusal::new(
                    Kind::UnsupportedFormat,
                    format!("the document names no format; {FORMAT} is known"),
                ));
            }
        };
        let mut source = object(top.source, "source")?;
        if is_old {
            source.entry("host").or_insert_with(|| OLD_HOST.into());
            if let Some(cwd) = source.remove("codex_cwd")
                && source.get("project_cwd").is_none_or(Value::is_null)
            {
                source.insert("project_cwd".to_owned(), cwd);
            }
        }
        check_source(&source)?;
        let counts = object(top.counts, "counts")?;
        for (name, count) in &counts {
            if !COUNTS.contains(&name.as_str()) || !count.is_u64() {
                return Err(invalid(format!("counts.{} is not a known count of 0 or more", shown(name))));
            }
        }
        let warnings = match top.warnings.map(|raw| value(raw, "warnings")).transpose()? {
            None => Vec::new(),
            Some(warnings) => {
                serde_json::from_value(warnings).map_err(|_| invalid("warnings is not a list of texts"))?
            }
        };
        let items = top.items.ok_or_else(|| invalid("the document has no items"))?;
        if !items.get().starts_with('[') {
            return Err(invalid("items is not a list"));
        }
        let saved_at = top.saved_at.and_then(|raw| value(raw, "saved_at").ok()?.as_str().map(str::to_owned));
        let items_sha256 = match object(top.integrity, "integrity")?.remove("items_sha256") {
            None => None,
            Some(Value::String(digest)) => Some(digest),
            Some(_) => return Err(invalid("integrity.items_sha256 is not a text")),
        };
        Ok(Self { source, items: items.get(), counts, warnings, saved_at, items_sha256 })
    }

    /// A field of the source as it stands in the document.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.source.get(name).and_then(Value::as_str)
    }

    /// Where the document comes from, with what it leaves out filled in: `sha256` gives its own digest, `items` is their count.
    pub fn source(&self, sha256: impl FnOnce() -> String, items: u64) -> Source {
        let text = |name: &str| self.field(name).map(str::to_owned);
        let or = |name: &str, default: String| text(name).unwrap_or(default);
        let host = or("host", String::new());
        let session_id = or("session_id", String::new());
        let last = or("last_imported_uuid", items.to_string());
        Source {
            path: or("path", format!("{host}:{session_id}")),
            sha256: text("sha256").unwrap_or_else(sha256),
            title: or("title", String::new()),
            cwd: or("cwd", String::new()),
            leaf_uuid: or("leaf_uuid", last.clone()),
            compact_boundary_uuid: text("compact_boundary_uuid"),
            first_imported_uuid: or("first_imported_uuid", "1".to_owned()),
            last_imported_uuid: last,
            project_cwd: text("project_cwd"),
            session_id,
            host,
        }
    }

    /// The counts it gives, others filled in.
    pub fn counts(&self, items: u64, approximate_tokens: u64) -> Counts {
        let count = |name: &str, default: u64| self.counts.get(name).and_then(Value::as_u64).unwrap_or(default);
        Counts {
            source_records: count("source_records", items),
            active_records: count("active_records", items),
            imported_records: count("imported_records", items),
            responses_items: items,
            hidden_reasoning_blocks_skipped: count("hidden_reasoning_blocks_skipped", 0),
            approximate_tokens,
        }
    }

    /// Gives its items in order.
    ///
    /// # Errors
    /// What `sink` gives; `unsupported_content`, `invalid_tool_call` and their like for items of unknown shapes.
    pub fn items(&self, sink: &mut dyn FnMut(Item) -> Result<(), Refusal>) -> Result<(), Refusal> {
        each(self.items, &mut |at, text| sink(item(&json::mended(text), at)?))
    }
}

/// Gives the texts of a list's elements in order, counted from 1.
///
/// # Errors
/// What `take` gives; `invalid_json` when it is no list.
pub fn each(list: &str, take: &mut dyn FnMut(u64, &str) -> Result<(), Refusal>) -> Result<(), Refusal> {
    struct Elements<'t> {
        take: &'t mut dyn FnMut(u64, &str) -> Result<(), Refusal>,
        refusal: &'t mut Option<Refusal>,
    }
    impl<'de> Visitor<'de> for Elements<'_> {
        type Value = ();

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
            let mut at = 0;
            while let Some(raw) = list.next_element::<&RawValue>()? {
                at += 1;
                if let Err(refusal) = (self.take)(at, raw.get()) {
                    *self.refusal = Some(refusal);
                    return Err(A::Error::custom("refused"));
                }
            }
            Ok(())
        }
    }
    impl<'de> DeserializeSeed<'de> for Elements<'_> {
        type Value = ();

        fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_seq(self)
        }
    }
    let mut refusal = None;
    let mut deserializer = serde_json::Deserializer::from_str(list);
    let read = Elements { take, refusal: &mut refusal }.deserialize(&mut deserializer);
    match (read, refusal) {
        (_, Some(refusal)) => Err(refusal),
        (Ok(()), None) => Ok(()),
        (Err(_), None) => Err(Refusal::new(Kind::InvalidJson, "the items are not valid JSON")),
    }
}

const COUNTS: [&str; 6] = [
    "source_records",
    "active_records",
    "imported_records",
    "responses_items",
    "hidden_reasoning_blocks_skipped",
    "approximate_tokens",
];

/// Keys of the source, in three kinds: must be there, may be left out, may be null.
const REQUIRED: [&str; 4] = ["host", "session_id", "title", "cwd"];
const OPTIONAL: [&str; 5] = ["path", "sha256", "leaf_uuid", "first_imported_uuid", "last_imported_uuid"];
const NULLABLE: [&str; 2] = ["compact_boundary_uuid", "project_cwd"];

fn check_source(source: &Map<String, Value>) -> Result<(), Refusal> {
    for (name, value) in source {
        let name = name.as_str();
        let is_known = REQUIRED.contains(&name) || OPTIONAL.contains(&name) || NULLABLE.contains(&name);
        if !is_known {
            return Err(invalid(format!("source.{} is not a known field", shown(name))));
        }
        if !(value.is_string() || NULLABLE.contains(&name) && value.is_null()) {
            return Err(invalid(format!("source.{name} is not a text")));
        }
    }
    for name in REQUIRED {
        if source.get(name).and_then(Value::as_str).is_none_or(|text| text.trim().is_empty()) {
            return Err(invalid(format!("source.{name} is missing or blank")));
        }
    }
    check_host(source.get("host").and_then(Value::as_str).unwrap_or_default())?;
    match source.get("sha256").and_then(Value::as_str) {
        Some(digest) if !is_digest(digest) => {
            Err(invalid("source.sha256 is not a digest of 64 lower-case hexadecimal digits"))
        }
        _ => Ok(()),
    }
}

/// Refuses what cannot be a host's id: it becomes part of a file's name.
///
/// # Errors
/// `invalid_bundle`.
pub fn check_host(host: &str) -> Result<(), Refusal> {
    let mut bytes = host.bytes();
    let is_id = bytes.next().is_some_and(|byte| byte.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && host.len() <= 64;
    if is_id { Ok(()) } else { Err(invalid("source.host is not an id of lower-case letters, digits and `-`")) }
}

/// Tells whether a text is a SHA-256 as documents write it.
pub fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Reads an item of a foreign document.
///
/// # Errors
/// Names the item by its place and says which field is wrong.
pub fn item(text: &str, at: u64) -> Result<Item, Refusal> {
    let refuse = |kind, told: String| Refusal::new(kind, format!("item {at}: {told}"));
    let content = |told: &str| refuse(Kind::UnsupportedContent, told.to_owned());
    let value: Value = serde_json::from_str(text).map_err(|_| {
        refuse(Kind::InvalidJson, "it is nested too deep or holds a number that is too large".to_owned())
    })?;
    let Value::Object(mut map) = value else { return Err(content("it is not an object")) };
    let kind = match map.remove("type") {
        Some(Value::String(kind)) => kind,
        _ => return Err(content("it has no type")),
    };
    match kind.as_str() {
        "message" => {
            let role = match map.remove("role").as_ref().and_then(Value::as_str) {
                Some("user") => Role::User,
                Some("assistant") => Role::Assistant,
                Some(role) => return Err(content(&format!("messages of the role {} are not carried", shown(role)))),
                None => return Err(content("a message has no role")),
            };
            let Some(Value::Array(parts)) = map.remove("content") else {
                return Err(content("a message's content is not a list"));
            };
            let parts = parts.into_iter().map(|part| self::part(part, at)).collect::<Result<Vec<Part>, Refusal>>()?;
            Ok(Item::Message { role, content: parts, more: map })
        }
        "function_call" => {
            let mut text = |name: &str| match map.remove(name) {
                Some(Value::String(text)) => Ok(text),
                _ => Err(refuse(Kind::InvalidToolCall, format!("a tool call's {name} is not a text"))),
            };
            let (call_id, name, arguments) = (text("call_id")?, text("name")?, text("arguments")?);
            Ok(Item::FunctionCall { call_id, name, arguments, more: map })
        }
        "function_call_output" => {
            let call_id = match map.remove("call_id") {
                Some(Value::String(id)) => id,
                _ => return Err(refuse(Kind::UnmatchedToolResult, "a result names no call".to_owned())),
            };
            let name = match map.remove("name") {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(name)) => name,
                Some(_) => return Err(content("a result's name is not a text")),
            };
            let output = map.remove("output").ok_or_else(|| content("a result has no output"))?;
            Ok(Item::FunctionCallOutput { call_id, name, output, more: map })
        }
        other => Err(content(&format!("items of the type {} are unknown", shown(other)))),
    }
}

fn part(part: Value, at: u64) -> Result<Part, Refusal> {
    let refuse = |kind, told: String| Refusal::new(kind, format!("item {at}: {told}"));
    let Value::Object(mut map) = part else {
        return Err(refuse(Kind::UnsupportedContent, "a part of a message is not an object".to_owned()));
    };
    let kind = match map.remove("type") {
        Some(Value::String(kind)) => kind,
        _ => return Err(refuse(Kind::UnsupportedContent, "a part of a message has no type".to_owned())),
    };
    let mut text = |name: &str, kind| match map.remove(name) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(refuse(kind, format!("{name} of a part is not a text"))),
    };
    match kind.as_str() {
        "input_text" => Ok(Part::InputText { text: text("text", Kind::UnsupportedContent)? }),
        "output_text" => Ok(Part::OutputText { text: text("text", Kind::UnsupportedContent)? }),
        "input_image" => Ok(Part::InputImage { image_url: text("image_url", Kind::UnavailableImage)? }),
        other => Err(refuse(Kind::UnsupportedContent, format!("parts of the type {} are not carried", shown(other)))),
    }
}
