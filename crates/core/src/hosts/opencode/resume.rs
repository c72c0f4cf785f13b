//! Sessions for OpenCode: the document that its `import` takes.
//!
//! Its tool parts hold a call and its result in one, with one text: where results came later or in another order, and
//! where a text was several, the part's metadata says so, and our reader puts it back.

use serde_json::{Value, json};

use crate::handoff::native::{Answer, Bit, Call, Folder, Ids, MARK, Native, Origin, Piece, Written};
use crate::handoff::refusal::{Kind, Refusal};

/// How sessions are written.
pub(in crate::hosts) const NATIVE: Native = Native {
    sessions: super::session::SESSIONS,
    root: Folder { setting: "XDG_DATA_HOME", below: "opencode", home: ".local/share/opencode" },
    config: Some((Folder { setting: "XDG_CONFIG_HOME", below: "opencode", home: ".config/opencode" }, "opencode.json")),
    write,
};

const VERSION: &str = "1.18.33";
/// Named when no model is set; `--model` at the start overrides it.
const MODEL: (&str, &str) = ("anthropic", "claude-sonnet-4-5");

/// An answer: texts, and calls with their results.
#[derive(Default)]
struct Turn<'a> {
    parts: Vec<Part<'a>>,
    results: usize,
    ends_in_text: bool,
}

enum Part<'a> {
    Text(&'a str),
    Tool(&'a Call<'a>, Option<(usize, &'a Answer<'a>)>),
}

struct Export<'a> {
    origin: &'a Origin<'a>,
    session: String,
    provider: String,
    model: String,
    count: u64,
    last_user: Option<String>,
    messages: Vec<String>,
}

fn write(origin: &Origin<'_>) -> Result<Written, Refusal> {
    let session = format!("ses_{}", &Ids::new(origin.seed).hex()[..26]);
    let (provider, model) = configured(origin.config);
    let mut export = Export { origin, session, provider, model, count: 0, last_user: None, messages: Vec::new() };
    let mut turn = Turn::default();
    for piece in origin.pieces {
        match piece {
            Piece::User(bits) => {
                export.answer(&mut turn)?;
                export.user(bits);
            }
            Piece::Assistant(texts) => {
                if turn.results > 0 || turn.ends_in_text {
                    export.answer(&mut turn)?;
                }
                turn.parts.extend(texts.iter().map(|text| Part::Text(text)));
                turn.ends_in_text = true;
            }
            Piece::Call(call) => {
                if turn.results > 0 {
                    export.answer(&mut turn)?;
                }
                turn.parts.push(Part::Tool(call, None));
                turn.ends_in_text = false;
            }
            Piece::Result(answer) => turn.answer(answer)?,
        }
    }
    export.answer(&mut turn)?;
    Ok(export.finish())
}

fn configured(config: Option<&str>) -> (String, String) {
    let config: Value = config.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let model = config["model"].as_str().and_then(|model| model.split_once('/')).unwrap_or(MODEL);
    (model.0.to_owned(), model.1.to_owned())
}

impl<'a> Turn<'a> {
    fn answer(&mut self, answer: &'a Answer<'a>) -> Result<(), Refusal> {
        let place = self.parts.iter_mut().find_map(|part| match part {
            Part::Tool(call, result @ None) if call.id == answer.id => Some(result),
            _ => None,
        });
        let Some(place) = place else {
            let message = format!(
                "item {}: a result that does not follow the answer of its call cannot be written for opencode",
                answer.at
            );
            return Err(Refusal::new(Kind::UnsupportedContent, message));
        };
        *place = Some((self.results, answer));
        self.results += 1;
        Ok(())
    }

    /// Whether the results come right after their calls, as the host itself has it.
    fn is_plain(&self) -> bool {
        let tools = self.parts.iter().filter(|part| matches!(part, Part::Tool(..))).count();
        tools == 0 || (tools == 1 && matches!(self.parts.last(), Some(Part::Tool(..))))
    }
}

