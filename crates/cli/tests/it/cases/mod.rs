//! The behaviour cases of `tests/cases/`, one test an area.
//!
//! A case that cannot pass yet stands in [`WAITING`] with its reason; as soon as it passes, the area's test
//! fails until the entry is removed. `MEM0_CODE_CASE=GLOB` runs only the cases with such a name.

mod case;
mod check;
mod glob;
mod matcher;
pub(crate) mod platform;
mod sandbox;
mod waiting;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use serde_json::Value;

use waiting::WAITING;

/// Cases of one area that run at the same time. They mostly wait for processes.
const PARALLEL_CASES: usize = 4;

macro_rules! areas {
    ($($test:ident $area:literal)*) => {
        $(
            #[test]
            fn $test() {
                run_area($area);
            }
        )*

        /// Every area that has a test.
        const AREAS: &[&str] = &[$($area),*];
    };
}

areas! {
    cases_apikey "apikey"
    cases_capture "capture"
    cases_checkpoint "checkpoint"
    cases_control "control"
    cases_db "db"
    cases_extraction "extraction"
    cases_flush "flush"
    cases_hosts "hosts"
    cases_identity "identity"
    cases_injection "injection"
    cases_mcp "mcp"
    cases_pending "pending"
    cases_redaction "redaction"
    cases_search "search"
    cases_session "session"
    cases_shims "shims"
    cases_subagent "subagent"
    cases_telemetry "telemetry"
    cases_transcript "transcript"
}

#[test]
fn every_area_file_has_a_test_and_every_waiting_case_exists() {
    let files = glob::paths(&folder().join("*.json"));
    let stems: BTreeSet<String> =
        files.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    assert_eq!(stems, AREAS.iter().map(|area| (*area).to_owned()).collect());
    let names: BTreeSet<String> =
        AREAS.iter().flat_map(|area| load(area).into_iter().map(move |case| full_name(area, &case))).collect();
    for (name, reason) in WAITING {
        assert!(names.contains(*name), "{name} waits, but there is no such case");
        assert!(!reason.is_empty(), "{name} waits without a reason");
    }
}

fn run_area(area: &str) {
    let wanted = std::env::var("MEM0_CODE_CASE").unwrap_or_else(|_| "*".to_owned());
    let cases: Vec<Value> = load(area).into_iter().filter(|case| glob::wildcard(&wanted, case_name(case))).collect();
    let (queue, reports) = (Mutex::new(cases.iter()), Mutex::new(Vec::new()));
    let next = || queue.lock().ok()?.next();
    thread::scope(|scope| {
        for _ in 0..PARALLEL_CASES.min(cases.len()) {
            scope.spawn(|| {
                while let Some(spec) = next() {
                    let report = judge(&full_name(area, spec), spec, &case::run(spec));
                    reports.lock().expect("no test thread panics").extend(report);
                }
            });
        }
    });
    let reports = reports.into_inner().expect("no test thread panics");
    assert!(reports.is_empty(), "{} of {} cases:\n{}", reports.len(), cases.len(), reports.join("\n"));
}

/// Returns what is wrong with a case, or nothing.
fn judge(name: &str, spec: &Value, errors: &[String]) -> Option<String> {
    let reason = WAITING.iter().find(|(waiting, _)| *waiting == name).map(|(_, reason)| reason);
    let level = spec["level"].as_str().unwrap_or("must");
    match (reason, errors) {
        (Some(_), []) => Some(format!("{name} [{level}] is expected to wait but passes: remove it from WAITING")),
        (Some(_), _) | (None, []) => None,
        (None, errors) => {
            let lines = errors.iter().take(8).map(|error| format!("\n      {}", clip(error, 900)));
            Some(format!("{name} [{level}] {}{}", spec["why"].as_str().unwrap_or_default(), lines.collect::<String>()))
        }
    }
}

fn clip(text: &str, max_chars: usize) -> &str {
    text.char_indices().nth(max_chars).map_or(text, |(end, _)| &text[..end])
}

fn load(area: &str) -> Vec<Value> {
    let path = folder().join(format!("{area}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(file["area"], area);
    file["cases"].as_array().expect("cases are a list").clone()
}

fn case_name(case: &Value) -> &str {
    case["name"].as_str().expect("a case has a name")
}

fn full_name(area: &str, case: &Value) -> String {
    format!("{area}/{}", case_name(case))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases")
}
