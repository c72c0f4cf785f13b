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

/// Every kind of damage to a committed file is named with the file, and mended by writing the packages anew.
#[test]
fn the_check_names_every_damage_and_sync_mends_it() {
    use std::os::unix::fs::symlink;
    type Damage = fn(&Path);
    let edit: Damage = |path| std::fs::write(path, std::fs::read_to_string(path).unwrap() + " ").unwrap();
    let cut: Damage = |path| std::fs::write(path, "").unwrap();
    let remove: Damage = |path| std::fs::remove_file(path).unwrap();
    let add: Damage = |path| std::fs::write(path, "x").unwrap();
    let lock: Damage = |path| {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    };
    let link_out: Damage = |path| {
        let packages = path.ancestors().find(|parent| parent.ends_with(committed::FOLDER)).unwrap();
        let outside = tempfile::tempdir_in(packages.parent().unwrap()).unwrap().keep().join("outside");
        std::fs::rename(path, &outside).unwrap();
        symlink(&outside, path).unwrap();
    };
    let link_in: Damage = |path| symlink("README.md", path).unwrap();
    let folder: Damage = |path| {
        std::fs::remove_file(path).unwrap();
        std::fs::create_dir(path).unwrap();
    };
    let root = tempfile::tempdir().unwrap();
    let root = &root.path().canonicalize().unwrap();
    sync(root).unwrap();
    assert_eq!(whats(&check(root).unwrap(), root), Vec::<String>::new());
    let rows: &[(&'static str, Damage, &str)] = &[
        ("skills/pause/SKILL.md", remove, "missing"),
        ("skills/pause/SKILL.md", edit, "stale: differs from what templates/skills/pause/SKILL.md.tmpl gives"),
        ("skills/pause/SKILL.md", cut, "stale: differs from what templates/skills/pause/SKILL.md.tmpl gives"),
        ("skills/pause/SKILL.md", folder, "missing: a folder has its name"),
        ("skills/pause/SKILL.md", link_out, "a symbolic link to "),
        ("skills", link_out, "out of the package"),
        ("bin/mem0-code", lock, "not executable"),
        ("bin/mem0-code", link_out, "out of the package: a package holds none"),
        ("extra.txt", add, "extra: nothing generates it"),
        ("skills/extra.md", add, "extra: nothing generates it"),
        ("link.md", link_in, "a symbolic link to README.md: a package holds none"),
    ];
    let damage_all = |place: fn(&packages::Package, &'static str) -> &'static str,
                      row: &(&'static str, Damage, &str)| {
        let (path, damage, expected) = row;
        let path_in =
            |package: &packages::Package| root.join(committed::FOLDER).join(package.folder).join(place(package, path));
        let paths: Vec<PathBuf> = packages::PACKAGES.iter().map(path_in).collect();
        paths.iter().for_each(|path| damage(path));
        let problems = check(root).unwrap();
        for path in &paths {
            let named: Vec<_> = problems.iter().filter(|problem| problem.path == *path).collect();
            assert!(
                named.len() == 1 && named[0].what.contains(expected),
                "{} should be `{expected}`: {problems:?}",
                path.display()
            );
        }
        assert!(matches!(crate::commands::bundle::tell(&problems, ""), crate::report::Ending::Failed));
        sync(root).unwrap();
        assert_eq!(check(root).unwrap(), [], "after {expected}");
    };
    rows.iter().for_each(|row| damage_all(|_, path| path, row));
    damage_all(|package, _| package.manifest, &("", remove, "missing"));
    damage_all(|package, _| package.manifest, &("", edit, "stale"));
}

#[test]
fn the_check_sees_marketplaces_and_strange_folders() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    sync(root).unwrap();
    let marketplace = ".agents/plugins/marketplace.json";
    std::fs::remove_file(root.join(marketplace)).unwrap();
    std::fs::write(root.join(".kimi-plugin/marketplace.json"), "{}").unwrap();
    std::fs::create_dir(root.join("plugins/nobody")).unwrap();
    std::fs::create_dir(root.join("plugins/opencode")).unwrap();
    std::fs::rename(root.join("plugins/codex"), root.join("codex")).unwrap();
    std::os::unix::fs::symlink(root.join("codex"), root.join("plugins/codex")).unwrap();
    let named = whats(&check(root).unwrap(), root);
    let expected = [
        ".agents/plugins/marketplace.json: missing",
        ".kimi-plugin/marketplace.json: `plugins` is missing",
        ".kimi-plugin/marketplace.json: `version` is missing",
        ".kimi-plugin/marketplace.json: stale",
        "plugins/codex: a symbolic link",
        "plugins/nobody: extra",
    ];
    assert_eq!(named.len(), expected.len(), "{named:#?}");
    for (line, expected) in named.iter().zip(expected) {
        assert!(line.starts_with(expected), "{line} is not {expected}");
    }
    assert!(sync(root).unwrap_err().to_string().contains("is not a folder"));
}

#[test]
fn two_builds_are_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    std::fs::write(&program, [0x7f, b'E', b'L', b'F', 0, 0xff]).unwrap();
    let tree = |root: &Path| -> Vec<(String, Vec<u8>, bool)> {
        let files = validate::walk(root).0.into_iter();
        files
            .map(|path| (path.clone(), std::fs::read(root.join(&path)).unwrap(), fsx::is_program(&root.join(&path))))
            .collect()
    };
    for host in hosts() {
        let (one, two) = (folder.path().join("one"), folder.path().join("b/two"));
        for out in [&one, &two] {
            build(host, out, Some(("x86_64-unknown-linux-musl", &program))).unwrap();
        }
        let files = tree(&one);
        assert_eq!(files, tree(&two));
        let carried = files.iter().find(|(path, ..)| path == "bin/x86_64-unknown-linux-musl/mem0-code").unwrap();
        assert!(carried.2 && carried.1.starts_with(b"\x7fELF"));
        for folder in [&one, &two] {
            std::fs::remove_dir_all(folder).unwrap();
        }
    }
}

