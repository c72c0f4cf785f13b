//! DeepSeek Harness: a package in JavaScript that translates the host's events into the protocol of [`super::shim`].

pub(super) mod session;

use crate::event::Event;
use crate::host::{ContextLimit, HostSpec, PayloadError};
use crate::hosts::shim;

/// DeepSeek Harness as data.
pub const SPEC: HostSpec = HostSpec {
    id: "deepseek",
    name: "DeepSeek Harness",
    hooks: shim::HOOKS,
    normalize,
    render,
    context_limit: ContextLimit::Utf16(100_000),
    transcript: None,
    outcomes_in_transcript: false,
    find_transcript: None,
    project_variable: None,
    hand_on_options: None,
    capabilities: shim::CAPABILITIES,
};

fn normalize(native_event: &str, payload: &[u8]) -> Result<Option<Event>, PayloadError> {
    shim::normalize(&shim::PLAIN, native_event, payload)
}

/// The host reads prompt texts as templates and gives up on a whole prompt when `{{` begins no variable of its own.
fn render(native_event: &str, context: &str) -> Vec<u8> {
    let mut literal = context.to_owned();
    // Once is not enough: breaking the first pair of three braces leaves a pair.
    while literal.contains("{{") {
        literal = literal.replace("{{", "{ {");
    }
    shim::render(native_event, &literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_ours_is_a_template() {
        for (context, expected) in [
            ("plain {x}", "plain {x}"),
            ("${{ secrets.KEY }}", "${ { secrets.KEY }}"),
            ("{{{a}}}", "{ { {a}}}"),
            ("{{{{", "{ { { {"),
        ] {
            let printed = String::from_utf8(render("prompt", context)).unwrap();
            assert_eq!(printed, serde_json::json!({ "context": expected }).to_string());
        }
    }
}
