//! A stand-in for the memory server: records every request, answers by rules, can be slow or hang up.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::glob::wildcard;
use super::matcher::matches;

/// One recorded request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Method and path, `POST /v3/memories/add/`.
    pub(crate) on: String,
    /// The query, decoded.
    pub(crate) query: Value,
    /// Header names in lower case.
    pub(crate) headers: Value,
    /// The body as JSON; null when there was none, `{"$raw": …}` when it is not JSON.
    pub(crate) body: Value,
    /// The body as it came.
    pub(crate) raw: String,
}

/// The server. It stops when dropped.
pub(crate) struct Platform {
    shared: Arc<Shared>,
    url: String,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    stopped: AtomicBool,
}

#[derive(Default)]
struct State {
    rules: Vec<Value>,
    log: Vec<Request>,
    adds: usize,
}

impl Platform {
    /// Starts listening on a free loopback port.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("binding a loopback port");
        let url = format!("http://{}", listener.local_addr().expect("a bound socket has an address"));
        let shared = Arc::new(Shared::default());
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.stopped.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let serving = Arc::clone(&accepting);
                thread::spawn(move || serving.serve(&stream));
            }
        });
        Self { shared, url }
    }

    /// Its address, without a trailing slash.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Replaces the rules.
    pub(crate) fn set_rules(&self, rules: &[Value]) {
        self.shared.lock().rules = rules.to_vec();
    }

    /// Forgets what was recorded.
    pub(crate) fn clear_log(&self) {
        self.shared.lock().log.clear();
    }

    /// What was recorded so far, in order of arrival.
    pub(crate) fn log(&self) -> Vec<Request> {
        self.shared.lock().log.clone()
    }

    /// How many recorded requests match `METHOD path-glob`.
    pub(crate) fn count(&self, pattern: &str) -> usize {
        self.shared.lock().log.iter().filter(|request| wildcard(pattern, &request.on)).count()
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the accepting thread so that it sees the flag.
        TcpStream::connect(self.url.trim_start_matches("http://")).ok();
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn serve(&self, stream: &TcpStream) {
        let mut reader = BufReader::new(stream);
        while let Some(request) = read_request(&mut reader) {
            let reply = {
                let mut state = self.lock();
                let reply = state.reply(&request);
                state.log.push(request);
                reply
            };
            if let Some(delay) = reply["delay_ms"].as_u64() {
                thread::sleep(Duration::from_millis(delay));
            }
            if reply["fail"] == "close" {
                stream.shutdown(Shutdown::Both).ok();
                return;
            }
            if write_reply(stream, &reply).is_err() {
                return;
            }
        }
    }
}

impl State {
    fn reply(&mut self, request: &Request) -> Value {
        let rule = self.rules.iter_mut().find(|rule| {
            rule["times"] != 0
                && wildcard(rule["on"].as_str().unwrap_or_default(), &request.on)
                && rule.get("when").is_none_or(|when| matches(when, &request.body))
                && rule.get("query").is_none_or(|query| matches(query, &request.query))
        });
        let Some(rule) = rule else { return self.default_reply(request) };
        if let Some(left) = rule["times"].as_u64() {
            rule["times"] = json!(left - 1);
        }
        let mut reply = rule["reply"].clone();
        let bare = ["json", "text", "fail"].iter().all(|key| reply.get(key).is_none());
        if bare && reply["status"].as_u64().unwrap_or(200) == 200 {
            for (key, value) in self.default_reply(request).as_object().cloned().unwrap_or_default() {
                reply.as_object_mut().expect("a reply is an object").entry(key).or_insert(value);
            }
        }
        reply
    }

    fn default_reply(&mut self, request: &Request) -> Value {
        let on = request.on.as_str();
        match on {
            "POST /v3/memories/add/" => {
                self.adds += 1;
                json!({"json": {"event_id": format!("event-{}", self.adds), "status": "PENDING"}})
            }
            "POST /v3/memories/search/" | "POST /v2/memories/" => json!({"json": {"results": []}}),
            "GET /v1/ping/" => json!({"json": {"user_email": "dev@example.com"}}),
            _ if on.starts_with("GET /v1/event/") => {
                json!({"json": {"status": "SUCCEEDED", "results": [{"id": "m1"}]}})
            }
            _ if on.starts_with("DELETE /v1/memories/") => json!({"json": {"message": "deleted"}}),
            _ if on.starts_with("POST /telemetry") => json!({"json": {"status": 1}}),
            _ => json!({"status": 404, "json": {"detail": "no route"}}),
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Map::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), json!(value.trim()));
    }
    let raw = read_body(reader, &headers)?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let text = String::from_utf8_lossy(&raw).into_owned();
    let body = match serde_json::from_slice(&raw) {
        Ok(value) => value,
        Err(_) if raw.is_empty() => Value::Null,
        Err(_) => json!({"$raw": text}),
    };
    Some(Request {
        on: format!("{method} {path}"),
        query: Value::Object(query.split('&').filter_map(|pair| pair.split_once('=')).map(decode_pair).collect()),
        headers: Value::Object(headers),
        body,
        raw: text,
    })
}

fn read_body(reader: &mut impl BufRead, headers: &Map<String, Value>) -> Option<Vec<u8>> {
    let header = |name: &str| headers.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut body = Vec::new();
    if header("transfer-encoding").eq_ignore_ascii_case("chunked") {
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let size = usize::from_str_radix(line.trim(), 16).ok()?;
            let start = body.len();
            // The chunk and its line end.
            body.resize(start + size + 2, 0);
            reader.read_exact(&mut body[start..]).ok()?;
            body.truncate(start + size);
            if size == 0 {
                return Some(body);
            }
        }
    }
    body.resize(header("content-length").parse().unwrap_or(0), 0);
    reader.read_exact(&mut body).ok()?;
    Some(body)
}

fn decode_pair((key, value): (&str, &str)) -> (String, Value) {
    (decode(key), json!(decode(value)))
}

/// Undoes percent and plus encoding.
fn decode(text: &str) -> String {
    let raw = text.as_bytes();
    let mut bytes = Vec::with_capacity(raw.len());
    let mut idx = 0;
    while idx < raw.len() {
        let hex = text.get(idx + 1..idx + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (raw[idx], hex) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                idx += 2;
            }
            (b'+', _) => bytes.push(b' '),
            (byte, _) => bytes.push(byte),
        }
        idx += 1;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn write_reply(mut stream: &TcpStream, reply: &Value) -> std::io::Result<()> {
    let body = match reply["text"].as_str() {
        Some(text) => text.to_owned(),
        None => reply.get("json").cloned().unwrap_or_else(|| json!({})).to_string(),
    };
    let status = reply["status"].as_u64().unwrap_or(200);
    let mut head =
        format!("HTTP/1.1 {status} Scripted\r\nContent-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in reply["headers"].as_object().into_iter().flatten() {
        head.push_str(&format!("{name}: {}\r\n", value.as_str().unwrap_or_default()));
    }
    // One write: a reply in two packets costs 40 ms with delayed acknowledgements.
    stream.write_all(format!("{head}\r\n{body}").as_bytes())
}
