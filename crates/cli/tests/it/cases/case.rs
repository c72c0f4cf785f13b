//! One case: its steps, run in order in a sandbox of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fs, mem};

use rusqlite::Connection;
use serde_json::{Map, Value, json};

use super::check::check;
use super::glob::paths;
use super::matcher::{each_of, mismatches};
use super::platform::Platform;
use super::sandbox::{Sandbox, set_age};
use crate::process::{self, BINARY, Outcome};

/// The environment every command of a case gets; `given.env` and a step's `env` add to it.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("PATH", "${PATH}"),
    ("HOME", "${HOME}"),
    ("LANG", "C.UTF-8"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("MEM0_CODE_DATA_DIR", "${DATA}"),
    ("MEM0_CODE_USER_ID", "test-user"),
    ("MEM0_API_KEY", "m0-test-key"),
    ("MEM0_API_URL", "${PLATFORM}"),
    ("MEM0_TELEMETRY", "false"),
    ("MEM0_TELEMETRY_URL", "${PLATFORM}/telemetry"),
    ("MEM0_CODE_SPAWN", "manual"),
    ("MEM0_CODE_EVENT_POLL_SECONDS", "0.1"),
    ("MEM0_CODE_EXTRACTION_WAIT_SECONDS", "2"),
    ("MEM0_CODE_IDLE_FLUSH_SECONDS", "0"),
];

/// How long one command may take.
const COMMAND_LIMIT: Duration = Duration::from_secs(40);

/// Runs a case and returns what went wrong, one line a fault.
pub(crate) fn run(spec: &Value) -> Vec<String> {
    let platform = Platform::start();
    let sandbox = Sandbox::new(platform.url());
    let given = spec["given"].as_object().cloned().unwrap_or_default();
    let case = Arc::new(Case { given, platform, sandbox, errors: Mutex::default(), background: Mutex::default() });
    let whole = catch_unwind(AssertUnwindSafe(|| case.run(spec)));
    if let Err(panic) = whole {
        let text = panic.downcast_ref::<String>().cloned();
        case.fail("runner", text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())));
    }
    mem::take(&mut *case.errors.lock().unwrap_or_else(PoisonError::into_inner))
}

struct Case {
    given: Map<String, Value>,
    platform: Platform,
    sandbox: Sandbox,
    errors: Mutex<Vec<String>>,
    background: Mutex<Vec<JoinHandle<()>>>,
}

impl Case {
    fn run(self: &Arc<Self>, spec: &Value) {
        self.sandbox.prepare(&self.given);
        if let Some(rules) = self.given.get("platform").and_then(Value::as_array) {
            self.set_rules(rules);
        }
        for (idx, step) in spec["steps"].as_array().into_iter().flatten().enumerate() {
            self.step(step, &format!("step {idx}"));
        }
        let background = mem::take(&mut *self.background.lock().unwrap_or_else(PoisonError::into_inner));
        background.into_iter().for_each(|thread| drop(thread.join()));
        self.fail("end", check(&spec["expect"], &self.sandbox, &self.platform));
        self.wait_for_workers();
    }

