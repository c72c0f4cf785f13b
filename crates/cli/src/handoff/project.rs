//! The project of a folder: the repository around it, else the folder itself.

use std::fs;
use std::path::{Component, Path, PathBuf};

use mem0_code_core::handoff::refusal::{Kind, Refusal};

use crate::env::Env;

/// Returns the root of the repository around an existing folder, or the folder.
///
/// # Errors
/// `cwd_not_found`.
pub(crate) fn of(folder: &Path, env: &Env) -> Result<PathBuf, Refusal> {
    let folder = expanded(&folder.to_string_lossy(), env);
    let not_found = || {
        Refusal::new(
            Kind::CwdNotFound,
            format!("the folder {} does not exist; name the project with --cwd", folder.display()),
        )
    };
    if folder.as_os_str().to_string_lossy().contains('\0') {
        return Err(not_found());
    }
    let real = fs::canonicalize(&folder).ok().filter(|real| real.is_dir()).ok_or_else(not_found)?;
    let root = real.ancestors().find(|folder| is_repository(folder)).map(Path::to_owned);
    Ok(root.unwrap_or(real))
}

fn is_repository(folder: &Path) -> bool {
    let git = folder.join(".git");
    match fs::metadata(&git) {
        Ok(metadata) if metadata.is_dir() => git.join("HEAD").exists(),
        Ok(metadata) if metadata.is_file() && metadata.len() < 64 << 10 => {
            fs::read_to_string(&git).is_ok_and(|text| text.starts_with("gitdir:"))
        }
        _ => false,
    }
}

/// A path with `~` and relative forms made absolute, without `.` and `..`.
pub(crate) fn expanded(path: &str, env: &Env) -> PathBuf {
    let path = match (path.strip_prefix('~'), &env.home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(path),
    };
    env.cwd.join(path)
}

/// Where a session started: absolute, without `.` and `..`, and as the file system calls it if it exists.
pub(crate) fn normalized(path: &str, env: &Env) -> String {
    let path = expanded(path, env);
    if let Ok(real) = fs::canonicalize(&path)
        && real.is_dir()
    {
        return real.to_string_lossy().into_owned();
    }
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal.to_string_lossy().into_owned()
}
