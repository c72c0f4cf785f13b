//! A JSON value whose keys keep the order they were written in, and how it is printed.
//!
//! `serde_json` sorts keys; in files that people read the order carries meaning. Only what packages and hook entries need is here.

use serde_json::{Map, Value};

/// A JSON value to be printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Json {
    /// Keys and values in the order to print them.
    Object(Vec<(String, Json)>),
    /// Elements in order.
    Array(Vec<Json>),
    /// A string.
    Text(String),
    /// A whole number.
    Number(u64),
    /// `true` or `false`.
    Bool(bool),
}

/// How a value is laid out over lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout<'a> {
    /// What ends a line, `\n` or `\r\n`.
    pub newline: &'a str,
    /// One step of indentation.
    pub unit: &'a str,
}

/// Two spaces and `\n`, the layout of generated files.
pub(crate) const PLAIN: Layout<'static> = Layout { newline: "\n", unit: "  " };

impl Json {
    /// An object of these entries.
    pub(crate) fn object<const N: usize>(entries: [(&str, Json); N]) -> Json {
        Json::Object(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// A string.
    pub(crate) fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    /// A list of strings.
    pub(crate) fn texts(texts: &[impl AsRef<str>]) -> Json {
        Json::Array(texts.iter().map(|text| Json::text(text.as_ref())).collect())
    }

    /// Prints over several lines; lines after the first start with `indent`.
    pub(crate) fn pretty(&self, layout: Layout<'_>, indent: &str) -> String {
        let mut out = String::new();
        self.write(&mut out, Some((layout, indent)));
        out
    }

    /// Prints on one line.
    pub(crate) fn compact(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, None);
        out
    }

    /// The same as a `serde_json` value, for comparing.
    pub(crate) fn value(&self) -> Value {
        match self {
            Json::Object(entries) => {
                Value::Object(entries.iter().map(|(key, value)| (key.clone(), value.value())).collect::<Map<_, _>>())
            }
            Json::Array(elements) => Value::Array(elements.iter().map(Json::value).collect()),
            Json::Text(text) => Value::String(text.clone()),
            Json::Number(number) => Value::from(*number),
            Json::Bool(truth) => Value::from(*truth),
        }
    }

    fn write(&self, out: &mut String, lines: Option<(Layout<'_>, &str)>) {
        match self {
            Json::Text(text) => out.push_str(&quote(text)),
            Json::Number(number) => out.push_str(&number.to_string()),
            Json::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
            Json::Object(entries) => write_items(out, lines, ('{', '}'), entries, |out, (key, value), lines| {
                out.push_str(&quote(key));
                out.push_str(": ");
                value.write(out, lines);
            }),
            Json::Array(elements) => {
                write_items(out, lines, ('[', ']'), elements, |out, element, lines| element.write(out, lines));
            }
        }
    }
}

fn write_items<T>(
    out: &mut String,
    lines: Option<(Layout<'_>, &str)>,
    (open, close): (char, char),
    items: &[T],
    write_item: impl Fn(&mut String, &T, Option<(Layout<'_>, &str)>),
) {
    out.push(open);
    let inner = lines.map(|(layout, indent)| (layout, format!("{indent}{}", layout.unit)));
    for (item_idx, item) in items.iter().enumerate() {
        if item_idx > 0 {
            out.push(',');
        }
        match &inner {
            Some((layout, indent)) => {
                out.push_str(layout.newline);
                out.push_str(indent);
                write_item(out, item, Some((*layout, indent)));
            }
            None => {
                if item_idx > 0 {
                    out.push(' ');
                }
                write_item(out, item, None);
            }
        }
    }
    if let (Some((layout, indent)), false) = (lines, items.is_empty()) {
        out.push_str(layout.newline);
        out.push_str(indent);
    }
    out.push(close);
}

/// A JSON string literal.
pub(crate) fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_text_is_the_value() {
        let json = Json::object([
            ("z", Json::text("a\"b\\c\u{1f}é")),
            ("a", Json::Array(vec![Json::Number(3), Json::Bool(true), Json::Array(vec![]), Json::Object(vec![])])),
        ]);
        let crlf = Layout { newline: "\r\n", unit: "\t" };
        for text in [json.compact(), json.pretty(PLAIN, ""), json.pretty(crlf, "    ")] {
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json.value(), "{text}");
        }
        assert_eq!(
            json.pretty(PLAIN, ""),
            "{\n  \"z\": \"a\\\"b\\\\c\\u001fé\",\n  \"a\": [\n    3,\n    true,\n    [],\n    {}\n  ]\n}"
        );
    }
}
