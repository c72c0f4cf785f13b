use std::io::PipeReader;
use std::sync::Mutex;
use std::thread::JoinHandle;

use serde_json::json;

use super::*;

fn answers(search: Search) -> Answers {
    Answers { search, handoff: Box::new(|call| Ok(Reply::from(format!("{call:?}")))) }
}

/// Reads what the server wrote until it closed its end.
struct Session {
    input: Option<io::PipeWriter>,
    output: BufReader<PipeReader>,
    server: JoinHandle<anyhow::Result<()>>,
    calls: Arc<Mutex<Vec<SearchCall>>>,
}

impl Session {
    /// Starts a server whose searches answer `answer`.
    fn start(answer: impl FnMut(&SearchCall) -> Result<String, String> + Send + 'static) -> Self {
        let (stdin, input) = io::pipe().unwrap();
        let (output, stdout) = io::pipe().unwrap();
        let calls = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&calls);
        let mut answer = answer;
        let search: Search = Box::new(move |call| {
            log.lock().unwrap().push(call.clone());
            answer(&call)
        });
        let options = Options { version: "9.8.7".to_owned(), default_project: Some(PathBuf::from("/default")) };
        let server = thread::spawn(move || serve_on(options, answers(search), stdin, stdout));
        Self { input: Some(input), output: BufReader::new(output), server, calls }
    }

    fn say(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).unwrap() > 0, "the server said nothing more");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.say(&message.to_string());
        self.hear()
    }

    /// Closes the input and returns what was still said, and the calls made.
    fn end(mut self) -> (Vec<Value>, Vec<SearchCall>) {
        drop(self.input.take());
        let mut rest = Vec::new();
        for line in self.output.lines() {
            rest.push(serde_json::from_str(&line.unwrap()).unwrap());
        }
        self.server.join().unwrap().unwrap();
        let calls = self.calls.lock().unwrap().clone();
        (rest, calls)
    }
}

/// Sends the lines, closes the input, and returns what the server said and was asked to search.
fn converse(lines: &[Value]) -> (Vec<Value>, Vec<SearchCall>) {
    let mut session = Session::start(|call| Ok(format!("found {}", call.query)));
    for line in lines {
        session.say(&line.as_str().map_or_else(|| line.to_string(), str::to_owned));
    }
    session.end()
}

fn request(id: i64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn initialize(version: &str) -> Value {
    request(
        0,
        "initialize",
        json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
    )
}

fn search(id: i64, arguments: Value) -> Value {
    request(id, "tools/call", json!({"name": "search_memories", "arguments": arguments}))
}

/// The metadata of a request of the revision without a handshake.
fn modern(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    })
}

#[test]
fn the_tool_contract() {
    let (said, calls) = converse(&[
        initialize("2024-11-05"),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}),
        json!({"jsonrpc": "2.0", "method": "notifications/other", "params": {}}),
    ]);
    assert!(calls.is_empty());
    insta::assert_json_snapshot!(said);
}

