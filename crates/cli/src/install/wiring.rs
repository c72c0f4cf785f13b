//! Where each host keeps what we add, as data. With the package templates this is all that differs between hosts here.

use super::Options;
use super::edit::Form;
use crate::fsx;
use std::path::PathBuf;

/// How a host is wired on a machine.
#[derive(Debug)]
pub(super) struct Wiring {
    /// The host's id.
    pub host: &'static str,
    /// Its command, to tell whether it is installed.
    pub command: &'static str,
    /// The variable that moves its configuration folder.
    pub folder_variable: &'static str,
    /// That folder below the user's home, when the variable is not set.
    pub folder: &'static str,
    /// What is put there, in order.
    pub steps: &'static [Step],
    /// Where the host notes plugins that were installed through itself.
    pub plugins: PluginList,
    /// How the user removes such a plugin.
    pub remove_plugin: &'static str,
    /// What the user has to do or know after an install.
    pub notes: &'static [&'static str],
}

/// One thing that is put into a host's configuration folder. Paths are below that folder.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// The whole package, which the host loads from a folder.
    Package {
        /// The folder, ours alone.
        folder: &'static str,
    },
    /// The package's skills, for a host that lists them by their bare names.
    Skills {
        /// The folder, ours alone.
        folder: &'static str,
        /// What their names get in front.
        prefix: &'static str,
    },
    /// Entries in a file of the user's.
    Entries {
        /// The file.
        file: &'static str,
        /// Its kind.
        form: Form,
    },
}

/// Where a host lists its plugins.
#[derive(Debug, Clone, Copy)]
pub(super) enum PluginList {
    /// A JSON object `key` of `name@market: true` in a file.
    Json {
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
}

/// Every host that can be wired. Source of the places: runs of Claude Code 2.1.332 and Codex 0.171.0.
pub(super) const WIRINGS: &[Wiring] = &[
    Wiring {
        host: "claude-code",
        command: "claude",
        folder_variable: "CLAUDE_CONFIG_DIR",
        folder: ".claude",
        // A folder with a manifest below `skills/` is loaded whole, as `mem0@skills-dir`, and no file of the user's is touched.
        steps: &[Step::Package { folder: "skills/mem0" }],
        plugins: PluginList::Json { file: "settings.json", key: "enabledPlugins" },
        remove_plugin: "claude plugin uninstall",
        notes: &["needs Claude Code 2.1.157 or newer; running sessions see it after a restart"],
    },
    Wiring {
        host: "codex",
        command: "codex",
        folder_variable: "CODEX_HOME",
        folder: ".codex",
        steps: &[
            Step::Entries { file: "config.toml", form: Form::TomlServers },
            Step::Skills { folder: "skills/mem0", prefix: "mem0-" },
            Step::Entries { file: "hooks.json", form: Form::JsonHooks },
        ],
        plugins: PluginList::Toml { file: "config.toml", key: "plugins" },
        remove_plugin: "codex plugin remove",
        notes: &["Codex runs hooks only once you trust them: start it and open /hooks"],
    },
];

/// The wiring of a host.
pub(super) fn find(host: &str) -> Option<&'static Wiring> {
    WIRINGS.iter().find(|wiring| wiring.host == host)
}

impl Wiring {
    /// The host's configuration folder on this machine.
    pub(super) fn root(&self, options: &Options) -> PathBuf {
        match options.env.get(self.folder_variable).filter(|folder| !folder.is_empty()) {
            Some(folder) => PathBuf::from(folder),
            None => options.home.join(self.folder),
        }
    }

    /// Whether the host is on this machine: its command on the PATH, or its configuration folder.
    pub(super) fn is_present(&self, options: &Options) -> bool {
        self.root(options).is_dir()
            || options.env.get("PATH").is_some_and(|path| fsx::find_program(self.command, path).is_some())
    }

    /// The plugin of our name that was installed through the host itself, as `mem0@market`.
    pub(super) fn plugin(&self, options: &Options) -> Option<String> {
        let root = self.root(options);
        let is_one = |name: &str| name.starts_with("mem0@") && name != "mem0@skills-dir";
        match self.plugins {
            PluginList::Json { file, key } => {
                let text = std::fs::read_to_string(root.join(file)).ok()?;
                let value = super::jsonc::parse(&text).ok()??;
                let plugins = value[key].as_object()?;
                plugins
                    .iter()
                    .find(|(name, on)| is_one(name) && on.as_bool() == Some(true))
                    .map(|(name, _)| name.clone())
            }
            PluginList::Toml { file, key } => {
                let text = std::fs::read_to_string(root.join(file)).ok()?;
                let document: toml_edit::DocumentMut = text.trim_start_matches('\u{feff}').parse().ok()?;
                let plugins = document.get(key)?.as_table_like()?;
                let is_on = |item: &toml_edit::Item| {
                    item.as_table_like()?.get("enabled").map_or(Some(true), toml_edit::Item::as_bool)
                };
                plugins
                    .iter()
                    .find(|(name, item)| is_one(name) && is_on(item) == Some(true))
                    .map(|(name, _)| name.to_owned())
            }
        }
    }
}