    /// Workers that the hooks started themselves must not outlive the sandbox.
    fn wait_for_workers(&self) {
        if self.environment(&Value::Null).iter().any(|(name, value)| name == "MEM0_CODE_SPAWN" && value == "manual") {
            return;
        }
        let end = Instant::now() + Duration::from_secs(5);
        while !paths(&self.sandbox.path("data/pending/*.running")).is_empty() && Instant::now() < end {
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn step(self: &Arc<Self>, step: &Value, at: &str) {
        let fields = step.as_object().expect("a step is an object");
        let texts = |value: &Value| each_of(value).filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>();
        if let Some(run) = fields.get("run").and_then(Value::as_str) {
            return self.command(run, step, at);
        }
        if fields.contains_key("exchange") {
            return self.exchange(step, at);
        }
        if let Some(times) = fields.get("repeat").and_then(Value::as_u64) {
            for number in 1..=times {
                self.sandbox.set("i", number.to_string());
                for (idx, step) in fields["steps"].as_array().into_iter().flatten().enumerate() {
                    self.step(step, &format!("{at}#{number}.{idx}"));
                }
            }
            return;
        }
        // The name of the step is its only key, but for options of `git`, `wait_for` and `append`.
        for (name, argument) in fields {
            match name.as_str() {
                "write" | "append" => {
                    for (path, content) in argument.as_object().into_iter().flatten() {
                        self.sandbox.put(path, content, name == "append");
                    }
                }
                "delete" => texts(argument).iter().for_each(|path| self.delete(path)),
                "age" => self.age(argument, at),
                "rename" => self.rename(argument),
                "mkdir" => texts(argument)
                    .iter()
                    .for_each(|path| fs::create_dir_all(self.sandbox.path(path)).expect("making a folder")),
                "git" => {
                    let args: Vec<String> = texts(argument).iter().map(|arg| self.sandbox.text(arg)).collect();
                    let folder = self.sandbox.path(fields.get("in").and_then(Value::as_str).unwrap_or("repo"));
                    self.sandbox.git(&folder, &args.iter().map(String::as_str).collect::<Vec<_>>());
                }
                "sql" => texts(argument).iter().for_each(|sql| drop(self.sql(sql))),
                "save" => {
                    for (name, sql) in argument.as_object().into_iter().flatten() {
                        let rows = self.sql(sql.as_str().expect("an SQL text"));
                        let cell = rows.first().map_or(Value::Null, |row| row[0].clone());
                        self.sandbox.set(name, cell.as_str().map_or_else(|| cell.to_string(), str::to_owned));
                    }
                }
                "platform" => self.set_rules(argument.as_array().expect("rules are a list")),
                "reset_log" => self.platform.clear_log(),
                "wait" => thread::sleep(Duration::from_secs_f64(argument.as_f64().expect("seconds"))),
                "wait_for" => {
                    self.wait_for(argument, fields.get("timeout").and_then(Value::as_f64).unwrap_or(15.0), at)
                }
                "check" => self.fail(at, check(argument, &self.sandbox, &self.platform)),
                "lock_db" => self.lock_database(argument.as_f64().expect("seconds")),
                "parallel" => thread::scope(|scope| {
                    for (idx, step) in argument.as_array().into_iter().flatten().enumerate() {
                        scope.spawn(move || self.step(step, &format!("{at}.parallel[{idx}]")));
                    }
                }),
                "in" | "timeout" => {}
                _ => panic!("unknown step {name}"),
            }
        }
    }

    fn exchange(self: &Arc<Self>, step: &Value, at: &str) {
        let exchange = &step["exchange"];
        let text = |key: &str, default: &str| exchange[key].as_str().unwrap_or(default).to_owned();
        let (session, cwd) = (text("session", "s1"), text("cwd", "${REPO}"));
        for (event, key, words) in
            [("UserPromptSubmit", "prompt", "prompt"), ("Stop", "last_assistant_message", "answer")]
        {
            let mut hook = json!({
                "run": format!("hook claude-code {event}"),
                "stdin": {"session_id": session, "cwd": cwd, "hook_event_name": event, key: exchange[words]},
            });
            if let Some(env) = step.get("env") {
                hook["env"] = env.clone();
            }
            self.step(&hook, &format!("{at}.{words}"));
        }
    }

    fn command(self: &Arc<Self>, run: &str, step: &Value, at: &str) {
        let words = split_words(&self.sandbox.text(run));
        let mut command = Command::new(BINARY);
        match words[0].as_str() {
            "cli" => command.args(&words[1..]),
            "sender" => command.args(["telemetry", "flush"]),
            _ => command.args(&words),
        };
        command.env_clear().envs(self.environment(&step["env"]));
        command
            .current_dir(step["cwd"].as_str().map_or_else(|| self.sandbox.default_cwd(), |cwd| self.sandbox.path(cwd)));
        let as_text = |value: &Value| match self.sandbox.value(value) {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let stdin = match step["lines"].as_array() {
            // Raw lines go as they are.
            Some(lines) => {
                lines.iter().map(|line| line.as_str().map_or_else(|| as_text(line), str::to_owned) + "\n").collect()
            }
            None => step.get("stdin").map(as_text).unwrap_or_default(),
        };
        let running = process::start(command, stdin.as_bytes());
        let at = format!("{at} {run}");
        if let Some(kill) = step["kill_when"].as_object() {
            let wanted = kill.get("count").and_then(Value::as_u64).unwrap_or(1) as usize;
            let pattern = kill["request"].as_str().expect("a request pattern");
            self.await_requests(pattern, wanted, Duration::from_secs(20));
            running.kill();
        } else if step["background"] == true {
            let (case, expected, at) = (Arc::clone(self), step["expect"].clone(), at.clone());
            let is_hook = words[0] == "hook";
            let thread = thread::spawn(move || case.judge(&running.finish(COMMAND_LIMIT), &expected, is_hook, &at));
            self.background.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
            if let Some(pattern) = step["until_request"].as_str() {
                self.await_requests(pattern, 1, Duration::from_secs(15));
            }
        } else {
            self.judge(&running.finish(COMMAND_LIMIT), &step["expect"], words[0] == "hook", &at);
        }
    }

    fn judge(&self, outcome: &Outcome, expected: &Value, is_hook: bool, at: &str) {
        if outcome.timed_out {
            return self.fail(at, ["did not end".to_owned()]);
        }
        let expected = self.sandbox.value(expected);
        let exit = expected.get("exit").cloned().or(is_hook.then(|| json!(0)));
        if let Some(exit) = exit {
            let wrong = mismatches(&exit, &json!(outcome.code), "exit");
            if !wrong.is_empty() {
                self.fail(at, wrong.into_iter().chain([format!("stderr {:?}", outcome.stderr)]));
            }
        }
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|_| json!({"not JSON": text}));
        let outputs = [
            ("stdout", json!(outcome.stdout)),
            ("stderr", json!(outcome.stderr)),
            ("stdout_json", parsed(&outcome.stdout)),
            ("stdout_lines", outcome.stdout.lines().map(parsed).collect()),
        ];
        for (name, got) in outputs {
            if let Some(want) = expected.get(name) {
                self.fail(at, mismatches(want, &got, name));
            }
        }
        if let Some(limit) = expected["max_ms"].as_u64()
            && outcome.elapsed > Duration::from_millis(limit)
        {
            self.fail(at, [format!("took {} ms, allowed {limit}", outcome.elapsed.as_millis())]);
        }
    }

    fn environment(&self, extra: &Value) -> Vec<(String, String)> {
        let mut all: Map<String, Value> =
            ENVIRONMENT.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let own = self.given.get("env").and_then(Value::as_object).into_iter().flatten();
        let added = own.chain(extra.as_object().into_iter().flatten());
        added.for_each(|(name, value)| drop(all.insert(name.clone(), value.clone())));
        let as_text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        all.into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name, as_text(self.sandbox.value(&value))))
            .collect()
    }

