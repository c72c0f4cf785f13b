//! The packages that hosts install: rendered from `templates/`, compared with what is committed, and validated.
//!
//! Rendering is a function of the templates, the host's hooks and the way the program is named; nothing of the machine or the
//! moment goes in, so that the committed packages can be compared byte for byte. Placing a package on a machine is
//! [`crate::install`]'s work.

pub(crate) mod hooks;
pub(crate) mod ordered;
mod templates;
mod validate;

use crate::fsx;
use anyhow::{Context, bail};
use ordered::PLAIN;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use templates::Package;
pub(crate) use validate::validate;

/// Where the repository keeps the package of each host, relative to its root.
const COMMITTED: &str = "plugins";

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
    templates::PACKAGES.iter().map(|package| package.host)
}

/// The manifest of a host's package, as a path inside it.
pub(crate) fn manifest(host: &str) -> Option<&'static str> {
    package(host).ok().map(|package| package.manifest)
}

fn package(host: &str) -> anyhow::Result<&'static Package> {
    match templates::PACKAGES.iter().find(|package| package.host == host) {
        Some(package) => Ok(package),
        None => Err(crate::report::Usage(format!(
            "no package for host `{host}`; there is one for {}",
            hosts().collect::<Vec<_>>().join(", ")
        ))
        .into()),
    }
}

