//! `mcp`: memories and handoffs for a model.

use std::path::PathBuf;

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
    let default_project = setup.env.get("CLAUDE_PROJECT_DIR").map_or_else(|| setup.env.cwd.clone(), PathBuf::from);
    let searched = setup.clone();
    let options =
        Options { version: env!("CARGO_PKG_VERSION").to_owned(), default_project: Some(default_project.clone()) };
    let (asked, asked_project) = (setup.clone(), default_project.clone());
    let answers = Answers {
        search: Box::new(move |call| answer(&searched, &default_project, call)),
        handoff: Box::new(move |call| hand_over(&asked, &asked_project, call)),
    };
    mcp::serve(options, answers)?;
    Ok(Ending::Done)
}

fn answer(setup: &Setup, default_project: &std::path::Path, call: SearchCall) -> Result<String, String> {
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

fn hand_over(setup: &Setup, default_project: &std::path::Path, call: HandoffCall) -> Result<Reply, String> {
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
        Some((resource, part)) => {
            history::part(std::path::Path::new(&resource), cwd, part, &setup.env).map(|told| Reply {
                text: told.text,
                images: told.images.into_iter().map(|image| (image.data, image.media_type)).collect(),
            })
        }
    };
    told.map_err(|refusal| output::harmless(&format!("Handoff failed: {}", refusal.message)))
}
