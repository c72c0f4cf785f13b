use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;
use tempfile::TempDir;

use super::*;

/// What an endpoint was sent: method and path, body.
type Log = Arc<Mutex<Vec<(String, Value)>>>;

/// An endpoint that answers each request with what `answer` says. Ends with the test process.
fn endpoint(answer: impl Fn(&str, usize) -> (u16, Value) + Send + 'static) -> (String, Log) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let log = Log::default();
    let seen = Arc::clone(&log);
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let mut reader = BufReader::new(connection.try_clone().unwrap());
            let (mut first, mut length) = (String::new(), 0);
            reader.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                match line.trim_end().to_ascii_lowercase().split_once(':') {
                    Some(("content-length", value)) => length = value.trim().parse().unwrap(),
                    Some(_) => {}
                    None => break,
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let asked = first.rsplit_once(' ').unwrap().0.to_owned();
            let n_before = seen.lock().unwrap().len();
            let (status, reply) = answer(&asked, n_before);
            seen.lock().unwrap().push((asked, serde_json::from_slice(&body).unwrap_or_default()));
            let reply = reply.to_string();
            let head = format!("HTTP/1.1 {status} S\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", reply.len());
            connection.write_all((head + &reply).as_bytes()).unwrap();
        }
    });
    (url, log)
}

fn settings(url: &str) -> Settings {
    Settings {
        url: Some(url.to_owned()),
        host: Some("some-host".to_owned()),
        version: "9.8.7".to_owned(),
        api_url: url.to_owned(),
        ..Settings::default()
    }
}

fn on(data_dir: &Path) -> Telemetry {
    Telemetry::new(data_dir, settings("http://127.0.0.1:1/telemetry"))
}

fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn spooled(data_dir: &Path) -> Vec<Value> {
    claims::events(&fs::read_to_string(data_dir.join(SPOOL)).unwrap_or_default())
}

fn names(data_dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(data_dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn fill(path: &Path, n_events: usize) {
    let lines: String = (0..n_events)
        .map(|n| format!("{}\n", json!({"event": "code.search", "uuid": n.to_string(), "properties": {"n": n}})))
        .collect();
    fs::write(path, lines).unwrap();
}

fn set_age(path: &Path, seconds: u64) {
    let file = OpenOptions::new().append(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
}

fn age_s(path: &Path) -> u64 {
    fs::metadata(path).unwrap().modified().unwrap().elapsed().unwrap_or_default().as_secs()
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions()) & 0o777
}

#[test]
fn off_writes_and_sends_nothing() {
    let (url, log) = endpoint(|_, _| (200, json!({})));
    let opted_out = |word: &str| Settings { switch: Some(word.to_owned()), ..settings(&url) };
    let nowhere =
        |url: Option<&str>| Settings { url: url.map(str::to_owned), switch: Some("true".to_owned()), ..settings("") };
    let all = [
        (opted_out("false"), State::OptedOut),
        (opted_out("0"), State::OptedOut),
        (opted_out("No"), State::OptedOut),
        (opted_out(" OFF "), State::OptedOut),
        (nowhere(None), State::NoEndpoint),
        (nowhere(Some(" ")), State::NoEndpoint),
    ];
    for (settings, state) in all {
        let dir = TempDir::new().unwrap();
        let data_dir = dir.path().join("data");
        let telemetry = Telemetry::new(&data_dir, settings.clone());
        telemetry.install_markers();
        telemetry.record("session_start", Some("r"), Some("s"), &Map::new());
        assert!(!telemetry.has_work());
        assert_eq!(telemetry.flush_once(), Delivery::default());
        assert_eq!(telemetry.show().state, state);
        assert!(!data_dir.exists());
        // What an earlier choice left is not sent either.
        fs::create_dir(&data_dir).unwrap();
        fill(&data_dir.join(SPOOL), 1);
        assert_eq!(Telemetry::new(&data_dir, settings).flush_once(), Delivery::default());
    }
    assert!(log.lock().unwrap().is_empty());
}

#[test]
fn events_carry_hashes_and_counts_only() {
    let dir = TempDir::new().unwrap();
    let data_dir = dir.path().join("data");
    for _ in 0..2 {
        on(&data_dir).record(
            "search",
            Some("https://example.com/acme/widgets"),
            Some("sess-ibis-1"),
            &map(
                json!({"success": true, "matched_count": 0, "query": "the ibis exporter", "nested": {"path": "/ibis"}}),
            ),
        );
    }
    let text = fs::read_to_string(data_dir.join(SPOOL)).unwrap();
    for hidden in ["ibis", "widgets", "acme"] {
        assert!(!text.contains(hidden), "{text}");
    }
    let events = spooled(&data_dir);
    assert_eq!(events.len(), 2);
    let properties = &events[0]["properties"];
    assert_eq!((&properties["success"], &properties["matched_count"]), (&json!(true), &json!(0)));
    assert_eq!((&properties["harness"], &properties["plugin_version"]), (&json!("some-host"), &json!("9.8.7")));
    for hash in ["repo_hash", "session_hash"] {
        assert_eq!(properties[hash], events[1]["properties"][hash], "stable across processes");
    }
    assert_ne!(events[0]["uuid"], events[1]["uuid"]);
    assert!(events[0]["timestamp"].as_str().unwrap().starts_with("20"));
    let salt = fs::read_to_string(data_dir.join(SALT)).unwrap();
    assert!(telemetry::is_salt(&salt));
    assert_eq!(names(&data_dir), [SALT, SPOOL]);
    #[cfg(unix)]
    {
        assert_eq!((mode(&data_dir), mode(&data_dir.join(SALT)), mode(&data_dir.join(SPOOL))), (0o700, 0o600, 0o600));
    }
}

#[test]
fn one_salt_for_all() {
    let dir = TempDir::new().unwrap();
    let salts: Vec<Option<String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| salt(dir.path()))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(salts[0].is_some());
    assert!(salts.iter().all(|salt| *salt == salts[0]), "{salts:?}");
    assert_eq!(names(dir.path()), [SALT]);
    // A broken salt is not replaced: hashes of before and after would not compare. Nothing is hashed.
    fs::write(dir.path().join(SALT), "short").unwrap();
    assert_eq!(salt(dir.path()), None);
    on(dir.path()).record("search", Some("r"), None, &Map::new());
    assert!(spooled(dir.path())[0]["properties"].get("repo_hash").is_none());
}

#[test]
fn a_full_spool_takes_no_more() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join(SPOOL), vec![b'\n'; 256 * 1024 + 1]).unwrap();
    on(dir.path()).record("search", None, None, &Map::new());
    assert!(spooled(dir.path()).is_empty());
}

