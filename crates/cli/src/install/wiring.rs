//! Where each host keeps what we add, as data. With the package templates this is all that differs between hosts here.

use super::Options;
use super::edit::Form;
use super::plugins::PluginList;
use super::record::Store;
use super::shapes::PACKAGE_FOLDER;
use crate::fsx;
use std::path::{Path, PathBuf};

/// How a host is wired on a machine.
#[derive(Debug)]
pub(super) struct Wiring {
    /// The host's id.
    pub host: &'static str,
    /// Its commands, to tell whether it is installed.
    pub commands: &'static [&'static str],
    /// The variable that moves its configuration folder, empty when there is none, and where the folder is below what that names.
    pub folder_variable: (&'static str, &'static str),
    /// That folder below the user's home, when the variable is not set.
    pub folder: &'static str,
    /// Other folders below the user's home that only this host makes.
    pub signs: &'static [&'static str],
    /// The ways to wire it, best first.
    pub ways: &'static [Way],
    /// Where the host notes plugins that were installed through itself.
    pub plugins: &'static [PluginList],
    /// How the user removes such a plugin; `{}` is its name.
    pub remove_plugin: &'static str,
    /// What the user has to do or know after an install.
    pub notes: &'static [&'static str],
    /// What else `doctor` has to look at.
    pub traps: &'static [Trap],
}

/// One way to wire a host.
#[derive(Debug)]
pub(super) struct Way {
    /// Its name, kept in the record: a host stays wired the way it was.
    pub name: &'static str,
    /// What must be in the host's folder for this way; empty when nothing must.
    pub needs: &'static str,
    /// What is put there, in order.
    pub steps: &'static [Step],
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
    /// One file of ours in a folder whose every module the host loads.
    Module {
        /// The file.
        file: &'static str,
        /// What it says.
        text: &'static str,
    },
    /// Entries in a file of the user's.
    Entries {
        /// The file.
        file: &'static str,
        /// The variable that names it instead; empty when there is none.
        variable: &'static str,
        /// Its kind.
        form: Form,
    },
}

/// What `doctor` has to look at for one host, because it goes wrong there without a word.
#[derive(Debug, Clone, Copy)]
pub(super) enum Trap {
    /// Each hook has to be trusted by the user.
    HookTrust,
    /// The host runs no hooks of plugins it was not allowed to show the conversation to.
    Conversation,
    /// The model is not shown the tools of servers in the user's own file unless the entry says so.
    ServerExposure {
        /// That file.
        file: &'static str,
    },
    /// Variables with these in their names do not reach what the host starts.
    ScrubbedEnvironment {
        /// Parts of names.
        words: &'static [&'static str],
    },
    /// One that our package cannot fall into, said so that nobody looks for it.
    Avoided {
        /// Its name.
        name: &'static str,
        /// Why not.
        how: &'static str,
    },
    /// The plugin was switched off in the host.
    RowSwitch {
        /// The file with the row.
        file: &'static str,
    },
    /// The host has renamed the key of its plugin list; a plugin of the other kind does not load.
    ConfigKey {
        /// The files with the key.
        files: &'static [&'static str],
    },
}

const STOCK_CLAUDE: &[PluginList] = &[PluginList::Flags { file: "settings.json", key: "enabledPlugins" }];

