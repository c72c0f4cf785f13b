//! Layers by table.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn settings(variables: &[(&str, &str)], file: &str) -> Settings {
    let variables: BTreeMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    resolve(&|name| variables.get(name).cloned(), &FileConfig::parse(file).expect("a file"), Some("claude-code"))
}

#[test]
fn defaults() {
    let settings = settings(&[], "");
    insta::assert_debug_snapshot!(settings, @r#"
    Settings {
        user_id: "default",
        project_id: None,
        top_k: 3,
        max_context_chars: 4000,
        search_scope: Repo,
        min_query_chars: 20,
        auto_flush: true,
        idle_flush: Some(
            300s,
        ),
        extraction_wait: 120s,
        event_poll: 1s,
        host: Some(
            "claude-code",
        ),
        api_url: None,
        store_url: None,
        choice: Auto,
        llm: None,
        exclude: [],
        telemetry: true,
        telemetry_url: None,
        manual_spawn: false,
        warnings: [],
    }
    "#);
}

#[test]
fn layers_in_order() {
    let top_k = |variables: &[(&str, &str)], file: &str| settings(variables, file).top_k;
    assert_eq!(
        top_k(
            &[("MEM0_CODE_TOP_K", "5"), ("PLUGIN_OPTION_TOP_K", " 7 "), ("CLAUDE_PLUGIN_OPTION_TOP_K", "9")],
            "top_k = 4"
        ),
        7
    );
    assert_eq!(
        top_k(&[("MEM0_CODE_TOP_K", "5"), ("PLUGIN_OPTION_TOP_K", ""), ("CLAUDE_PLUGIN_OPTION_TOP_K", "9")], ""),
        9
    );
    assert_eq!(top_k(&[("MEM0_CODE_TOP_K", "5")], "top_k = 4"), 5);
    assert_eq!(top_k(&[], "top_k = 4"), 4);
    // The first that is set decides; if it cannot be used, the default holds.
    assert_eq!(top_k(&[("PLUGIN_OPTION_TOP_K", "many"), ("MEM0_CODE_TOP_K", "5")], ""), 3);
    for (value, expected) in [("0", 1), ("-4", 1), ("21", 20), ("99999999999999999999", 3), ("5.0", 3), ("20", 20)] {
        assert_eq!(top_k(&[("MEM0_CODE_TOP_K", value)], ""), expected, "{value}");
    }
    assert_eq!(top_k(&[], "top_k = -1"), 1);
}

#[test]
fn users_in_order() {
    for (variables, file, expected) in [
        (&[("CLAUDE_PLUGIN_OPTION_USER_ID", "from-option"), ("MEM0_CODE_USER_ID", "x")][..], "", "from-option"),
        (&[("MEM0_CODE_USER_ID", " * "), ("MEM0_USER_ID", " from-mem0 "), ("USER", "unix")], "", "from-mem0"),
        (&[("MEM0_USER_ID", "**"), ("MEM0_RESOLVED_USER_ID", ""), ("USER", "unix"), ("USERNAME", "win")], "", "unix"),
        (&[("USERNAME", "win")], "", "win"),
        (&[("USER", "unix")], "user_id = 'ada'", "ada"),
        (&[("USER", "unix")], "user_id = '*'", "unix"),
        (&[("MEM0_USER_ID", "env")], "user_id = 'ada'", "env"),
        (&[], "", "default"),
    ] {
        assert_eq!(settings(variables, file).user_id, expected, "{variables:?} {file}");
    }
}

#[test]
fn words_numbers_and_times() {
    for (word, expected) in [
        ("1", true),
        ("TRUE", true),
        (" yes ", true),
        ("on", true),
        ("0", false),
        ("false", false),
        ("maybe", false),
        ("", true),
    ] {
        assert_eq!(settings(&[("MEM0_CODE_AUTO_FLUSH", word)], "").auto_flush, expected, "{word}");
    }
    assert!(!settings(&[], "auto_flush = false").auto_flush);
    for (word, expected) in [("false", false), ("0", false), ("No", false), ("OFF", false), ("true", true), ("2", true)]
    {
        assert_eq!(settings(&[("MEM0_TELEMETRY", word)], "").telemetry, expected, "{word}");
    }
    for (value, expected) in [
        ("0", None),
        ("-5", None),
        ("0.5", Some(0.5)),
        ("nan", Some(300.0)),
        ("inf", Some(300.0)),
        ("x", Some(300.0)),
        ("1e300", Some(3.2e9)),
    ] {
        let idle = settings(&[("MEM0_CODE_IDLE_FLUSH_SECONDS", value)], "").idle_flush;
        assert_eq!(idle, expected.map(Duration::from_secs_f64), "{value}");
    }
    assert_eq!(settings(&[("MEM0_CODE_EVENT_POLL_SECONDS", "0")], "").event_poll, Duration::from_millis(100));
    assert_eq!(
        settings(&[], "extraction_wait_seconds = 7\nidle_flush_seconds = 0").extraction_wait,
        Duration::from_secs(7)
    );
    for (word, expected) in [(" DIR ", SearchScope::Dir), ("mine", SearchScope::Mine), ("team", SearchScope::Repo)] {
        assert_eq!(settings(&[("MEM0_CODE_SEARCH_SCOPE", word)], "search_scope = 'mine'").search_scope, expected);
    }
    assert_eq!(settings(&[("MEM0_CODE_MAX_CONTEXT_CHARS", "99")], "").max_context_chars, 1_000);
    assert_eq!(settings(&[("MEM0_CODE_MIN_QUERY_CHARS", "0")], "").min_query_chars, 1);
    assert_eq!(settings(&[("MEM0_PROJECT_ID", "**")], "project_id = 'acme'").project_id.as_deref(), Some("acme"));
}

#[test]
fn backends() {
    let backend = |variables: &[(&str, &str)], file: &str, has_key| settings(variables, file).backend(has_key);
    let platform = |url: &str| Backend::Platform { url: url.to_owned() };
    let postgres = Backend::Postgres { url: Secret::new("postgres://db/m".to_owned()) };
    let store = ("MEM0_CODE_STORE_URL", "postgres://db/m");
    assert_eq!(backend(&[], "", false), Backend::Embedded);
    assert_eq!(backend(&[], "", true), platform(PLATFORM_URL));
    assert_eq!(backend(&[("MEM0_API_URL", "http://127.0.0.1:8787//")], "", false), platform("http://127.0.0.1:8787"));
    assert_eq!(backend(&[], "api_url = 'http://team/'", false), platform("http://team"));
    assert_eq!(backend(&[store], "", false), postgres);
    assert_eq!(backend(&[], "store_url = 'postgres://db/m'", false), postgres);
    assert_eq!(backend(&[store], "", true), postgres, "an address outweighs a key that was saved once");
    assert_eq!(backend(&[store, ("MEM0_CODE_BACKEND", "Postgres")], "", true), postgres);
    assert_eq!(backend(&[("MEM0_CODE_BACKEND", "embedded")], "", true), Backend::Embedded);
    assert_eq!(backend(&[], "backend = 'platform'", false), platform(PLATFORM_URL));
    assert_eq!(backend(&[("MEM0_CODE_BACKEND", "auto")], "backend = 'embedded'", true), platform(PLATFORM_URL));
    for wrong in [("MEM0_CODE_BACKEND", "postgres"), ("MEM0_CODE_BACKEND", "cloud")] {
        let settings = settings(&[wrong], "");
        assert_eq!((settings.backend(false), settings.warnings.len()), (Backend::Embedded, 1));
    }
}

#[test]
fn issue_b149_only_documented_variables_count() {
    let foreign = ["ANTHROPIC_BASE_URL", "LLM_BASE_URL", "OPENAI_BASE_URL"].map(|name| (name, "http://127.0.0.1:1"));
    assert_eq!(settings(&foreign, ""), settings(&[], ""));
}

#[test]
fn a_language_model_needs_an_address_and_a_name() {
    let url = ("MEM0_CODE_LLM_URL", "http://127.0.0.1:11434/");
    assert_eq!(settings(&[("MEM0_CODE_LLM_MODEL", "small")], "").llm, None);
    let nameless = settings(&[url], "");
    assert_eq!((nameless.llm, nameless.warnings.len()), (None, 1));
    let file = "llm_model = 'small'\nllm_daily_tokens = 900\n";
    let llm = settings(&[url, ("MEM0_CODE_LLM_API_KEY", "k-1")], file).llm.expect("a model");
    assert_eq!((llm.url.as_str(), llm.model.as_str(), llm.daily_tokens), ("http://127.0.0.1:11434", "small", 900));
    assert!(!format!("{llm:?}").contains("k-1"));
}

#[test]
fn files_by_table() {
    let file = FileConfig::parse("\u{feff}user_id = 'ada'\ncolour = 1\n[later]\nx = 1\n").expect("a file");
    assert_eq!((file.user_id.as_deref(), file.unknown), (Some("ada"), vec!["colour".to_owned(), "later".to_owned()]));
    for (text, line, column) in
        [("top_k = 3\nuser_id = ", 2, 11), ("# é\ntop_k = 'x'", 2, 9), ("exclude = ['a', 3]", 1, 17), ("= 1", 1, 1)]
    {
        let error = FileConfig::parse(text).expect_err("refused");
        assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
    }
}

#[test]
fn issue_b145_excluded_projects() {
    let settings =
        settings(&[], "exclude = ['~/private', '/srv/*/secret', '/work/**/tmp-?', ' ', '~x', 'C:\\code\\x']");
    for (root, expected) in [
        ("/home/ada/private", true),
        ("/home/ada/private/deep/er", true),
        ("/home/ada/private-not", false),
        ("/home/ada", false),
        ("/srv/a/secret", true),
        ("/srv/a/b/secret", false),
        ("/work/tmp-1", true),
        ("/work/a/b/c/tmp-2/below", true),
        ("/work/a/tmp-22", false),
        ("/", false),
        (r"C:\code\x\y", true),
    ] {
        assert_eq!(settings.excludes(Path::new(root), Some("/home/ada/")), expected, "{root}");
    }
}

#[test]
fn keys_in_order() {
    let config = json!({"platform": {"api_key": " from-cli "}});
    let find = |variables: &[(&str, &str)], cached| {
        let env = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        api_key(&env, cached, Some(&config)).map(|(key, source)| (key.expose().to_owned(), source))
    };
    let plugin = ("CLAUDE_PLUGIN_OPTION_MEM0_API_KEY", "plugin");
    for (variables, cached, key, source) in [
        (&[("MEM0_API_KEY", " env "), plugin][..], Some("c"), "env", KeySource::Environment),
        (&[("MEM0_API_KEY", " "), plugin], Some("c"), "plugin", KeySource::Plugin("CLAUDE_PLUGIN_OPTION_MEM0_API_KEY")),
        (&[("PLUGIN_OPTION_API_KEY", "first"), plugin], None, "first", KeySource::Plugin("PLUGIN_OPTION_API_KEY")),
        (&[], Some("cached\n"), "cached", KeySource::Cached),
        (&[], Some(" "), "from-cli", KeySource::CliConfig),
    ] {
        assert_eq!(find(variables, cached), Some((key.to_owned(), source)));
    }
    for config in [json!({"platform": {"api_key": 5}}), json!([]), json!({"platform": "x"})] {
        assert_eq!(api_key(&|_| None, None, Some(&config)), None);
    }
    let only_env = |name: &str| (name == "MEM0_API_KEY").then(|| "env".to_owned());
    assert!(plugin_key(&only_env).is_none() && has_key_variable(&only_env) && !has_key_variable(&|_| None));
}

#[test]
fn secrets_are_not_printed() {
    let secret = "q".repeat(24);
    let url = format!("postgres://app:{secret}@db/m");
    let settings = settings(&[("MEM0_CODE_STORE_URL", &url), ("MEM0_CODE_TOP_K", &format!("sk-{secret}"))], "");
    assert_eq!(settings.warnings.len(), 1);
    assert!(!format!("{settings:?}").contains(&secret));
}

proptest! {
    #[test]
    fn any_value_resolves(value in "\\PC{0,30}|-?[0-9]{1,30}(\\.[0-9]{1,9})?(e[0-9]{1,4})?") {
        let settings = resolve(&|_| Some(value.clone()), &FileConfig::default(), None);
        prop_assert!((1..=20).contains(&settings.top_k) && (1_000..=10_000).contains(&settings.max_context_chars));
        prop_assert!(settings.min_query_chars >= 1 && !is_wildcard(&settings.user_id));
        prop_assert!(settings.event_poll >= Duration::from_millis(100));
        settings.excludes(Path::new(&value), Some(&value));
    }

    #[test]
    fn any_file_is_read_or_refused(text in "\\PC{0,80}|([a-z_]{1,9} = [0-9'x\\[\\]]{1,5}\n){0,4}") {
        let _ = FileConfig::parse(&text);
    }

    #[test]
    fn globs_end(glob in "[a/*?~]{0,24}", folder in "[a/]{0,40}") {
        exclude::matches(&glob, &folder, Some("/a"));
    }
}
