//! The command line with arguments nobody should give, and memories nobody should print as they are.

use std::fs;
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::process::{BINARY, Outcome, run};

const LIMIT: Duration = Duration::from_secs(30);

/// A temporary home with a project folder, and nothing else in the environment.
struct Place {
    root: TempDir,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir_all(root.path().join("project")).expect("a project folder");
        Self { root }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command
            .args(arguments)
            .current_dir(self.root.path().join("project"))
            .env_clear()
            .env("HOME", self.root.path())
            .env("MEM0_DIR", self.root.path().join("mem0"))
            .env("MEM0_CODE_SPAWN", "manual");
        command
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        run(self.command(arguments), b"", LIMIT)
    }

    fn run_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Outcome {
        let mut command = self.command(arguments);
        command.envs(variables.iter().copied());
        run(command, b"", LIMIT)
    }
}

#[test]
fn memories_cannot_steer_the_terminal() {
    let place = Place::new();
    let evil = "the title \u{1b}]0;owned\u{7} and \u{9b}31m red\rover \u{202e}backwards\u{7f}";
    assert!(place.run(&["add", evil]).is_success());
    let listed: serde_json::Value = serde_json::from_str(&place.run(&["list", "--json"]).stdout).expect("JSON");
    let id = listed["results"][0]["id"].as_str().expect("an id").to_owned();
    assert!(listed["results"][0]["memory"].as_str().expect("a text").contains('\u{1b}'), "{listed}");
    for arguments in [
        &["list"][..],
        &["list", "--json"],
        &["search", "title owned"],
        &["search", "title owned", "--json"],
        &["get", &id],
        &["get", &id, "--json"],
        &["history", &id],
        &["history", &id, "--json"],
        &["forget", "--preview"],
        &["get", evil],
        &["config", "get", evil],
        &["nonsense\u{1b}[31m"],
    ] {
        let ran = place.run(arguments);
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        let is_harmful = |char: char| (char.is_control() && char != '\n') || char == '\u{202e}';
        assert!(!printed.is_empty() && !printed.chars().any(is_harmful), "{arguments:?}: {printed:?}");
    }
}

#[test]
fn mistakes_of_the_caller_exit_with_2() {
    let place = Place::new();
    for arguments in [
        &[][..],
        &["nonsense"],
        &["search", " "],
        &["search", "x", "--top-k", "0"],
        &["add", ""],
        &["list", "--filter", "{"],
        &["list", "--filter", "[]"],
        &["list", "--page", "0"],
        &["update", "nope", ""],
        &["forget"],
        &["config", "get", "nope"],
        &["config", "set", "top_k", "many"],
        &["config", "set", "search_scope", "all"],
        &["config", "set", "backend", "cloud"],
        &["--harness", "../../elsewhere", "pause"],
        &["mcp", "--host", "a/b"],
        &["install"],
        &["install", "nope"],
        &["bundle", "build", "nope", "--out", "o"],
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.is_empty() || !ran.stdout.is_empty(), "{arguments:?}");
    }
    for arguments in [&["get", "nope"][..], &["delete", "nope"], &["history", "nope"], &["worker", "/no/packet"]] {
        assert_eq!(place.run(arguments).code, Some(1), "{arguments:?}");
    }
    assert!(!place.root.path().parent().expect("a parent").join("elsewhere-plugin").exists());
}

#[test]
fn blank_options_of_packages_count_as_none() {
    let place = Place::new();
    for arguments in [["--plugin-data-dir", "", "status"], ["--harness", "", "status"]] {
        let ran = place.run(&arguments);
        assert!(ran.is_success() && !ran.stdout.contains("/-plugin"), "{ran:?}");
    }
}

#[test]
fn a_folder_name_from_the_environment_stays_below_the_home() {
    let place = Place::new();
    assert!(place.run_with(&[("MEM0_PLUGIN_HARNESS", "../outside")], &["pause"]).is_success());
    assert!(!place.root.path().join("outside-plugin").exists());
}

