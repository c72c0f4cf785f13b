//! A document as a session of a host's own: what the writers of the hosts are given, and the proof that nothing was lost.
//!
//! A writer makes files out of items; nothing is written here. [`Native::prepare`] reads what it made with the reader of
//! the same host and compares, so that a session which would lose anything is refused before a file exists.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::content;
use super::document::{Item, Part, Role};
use super::json;
use super::reader::{Options, Record, Span, Surroundings};
use super::refusal::{Kind, Refusal};
use super::validate::Validator;
use crate::hosts::sessions::{Form, Sessions};

/// The key under which a session says what its host has no place for. Hosts pass over it; our readers do not.
pub(crate) const MARK: &str = "mem0_handoff";

/// A host that sessions can be written for.
#[derive(Debug, Clone, Copy)]
pub struct Native {
    /// How its sessions are read, and so its id.
    pub sessions: Sessions,
    /// Where its sessions are kept.
    pub root: Folder,
    /// The settings file that names its model, if a session must name one.
    pub config: Option<(Folder, &'static str)>,
    /// Makes the files.
    pub write: fn(&Origin<'_>) -> Result<Written, Refusal>,
}

/// A folder of a host: a variable that names it, and where it is below the home otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Folder {
    /// The variable; empty when there is none.
    pub setting: &'static str,
    /// What stands below the folder that the variable names.
    pub below: &'static str,
    /// The folder below the home.
    pub home: &'static str,
}

/// What is to be written.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The conversation, as [`Piece`]s.
    pub pieces: &'a [Piece<'a>],
    /// The session's title.
    pub title: &'a str,
    /// The folder it goes on in, absolute.
    pub cwd: &'a str,
    /// The host's folder, absolute.
    pub root: &'a str,
    /// The text of the settings file, if it could be read.
    pub config: Option<&'a str>,
    /// Random; every id is made of it.
    pub seed: [u8; 16],
    /// Milliseconds since 1970.
    pub now_ms: u64,
}

/// The files of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The session's id.
    pub session_id: String,
    /// The files by their paths below the host's folder; the first is what the host's reader reads.
    pub files: Vec<(String, Vec<u8>)>,
    /// The commands to run, each as its arguments.
    pub commands: Vec<Vec<String>>,
}

/// A session that may be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// What to write.
    pub written: Written,
    /// What the host does not show, for the user: marks that items carry beside their content.
    pub notes: Vec<String>,
}

impl Native {
    /// Makes a session of a document's items and proves that it reads back as they are.
    ///
    /// # Errors
    /// `unsupported_content` and its like when the host cannot hold something; the message names the item.
    pub fn prepare(&self, items: &[Item], origin: &Origin<'_>) -> Result<Prepared, Refusal> {
        let id = self.sessions.id;
        let pieces = pieces(items, id)?;
        let written = (self.write)(&Origin { pieces: &pieces, ..*origin })?;
        let back = read_back(&self.sessions, &written)?;
        let (wanted, got) = (canonical(items), canonical(&back));
        if let Some(place) = (0..wanted.len().max(got.len())).find(|&place| wanted.get(place) != got.get(place)) {
            let kind = items.get(place).map_or("the end", kind_of);
            return Err(Refusal::new(
                Kind::UnsupportedContent,
                format!(
                    "item {} ({kind}) would not read back from a session of {id} as it is, so nothing was written",
                    place + 1
                ),
            ));
        }
        let synthetic = items.iter().filter(|item| more(item).contains_key("synthetic")).count();
        let notes = (synthetic > 0).then(|| {
            format!("{synthetic} items that the source host did not record are not marked as such in the new session")
        });
        Ok(Prepared { written, notes: notes.into_iter().collect() })
    }
}

/// Text or a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bit<'a> {
    /// Text, never empty.
    Text(&'a str),
    /// A picture by its media type and base64 data.
    Picture(&'a str, &'a str),
}

