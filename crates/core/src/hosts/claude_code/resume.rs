//! Sessions for Claude Code: a chain of records, one a message or a piece of one, as the host itself keeps them.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::handoff::native::{Answer, Bit, Folder, Ids, Native, Origin, Piece, Written, push_line, timestamp};
use crate::handoff::refusal::{Kind, Refusal};

/// How sessions are written.
pub(in crate::hosts) const NATIVE: Native = Native {
    sessions: super::session::SESSIONS,
    root: Folder { setting: "CLAUDE_CONFIG_DIR", below: "", home: ".claude" },
    config: None,
    write,
};

/// The version whose records these are like.
const VERSION: &str = "2.1.332";
const MAX_BUCKET_CHARS: usize = 200;

fn write(origin: &Origin<'_>) -> Result<Written, Refusal> {
    let mut ids = Ids::new(origin.seed);
    let session_id = ids.uuid();
    let at = timestamp(origin.now_ms);
    let mut lines = Vec::new();
    let mut parent: Option<String> = None;
    // One message of the model may lie in several records, which share its id.
    let mut message: Option<(String, bool)> = None;
    for piece in origin.pieces {
        let uuid = ids.uuid();
        let (kind, said) = match piece {
            Piece::User(bits) => ("user", user(bits.iter().map(block).collect())),
            Piece::Result(answer) => ("user", user(vec![result(answer)])),
            Piece::Assistant(texts) => {
                if message.as_ref().is_none_or(|(_, ends_in_text)| *ends_in_text) {
                    message = Some((format!("msg_{}", ids.hex()), true));
                }
                let blocks = texts.iter().map(|text| json!({ "type": "text", "text": text }).to_string());
                ("assistant", assistant(&mut message, blocks.collect(), true)?)
            }
            Piece::Call(call) => {
                message.get_or_insert_with(|| (format!("msg_{}", ids.hex()), false));
                let block = format!(
                    r#"{{"type":"tool_use","id":{},"name":{},"input":{}}}"#,
                    json!(call.id),
                    json!(call.full_name()),
                    call.object()?
                );
                ("assistant", assistant(&mut message, vec![block], false)?)
            }
        };
        if kind == "user" {
            message = None;
        }
        let record = format!(
            r#"{{"parentUuid":{},"isSidechain":false,"userType":"external","cwd":{},"sessionId":{},"version":{},"type":"{kind}","message":{said},"uuid":{},"timestamp":{}}}"#,
            json!(parent),
            json!(origin.cwd),
            json!(session_id),
            json!(VERSION),
            json!(uuid),
            json!(at),
        );
        push_line(&mut lines, &record);
        parent = Some(uuid);
    }
    let title = json!({ "type": "custom-title", "customTitle": origin.title, "sessionId": session_id });
    push_line(&mut lines, &title.to_string());
    let path = format!("projects/{}/{session_id}.jsonl", bucket(origin.cwd));
    let command = ["claude", "--resume", &session_id].map(str::to_owned).to_vec();
    Ok(Written { files: vec![(path, lines)], commands: vec![command], session_id })
}

/// The folder of a project: the host replaces what is not an ASCII letter or digit, by UTF-16 units, and ends a long name with
/// a hash of the whole.
fn bucket(cwd: &str) -> String {
    let plain = |unit: u16| u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric).map_or('-', char::from);
    let name: String = cwd.encode_utf16().map(plain).collect();
    if name.len() <= MAX_BUCKET_CHARS {
        return name;
    }
    let hash =
        cwd.encode_utf16().fold(0_i32, |hash, unit| (hash << 5).wrapping_sub(hash).wrapping_add(i32::from(unit)));
    format!("{}-{}", &name[..MAX_BUCKET_CHARS], base36(hash.unsigned_abs()))
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

fn user(blocks: Vec<Value>) -> String {
    json!({ "role": "user", "content": blocks }).to_string()
}

fn block(bit: &Bit<'_>) -> Value {
    match bit {
        Bit::Text(text) => json!({ "type": "text", "text": text }),
        Bit::Picture(media, data) => {
            json!({ "type": "image", "source": { "type": "base64", "media_type": media, "data": data } })
        }
    }
}

fn result(answer: &Answer<'_>) -> Value {
    let mut block = json!({ "type": "tool_result", "tool_use_id": answer.id, "content": answer.output });
    if answer.output.is_null() {
        block["content"] = json!("");
    }
    if answer.is_error {
        block["is_error"] = json!(true);
    }
    block
}

fn assistant(message: &mut Option<(String, bool)>, blocks: Vec<String>, is_text: bool) -> Result<String, Refusal> {
    let Some((id, ends_in_text)) = message else { return Ok(String::new()) };
    *ends_in_text = is_text;
    let content = RawValue::from_string(format!("[{}]", blocks.join(",")))
        .map_err(|_| Refusal::new(Kind::InvalidToolCall, "the arguments of a call are not JSON"))?;
    Ok(format!(
        r#"{{"id":{},"type":"message","role":"assistant","content":{content},"stop_reason":"{}","stop_sequence":null,"usage":{{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}}}"#,
        json!(id),
        if is_text { "end_turn" } else { "tool_use" },
    ))
}

#[cfg(test)]
mod tests {
    use super::bucket;

    #[test]
    fn a_project_has_the_folder_the_host_looks_in() {
        for (cwd, folder) in [("/srv/demo/a_b.c", "-srv-demo-a-b-c"), ("/tmp/é🚀", "-tmp----")] {
            assert_eq!(bucket(cwd), folder);
        }
        let long = bucket(&format!("/srv/{}", "é/deep folder/".repeat(20)));
        assert!(long.ends_with("eep-folder-cd269v") && long.len() == 207, "{long}");
    }
}