#[test]
fn every_rule_of_validation_can_fail() {
    let cases: &[(&str, &str, &str, &str)] = &[
        ("claude-code", ".claude-plugin/plugin.json", "\"mem0\",", "\"Mem0!\","),
        ("claude-code", ".claude-plugin/plugin.json", "\"title\"", "\"titel\""),
        ("claude-code", ".claude-plugin/plugin.json", "\"license\"", "\"licence\""),
        ("claude-code", ".claude-plugin/plugin.json", "\"homepage\"", "\"agents\": \"./helpers\", \"homepage\""),
        ("claude-code", ".mcp.json", "bin/mem0-code", "bin/other"),
        ("claude-code", ".mcp.json", "bin/mem0-code", "bin/../../mem0-code"),
        ("claude-code", "hooks/hooks.json", "\"PreCompact\": [", "\"PreCompaction\": ["),
        ("claude-code", "hooks/hooks.json", "hook claude-code Stop", "hook claude-code SessionEnd"),
        ("claude-code", "hooks/hooks.json", "hook claude-code Stop", "hook codex Stop"),
        ("claude-code", "hooks/hooks.json", "${CLAUDE_PLUGIN_ROOT}/bin/mem0-code", "${CLAUDE_PLUGIN_ROOT}/bin/other"),
        ("claude-code", "hooks/hooks.json", "\\\"${CLAUDE_PLUGIN_ROOT}/bin/mem0-code\\\"", "mem0-code"),
        ("claude-code", "hooks/hooks.json", "\"timeout\": 5", "\"timeout\": 0"),
        ("claude-code", "hooks/hooks.json", "\"type\": \"command\"", "\"type\": \"prompt\""),
        ("claude-code", "agents/sidekick.md", "isolation: worktree", "isolation: none"),
        ("claude-code", "agents/sidekick.md", "name: sidekick", "name: helper"),
        ("claude-code", "skills/search/SKILL.md", "name: search", "name: find"),
        ("claude-code", "skills/search/SKILL.md", "description: ", "description: Use: "),
        ("claude-code", "skills/search/SKILL.md", "# Search memory", "{{TITLE}}"),
        ("claude-code", "skills/search/SKILL.md", "# Search memory", "Always call the tool\nsearch_memories."),
        ("claude-code", "skills/search/SKILL.md", "# Search memory", "One search is rarely enough."),
        ("codex", ".codex-plugin/plugin.json", "./skills/", "../skills/"),
        ("codex", ".codex-plugin/plugin.json", "./hooks/hooks.json", "./hooks/hook.json"),
        ("codex", ".mcp.json", "./bin/mem0-code", "mem0-code"),
        ("codex", ".mcp.json", "\"MEM0_DIR\"", "\"MEM0 DIR\""),
        ("codex", ".mcp.json", "{", "["),
        ("codex", "bin/mem0-code", "exec", "{{exec"),
        ("cursor", ".cursor-plugin/plugin.json", "\"integer\"", "\"whole\""),
        ("cursor", "hooks/hooks.json", "\"version\": 1", "\"version\": 2"),
        ("cursor", "hooks/hooks.json", "\"timeout\"", "\"hooks\": [], \"timeout\""),
        ("cursor", "mcp.json", "PLUGIN_ROOT}/bin", "PLUGIN_ROOT}/sbin"),
        ("kimi", "kimi.plugin.json", "\"UserPromptSubmit\"", "\"UserPrompt\""),
        ("kimi", "kimi.plugin.json", "\"timeout\"", "\"time_limit\""),
        ("kimi", "kimi.plugin.json", "\"command\": \"./bin/mem0-code\"", "\"command\": \"/opt/mem0-code\""),
        ("kimi", "skills/search/SKILL.md", "disable-model-invocation: true", "argument-hint: x"),
        ("antigravity", "plugin.json", "antigravity.google", "example.com"),
        ("antigravity", "hooks.json", "\"enabled\": true", "\"enabled\": 1"),
        ("antigravity", "hooks.json", "\"PreInvocation\"", "\"PreToolUse\""),
        ("antigravity", "mcp_config.json", "\"sh\"", "\"mem0-code\""),
        ("portable", "plugin.json", "1.0.0/plugin", "2.0.0/plugin"),
        ("portable", "plugin.json", "\"license\"", "\"hooks\": \"./hooks.json\", \"license\""),
        ("portable", "mcp.json", "\"env\": {}", "\"env\": {\"PLUGIN_ROOT\": \"x\"}"),
        ("portable", "mcp.json", "\"env\": {}", "\"cwd\": \"/tmp\""),
        ("portable", "mcp.json", "./bin/mem0-code", "/opt/mem0-code"),
        (
            "portable",
            "mcp.json",
            "\"mem0\": {",
            "\"web\": {\"type\": \"sse\", \"url\": \"http://example.com/\"}, \"mem0\": {",
        ),
        (
            "portable",
            "mcp.json",
            "\"mem0\": {",
            "\"web\": {\"type\": \"sse\", \"url\": \"https://example.com/\", \"headers\": {\"A\": \"1\", \"a\": \"2\"}}, \"mem0\": {",
        ),
        ("portable", "skills/search/SKILL.md", "description: ", "argument-hint: x\ndescription: "),
        ("portable", "skills/search/SKILL.md", "---\n", "\u{feff}---\n"),
    ];
    for (host, path, old, new) in cases {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("package");
        build(host, &out, None).unwrap();
        assert_eq!(validate(&out), []);
        let text = std::fs::read_to_string(out.join(path)).unwrap();
        assert!(text.contains(old), "{host} {path} has no {old}");
        let program = fsx::is_program(&out.join(path));
        let mode = if program { fsx::Mode::Program } else { fsx::Mode::Shared };
        fsx::write_atomic(&out.join(path), text.replacen(old, new, 1).as_bytes(), mode).unwrap();
        let problems = validate(&out);
        assert!(problems.iter().any(|problem| problem.path == out.join(path)), "{host} {path} {new}: {problems:?}");
    }
}