/// Every host that can be wired.
///
/// Sources of the places: runs of Claude Code 2.1.332, Codex 0.171.0, Kimi Code 2.1.0, OpenCode 1.18.33, OpenClaw 2026.9.6, Pi 1.6.0
/// and DeepSeek Harness 0.1.0-rc.8; for Cursor and Antigravity their documentation.
pub(super) const WIRINGS: &[Wiring] = &[
    Wiring {
        host: "antigravity",
        commands: &["agy", "antigravity"],
        folder_variable: ("", ""),
        folder: ".gemini/config",
        signs: &[".gemini/antigravity", ".gemini/antigravity-cli"],
        ways: &[Way { name: "plugin", needs: "", steps: &[Step::Package { folder: "plugins/mem0" }] }],
        plugins: &[PluginList::Folder { folder: "plugins/mem0", manifest: "plugin.json" }],
        remove_plugin: "remove {}",
        notes: &[
            "running sessions see it after a restart; with an API key instead of a login Antigravity runs no hooks",
        ],
        traps: &[],
    },
    Wiring {
        host: "claude-code",
        commands: &["claude"],
        folder_variable: ("CLAUDE_CONFIG_DIR", ""),
        folder: ".claude",
        signs: &[],
        // A folder with a manifest below `skills/` is loaded whole, as `mem0@skills-dir`, and no file of the user's is touched.
        ways: &[Way { name: "plugin", needs: "", steps: &[Step::Package { folder: "skills/mem0" }] }],
        plugins: STOCK_CLAUDE,
        remove_plugin: "claude plugin uninstall {}",
        notes: &["needs Claude Code 2.1.157 or newer; running sessions see it after a restart"],
        traps: &[],
    },
    Wiring {
        host: "codex",
        commands: &["codex"],
        folder_variable: ("CODEX_HOME", ""),
        folder: ".codex",
        signs: &[],
        // Its own plugin commands rewrite config.toml and lose comments, and its plugins get no path of the program.
        ways: &[Way {
            name: "entries",
            needs: "",
            steps: &[
                Step::Entries { file: "config.toml", variable: "", form: Form::TomlServers },
                Step::Skills { folder: "skills/mem0", prefix: "mem0-" },
                Step::Entries { file: "hooks.json", variable: "", form: Form::JsonHooks },
            ],
        }],
        plugins: &[PluginList::Toml { file: "config.toml", key: "plugins" }],
        remove_plugin: "codex plugin remove {}",
        notes: &["Codex runs hooks only once you trust them: start it and open /hooks"],
        traps: &[Trap::HookTrust],
    },
    Wiring {
        host: "cursor",
        commands: &["cursor", "cursor-agent"],
        folder_variable: ("", ""),
        folder: ".cursor",
        signs: &[],
        ways: &[
            Way { name: "plugin", needs: "plugins", steps: &[Step::Package { folder: "plugins/local/mem0" }] },
            // Versions without plugins read the same hooks and servers from the user's own files.
            Way {
                name: "entries",
                needs: "",
                steps: &[
                    Step::Entries { file: "mcp.json", variable: "", form: Form::JsonServers },
                    Step::Skills { folder: "skills/mem0", prefix: "mem0-" },
                    Step::Entries { file: "hooks.json", variable: "", form: Form::JsonHookLists },
                ],
            },
        ],
        plugins: &[PluginList::Folder { folder: "plugins/local/mem0", manifest: ".cursor-plugin/plugin.json" }],
        remove_plugin: "remove {}",
        notes: &["reload Cursor's window to load it"],
        traps: &[],
    },
    Wiring {
        host: "deepseek",
        commands: &["dsh"],
        folder_variable: ("DSH_HOME", ""),
        folder: ".dsh",
        signs: &[],
        ways: &[Way {
            name: "entries",
            needs: "",
            steps: &[
                Step::Package { folder: PACKAGE_FOLDER },
                Step::Entries { file: "cordis.patch.yml", variable: "", form: Form::YamlRows },
            ],
        }],
        plugins: &[PluginList::Lines { file: "cordis.patch.yml", names: &["@mem0/deepseek-plugin"] }],
        remove_plugin: "take the row of {} out of cordis.patch.yml",
        notes: &["applies to every profile"],
        traps: &[
            Trap::ScrubbedEnvironment { words: &["KEY", "PASSWORD", "SECRET", "TOKEN"] },
            Trap::Avoided {
                name: "interpolation",
                how: "memories enter as messages, which the host does not read as templates: `{{` in them is harmless",
            },
        ],
    },
    Wiring {
        host: "kimi",
        commands: &["kimi"],
        folder_variable: ("KIMI_CODE_HOME", ""),
        folder: ".kimi-code",
        signs: &[],
        // Its plugin command is only inside its screen; the row below is what it writes. Hooks in config.toml would be all or nothing:
        // one that a version does not know switches every hook off.
        ways: &[Way {
            name: "plugin",
            needs: "",
            steps: &[
                Step::Package { folder: "plugins/mem0-code" },
                Step::Entries { file: "plugins/installed.json", variable: "", form: Form::JsonPluginRows },
            ],
        }],
        plugins: &[PluginList::Rows { file: "plugins/installed.json", key: "plugins", ids: &["mem0", "mem0-plugin"] }],
        remove_plugin: "remove {} with /plugins in Kimi Code",
        notes: &["running sessions see it after /reload"],
        traps: &[Trap::RowSwitch { file: "plugins/installed.json" }],
    },
    Wiring {
        host: "openclaw",
        commands: &["openclaw"],
        folder_variable: ("OPENCLAW_STATE_DIR", ""),
        folder: ".openclaw",
        signs: &[],
        // Its own install command takes fifteen seconds and rewrites the file without its comments.
        ways: &[Way {
            name: "entries",
            needs: "",
            steps: &[
                Step::Package { folder: PACKAGE_FOLDER },
                Step::Entries { file: "openclaw.json", variable: "OPENCLAW_CONFIG_PATH", form: Form::JsonPluginPaths },
            ],
        }],
        plugins: &[PluginList::Entries {
            file: "openclaw.json",
            path: &["plugins", "entries"],
            names: &["openclaw-mem0"],
        }],
        remove_plugin: "openclaw plugins uninstall {}",
        notes: &[
            "it may read the conversation (hooks.allowConversationAccess); a running Gateway sees it after a restart",
        ],
        traps: &[Trap::Conversation],
    },
    Wiring {
        host: "opencode",
        commands: &["opencode"],
        folder_variable: ("XDG_CONFIG_HOME", "opencode"),
        folder: ".config/opencode",
        signs: &[".local/share/opencode"],
        // Modules in this folder are loaded by both generations of the host, whatever its configuration calls the list of plugins.
        ways: &[Way {
            name: "module",
            needs: "",
            steps: &[
                Step::Package { folder: PACKAGE_FOLDER },
                Step::Module {
                    file: "plugins/mem0-code.js",
                    text: "// Written by `mem0-code install opencode`; `mem0-code uninstall opencode` takes it away.\nexport { default } from \"../mem0-code/dist/index.js\";\n",
                },
            ],
        }],
        plugins: &[
            PluginList::Names { file: "opencode.json", key: "plugin", names: STOCK_OPENCODE },
            PluginList::Names { file: "opencode.jsonc", key: "plugin", names: STOCK_OPENCODE },
            PluginList::Names { file: "opencode.json", key: "plugins", names: STOCK_OPENCODE },
            PluginList::Names { file: "opencode.jsonc", key: "plugins", names: STOCK_OPENCODE },
        ],
        remove_plugin: "take {} out of OpenCode's configuration",
        notes: &["at its next start OpenCode may fetch its own plugin library once"],
        traps: &[Trap::ConfigKey { files: &["opencode.json", "opencode.jsonc"] }],
    },
    Wiring {
        host: "pi",
        commands: &["pi"],
        folder_variable: ("PI_CODING_AGENT_DIR", ""),
        folder: ".pi/agent",
        signs: &[],
        ways: &[Way { name: "extension", needs: "", steps: &[Step::Package { folder: "extensions/mem0" }] }],
        plugins: &[PluginList::Names {
            file: "settings.json",
            key: "packages",
            names: &["@mem0/pi-agent-plugin", "pi-agent-plugin"],
        }],
        remove_plugin: "pi remove {}",
        notes: &["running sessions see it after /reload"],
        traps: &[Trap::ServerExposure { file: "mcp.json" }],
    },
];

