//! Disks that are full, read-only or not what they should be.
//!
//! Full and read-only disks are small memory file systems. Mounting one needs root; without, those
//! tests say that they were skipped.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use super::home::{Home, LIMIT, assert_intact, hosts, is_valid_output};
use crate::process;

/// A hook may not take longer than this, whatever the disk does.
const HOOK_LIMIT: Duration = Duration::from_millis(2500);

/// A mounted memory file system; unmounted when dropped.
struct SmallDisk {
    at: PathBuf,
}

impl SmallDisk {
    /// Mounts one, or says why not.
    fn mount(at: &Path, size: &str) -> Option<Self> {
        fs::create_dir_all(at).expect("making the mount point");
        let mut mount = Command::new("mount");
        let output = mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(at).output();
        match output {
            Ok(output) if output.status.success() => Some(Self { at: at.to_owned() }),
            other => {
                eprintln!("skipped: no small file system can be mounted here: {other:?}");
                None
            }
        }
    }

    fn make_read_only(&self) {
        let output = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.at).output().expect("mount starts");
        assert!(output.status.success(), "{output:?}");
    }

    /// Writes until nothing more fits and returns the file that took the space.
    fn fill(&self) -> PathBuf {
        let path = self.at.join("filler");
        let mut file = File::create(&path).expect("making the filler");
        for size in [64 * 1024, 4096, 1] {
            while file.write_all(&vec![b'x'; size]).is_ok() {}
        }
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg("-l").arg(&self.at).output().ok();
    }
}

/// Fires every hook of every host with a sound payload; returns what is wrong with the answers.
fn every_hook(home: &Home, change: &dyn Fn(&mut Command)) -> Vec<String> {
    let mut faults = Vec::new();
    for (host, event) in hosts().iter().flat_map(|(host, events)| events.iter().map(move |event| (host, event))) {
        let mut hook = home.command(&["hook", host, event]);
        change(&mut hook);
        let fields = json!({
            "prompt": "What did we decide about the release branch?",
            "last_assistant_message": "It is cut on Mondays.",
            "tool_name": "Bash",
            "tool_input": {"command": "make release"},
            "tool_response": {"stdout": "done"},
            "agent_id": "a1",
            "agent_type": "reviewer",
            "source": "startup",
        });
        let outcome = process::run(hook, home.payload(event, "disk", fields).as_bytes(), LIMIT);
        if !outcome.is_success() || !is_valid_output(&outcome.stdout) || outcome.elapsed > HOOK_LIMIT {
            faults.push(format!("{host} {event}: {outcome:?}"));
        }
    }
    faults
}

#[track_caller]
fn assert_hooks_answer(home: &Home, what: &str, change: &dyn Fn(&mut Command)) {
    let faults = every_hook(home, change);
    assert!(faults.is_empty(), "{what}:\n{}", faults.join("\n"));
}

/// Full, then freed: hooks go on, status tells, recording resumes by itself. B103.
#[test]
fn a_full_disk_is_reported_and_survived() {
    let home = Home::new();
    let Some(disk) = SmallDisk::mount(&home.mem0_dir(), "2m") else { return };
    home.exchange("before", "Which port does the admin interface use?", "Port 9402.");
    home.end("before");
    let filler = disk.fill();
    assert_hooks_answer(&home, "full", &|_| {});
    let outcome = home.work();
    assert!(outcome.code.is_some() && !outcome.timed_out, "worker: {outcome:?}");
    let text = home.status();
    assert!(text.to_lowercase().contains("full"), "status does not say that the disk is full: {text}");
    fs::remove_file(filler).expect("freeing the space");
    home.exchange("after", "Does recording resume without help?", "It does, on the first hook.");
    assert!(home.stored_prompts().iter().any(|prompt| prompt.contains("resume without help")));
    home.settle(&["before".to_owned(), "after".to_owned()]);
    let turns = home.turns().join("\n");
    for text in ["Port 9402.", "on the first hook"] {
        assert!(turns.contains(text), "{text:?} not in {turns}");
    }
    assert_intact(&home.evidence());
    assert_intact(&home.memory());
}

/// Everything of ours on a read-only file system. B014 (b).
#[test]
fn a_read_only_data_folder_never_fails_a_hook() {
    let home = Home::new();
    let Some(disk) = SmallDisk::mount(&home.mem0_dir(), "2m") else { return };
    disk.make_read_only();
    assert_hooks_answer(&home, "read-only and empty", &|_| {});
    drop(disk);
    let Some(disk) = SmallDisk::mount(&home.mem0_dir(), "2m") else { return };
    home.exchange("before", "What is kept on the disk beforehand?", "One exchange.");
    disk.make_read_only();
    assert_hooks_answer(&home, "read-only with a database", &|_| {});
    let outcome = home.work();
    assert!(outcome.code.is_some() && !outcome.timed_out, "worker: {outcome:?}");
}

