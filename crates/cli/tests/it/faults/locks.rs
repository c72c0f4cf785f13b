//! Locks that others hold, locks of the dead, and clocks that are wrong.

use std::fs;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::home::{Home, LIMIT, assert_intact, open, set_age};
use crate::process;

/// What a locked database may cost a hook.
const HOOK_LIMIT: Duration = Duration::from_millis(2500);

/// Another connection holds everything for five seconds.
#[test]
fn a_locked_database_holds_up_no_hook() {
    let home = Home::new();
    home.exchange("before", "Remember that the release branch is cut on Mondays.", "Noted.");
    home.settle(&["before".to_owned()]);
    for database in [home.evidence(), home.memory()] {
        let (ready, locked) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let path = database.clone();
        let holder = thread::spawn(move || {
            let connection = open(&path);
            // Readers are shut out too, as they are while another process recovers the file.
            connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").expect("locking the database");
            ready.send(()).ok();
            released.recv_timeout(Duration::from_secs(5)).ok();
            connection.execute_batch("ROLLBACK").ok();
        });
        locked.recv_timeout(Duration::from_secs(10)).expect("the lock is taken");
        for (event, fields) in [
            ("UserPromptSubmit", json!({"prompt": "When is the release branch cut again?"})),
            ("PostToolUse", json!({"tool_name": "Read", "tool_input": {"file_path": "a"}})),
        ] {
            let outcome = home.hook(event, &format!("locked {event}"), fields);
            assert!(outcome.is_success(), "{}: {event}: {outcome:?}", database.display());
            assert!(outcome.elapsed < HOOK_LIMIT, "{}: {event}: {:?}", database.display(), outcome.elapsed);
        }
        release.send(()).ok();
        holder.join().expect("the lock is let go");
        let aside =
            fs::read_dir(database.parent().expect("a folder")).expect("the folder is there").filter_map(Result::ok);
        let aside: Vec<_> = aside.filter(|entry| entry.file_name().to_string_lossy().contains("corrupt")).collect();
        assert!(aside.is_empty(), "a busy database was taken for a damaged one: {aside:?}");
    }
    home.exchange("after", "Are hooks recorded again afterwards?", "They are.");
    assert!(home.stored_prompts().iter().any(|prompt| prompt.contains("recorded again")));
}

/// Lock files of processes long dead. B012.
#[test]
fn stale_lock_files_are_ignored() {
    let home = Home::new();
    home.exchange("s1", "What leaves lock files behind?", "Crashed processes do.");
    home.end("s1");
    home.work();
    let mut locks = Vec::new();
    let mut folders = vec![home.mem0_dir()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("our folders can be read").filter_map(Result::ok) {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.to_string_lossy().contains("lock") => locks.push(path),
                false => {}
            }
        }
    }
    for path in &locks {
        fs::write(path, "999999999\n").expect("writing a dead process's number");
        set_age(path, Duration::from_secs(45 * 86_400));
    }
    home.exchange("s2", "Does the next writer take the lock?", "It takes it at once.");
    home.settle(&["s2".to_owned()]);
    assert!(home.turns().iter().any(|turn| turn.contains("takes it at once")), "with {locks:?}");
}

/// A worker killed while it had the packet must not block the next one for long. B010.
#[test]
fn the_lease_of_a_dead_worker_does_not_block() {
    let home = Home::new();
    home.exchange("s1", "Who may send what a dead worker left?", "The next worker, after recovery.");
    home.end("s1");
    // What a worker leaves that died right after its claim and its lease.
    let pending = home.data().join("pending");
    for name in home.packets() {
        let claimed = name.replace(".json", ".running");
        fs::rename(pending.join(name), pending.join(claimed)).expect("claiming the packet");
    }
    let live = home.hook("SessionStart", "s2", json!({"source": "startup"}));
    assert!(live.is_success(), "{live:?}");
    assert!(
        home.packets().iter().all(|name| name.ends_with(".running")),
        "a fresh claim was taken: {:?}",
        home.packets()
    );
    home.age_claims();
    home.hook("SessionStart", "s2", json!({"source": "startup"}));
    let outcome = home.work();
    assert!(outcome.is_success() && outcome.elapsed < Duration::from_secs(10), "{outcome:?}");
    assert_eq!(home.packets(), Vec::<String>::new());
    assert_eq!(home.turns().iter().filter(|turn| turn.contains("after recovery")).count(), 1);
}