#[test]
fn handshake_versions() {
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1900-01-01", "2025-11-25"),
        ("3000-01-01", "2025-11-25"),
    ] {
        // Twice, and usable afterwards.
        let (said, _) = converse(&[initialize(asked), initialize(asked), request(1, "tools/list", json!({}))]);
        assert_eq!(said[0]["result"]["protocolVersion"], answered, "{asked}");
        assert_eq!(said[1]["result"]["protocolVersion"], answered, "{asked}");
        assert_eq!(said[2]["result"]["tools"].as_array().unwrap().len(), 2);
    }
    let (said, _) =
        converse(&[request(1, "initialize", json!({})), request(2, "initialize", json!({"protocolVersion": 5}))]);
    assert_eq!(said[0]["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(said[1]["result"]["protocolVersion"], "2025-11-25");
}

#[test]
fn the_revision_without_a_handshake() {
    let meta = modern("2026-07-28");
    let (said, _) = converse(&[
        json!({"jsonrpc": "2.0", "id": "server-discover-probe-1", "method": "server/discover", "params": {"_meta": meta}}),
        request(1, "tools/list", json!({"_meta": meta})),
        request(2, "tools/call", json!({"_meta": meta, "name": "search_memories", "arguments": {"query": "q"}})),
        request(3, "tools/call", json!({"_meta": meta, "name": "search_memories", "arguments": {"query": ""}})),
    ]);
    assert_eq!(
        said[0],
        json!({"jsonrpc": "2.0", "id": "server-discover-probe-1", "result": {
            "resultType": "complete",
            "supportedVersions": ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"],
            "capabilities": {"tools": {"listChanged": false}},
            "instructions": SEARCH_GUIDANCE,
            "ttlMs": 3_600_000, "cacheScope": "public",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "mem0", "version": "9.8.7"}},
        }})
    );
    let list = &said[1]["result"];
    assert_eq!(
        (&list["resultType"], &list["ttlMs"], &list["cacheScope"]),
        (&json!("complete"), &json!(3_600_000), &json!("public"))
    );
    let call = said.iter().find(|message| message["id"] == 2).unwrap();
    assert_eq!(
        call["result"],
        json!({"resultType": "complete", "isError": false, "content": [{"type": "text", "text": "found q"}]})
    );
    let refused = said.iter().find(|message| message["id"] == 3).unwrap();
    assert_eq!((&refused["result"]["resultType"], &refused["result"]["isError"]), (&json!("complete"), &json!(true)));
}

#[test]
fn metadata_that_does_not_do() {
    let mut without = modern("2026-07-28");
    without.as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
    let (said, _) = converse(&[
        request(1, "tools/list", json!({"_meta": modern("2031-01-01")})),
        request(2, "tools/list", json!({"_meta": without})),
        request(3, "tools/list", json!({"_meta": {"io.modelcontextprotocol/protocolVersion": 1}})),
        request(4, "server/discover", json!({})),
        request(5, "tools/list", json!({"_meta": {"progressToken": 7}})),
        request(6, "tools/list", json!({"_meta": modern("2025-11-25")})),
        request(7, "tools/list", json!([1])),
    ]);
    assert_eq!(said[0]["error"]["code"], -32022);
    assert_eq!(said[0]["error"]["data"]["requested"], "2031-01-01");
    assert_eq!(said[0]["error"]["data"]["supported"].as_array().unwrap().len(), 5);
    for refused in [1, 2, 3, 6] {
        assert_eq!(said[refused]["error"]["code"], -32602, "{}", said[refused]);
    }
    for legacy in [4, 5] {
        assert!(said[legacy]["result"].get("resultType").is_none(), "{}", said[legacy]);
        assert!(said[legacy]["result"].get("ttlMs").is_none());
    }
}

