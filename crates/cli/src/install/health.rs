//! Whether the wiring of a host is in order, for `doctor`.

use super::Options;
use super::edit::Form;
use super::plan::{Naming, Plan};
use super::record::{Store, sha256};
use super::wiring::{self, Step, Wiring};
use super::{naming, program};
use crate::bundle::hooks;
use std::path::Path;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    /// What was looked at: `wiring`, `program`, `files`, `twice`, `trust`.
    pub name: String,
    /// Whether it is as it should be.
    pub ok: bool,
    /// What was found, and what to do about it.
    pub detail: String,
}

fn entry(name: &str, ok: bool, detail: impl Into<String>) -> Check {
    Check { name: name.to_owned(), ok, detail: detail.into() }
}

/// Looks at the wiring of a host; writes nothing.
///
/// An unknown host gets one failed check. Whether hooks were ever called is not known here: the evidence says that.
pub(crate) fn check(options: &Options, host: &str) -> Vec<Check> {
    let Some(wiring) = wiring::find(host) else {
        return vec![entry("wiring", false, format!("install does not know the host `{host}`"))];
    };
    let plugin = wiring.plugin(options);
    let store = match Store::open(&options.mem0_dir) {
        Ok(store) => store,
        Err(error) => return vec![entry("wiring", false, format!("{error:#}"))],
    };
    let Some(record) = store.record.hosts.get(host) else {
        return vec![match plugin {
            Some(plugin) => entry("wiring", true, format!("through the plugin {plugin}")),
            None => entry("wiring", false, format!("not installed; `mem0-code install {host}` does it")),
        }];
    };
    let mut checks = vec![entry("wiring", true, format!("in {}", wiring.root(options).display()))];
    if let Some(plugin) = plugin {
        let detail = format!("the plugin {plugin} is there too; remove it with `{} {plugin}`", wiring.remove_plugin);
        checks.push(entry("twice", false, detail));
    }
    let registered =
        store.record.program.as_ref().map_or_else(|| program::stable_path(options), |copy| copy.path.clone());
    checks.push(match program::version(&registered) {
        Ok(version) => entry("program", true, format!("{} ({version})", registered.display())),
        Err(error) => entry("program", false, format!("{error:#}")),
    });
    match naming(options, &registered) {
        Ok(naming) => {
            checks.push(files(options, wiring, &naming, &store, record.files.len() + record.edits.len()));
            checks.extend(trust(options, wiring, &naming));
        }
        Err(error) => checks.push(entry("files", false, format!("{error:#}"))),
    }
    checks
}

/// Everything is as an install would leave it when an install would have nothing to do.
fn files(options: &Options, wiring: &Wiring, naming: &Naming, store: &Store, n_files: usize) -> Check {
    match Plan::install(options, wiring, naming, store) {
        Ok(plan) if plan.writes.is_empty() => entry("files", true, format!("{n_files} files as installed")),
        Ok(plan) => {
            let paths: Vec<String> = plan.writes.iter().map(|write| write.path.display().to_string()).collect();
            let again = format!("`mem0-code install {}` puts it right", wiring.host);
            entry("files", false, format!("missing or changed: {}; {again}", paths.join(", ")))
        }
        Err(error) => entry("files", false, format!("{error:#}")),
    }
}

/// For a host that asks the user to trust each hook: whether that has been done for ours as they are now.
fn trust(options: &Options, wiring: &Wiring, naming: &Naming) -> Option<Check> {
    let root = wiring.root(options);
    let entries = |form: Form| {
        wiring.steps.iter().find_map(|step| match step {
            Step::Entries { file, form: of } if *of == form => Some(root.join(file)),
            _ => None,
        })
    };
    let (hooks_file, config_file) = (entries(Form::JsonHooks)?, entries(Form::TomlServers)?);
    let hooks_text = std::fs::read_to_string(&hooks_file).unwrap_or_default();
    let config_text = std::fs::read_to_string(config_file).unwrap_or_default();
    let specs = hooks::of(wiring.host)?;
    let value = super::jsonc::parse(&hooks_text).ok()??;
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