#[test]
fn install_is_reported_once_and_leftovers_mean_upgrade() {
    let dir = TempDir::new().unwrap();
    let (fresh, used) = (dir.path().join("fresh"), dir.path().join("used"));
    for _ in 0..2 {
        on(&fresh).install_markers();
    }
    assert_eq!(spooled(&fresh).len(), 1);
    assert_eq!(spooled(&fresh)[0]["event"], "code.install");
    #[cfg(unix)]
    assert_eq!(mode(&fresh.join("install-state.json")), 0o600);

    fs::create_dir(&used).unwrap();
    fs::write(used.join("requirements.txt"), "x\n").unwrap();
    on(&used).install_markers();
    assert_eq!(spooled(&used).len(), 1);
    assert_eq!(spooled(&used)[0]["event"], "code.upgrade");
    assert_eq!(spooled(&used)[0]["properties"]["from_version"], "pre-0.3");
}

#[test]
fn a_new_version_is_reported_once() {
    let dir = TempDir::new().unwrap();
    let marker = dir.path().join("install-state.json");
    fs::write(&marker, r#"{"plugin_version": "0.3.2"}"#).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| on(dir.path()).install_markers());
        }
    });
    let events = spooled(dir.path());
    assert_eq!(events.len(), 1);
    assert_eq!(
        (&events[0]["event"], &events[0]["properties"]["from_version"]),
        (&json!("code.upgrade"), &json!("0.3.2"))
    );
    assert_eq!(fs::read_to_string(&marker).unwrap(), r#"{"plugin_version":"9.8.7"}"#);
    assert!(dir.path().join("upgraded-9.8.7").exists());
    // A marker that nobody can read starts over in silence.
    fs::write(&marker, "{").unwrap();
    on(dir.path()).install_markers();
    assert_eq!(spooled(dir.path()).len(), 1);
    assert_eq!(fs::read_to_string(&marker).unwrap(), r#"{"plugin_version":"9.8.7"}"#);
}

#[test]
fn the_sender_delivers_once_and_clears_the_spool() {
    let dir = TempDir::new().unwrap();
    fill(&dir.path().join(SPOOL), 130);
    let (url, log) = endpoint(|_, _| (200, json!({})));
    let telemetry = Telemetry::new(dir.path(), settings(&format!("{url}/telemetry/")));
    assert!(telemetry.has_work());
    assert_eq!(telemetry.flush_once(), Delivery { sent: 130, failure: None });
    assert!(!telemetry.has_work());
    assert_eq!(telemetry.flush_once(), Delivery::default());
    let log = log.lock().unwrap();
    let batches: Vec<&Vec<Value>> = log.iter().map(|(_, body)| body["batch"].as_array().unwrap()).collect();
    assert_eq!(batches.iter().map(|batch| batch.len()).collect::<Vec<_>>(), [100, 30]);
    assert!(log.iter().all(|(asked, _)| asked == "POST /telemetry/batch/"));
    let event = &batches[1][29];
    assert_eq!((&event["uuid"], &event["properties"]["n"]), (&json!("129"), &json!(129)));
    assert_eq!(event["properties"]["$process_person_profile"], false);
    let who = event["distinct_id"].as_str().unwrap();
    assert!(who.starts_with("code-anon-") && who.len() == 42, "{who}");
    assert_eq!(names(dir.path()), ["telemetry-identity.json"]);
    assert_eq!(telemetry.show().distinct_id.as_deref(), Some(who));
}

#[test]
fn a_failure_keeps_only_what_was_not_sent() {
    let dir = TempDir::new().unwrap();
    fill(&dir.path().join(SPOOL), 250);
    let (url, log) = endpoint(|_, n_before| (if n_before == 1 { 500 } else { 200 }, json!({})));
    let telemetry = Telemetry::new(dir.path(), settings(&url));
    let delivery = telemetry.flush_once();
    assert_eq!(delivery.sent, 100);
    assert!(delivery.failure.unwrap().contains("500"));
    let claims = claims::parked(dir.path());
    assert_eq!(claims.len(), 1);
    assert!(claims[0].to_str().unwrap().ends_with("-a0.sending"));
    assert_eq!(telemetry.show().events.len(), 150);
    // The first failure may be tried again at once.
    assert_eq!(telemetry.flush_once(), Delivery { sent: 150, failure: None });
    let sent: usize = log.lock().unwrap().iter().map(|(_, body)| body["batch"].as_array().unwrap().len()).sum();
    assert_eq!(sent, 350, "the refused batch of 100 again, nothing else twice");
    assert_eq!(names(dir.path()), ["telemetry-identity.json"]);
}

#[test]
fn leases_attempts_and_age_decide_over_a_claim() {
    let dir = TempDir::new().unwrap();
    let claim = |name: &str, age| {
        let path = dir.path().join(name);
        fill(&path, 1);
        set_age(&path, age);
    };
    claim("telemetry-1-aaaaaaaa-a0.sending", 60);
    claim("telemetry-2-aaaaaaaa-a3.sending", 130);
    claim("telemetry-3-aaaaaaaa-a1.sending", 8 * 24 * 3600);
    claim("telemetry-4-aaaaaaaa.sending", 500);
    claim("telemetry-5-aaaaaaaa-a2.sending", 400);
    claim("telemetry-6-aaaaaaaa-a0.sending", 300);
    claim("telemetry-7-aaaaaaaa-a0.sending", 200);
    claim("telemetry-8-aaaaaaaa-a0.partial", 121);
    claim("telemetry-9-aaaaaaaa-a0.corrupt", 8 * 24 * 3600);
    claim("telemetry-10-aaaaaaaa-a0.corrupt", 3600);
    claim("telemetry-11-aaaaaaaa-a0.partial", 10);
    let (url, log) = endpoint(|_, _| (200, json!({})));
    assert_eq!(Telemetry::new(dir.path(), settings(&url)).flush_once(), Delivery { sent: 3, failure: None });
    assert_eq!(log.lock().unwrap().len(), 3);
    assert_eq!(
        names(dir.path()),
        [
            "telemetry-1-aaaaaaaa-a0.sending",
            "telemetry-10-aaaaaaaa-a0.corrupt",
            "telemetry-11-aaaaaaaa-a0.partial",
            "telemetry-2-aaaaaaaa-a3.sending",
            "telemetry-7-aaaaaaaa-a0.sending",
            "telemetry-identity.json",
        ]
    );
}

#[test]
fn each_failure_makes_the_next_attempt_wait_longer() {
    for (name, next, age) in [
        ("telemetry-1-aaaaaaaa.sending", "telemetry-1-aaaaaaaa-a1.sending", 60),
        ("telemetry-1-aaaaaaaa-a1.sending", "telemetry-1-aaaaaaaa-a2.sending", 0),
        ("telemetry-1-aaaaaaaa-a2.sending", "telemetry-1-aaaaaaaa-a3.sending", 0),
    ] {
        let dir = TempDir::new().unwrap();
        fill(&dir.path().join(name), 1);
        set_age(&dir.path().join(name), 121);
        assert!(on(dir.path()).flush_once().failure.is_some(), "nobody listens");
        let age_after = age_s(&dir.path().join(next));
        assert!((age..age + 5).contains(&age_after), "{next}: {age_after}");
    }
    // A dead claim is given up.
    let dir = TempDir::new().unwrap();
    fill(&dir.path().join("telemetry-1-aaaaaaaa-a3.sending"), 1);
    set_age(&dir.path().join("telemetry-1-aaaaaaaa-a3.sending"), 121);
    assert_eq!(on(dir.path()).flush_once(), Delivery::default());
    assert!(names(dir.path()).is_empty());
}

#[test]
fn what_is_no_event_is_set_aside() {
    let dir = TempDir::new().unwrap();
    for (name, content) in
        [("1", &b"\xff\xfe"[..]), ("2", b""), ("3", b"{}\nnonsense\n"), ("4", b"torn\n{\"event\":\"code.x\"}\n{\"ev")]
    {
        let path = dir.path().join(format!("telemetry-{name}-aaaaaaaa-a0.sending"));
        fs::write(&path, content).unwrap();
        set_age(&path, 1000 - name.parse::<u64>().unwrap());
    }
    let (url, log) = endpoint(|_, _| (200, json!({})));
    let telemetry = Telemetry::new(dir.path(), settings(&url));
    let sent: usize = (0..2).map(|_| telemetry.flush_once().sent).sum();
    assert_eq!((sent, log.lock().unwrap().len()), (1, 1));
    assert_eq!(
        names(dir.path()),
        ["telemetry-1-aaaaaaaa-a1.corrupt", "telemetry-3-aaaaaaaa-a1.corrupt", "telemetry-identity.json",]
    );
}

#[test]
fn many_senders_send_each_event_once() {
    let dir = TempDir::new().unwrap();
    fill(&dir.path().join(SPOOL), 40);
    let (url, log) = endpoint(|_, _| (200, json!({})));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| Telemetry::new(dir.path(), settings(&url)).flush_once());
        }
    });
    let sent: usize = log.lock().unwrap().iter().map(|(_, body)| body["batch"].as_array().unwrap().len()).sum();
    assert_eq!(sent, 40);
}

