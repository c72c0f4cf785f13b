//! One contract, wherever memories live: the same behaviours of the embedded engine in process, and of our client talking to
//! a server.

use std::time::Duration;

use jiff::Timestamp;
use mem0_code_core::memory::{Entities, Memory, Message, Role};
use mem0_code_engine::api::{AddRequest, ApiError, EventStatus, ListRequest, MemoryApi, Purpose, SearchRequest};
use mem0_code_engine::embedded::{Access, Embedded};
use mem0_code_engine::platform::{Platform, PlatformConfig};
use serde_json::{Map, Value, json};

use super::server::Server;

type Behaviour = fn(&mut dyn MemoryApi);

/// Name and behaviour. Each starts with an empty memory.
const BEHAVIOURS: &[(&str, Behaviour)] = &[
    ("what is added is found", added_is_found),
    ("filters are respected everywhere", filters_are_respected),
    ("pages are complete and do not overlap", pages_are_complete),
    ("a repeated request stores nothing new", repetition_is_harmless),
    ("changes are kept in the history", changes_are_kept),
    ("what is deleted is gone", deleted_is_gone),
    ("what is not there is an error of its own", absence_is_told),
    ("texts come back as they were", texts_are_kept),
    ("mistakes are refused", mistakes_are_refused),
    ("stated facts become durable memories", facts_become_durable),
];

#[test]
fn the_embedded_engine_keeps_the_contract() {
    for (name, behaviour) in BEHAVIOURS {
        let folder = tempfile::tempdir().expect("a folder");
        let mut engine = Embedded::open(&folder.path().join("memory.sqlite3"), Access::ReadWrite).expect("an engine");
        eprintln!("{name}");
        behaviour(&mut engine);
    }
}

#[test]
fn our_client_keeps_it_with_a_server() {
    for (name, behaviour) in BEHAVIOURS {
        let server = Server::start();
        let mut client = Platform::open(PlatformConfig {
            url: server.url(),
            api_key: "local".to_owned(),
            application: Some("codex".to_owned()),
            version: "0",
            poll: Duration::from_millis(100),
        })
        .expect("a client");
        eprintln!("{name}");
        behaviour(&mut client);
    }
}

fn whom(user: &str, agent: &str) -> Entities {
    Entities {
        user_id: user.to_owned(),
        agent_id: agent.to_owned(),
        app_id: "acme-w".to_owned(),
        run_id: Some("s1".to_owned()),
    }
}

fn request(entities: Entities, text: &str) -> AddRequest {
    let message = Message { role: Role::User, content: text.to_owned(), at: None, tool: None };
    AddRequest { messages: vec![message], entities, infer: false, ..AddRequest::default() }
}

fn add(api: &mut dyn MemoryApi, user: &str, agent: &str, text: &str) {
    let event = api.add(&request(whom(user, agent), text)).expect("accepted");
    let event = api.event(&event).expect("an event");
    assert_eq!((event.status, event.results, event.memories.len()), (EventStatus::Succeeded, 1, 1));
}

fn search(api: &mut dyn MemoryApi, query: &str, filters: Value) -> Vec<Memory> {
    let request = SearchRequest {
        query: query.to_owned(),
        app_id: "acme-w".to_owned(),
        filters,
        top_k: 10,
        purpose: Purpose::Search,
        now: Timestamp::now(),
        timeout: Duration::from_secs(5),
    };
    api.search(&request).expect("an answer")
}

fn list(api: &mut dyn MemoryApi, filters: Value) -> Vec<Memory> {
    api.list(&ListRequest { filters, page: 1, page_size: 1_000 }).expect("a page").results
}