#[test]
fn a_package_is_told_by_its_files() {
    let folder = tempfile::tempdir().unwrap();
    for host in hosts() {
        let out = folder.path().join(host);
        build(host, &out, None).unwrap();
        assert_eq!(validate(&out), [], "{host}");
    }
    assert!(validate(folder.path())[0].what.contains("no manifest"));
    let both = folder.path().join("cursor");
    std::fs::create_dir(both.join(".codex-plugin")).unwrap();
    std::fs::write(both.join(".codex-plugin/plugin.json"), "{}").unwrap();
    assert!(validate(&both).iter().all(|problem| !problem.what.contains("several")));
}

/// JSON of every package, with the definition it has to meet, for testing the schemas themselves.
pub(super) fn sample_documents() -> Vec<(String, String, serde_json::Value)> {
    let mut samples = Vec::new();
    for package in packages::PACKAGES {
        let files = render(package.host, &Program::Launcher).unwrap();
        for (path, definition) in package.contracts {
            let value = serde_json::from_slice(&files[*path].bytes).unwrap();
            samples.push((package.host.to_owned(), (*definition).to_owned(), value));
        }
        for (path, definition) in [("skills/handoff/SKILL.md", "skill"), ("agents/sidekick.md", "agent")] {
            let Some(file) = files.get(path) else { continue };
            let (fields, _) = frontmatter::parse(std::str::from_utf8(&file.bytes).unwrap()).unwrap();
            samples.push((package.host.to_owned(), definition.to_owned(), serde_json::Value::Object(fields)));
        }
    }
    let marketplaces = marketplaces::samples().into_iter();
    samples.extend(marketplaces.map(|(host, value)| ("marketplaces".to_owned(), host, value)));
    samples
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

/// How each host's skills name the program, and what they leave to the user.
#[test]
fn skills_name_the_host_and_the_program() {
    let native = Program::Native { shell: "/opt/m/mem0-code".into(), path: "/opt/m/mem0-code".into(), env: vec![] };
    for (host, program) in hosts().flat_map(|host| [(host, &Program::Launcher), (host, &native)]) {
        let files = render(host, program).unwrap();
        let text = |path: &str| String::from_utf8(files[path].bytes.clone()).unwrap();
        let skills: Vec<&str> =
            files.keys().filter_map(|path| path.strip_prefix("skills/")?.strip_suffix("/SKILL.md")).collect();
        assert_eq!(skills, ["forget", "handoff", "pause", "remember", "resume", "search", "status"]);
        assert!(text("skills/status/SKILL.md").contains(&format!("--harness \"{host}\" status --json")));
        assert!(text("skills/search/SKILL.md").contains("`search_memories`"));
        assert!(text("skills/forget/SKILL.md").contains("forget --remote --yes"));
        let handoff = text("skills/handoff/SKILL.md");
        let source = if host == "portable" { "SOURCE_HOST" } else { host };
        assert!(handoff.contains(&format!("handoff save --source {source} --session \"")), "{handoff}");
        assert!(handoff.contains("`handoff_resource`"));
        assert_eq!(handoff.contains("--cwd"), ["cursor", "antigravity", "portable"].contains(&host), "{handoff}");
        for (path, file) in &files {
            let text = String::from_utf8(file.bytes.clone()).unwrap();
            assert!(!text.contains("python") && !text.contains("node "), "{path} needs a script runtime");
            assert!(!text.contains("/opt/m") || program != &Program::Launcher);
        }
        for skill in skills {
            let (fields, _) =
                frontmatter::parse(std::str::from_utf8(&files[&format!("skills/{skill}/SKILL.md")].bytes).unwrap())
                    .unwrap();
            let description = fields["description"].as_str().unwrap();
            assert!(description.contains("Use "), "{skill} does not say when: {description}");
            if let Some(value) = fields.get("disable-model-invocation") {
                assert_eq!(value, &serde_json::json!(skill != "status"), "{host} {skill}");
            }
        }
    }
}

/// Every command line in a skill is one that the program takes.
#[test]
fn skills_run_commands_that_exist() {
    use clap::{CommandFactory, Parser};
    let program = crate::cli::Cli::command();
    let mut n_commands = 0;
    for package in packages::PACKAGES {
        let cli = format!("{} --harness \"{}\" ", package.skill_program, package.host);
        for (path, file) in render(package.host, &Program::Launcher).unwrap() {
            let text = String::from_utf8_lossy(&file.bytes).into_owned();
            for line in text.lines().filter(|_| path.starts_with("skills/")) {
                // A rule of the front matter has a pattern where the arguments are.
                let Some((_, rest)) = line.split_once(&cli).filter(|_| !line.starts_with("allowed-tools")) else {
                    continue;
                };
                let rest = rest.split(['`', '<']).next().unwrap().trim_end().replace("SOURCE_HOST", "codex");
                let words: Vec<&str> = rest.split_whitespace().map(|word| word.trim_matches('"')).collect();
                // What stands for an argument was cut off where it began.
                let tail = (rest.ends_with('"') && rest.matches('"').count() % 2 == 1).then_some("x");
                let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).chain(tail).collect();
                n_commands += 1;
                if program.find_subcommand(words[0]).is_none() {
                    assert_eq!(words[0], "handoff", "{path}: {line}");
                    continue;
                }
                let arguments = ["mem0-code", "--harness", package.host].into_iter().chain(words.iter().copied());
                if let Err(error) = crate::cli::Cli::try_parse_from(arguments) {
                    panic!("{} {path}: {words:?}: {error}", package.host);
                }
            }
        }
    }
    assert!(n_commands >= 60, "only {n_commands} commands were found");
}

