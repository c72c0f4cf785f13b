//! Who may ask a server that others can reach: a file of names and hashed tokens.

use std::path::Path;

use anyhow::Context;
use sha2::{Digest, Sha256};

use crate::fsx;
use crate::report::Usage;

/// The people of a token file. The file has one line a token: the person's name, a space, the SHA-256 of the token in
/// hexadecimal. Tokens are long and random, so a fast hash is enough.
#[derive(Debug)]
pub(crate) struct Tokens {
    people: Vec<(String, String)>,
}

impl Tokens {
    /// Reads a token file.
    ///
    /// # Errors
    /// When it cannot be read, a line is not as it should be, or there is no token in it.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        let mut people = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let entry = line.rsplit_once(char::is_whitespace).map(|(name, hash)| (name.trim(), hash));
            let is_hash = |hash: &str| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            match entry {
                Some((name, hash)) if is_name(name) && is_hash(hash) => {
                    people.push((name.to_owned(), hash.to_ascii_lowercase()));
                }
                _ => {
                    let what = format!("{}, line {}: not a name and a hash", path.display(), at + 1);
                    return Err(Usage(what).into());
                }
            }
        }
        if people.is_empty() {
            return Err(
                Usage(format!("{} has no token; `mem0-code serve token NAME` makes one", path.display())).into()
            );
        }
        Ok(Self { people })
    }

    /// Returns whose token this is.
    pub(crate) fn owner(&self, token: &str) -> Option<&str> {
        let given = hash(token);
        // Hashes are compared, so how long that takes tells nothing about a token.
        self.people.iter().find(|(_, hash)| *hash == given).map(|(name, _)| name.as_str())
    }

    /// Adds a token for a person and returns it; only its hash is kept.
    ///
    /// # Errors
    /// When the name cannot be one, or the file cannot be written.
    pub(crate) fn add(path: &Path, name: &str) -> anyhow::Result<String> {
        let name = name.trim();
        if !is_name(name) {
            return Err(
                Usage(format!("`{name}` cannot be a person's name: 1 to 255 characters, no asterisks alone")).into()
            );
        }
        let token = format!("m0c-{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
        let mut text = match fsx::read_optional(path).with_context(|| format!("reading {}", path.display()))? {
            Some(bytes) => String::from_utf8(bytes).with_context(|| format!("{} is not text", path.display()))?,
            None => String::new(),
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("{name} {}\n", hash(&token)));
        fsx::write_atomic(path, text.as_bytes(), fsx::Mode::Private)
            .with_context(|| format!("writing {}", path.display()))?;
        Ok(token)
    }
}

fn is_name(name: &str) -> bool {
    let n_chars = name.chars().count();
    (1..=255).contains(&n_chars)
        && !name.starts_with('#')
        && !name.contains(char::is_control)
        && !mem0_code_core::scope::is_wildcard(name)
}

fn hash(token: &str) -> String {
    Sha256::digest(token.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_hash_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tokens");
        let ada = Tokens::add(&path, "ada").expect("a token");
        let bob = Tokens::add(&path, "bob the builder").expect("a token");
        let text = std::fs::read_to_string(&path).expect("the file");
        assert!(!text.contains(&ada) && !text.contains(&bob));
        let tokens = Tokens::read(&path).expect("tokens");
        assert_eq!((tokens.owner(&ada), tokens.owner(&bob)), (Some("ada"), Some("bob the builder")));
        assert_eq!((tokens.owner(""), tokens.owner("m0c-")), (None, None));
    }

    #[test]
    fn files_that_are_none_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tokens");
        let short = format!("ada {}", "0".repeat(63));
        for text in ["", "# nobody\n", "ada\n", short.as_str(), "* 00\n"] {
            std::fs::write(&path, text).expect("a file");
            assert!(Tokens::read(&path).is_err(), "{text}");
        }
        for name in ["", " ", "**", "#x", "a\nb"] {
            assert!(Tokens::add(&path, name).is_err(), "{name:?}");
        }
    }
}
