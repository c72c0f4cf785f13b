//! What must hold of every conversation, whatever host it comes from: calls and results stand in pairs, pictures carry
//! their bytes, somebody asked for something. Items pass one by one; only ids of calls are kept.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::content::{self, split_data_url};
use super::document::{Item, Part, Role};
use super::refusal::{Kind, Refusal};

/// Largest picture, decoded.
pub const MAX_IMAGE_BYTES: usize = 20 << 20;
/// Media types of pictures.
pub const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// Ids named in one message.
const MAX_NAMED: usize = 5;
/// Characters of an id that a message shows.
const MAX_ID_CHARS: usize = 120;

/// Lets items pass that may stand where they stand.
#[derive(Debug, Default)]
pub struct Validator {
    items: u64,
    has_user: bool,
    calls: HashMap<String, Call>,
    /// For each run of calls and results, the last of its items.
    run_ends: Vec<u64>,
    in_run: bool,
}

#[derive(Debug)]
struct Call {
    name: String,
    order: u64,
    run: usize,
    is_answered: bool,
}

/// A call whose result is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The call.
    pub call_id: String,
    /// Its tool.
    pub name: String,
    /// Items that stand before the place where a made-up result belongs.
    pub after: u64,
}

impl Missing {
    /// The made-up result.
    pub fn filled(&self) -> Item {
        let mut item = content::result(
            self.call_id.clone(),
            Value::Array(vec![content::text_block("[result not recorded by the source host]")]),
            false,
        );
        if let Item::FunctionCallOutput { name, more, .. } = &mut item {
            name.clone_from(&self.name);
            more.insert("synthetic".to_owned(), Value::Bool(true));
        }
        item
    }
}

impl Validator {
    /// Looks at the next item; gives a result its call's name.
    ///
    /// # Errors
    /// The rule it breaks.
    pub fn admit(&mut self, item: &mut Item) -> Result<(), Refusal> {
        self.items += 1;
        let at = self.items;
        status(item, at)?;
        let is_message = matches!(item, Item::Message { .. });
        if is_message {
            self.in_run = false;
        } else {
            match self.run_ends.last_mut() {
                Some(end) if self.in_run => *end = at,
                _ => self.run_ends.push(at),
            }
            self.in_run = true;
        }
        match item {
            Item::Message { role, content, .. } => {
                self.has_user |= *role == Role::User;
                content.iter().try_for_each(|part| message_part(*role, part, at))
            }
            Item::FunctionCall { call_id, name, arguments, .. } => {
                if call_id.trim().is_empty() || name.trim().is_empty() {
                    return Err(refuse(Kind::InvalidToolCall, at, "a tool call has no id or no name"));
                }
                if serde_json::from_str::<IgnoredAny>(arguments).is_err() {
                    let id = shown(call_id);
                    return Err(refuse(Kind::InvalidToolCall, at, &format!("the arguments of call {id} are not JSON")));
                }
                let call = Call { name: name.clone(), order: at, run: self.run_ends.len() - 1, is_answered: false };
                match self.calls.insert(call_id.clone(), call) {
                    None => Ok(()),
                    Some(_) => Err(refuse(
                        Kind::DuplicateToolCall,
                        at,
                        &format!("two tool calls have the id {}", shown(call_id)),
                    )),
                }
            }
            Item::FunctionCallOutput { call_id, name, output, .. } => {
                let id = shown(call_id);
                let Some(call) = self.calls.get_mut(call_id.as_str()) else {
                    let told = format!("the result {id} has no call before it");
                    return Err(refuse(Kind::UnmatchedToolResult, at, &told));
                };
                if std::mem::replace(&mut call.is_answered, true) {
                    let told = format!("call {id} has two results");
                    return Err(refuse(Kind::DuplicateToolResult, at, &told));
                }
                if name.is_empty() {
                    name.clone_from(&call.name);
                }
                output_blocks(output, at)
            }
        }
    }

