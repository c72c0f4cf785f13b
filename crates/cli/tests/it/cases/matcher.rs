//! The matcher language of the cases: a JSON value says what another one must be.
//!
//! `tests/cases/README.md` lists the operators.

use regex::RegexBuilder;
use serde_json::{Map, Value};

/// Returns what is wrong with `got`, one line a fault; empty when it matches. `at` is the path so far.
pub(crate) fn mismatches(want: &Value, got: &Value, at: &str) -> Vec<String> {
    match want {
        Value::Object(fields) => match operator(fields) {
            Some((name, argument)) => apply(name, argument, got, at),
            None => object(fields, got, at),
        },
        Value::Array(items) => array(items, got, at),
        _ if equal(want, got) => Vec::new(),
        _ => vec![format!("{at}: wanted {}, got {}", short(want, 600), short(got, 600))],
    }
}

/// Tells whether `got` is what `want` says.
pub(crate) fn matches(want: &Value, got: &Value) -> bool {
    mismatches(want, got, "$").is_empty()
}

/// Returns the one `$` key of an operator object.
fn operator(fields: &Map<String, Value>) -> Option<(&str, &Value)> {
    let (name, argument) = fields.iter().next()?;
    (fields.len() == 1 && name.starts_with('$')).then_some((name.as_str(), argument))
}

fn apply(name: &str, argument: &Value, got: &Value, at: &str) -> Vec<String> {
    let bad = |message: String| vec![format!("{at}: {message} (got {})", short(got, 400))];
    let verdict = |holds: bool, message: String| if holds { Vec::new() } else { bad(message) };
    match name {
        "$any" => Vec::new(),
        "$absent" => bad("must be absent".to_owned()),
        "$re" => {
            let pattern = argument.as_str().expect("$re takes a pattern");
            verdict(got.as_str().is_some_and(|text| found(pattern, text)), format!("must match /{pattern}/"))
        }
        "$has" => each_of(argument)
            .flat_map(|part| verdict(contains(got, part), format!("must contain {}", short(part, 300))))
            .collect(),
        "$hasnt" => each_of(argument)
            .flat_map(|part| verdict(!contains(got, part), format!("must not contain {}", short(part, 300))))
            .collect(),
        "$len" => match length(got) {
            Some(length) => mismatches(argument, &Value::from(length), &format!("{at}.len")),
            None => bad("has no length".to_owned()),
        },
        "$gte" => {
            verdict(compare(got, argument).is_some_and(|order| order >= 0.0), format!("must be at least {argument}"))
        }
        "$lte" => {
            verdict(compare(got, argument).is_some_and(|order| order <= 0.0), format!("must be at most {argument}"))
        }
        "$sub" => sub_object(argument, got, at),
        "$each" => match got.as_array() {
            Some(items) => items
                .iter()
                .enumerate()
                .flat_map(|(idx, item)| mismatches(argument, item, &format!("{at}[{idx}]")))
                .collect(),
            None => bad("must be a list".to_owned()),
        },
        "$some" => verdict(
            got.as_array().is_some_and(|items| items.iter().any(|item| matches(argument, item))),
            format!("no item matches {}", short(argument, 200)),
        ),
        "$none" => verdict(
            got.as_array().is_some_and(|items| !items.iter().any(|item| matches(argument, item))),
            format!("an item matches {}", short(argument, 200)),
        ),
        "$bag" => bag(argument, got, at),
        "$not" => verdict(!matches(argument, got), "must not match".to_owned()),
        "$all" => each_of(argument).flat_map(|part| mismatches(part, got, at)).collect(),
        "$or" => verdict(
            each_of(argument).any(|part| matches(part, got)),
            format!("matches none of {}", short(argument, 300)),
        ),
        "$json" => match got.as_str().and_then(|text| serde_json::from_str(text).ok()) {
            Some(parsed) => mismatches(argument, &parsed, &format!("{at}:json")),
            None => bad("is not JSON".to_owned()),
        },
        _ => panic!("unknown matcher {name}"),
    }
}

/// Exactly these fields.
fn object(fields: &Map<String, Value>, got: &Value, at: &str) -> Vec<String> {
    let Some(present) = got.as_object() else {
        return vec![format!("{at}: wanted an object, got {}", short(got, 400))];
    };
    let mut out: Vec<String> =
        present.keys().filter(|key| !fields.contains_key(*key)).map(|key| format!("{at}.{key}: unexpected")).collect();
    for (key, want) in fields {
        match present.get(key) {
            Some(value) => out.extend(mismatches(want, value, &format!("{at}.{key}"))),
            None => out.push(format!("{at}.{key}: missing")),
        }
    }
    out
}

/// At least these fields; `$absent` forbids one.
fn sub_object(argument: &Value, got: &Value, at: &str) -> Vec<String> {
    let (Some(fields), Some(present)) = (argument.as_object(), got.as_object()) else {
        return vec![format!("{at}: must be an object (got {})", short(got, 400))];
    };
    let mut out = Vec::new();
    for (key, want) in fields {
        let forbidden = want.as_object().and_then(operator).is_some_and(|(name, _)| name == "$absent");
        match present.get(key) {
            Some(value) if forbidden => out.push(format!("{at}.{key}: must be absent (got {})", short(value, 400))),
            Some(value) => out.extend(mismatches(want, value, &format!("{at}.{key}"))),
            None if forbidden => {}
            None => out.push(format!("{at}.{key}: missing")),
        }
    }
    out
}

