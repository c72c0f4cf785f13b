//! Lists: what a save remembered is what reading the file finds, and whatever happened to the index, the files count.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::handoff;

fn save(home: &Path, title: &str) -> PathBuf {
    let document = json!({
        "format": "mem0.session-handoff.v1",
        "source": {"host": "pi-agent", "session_id": "s", "title": title, "cwd": home},
        "items": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Ünïcode 🚀 \u{1f}"}]},
            {"type": "function_call", "call_id": "c", "name": "run", "arguments": "{ \"a\" : 1.50 }"},
            {"type": "function_call_output", "call_id": "c", "output": [{"type": "text", "text": "ok"}]},
        ],
        "warnings": [],
    });
    let saved = handoff(home, &["save", "--bundle", "-", "--json"], document.to_string().as_bytes());
    assert!(saved.is_success(), "{saved:?}");
    let saved: Value = serde_json::from_str(&saved.stdout).unwrap();
    saved["resource"].as_str().unwrap().into()
}

fn listed(home: &Path) -> Value {
    serde_json::from_str(&handoff(home, &["list", "--json"], b"").stdout).unwrap()
}

fn index(home: &Path) -> PathBuf {
    let entries = fs::read_dir(home.join(".mem0")).unwrap().flatten().map(|entry| entry.path());
    let found: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "index")).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

#[test]
fn what_a_save_remembers_is_what_reading_finds() {
    let home = tempfile::tempdir().unwrap();
    let resource = save(home.path(), "Eins\n\"zwei\"");
    save(home.path(), "three");
    let remembered = listed(home.path());
    assert_eq!(remembered["resources"].as_array().unwrap().len(), 2);
    fs::remove_file(index(home.path())).unwrap();
    assert_eq!(listed(home.path()), remembered, "read anew");

    // What is remembered is used: a row that was tampered with shows.
    save(home.path(), "four");
    let path = index(home.path());
    let tampered = fs::read_to_string(&path).unwrap().replace("\"four\"", "\"4\"");
    fs::write(&path, tampered).unwrap();
    assert!(listed(home.path()).to_string().contains("\"title\":\"4\""));

    // A file that changed is read.
    let text = fs::read_to_string(&resource).unwrap();
    fs::write(&resource, text.replace("\\\"zwei\\\"", "\\\"drei\\\"")).unwrap();
    assert!(listed(home.path()).to_string().contains("drei"));
    // One that became no resource is named.
    fs::write(&resource, &text[1..]).unwrap();
    let told = listed(home.path());
    assert_eq!((told["resources"].as_array().unwrap().len(), told["unreadable"].as_array().unwrap().len()), (2, 1));
    // One that went is gone.
    fs::remove_file(&resource).unwrap();
    assert_eq!(listed(home.path())["unreadable"], json!([]));
}

#[test]
fn a_torn_index_costs_time_only() {
    let home = tempfile::tempdir().unwrap();
    for title in ["one", "two", "three"] {
        save(home.path(), title);
    }
    let expected = listed(home.path());
    let path = index(home.path());
    let whole = fs::read(&path).unwrap();
    for length in (0..whole.len()).step_by(37) {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(listed(home.path()), expected, "{length} of {} bytes", whole.len());
    }
    for other in [&b"\xff\xfe\n[]\n"[..], b"{}", b"[\"x.json\",[1,2,3,4],{\"Row\":{}}]\n"] {
        fs::write(&path, other).unwrap();
        assert_eq!(listed(home.path()), expected);
        save(home.path(), "more");
        fs::remove_file(&path).unwrap();
        assert_eq!(listed(home.path())["resources"].as_array().unwrap().len(), 4);
        let more = listed(home.path());
        let more = more["resources"].as_array().unwrap().iter().find(|row| row["title"] == "more").unwrap();
        fs::remove_file(more["resource"].as_str().unwrap()).unwrap();
    }
    // What is no file in its place is nobody's loss either.
    fs::create_dir(&path).unwrap();
    save(home.path(), "four");
    assert_eq!(listed(home.path())["resources"].as_array().unwrap().len(), 4);
    fs::remove_dir(&path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    save(home.path(), "five");
    assert_eq!(listed(home.path())["resources"].as_array().unwrap().len(), 5);
}