    /// Looks at the whole. Returns calls without results, in order, when `allow_missing` lets them be.
    ///
    /// # Errors
    /// `no_items`, `missing_tool_result`, `no_user_message`.
    pub fn finish(self, allow_missing: bool) -> Result<Vec<Missing>, Refusal> {
        if self.items == 0 {
            return Err(Refusal::new(Kind::NoItems, "the session has nothing that could be handed over"));
        }
        let mut open: Vec<(String, Call)> = self.calls.into_iter().filter(|(_, call)| !call.is_answered).collect();
        open.sort_unstable_by_key(|(_, call)| call.order);
        if !open.is_empty() && !allow_missing {
            let named: Vec<String> = open.iter().take(MAX_NAMED).map(|(id, _)| shown(id)).collect();
            let more = match open.len().saturating_sub(MAX_NAMED) {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            return Err(Refusal::new(
                Kind::MissingToolResult,
                format!(
                    "tool calls have no result: {}{more}; finish or stop the turn and save again. If the source host does not \
                     record results, --allow-missing-results marks them as not recorded",
                    named.join(", ")
                ),
            ));
        }
        if !self.has_user {
            return Err(Refusal::new(Kind::NoUserMessage, "the session has no message of a user"));
        }
        Ok(open
            .into_iter()
            .map(|(call_id, call)| Missing {
                after: self.run_ends.get(call.run).copied().unwrap_or(call.order),
                call_id,
                name: call.name,
            })
            .collect())
    }
}

fn refuse(kind: Kind, at: u64, told: &str) -> Refusal {
    Refusal::new(kind, format!("item {at}: {told}"))
}

/// An id as a message shows it.
pub fn shown(id: &str) -> String {
    let mut shown: String =
        id.chars().take(MAX_ID_CHARS).map(|char| if char.is_control() { '?' } else { char }).collect();
    if shown.len() < id.len() && id.chars().count() > MAX_ID_CHARS {
        shown.push('…');
    }
    shown
}

fn status(item: &Item, at: u64) -> Result<(), Refusal> {
    let (Item::Message { more, .. } | Item::FunctionCall { more, .. } | Item::FunctionCallOutput { more, .. }) = item;
    check_status(more, at)
}

fn check_status(more: &Map<String, Value>, at: u64) -> Result<(), Refusal> {
    match more.get("status") {
        None => Ok(()),
        Some(Value::String(status)) if matches!(status.as_str(), "incomplete" | "in_progress") => {
            Err(refuse(Kind::UnfinishedTurn, at, &format!("it is {status}; finish or stop the turn and save again")))
        }
        Some(Value::String(_)) => Ok(()),
        Some(_) => Err(refuse(Kind::UnsupportedContent, at, "its status is not a text")),
    }
}

fn message_part(role: Role, part: &Part, at: u64) -> Result<(), Refusal> {
    match (part, role) {
        (Part::InputText { .. }, Role::User) | (Part::OutputText { .. }, Role::Assistant) => Ok(()),
        (Part::InputText { .. }, Role::Assistant) => {
            Err(refuse(Kind::UnsupportedContent, at, "an assistant's message holds input_text"))
        }
        (Part::OutputText { .. }, Role::User) => {
            Err(refuse(Kind::UnsupportedContent, at, "a user's message holds output_text"))
        }
        (Part::InputImage { image_url }, _) => {
            let (media_type, data) = split_data_url(image_url).map_err(|refusal| located(refusal, at))?;
            image(media_type, data, at)
        }
    }
}

fn located(refusal: Refusal, at: u64) -> Refusal {
    refuse(refusal.kind, at, &refusal.message)
}

/// Checks a picture's media type and payload.
fn image(media_type: &str, data: &str, at: u64) -> Result<(), Refusal> {
    if !IMAGE_TYPES.iter().any(|known| known.eq_ignore_ascii_case(media_type)) {
        let media_type = shown(media_type);
        return Err(refuse(Kind::InvalidImage, at, &format!("images of type {media_type} are not carried")));
    }
    if data.is_empty() {
        return Err(refuse(Kind::InvalidImage, at, "an image is empty"));
    }
    if data.len() / 4 * 3 > MAX_IMAGE_BYTES + 2 {
        return Err(refuse(Kind::TooLarge, at, "an image has more than 20 MiB"));
    }
    match STANDARD.decode(data) {
        Ok(_) => Ok(()),
        Err(_) => Err(refuse(Kind::InvalidImage, at, "an image's payload is not strict base64")),
    }
}

/// Pictures of an output carry their bytes; other blocks are the source's business.
fn output_blocks(output: &Value, at: u64) -> Result<(), Refusal> {
    let Value::Array(blocks) = output else { return Ok(()) };
    for block in blocks {
        if block.get("type").is_none_or(|kind| kind != "image") {
            continue;
        }
        let source = block.get("source");
        let field = |name: &str| source.and_then(|source| source.get(name)).and_then(Value::as_str);
        match (field("type"), field("media_type"), field("data")) {
            (Some("base64"), Some(media_type), Some(data)) => image(media_type, data, at)?,
            (Some("base64"), ..) => {
                return Err(refuse(Kind::InvalidImage, at, "an image of a result lacks its media type or payload"));
            }
            _ => {
                let told =
                    "an image of a result is only named by an address or a file, so it has no bytes that could travel";
                return Err(refuse(Kind::UnavailableImage, at, told));
            }
        }
    }
    Ok(())
}
