//! Asking for memories on purpose: the `search` command and the MCP tool.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use mem0_code_core::config::Backend;
use mem0_code_core::memory::{Category, Memory};
use mem0_code_core::redact;
use mem0_code_core::scope::{self, Scope, SearchScope};
use mem0_code_engine::api::{ApiError, Purpose, SearchRequest};
use mem0_code_engine::db::Role;
use mem0_code_engine::evidence::Evidence;

use crate::setup::Setup;
use crate::{backend, session};

/// How long a server may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A question and where to look.
#[derive(Debug, Clone, Default)]
pub(crate) struct Question {
    /// The question, not yet redacted.
    pub(crate) query: String,
    /// How many results, 1 to 20; the setting when absent.
    pub(crate) top_k: Option<usize>,
    /// Only this category.
    pub(crate) category: Option<Category>,
    /// Where to look; the setting when absent.
    pub(crate) scope: Option<SearchScope>,
    /// Only this session.
    pub(crate) run_id: Option<String>,
}

/// Why a question got no answer. Never confused with an answer that holds nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LookupError {
    /// The user paused memory.
    #[error("memory is paused; `mem0-code resume` turns it on again")]
    Paused,
    /// The Mem0 API is configured without a key.
    #[error("no API key is configured for the Mem0 API; run `mem0-code doctor`")]
    NoKey,
    /// The question is empty or the scope is not one.
    #[error("{0}")]
    Invalid(String),
    /// The place for memories failed.
    #[error("memory search failed: {0}")]
    Api(#[from] ApiError),
}

/// Looks for memories of the repository that `folder` is in.
pub(crate) fn search(setup: &Setup, folder: &Path, question: &Question) -> Result<Vec<Memory>, LookupError> {
    if question.query.trim().is_empty() {
        return Err(LookupError::Invalid("the query is empty".to_owned()));
    }
    if is_paused(setup) {
        return Err(LookupError::Paused);
    }
    if matches!(setup.backend, Backend::Platform { .. }) && !backend::is_ready(setup) {
        return Err(LookupError::NoKey);
    }
    let here = session::scope_of(setup, folder);
    let settings = &setup.settings;
    let wanted = question.scope.unwrap_or(settings.search_scope);
    let filters = scope::filters(&here, &settings.user_id, wanted, question.category, question.run_id.as_deref())
        .map_err(|error| LookupError::Invalid(error.to_string()))?;
    let top_k = question.top_k.unwrap_or(settings.top_k).clamp(1, 20);
    let request = SearchRequest {
        query: redact::text(question.query.trim()).into_owned(),
        app_id: here.app_id.clone(),
        filters: backend::confined(setup, &here, filters),
        top_k,
        purpose: Purpose::Search,
        now: Timestamp::now(),
        timeout: TIMEOUT,
    };
    let mut found = backend::open_for_search(setup)?.search(&request)?;
    found.retain(|memory| scope::is_of(memory, &here));
    found.truncate(top_k);
    Ok(found)
}

/// Returns the scope of a folder.
pub(crate) fn scope_of(setup: &Setup, folder: &Path) -> Scope {
    session::scope_of(setup, folder)
}

/// Tells whether memory is paused everywhere this run is about.
pub(crate) fn is_paused(setup: &Setup) -> bool {
    let folders = setup.data_folders();
    let mut paused =
        folders.iter().filter(|(_, folder)| folder.join(mem0_code_engine::evidence::FILE_NAME).is_file()).map(
            |(_, folder)| Evidence::open(folder, Role::Hook).and_then(|evidence| evidence.is_paused()).unwrap_or(false),
        );
    paused.next().is_some_and(|first| first && paused.all(|is_paused| is_paused))
}
