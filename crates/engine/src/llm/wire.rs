//! The three ways models are asked over HTTP, as data of one shape.

use mem0_code_core::extract::model::Question;
use serde_json::{Value, json};

/// Whose wire shapes an address speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Chat completions, as OpenAI and most servers of open models have them.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Ollama's own chat.
    Ollama,
}

/// What came back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The model's text.
    pub(super) text: String,
    /// Tokens in and out, where the server counts them.
    pub(super) tokens: Option<(u64, u64)>,
}

impl Provider {
    /// Tells from an address who is asked, and returns the base of its paths.
    ///
    /// `…/v1/messages` or Anthropic's host is Anthropic, `…/api/chat`, `…/api` or port 11434 without `/v1` is Ollama, everything
    /// else speaks chat completions below the address as it is given (`https://host/v1`).
    pub fn of(url: &str) -> (Self, String) {
        let url = url.trim().trim_end_matches('/');
        let cut = |end: &str| url.strip_suffix(end).map(str::to_owned);
        if let Some(base) = cut("/v1/messages") {
            return (Self::Anthropic, base);
        }
        if let Some(base) = cut("/api/chat").or_else(|| cut("/api")) {
            return (Self::Ollama, base);
        }
        if let Some(base) = cut("/chat/completions") {
            return (Self::OpenAi, base);
        }
        let host = url.split_once("://").map_or(url, |(_, rest)| rest);
        let (host, path) = host.split_once('/').unwrap_or((host, ""));
        if host == "api.anthropic.com" {
            let base = url.strip_suffix("/v1").unwrap_or(url);
            return (Self::Anthropic, base.to_owned());
        }
        if host.ends_with(":11434") && path.is_empty() {
            return (Self::Ollama, url.to_owned());
        }
        (Self::OpenAi, url.to_owned())
    }

    /// The path below the base.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "/chat/completions",
            Self::Anthropic => "/v1/messages",
            Self::Ollama => "/api/chat",
        }
    }

    /// The headers of every request.
    pub(super) fn headers(self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        match (self, key) {
            (Self::Anthropic, Some(key)) => headers.push(("x-api-key", key.to_owned())),
            (_, Some(key)) => headers.push(("authorization", format!("Bearer {key}"))),
            (_, None) => {}
        }
        if self == Self::Anthropic {
            headers.push(("anthropic-version", "2023-06-01".to_owned()));
        }
        headers
    }

    /// The request's body; `is_plain` leaves out every option that some model refuses.
    pub(super) fn body(self, model: &str, question: &Question, max_tokens: u64, is_plain: bool) -> Value {
        let user = json!({ "role": "user", "content": question.user });
        let system = json!({ "role": "system", "content": question.system });
        let mut body = match self {
            Self::OpenAi => json!({ "model": model, "messages": [system, user] }),
            Self::Anthropic => {
                json!({ "model": model, "system": question.system, "messages": [user], "max_tokens": max_tokens })
            }
            Self::Ollama => json!({ "model": model, "messages": [system, user], "stream": false }),
        };
        if !is_plain {
            match self {
                Self::OpenAi => {
                    body["temperature"] = json!(0);
                    body["max_tokens"] = json!(max_tokens);
                    body["response_format"] = json!({ "type": "json_object" });
                }
                Self::Anthropic => body["temperature"] = json!(0),
                Self::Ollama => {
                    body["format"] = json!("json");
                    body["options"] = json!({ "temperature": 0, "num_predict": max_tokens });
                }
            }
        }
        body
    }

    /// Reads the answer's body.
    pub(super) fn answer(self, body: &[u8]) -> Result<Answer, &'static str> {
        let body: Value = serde_json::from_slice(body).map_err(|_| "it is not JSON")?;
        let text = match self {
            Self::OpenAi => body["choices"][0]["message"]["content"].as_str().map(str::to_owned),
            Self::Anthropic => body["content"]
                .as_array()
                .map(|blocks| blocks.iter().filter_map(|block| block["text"].as_str()).collect::<String>()),
            Self::Ollama => body["message"]["content"].as_str().map(str::to_owned),
        };
        let count = |pointer: &str| body.pointer(pointer).and_then(Value::as_u64);
        let (sent, received) = match self {
            Self::OpenAi => ("/usage/prompt_tokens", "/usage/completion_tokens"),
            Self::Anthropic => ("/usage/input_tokens", "/usage/output_tokens"),
            Self::Ollama => ("/prompt_eval_count", "/eval_count"),
        };
        let text = text.ok_or("it has no text")?;
        Ok(Answer { text, tokens: count(sent).zip(count(received)) })
    }
}
