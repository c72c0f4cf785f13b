//! Plugins that a host got through its own commands, as the host's files list them.

use super::shapes::NAME;
use super::{jsonc, shapes};
use serde_json::Value;
use std::path::Path;

/// Where a host lists its plugins. Files are below the host's folder.
#[derive(Debug, Clone, Copy)]
pub(super) enum PluginList {
    /// A JSON object `key` of `name@market: true`.
    Flags {
        /// The file.
        file: &'static str,
        /// The key.
        key: &'static str,
    },
    /// TOML tables `key."name@market"`, on unless `enabled = false`.
    Toml {
        /// The file.
        file: &'static str,
        /// The table of tables.
        key: &'static str,
    },
    /// A JSON list of rows with an id and the folder the plugin is in; rows of ours have a folder of ours.
    Rows {
        /// The file.
        file: &'static str,
        /// The list.
        key: &'static str,
        /// The ids.
        ids: &'static [&'static str],
    },
    /// A JSON list of names, of pairs that begin with one, or of objects with a `source` or `package`.
    Names {
        /// The file.
        file: &'static str,
        /// The list.
        key: &'static str,
        /// The names, without version and kind of source.
        names: &'static [&'static str],
    },
    /// A JSON object, some levels down, with an entry a plugin, on unless `enabled` is false.
    Entries {
        /// The file.
        file: &'static str,
        /// The way to the object.
        path: &'static [&'static str],
        /// The names.
        names: &'static [&'static str],
    },
    /// A text file that names it.
    Lines {
        /// The file.
        file: &'static str,
        /// The names.
        names: &'static [&'static str],
    },
    /// A folder with a manifest, and nothing of ours in it.
    Folder {
        /// The folder.
        folder: &'static str,
        /// The manifest in it.
        manifest: &'static str,
    },
}

impl PluginList {
    /// The name of the plugin, when the list has it. A file that cannot be read has none.
    ///
    /// `is_recorded` tells whether we put files into a folder.
    pub(super) fn find(&self, root: &Path, host: &str, is_recorded: &dyn Fn(&Path) -> bool) -> Option<String> {
        let read = |file: &str| std::fs::read_to_string(root.join(file)).ok();
        let value = |file: &str| jsonc::read(&read(file)?, true).ok()?;
        match *self {
            PluginList::Flags { file, key } => {
                let value = value(file)?;
                let mut plugins = value[key].as_object()?.iter();
                plugins
                    .find(|(name, on)| is_market_name(name) && on.as_bool() == Some(true))
                    .map(|(name, _)| name.clone())
            }
            PluginList::Toml { file, key } => {
                let document: toml_edit::DocumentMut = read(file)?.trim_start_matches('\u{feff}').parse().ok()?;
                let plugins = document.get(key)?.as_table_like()?;
                let is_on = |item: &toml_edit::Item| {
                    item.as_table_like()?.get("enabled").map_or(Some(true), toml_edit::Item::as_bool)
                };
                let mut plugins = plugins.iter();
                plugins
                    .find(|(name, item)| is_market_name(name) && is_on(item) == Some(true))
                    .map(|(name, _)| name.to_owned())
            }
            PluginList::Rows { file, key, ids } => {
                let value = value(file)?;
                let row = value[key].as_array()?.iter().find(|row| {
                    ids.iter().any(|id| row["id"] == *id)
                        && !shapes::is_row(&value, row, host)
                        && row["enabled"] != false
                })?;
                Some(row["id"].as_str()?.to_owned())
            }
            PluginList::Names { file, key, names } => {
                let value = value(file)?;
                let listed = value[key].as_array()?.iter().filter_map(name_of);
                listed.into_iter().find(|listed| names.contains(&bare(listed))).map(str::to_owned)
            }
            PluginList::Entries { file, path, names } => {
                let value = value(file)?;
                let entries = path.iter().try_fold(&value, |value, key| value.get(key))?;
                names
                    .iter()
                    .find(|name| entries.get(name).is_some_and(|entry| entry["enabled"] != false))
                    .map(|name| (*name).to_owned())
            }
            PluginList::Lines { file, names } => {
                let text = read(file)?;
                let mut lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
                lines.find_map(|line| names.iter().find(|name| line.contains(*name))).map(|name| (*name).to_owned())
            }
            PluginList::Folder { folder, manifest } => {
                let folder = root.join(folder);
                let is_foreign = folder.join(manifest).is_file() && !is_recorded(&folder) && !is_ours(&folder, host);
                is_foreign.then(|| folder.display().to_string())
            }
        }
    }
}

/// `mem0` of a market; the host's own name for what we put into a folder is not one.
fn is_market_name(name: &str) -> bool {
    name.split_once('@').is_some_and(|(plugin, market)| plugin == NAME && market != "skills-dir")
}

/// Whether the hooks of a package name the program by its path, as only installed packages do.
fn is_ours(folder: &Path, host: &str) -> bool {
    let is_named = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        ["", "'"].iter().any(|quote| text.contains(&format!("mem0-code{quote} hook {host} ")))
    };
    ["hooks/hooks.json", "hooks.json"].iter().any(|file| is_named(folder.join(file)))
}

fn name_of(entry: &Value) -> Option<&str> {
    let fields = [entry, &entry[0], &entry["source"], &entry["package"]];
    fields.into_iter().find_map(Value::as_str)
}

/// A package's name without the kind of source before it and the version behind it.
fn bare(name: &str) -> &str {
    let name = name.strip_prefix("npm:").unwrap_or(name);
    match name.rfind('@') {
        Some(at) if at > 0 => &name[..at],
        _ => name,
    }
}