/// Renders the package of a host.
///
/// # Errors
/// When the host has no package, or a template names a token that has no value.
pub(crate) fn render(host: &str, program: &Program) -> anyhow::Result<Files> {
    let package = package(host)?;
    let spec = mem0_code_core::hosts::find(host).with_context(|| format!("no host `{host}`"))?;
    let (hook_program, mcp_command, skill_program, skill_note) = match program {
        Program::Launcher => (
            format!("\"{}/bin/mem0-code\"", package.root),
            package.mcp_command.to_owned(),
            package.skill_program.to_owned(),
            package.skill_note,
        ),
        Program::Native { shell, path, .. } => (shell.clone(), path.clone(), shell.clone(), ""),
    };
    let cli = format!("{skill_program} --harness \"{host}\"");
    let mcp_command = ordered::quote(&mcp_command);
    let mcp_env: String = match program {
        Program::Launcher => String::new(),
        Program::Native { env, .. } => {
            let line = |(name, value): &(String, String)| {
                format!("        {}: {},\n", ordered::quote(name), ordered::quote(value))
            };
            env.iter().map(line).collect()
        }
    };
    let handed_on: Vec<String> = HANDED_ON.iter().map(|name| format!("        {}", ordered::quote(name))).collect();
    let handed_on = handed_on.join(",\n");
    let values = [
        ("VERSION", env!("CARGO_PKG_VERSION")),
        ("REPOSITORY", env!("CARGO_PKG_REPOSITORY")),
        ("HOST_NAME", spec.name),
        ("MCP_COMMAND", &mcp_command),
        ("MCP_ENV", &mcp_env),
        ("HANDED_ON", &handed_on),
        ("CLI", &cli),
        ("CLI_NOTE", skill_note),
    ];
    let mut files = Files::new();
    for template in package.files.iter().chain(templates::SKILLS) {
        let mut text = templates::fill(template.text, &values)
            .map_err(|token| anyhow::anyhow!("the template of {} has {token}", template.path))?;
        if template.path.starts_with("skills/") {
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        files.insert(template.path.to_owned(), File { bytes: text.into_bytes(), executable: false });
    }
    let hooks_file = hooks::file(host, spec.hooks, &hook_program).pretty(PLAIN, "") + "\n";
    files.insert("hooks/hooks.json".to_owned(), File { bytes: hooks_file.into_bytes(), executable: false });
    match program {
        Program::Launcher => {
            let text = templates::fill(templates::LAUNCHER.text, &values)
                .map_err(|token| anyhow::anyhow!("the launcher has {token}"))?;
            files.insert(templates::LAUNCHER.path.to_owned(), File { bytes: text.into_bytes(), executable: true });
        }
        // Nothing is looked up any more, so nothing needs to be said about looking it up.
        Program::Native { .. } => drop(files.remove("README.md")),
    }
    Ok(files)
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
    refuse_protected(out, package)?;
    let parent = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fsx::create_folders(parent, false).with_context(|| format!("making {}", parent.display()))?;
    let staging = tempfile::Builder::new().prefix(".mem0-code-bundle-").tempdir_in(parent)?;
    let staged = staging.path().join("package");
    write(&files, &staged)?;
    let problems = validate(&staged);
    if !problems.is_empty() {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        bail!("the package of `{host}` is not valid:\n{}", lines.join("\n"));
    }
    if out.exists() {
        std::fs::rename(out, staging.path().join("old")).with_context(|| format!("moving {} aside", out.display()))?;
    }
    std::fs::rename(&staged, out).with_context(|| format!("putting the package at {}", out.display()))?;
    Ok(())
}

/// An output folder is replaced as a whole, so it must be new, empty, or a package of this host.
fn refuse_protected(out: &Path, package: &Package) -> anyhow::Result<()> {
    let Ok(metadata) = std::fs::symlink_metadata(out) else { return Ok(()) };
    if !metadata.is_dir() {
        bail!("the output path {} is not a folder", out.display());
    }
    let empty = std::fs::read_dir(out)?.next().is_none();
    if !empty && !out.join(package.manifest).is_file() {
        bail!("refusing to replace {}: it is not empty and not a package of `{}`", out.display(), package.host);
    }
    Ok(())
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

/// Writes every committed package and both marketplace files under the repository's root.
///
/// # Errors
/// As [`build`].
pub(crate) fn sync(root: &Path) -> anyhow::Result<()> {
    for host in hosts() {
        build(host, &root.join(COMMITTED).join(host), None)?;
    }
    write(&marketplaces(), root)
}

/// Compares what is committed under the repository's root with what the templates give now.
///
/// Names files that are missing, differ (`stale`), lost their executable bit, or should not be there (`extra`). Empty: current.
pub(crate) fn check(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for host in hosts() {
        let folder = root.join(COMMITTED).join(host);
        let files = render(host, &Program::Launcher)?;
        compare(&files, &folder, &mut problems)?;
        for path in validate::walk(&folder).0 {
            if !files.contains_key(&path) {
                problems.push(Problem { path: folder.join(path), what: "extra: not generated, remove it".to_owned() });
            }
        }
        problems.extend(validate(&folder));
    }
    compare(&marketplaces(), root, &mut problems)?;
    problems.sort();
    problems.dedup();
    Ok(problems)
}

fn compare(files: &Files, folder: &Path, problems: &mut Vec<Problem>) -> anyhow::Result<()> {
    for (path, file) in files {
        let target = folder.join(path);
        let what = match fsx::read_optional(&target).with_context(|| format!("reading {}", target.display()))? {
            None => "missing",
            Some(bytes) if bytes != file.bytes => "stale: differs from its template",
            Some(_) if file.executable && !fsx::is_program(&target) => "not executable",
            Some(_) => continue,
        };
        problems.push(Problem { path: target, what: what.to_owned() });
    }
    Ok(())
}

/// The two marketplace files at the root of the repository, by which hosts find the packages.
fn marketplaces() -> Files {
    use ordered::Json;
    let description = "One memory for every coding agent on this machine";
    let plugin_of = |host: &str| Json::text(format!("./{COMMITTED}/{host}"));
    let claude = Json::object([
        ("name", Json::text("mem0-code")),
        ("owner", Json::object([("name", Json::text("mem0-code"))])),
        ("metadata", Json::object([("description", Json::text(description))])),
        (
            "plugins",
            Json::Array(vec![Json::object([
                ("name", Json::text("mem0")),
                ("source", plugin_of("claude-code")),
                ("description", Json::text(description)),
                ("category", Json::text("productivity")),
            ])]),
        ),
    ]);
    let codex = Json::object([
        ("name", Json::text("mem0-code")),
        ("interface", Json::object([("displayName", Json::text("mem0-code"))])),
        (
            "plugins",
            Json::Array(vec![Json::object([
                ("name", Json::text("mem0")),
                ("source", Json::object([("source", Json::text("local")), ("path", plugin_of("codex"))])),
                (
                    "policy",
                    Json::object([
                        ("installation", Json::text("AVAILABLE")),
                        ("authentication", Json::text("ON_INSTALL")),
                    ]),
                ),
                ("category", Json::text("Productivity")),
            ])]),
        ),
    ]);
    [(".claude-plugin/marketplace.json", claude), (".agents/plugins/marketplace.json", codex)]
        .into_iter()
        .map(|(path, json)| {
            let bytes = (json.pretty(PLAIN, "") + "\n").into_bytes();
            (path.to_owned(), File { bytes, executable: false })
        })
        .collect()
}

#[cfg(test)]
mod tests;