fn array(items: &[Value], got: &Value, at: &str) -> Vec<String> {
    match got.as_array() {
        Some(present) if present.len() == items.len() => items
            .iter()
            .zip(present)
            .enumerate()
            .flat_map(|(idx, (want, value))| mismatches(want, value, &format!("{at}[{idx}]")))
            .collect(),
        _ => vec![format!("{at}: wanted {} items, got {}", items.len(), short(got, 600))],
    }
}

fn bag(argument: &Value, got: &Value, at: &str) -> Vec<String> {
    let wanted: Vec<&Value> = each_of(argument).collect();
    let mut rest: Vec<&Value> = match got.as_array() {
        Some(items) if items.len() == wanted.len() => items.iter().collect(),
        _ => {
            return vec![format!(
                "{at}: must hold exactly {} items in any order (got {})",
                wanted.len(),
                short(got, 400)
            )];
        }
    };
    let mut out = Vec::new();
    for want in wanted {
        match rest.iter().position(|item| matches(want, item)) {
            Some(idx) => drop(rest.remove(idx)),
            None => out.push(format!("{at}: nothing matches {} (got {})", short(want, 200), short(got, 400))),
        }
    }
    out
}

/// A list's items, or the value itself.
pub(crate) fn each_of(value: &Value) -> impl Iterator<Item = &Value> {
    match value {
        Value::Array(items) => items.iter(),
        single => std::slice::from_ref(single).iter(),
    }
}

fn contains(got: &Value, part: &Value) -> bool {
    match got {
        Value::String(text) => part.as_str().is_some_and(|part| text.contains(part)),
        Value::Array(items) => items.iter().any(|item| matches(part, item)),
        Value::Object(fields) => part.as_str().is_some_and(|key| fields.contains_key(key)),
        _ => false,
    }
}

fn length(got: &Value) -> Option<usize> {
    match got {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(items) => Some(items.len()),
        Value::Object(fields) => Some(fields.len()),
        _ => None,
    }
}

fn compare(got: &Value, limit: &Value) -> Option<f64> {
    Some(got.as_f64()? - limit.as_f64()?)
}

fn equal(want: &Value, got: &Value) -> bool {
    match (want, got) {
        // `1` and `1.0` are one number.
        (Value::Number(want), Value::Number(got)) => want == got || want.as_f64() == got.as_f64(),
        _ => want == got,
    }
}

/// Searches with a dot that matches newlines. `regex` has no look-around; the one form the cases use, a
/// leading `^(?!…)`, is turned into its opposite.
fn found(pattern: &str, text: &str) -> bool {
    let (pattern, wanted) = match pattern.strip_prefix("^(?!").and_then(|rest| rest.strip_suffix(')')) {
        Some(forbidden) => (format!("^(?:{forbidden})"), false),
        None => (pattern.to_owned(), true),
    };
    let compiled =
        RegexBuilder::new(&pattern).dot_matches_new_line(true).build().expect("a pattern of the cases compiles");
    compiled.is_match(text) == wanted
}

/// The value as JSON, cut to `max_chars`.
pub(crate) fn short(value: &Value, max_chars: usize) -> String {
    let text = value.to_string();
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::matches;

    #[test]
    fn operators_accept_and_refuse() {
        let cases = [
            (json!({"$sub": {"a": 1, "b": {"$absent": 1}}}), json!({"a": 1.0, "c": 2}), json!({"a": 1, "b": null})),
            (json!({"a": {"$any": 1}}), json!({"a": null}), json!({"a": 1, "b": 2})),
            (json!({"$re": "a.b"}), json!("xa\nbx"), json!("ab")),
            (json!({"$re": "^(?!.*no)"}), json!("yes"), json!("a\nno")),
            (json!({"$has": ["a", "b"]}), json!("cab"), json!("ca")),
            (json!({"$has": {"$gte": 3}}), json!([1, 4]), json!([1, 2])),
            (json!({"$hasnt": "a"}), json!({"b": 1}), json!({"a": 1})),
            (json!({"$len": {"$lte": 2}}), json!("éé"), json!([1, 2, 3])),
            (json!({"$each": {"$gte": 1}}), json!([1, 2]), json!([0, 2])),
            (json!({"$some": 2}), json!([1, 2]), json!([1])),
            (json!({"$none": 2}), json!([1]), json!([1, 2])),
            (json!({"$bag": [1, {"$gte": 1}]}), json!([7, 1]), json!([1, 0])),
            (json!({"$all": [{"$has": "a"}, {"$not": {"$has": "b"}}]}), json!("a"), json!("ab")),
            (json!({"$or": [1, "x"]}), json!("x"), json!(2)),
            (json!({"$json": {"a": true}}), json!("{\"a\":true}"), json!("{a}")),
            (json!([1, true]), json!([1, true]), json!([1, 1])),
            (json!(null), json!(null), json!(false)),
        ];
        for (want, good, bad) in cases {
            assert!(matches(&want, &good), "{want} refuses {good}");
            assert!(!matches(&want, &bad), "{want} accepts {bad}");
        }
    }
}