#[test]
fn protocol_errors_do_not_end_the_session() {
    let (said, _) = converse(&[
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        request(1, "resources/list", json!({})),
        json!("{oops"),
        json!(""),
        json!("  \t\r"),
        json!("7"),
        json!("[{\"jsonrpc\": \"2.0\", \"id\": 9, \"method\": \"ping\"}]"),
        json!({"jsonrpc": "2.0", "id": null, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": true, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 3}),
        json!({"jsonrpc": "2.0", "id": 4, "method": 5}),
        json!({"jsonrpc": "2.0", "id": 5, "result": {}}),
        json!({"jsonrpc": "2.0", "id": null, "error": {}}),
        json!("{\"jsonrpc\": \"2.0\", \"id\": \"crlf\", \"method\": \"ping\"}\r"),
        json!("\u{feff}{\"jsonrpc\": \"2.0\", \"id\": 1.5, \"method\": \"ping\"}"),
        request(6, "tools/call", json!({})),
        json!({"jsonrpc": "2.0", "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 8, "method": "tools/list", "params": null}),
    ]);
    let outline: Vec<Value> = said.iter().map(|message| json!([message["id"], message["error"]["code"]])).collect();
    assert_eq!(
        json!(outline),
        json!([
            [1, -32601],
            [null, -32700],
            [null, -32600],
            [null, -32600],
            [null, -32600],
            [3, -32600],
            [4, -32600],
            ["crlf", null],
            [1.5, null],
            [6, -32602],
            [8, null]
        ])
    );
}

#[test]
fn bytes_that_are_no_text() {
    let mut session = Session::start(|_| Ok(String::new()));
    session.input.as_mut().unwrap().write_all(b"\xff\xfe{}\n").unwrap();
    assert_eq!(session.hear()["error"]["code"], -32700);
    let deep = "[".repeat(100_000);
    session.say(&deep);
    assert_eq!(session.hear()["error"]["code"], -32700);
    // Above the limit, in a message that would be valid; and the next one is answered.
    let mut session_input = session.input.take().unwrap();
    let writer = thread::spawn(move || {
        let huge = search(1, json!({"query": "x".repeat(MAX_MESSAGE_BYTES)})).to_string();
        session_input.write_all(huge.as_bytes()).unwrap();
        session_input.write_all(b"\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n").unwrap();
        session_input
    });
    assert_eq!(session.hear()["error"]["code"], -32700);
    assert_eq!(session.hear()["id"], 2);
    session.input = Some(writer.join().unwrap());
    session.end();
}

#[test]
fn a_last_line_without_a_newline_counts() {
    let mut session = Session::start(|_| Ok(String::new()));
    session.input.as_mut().unwrap().write_all(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).unwrap();
    assert_eq!(session.end().0, [json!({"jsonrpc": "2.0", "id": 1, "result": {}})]);
}

#[test]
fn refused_arguments_name_the_argument() {
    let cases = [
        (json!({"query": "   "}), "query"),
        (json!({"query": ""}), "query"),
        (json!({"query": 7}), "query"),
        (json!({"query": null}), "query"),
        (json!({}), "query"),
        (json!({"query": "z".repeat(2001)}), "2,000"),
        (json!({"query": "z".repeat(100_000)}), "2,000"),
        (json!({"query": "x", "top_k": 0}), "top_k"),
        (json!({"query": "x", "top_k": -1}), "top_k"),
        (json!({"query": "x", "top_k": 21}), "top_k"),
        (json!({"query": "x", "top_k": 100_000}), "top_k"),
        (json!({"query": "x", "top_k": 2.5}), "top_k"),
        (json!({"query": "x", "top_k": true}), "top_k"),
        (json!({"query": "x", "top_k": "five"}), "top_k"),
        (json!({"query": "x", "top_k": [5]}), "top_k"),
        (json!({"query": "x", "category": "misc"}), "category"),
        (json!({"query": "x", "category": 1}), "category"),
        (json!({"query": "x", "scope": "team"}), "scope"),
        (json!({"query": "x", "scope": false}), "scope"),
        (json!({"query": "x", "run_id": " "}), "run_id"),
        (json!({"query": "x", "run_id": 4}), "run_id"),
        (json!({"query": "x", "threshold": 0.4}), "threshold"),
        (json!(["x"]), "arguments"),
    ];
    for (arguments, named) in cases {
        let (said, calls) = converse(&[search(1, arguments)]);
        let result = &said[0]["result"];
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] == true && text.contains(named), "{named}: {result}");
        assert!(text.chars().count() < 200 && calls.is_empty(), "{named}");
    }
    let (said, calls) =
        converse(&[request(1, "tools/call", json!({"name": "delete_everything", "arguments": {"query": "x"}}))]);
    assert!(said[0]["result"]["isError"] == true && calls.is_empty());
}

#[test]
fn a_hundred_thousand_characters_are_refused_quickly() {
    let protocol = Protocol::new(Options { version: "1".to_owned(), default_project: None });
    let line = search(1, json!({"query": "漢".repeat(100_000)})).to_string();
    let started = Instant::now();
    assert!(matches!(protocol.receive(line.as_bytes()), Action::Reply(_)));
    assert!(started.elapsed() < Duration::from_millis(200), "{:?}", started.elapsed());
}

#[test]
fn every_argument_has_its_effect() {
    let (_, calls) = converse(&[
        search(
            1,
            json!({"query": "  where?  ", "top_k": 20, "category": "workflows", "scope": "dir", "run_id": " s-9 "}),
        ),
        search(2, json!({"query": "q"})),
        search(3, json!({"query": "q", "top_k": "", "category": "", "scope": "", "run_id": ""})),
        search(4, json!({"query": "q", "top_k": null, "category": null, "scope": null, "run_id": null})),
        search(5, json!({"query": "q", "top_k": "5"})),
        search(6, json!({"query": "q", "top_k": 5.0})),
        search(7, json!({"query": "é漢".repeat(1000), "scope": "mine"})),
        search(8, json!({"query": "?!…"})),
    ]);
    let plain = SearchCall { query: "q".to_owned(), project: Some(PathBuf::from("/default")), ..SearchCall::default() };
    assert_eq!(
        calls[0],
        SearchCall {
            query: "where?".to_owned(),
            top_k: Some(20),
            category: Some(Category::Workflows),
            scope: Some("dir".to_owned()),
            run_id: Some("s-9".to_owned()),
            project: Some(PathBuf::from("/default")),
        }
    );
    for same in &calls[1..4] {
        assert_eq!(*same, plain);
    }
    for five in &calls[4..6] {
        assert_eq!(*five, SearchCall { top_k: Some(5), ..plain.clone() });
    }
    assert_eq!((calls[6].query.chars().count(), calls[6].scope.as_deref()), (2000, Some("mine")));
    assert_eq!(calls[7].query, "?!…");
}

#[test]
fn the_workspace_in_the_metadata_wins() {
    let call = |turn: &str| {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"search_memories","arguments":{{"query":"q"}},"_meta":{{"x-codex-turn-metadata":{turn}}}}}}}"#
        );
        converse(&[json!(line)]).1[0].project.clone().unwrap()
    };
    // The first as written, not the first of the alphabet.
    assert_eq!(
        call(r#"{"workspaces":{"/z/first":{"has_changes":true},"/a/second":{}},"model":"m"}"#),
        PathBuf::from("/z/first")
    );
    for other in
        [r#"{"workspaces":{}}"#, r#"{"workspaces":{" ":{}}}"#, r#"{"workspaces":["/x"]}"#, "{}", "null", r#""text""#]
    {
        assert_eq!(call(other), PathBuf::from("/default"), "{other}");
    }
}

#[test]
fn what_a_search_says_reaches_the_model() {
    let mut session =
        Session::start(|call| if call.query == "bad" { Err("no key".to_owned()) } else { Ok("1. x".to_owned()) });
    session.ask(&initialize("2025-06-18"));
    assert_eq!(
        session.ask(&search(1, json!({"query": "good"})))["result"],
        json!({"isError": false, "content": [{"type": "text", "text": "1. x"}]})
    );
    assert_eq!(
        session.ask(&search(2, json!({"query": "bad"})))["result"],
        json!({"isError": true, "content": [{"type": "text", "text": "no key"}]})
    );
    session.end();
}

#[test]
fn calls_are_answered_in_order_and_pings_at_once() {
    let (release, gate) = mpsc::channel::<()>();
    let mut session = Session::start(move |call| {
        if call.query == "slow" {
            gate.recv().unwrap();
        }
        Ok(call.query.clone())
    });
    session.say(&search(1, json!({"query": "slow"})).to_string());
    session.say(&search(2, json!({"query": "fast"})).to_string());
    assert_eq!(session.ask(&request(3, "ping", json!({})))["id"], 3);
    release.send(()).unwrap();
    assert_eq!((session.hear()["id"].clone(), session.hear()["id"].clone()), (json!(1), json!(2)));
    session.end();
}

#[test]
fn a_cancelled_call_is_not_answered() {
    let cancelled = |id: Value| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "AbortError"}});
    let (release, gate) = mpsc::channel::<()>();
    let (begin, begun) = mpsc::channel::<()>();
    let mut session = Session::start(move |call| {
        if call.query == "slow" {
            begin.send(()).unwrap();
            gate.recv().unwrap();
        }
        Ok(call.query.clone())
    });
    for id in [json!(77), json!("unknown"), json!(null)] {
        session.say(&cancelled(id).to_string());
    }
    session.say(&search(1, json!({"query": "slow"})).to_string());
    begun.recv().unwrap();
    session.say(&search(2, json!({"query": "never run"})).to_string());
    session.say(&search(3, json!({"query": "last"})).to_string());
    session.say(&cancelled(json!(1)).to_string());
    session.say(&cancelled(json!(2)).to_string());
    assert_eq!(session.ask(&request(4, "ping", json!({})))["id"], 4);
    release.send(()).unwrap();
    assert_eq!(session.hear()["id"], 3);
    // Answered already.
    session.say(&cancelled(json!(3)).to_string());
    let (rest, calls) = session.end();
    assert!(rest.is_empty(), "{rest:?}");
    assert_eq!(calls.iter().map(|call| call.query.as_str()).collect::<Vec<_>>(), ["slow", "last"]);
}

