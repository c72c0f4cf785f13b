//! The HTTP side: who is heard, what is refused, and what survives.

use std::process::Stdio;
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::server::Server;

fn add(server: &Server, user: &str, text: &str) -> Value {
    let body = json!({"messages": text, "user_id": user, "infer": false});
    let reply = server.ask("POST", "/v3/memories/add/", Some(&body));
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()
}

fn count(server: &Server, user: &str) -> u64 {
    let reply = server.ask("POST", "/v3/memories/", Some(&json!({"filters": {"user_id": user}})));
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["count"].as_u64().expect("a count")
}

#[test]
fn every_refusal_is_json_with_a_detail() {
    let server = Server::start();
    let big = format!("{{\"query\": \"{}\"}}", "x".repeat(9 * 1024 * 1024));
    let cases: &[(&str, &str, &[u8], u16)] = &[
        ("GET", "/nothing/here", b"", 404),
        ("PATCH", "/v1/memories/x/", b"", 405),
        ("POST", "/v3/memories/search/", b"", 400),
        ("POST", "/v3/memories/search/", b"[1]", 400),
        ("POST", "/v3/memories/search/", b"{\"query\": \"x\"", 400),
        ("POST", "/v3/memories/search/", b"{\"query\": \"x\"}", 400),
        ("POST", "/v3/memories/search/", b"{\"query\": \"\", \"filters\": {\"user_id\": \"a\"}}", 400),
        ("POST", "/v3/memories/search/", b"{\"query\": \"x\", \"filters\": {\"user_id\": \"a\"}, \"top_k\": 0}", 400),
        ("POST", "/v3/memories/search/", b"{\"query\": \"x\", \"filters\": {\"user_id\": {\"like\": 1}}}", 400),
        ("POST", "/v3/memories/search/", big.as_bytes(), 413),
        ("POST", "/v3/memories/?page=0", b"{\"filters\": {\"user_id\": \"a\"}}", 400),
        ("POST", "/v3/memories/add/", b"\xff\xfe", 400),
        ("DELETE", "/v1/memories/", b"", 400),
        ("DELETE", "/v1/memories/?user_id=%2A&x=%ff", b"", 400),
        ("DELETE", "/v1/memories/?filters=%7B%22AND%22%3A%5B%5D%7D", b"", 400),
        ("DELETE", "/v1/memories/?filters=%7B%22NOT%22%3A%7B%22bogus%22%3A1%7D%7D", b"", 400),
        ("DELETE", "/v2/entities/planet/mars/", b"", 400),
        ("DELETE", "/v2/entities/user/nobody/", b"", 404),
        ("PUT", "/v1/batch/", b"{\"memories\": []}", 400),
        ("GET", "/v1/event/nope/", b"", 404),
    ];
    for (method, path, body, status) in cases {
        let reply = server.send(method, path, &[("content-type", "application/json")], body);
        assert_eq!(reply.status, *status, "{method} {path}: {:?}", reply.head);
        assert!(reply.json()["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{method} {path}");
    }
    assert_eq!(server.ask("GET", "/health", None).json()["status"], "ok");
}

#[test]
fn pages_of_a_browser_are_not_heard() {
    let server = Server::start();
    for headers in [
        &[("host", "evil.example")][..],
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
        &[("sec-fetch-site", "cross-site")],
    ] {
        let reply = server.send("GET", "/v1/ping/", headers, b"");
        assert_eq!(reply.status, 403, "{headers:?}");
    }
    assert_eq!(server.ask("GET", "/v1/ping/", None).json()["status"], "ok");
}

#[test]
fn tokens_keep_people_apart_and_share_projects() {
    let home = TempDir::new().expect("a home");
    let file = home.path().join("tokens");
    let path = file.to_str().expect("a path");
    let token = |name: &str| {
        let made = Server::command(&home, &["serve", "token", name, "--token-file", path])
            .stderr(Stdio::null())
            .output()
            .expect("a token");
        String::from_utf8(made.stdout).expect("text").trim().to_owned()
    };
    let (ada, bob) = (token("ada"), token("bob"));
    assert!(!std::fs::read_to_string(&file).expect("the file").contains(&ada));
    let open = Server::command(&home, &["serve", "--addr", "0.0.0.0:0"]).output().expect("an answer");
    assert_eq!(open.status.code(), Some(2), "a server for others without tokens");
    let server = Server::start_in(home, &["--token-file", path]);
    let ask = |token: &str, method: &str, path: &str, body: Value| {
        let value = format!("Token {token}");
        server.send(method, path, &[("authorization", &value)], body.to_string().as_bytes())
    };
    assert_eq!(ask("wrong", "GET", "/v1/ping/", Value::Null).status, 401);
    assert_eq!(ask(&ada, "GET", "/v1/ping/", Value::Null).json()["user_id"], "ada");
    let add = |token: &str, body: Value| ask(token, "POST", "/v3/memories/add/", body);
    let own = add(&ada, json!({"messages": "My desk faces north.", "user_id": "ada", "infer": false})).json();
    let shared = add(&ada, json!({"messages": "Deploys run on Tuesdays.", "agent_id": "p-1", "infer": false}));
    assert_eq!(shared.status, 200, "{shared:?}");
    let forged = add(&bob, json!({"messages": "I am ada.", "user_id": "ada", "infer": false}));
    assert_eq!(forged.status, 403, "{forged:?}");
    let id = own["results"][0]["id"].as_str().expect("an id");
    let one = format!("/v1/memories/{id}/");
    assert_eq!(ask(&ada, "GET", &one, Value::Null).status, 200);
    for (method, path, body) in [
        ("GET", one.clone(), Value::Null),
        ("PUT", one.clone(), json!({"text": "His desk faces south."})),
        ("DELETE", one.clone(), Value::Null),
        ("GET", format!("{one}history/"), Value::Null),
        ("DELETE", "/v1/batch/".to_owned(), json!({"memories": [{"memory_id": id}]})),
        ("DELETE", "/v2/entities/user/ada/".to_owned(), Value::Null),
    ] {
        assert_eq!(ask(&bob, method, &path, body).status, 404, "{method} {path}");
    }
    let event = format!("/v1/event/{}/", own["event_id"].as_str().expect("an id"));
    assert_eq!(ask(&bob, "GET", &event, Value::Null).json()["results"], json!([]), "another person's new memories");
    let everything = json!({"OR": [{"user_id": "*"}, {"agent_id": "*"}]});
    let seen = |token: &str| {
        ask(token, "POST", "/v3/memories/", json!({"filters": everything})).json()["count"].as_u64().expect("a count")
    };
    assert_eq!((seen(&ada), seen(&bob)), (2, 1));
    assert_eq!(ask(&bob, "DELETE", "/v1/memories/?user_id=ada", Value::Null).status, 200);
    assert_eq!(seen(&ada), 2, "bob deleted what is ada's");
    let named: Vec<String> = ask(&bob, "GET", "/v1/entities/", Value::Null).json()["results"]
        .as_array()
        .expect("entities")
        .iter()
        .map(|entity| entity["name"].as_str().expect("a name").to_owned())
        .collect();
    assert_eq!(named, ["p-1"]);
    assert_eq!(ask(&ada, "POST", "/mcp", json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).status, 404);
}

#[test]
fn secrets_are_redacted_before_they_are_stored() {
    let server = Server::start();
    let secret = format!("m0-{}", "aB3".repeat(12));
    let added = add(&server, "ada", &format!("the key is {secret}"));
    let metadata = json!({"metadata": {"note": secret}});
    let id = added["results"][0]["id"].as_str().expect("an id");
    let changed = server.ask("PUT", &format!("/v1/memories/{id}/"), Some(&metadata));
    assert!(changed.status == 200 && !changed.body.contains(&secret), "{changed:?}");
    for file in std::fs::read_dir(server.home.path().join("mem0")).expect("the home").flatten() {
        if file.path().is_file() {
            let bytes = std::fs::read(file.path()).expect("a file");
            assert!(!String::from_utf8_lossy(&bytes).contains(&secret), "{:?}", file.path());
        }
    }
}

#[test]
fn the_tools_are_offered_over_http() {
    let server = Server::start();
    let call = |message: Value| server.ask("POST", "/mcp", Some(&message));
    let opened = call(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}));
    assert_eq!(opened.json()["result"]["protocolVersion"], "2025-06-18");
    let noted = call(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!((noted.status, noted.body.as_str()), (202, ""));
    let tools = call(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})).json();
    assert!(tools["result"]["tools"].to_string().contains("search_memories"), "{tools}");
    let stored = Server::command(&server.home, &["add", "the tunnel is called marmot"]).output().expect("an answer");
    assert!(stored.status.success());
    let found = call(json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "search_memories", "arguments": {"query": "what is the tunnel called"}}}));
    assert!(found.body.contains("marmot"), "{found:?}");
    assert_eq!(server.ask("GET", "/mcp", None).status, 405);
    assert_eq!(server.ask("POST", "/mcp?project=relative", Some(&json!({}))).status, 400);
}

