//! How large a conversation is for a model.

use serde_json::Value;

use super::document::{Item, Part};

/// Characters a picture counts for: those of `[image]`.
const IMAGE_CHARS: u64 = 7;

/// Adds up items as they pass.
#[derive(Debug, Clone, Copy, Default)]
pub struct Size {
    items: u64,
    chars: u64,
}

impl Size {
    /// Adds an item, given with its compact JSON text.
    pub fn add(&mut self, item: &Item, json: &str) {
        let (images, payload_chars) = images(item);
        self.items += 1;
        let chars = json.chars().count() as u64;
        self.chars += chars.saturating_sub(payload_chars) + images * IMAGE_CHARS;
    }

    /// Items added.
    pub fn items(&self) -> u64 {
        self.items
    }

    /// A quarter of the characters of the items' list.
    pub fn approximate_tokens(&self) -> u64 {
        (self.chars + self.items.saturating_sub(1) + 2).div_ceil(4)
    }
}

/// Pictures of an item, and the characters of their payloads.
fn images(item: &Item) -> (u64, u64) {
    match item {
        Item::Message { content, .. } => content.iter().fold((0, 0), |(images, chars), part| match part {
            Part::InputImage { image_url } => (images + 1, chars + image_url.chars().count() as u64),
            _ => (images, chars),
        }),
        Item::FunctionCallOutput { output: Value::Array(blocks), .. } => {
            blocks.iter().fold((0, 0), |(images, chars), block| match base64_of(block) {
                Some((_, data)) => (images + 1, chars + data.chars().count() as u64),
                None => (images, chars),
            })
        }
        _ => (0, 0),
    }
}

/// The media type and payload of a picture block.
pub fn base64_of(block: &Value) -> Option<(&str, &str)> {
    let source = block.get("source").filter(|_| block.get("type").is_some_and(|kind| kind == "image"))?;
    source.get("type").filter(|kind| *kind == "base64")?;
    Some((source.get("media_type")?.as_str()?, source.get("data")?.as_str()?))
}
