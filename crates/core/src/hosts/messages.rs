//! Messages out of a host's memory, as a shim sends them: `{"source":{…},"messages":[…]}`. Who reads the document takes its
//! `source` and `exclude_call_id`; here are the messages.

use super::blocks::Speech;
use super::view::Object;
use crate::handoff::reader::{Options, Outline, Record, SessionReader, Sink, Span, Surroundings, Tally};
use crate::handoff::refusal::{Kind, Refusal};
use crate::hosts::sessions::{Form, Sessions};

/// How sessions are read.
pub(crate) const SESSIONS: Sessions =
    Sessions { form: Form::Document, cwd_replaces: false, ..Sessions::lines("messages", "messages session", reader) };

fn reader(options: &Options) -> Box<dyn SessionReader> {
    Box::new(Messages { exclude: options.exclude_call_id.clone(), document: None, count: 0 })
}

struct Messages {
    exclude: Option<String>,
    document: Option<Span>,
    count: u64,
}

impl SessionReader for Messages {
    fn scan(&mut self, record: Record<'_>) -> Result<(), Refusal> {
        let document = Object::read(record.text, record.at.line)?;
        let messages = document.list("messages").ok_or_else(|| {
            Refusal::new(Kind::InvalidBundle, "the messages input has no list of the name `messages`")
        })?;
        self.count = messages.len() as u64;
        self.document = Some(record.at);
        Ok(())
    }

    fn outline(&mut self, _: &mut dyn Surroundings) -> Result<Outline, Refusal> {
        Ok(Outline { source_records: Some(self.count), ..Outline::default() })
    }

    fn items(&mut self, around: &mut dyn Surroundings, sink: &mut Sink<'_>) -> Result<Tally, Refusal> {
        let mut speech = Speech::new(sink, self.exclude.clone());
        if let Some(span) = self.document {
            let text = around.record(span)?;
            let document = Object::read(&text, span.line)?;
            for (index, raw) in document.list("messages").unwrap_or_default().into_iter().enumerate() {
                let at = format!("message {}", index + 1);
                let message = Object::of(raw)
                    .ok_or_else(|| Refusal::new(Kind::UnsupportedContent, format!("{at} is no object")))?;
                speech.message(&message, &at, around)?;
            }
        }
        Ok(speech.tally())
    }
}