fn added_is_found(api: &mut dyn MemoryApi) {
    add(api, "ada", "p-1", "The release train leaves on Thursdays at noon.");
    add(api, "ada", "p-1", "Backups go to the vault in the cellar.");
    let found = search(api, "when does the release train leave", json!({"user_id": "ada"}));
    assert!(found[0].memory.contains("Thursdays"), "{found:?}");
    let best = &found[0];
    assert_eq!(
        (best.user_id.as_deref(), best.agent_id.as_deref(), best.app_id.as_deref(), best.run_id.as_deref()),
        (Some("ada"), Some("p-1"), Some("acme-w"), Some("s1"))
    );
    assert!(best.score.is_some() && best.created_at.is_some() && !best.id.is_empty());
}

fn filters_are_respected(api: &mut dyn MemoryApi) {
    for (user, agent, text) in [
        ("ada", "p-1", "The green lamp marks a finished build."),
        ("ada", "p-2", "Somebody left a lamp with a green shade in the lab."),
        ("bob", "p-1", "Lamp posts along the yard are painted green each spring."),
    ] {
        add(api, user, agent, text);
    }
    let cases = [
        (json!({"user_id": "ada"}), 2),
        (json!({"AND": [{"user_id": "ada"}, {"agent_id": "p-1"}]}), 1),
        (json!({"OR": [{"user_id": "bob"}, {"agent_id": "p-2"}]}), 2),
        (json!({"AND": [{"agent_id": "p-1"}, {"NOT": [{"user_id": "bob"}]}]}), 1),
        (json!({"user_id": {"in": ["bob", "eve"]}}), 1),
        (json!({"AND": [{"user_id": "*"}, {"created_at": {"gte": "2020-01-01"}}]}), 3),
        (json!({"user_id": "eve"}), 0),
        (json!({"user_id": "ad"}), 0),
    ];
    for (filters, n) in cases {
        assert_eq!(search(api, "lamp green", filters.clone()).len(), n, "search {filters}");
        assert_eq!(list(api, filters.clone()).len(), n, "list {filters}");
    }
}

fn pages_are_complete(api: &mut dyn MemoryApi) {
    for number in 0..25 {
        add(api, "ada", "", &format!("Fact number {number} is about valve {number}."));
    }
    let mut seen = Vec::new();
    for page in 1..=3 {
        let found = api.list(&ListRequest { filters: json!({"user_id": "ada"}), page, page_size: 10 }).expect("a page");
        assert_eq!((found.total, found.results.len()), (Some(25), if page == 3 { 5 } else { 10 }));
        seen.extend(found.results.into_iter().map(|memory| memory.id));
    }
    let n_seen = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!((n_seen, seen.len()), (25, 25));
    let beyond = ListRequest { filters: json!({"user_id": "ada"}), page: 9, page_size: 10 };
    assert!(api.list(&beyond).expect("a page").results.is_empty());
}

fn repetition_is_harmless(api: &mut dyn MemoryApi) {
    let request =
        AddRequest { idempotency_key: Some("packet/1".to_owned()), ..request(whom("ada", ""), "Once is enough.") };
    let first = api.add(&request).expect("accepted");
    assert_eq!(api.add(&request).expect("accepted"), first);
    assert_eq!(list(api, json!({"user_id": "ada"})).len(), 1);
}

fn changes_are_kept(api: &mut dyn MemoryApi) {
    add(api, "ada", "", "The door code is on the blue card.");
    let id = list(api, json!({"user_id": "ada"}))[0].id.clone();
    let changed = api.update(&id, "The door code is on the red card.").expect("changed");
    assert!(changed.memory.contains("red"));
    assert!(api.get(&id).expect("a memory").memory.contains("red"));
    let history = api.history(&id).expect("a history");
    let events: Vec<&str> = history.iter().map(|change| change.event.as_str()).collect();
    assert_eq!(events, ["ADD", "UPDATE"]);
    assert!(history[1].old_memory.as_deref().is_some_and(|text| text.contains("blue")));
    assert!(search(api, "blue card door", json!({"user_id": "ada"})).iter().all(|one| !one.memory.contains("blue")));
}

