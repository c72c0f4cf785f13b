//! Making items of what hosts record: runs of text and pictures, calls, results, and the words for what was left out.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::document::{Item, Part, Role};
use super::reader::Sink;
use super::refusal::{Kind, Refusal};

/// One uninterrupted run of text and pictures of a message. A call or a result ends it.
#[derive(Debug, Clone)]
pub struct Runs {
    role: Role,
    parts: Vec<Part>,
}

impl Runs {
    /// Begins without parts.
    pub fn new(role: Role) -> Self {
        Self { role, parts: Vec::new() }
    }

    /// Adds text; an empty one is nothing.
    pub fn text(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.parts.push(match self.role {
                Role::User => Part::InputText { text },
                Role::Assistant => Part::OutputText { text },
            });
        }
    }

    /// Adds a picture by its `data:` address.
    pub fn image(&mut self, image_url: impl Into<String>) {
        self.parts.push(Part::InputImage { image_url: image_url.into() });
    }

    /// Ends the run: gives its message, if there is anything in it.
    ///
    /// # Errors
    /// What `sink` gives.
    pub fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), Refusal> {
        if self.parts.is_empty() {
            return Ok(());
        }
        sink(Item::Message { role: self.role, content: std::mem::take(&mut self.parts), more: Map::new() })
    }
}

/// A call.
pub fn call(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Item {
    Item::FunctionCall { call_id: id.into(), name: name.into(), arguments: arguments.into(), more: Map::new() }
}

/// A result. Its name is the call's, filled in by the validator.
pub fn result(call_id: impl Into<String>, output: Value, is_error: bool) -> Item {
    let mut more = Map::new();
    if is_error {
        more.insert("is_error".to_owned(), Value::Bool(true));
    }
    Item::FunctionCallOutput { call_id: call_id.into(), name: String::new(), output, more }
}

/// A text block of an output.
pub fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// A picture block of an output.
pub fn image_block(media_type: &str, data: &str) -> Value {
    json!({ "type": "image", "source": { "type": "base64", "media_type": media_type, "data": data } })
}

/// The `data:` address of a picture.
pub fn data_url(media_type: &str, data: &str) -> String {
    format!("data:{media_type};base64,{data}")
}

/// Splits the `data:` address of a picture into its media type and its payload.
///
/// # Errors
/// `unavailable_image` for any other address; `invalid_image` for a `data:` address of another form. The payload is not looked at.
pub fn split_data_url(url: &str) -> Result<(&str, &str), Refusal> {
    let Some(rest) = url.strip_prefix("data:") else {
        return Err(Refusal::new(
            Kind::UnavailableImage,
            "an image is only named by an address or a file, so it has no bytes that could travel",
        ));
    };
    rest.split_once(";base64,").ok_or_else(|| {
        let media: String = rest.chars().take_while(|char| !matches!(char, ';' | ',')).take(40).collect();
        Refusal::new(Kind::InvalidImage, format!("an image's data address ({media}) is not plain base64"))
    })
}

/// The warnings of a reading: at most one a code, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Warnings(BTreeSet<&'static str>);

impl Warnings {
    /// Adds a warning by its code.
    pub fn add(&mut self, code: &'static str) {
        self.0.insert(code);
    }

    /// The warnings as `code: text`.
    pub fn texts(&self) -> Vec<String> {
        self.0.iter().map(|code| warning(code)).collect()
    }
}

/// Returns a warning as `code: text`.
pub fn warning(code: &str) -> String {
    let text = match code {
        "reasoning_omitted" => "the model's hidden reasoning was left out",
        "harness_omitted" => "instructions of the source host were left out",
        "interrupted_turn_omitted" => "answers that were interrupted and asked for again were left out",
        "api_error_omitted" => "error notices of the model's service were left out",
        "duplicate_records_ignored" => "records that stand twice in the source were taken once",
        "invalid_unicode_replaced" => "halves of characters in the source were replaced by U+FFFD",
        "hosted_tool_summarised" => "tools that ran at the model's service were kept as text",
        "host_pruned_output" => "outputs that the source host had cleared stay cleared",
        "checkpoint_skipped" => "checkpoints of the source host were passed over; nothing of the session is lost by it",
        "synthetic_calls" => "calls that the source host did not record were made up for their results",
        "missing_results_filled" => "results that the source host did not record are marked as such",
        _ => "see the documentation",
    };
    format!("{code}: {text}")
}
