//! A session as one document that any agent can be given: what it holds, what is refused, how a host's own record
//! of a session is read.
//!
//! Nothing here touches a file. A [`reader::SessionReader`] is shown the records of a transcript twice: once to find out
//! which of them the model could still see, and once, by position, to give their [`document::Item`]s in order. So a
//! transcript of any size is read in memory bounded by its outline. What comes out passes the [`validate::Validator`] item
//! by item, and so does a document that another program wrote ([`bundle`]).

pub mod bundle;
pub mod command;
pub mod content;
pub mod count;
pub mod document;
pub mod export;
pub mod json;
pub mod native;
pub mod reader;
pub mod redact;
pub mod refusal;
pub mod resume;
pub mod validate;
pub mod zstd;
