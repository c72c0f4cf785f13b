//! Cutting messages into requests that a model's context can take, without losing a character.

use crate::memory::{Message, Role};

/// Largest estimate of one request, in tokens.
pub const MAX_ESTIMATE: usize = 24_000;

/// What a sub-agent was told, and what it said: these stay together when they fit.
const ASSIGNMENT: &str = "Subagent assignment (";
const RESPONSE: &str = "Subagent response (";

/// Estimates the tokens of messages: 0.4 for an ASCII character and 1 for any other of their JSON (with `, ` and
/// `: `, and nothing beyond ASCII escaped), rounded up.
pub fn estimate(messages: &[Message]) -> usize {
    tokens(LIST + messages.iter().map(cost).sum::<usize>() + SEPARATOR * messages.len().saturating_sub(1))
}

/// Cuts messages into requests of at most [`MAX_ESTIMATE`].
///
/// Cuts fall before a person's message if they can, else between messages, else inside one; the requests joined
/// up are exactly the messages. No messages, no requests.
pub fn batches(messages: Vec<Message>) -> Vec<Vec<Message>> {
    if messages.is_empty() {
        return Vec::new();
    }
    if estimate(&messages) <= MAX_ESTIMATE {
        return vec![messages];
    }
    let mut requests: Vec<Vec<Message>> = Vec::new();
    let mut filled = LIST;
    for unit in exchanges(messages).into_iter().flat_map(units) {
        let size = unit.iter().map(cost).sum::<usize>() + SEPARATOR * unit.len().saturating_sub(1);
        match requests.last_mut() {
            Some(request) if fits(filled + SEPARATOR + size) => {
                filled += SEPARATOR + size;
                request.extend(unit);
            }
            _ => {
                filled = LIST + size;
                requests.push(unit);
            }
        }
    }
    requests
}

// Costs are counted in fifths of a token, so that sums are exact: two for an ASCII character, five for another.
const ASCII: usize = 2;
const OTHER: usize = 5;
/// `[]`
const LIST: usize = 2 * ASCII;
/// `, `
const SEPARATOR: usize = 2 * ASCII;

fn tokens(fifths: usize) -> usize {
    fifths.div_ceil(5)
}

fn fits(fifths: usize) -> bool {
    tokens(fifths) <= MAX_ESTIMATE
}

fn cost(message: &Message) -> usize {
    frame(message.role) + message.content.chars().map(char_cost).sum::<usize>()
}

/// The JSON around a message's content.
fn frame(role: Role) -> usize {
    let role = match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    (r#"{"role": "", "content": ""}"#.len() + role.len()) * ASCII
}

/// The cost of a character inside a JSON string.
fn char_cost(char: char) -> usize {
    match char {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2 * ASCII,
        '\0'..'\u{20}' => 6 * ASCII,
        _ if char.is_ascii() => ASCII,
        _ => OTHER,
    }
}

fn size(messages: &[Message]) -> usize {
    LIST + messages.iter().map(cost).sum::<usize>() + SEPARATOR * messages.len().saturating_sub(1)
}

/// Splits before every message of the person.
fn exchanges(messages: Vec<Message>) -> Vec<Vec<Message>> {
    let mut exchanges: Vec<Vec<Message>> = Vec::new();
    for message in messages {
        match exchanges.last_mut() {
            Some(exchange) if message.role != Role::User => exchange.push(message),
            _ => exchanges.push(vec![message]),
        }
    }
    exchanges
}

/// Splits an exchange that is too large into messages and pairs, and those into pieces.
fn units(exchange: Vec<Message>) -> Vec<Vec<Message>> {
    if fits(size(&exchange)) {
        return vec![exchange];
    }
    let mut units: Vec<Vec<Message>> = Vec::new();
    for message in exchange {
        match units.last_mut() {
            Some(unit) if is_pair(unit, &message) => unit.push(message),
            _ => units.push(vec![message]),
        }
    }
    units
        .into_iter()
        .flat_map(|unit| {
            if fits(size(&unit)) {
                vec![unit]
            } else {
                unit.into_iter().flat_map(pieces).map(|piece| vec![piece]).collect()
            }
        })
        .collect()
}

fn is_pair(unit: &[Message], next: &Message) -> bool {
    matches!(unit, [only] if only.content.starts_with(ASSIGNMENT)) && next.content.starts_with(RESPONSE)
}

/// Cuts a message between characters into pieces that just fit. What a tool did stays with the first.
fn pieces(message: Message) -> Vec<Message> {
    let empty = LIST + frame(message.role);
    let mut pieces = Vec::new();
    let mut filled = empty;
    let mut start = 0;
    let mut tool = message.tool;
    let mut push = |content: &str| {
        pieces.push(Message { role: message.role, content: content.to_owned(), at: message.at, tool: tool.take() });
    };
    for (index, char) in message.content.char_indices() {
        let cost = char_cost(char);
        if !fits(filled + cost) && index > start {
            push(&message.content[start..index]);
            start = index;
            filled = empty;
        }
        filled += cost;
    }
    push(&message.content[start..]);
    pieces
}
