//! The filter language by table, and its laws by property.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::memory::Memory;

fn memory() -> Memory {
    serde_json::from_value(json!({
        "id": "m1", "memory": "Deploys run on Tuesdays", "user_id": "ada", "agent_id": "acme-w-1", "app_id": "acme-w",
        "categories": ["workflows", "results"],
        "metadata": {"dirs": ["a", "a/b"], "branch": "main", "n": 3, "deep": {"x": {"y": 1}}},
        "created_at": "2026-01-05T00:00:00+09:00",
    }))
    .expect("a memory")
}

#[track_caller]
fn check(filter: Value, expected: bool) {
    let parsed = Filter::parse(&filter).expect("a filter");
    let memory = memory();
    assert_eq!(parsed.matches(&memory), expected, "{filter}");
    // The same record as plain JSON gives the same answer.
    let Value::Object(map) = serde_json::to_value(&memory).expect("json") else { panic!("object") };
    assert_eq!(parsed.matches(&map), expected, "{filter} on a map");
}

#[test]
fn language_by_table() {
    for (filter, expected) in [
        (json!({}), true),
        (json!({"user_id": "ada"}), true),
        (json!({"user_id": "Ada"}), false),
        (json!({"user_id": "ada", "app_id": "other"}), false),
        (json!({"user_id": "*"}), true),
        (json!({"run_id": "*"}), false),
        (json!({"run_id": null}), true),
        (json!({"user_id": null}), false),
        (json!({"user_id": {"eq": "ada"}}), true),
        (json!({"user_id": {"ne": "ada"}}), false),
        (json!({"run_id": {"ne": "s1"}}), true),
        (json!({"run_id": {"ne": "*"}}), true),
        (json!({"user_id": {"in": ["bob", "ada"]}}), true),
        (json!({"user_id": {"in": []}}), false),
        (json!({"user_id": {"contains": "ad"}}), false),
        (json!({"user_id": {"icontains": "AD"}}), false),
        (json!({"memory": {"contains": "Tues"}}), true),
        (json!({"memory": {"contains": "tues"}}), false),
        (json!({"memory": {"icontains": "TUES"}}), true),
        (json!({"categories": {"contains": "workflows"}}), true),
        (json!({"categories": {"contains": "work"}}), false),
        (json!({"categories": {"in": ["results", "x"]}}), true),
        (json!({"categories": "results"}), true),
        (json!({"categories": {"icontains": "RESULTS"}}), true),
        (json!({"metadata": {"dirs": {"contains": "a/b"}}}), true),
        (json!({"metadata": {"dirs": {"contains": "b"}}}), false),
        (json!({"metadata": {"branch": "main", "n": {"gte": 3, "lt": 4}}}), true),
        (json!({"metadata": {"n": 3.0}}), true),
        (json!({"metadata": {"n": {"gt": 3}}}), false),
        (json!({"metadata": {"deep": {"x": {"y": 1}}}}), true),
        (json!({"metadata": {"deep": {"x": {"z": 1}}}}), false),
        (json!({"metadata": {"missing": "*"}}), false),
        (json!({"metadata": "*"}), true),
        (json!({"metadata": {}}), true),
        (json!({"metadata": {"OR": [{"branch": "x"}, {"branch": "main"}]}}), true),
        (json!({"AND": [{"user_id": "ada"}, {"app_id": "acme-w"}]}), true),
        (json!({"AND": []}), true),
        (json!({"OR": []}), false),
        (json!({"OR": [{"user_id": "bob"}, {"AND": [{"agent_id": "acme-w-1"}, {"app_id": "acme-w"}]}]}), true),
        (json!({"NOT": [{"user_id": "bob"}, {"user_id": "ada"}]}), false),
        (json!({"NOT": [{"user_id": "bob"}, {"user_id": "eve"}]}), true),
        (json!({"NOT": {"user_id": "ada"}}), false),
        (json!({"NOT": []}), true),
        (json!({"AND": [{"user_id": "ada"}], "OR": [{"app_id": "x"}]}), false),
        (json!({"nonsense": "x"}), false),
        (json!({"memory": {"gte": "D", "lt": "E"}}), true),
    ] {
        check(filter, expected);
    }
}

