//! One home a host, as a user who edits by hand leaves it, and one with all of them: what install adds comes out again to the byte.

use super::tests::{Home, assert_installed, fixtures, tree};
use super::*;

/// The hosts this build can wire.
fn hosts() -> Vec<&'static str> {
    let carried =
        |wiring: &&Wiring| crate::bundle::manifest(wiring.host).is_some() || shims::find(wiring.host).is_some();
    WIRINGS.iter().filter(carried).map(|wiring| wiring.host).collect()
}

/// Files of the user's that install adds to: host, file, a text its host would not read, and where that stops.
const EDITED: &[(&str, &str, &str, &str)] = &[
    ("codex", ".codex/config.toml", "a = 1\nb = = 2\n", "line 2, column 5"),
    ("codex", ".codex/hooks.json", "{\n  \"hooks\": {,}\n}", "line 2, column 13"),
    ("cursor", ".cursor/hooks.json", "{\"version\": 1,\n \"hooks\": [}", "line 2, column"),
    ("cursor", ".cursor/mcp.json", "{\"mcpServers\": {\"a\": }}", "line 1, column 22"),
    ("deepseek", ".dsh/cordis.patch.yml", "- insert:\n    - id: a\n\tname: b\n", "line 3, column 1"),
    ("kimi", ".kimi-code/plugins/installed.json", "{\"version\": 1\n\"plugins\": []}", "line 1, column 14"),
    ("openclaw", ".openclaw/openclaw.json", "{ gateway: { port: 1 },\n  plugins: [ }", "line 2, column"),
];

/// A home with the files of the named hosts, each text changed by `vary`.
fn home(hosts: &[&str], vary: &dyn Fn(&str) -> String) -> Home {
    let home = Home::empty();
    for host in hosts {
        copy(&fixtures().join("homes").join(host), &home.options.home, vary);
    }
    home
}

fn copy(from: &Path, to: &Path, vary: &dyn Fn(&str) -> String) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target, vary);
        } else {
            std::fs::write(target, vary(&std::fs::read_to_string(path).unwrap())).unwrap();
        }
    }
}

fn plain(text: &str) -> String {
    text.to_owned()
}

/// Installs, installs again, asks the doctor, uninstalls, and compares every byte and mode.
#[track_caller]
fn round_trip(home: &Home, what: &str) {
    let before = home.tree();
    assert_installed(&home.install());
    let installed = home.tree();
    let again = home.install();
    assert!(again.values().all(|report| report.outcome == Outcome::Unchanged), "{what}: {again:#?}");
    assert_eq!(home.tree(), installed, "{what}: the second install changed something");
    for host in wired(&home.options) {
        let faults: Vec<Check> = check(&home.options, &host).into_iter().filter(|check| !check.ok).collect();
        assert!(faults.iter().all(|check| check.name == "trust"), "{what} {host}: {faults:#?}");
    }
    assert_eq!(home.tree(), installed, "{what}: the doctor changed something");
    let removed = home.uninstall();
    assert!(removed.values().all(|report| report.outcome == Outcome::Removed), "{what}: {removed:#?}");
    assert_eq!(home.tree(), before, "{what}");
    assert!(home.uninstall().is_empty());
    assert_eq!(home.tree(), before, "{what}: the second uninstall changed something");
}

#[test]
fn every_home_alone_and_all_of_them_together() {
    let hosts = hosts();
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let bom = |text: &str| format!("\u{feff}{}", text.trim_end());
    for host in &hosts {
        round_trip(&home(&[host], &plain), host);
        round_trip(&home(&[host], &crlf), &format!("{host} with CRLF"));
        round_trip(&home(&[host], &bom), &format!("{host} with a byte-order mark and no final newline"));
    }
    round_trip(&home(&hosts, &plain), "all hosts");
    round_trip(&home(&hosts, &crlf), "all hosts with CRLF");
    let mut renamed = home(&hosts, &plain);
    renamed.options.mem0_dir = renamed.options.home.join("elsewhere/a memory");
    round_trip(&renamed, "all hosts with a memory elsewhere");
}

#[test]
fn hosts_without_any_file_of_their_own() {
    for host in hosts() {
        let mut home = Home::empty();
        home.options.all = false;
        home.options.hosts = vec![host.to_owned()];
        let before = home.tree();
        assert_installed(&home.install());
        assert!(home.install().values().all(|report| report.outcome == Outcome::Unchanged), "{host}");
        home.uninstall();
        assert_eq!(home.tree(), before, "{host}");
    }
}

#[test]
fn a_host_with_plugins_gets_one_and_stays_wired_as_it_was() {
    let entries = home(&["cursor"], &plain);
    entries.install();
    assert!(entries.read(".cursor/hooks.json").contains(" hook cursor "), "versions without plugins get entries");
    std::fs::create_dir(entries.path(".cursor/plugins")).unwrap();
    assert_eq!(entries.install()["cursor"].outcome, Outcome::Unchanged);
    std::fs::remove_dir_all(entries.path(".mem0/install")).unwrap();
    assert_eq!(entries.install()["cursor"].outcome, Outcome::Unchanged, "the files tell how it was wired");
    assert!(!entries.path(".cursor/plugins/local").exists(), "never both");

    let plugin = home(&["cursor"], &plain);
    std::fs::create_dir(plugin.path(".cursor/plugins")).unwrap();
    let before = plugin.tree();
    plugin.install();
    assert!(plugin.path(".cursor/plugins/local/mem0/.cursor-plugin/plugin.json").is_file());
    for (path, text) in &before {
        assert_eq!(plugin.tree().get(path), Some(text), "a plugin leaves the user's own files alone");
    }
    plugin.uninstall();
    assert_eq!(plugin.tree(), before);
}

