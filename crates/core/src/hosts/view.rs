//! JSON seen a level at a time: what is not asked for is not taken apart, and what is passed on keeps its bytes (the order
//! of keys, the digits of numbers).

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::handoff::refusal::{Kind, Refusal};

/// An object whose values are still text. Of a key that stands twice the last counts; `null` is as good as absent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Object<'a> {
    /// Reads a record.
    ///
    /// # Errors
    /// `record_not_object` or `invalid_json`, with the line's number and nothing of the text.
    pub(crate) fn read(text: &'a str, line: u64) -> Result<Self, Refusal> {
        if !text.trim_start().starts_with('{') {
            return Err(Refusal::new(Kind::RecordNotObject, format!("line {line} is not a JSON object")));
        }
        serde_json::from_str(text).map_err(|error| {
            Refusal::new(Kind::InvalidJson, format!("line {line} is not valid JSON (column {})", error.column()))
        })
    }

    /// Sees a value as an object.
    pub(crate) fn of(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }

    /// Returns a value that is not `null`.
    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        let (_, raw) = self.0.iter().rev().find(|(name, _)| name == key)?;
        (raw.get() != "null").then_some(raw)
    }

    /// Returns a string.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(text)
    }

    /// Returns a string that holds more than white space.
    pub(crate) fn filled(&self, key: &str) -> Option<String> {
        self.text(key).filter(|text| !text.trim().is_empty())
    }

    /// Returns an object.
    pub(crate) fn object(&self, key: &str) -> Option<Self> {
        self.get(key).and_then(Self::of)
    }

    /// Returns a list.
    pub(crate) fn list(&self, key: &str) -> Option<Vec<&'a RawValue>> {
        self.get(key).and_then(list)
    }

    /// Returns a whole number.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.get(key).and_then(|raw| serde_json::from_str(raw.get()).ok())
    }

    /// Returns whether a value is `true`.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|raw| raw.get() == "true")
    }

    /// Returns whether a value counts as true in JavaScript.
    pub(crate) fn is_truthy(&self, key: &str) -> bool {
        self.get(key).is_some_and(|raw| match raw.get() {
            "false" | "\"\"" => false,
            number => number.parse::<f64>() != Ok(0.0),
        })
    }

    /// The `type`, or nothing.
    pub(crate) fn kind(&self) -> String {
        self.text("type").unwrap_or_default()
    }
}

/// Returns a value that is a string.
pub(crate) fn text(raw: &RawValue) -> Option<String> {
    raw.get().starts_with('"').then(|| serde_json::from_str(raw.get()).ok()).flatten()
}

/// Returns a value that is a list.
pub(crate) fn list(raw: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(Key(key)) = map.next_key()? {
                    fields.push((key, map.next_value()?));
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(Fields).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_what_they_are() {
        let object =
            Object::read(r#"{"a":"x","a":"y\u00e9","n":null,"t":true,"z":0,"e":"","l":[1, 2],"o":{"k":7}}"#, 1)
                .unwrap();
        assert_eq!(object.text("a").as_deref(), Some("yé"));
        assert!(object.get("n").is_none() && object.text("t").is_none());
        assert!(object.is_true("t") && object.is_truthy("o"));
        assert!(!object.is_truthy("z") && !object.is_truthy("e") && !object.is_truthy("n"));
        assert_eq!(object.list("l").unwrap().len(), 2);
        assert_eq!(object.object("o").unwrap().number("k"), Some(7));
    }

    #[test]
    fn errors_quote_nothing() {
        for (text, kind) in [("[1]", Kind::RecordNotObject), ("{\"SECRET\":SECRET}", Kind::InvalidJson)] {
            let refusal = Object::read(text, 3).unwrap_err();
            assert_eq!(refusal.kind, kind);
            assert!(refusal.message.contains("line 3") && !refusal.message.contains("SECRET"));
        }
    }
}
