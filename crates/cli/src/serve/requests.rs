//! From what a client sends to what the engine is asked. Every refusal names the field and what belongs there.

use jiff::Timestamp;
use mem0_code_core::filter::Filter;
use mem0_code_core::memory::{Entities, Message, Role};
use mem0_code_core::{redact, scope};
use mem0_code_engine::api::AddRequest;
use serde_json::{Map, Value, json};

use super::guard::Who;
use super::handlers::Failure;

/// The fields that say whom a memory belongs to.
pub(super) const WHOM: [&str; 4] = ["user_id", "agent_id", "app_id", "run_id"];

/// Longest id of an entity, in characters.
const MAX_ID_CHARS: usize = 255;
/// Longest question, in characters.
const MAX_QUERY_CHARS: usize = 20_000;
/// Most messages of one request.
const MAX_MESSAGES: usize = 10_000;
/// Largest metadata, in bytes of JSON.
const MAX_METADATA_BYTES: usize = 64 * 1024;

/// A JSON body that is an object.
pub(super) type Body = Map<String, Value>;

/// Reads a body.
pub(super) fn body(bytes: &[u8]) -> Result<Body, Failure> {
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(body)) => Ok(body),
        Ok(_) => Err(Failure::bad("the body must be a JSON object")),
        Err(error) => {
            Err(Failure::bad(format!("the body is not JSON (line {}, column {})", error.line(), error.column())))
        }
    }
}

/// Reads a query string: names and values, decoded, in order.
pub(super) fn query(text: &str) -> Result<Vec<(String, String)>, Failure> {
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let plain = |text: &str| decoded(&text.replace('+', " "));
            plain(name).zip(plain(value)).ok_or_else(|| Failure::bad("the query is not text"))
        })
        .collect()
}

