//! Blocking JSON over HTTP, with a limit on everything: time, size of an answer, words of an error.
//!
//! Knows nothing of the Mem0 API; the client of the Platform and the sender of telemetry share it.

use std::cell::OnceCell;
use std::fmt;
use std::io;
use std::time::Duration;

use mem0_code_core::redact;
use serde_json::Value;
use ureq::Agent;
use ureq::config::Config;
use ureq::http::{Request, Uri};
use ureq::tls::{RootCerts, TlsConfig};

/// Most bytes read of an answer.
const MAX_ANSWER_BYTES: u64 = 32 * 1024 * 1024;
/// Most characters of a server's words that are passed on.
const MAX_DETAIL_CHARS: usize = 300;

/// A client for one server.
///
/// Costs nothing until the first request: the connection pool is made then, TLS with the system's
/// certificates only for `https`. A loopback server is reached directly; for others the proxy variables
/// (`ALL_PROXY`, `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`) hold. Redirects are not followed, since the
/// key must not travel to where an answer points.
pub struct Http {
    base: String,
    user_agent: String,
    headers: Vec<(&'static str, String)>,
    direct: bool,
    agent: OnceCell<Agent>,
}

/// What a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET, without a body.
    Get,
    /// POST.
    Post,
    /// PUT.
    Put,
    /// DELETE, without a body.
    Delete,
}

/// An answer, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// The body, at most 32 MiB.
    pub body: Vec<u8>,
    /// Where a redirect points.
    pub location: Option<String>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// There was no connection, or it broke before an answer.
    #[error("{0}")]
    Connection(String),
    /// The time limit passed.
    #[error("no answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// What came was not HTTP, or more than is read.
    #[error("{0}")]
    Answer(String),
}

/// A server's address that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// Neither `http://host…` nor `https://host…`.
    #[error("`{0}` is not an http or https address")]
    Url(String),
    /// A header's value has characters that HTTP does not allow; the value is not repeated.
    #[error("the value for the header `{0}` has characters that cannot be sent")]
    Header(&'static str),
}

impl fmt::Debug for Http {
    /// Leaves the headers out: one of them is the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").field("base", &self.base).field("direct", &self.direct).finish_non_exhaustive()
    }
}

impl Http {
    /// Prepares a client for `base`, whose trailing slashes are cut, that sends `headers` with every request.
    ///
    /// # Errors
    /// [`AddressError`] when the address or a header cannot be used. Nothing is resolved or connected.
    pub fn new(base: &str, user_agent: &str, headers: Vec<(&'static str, String)>) -> Result<Self, AddressError> {
        let base = base.trim().trim_end_matches('/');
        let uri: Uri = base.parse().map_err(|_| AddressError::Url(shown(base)))?;
        let host = match (uri.scheme_str(), uri.host()) {
            (Some("http" | "https"), Some(host)) if !host.is_empty() => host,
            _ => return Err(AddressError::Url(shown(base))),
        };
        for (name, value) in &headers {
            if !value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
                return Err(AddressError::Header(name));
            }
        }
        let direct = is_loopback(host);
        Ok(Self { base: base.to_owned(), user_agent: user_agent.to_owned(), headers, direct, agent: OnceCell::new() })
    }

    /// Sends one request and waits for the whole answer, at most `timeout` long. Nothing is tried twice.
    ///
    /// # Errors
    /// [`HttpError`] when there is no answer. An answer of any status is not an error.
    pub fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        timeout: Duration,
    ) -> Result<Reply, HttpError> {
        self.exchange(method, path, body, &[], timeout)
    }

    /// Like [`Http::send`], with more headers for this request.
    ///
    /// # Errors
    /// See [`Http::send`].
    pub fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        headers: &[(&'static str, &str)],
        timeout: Duration,
    ) -> Result<Reply, HttpError> {
        let mut request = Request::builder().method(method.as_str()).uri(format!("{}{path}", self.base));
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let unusable = |error: ureq::http::Error| HttpError::Answer(format!("unusable request: {error}"));
        let agent = self.agent.get_or_init(|| Agent::new_with_config(self.config()));
        let answer = match body {
            Some(body) => {
                let request = request.header("content-type", "application/json");
                let request = request.body(body.to_string()).map_err(unusable)?;
                agent.run(agent.configure_request(request).timeout_global(Some(timeout)).build())
            }
            None => {
                let request = request.header("content-type", "application/json");
                let request = request.body(()).map_err(unusable)?;
                agent.run(agent.configure_request(request).timeout_global(Some(timeout)).build())
            }
        };
        let answer = answer.map_err(|error| broken(error, timeout))?;
        let status = answer.status().as_u16();
        let location = answer.headers().get("location").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let body = answer
            .into_body()
            .into_with_config()
            .limit(MAX_ANSWER_BYTES)
            .read_to_vec()
            .map_err(|error| broken(error, timeout))?;
        Ok(Reply { status, body, location })
    }

    fn config(&self) -> Config {
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(&self.user_agent)
            .tls_config(tls);
        // The default is what the proxy variables say.
        if self.direct { config.proxy(None).build() } else { config.build() }
    }
}

