//! Rendering is deterministic, what is committed is current, every rule of validation can fail, and the launcher finds the program.

use super::*;
use std::process::{Command, Stdio};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn whats(problems: &[Problem], root: &Path) -> Vec<String> {
    let line = |problem: &Problem| format!("{}: {}", problem.path.strip_prefix(root).unwrap().display(), problem.what);
    problems.iter().map(line).collect()
}

#[test]
fn committed_packages_are_current() {
    let problems = check(&repository()).unwrap();
    assert!(problems.is_empty(), "run `mem0-code bundle sync`:\n{problems:#?}");
}

#[test]
fn the_check_names_what_is_missing_stale_extra_or_linked() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    sync(root).unwrap();
    assert_eq!(whats(&check(root).unwrap(), root), Vec::<String>::new());
    let claude = root.join("plugins/claude-code");
    std::fs::remove_file(claude.join("skills/pause/SKILL.md")).unwrap();
    std::fs::write(claude.join("extra.txt"), "x").unwrap();
    std::fs::write(claude.join("README.md"), "other").unwrap();
    std::os::unix::fs::symlink("README.md", claude.join("link.md")).unwrap();
    std::fs::remove_file(root.join(".agents/plugins/marketplace.json")).unwrap();
    let executable = root.join("plugins/codex/bin/mem0-code");
    let mut permissions = std::fs::metadata(&executable).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o644);
    std::fs::set_permissions(&executable, permissions).unwrap();
    assert_eq!(
        whats(&check(root).unwrap(), root),
        [
            ".agents/plugins/marketplace.json: missing",
            "plugins/claude-code/README.md: stale: differs from its template",
            "plugins/claude-code/extra.txt: extra: not generated, remove it",
            "plugins/claude-code/link.md: symbolic links are not allowed in a package",
            "plugins/claude-code/skills/pause/SKILL.md: missing",
            "plugins/codex/bin/mem0-code: not executable",
        ]
    );
}

#[test]
fn every_rule_of_validation_can_fail() {
    let cases: &[(&str, &str, &str, &str)] = &[
        ("claude-code", ".claude-plugin/plugin.json", "\"mem0\",", "\"Mem0!\","),
        ("claude-code", ".claude-plugin/plugin.json", "\"title\"", "\"titel\""),
        ("claude-code", ".mcp.json", "bin/mem0-code", "bin/other"),
        ("claude-code", "hooks/hooks.json", "\"PreCompact\"", "\"PreCompaction\""),
        ("claude-code", "hooks/hooks.json", "\"timeout\": 5", "\"timeout\": 0"),
        ("claude-code", "hooks/hooks.json", "\"type\": \"command\"", "\"type\": \"prompt\""),
        ("claude-code", "skills/search/SKILL.md", "name: search", "name: find"),
        ("claude-code", "skills/search/SKILL.md", "# Search memory", "{{TITLE}}"),
        ("claude-code", "skills/search/SKILL.md", "# Search memory", "Always call the tool search_memories."),
        ("claude-code", "skills/search/SKILL.md", "# Search memory", "One search is rarely enough."),
        ("codex", ".codex-plugin/plugin.json", "./skills/", "../skills/"),
        ("codex", ".mcp.json", "./bin/mem0-code", "mem0-code"),
        ("codex", ".mcp.json", "{", "["),
    ];
    for (host, path, old, new) in cases {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("package");
        build(host, &out, None).unwrap();
        assert_eq!(validate(&out), []);
        let text = std::fs::read_to_string(out.join(path)).unwrap();
        assert!(text.contains(old), "{path} has no {old}");
        std::fs::write(out.join(path), text.replacen(old, new, 1)).unwrap();
        let problems = validate(&out);
        assert!(problems.iter().any(|problem| problem.path == out.join(path)), "{path} {new}: {problems:?}");
    }
}

#[test]
fn only_a_package_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    assert!(build("nobody", &folder.path().join("x"), None).is_err());
    let mine = folder.path().join("mine");
    std::fs::create_dir(&mine).unwrap();
    std::fs::write(mine.join("thesis.txt"), "years").unwrap();
    assert!(build("codex", &mine, None).unwrap_err().to_string().contains("refusing"));
    assert_eq!(std::fs::read(mine.join("thesis.txt")).unwrap(), b"years");
    let out = folder.path().join("out");
    build("codex", &out, None).unwrap();
    std::fs::write(out.join("old.txt"), "").unwrap();
    build("codex", &out, None).unwrap();
    assert!(!out.join("old.txt").exists());
}

