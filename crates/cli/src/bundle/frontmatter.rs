//! The head of a skill's or an agent's Markdown: plain `key: value` lines between `---` lines.
//!
//! Hosts read it with different parsers, the strictest of which takes no flow lists, no anchors and no key twice. So only what all of
//! them read alike is taken here: one text a key, quoted where YAML would see something else in it, and one level of maps.

use serde_json::{Map, Value};

/// Splits a document into the fields of its head and its body.
///
/// # Errors
/// What in the head would not be read alike everywhere.
pub(super) fn parse(text: &str) -> Result<(Map<String, Value>, &str), String> {
    let inside = text.strip_prefix("---\n").ok_or("does not begin with a line `---`")?;
    let (head, body) = inside.split_once("\n---\n").ok_or("has no second line `---`")?;
    let mut fields = Map::new();
    let mut open: Option<String> = None;
    for line in head.lines() {
        let (map, line) = match line.strip_prefix("  ") {
            Some(inner) => {
                let name = open.as_ref().ok_or_else(|| format!("`{inner}` is indented below nothing"))?;
                let Some(Value::Object(map)) = fields.get_mut(name) else {
                    return Err(format!("`{name}` is not a map"));
                };
                (map, inner)
            }
            None => {
                open = None;
                (&mut fields, line)
            }
        };
        let (name, value) = line.split_once(':').ok_or_else(|| format!("`{line}` is not `key: value`"))?;
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
            return Err(format!("`{name}` is not a key"));
        }
        let value = if value.is_empty() {
            open = Some(name.to_owned());
            Value::Object(Map::new())
        } else {
            let value = value.strip_prefix(' ').ok_or_else(|| format!("`{name}` needs a space after the colon"))?;
            scalar(value).map_err(|fault| format!("`{name}` {fault}"))?
        };
        if map.insert(name.to_owned(), value).is_some() {
            return Err(format!("`{name}` is there twice"));
        }
    }
    Ok((fields, body))
}

/// One value: a plain text, a quoted one, or a truth value.
fn scalar(text: &str) -> Result<Value, &'static str> {
    match text {
        "true" => return Ok(Value::Bool(true)),
        "false" => return Ok(Value::Bool(false)),
        _ => {}
    }
    if text.starts_with('"') {
        return match serde_json::from_str(text) {
            Ok(Value::String(text)) => Ok(Value::String(text)),
            _ => Err("is not a quoted text"),
        };
    }
    let special = text
        .starts_with([' ', '\'', '[', ']', '{', '}', '>', '|', '*', '&', '!', '%', '#', '`', '@', ',', '?', ':', '-']);
    if special || text.ends_with([' ', ':']) || text.contains(": ") || text.contains(" #") {
        return Err("must be quoted");
    }
    Ok(text.parse::<u32>().map_or_else(|_| Value::from(text), Value::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_all_hosts_read_alike_is_taken() {
        let text = "---\nname: a-b\ndescription: Says x; then \"y\".\ntools: \"Bash(\\\"x\\\" *)\"\nmetadata:\n  by: us\nmaxTurns: 3\noff: false\n---\n\nBody\n---\n";
        let (fields, body) = parse(text).unwrap();
        assert_eq!(
            Value::Object(fields),
            json!({
                "name": "a-b", "description": "Says x; then \"y\".", "tools": "Bash(\"x\" *)",
                "metadata": {"by": "us"}, "maxTurns": 3, "off": false,
            })
        );
        assert_eq!(body, "\nBody\n---\n");
    }

    #[test]
    fn everything_else_is_named() {
        let cases = [
            ("name: x\n", "does not begin"),
            ("\u{feff}---\nname: x\n---\n", "does not begin"),
            ("---\nname: x\n", "no second line"),
            ("---\nname x\n---\n", "`name x` is not"),
            ("---\nname:x\n---\n", "space after the colon"),
            ("---\nname: x\nname: y\n---\n", "`name` is there twice"),
            ("---\ndescription: Use: this\n---\n", "`description` must be quoted"),
            ("---\ndescription: [a, b]\n---\n", "must be quoted"),
            ("---\ndescription: a # b\n---\n", "must be quoted"),
            ("---\ndescription: 'a'\n---\n", "must be quoted"),
            ("---\ndescription: \"a\n---\n", "not a quoted text"),
            ("---\n  by: us\n---\n", "indented below nothing"),
            ("---\nna me: x\n---\n", "`na me` is not a key"),
        ];
        for (text, expected) in cases {
            let fault = parse(text).unwrap_err();
            assert!(fault.contains(expected), "{text:?}: {fault}");
        }
    }
}