/// Names under which the Mem0 plugin is listed there.
const STOCK_OPENCODE: &[&str] = &["@mem0/opencode-plugin", "opencode-mem0", "mem0-opencode"];

/// The wiring of a host.
pub(super) fn find(host: &str) -> Option<&'static Wiring> {
    WIRINGS.iter().find(|wiring| wiring.host == host)
}

/// A path that a variable of the host's names.
fn set(options: &Options, variable: &str) -> Option<PathBuf> {
    options.env.get(variable).filter(|path| !path.is_empty()).map(PathBuf::from)
}

impl Wiring {
    /// The host's configuration folder on this machine.
    pub(super) fn root(&self, options: &Options) -> PathBuf {
        let (variable, below) = self.folder_variable;
        match set(options, variable) {
            Some(folder) if below.is_empty() => folder,
            Some(folder) => folder.join(below),
            None => options.home.join(self.folder),
        }
    }

    /// What tells that the host is on this machine: its command on the PATH, its configuration folder. Empty: it is not.
    pub(super) fn found(&self, options: &Options) -> Vec<String> {
        let path = options.env.get("PATH").map(String::as_str).unwrap_or_default();
        let commands = self.commands.iter().filter_map(|command| fsx::find_program(command, path));
        let folders = std::iter::once(self.root(options)).chain(self.signs.iter().map(|sign| options.home.join(sign)));
        let folder = folders.filter(|folder| folder.is_dir()).take(1);
        let command = commands.take(1).map(|command| format!("its command {}", command.display()));
        command.chain(folder.map(|folder| format!("its folder {}", folder.display()))).collect()
    }

