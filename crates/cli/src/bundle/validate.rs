//! Whether a folder is a package its host will take: read from the folder alone, with rules of the hosts' published contracts.

use super::{Problem, templates};
use serde_json::Value;
use std::path::Path;

/// Texts that make agents search again and again; none may be in what we ship. Lower-case fragments, all of which must occur in
/// one line in this order.
const FORBIDDEN: &[&[&str]] = &[
    &["always call", "search"],
    &["search memory before answering"],
    &["proactively before answering"],
    &["multi-hop"],
    &["one search is rarely enough"],
    &["always rewrite the query"],
];

/// Longest description of a skill, in characters.
const MAX_DESCRIPTION_CHARS: usize = 1024;

/// Checks a package and returns what is wrong with it, sorted; empty when it is good.
///
/// Rules: no symbolic link; exactly one known manifest, with a kebab-case name, a version and paths that stay inside; every `.json`
/// parses; hooks have known events, commands and time limits; MCP commands inside the package exist and can be run; every skill's
/// name is its folder's; no template token is left; no text that orders needless searches.
pub(crate) fn validate(folder: &Path) -> Vec<Problem> {
    let (files, links) = walk(folder);
    let mut problems: Vec<Problem> = Vec::new();
    let mut say = |path: &str, what: &str| problems.push(Problem { path: folder.join(path), what: what.to_owned() });
    for link in &links {
        say(link, "symbolic links are not allowed in a package");
    }
    let package = templates::PACKAGES.iter().filter(|package| files.iter().any(|path| path == package.manifest));
    let package: Vec<_> = package.collect();
    let [package] = package.as_slice() else {
        say("", "a package has exactly one known manifest");
        return problems;
    };
    for path in &files {
        let bytes = match std::fs::read(folder.join(path)) {
            Ok(bytes) => bytes,
            Err(error) => {
                say(path, &error.to_string());
                continue;
            }
        };
        if path.starts_with("bin/") {
            if !crate::fsx::is_program(&folder.join(path)) {
                say(path, "not executable");
            }
            if path != "bin/mem0-code" {
                continue;
            }
        }
        let Ok(text) = std::str::from_utf8(&bytes) else {
            say(path, "not UTF-8");
            continue;
        };
        if text.contains("{{") {
            say(path, "a template token is left");
        }
        if let Some(phrase) = forbidden(text) {
            say(path, &format!("orders needless searches: {phrase}"));
        }
        if path.ends_with(".json") {
            match serde_json::from_str::<Value>(text) {
                Err(error) => say(path, &format!("not JSON: {error}")),
                Ok(value) if path == package.manifest => manifest(&value, &mut |what| say(path, what)),
                Ok(value) if path == "hooks/hooks.json" => hooks(package.host, &value, &mut |what| say(path, what)),
                Ok(value) if path == ".mcp.json" => {
                    mcp(&value, package, &files, &mut |what| say(path, what));
                }
                Ok(_) => {}
            }
        }
        if let Some(skill) = path.strip_prefix("skills/").and_then(|rest| rest.strip_suffix("/SKILL.md")) {
            frontmatter(skill, text, &mut |what| say(path, what));
        }
    }
    problems.sort();
    problems
}

/// Files and symbolic links below a folder, as paths with `/`, sorted. Links are not followed.
pub(super) fn walk(folder: &Path) -> (Vec<String>, Vec<String>) {
    fn visit(folder: &Path, prefix: &str, files: &mut Vec<String>, links: &mut Vec<String>) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => links.push(path),
                Ok(kind) if kind.is_dir() => visit(&entry.path(), &format!("{path}/"), files, links),
                _ => files.push(path),
            }
        }
    }
    let (mut files, mut links) = (Vec::new(), Vec::new());
    if std::fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_symlink()) {
        links.push(String::new());
    }
    visit(folder, "", &mut files, &mut links);
    files.sort();
    links.sort();
    (files, links)
}

