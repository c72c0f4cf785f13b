//! The process's surroundings, read once.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;

/// Environment variables and the places that follow from them. The only module that reads either.
#[derive(Debug, Clone, Default)]
pub(crate) struct Env {
    variables: BTreeMap<String, String>,
    /// The user's home folder.
    pub(crate) home: Option<PathBuf>,
    /// The folder the process works in.
    pub(crate) cwd: PathBuf,
    /// The running binary.
    pub(crate) binary: PathBuf,
}

impl Env {
    /// Reads the surroundings. Variables that are not UTF-8 are read with replacement characters.
    pub(crate) fn read() -> Self {
        Self {
            variables: env::vars_os()
                .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
                .filter(|(name, value)| !is_unfilled(name, value))
                .collect(),
            home: env::home_dir().filter(|home| home.is_absolute()),
            cwd: env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
            binary: env::current_exe().unwrap_or_else(|_| PathBuf::from("mem0-code")),
        }
    }

    /// Surroundings with a home and nothing else.
    #[cfg(test)]
    pub(crate) fn of_home(home: PathBuf) -> Self {
        Self { home: Some(home), ..Self::default() }
    }

    /// Returns a variable that is set to something other than white space.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(|value| value.trim()).filter(|value| !value.is_empty()).map(str::to_owned)
    }

    /// All variables.
    pub(crate) fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }
}

/// Whether a plugin's option still is the placeholder that the host should have filled in. The user has not set it then.
fn is_unfilled(name: &str, value: &str) -> bool {
    name.contains("PLUGIN_OPTION_") && value.trim().starts_with("${") && value.trim().ends_with('}')
}

#[cfg(test)]
mod tests {
    use super::is_unfilled;

    #[test]
    fn an_option_left_as_its_placeholder_is_not_set() {
        assert!(is_unfilled("PLUGIN_OPTION_API_KEY", "${api_key}"));
        assert!(is_unfilled("CLAUDE_PLUGIN_OPTION_TOP_K", " ${user_config.top_k} "));
        assert!(!is_unfilled("PLUGIN_OPTION_API_KEY", "m0-x${y}z"));
        assert!(!is_unfilled("MEM0_API_KEY", "${api_key}"));
    }
}
