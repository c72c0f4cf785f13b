//! The packages that hosts install: rendered from `templates/`, compared with what is committed, and validated.
//!
//! Rendering is a function of the templates, the host's hooks and the way the program is named; nothing of the machine or the
//! moment goes in, so that the committed packages can be compared byte for byte. Placing a package on a machine is
//! [`crate::install`]'s work.

mod committed;
mod frontmatter;
mod guidance;
pub(crate) mod hooks;
mod marketplaces;
pub(crate) mod ordered;
mod packages;
mod schema;
mod templates;
mod validate;

use crate::fsx;
use anyhow::{Context, bail};
pub(crate) use committed::{check, sync};
use ordered::{Json, PLAIN};
use packages::Package;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
pub(crate) use validate::validate;

/// What the packages are, in the words of a list.
const DESCRIPTION: &str = "One memory for every coding agent on this machine";

/// Variables handed on to the MCP server by a host that starts it with an emptied environment. Unset ones do no harm there.
pub(crate) const HANDED_ON: &[&str] = &[
    "CODEX_HOME",
    "MEM0_API_KEY",
    "MEM0_API_URL",
    "MEM0_CODE_BACKEND",
    "MEM0_CODE_BIN",
    "MEM0_CODE_DATA_DIR",
    "MEM0_CODE_MAX_CONTEXT_CHARS",
    "MEM0_CODE_SEARCH_SCOPE",
    "MEM0_CODE_SPAWN",
    "MEM0_CODE_STORE_URL",
    "MEM0_CODE_TOP_K",
    "MEM0_CODE_USER_ID",
    "MEM0_DIR",
    "MEM0_PLUGIN_DATA_DIR",
    "MEM0_PROJECT_ID",
    "MEM0_RESOLVED_USER_ID",
    "MEM0_TELEMETRY",
    "MEM0_TELEMETRY_URL",
    "MEM0_USER_ID",
];

/// Files of a package: path with `/` → content.
pub(crate) type Files = BTreeMap<String, File>;

/// One file of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    /// The content.
    pub bytes: Vec<u8>,
    /// Whether it must be runnable.
    pub executable: bool,
}

/// Something about a package that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    /// Path of the file in question.
    pub path: PathBuf,
    /// What is wrong with it, in a few words.
    pub what: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.what)
    }
}

/// How a package names the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Program {
    /// By the launcher inside the package, which finds the program when it is called.
    Launcher,
    /// By the absolute path of the program on this machine.
    Native {
        /// Shell text for hooks and skills: the quoted path, perhaps with assignments before it.
        shell: String,
        /// The path, for places that take no shell text.
        path: String,
        /// Variables the MCP server must have, name and value.
        env: Vec<(String, String)>,
    },
}

/// The ids of the hosts that have a package.
pub(crate) fn hosts() -> impl Iterator<Item = &'static str> {
    packages::PACKAGES.iter().map(|package| package.host)
}

/// Whether a folder is a package of ours, as some hosts start our server in it and not in the project.
pub(crate) fn is_package(folder: &Path) -> bool {
    packages::PACKAGES.iter().any(|package| is_named_mem0(&folder.join(package.manifest)))
}

/// The manifest of a host's package, as a path inside it.
pub(crate) fn manifest(host: &str) -> Option<&'static str> {
    packages::find(host).map(|package| package.manifest)
}

fn package(host: &str) -> anyhow::Result<&'static Package> {
    if let Some(package) = packages::find(host) {
        return Ok(package);
    }
    let message = match packages::ELSEWHERE.iter().find(|elsewhere| elsewhere.host == host) {
        Some(elsewhere) => {
            let folder = elsewhere.folder;
            let workspace = folder.split('/').next().unwrap_or(folder);
            format!("the package of `{host}` is an npm package in {folder}: `npm run build` in {workspace} makes it")
        }
        None => format!("no package for host `{host}`; there is one for {}", hosts().collect::<Vec<_>>().join(", ")),
    };
    Err(crate::report::Usage(message).into())
}

