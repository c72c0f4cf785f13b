//! One repository, many spellings of its address.

/// Returns the identity of a repository from `remote.origin.url` as configured.
///
/// `git@host:path`, `ssh://git@host/path` and `https://host/path` are one repository, with or without `.git`,
/// trailing slashes, capital letters in the host, or user information, which is dropped: no credential ever
/// becomes part of an identity. An explicit port stays (except 22 of `ssh`), and with it the scheme.
pub fn normalize_remote(raw: &str) -> String {
    let bare = without_suffix(raw);
    let Some((scheme, rest)) = split_scheme(bare) else {
        return match split_scp(bare) {
            Some((host, path)) => format!("https://{}/{}", host.to_lowercase(), path.trim_start_matches('/')),
            None => bare.to_owned(),
        };
    };
    let scheme = scheme.to_ascii_lowercase();
    let (authority, path) = split_authority(rest);
    let mut host = authority.to_lowercase();
    let mut scheme = scheme.as_str();
    if matches!(scheme, "ssh" | "git+ssh" | "ssh+git") {
        scheme = "ssh";
        host.truncate(host.strip_suffix(":22").map_or(host.len(), str::len));
        if port(&host).is_none() {
            scheme = "https";
        }
    }
    format!("{scheme}://{host}{path}").trim_end_matches('/').to_owned()
}

/// Returns the slug of a repository from its remote: the last two parts of the path joined by `-`. The host
/// stands in for a missing part. Never holds user information.
pub fn slug_of_remote(raw: &str) -> String {
    let bare = without_suffix(raw);
    let (address, is_ssh) = match split_scheme(bare) {
        Some((scheme, rest)) => {
            let (authority, path) = split_authority(rest);
            (format!("{authority}{path}"), scheme.to_ascii_lowercase().contains("ssh"))
        }
        None => match split_scp(bare) {
            Some((host, path)) => (format!("{host}:{path}"), false),
            None => (bare.to_owned(), false),
        },
    };
    let address = if is_ssh { address.replacen(":22/", "/", 1) } else { address };
    let address = address.replacen(':', "/", 1);
    let parts: Vec<&str> = address.split('/').filter(|part| !part.is_empty()).collect();
    parts[parts.len().saturating_sub(2)..].join("-").replace([':', '/', '\\'], "-")
}

/// Without white space around, trailing slashes and one `.git`.
fn without_suffix(raw: &str) -> &str {
    let bare = raw.trim().trim_end_matches('/');
    bare.strip_suffix(".git").unwrap_or(bare).trim_end_matches('/')
}

fn split_scheme(address: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = address.split_once("://")?;
    let valid = scheme.starts_with(|char: char| char.is_ascii_alphabetic())
        && scheme.chars().all(|char| char.is_ascii_alphanumeric() || "+-.".contains(char));
    valid.then_some((scheme, rest))
}

/// Splits what follows a scheme into host (with port, without user information) and the rest from its `/` on.
fn split_authority(rest: &str) -> (&str, &str) {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if let Some((_, host)) = authority.rsplit_once('@') {
        return (host, path);
    }
    // A password with a raw slash ends the authority too early: `user:pa` is no host with a port.
    let has_bad_port = authority.rsplit_once(':').is_some_and(|(_, port)| {
        !port.is_empty() && !authority.ends_with(']') && !port.bytes().all(|byte| byte.is_ascii_digit())
    });
    match path.split_once('@') {
        Some((_, after)) if has_bad_port => split_authority(after),
        _ => (authority, path),
    }
}

fn port(host: &str) -> Option<&str> {
    let (_, port) = host.rsplit_once(':')?;
    (!port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())).then_some(port)
}

/// Splits `[user@]host:path`; not a local path, not a drive letter.
fn split_scp(address: &str) -> Option<(&str, &str)> {
    let (host, path) = address.split_once(':')?;
    if host.contains('/') || path.is_empty() {
        return None;
    }
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    (host.len() > 1 && !host.contains('\\')).then_some((host, path))
}
