//! Whether a folder is a package its host will take: read from the folder alone, with the schemas in `templates/schemas/` and rules
//! that a schema cannot say.

use super::packages::{self, Package};
use super::{Problem, frontmatter, guidance, hooks, schema, templates};
use serde_json::Value;
use std::path::Path;

/// The formats [`judge`] knows.
#[cfg(test)]
pub(super) const FORMATS: &[&str] = &[
    "dotted-name",
    "id-name",
    "inside-path",
    "kebab-name",
    "package-command",
    "package-folder",
    "reverse-domain",
    "server-url",
    "skill-name",
    "text",
    "variable-name",
    "version",
];

/// Checks a package and returns what is wrong with it, sorted; empty when it is good.
///
/// The host is told from the files; a folder that could be a package of several is judged by the one most of its files fit.
pub(crate) fn validate(folder: &Path) -> Vec<Problem> {
    let (files, _) = walk(folder);
    let has = |path: &str| files.iter().any(|file| file == path);
    let mut fitting: Vec<(usize, &Package)> = packages::PACKAGES
        .iter()
        .filter(|package| has(package.manifest))
        .map(|package| {
            let own = package.files.iter().map(|file| file.path).chain(package.hooks.path());
            (own.filter(|path| has(path)).count(), package)
        })
        .collect();
    fitting.sort_by_key(|(n_own, _)| std::cmp::Reverse(*n_own));
    match fitting.as_slice() {
        [(_, package)] => validate_as(package, folder),
        [(most, package), (fewer, _), ..] if most > fewer => validate_as(package, folder),
        [] => vec![Problem { path: folder.to_owned(), what: "has no manifest of a known host".to_owned() }],
        _ => vec![Problem { path: folder.to_owned(), what: "has manifests of several hosts".to_owned() }],
    }
}

/// Checks a package of this host.
///
/// Rules: no symbolic link; manifest, hooks, servers and front matter meet their schemas; every path they name is in the package; hooks
/// run the program for the event they are registered for; programs can be run; a skill's name is its folder's; every `.json` parses; no
/// template token is left; no text orders needless searches.
pub(super) fn validate_as(package: &Package, folder: &Path) -> Vec<Problem> {
    let (files, odd) = walk(folder);
    let mut check = Check { package, folder, files: &files, problems: Vec::new() };
    for (path, what) in &odd {
        check.say(path, what);
    }
    if !files.iter().any(|path| path == package.manifest) {
        check.say(package.manifest, "missing: without it the host sees no package");
    }
    for path in &files {
        check.file(path);
    }
    let mut problems = check.problems;
    problems.sort();
    problems.dedup();
    problems
}

