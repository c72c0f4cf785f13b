//! What a case expects of requests, rows and files.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::glob::{files_below, paths, wildcard};
use super::matcher::{each_of, mismatches};
use super::platform::{Platform, Request};
use super::sandbox::Sandbox;

/// Returns every expectation that does not hold.
pub(crate) fn check(expected: &Value, sandbox: &Sandbox, platform: &Platform) -> Vec<String> {
    let log = platform.log();
    let mut out = Vec::new();
    for (on, want) in expected["platform"].as_object().into_iter().flatten() {
        let want = match sandbox.value(want) {
            Value::Object(fields) => fields,
            count => Map::from_iter([("count".to_owned(), count)]),
        };
        let requests: Vec<&Request> = log.iter().filter(|request| wildcard(on, &request.on)).collect();
        out.extend(check_requests(on, &want, &requests));
    }
    if let Some(order) = expected.get("order") {
        let order = sandbox.value(order);
        let listed: BTreeSet<&str> = each_of(&order).filter_map(Value::as_str).collect();
        let seen = log.iter().map(|request| request.on.as_str()).filter(|on| listed.contains(on)).collect();
        out.extend(mismatches(&order, &seen, "order"));
    }
    for text in texts(expected, "never_sent", sandbox) {
        let sent: Vec<&str> =
            log.iter().filter(|request| request.raw.contains(&text)).map(|request| request.on.as_str()).collect();
        if !sent.is_empty() {
            out.push(format!("never_sent: {text:?} was sent in {sent:?}"));
        }
    }
    for text in texts(expected, "never_stored", sandbox) {
        for path in files_below(&sandbox.root().join("data")) {
            if fs::read(&path).is_ok_and(|bytes| memmem(&bytes, text.as_bytes())) {
                out.push(format!("never_stored: {text:?} is in {}", path.display()));
            }
        }
    }
    for query in expected["db"].as_array().into_iter().flatten() {
        out.extend(check_rows(query, sandbox));
    }
    for (pattern, want) in expected["files"].as_object().into_iter().flatten() {
        out.extend(check_files(pattern, &sandbox.value(want), sandbox));
    }
    out
}

fn check_requests(on: &str, want: &Map<String, Value>, requests: &[&Request]) -> Vec<String> {
    let mut out = Vec::new();
    let bodies = || requests.iter().map(|request| request.body.clone()).collect::<Value>();
    if let Some(count) = want.get("count") {
        out.extend(mismatches(count, &json!(requests.len()), &format!("{on} count")));
    } else if requests.is_empty() && (want.contains_key("each") || want.contains_key("headers")) {
        out.push(format!("{on}: no request was made"));
    }
    if let Some(want) = want.get("bodies") {
        out.extend(mismatches(want, &bodies(), &format!("{on} bodies")));
    }
    for (idx, request) in requests.iter().enumerate() {
        if let Some(want) = want.get("each") {
            out.extend(mismatches(want, &request.body, &format!("{on}[{idx}] body")));
        }
        if let Some(want) = want.get("headers") {
            out.extend(mismatches(&json!({"$sub": want}), &request.headers, &format!("{on}[{idx}] headers")));
        }
        if let Some(limit) = want.get("max_tokens").and_then(Value::as_u64) {
            let tokens = estimated_tokens(&request.body["messages"]);
            if tokens > limit {
                out.push(format!("{on}[{idx}]: {tokens} estimated tokens"));
            }
        }
    }
    if let Some(want) = want.get("queries") {
        let queries = requests.iter().map(|request| request.query.clone()).collect();
        out.extend(mismatches(want, &queries, &format!("{on} queries")));
    }
    let messages: Vec<&Value> =
        requests.iter().filter_map(|request| request.body["messages"].as_array()).flatten().collect();
    let contents: Vec<&str> = messages.iter().map(|message| message["content"].as_str().unwrap_or_default()).collect();
    if let Some(want) = want.get("messages") {
        out.extend(mismatches(want, &messages.iter().copied().cloned().collect(), &format!("{on} messages")));
    }
    if let Some(want) = want.get("joined") {
        out.extend(mismatches(want, &json!(contents.concat()), &format!("{on} joined")));
    }
    let all = contents.join("\n");
    for text in want.get("texts_once").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        let times = all.matches(text).count();
        if times != 1 {
            out.push(format!("{on}: {text:?} sent {times} times"));
        }
    }
    out
}