    fn await_requests(&self, pattern: &str, count: usize, limit: Duration) {
        let end = Instant::now() + limit;
        while self.platform.count(pattern) < count && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn wait_for(&self, expected: &Value, seconds: f64, at: &str) {
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        loop {
            let errors = check(expected, &self.sandbox, &self.platform);
            if errors.is_empty() {
                return;
            }
            if Instant::now() > end {
                return self.fail(&format!("{at} wait_for"), errors);
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn lock_database(&self, seconds: f64) {
        let (path, (send, ready)) = (self.sandbox.evidence(), mpsc::channel());
        let thread = thread::spawn(move || {
            let connection = Connection::open(path).expect("opening the database to lock it");
            connection.busy_timeout(Duration::from_secs(5)).expect("setting a timeout");
            connection.execute_batch("BEGIN EXCLUSIVE").expect("locking the database");
            send.send(()).ok();
            thread::sleep(Duration::from_secs_f64(seconds));
            connection.execute_batch("ROLLBACK").ok();
        });
        ready.recv_timeout(Duration::from_secs(6)).ok();
        self.background.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
    }

    fn sql(&self, statement: &str) -> Vec<Vec<Value>> {
        let statement = self.sandbox.text(statement);
        self.sandbox.sql(&statement, true).unwrap_or_else(|error| panic!("{statement}: {error}"))
    }

    fn set_rules(&self, rules: &[Value]) {
        self.platform.set_rules(&rules.iter().map(|rule| self.sandbox.value(rule)).collect::<Vec<_>>());
    }

    fn delete(&self, pattern: &str) {
        for path in paths(&self.sandbox.path(pattern)) {
            let is_folder = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
            let done = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            done.unwrap_or_else(|error| panic!("deleting {}: {error}", path.display()));
        }
    }

    fn age(&self, ages: &Value, at: &str) {
        for (pattern, seconds) in ages.as_object().into_iter().flatten() {
            let found = paths(&self.sandbox.path(pattern));
            if found.is_empty() {
                self.fail(at, [format!("nothing to age at {pattern}")]);
            }
            found.iter().for_each(|path| set_age(path, seconds.as_f64().expect("seconds")));
        }
    }

    fn rename(&self, names: &Value) {
        for (pattern, to) in names.as_object().into_iter().flatten() {
            let to = to.as_str().expect("a new name");
            for path in paths(&self.sandbox.path(pattern)) {
                let folder = path.parent().unwrap_or(Path::new(""));
                let target = if to.contains('/') { self.sandbox.path(to) } else { folder.join(to) };
                fs::rename(&path, target).expect("renaming a file");
            }
        }
    }

    fn fail(&self, at: &str, errors: impl IntoIterator<Item = String>) {
        let mut all = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(errors.into_iter().map(|error| format!("{at}: {error}")));
    }
}

/// Splits a command line at white space; quotes, single or double, keep words together.
fn split_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote, mut open) = (String::new(), None, false);
    for character in line.chars() {
        match quote {
            Some(end) if character == end => quote = None,
            None if character == '"' || character == '\'' => (quote, open) = (Some(character), true),
            None if character.is_whitespace() => {
                if open {
                    words.push(mem::take(&mut word));
                }
                open = false;
            }
            _ => {
                word.push(character);
                open = true;
            }
        }
    }
    if open {
        words.push(word);
    }
    words
}
