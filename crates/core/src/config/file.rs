//! `~/.mem0/code.toml`.

use serde::Deserialize;

/// The settings file. Every key is optional; see [`super::Settings`] for what they mean.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct FileConfig {
    /// Whose memories these are.
    pub user_id: Option<String>,
    /// A name for the project.
    pub project_id: Option<String>,
    /// Results of a search.
    pub top_k: Option<i64>,
    /// Most characters put into a prompt.
    pub max_context_chars: Option<i64>,
    /// `repo`, `dir` or `mine`.
    pub search_scope: Option<String>,
    /// Shortest first prompt that is searched for, in characters.
    pub min_query_chars: Option<i64>,
    /// Whether captured work is sent without being asked.
    pub auto_flush: Option<bool>,
    /// Seconds without activity after which a session is sent; 0 never.
    pub idle_flush_seconds: Option<f64>,
    /// Seconds to wait for a server to extract.
    pub extraction_wait_seconds: Option<f64>,
    /// Seconds between two looks at an extraction.
    pub event_poll_seconds: Option<f64>,
    /// `auto`, `embedded`, `platform` or `postgres`.
    pub backend: Option<String>,
    /// Address of a PostgreSQL store.
    pub store_url: Option<String>,
    /// Address of a server with the Mem0 API.
    pub api_url: Option<String>,
    /// Address of a language model that looks for memories.
    pub llm_url: Option<String>,
    /// The model's name there.
    pub llm_model: Option<String>,
    /// Most tokens a day it may take.
    pub llm_daily_tokens: Option<i64>,
    /// Globs of project roots that are neither captured nor recalled for.
    pub exclude: Option<Vec<String>>,
    /// Where telemetry is sent.
    pub telemetry_url: Option<String>,
    /// Keys of the file that mean nothing, for `doctor`.
    #[serde(skip)]
    pub unknown: Vec<String>,
}

/// Keys a file may have, in the order they are listed.
pub const KEYS: [&str; 18] = [
    "user_id",
    "project_id",
    "top_k",
    "max_context_chars",
    "search_scope",
    "min_query_chars",
    "auto_flush",
    "idle_flush_seconds",
    "extraction_wait_seconds",
    "event_poll_seconds",
    "backend",
    "store_url",
    "api_url",
    "llm_url",
    "llm_model",
    "llm_daily_tokens",
    "exclude",
    "telemetry_url",
];

/// A settings file that is not TOML, or has a value of the wrong type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct ConfigError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, in the parser's words.
    pub reason: String,
}

impl FileConfig {
    /// Reads the text of a settings file. Unknown keys are kept by name, not refused: a newer version may know them.
    ///
    /// # Errors
    /// [`ConfigError`] with the place, when the text is not TOML or a value has the wrong type.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let located = |error: &toml::de::Error| {
            let offset = error.span().map_or(0, |span| span.start.min(text.len()));
            let before = text.get(..offset).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            ConfigError { line, column, reason: error.message().trim().replace('\n', "; ") }
        };
        let mut config: Self = toml::from_str(text).map_err(|error| located(&error))?;
        let table: toml::Table = toml::from_str(text).map_err(|error| located(&error))?;
        config.unknown = table.keys().filter(|key| !KEYS.contains(&key.as_str())).cloned().collect();
        Ok(config)
    }
}
