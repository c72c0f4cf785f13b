//! The program that hosts will run: that it runs, where it stays, and how it is spelled in a shell.

use super::Options;
use super::record::{ProgramCopy, Record, sha256};
use crate::fsx;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long the program may take to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

const NAME: &str = if cfg!(windows) { "mem0-code.exe" } else { "mem0-code" };

/// Runs `program --version` and returns what it printed.
///
/// # Errors
/// When it is not there, may not be run, fails, or takes longer than ten seconds.
pub(super) fn version(program: &Path) -> anyhow::Result<String> {
    let start = Instant::now();
    let mut child = loop {
        let spawned = Command::new(program)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        match spawned {
            // Another process that was started just now may still hold the handle by which the file was written.
            Err(error)
                if error.kind() == std::io::ErrorKind::ExecutableFileBusy && start.elapsed() < VERSION_TIMEOUT =>
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            other => break other.with_context(|| format!("running {} --version", program.display()))?,
        }
    };
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > VERSION_TIMEOUT {
            child.kill()?;
            child.wait()?;
            bail!("{} --version did not end within {} s", program.display(), VERSION_TIMEOUT.as_secs());
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let mut printed = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        std::io::Read::read_to_string(&mut stdout, &mut printed)?;
    }
    if !status.success() {
        bail!("{} --version ended with {status}", program.display());
    }
    Ok(printed.trim().to_owned())
}

/// The path hosts are told: the program itself where it is meant to stay, else its copy in our home.
pub(super) fn stable_path(options: &Options) -> PathBuf {
    let cargo_home = options.env.get("CARGO_HOME").map_or_else(|| options.home.join(".cargo"), PathBuf::from);
    let lasting = [
        options.mem0_dir.join("bin"),
        cargo_home.join("bin"),
        PathBuf::from("/usr/local/bin"),
        PathBuf::from("/usr/bin"),
    ];
    let folder = options.binary.parent();
    if folder.is_some_and(|folder| lasting.iter().any(|lasting| is_same(lasting, folder))) {
        options.binary.clone()
    } else {
        options.mem0_dir.join("bin").join(NAME)
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Copies the program to `stable` unless it is there already, and makes sure that the copy runs.
///
/// # Errors
/// When it cannot be copied, or the copy does not run there; then the copy is taken away again.
pub(super) fn place(options: &Options, stable: &Path, record: &mut Record) -> anyhow::Result<()> {
    if is_same(stable, &options.binary) {
        return Ok(());
    }
    let bytes = std::fs::read(&options.binary).with_context(|| format!("reading {}", options.binary.display()))?;
    let hash = sha256(&bytes);
    let there = fsx::read_optional(stable).with_context(|| format!("reading {}", stable.display()))?;
    let is_ours = record.program.as_ref().is_some_and(|copy| copy.path == stable);
    if there.as_deref() != Some(bytes.as_slice()) || !fsx::is_program(stable) {
        let folder = stable.parent().context("the program's copy has a folder")?;
        record.folders.extend(fsx::missing_folders(folder));
        fsx::create_folders(folder, true).with_context(|| format!("making {}", folder.display()))?;
        fsx::write_atomic(stable, &bytes, fsx::Mode::Program)
            .with_context(|| format!("copying the program to {}", stable.display()))?;
    }
    // One that was there before us is replaced by a newer one, and is not ours to remove.
    if there.is_none() || is_ours {
        record.program = Some(ProgramCopy { path: stable.to_path_buf(), sha256: hash });
    }
    if let Err(error) = version(stable) {
        if there.is_none() {
            fsx::remove_file(stable)?;
            fsx::remove_empty_folders(&record.folders);
            record.program = None;
        }
        return Err(error.context("the copy of the program does not run where hosts would look for it"));
    }
    Ok(())
}

/// Spells a path for a shell. Plain paths stay as they are; others are put in quotes that POSIX shells and fish read alike.
pub(super) fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    if cfg!(windows) {
        return format!("\"{text}\"");
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Shell text that runs the program, with the variables it needs before it.
pub(super) fn shell_text(path: &str, env: &[(String, String)]) -> String {
    let assignments: String = if cfg!(windows) {
        String::new()
    } else {
        env.iter().map(|(name, value)| format!("{name}={} ", quote(value))).collect()
    };
    format!("{assignments}{}", quote(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_paths_are_not_quoted_and_others_are() {
        assert_eq!(quote("/home/dev/.mem0/bin/mem0-code"), "/home/dev/.mem0/bin/mem0-code");
        #[cfg(unix)]
        {
            assert_eq!(quote("/a b/it's"), "'/a b/it'\\''s'");
            assert_eq!(shell_text("/x", &[("MEM0_DIR".into(), "/a b".into())]), "MEM0_DIR='/a b' /x");
        }
    }
}