    /// Whether the host is on this machine.
    pub(super) fn is_present(&self, options: &Options) -> bool {
        !self.found(options).is_empty()
    }

    /// The plugin of the stock kind, or of our name, that was installed through the host itself.
    pub(super) fn plugin(&self, options: &Options, store: &Store) -> Option<String> {
        let root = self.root(options);
        let is_recorded = |folder: &Path| {
            store.record.hosts.get(self.host).is_some_and(|old| old.files.keys().any(|path| path.starts_with(folder)))
        };
        self.plugins.iter().find_map(|list| list.find(&root, self.host, &is_recorded))
    }

    /// What removes such a plugin.
    pub(super) fn removal(&self, plugin: &str) -> String {
        self.remove_plugin.replace("{}", plugin)
    }

    /// The way this host is or is to be wired: as it was, as its files tell, else the first that can be.
    pub(super) fn way(&self, options: &Options, recorded: &str) -> &'static Way {
        let root = self.root(options);
        let ways: &'static [Way] = self.ways;
        let by_name = ways.iter().find(|way| way.name == recorded);
        let traced = || ways.iter().find(|way| way.is_there(&root, options, self.host));
        let possible = || ways.iter().find(|way| way.needs.is_empty() || root.join(way.needs).is_dir());
        by_name.or_else(traced).or_else(possible).unwrap_or(&ways[0])
    }
}

impl Way {
    /// Whether something of ours is there in this way.
    fn is_there(&self, root: &Path, options: &Options, host: &str) -> bool {
        self.steps.iter().any(|step| match step {
            Step::Package { folder } => {
                crate::bundle::manifest(host).is_some_and(|file| root.join(folder).join(file).is_file())
            }
            Step::Entries { form, .. } => {
                std::fs::read_to_string(step.file(root, options)).is_ok_and(|text| form.has_ours(&text, host))
            }
            Step::Skills { .. } | Step::Module { .. } => false,
        })
    }
}

impl Step {
    /// The file or folder of the step on this machine.
    pub(super) fn file(&self, root: &Path, options: &Options) -> PathBuf {
        match self {
            Step::Package { folder } | Step::Skills { folder, .. } => root.join(folder),
            Step::Module { file, .. } => root.join(file),
            Step::Entries { file, variable, .. } => set(options, variable).unwrap_or_else(|| root.join(file)),
        }
    }
}
