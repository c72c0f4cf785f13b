//! Whether a request is heard: by the name it was sent to, the page it comes from, and its token.

use std::net::{IpAddr, SocketAddr};

use super::handlers::Failure;
use super::tokens::Tokens;

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Who {
    /// Somebody on this machine, where no token is needed.
    Local,
    /// The person a token belongs to.
    Person(String),
}

impl Who {
    /// The person, when there is one.
    pub(super) fn person(&self) -> Option<&str> {
        match self {
            Self::Local => None,
            Self::Person(name) => Some(name),
        }
    }
}

/// Decides about requests.
#[derive(Debug)]
pub(super) struct Guard {
    addr: SocketAddr,
    tokens: Option<Tokens>,
}

impl Guard {
    pub(super) fn new(addr: SocketAddr, tokens: Option<Tokens>) -> Self {
        Self { addr, tokens }
    }

    /// Where the server listens.
    pub(super) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Whether no token is needed.
    pub(super) fn is_open(&self) -> bool {
        self.tokens.is_none()
    }

    /// Lets a request in, or says why not.
    ///
    /// A page in a browser can send requests to loopback, also under a name of its own that leads there. So without tokens the
    /// host must be a loopback one, and a page that asks must come from one.
    pub(super) fn admit(&self, header: &dyn Fn(&str) -> Option<String>) -> Result<Who, Failure> {
        let refused = |what: &str| Err(Failure::new(403, format!("{what} may not ask here")));
        let host = header("host").unwrap_or_default();
        let origin = header("origin");
        match &self.tokens {
            None => {
                if !is_loopback(&host) {
                    return refused("a request to another host's name");
                }
                if origin.is_some_and(|origin| !origin.split_once("://").is_some_and(|(_, host)| is_loopback(host))) {
                    return refused("a page of another origin");
                }
                if header("sec-fetch-site").is_some_and(|site| site == "cross-site") {
                    return refused("a page of another site");
                }
                Ok(Who::Local)
            }
            Some(tokens) => {
                let is_own = |origin: &str| origin.split_once("://").is_some_and(|(_, own)| own == host);
                if origin.is_some_and(|origin| !is_own(&origin)) {
                    return refused("a page of another origin");
                }
                let given = header("authorization").unwrap_or_default();
                let token = given.split_once(' ').map_or("", |(scheme, token)| {
                    if ["token", "bearer"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) { token } else { "" }
                });
                match tokens.owner(token.trim()) {
                    Some(name) => Ok(Who::Person(name.to_owned())),
                    None => {
                        let mut failure = Failure::new(401, "a token of this server is needed");
                        failure.headers.push(("www-authenticate", "Token".to_owned()));
                        Err(failure)
                    }
                }
            }
        }
    }
}

/// Whether a host, perhaps with a port, is this machine and cannot be made another one by a name server.
fn is_loopback(host: &str) -> bool {
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or(rest, |(host, _)| host),
        None => host.rsplit_once(':').map_or(host, |(host, _)| host),
    };
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit(guard: &Guard, headers: &[(&str, &str)]) -> Result<Who, u16> {
        let header = |name: &str| headers.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        guard.admit(&header).map_err(|failure| failure.status)
    }

    #[test]
    fn pages_elsewhere_cannot_reach_a_server_on_loopback() {
        let guard = Guard::new(([127, 0, 0, 1], 8787).into(), None);
        for host in ["127.0.0.1:8787", "localhost:8787", "[::1]:8787", "LOCALHOST", "127.9.9.9:1"] {
            assert_eq!(admit(&guard, &[("host", host)]), Ok(Who::Local), "{host}");
        }
        for host in ["", "evil.example:8787", "localhost.evil.example", "10.0.0.1:8787", "127.0.0.1.evil.example"] {
            assert_eq!(admit(&guard, &[("host", host)]), Err(403), "{host}");
        }
        let from = |name, value| admit(&guard, &[("host", "localhost:8787"), (name, value)]);
        assert_eq!(from("origin", "http://localhost:3000"), Ok(Who::Local));
        assert_eq!(from("origin", "https://evil.example"), Err(403));
        assert_eq!(from("origin", "null"), Err(403));
        assert_eq!(from("sec-fetch-site", "cross-site"), Err(403));
    }

    #[test]
    fn a_token_names_its_person() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tokens");
        let token = Tokens::add(&path, "ada").expect("a token");
        let guard = Guard::new(([0, 0, 0, 0], 8787).into(), Some(Tokens::read(&path).expect("tokens")));
        for scheme in ["Token", "Bearer", "bearer"] {
            let given = format!("{scheme} {token}");
            let who = admit(&guard, &[("host", "team.example"), ("authorization", &given)]);
            assert_eq!(who, Ok(Who::Person("ada".to_owned())));
        }
        for given in ["", "Token", "Token ", "Token wrong", &token] {
            assert_eq!(admit(&guard, &[("host", "team.example"), ("authorization", given)]), Err(401), "{given}");
        }
    }
}