/// Claude Code saves a session before the model is asked, so the command and the rule that permits it have to agree.
#[test]
fn a_handoff_is_saved_at_once_where_the_host_can() {
    let native = Program::Native {
        shell: "MEM0_DIR='/a b' '/opt/m m/mem0-code'".into(),
        path: "/opt/m m/mem0-code".into(),
        env: vec![("MEM0_DIR".into(), "/a b".into())],
    };
    for program in [&Program::Launcher, &native] {
        for host in hosts() {
            let files = render(host, program).unwrap();
            let (fields, body) =
                frontmatter::parse(std::str::from_utf8(&files["skills/handoff/SKILL.md"].bytes).unwrap()).unwrap();
            let command = body.lines().find_map(|line| line.strip_prefix("!`")?.strip_suffix('`'));
            let rule = fields.get("allowed-tools").map(|rule| rule.as_str().unwrap());
            assert_eq!((command.is_some(), rule.is_some()), (host == "claude-code", host == "claude-code"));
            let (Some(command), Some(rule)) = (command, rule) else { continue };
            let allowed = rule.strip_prefix("Bash(").unwrap().strip_suffix("*)").unwrap();
            assert!(command.starts_with(allowed), "{command} is not allowed by {rule}");
            assert!(command.ends_with("--source claude-code --session \"${CLAUDE_SESSION_ID}\""));
        }
    }
}

