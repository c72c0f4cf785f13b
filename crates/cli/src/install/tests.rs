//! Homes full of oddly written files: what install adds, that it adds it once, and that uninstall leaves no trace.

use super::edit::{EditError, Entries, Form};
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::process::Command;

pub(super) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/install")
}

fn fixture(name: &str) -> String {
    std::fs::read_to_string(fixtures().join(name)).unwrap()
}

const HOOKS: &[&str] =
    &["plain.json", "commented.jsonc", "one-line.json", "empty-object.json", "spread.json", "only-comments.jsonc"];
const CONFIG: &[&str] = &["commented.toml", "inline.toml", "inline-empty.toml", "dotted.toml", "spread.toml"];
/// Files of the other kinds, by the folder of their kind.
const KINDS: &[(Form, &str, &[&str])] = &[
    (Form::JsonHookLists, "hook-lists", &["commented.jsonc", "one-line.json", "version-only.json"]),
    (Form::JsonServers, "servers", &["commented.jsonc", "empty-servers.json", "plain.json"]),
    (Form::JsonPluginRows, "plugin-rows", &["empty.json", "others.json"]),
    (Form::JsonPluginPaths, "plugin-paths", &["commented.json5", "loose.json5", "plain.json"]),
    (Form::YamlRows, "rows", &["commented.yml", "deep.yml", "empty.yml", "indented.yml"]),
];

fn texts() -> Vec<(Form, String, String)> {
    let hooks = HOOKS.iter().map(|name| (Form::JsonHooks, format!("hooks/{name}")));
    let config = CONFIG.iter().map(|name| (Form::TomlServers, format!("config/{name}")));
    let others = KINDS
        .iter()
        .flat_map(|(form, folder, names)| names.iter().map(move |name| (*form, format!("{folder}/{name}"))));
    hooks.chain(config).chain(others).map(|(form, name)| (form, name.clone(), fixture(&name))).collect()
}

/// The ways one text comes in: line ends, indentation, byte-order mark, final newline.
fn variants(text: &str) -> Vec<String> {
    let mut variants = vec![text.to_owned(), text.trim_end().to_owned()];
    // Only spaces may indent in YAML.
    if !text.contains("insert:") {
        variants.push(text.replace("    ", "\t"));
    }
    variants.extend(variants.clone().iter().map(|text| text.replace('\n', "\r\n")));
    variants.extend(variants.clone().iter().map(|text| format!("\u{feff}{text}")));
    variants
}

/// A host that has a file of this kind.
fn host_of(form: Form) -> &'static str {
    if form == Form::JsonHookLists { "cursor" } else { "codex" }
}

fn entries(form: Form, env: &[(String, String)]) -> Entries<'_> {
    let host = host_of(form);
    Entries {
        host,
        hooks: crate::bundle::hooks::of(host).unwrap(),
        shell: "/opt/m/mem0-code",
        path: "/opt/m/mem0-code",
        env,
        package: "/home/dev/.x/mem0-code",
        module: "/home/dev/.x/mem0-code/index.js",
        now: "2026-12-01T00:00:00Z",
    }
}

/// Inserts, and checks everything that must hold of any text.
#[track_caller]
fn round_trip(form: Form, text: &str) -> String {
    let env = [("MEM0_DIR".to_owned(), "/a \"b\"".to_owned())];
    let (entries, host) = (entries(form, &env), host_of(form));
    let splices = form.insert(text, &entries).unwrap();
    let after = splice::apply(text, &splices).unwrap();
    assert!(form.has_ours(&after, host));
    assert_eq!(form.remove(&after, host, Some((text, &splices))).unwrap(), text, "known edit");
    let blind = form.remove(&after, host, None).unwrap();
    assert!(!form.has_ours(&blind, host));
    if text.contains("\r\n") && !text.replace("\r\n", "").contains('\n') {
        assert!(!after.replace("\r\n", "").contains('\n'), "line ends are mixed:\n{after:?}");
    }
    after
}

#[test]
fn edits_only_add_and_come_out_again() {
    for (form, name, text) in texts() {
        for variant in variants(&text) {
            let after = round_trip(form, &variant);
            if variant == text {
                insta::with_settings!({prepend_module_to_snapshot => false, snapshot_path => "snapshots"}, {
                    insta::assert_snapshot!(name.replace(['/', '.'], "_"), after);
                });
            }
        }
    }
}

