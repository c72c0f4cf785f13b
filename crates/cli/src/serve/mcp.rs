//! The memory tools over streamable HTTP: one message a request, answered as JSON. There are no sessions and no streams, as the
//! transport allows.

use std::path::{Path, PathBuf};

use super::handlers::{Answer, Asked, Failure};
use crate::commands;
use crate::mcp::{self, Options};
use crate::setup::Setup;

/// Answers one message.
pub(super) fn answer(setup: &Setup, asked: &Asked) -> Result<Answer, Failure> {
    let project = asked.query.iter().rev().find(|(name, _)| name == "project").map(|(_, folder)| PathBuf::from(folder));
    if project.as_deref().is_some_and(|folder| !Path::new(folder).is_absolute()) {
        return Err(Failure::bad("`project` must be an absolute path"));
    }
    let project = project.unwrap_or_else(|| setup.env.cwd.clone());
    let options = Options { version: env!("CARGO_PKG_VERSION").to_owned(), default_project: Some(project.clone()) };
    Ok(match mcp::respond(options, &asked.body, commands::mcp::answers(setup, &project)) {
        Some(body) => Answer { status: 200, body: Some(body), headers: Vec::new() },
        None => Answer { status: 202, body: None, headers: Vec::new() },
    })
}