/// Two servers and a command on one store, all at once: everything is there once.
#[test]
fn several_servers_share_a_store() {
    let first = Server::start();
    let store = first.home.path().join("mem0/memory.sqlite3");
    let second = Server::start_in(TempDir::new().expect("a home"), &["--store", store.to_str().expect("a path")]);
    thread::scope(|scope| {
        for (name, server) in [("a", &first), ("b", &second)] {
            for thread in 0..2 {
                scope.spawn(move || {
                    for number in 0..25 {
                        add(server, "ada", &format!("Note {name}{thread}-{number} about crate {number}."));
                    }
                });
            }
        }
    });
    assert_eq!((count(&first, "ada"), count(&second, "ada")), (100, 100));
}

#[test]
fn a_server_that_is_told_to_stop_finishes_what_it_began() {
    let mut server = Server::start();
    add(&server, "ada", "The last word is kept.");
    let pid = Pid::from_raw(i32::try_from(server.pid()).expect("a pid")).expect("a pid");
    kill_process(pid, Signal::TERM).expect("a signal");
    assert_eq!(server.wait(), Some(0));
    let home = std::mem::replace(&mut server.home, TempDir::new().expect("a folder"));
    let again = Server::start_in(home, &[]);
    assert_eq!(count(&again, "ada"), 1);
}