#[test]
fn an_edit_of_the_users_beside_ours_stays_to_the_byte() {
    for (form, name, text) in texts() {
        let splices = form.insert(&text, &entries(form, &[])).unwrap();
        let after = splice::apply(&text, &splices).unwrap();
        let (head, tail) = match form {
            Form::TomlServers => ("new = 1 # new\n", "\n[new]\n"),
            Form::YamlRows => ("# new\n", "\n# new\n"),
            _ => ("// new\n", "\n// new\n"),
        };
        for (changed, expected) in
            [(format!("{head}{after}"), format!("{head}{text}")), (format!("{after}{tail}"), format!("{text}{tail}"))]
        {
            assert_eq!(form.remove(&changed, host_of(form), Some((&text, &splices))).unwrap(), expected, "{name}");
        }
    }
}

#[test]
fn what_was_added_below_our_server_goes_with_it() {
    let before = "a = 1\n";
    let splices = Form::TomlServers.insert(before, &entries(Form::TomlServers, &[])).unwrap();
    let after = splice::apply(before, &splices).unwrap();
    let changed = format!(
        "{after}startup_timeout_sec = 9 # mine\n\n[mcp_servers.mem0.tools.search_memories]\napproval_mode = \"approve\"\n\n# theirs\n[other]\nb = 2\n"
    );
    let rest = Form::TomlServers.remove(&changed, "codex", Some((before, &splices))).unwrap();
    assert_eq!(rest, "a = 1\n\n# theirs\n[other]\nb = 2\n");
}

#[test]
fn a_handler_put_into_a_group_of_the_users_is_taken_out_of_it() {
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}, {"type": "command", "command": "/x/mem0-code hook codex Stop"}]}]}}"#;
    let rest = Form::JsonHooks.remove(text, "codex", None).unwrap();
    assert_eq!(rest, r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}"#);
}

#[test]
fn files_that_cannot_be_edited_say_where() {
    let cases: &[(Form, &str, &str)] = &[
        (Form::JsonHooks, "{\n  \"hooks\": {,}\n}", "line 2, column 13"),
        (Form::JsonHooks, "{\"hooks\": {}, \"hooks\": {}}", "line 1, column 15: the key `hooks` is there twice"),
        (Form::JsonHooks, "{\"hooks\": {\"Stop\": [], \"Stop\": []}}", "the key `Stop` is there twice"),
        (Form::JsonHooks, "[]", "line 1, column 1: the file is not an object"),
        (Form::JsonHooks, "{\"hooks\": []}", "line 1, column 11: `hooks` is not an object"),
        (Form::JsonHooks, "{\"hooks\": {\n\"Stop\": {}}}", "line 2, column 9: `hooks.Stop` is not a list"),
        (Form::JsonHooks, "{\"a\": 'b'}", "line 1, column 7"),
        (Form::JsonHooks, "{\"a\": 1", "line 1, column"),
        (
            Form::JsonServers,
            "{\"mcpServers\": {\"mem0\": {\"command\": \"npx\"}}}",
            "line 1, column 25: `mcpServers.mem0` is there already",
        ),
        (Form::JsonServers, "{\"mcpServers\": 1}", "line 1, column 16: `mcpServers` is not an object"),
        (Form::JsonHookLists, "{\"version\": 1, \"hooks\": {\"stop\": 1}}", "`hooks.stop` is not a list"),
        (Form::JsonPluginRows, "{\"version\": 1,\n \"plugins\": {}}", "line 2, column 13: `plugins` is not a list"),
        (Form::JsonPluginPaths, "{plugins: {load: {paths: 'x'}}}", "`plugins.load.paths` is not a list"),
        (Form::JsonPluginPaths, "{plugins: {entries: {mem0: {}}}}", "`plugins.entries.mem0` is there already"),
        (Form::JsonPluginPaths, "{plugins: }", "line 1, column"),
        (Form::YamlRows, "a: 1\n", "line 1, column 1: a list entry was expected"),
        (Form::YamlRows, "[]\n", "line 1, column 1: a list entry was expected"),
        (Form::YamlRows, "- a\n\t- b\n", "line 2, column 1: a tab"),
        (Form::YamlRows, "- a: [1\n- b\n", "line 1, column 6: `[` is not closed"),
        (Form::YamlRows, "- a: \"x\n", "line 1, column 6: `\"` is not closed"),
        (Form::YamlRows, "  - a\n- b\n", "line 2, column 1: a list entry was expected"),
        (Form::TomlServers, "a = 1\nb = = 2\n", "line 2, column 5"),
        (Form::TomlServers, "a = 1\na = 2\n", "line 2, column 1: duplicate key"),
        (Form::TomlServers, "mcp_servers = 3\n", "line 1, column 15: `mcp_servers` is not a table"),
        (Form::TomlServers, "[mcp_servers.mem0]\ncommand = \"theirs\"\n", "the MCP server `mem0` is there already"),
    ];
    for (form, text, expected) in cases {
        let error = form.insert(text, &entries(*form, &[])).unwrap_err();
        assert!(error.to_string().contains(expected), "{text:?}: {error}");
        assert_ne!(error, EditError::Unsure, "{text:?}");
    }
}