/// An item as writers want it.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece<'a> {
    /// What the user said.
    User(Vec<Bit<'a>>),
    /// What the model said.
    Assistant(Vec<&'a str>),
    /// A call.
    Call(Call<'a>),
    /// A result.
    Result(Answer<'a>),
}

/// A call as writers want it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call<'a> {
    /// An id that every host takes.
    pub id: Cow<'a, str>,
    /// The namespace, for hosts that have them.
    pub namespace: Option<&'a str>,
    /// The tool without the namespace.
    pub name: &'a str,
    /// JSON text, compact.
    pub arguments: String,
    /// Where the item stands, from 1.
    pub at: usize,
}

impl Call<'_> {
    /// The tool's name with its namespace.
    pub fn full_name(&self) -> String {
        full_name(self.namespace, self.name)
    }

    /// The arguments as an object.
    ///
    /// # Errors
    /// `invalid_tool_call` when they are anything else, which most hosts cannot hold.
    pub fn object(&self) -> Result<&str, Refusal> {
        if self.arguments.starts_with('{') {
            return Ok(&self.arguments);
        }
        let message =
            format!("item {}: the arguments of the call are no JSON object, which this host cannot hold", self.at);
        Err(Refusal::new(Kind::InvalidToolCall, message))
    }
}

/// A result as writers want it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<'a> {
    /// The call's id, as [`Call::id`].
    pub id: Cow<'a, str>,
    /// The tool's full name.
    pub name: String,
    /// The output as it is in the document.
    pub output: &'a Value,
    /// The output as text and pictures; what is neither is the text of its JSON.
    shown: Cow<'a, Value>,
    /// Whether it is an error.
    pub is_error: bool,
    /// Where the item stands, from 1.
    pub at: usize,
}

impl Answer<'_> {
    /// The output as text and pictures, as a model is shown it.
    pub fn bits(&self) -> Vec<Bit<'_>> {
        bits(&self.shown).unwrap_or_default()
    }

    /// The output as it is, when it is more than [`Self::bits`] say. It is kept under [`MARK`], where our reader finds it.
    pub fn odd_output(&self) -> Option<&Value> {
        matches!(self.shown, Cow::Owned(_)).then_some(self.output)
    }
}

/// An output as text and pictures.
fn shown(output: &Value) -> Cow<'_, Value> {
    if bits(output).is_some() {
        return Cow::Borrowed(output);
    }
    let of_block = |block: &Value| match bit(block) {
        Some(_) => block.clone(),
        None => content::text_block(&block.to_string()),
    };
    Cow::Owned(match output {
        Value::Array(blocks) => blocks.iter().map(of_block).collect(),
        other => vec![of_block(other)].into(),
    })
}

/// Makes ids out of a seed.
#[derive(Debug, Clone)]
pub struct Ids {
    seed: [u8; 16],
    next: u64,
}

impl Ids {
    /// Begins; the first id is the same for the same seed.
    pub fn new(seed: [u8; 16]) -> Self {
        Self { seed, next: 0 }
    }

    /// The next 32 hex digits.
    pub fn hex(&mut self) -> String {
        let digest = Sha256::new().chain_update(self.seed).chain_update(self.next.to_le_bytes()).finalize();
        self.next += 1;
        digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }

    /// The next UUID, of version 4.
    pub fn uuid(&mut self) -> String {
        let hex = self.hex();
        let variant = ["8", "9", "a", "b"][usize::from(hex.as_bytes()[16]) % 4];
        format!("{}-{}-4{}-{variant}{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
    }
}

/// A moment as RFC 3339 in UTC with milliseconds.
pub fn timestamp(ms: u64) -> String {
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    let moment = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    moment.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// Adds a record as a line.
pub(crate) fn push_line(lines: &mut Vec<u8>, record: &str) {
    lines.extend_from_slice(record.as_bytes());
    lines.push(b'\n');
}

fn full_name(namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) if !namespace.is_empty() => format!("{namespace}__{name}"),
        _ => name.to_owned(),
    }
}