#[test]
fn the_end_of_input_ends_the_server_within_a_second() {
    let (_release, gate) = mpsc::channel::<()>();
    let mut session = Session::start(move |_| gate.recv().map(|()| String::new()).map_err(|error| error.to_string()));
    session.say(&search(1, json!({"query": "hangs"})).to_string());
    let started = Instant::now();
    let (rest, _) = session.end();
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!((rest.len(), &rest[0]["id"], &rest[0]["result"]["isError"]), (1, &json!(1), &json!(true)));

    let started = Instant::now();
    assert_eq!(converse(&[]), (Vec::new(), Vec::new()));
    assert!(started.elapsed() < Duration::from_millis(500));
}

#[test]
fn nobody_reads_the_answers() {
    let (stdin, mut input) = io::pipe().unwrap();
    let (output, stdout) = io::pipe().unwrap();
    drop(output);
    let options = Options { version: "1".to_owned(), default_project: None };
    let server = thread::spawn(move || serve_on(options, answers(Box::new(|_| Ok(String::new()))), stdin, stdout));
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
    server.join().unwrap().unwrap();
}

#[test]
fn the_guidance_asks_for_no_more_than_is_useful() {
    let forbidden = regex::RegexSet::new([
        r"(?is)always call .*search",
        "(?i)search memory before answering",
        "(?i)proactively before answering",
        "(?i)multi-hop",
        r"(?i)run (2\s*[-–]\s*4|2|several) parallel searches",
        "(?i)one search is rarely enough",
        "(?i)always rewrite the query",
    ])
    .unwrap();
    let shown = serde_json::to_string(&tools::list()).unwrap();
    assert!(shown.contains(SEARCH_GUIDANCE));
    assert!(!forbidden.is_match(&shown), "{shown}");
}

proptest::proptest! {
    #[test]
    fn any_line_is_survived(line: Vec<u8>) {
        let protocol = Protocol::new(Options { version: "1".to_owned(), default_project: None });
        let _ = protocol.receive(&line);
    }

    #[test]
    fn every_request_is_answered(method in ".{0,20}", params in proptest::option::of("[a-z]{0,5}")) {
        let protocol = Protocol::new(Options { version: "1".to_owned(), default_project: None });
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        proptest::prop_assert_ne!(protocol.receive(line.as_bytes()), Action::Nothing);
    }
}