#[test]
fn deleting_goes_on_after_an_unknown_id() {
    let place = Place::new();
    for text in ["apples are red here", "the build uses ninja"] {
        assert!(place.run(&["add", text]).is_success());
    }
    let listed: serde_json::Value = serde_json::from_str(&place.run(&["list", "--json"]).stdout).expect("JSON");
    let id = |index: usize| listed["results"][index]["id"].as_str().expect("an id").to_owned();
    let ran = place.run(&["delete", &id(0), "nope", &id(1)]);
    assert_eq!((ran.code, ran.stdout.trim()), (Some(1), "Deleted 2 memories."), "{ran:?}");
    assert!(ran.stderr.contains("nope"), "{ran:?}");
}

#[test]
fn doctor_names_settings_that_do_nothing() {
    let place = Place::new();
    for variable in [("MEM0_CODE_TOP_K", "many"), ("MEM0_CODE_BACKEND", "cloud"), ("MEM0_CODE_SEARCH_SCOPE", "all")] {
        let ran = place.run_with(&[variable], &["doctor"]);
        assert!(ran.code == Some(1) && ran.stdout.contains(&format!("`{}`", variable.1)), "{ran:?}");
    }
    let ran = place.run_with(&[("OPENAI_BASE_URL", "http://127.0.0.1:1")], &["doctor"]);
    assert!(ran.is_success() && ran.stdout.contains("without effect here: OPENAI_BASE_URL"), "{ran:?}");
    fs::create_dir_all(place.root.path().join("mem0")).expect("a home");
    fs::write(place.root.path().join("mem0/code.toml"), b"\xff\xfe").expect("a file");
    let ran = place.run(&["doctor"]);
    assert!(ran.code == Some(1) && ran.stdout.contains("FAIL configuration"), "{ran:?}");
}

#[test]
fn config_set_takes_values_as_people_write_them() {
    let place = Place::new();
    let file = place.root.path().join("mem0/code.toml");
    fs::create_dir_all(place.root.path().join("mem0")).expect("a home");
    fs::write(&file, "# mine\ntop_k = 4 # why\n\n[other]\nx = 1\n").expect("a file");
    for (key, value) in [("top_k", "7"), ("user_id", "12"), ("exclude", "~/b")] {
        let ran = place.run(&["config", "set", key, value]);
        assert!(ran.is_success(), "{ran:?}");
    }
    let text = fs::read_to_string(&file).expect("a file");
    assert_eq!(text, "# mine\ntop_k = 7 # why\nuser_id = \"12\"\nexclude = [\"~/b\"]\n\n[other]\nx = 1\n");
}

#[test]
fn a_full_device_is_a_failure() {
    let place = Place::new();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
    let status = place.command(&["status", "--json"]).stdout(full).stderr(std::process::Stdio::null()).status();
    assert_eq!(status.expect("it ran").code(), Some(1));
}

