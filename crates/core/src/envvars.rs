//! Every environment variable that has an effect, in one list.
//!
//! The reference page is made from it; [`crate::config`] decides what the values mean. A variable that is not here
//! is not read, whatever it is called.

/// One environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvVar {
    /// Its name.
    pub name: &'static str,
    /// What it decides.
    pub purpose: &'static str,
    /// What holds without it.
    pub default: &'static str,
    /// A value as one would set it.
    pub example: &'static str,
}

const fn var(name: &'static str, purpose: &'static str, default: &'static str, example: &'static str) -> EnvVar {
    EnvVar { name, purpose, default, example }
}

/// All of them, grouped by what they are about.
pub const ALL: &[EnvVar] = &[
    // Where memories live.
    var(
        "MEM0_CODE_BACKEND",
        "Where memories live: `auto`, `embedded`, `platform` or `postgres`",
        "`auto`: the Platform with `MEM0_API_URL`, PostgreSQL with a store URL, the Platform with an API key, else embedded",
        "embedded",
    ),
    var(
        "MEM0_API_KEY",
        "Key for the Mem0 Platform or a server with its API",
        "the key of the host's plugin settings, then `platform.api_key` in `~/.mem0/config.json`",
        "m0-…",
    ),
    var(
        "MEM0_API_URL",
        "Address of the Mem0 Platform or a server with its API",
        "`https://api.mem0.ai`",
        "http://127.0.0.1:8787",
    ),
    var("MEM0_CODE_STORE_URL", "Address of a shared PostgreSQL store", "none", "postgres://db.example/memory"),
    // A model that looks for memories.
    var(
        "MEM0_CODE_LLM_URL",
        "Address of a language model that looks for memories in place of the rules: an OpenAI-compatible endpoint, Anthropic or Ollama",
        "none, rules alone extract",
        "http://127.0.0.1:11434",
    ),
    var("MEM0_CODE_LLM_MODEL", "Name of that model", "none, rules alone extract", "qwen3:8b"),
    var("MEM0_CODE_LLM_API_KEY", "Key for that model", "none", "…"),
    var(
        "MEM0_CODE_LLM_DAILY_TOKENS",
        "Most tokens a day that model may take, in and out together",
        "`200000`",
        "50000",
    ),
    // Who and what.
    var(
        "MEM0_CODE_USER_ID",
        "Whose memories these are",
        "the next of `MEM0_USER_ID`, `MEM0_RESOLVED_USER_ID`, `user_id` in `code.toml`, `USER`, `USERNAME`, then `default`",
        "ada",
    ),
    var("MEM0_USER_ID", "As `MEM0_CODE_USER_ID`, shared with other Mem0 tools", "see `MEM0_CODE_USER_ID`", "ada"),
    var(
        "MEM0_RESOLVED_USER_ID",
        "As `MEM0_CODE_USER_ID`, set by a launcher that knows",
        "see `MEM0_CODE_USER_ID`",
        "ada",
    ),
    var("USER", "Login name, the person if nothing else names one", "see `MEM0_CODE_USER_ID`", "ada"),
    var("USERNAME", "Login name on Windows", "see `MEM0_CODE_USER_ID`", "ada"),
    var(
        "MEM0_PROJECT_ID",
        "Name of the project, in place of the one made from its git remote",
        "from `~/.mem0/project_map.json`, the remote or the folder",
        "acme-widgets",
    ),
    // Where files are.
    var("MEM0_DIR", "The home of all files of ours", "`~/.mem0`", "/srv/mem0"),
    var("MEM0_HANDOFFS_DIR", "Where saved sessions are", "`~/.mem0/handoffs`", "/srv/handoffs"),
    var("MEM0_CODE_DATA_DIR", "The evidence folder of this host", "`~/.mem0/<host>-plugin`", "~/.mem0/codex-plugin"),
    var(
        "MEM0_PLUGIN_DATA_DIR",
        "As `MEM0_CODE_DATA_DIR`, from older launchers",
        "see `MEM0_CODE_DATA_DIR`",
        "~/.mem0/codex-plugin",
    ),
    var(
        "PLUGIN_DATA",
        "As `MEM0_CODE_DATA_DIR`, from hosts that give a plugin a folder",
        "see `MEM0_CODE_DATA_DIR`",
        "/var/lib/host/mem0",
    ),
    var(
        "CLAUDE_PLUGIN_DATA",
        "As `PLUGIN_DATA`, the name one host uses",
        "see `MEM0_CODE_DATA_DIR`",
        "/var/lib/host/mem0",
    ),
    var(
        "CLAUDE_PROJECT_DIR",
        "Project of the MCP server, where a request does not name one",
        "the working folder",
        "/home/ada/widgets",
    ),
    var("CLAUDE_CONFIG_DIR", "Where Claude Code keeps its configuration", "`~/.claude`", "/srv/claude"),
    var("CODEX_HOME", "Where Codex keeps its configuration", "`~/.codex`", "/srv/codex"),
    var("KIMI_CODE_HOME", "Where Kimi Code keeps its configuration and sessions", "`~/.kimi-code`", "/srv/kimi-code"),
    var(
        "CURSOR_PROJECT_DIR",
        "Project of a Cursor hook whose payload names none, set by Cursor",
        "the hook's folder",
        "/home/ada/widgets",
    ),
    // Recall.
    var("MEM0_CODE_TOP_K", "Results of a search, 1 to 20", "`3`", "5"),
    var("MEM0_CODE_MAX_CONTEXT_CHARS", "Most characters put into a prompt, 1000 to 10000", "`4000`", "2000"),
    var("MEM0_CODE_SEARCH_SCOPE", "How far a search reaches: `repo`, `dir` or `mine`", "`repo`", "dir"),
    var("MEM0_CODE_MIN_QUERY_CHARS", "Shortest first prompt that is searched for", "`20`", "12"),
    // Capture.
    var("MEM0_CODE_AUTO_FLUSH", "Send what was captured without being asked", "`true`", "false"),
    var(
        "MEM0_CODE_IDLE_FLUSH_SECONDS",
        "Seconds without activity after which a session is sent; 0 switches it off",
        "`300`",
        "60",
    ),
    var("MEM0_CODE_EXTRACTION_WAIT_SECONDS", "Seconds to wait for a server to extract", "`120`", "30"),
    var("MEM0_CODE_EVENT_POLL_SECONDS", "Seconds between two looks at an extraction, at least 0.1", "`1`", "2"),
    // Options a host passes.
    var("PLUGIN_OPTION_API_KEY", "The API key from the host's plugin settings", "none", "m0-…"),
    var("CLAUDE_PLUGIN_OPTION_API_KEY", "As `PLUGIN_OPTION_API_KEY`", "none", "m0-…"),
    var("CLAUDE_PLUGIN_OPTION_MEM0_API_KEY", "As `PLUGIN_OPTION_API_KEY`", "none", "m0-…"),
    var("PLUGIN_OPTION_USER_ID", "`MEM0_CODE_USER_ID` from the host's plugin settings; wins over it", "none", "ada"),
    var("CLAUDE_PLUGIN_OPTION_USER_ID", "As `PLUGIN_OPTION_USER_ID`", "none", "ada"),
    var("PLUGIN_OPTION_TOP_K", "`MEM0_CODE_TOP_K` from the host's plugin settings; wins over it", "none", "5"),
    var("CLAUDE_PLUGIN_OPTION_TOP_K", "As `PLUGIN_OPTION_TOP_K`", "none", "5"),
    var(
        "PLUGIN_OPTION_MAX_CONTEXT_CHARS",
        "`MEM0_CODE_MAX_CONTEXT_CHARS` from the host's plugin settings; wins over it",
        "none",
        "2000",
    ),
    var("CLAUDE_PLUGIN_OPTION_MAX_CONTEXT_CHARS", "As `PLUGIN_OPTION_MAX_CONTEXT_CHARS`", "none", "2000"),
    var(
        "PLUGIN_OPTION_SEARCH_SCOPE",
        "`MEM0_CODE_SEARCH_SCOPE` from the host's plugin settings; wins over it",
        "none",
        "dir",
    ),
    var("CLAUDE_PLUGIN_OPTION_SEARCH_SCOPE", "As `PLUGIN_OPTION_SEARCH_SCOPE`", "none", "dir"),
    // Telemetry.
    var(
        "MEM0_TELEMETRY",
        "`false`, `0`, `no` or `off`: no telemetry, whatever else is set",
        "on, but sent nowhere without an address",
        "false",
    ),
    var("MEM0_TELEMETRY_URL", "Where telemetry is sent", "nowhere", "https://telemetry.example/"),
    // Processes of ours.
    var(
        "MEM0_CODE_BIN",
        "The binary that packages start",
        "found in the package, `~/.mem0/bin`, then `PATH`",
        "/usr/local/bin/mem0-code",
    ),
    var(
        "MEM0_CODE_SPAWN",
        "`manual`: hooks start no process and leave packets for `mem0-code worker`",
        "hooks start workers",
        "manual",
    ),
    var("MEM0_CODE_WORKER", "Set by a worker for what it starts: hooks below it do nothing", "unset", "1"),
    var("MEM0_PLUGIN_HARNESS", "The host a worker works for", "the host named on the command line", "codex"),
];

