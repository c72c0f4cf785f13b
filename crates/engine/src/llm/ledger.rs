//! What models cost: a small file shared by all workers, `model-usage.json`, under a lock of its own.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The account of one day (UTC), and the last trouble of any day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// `YYYY-MM-DD`.
    pub day: String,
    /// Requests sent.
    pub requests: u64,
    /// Tokens, in and out, as the server counted them or as they were estimated.
    pub tokens: u64,
    /// How often the rules were used instead.
    pub fallbacks: u64,
    /// The last trouble with the model: when (RFC 3339) and what.
    pub last_failure: Option<(String, String)>,
}

/// Why a request is not sent.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It could go over the day's limit.
    #[error("the day's limit of {limit} tokens is reached ({used} used)")]
    Spent {
        /// Used so far.
        used: u64,
        /// The limit.
        limit: u64,
    },
    /// The model failed a moment ago.
    #[error("the model failed less than a minute ago")]
    CoolingDown,
    /// The account cannot be kept, so nothing may be spent.
    #[error("the account of tokens cannot be kept: {0}")]
    Io(#[from] io::Error),
}

/// What was paid in advance.
#[derive(Debug)]
pub(super) struct Paid {
    day: String,
    pub(super) tokens: u64,
}

/// The account in a folder.
#[derive(Debug, Clone)]
pub struct Ledger {
    path: PathBuf,
}

impl Ledger {
    /// The account in this folder. Nothing is read or made yet.
    pub fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join("model-usage.json") }
    }

    /// Returns today's account.
    pub fn usage(&self, now: Timestamp) -> Usage {
        let stored: Usage =
            fs::read(&self.path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        if stored.day == day(now) {
            return stored;
        }
        Usage { day: day(now), last_failure: stored.last_failure, ..Usage::default() }
    }

    /// Takes `tokens` out of the day's `limit`.
    ///
    /// # Errors
    /// [`Refused`]; nothing was taken then.
    pub(super) fn pay(&self, tokens: u64, limit: u64, cool_down_s: i64, now: Timestamp) -> Result<Paid, Refused> {
        self.change(now, |usage| {
            let failed_at = usage.last_failure.as_ref().and_then(|(at, _)| at.parse::<Timestamp>().ok());
            // A clock that was put back must not stop extraction for good.
            let since = failed_at.map(|at| now.as_second() - at.as_second());
            if since.is_some_and(|seconds| (0..cool_down_s).contains(&seconds)) {
                return Err(Refused::CoolingDown);
            }
            if usage.tokens.saturating_add(tokens) > limit {
                return Err(Refused::Spent { used: usage.tokens, limit });
            }
            usage.tokens += tokens;
            usage.requests += 1;
            Ok(Paid { day: day(now), tokens })
        })?
    }

    /// Replaces what was paid in advance by what it came to; an answer ends the note of earlier trouble.
    pub(super) fn settle(&self, paid: &Paid, tokens: u64, is_answered: bool, now: Timestamp) -> Result<(), Refused> {
        self.change(now, |usage| {
            // What was paid yesterday stays on yesterday's account.
            if usage.day == paid.day {
                usage.tokens = usage.tokens.saturating_sub(paid.tokens).saturating_add(tokens);
            }
            if is_answered {
                usage.last_failure = None;
            }
        })?;
        Ok(())
    }

    /// Notes that the rules were used, and why if the model is to blame.
    pub(super) fn note_fallback(&self, reason: Option<&str>, now: Timestamp) {
        // The extraction itself does not depend on the note.
        let _ = self.change(now, |usage| {
            usage.fallbacks += 1;
            if let Some(reason) = reason {
                usage.last_failure = Some((now.to_string(), mem0_code_core::redact::bounded(reason, 300)));
            }
        });
    }

    /// Changes the account while nobody else does.
    fn change<T>(&self, now: Timestamp, work: impl FnOnce(&mut Usage) -> T) -> io::Result<T> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        crate::db::private_folder(folder)?;
        let lock = File::options().create(true).truncate(false).write(true).open(self.path.with_extension("lock"))?;
        lock.lock()?;
        let mut usage = self.usage(now);
        let before = usage.clone();
        let result = work(&mut usage);
        if usage != before {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(&serde_json::to_vec(&usage)?)?;
            file.persist(&self.path).map_err(|error| error.error)?;
        }
        Ok(result)
    }
}

fn day(now: Timestamp) -> String {
    now.strftime("%Y-%m-%d").to_string()
}
