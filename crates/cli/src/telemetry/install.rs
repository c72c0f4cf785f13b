//! Whether this program is new in a data folder, or newer than last time.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::{create_private, replace_private};

/// Holds the version that was last seen here.
const MARKER: &str = "install-state.json";
/// What an upgrade comes from when the folder is older than the marker.
const BEFORE_MARKERS: &str = "pre-0.3";

/// Returns the event to record, if this process is the first to notice. `was_empty`: whether the folder
/// had no entry before this process wrote to it.
pub(super) fn news(data_dir: &Path, version: &str, was_empty: bool) -> Option<(&'static str, Map<String, Value>)> {
    super::private_dir(data_dir).ok()?;
    let marker = data_dir.join(MARKER);
    let content = json!({ "plugin_version": version }).to_string();
    match create_private(&marker) {
        Ok(mut file) => {
            file.write_all(content.as_bytes()).ok()?;
            return Some(if was_empty { ("install", Map::new()) } else { upgrade(BEFORE_MARKERS) });
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(_) => return None,
    }
    let before = fs::read(&marker).ok()?;
    let before = serde_json::from_slice::<Value>(&before).ok();
    let Some(before) = before.as_ref().and_then(|marker| marker.get("plugin_version")).and_then(Value::as_str) else {
        let _ = replace_private(&marker, content.as_bytes());
        return None;
    };
    if before == version {
        return None;
    }
    // Of several processes the one that makes this file reports the upgrade.
    let name: String =
        version.chars().map(|c| if c.is_ascii_alphanumeric() || ".-+".contains(c) { c } else { '_' }).collect();
    let sentinel = data_dir.join(format!("upgraded-{name}"));
    create_private(&sentinel).ok()?;
    if replace_private(&marker, content.as_bytes()).is_err() {
        let _ = fs::remove_file(&sentinel);
        return None;
    }
    Some(upgrade(before))
}

fn upgrade(from: &str) -> (&'static str, Map<String, Value>) {
    ("upgrade", Map::from_iter([("from_version".to_owned(), json!(from))]))
}
