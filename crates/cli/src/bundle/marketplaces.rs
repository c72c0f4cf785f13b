//! The files at the repository's root by which hosts find the packages in it.

use super::committed::FOLDER;
use super::ordered::{Json, PLAIN};
use super::{DESCRIPTION, File, Files, Problem, schema, validate};
use std::path::Path;

/// What these files must look like, one definition a host.
pub(super) const SCHEMA: &str = super::templates::source!("schemas/marketplaces.json");

/// One of them.
struct Marketplace {
    /// Its path from the repository's root.
    path: &'static str,
    /// The host that reads it.
    host: &'static str,
    /// What it holds.
    json: fn() -> Json,
}

const MARKETPLACES: &[Marketplace] = &[
    Marketplace { path: ".agents/plugins/marketplace.json", host: "codex", json: codex },
    Marketplace { path: ".claude-plugin/marketplace.json", host: "claude-code", json: claude },
    Marketplace { path: ".cursor-plugin/marketplace.json", host: "cursor", json: cursor },
    Marketplace { path: ".kimi-plugin/marketplace.json", host: "kimi", json: kimi },
];

/// All of them.
pub(super) fn files() -> Files {
    let file = |marketplace: &Marketplace| {
        let bytes = ((marketplace.json)().pretty(PLAIN, "") + "\n").into_bytes();
        (marketplace.path.to_owned(), File { bytes, executable: false })
    };
    MARKETPLACES.iter().map(file).collect()
}

/// Checks the ones that are there against their schema.
pub(super) fn check(root: &Path) -> Vec<Problem> {
    let document: serde_json::Value = serde_json::from_str(SCHEMA).unwrap_or_default();
    let mut problems = Vec::new();
    for Marketplace { path, host, .. } in MARKETPLACES {
        let target = root.join(path);
        let Ok(text) = std::fs::read_to_string(&target) else { continue };
        let faults = match serde_json::from_str(&text) {
            Ok(value) => schema::check(&document, host, &value, &|format, text| {
                // Paths are from the repository's root here.
                validate::judge(format, text).or_else(|| {
                    (format == "inside-path" && !root.join(text).is_dir())
                        .then(|| format!("is {text}, which is not there"))
                })
            }),
            Err(error) => vec![format!("not JSON: {error}")],
        };
        problems.extend(faults.into_iter().map(|what| Problem { path: target.clone(), what }));
    }
    problems
}

fn folder(host: &str) -> String {
    let folder = super::packages::find(host).map_or(host, |package| package.folder);
    format!("./{FOLDER}/{folder}")
}

fn claude() -> Json {
    let plugin = Json::object([
        ("name", Json::text("mem0")),
        ("source", Json::text(folder("claude-code"))),
        ("description", Json::text(DESCRIPTION)),
        ("category", Json::text("productivity")),
    ]);
    Json::object([
        ("name", Json::text("mem0-code")),
        ("owner", Json::object([("name", Json::text("mem0-code"))])),
        ("metadata", Json::object([("description", Json::text(DESCRIPTION))])),
        ("plugins", Json::Array(vec![plugin])),
    ])
}

fn codex() -> Json {
    let policy =
        Json::object([("installation", Json::text("AVAILABLE")), ("authentication", Json::text("ON_INSTALL"))]);
    let plugin = Json::object([
        ("name", Json::text("mem0")),
        ("source", Json::object([("source", Json::text("local")), ("path", Json::text(folder("codex")))])),
        ("policy", policy),
        ("category", Json::text("Productivity")),
    ]);
    Json::object([
        ("name", Json::text("mem0-code")),
        ("interface", Json::object([("displayName", Json::text("mem0-code"))])),
        ("plugins", Json::Array(vec![plugin])),
    ])
}

fn cursor() -> Json {
    let plugin = Json::object([
        ("name", Json::text("mem0")),
        ("source", Json::text(folder("cursor"))),
        ("description", Json::text(DESCRIPTION)),
    ]);
    Json::object([
        ("name", Json::text("mem0-code")),
        ("owner", Json::object([("name", Json::text("mem0-code"))])),
        ("metadata", Json::object([("description", Json::text(DESCRIPTION))])),
        ("plugins", Json::Array(vec![plugin])),
    ])
}

/// Sources are relative to this file; seen in Kimi Code 2.1.0.
fn kimi() -> Json {
    let plugin = Json::object([
        ("id", Json::text("mem0")),
        ("type", Json::text("plugin")),
        ("displayName", Json::text("Mem0 memory")),
        ("version", Json::text(env!("CARGO_PKG_VERSION"))),
        ("description", Json::text(DESCRIPTION)),
        ("source", Json::text(folder("kimi").replacen('.', "..", 1))),
    ]);
    Json::object([("version", Json::text("2")), ("plugins", Json::Array(vec![plugin]))])
}

#[cfg(test)]
pub(super) fn samples() -> Vec<(String, serde_json::Value)> {
    MARKETPLACES.iter().map(|one| (one.host.to_owned(), (one.json)().value())).collect()
}
