//! Usage events without content: what may be in one, and who it is from.
//!
//! The deciding half only. The spool, the salt, the claims and the sending are in the binary. An event holds
//! counts, words from a fixed set and salted hashes; [`clean`] is what keeps everything else out.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{digest, redact};

/// Property names that could carry content, lower-cased and reduced to letters and digits. A property with
/// such a name is left out at every depth.
const FORBIDDEN: [&str; 23] = [
    "apikey",
    "authorization",
    "password",
    "query",
    "secret",
    "prompt",
    "token",
    "text",
    "memory",
    "message",
    "error",
    "path",
    "cwd",
    "userid",
    "agentid",
    "runid",
    "repoid",
    "repositoryid",
    "projectid",
    "appid",
    "filters",
    // Not in the Mem0 plugins; the same kind of content under the names this program uses.
    "directory",
    "email",
];

/// What every event of a process says about the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Common {
    /// The host's id; `None` outside a host.
    pub host: Option<String>,
    /// Version of this program.
    pub version: String,
    /// Operating system, as `std::env::consts::OS`.
    pub os: &'static str,
    /// What runs the program, e.g. `native`.
    pub runtime: &'static str,
}

/// Tells whether the value of `MEM0_TELEMETRY` leaves telemetry on. Absent is on; `false`, `0`, `no` and
/// `off` in any case are off.
pub fn is_enabled(value: Option<&str>) -> bool {
    !value.is_some_and(|value| matches!(value.trim().to_lowercase().as_str(), "false" | "0" | "no" | "off"))
}

/// Returns the `source` of an event, e.g. `CLAUDE_CODE_PLUGIN`; `CODING_AGENT_PLUGIN` without a host.
pub fn source_tag(host: Option<&str>) -> String {
    match host {
        None | Some("" | "portable") => "CODING_AGENT_PLUGIN".to_owned(),
        Some(host) => format!("{}_PLUGIN", host.to_uppercase().replace('-', "_")),
    }
}

/// Returns the first 16 hex digits of SHA-256 over `salt:value`.
pub fn salted_hash(salt: &str, value: &str) -> String {
    digest::hex(&[&format!("{salt}:{value}")], 16)
}

/// Returns the fingerprint of an API key: the first 16 hex digits of its SHA-256.
pub fn fingerprint(key: &str) -> String {
    digest::hex(&[key], 16)
}

/// Tells whether `text` is a salt: 32 lower-case hex digits.
pub fn is_salt(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns `properties` without nulls and without the keys that could carry content, at every depth, every
/// string redacted.
pub fn clean(properties: &Map<String, Value>) -> Map<String, Value> {
    properties
        .iter()
        .filter(|(key, value)| !value.is_null() && !is_forbidden(key))
        .map(|(key, value)| (key.clone(), clean_value(value)))
        .collect()
}

fn clean_value(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(clean(map)),
        Value::Array(items) => items.iter().filter(|item| !item.is_null()).map(clean_value).collect(),
        Value::String(text) => Value::String(redact::text(text).into_owned()),
        other => other.clone(),
    }
}

fn is_forbidden(key: &str) -> bool {
    let reduced: String = key.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
    FORBIDDEN.contains(&reduced.as_str())
}

/// What happened, before it is made anonymous.
#[derive(Debug, Clone, Copy)]
pub struct Occurrence<'a> {
    /// Short name, e.g. `search`.
    pub name: &'a str,
    /// The repository it concerns; only its salted hash leaves.
    pub repo: Option<&'a str>,
    /// The session it concerns; only its salted hash leaves.
    pub session: Option<&'a str>,
    /// Counts and words.
    pub properties: &'a Map<String, Value>,
    /// When.
    pub at: Timestamp,
    /// The event's own id, which makes a repeated delivery recognizable.
    pub uuid: &'a str,
}

/// Returns the spool's form of an event: `{event, uuid, timestamp, properties}`.
///
/// Without a salt the two hashes are left out; they are never made without one.
pub fn event(occurrence: &Occurrence<'_>, common: &Common, salt: Option<&str>) -> Value {
    let mut properties = clean(occurrence.properties);
    if let Some(host) = &common.host {
        properties.insert("harness".to_owned(), json!(host));
    }
    properties.insert("source".to_owned(), json!(source_tag(common.host.as_deref())));
    properties.insert("plugin_version".to_owned(), json!(common.version));
    properties.insert("os".to_owned(), json!(common.os));
    properties.insert("runtime".to_owned(), json!(common.runtime));
    for (name, value) in [("repo_hash", occurrence.repo), ("session_hash", occurrence.session)] {
        properties.remove(name);
        if let (Some(salt), Some(value)) = (salt, value.filter(|value| !value.is_empty())) {
            properties.insert(name.to_owned(), json!(salted_hash(salt, value)));
        }
    }
    json!({
        "event": format!("code.{}", occurrence.name),
        "uuid": occurrence.uuid,
        "timestamp": occurrence.at.to_string(),
        "properties": properties,
    })
}