/// Rows and files from a time when the clock was far ahead.
#[test]
fn rows_and_files_dated_ahead_stop_nothing() {
    let home = Home::new();
    home.exchange("ahead", "What happens when the clock was wrong?", "Rows are dated ahead.");
    home.end("ahead");
    let connection = open(&home.evidence());
    for table in ["events", "session_scopes", "flushes"] {
        connection.execute_batch(&format!("UPDATE {table} SET created_at = '2999-12-31T23:59:59+00:00'")).expect(table);
    }
    connection.execute_batch("UPDATE flushes SET updated_at = '2999-12-31T23:59:59+00:00'").expect("flushes");
    drop(connection);
    let ahead = SystemTime::now() + Duration::from_secs(400 * 86_400);
    for name in home.packets() {
        let file = fs::File::open(home.data().join("pending").join(name)).expect("the packet is there");
        file.set_modified(ahead).expect("setting a file's time");
    }
    // A claim from that time: its worker is long gone, and no heartbeat lies more than moments ahead.
    home.exchange("claimed", "Who held this packet when the clock jumped?", "A worker that is gone.");
    home.end("claimed");
    let pending = home.data().join("pending");
    let newest = home.packets().into_iter().find(|name| {
        let modified = fs::metadata(pending.join(name)).and_then(|meta| meta.modified());
        modified.is_ok_and(|modified| modified < SystemTime::now() + Duration::from_secs(3600))
    });
    let newest = newest.expect("the session's packet is there");
    let claim = pending.join(newest.replace(".json", ".running"));
    fs::rename(pending.join(newest), &claim).expect("claiming the packet");
    fs::File::open(&claim).and_then(|file| file.set_modified(ahead)).expect("setting a file's time");
    let outcome = home.hook("SessionStart", "now", json!({"source": "startup"}));
    assert!(outcome.is_success(), "{outcome:?}");
    assert!(!claim.exists(), "a claim dated ahead is never taken up again");
    home.exchange("now", "And does the present still work?", "It does, in order.");
    home.settle(&["ahead".to_owned(), "now".to_owned()]);
    let turns = home.turns().join("\n");
    for text in ["Rows are dated ahead.", "It does, in order."] {
        assert_eq!(turns.matches(text).count(), 1, "{text:?} in {turns}");
    }
    assert_intact(&home.evidence());
}

/// Time zones and languages nobody has.
#[test]
fn odd_time_zones_and_languages_change_nothing() {
    let home = Home::new();
    let odd: [&[(&str, &str)]; 5] = [
        &[("TZ", ":no/such/zone"), ("LANG", "xx_XX.nonsense")],
        &[("TZ", "Pacific/Apia"), ("LC_ALL", "C"), ("LANG", "")],
        &[("TZ", "<+9999>-99:99"), ("LC_ALL", "tr_TR.UTF-8")],
        &[("TZ", ""), ("LANG", "ja_JP.eucJP"), ("LANGUAGE", "de")],
        &[("TZ", "\u{1f570}"), ("LC_ALL", "\u{1f30d}")],
    ];
    for (idx, variables) in odd.iter().enumerate() {
        let mut hook = home.command(&["hook", "claude-code", "UserPromptSubmit"]);
        hook.envs(variables.iter().copied());
        let payload = home.payload("UserPromptSubmit", "s1", json!({"prompt": format!("Größe {idx} の質問")}));
        let outcome = process::run(hook, payload.as_bytes(), LIMIT);
        assert!(outcome.is_success(), "{variables:?}: {outcome:?}");
    }
    assert_eq!(home.stored_prompts(), (0..odd.len()).map(|idx| format!("Größe {idx} の質問")).collect::<Vec<_>>());
    let sql = "SELECT COUNT(*) FROM events WHERE ABS(julianday(created_at) - julianday('now')) > 0.01";
    assert_eq!(home.count(sql), 0, "times are UTC, whatever the zone");
}