fn kind_of(item: &Item) -> &'static str {
    match item {
        Item::Message { .. } => "a message",
        Item::FunctionCall { .. } => "a tool call",
        Item::FunctionCallOutput { .. } => "a tool result",
    }
}

fn more(item: &Item) -> &Map<String, Value> {
    match item {
        Item::Message { more, .. } | Item::FunctionCall { more, .. } | Item::FunctionCallOutput { more, .. } => more,
    }
}

fn pieces<'a>(items: &'a [Item], host: &str) -> Result<Vec<Piece<'a>>, Refusal> {
    let mut ids = HashMap::new();
    let mut names = HashMap::new();
    items
        .iter()
        .enumerate()
        .map(|(index, item)| {
            let at = index + 1;
            let refuse = |what: &str| {
                Refusal::new(Kind::UnsupportedContent, format!("item {at}: {what} cannot be written for {host}"))
            };
            let known = ["is_error", "synthetic", "namespace", "status"];
            if let Some(key) = more(item).keys().find(|key| !known.contains(&key.as_str())) {
                return Err(refuse(&format!("the key {}", super::validate::shown(key))));
            }
            Ok(match item {
                Item::Message { role: Role::User, content, .. } => Piece::User(
                    content
                        .iter()
                        .map(user_bit)
                        .collect::<Option<_>>()
                        .ok_or_else(|| refuse("a picture without its bytes"))?,
                ),
                Item::Message { role: Role::Assistant, content, .. } => Piece::Assistant(
                    content
                        .iter()
                        .map(said)
                        .collect::<Option<_>>()
                        .ok_or_else(|| refuse("a picture of the assistant"))?,
                ),
                Item::FunctionCall { call_id, name, arguments, more, .. } => {
                    let namespace = more.get("namespace").and_then(Value::as_str);
                    let full = full_name(namespace, name);
                    if !is_plain(&full, 128) {
                        return Err(refuse("a tool whose name no model takes"));
                    }
                    let id = plain_id(call_id);
                    ids.insert(call_id.as_str(), id.clone());
                    names.insert(call_id.as_str(), full);
                    Piece::Call(Call { id, namespace, name, arguments: json::compact(arguments), at })
                }
                Item::FunctionCallOutput { call_id, output, more, .. } => Piece::Result(Answer {
                    id: ids.get(call_id.as_str()).cloned().unwrap_or_else(|| plain_id(call_id)),
                    name: names.get(call_id.as_str()).cloned().unwrap_or_default(),
                    output,
                    shown: shown(output),
                    is_error: more.get("is_error") == Some(&Value::Bool(true)),
                    at,
                }),
            })
        })
        .collect()
}

fn is_plain(name: &str, limit: usize) -> bool {
    !name.is_empty()
        && name.len() <= limit
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// A call's id, or one made of it when a service would not take it.
fn plain_id(id: &str) -> Cow<'_, str> {
    if is_plain(id, 64) {
        return Cow::Borrowed(id);
    }
    let digest = Sha256::digest(id);
    Cow::Owned(digest.iter().take(12).fold("call_".to_owned(), |text, byte| format!("{text}{byte:02x}")))
}

fn user_bit(part: &Part) -> Option<Bit<'_>> {
    match part {
        Part::InputText { text } | Part::OutputText { text } => Some(Bit::Text(text)),
        Part::InputImage { image_url } => {
            content::split_data_url(image_url).ok().map(|(media, data)| Bit::Picture(media, data))
        }
    }
}

fn said(part: &Part) -> Option<&str> {
    match part {
        Part::InputText { text } | Part::OutputText { text } => Some(text),
        Part::InputImage { .. } => None,
    }
}

fn bits(output: &Value) -> Option<Vec<Bit<'_>>> {
    let bits = match output {
        Value::Null => Vec::new(),
        Value::String(text) => vec![Bit::Text(text)],
        Value::Array(blocks) => blocks.iter().map(bit).collect::<Option<_>>()?,
        _ => return None,
    };
    Some(bits.into_iter().filter(|bit| *bit != Bit::Text("")).collect())
}

