//! `install` and `doctor` of the real binary, in a home with several agents: each wiring is proved, and looking changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::process::{BINARY, Outcome, run};

const LIMIT: Duration = Duration::from_secs(60);

/// Folders by which hosts are found.
const FOLDERS: &[(&str, &str)] = &[
    ("antigravity", ".gemini/config"),
    ("claude-code", ".claude"),
    ("codex", ".codex"),
    ("cursor", ".cursor"),
    ("kimi", ".kimi-code"),
];

/// A home and a project, and nothing else in the environment.
struct Home {
    root: TempDir,
}

impl Home {
    fn new(folders: &[&str]) -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        for folder in ["project"].iter().chain(folders) {
            fs::create_dir_all(root.path().join(folder)).expect("a folder");
        }
        Self { root }
    }

    fn run(&self, arguments: &[&str], input: &str) -> Outcome {
        let mut command = Command::new(BINARY);
        command.args(arguments).current_dir(self.root.path().join("project")).env_clear();
        command.env("HOME", self.root.path()).env("PATH", "/usr/bin:/bin").env("MEM0_CODE_SPAWN", "manual");
        run(command, input.as_bytes(), LIMIT)
    }

    /// The checks of `doctor`, by name: whether all is well, and what was found.
    fn doctor(&self) -> BTreeMap<String, (bool, String)> {
        let before = tree(self.root.path());
        let outcome = self.run(&["doctor", "--json"], "");
        let after = tree(self.root.path());
        let is_other = |path: &&PathBuf| before.get(*path) != after.get(*path);
        // Opening a database for its check lets SQLite fold in and remove its write-ahead log.
        let is_database = |path: &&PathBuf| path.to_string_lossy().contains(".sqlite3");
        let changed: Vec<&PathBuf> =
            before.keys().chain(after.keys()).filter(|path| !is_database(path)).filter(is_other).collect();
        assert!(changed.is_empty(), "looking changed {changed:?}");
        let report: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        assert_eq!(report["ok"] == true, outcome.is_success());
        let checks = report["checks"].as_object().expect("checks").iter();
        let told = |check: &Value| (check["ok"] == true, check["detail"].as_str().unwrap_or_default().to_owned());
        checks.map(|(name, check)| (name.clone(), told(check))).collect()
    }
}

/// Every file below a folder with its content, and every folder.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(tree(&path));
            found.insert(path, Vec::new());
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap_or_default());
        }
    }
    found
}

#[test]
fn doctor_makes_nothing_in_an_empty_home() {
    let home = Home::new(&[]);
    let checks = home.doctor();
    assert!(checks.values().all(|(ok, _)| *ok), "{checks:#?}");
    assert!(checks["data_directory"].1.contains("made with the first event"), "{checks:#?}");
}

#[test]
fn doctor_proves_every_wiring_and_names_what_is_wrong() {
    let folders: Vec<&str> = FOLDERS.iter().map(|(_, folder)| *folder).collect();
    let home = Home::new(&folders);
    for (host, folder) in FOLDERS {
        let (ok, detail) = &home.doctor()[&format!("wiring_{host}")];
        assert!(*ok && detail.contains("not installed") && detail.contains(folder), "{host}: {detail}");
    }
    let clean = tree(home.root.path());
    let installed = home.run(&["install", "--all"], "");
    assert!(installed.is_success(), "{installed:?}");
    let checks = home.doctor();
    for (host, _) in FOLDERS {
        for name in ["wiring", "program", "files", "server"] {
            let (ok, detail) = &checks[&format!("{name}_{host}")];
            assert!(ok, "{name} {host}: {detail}");
        }
        assert!(checks[&format!("server_{host}")].1.contains("search_memories"), "{host}");
        assert!(checks[&format!("last_hook_{host}")].1.contains("no hook was called yet"), "{host}");
    }
    assert!(!checks["trust_codex"].0, "nobody trusted the hooks yet");
    assert!(checks["switch_kimi"].0, "{checks:#?}");

    let payload = format!(
        "{{\"hook_event_name\":\"UserPromptSubmit\",\"session_id\":\"session_1\",\"cwd\":{:?},\"prompt\":[{{\"type\":\"text\",\"text\":\"Hello there, agent\"}}]}}",
        home.root.path().join("project")
    );
    assert!(home.run(&["hook", "kimi", "UserPromptSubmit"], &payload).is_success());
    let checks = home.doctor();
    assert!(!checks.contains_key("last_hook_kimi"), "{checks:#?}");
    assert!(checks["evidence_kimi"].1.contains("last event 2"), "{:?}", checks["evidence_kimi"]);

    let rows = home.root.path().join(".kimi-code/plugins/installed.json");
    let text = fs::read_to_string(&rows).expect("the rows");
    fs::write(&rows, text.replace("\"enabled\": true", "\"enabled\": false")).expect("the rows");
    fs::remove_file(home.root.path().join(".gemini/config/plugins/mem0/hooks.json")).expect("a file of ours");
    let checks = home.doctor();
    assert!(!checks["switch_kimi"].0 && checks["files_kimi"].0, "{checks:#?}");
    assert!(checks["files_antigravity"].1.contains("hooks.json"), "{checks:#?}");
    fs::remove_file(home.root.path().join(".mem0/bin/mem0-code")).expect("the program");
    let checks = home.doctor();
    assert!(!checks["program_cursor"].0 && !checks.contains_key("server_cursor"), "{checks:#?}");

    assert!(home.run(&["uninstall", "--all"], "").is_success());
    let left: Vec<PathBuf> = tree(home.root.path()).into_keys().filter(|path| !clean.contains_key(path)).collect();
    assert!(left.iter().all(|path| path.starts_with(home.root.path().join(".mem0"))), "{left:?}");
}