struct Check<'a> {
    package: &'a Package,
    folder: &'a Path,
    files: &'a [String],
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn say(&mut self, path: &str, what: &str) {
        let path = if path.is_empty() { self.folder.to_owned() } else { self.folder.join(path) };
        self.problems.push(Problem { path, what: what.to_owned() });
    }

    fn file(&mut self, path: &str) {
        if path.starts_with("bin/") {
            if !crate::fsx::is_program(&self.folder.join(path)) {
                self.say(path, "not executable");
            }
            if path != templates::LAUNCHER.path {
                return;
            }
        }
        let bytes = match std::fs::read(self.folder.join(path)) {
            Ok(bytes) => bytes,
            Err(error) => return self.say(path, &error.to_string()),
        };
        let Ok(text) = std::str::from_utf8(&bytes) else { return self.say(path, "not UTF-8") };
        if text.contains("{{") {
            self.say(path, "a template token is left");
        }
        if let Some(wording) = guidance::forbidden(text) {
            self.say(path, &format!("orders needless searches: {wording}"));
        }
        if path.ends_with(".json") {
            match serde_json::from_str::<Value>(text) {
                Ok(value) => self.json(path, &value),
                Err(error) => self.say(path, &format!("not JSON: {error}")),
            }
        }
        let markdown = match (path.strip_prefix("skills/"), path.strip_prefix("agents/")) {
            (Some(rest), _) => rest.strip_suffix("/SKILL.md").map(|name| ("skill", name)),
            (_, Some(rest)) => rest.strip_suffix(".md").map(|name| ("agent", name)),
            _ => None,
        };
        match markdown {
            Some((definition, name)) => self.head(path, definition, name, text),
            None if path.starts_with("skills/") => self.say(path, "a skill is a folder with a file SKILL.md"),
            None => {}
        }
    }

    fn json(&mut self, path: &str, value: &Value) {
        if let Some((_, definition)) = self.package.contracts.iter().find(|(file, _)| *file == path) {
            self.meet(path, definition, value);
        }
        let hook_file = self.package.hooks.path();
        if hook_file == Some(path) || hook_file.is_none() && path == self.package.manifest {
            self.hooks(path, value);
        }
        if path == self.package.servers {
            self.servers(path, value);
        }
    }

    /// Checks a value against a definition of the host's schema.
    fn meet(&mut self, path: &str, definition: &str, value: &Value) {
        let document: Value = serde_json::from_str(self.package.schema).unwrap_or_default();
        let judge = |format: &str, text: &str| {
            judge(format, text).or_else(|| (format == "inside-path" && !self.holds(text)).then(|| missing(text)))
        };
        for fault in schema::check(&document, definition, value, &judge) {
            self.say(path, &fault);
        }
    }

    /// Whether a path from the package's root is a file or folder of it.
    fn holds(&self, path: &str) -> bool {
        let path = path.trim_start_matches("./").trim_end_matches('/');
        let folder = format!("{path}/");
        path.is_empty() || self.files.iter().any(|file| file == path || file.starts_with(&folder))
    }

    /// Every hook runs the program of this package, or one by its absolute path, for its own event.
    fn hooks(&mut self, path: &str, value: &Value) {
        let host = self.package.host;
        let known = hooks::of(host).unwrap_or_default();
        for (event, command) in registered(value) {
            if !known.is_empty() && !known.iter().any(|hook| hook.native == event) {
                self.say(path, &format!("`{event}` is an event we have no use for"));
            }
            let Some(program) = command.strip_suffix(&format!(" hook {host} {event}")) else {
                self.say(path, &format!("the hook of `{event}` runs `{command}`"));
                continue;
            };
            let root = format!("\"{}/", self.package.root);
            match program.strip_prefix(&root).map(|rest| rest.trim_end_matches('"')) {
                Some(inside) if !self.holds(inside) => self.say(path, &missing(inside)),
                Some(_) => {}
                None if program.contains('/') => {}
                None => self.say(path, &format!("the hook of `{event}` runs {program}, which the PATH decides")),
            }
        }
    }

    /// Every server runs a program of the package, one by its absolute path, or a shell that does.
    fn servers(&mut self, path: &str, value: &Value) {
        let servers = value["mcpServers"].as_object();
        for (name, server) in servers.into_iter().flatten() {
            let headers = server["headers"].as_object().into_iter().flat_map(|headers| headers.keys());
            let mut headers: Vec<String> = headers.map(|header| header.to_lowercase()).collect();
            headers.sort();
            if headers.windows(2).any(|pair| pair[0] == pair[1]) {
                self.say(path, &format!("the server `{name}` has a header twice"));
            }
            // Servers that are reached over HTTP have none.
            let Some(command) = server["command"].as_str() else { continue };
            let root = self.package.root;
            let inside =
                command.strip_prefix(root).or(command.strip_prefix('.')).and_then(|rest| rest.strip_prefix('/'));
            match inside {
                Some(inside) if inside.contains("..") || !self.holds(inside) => self.say(path, &missing(command)),
                Some(_) => {}
                None if command == "sh" || Path::new(command).is_absolute() => {}
                None => self.say(path, &format!("the server `{name}` runs {command}, which the PATH decides")),
            }
        }
    }

    /// The front matter of a skill or an agent.
    fn head(&mut self, path: &str, definition: &str, name: &str, text: &str) {
        match frontmatter::parse(text) {
            Err(fault) => self.say(path, &format!("its front matter {fault}")),
            Ok((fields, body)) => {
                if fields.get("name").and_then(Value::as_str) != Some(name) {
                    self.say(path, &format!("`name` is not {name}, as its place says"));
                }
                if body.trim().is_empty() {
                    self.say(path, "says nothing below its front matter");
                }
                self.meet(path, definition, &Value::Object(fields));
            }
        }
    }
}

fn missing(path: &str) -> String {
    format!("names {path}, which is not in the package")
}

/// Events and the commands registered for them, in any of the shapes hosts read.
pub(super) fn registered(value: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut add = |event: &str, handler: &Value| {
        found.push((event.to_owned(), handler["command"].as_str().unwrap_or_default().to_owned()));
    };
    if let Some(entries) = value["hooks"].as_array() {
        entries.iter().for_each(|entry| add(entry["event"].as_str().unwrap_or_default(), entry));
    }
    let sets = value.as_object().into_iter().flat_map(|sets| sets.values());
    for (event, entries) in sets.filter_map(Value::as_object).flatten() {
        for entry in entries.as_array().into_iter().flatten() {
            match entry["hooks"].as_array() {
                Some(handlers) => handlers.iter().for_each(|handler| add(event, handler)),
                None if entry.get("command").is_some() => add(event, entry),
                None => {}
            }
        }
    }
    found
}

