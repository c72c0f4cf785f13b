//! The table of secrets: data only.
//!
//! Rows marked `Mem0` are the rules the Mem0 plugins apply; the others follow the token formats their issuers
//! publish. The order matters in one place: whole private keys go first, before a rule that ends at white space can
//! take a key's first line and leave the rest.

/// One kind of secret.
pub(super) struct Rule {
    /// Its name in tests and reports.
    #[cfg_attr(not(test), expect(dead_code, reason = "names the row for readers and tests"))]
    pub(super) id: &'static str,
    /// Words without which the pattern cannot match; in any case if the pattern is. Common ones cost compilations on
    /// clean text.
    pub(super) keywords: &'static [&'static str],
    /// A byte without which the pattern cannot match either, for key words that are common.
    pub(super) needs: Option<u8>,
    /// The expression, over bytes and ASCII classes.
    pub(super) pattern: &'static str,
    /// Whether letters match in any case.
    pub(super) any_case: bool,
    /// Whether group 1 stays, before the mark.
    pub(super) keeps_before: bool,
    /// Whether group 2 stays, after the mark.
    pub(super) keeps_after: bool,
    /// Where the format is from.
    #[cfg_attr(not(test), expect(dead_code, reason = "names the origin for readers and tests"))]
    pub(super) source: &'static str,
}

/// A token that is known by its shape alone and goes whole.
const fn token(
    id: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    source: &'static str,
) -> Rule {
    Rule { id, keywords, needs: None, pattern, any_case: false, keeps_before: false, keeps_after: false, source }
}

/// A value known by the name before it, which stays.
const fn named(
    id: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    source: &'static str,
) -> Rule {
    Rule { id, keywords, needs: None, pattern, any_case: true, keeps_before: true, keeps_after: false, source }
}

/// A secret between two parts that stay.
const fn inner(
    id: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    source: &'static str,
) -> Rule {
    Rule { id, keywords, needs: None, pattern, any_case: true, keeps_before: true, keeps_after: true, source }
}

/// A part of an address, which has an `@` after its secret.
const fn address(
    id: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    source: &'static str,
) -> Rule {
    Rule { needs: Some(b'@'), ..inner(id, keywords, pattern, source) }
}

