//! What of ours stands where in each kind of JSON file, as data: the document that is merged into the user's, how deep, and by what
//! an entry of ours is known again.

use super::edit::Entries;
use crate::bundle::hooks;
use crate::bundle::ordered::Json;
use serde_json::Value;
use std::path::Path;

/// The name of our plugin, our MCP server and our rows in every host.
pub(super) const NAME: &str = "mem0";

/// The folder a package of ours has inside a host's own, where the host is told of it by path.
pub(super) const PACKAGE_FOLDER: &str = "mem0-code";

/// A kind of JSON file.
#[derive(Debug)]
pub(super) struct Shape {
    /// Whether the host reads JSON5, and not only comments and trailing commas.
    pub is_loose: bool,
    /// How many levels of objects are shared with the user's entries; what stands below is ours alone.
    pub depth: usize,
    /// Where entries of ours can be.
    pub marks: &'static [Mark],
    /// What is merged into the file.
    pub document: fn(&Entries<'_>) -> Json,
}

/// A place of entries, and how ours are told from others there.
#[derive(Debug)]
pub(super) struct Mark {
    /// The way to an entry.
    pub path: &'static [Segment],
    /// Whether an entry found there is ours: the whole file's value, the entry, the host's id.
    pub is_ours: fn(&Value, &Value, &str) -> bool,
    /// Whether the place may hold something of the user's instead, which then stays.
    pub may_be_theirs: bool,
}

/// A place where our entry must be.
const fn mark(path: &'static [Segment], is_ours: fn(&Value, &Value, &str) -> bool) -> Mark {
    Mark { path, is_ours, may_be_theirs: false }
}

/// One step on the way to an entry.
#[derive(Debug, Clone, Copy)]
pub(super) enum Segment {
    /// Into the value of this key.
    Key(&'static str),
    /// Into the value of every key.
    AnyKey,
    /// Into every element of a list.
    Each,
}

use Segment::{AnyKey, Each, Key};

/// Hooks in groups: event → groups → handlers.
pub(super) const HOOK_GROUPS: Shape = Shape {
    is_loose: false,
    depth: 2,
    marks: &[mark(&[Key("hooks"), AnyKey, Each, Key("hooks"), Each], is_handler)],
    document: |entries| hooks::file(entries.host, entries.hooks, entries.shell),
};

/// Hooks in one list an event, in a file that tells its version.
pub(super) const HOOK_LISTS: Shape = Shape {
    is_loose: false,
    depth: 2,
    marks: &[mark(&[Key("hooks"), AnyKey, Each], is_handler)],
    document: |entries| hooks::file(entries.host, entries.hooks, entries.shell),
};

/// Servers by name.
pub(super) const SERVERS: Shape =
    Shape { is_loose: false, depth: 2, marks: &[mark(&[Key("mcpServers"), Key(NAME)], is_server)], document: servers };

/// Installed plugins, one row each, with the folder they are loaded from.
pub(super) const PLUGIN_ROWS: Shape =
    Shape { is_loose: false, depth: 1, marks: &[mark(&[Key("plugins"), Each], is_row)], document: plugin_rows };

/// Folders plugins are loaded from, and what each plugin may do.
pub(super) const PLUGIN_PATHS: Shape = Shape {
    is_loose: true,
    depth: 3,
    marks: &[
        mark(&[Key("plugins"), Key("load"), Key("paths"), Each], is_package_path),
        mark(&[Key("plugins"), Key("entries"), Key(NAME)], is_entry_of_ours),
        Mark { path: &[Key("plugins"), Key("slots"), Key("memory")], is_ours: is_slot_of_ours, may_be_theirs: true },
    ],
    document: plugin_paths,
};

fn is_handler(_: &Value, entry: &Value, host: &str) -> bool {
    entry["command"]
        .as_str()
        .is_some_and(|command| command.contains("mem0-code") && command.contains(&format!(" hook {host} ")))
}

fn is_server(_: &Value, entry: &Value, _: &str) -> bool {
    entry["command"].as_str().is_some_and(|command| command.contains("mem0-code")) && entry["args"][0] == "mcp"
}

fn is_package(path: &Value) -> bool {
    path.as_str().is_some_and(|path| Path::new(path).file_name().is_some_and(|name| name == PACKAGE_FOLDER))
}

fn is_package_path(_: &Value, entry: &Value, _: &str) -> bool {
    is_package(entry)
}

pub(super) fn is_row(_: &Value, entry: &Value, _: &str) -> bool {
    entry["id"] == NAME && is_package(&entry["root"])
}

/// The entry has nothing that says whose it is; it is ours when the plugin it is about is loaded from our folder.
fn is_entry_of_ours(file: &Value, _: &Value, _: &str) -> bool {
    file["plugins"]["load"]["paths"].as_array().is_some_and(|paths| paths.iter().any(is_package))
}

fn servers(entries: &Entries<'_>) -> Json {
    let args = ["mcp", "--host", entries.host].map(Json::text).to_vec();
    let mut server = vec![("command".to_owned(), Json::text(entries.path)), ("args".to_owned(), Json::Array(args))];
    if !entries.env.is_empty() {
        let env = entries.env.iter().map(|(name, value)| (name.clone(), Json::text(value))).collect();
        server.push(("env".to_owned(), Json::Object(env)));
    }
    Json::object([("mcpServers", Json::object([(NAME, Json::Object(server))]))])
}

fn is_slot_of_ours(_: &Value, entry: &Value, _: &str) -> bool {
    entry == NAME
}

fn plugin_rows(entries: &Entries<'_>) -> Json {
    let row = Json::object([
        ("id", Json::text(NAME)),
        ("root", Json::text(entries.package)),
        ("source", Json::text("local-path")),
        ("enabled", Json::Bool(true)),
        ("installedAt", Json::text(entries.now)),
        ("originalSource", Json::text(entries.package)),
    ]);
    Json::object([("version", Json::Number(1)), ("plugins", Json::Array(vec![row]))])
}

fn plugin_paths(entries: &Entries<'_>) -> Json {
    let entry = Json::object([
        ("enabled", Json::Bool(true)),
        // Without the user's consent the host registers neither the hook that injects nor the one that captures.
        ("hooks", Json::object([("allowConversationAccess", Json::Bool(true))])),
    ]);
    let plugins = Json::object([
        ("load", Json::object([("paths", Json::Array(vec![Json::text(entries.package)]))])),
        ("entries", Json::object([(NAME, entry)])),
        // Of the plugins that keep a memory, the host runs the one this names.
        ("slots", Json::object([("memory", Json::text(NAME))])),
    ]);
    Json::object([("plugins", plugins)])
}