/// Variables of other tools, or of other versions, that people may expect an effect of. There is none; `doctor`
/// says so when one is set.
pub const WITHOUT_EFFECT: &[&str] = &[
    "ANTHROPIC_BASE_URL",
    "OPENAI_BASE_URL",
    "OPENAI_API_BASE",
    "LLM_BASE_URL",
    "MEM0_CODE_RERANK",
    "MEM0_CODE_SEARCH_ONCE_PER_SESSION",
    "MEM0_CODE_SYNC_FLUSH",
    "MEM0_CODE_THRESHOLD",
    "MEM0_PLUGIN_DATA_DIR_NAME",
    "MEM0_PLUGIN_SOURCE_TAG",
];

/// Returns those of [`WITHOUT_EFFECT`] that are set.
pub fn ignored(env: &dyn Fn(&str) -> Option<String>) -> Vec<&'static str> {
    WITHOUT_EFFECT.iter().copied().filter(|name| env(name).is_some_and(|value| !value.trim().is_empty())).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::{FileConfig, api_key, resolve};

    #[test]
    fn the_list_is_complete_and_without_doubles() {
        let names: BTreeSet<&str> = ALL.iter().map(|var| var.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().all(|var| !var.purpose.is_empty() && !var.default.is_empty() && !var.example.is_empty()));
        assert!(WITHOUT_EFFECT.iter().all(|name| !names.contains(name)));
        // Nothing is read that is not listed.
        let asked = RefCell::new(BTreeSet::new());
        let env = |name: &str| {
            asked.borrow_mut().insert(name.to_owned());
            None
        };
        resolve(&env, &FileConfig::default(), Some("codex"));
        api_key(&env, None, None);
        let asked = asked.into_inner();
        let unlisted: Vec<&String> = asked.iter().filter(|name| !names.contains(name.as_str())).collect();
        assert!(asked.len() > 20 && unlisted.is_empty(), "{unlisted:?}");
    }

    #[test]
    fn issue_b149_foreign_variables_are_named() {
        let env = |name: &str| (name == "OPENAI_BASE_URL").then(|| "http://x".to_owned());
        assert_eq!(ignored(&env), ["OPENAI_BASE_URL"]);
    }
}
