use std::net::TcpListener;

use jiff::Timestamp;
use mem0_code_core::instructions;
use mem0_code_core::memory::Entities;

use super::stub::{Answer, Stub};
use super::*;
use crate::api::Purpose;

fn ok(body: Value) -> Answer {
    Answer::Reply(200, body.to_string())
}

fn open(url: &str) -> Platform {
    Platform::open(PlatformConfig {
        url: url.to_owned(),
        api_key: " m0-test-key ".to_owned(),
        application: Some("some-host".to_owned()),
        version: "9.8.7",
        poll: Duration::from_secs(1),
    })
    .unwrap()
}

fn message(role: Role, content: &str) -> Message {
    Message { role, content: content.to_owned(), at: None, tool: None }
}

fn add_request() -> AddRequest {
    AddRequest {
        messages: vec![message(Role::User, "Why?"), message(Role::Tool, "ran"), message(Role::Assistant, "Because.")],
        entities: Entities {
            user_id: "u".to_owned(),
            agent_id: "acme-widgets-0123456789".to_owned(),
            app_id: "acme-widgets".to_owned(),
            run_id: Some("s1".to_owned()),
        },
        metadata: json!({"source": "some_host_plugin", "dirs": ["a"]}).as_object().unwrap().clone(),
        agent_instructions: Some(instructions::AGENT.to_owned()),
        instructions: Some(instructions::PERSONAL.to_owned()),
        categories: Some(instructions::categories()),
        infer: true,
        idempotency_key: Some("packet-1:0".to_owned()),
        now: None,
    }
}

fn search_request(timeout: Duration) -> SearchRequest {
    SearchRequest {
        query: "rates".to_owned(),
        app_id: "acme-widgets".to_owned(),
        filters: json!({"AND": [{"user_id": "u"}, {"app_id": "acme-widgets"}]}),
        top_k: 2,
        purpose: Purpose::Search,
        now: Timestamp::UNIX_EPOCH,
        timeout,
    }
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn add_sends_every_scope_and_the_headers() {
    let stub = Stub::start(vec![ok(json!({"event_id": "e1"}))]);
    assert_eq!(open(&format!("{}/", stub.url)).add(&add_request()).unwrap(), "e1");
    let seen = stub.seen();
    assert_eq!((seen[0].method.as_str(), seen[0].path.as_str()), ("POST", "/v3/memories/add/"));
    for (name, value) in [
        ("authorization", "Token m0-test-key"),
        ("content-type", "application/json"),
        ("x-mem0-source", "MEM0_PLUGIN"),
        ("x-mem0-client", "mem0-plugin/9.8.7"),
        ("x-application", "some-host"),
        ("idempotency-key", "packet-1:0"),
        ("user-agent", "mem0-code/9.8.7"),
    ] {
        assert_eq!(seen[0].header(name), Some(value), "{name}");
    }
    assert_eq!(
        seen[0].body,
        json!({
            "agent_id": "acme-widgets-0123456789",
            "user_id": "u",
            "app_id": "acme-widgets",
            "run_id": "s1",
            "source": "MEM0_PLUGIN",
            "infer": true,
            "messages": [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "Because."}],
            "metadata": {"source": "some_host_plugin", "dirs": ["a"]},
            "custom_categories": instructions::categories(),
            "agent_custom_instructions": instructions::AGENT,
            "custom_instructions": instructions::PERSONAL,
        })
    );
}

#[test]
fn add_leaves_absent_things_out() {
    let stub = Stub::start(vec![ok(json!([{"event_id": 7}])), ok(json!({"results": []}))]);
    let mut platform = open(&stub.url);
    let request = AddRequest {
        messages: vec![message(Role::User, "x")],
        entities: Entities { user_id: "u".to_owned(), ..Entities::default() },
        ..AddRequest::default()
    };
    assert_eq!(platform.add(&request).unwrap(), "7");
    assert_eq!(platform.add(&request).unwrap(), "", "accepted, without an id");
    assert_eq!(
        stub.seen()[0].body,
        json!({"user_id": "u", "source": "MEM0_PLUGIN", "infer": false, "metadata": {},
            "messages": [{"role": "user", "content": "x"}]})
    );
}

