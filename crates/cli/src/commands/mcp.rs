//! `mcp`: memories and handoffs for a model.

use std::path::{Path, PathBuf};

use mem0_code_core::context;
use mem0_code_core::scope::SearchScope;

use crate::commands::handoff;
use crate::handoff::{answer as history, listing, project, store};
use crate::lookup::{self, Question};
use crate::mcp::{self, Answers, HandoffCall, Options, Reply, SearchCall};
use crate::output;
use crate::report::{CommandResult, Ending};
use crate::setup::Setup;

/// Serves until standard input ends.
pub(crate) fn run(setup: &Setup) -> CommandResult {
    let default_project = setup.env.get("CLAUDE_PROJECT_DIR").map_or_else(|| working_folder(setup), PathBuf::from);
    let options =
        Options { version: env!("CARGO_PKG_VERSION").to_owned(), default_project: Some(default_project.clone()) };
    mcp::serve(options, answers(setup, &default_project))?;
    Ok(Ending::Done)
}

/// What answers calls, for somebody who works in `project` unless a call says otherwise.
pub(crate) fn answers(setup: &Setup, project: &Path) -> Answers {
    let (searched, searched_project) = (setup.clone(), project.to_owned());
    let (asked, asked_project) = (setup.clone(), project.to_owned());
    Answers {
        search: Box::new(move |call| answer(&searched, &searched_project, call)),
        handoff: Box::new(move |call| hand_over(&asked, &asked_project, call)),
    }
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

fn answer(setup: &Setup, default_project: &Path, call: SearchCall) -> Result<String, String> {
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

fn hand_over(setup: &Setup, default_project: &Path, call: HandoffCall) -> Result<Reply, String> {
    let cwd = call.project.as_deref().unwrap_or(default_project);
    let told = match call.resume {
        None => project::of(cwd, &setup.env)
            .and_then(|project| listing::list(setup, &store::folder(setup, None), Some(&project)))
            .map(|listing| {
                let mut text = handoff::list_text(&listing);
                for bad in &listing.unreadable {
                    text.push_str(&format!("\nnot readable: {} ({})", bad.path, bad.kind));
                }
                Reply::from(output::harmless(&text))
            }),
        Some((resource, part)) => history::part(Path::new(&resource), cwd, part, &setup.env).map(|told| Reply {
            text: told.text,
            images: told.images.into_iter().map(|image| (image.data, image.media_type)).collect(),
        }),
    };
    told.map_err(|refusal| output::harmless(&format!("Handoff failed: {}", refusal.message)))
}