#[test]
fn the_sidekick_is_claude_codes_alone() {
    for host in hosts() {
        let files = render(host, &Program::Launcher).unwrap();
        let agents: Vec<&String> = files.keys().filter(|path| path.starts_with("agents/")).collect();
        assert_eq!(agents.len(), usize::from(host == "claude-code"), "{host}: {agents:?}");
        if host != "claude-code" {
            for (path, file) in &files {
                let text = String::from_utf8_lossy(&file.bytes).to_lowercase();
                assert!(!path.contains("sidekick") && !text.contains("sidekick"), "{host} {path}");
            }
        }
    }
    let files = render("claude-code", &Program::Launcher).unwrap();
    let (fields, body) = frontmatter::parse(std::str::from_utf8(&files["agents/sidekick.md"].bytes).unwrap()).unwrap();
    assert_eq!((&fields["isolation"], &fields["model"]), (&"worktree".into(), &"sonnet".into()));
    let tools = fields["tools"].as_str().unwrap();
    assert!(["SendMessage", "mcp__plugin_mem0_mem0__search_memories"].iter().all(|tool| tools.contains(tool)));
    assert!(fields["description"].as_str().unwrap().contains("same sidekick"));
    for line in ["Outcome", "Files changed", "Validation", "Remaining risk", "Commit", "Worktree"] {
        assert!(body.contains(&format!("- **{line}**:")), "the report has no {line}");
    }
}

/// What each host's files say, in the host's own shapes.
#[test]
fn each_host_gets_its_own_shapes() {
    let json = |host: &str, path: &str, program: &Program| -> serde_json::Value {
        serde_json::from_slice(&render(host, program).unwrap()[path].bytes).unwrap()
    };
    let native = Program::Native {
        shell: "MEM0_DIR=/d /opt/mem0-code".into(),
        path: "/opt/mem0-code".into(),
        env: vec![("MEM0_DIR".into(), "/d".into())],
    };
    for package in packages::PACKAGES {
        let specs = hooks::of(package.host).unwrap_or_default();
        for program in [&Program::Launcher, &native] {
            let start = match program {
                Program::Launcher => format!("\"{}/bin/mem0-code\"", package.root),
                Program::Native { .. } => "MEM0_DIR=/d /opt/mem0-code".to_owned(),
            };
            let path = package.hooks.path().unwrap_or(package.manifest);
            let file = json(package.host, path, program);
            for (hook_idx, spec) in specs.iter().enumerate() {
                let command = format!("{start} hook {} {}", package.host, spec.native);
                let handler = match package.hooks {
                    packages::HookFile::Groups { .. } => &file["hooks"][spec.native][0]["hooks"][0],
                    packages::HookFile::Flat { .. } => &file["hooks"][spec.native][0],
                    packages::HookFile::Sets { set, .. } => match spec.matcher {
                        Some(_) => &file[set][spec.native][0]["hooks"][0],
                        None => &file[set][spec.native][0],
                    },
                    packages::HookFile::InManifest => &file["hooks"][hook_idx],
                    packages::HookFile::None => panic!("{} has hooks", package.host),
                };
                assert_eq!(handler["command"], command, "{} {}", package.host, spec.native);
                assert_eq!(handler["timeout"], spec.timeout_s);
            }
            let server = &json(package.host, package.servers, program)["mcpServers"]["mem0"];
            let words = std::iter::once(&server["command"]).chain(server["args"].as_array().unwrap());
            let words: Vec<&str> = words.map(|word| word.as_str().unwrap()).collect();
            assert!(words.ends_with(&["mcp", "--host", package.host]), "{words:?}");
            if program == &native {
                assert_eq!(words[words.len() - 4], "/opt/mem0-code");
                if package.host != "codex" {
                    assert_eq!(server["env"]["MEM0_DIR"], "/d");
                }
            }
        }
    }
}