#[test]
fn issue_b117_a_day_is_the_day_in_its_zone() {
    // One item at the last millisecond of 4 January in +09:00, one at the first of 5 January.
    let (late, early) = ("2026-01-04T23:59:59.999+09:00", "2026-01-05T00:00:00+09:00");
    let at = |time: &str| Memory { created_at: Some(time.to_owned()), ..Memory::default() };
    for (filter, expected) in [
        (json!({"created_at": {"gte": "2026-01-05+09:00", "lte": "2026-01-05+09:00"}}), (false, true)),
        (json!({"created_at": {"gte": "2026-01-04+0900", "lte": "2026-01-04+09"}}), (true, false)),
        (json!({"created_at": "2026-01-05+09:00"}), (false, true)),
        (json!({"created_at": {"in": ["2026-01-04+09:00"]}}), (true, false)),
        (json!({"created_at": {"ne": "2026-01-05+09:00"}}), (true, false)),
        (json!({"created_at": {"gt": "2026-01-04+09:00"}}), (false, true)),
        (json!({"created_at": {"lt": "2026-01-05+09:00"}}), (true, false)),
        // Both are on 4 January in UTC.
        (json!({"created_at": {"gte": "2026-01-04", "lte": "2026-01-04"}}), (true, true)),
        (json!({"created_at": {"gte": "2026-01-05"}}), (false, false)),
        (json!({"created_at": {"gte": "2026-01-05T00:00:00+09:00"}}), (false, true)),
        (json!({"created_at": {"lt": "2026-01-04T15:00:00Z"}}), (true, false)),
        (json!({"created_at": {"lt": "2026-01-04T15:00:00"}}), (true, false)),
        (json!({"created_at": {"eq": "2026-01-04T15:00:00Z"}}), (false, true)),
        (json!({"created_at": "*"}), (true, true)),
        (json!({"updated_at": {"gte": "2026-01-05"}}), (false, false)),
    ] {
        let parsed = Filter::parse(&filter).expect("a filter");
        assert_eq!((parsed.matches(&at(late)), parsed.matches(&at(early))), expected, "{filter}");
    }
}

#[test]
fn errors_name_the_place() {
    for (filter, message) in [
        (json!([]), "filter: the filter must be an object"),
        (json!("x"), "filter: the filter must be an object"),
        (json!({"AND": {}}), "filter: AND must be a list of conditions"),
        (json!({"OR": [{"AND": [3]}]}), "filter: OR[0].AND[0] must be an object"),
        (json!({"user_id": []}), "filter: user_id must be a value or an object of operators"),
        (json!({"user_id": {}}), "filter: user_id must be a value or an object of operators"),
        (json!({"NOT": [{"user_id": {"in": "x"}}]}), "filter: NOT[0].user_id.in must be a list of values"),
        (json!({"memory": {"icontains": 1}}), "filter: memory.icontains must be a text"),
        (
            json!({"AND": [{}, {"created_at": {"gte": "soon"}}]}),
            "filter: AND[1].created_at.gte must be a time (RFC 3339), or a date with or without an offset",
        ),
        (json!({"metadata": {"n": {"gt": true}}}), "filter: metadata.n.gt must be a number or a text"),
    ] {
        assert_eq!(Filter::parse(&filter).expect_err("refused").to_string(), message);
    }
    let unknown = Filter::parse(&json!({"user_id": {"like": "a"}})).expect_err("refused");
    assert!(matches!(unknown, FilterError::UnknownOperator { path } if path == "user_id.like"));
}

