//! Secrets taken out of items, on request: a document is a faithful private copy otherwise.

use serde_json::Value;

use super::document::{Item, Part};
use crate::redact::{self, MARK};

/// What stands where a secret stood.
const REDACTED: &str = "[redacted]";

/// Takes secrets out of an item's texts, arguments and outputs; returns how many there were.
pub fn item(item: &mut Item) -> u64 {
    match item {
        Item::Message { content, .. } => content
            .iter_mut()
            .map(|part| match part {
                Part::InputText { text } | Part::OutputText { text } => self::text(text),
                Part::InputImage { .. } => 0,
            })
            .sum(),
        Item::FunctionCall { name, arguments, .. } => self::text(name) + self::arguments(arguments),
        Item::FunctionCallOutput { name, output, .. } => self::text(name) + value(output),
    }
}

/// Takes secrets out of a text; returns how many there were.
pub fn text(text: &mut String) -> u64 {
    let redacted = redact::text(text);
    if redacted == text.as_str() {
        return 0;
    }
    let marks = |text: &str| text.matches(MARK).count() as u64;
    let n_taken = marks(&redacted).saturating_sub(marks(text)).max(1);
    *text = redacted.replace(MARK, REDACTED);
    n_taken
}

fn arguments(arguments: &mut String) -> u64 {
    let Ok(mut parsed) = serde_json::from_str::<Value>(arguments) else { return 0 };
    let n_taken = value(&mut parsed);
    if n_taken > 0 {
        *arguments = parsed.to_string();
    }
    n_taken
}

fn value(value: &mut Value) -> u64 {
    match value {
        Value::String(text) => self::text(text),
        Value::Array(values) => values.iter_mut().map(self::value).sum(),
        // A picture is bytes, not text.
        Value::Object(map) if map.get("type").is_some_and(|kind| kind == "base64") => 0,
        Value::Object(map) => {
            let mut n_taken = 0;
            let fields = std::mem::take(map);
            for (mut key, mut field) in fields {
                n_taken += match &mut field {
                    // The field's name tells what it is, so it is looked at together with it.
                    Value::String(text) => match redact::value(&serde_json::json!({ &key: &*text })).get(&key) {
                        Some(Value::String(clean)) if clean == MARK && text != MARK => {
                            *text = REDACTED.to_owned();
                            1
                        }
                        _ => self::text(text),
                    },
                    other => self::value(other),
                };
                n_taken += self::text(&mut key);
                // Two secrets as names must not become one field.
                while map.contains_key(&key) {
                    key.push('\'');
                }
                map.insert(key, field);
            }
            n_taken
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::handoff::content::{call, result};

    #[test]
    fn secrets_go_and_json_stays() {
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        let mut given = call("c", "Bash", json!({"cmd": format!("echo {secret}"), "password": "hunter22"}).to_string());
        assert_eq!(item(&mut given), 2);
        let Item::FunctionCall { arguments, .. } = &given else { panic!("a call stays a call") };
        let parsed: Value = serde_json::from_str(arguments).unwrap();
        assert_eq!(parsed["password"], REDACTED);
        assert!(!arguments.contains(&secret), "{arguments}");
        let mut named = call(&secret, &secret, json!({&secret: "x", "y": [{&secret: 1}]}).to_string());
        assert_eq!(item(&mut named), 3);
        let Item::FunctionCall { arguments, name, .. } = &named else { panic!("a call stays a call") };
        assert!(!arguments.contains(&secret) && !name.contains(&secret), "{arguments} {name}");
        let mut output = result("c", json!([{"type": "text", "text": secret}, 7, null]), false);
        assert_eq!(item(&mut output), 1);
        assert_eq!(item(&mut output), 0, "nothing is taken twice");
    }
}