/// Judges a text by a named format of the schemas; says what is wrong with it.
pub(super) fn judge(format: &str, text: &str) -> Option<String> {
    let is_lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let all = |allowed: fn(u8) -> bool| text.bytes().all(allowed);
    let is_framed = text.bytes().next().is_some_and(is_lower) && text.bytes().last().is_some_and(is_lower);
    let steps_up = || text.split(['/', '\\']).any(|part| part == "..");
    let lower_or = |extra: &str| text.bytes().all(|byte| is_lower(byte) || extra.bytes().any(|extra| extra == byte));
    let is_good = match format {
        "text" => !text.trim().is_empty(),
        "kebab-name" => is_framed && lower_or("-"),
        "skill-name" => is_framed && lower_or("-") && !text.contains("--") && text.len() <= 64,
        "dotted-name" => is_framed && lower_or("-.") && !text.contains("--") && !text.contains(".."),
        "id-name" => text.bytes().next().is_some_and(is_lower) && lower_or("-_") && text.len() <= 64,
        "reverse-domain" => {
            text.contains('.') && text.split('.').all(|part| !part.is_empty()) && !text.contains(['/', ' '])
        }
        "version" => {
            let mut parts = text.split(['-', '+']).next().unwrap_or_default().split('.');
            parts.clone().count() == 3 && parts.all(|part| part.parse::<u64>().is_ok())
        }
        "variable-name" => {
            !text.is_empty()
                && !text.as_bytes()[0].is_ascii_digit()
                && all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        }
        "inside-path" => text.starts_with("./") && !steps_up() && !text.contains('\\'),
        // One word: a name for the PATH, or a path inside.
        "package-command" => {
            let is_name = !text.is_empty() && !text.contains(['/', '\\', ' ', '$']);
            is_name || text.starts_with("./") && text.len() > 2 && !steps_up()
        }
        "package-folder" => {
            let below =
                |root: &str| text.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            (text.starts_with("./") || below("${PLUGIN_ROOT}") || below("${PLUGIN_DATA}")) && !steps_up()
        }
        "server-url" => {
            let host = |rest: &str| rest.split(['/', ':', '?']).next().unwrap_or_default().to_owned();
            let is_plain = |rest: &str| !rest.is_empty() && !rest.contains(['#', '@', ' ']) && !host(rest).is_empty();
            match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
                (Some(rest), _) => is_plain(rest),
                (_, Some(rest)) => {
                    let host = host(rest);
                    is_plain(rest) && (host == "localhost" || host.starts_with("127.") || rest.starts_with("[::1]"))
                }
                _ => false,
            }
        }
        _ => false,
    };
    (!is_good).then(|| match format {
        "inside-path" | "package-command" | "package-folder" => format!("leaves the package: {text}"),
        _ => format!("is not a {format}: {text}"),
    })
}

/// What is below a folder, as paths with `/`, sorted: the files, and what must not be in a package, each with what it is. Links are not
/// followed.
pub(super) fn walk(folder: &Path) -> (Vec<String>, Vec<(String, String)>) {
    let (mut files, mut odd) = (Vec::new(), Vec::new());
    match std::fs::symlink_metadata(folder) {
        Ok(metadata) if metadata.is_symlink() => odd.push((String::new(), link(folder, folder))),
        _ => visit(folder, folder, "", &mut files, &mut odd),
    }
    files.sort();
    odd.sort();
    (files, odd)
}

fn visit(root: &Path, folder: &Path, prefix: &str, files: &mut Vec<String>, odd: &mut Vec<(String, String)>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.file_type() {
            Ok(kind) if kind.is_file() => files.push(path),
            Ok(kind) if kind.is_dir() => visit(root, &entry.path(), &format!("{path}/"), files, odd),
            Ok(kind) if kind.is_symlink() => odd.push((path, link(&entry.path(), root))),
            _ => odd.push((path, "neither a file nor a folder".to_owned())),
        }
    }
}

/// What a symbolic link is, seen from the package.
pub(super) fn link(link: &Path, root: &Path) -> String {
    let target = std::fs::read_link(link).unwrap_or_default();
    let is_inside = match (link.canonicalize(), root.canonicalize()) {
        (Ok(real), Ok(root)) => real != root && real.starts_with(root),
        _ => false,
    };
    let place = if is_inside { "" } else { ", out of the package" };
    format!("a symbolic link to {}{place}: a package holds none", target.display())
}