// ---- whole homes ----

pub(super) struct Home {
    folder: tempfile::TempDir,
    pub(super) options: Options,
}

impl Home {
    /// A home with two hosts and a program whose path needs quoting.
    fn new() -> Self {
        let home = Self::empty();
        for part in [".claude/skills/theirs", ".codex"] {
            std::fs::create_dir_all(home.path(part)).unwrap();
        }
        std::fs::write(home.path(".claude/settings.json"), fixture("settings.json")).unwrap();
        std::fs::write(home.path(".claude/skills/theirs/SKILL.md"), "---\nname: theirs\n---\n").unwrap();
        std::fs::write(home.path(".codex/hooks.json"), fixture("hooks/commented.jsonc")).unwrap();
        std::fs::write(home.path(".codex/config.toml"), fixture("config/commented.toml")).unwrap();
        home
    }

    /// A home with nothing in it, and such a program.
    pub(super) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home of Zoë's");
        std::fs::create_dir(&home).unwrap();
        let binary = folder.path().join("build dir/mem0-code");
        std::fs::create_dir_all(binary.parent().unwrap()).unwrap();
        std::fs::write(&binary, STAND_IN).unwrap();
        make_runnable(&binary);
        let options = Options {
            all: true,
            mem0_dir: home.join(".mem0"),
            home,
            binary,
            env: BTreeMap::from([("PATH".to_owned(), "/nonexistent".to_owned())]),
            ..Options::default()
        };
        Self { folder, options }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.options.home.join(path)
    }

    pub(super) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    pub(super) fn tree(&self) -> BTreeMap<PathBuf, String> {
        tree(&self.options.home)
    }

    #[track_caller]
    pub(super) fn install(&self) -> BTreeMap<String, HostReport> {
        by_host(install(&self.options).unwrap())
    }

    #[track_caller]
    pub(super) fn uninstall(&self) -> BTreeMap<String, HostReport> {
        by_host(uninstall(&self.options).unwrap())
    }
}

/// Prints its version, and otherwise where it was told to write, one argument a line, then MEM0_DIR.
const STAND_IN: &str = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'mem0-code 0.0.0'; exit 0; fi\n\
if [ \"$1 $2\" = 'mcp --host' ] && [ $# = 3 ]; then while read -r line; do case \"$line\" in \
*tools/list*) echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[{\"name\":\"search_memories\"}]}}';; esac; done; exit 0; fi\nprintf '%s\\n' \"$@\" \"${MEM0_DIR-unset}\"\n";

#[cfg(unix)]
fn make_runnable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn by_host(reports: Vec<HostReport>) -> BTreeMap<String, HostReport> {
    reports.into_iter().map(|report| (report.host.clone(), report)).collect()
}

/// Every file, folder and link below a folder with its mode and content.
pub(super) fn tree(folder: &Path) -> BTreeMap<PathBuf, String> {
    use std::os::unix::fs::PermissionsExt;
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        let content = if metadata.is_symlink() {
            format!("-> {}", std::fs::read_link(&path).unwrap().display())
        } else if metadata.is_dir() {
            found.extend(tree(&path));
            "folder".to_owned()
        } else {
            String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned()
        };
        found.insert(path, format!("{:o} {content}", metadata.permissions().mode()));
    }
    found
}

#[track_caller]
pub(super) fn assert_installed(reports: &BTreeMap<String, HostReport>) {
    for report in reports.values() {
        assert_eq!(report.outcome, Outcome::Installed, "{}", report.host);
    }
}

fn is_outcome(report: &HostReport, outcome: &Outcome) -> bool {
    std::mem::discriminant(&report.outcome) == std::mem::discriminant(outcome)
}

