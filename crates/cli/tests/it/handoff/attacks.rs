//! What an attacker could put into a session, a document, a path or the store.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::{Value, json};

use super::{handoff, kind};

fn document(home: &Path, title: &str) -> Value {
    json!({
        "format": "mem0.session-handoff.v1",
        "source": {"host": "pi-agent", "session_id": "s1", "title": title, "cwd": home},
        "items": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look at <script>alert(1)</script>"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "needle in the text"}]},
        ],
    })
}

fn save(home: &Path, document: &Value) -> Value {
    let outcome = handoff(home, &["save", "--bundle", "-", "--json"], document.to_string().as_bytes());
    assert!(outcome.is_success(), "{outcome:?}");
    serde_json::from_str(&outcome.stdout).unwrap()
}

#[test]
fn titles_cannot_act_on_a_terminal_or_a_page() {
    let home = tempfile::tempdir().unwrap();
    let title = "\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}evil\n</title><script>alert(1)</script>";
    let saved = save(home.path(), &document(home.path(), title));
    let resource = saved["resource"].as_str().unwrap();
    let calls: [&[&str]; 5] =
        [&["list"], &["list", "--json"], &["show", resource], &["search", "needle"], &["resume", resource]];
    for call in calls {
        let outcome = handoff(home.path(), call, b"");
        assert!(outcome.is_success(), "{outcome:?}");
        assert!(outcome.stdout.contains("evil") && !outcome.stdout.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']));
    }
    let listed: Value = serde_json::from_str(&handoff(home.path(), &["list", "--json"], b"").stdout).unwrap();
    assert_eq!(listed["resources"][0]["title"], title, "JSON escapes and loses nothing");
    for arguments in [vec!["export", resource, "--html"], vec!["export", resource]] {
        let page = handoff(home.path(), &arguments, b"").stdout;
        assert!(page.contains("evil") && !page.contains("<script") && !page.contains('\u{1b}'), "{page}");
    }
}

/// Wherever a secret stands in a session, a redacted copy has it nowhere, and says how many were taken out.
#[test]
fn redacted_copies_hold_no_secret_in_titles_names_or_keys() {
    let home = tempfile::tempdir().unwrap();
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let mut document = document(home.path(), &format!("Use {secret}"));
    let items = document["items"].as_array_mut().unwrap();
    items.push(json!({"type": "function_call", "call_id": "c1", "name": format!("run {secret}"),
        "arguments": json!({&secret: "x", "cmd": format!("echo {secret}")}).to_string()}));
    items.push(json!({"type": "function_call_output", "call_id": "c1", "output": secret}));
    let bytes = document.to_string().into_bytes();
    let faithful = handoff(home.path(), &["save", "--bundle", "-", "--json"], &bytes);
    let faithful: Value = serde_json::from_str(&faithful.stdout).unwrap();
    for flag in [&[][..], &["--html"]] {
        let page = handoff(home.path(), &[&["export", faithful["resource"].as_str().unwrap()], flag].concat(), b"");
        assert!(page.is_success() && !page.stdout.contains(&secret), "{page:?}");
    }
    let saved = handoff(home.path(), &["save", "--bundle", "-", "--redact", "--json"], &bytes);
    let saved: Value = serde_json::from_str(&saved.stdout).unwrap();
    let kept = std::fs::read_to_string(saved["resource"].as_str().unwrap()).unwrap();
    assert!(!kept.contains(&secret), "{kept}");
    let kept: Value = serde_json::from_str(&kept).unwrap();
    let warned = format!("redacted: {}", saved["redacted"]);
    assert!(kept["warnings"].as_array().unwrap().iter().any(|warning| *warning == warned), "{}", kept["warnings"]);
}

/// What cannot be read is named wherever resources are looked through.
#[test]
fn unreadable_resources_are_named() {
    let home = tempfile::tempdir().unwrap();
    let saved = save(home.path(), &document(home.path(), "t"));
    let store = Path::new(saved["resource"].as_str().unwrap()).parent().unwrap().to_path_buf();
    std::fs::write(store.join("torn.json"), "{\"a\":").unwrap();
    symlink("/nowhere/at-all", store.join("dangling.json")).unwrap();
    // Not every file system takes a name that is no text.
    let odd = std::fs::write(store.join(OsStr::from_bytes(b"odd\xff.json")), "{").is_ok();
    for call in [&["list", "--json"][..], &["search", "needle", "--json"]] {
        let told: Value = serde_json::from_str(&handoff(home.path(), call, b"").stdout).unwrap();
        let named = told["unreadable"].to_string();
        assert!(named.contains("torn.json") && named.contains("dangling.json"), "{call:?}: {told}");
        assert!(!odd || named.contains("odd"), "{call:?}: {told}");
        assert_eq!(told["resources"].as_array().unwrap().len(), 1, "{call:?}");
    }
    assert_eq!(handoff(home.path(), &["list", "--strict"], b"").code, Some(1));
}

#[test]
fn files_that_are_no_resources_give_nothing_of_their_content() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("private.txt"), "PRIVATE-CONTENT").unwrap();
    std::fs::write(home.path().join("private.json"), r#"{"token":"PRIVATE-CONTENT"}"#).unwrap();
    for path in ["private.txt", "./x/../private.json", "../../../../../etc/passwd", "/dev/zero", "/", "none\u{0}.json"]
    {
        if path.contains('\0') {
            continue;
        }
        let outcome = handoff(home.path(), &["resume", path, "--json"], b"");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""), "{path}");
        assert!(!outcome.stderr.contains("PRIVATE") && !outcome.stderr.contains("root:"), "{outcome:?}");
    }
}

