//! What hosts call their tools and arguments, and what the evidence store calls them.

use serde_json::Value;

use crate::event::ToolUse;

/// Most of an output that is kept, in bytes: more than any preview shows, so that redaction sees whole secrets there.
const MAX_OUTPUT_BYTES: usize = 8 << 10;

/// A host's tool whose arguments are kept under other names than the host's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    /// The host's name of it.
    pub(crate) native: &'static str,
    /// The name it is kept under.
    pub(crate) name: &'static str,
    /// The host's names of arguments, each with the name it is kept under.
    pub(crate) arguments: &'static [(&'static str, &'static str)],
}

/// Gives a call the names it is kept under. Unknown tools and arguments stay as they are.
pub(crate) fn named(tools: &[Tool], mut call: ToolUse) -> ToolUse {
    let known = call.name.as_deref().and_then(|name| tools.iter().find(|tool| tool.native == name));
    let Some(tool) = known else { return call };
    call.name = Some(tool.name.to_owned());
    if let Value::Object(input) = &mut call.input {
        for (native, name) in tool.arguments {
            if !input.contains_key(*name)
                && let Some(value) = input.remove(*native)
            {
                input.insert((*name).to_owned(), value);
            }
        }
    }
    call
}

/// Returns a failure in text form: hosts send a text, or an object with a message in it. `None` for an empty one.
pub(crate) fn error_text(error: Value) -> Option<String> {
    match error {
        Value::Null => None,
        Value::String(text) => (!text.is_empty()).then_some(text),
        other => Some(match other.get("message") {
            Some(Value::String(message)) => message.clone(),
            _ => other.to_string(),
        }),
    }
}

/// Returns a response in text form.
pub(crate) fn text_of(response: &Value) -> String {
    response.as_str().map_or_else(|| response.to_string(), str::to_owned)
}

/// Returns a command's output cut to what is kept of it.
pub(crate) fn kept_output(mut output: String) -> String {
    if output.len() > MAX_OUTPUT_BYTES {
        output.truncate(output.floor_char_boundary(MAX_OUTPUT_BYTES));
        output.shrink_to_fit();
    }
    output
}

/// Returns a number, or null for what is none.
pub(crate) fn number(value: Value) -> Value {
    if value.is_number() { value } else { Value::Null }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_cut_between_characters() {
        assert_eq!(kept_output("é".repeat(MAX_OUTPUT_BYTES)).len(), MAX_OUTPUT_BYTES);
        assert_eq!(kept_output(format!("a{}", "é".repeat(MAX_OUTPUT_BYTES))).len(), MAX_OUTPUT_BYTES - 1);
    }
}