impl Export<'_> {
    /// Ids that sort as they were made, as the host makes them: a moment, then a number.
    fn id(&mut self, prefix: &str) -> String {
        self.count += 1;
        let moment = (u128::from(self.origin.now_ms) * 4096) & 0xffff_ffff_ffff;
        format!("{prefix}_{moment:012x}{:014}", self.count)
    }

    fn push(&mut self, info: &Value, parts: &[String]) {
        self.messages.push(format!(r#"{{"info":{info},"parts":[{}]}}"#, parts.join(",")));
    }

    fn part(&mut self, message: &str, fields: &str) -> String {
        let id = self.id("prt");
        format!(r#"{{"id":"{id}","sessionID":"{}","messageID":"{message}",{fields}}}"#, self.session)
    }

    fn user(&mut self, bits: &[Bit<'_>]) {
        let id = self.id("msg");
        let parts: Vec<String> = bits
            .iter()
            .map(|bit| {
                let fields = match bit {
                    Bit::Text(text) => format!(r#""type":"text","text":{}"#, json!(text)),
                    Bit::Picture(media, data) => picture(media, data),
                };
                self.part(&id, &fields)
            })
            .collect();
        let info = json!({
            "id": id,
            "sessionID": self.session,
            "role": "user",
            "time": { "created": self.origin.now_ms },
            "agent": "build",
            "model": { "providerID": self.provider, "modelID": self.model },
        });
        self.push(&info, &parts);
        self.last_user = Some(id);
    }

    fn answer(&mut self, turn: &mut Turn<'_>) -> Result<(), Refusal> {
        let turn = std::mem::take(turn);
        if turn.parts.is_empty() {
            return Ok(());
        }
        let Some(parent) = self.last_user.clone() else {
            let message = "the session begins with an answer, which cannot be written for opencode";
            return Err(Refusal::new(Kind::UnsupportedContent, message));
        };
        let id = self.id("msg");
        let is_plain = turn.is_plain();
        let mut parts = Vec::new();
        for part in &turn.parts {
            let fields = match part {
                Part::Text(text) => format!(r#""type":"text","text":{}"#, json!(text)),
                Part::Tool(call, result) => {
                    let Some((order, answer)) = result else {
                        let message =
                            format!("item {}: a call whose result comes later cannot be written for opencode", call.at);
                        return Err(Refusal::new(Kind::UnsupportedContent, message));
                    };
                    self.tool(&id, call, answer, (!is_plain).then_some(*order))?
                }
            };
            parts.push(self.part(&id, &fields));
        }
        let finish = if turn.results > 0 { "tool-calls" } else { "stop" };
        let info = json!({
            "id": id,
            "sessionID": self.session,
            "role": "assistant",
            "parentID": parent,
            "mode": "build",
            "agent": "build",
            "path": { "cwd": self.origin.cwd, "root": self.origin.cwd },
            "cost": 0,
            "tokens": { "input": 0, "output": 0, "reasoning": 0, "cache": { "read": 0, "write": 0 } },
            "providerID": self.provider,
            "modelID": self.model,
            "time": { "created": self.origin.now_ms, "completed": self.origin.now_ms },
            "finish": finish,
        });
        self.push(&info, &parts);
        Ok(())
    }

    fn tool(
        &mut self,
        message: &str,
        call: &Call<'_>,
        answer: &Answer<'_>,
        order: Option<usize>,
    ) -> Result<String, Refusal> {
        let bits = answer.bits();
        let mut texts = Vec::new();
        let mut attachments = Vec::new();
        let mut is_in_order = true;
        for bit in &bits {
            match bit {
                Bit::Text(text) => {
                    is_in_order &= attachments.is_empty();
                    texts.push(*text);
                }
                Bit::Picture(media, data) if !answer.is_error => {
                    attachments.push(self.part(message, &picture(media, data)));
                }
                Bit::Picture(..) => {
                    let message = format!("item {}: a picture in an error cannot be written for opencode", answer.at);
                    return Err(Refusal::new(Kind::UnsupportedContent, message));
                }
            }
        }
        let mut mark = json!({});
        if texts.len() > 1 {
            mark["texts"] = texts.iter().map(|text| text.chars().count()).collect();
        }
        if let Some(output) = answer.odd_output().or_else(|| (!is_in_order).then_some(answer.output)) {
            mark["output"] = output.clone();
        }
        if let Some(order) = order {
            mark["order"] = json!(order);
        }
        let metadata = if mark == json!({}) { json!({}) } else { json!({ MARK: mark }) };
        let time = format!(r#"{{"start":{0},"end":{0}}}"#, self.origin.now_ms);
        let text = json!(texts.join("\n"));
        let ending = if answer.is_error {
            format!(r#""status":"error","error":{text}"#)
        } else {
            let attachments = if attachments.is_empty() {
                String::new()
            } else {
                format!(r#","attachments":[{}]"#, attachments.join(","))
            };
            format!(r#""status":"completed","output":{text},"title":{}{attachments}"#, json!(answer.name))
        };
        Ok(format!(
            r#""type":"tool","callID":{},"tool":{},"state":{{{ending},"input":{},"metadata":{metadata},"time":{time}}}"#,
            json!(call.id),
            json!(call.full_name()),
            call.object()?,
        ))
    }

    fn finish(self) -> Written {
        let info = json!({
            "id": self.session,
            "slug": "handoff",
            "projectID": "global",
            "directory": self.origin.cwd,
            "title": self.origin.title,
            "version": VERSION,
            "time": { "created": self.origin.now_ms, "updated": self.origin.now_ms },
        });
        let document = format!(r#"{{"info":{info},"messages":[{}]}}"#, self.messages.join(","));
        let path = format!("handoffs/{}.json", self.session);
        let file = format!("{}/{path}", self.origin.root);
        let commands = vec![
            ["opencode", "import", &file].map(str::to_owned).to_vec(),
            ["opencode", "--session", &self.session].map(str::to_owned).to_vec(),
        ];
        Written { files: vec![(path, document.into_bytes())], commands, session_id: self.session }
    }
}

fn picture(media: &str, data: &str) -> String {
    let extension = media.rsplit('/').next().unwrap_or("png");
    let url = format!("data:{media};base64,{data}");
    let (media, name) = (json!(media), json!(format!("image.{extension}")));
    format!(r#""type":"file","mime":{media},"filename":{name},"url":{}"#, json!(url))
}