#[test]
fn depth_and_size_are_bounded() {
    let nested = |levels: usize| (0..levels).fold(json!({"user_id": "ada"}), |inner, _| json!({"NOT": inner}));
    assert!(Filter::parse(&nested(MAX_DEPTH - 1)).is_ok());
    assert!(matches!(Filter::parse(&nested(MAX_DEPTH)), Err(FilterError::TooDeep { .. })));
    let many = |n: usize| json!({"id": {"in": (0..n).map(|i| i.to_string()).collect::<Vec<_>>()}});
    let filter = Filter::parse(&many(40_000)).expect("B099: forty thousand ids");
    assert!(filter.matches(&Memory { id: "39999".into(), ..Memory::default() }));
    assert!(matches!(Filter::parse(&many(MAX_LEAVES)), Err(FilterError::TooLarge { .. })));
}

#[test]
fn field_names_are_listed_once() {
    let filter = json!({"OR": [{"user_id": "a"}, {"NOT": [{"user_id": "b", "metadata": {"k": 1}}]}]});
    let parsed = Filter::parse(&filter).expect("a filter");
    assert_eq!(parsed.field_names().into_iter().collect::<Vec<_>>(), ["metadata", "user_id"]);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof![Just("*".to_owned()), Just("2026-01-05".to_owned()), ".{0,8}"].prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "AND",
        "OR",
        "NOT",
        "in",
        "contains",
        "icontains",
        "eq",
        "ne",
        "gt",
        "gte",
        "lt",
        "lte",
        "metadata",
        "user_id",
        "created_at",
        "categories",
        "x",
    ]);
    leaf.prop_recursive(6, 48, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())),
        ]
    })
}

fn any_filter() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![
        json!({"user_id": "ada"}),
        json!({"user_id": "bob"}),
        json!({"categories": {"contains": "results"}}),
        json!({"metadata": {"n": {"gt": 1}}}),
        json!({"created_at": {"gte": "2026-01-05"}}),
        json!({"run_id": "*"}),
        json!({}),
    ]);
    leaf.prop_recursive(5, 32, 3, |inner| {
        (prop::sample::select(vec!["AND", "OR", "NOT"]), prop::collection::vec(inner, 0..3))
            .prop_map(|(key, parts)| json!({ key: parts }))
    })
}

proptest! {
    #[test]
    fn parsing_never_panics(value in any_json()) {
        if let Ok(filter) = Filter::parse(&value) {
            filter.matches(&memory());
            filter.field_names();
        }
    }

    #[test]
    fn not_not_is_the_filter_itself(value in any_filter()) {
        let memory = memory();
        let plain = Filter::parse(&value).expect("a filter").matches(&memory);
        let not = Filter::parse(&json!({"NOT": [value.clone()]})).expect("a filter").matches(&memory);
        let twice = Filter::parse(&json!({"NOT": [{"NOT": value}]})).expect("a filter").matches(&memory);
        prop_assert_eq!(plain, !not);
        prop_assert_eq!(plain, twice);
    }

    #[test]
    fn de_morgan(left in any_filter(), right in any_filter()) {
        let memory = memory();
        let ask = |value: Value| Filter::parse(&value).expect("a filter").matches(&memory);
        prop_assert_eq!(
            ask(json!({"NOT": [{"AND": [left.clone(), right.clone()]}]})),
            ask(json!({"OR": [{"NOT": left.clone()}, {"NOT": right.clone()}]}))
        );
        prop_assert_eq!(ask(json!({"NOT": [left.clone(), right.clone()]})), !ask(json!({"OR": [left, right]})));
    }

    #[test]
    fn times_never_panic(text in ".{0,40}") {
        let _ = Moment::parse(&text);
    }
}

#[test]
fn fields_that_no_memory_has_are_named() {
    for (filter, unknown) in [
        (json!({"user_id": "ada", "metadata": {"anything": 1}}), None),
        (json!({"AND": [{"run_id": "s1"}, {"NOT": [{"bogus": 1}]}]}), Some("bogus")),
        (json!({}), None),
    ] {
        assert_eq!(Filter::parse(&filter).expect("a filter").unknown_field(), unknown, "{filter}");
    }
}
