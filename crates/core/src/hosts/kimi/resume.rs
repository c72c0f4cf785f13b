//! Sessions for Kimi Code: its wire log and the state beside it.
//!
//! No model is bound in the log, so that naming one at the start gives the session the host's own prompt and tools.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::handoff::native::{Answer, Bit, Folder, Ids, MARK, Native, Origin, Piece, Written, push_line};
use crate::handoff::refusal::Refusal;

/// How sessions are written.
pub(in crate::hosts) const NATIVE: Native = Native {
    sessions: super::session::SESSIONS,
    root: Folder { setting: "KIMI_CODE_HOME", below: "", home: ".kimi-code" },
    config: Some((Folder { setting: "KIMI_CODE_HOME", below: "", home: ".kimi-code" }, "config.toml")),
    write,
};

const MAX_SLUG_CHARS: usize = 40;

/// The log so far, and the answer that is being written.
struct Wire<'a> {
    lines: Vec<u8>,
    ids: Ids,
    step: Option<Step>,
    steps: u64,
    origin: &'a Origin<'a>,
}

struct Step {
    uuid: String,
    ends_in_text: bool,
    calls: bool,
    answered: bool,
}

fn write(origin: &Origin<'_>) -> Result<Written, Refusal> {
    let mut ids = Ids::new(origin.seed);
    let session_id = format!("session_{}", ids.uuid());
    let mut wire = Wire { lines: Vec::new(), ids, step: None, steps: 0, origin };
    let metadata = json!({ "type": "metadata", "protocol_version": "1.5", "created_at": origin.now_ms });
    push_line(&mut wire.lines, &metadata.to_string());
    wire.push("config.update", &format!(r#""cwd":{}"#, json!(origin.cwd)));
    for piece in origin.pieces {
        match piece {
            Piece::User(bits) => wire.user(bits),
            Piece::Assistant(texts) => wire.said(texts),
            Piece::Call(call) => {
                wire.open(false);
                let arguments = call.object()?;
                let fields = format!(
                    r#""uuid":{},"toolCallId":{},"name":{},"args":{arguments}"#,
                    json!(wire.ids.uuid()),
                    json!(call.id),
                    json!(call.full_name()),
                );
                wire.in_step("tool.call", &fields);
            }
            Piece::Result(answer) => wire.result(answer),
        }
    }
    wire.close();
    let folder = format!("sessions/{}/{session_id}", folder(origin.cwd));
    let home = format!("{}/{folder}/agents/main", origin.root);
    let state = json!({
        "id": session_id,
        "version": 2,
        "cwd": origin.cwd,
        "archived": false,
        "agents": { "main": { "homedir": home, "type": "main" } },
        "custom": {},
        "lastTurnReason": "completed",
        "createdAt": origin.now_ms,
        "updatedAt": origin.now_ms,
        "title": origin.title,
        "isCustomTitle": true,
    });
    let files = vec![
        (format!("{folder}/agents/main/wire.jsonl"), wire.lines),
        (format!("{folder}/state.json"), state.to_string().into_bytes()),
    ];
    let mut command = vec!["kimi".to_owned(), "--session".to_owned(), session_id.clone()];
    if let Some(model) = model(origin.config) {
        command.extend(["--model".to_owned(), model]);
    }
    Ok(Written { files, commands: vec![command], session_id })
}

fn model(config: Option<&str>) -> Option<String> {
    let config = config?.parse::<toml::Table>().ok()?;
    config.get("default_model")?.as_str().map(str::to_owned)
}

/// The folder of a project: its name, and the beginning of a digest of its path.
fn folder(cwd: &str) -> String {
    let path = cwd.replace('\\', "/");
    let path = path.trim_end_matches('/');
    let digest: String = Sha256::digest(path).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("wd_{}_{digest}", slug(path.rsplit('/').next().unwrap_or_default()))
}

fn slug(name: &str) -> String {
    let mut slug = String::new();
    for char in name.to_lowercase().chars() {
        match char {
            'a'..='z' | '0'..='9' | '.' | '_' | '-' => slug.push(char),
            _ if slug.ends_with('\u{0}') => {}
            _ => slug.push('\u{0}'),
        }
    }
    // A run of other characters is one hyphen; those that were hyphens before stay as many as they were.
    let slug = slug.replace('\u{0}', "-");
    let slug: String = slug.trim_matches('-').chars().take(MAX_SLUG_CHARS).collect();
    match slug.trim_matches('-') {
        "" | "." | ".." => "workspace".to_owned(),
        slug => slug.to_owned(),
    }
}

impl Wire<'_> {
    fn push(&mut self, kind: &str, fields: &str) {
        let record = format!(r#"{{"type":"{kind}","agentId":"main",{fields},"time":{}}}"#, self.origin.now_ms);
        push_line(&mut self.lines, &record);
    }

    fn event(&mut self, kind: &str, fields: &str) {
        let event = format!(r#""event":{{"type":"{kind}",{fields}}}"#);
        self.push("context.append_loop_event", &event);
    }

    fn user(&mut self, bits: &[Bit<'_>]) {
        self.close();
        let content: Vec<Value> = bits.iter().map(part).collect();
        let message = json!({ "role": "user", "content": content, "toolCalls": [], "origin": { "kind": "user" } });
        self.push("context.append_message", &format!(r#""message":{message}"#));
    }

    fn said(&mut self, texts: &[&str]) {
        self.open(true);
        for text in texts {
            let part = json!({ "type": "text", "text": text });
            let fields = format!(r#""uuid":{},"part":{part}"#, json!(self.ids.uuid()));
            self.in_step("content.part", &fields);
        }
    }

    fn result(&mut self, answer: &Answer<'_>) {
        let bits = answer.bits();
        let output = match bits.as_slice() {
            [] => json!(""),
            [Bit::Text(text)] => json!(text),
            bits => bits.iter().map(part).collect(),
        };
        let mut result = json!({ "output": output });
        if answer.is_error {
            result["isError"] = json!(true);
        }
        if let Some(output) = answer.odd_output() {
            result[MARK] = json!({ "output": output });
        }
        self.event("tool.result", &format!(r#""toolCallId":{},"result":{result}"#, json!(answer.id)));
        if let Some(step) = &mut self.step {
            step.answered = true;
        }
    }

    /// Begins an answer, unless one goes on: after a result, and when text follows text, it is another.
    fn open(&mut self, is_text: bool) {
        if self.step.as_ref().is_some_and(|step| step.answered || (is_text && step.ends_in_text)) {
            self.close();
        }
        if self.step.is_none() {
            self.steps += 1;
            let uuid = self.ids.uuid();
            let fields = format!(r#""uuid":"{uuid}","turnId":"0","step":{}"#, self.steps);
            self.event("step.begin", &fields);
            self.step = Some(Step { uuid, ends_in_text: false, calls: false, answered: false });
        }
        if let Some(step) = &mut self.step {
            step.ends_in_text = is_text;
            step.calls |= !is_text;
        }
    }

    fn in_step(&mut self, kind: &str, fields: &str) {
        let uuid = self.step.as_ref().map(|step| step.uuid.clone()).unwrap_or_default();
        let fields = format!(r#""turnId":"0","step":{},"stepUuid":"{uuid}",{fields}"#, self.steps);
        self.event(kind, &fields);
    }

    fn close(&mut self) {
        if let Some(step) = self.step.take() {
            let reason = if step.calls { "tool_use" } else { "end_turn" };
            let fields = format!(
                r#""uuid":"{}","turnId":"0","step":{},"finishReason":"{reason}","usage":{{"inputOther":0,"output":0,"inputCacheRead":0,"inputCacheCreation":0}}"#,
                step.uuid, self.steps
            );
            self.event("step.end", &fields);
        }
    }
}

fn part(bit: &Bit<'_>) -> Value {
    match bit {
        Bit::Text(text) => json!({ "type": "text", "text": text }),
        Bit::Picture(media, data) => {
            json!({ "type": "image_url", "imageUrl": { "url": format!("data:{media};base64,{data}") } })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::folder;

    #[test]
    fn a_project_has_the_folder_the_host_looks_in() {
        for (cwd, expected) in [
            ("/srv/My  Project!", "wd_my-project_80b1f96ef1a2"),
            ("/srv/\u{65e5}\u{672c}/", "wd_workspace_3ff016737174"),
        ] {
            assert_eq!(folder(cwd), expected);
        }
    }
}
