//! A session as one document that any agent can be given: what it holds, what is refused, how a host's own record
//! of a session is read.
//!
//! Nothing here touches a file. A [`reader::SessionReader`] is shown the records of a transcript twice: once to find out
//! which of them the model could still see, and once, by position, to give their [`document::Item`]s in order. So a
//! transcript of any size is read in memory bounded by its outline.

pub mod content;
pub mod document;
pub mod json;
pub mod reader;
pub mod refusal;