#[test]
fn a_file_that_cannot_be_parsed_is_left_alone_and_named() {
    for (host, file, text, at) in EDITED.iter().filter(|(host, ..)| hosts().contains(host)) {
        let home = home(&[host], &plain);
        std::fs::write(home.path(file), text).unwrap();
        let before = home.tree();
        let reports = home.install();
        let Outcome::Failed(reason) = &reports[*host].outcome else { panic!("{host} {file}: {reports:#?}") };
        assert!(reason.contains(file) && reason.contains(at), "{file}: {reason}");
        home.uninstall();
        assert_eq!(home.tree(), before, "{host} {file}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_read_only_files_refused() {
    use std::os::unix::fs::PermissionsExt;
    for (host, file, ..) in EDITED.iter().filter(|(host, ..)| hosts().contains(host)) {
        let home = home(&[host], &plain);
        let (path, dotfiles) = (home.path(file), home.path("dotfiles"));
        std::fs::create_dir(&dotfiles).unwrap();
        let real = dotfiles.join(path.file_name().unwrap());
        std::fs::rename(&path, &real).unwrap();
        std::os::unix::fs::symlink(&real, &path).unwrap();
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
        let before = home.tree();
        home.install();
        assert!(std::fs::symlink_metadata(&path).unwrap().is_symlink(), "{file}");
        assert!(std::fs::read_to_string(&real).unwrap().contains("mem0"), "{file}");
        home.uninstall();
        assert_eq!(home.tree(), before, "{file}");

        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o440)).unwrap();
        let before = home.tree();
        let reports = home.install();
        let Outcome::Failed(reason) = &reports[*host].outcome else { panic!("{host} {file}: {reports:#?}") };
        assert!(reason.contains("read-only"), "{reason}");
        home.uninstall();
        assert_eq!(home.tree(), before, "{file} read-only");
    }
}

/// Files that say that the stock plugin is there: host, file, text, its name.
const STOCK: &[(&str, &str, &str, &str)] = &[
    ("antigravity", ".gemini/config/plugins/mem0/plugin.json", "{\"name\": \"mem0\"}", "plugins/mem0"),
    (
        "claude-code",
        ".claude/settings.json",
        "{\"enabledPlugins\": {\"mem0@mem0-plugins\": true}}",
        "mem0@mem0-plugins",
    ),
    ("codex", ".codex/config.toml", "[plugins.\"mem0@mem0-plugins\"]\nenabled = true\n", "mem0@mem0-plugins"),
    ("cursor", ".cursor/plugins/local/mem0/.cursor-plugin/plugin.json", "{\"name\": \"mem0\"}", "plugins/local/mem0"),
    (
        "deepseek",
        ".dsh/cordis.patch.yml",
        "- insert:\n    - {id: m, name: '@mem0/deepseek-plugin'}\n",
        "@mem0/deepseek-plugin",
    ),
    (
        "kimi",
        ".kimi-code/plugins/installed.json",
        "{\"version\":1,\"plugins\":[{\"id\":\"mem0\",\"root\":\"/x/plugins/managed/mem0\",\"enabled\":true}]}",
        "mem0",
    ),
    (
        "openclaw",
        ".openclaw/openclaw.json",
        "{plugins: {entries: {'openclaw-mem0': {enabled: true}}}}",
        "openclaw-mem0",
    ),
    (
        "opencode",
        ".config/opencode/opencode.json",
        "{\"plugin\": [\"@mem0/opencode-plugin@0.3.1\"]}",
        "@mem0/opencode-plugin@0.3.1",
    ),
    (
        "pi",
        ".pi/agent/settings.json",
        "{\"packages\": [{\"source\": \"npm:@mem0/pi-agent-plugin@0.4.0\"}]}",
        "npm:@mem0/pi-agent-plugin@0.4.0",
    ),
];

#[test]
fn a_stock_plugin_is_found_and_not_doubled() {
    assert_eq!(STOCK.len(), WIRINGS.len(), "every host has its way to list plugins");
    for (host, file, text, name) in STOCK {
        let home = Home::empty();
        std::fs::create_dir_all(home.path(file).parent().unwrap()).unwrap();
        std::fs::write(home.path(file), text).unwrap();
        let before = home.tree();
        let reports = home.install();
        let Outcome::Skipped(reason) = &reports[*host].outcome else { panic!("{host}: {reports:#?}") };
        assert!(reason.contains(name), "{host}: {reason}");
        assert_eq!(unwired(&home.options)[0].0, *host);
        assert!(home.install().values().all(|report| report.changes.is_empty()));
        assert_eq!(tree(&home.options.home), before, "{host}");
    }
}

#[test]
fn variables_that_move_a_hosts_files_are_followed() {
    let moved: &[(&str, &str, &str, &str)] = &[
        ("kimi", "KIMI_CODE_HOME", "k", "k/plugins/installed.json"),
        ("openclaw", "OPENCLAW_CONFIG_PATH", "claw.json5", "claw.json5"),
        ("opencode", "XDG_CONFIG_HOME", "xdg", "xdg/opencode/plugins/mem0-code.js"),
        ("pi", "PI_CODING_AGENT_DIR", "agent", "agent/extensions/mem0/dist/index.js"),
    ];
    for (host, variable, value, file) in moved {
        let mut home = Home::empty();
        home.options.all = false;
        home.options.hosts = vec![(*host).to_owned()];
        home.options.env.insert((*variable).to_owned(), home.path(value).to_str().unwrap().to_owned());
        let before = home.tree();
        assert_installed(&home.install());
        assert!(home.read(file).contains("mem0"), "{host}");
        home.uninstall();
        assert_eq!(home.tree(), before, "{host}");
    }
}