#[test]
fn add_refuses_what_would_reach_everyone() {
    let mut platform = open("http://127.0.0.1:1");
    let mut wildcard = add_request();
    wildcard.entities.user_id = "**".to_owned();
    let mut nobody = add_request();
    nobody.entities = Entities { app_id: "a".to_owned(), ..Entities::default() };
    let mut nothing = add_request();
    nothing.messages = vec![message(Role::Tool, "ran")];
    for request in [wildcard, nobody, nothing] {
        assert!(matches!(platform.add(&request), Err(ApiError::Invalid(_))), "{request:?}");
    }
}

#[test]
fn events() {
    let stub = Stub::start(vec![
        ok(json!({"status": "SUCCEEDED", "results": [{}, {}]})),
        ok(json!({"status": "FAILED"})),
        ok(json!({"status": "RUNNING"})),
        ok(json!({})),
    ]);
    let mut platform = open(&stub.url);
    let mut look = || platform.event("a/b ü").unwrap();
    assert_eq!(
        {
            let event = look();
            (event.status, event.results)
        },
        (EventStatus::Succeeded, 2)
    );
    assert_eq!(
        {
            let event = look();
            (event.status, event.results)
        },
        (EventStatus::Failed, 0)
    );
    assert_eq!(
        {
            let event = look();
            (event.status, event.results)
        },
        (EventStatus::Pending, 0)
    );
    assert_eq!(
        {
            let event = look();
            (event.status, event.results)
        },
        (EventStatus::Pending, 0)
    );
    assert_eq!(stub.seen()[0].path, "/v1/event/a%2Fb%20%C3%BC/");
    assert_eq!(stub.seen()[0].header("content-type"), Some("application/json"));
    assert!(matches!(platform.event(""), Err(ApiError::Invalid(_))));
}

#[test]
fn one_look_at_an_event_is_bounded() {
    let with_poll = |poll| {
        let config =
            PlatformConfig { url: "http://h".into(), api_key: "k".into(), application: None, version: "1", poll };
        Platform::open(config).unwrap().event_timeout
    };
    assert_eq!(with_poll(Duration::from_millis(100)), Duration::from_millis(5100));
    assert_eq!(with_poll(Duration::from_secs(60)), Duration::from_secs(10));
}

#[test]
fn search_keeps_the_order_without_raw_episodes() {
    let results = json!([
        {"id": "e", "memory": "raw", "metadata": {"record_kind": "task_episode"}},
        {"id": "a", "memory": "weak", "score": 0.05, "categories": null, "metadata": null},
        "not an object",
        {"id": 12, "text": "strong", "score": "high", "metadata": {"branch": "x"}, "categories": ["results", 4]},
        {"id": "d", "memory": "beyond the limit"},
    ]);
    let stub = Stub::start(vec![ok(json!({"results": results})), ok(results.clone()), ok(json!({"answer": 1}))]);
    let mut platform = open(&stub.url);
    let request = search_request(SECOND);
    let found = platform.search(&request).unwrap();
    assert_eq!(found, platform.search(&request).unwrap());
    assert_eq!(
        found.iter().map(|found| (found.id.as_str(), found.memory.as_str())).collect::<Vec<_>>(),
        [("a", "weak"), ("12", "strong")]
    );
    assert_eq!((found[0].score, found[1].score), (Some(0.05), None));
    assert_eq!(found[1].categories.as_deref(), Some(&["results".to_owned()][..]));
    assert!(matches!(platform.search(&request), Err(ApiError::Protocol(_))));
    assert_eq!(
        stub.seen()[0].body,
        json!({"query": "rates", "app_id": "acme-widgets", "filters": request.filters, "top_k": 2,
            "rerank": false, "latest_only": true})
    );
}

