//! What the person set, and what holds otherwise.
//!
//! Layers, strongest first: options of the host's plugin settings, environment variables, `code.toml`
//! ([`FileConfig`]), defaults. Nothing here reads an environment or a file: the caller passes both in. The names
//! are listed in [`crate::envvars`].

mod exclude;
mod file;
mod key;

use std::path::Path;
use std::time::Duration;

pub use file::{ConfigError, FileConfig, KEYS};
pub use key::{KeySource, Secret, api_key, has_key_variable, plugin_key};

use crate::scope::{SearchScope, is_wildcard};

/// Looks an environment variable up.
pub type Env<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Address of the Mem0 Platform.
pub const PLATFORM_URL: &str = "https://api.mem0.ai";

/// Everything that can be set, resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Whose memories these are; never blank or a wildcard.
    pub user_id: String,
    /// A name for the project in place of its remote's; never a wildcard.
    pub project_id: Option<String>,
    /// Results of a search, 1 to 20, 3 by default.
    pub top_k: usize,
    /// Most characters put into a prompt, 1,000 to 10,000, 4,000 by default.
    pub max_context_chars: usize,
    /// How far a search reaches.
    pub search_scope: SearchScope,
    /// Shortest first prompt that is searched for, in characters, at least 1, 20 by default.
    pub min_query_chars: usize,
    /// Whether captured work is sent without being asked.
    pub auto_flush: bool,
    /// After how long without activity a session is sent; `None` never, 300 s by default.
    pub idle_flush: Option<Duration>,
    /// How long to wait for a server to extract, 120 s by default.
    pub extraction_wait: Duration,
    /// How long between two looks at an extraction, at least 0.1 s, 1 s by default.
    pub event_poll: Duration,
    /// The host, where known.
    pub host: Option<String>,
    /// The server's address as set, without trailing slashes.
    pub api_url: Option<String>,
    /// The shared store's address as set; it may hold a password.
    pub store_url: Option<Secret>,
    /// The place chosen by name.
    pub choice: Choice,
    /// The language model that looks for memories on this machine's behalf; `None`: rules alone do.
    pub llm: Option<Llm>,
    /// Globs of project roots that are neither captured nor recalled for.
    pub exclude: Vec<String>,
    /// Whether telemetry is allowed.
    pub telemetry: bool,
    /// Where telemetry is sent, without trailing slashes; `None` nowhere.
    pub telemetry_url: Option<String>,
    /// Whether hooks start no process (`MEM0_CODE_SPAWN=manual`).
    pub manual_spawn: bool,
    /// Values that could not be used, a sentence each, for `doctor`. Never holds a secret.
    pub warnings: Vec<String>,
}

/// A language model, as the person named it.
#[derive(Debug, Clone, PartialEq)]
pub struct Llm {
    /// Its server's address, without trailing slashes.
    pub url: String,
    /// Its name there.
    pub model: String,
    /// The key, where one is needed.
    pub api_key: Option<Secret>,
    /// Most tokens a day, in and out together, 200,000 by default.
    pub daily_tokens: u64,
}

/// A place for memories, as named by the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// Decided by what else is set.
    #[default]
    Auto,
    /// This machine.
    Embedded,
    /// The Mem0 API.
    Platform,
    /// PostgreSQL.
    Postgres,
}

/// Where memories live.
#[derive(Debug, Clone, PartialEq)]
pub enum Backend {
    /// In a database on this machine.
    Embedded,
    /// Behind the Mem0 API.
    Platform {
        /// Its address, without a trailing slash.
        url: String,
    },
    /// In a shared PostgreSQL store.
    Postgres {
        /// Its address.
        url: Secret,
    },
}

impl Backend {
    /// Its name in settings.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Platform { .. } => "platform",
            Self::Postgres { .. } => "postgres",
        }
    }
}

