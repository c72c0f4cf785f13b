//! JSON Schema, as much of it as the schemas in `templates/schemas/` use, so that a package is checked without a schema library in
//! the binary. A test holds every verdict of it against a complete implementation.
//!
//! Rules that JSON Schema cannot say, such as that a path stays inside the package, are `format`s: the caller judges them.

use serde_json::Value;

/// Judges a text of a named format; the answer says what is wrong with it.
pub(super) type Judge<'a> = &'a dyn Fn(&str, &str) -> Option<String>;

/// Checks a value against the definition `name` of a schema document and returns what is wrong, with the place in front.
pub(super) fn check(document: &Value, name: &str, value: &Value, judge: Judge<'_>) -> Vec<String> {
    let Some(schema) = document["$defs"].get(name) else { return vec![format!("there is no schema `{name}`")] };
    let mut check = Check { document, judge, faults: Vec::new() };
    check.value(schema, value, "");
    check.faults
}

struct Check<'a> {
    document: &'a Value,
    judge: Judge<'a>,
    faults: Vec<String>,
}

impl Check<'_> {
    fn say(&mut self, place: &str, what: impl std::fmt::Display) {
        let place = place.strip_prefix('.').unwrap_or(place);
        self.faults.push(if place.is_empty() { what.to_string() } else { format!("`{place}` {what}") });
    }

    fn value(&mut self, schema: &Value, value: &Value, place: &str) {
        let schema = match schema {
            Value::Bool(true) => return,
            Value::Bool(false) => return self.say(place, "is not allowed"),
            schema => schema,
        };
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
            match self.document["$defs"].get(name) {
                Some(definition) => self.value(definition, value, place),
                None => self.say(place, format!("has no schema `{name}`")),
            }
        }
        if let Some(kinds) = schema.get("type")
            && !words(kinds).any(|kind| is_kind(kind, value))
        {
            return self.say(place, format!("is not of type {}", words(kinds).collect::<Vec<_>>().join(" or ")));
        }
        if schema.get("const").is_some_and(|wanted| wanted != value) {
            self.say(place, format!("is not {}", schema["const"]));
        }
        if schema["enum"].as_array().is_some_and(|allowed| !allowed.contains(value)) {
            self.say(place, format!("is none of {}", schema["enum"]));
        }
        if schema.get("not").is_some_and(|forbidden| self.meets(forbidden, value, place)) {
            self.say(place, "is not allowed here");
        }
        if let Some(ways) = schema["anyOf"].as_array()
            && !ways.iter().any(|way| self.meets(way, value, place))
        {
            // With one way of the value's own type, what that way misses says more than that none fits.
            let mut same = ways.iter().filter(|way| words(&way["type"]).any(|kind| is_kind(kind, value)));
            match (same.next(), same.next()) {
                (Some(way), None) => self.value(way, value, place),
                _ => self.say(place, "has none of the allowed forms"),
            }
        }
        match value {
            Value::String(text) => self.text(schema, text, place),
            Value::Number(number) => self.number(schema, number.as_f64().unwrap_or_default(), place),
            Value::Array(elements) => self.elements(schema, elements, place),
            Value::Object(fields) => self.fields(schema, fields, place),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn meets(&self, schema: &Value, value: &Value, place: &str) -> bool {
        let mut check = Check { document: self.document, judge: self.judge, faults: Vec::new() };
        check.value(schema, value, place);
        check.faults.is_empty()
    }

    fn text(&mut self, schema: &Value, text: &str, place: &str) {
        let n_chars = text.chars().count() as u64;
        self.count(schema, ("minLength", "maxLength"), n_chars, "characters", place);
        if let Some(fault) = schema["format"].as_str().and_then(|format| (self.judge)(format, text)) {
            self.say(place, fault);
        }
    }

    fn number(&mut self, schema: &Value, number: f64, place: &str) {
        if schema["minimum"].as_f64().is_some_and(|least| number < least) {
            self.say(place, format!("is less than {}", schema["minimum"]));
        }
        if schema["maximum"].as_f64().is_some_and(|most| number > most) {
            self.say(place, format!("is more than {}", schema["maximum"]));
        }
    }

    fn elements(&mut self, schema: &Value, elements: &[Value], place: &str) {
        self.count(schema, ("minItems", "maxItems"), elements.len() as u64, "elements", place);
        if let Some(items) = schema.get("items") {
            for (element_idx, element) in elements.iter().enumerate() {
                self.value(items, element, &format!("{place}[{element_idx}]"));
            }
        }
    }

    fn fields(&mut self, schema: &Value, fields: &serde_json::Map<String, Value>, place: &str) {
        self.count(schema, ("minProperties", "maxProperties"), fields.len() as u64, "fields", place);
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                self.say(&format!("{place}.{name}"), "is missing");
            }
        }
        for (name, value) in fields {
            let place = format!("{place}.{name}");
            if let Some(names) = schema.get("propertyNames") {
                self.value(names, &Value::String(name.clone()), &place);
            }
            match (schema["properties"].get(name), schema.get("additionalProperties")) {
                (Some(schema), _) => self.value(schema, value, &place),
                (None, Some(Value::Bool(false))) => self.say(&place, "is not a field this host knows"),
                (None, Some(others)) => self.value(others, value, &place),
                (None, None) => {}
            }
        }
    }

    fn count(&mut self, schema: &Value, (least, most): (&str, &str), n: u64, of: &str, place: &str) {
        if let Some(least) = schema[least].as_u64().filter(|least| n < *least) {
            self.say(place, format!("has fewer than {least} {of}"));
        }
        if let Some(most) = schema[most].as_u64().filter(|most| n > *most) {
            self.say(place, format!("has more than {most} {of}"));
        }
    }
}