#[test]
fn packages_that_are_built_elsewhere_say_where() {
    for elsewhere in packages::ELSEWHERE {
        let error = render(elsewhere.host, &Program::Launcher).unwrap_err().to_string();
        assert!(error.contains(elsewhere.folder), "{error}");
        assert!(hosts().all(|host| host != elsewhere.host));
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

/// Every hook and server of every package, started as its host starts it, reaches the program.
#[test]
fn what_hosts_start_reaches_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("its home/.gemini/config/plugins/mem0");
    let program = folder.path().join("its program");
    fsx::write_atomic(&program, b"#!/bin/sh\necho \"$*\"\n", fsx::Mode::Program).unwrap();
    for package in packages::PACKAGES {
        let _ = std::fs::remove_dir_all(&root);
        build(package.host, &root, None).unwrap();
        let host_variable = package.root.trim_start_matches("${").trim_end_matches('}');
        let fill = |text: &str| text.replace(package.root, root.to_str().unwrap());
        let run = |words: &[String]| {
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).current_dir(&root).env_clear().env("PATH", "/usr/bin:/bin");
            command.env("HOME", folder.path().join("its home")).env("MEM0_CODE_BIN", &program);
            if package.root.starts_with('$') {
                command.env(host_variable, &root);
            }
            let output = command.stdin(Stdio::null()).output().unwrap();
            assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        let json = |path: &str| -> serde_json::Value {
            serde_json::from_slice(&std::fs::read(root.join(path)).unwrap()).unwrap()
        };
        let hooks = package.hooks.path().unwrap_or(package.manifest);
        let registered = validate::registered(&json(hooks));
        assert_eq!(registered.len(), hooks::of(package.host).unwrap_or_default().len(), "{}", package.host);
        for (event, command) in registered {
            let words = ["sh", "-c", &command].map(str::to_owned);
            assert_eq!(run(&words), format!("hook {} {event}\n", package.host));
        }
        let server = &json(package.servers)["mcpServers"]["mem0"];
        let words = std::iter::once(&server["command"]).chain(server["args"].as_array().unwrap());
        let mut words: Vec<String> = words.map(|word| word.as_str().unwrap().to_owned()).collect();
        // Hosts fill in their variable, or take the command from the package's folder.
        words[0] = if package.root.starts_with('$') { fill(&words[0]) } else { words[0].clone() };
        if let Some(inside) = words[0].strip_prefix("./") {
            words[0] = root.join(inside).to_str().unwrap().to_owned();
        }
        assert_eq!(run(&words), format!("mcp --host {}\n", package.host));
    }
}

#[test]
fn without_the_program_hooks_are_silent_and_the_server_explains_itself() {
    let package = Package::new();
    let own = package.folder.path().join("a package/bin");
    let own = format!("{}:/usr/bin:/bin", own.display());
    let env = [("PATH", Path::new(&own))];
    for (host, event, answer) in [
        ("claude-code", "Stop", ""),
        ("cursor", "beforeSubmitPrompt", ""),
        ("kimi", "UserPromptSubmit", ""),
        ("antigravity", "PreInvocation", "{}\n"),
        ("antigravity", "PreToolUse", "{\"decision\":\"allow\"}\n"),
    ] {
        assert_eq!(package.run(&["hook", host, event], &env, "{}"), (Some(0), answer.to_owned()), "{host} {event}");
    }
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
