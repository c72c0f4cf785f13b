//! `mcp`: the memory tools for a model.

use std::path::PathBuf;

use mem0_code_core::context;
use mem0_code_core::scope::SearchScope;

use crate::lookup::{self, Question};
use crate::mcp::{self, Options, SearchCall};
use crate::report::{CommandResult, Ending};
use crate::setup::Setup;

/// Serves until standard input ends.
pub(crate) fn run(setup: &Setup) -> CommandResult {
    let default_project = setup.env.get("CLAUDE_PROJECT_DIR").map_or_else(|| setup.env.cwd.clone(), PathBuf::from);
    let searched = setup.clone();
    let options =
        Options { version: env!("CARGO_PKG_VERSION").to_owned(), default_project: Some(default_project.clone()) };
    mcp::serve(options, Box::new(move |call| answer(&searched, &default_project, call)))?;
    Ok(Ending::Done)
}

/// Answers one call, in words for a model.
pub(crate) fn answer(setup: &Setup, default_project: &std::path::Path, call: SearchCall) -> Result<String, String> {
    let question = Question {
        query: call.query,
        top_k: call.top_k,
        category: call.category,
        scope: call.scope.as_deref().and_then(SearchScope::parse),
        run_id: call.run_id,
    };
    let project = call.project.as_deref().unwrap_or(default_project);
    match lookup::search(setup, project, &question) {
        Ok(found) if found.is_empty() => Ok("No matching memories found.".to_owned()),
        Ok(found) => Ok(context::list(&found, setup.settings.max_context_chars).text),
        Err(error) => Err(mem0_code_core::redact::bounded(&error.to_string(), 500)),
    }
}