#[test]
fn search_is_repeated_after_a_lost_connection_only() {
    let found = json!({"results": [{"id": "a", "memory": "m"}]});
    let stub = Stub::start(vec![Answer::Drop, ok(found.clone())]);
    let started = Instant::now();
    assert_eq!(open(&stub.url).search(&search_request(5 * SECOND)).unwrap().len(), 1);
    assert!(started.elapsed() >= SEARCH_RETRY_PAUSE);
    assert_eq!(stub.seen().len(), 2);

    let stub = Stub::start(vec![Answer::Drop, Answer::Drop, ok(found.clone())]);
    assert!(matches!(open(&stub.url).search(&search_request(5 * SECOND)), Err(ApiError::Unreachable(_))));
    assert_eq!(stub.seen().len(), 2, "once");

    let stub = Stub::start(vec![Answer::Reply(503, "{}".to_owned()), ok(found)]);
    assert!(matches!(
        open(&stub.url).search(&search_request(5 * SECOND)),
        Err(ApiError::Unavailable { status: 503, .. })
    ));
    assert_eq!(stub.seen().len(), 1, "an answer is final");
}

#[test]
fn search_ends_within_its_time() {
    let stub = Stub::start(vec![Answer::Late(3 * SECOND, "[]".to_owned())]);
    let started = Instant::now();
    let error = open(&stub.url).search(&search_request(Duration::from_millis(300))).unwrap_err();
    assert!(started.elapsed() < SECOND, "{:?}", started.elapsed());
    assert!(matches!(error, ApiError::Unreachable(_)), "{error}");
    assert_eq!(stub.seen().len(), 1, "a timeout is not tried again");
}

#[test]
fn nobody_listens() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let started = Instant::now();
    let error = open(&format!("http://127.0.0.1:{port}")).search(&search_request(2 * SECOND)).unwrap_err();
    assert!(error.is_environmental(), "{error}");
    assert!((SEARCH_RETRY_PAUSE..2 * SECOND).contains(&started.elapsed()));
    // Too little time is left for a second try.
    let started = Instant::now();
    open(&format!("http://127.0.0.1:{port}")).search(&search_request(Duration::from_millis(200))).unwrap_err();
    assert!(started.elapsed() < SEARCH_RETRY_PAUSE);
}

