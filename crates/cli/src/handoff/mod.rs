//! Sessions saved as documents and given to other agents: files, folders and what is printed. What a document is and what is
//! refused is decided in `mem0_code_core::handoff`.

pub(crate) mod answer;
pub(crate) mod draft;
mod index;
pub(crate) mod into;
pub(crate) mod listing;
pub(crate) mod project;
mod spool;
pub(crate) mod store;
mod transcript;

use std::path::{Path, PathBuf};

use mem0_code_core::handoff::refusal::Refusal;
use serde_json::{Value, json};

use self::draft::{Draft, Input, Wanted};
use self::listing::{Found, Row};
use crate::setup::Setup;

/// A resource that was published.
#[derive(Debug)]
pub(crate) struct Saved {
    pub(crate) resource: PathBuf,
    pub(crate) project: PathBuf,
    pub(crate) draft: Draft,
}

impl Saved {
    /// For programs.
    pub(crate) fn json(&self) -> Value {
        let mut value = json!({
            "resource": self.resource.to_string_lossy(),
            "title": self.draft.source.title,
            "source_host": self.draft.source.host,
            "session_id": self.draft.source.session_id,
            "project_cwd": self.project.to_string_lossy(),
        });
        if self.draft.redacted > 0 {
            value["redacted"] = self.draft.redacted.into();
        }
        value
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "{}\nAny agent with mem0-code can resume it: ask there to resume this path. It holds the session as it was; outputs of \
             tools in it may contain secrets.",
            self.resource.display()
        );
        if self.draft.redacted > 0 {
            text.push_str(&format!("\nSecrets taken out: {}.", self.draft.redacted));
        }
        text
    }
}

/// Reads, validates, finds the project, publishes.
///
/// # Errors
/// A refusal; nothing is published then.
pub(crate) fn save(setup: &Setup, input: Input, wanted: &Wanted, store: &Path) -> Result<Saved, Refusal> {
    let mut draft = draft::read(input, wanted, &setup.env)?;
    let project = match (&wanted.cwd, &draft.source.project_cwd) {
        (Some(cwd), _) => project::of(cwd, &setup.env)?,
        (None, Some(project)) => project::of(Path::new(project), &setup.env)?,
        (None, None) => project::of(Path::new(&draft.source.cwd), &setup.env)?,
    };
    draft.source.project_cwd = Some(project.to_string_lossy().into_owned());
    let resource = store::publish(store, &mut draft)?;
    let resource = std::fs::canonicalize(&resource).unwrap_or(resource);
    index::add(setup, &resource, &Found::Row(Row::of(&draft, &resource)));
    Ok(Saved { resource, project, draft })
}