/// Undoes percent encoding; `None` when what comes out is not UTF-8.
pub(super) fn decoded(text: &str) -> Option<String> {
    let raw = text.as_bytes();
    let mut bytes = Vec::with_capacity(raw.len());
    let mut at = 0;
    while at < raw.len() {
        let hex = raw.get(at + 1..at + 3).filter(|hex| raw[at] == b'%' && hex.iter().all(u8::is_ascii_hexdigit));
        match hex.and_then(|_| u8::from_str_radix(text.get(at + 1..at + 3)?, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                at += 3;
            }
            None => {
                bytes.push(raw[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

/// Reads what to store.
pub(super) fn add(body: &Body, who: &Who, idempotency_key: Option<&str>) -> Result<AddRequest, Failure> {
    if let Some(field) = ["expiration_date", "structured_data_schema"].iter().find(|name| is_given(body, name)) {
        return Err(Failure::bad(format!("`{field}` is not supported by this server")));
    }
    let entities = entities(body, who)?;
    let at = timestamp(body.get("timestamp"))?;
    let infer = flag(body, "infer")?.unwrap_or(true);
    let key = idempotency_key.map(|key| {
        // The length keeps one person's keys apart from another's whose name has a slash.
        let name = who.person().unwrap_or_default();
        format!("http/{}/{name}/{key}", name.len())
    });
    Ok(AddRequest {
        messages: messages(body, at)?,
        entities,
        metadata: metadata(body)?.unwrap_or_default(),
        agent_instructions: None,
        instructions: None,
        categories: body.get("custom_categories").filter(|value| value.is_array()).cloned(),
        infer,
        idempotency_key: key,
        now: at,
    })
}

fn messages(body: &Body, at: Option<Timestamp>) -> Result<Vec<Message>, Failure> {
    let listed = match body.get("messages") {
        Some(Value::String(text)) => return Ok(vec![said(Role::User, text, at)]),
        Some(Value::Object(one)) => vec![Value::Object(one.clone())],
        Some(Value::Array(listed)) => listed.clone(),
        _ => return Err(Failure::bad("`messages` must be a list of {role, content}")),
    };
    if listed.len() > MAX_MESSAGES {
        return Err(Failure::bad(format!("`messages` may hold at most {MAX_MESSAGES}")));
    }
    let mut out = Vec::new();
    for (index, message) in listed.iter().enumerate() {
        let wrong = |what: &str| Failure::bad(format!("`messages[{index}]{what}"));
        let role = match message.get("role").and_then(Value::as_str) {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("tool" | "function") => Role::Tool,
            // What a program tells its model is nobody's memory.
            Some("system" | "developer") => continue,
            _ => return Err(wrong(".role` must be user, assistant, system or tool")),
        };
        let text = match message.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(blocks)) => {
                let texts: Vec<&str> = blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
                texts.join("\n")
            }
            Some(Value::Null) | None if role != Role::User => continue,
            _ => return Err(wrong(".content` must be text, or a list of text blocks")),
        };
        if !text.trim().is_empty() {
            out.push(said(role, &text, at));
        }
    }
    if out.is_empty() {
        return Err(Failure::bad("`messages` has nothing to store"));
    }
    Ok(out)
}

fn said(role: Role, text: &str, at: Option<Timestamp>) -> Message {
    Message { role, content: redact::text(text).into_owned(), at, tool: None }
}

/// Whom a memory is to belong to: fields of their own, or in `filters`, as the newer SDKs send them.
fn entities(body: &Body, who: &Who) -> Result<Entities, Failure> {
    let filters = body.get("filters");
    let named = |name: &str| -> Result<String, Failure> {
        let given = body.get(name).filter(|value| !value.is_null()).or_else(|| in_filters(filters?, name));
        match given {
            None => Ok(String::new()),
            Some(Value::String(id)) => id_of(name, id),
            Some(Value::Number(id)) => id_of(name, &id.to_string()),
            Some(_) => Err(Failure::bad(format!("`{name}` must be text"))),
        }
    };
    let entities = Entities {
        user_id: named("user_id")?,
        agent_id: named("agent_id")?,
        app_id: named("app_id")?,
        run_id: Some(named("run_id")?).filter(|id| !id.is_empty()),
    };
    if [&entities.user_id, &entities.agent_id, &entities.app_id].iter().all(|id| id.is_empty())
        && entities.run_id.is_none()
    {
        return Err(Failure::bad("one of user_id, agent_id, app_id and run_id must say whom the memory belongs to"));
    }
    if let Some(person) = who.person()
        && !entities.user_id.is_empty()
        && entities.user_id != person
    {
        return Err(Failure::new(403, format!("this token is {person}'s; it cannot store for another user_id")));
    }
    Ok(entities)
}

/// An id named literally in a filter: at its top, or in a list that holds all together.
fn in_filters<'a>(filters: &'a Value, name: &str) -> Option<&'a Value> {
    match filters.get(name) {
        Some(value) if value.is_string() || value.is_number() => Some(value),
        _ => filters.get("AND")?.as_array()?.iter().find_map(|part| in_filters(part, name)),
    }
}

fn id_of(name: &str, id: &str) -> Result<String, Failure> {
    if id.chars().count() > MAX_ID_CHARS || (!id.is_empty() && scope::is_wildcard(id)) {
        return Err(Failure::bad(format!("`{name}` must be an id of 1 to {MAX_ID_CHARS} characters, not a wildcard")));
    }
    Ok(id.to_owned())
}

/// Reads metadata; `None` when there is none.
pub(super) fn metadata(body: &Body) -> Result<Option<Body>, Failure> {
    match body.get("metadata") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(given)) if Value::Object(given.clone()).to_string().len() <= MAX_METADATA_BYTES => {
            let Value::Object(kept) = redact::value(&Value::Object(given.clone())) else { return Ok(None) };
            Ok(Some(kept))
        }
        Some(_) => Err(Failure::bad(format!("`metadata` must be an object of at most {MAX_METADATA_BYTES} bytes"))),
    }
}

/// Reads the text of a change; `None` when there is none.
pub(super) fn text(body: &Body) -> Result<Option<String>, Failure> {
    match body.get("text").or_else(|| body.get("memory")) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(redact::text(text).into_owned())),
        Some(_) => Err(Failure::bad("`text` must be text that is not blank")),
    }
}

