//! A `mem0-code serve` of a test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::process::BINARY;

/// A server with a home of its own; killed when dropped.
pub(crate) struct Server {
    pub(crate) home: TempDir,
    child: Child,
    addr: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Server {
    /// Starts a server on a free port of loopback.
    pub(crate) fn start() -> Self {
        Self::start_in(TempDir::new().expect("a temporary home"), &[])
    }

    /// Starts a server in a home that is there.
    pub(crate) fn start_in(home: TempDir, arguments: &[&str]) -> Self {
        let mut child = Self::command(&home, &["serve", "--addr", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("stdout is piped")).read_line(&mut line).expect("its address");
        let addr =
            line.split("http://").nth(1).and_then(|rest| rest.split(' ').next()).expect("its address").to_owned();
        Self { home, child, addr }
    }

    /// A command in the server's home.
    pub(crate) fn command(home: &TempDir, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command
            .args(arguments)
            .current_dir(home.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home.path())
            .env("MEM0_DIR", home.path().join("mem0"))
            .env("MEM0_CODE_SPAWN", "manual");
        command
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the server's end.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.child.wait().expect("an exit status").code()
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Reply {
        let body = body.map(Value::to_string).unwrap_or_default();
        self.send(method, path, &[("content-type", "application/json")], body.as_bytes())
    }

    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let host = headers.iter().find(|(name, _)| *name == "host").map_or(self.addr.as_str(), |(_, host)| *host);
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        for (name, value) in headers.iter().filter(|(name, _)| *name != "host") {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        self.exchange(&[head.as_bytes(), body].concat(), false)
    }

    /// Sends bytes as they are, and nothing after them.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Reply {
        self.exchange(bytes, true)
    }

    fn exchange(&self, bytes: &[u8], is_all: bool) -> Reply {
        let mut stream = TcpStream::connect(&self.addr).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        // A server that refuses early closes before everything is sent.
        let _ = stream.write_all(bytes);
        if is_all {
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Reply { status, head: head.to_lowercase(), body: body.to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