impl Method {
    fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

impl Reply {
    /// Tells whether the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns what the server says went wrong, in one redacted line of at most 300 characters.
    pub fn detail(&self) -> String {
        if let Some(location) = self.location.as_deref().filter(|_| (300..400).contains(&self.status)) {
            return bounded(&format!("it redirects to {location}"));
        }
        let said = match serde_json::from_slice::<Value>(&self.body) {
            Ok(Value::Object(fields)) => ["detail", "message", "error"]
                .into_iter()
                .find_map(|name| fields.get(name))
                .map_or_else(|| Value::Object(fields.clone()).to_string(), words),
            Ok(other) => words(&other),
            Err(_) => String::from_utf8_lossy(&self.body).into_owned(),
        };
        let said = bounded(&said);
        if said.is_empty() { "no reason given".to_owned() } else { said }
    }
}

fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns `text` in one redacted line of at most 300 characters.
pub fn bounded(text: &str) -> String {
    // Cut roughly first: an error page of megabytes need not be redacted to the end. Redacted before the
    // exact cut, which could leave half a secret that no rule knows any more.
    let rough: String = text.chars().take(MAX_DETAIL_CHARS * 8).collect();
    let line = rough.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = redact::text(&line);
    match line.char_indices().nth(MAX_DETAIL_CHARS) {
        None => line.into_owned(),
        Some(_) => line.chars().take(MAX_DETAIL_CHARS - 1).chain(['…']).collect(),
    }
}

/// Returns an address as a message may show it: bounded, without a user and password.
fn shown(url: &str) -> String {
    let url = bounded(url);
    match (url.find("://"), url.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => format!("{}{}", &url[..scheme + 3], &url[at + 1..]),
        _ => url,
    }
}

fn broken(error: ureq::Error, timeout: Duration) -> HttpError {
    use ureq::Error;
    match error {
        Error::Timeout(_) => HttpError::Timeout(timeout),
        Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => HttpError::Timeout(timeout),
        Error::Io(error) => HttpError::Connection(bounded(&error.to_string())),
        Error::HostNotFound => HttpError::Connection("the host's name is not known".to_owned()),
        Error::ConnectionFailed | Error::ConnectProxyFailed(_) | Error::Tls(_) | Error::Rustls(_) => {
            HttpError::Connection(bounded(&error.to_string()))
        }
        other => HttpError::Answer(bounded(&other.to_string())),
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reply(status: u16, body: &str) -> Reply {
        Reply { status, body: body.as_bytes().to_vec(), location: None }
    }

    #[test]
    fn addresses() {
        for good in ["http://127.0.0.1:1", "https://api.example.com/", " http://[::1]:80/base// "] {
            assert!(Http::new(good, "t", Vec::new()).is_ok(), "{good}");
        }
        for bad in ["", "api.example.com", "ftp://x", "http://", "/path", "file:///x", "http://a b"] {
            assert!(matches!(Http::new(bad, "t", Vec::new()), Err(AddressError::Url(_))), "{bad}");
        }
        let error = Http::new("ftp://me:hidden@host", "t", Vec::new()).unwrap_err().to_string();
        assert_eq!(error, "`ftp://host` is not an http or https address");
        let error = Http::new("http://host", "t", vec![("authorization", "Token a\nb".to_owned())]).unwrap_err();
        assert_eq!(error.to_string(), "the value for the header `authorization` has characters that cannot be sent");
    }

    #[test]
    fn loopback_is_told_from_names() {
        for host in ["127.0.0.1", "127.8.9.1", "[::1]", "LOCALHOST"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["localhost.example.com", "10.0.0.1", "128.0.0.1", "[::2]"] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn details_are_one_bounded_line() {
        assert_eq!(reply(400, r#"{"detail": "bad\n filter"}"#).detail(), "bad filter");
        assert_eq!(reply(400, r#"{"message": {"a": 1}}"#).detail(), r#"{"a":1}"#);
        assert_eq!(reply(400, r#"["no", "way"]"#).detail(), r#"["no","way"]"#);
        assert_eq!(reply(502, "<html>\n\nBad   Gateway").detail(), "<html> Bad Gateway");
        assert_eq!(reply(500, " \n").detail(), "no reason given");
        let secret = format!("m0-{}", "aB3".repeat(12));
        let leaking = reply(401, &json!({"detail": format!("bad key {secret}")}).to_string());
        assert_eq!(leaking.detail(), "bad key [REDACTED]");
        let long = reply(500, &"é".repeat(50_000)).detail();
        assert_eq!(long.chars().count(), 300);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn the_key_is_not_in_debug_output() {
        let http = Http::new("http://localhost", "t", vec![("authorization", "Token hidden".to_owned())]).unwrap();
        assert!(!format!("{http:?}").contains("hidden"));
    }
}