fn check_rows(query: &Value, sandbox: &Sandbox) -> Vec<String> {
    let statement = sandbox.text(query["sql"].as_str().expect("a db check has sql"));
    let rows = match sandbox.sql(&statement, false) {
        Ok(rows) => rows,
        Err(error) => return vec![format!("db {statement}: {error}")],
    };
    let shapes = [
        ("rows", rows.iter().cloned().map(Value::Array).collect()),
        ("col", rows.iter().map(|row| row[0].clone()).collect()),
        ("one", rows.first().map_or(Value::Null, |row| row[0].clone())),
    ];
    let asked = shapes.iter().filter_map(|(shape, got)| Some((query.get(shape)?, got)));
    asked.flat_map(|(want, got)| mismatches(&sandbox.value(want), got, &format!("db {statement}"))).collect()
}

fn check_files(pattern: &str, want: &Value, sandbox: &Sandbox) -> Vec<String> {
    let found = paths(&sandbox.path(pattern));
    let mut out = Vec::new();
    if let Some(count) = want.get("count") {
        out.extend(mismatches(count, &json!(found.len()), &format!("files {pattern} count")));
    }
    if let Some(exists) = want.get("exists") {
        out.extend(mismatches(exists, &json!(!found.is_empty()), &format!("files {pattern} exists")));
    }
    let about_content = ["mode", "text", "json", "jsonl", "name", "max_age"];
    if found.is_empty() && about_content.iter().any(|key| want.get(key).is_some()) {
        out.push(format!("files {pattern}: nothing there"));
    }
    for path in found {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        out.extend(check_file(&path, &name, want).unwrap_or_else(|error| vec![format!("file {name}: {error}")]));
    }
    out
}

fn check_file(path: &Path, name: &str, want: &Value) -> Result<Vec<String>, std::io::Error> {
    let mut out = Vec::new();
    let at = format!("file {name}");
    let meta = path.symlink_metadata()?;
    let text = || fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if let Some(want) = want.get("mode") {
        out.extend(mismatches(want, &json!(format!("{:04o}", meta.permissions().mode() & 0o777)), &at));
    }
    if let Some(limit) = want.get("max_age").and_then(Value::as_f64) {
        let age = meta.modified()?.elapsed().unwrap_or_default().as_secs_f64();
        if age > limit {
            out.push(format!("{at}: changed {age:.0} s ago"));
        }
    }
    if let Some(want) = want.get("text") {
        out.extend(mismatches(want, &json!(text()?), &at));
    }
    if let Some(want) = want.get("json") {
        out.extend(mismatches(want, &serde_json::from_str(&text()?)?, &at));
    }
    if let Some(want) = want.get("jsonl") {
        let lines = text()?.lines().map(serde_json::from_str::<Value>).collect::<Result<Value, _>>()?;
        out.extend(mismatches(want, &lines, &at));
    }
    if let Some(want) = want.get("name") {
        out.extend(mismatches(want, &json!(name), &at));
    }
    Ok(out)
}

fn texts(expected: &Value, key: &str, sandbox: &Sandbox) -> Vec<String> {
    let Some(wanted) = expected.get(key) else { return Vec::new() };
    each_of(&sandbox.value(wanted)).filter_map(Value::as_str).map(str::to_owned).collect()
}

fn memmem(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len().max(1)).any(|window| window == part)
}

/// The estimate of the specification for a message list: four tenths a token for an ASCII character, one for any other,
/// over JSON with a space after commas and colons.
fn estimated_tokens(messages: &Value) -> u64 {
    fn count(value: &Value, tenths: &mut u64) {
        match value {
            Value::Array(items) => {
                *tenths += 4 * 2 + 8 * (items.len().max(1) as u64 - 1);
                items.iter().for_each(|item| count(item, tenths));
            }
            Value::Object(fields) => {
                *tenths += 4 * 2 + 8 * (fields.len().max(1) as u64 - 1);
                for (key, item) in fields {
                    *tenths += 8;
                    count(&json!(key), tenths);
                    count(item, tenths);
                }
            }
            leaf => {
                *tenths +=
                    leaf.to_string().chars().map(|character| if character.is_ascii() { 4 } else { 10 }).sum::<u64>()
            }
        }
    }
    let mut tenths = 0;
    count(messages, &mut tenths);
    tenths.div_ceil(10)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::estimated_tokens;

    #[test]
    fn tokens_are_counted_over_spaced_json() {
        // [{"content": "é", "role": "user"}]: 33 ASCII characters and one other.
        assert_eq!(estimated_tokens(&json!([{"role": "user", "content": "é"}])), (33_u64 * 4 + 10).div_ceil(10));
        assert_eq!(estimated_tokens(&json!([])), 1);
    }
}