fn words(kinds: &Value) -> impl Iterator<Item = &str> {
    let one = kinds.as_str();
    one.into_iter().chain(kinds.as_array().into_iter().flatten().filter_map(Value::as_str))
}

fn is_kind(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "null" => value.is_null(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::packages::PACKAGES;
    use super::super::validate::judge;
    use super::*;
    use serde_json::json;

    /// What `check` knows; anything else in a schema would be a rule that nobody holds.
    const KEYWORDS: &[&str] = &[
        "$comment",
        "$defs",
        "$id",
        "$ref",
        "$schema",
        "additionalProperties",
        "anyOf",
        "const",
        "enum",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "not",
        "properties",
        "propertyNames",
        "required",
        "title",
        "type",
    ];

    fn documents() -> Vec<(String, Value)> {
        let marketplaces = super::super::marketplaces::SCHEMA;
        let packages = PACKAGES.iter().map(|package| (package.host, package.schema));
        packages
            .chain([("marketplaces", marketplaces)])
            .map(|(name, text)| (name.to_owned(), serde_json::from_str(text).unwrap()))
            .collect()
    }

    fn walk(schema: &Value, at: &str, visit: &mut impl FnMut(&str, &Value)) {
        let Some(fields) = schema.as_object() else { return };
        for (key, value) in fields {
            assert!(KEYWORDS.contains(&key.as_str()), "{at} uses `{key}`");
            visit(key, value);
            match key.as_str() {
                "properties" | "$defs" => {
                    value
                        .as_object()
                        .unwrap()
                        .iter()
                        .for_each(|(name, schema)| walk(schema, &format!("{at}.{name}"), visit));
                }
                "anyOf" => value.as_array().unwrap().iter().for_each(|schema| walk(schema, at, visit)),
                "items" | "additionalProperties" | "propertyNames" | "not" => walk(value, at, visit),
                _ => {}
            }
        }
    }

    #[test]
    fn schemas_say_nothing_that_is_not_held() {
        for (name, document) in documents() {
            assert!(jsonschema::meta::is_valid(&document), "{name} is not a JSON Schema");
            walk(&document, &name, &mut |key, value| match key {
                "$ref" => {
                    let target = value.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                    assert!(document["$defs"].get(target).is_some(), "{name} has no `{target}`");
                }
                "format" => {
                    assert!(super::super::validate::FORMATS.contains(&value.as_str().unwrap()), "{name}: {value}")
                }
                _ => {}
            });
        }
    }

    /// Every value one change away: fields taken out, put in or emptied, values of other types, at every depth.
    fn changed(value: &Value) -> Vec<Value> {
        let mut out = vec![
            Value::Null,
            json!(true),
            json!(-1),
            json!(1.5),
            json!(9_999),
            json!(""),
            json!("../x"),
            json!([]),
            json!({}),
        ];
        match value {
            Value::Object(fields) => {
                let mut more = fields.clone();
                more.insert("notAField".to_owned(), json!("x"));
                out.push(Value::Object(more));
                for (name, inner) in fields {
                    let mut fewer = fields.clone();
                    fewer.remove(name);
                    out.push(Value::Object(fewer));
                    for other in changed(inner) {
                        let mut fields = fields.clone();
                        fields.insert(name.clone(), other);
                        out.push(Value::Object(fields));
                    }
                }
            }
            Value::Array(elements) => {
                out.push(Value::Array(elements.iter().cycle().take(elements.len() * 5).cloned().collect()));
                for (element_idx, inner) in elements.iter().enumerate() {
                    for other in changed(inner) {
                        let mut elements = elements.clone();
                        elements[element_idx] = other;
                        out.push(Value::Array(elements));
                    }
                }
            }
            Value::String(text) => {
                out.extend([json!(format!("{text}{}", "x".repeat(1_100))), json!(format!("{text}!"))])
            }
            _ => {}
        }
        out
    }

    #[test]
    fn verdicts_are_those_of_a_complete_implementation() {
        let mut n_good = 0;
        let mut n_bad = 0;
        let samples = super::super::tests::sample_documents();
        for (host, definition, sample) in &samples {
            let (_, document) = documents().into_iter().find(|(name, _)| name == host).unwrap();
            let mut root = document.clone();
            root["$ref"] = json!(format!("#/$defs/{definition}"));
            let mut options = jsonschema::options().should_validate_formats(true);
            for format in super::super::validate::FORMATS {
                options = options.with_format(*format, |text: &str| judge(format, text).is_none());
            }
            let reference = options.build(&root).unwrap();
            assert_eq!(check(&document, definition, sample, &judge), Vec::<String>::new(), "{host} {definition}");
            for value in changed(sample) {
                let faults = check(&document, definition, &value, &judge);
                assert_eq!(faults.is_empty(), reference.is_valid(&value), "{host} {definition} {value}: {faults:?}");
                if faults.is_empty() { n_good += 1 } else { n_bad += 1 }
            }
        }
        assert!(n_good > 100 && n_bad > 1_000, "{n_good} good, {n_bad} bad of {} samples", samples.len());
    }
}
