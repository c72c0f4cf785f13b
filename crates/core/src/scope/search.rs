//! The filter of a search: every branch names one literal person or namespace.

use serde_json::{Value, json};

use super::{Scope, directory_chain, is_wildcard};
use crate::memory::{Category, Memory};

/// How far a search reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SearchScope {
    /// What is shared in this repository, and the person's own memories of it.
    #[default]
    Repo,
    /// The same with the shared half narrowed to the working folder; at the root like `repo`.
    Dir,
    /// The person's own memories of this repository.
    Mine,
}

impl SearchScope {
    /// All of them, in the order they are documented.
    pub const ALL: [Self; 3] = [Self::Repo, Self::Dir, Self::Mine];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Repo => "repo",
            Self::Dir => "dir",
            Self::Mine => "mine",
        }
    }

    /// Returns the scope with this name, trimmed and in any case.
    pub fn parse(name: &str) -> Option<Self> {
        let name = name.trim();
        Self::ALL.into_iter().find(|scope| scope.as_str().eq_ignore_ascii_case(name))
    }
}

/// Why a request was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// The value is blank or asterisks only; a server would take it for "anyone".
    #[error("the {0} is empty or a wildcard; nothing was asked")]
    Wildcard(&'static str),
}

/// Returns the filter of a search in the Mem0 language.
///
/// # Errors
/// [`ScopeError::Wildcard`] when the person, slug, namespace or session cannot name anybody.
pub fn filters(
    scope: &Scope,
    user_id: &str,
    search: SearchScope,
    category: Option<Category>,
    run_id: Option<&str>,
) -> Result<Value, ScopeError> {
    let run_id = run_id.map(str::trim);
    for (name, value) in [
        ("user id", Some(user_id)),
        ("repository slug", Some(scope.app_id.as_str())),
        ("project namespace", Some(scope.project_id.as_str())),
        ("session id", run_id),
    ] {
        if value.is_some_and(is_wildcard) {
            return Err(ScopeError::Wildcard(name));
        }
    }
    let app = json!({"app_id": scope.app_id});
    let namespace = |id: &str| json!({"AND": [{"agent_id": id}, app]});
    let mine = json!({"AND": [{"user_id": user_id}, app]});
    let shared = match &scope.older_project_id {
        Some(older) => json!({"OR": [namespace(&scope.project_id), namespace(older)]}),
        None => namespace(&scope.project_id),
    };
    let mut filter = match search {
        SearchScope::Mine => mine,
        SearchScope::Dir if !directory_chain(&scope.directory).is_empty() => {
            let here = json!({"metadata": {"dirs": {"contains": scope.directory}}});
            json!({"OR": [{"AND": [shared, here]}, mine]})
        }
        SearchScope::Repo | SearchScope::Dir => json!({"OR": [shared, mine]}),
    };
    if let Some(category) = category {
        filter = json!({"AND": [filter, {"categories": {"contains": category.as_str()}}]});
    }
    if let Some(run_id) = run_id {
        filter = json!({"AND": [filter, {"run_id": run_id}]});
    }
    Ok(filter)
}

/// Narrows a search to this repository's namespaces. Turns carry their person and their project both, and two repositories
/// may have one slug: what is mine must not come from the other one.
#[must_use]
pub fn confined(filters: Value, scope: &Scope) -> Value {
    let ours = namespaces(scope);
    json!({"AND": [filters, {"OR": [{"agent_id": null}, {"agent_id": {"in": ours}}]}]})
}

/// Tells whether a memory is of no project or of this one; the same as [`confined`], for places whose filters we do not choose.
pub fn is_of(memory: &Memory, scope: &Scope) -> bool {
    memory.agent_id.as_deref().is_none_or(|id| id.is_empty() || namespaces(scope).contains(&id))
}

fn namespaces(scope: &Scope) -> Vec<&str> {
    [Some(scope.project_id.as_str()), scope.older_project_id.as_deref()].into_iter().flatten().collect()
}