/// Reads a question.
pub(super) fn question(body: &Body) -> Result<String, Failure> {
    match body.get("query").and_then(Value::as_str).map(str::trim) {
        Some(text) if !text.is_empty() && text.chars().count() <= MAX_QUERY_CHARS => {
            Ok(redact::text(text).into_owned())
        }
        _ => Err(Failure::bad(format!("`query` must be text of 1 to {MAX_QUERY_CHARS} characters"))),
    }
}

/// Reads how many results are wanted.
pub(super) fn top_k(body: &Body) -> Result<usize, Failure> {
    match body.get("top_k").or_else(|| body.get("limit")).filter(|value| !value.is_null()) {
        None => Ok(10),
        Some(value) => match value.as_u64() {
            Some(count @ 1..=100) => Ok(count as usize),
            _ => Err(Failure::bad("`top_k` must be a whole number from 1 to 100")),
        },
    }
}

/// Reads the least score that is wanted.
pub(super) fn threshold(body: &Body) -> Result<Option<f64>, Failure> {
    match body.get("threshold") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_f64().map(Some).ok_or_else(|| Failure::bad("`threshold` must be a number")),
    }
}

/// Makes the filter of a search or a list out of everything in a body that narrows it, and out of who asks.
pub(super) fn filter(body: &Body, who: &Who) -> Result<Value, Failure> {
    let mut parts = Vec::new();
    match body.get("filters") {
        None | Some(Value::Null) => {}
        Some(filters @ Value::Object(given)) if !given.is_empty() => parts.push(filters.clone()),
        Some(Value::Object(_)) => {}
        Some(_) => return Err(Failure::bad("`filters` must be an object")),
    }
    for name in WHOM {
        match body.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::String(id)) if !id.is_empty() => parts.push(json!({ name: id })),
            Some(_) => return Err(Failure::bad(format!("`{name}` must be text that is not empty"))),
        }
    }
    if parts.is_empty() {
        return Err(Failure::bad("`filters` must name a user_id, agent_id, app_id or run_id"));
    }
    if let Some(categories) = body.get("categories").filter(|value| !value.is_null()) {
        if !categories.as_array().is_some_and(|list| list.iter().all(Value::is_string)) {
            return Err(Failure::bad("`categories` must be a list of names"));
        }
        parts.push(json!({ "categories": { "in": categories } }));
    }
    for (name, order) in [("start_date", "gte"), ("end_date", "lte")] {
        if let Some(date) = body.get(name).filter(|value| !value.is_null()) {
            parts.push(json!({ "created_at": { order: date } }));
        }
    }
    for part in &parts {
        let parsed = Filter::parse(part).map_err(|error| Failure::bad(error.to_string()))?;
        if let Some(name) = parsed.unknown_field() {
            return Err(Failure::bad(format!("no memory has a field `{name}`; own facts are below `metadata`")));
        }
    }
    Ok(confined(json!({ "AND": parts }), who))
}

/// Makes the filter of a request that says everything in its query.
pub(super) fn filter_of_query(query: &[(String, String)], who: &Who) -> Result<Value, Failure> {
    let mut body = Body::new();
    for (name, value) in query {
        if WHOM.contains(&name.as_str()) {
            body.insert(name.clone(), Value::from(value.as_str()));
        } else if name == "filters" {
            let filters = serde_json::from_str(value).map_err(|_| Failure::bad("`filters` is not JSON"))?;
            body.insert(name.clone(), filters);
        } else if let Some(field) = name.strip_prefix("filters[").and_then(|rest| rest.strip_suffix(']')) {
            let filters = body.entry("filters").or_insert_with(|| json!({}));
            if let Some(filters) = filters.as_object_mut() {
                filters.insert(field.to_owned(), Value::from(value.as_str()));
            }
        }
    }
    filter(&body, who)
}

