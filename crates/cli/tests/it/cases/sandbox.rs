//! The folder, variables, files, repositories and databases of one case.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, SystemTime};

use regex::{Captures, Regex};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// `${NAME}`, `${HEAD:folder}` and `${sha256/N:text}`.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\$\{([A-Z_a-z0-9]+)\}").expect("a fixed pattern"));
static HEAD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\$\{HEAD:([^}]*)\}").expect("a fixed pattern"));
static HASH: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\$\{sha256/(\d+):([^}]*)\}").expect("a fixed pattern"));

/// One case's world.
pub(crate) struct Sandbox {
    // Removed when dropped.
    _folder: TempDir,
    root: PathBuf,
    vars: Mutex<BTreeMap<String, String>>,
}

impl Sandbox {
    /// Makes the folder with its `home` and the fixed variables.
    pub(crate) fn new(platform_url: &str) -> Self {
        let folder = TempDir::with_prefix("mem0-code-case-").expect("making a temporary folder");
        let root = folder.path().canonicalize().expect("a new folder has a real path");
        fs::create_dir(root.join("home")).expect("making the home folder");
        let at = |name: &str| root.join(name).to_string_lossy().into_owned();
        let vars = [
            ("W", root.to_string_lossy().into_owned()),
            ("HOME", at("home")),
            ("DATA", at("data")),
            ("REPO", at("repo")),
            ("PLATFORM", platform_url.to_owned()),
            ("PATH", std::env::var("PATH").unwrap_or_default()),
        ];
        let vars = Mutex::new(vars.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
        Self { _folder: folder, root, vars }
    }

    /// The folder `W`.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Sets a variable.
    pub(crate) fn set(&self, name: &str, value: String) {
        self.lock().insert(name.to_owned(), value);
    }

    /// A path of the case: variables replaced, below `W` unless absolute.
    pub(crate) fn path(&self, text: &str) -> PathBuf {
        self.root.join(self.text(text))
    }

    /// The folder of a command that names none.
    pub(crate) fn default_cwd(&self) -> PathBuf {
        let repo = self.root.join("repo");
        if repo.is_dir() { repo } else { self.root.join("home") }
    }

    /// Replaces variables in one text.
    pub(crate) fn text(&self, text: &str) -> String {
        if !text.contains("${") {
            return text.to_owned();
        }
        let vars = self.lock().clone();
        let text = VARIABLE.replace_all(text, |found: &Captures<'_>| {
            vars.get(&found[1]).cloned().unwrap_or_else(|| found[0].to_owned())
        });
        let text = HEAD
            .replace_all(&text, |found: &Captures<'_>| self.git(&self.root.join(&found[1]), &["rev-parse", "HEAD"]));
        let hashed = |found: &Captures<'_>| {
            let digits: usize = found[1].parse().expect("a number of digits");
            let hash = Sha256::digest(found[2].replace("\\0", "\0"));
            let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            hex[..digits].to_owned()
        };
        HASH.replace_all(&text, hashed).into_owned()
    }