fn deleted_is_gone(api: &mut dyn MemoryApi) {
    add(api, "ada", "", "The spare key hangs behind the boiler.");
    let id = list(api, json!({"user_id": "ada"}))[0].id.clone();
    api.delete(&id).expect("deleted");
    assert!(search(api, "spare key boiler", json!({"user_id": "ada"})).is_empty());
    assert!(matches!(api.get(&id), Err(ApiError::NotFound(_))));
    assert!(matches!(api.delete(&id), Err(ApiError::NotFound(_))));
    let told = api.history(&id).expect("that it was deleted");
    assert!(told.iter().all(|change| change.old_memory.is_none() && change.new_memory.is_none()), "{told:?}");
}

fn absence_is_told(api: &mut dyn MemoryApi) {
    assert!(matches!(api.get("nope"), Err(ApiError::NotFound(_))));
    assert!(matches!(api.update("nope", "x y z"), Err(ApiError::NotFound(_))));
    assert!(matches!(api.delete("no/pe ü"), Err(ApiError::NotFound(_))));
    assert!(matches!(api.history("nope"), Err(ApiError::NotFound(_))));
    assert!(search(api, "anything at all", json!({"user_id": "ada"})).is_empty());
    assert_eq!(list(api, json!({"user_id": "ada"})), []);
}

fn texts_are_kept(api: &mut dyn MemoryApi) {
    let long = "word ".repeat(5_000);
    for text in ["naïve café 東京 🦀 \u{202e}x", "tabs\tand\nlines", "quote \" backslash \\ <tag>", long.trim()] {
        let mut request = request(whom("ada", ""), text);
        request.metadata =
            Map::from_iter([("branch".to_owned(), json!("fix/ü")), ("dirs".to_owned(), json!(["a", "a/b"]))]);
        api.add(&request).expect("accepted");
        let found = list(api, json!({"user_id": "ada"}));
        let metadata = found[0].metadata.clone().expect("metadata");
        assert_eq!(found[0].memory, text);
        assert_eq!((&metadata["branch"], &metadata["dirs"]), (&json!("fix/ü"), &json!(["a", "a/b"])));
    }
    let filters = json!({"AND": [{"user_id": "ada"}, {"metadata": {"dirs": {"contains": "a/b"}}}]});
    assert_eq!(list(api, filters).len(), 4);
}

fn mistakes_are_refused(api: &mut dyn MemoryApi) {
    let is_refused = |error: &ApiError| matches!(error, ApiError::Invalid(_) | ApiError::Rejected { .. });
    let nobody = Entities { app_id: String::new(), ..whom("", "") };
    assert!(api.add(&request(Entities { run_id: None, ..nobody }, "x")).is_err_and(|error| is_refused(&error)));
    for filters in [json!({"user_id": {"like": "a"}}), json!({"AND": {"user_id": "a"}}), json!({"NOT": 3})] {
        let listed = api.list(&ListRequest { filters: filters.clone(), page: 1, page_size: 10 });
        assert!(listed.is_err_and(|error| is_refused(&error)), "{filters}");
    }
    add(api, "ada", "", "The bell rings twice.");
    let id = list(api, json!({"user_id": "ada"}))[0].id.clone();
    assert!(api.update(&id, "   ").is_err_and(|error| is_refused(&error)));
}

fn facts_become_durable(api: &mut dyn MemoryApi) {
    let mut request = request(whom("ada", "p-1"), "Please remember that the staging port is 7443. What next?");
    request.infer = true;
    let event = api.add(&request).expect("accepted");
    assert_eq!(api.event(&event).expect("an event").results, 1);
    let durable = json!({"AND": [{"agent_id": "p-1"}, {"metadata": {"kind": "durable"}}]});
    let found = search(api, "which port does staging use", durable);
    assert!(found.len() == 1 && found[0].memory.contains("7443"), "{found:?}");
}