fn manifest(value: &Value, say: &mut impl FnMut(&str)) {
    let name = value["name"].as_str().unwrap_or_default();
    let kebab = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if !kebab {
        say("`name` is not in kebab case");
    }
    for key in ["version", "description"] {
        if value[key].as_str().is_none_or(str::is_empty) {
            say(&format!("`{key}` is missing"));
        }
    }
    for key in ["skills", "hooks", "mcpServers", "commands", "agents"] {
        if let Some(path) = value[key].as_str().filter(|path| !path.starts_with("./") || path.contains("..")) {
            say(&format!("`{key}` leaves the package: {path}"));
        }
    }
    if let Some(options) = value.get("userConfig") {
        let Some(options) = options.as_object() else { return say("`userConfig` is not an object") };
        for (key, option) in options {
            for field in ["type", "title", "description"] {
                if option[field].as_str().is_none() {
                    say(&format!("option `{key}` has no `{field}`"));
                }
            }
        }
    }
    if let Some(prompts) = value["interface"]["defaultPrompt"].as_array()
        && (prompts.len() > 3
            || prompts.iter().any(|prompt| prompt.as_str().is_none_or(|text| text.chars().count() > 128)))
    {
        say("`interface.defaultPrompt` takes three texts of 128 characters at most");
    }
}

fn hooks(host: &str, value: &Value, say: &mut impl FnMut(&str)) {
    let known = super::hooks::of(host).unwrap_or_default();
    let Some(events) = value["hooks"].as_object() else { return say("`hooks` is not an object") };
    for (event, groups) in events {
        if !known.iter().any(|hook| hook.native == event) {
            say(&format!("unknown event `{event}`"));
        }
        let handlers = groups.as_array().into_iter().flatten().flat_map(|group| group["hooks"].as_array());
        let mut n_handlers = 0;
        for handler in handlers.flatten() {
            n_handlers += 1;
            if handler["type"] != "command" || handler["command"].as_str().is_none_or(str::is_empty) {
                say(&format!("`{event}` has a handler without a command"));
            }
            if handler["timeout"].as_u64().is_none_or(|seconds| seconds == 0) {
                say(&format!("`{event}` has a handler without a time limit"));
            }
        }
        if n_handlers == 0 {
            say(&format!("`{event}` has no handler"));
        }
    }
}

fn mcp(value: &Value, package: &templates::Package, files: &[String], say: &mut impl FnMut(&str)) {
    let Some(servers) = value["mcpServers"].as_object() else { return say("`mcpServers` is not an object") };
    for (name, server) in servers {
        let Some(command) = server["command"].as_str() else {
            say(&format!("server `{name}` has no command"));
            continue;
        };
        let inside =
            command.strip_prefix(package.root).or(command.strip_prefix('.')).and_then(|rest| rest.strip_prefix('/'));
        if inside.is_some_and(|path| !files.iter().any(|file| file == path)) {
            say(&format!("server `{name}` runs {command}, which is not in the package"));
        }
        if inside.is_none() && !Path::new(command).is_absolute() {
            say(&format!("server `{name}` runs {command}, which is neither in the package nor absolute"));
        }
    }
}

fn frontmatter(folder: &str, text: &str, say: &mut impl FnMut(&str)) {
    let Some((head, _)) = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")) else {
        return say("no front matter");
    };
    let field =
        |key: &str| head.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).map_or("", str::trim);
    if field("name") != folder {
        say("`name` is not the folder's name");
    }
    let n_chars = field("description").chars().count();
    if n_chars == 0 || n_chars > MAX_DESCRIPTION_CHARS {
        say("`description` must have 1 to 1024 characters");
    }
}

/// The first forbidden wording in a text.
fn forbidden(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let line = line.to_lowercase();
        let ordered = FORBIDDEN.iter().find(|fragments| {
            let mut rest = line.as_str();
            fragments.iter().all(|fragment| match rest.find(fragment) {
                Some(at) => {
                    rest = &rest[at + fragment.len()..];
                    true
                }
                None => false,
            })
        });
        if let Some(fragments) = ordered {
            return Some(fragments.join(" … "));
        }
        // "run 2-4 parallel searches" and its like.
        let words = ["run 2-4 parallel searches", "run 2 parallel searches", "run several parallel searches"];
        words.iter().find(|words| line.contains(*words)).map(|words| (*words).to_owned())
    })
}
