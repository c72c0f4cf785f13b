//! What is particular to each host's package, as data. A new host is an entry here and a folder of templates.

use super::templates::{Template, source, templates};

/// What is particular to one host's package.
#[derive(Debug, Clone, Copy)]
pub(super) struct Package {
    /// The host's id.
    pub host: &'static str,
    /// What people call the host, where [`mem0_code_core::hosts`] has no name for it.
    pub name: &'static str,
    /// The package's folder below `plugins/`.
    pub folder: &'static str,
    /// Files of this host only, apart from the hooks' file.
    pub files: &'static [Template],
    /// The manifest, as a path inside the package. It is what makes a folder a package: written last, removed first.
    pub manifest: &'static str,
    /// The file with the MCP servers, as a path inside the package; the manifest's own when it holds them.
    pub servers: &'static str,
    /// Where hooks are registered.
    pub hooks: HookFile,
    /// How the package's root is spelled in a hook's command.
    pub root: &'static str,
    /// The words that start the package's own launcher as an MCP server.
    pub server: &'static [&'static str],
    /// The words that start a program by its absolute path as an MCP server; the path comes after them.
    pub server_native: &'static [&'static str],
    /// How a skill of the package runs the program when it is not tied to one machine.
    pub skill_program: &'static str,
    /// What a skill must add about that, as Markdown; empty when the host fills in the path.
    pub skill_note: &'static str,
    /// Fields of a skill's front matter this host reads, beside `name` and `description`.
    pub skill_fields: &'static [&'static str],
    /// How a session is handed off from this host, as Markdown with tokens.
    pub handoff: &'static str,
    /// What its files must look like: a JSON Schema whose `$defs` are named by [`Package::contracts`].
    pub schema: &'static str,
    /// Which definition of the schema each JSON file of the package must meet.
    pub contracts: &'static [(&'static str, &'static str)],
}

/// Where and in which shape a host reads the hooks of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookFile {
    /// A file of events with matcher groups, which hold handlers.
    Groups {
        /// The file.
        path: &'static str,
    },
    /// A file of events with handlers, which may have a matcher.
    Flat {
        /// The file.
        path: &'static str,
    },
    /// A file of named sets of events; lists of events with a matcher hold groups, the others handlers.
    Sets {
        /// The file.
        path: &'static str,
        /// Our set's name.
        set: &'static str,
    },
    /// One list in the manifest, whose entries name their event.
    InManifest,
    /// The format knows no hooks.
    None,
}

impl HookFile {
    /// The file, when there is one beside the manifest.
    pub(super) fn path(self) -> Option<&'static str> {
        match self {
            HookFile::Groups { path } | HookFile::Flat { path } | HookFile::Sets { path, .. } => Some(path),
            HookFile::InManifest | HookFile::None => None,
        }
    }
}

/// A host whose package is not rendered here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elsewhere {
    /// The host's id.
    pub host: &'static str,
    /// Where its sources are, from the repository's root.
    pub folder: &'static str,
}

/// Hosts that load JavaScript: their packages are npm packages, made by that workspace's own build.
pub(super) const ELSEWHERE: &[Elsewhere] = &[
    Elsewhere { host: "opencode", folder: "shims/opencode" },
    Elsewhere { host: "openclaw", folder: "shims/openclaw" },
    Elsewhere { host: "pi", folder: "shims/pi" },
    Elsewhere { host: "deepseek", folder: "shims/deepseek" },
];

/// Said in skills whose host does not fill in where the package is.
const NOT_ON_PATH: &str = "\nWhen `mem0-code` is not on the PATH, use `~/.mem0/bin/mem0-code`, or `bin/mem0-code` two folders above this file.\n";

/// Runs its first argument with the others, for hosts that take no absolute path as a command.
const VIA_SHELL: &[&str] = &["sh", "-c", "exec \"$0\" \"$@\""];

/// Runs the launcher of a package that is where its host keeps packages. Never one below the working folder: that may be anybody's project.
const FIND_LAUNCHER: &str = "for p in \"$HOME/.gemini/config/plugins/mem0/bin\" \"$HOME/.mem0/bin\"; \
do [ -x \"$p/mem0-code\" ] && exec \"$p/mem0-code\" \"$@\"; done; exec mem0-code \"$@\"";