#[test]
fn install_twice_is_once_and_uninstall_leaves_no_trace() {
    let home = Home::new();
    let before = home.tree();
    let reports = home.install();
    assert_installed(&reports);
    let after = home.tree();
    let touched: Vec<&PathBuf> =
        before.iter().filter(|(path, text)| after.get(*path) != Some(text)).map(|(path, _)| path).collect();
    assert_eq!(touched, [&home.path(".codex/config.toml"), &home.path(".codex/hooks.json")]);
    let again = home.install();
    assert!(again.values().all(|report| report.outcome == Outcome::Unchanged), "{again:#?}");
    assert_eq!(home.tree(), after);
    let removed = home.uninstall();
    assert!(removed.values().all(|report| report.outcome == Outcome::Removed), "{removed:#?}");
    assert_eq!(home.tree(), before);
    assert!(home.uninstall().values().all(|report| report.outcome == Outcome::Unchanged));
    assert_eq!(home.tree(), before);
}

#[test]
fn every_variant_of_the_users_files_survives() {
    for (form, name, text) in
        texts().into_iter().filter(|(form, ..)| [Form::JsonHooks, Form::TomlServers].contains(form))
    {
        // Each alone is covered above; here the plain file and the one with everything at once.
        let variants = variants(&text);
        for variant in [&variants[0], &variants[variants.len() - 1]] {
            let home = Home::new();
            let file = if form == Form::JsonHooks { ".codex/hooks.json" } else { ".codex/config.toml" };
            std::fs::write(home.path(file), variant).unwrap();
            let before = home.tree();
            assert_eq!(home.install()["codex"].outcome, Outcome::Installed, "{name}");
            home.uninstall();
            assert_eq!(home.tree(), before, "{name} {variant:?}");
        }
    }
}

#[test]
fn an_empty_home_gets_what_is_named_and_is_empty_again() {
    let mut home = Home::new();
    std::fs::remove_dir_all(home.path(".claude")).unwrap();
    std::fs::remove_dir_all(home.path(".codex")).unwrap();
    assert!(install(&home.options).unwrap_err().to_string().contains("no supported agent"));
    assert!(home.tree().is_empty());
    home.options.all = false;
    home.options.hosts = vec!["claude-code".into(), "codex".into()];
    assert!(home.install().values().all(|report| report.outcome == Outcome::Installed));
    assert!(home.path(".claude/skills/mem0/.claude-plugin/plugin.json").is_file());
    assert!(home.path(".codex/skills/mem0/mem0-search/SKILL.md").is_file());
    home.uninstall();
    assert!(home.tree().is_empty(), "{:#?}", home.tree());
}

#[test]
fn a_dry_run_shows_the_change_and_writes_nothing() {
    let mut home = Home::new();
    home.options.dry_run = true;
    let before = home.tree();
    let reports = home.install();
    assert_eq!(home.tree(), before);
    let change = reports["codex"].changes.iter().find(|change| change.path.ends_with("config.toml")).unwrap();
    assert_eq!(change.what, "change");
    assert!(change.diff.contains("\n+[mcp_servers.mem0]\n"), "{}", change.diff);
    assert!(change.backup.as_ref().unwrap().starts_with(home.path(".mem0/install")));
    home.options.dry_run = false;
    home.install();
    home.options.dry_run = true;
    let installed = home.tree();
    assert!(home.uninstall()["codex"].changes.iter().any(|change| change.diff.contains("\n-[mcp_servers.mem0]\n")));
    assert_eq!(home.tree(), installed);
}

/// The commands of a hooks file, by event.
fn commands(text: &str) -> Vec<(String, String)> {
    let value = jsonc::parse(text).unwrap().unwrap();
    let events = value["hooks"].as_object().unwrap().clone();
    let mut found = Vec::new();
    for (event, groups) in events {
        for group in groups.as_array().unwrap() {
            for handler in group["hooks"].as_array().unwrap() {
                found.push((event.clone(), handler["command"].as_str().unwrap().to_owned()));
            }
        }
    }
    found.retain(|(_, command)| command.contains("mem0-code"));
    found
}

