//! Changes to files that must be whole or not happen: atomic writes, copies of programs, folders that were made on the way.
//!
//! It knows nothing of what the files mean; [`crate::install`] and [`crate::bundle`] do.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How many symbolic links a path may go through before it is taken for a loop.
const MAX_LINKS: usize = 32;

/// What a written file may be done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As the file has it; a new file is readable by the user alone (0600).
    Private,
    /// As the file has it; a new file is readable by all (0644).
    Shared,
    /// Runnable by all (0755), whatever it was.
    Program,
}

/// Replaces the content of `path` in one step: a reader sees the old bytes or the new ones, also after a crash.
///
/// The bytes go to a temporary file in the same folder, are synced, get the mode of the file they replace and are renamed over it.
/// A symbolic link is followed and stays a link. Folders on the way must exist.
///
/// # Errors
/// When the folder cannot be written, or `path` is a folder, or its links go round in a circle.
pub(crate) fn write_atomic(path: &Path, bytes: &[u8], mode: Mode) -> io::Result<()> {
    let target = resolve_link(path)?;
    let folder = parent(&target);
    let old = match std::fs::metadata(&target) {
        Ok(metadata) if metadata.is_dir() => {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, format!("{} is a folder", target.display())));
        }
        Ok(metadata) => Some(metadata.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if old.as_ref().is_some_and(std::fs::Permissions::readonly) && mode != Mode::Program {
        // A rename would replace it all the same; somebody made it read-only on purpose.
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{} is read-only", target.display())));
    }
    let mut temporary = tempfile::Builder::new().prefix(".mem0-code-").suffix(".tmp").tempfile_in(&folder)?;
    temporary.write_all(bytes)?;
    set_mode(temporary.as_file(), old, mode)?;
    temporary.as_file().sync_all()?;
    temporary.persist(&target).map_err(|error| error.error)?;
    sync_folder(&folder);
    Ok(())
}

#[cfg(unix)]
fn set_mode(file: &std::fs::File, old: Option<std::fs::Permissions>, mode: Mode) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = match (old, mode) {
        (_, Mode::Program) => std::fs::Permissions::from_mode(0o755),
        (Some(old), _) => old,
        (None, Mode::Shared) => std::fs::Permissions::from_mode(0o644),
        (None, Mode::Private) => std::fs::Permissions::from_mode(0o600),
    };
    file.set_permissions(permissions)
}

#[cfg(not(unix))]
fn set_mode(file: &std::fs::File, old: Option<std::fs::Permissions>, _mode: Mode) -> io::Result<()> {
    match old {
        Some(old) => file.set_permissions(old),
        None => Ok(()),
    }
}

/// Makes a rename durable; a file system that cannot sync a folder is not an error.
fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    if let Ok(handle) = std::fs::File::open(folder) {
        let _ = handle.sync_all();
    }
    #[cfg(not(unix))]
    let _ = folder;
}

/// The file that `path` stands for after following symbolic links, which may point to a file that does not exist yet.
///
/// # Errors
/// When there are more than 32 links on the way.
pub(crate) fn resolve_link(path: &Path) -> io::Result<PathBuf> {
    let mut current = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match std::fs::read_link(&current) {
            Ok(next) if next.is_absolute() => current = next,
            Ok(next) => current = parent(&current).join(next),
            Err(_) => return Ok(current),
        }
    }
    Err(io::Error::other(format!("{} goes through more than {MAX_LINKS} symbolic links", path.display())))
}

/// The folder a path lies in; `.` for a bare name.
fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// Whether somebody made the file behind `path` read-only; [`write_atomic`] refuses those.
pub(crate) fn is_read_only(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().readonly())
}

/// The content of a file, `None` when there is none.
///
/// # Errors
/// Every failure but "not found".
pub(crate) fn read_optional(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The folders that making `folder` would create, outermost first.
pub(crate) fn missing_folders(folder: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> = folder
        .ancestors()
        .take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.exists())
        .map(Path::to_path_buf)
        .collect();
    missing.reverse();
    missing
}

/// Makes a folder and those above it; on Unix with the given mode for the ones it makes.
///
/// # Errors
/// When a part of the path is a file or may not be written.
pub(crate) fn create_folders(folder: &Path, private: bool) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(if private { 0o700 } else { 0o755 });
    }
    #[cfg(not(unix))]
    let _ = private;
    builder.create(folder)
}

/// Removes a file if it is there.
///
/// # Errors
/// Every failure but "not found".
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes those of `folders` that are empty, innermost first; the others stay.
pub(crate) fn remove_empty_folders(folders: &[PathBuf]) {
    let mut folders: Vec<&PathBuf> = folders.iter().collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    for folder in folders {
        let _ = std::fs::remove_dir(folder);
    }
}

/// Whether `path` is a file that this user may run.
pub(crate) fn is_program(path: &Path) -> bool {
    let Ok(metadata) = std::fs::metadata(path) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    metadata.is_file()
}

/// Looks a program up in a `PATH` value.
pub(crate) fn find_program(name: &str, path: &str) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| {
            let suffixes: &[&str] = if cfg!(windows) { &[".exe", ".cmd", ""] } else { &[""] };
            suffixes.iter().map(move |suffix| folder.join(format!("{name}{suffix}"))).collect::<Vec<_>>()
        })
        .find(|candidate| is_program(candidate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_made_private_and_replaced_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        write_atomic(&path, b"one", Mode::Private).unwrap();
        write_atomic(&path, b"two", Mode::Private).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_and_modes_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("dotfiles/real.json");
        std::fs::create_dir(folder.path().join("dotfiles")).unwrap();
        std::fs::write(&real, b"old").unwrap();
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
        let link = folder.path().join("link.json");
        std::os::unix::fs::symlink("dotfiles/real.json", &link).unwrap();
        write_atomic(&link, b"new", Mode::Private).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().file_type().is_symlink());
        assert_eq!(std::fs::read(&real).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn read_only_files_folders_and_loops_are_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fixed");
        std::fs::write(&path, b"old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
        assert_eq!(write_atomic(&path, b"new", Mode::Shared).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(write_atomic(folder.path(), b"x", Mode::Shared).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        std::os::unix::fs::symlink("loop", folder.path().join("loop")).unwrap();
        assert!(write_atomic(&folder.path().join("loop"), b"x", Mode::Shared).is_err());
    }

    #[test]
    fn folders_made_on_the_way_are_known_and_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/c");
        let missing = missing_folders(&deep);
        assert_eq!(missing.len(), 3);
        create_folders(&deep, false).unwrap();
        std::fs::write(folder.path().join("a/kept"), b"").unwrap();
        remove_empty_folders(&missing);
        assert!(folder.path().join("a").exists() && !folder.path().join("a/b").exists());
    }
}