/// Every host whose package is rendered here.
pub(super) const PACKAGES: &[Package] = &[
    Package {
        host: "claude-code",
        name: "Claude Code",
        folder: "claude-code",
        files: templates![
            ".claude-plugin/plugin.json" from "bundles/claude-code/.claude-plugin/plugin.json.tmpl",
            ".mcp.json" from "bundles/claude-code/.mcp.json.tmpl",
            "README.md" from "bundles/claude-code/README.md.tmpl",
            "agents/sidekick.md" from "bundles/claude-code/agents/sidekick.md.tmpl",
        ],
        manifest: ".claude-plugin/plugin.json",
        servers: ".mcp.json",
        hooks: HookFile::Groups { path: "hooks/hooks.json" },
        root: "${CLAUDE_PLUGIN_ROOT}",
        server: &["${CLAUDE_PLUGIN_ROOT}/bin/mem0-code"],
        server_native: &[],
        skill_program: "\"${CLAUDE_PLUGIN_ROOT}/bin/mem0-code\"",
        skill_note: "",
        skill_fields: &["argument-hint", "disable-model-invocation", "allowed-tools"],
        handoff: source!("skills/handoff/at-once.md.tmpl"),
        schema: source!("schemas/claude-code.json"),
        contracts: &[
            (".claude-plugin/plugin.json", "manifest"),
            (".mcp.json", "servers"),
            ("hooks/hooks.json", "hooks"),
        ],
    },
    Package {
        host: "cursor",
        name: "Cursor",
        folder: "cursor",
        files: templates![
            ".cursor-plugin/plugin.json" from "bundles/cursor/.cursor-plugin/plugin.json.tmpl",
            "README.md" from "bundles/cursor/README.md.tmpl",
            "mcp.json" from "bundles/cursor/mcp.json.tmpl",
        ],
        manifest: ".cursor-plugin/plugin.json",
        servers: "mcp.json",
        hooks: HookFile::Flat { path: "hooks/hooks.json" },
        root: "${CURSOR_PLUGIN_ROOT}",
        server: &["${CURSOR_PLUGIN_ROOT}/bin/mem0-code"],
        server_native: &[],
        skill_program: "mem0-code",
        skill_note: NOT_ON_PATH,
        skill_fields: &["disable-model-invocation"],
        handoff: source!("skills/handoff/with-folder.md.tmpl"),
        schema: source!("schemas/cursor.json"),
        contracts: &[
            (".cursor-plugin/plugin.json", "manifest"),
            ("mcp.json", "servers"),
            ("hooks/hooks.json", "hooks"),
        ],
    },
    Package {
        host: "codex",
        name: "Codex",
        folder: "codex",
        files: templates![
            ".codex-plugin/plugin.json" from "bundles/codex/.codex-plugin/plugin.json.tmpl",
            ".mcp.json" from "bundles/codex/.mcp.json.tmpl",
            "README.md" from "bundles/codex/README.md.tmpl",
        ],
        manifest: ".codex-plugin/plugin.json",
        servers: ".mcp.json",
        hooks: HookFile::Groups { path: "hooks/hooks.json" },
        root: "${PLUGIN_ROOT}",
        server: &["./bin/mem0-code"],
        server_native: &[],
        skill_program: "mem0-code",
        skill_note: NOT_ON_PATH,
        skill_fields: &["argument-hint", "disable-model-invocation"],
        handoff: source!("skills/handoff/completed.md.tmpl"),
        schema: source!("schemas/codex.json"),
        contracts: &[
            (".codex-plugin/plugin.json", "manifest"),
            (".mcp.json", "servers"),
            ("hooks/hooks.json", "hooks"),
        ],
    },
    Package {
        host: "kimi",
        name: "Kimi Code",
        folder: "kimi",
        files: templates![
            "README.md" from "bundles/kimi/README.md.tmpl",
            "kimi.plugin.json" from "bundles/kimi/kimi.plugin.json.tmpl",
        ],
        manifest: "kimi.plugin.json",
        servers: "kimi.plugin.json",
        hooks: HookFile::InManifest,
        // Hooks run in the package's folder.
        root: ".",
        server: &["./bin/mem0-code"],
        // A command that is an absolute path is dropped with a warning (Kimi Code 2.1.0).
        server_native: VIA_SHELL,
        skill_program: "\"${KIMI_SKILL_DIR}/../../bin/mem0-code\"",
        skill_note: "",
        skill_fields: &["disable-model-invocation"],
        handoff: source!("skills/handoff/named.md.tmpl"),
        schema: source!("schemas/kimi.json"),
        contracts: &[("kimi.plugin.json", "manifest")],
    },
    Package {
        host: "antigravity",
        name: "Antigravity",
        folder: "antigravity",
        files: templates![
            "README.md" from "bundles/antigravity/README.md.tmpl",
            "mcp_config.json" from "bundles/antigravity/mcp_config.json.tmpl",
            "plugin.json" from "bundles/antigravity/plugin.json.tmpl",
        ],
        manifest: "plugin.json",
        servers: "mcp_config.json",
        hooks: HookFile::Sets { path: "hooks.json", set: "mem0" },
        // Hooks run in the folder of their file; no variable names it.
        root: ".",
        // Where a server starts is not documented.
        server: &["sh", "-c", FIND_LAUNCHER, "mem0-code"],
        server_native: &[],
        skill_program: "mem0-code",
        skill_note: NOT_ON_PATH,
        skill_fields: &[],
        handoff: source!("skills/handoff/with-folder.md.tmpl"),
        schema: source!("schemas/antigravity.json"),
        contracts: &[("plugin.json", "manifest"), ("mcp_config.json", "servers"), ("hooks.json", "hooks")],
    },
    Package {
        host: "portable",
        name: "this agent",
        folder: "mem0-agent-plugin",
        files: templates![
            "README.md" from "bundles/portable/README.md.tmpl",
            "mcp.json" from "bundles/portable/mcp.json.tmpl",
            "plugin.json" from "bundles/portable/plugin.json.tmpl",
        ],
        manifest: "plugin.json",
        servers: "mcp.json",
        hooks: HookFile::None,
        root: ".",
        server: &["./bin/mem0-code"],
        // A command is a bare name or a path inside the package, nothing else.
        server_native: VIA_SHELL,
        skill_program: "mem0-code",
        skill_note: NOT_ON_PATH,
        skill_fields: &[],
        handoff: source!("skills/handoff/any-host.md.tmpl"),
        schema: source!("schemas/portable.json"),
        contracts: &[("plugin.json", "manifest"), ("mcp.json", "servers")],
    },
];

/// The package of a host, by the host's id or the package's folder.
pub(super) fn find(host: &str) -> Option<&'static Package> {
    PACKAGES.iter().find(|package| package.host == host || package.folder == host)
}
