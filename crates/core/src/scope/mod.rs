//! Which person, repository, namespace and folder a session works for.
//!
//! Finding out what git and the file system say is the caller's job ([`Place`]); what follows from it is
//! decided here, exactly as the Mem0 plugins decide it, so that memories written by either are found by both.
//! Spellings of remotes are in [`remote`], the filter of a search in [`search`].

mod remote;
mod search;

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

pub use remote::{normalize_remote, slug_of_remote};
pub use search::{ScopeError, SearchScope, confined, filters, is_of};

use crate::digest;

/// A working folder, as the file system and git see it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The folder as the host named it.
    pub given: PathBuf,
    /// The same with links resolved.
    pub cwd: PathBuf,
    /// The real top of the git work tree (a linked work tree's own), or `cwd` outside git.
    pub root: PathBuf,
    /// The top of the git work tree without links resolved, or `given` outside git.
    pub given_root: PathBuf,
    /// What git knows; `None` outside git.
    pub git: Option<GitFacts>,
}

/// What git knows about a work tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GitFacts {
    /// `remote.origin.url` as configured, before any `insteadOf`.
    pub remote: Option<String>,
    /// The branch, or `detached`.
    pub branch: String,
    /// The commit, or empty in a repository without one.
    pub head: String,
    /// In a linked work tree: the real top of the main one, where there is one.
    pub main_root: Option<PathBuf>,
}

/// How the person named the project.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Naming<'a> {
    /// `MEM0_PROJECT_ID`.
    pub project_id: Option<&'a str>,
    /// The content of `project_map.json`.
    pub project_map: Option<&'a Value>,
}

/// Whom and what a session's memories belong to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scope {
    /// The real working folder.
    pub cwd: PathBuf,
    /// The real root of the project.
    pub root: PathBuf,
    /// The repository: its normalized remote, or `local:<root>` with the main work tree's root. `repo_id` in the evidence store.
    pub identity: String,
    /// The repository's slug.
    pub app_id: String,
    /// The shared namespace: the slug and a hash that keeps equal slugs apart.
    pub project_id: String,
    /// The namespace of repositories with a remote in versions up to 0.3.0: the bare slug. Still searched.
    pub older_project_id: Option<String>,
    /// The branch; `detached`; or empty outside git.
    pub branch: String,
    /// The commit, or empty.
    pub head_sha: String,
    /// `cwd` below `root` with `/`, empty at the root or outside it.
    pub directory: String,
}

/// Decides the scope of a folder.
pub fn resolve(place: &Place, naming: &Naming<'_>) -> Scope {
    let remote =
        place.git.as_ref().and_then(|git| git.remote.as_deref()).map(str::trim).filter(|remote| !remote.is_empty());
    let identity = remote.map_or_else(|| local_identity(&path_text(home(place))), normalize_remote);
    let app_id = slug(place, naming, remote);
    let project_id = project_id(&app_id, &identity);
    let git = place.git.as_ref();
    Scope {
        cwd: place.cwd.clone(),
        root: place.root.clone(),
        identity,
        project_id,
        older_project_id: remote.map(|_| app_id.clone()),
        app_id,
        branch: git.map(|git| git.branch.clone()).unwrap_or_default(),
        head_sha: git.map(|git| git.head.clone()).unwrap_or_default(),
        directory: directory(&place.cwd, &place.root),
    }
}

/// Returns the identity of what has no remote: the place on this machine.
pub fn local_identity(root: &str) -> String {
    format!("local:{root}")
}

/// Returns the shared namespace of a repository, by its slug and identity. Equal names on two servers, and equal folder
/// names at two paths, stay apart.
pub fn project_id(app_id: &str, identity: &str) -> String {
    match identity.strip_prefix("local:") {
        Some(root) => format!("local-{app_id}-{}", digest::hex(&[root], 10)),
        None => format!("{app_id}-{}", digest::hex(&[identity], 10)),
    }
}

/// Returns `a`, `a/b`, `a/b/c` for `a/b/c`; nothing for the root.
pub fn directory_chain(directory: &str) -> Vec<String> {
    let parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    (1..=parts.len()).map(|length| parts[..length].join("/")).collect()
}

/// Tells whether a value can name nobody: blank, or asterisks only. A wildcard is never an identity.
pub fn is_wildcard(value: &str) -> bool {
    value.trim().chars().all(|char| char == '*')
}

/// The folder that stands for a repository without a remote: its linked work trees come and go, and share its memory.
fn home(place: &Place) -> &Path {
    place.git.as_ref().and_then(|git| git.main_root.as_deref()).unwrap_or(&place.root)
}

/// The first name that names something: given by the person, mapped, from the remote, from the folder.
fn slug(place: &Place, naming: &Naming<'_>, remote: Option<&str>) -> String {
    let named = |value: &str| Some(value.trim().to_owned()).filter(|value| !is_wildcard(value));
    naming
        .project_id
        .and_then(named)
        .or_else(|| mapped(place, naming.project_map?, remote).and_then(named))
        .or_else(|| named(&slug_of_remote(remote?)))
        .or_else(|| named(&home(place).file_name()?.to_string_lossy()))
        .unwrap_or_else(|| "unknown".to_owned())
}

/// The first key of the project map that holds a text which is not blank.
fn mapped<'a>(place: &Place, map: &'a Value, remote: Option<&str>) -> Option<&'a str> {
    let folders = [&place.given, &place.given_root, &place.cwd, &place.root].map(|path| path_text(path));
    let remote = remote.map(|remote| format!("remote:{}", digest::hex(&[remote], 16)));
    folders.iter().chain(&remote).find_map(|key| map.get(key)?.as_str().filter(|value| !value.trim().is_empty()))
}

fn directory(cwd: &Path, root: &Path) -> String {
    let Ok(below) = cwd.strip_prefix(root) else { return String::new() };
    let parts: Vec<_> = below
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy()),
            _ => None,
        })
        .collect();
    parts.join("/")
}

/// A path as text, without the prefix by which Windows marks verbatim paths.
fn path_text(path: &Path) -> String {
    let text = path.to_string_lossy();
    text.strip_prefix(r"\\?\").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests;