/// Renders the package of a host.
///
/// # Errors
/// When the host has no package, or a template names a token that has no value.
pub(crate) fn render(host: &str, program: &Program) -> anyhow::Result<Files> {
    let package = package(host)?;
    let host = package.host;
    let name = mem0_code_core::hosts::find(host).map_or(package.name, |spec| spec.name);
    let specs = hooks::of(host).unwrap_or_default();
    let (hook_program, skill_program, skill_note) = match program {
        Program::Launcher => (format!("\"{}/bin/mem0-code\"", package.root), package.skill_program, package.skill_note),
        Program::Native { shell, .. } => (shell.clone(), shell.as_str(), ""),
    };
    let server = server(package, program);
    let env: &[(String, String)] = match program {
        Program::Launcher => &[],
        Program::Native { env, .. } => env,
    };
    let pair = |(name, value): &(String, String)| (name.clone(), Json::text(value));
    let env_lines =
        env.iter().map(|(name, value)| format!("        {}: {},\n", ordered::quote(name), ordered::quote(value)));
    let handed_on: Vec<String> = HANDED_ON.iter().map(|name| format!("        {}", ordered::quote(name))).collect();
    let hooks = hooks::file(host, specs, &hook_program);
    let cli = format!("{skill_program} --harness \"{host}\"");
    let mut values = vec![
        ("VERSION", env!("CARGO_PKG_VERSION").to_owned()),
        ("REPOSITORY", env!("CARGO_PKG_REPOSITORY").to_owned()),
        ("HOST", host.to_owned()),
        ("HOST_NAME", name.to_owned()),
        ("SERVER_COMMAND", ordered::quote(&server[0])),
        ("SERVER_ARGS", Json::texts(&server[1..]).compact()),
        ("SERVER_ENV", env_lines.collect()),
        ("SERVER_ENV_OBJECT", Json::Object(env.iter().map(pair).collect()).compact()),
        ("HANDED_ON", handed_on.join(",\n")),
        ("HOOKS", hooks.pretty(PLAIN, "  ")),
        // The rule has to repeat the command's quoting, or the host asks.
        ("HANDOFF_TOOLS", ordered::quote(&format!("Bash({cli} handoff save *)"))),
        ("CLI", cli),
        ("CLI_NOTE", skill_note.to_owned()),
    ];
    values.push(("HANDOFF", filled(package.handoff, &values)?.trim_end().to_owned()));
    let mut files = Files::new();
    let mut add = |path: &str, text: String, executable| {
        files.insert(path.to_owned(), File { bytes: text.into_bytes(), executable });
    };
    for template in package.files {
        add(template.path, filled(template.text, &values)?, false);
    }
    for template in templates::SKILLS {
        let text = filled(&readable_head(template.text, package.skill_fields), &values)?;
        add(template.path, text.trim_end().to_owned() + "\n", false);
    }
    if let Some(path) = package.hooks.path() {
        add(path, hooks.pretty(PLAIN, "") + "\n", false);
    }
    match program {
        Program::Launcher => add(templates::LAUNCHER.path, filled(templates::LAUNCHER.text, &values)?, true),
        // Nothing is looked up any more, so nothing needs to be said about looking it up.
        Program::Native { .. } => drop(files.remove("README.md")),
    }
    Ok(files)
}

/// The words that start the MCP server of a package.
fn server(package: &Package, program: &Program) -> Vec<String> {
    let start: Vec<&str> = match program {
        Program::Launcher => package.server.to_vec(),
        Program::Native { path, .. } => package.server_native.iter().copied().chain([path.as_str()]).collect(),
    };
    start.into_iter().chain(["mcp", "--host", package.host]).map(str::to_owned).collect()
}

