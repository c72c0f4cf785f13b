//! Sessions for Codex: a rollout of response items, with the event mirrors that make the turns visible.
//!
//! Codex keeps no mark of a failed tool; ours stands beside the output, where it passes over it and our reader finds it.

use serde_json::{Value, json};

use super::session;
use crate::handoff::native::{Answer, Bit, Folder, Ids, MARK, Native, Origin, Piece, Written, push_line, timestamp};
use crate::handoff::refusal::Refusal;

/// How sessions are written.
pub(in crate::hosts) const NATIVE: Native = Native {
    sessions: session::SESSIONS,
    root: Folder { setting: "CODEX_HOME", below: "", home: ".codex" },
    config: Some((Folder { setting: "CODEX_HOME", below: "", home: ".codex" }, "config.toml")),
    write,
};

/// The version whose rollouts these are like; a rollout without one is not accepted.
const VERSION: &str = "0.171.0";
/// Where models are without a setting.
const PROVIDER: &str = "openai";

fn write(origin: &Origin<'_>) -> Result<Written, Refusal> {
    let mut ids = Ids::new(origin.seed);
    let id = ids.uuid();
    let at = timestamp(origin.now_ms);
    let mut lines = Vec::new();
    let mut push = |kind: &str, payload: Value| {
        push_line(&mut lines, &json!({ "timestamp": at, "type": kind, "payload": payload }).to_string());
    };
    push(
        "session_meta",
        json!({
            "id": id,
            "session_id": id,
            "timestamp": at,
            "cwd": origin.cwd,
            "originator": "codex_exec",
            "cli_version": VERSION,
            "source": "exec",
            "thread_source": "user",
            "model_provider": provider(origin.config),
        }),
    );
    for piece in origin.pieces {
        match piece {
            Piece::User(bits) => {
                push("response_item", message("user", bits.iter().map(part).collect()));
                let (texts, images) = mirrored(bits);
                push("event_msg", json!({ "type": "user_message", "message": texts, "images": images }));
            }
            Piece::Assistant(texts) => {
                let parts = texts.iter().map(|text| json!({ "type": "output_text", "text": text })).collect();
                push("response_item", message("assistant", parts));
                push("event_msg", json!({ "type": "agent_message", "message": texts.join("\n") }));
            }
            Piece::Call(call) => {
                let mut item = json!({
                    "type": "function_call",
                    "name": call.name,
                    "arguments": call.arguments,
                    "call_id": call.id,
                });
                if let Some(namespace) = call.namespace {
                    item["namespace"] = json!(namespace);
                }
                push("response_item", item);
            }
            Piece::Result(answer) => push("response_item", result(answer)),
        }
    }
    let (day, time) = (&at[..10], at[11..19].replace(':', "-"));
    let path = format!("sessions/{}/rollout-{day}T{time}-{id}.jsonl", day.replace('-', "/"));
    let commands = vec![["codex", "resume", &id].map(str::to_owned).to_vec()];
    Ok(Written { files: vec![(path, lines)], commands, session_id: id })
}

/// A thread only goes on with the provider it began with: the one that is set.
fn provider(config: Option<&str>) -> String {
    let config = config.and_then(|text| text.parse::<toml::Table>().ok());
    let named = config.as_ref().and_then(|config| config.get("model_provider")).and_then(toml::Value::as_str);
    named.unwrap_or(PROVIDER).to_owned()
}

fn message(role: &str, content: Vec<Value>) -> Value {
    json!({ "type": "message", "role": role, "content": content })
}

fn part(bit: &Bit<'_>) -> Value {
    match bit {
        Bit::Text(text) => json!({ "type": "input_text", "text": text }),
        Bit::Picture(media, data) => {
            json!({ "type": "input_image", "image_url": format!("data:{media};base64,{data}") })
        }
    }
}

/// What the visible turn shows of a message.
fn mirrored(bits: &[Bit<'_>]) -> (String, Vec<String>) {
    let mut texts = Vec::new();
    let mut images = Vec::new();
    for bit in bits {
        match bit {
            Bit::Text(text) => texts.push(*text),
            Bit::Picture(media, data) => images.push(format!("data:{media};base64,{data}")),
        }
    }
    (texts.join("\n"), images)
}

fn result(answer: &Answer<'_>) -> Value {
    let bits = answer.bits();
    let output = match (answer.output, bits.as_slice()) {
        (Value::String(text), _) => json!(text),
        (_, []) => json!(""),
        (_, bits) => bits.iter().map(part).collect(),
    };
    let mut item = json!({ "type": "function_call_output", "call_id": answer.id, "output": output });
    let mut mark = json!({});
    if answer.is_error {
        mark["is_error"] = json!(true);
    }
    if let Some(output) = answer.odd_output() {
        mark["output"] = output.clone();
    }
    if mark != json!({}) {
        item[MARK] = mark;
    }
    item
}