/// Every rule, in the order of application. At most 128 ([`super::Hits`] has a bit for each).
pub(super) const RULES: [Rule; 49] = [
    token(
        "pem-private-key",
        &["PRIVATE KEY"],
        r"-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?s:.)*?-----END[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?:[ \t]*(?:\r?\n|\\n|\\r)|[A-Za-z0-9+/=]{16})(?s:.)*\z)",
        "Mem0, RFC 7468; a key without its last line is hidden to the end of the text",
    ),
    named(
        "authorization-header",
        &["authorization"],
        r#"(authorization\s*[:=]\s*(?:bearer|token)\s+)[^\s"']+"#,
        "Mem0",
    ),
    named(
        "authorization-basic",
        &["authorization"],
        r#"(authorization["']?\s*[:=]\s*["']?(?:basic|digest|negotiate|apikey|aws4-hmac-sha256)\s+)[^\s"',]{6,}"#,
        "RFC 7617 and the IANA list of authentication schemes",
    ),
    named(
        "authorization-quoted",
        &["authorization"],
        r#"(authorization["']\s*[:=]\s*["'](?:bearer|token)\s+)[^\s"']+"#,
        "headers as source code writes them",
    ),
    named("bearer", &["bearer "], r"(\bbearer\s+)[A-Za-z0-9_.~+/-]{24,}=*", "RFC 6750"),
    named(
        "api-key",
        &[
            "api_key",
            "api-key",
            "apikey",
            "access_key",
            "access-key",
            "accesskey",
            "access key",
            "session_token",
            "session-token",
            "sessiontoken",
            "session token",
        ],
        r#"((?:api[_-]?key|secret[_\s-]?access[_\s-]?key|session[_\s-]?token)(?u:\s)*(?:[:=]|：)(?u:\s)*)[^\s"']+"#,
        "Mem0",
    ),
    named(
        "password",
        &[
            "password",
            "credential",
            "access_token",
            "access-token",
            "accesstoken",
            "access token",
            "refresh_token",
            "refresh-token",
            "refreshtoken",
            "refresh token",
        ],
        r#"((?:(?:access|refresh)[_\s-]?token|password|credential)(?u:\s)*(?:[:=]|：)(?u:\s)*)[^\s&"']+"#,
        "Mem0",
    ),
    named(
        "quoted-value",
        &[
            "api_key",
            "api-key",
            "apikey",
            "access_key",
            "access-key",
            "accesskey",
            "access key",
            "access_token",
            "refresh_token",
            "session_token",
            "access-token",
            "refresh-token",
            "session-token",
            "accesstoken",
            "refreshtoken",
            "sessiontoken",
            "access token",
            "refresh token",
            "session token",
            "password",
            "credential",
        ],
        r#"((?:api[_-]?key|secret[_\s-]?access[_\s-]?key|(?:access|refresh|session)[_\s-]?token|password|credential)\s*[:=]\s*["'])[^"'\r\n]+"#,
        "Mem0's names, with the value in quotes",
    ),
    named(
        "spaced-api-key",
        &["api key", "secret key", "auth token", "client secret"],
        r#"((?:api key|secret key|auth token|client secret)(?:\s+is)?\s*[:=]?\s*["'`]?)[A-Za-z0-9_+/=.~-]{20,}"#,
        "prose",
    ),
    token(
        "mem0-and-sk",
        &["sk-", "m0-"],
        r"\b(?:sk|m0|mem0_sk|psk)-[A-Za-z0-9_-]{12,}",
        "Mem0; covers the keys of OpenAI (sk-proj-) and Anthropic (sk-ant-)",
    ),
    token("aws-access-key", &["AKIA", "ASIA"], r"(?:AKIA|ASIA)[A-Z0-9]{12,}", "Mem0, AWS IAM identifiers"),
    token(
        "github-and-slack",
        &["ghp_", "github_pat_", "xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-"],
        r"(?:ghp_|github_pat_|xox[baprs]-)[A-Za-z0-9_-]{12,}",
        "Mem0",
    ),
    named(
        "json-field",
        &[
            "api_key\"",
            "api-key\"",
            "apikey\"",
            "password\"",
            "secret\"",
            "access_key\"",
            "access-key\"",
            "accesskey\"",
            "token\"",
            "authorization\"",
            "credential\"",
        ],
        r#"("(?:api[_-]?key|password|secret|secret[_-]?access[_-]?key|(?:(?:access|refresh|session)[_-]?)?token|authorization|credential)"\s*:\s*")(?:[^"\\]|\\.)+"#,
        "Mem0",
    ),
    named(
        "json-field-prefixed",
        &[
            "_key\"",
            "_password\"",
            "secret\"",
            "_token\"",
            "passphrase\"",
            "private_key\"",
            "passwd\"",
            "token\"",
            "secret_key\"",
            "secretkey\"",
        ],
        r#"("[A-Za-z0-9_.-]{0,40}?(?:api_?key|password|passwd|passphrase|client_?secret|app_?secret|secret_?key|private_?key|(?:auth|access|refresh|session|bot|id|bearer)_?token)"\s*:\s*")(?:[^"\\]|\\.)+"#,
        "common names of fields that end in Mem0's",
    ),
    named(
        "json-field-escaped",
        &["key\\", "password\\", "secret\\", "token\\", "authorization\\", "credential\\"],
        r#"(\\+"[A-Za-z0-9_.-]{0,40}?(?:api[_-]?key|password|secret|access[_-]?key|token|authorization|credential)\\+"\s*:\s*\\+")[^"\\]+"#,
        "Mem0's names, in JSON that is itself inside a JSON string",
    ),
    named(
        "repr-field",
        &["key'", "password'", "secret'", "token'", "authorization'", "credential'"],
        r"('[A-Za-z0-9_.-]{0,40}?(?:api[_-]?key|password|secret|access[_-]?key|(?:(?:access|refresh|session|auth)[_-]?)token|authorization|credential)'\s*:\s*')[^'\r\n]+",
        "Mem0's names, as Python and JavaScript print objects",
    ),
    Rule {
        any_case: false,
        ..named(
            "environment-value",
            &["_TOKEN", "_SECRET", "_PASS", "_PRIVATE_KEY", "_ACCESS_KEY", "_APIKEY"],
            r#"(\b[A-Z][A-Z0-9_]*_(?:TOKEN|SECRET|SECRET_KEY|PASS|PASSWD|PASSPHRASE|PRIVATE_KEY|ACCESS_KEY|APIKEY)\s*=\s*["']?)[^\s"'$<>{}\[\](),;%]{8,}"#,
            "variables named for a secret, with a literal value",
        )
    },
    named(
        "token-value",
        &["token=", "token =", "token:", "token：", "secret=", "secret =", "secret:", "secret：", "client-key-data:"],
        // A name this common needs a value that looks drawn by lot: long, with a digit early on.
        r#"((?:token|secret|client-key-data)["'`]?\s*(?:[:=]|：)\s*["'`]?)[A-Za-z_+/~-]{0,19}[0-9][A-Za-z0-9_+/=~-]{15,}"#,
        "settings named token or secret, kubeconfig",
    ),
    named(
        "password-in-words",
        &[
            "password is",
            "passphrase is",
            "password：",
            "密码",
            "密碼",
            "パスワード",
            "비밀번호",
            "пароль",
            "passwort",
            "contraseña",
        ],
        r#"((?:(?:password|passphrase)\s+is:?|(?:password|passwort|contraseña|密码|密碼|パスワード|비밀번호|пароль)\s*(?:[:=]|：|是|は))\s*["'`]?)(?:[!#-&(-_a-~]{0,30}[0-9][!#-&(-_a-~]{5,}|[!#-&(-_a-~]{5,30}[0-9][!#-&(-_a-~]{0,60})"#,
        "prose; the value has a digit",
    ),
    named(
        "command-line-password",
        &["sshpass ", "docker login", "mysql", "mariadb", "--password "],
        r#"(\bsshpass\s+-p\s*["']?|\bdocker\s+login\b[^\r\n]{0,200}?\s-p[ =]["']?|\b(?:mysql|mariadb)[a-z-]{0,12}\b[^\r\n]{0,200}?\s-p["']?|--password +["']?)[^\s"'$<-][^\s"']{3,}"#,
        "passwords given to sshpass, docker and MySQL's tools",
    ),
    named("netrc", &["machine "], r#"(\bmachine\s+\S+\s+login\s+\S+\s+password\s+)\S+"#, "the file ~/.netrc"),
    named(
        "cookie",
        &["cookie:", "cookie\":"],
        r#"(cookie["']?\s*:\s*["']?)[A-Za-z0-9_.-]+=[^\r\n"']{8,}"#,
        "RFC 6265: what identifies a session",
    ),
    named(
        "named-value",
        &[
            "auth_token",
            "auth-token",
            "authtoken",
            "bot_token",
            "client_secret",
            "client-secret",
            "clientsecret",
            "secret_key",
            "secretkey",
            "private_key",
            "passphrase",
            "passwd",
        ],
        r#"(\b(?:auth[_-]?token|bot_?token|client[_-]?secret|secret_?key|private_?key|passphrase|passwd)\s*[:=]\s*["']?)[^\s"'$<>{}\[\](),;%&]{8,}"#,
        "settings named for a secret, with a literal value",
    ),
    token("github", &["gho_", "ghu_", "ghs_", "ghr_"], r"\bgh[ousr]_[A-Za-z0-9_]{20,}", "GitHub: token prefixes"),
    token(
        "gitlab",
        &["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glsoat-", "glft-", "glagent-"],
        r"\bgl(?:pat|dt|rt|cbt|ptt|soat|ft|agent)-[A-Za-z0-9_.-]{16,}",
        "GitLab: token prefixes",
    ),
    token(
        "slack",
        &["xoxc-", "xoxd-", "xoxe-", "xoxo-", "xoxe.", "xapp-"],
        r"\b(?:xox[cdeo][-.]|xapp-)[A-Za-z0-9._%-]{16,}",
        "Slack: token types",
    ),
    named(
        "webhook",
        &["hooks.slack.com/", "/api/webhooks/", "webhook.office.com/"],
        r"((?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/webhooks|webhook\.office\.com/webhookb2)/)[A-Za-z0-9@_/.-]{16,}",
        "Slack, Discord and Teams: incoming webhooks",
    ),
    token(
        "google",
        &["AIza", "GOCSPX-", "ya29."],
        r"\b(?:AIza[0-9A-Za-z_-]{35}|GOCSPX-[0-9A-Za-z_-]{20,}|ya29\.[0-9A-Za-z_-]{20,})",
        "Google: API keys, OAuth client secrets and access tokens",
    ),
    token("npm", &["npm_"], r"\bnpm_[A-Za-z0-9]{36}", "npm: access tokens"),
    token("pypi", &["pypi-"], r"\bpypi-[A-Za-z0-9_-]{40,}", "PyPI: API tokens"),
    token(
        "hugging-face",
        &["hf_", "api_org_"],
        r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}",
        "Hugging Face: user access tokens",
    ),
    token(
        "stripe",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"],
        r"\b(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
        "Stripe: API keys and webhook secrets",
    ),
    token("sendgrid", &["SG."], r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", "SendGrid: API keys"),
    token("json-web-token", &["eyJ"], r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", "RFC 7519"),
    address(
        "address-password",
        &["://"],
        r#"(\b[a-z][a-z0-9+.-]{1,30}://[^\s/:@"'<>`]*:)[^\s/"'<>`]+(@[^\s/"'<>`@])"#,
        "RFC 3986: user information",
    ),
    address(
        "database-address",
        &[
            "postgres://",
            "postgresql://",
            "postgresql+",
            "mysql://",
            "mysql2://",
            "mysql+",
            "mariadb://",
            "mariadb+",
            "mongodb://",
            "mongodb+srv://",
            "redis://",
            "rediss://",
            "amqp://",
            "amqps://",
            "mssql://",
            "mssql+",
            "sqlserver://",
            "clickhouse://",
            "clickhouse+",
            "valkey://",
        ],
        r#"(\b(?:postgres(?:ql)?|mysql2?|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver|clickhouse|valkey)(?:\+[a-z0-9_]+)?://[^\s/:@"'<>`]*:)[^\s"'<>`]+(@[a-z0-9_\[.-])"#,
        "connection addresses whose password holds a slash",
    ),
    address(
        "address-token",
        &["https://", "http://"],
        r#"(\bhttps?://)[A-Za-z0-9_.~%-]{20,}(@[A-Za-z0-9])"#,
        "RFC 3986: a token as the user",
    ),
    named(
        "connection-string",
        &["accountkey=", "sharedaccesskey=", "sharedaccesssignature=", "pwd=", "&sig=", "?sig=", "secretkey="],
        r#"((?:AccountKey|SharedAccessKey|SharedAccessSignature|SecretKey|[;"'\s]pwd|[?&]sig)=)[^;&\s"'$]{6,}"#,
        "Azure Storage and Service Bus, SQL Server",
    ),
    named(
        "aws-secret-key",
        &["aws"],
        r#"(\baws[a-z0-9_ .-]{0,24}?(?:secret|key)[a-z0-9_ .-]{0,16}["']?\s*(?:[:=]|=>|\bis\b)\s*["']?)[A-Za-z0-9/+=]{40}\b"#,
        "AWS: secret access keys next to their name",
    ),
    token(
        "twilio",
        &[
            "SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd", "SKe",
            "SKf",
        ],
        r"\bSK[0-9a-f]{32}\b",
        "Twilio: API keys",
    ),
    token("digitalocean", &["_v1_"], r"\bdo[opr]_v1_[a-f0-9]{32,}", "DigitalOcean: tokens"),
    token(
        "doppler",
        &["dp."],
        r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.(?:[A-Za-z0-9_-]{2,35}\.)?[A-Za-z0-9]{32,}",
        "Doppler: tokens",
    ),
    token("telegram", &[":AA"], r"(?:\b|\bbot)[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}", "Telegram: bot tokens"),
    named(
        "command-line-user",
        &["curl ", "wget ", "http -a", "http --auth"],
        r#"(\b(?:curl|wget|http)\b[^\r\n]{0,400}?\s(?:-u|--user|--proxy-user|-a|--auth)[ =]?["']?[^\s:"']+:)[^\s"']+"#,
        "credentials given to curl and HTTPie",
    ),
    token(
        "prefixed-a",
        &[
            "gsk_",
            "xai-",
            "pplx-",
            "r8_",
            "lin_api_",
            "ntn_",
            "shpat_",
            "shpca_",
            "shppa_",
            "shpss_",
            "glsa_",
            "glc_",
            "figd_",
            "sbp_",
            "nfp_",
            "fo1_",
            "fm2_",
            "tskey-",
            "dckr_pat_",
            "rubygems_",
            "nvapi-",
        ],
        r"\b(?:gsk_|xai-|pplx-|r8_|lin_api_|ntn_|shp(?:at|ca|pa|ss)_|glsa_|glc_|figd_|sbp_|nfp_|fo1_|fm2_|tskey-(?:auth|api|client)-|dckr_pat_|rubygems_|nvapi-)[A-Za-z0-9_+/=-]{24,}",
        "Groq, xAI, Perplexity, Replicate, Linear, Notion, Shopify, Grafana, Figma, Supabase, Netlify, Fly, Tailscale, Docker, RubyGems, NVIDIA: token prefixes",
    ),
    token(
        "prefixed-b",
        &[
            "PMAK-",
            "HRKU-",
            "NRAK-",
            "pul-",
            "sntrys_",
            "sntryu_",
            "ATATT3",
            "hvs.",
            "hvb.",
            "pscale_",
            "AGE-SECRET-KEY-1",
            "EAAA",
            "ops_ey",
        ],
        r"\b(?:PMAK-|HRKU-|NRAK-|pul-|sntry[su]_|ATATT3|hv[sb]\.|pscale_(?:tkn|pw|oauth)_|AGE-SECRET-KEY-1|EAAA|ops_ey)[A-Za-z0-9_+/=-]{24,}",
        "Postman, Heroku, New Relic, Pulumi, Sentry, Atlassian, Vault, PlanetScale, age, Square, 1Password: token prefixes",
    ),
    token("databricks", &["dapi"], r"\bdapi[a-f0-9]{32}\b", "Databricks: personal access tokens"),
    token(
        "mailgun-mailchimp",
        &[
            "key-0", "key-1", "key-2", "key-3", "key-4", "key-5", "key-6", "key-7", "key-8", "key-9", "key-a", "key-b",
            "key-c", "key-d", "key-e", "key-f", "-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9",
        ],
        r"\b(?:key-[a-f0-9]{32}|[a-f0-9]{32}-us[0-9]{1,2})\b",
        "Mailgun and Mailchimp: API keys",
    ),
    token(
        "azure-client-secret",
        &["8Q~", "7Q~"],
        r"\b[A-Za-z0-9_~.]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}",
        "Microsoft Entra: client secrets",
    ),
];

/// Names of fields whose text is a credential, compared in lower case without `_` and `-`.
const CREDENTIAL_NAMES: [&str; 15] = [
    "apikey",
    "password",
    "secret",
    "secretaccesskey",
    "accesstoken",
    "refreshtoken",
    "sessiontoken",
    "token",
    "authorization",
    "credential",
    "clientsecret",
    "secretkey",
    "privatekey",
    "passphrase",
    "passwd",
];

/// Tells whether a field of an object holds a credential by its name.
pub(super) fn is_credential_name(name: &str) -> bool {
    if name.len() > 64 {
        return false;
    }
    let plain: String =
        name.chars().filter(|char| !matches!(char, '_' | '-')).map(|char| char.to_ascii_lowercase()).collect();
    CREDENTIAL_NAMES.contains(&plain.as_str())
}