#[test]
fn a_home_that_is_a_file_is_not_an_empty_memory() {
    let place = Place::new();
    let file = place.root.path().join("file");
    fs::write(&file, "").expect("a file");
    let file = file.to_str().expect("UTF-8").to_owned();
    for arguments in [&["search", "anything at all"][..], &["list"], &["add", "A fact."]] {
        let ran = place.run_with(&[("MEM0_DIR", &file)], arguments);
        assert_eq!(ran.code, Some(1), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains("not a directory") && ran.stderr.contains("hint:"), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn every_command_that_prints_data_prints_json() {
    let place = Place::new();
    assert!(place.run(&["add", "the build uses ninja"]).is_success());
    let parse = |ran: Outcome| -> serde_json::Value {
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    };
    assert_eq!(parse(place.run(&["pause", "--json"]))["paused"], true);
    assert_eq!(parse(place.run(&["resume", "--json"]))["paused"], false);
    assert_eq!(parse(place.run(&["config", "get", "top_k", "--json"]))["top_k"], "3");
    let preview = parse(place.run(&["forget", "--preview", "--json"]));
    assert_eq!(preview["memories"]["total"], 1, "{preview}");
    let id = preview["memories"]["first"][0]["id"].as_str().expect("an id").to_owned();
    let ran = place.run(&["delete", "--json", &id, "nope"]);
    assert_eq!(ran.code, Some(1));
    let deleted = parse(ran);
    assert!(deleted["deleted"][0] == id.as_str() && deleted["failed"][0]["id"] == "nope", "{deleted}");
}

#[test]
fn numbers_beyond_what_counts_are_refused() {
    let place = Place::new();
    for (key, value) in [("top_k", "50"), ("top_k", "0"), ("max_context_chars", "999"), ("min_query_chars", "-1")] {
        let ran = place.run(&["config", "set", "--", key, value]);
        assert!(ran.code == Some(2) && ran.stderr.contains("nearest"), "{key} {value}: {ran:?}");
    }
    assert!(place.run(&["config", "set", "top_k", "20"]).is_success());
}

/// A repository without a remote and two linked work trees, one with a relative pointer: one memory, which outlives them.
#[test]
fn linked_work_trees_of_a_repository_without_a_remote_share_memory() {
    let place = Place::new();
    let git = |folder: &str, arguments: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(place.root.path().join(folder)).args(arguments);
        git.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", place.root.path());
        git.envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "dev")));
        git.envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "dev@host.example")));
        assert!(git.output().expect("git starts").status.success(), "{arguments:?}");
    };
    git("project", &["init", "-q", "-b", "main"]);
    git("project", &["commit", "-q", "--allow-empty", "-m", "start"]);
    for tree in ["tree-a", "tree-b"] {
        git("project", &["worktree", "add", "-q", "-b", tree, &format!("../{tree}")]);
    }
    fs::write(place.root.path().join("tree-b/.git"), "gitdir: ../project/.git/worktrees/tree-b\n").expect("a pointer");
    let finds = |folder: &str| {
        let mut command = place.command(&["search", "which port does staging use", "--json"]);
        command.current_dir(place.root.path().join(folder));
        run(command, b"", LIMIT).stdout.contains("7443")
    };
    let mut add = place.command(&["add", "staging uses port 7443"]);
    add.current_dir(place.root.path().join("tree-a"));
    assert!(run(add, b"", LIMIT).is_success());
    assert!(finds("project") && finds("tree-b"));
    git("project", &["worktree", "remove", "--force", "tree-a"]);
    assert!(finds("project") && finds("tree-b"));
    fs::create_dir_all(place.root.path().join("other/project")).expect("a folder");
    git("other/project", &["init", "-q"]);
    assert!(!finds("other/project"), "another repository of the same name");
    let mut forget = place.command(&["forget", "--yes"]);
    forget.current_dir(place.root.path().join("other/project"));
    assert!(run(forget, b"", LIMIT).is_success());
    assert!(finds("project"), "forgotten by another repository of the same name");
}

#[test]
fn a_filter_on_what_no_memory_has_is_refused() {
    let ran = Place::new().run(&["list", "--filter", r#"{"bogus": 1}"#]);
    assert!(ran.code == Some(2) && ran.stderr.contains("`bogus`"), "{ran:?}");
}

/// The worker deletes and renames packets; a file that is none is left alone, whatever its name.
#[test]
fn a_worker_takes_packets_only() {
    let place = Place::new();
    for name in ["notes.json", "notes.running", "notes.txt"] {
        let file = place.root.path().join("project").join(name);
        fs::write(&file, "{}").expect("a file");
        let ran = place.run(&["worker", name]);
        assert!(ran.code == Some(2) && ran.stderr.contains("pending"), "{ran:?}");
        assert_eq!(fs::read_to_string(&file).expect("still there"), "{}");
    }
}