impl Settings {
    /// Returns where memories live. `key`: where [`api_key`] found one.
    ///
    /// Without a choice by name: the Platform with an address, PostgreSQL with an address, the Platform with a key (which
    /// may only have been saved once), else this machine. PostgreSQL chosen by name without an address falls back to this machine (there is a warning).
    pub fn backend(&self, has_key: bool) -> Backend {
        let platform = || Backend::Platform { url: self.api_url.clone().unwrap_or_else(|| PLATFORM_URL.to_owned()) };
        let postgres = || self.store_url.clone().map_or(Backend::Embedded, |url| Backend::Postgres { url });
        match self.choice {
            Choice::Embedded => Backend::Embedded,
            Choice::Platform => platform(),
            Choice::Postgres => postgres(),
            Choice::Auto if self.api_url.is_some() || (has_key && self.store_url.is_none()) => platform(),
            Choice::Auto => postgres(),
        }
    }

    /// Returns a setting's value as people write it, by its key in `code.toml`. Secrets are not in it.
    pub fn describe(&self, key: &str, backend: &Backend) -> Option<String> {
        let text = match key {
            "user_id" => self.user_id.clone(),
            "project_id" => self.project_id.clone().unwrap_or_default(),
            "top_k" => self.top_k.to_string(),
            "max_context_chars" => self.max_context_chars.to_string(),
            "search_scope" => self.search_scope.as_str().to_owned(),
            "min_query_chars" => self.min_query_chars.to_string(),
            "auto_flush" => self.auto_flush.to_string(),
            "idle_flush_seconds" => self.idle_flush.unwrap_or_default().as_secs_f64().to_string(),
            "extraction_wait_seconds" => self.extraction_wait.as_secs_f64().to_string(),
            "event_poll_seconds" => self.event_poll.as_secs_f64().to_string(),
            "backend" => backend.name().to_owned(),
            "store_url" => {
                self.store_url.as_ref().map(|url| crate::redact::text(url.expose()).into_owned()).unwrap_or_default()
            }
            "api_url" => self.api_url.clone().unwrap_or_default(),
            "llm_url" => self.llm.as_ref().map(|llm| llm.url.clone()).unwrap_or_default(),
            "llm_model" => self.llm.as_ref().map(|llm| llm.model.clone()).unwrap_or_default(),
            "llm_daily_tokens" => self.llm.as_ref().map(|llm| llm.daily_tokens.to_string()).unwrap_or_default(),
            "exclude" => self.exclude.join(", "),
            "telemetry_url" => self.telemetry_url.clone().unwrap_or_default(),
            _ => return None,
        };
        Some(text)
    }

    /// Tells whether a project is excluded: nothing of it is captured and nothing recalled in it. `home` stands for
    /// `~` in the globs.
    pub fn excludes(&self, root: &Path, home: Option<&str>) -> bool {
        let root = root.to_string_lossy();
        self.exclude.iter().any(|glob| exclude::matches(glob, &root, home))
    }
}

