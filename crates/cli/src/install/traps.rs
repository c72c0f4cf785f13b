//! What goes wrong in one host without a word from it: looked at by `doctor`, listed as data in [`super::wiring`].

use super::edit::Form;
use super::health::{Check, entry};
use super::plan::Naming;
use super::record::sha256;
use super::shapes::{self, NAME};
use super::wiring::{Step, Trap, Way, Wiring};
use super::{Options, jsonc};
use crate::bundle::hooks;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Looks for one trap; `None` when there is nothing to say.
pub(super) fn check(options: &Options, wiring: &Wiring, way: &Way, naming: &Naming, trap: Trap) -> Option<Check> {
    let root = wiring.root(options);
    let read = |file: &str| {
        let text = std::fs::read_to_string(root.join(file)).unwrap_or_default();
        jsonc::read(&text, true).ok().flatten().unwrap_or_default()
    };
    match trap {
        Trap::HookTrust => trust(options, wiring, way, naming),
        Trap::Conversation => {
            let file = entries_file(way, &root, options, Form::JsonPluginPaths)?;
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            let value = jsonc::read(&text, true).ok().flatten().unwrap_or_default();
            Some(conversation(&value["plugins"]))
        }
        Trap::ServerExposure { file } => Some(exposure(file, &read(file)["mcpServers"][NAME])),
        Trap::ScrubbedEnvironment { words } => Some(scrubbed(options, words)),
        Trap::Avoided { name, how } => Some(entry(name, true, how)),
        Trap::RowSwitch { file } => {
            let value = read(file);
            let mut rows = value["plugins"].as_array()?.iter();
            let row = rows.find(|row| shapes::is_row(&value, row, wiring.host))?;
            let is_on = row["enabled"] != false;
            let detail = if is_on {
                "the plugin is switched on"
            } else {
                "the plugin is switched off in the host; /plugins switches it on"
            };
            Some(entry("switch", is_on, detail))
        }
        Trap::ConfigKey { files } => Some(config_key(way, &root, options, files, &read)),
    }
}

fn entries_file(way: &Way, root: &Path, options: &Options, form: Form) -> Option<PathBuf> {
    let step = way.steps.iter().find(|step| matches!(step, Step::Entries { form: of, .. } if *of == form))?;
    Some(step.file(root, options))
}

/// A host that keeps the conversation from plugins unless their entry says otherwise.
fn conversation(plugins: &Value) -> Check {
    let ours = &plugins["entries"][NAME];
    let lists = |key: &str| plugins[key].as_array().map(|names| names.iter().any(|name| name == NAME));
    let fault = if plugins["enabled"] == false {
        Some("plugins are switched off as a whole (plugins.enabled)")
    } else if ours["enabled"] == false {
        Some("the plugin is switched off (plugins.entries.mem0.enabled)")
    } else if lists("deny") == Some(true) {
        Some("plugins.deny names mem0")
    } else if lists("allow") == Some(false) {
        Some("plugins.allow does not name mem0")
    } else if plugins["slots"]["memory"].as_str().is_some_and(|name| name != NAME) {
        Some("plugins.slots.memory names another plugin, so the host does not run this one")
    } else if ours["hooks"]["allowConversationAccess"] != true {
        Some("plugins.entries.mem0.hooks.allowConversationAccess is not true: nothing is captured or recalled")
    } else if ours["hooks"]["allowPromptInjection"] == false {
        Some("plugins.entries.mem0.hooks.allowPromptInjection is false: nothing is recalled")
    } else {
        None
    };
    match fault {
        Some(fault) => entry("conversation", false, fault),
        None => entry("conversation", true, "the plugin may read the conversation and add to it"),
    }
}

/// A host that hides a server's tools from the model unless told to show them; those of an extension are shown.
fn exposure(file: &str, server: &Value) -> Check {
    let shown = server["exposure"].as_str().unwrap_or("codemode");
    match server {
        Value::Null => entry("exposure", true, "the extension's tools are shown to the model directly"),
        _ if server["enabled"] == false || matches!(shown, "direct" | "model-only" | "deferred") => {
            entry("exposure", true, format!("`{NAME}` in {file} does not hide the extension's tools"))
        }
        _ => {
            let hint = "take it out, since the extension has the tools, or add \"exposure\": \"direct\"";
            entry("exposure", false, format!("the tools of `{NAME}` in {file} are reached from code mode only; {hint}"))
        }
    }
}

/// A host that withholds variables from the servers and commands it starts. The module starts the program itself, with all of them.
fn scrubbed(options: &Options, words: &[&str]) -> Check {
    let is_ours = |name: &&String| name.starts_with("MEM0_") || name.contains("PLUGIN_OPTION_");
    let is_withheld = |name: &&String| words.iter().any(|word| name.to_ascii_uppercase().contains(word));
    let names: Vec<&str> = options.env.keys().filter(is_ours).filter(is_withheld).map(String::as_str).collect();
    let names = names.join(", ");
    let detail = match names.as_str() {
        "" => "nothing is set that the host withholds".to_owned(),
        names => format!("the module hands {names} on; a server row of your own would not get it"),
    };
    entry("environment", true, detail)
}

