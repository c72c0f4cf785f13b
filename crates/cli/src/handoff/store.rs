//! The folder of resources: private, shared by all plugins, only ever added to.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use mem0_code_core::handoff::refusal::{Kind, Refusal};

use super::draft::Draft;
use super::project;
use super::spool::io_error;
use crate::fsx;
use crate::setup::Setup;

/// Begins the names of files that are not complete.
const TEMPORARY: &str = ".handoff-";
/// What is left of a writer that died goes after this time.
const LEFT_OVER: Duration = Duration::from_secs(24 * 60 * 60);
/// Names drawn before it is given up.
const TRIES: usize = 3;

/// Where resources are.
pub(crate) fn folder(setup: &Setup, given: Option<&Path>) -> PathBuf {
    let named =
        given.map(|folder| folder.to_string_lossy().into_owned()).or_else(|| setup.env.get("MEM0_HANDOFFS_DIR"));
    named.map_or_else(|| setup.mem0.join("handoffs"), |folder| project::expanded(&folder, &setup.env))
}

/// Publishes a document under a name of its own; returns its path.
///
/// # Errors
/// A refusal; the folder holds nothing new then.
pub(crate) fn publish(folder: &Path, draft: &mut Draft) -> Result<PathBuf, Refusal> {
    prepare(folder)?;
    let told = |error: &io::Error| io_error(&format!("writing to {}", folder.display()), error);
    draft.saved_at = Some(Timestamp::now().to_string());
    // The file is made for its owner alone, and goes away when anything fails.
    let temporary =
        tempfile::Builder::new().prefix(TEMPORARY).suffix(".tmp").tempfile_in(folder).map_err(|error| told(&error))?;
    let mut out = BufWriter::with_capacity(256 << 10, temporary);
    draft.write(&mut out).and_then(|()| out.flush()).map_err(|error| told(&error))?;
    let mut temporary = out.into_inner().map_err(|error| told(error.error()))?;
    if temporary.as_file().metadata().map_err(|error| told(&error))?.len() > super::transcript::MAX_BYTES {
        return Err(Refusal::new(Kind::TooLarge, "the resource would have more than 1 GiB"));
    }
    temporary.as_file().sync_all().map_err(|error| told(&error))?;
    for _ in 0..TRIES {
        let name = format!("{}-{}.json", draft.source.host, uuid::Uuid::new_v4().simple());
        let path = folder.join(name);
        match temporary.persist_noclobber(&path) {
            Ok(_) => {
                if let Ok(handle) = File::open(folder) {
                    let _ = handle.sync_all();
                }
                return Ok(path);
            }
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => temporary = error.file,
            Err(error) => return Err(told(&error.error)),
        }
    }
    Err(Refusal::new(Kind::Io, "no free name was found for the resource"))
}

/// Makes the folder, or checks that it may be written to.
fn prepare(folder: &Path) -> Result<(), Refusal> {
    let told = |error: &io::Error| io_error(&format!("preparing {}", folder.display()), error);
    fsx::create_folders(folder, true).map_err(|error| told(&error))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let me = rustix::process::geteuid().as_raw();
        let refuse = |what: &str, path: &Path| {
            Err(Refusal::new(
                Kind::Io,
                format!("{} {what}; handoffs are kept only where nobody else can write", path.display()),
            ))
        };
        for path in folder.ancestors() {
            let Ok(metadata) = fs::symlink_metadata(path) else { continue };
            // Links of the system, such as that of the temporary folder, are the administrator's.
            let is_system = path != folder && metadata.uid() == 0;
            if metadata.is_symlink() && metadata.uid() != me && !is_system {
                return refuse("is a link of another user", path);
            }
        }
        let metadata = fs::metadata(folder).map_err(|error| told(&error))?;
        if metadata.uid() != me {
            return refuse("belongs to another user", folder);
        }
        if metadata.mode() & 0o077 != 0 {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map_err(|error| told(&error))?;
        }
    }
    clean(folder);
    Ok(())
}

/// Takes away what writers that died left behind.
fn clean(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if !entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
            continue;
        }
        let age = entry.metadata().and_then(|metadata| metadata.modified()).ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > LEFT_OVER) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