/// Resolves everything. `host` is the host named on the command line.
pub fn resolve(env: &Env<'_>, file: &FileConfig, host: Option<&str>) -> Settings {
    let mut layers =
        Layers { env, warnings: file.unknown.iter().map(|key| format!("code.toml: unknown key `{key}`")).collect() };
    let host = host.map(str::to_owned).or_else(|| layers.var("MEM0_PLUGIN_HARNESS"));
    let api_url =
        layers.var("MEM0_API_URL").or_else(|| non_blank(file.api_url.as_deref())).and_then(|url| address(&url));
    let store_url = layers.var("MEM0_CODE_STORE_URL").or_else(|| non_blank(file.store_url.as_deref())).map(Secret::new);
    let choice = layers.choice(file.backend.as_deref());
    if choice == Choice::Postgres && store_url.is_none() {
        layers.warnings.push(
            "the backend is `postgres`, but MEM0_CODE_STORE_URL is not set; memories stay on this machine".to_owned(),
        );
    }
    let idle = layers.seconds(
        layers.var("MEM0_CODE_IDLE_FLUSH_SECONDS"),
        "MEM0_CODE_IDLE_FLUSH_SECONDS",
        file.idle_flush_seconds,
        300.0,
    );
    let wait = layers.seconds(
        layers.var("MEM0_CODE_EXTRACTION_WAIT_SECONDS"),
        "MEM0_CODE_EXTRACTION_WAIT_SECONDS",
        file.extraction_wait_seconds,
        120.0,
    );
    let poll = layers.seconds(
        layers.var("MEM0_CODE_EVENT_POLL_SECONDS"),
        "MEM0_CODE_EVENT_POLL_SECONDS",
        file.event_poll_seconds,
        1.0,
    );
    Settings {
        user_id: user_id(&layers, file),
        project_id: [layers.var("MEM0_PROJECT_ID"), non_blank(file.project_id.as_deref())]
            .into_iter()
            .flatten()
            .find(|name| !is_wildcard(name)),
        top_k: layers.count(layers.option("TOP_K"), "top_k", file.top_k, 3).clamp(1, 20),
        max_context_chars: layers
            .count(layers.option("MAX_CONTEXT_CHARS"), "max_context_chars", file.max_context_chars, 4_000)
            .clamp(1_000, 10_000),
        search_scope: layers.scope(file.search_scope.as_deref()),
        min_query_chars: layers
            .count(layers.var("MEM0_CODE_MIN_QUERY_CHARS"), "min_query_chars", file.min_query_chars, 20)
            .max(1),
        auto_flush: layers.var("MEM0_CODE_AUTO_FLUSH").map_or(file.auto_flush.unwrap_or(true), |word| is_truthy(&word)),
        idle_flush: Some(idle).filter(|idle| !idle.is_zero()),
        extraction_wait: wait,
        event_poll: poll.max(Duration::from_millis(100)),
        host,
        api_url,
        store_url,
        choice,
        llm: layers.llm(file),
        exclude: file.exclude.clone().unwrap_or_default(),
        telemetry: !layers
            .var("MEM0_TELEMETRY")
            .is_some_and(|word| ["false", "0", "no", "off"].iter().any(|off| word.eq_ignore_ascii_case(off))),
        telemetry_url: layers
            .var("MEM0_TELEMETRY_URL")
            .or_else(|| non_blank(file.telemetry_url.as_deref()))
            .and_then(|url| address(&url)),
        manual_spawn: layers.var("MEM0_CODE_SPAWN").is_some_and(|word| word.eq_ignore_ascii_case("manual")),
        warnings: layers.warnings,
    }
}

/// The environment, and what was wrong in it.
struct Layers<'a> {
    env: &'a Env<'a>,
    warnings: Vec<String>,
}