#[test]
fn a_host_cannot_name_a_file_elsewhere() {
    let home = tempfile::tempdir().unwrap();
    for host in ["../evil", "a/b", "A", "", "x\u{0}", "-a"] {
        let mut document = document(home.path(), "t");
        document["source"]["host"] = host.into();
        let outcome = handoff(home.path(), &["save", "--bundle", "-", "--json"], document.to_string().as_bytes());
        assert_eq!(kind(&outcome), "invalid_bundle", "{host}");
    }
    assert!(!home.path().join(".mem0/handoffs").exists(), "a refused save makes nothing");
}

#[test]
fn the_store_is_private_and_nobody_elses() {
    let home = tempfile::tempdir().unwrap();
    let store = home.path().join(".mem0/handoffs");
    std::fs::create_dir_all(&store).unwrap();
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o777)).unwrap();
    save(home.path(), &document(home.path(), "t"));
    assert_eq!(std::fs::metadata(&store).unwrap().permissions().mode() & 0o777, 0o700, "tightened");
    // Only the administrator can make what belongs to somebody else.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let elsewhere = home.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let link = home.path().join("link");
    symlink(&elsewhere, &link).unwrap();
    std::os::unix::fs::lchown(&link, Some(65_534), Some(65_534)).unwrap();
    let foreign = home.path().join("foreign");
    std::fs::create_dir(&foreign).unwrap();
    std::os::unix::fs::chown(&foreign, Some(65_534), Some(65_534)).unwrap();
    for store in [&link, &foreign] {
        let arguments = ["--store", store.to_str().unwrap(), "save", "--bundle", "-", "--json"];
        let outcome = handoff(home.path(), &arguments, document(home.path(), "t").to_string().as_bytes());
        assert_eq!(kind(&outcome), "io_error", "{outcome:?}");
        assert_eq!(std::fs::read_dir(store).unwrap().count(), 0);
    }
}

#[test]
fn deep_and_large_values_are_refused_without_a_crash() {
    let home = tempfile::tempdir().unwrap();
    let user = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"t"}]}"#;
    let head =
        r#"{"format":"mem0.session-handoff.v1","source":{"host":"x","session_id":"s","title":"t","cwd":"/"},"items":["#;
    let deep =
        format!(r#"{{"type":"message","role":"user","content":[],"x":{}{}}}"#, "[".repeat(50_000), "]".repeat(50_000));
    let number = r#"{"type":"message","role":"user","content":[],"x":1e999}"#.to_owned();
    for item in [deep, number] {
        let text = format!("{head}{user},{item}]}}");
        let outcome = handoff(home.path(), &["convert", "--bundle", "-", "--json"], text.as_bytes());
        assert_eq!((outcome.code, kind(&outcome).as_str()), (Some(1), "invalid_json"), "{outcome:?}");
    }
    let line = format!(r#"{{"type":"user","uuid":"u","x":{}"#, "[".repeat(100_000));
    let path = home.path().join("deep.jsonl");
    std::fs::write(&path, line + "\n").unwrap();
    let outcome = handoff(
        home.path(),
        &["convert", "--json", "--source", "claude-code", "--session", path.to_str().unwrap()],
        b"",
    );
    assert_eq!(kind(&outcome), "invalid_json");
}

#[test]
fn the_shims_call_answers_in_json() {
    let home = tempfile::tempdir().unwrap();
    let ask = |request: Value| -> Value {
        let outcome = handoff(home.path(), &["command"], request.to_string().as_bytes());
        assert!(outcome.is_success(), "{outcome:?}");
        serde_json::from_str(&outcome.stdout).unwrap()
    };
    let cwd = home.path().canonicalize().unwrap();
    let request = |arguments: &str| json!({"host": "pi-agent", "arguments": arguments, "cwd": cwd});
    assert_eq!(ask(request("save"))["needs"], "session");
    assert_eq!(ask(request("delete x"))["error"]["kind"], "usage");
    assert_eq!(ask(json!([]))["ok"], false);
    let mut save = request("");
    save["session"] = json!({"messages": {
        "source": {"session_id": "s", "title": "Shim"}, "exclude_call_id": "h",
        "messages": [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "status": "in_progress", "content": [
                {"type": "text", "text": "Saving."}, {"type": "toolCall", "id": "h", "name": "mem0_handoff", "arguments": {}},
            ]},
        ],
    }});
    let saved = ask(save.clone());
    assert_eq!((&saved["ok"], &saved["source_host"]), (&json!(true), &json!("pi-agent")), "{saved}");
    let listed = ask(request("list"));
    assert_eq!(listed["resources"][0]["resource"], saved["resource"]);
    let resumed = ask(request(&format!("resume {}", saved["resource"].as_str().unwrap())));
    let (guard, json) = resumed["text"].as_str().unwrap().split_once("\n\n").unwrap();
    assert!(guard.contains("evidence"));
    let history: Value = serde_json::from_str(json).unwrap();
    assert_eq!(history["handoff"]["items"].as_array().unwrap().len(), 2);
    assert_eq!(ask(request("resume /none"))["error"]["kind"], "resource_not_found");
}