/// Tells whether everything a filter lets through belongs to one entity that it names: what is deleted by a filter must.
pub(super) fn names_somebody(filters: &Value) -> bool {
    WHOM.iter().any(|name| in_filters(filters, name).and_then(Value::as_str).is_some_and(|id| !scope::is_wildcard(id)))
}

/// Leaves out what is another person's own: everyone sees what is shared, and what is theirs.
pub(super) fn confined(filter: Value, who: &Who) -> Value {
    match who.person() {
        None => filter,
        Some(person) => json!({ "AND": [filter, { "OR": [{ "user_id": person }, { "user_id": null }] }] }),
    }
}

/// Reads the page and its size.
pub(super) fn page(query: &[(String, String)]) -> Result<(usize, usize), Failure> {
    let number = |name: &str, default: usize, most: usize| match query.iter().rev().find(|(key, _)| key == name) {
        None => Ok(default),
        Some((_, value)) => match value.parse::<usize>() {
            Ok(number) if (1..=most).contains(&number) => Ok(number),
            _ => Err(Failure::bad(format!("`{name}` must be a whole number from 1 to {most}"))),
        },
    };
    Ok((number("page", 1, 1_000_000_000)?, number("page_size", 100, 1_000)?))
}

/// Reads the ids of a batch, and each entry beside its id.
pub(super) fn batch(body: &Body) -> Result<Vec<(String, Body)>, Failure> {
    const MAX: usize = 1_000;
    let listed = body.get("memories").and_then(Value::as_array).filter(|listed| (1..=MAX).contains(&listed.len()));
    let listed = listed.ok_or_else(|| Failure::bad(format!("`memories` must be a list of 1 to {MAX}")))?;
    listed
        .iter()
        .enumerate()
        .map(|(index, item)| {
            let id = match item {
                Value::String(id) => Some(id.as_str()),
                _ => item.get("memory_id").or_else(|| item.get("id")).and_then(Value::as_str),
            };
            match id.filter(|id| !id.is_empty()) {
                Some(id) => Ok((id.to_owned(), item.as_object().cloned().unwrap_or_default())),
                None => Err(Failure::bad(format!("`memories[{index}].memory_id` must be text"))),
            }
        })
        .collect()
}

/// Reads a switch of the query.
pub(super) fn is_on(query: &[(String, String)], name: &str) -> bool {
    query.iter().any(|(key, value)| key == name && ["true", "1"].iter().any(|on| value.eq_ignore_ascii_case(on)))
}

fn is_given(body: &Body, name: &str) -> bool {
    body.get(name).is_some_and(|value| !value.is_null())
}

fn flag(body: &Body, name: &str) -> Result<Option<bool>, Failure> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(Failure::bad(format!("`{name}` must be true or false"))),
    }
}