impl Layers<'_> {
    /// A variable, trimmed; blank counts as unset.
    fn var(&self, name: &str) -> Option<String> {
        (self.env)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// An option of the host's plugin settings, else its `MEM0_CODE_` variable.
    fn option(&self, name: &str) -> Option<String> {
        ["PLUGIN_OPTION_", "CLAUDE_PLUGIN_OPTION_", "MEM0_CODE_"]
            .iter()
            .find_map(|prefix| self.var(&format!("{prefix}{name}")))
    }

    fn count(&mut self, set: Option<String>, name: &str, file: Option<i64>, default: usize) -> usize {
        let parsed = set.and_then(|text| match text.parse::<i64>() {
            Ok(number) => Some(number),
            Err(_) => {
                self.warnings.push(format!("{name}: `{}` is not a whole number", shortened(&text)));
                None
            }
        });
        match parsed.or(file) {
            Some(number) => usize::try_from(number.max(0)).unwrap_or(usize::MAX),
            None => default,
        }
    }

    fn seconds(&mut self, set: Option<String>, name: &str, file: Option<f64>, default: f64) -> Duration {
        let usable = |seconds: &f64| seconds.is_finite();
        let parsed = set.and_then(|text| {
            let number = text.parse().ok().filter(usable);
            if number.is_none() {
                self.warnings.push(format!("{name}: `{}` is not a number of seconds", shortened(&text)));
            }
            number
        });
        // A hundred years are as good as for ever, and within what a `Duration` can be added to.
        let seconds = parsed.or(file.filter(usable)).unwrap_or(default).clamp(0.0, 3.2e9);
        Duration::from_secs_f64(seconds)
    }

    fn llm(&mut self, file: &FileConfig) -> Option<Llm> {
        let url = self.var("MEM0_CODE_LLM_URL").or_else(|| non_blank(file.llm_url.as_deref()))?;
        let url = address(&url)?;
        let Some(model) = self.var("MEM0_CODE_LLM_MODEL").or_else(|| non_blank(file.llm_model.as_deref())) else {
            self.warnings
                .push("a language model's address is set, but not MEM0_CODE_LLM_MODEL; rules extract".to_owned());
            return None;
        };
        let limit = self.var("MEM0_CODE_LLM_DAILY_TOKENS");
        let limit = self.count(limit, "llm_daily_tokens", file.llm_daily_tokens, 200_000);
        Some(Llm {
            url,
            model,
            api_key: self.var("MEM0_CODE_LLM_API_KEY").map(Secret::new),
            daily_tokens: u64::try_from(limit).unwrap_or(u64::MAX),
        })
    }

    fn scope(&mut self, file: Option<&str>) -> SearchScope {
        let Some(word) = self.option("SEARCH_SCOPE").or_else(|| non_blank(file)) else { return SearchScope::default() };
        SearchScope::parse(&word).unwrap_or_else(|| {
            self.warnings.push(format!("search_scope: `{}` is none of repo, dir, mine", shortened(&word)));
            SearchScope::default()
        })
    }

    fn choice(&mut self, file: Option<&str>) -> Choice {
        let Some(word) = self.var("MEM0_CODE_BACKEND").or_else(|| non_blank(file)) else { return Choice::Auto };
        match word.to_ascii_lowercase().as_str() {
            "auto" => Choice::Auto,
            "embedded" => Choice::Embedded,
            "platform" => Choice::Platform,
            "postgres" => Choice::Postgres,
            _ => {
                let word = shortened(&word);
                self.warnings.push(format!("backend: `{word}` is none of auto, embedded, platform, postgres"));
                Choice::Auto
            }
        }
    }
}

fn user_id(layers: &Layers<'_>, file: &FileConfig) -> String {
    let named = [
        "PLUGIN_OPTION_USER_ID",
        "CLAUDE_PLUGIN_OPTION_USER_ID",
        "MEM0_CODE_USER_ID",
        "MEM0_USER_ID",
        "MEM0_RESOLVED_USER_ID",
    ];
    let login = ["USER", "USERNAME"];
    let variables = |names: &[&str]| names.iter().filter_map(|name| layers.var(name)).collect::<Vec<_>>();
    // The file is what the person wrote; the login name is only what the system calls them.
    [variables(&named), Vec::from_iter(non_blank(file.user_id.as_deref())), variables(&login)]
        .concat()
        .into_iter()
        .find(|name| !is_wildcard(name))
        .unwrap_or_else(|| "default".to_owned())
}

fn is_truthy(word: &str) -> bool {
    ["1", "true", "yes", "on"].iter().any(|truthy| word.trim().eq_ignore_ascii_case(truthy))
}

fn non_blank(value: Option<&str>) -> Option<String> {
    value.map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned)
}

/// An address without trailing slashes.
fn address(url: &str) -> Option<String> {
    non_blank(Some(url.trim().trim_end_matches('/')))
}

/// Enough of a wrong value to recognize it; it may be long, or a secret in the wrong place.
fn shortened(value: &str) -> String {
    crate::redact::text(value).chars().take(40).collect()
}

#[cfg(test)]
mod tests;