fn run_in_shell(command: &str, folder: &str) -> String {
    let output = Command::new("sh")
        .arg("-c")
        .arg(command)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn b150_b025_registered_commands_run_from_anywhere() {
    for name in
        ["plain", "a b", "it's", "quote\"d", "Zoë 記憶", "$HOME `x` \\n", "semi;colon&", "-dash", "#hash", "~tilde"]
    {
        let mut home = Home::new();
        home.options.mem0_dir = home.folder.path().join(name);
        let reports = home.install();
        assert_installed(&reports);
        let program = home.options.mem0_dir.join("bin/mem0-code");
        let package = ".claude/skills/mem0/hooks/hooks.json";
        for (host, file, n_hooks) in [("claude-code", package, 9), ("codex", ".codex/hooks.json", 8)] {
            let commands = commands(&home.read(file));
            assert_eq!(commands.len(), n_hooks, "{host}");
            for (event, command) in commands {
                let printed = run_in_shell(&command, "/");
                assert_eq!(
                    printed,
                    format!("hook\n{host}\n{event}\n{}\n", home.options.mem0_dir.display()),
                    "{command}"
                );
            }
        }
        let server: toml_edit::DocumentMut = home.read(".codex/config.toml").parse().unwrap();
        let server = &server["mcp_servers"]["mem0"];
        assert_eq!(server["command"].as_str(), program.to_str());
        assert_eq!(server["env"]["MEM0_DIR"].as_str(), home.options.mem0_dir.to_str());
        let mcp: serde_json::Value = serde_json::from_str(&home.read(".claude/skills/mem0/.mcp.json")).unwrap();
        assert_eq!(mcp["mcpServers"]["mem0"]["command"].as_str(), program.to_str());
        assert_eq!(mcp["mcpServers"]["mem0"]["env"]["MEM0_DIR"].as_str(), home.options.mem0_dir.to_str());
        assert!(crate::bundle::validate(&home.path(".claude/skills/mem0")).is_empty());
    }
}

#[test]
fn b160_nothing_is_written_outside_the_named_folders() {
    let mut home = Home::new();
    let elsewhere = home.folder.path().join("elsewhere");
    for (variable, folder) in [("CLAUDE_CONFIG_DIR", "claude"), ("CODEX_HOME", "codex")] {
        std::fs::create_dir_all(elsewhere.join(folder)).unwrap();
        home.options.env.insert(variable.into(), elsewhere.join(folder).to_str().unwrap().into());
    }
    home.options.mem0_dir = elsewhere.join("mem0");
    let (before, before_elsewhere) = (home.tree(), tree(&elsewhere));
    let reports = home.install();
    assert_installed(&reports);
    assert_eq!(home.tree(), before);
    assert!(elsewhere.join("claude/skills/mem0/hooks/hooks.json").is_file());
    assert!(elsewhere.join("codex/hooks.json").is_file());
    home.uninstall();
    assert_eq!(tree(&elsewhere), before_elsewhere);
}

#[test]
fn b156_a_program_that_does_not_run_is_not_registered() {
    let home = Home::new();
    let before = home.tree();
    for text in ["#!/bin/sh\nexit 3\n", "not a program\u{0}"] {
        std::fs::write(&home.options.binary, text).unwrap();
        assert!(install(&home.options).is_err());
        assert_eq!(home.tree(), before);
    }
    std::fs::remove_file(&home.options.binary).unwrap();
    assert!(install(&home.options).is_err());
    assert_eq!(home.tree(), before);
}

#[test]
fn a_program_in_a_lasting_place_is_not_copied() {
    let mut home = Home::new();
    for place in [".cargo/bin", ".mem0/bin"] {
        let binary = home.path(place).join("mem0-code");
        std::fs::create_dir_all(binary.parent().unwrap()).unwrap();
        std::fs::copy(&home.options.binary, &binary).unwrap();
        home.options.binary.clone_from(&binary);
        let before = home.tree();
        home.install();
        let command = commands(&home.read(".codex/hooks.json")).remove(0).1;
        assert!(command.contains(place), "{command}");
        home.uninstall();
        assert_eq!(home.tree(), before);
    }
}

#[test]
fn a_new_version_replaces_the_program_and_the_old_entries() {
    let home = Home::new();
    let before = home.tree();
    home.install();
    std::fs::write(&home.options.binary, format!("{STAND_IN}# newer\n")).unwrap();
    home.install();
    assert!(home.read(".mem0/bin/mem0-code").ends_with("# newer\n"));
    // Entries of another version, with another path, are replaced and not doubled.
    let hooks = home.read(".codex/hooks.json").replace("/.mem0/bin/mem0-code", "/old/mem0-code");
    std::fs::write(home.path(".codex/hooks.json"), hooks).unwrap();
    assert_eq!(home.install()["codex"].outcome, Outcome::Installed);
    assert_eq!(commands(&home.read(".codex/hooks.json")).len(), 8);
    home.uninstall();
    let (after, mut expected) = (home.tree(), before);
    // The hooks' file was changed by hand; its entries went, its formatting where they were may differ.
    let path = home.path(".codex/hooks.json");
    let text = after[&path].clone();
    assert_eq!(without_hooks(&text[7..]), without_hooks(&expected[&path][7..]));
    expected.insert(path, text);
    assert_eq!(after, expected);
}

fn without_hooks(text: &str) -> serde_json::Value {
    jsonc::without_ours(text, &shapes::HOOK_GROUPS, "codex").unwrap()
}

#[test]
fn an_unreadable_file_keeps_one_host_out_and_not_the_other() {
    let home = Home::new();
    std::fs::write(home.path(".codex/config.toml"), "model = = 1\n").unwrap();
    let before = home.tree();
    let reports = home.install();
    assert_eq!(reports["claude-code"].outcome, Outcome::Installed);
    let Outcome::Failed(reason) = &reports["codex"].outcome else { panic!("{reports:#?}") };
    assert!(reason.contains("config.toml") && reason.contains("line 1, column 9"), "{reason}");
    let after = home.tree();
    assert!(before.iter().all(|(path, text)| after.get(path) == Some(text)), "no file of the user's changed");
    home.uninstall();
    assert_eq!(home.tree(), before);
}

#[cfg(unix)]
#[test]
fn b154_links_and_modes_are_kept_and_read_only_files_refused() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let dotfiles = home.path("dotfiles");
    std::fs::create_dir(&dotfiles).unwrap();
    std::fs::rename(home.path(".codex/hooks.json"), dotfiles.join("codex-hooks.json")).unwrap();
    std::os::unix::fs::symlink("../dotfiles/codex-hooks.json", home.path(".codex/hooks.json")).unwrap();
    std::fs::set_permissions(home.path(".codex/config.toml"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let before = home.tree();
    home.install();
    assert!(home.read("dotfiles/codex-hooks.json").contains("mem0-code"));
    assert!(std::fs::symlink_metadata(home.path(".codex/hooks.json")).unwrap().is_symlink());
    home.uninstall();
    assert_eq!(home.tree(), before);
    std::fs::set_permissions(home.path(".codex/config.toml"), std::fs::Permissions::from_mode(0o400)).unwrap();
    let before = home.tree();
    let reports = home.install();
    let Outcome::Failed(reason) = &reports["codex"].outcome else { panic!("{reports:#?}") };
    assert!(reason.contains("read-only") && reports["codex"].changes.is_empty(), "{reports:#?}");
    home.uninstall();
    assert_eq!(home.tree(), before);
}

#[test]
fn b037_a_plugin_of_the_hosts_own_is_not_doubled() {
    let home = Home::new();
    std::fs::write(home.path(".claude/settings.json"), r#"{"enabledPlugins": {"mem0@mem0-code": true}} // on"#)
        .unwrap();
    let config = format!("{}\n[plugins.\"mem0@mem0-code\"]\nenabled = true\n", fixture("config/commented.toml"));
    std::fs::write(home.path(".codex/config.toml"), config).unwrap();
    let before = home.tree();
    let reports = home.install();
    for report in reports.values() {
        let Outcome::Skipped(reason) = &report.outcome else { panic!("{report:#?}") };
        assert!(reason.contains("mem0@mem0-code"), "{reason}");
    }
    assert_eq!(home.tree(), before);
    assert_eq!(
        check(&home.options, "codex"),
        [Check { name: "wiring".into(), ok: true, detail: "through the plugin mem0@mem0-code".into() }]
    );
}

#[test]
fn a_folder_of_the_users_is_not_taken_over() {
    let home = Home::new();
    std::fs::create_dir_all(home.path(".claude/skills/mem0/hooks")).unwrap();
    std::fs::write(home.path(".claude/skills/mem0/hooks/hooks.json"), "{}").unwrap();
    let reports = home.install();
    let Outcome::Failed(reason) = &reports["claude-code"].outcome else { panic!("{reports:#?}") };
    assert!(reason.contains("not mem0-code's"), "{reason}");
    assert_eq!(home.read(".claude/skills/mem0/hooks/hooks.json"), "{}");
}

#[test]
fn files_and_edits_of_the_users_made_meanwhile_stay() {
    let home = Home::new();
    home.install();
    let config = format!("new = 1\n{}", home.read(".codex/config.toml"));
    std::fs::write(home.path(".codex/config.toml"), config).unwrap();
    std::fs::write(home.path(".claude/skills/mem0/skills/pause/SKILL.md"), "mine now").unwrap();
    std::fs::write(home.path(".mem0/memory.sqlite3"), "data").unwrap();
    let reports = home.uninstall();
    assert_eq!(home.read(".codex/config.toml"), format!("new = 1\n{}", fixture("config/commented.toml")));
    assert_eq!(home.read(".codex/hooks.json"), fixture("hooks/commented.jsonc"));
    assert_eq!(home.read(".mem0/memory.sqlite3"), "data");
    assert_eq!(home.read(".claude/skills/mem0/skills/pause/SKILL.md"), "mine now");
    assert!(reports["claude-code"].notes[0].contains("changed since"), "{reports:#?}");
    assert!(!home.path(".mem0/bin").exists() && !home.path(".mem0/install").exists());
}

#[test]
fn a_lost_record_is_not_needed_to_remove_the_entries() {
    let home = Home::new();
    home.install();
    std::fs::remove_dir_all(home.path(".mem0/install")).unwrap();
    assert_eq!(home.install()["codex"].outcome, Outcome::Unchanged, "the files are as they should be");
    std::fs::remove_dir_all(home.path(".mem0/install")).unwrap();
    home.uninstall();
    assert!(!home.read(".codex/config.toml").contains("mem0"));
    assert!(!home.read(".codex/hooks.json").contains("mem0-code"));
}

#[test]
fn a_kill_at_any_write_is_made_good_by_running_again() {
    let clean = Home::new();
    clean.install();
    let n_writes = clean.tree().len();
    for n_done in 0..n_writes {
        let home = Home::new();
        let before = home.tree();
        let mut store = Store::open(&home.options.mem0_dir).unwrap();
        let stable = program::stable_path(&home.options);
        let naming = naming(&home.options, &stable).unwrap();
        store.record.folders.extend(crate::fsx::missing_folders(store.folder()));
        program::place(&home.options, &stable, &mut store.record).unwrap();
        let mut left = n_done;
        for wiring in chosen(&home.options, |wiring| wiring.is_present(&home.options)).unwrap() {
            let mut plan = prepare(&home.options, wiring, &naming, &store).unwrap();
            note_plan(&mut store, wiring, &plan).unwrap();
            plan.writes.truncate(left);
            left -= plan.writes.len();
            plan.carry_out().unwrap();
            if left == 0 {
                break;
            }
        }
        if n_done % 2 == 0 {
            home.install();
            let all = home.tree();
            let commands = commands(&home.read(".codex/hooks.json"));
            assert_eq!((all.len(), commands.len()), (clean.tree().len(), 8), "{n_done}");
        }
        home.uninstall();
        assert_eq!(home.tree(), before, "killed after {n_done} writes");
    }
}

#[test]
fn doctor_sees_what_is_wrong() {
    let home = Home::new();
    let failed = |host: &str| -> Vec<String> {
        check(&home.options, host).into_iter().filter(|check| !check.ok).map(|check| check.name).collect()
    };
    assert_eq!(failed("claude-code"), ["wiring"]);
    assert_eq!(failed("nobody"), ["wiring"]);
    home.install();
    assert_eq!(failed("claude-code"), Vec::<String>::new());
    assert_eq!(failed("codex"), ["trust"]);
    std::fs::remove_file(home.path(".claude/skills/mem0/.mcp.json")).unwrap();
    assert_eq!(failed("claude-code"), ["files"]);
    std::fs::remove_file(home.path(".mem0/bin/mem0-code")).unwrap();
    assert_eq!(failed("claude-code"), ["program", "files"]);
    assert!(check(&home.options, "codex").iter().all(|check| check.name != "server"), "what does not run is not asked");
}

#[test]
fn doctor_knows_trusted_hooks_by_their_hash() {
    let home = Home::new();
    home.install();
    let hooks_path = home.path(".codex/hooks.json");
    let value = jsonc::parse(&home.read(".codex/hooks.json")).unwrap().unwrap();
    let mut config = home.read(".codex/config.toml");
    for (native, event) in [
        ("SessionStart", "session_start"),
        ("UserPromptSubmit", "user_prompt_submit"),
        ("PostToolUse", "post_tool_use"),
        ("SubagentStart", "subagent_start"),
        ("SubagentStop", "subagent_stop"),
        ("Stop", "stop"),
        ("PreCompact", "pre_compact"),
        ("SessionEnd", "session_end"),
    ] {
        let groups = value["hooks"][native].as_array().unwrap();
        let position = groups.len() - 1;
        let hash = traps::trust_hash(event, &groups[position]);
        let key = toml_edit::Value::from(format!("{}:{event}:{position}:0", hooks_path.display()));
        config += &format!("\n[hooks.state.{key}]\ntrusted_hash = \"{hash}\"\n");
    }
    std::fs::write(home.path(".codex/config.toml"), &config).unwrap();
    assert!(check(&home.options, "codex").iter().all(|check| check.ok), "{:#?}", check(&home.options, "codex"));
    std::fs::write(home.path(".codex/config.toml"), config.replacen("sha256:", "sha256:0", 1)).unwrap();
    assert!(home.uninstall().values().all(|report| is_outcome(report, &Outcome::Removed)));
}

// ---- generated files ----

fn json(depth: u32) -> BoxedStrategy<String> {
    let space = || prop_oneof![Just(""), Just(" "), Just("\n  "), Just(" /* c */ "), Just(" // c\n")];
    let leaf = prop_oneof![
        Just("1".to_owned()),
        Just("\"a,]}\\\"\"".to_owned()),
        Just("null".to_owned()),
        Just("[]".to_owned()),
        Just("{ }".to_owned())
    ];
    leaf.prop_recursive(depth, 12, 3, move |inner| {
        let item = (space(), inner, space()).prop_map(|(a, text, b)| format!("{a}{text}{b}"));
        (proptest::collection::vec(item, 0..3), any::<bool>(), any::<bool>(), space()).prop_map(
            |(items, is_list, comma, end)| {
                let comma = if comma && !items.is_empty() { "," } else { "" };
                if is_list {
                    return format!("[{}{comma}{end}]", items.join(","));
                }
                let entries: Vec<String> =
                    items.iter().enumerate().map(|(idx, item)| format!("\"k{idx}\":{item}")).collect();
                format!("{{{}{comma}{end}}}", entries.join(","))
            },
        )
    })
    .boxed()
}

fn list() -> impl Strategy<Value = String> {
    let gap = prop_oneof![Just(""), Just("\n"), Just(" "), Just("\t// x\n"), Just("/* ] */")];
    (proptest::collection::vec((gap.clone(), json(1)), 0..3), any::<bool>(), gap).prop_map(|(items, comma, end)| {
        let comma = if comma && !items.is_empty() { "," } else { "" };
        let items: Vec<String> = items.into_iter().map(|(gap, item)| format!("{gap}{item}")).collect();
        format!("[{}{comma}{end}]", items.join(","))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_json_with_hooks_is_only_added_to(
        other in json(2), stop in proptest::option::of(list()), start in proptest::option::of(list()), gap in prop_oneof![Just(""), Just("\n "), Just(" // }\n")], comma in any::<bool>(), crlf in any::<bool>()
    ) {
        let events: Vec<String> = [("Stop", stop), ("SessionStart", start)].into_iter().filter_map(|(name, list)| Some(format!("{gap}\"{name}\": {}", list?))).collect();
        let comma = if comma && !events.is_empty() { "," } else { "" };
        let mut text = format!("{{\"other\": {other},{gap}\"hooks\":{{{}{comma}{gap}}}{gap}}}", events.join(","));
        if crlf { text = text.replace('\n', "\r\n"); }
        round_trip(Form::JsonHooks, &text);
    }

    #[test]
    fn any_toml_is_only_added_to(
        lines in proptest::collection::vec(prop_oneof![Just("# c"), Just(""), Just("a.b = 1 # x"), Just("'q q' = [\n 1,\n]"), Just("t = 2026-11-30")], 0..4).prop_map(|mut lines| { let mut seen = std::collections::HashSet::new(); lines.retain(|line| line.is_empty() || seen.insert(*line)); lines }),
        servers in prop_oneof![Just(""), Just("[mcp_servers]\n"), Just("[mcp_servers.x]\ncommand='y'"), Just("[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype='command'"), Just("[mcp_servers.x] # mem0\ncommand = \"mem0-code\"\n\n\n")],
        end in any::<bool>(), crlf in any::<bool>()
    ) {
        let mut text = format!("{}\n{servers}{}", lines.join("\n"), if end { "\n" } else { "" });
        if crlf { text = text.replace('\n', "\r\n"); }
        round_trip(Form::TomlServers, &text);
    }

    #[test]
    fn no_text_makes_an_edit_panic(text in "[\\PC\n\\[\\]{}\",:/*#=]{0,60}") {
        for form in [Form::JsonHooks, Form::TomlServers, Form::JsonPluginPaths, Form::JsonServers, Form::YamlRows] {
            let _ = form.insert(&text, &entries(form, &[]));
            let _ = form.remove(&text, "codex", None);
        }
    }
}