/// Returns the body of one delivery: each spooled event with whom it is from.
pub fn batch(events: &[Value], distinct_id: &str) -> Value {
    let batch: Vec<Value> = events
        .iter()
        .map(|event| {
            let mut event = event.clone();
            event["distinct_id"] = json!(distinct_id);
            if let Some(properties) = event.get_mut("properties").and_then(Value::as_object_mut) {
                properties.insert("$process_person_profile".to_owned(), json!(false));
            }
            event
        })
        .collect();
    json!({ "batch": batch })
}

/// Returns the body that tells the endpoint that an anonymous id and an address are the same sender.
pub fn identification(anonymous_id: &str, email: &str, at: Timestamp) -> Value {
    json!({
        "event": "$identify",
        "distinct_id": email,
        "timestamp": at.to_string(),
        "properties": { "$anon_distinct_id": anonymous_id },
    })
}

/// Returns the coarse kind of a failed HTTP exchange with this status.
pub fn error_kind(status: u16) -> &'static str {
    match status {
        401 | 403 => "auth",
        408 => "timeout",
        429 => "rate-limited",
        500 | 502..=504 => "server-error",
        400 | 422 => "bad-request",
        _ => "other",
    }
}

/// Who the events of a data folder are from: the content of `telemetry-identity.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// `code-anon-<hex>`; empty before it was made.
    pub anonymous_id: String,
    /// The account's address, once a key resolved to one.
    pub email: Option<String>,
    /// Fingerprint of that key.
    pub key_fingerprint: Option<String>,
    /// Whether the anonymous id was announced as the account's. Happens once ever.
    pub aliased: bool,
}

/// What asking the Platform about a key came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Account {
    /// The key belongs to this address.
    Email(String),
    /// The Platform answered, and named none.
    Unknown,
    /// The Platform could not be asked.
    Offline,
}

impl Identity {
    /// Returns who the next events are from.
    ///
    /// * `key` — the API key in use, if any.
    /// * `fresh_id` — the anonymous id to take if a new one is needed.
    /// * `ask` — asks the Platform whose key it is; only called when the answer matters.
    #[must_use]
    pub fn resolve(&self, key: Option<&str>, fresh_id: &str, ask: impl FnOnce(&str) -> Account) -> Self {
        let mut next = self.clone();
        if next.anonymous_id.is_empty() {
            fresh_id.clone_into(&mut next.anonymous_id);
        }
        let current = key.map(fingerprint);
        if next.email.is_some() && current.is_some() && next.key_fingerprint == current {
            return next;
        }
        match key.map_or(Account::Unknown, ask) {
            Account::Email(email) => {
                next.email = Some(email);
                next.key_fingerprint = current;
            }
            // An address of an older version, without the fingerprint of its key, is given the benefit of the doubt.
            Account::Offline if next.email.is_some() && next.key_fingerprint.is_none() => {}
            // The old anonymous id is merged into the old account, so it cannot serve for another one.
            Account::Offline | Account::Unknown if next.email.is_some() => {
                next.email = None;
                next.key_fingerprint = None;
                fresh_id.clone_into(&mut next.anonymous_id);
            }
            Account::Offline | Account::Unknown => {}
        }
        next
    }

