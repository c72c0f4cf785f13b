//! The hooks a package registers, and the entries that register them.

use super::ordered::Json;
use super::packages::{self, HookFile};
use mem0_code_core::host::HookSpec;

/// The hooks of a host, in the host's own order; `None` for a host we do not know.
pub(crate) fn of(host: &str) -> Option<&'static [HookSpec]> {
    mem0_code_core::hosts::find(host).map(|host| host.hooks)
}

/// The entry that registers one hook, to be put into the list of its event, in the shape this host reads.
///
/// `program` is shell text that runs mem0-code: a quoted path, perhaps with assignments before it.
pub(crate) fn group(host: &str, hook: &HookSpec, program: &str) -> Json {
    let command = Json::text(format!("{program} hook {host} {}", hook.native));
    let timeout = Json::Number(hook.timeout_s.into());
    let matcher = hook.matcher.map(|matcher| ("matcher".to_owned(), Json::text(matcher)));
    let handler = |fields: [(&str, Json); 2]| {
        let typed = std::iter::once(("type".to_owned(), Json::text("command")));
        Json::Object(typed.chain(fields.map(|(key, value)| (key.to_owned(), value))).collect())
    };
    let fields = [("command", command), ("timeout", timeout)];
    match shape(host) {
        HookFile::Flat { .. } => {
            let fields = fields.map(|(key, value)| (key.to_owned(), value));
            Json::Object(matcher.into_iter().chain(fields).collect())
        }
        HookFile::InManifest => {
            let event = ("event".to_owned(), Json::text(hook.native));
            let fields = fields.map(|(key, value)| (key.to_owned(), value));
            Json::Object(std::iter::once(event).chain(matcher).chain(fields).collect())
        }
        // Events with a matcher are the ones whose lists hold groups; the others hold handlers.
        HookFile::Sets { .. } if matcher.is_none() => handler(fields),
        HookFile::Sets { .. } | HookFile::Groups { .. } | HookFile::None => {
            let group = ("hooks".to_owned(), Json::Array(vec![handler(fields)]));
            Json::Object(matcher.into_iter().chain([group]).collect())
        }
    }
}

/// A whole hooks file, or the list in a manifest that takes its place: every hook of the host, one entry each.
pub(crate) fn file(host: &str, hooks: &[HookSpec], program: &str) -> Json {
    let entry = |hook| group(host, hook, program);
    let events = hooks.iter().map(|hook| (hook.native.to_owned(), Json::Array(vec![entry(hook)])));
    match shape(host) {
        HookFile::Flat { .. } => {
            Json::object([("version", Json::Number(1)), ("hooks", Json::Object(events.collect()))])
        }
        HookFile::Sets { set, .. } => {
            let enabled = ("enabled".to_owned(), Json::Bool(true));
            Json::object([(set, Json::Object(std::iter::once(enabled).chain(events).collect()))])
        }
        HookFile::InManifest => Json::Array(hooks.iter().map(entry).collect()),
        HookFile::Groups { .. } | HookFile::None => Json::object([("hooks", Json::Object(events.collect()))]),
    }
}

fn shape(host: &str) -> HookFile {
    packages::find(host).map_or(HookFile::None, |package| package.hooks)
}