#[test]
fn a_key_that_resolves_is_announced_once() {
    let (url, log) = endpoint(|asked, _| {
        (200, if asked == "GET /v1/ping/" { json!({"user_email": "dev@example.com"}) } else { json!({}) })
    });
    let dir = TempDir::new().unwrap();
    for _ in 0..2 {
        fill(&dir.path().join(SPOOL), 1);
        let settings = Settings { api_key: Some(" k1 ".to_owned()), ..settings(&url) };
        assert_eq!(Telemetry::new(dir.path(), settings).flush_once().sent, 1);
    }
    let log = log.lock().unwrap();
    let asked: Vec<&str> = log.iter().map(|(asked, _)| asked.as_str()).collect();
    assert_eq!(asked, ["GET /v1/ping/", "POST /i/v0/e/", "POST /batch/", "POST /batch/"]);
    let anonymous = log[1].1["properties"]["$anon_distinct_id"].as_str().unwrap();
    assert!(anonymous.starts_with("code-anon-"));
    assert_eq!((&log[1].1["event"], &log[1].1["distinct_id"]), (&json!("$identify"), &json!("dev@example.com")));
    assert_eq!(log[3].1["batch"][0]["distinct_id"], "dev@example.com");
    let identity: Value =
        serde_json::from_slice(&fs::read(dir.path().join("telemetry-identity.json")).unwrap()).unwrap();
    assert_eq!(
        identity,
        json!({"anonymous_id": anonymous, "email": "dev@example.com", "key_fingerprint": telemetry::fingerprint("k1"), "aliased": true})
    );
    assert!(log.iter().all(|(_, body)| !body.to_string().contains("k1")));
}

#[test]
fn recording_does_not_wait() {
    let dir = TempDir::new().unwrap();
    let telemetry = on(dir.path());
    telemetry.record("search", None, None, &Map::new());
    let started = Instant::now();
    for _ in 0..100 {
        telemetry.record("search", Some("r"), Some("s"), &map(json!({"n": 1})));
    }
    assert!(started.elapsed() < Duration::from_millis(500), "{:?}", started.elapsed());
}

#[test]
fn kinds_of_errors() {
    let detail = String::new;
    assert_eq!(error_kind(&ApiError::Unauthorized { status: 403, detail: detail() }), "auth");
    assert_eq!(error_kind(&ApiError::Unavailable { status: 503, detail: detail() }), "server-error");
    assert_eq!(error_kind(&ApiError::Unavailable { status: 429, detail: detail() }), "rate-limited");
    assert_eq!(error_kind(&ApiError::Rejected { status: 422, detail: detail() }), "bad-request");
    assert_eq!(error_kind(&ApiError::Rejected { status: 418, detail: detail() }), "other");
    assert_eq!(error_kind(&ApiError::Unreachable("no answer within 5 ms".to_owned())), "timeout");
    assert_eq!(error_kind(&ApiError::Unreachable("refused".to_owned())), "network");
}