/// Paths that are something else, and homes that are not there. B014 (c).
#[test]
fn paths_that_cannot_work_never_fail_a_hook() {
    type Arrange = fn(&Home);
    let in_the_way: [(&str, Arrange); 5] = [
        ("the home of everything is a file", |home| fs::write(home.mem0_dir(), "x").expect("writing")),
        ("the data folder is a file", |home| {
            fs::create_dir_all(home.mem0_dir()).expect("making");
            fs::write(home.data(), "x").expect("writing");
        }),
        ("the evidence database is a folder", |home| fs::create_dir_all(home.evidence()).expect("making")),
        ("the memory database is a folder", |home| fs::create_dir_all(home.memory()).expect("making")),
        ("the packet folder is a file", |home| {
            fs::create_dir_all(home.data()).expect("making");
            fs::write(home.data().join("pending"), "x").expect("writing");
        }),
    ];
    for (what, arrange) in in_the_way {
        let home = Home::new();
        arrange(&home);
        assert_hooks_answer(&home, what, &|_| {});
    }
}

/// Without a usable HOME, with and without another place to write to.
#[test]
fn a_missing_home_never_fails_a_hook() {
    let home = Home::new();
    // Below /proc nothing can be made, not even by root.
    for nowhere in ["/proc/nowhere", ""] {
        assert_hooks_answer(&home, nowhere, &|hook| {
            hook.env("HOME", nowhere);
        });
    }
    assert_hooks_answer(&home, "nowhere to write at all", &|hook| {
        hook.env("HOME", "/proc/nowhere").env_remove("MEM0_DIR");
    });
    // The home is looked up without HOME, so the folder stays named.
    assert_hooks_answer(&home, "no HOME", &|hook| {
        hook.env_remove("HOME");
    });
    assert!(home.evidence().is_file());
    // Nothing of ours may land in the working folder instead.
    let left: Vec<_> = fs::read_dir(home.repo()).expect("the repository is there").filter_map(Result::ok).collect();
    assert!(left.iter().all(|entry| entry.file_name() == OsStr::new(".git")), "{left:?}");
}

/// A file system without shared memory maps: the `-shm` file cannot be made. B093.
#[test]
fn a_database_without_shared_memory_is_used_or_refused_clearly() {
    let home = Home::new();
    home.exchange("before", "What is on the network drive?", "A checkout.");
    let shm = home.data().join("evidence.sqlite3-shm");
    fs::remove_file(&shm).ok();
    fs::create_dir(&shm).expect("putting a folder in the way");
    assert_hooks_answer(&home, "no shared memory", &|_| {});
    let outcome = home.run(&["--harness", "claude-code", "status", "--json"]);
    assert!(outcome.code.is_some_and(|code| code < 2) && !outcome.timed_out, "status: {outcome:?}");
    fs::remove_dir(&shm).expect("clearing the way");
    home.exchange("after", "And when the maps work again?", "Then all is as before.");
    let prompts = home.stored_prompts();
    for text in ["What is on the network drive?", "And when the maps work again?"] {
        assert!(prompts.iter().any(|prompt| prompt == text), "{text:?} not in {prompts:?}");
    }
    assert_intact(&home.evidence());
}

/// Hooks work from any folder, also one that is gone. B025.
#[test]
fn hooks_work_from_any_folder() {
    let home = Home::new();
    let gone = home.root().join("gone");
    fs::create_dir(&gone).expect("making a folder");
    for folder in [Path::new("/"), home.root(), &home.repo()] {
        assert_hooks_answer(&home, "a folder", &|hook| {
            hook.current_dir(folder);
        });
    }
    let script = "cd \"$1\" && rmdir \"$1\" && shift && exec \"$0\" \"$@\"";
    let mut hook = Command::new("/bin/sh");
    hook.arg("-c").arg(script).arg(process::BINARY).arg(&gone).args(["hook", "claude-code", "UserPromptSubmit"]);
    home.dress(&mut hook);
    let payload =
        home.payload("UserPromptSubmit", "gone", json!({"prompt": "From a folder that is gone.", "cwd": gone}));
    let outcome = process::run(hook, payload.as_bytes(), LIMIT);
    assert!(outcome.is_success(), "{outcome:?}");
    assert!(home.stored_prompts().iter().any(|prompt| prompt == "From a folder that is gone."));
}
