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
    let default_project = setup.env.get("CLAUDE_PROJECT_DIR").map_or_else(|| working_folder(setup), PathBuf::from);
    let searched = setup.clone();
    let options =
        Options { version: env!("CARGO_PKG_VERSION").to_owned(), default_project: Some(default_project.clone()) };
    mcp::serve(options, Box::new(move |call| answer(&searched, &default_project, call)))?;
    Ok(Ending::Done)
}

/// Where the person works: here, unless a host started us in the folder of its plugin; then where the host itself runs.
fn working_folder(setup: &Setup) -> PathBuf {
    let here = setup.env.cwd.clone();
    if !crate::bundle::is_package(&here) {
        return here;
    }
    // Only Linux tells another process's folder as a link.
    let host = rustix::process::getppid().map(|host| format!("/proc/{}/cwd", host.as_raw_nonzero()));
    host.and_then(|link| std::fs::read_link(link).ok()).filter(|folder| folder.is_dir()).unwrap_or(here)
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
