//! Sessions for Pi: a header and a chain of entries.

use serde_json::{Value, json};

use crate::handoff::native::{Answer, Bit, Folder, Ids, MARK, Native, Origin, Piece, Written, push_line, timestamp};
use crate::handoff::refusal::Refusal;

/// How sessions are written.
pub(in crate::hosts) const NATIVE: Native = Native {
    sessions: super::session::SESSIONS,
    root: Folder { setting: "PI_CODING_AGENT_DIR", below: "", home: ".pi/agent" },
    config: Some((Folder { setting: "PI_CODING_AGENT_DIR", below: "", home: ".pi/agent" }, "settings.json")),
    write,
};

/// The entries so far.
struct Entries<'a> {
    lines: Vec<u8>,
    ids: Ids,
    parent: Option<String>,
    origin: &'a Origin<'a>,
    provider: String,
    model: String,
}

fn write(origin: &Origin<'_>) -> Result<Written, Refusal> {
    let mut ids = Ids::new(origin.seed);
    let id = ids.uuid();
    let at = timestamp(origin.now_ms);
    let config: Value = origin.config.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let setting = |name: &str| config[name].as_str().unwrap_or("handoff").to_owned();
    let (provider, model) = (setting("defaultProvider"), setting("defaultModel"));
    let mut entries = Entries { lines: Vec::new(), ids, parent: None, origin, provider, model };
    let header = json!({ "type": "session", "version": 3, "id": id, "timestamp": at, "cwd": origin.cwd });
    push_line(&mut entries.lines, &header.to_string());
    // One answer: blocks of text and calls, until the user or a tool speaks. Text after text is an answer of its own.
    let mut answer: Vec<String> = Vec::new();
    let (mut ends_in_text, mut calls) = (false, false);
    for piece in origin.pieces {
        let breaks = match piece {
            Piece::User(_) | Piece::Result(_) => true,
            Piece::Assistant(_) => ends_in_text,
            Piece::Call(_) => false,
        };
        if breaks {
            entries.answer(&mut answer, calls);
            (ends_in_text, calls) = (false, false);
        }
        match piece {
            Piece::User(bits) => entries.user(bits),
            Piece::Result(result) => entries.result(result),
            Piece::Assistant(texts) => {
                answer.extend(texts.iter().map(|text| json!({ "type": "text", "text": text }).to_string()));
                ends_in_text = true;
            }
            Piece::Call(call) => {
                answer.push(format!(
                    r#"{{"type":"toolCall","id":{},"name":{},"arguments":{}}}"#,
                    json!(call.id),
                    json!(call.full_name()),
                    call.object()?
                ));
                (ends_in_text, calls) = (false, true);
            }
        }
    }
    entries.answer(&mut answer, calls);
    entries.push("session_info", &format!(r#""name":{}"#, json!(origin.title)));
    let folder: String = origin
        .cwd
        .trim_start_matches(['/', '\\'])
        .chars()
        .map(|char| if matches!(char, '/' | '\\' | ':') { '-' } else { char })
        .collect();
    let path = format!("sessions/--{folder}--/{}_{id}.jsonl", at.replace([':', '.'], "-"));
    let commands = vec![["pi", "--session", &id].map(str::to_owned).to_vec()];
    Ok(Written { files: vec![(path, entries.lines)], commands, session_id: id })
}

impl Entries<'_> {
    fn push(&mut self, kind: &str, fields: &str) {
        let id = self.ids.hex()[..8].to_owned();
        let at = timestamp(self.origin.now_ms);
        let record =
            format!(r#"{{"type":"{kind}","id":"{id}","parentId":{},"timestamp":"{at}",{fields}}}"#, json!(self.parent));
        push_line(&mut self.lines, &record);
        self.parent = Some(id);
    }

    fn user(&mut self, bits: &[Bit<'_>]) {
        let content: Vec<Value> = bits.iter().map(block).collect();
        let message = json!({ "role": "user", "content": content, "timestamp": self.origin.now_ms });
        self.push("message", &format!(r#""message":{message}"#));
    }

    fn result(&mut self, answer: &Answer<'_>) {
        let content: Vec<Value> = answer.bits().iter().map(block).collect();
        let mut message = json!({
            "role": "toolResult",
            "toolCallId": answer.id,
            "toolName": answer.name,
            "content": content,
            "isError": answer.is_error,
            "timestamp": self.origin.now_ms,
        });
        if let Some(output) = answer.odd_output() {
            message["details"] = json!({ MARK: { "output": output } });
        }
        self.push("message", &format!(r#""message":{message}"#));
    }

    fn answer(&mut self, blocks: &mut Vec<String>, calls: bool) {
        if blocks.is_empty() {
            return;
        }
        // What a session shows is read from these; the host crashes where they are missing.
        let fields = format!(
            r#""message":{{"role":"assistant","content":[{}],"api":"openai-completions","provider":{},"model":{},"usage":{{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}}},"stopReason":"{}","timestamp":{}}}"#,
            blocks.join(","),
            json!(self.provider),
            json!(self.model),
            if calls { "toolUse" } else { "stop" },
            self.origin.now_ms,
        );
        blocks.clear();
        self.push("message", &fields);
    }
}

fn block(bit: &Bit<'_>) -> Value {
    match bit {
        Bit::Text(text) => json!({ "type": "text", "text": text }),
        Bit::Picture(media, data) => json!({ "type": "image", "data": data, "mimeType": media }),
    }
}