    /// Replaces variables everywhere in a value and puts `$text` pieces together.
    pub(crate) fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => json!(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => match fields.get("$text") {
                Some(Value::Array(pieces)) if fields.len() == 1 => json!(self.pieces(pieces)),
                _ => Value::Object(fields.iter().map(|(key, item)| (self.text(key), self.value(item))).collect()),
            },
            other => other.clone(),
        }
    }

    fn pieces(&self, pieces: &[Value]) -> String {
        let piece = |piece: &Value| match piece {
            Value::String(text) => self.text(text),
            repeated => {
                let times = repeated[1].as_u64().expect("a repeated piece has a count");
                self.text(repeated[0].as_str().expect("a repeated piece has a text")).repeat(times as usize)
            }
        };
        pieces.iter().map(piece).collect()
    }

    /// Runs git and returns what it prints.
    pub(crate) fn git(&self, folder: &Path, args: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(folder)
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root.join("home"))
            .envs([
                ("GIT_AUTHOR_NAME", "t"),
                ("GIT_AUTHOR_EMAIL", "t@t"),
                ("GIT_COMMITTER_NAME", "t"),
                ("GIT_COMMITTER_EMAIL", "t@t"),
                ("GIT_CONFIG_NOSYSTEM", "1"),
                ("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z"),
                ("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z"),
            ])
            .output()
            .expect("git starts");
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Makes a repository or a worktree.
    pub(crate) fn make_repository(&self, given: &Value) {
        let path = self.path(given["path"].as_str().expect("a repository has a path"));
        let target = path.to_string_lossy();
        if let Some(main) = given["worktree_of"].as_str() {
            let branch = given["branch"].as_str().unwrap_or("wt");
            self.git(&self.path(main), &["worktree", "add", "-q", "-b", branch, &target]);
            return;
        }
        fs::create_dir_all(&path).expect("making a repository's folder");
        self.git(&path, &["init", "-q", "-b", given["branch"].as_str().unwrap_or("main")]);
        if given["commit"].as_bool().unwrap_or(true) {
            let message = format!("init {}", given["path"].as_str().unwrap_or_default());
            self.git(&path, &["commit", "-q", "--allow-empty", "-m", &message]);
        }
        if let Some(remote) = given["remote"].as_str() {
            self.git(&path, &["remote", "add", "origin", &self.text(remote)]);
        }
    }

    /// Writes or appends to a file as a `files` entry describes it.
    pub(crate) fn put(&self, path: &str, content: &Value, append: bool) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("making a file's folder");
        if content["dir"] == true {
            fs::create_dir_all(&path).expect("making a folder");
            return;
        }
        if let Some(target) = content["symlink"].as_str() {
            symlink(self.path(target), &path).expect("making a link");
            return;
        }
        let bytes = self.bytes(content);
        if append {
            let old = fs::read(&path).unwrap_or_default();
            fs::write(&path, [old, bytes].concat()).expect("appending to a file");
        } else {
            fs::write(&path, bytes).expect("writing a file");
        }
        if let Some(mode) = content["mode"].as_str() {
            let mode = u32::from_str_radix(mode, 8).expect("a mode is octal");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("setting a mode");
        }
        if let Some(age) = content["age"].as_f64() {
            set_age(&path, age);
        }
    }

    fn bytes(&self, content: &Value) -> Vec<u8> {
        if let Some(hex) = content["hex"].as_str() {
            let pairs = (0..hex.len() / 2).map(|idx| u8::from_str_radix(&hex[2 * idx..2 * idx + 2], 16));
            return pairs.collect::<Result<_, _>>().expect("hexadecimal digits");
        }
        let content = self.value(content);
        let text = match &content {
            Value::String(text) => text.clone(),
            fields if fields.get("json").is_some() => fields["json"].to_string(),
            fields if fields["jsonl"].is_array() => {
                let lines = fields["jsonl"].as_array().into_iter().flatten();
                let lines: String = lines.map(|line| format!("{line}\n")).collect();
                lines + fields["tail"].as_str().unwrap_or_default()
            }
            fields if fields["repeat"].is_array() => {
                let times = fields["repeat"][1].as_u64().unwrap_or_default();
                fields["repeat"][0].as_str().unwrap_or_default().repeat(times as usize)
            }
            fields => fields["text"].as_str().unwrap_or_default().to_owned(),
        };
        text.into_bytes()
    }

    /// Runs one statement on the evidence database; its rows as JSON lists.
    ///
    /// # Errors
    /// What SQLite says, as text.
    pub(crate) fn sql(&self, statement: &str, create: bool) -> Result<Vec<Vec<Value>>, String> {
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        flags.set(OpenFlags::SQLITE_OPEN_CREATE, create);
        rows(&self.evidence(), statement, flags).map_err(|error| error.to_string())
    }

    /// The evidence database.
    pub(crate) fn evidence(&self) -> PathBuf {
        self.root.join("data/evidence.sqlite3")
    }

    /// Sets up what a case has before its first step.
    pub(crate) fn prepare(&self, given: &Map<String, Value>) {
        let list = |key: &str| given.get(key).and_then(Value::as_array).into_iter().flatten();
        list("git").for_each(|repository| self.make_repository(repository));
        for (path, content) in given.get("files").and_then(Value::as_object).into_iter().flatten() {
            self.put(path, content, false);
        }
        for path in list("dirs") {
            fs::create_dir_all(self.path(path.as_str().expect("a folder's name"))).expect("making a folder");
        }
        for statement in list("db") {
            fs::create_dir_all(self.root.join("data")).expect("making the data folder");
            let statement = self.text(statement.as_str().expect("an SQL text"));
            self.sql(&statement, true).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, String>> {
        self.vars.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Sets a file's time of change `seconds` back.
pub(crate) fn set_age(path: &Path, seconds: f64) {
    let then = SystemTime::now() - Duration::from_secs_f64(seconds);
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    file.set_times(FileTimes::new().set_accessed(then).set_modified(then)).expect("setting a file's time");
}

/// Runs every statement in `sql` and returns the rows of the last one.
fn rows(path: &Path, sql: &str, flags: OpenFlags) -> rusqlite::Result<Vec<Vec<Value>>> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let mut found = statement.query([])?;
    let mut out = Vec::new();
    while let Some(row) = found.next()? {
        out.push((0..columns).map(|idx| row.get_ref(idx).map(json_cell)).collect::<rusqlite::Result<_>>()?);
    }
    Ok(out)
}

fn json_cell(cell: ValueRef<'_>) -> Value {
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) => json!(number),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => json!(String::from_utf8_lossy(bytes)),
    }
}