/// A host whose list of plugins has two names, of which a version reads one. Ours needs neither, so it must be in neither.
fn config_key(way: &Way, root: &Path, options: &Options, files: &[&str], read: &dyn Fn(&str) -> Value) -> Check {
    let folders: Vec<PathBuf> = way.steps.iter().map(|step| step.file(root, options)).collect();
    let is_listed = |list: &Value| {
        let names = list
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|entry| [entry, &entry[0], &entry["package"]].into_iter().find_map(Value::as_str));
        names.into_iter().any(|name| folders.iter().any(|folder| name.contains(&*folder.to_string_lossy())))
    };
    let found = files.iter().find_map(|file| {
        let value = read(file);
        ["plugin", "plugins"].into_iter().find(|key| is_listed(&value[key])).map(|key| (file, key))
    });
    match found {
        Some((file, key)) => entry(
            "config_key",
            false,
            format!("`{key}` in {file} names it too, and it would run twice; take it out there"),
        ),
        None => entry("config_key", true, "loaded from the plugins folder, which needs neither `plugin` nor `plugins`"),
    }
}

/// For a host that asks the user to trust each hook: whether that has been done for ours as they are now.
fn trust(options: &Options, wiring: &Wiring, way: &Way, naming: &Naming) -> Option<Check> {
    let root = &wiring.root(options);
    let hooks_file = entries_file(way, root, options, Form::JsonHooks)?;
    let config_file = entries_file(way, root, options, Form::TomlServers)?;
    let hooks_text = std::fs::read_to_string(&hooks_file).unwrap_or_default();
    let config_text = std::fs::read_to_string(config_file).unwrap_or_default();
    let specs = hooks::of(wiring.host)?;
    let value = jsonc::parse(&hooks_text).ok()??;
    let config: toml_edit::DocumentMut = config_text.trim_start_matches('\u{feff}').parse().ok()?;
    let trusted = |spec: &&mem0_code_core::host::HookSpec| {
        let ours = hooks::group(wiring.host, spec, &naming.shell).value();
        let position =
            value["hooks"][spec.native].as_array().and_then(|groups| groups.iter().position(|group| *group == ours));
        position.is_some_and(|position| is_trusted(&config, &hooks_file, spec, &ours, position))
    };
    let n_trusted = specs.iter().filter(trusted).count();
    let detail = format!("{n_trusted} of {} hooks are trusted", specs.len());
    let hint = if n_trusted < specs.len() { "; the others do not run until you trust them: open /hooks" } else { "" };
    Some(entry("trust", n_trusted == specs.len(), detail + hint))
}

/// Whether the host's configuration trusts one handler as it is now.
fn is_trusted(
    config: &toml_edit::DocumentMut,
    hooks_file: &Path,
    spec: &mem0_code_core::host::HookSpec,
    ours: &serde_json::Value,
    position: usize,
) -> bool {
    let mut event = String::new();
    for (char_idx, c) in spec.native.chars().enumerate() {
        if c.is_ascii_uppercase() && char_idx > 0 {
            event.push('_');
        }
        event.push(c.to_ascii_lowercase());
    }
    let key = format!("{}:{event}:{position}:0", hooks_file.display());
    let state = config
        .get("hooks")
        .and_then(|hooks| hooks.as_table_like()?.get("state")?.as_table_like()?.get(&key)?.as_table_like());
    let Some(state) = state else { return false };
    if state.get("enabled").and_then(toml_edit::Item::as_bool) == Some(false) {
        return false;
    }
    let Some(hash) = state.get("trusted_hash").and_then(toml_edit::Item::as_str) else { return false };
    hash == trust_hash(&event, ours)
}

/// What a host remembers of a hook that the user trusted. Source: equal to what `hooks/list` of Codex 0.171.0 answers.
pub(super) fn trust_hash(event: &str, group: &serde_json::Value) -> String {
    let handler = &group["hooks"][0];
    let mut hashed = serde_json::json!({
        "event_name": event,
        "hooks": [{"async": false, "command": handler["command"], "timeout": handler["timeout"], "type": "command"}],
    });
    if let Some(matcher) = group.get("matcher") {
        hashed["matcher"] = matcher.clone();
    }
    // Serialized maps are sorted, which is the order that is hashed.
    format!("sha256:{}", sha256(hashed.to_string().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mem0_code_core::host::HookSpec;

    /// The hashes are what Codex 0.171.0 gave for a file with these entries.
    #[test]
    fn hashes_are_those_of_the_host() {
        let cases = [
            (
                "session_start",
                HookSpec { native: "SessionStart", matcher: Some("startup|resume|clear|compact|fork"), timeout_s: 3 },
                "de0c3dbb54093332d2071c70f00c48fa8d13bc6bb14d39222bdc303cf512162e",
            ),
            (
                "post_tool_use",
                HookSpec { native: "PostToolUse", matcher: Some("*"), timeout_s: 3 },
                "796b101ae16b370b7c6a5ded7758dac2d14a728125c6c937bcfa1ffb037069d2",
            ),
            (
                "stop",
                HookSpec { native: "Stop", matcher: None, timeout_s: 3 },
                "5d0fc289555547dbabf37fe78a6d51b568967826f3bac71895a085cfd1102bda",
            ),
        ];
        for (event, spec, expected) in cases {
            let group = hooks::group("codex", &spec, "/x/mem0-code").value();
            assert_eq!(trust_hash(event, &group), format!("sha256:{expected}"));
        }
    }
}