/// Requests that are none, by the thousand: none is answered with a failure of the server, and nothing is lost.
#[test]
fn malformed_requests_lose_nothing() {
    let server = Server::start();
    add(&server, "ada", "The ledger is in the second drawer.");
    let seeds: [&[u8]; 6] = [
        b"POST /v3/memories/add/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n\r\n{\"messages\": \"x\", \"user_id\": \"eve\"}",
        b"POST /v3/memories/search/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 55\r\n\r\n{\"query\": \"ledger\", \"filters\": {\"user_id\": \"ada\"}}",
        b"GET /v1/memories/%00%ff/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"DELETE /v1/memories/?user_id=eve HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n",
        b"PUT /v1/batch/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{\"memorie",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ];
    let mut state = 0x9e37_79b9_u32;
    let mut next = move |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    for _ in 0..10_000 {
        let mut bytes = seeds[next(seeds.len())].to_vec();
        for _ in 0..=next(4) {
            let at = next(bytes.len().max(1));
            if bytes.is_empty() {
                break;
            }
            match next(3) {
                0 => bytes[at] = u8::try_from(next(256)).unwrap_or(0),
                1 => drop(bytes.remove(at)),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let reply = server.raw(&bytes);
        assert!(reply.status < 500, "{:?}: {reply:?}", String::from_utf8_lossy(&bytes));
    }
    assert_eq!(count(&server, "ada"), 1);
}

/// Many bodies that never come keep nobody else waiting.
#[test]
fn slow_bodies_starve_nobody() {
    let server = Server::start();
    let stalled: Vec<std::net::TcpStream> = (0..150)
        .map(|_| {
            let mut stream =
                std::net::TcpStream::connect(server.url().trim_start_matches("http://")).expect("a connection");
            let head = "POST /v3/memories/add/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{";
            std::io::Write::write_all(&mut stream, head.as_bytes()).expect("a head");
            stream
        })
        .collect();
    let started = std::time::Instant::now();
    assert_eq!(server.ask("GET", "/v1/ping/", None).status, 200);
    add(&server, "ada", "The ferry leaves at nine.");
    assert_eq!(count(&server, "ada"), 1);
    assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
    drop(stalled);
    let broken = b"POST /v3/memories/ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
    assert_eq!(server.raw(broken).status, 400);
}
