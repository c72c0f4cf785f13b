//! What git says about a folder, without starting git.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mem0_code_core::scope::{GitFacts, Place};

/// Finds out where a folder is. `Err` holds what to go by meanwhile when a repository could not be read: such an answer
/// must not be kept.
pub(crate) fn place(folder: &Path) -> Result<Place, Box<Place>> {
    let cwd = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    // A folder that was removed meanwhile was in the repository around it.
    let existing = cwd.ancestors().find(|folder| folder.is_dir()).unwrap_or(&cwd);
    match gix::discover(existing) {
        Ok(repository) => match repository.workdir() {
            Some(root) => {
                let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
                let git = Some(facts(&repository));
                Ok(Place { given: folder.to_owned(), given_root: given_root(folder, &cwd, &root), cwd, root, git })
            }
            None => Ok(plain(folder, cwd)),
        },
        // No repository, or one that could not be opened. Every folder of the latter has the same scope meanwhile.
        Err(_) => match cwd.ancestors().find(|folder| looks_like_repository(folder)).map(Path::to_owned) {
            Some(root) => {
                let given_root = given_root(folder, &cwd, &root);
                Err(Box::new(Place { given: folder.to_owned(), given_root, cwd, root, git: None }))
            }
            None => Ok(plain(folder, cwd)),
        },
    }
}

/// Tells whether a folder's `.git` is more than a name: a folder with something of a repository in it that may be
/// unreadable, or a pointer to one that exists.
fn looks_like_repository(folder: &Path) -> bool {
    let git = folder.join(".git");
    let exists =
        |path: &Path| !matches!(fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound);
    if git.is_dir() {
        return ["HEAD", "objects", "refs", "config"].iter().any(|name| exists(&git.join(name)));
    }
    match fs::read_to_string(&git) {
        Ok(text) => text.strip_prefix("gitdir:").is_some_and(|target| exists(&folder.join(target.trim()))),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

fn plain(folder: &Path, cwd: PathBuf) -> Place {
    Place { given: folder.to_owned(), given_root: folder.to_owned(), root: cwd.clone(), cwd, git: None }
}

fn facts(repository: &gix::Repository) -> GitFacts {
    GitFacts {
        // The raw value: identities of the Mem0 plugins are made from what the configuration says.
        remote: repository
            .config_snapshot()
            .string("remote.origin.url")
            .map(|url| url.to_string())
            .filter(|url| !url.trim().is_empty()),
        branch: repository
            .head_name()
            .ok()
            .flatten()
            .map_or_else(|| "detached".to_owned(), |name| name.shorten().to_string()),
        head: repository.head_id().map(|id| id.to_string()).unwrap_or_default(),
        main_root: main_root(repository),
    }
}

/// The top of the main work tree, seen from a linked one. A bare repository has none.
fn main_root(repository: &gix::Repository) -> Option<PathBuf> {
    let common = fs::canonicalize(repository.common_dir()).ok()?;
    if fs::canonicalize(repository.git_dir()).ok()? == common || common.file_name()? != ".git" {
        return None;
    }
    common.parent().map(Path::to_owned)
}

/// The root as the caller would spell it: the given folder without what lies below the root.
fn given_root(given: &Path, cwd: &Path, root: &Path) -> PathBuf {
    let Ok(below) = cwd.strip_prefix(root) else { return root.to_owned() };
    let n_levels = below.components().count();
    let mut spelled = given;
    for _ in 0..n_levels {
        match spelled.parent() {
            Some(parent) => spelled = parent,
            None => return root.to_owned(),
        }
    }
    match fs::canonicalize(spelled) {
        Ok(real) if real == root => spelled.to_owned(),
        _ => root.to_owned(),
    }
}
