//! When enough has happened in a session to be worth sending.
//!
//! Only counts; which events are unsent and who takes them is the evidence store's business.

use std::borrow::Cow;

use serde_json::Value;

use crate::evidence::StoredEvent;

/// Answers that make a block due.
pub const MAX_EXCHANGES: usize = 5;
/// Texts (prompts, answers, final messages of sub-agents) that make a block due.
pub const MAX_TEXTS: usize = 10;
/// Characters in those texts that make a block due.
pub const MAX_CHARS: usize = 40_000;

/// What events add up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Answers of the main agent.
    pub answers: usize,
    /// Prompts, answers and final messages of sub-agents that are not empty.
    pub texts: usize,
    /// Characters in those texts.
    pub chars: usize,
}

impl Totals {
    /// Tells whether a block that ends here is due.
    pub fn is_due(self) -> bool {
        self.answers >= MAX_EXCHANGES || self.texts >= MAX_TEXTS || self.chars >= MAX_CHARS
    }

    fn add(&mut self, event: &StoredEvent) {
        self.answers += usize::from(is_answer(event));
        if let Some(text) = text(event).filter(|text| !text.is_empty()) {
            self.texts += 1;
            self.chars += text.chars().count();
        }
    }
}

/// Returns how many of the events, in order, form the first due block: everything up to and including the
/// first answer at which a limit is reached. `None` when none is.
pub fn due(events: &[StoredEvent]) -> Option<usize> {
    let mut totals = Totals::default();
    for (index, event) in events.iter().enumerate() {
        totals.add(event);
        if is_answer(event) && totals.is_due() {
            return Some(index + 1);
        }
    }
    None
}

/// Adds up all of the events.
pub fn totals(events: &[StoredEvent]) -> Totals {
    let mut totals = Totals::default();
    events.iter().for_each(|event| totals.add(event));
    totals
}

fn is_answer(event: &StoredEvent) -> bool {
    event.kind == "assistant_stop"
}

/// What was said in an event, if something was.
fn text(event: &StoredEvent) -> Option<Cow<'_, str>> {
    let field = |name: &str| event.payload.get(name).and_then(Value::as_str).map(Cow::Borrowed);
    match event.kind.as_str() {
        "user_prompt" => field("text"),
        "assistant_stop" => match event.payload.get("transcript_messages").and_then(Value::as_array) {
            Some(messages) if !messages.is_empty() => {
                let texts: Vec<&str> = messages.iter().filter_map(|message| message.get("content")?.as_str()).collect();
                Some(Cow::Owned(texts.join("\n")))
            }
            _ => field("text"),
        },
        "subagent_stop" | "sidekick_stop" => field("final_message"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// `p` prompt, `a` answer, `t` tool, `s` sub-agent's end, each with a text of so many characters.
    fn events(script: &[(char, usize)]) -> Vec<StoredEvent> {
        script
            .iter()
            .zip(1..)
            .map(|(&(kind, chars), id)| {
                let (kind, payload) = match kind {
                    'p' => ("user_prompt", json!({"text": "é".repeat(chars)})),
                    'a' => ("assistant_stop", json!({"text": "é".repeat(chars)})),
                    'm' => (
                        "assistant_stop",
                        json!({"text": "", "transcript_messages": [{"role": "user", "content": "x".repeat(chars)}, {"role": "assistant", "content": "y"}]}),
                    ),
                    's' => ("subagent_stop", json!({"final_message": "é".repeat(chars)})),
                    'o' => ("sidekick_stop", json!({"final_message": "é".repeat(chars)})),
                    _ => ("tool_result", json!({"command": "x".repeat(chars)})),
                };
                StoredEvent { id, created_at: String::new(), kind: kind.to_owned(), payload }
            })
            .collect()
    }

    #[test]
    fn blocks_by_table() {
        let pair = [('p', 5), ('a', 5)];
        for (script, expected) in [
            (vec![], None),
            (pair.repeat(4), None),
            (pair.repeat(5), Some(10)),
            (pair.repeat(7), Some(10)),
            // Texts alone: nine and the answer that makes ten.
            ([vec![('p', 1); 9], vec![('a', 1), ('p', 1)]].concat(), Some(10)),
            // Ten texts without an answer wait for one.
            (vec![('p', 1); 12], None),
            ([vec![('p', 1); 12], vec![('t', 1), ('a', 1)]].concat(), Some(14)),
            (vec![('p', 20_000), ('a', 19_999)], None),
            (vec![('p', 20_000), ('a', 20_000)], Some(2)),
            (vec![('p', 20_000), ('t', 90_000), ('a', 1)], None),
            (vec![('s', 39_999), ('a', 1)], Some(2)),
            (vec![('o', 39_999), ('a', 1)], Some(2)),
            (vec![('m', 39_998)], Some(1)),
            (vec![('m', 39_997)], None),
            // Empty texts do not count as texts, but an empty answer is still an answer.
            ([vec![('s', 0); 20], vec![('a', 0)]].concat(), None),
            (vec![('a', 0); 5], Some(5)),
        ] {
            assert_eq!(due(&events(&script)), expected, "{script:?}");
        }
    }

    #[test]
    fn totals_add_up() {
        let totals = totals(&events(&[('p', 3), ('t', 9), ('a', 4), ('s', 2), ('p', 0)]));
        assert_eq!(totals, Totals { answers: 1, texts: 3, chars: 9 });
    }
}
