//! A server for tests: scripted answers on loopback, every request recorded.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

/// What the stub does with one request.
pub(crate) enum Answer {
    /// Answers with a status and a body.
    Reply(u16, String),
    /// Answers after a pause.
    Late(Duration, String),
    /// Reads the request and drops the connection.
    Drop,
    /// Answers with a status and a `Location`.
    Redirect(String),
    /// Sends these bytes and closes.
    Raw(&'static str),
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

pub(crate) struct Stub {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Stub {
    /// Starts a server that gives `answers` in order and then 404. Its threads end with the test process.
    pub(crate) fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let answers = Arc::new(Mutex::new(VecDeque::from(answers)));
        let log = Arc::clone(&seen);
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let (log, answers) = (Arc::clone(&log), Arc::clone(&answers));
                std::thread::spawn(move || serve(connection, &log, &answers));
            }
        });
        Self { url, seen }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(connection: TcpStream, log: &Mutex<Vec<Seen>>, answers: &Mutex<VecDeque<Answer>>) {
    let mut reader = BufReader::new(connection.try_clone().unwrap());
    let mut writer = connection;
    while let Some(request) = read(&mut reader) {
        log.lock().unwrap().push(request);
        let answer = answers.lock().unwrap().pop_front().unwrap_or(Answer::Reply(404, "{}".to_owned()));
        let (status, extra, body) = match answer {
            Answer::Reply(status, body) => (status, String::new(), body),
            Answer::Late(pause, body) => {
                std::thread::sleep(pause);
                (200, String::new(), body)
            }
            Answer::Redirect(to) => (302, format!("Location: {to}\r\n"), String::new()),
            Answer::Drop => return,
            Answer::Raw(bytes) => {
                let _ = writer.write_all(bytes.as_bytes());
                return;
            }
        };
        let head = format!("HTTP/1.1 {status} Status\r\nContent-Length: {}\r\n{extra}\r\n", body.len());
        if writer.write_all(head.as_bytes()).and_then(|()| writer.write_all(body.as_bytes())).is_err() {
            return;
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Seen> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(Seen { method, path, headers, body })
}