#[test]
fn skills_name_the_host_and_the_program() {
    for host in hosts() {
        let files = render(host, &Program::Launcher).unwrap();
        let status = String::from_utf8(files["skills/status/SKILL.md"].bytes.clone()).unwrap();
        assert!(status.contains(&format!("--harness \"{host}\" status --json")), "{status}");
        let n_skills = files.keys().filter(|path| path.starts_with("skills/")).count();
        assert_eq!(n_skills, 6);
        for (path, file) in &files {
            let text = String::from_utf8(file.bytes.clone()).unwrap();
            assert!(!text.contains("python") && !text.contains("node "), "{path} needs a script runtime");
        }
    }
}

// ---- the launcher ----

struct Package {
    folder: tempfile::TempDir,
}

impl Package {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        build("claude-code", &folder.path().join("a package"), None).unwrap();
        Self { folder }
    }

    fn program(&self, path: &str) -> PathBuf {
        let program = self.folder.path().join(path);
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        fsx::write_atomic(&program, format!("#!/bin/sh\necho \"{path}: $*\"\n").as_bytes(), fsx::Mode::Program)
            .unwrap();
        program
    }

    fn run(&self, arguments: &[&str], env: &[(&str, &Path)], input: &str) -> (Option<i32>, String) {
        let mut command = Command::new(self.folder.path().join("a package/bin/mem0-code"));
        command.args(arguments).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.folder.path().join("home"));
        command
            .envs(env.iter().copied())
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes());
        let output = child.wait_with_output().unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
        )
    }
}

#[test]
fn the_launcher_looks_in_order() {
    let package = Package::new();
    let hook = ["hook", "claude-code", "Stop"];
    let path_folder = package.folder.path().join("on path");
    let own_first =
        format!("{}:{}:/usr/bin:/bin", package.folder.path().join("a package/bin").display(), path_folder.display());
    let env = [("PATH", Path::new(&own_first))];
    package.program("on path/mem0-code");
    assert_eq!(package.run(&hook, &env, "{}"), (Some(0), "on path/mem0-code: hook claude-code Stop\n".into()));
    package.program("home/.mem0/bin/mem0-code");
    assert_eq!(package.run(&hook, &env, "{}").1, "home/.mem0/bin/mem0-code: hook claude-code Stop\n");
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    if cfg!(target_os = "linux") {
        package.program(&format!("a package/bin/{target}/mem0-code"));
        assert!(package.run(&hook, &env, "{}").1.contains(&target));
    }
    let named = package.program("named/it's");
    assert_eq!(package.run(&hook, &[("MEM0_CODE_BIN", &named)], "{}").1, "named/it's: hook claude-code Stop\n");
}

#[test]
fn without_the_program_hooks_are_silent_and_the_server_explains_itself() {
    let package = Package::new();
    let own = package.folder.path().join("a package/bin");
    let own = format!("{}:/usr/bin:/bin", own.display());
    let env = [("PATH", Path::new(&own))];
    assert_eq!(package.run(&["hook", "claude-code", "Stop"], &env, "{}"), (Some(0), String::new()));
    let requests = concat!(
        "{\"jsonrpc\":\"2.0\",\"id\":\"probe-1\",\"method\":\"server/discover\"}\n",
        "{\"jsonrpc\": \"2.0\", \"id\": 0, \"method\": \"initialize\", \"params\": {}}\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
        "{\"method\":\"tools/list\",\"jsonrpc\":\"2.0\",\"id\":7}\n",
    );
    let (code, text) = package.run(&["mcp", "--host", "claude-code"], &env, requests);
    let answers: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(code, Some(0));
    assert_eq!(answers.len(), 3);
    assert_eq!((&answers[0]["id"], &answers[0]["error"]["code"]), (&"probe-1".into(), &(-32601).into()));
    assert!(answers[1]["result"]["instructions"].as_str().unwrap().contains("not installed"));
    assert_eq!(answers[1]["id"], 0);
    assert_eq!(answers[2]["result"]["tools"], serde_json::json!([]));
    let (code, text) = package.run(&["status"], &env, "");
    assert!(code == Some(1) && text.contains("not installed"), "{text}");
}
