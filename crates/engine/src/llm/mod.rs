//! Durable memories by a language model of the user's choice, over HTTP. Optional and never needed: whatever goes wrong,
//! the rules extract as they do without it, and the [`ledger`] says so.
//!
//! Only the address that was set is ever called; no agent's command line is, since that would fire our own hooks.
//! Every request is paid for in the ledger before it is sent, so that many workers together stay below the day's limit.

pub mod ledger;
mod wire;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use mem0_code_core::config::Secret;
use mem0_code_core::extract::Candidate;
use mem0_code_core::extract::model::{self, Question};
use mem0_code_core::memory::Message;

use crate::platform::http::{Http, HttpError, Method};
use ledger::{Ledger, Refused};
pub use wire::Provider;

/// Longest wait for an answer; shorter than the lease of the packet that waits for it.
const TIMEOUT: Duration = Duration::from_secs(45);
/// After a failure the model is left alone this long, in seconds, so that a worker with many packets is not held up by each.
const COOL_DOWN_S: i64 = 60;
/// Most tokens of an answer.
const MAX_ANSWER_TOKENS: u64 = 1_500;

/// Which model, and how much of it.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmConfig {
    /// Address of an OpenAI-compatible endpoint, of Anthropic or of Ollama; see [`Provider::of`].
    pub url: String,
    /// The model's name there.
    pub model: String,
    /// The key, where one is needed.
    pub api_key: Option<Secret>,
    /// Most tokens a day, in and out together (UTC).
    pub daily_tokens: u64,
}

/// Looks for durable memories in messages, in place of the rules.
pub trait Extractor: Send {
    /// Returns what it found; `None` leaves the messages to the rules.
    fn extract(&mut self, messages: &[Message]) -> Option<Vec<Candidate>>;
}

/// Why a model gave no memories.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Ledger(#[from] Refused),
    #[error("the model could not be reached: {0}")]
    Unreachable(HttpError),
    #[error("the model's server answered {status}: {detail}")]
    Status { status: u16, detail: String },
    #[error("the model's server gave an unexpected answer: {0}")]
    Wire(&'static str),
    #[error("{0}")]
    Answer(#[from] model::NotAnAnswer),
}

/// An extractor that asks a model.
pub struct ModelExtractor {
    http: Http,
    provider: Provider,
    config: LlmConfig,
    ledger: Ledger,
    /// Told why the rules were used instead.
    on_fallback: Box<dyn FnMut(&str) + Send>,
}

impl fmt::Debug for ModelExtractor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelExtractor").field("provider", &self.provider).finish_non_exhaustive()
    }
}

impl ModelExtractor {
    /// Prepares to ask. The ledger lies in `folder`. Nothing is connected.
    ///
    /// # Errors
    /// A sentence, when the address or the key cannot be used.
    pub fn new(
        config: LlmConfig,
        folder: &Path,
        version: &str,
        on_fallback: Box<dyn FnMut(&str) + Send>,
    ) -> Result<Self, String> {
        let (provider, base) = Provider::of(&config.url);
        let headers = provider.headers(config.api_key.as_ref().map(Secret::expose));
        let http = Http::new(&base, &format!("mem0-code/{version}"), headers).map_err(|error| error.to_string())?;
        Ok(Self { http, provider, config, ledger: Ledger::in_folder(folder), on_fallback })
    }

    fn ask(&mut self, messages: &[Message]) -> Result<Option<Vec<Candidate>>, Failure> {
        let Some(question) = Question::about(messages) else { return Ok(None) };
        let now = Timestamp::now();
        let estimate = tokens_at_most(&question.system) + tokens_at_most(&question.user) + MAX_ANSWER_TOKENS;
        let paid = self.ledger.pay(estimate, self.config.daily_tokens, COOL_DOWN_S, now)?;
        let answered = self.exchange(&question);
        let tokens = match &answered {
            Ok(answer) => answer.tokens.map_or(paid.tokens, |(sent, received)| sent.saturating_add(received)),
            // Nothing was read; after a timeout it may have been.
            Err(Failure::Unreachable(HttpError::Connection(_)) | Failure::Status { .. }) => 0,
            Err(_) => paid.tokens,
        };
        self.ledger.settle(&paid, tokens, answered.is_ok(), now)?;
        Ok(Some(model::candidates(&answered?.text, &question, messages)?))
    }

    fn exchange(&self, question: &Question) -> Result<wire::Answer, Failure> {
        let send = |is_plain: bool| {
            let body = self.provider.body(&self.config.model, question, MAX_ANSWER_TOKENS, is_plain);
            self.http.send(Method::Post, self.provider.path(), Some(&body), TIMEOUT).map_err(Failure::Unreachable)
        };
        let mut reply = send(false)?;
        // Models differ in the options they take; without them every one answers.
        if matches!(reply.status, 400 | 422) {
            reply = send(true)?;
        }
        if reply.status != 200 {
            return Err(Failure::Status { status: reply.status, detail: reply.detail() });
        }
        self.provider.answer(&reply.body).map_err(Failure::Wire)
    }
}

impl Extractor for ModelExtractor {
    fn extract(&mut self, messages: &[Message]) -> Option<Vec<Candidate>> {
        let found = self.ask(messages);
        match found {
            Ok(found) => found,
            Err(failure) => {
                let reason = failure.to_string();
                // The day's limit and a pause are no news about the server.
                let is_trouble = !matches!(failure, Failure::Ledger(_));
                self.ledger.note_fallback(is_trouble.then_some(&reason), Timestamp::now());
                (self.on_fallback)(&reason);
                None
            }
        }
    }
}

/// More tokens than a text comes to: English has some four characters a token, other scripts up to two tokens a character.
fn tokens_at_most(text: &str) -> u64 {
    let (mut narrow, mut wide) = (0, 0);
    for c in text.chars() {
        *(if c.is_ascii() { &mut narrow } else { &mut wide }) += 1;
    }
    narrow / 3 + wide * 2
}

#[cfg(test)]
mod tests;