fn bit(block: &Value) -> Option<Bit<'_>> {
    let block = block.as_object()?;
    match (block.get("type")?.as_str()?, block.len()) {
        ("text", 2) => block.get("text")?.as_str().map(Bit::Text),
        ("image", 2) => {
            let source = block.get("source")?.as_object().filter(|source| source.len() == 3)?;
            let text = |key: &str| source.get(key).and_then(Value::as_str);
            (text("type")? == "base64").then_some(())?;
            Some(Bit::Picture(text("media_type")?, text("data")?))
        }
        _ => None,
    }
}

/// What must stay the same: everything but what ids calls have, which form an output of text has, and marks of this program.
fn canonical(items: &[Item]) -> Vec<Value> {
    let mut calls: HashMap<&str, usize> = HashMap::new();
    let mut list = Vec::with_capacity(items.len());
    for item in items {
        list.push(match item {
            Item::Message { role, content, .. } => {
                let parts: Vec<Value> = content
                    .iter()
                    .map(|part| match part {
                        Part::InputText { text } | Part::OutputText { text } => json!({ "text": text }),
                        Part::InputImage { image_url } => json!({ "image": image_url }),
                    })
                    .collect();
                json!({ "role": role, "parts": parts })
            }
            Item::FunctionCall { call_id, name, arguments, more } => {
                let number = calls.len();
                calls.insert(call_id, number);
                let name = full_name(more.get("namespace").and_then(Value::as_str), name);
                json!({ "call": number, "name": name, "arguments": json::compact(arguments) })
            }
            Item::FunctionCallOutput { call_id, output, more, .. } => {
                let output = match bits(output) {
                    None => output.clone(),
                    Some(bits) => bits
                        .iter()
                        .map(|bit| match bit {
                            Bit::Text(text) => content::text_block(text),
                            Bit::Picture(media, data) => content::image_block(media, data),
                        })
                        .collect(),
                };
                let is_error = more.get("is_error") == Some(&Value::Bool(true));
                json!({ "answers": calls.get(call_id.as_str()), "output": output, "is_error": is_error })
            }
        });
    }
    list
}

/// What was made, as a reader finds it.
struct Made<'a> {
    path: String,
    text: &'a str,
}

impl Surroundings for Made<'_> {
    fn path(&self) -> &str {
        &self.path
    }

    fn record(&mut self, at: Span) -> Result<String, Refusal> {
        let start = usize::try_from(at.offset).unwrap_or(usize::MAX);
        let text = start.checked_add(at.len).and_then(|end| self.text.get(start..end));
        text.map(str::to_owned).ok_or_else(|| Refusal::new(Kind::Io, "the new session could not be read back"))
    }

    fn file(&mut self, _: &str, _: u64) -> Result<Option<Vec<u8>>, Refusal> {
        Ok(None)
    }

    fn setting(&self, _: &str) -> Option<String> {
        None
    }
}

fn read_back(sessions: &Sessions, written: &Written) -> Result<Vec<Item>, Refusal> {
    let unreadable = || Refusal::new(Kind::Io, "the new session could not be read back");
    let (path, bytes) = written.files.first().ok_or_else(unreadable)?;
    let text = std::str::from_utf8(bytes).map_err(|_| unreadable())?;
    let mut made = Made { path: path.clone(), text };
    let mut reader = (sessions.reader)(&Options::default());
    let lines: Vec<&str> = match sessions.form {
        Form::Lines => text.split_terminator('\n').collect(),
        Form::Document => vec![text],
    };
    let mut offset = 0;
    for (index, line) in lines.into_iter().enumerate() {
        let at = Span { offset, len: line.len(), line: index as u64 + 1 };
        reader.scan(Record { at, text: line })?;
        offset += line.len() as u64 + 1;
    }
    reader.outline(&mut made)?;
    let mut validator = Validator::default();
    let mut items = Vec::new();
    reader.items(&mut made, &mut |mut item| {
        validator.admit(&mut item)?;
        items.push(item);
        Ok(())
    })?;
    validator.finish(false)?;
    Ok(items)
}