/// A skill's text without the lines of its front matter that a host does not read.
fn readable_head(text: &str, fields: &[&str]) -> String {
    let Some((head, body)) = text.split_once("\n---\n") else { return text.to_owned() };
    let reads = |line: &&str| match line.split_once(':') {
        Some((field, _)) => matches!(field, "name" | "description") || fields.contains(&field),
        None => true,
    };
    let head: Vec<&str> = head.lines().filter(reads).collect();
    format!("{}\n---\n{body}", head.join("\n"))
}

fn filled(text: &str, values: &[(&str, String)]) -> anyhow::Result<String> {
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    templates::fill(text, &values).map_err(|token| {
        let start: String = text.chars().take(60).collect();
        anyhow::anyhow!("the template that begins `{start}` has {token}")
    })
}

/// Writes the package of a host to `out`, replacing what a package had there.
///
/// `binary` is a target triple and the program built for it, to be carried inside the package under `bin/<target>/`.
///
/// # Errors
/// When `out` is the repository, a home folder or a folder that holds something else, when the program cannot be read, or when
/// the result is not valid.
pub(crate) fn build(host: &str, out: &Path, binary: Option<(&str, &Path)>) -> anyhow::Result<()> {
    let package = package(host)?;
    let mut files = render(host, &Program::Launcher)?;
    if let Some((target, path)) = binary {
        if target.is_empty() || target.contains(['/', '\\', '.']) {
            bail!("`{target}` is not a target triple");
        }
        let name = if target.contains("windows") { "mem0-code.exe" } else { "mem0-code" };
        let bytes = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        files.insert(format!("bin/{target}/{name}"), File { bytes, executable: true });
    }
    refuse_protected(out, |path| path == package.manifest && is_named_mem0(&out.join(path)), package)?;
    put(package, &files, out)
}

/// Puts a package in place: written and checked beside it, then moved there whole.
fn put(package: &Package, files: &Files, out: &Path) -> anyhow::Result<()> {
    let parent = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fsx::create_folders(parent, false).with_context(|| format!("making {}", parent.display()))?;
    let staging = tempfile::Builder::new().prefix(".mem0-code-bundle-").tempdir_in(parent)?;
    let staged = staging.path().join("package");
    write(files, &staged)?;
    let problems = validate::validate_as(package, &staged);
    if !problems.is_empty() {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        bail!("the package of `{}` is not valid:\n{}", package.host, lines.join("\n"));
    }
    if out.exists() {
        std::fs::rename(out, staging.path().join("old")).with_context(|| format!("moving {} aside", out.display()))?;
    }
    std::fs::rename(&staged, out).with_context(|| format!("putting the package at {}", out.display()))?;
    Ok(())
}

/// An output folder is replaced as a whole, so it must be new, empty, or hold a file that only a package of ours has there.
fn refuse_protected(out: &Path, is_ours: impl Fn(&str) -> bool, package: &Package) -> anyhow::Result<()> {
    let Ok(metadata) = std::fs::symlink_metadata(out) else { return Ok(()) };
    if !metadata.is_dir() {
        bail!("the output path {} is not a folder", out.display());
    }
    let (files, odd) = validate::walk(out);
    if (!files.is_empty() || !odd.is_empty()) && !files.iter().any(|path| is_ours(path)) {
        bail!("refusing to replace {}: it is not empty and not a package of `{}`", out.display(), package.host);
    }
    Ok(())
}

fn is_named_mem0(manifest: &Path) -> bool {
    let text = std::fs::read_to_string(manifest).unwrap_or_default();
    serde_json::from_str::<serde_json::Value>(&text).is_ok_and(|value| value["name"] == "mem0")
}

/// Writes files under a folder.
fn write(files: &Files, folder: &Path) -> anyhow::Result<()> {
    for (path, file) in files {
        let target = folder.join(path);
        let parent = target.parent().context("a package file has a folder")?;
        fsx::create_folders(parent, false).with_context(|| format!("making {}", parent.display()))?;
        let mode = if file.executable { fsx::Mode::Program } else { fsx::Mode::Shared };
        fsx::write_atomic(&target, &file.bytes, mode).with_context(|| format!("writing {}", target.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