#[test]
fn statuses_become_errors() {
    let statuses = [400, 401, 402, 403, 404, 408, 409, 422, 429, 500, 502, 503];
    let body = json!({"detail": "no\n\nway"}).to_string();
    let stub = Stub::start(statuses.iter().map(|status| Answer::Reply(*status, body.clone())).collect());
    let mut platform = open(&stub.url);
    let messages: Vec<String> = statuses
        .iter()
        .map(|_| platform.ping().unwrap_err())
        .map(|error| format!("{error}{}", if error.is_environmental() { " *" } else { "" }))
        .collect();
    insta::assert_snapshot!(messages.join("\n"), @r"
    the memory server refused the request (400): no way
    the memory server refused the API key (401): no way *
    the memory server is not available (402): no way *
    the memory server refused the API key (403): no way *
    the memory server refused the request (404): no way
    the memory server is not available (408): no way *
    the memory server refused the request (409): no way
    the memory server refused the request (422): no way
    the memory server is not available (429): no way *
    the memory server is not available (500): no way *
    the memory server is not available (502): no way *
    the memory server is not available (503): no way *
    ");
}

#[test]
fn a_redirect_does_not_take_the_key_elsewhere() {
    let elsewhere = Stub::start(vec![ok(json!({"user_email": "x"}))]);
    let stub = Stub::start(vec![Answer::Redirect(format!("{}/v1/ping/", elsewhere.url))]);
    let error = open(&stub.url).ping().unwrap_err();
    assert!(error.to_string().contains("redirects to"), "{error}");
    assert!(elsewhere.seen().is_empty());
}

#[test]
fn nonsense_is_a_protocol_error() {
    let stub = Stub::start(vec![
        Answer::Reply(200, "<html>welcome</html>".to_owned()),
        Answer::Raw("HELLO\r\n\r\n"),
        Answer::Raw("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{\"a\""),
    ]);
    let mut platform = open(&stub.url);
    assert!(matches!(platform.ping(), Err(ApiError::Protocol(_))));
    assert!(matches!(platform.ping(), Err(ApiError::Protocol(_))));
    let cut = platform.ping();
    assert!(matches!(cut, Err(ApiError::Protocol(_) | ApiError::Unreachable(_))), "{cut:?}");
}

#[test]
fn a_server_without_tls_is_not_reached_by_https() {
    let stub = Stub::start(vec![]);
    let error = open(&stub.url.replace("http:", "https:")).ping().unwrap_err();
    assert!(matches!(error, ApiError::Unreachable(_)), "{error:?}");
}

#[test]
fn list_pages() {
    let stub = Stub::start(vec![
        ok(json!({"count": 3, "results": [{"id": "a", "memory": "m", "metadata": {"record_kind": "task_episode"}}]})),
        ok(json!([])),
    ]);
    let mut platform = open(&stub.url);
    let mut request = ListRequest { filters: json!({"user_id": "u"}), page: 1, page_size: 100 };
    let page = platform.list(&request).unwrap();
    assert_eq!((page.results.len(), page.total), (1, Some(3)));
    request.page = 2;
    assert_eq!(platform.list(&request).unwrap(), Page::default());
    let seen = stub.seen();
    assert_eq!((seen[0].method.as_str(), seen[0].path.as_str()), ("POST", "/v2/memories/?page=1&page_size=100"));
    assert_eq!(seen[1].path, "/v2/memories/?page=2&page_size=100");
    assert_eq!(seen[0].body, json!({"filters": {"user_id": "u"}}));
}

#[test]
fn one_memory() {
    let stub = Stub::start(vec![
        ok(json!({"id": "m1", "memory": "old", "created_at": "2026-01-01T00:00:00Z"})),
        ok(json!({"message": "Memory updated"})),
        ok(json!([{"event": "ADD", "new_memory": "old", "created_at": "t"}, 3])),
        Answer::Reply(204, String::new()),
        Answer::Reply(404, "{}".to_owned()),
    ]);
    let mut platform = open(&stub.url);
    assert_eq!(platform.get("m1").unwrap().memory, "old");
    let updated = platform.update("m1", "new").unwrap();
    assert_eq!((updated.id.as_str(), updated.memory.as_str()), ("m1", "new"));
    assert_eq!(
        platform.history("m1").unwrap(),
        [Change {
            event: "ADD".to_owned(),
            old_memory: None,
            new_memory: Some("old".to_owned()),
            created_at: "t".to_owned(),
        }]
    );
    platform.delete("m1").unwrap();
    assert!(matches!(platform.delete("m1"), Err(ApiError::NotFound(id)) if id == "m1"));
    let requests: Vec<String> = stub.seen().iter().map(|seen| format!("{} {}", seen.method, seen.path)).collect();
    assert_eq!(
        requests,
        [
            "GET /v1/memories/m1/",
            "PUT /v1/memories/m1/",
            "GET /v1/memories/m1/history/",
            "DELETE /v1/memories/m1/",
            "DELETE /v1/memories/m1/",
        ]
    );
    assert_eq!(stub.seen()[1].body, json!({"text": "new"}));
}

#[test]
fn account() {
    let stub = Stub::start(vec![ok(json!({"user_email": "dev@example.com"})), ok(json!({}))]);
    let mut platform = open(&stub.url);
    assert_eq!(platform.ping().unwrap().email.as_deref(), Some("dev@example.com"));
    assert_eq!(platform.ping().unwrap().email, None);
}

#[test]
fn unusable_settings_are_told_at_once() {
    let open = |url: &str, api_key: &str| {
        Platform::open(PlatformConfig {
            url: url.to_owned(),
            api_key: api_key.to_owned(),
            application: None,
            version: "1",
            poll: SECOND,
        })
    };
    assert!(matches!(open("http://h", " "), Err(ApiError::Invalid(_))));
    assert!(matches!(open("h", "k"), Err(ApiError::Invalid(_))));
    let error = open("http://h", "ke\ny").unwrap_err();
    assert!(!error.to_string().contains("ke"), "{error}");
}