    /// Returns the id that goes with the events.
    pub fn distinct_id(&self) -> &str {
        self.email.as_deref().unwrap_or(&self.anonymous_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn common() -> Common {
        Common { host: Some("some-host".to_owned()), version: "1.2.3".to_owned(), os: "linux", runtime: "native" }
    }

    #[test]
    fn off_words() {
        for word in ["false", "0", "No", " OFF ", "FALSE"] {
            assert!(!is_enabled(Some(word)), "{word}");
        }
        for word in [None, Some(""), Some("true"), Some("1"), Some("2"), Some("anything")] {
            assert!(is_enabled(word), "{word:?}");
        }
    }

    #[test]
    fn content_is_left_out_at_every_depth() {
        let given = map(json!({
            "count": 3, "none": null, "Query": "x", "API-Key": "x", "run_id": "r", "User.Id": "u",
            "memory_count": 2, "error_kind": "auth", "message_chars": 9,
            "nested": {"prompt": "x", "ok": true, "list": [{"cwd": "/x", "n": 1}, null, "word"]},
        }));
        assert_eq!(
            Value::Object(clean(&given)),
            json!({
                "count": 3, "memory_count": 2, "error_kind": "auth", "message_chars": 9,
                "nested": {"ok": true, "list": [{"n": 1}, "word"]},
            })
        );
    }

    #[test]
    fn secrets_in_words_are_redacted() {
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        let cleaned = clean(&map(json!({"reason": format!("token {secret}"), "list": [{"model": secret}]})));
        assert!(!Value::Object(cleaned).to_string().contains(&secret));
    }

    #[test]
    fn an_event_has_salted_hashes_or_none() {
        let properties = map(json!({"success": true, "repo_hash": "smuggled"}));
        let occurrence = Occurrence {
            name: "search",
            repo: Some("https://example.com/acme/widgets"),
            session: Some("s1"),
            properties: &properties,
            at: "2026-01-02T03:04:05Z".parse().unwrap(),
            uuid: "u",
        };
        let salt = "0123456789abcdef0123456789abcdef";
        let event_1 = event(&occurrence, &common(), Some(salt));
        assert_eq!(event_1["event"], "code.search");
        assert_eq!(event_1["timestamp"], "2026-01-02T03:04:05Z");
        assert_eq!(event_1["properties"]["harness"], "some-host");
        assert_eq!(event_1["properties"]["source"], "SOME_HOST_PLUGIN");
        assert_eq!(event_1["properties"]["repo_hash"], salted_hash(salt, "https://example.com/acme/widgets"));
        assert_eq!(event_1["properties"]["session_hash"].as_str().unwrap().len(), 16);
        assert!(!event_1.to_string().contains("widgets"));
        assert_ne!(salted_hash(salt, "s1"), fingerprint("s1"));

        let unsalted = event(&occurrence, &common(), None);
        assert!(unsalted["properties"].get("repo_hash").is_none());
        assert!(unsalted["properties"].get("session_hash").is_none());
    }

    #[test]
    fn sources() {
        assert_eq!(source_tag(Some("one-two")), "ONE_TWO_PLUGIN");
        assert_eq!(source_tag(Some("portable")), "CODING_AGENT_PLUGIN");
        assert_eq!(source_tag(None), "CODING_AGENT_PLUGIN");
    }

    #[test]
    fn a_batch_carries_the_sender() {
        let body = batch(&[json!({"event": "code.x", "uuid": "u", "properties": {"n": 1}})], "who");
        assert_eq!(
            body,
            json!({"batch": [{"event": "code.x", "uuid": "u", "distinct_id": "who",
                "properties": {"n": 1, "$process_person_profile": false}}]})
        );
    }

    struct Case {
        about: &'static str,
        before: (Option<&'static str>, Option<&'static str>),
        key: Option<&'static str>,
        answer: Option<Account>,
        email: Option<&'static str>,
        fresh: bool,
    }

    #[test]
    fn who_the_events_are_from() {
        let mail = || Some(Account::Email("b@example.com".to_owned()));
        let old = Some("a@example.com");
        let cases = [
            Case {
                about: "no key, never one",
                before: (None, None),
                key: None,
                answer: None,
                email: None,
                fresh: false,
            },
            Case {
                about: "first key",
                before: (None, None),
                key: Some("k"),
                answer: mail(),
                email: Some("b@example.com"),
                fresh: false,
            },
            Case {
                about: "first key, offline",
                before: (None, None),
                key: Some("k"),
                answer: Some(Account::Offline),
                email: None,
                fresh: false,
            },
            Case {
                about: "same key",
                before: (old, Some("k")),
                key: Some("k"),
                answer: None,
                email: old,
                fresh: false,
            },
            Case {
                about: "unverified, offline",
                before: (old, None),
                key: Some("k"),
                answer: Some(Account::Offline),
                email: old,
                fresh: false,
            },
            Case {
                about: "unverified, other",
                before: (old, None),
                key: Some("k"),
                answer: mail(),
                email: Some("b@example.com"),
                fresh: false,
            },
            Case {
                about: "unverified, refused",
                before: (old, None),
                key: Some("k"),
                answer: Some(Account::Unknown),
                email: None,
                fresh: true,
            },
            Case { about: "key gone", before: (old, Some("k")), key: None, answer: None, email: None, fresh: true },
            Case {
                about: "key changed",
                before: (old, Some("k")),
                key: Some("l"),
                answer: mail(),
                email: Some("b@example.com"),
                fresh: false,
            },
            Case {
                about: "key changed, offline",
                before: (old, Some("k")),
                key: Some("l"),
                answer: Some(Account::Offline),
                email: None,
                fresh: true,
            },
        ];
        for case in cases {
            let before = Identity {
                anonymous_id: "code-anon-1".to_owned(),
                email: case.before.0.map(str::to_owned),
                key_fingerprint: case.before.1.map(fingerprint),
                aliased: true,
            };
            let asked = std::cell::Cell::new(false);
            let expects_question = case.answer.is_some();
            let after = before.resolve(case.key, "code-anon-2", |_| {
                asked.set(true);
                case.answer.clone().unwrap()
            });
            assert_eq!(asked.get(), expects_question, "{}", case.about);
            assert_eq!(after.email.as_deref(), case.email, "{}", case.about);
            let anonymous = if case.fresh { "code-anon-2" } else { "code-anon-1" };
            assert_eq!(after.anonymous_id, anonymous, "{}", case.about);
            assert_eq!(after.distinct_id(), case.email.unwrap_or(anonymous), "{}", case.about);
        }
    }
}