fn timestamp(value: Option<&Value>) -> Result<Option<Timestamp>, Failure> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    let seconds = value.as_i64().or_else(|| value.as_f64().map(|seconds| seconds as i64));
    let read = match (seconds, value.as_str()) {
        (Some(seconds), _) => Timestamp::from_second(seconds).ok(),
        (None, Some(text)) => text.parse().ok(),
        (None, None) => None,
    };
    // Beyond these years some client's clock, or its unit, is wrong.
    read.filter(|at| (0..=32_503_680_000).contains(&at.as_second()))
        .map(Some)
        .ok_or_else(|| Failure::bad("`timestamp` must be seconds since 1970, before the year 3000"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: Value) -> Result<AddRequest, Failure> {
        add(body.as_object().expect("an object"), &Who::Local, None)
    }

    #[test]
    fn messages_come_in_every_shape_the_sdks_send() {
        let shapes = [
            json!("I keep bees"),
            json!({"role": "user", "content": "I keep bees"}),
            json!([{"role": "system", "content": "be kind"}, {"role": "user", "content": "I keep bees"}]),
            json!([{"role": "user", "content": [{"type": "text", "text": "I keep bees"}, {"type": "image_url"}]}]),
        ];
        for messages in shapes {
            let request = read(json!({"messages": messages, "user_id": "ada"})).expect("a request");
            assert_eq!(
                (request.messages.len(), request.messages[0].content.as_str()),
                (1, "I keep bees"),
                "{messages}"
            );
        }
    }

    #[test]
    fn entities_stand_at_the_top_or_in_filters() {
        for whom in [
            json!({"user_id": "ada"}),
            json!({"filters": {"user_id": "ada"}}),
            json!({"filters": {"AND": [{"app_id": "x"}, {"user_id": "ada"}]}}),
        ] {
            let mut body = whom.clone();
            body["messages"] = json!("I keep bees");
            assert_eq!(read(body).expect("a request").entities.user_id, "ada", "{whom}");
        }
    }

    #[test]
    fn what_cannot_be_stored_is_refused_by_name() {
        for (body, word) in [
            (json!({"messages": "x"}), "user_id"),
            (json!({"messages": "x", "user_id": "*"}), "user_id"),
            (json!({"messages": "x", "user_id": "a".repeat(256)}), "user_id"),
            (json!({"messages": "x", "user_id": ["a"]}), "user_id"),
            (json!({"messages": [], "user_id": "a"}), "messages"),
            (json!({"messages": [{"role": "king", "content": "x"}], "user_id": "a"}), "messages[0].role"),
            (json!({"messages": [{"role": "user", "content": 3}], "user_id": "a"}), "messages[0].content"),
            (json!({"messages": "x", "user_id": "a", "metadata": 3}), "metadata"),
            (json!({"messages": "x", "user_id": "a", "infer": "yes"}), "infer"),
            (json!({"messages": "x", "user_id": "a", "timestamp": 1.0e300}), "timestamp"),
            (json!({"messages": "x", "user_id": "a", "expiration_date": "2030-01-01"}), "expiration_date"),
        ] {
            let failure = read(body.clone()).expect_err("refused");
            assert!(failure.status == 400 && failure.detail.contains(word), "{body}: {failure:?}");
        }
    }

    #[test]
    fn a_token_reaches_what_is_shared_and_what_is_its_persons() {
        let who = Who::Person("ada".to_owned());
        let body = json!({"filters": {"agent_id": "p"}});
        let filter = filter(body.as_object().expect("an object"), &who).expect("a filter");
        assert!(filter.to_string().contains(r#"{"user_id":"ada"}"#), "{filter}");
        let body = json!({"messages": "x", "user_id": "bob"});
        assert_eq!(add(body.as_object().expect("an object"), &who, None).expect_err("refused").status, 403);
    }

    #[test]
    fn keys_of_two_people_never_meet() {
        let key = |name: &str, key: &str| {
            let body = json!({"messages": "x", "agent_id": "p"});
            let who = Who::Person(name.to_owned());
            add(body.as_object().expect("an object"), &who, Some(key)).expect("a request").idempotency_key
        };
        assert_ne!(key("a/b", "c"), key("a", "b/c"));
    }

    #[test]
    fn a_deletion_names_whose_memories_go() {
        for (filters, names) in [
            (json!({"user_id": "ada"}), true),
            (json!({"AND": [{"AND": [{"created_at": {"lt": "2026-01-01"}}, {"run_id": "s1"}]}]}), true),
            (json!({"user_id": "*"}), false),
            (json!({"AND": []}), false),
            (json!({"NOT": [{"user_id": "ada"}]}), false),
            (json!({"OR": [{"user_id": "ada"}, {"agent_id": "*"}]}), false),
            (json!({"user_id": {"ne": "ada"}}), false),
        ] {
            assert_eq!(names_somebody(&filters), names, "{filters}");
        }
    }

    #[test]
    fn queries_are_decoded() {
        let query = query("user_id=a+b%26&page=2&x").expect("a query");
        assert_eq!(query, [("user_id", "a b&"), ("page", "2"), ("x", "")].map(|(k, v)| (k.to_owned(), v.to_owned())));
        assert_eq!(page(&query).expect("a page"), (2, 100));
        assert!(super::query("%ff=1").is_err());
        assert_eq!(decoded("%zz%4%+f"), Some("%zz%4%+f".to_owned()));
    }
}
