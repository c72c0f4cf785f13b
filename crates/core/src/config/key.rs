//! The API key, and values that must not be printed.

use std::fmt;

use serde_json::Value;

use super::Env;
use crate::redact::MARK;

/// A text that `Debug` does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes the text.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the text, for the one place that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(MARK)
    }
}

/// Where a key was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySource {
    /// `MEM0_API_KEY`.
    Environment,
    /// A variable by which a host passes its plugin settings on.
    Plugin(&'static str),
    /// The file `api-key`, where hooks leave a plugin's key for the MCP server.
    Cached,
    /// `platform.api_key` in `~/.mem0/config.json`.
    CliConfig,
}

/// Variables by which hosts pass the key of their plugin settings, strongest first.
const PLUGIN_VARIABLES: [&str; 3] =
    ["PLUGIN_OPTION_API_KEY", "CLAUDE_PLUGIN_OPTION_API_KEY", "CLAUDE_PLUGIN_OPTION_MEM0_API_KEY"];

/// Returns the API key and where it is from: `MEM0_API_KEY`, the plugin's variables, the cached one (content of
/// `api-key`), then the `mem0` command's (content of `config.json`). All trimmed; blank counts as none.
pub fn api_key(env: &Env<'_>, cached: Option<&str>, cli_config: Option<&Value>) -> Option<(Secret, KeySource)> {
    let found = |text: &str, source| {
        let text = text.trim();
        (!text.is_empty()).then(|| (Secret::new(text.to_owned()), source))
    };
    env("MEM0_API_KEY")
        .and_then(|key| found(&key, KeySource::Environment))
        .or_else(|| PLUGIN_VARIABLES.into_iter().find_map(|name| found(&env(name)?, KeySource::Plugin(name))))
        .or_else(|| found(cached?, KeySource::Cached))
        .or_else(|| found(cli_config?.get("platform")?.get("api_key")?.as_str()?, KeySource::CliConfig))
}

/// Returns the key of the plugin's settings, which a hook writes to `api-key`. `MEM0_API_KEY` is never written.
pub fn plugin_key(env: &Env<'_>) -> Option<Secret> {
    PLUGIN_VARIABLES.into_iter().filter_map(env).find_map(|key| {
        let key = key.trim();
        (!key.is_empty()).then(|| Secret::new(key.to_owned()))
    })
}

/// Tells whether any variable holds a key. If none does at a session's start, the cached key is stale: the person
/// removed it from the plugin's settings.
pub fn has_key_variable(env: &Env<'_>) -> bool {
    plugin_key(env).is_some() || env("MEM0_API_KEY").is_some_and(|key| !key.trim().is_empty())
}
