//! The hooks a package registers, and the entries that register them.

use super::ordered::Json;
use mem0_code_core::host::HookSpec;

/// The hooks of a host, in the host's own order; `None` for a host we do not know.
pub(crate) fn of(host: &str) -> Option<&'static [HookSpec]> {
    mem0_code_core::hosts::find(host).map(|host| host.hooks)
}

/// The group that registers one hook, to be put into the list of its event.
///
/// `program` is shell text that runs mem0-code: a quoted path, perhaps with assignments before it.
pub(crate) fn group(host: &str, hook: &HookSpec, program: &str) -> Json {
    let handler = Json::object([
        ("type", Json::text("command")),
        ("command", Json::text(format!("{program} hook {host} {}", hook.native))),
        ("timeout", Json::Number(hook.timeout_s.into())),
    ]);
    let mut entries = Vec::new();
    if let Some(matcher) = hook.matcher {
        entries.push(("matcher".to_owned(), Json::text(matcher)));
    }
    entries.push(("hooks".to_owned(), Json::Array(vec![handler])));
    Json::Object(entries)
}

/// A whole hooks file: every hook of the host, one group each.
pub(crate) fn file(host: &str, hooks: &[HookSpec], program: &str) -> Json {
    let events =
        hooks.iter().map(|hook| (hook.native.to_owned(), Json::Array(vec![group(host, hook, program)]))).collect();
    Json::object([("hooks", Json::Object(events))])
}
