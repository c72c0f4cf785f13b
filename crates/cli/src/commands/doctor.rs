//! `doctor`: proves that everything memory needs is in order.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use mem0_code_core::config::Backend;
use mem0_code_core::scope::{self, Scope};
use mem0_code_core::{envvars, redact};
use mem0_code_engine::api::{Purpose, SearchRequest};
use mem0_code_engine::db::Role;
use mem0_code_engine::evidence::{Evidence, FILE_NAME};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::cli::InstallArgs;
use crate::report::{CommandResult, Ending};
use crate::setup::Setup;
use crate::{backend, commands, install, lookup, output};

/// What one check found.
#[derive(Debug, Clone, Serialize)]
struct Check {
    ok: bool,
    detail: String,
}

impl Check {
    fn new(result: Result<String, String>) -> Self {
        match result {
            Ok(detail) => Self { ok: true, detail },
            Err(detail) => Self { ok: false, detail },
        }
    }
}

/// Runs every check.
pub(crate) fn run(setup: &Setup, as_json: bool) -> CommandResult {
    let here = lookup::scope_of(setup, &setup.env.cwd);
    let mut checks: Vec<(String, Check)> = vec![
        ("binary".into(), Check::new(Ok(format!("{} {}", env!("CARGO_PKG_VERSION"), setup.env.binary.display())))),
        ("data_directory".into(), Check::new(data_directory(setup))),
        ("configuration".into(), Check::new(configuration(setup))),
        ("repository".into(), Check::new(Ok(here.identity.clone()))),
        ("user_id".into(), Check::new(user_id(setup))),
    ];
    if matches!(setup.backend, Backend::Embedded) {
        checks.push(("memory".into(), Check::new(memory(setup))));
    } else {
        if matches!(setup.backend, Backend::Platform { .. }) {
            let key = setup.api_key.as_ref().map(|_| "configured".to_owned()).ok_or_else(|| "missing".to_owned());
            checks.push(("mem0_api_key".into(), Check::new(key)));
        }
        checks.push(("mem0_authentication".into(), Check::new(authentication(setup, &here))));
    }
    for (host, folder) in setup.data_folders() {
        if folder.join(FILE_NAME).is_file() {
            checks.push((format!("evidence_{host}"), Check::new(evidence(&folder))));
        }
    }
    checks.extend(wiring(setup));
    let is_well = checks.iter().all(|(_, check)| check.ok);
    if as_json {
        let checks: Map<String, Value> =
            checks.into_iter().map(|(name, check)| (name, json!({ "ok": check.ok, "detail": check.detail }))).collect();
        output::json(&json!({
            "ok": is_well,
            "plugin_version": env!("CARGO_PKG_VERSION"),
            "repo_id": here.identity,
            "app_id": here.app_id,
            "user_id": setup.settings.user_id,
            "checks": checks,
        }));
    } else {
        for (name, check) in &checks {
            output::line(format_args!("{} {name}: {}", if check.ok { "PASS" } else { "FAIL" }, check.detail));
        }
    }
    Ok(if is_well { Ending::Done } else { Ending::Failed })
}

/// Whether evidence can be kept; nothing is made to find that out.
fn data_directory(setup: &Setup) -> Result<String, String> {
    let folder = &setup.data_folder;
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    if !there.is_dir() {
        return Err(format!("{} is not a folder", there.display()));
    }
    match rustix::fs::access(there, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK) {
        Ok(()) if there == folder => Ok(folder.display().to_string()),
        Ok(()) => Ok(format!("{}, made with the first event", folder.display())),
        Err(error) => Err(format!("{} cannot be written: {error}", there.display())),
    }
}

fn configuration(setup: &Setup) -> Result<String, String> {
    match &setup.config_error {
        Some(error) => Err(format!("code.toml is not used: {error}")),
        None if !setup.settings.warnings.is_empty() => Err(setup.settings.warnings.join("; ")),
        None => {
            let file = setup.mem0.join("code.toml").display().to_string();
            match envvars::ignored(&|name| setup.env.get(name)).as_slice() {
                [] => Ok(file),
                names => Ok(format!("{file}; set, but without effect here: {}", names.join(", "))),
            }
        }
    }
}

fn user_id(setup: &Setup) -> Result<String, String> {
    let configured = ["PLUGIN_OPTION_USER_ID", "CLAUDE_PLUGIN_OPTION_USER_ID", "MEM0_CODE_USER_ID"]
        .iter()
        .find_map(|name| setup.env.get(name));
    match configured {
        Some(name) if scope::is_wildcard(&name) => Err(format!(
            "the configured user id is a wildcard (`{name}`); `{}` is used instead",
            setup.settings.user_id
        )),
        _ => Ok(setup.settings.user_id.clone()),
    }
}

fn memory(setup: &Setup) -> Result<String, String> {
    let engine = backend::open_embedded_for_search(setup).map_err(|error| error.to_string())?;
    match engine {
        Some(mut engine) => {
            let stats = engine.stats().map_err(|error| error.to_string())?;
            match stats.note.or(stats.last_error) {
                Some(trouble) => Err(trouble),
                None => Ok(format!("{} memories in {}", stats.rows, setup.memory_path().display())),
            }
        }
        None => Ok("not the embedded engine".to_owned()),
    }
}

fn evidence(folder: &std::path::Path) -> Result<String, String> {
    let evidence = Evidence::open(folder, Role::Worker).map_err(|error| error.to_string())?;
    evidence.check().map_err(|error| error.to_string())?;
    let seen = evidence.last_event_at().map_err(|error| error.to_string())?;
    Ok(format!("{}; last event {}", folder.display(), seen.as_deref().unwrap_or("never")))
}

/// Looks at the hosts that were wired by `install`, and names the others that are here.
fn wiring(setup: &Setup) -> Vec<(String, Check)> {
    let arguments = InstallArgs { hosts: Vec::new(), all: true, dry_run: true };
    let Ok(options) = commands::install::options(setup, &arguments) else { return Vec::new() };
    let mut found = Vec::new();
    for host in install::wired(&options) {
        for check in install::check(&options, &host) {
            found.push((format!("{}_{host}", check.name), Check { ok: check.ok, detail: check.detail }));
        }
        // The evidence of a host that was never called is not there, and then not among the checks above either.
        if !setup.data_folders().iter().any(|(id, folder)| *id == host && folder.join(FILE_NAME).is_file()) {
            let detail = "no hook was called yet; start a session of the host".to_owned();
            found.push((format!("last_hook_{host}"), Check { ok: true, detail }));
        }
    }
    let others = install::unwired(&options).into_iter();
    found.extend(others.map(|(host, detail)| (format!("wiring_{host}"), Check { ok: true, detail })));
    found
}

fn authentication(setup: &Setup, here: &Scope) -> Result<String, String> {
    let mut api = backend::open_for_search(setup).map_err(|error| error.to_string())?;
    let started = Instant::now();
    let request = SearchRequest {
        query: "connection check".to_owned(),
        app_id: here.app_id.clone(),
        filters: json!({ "AND": [{ "user_id": setup.settings.user_id }, { "app_id": here.app_id }] }),
        top_k: 1,
        purpose: Purpose::Search,
        now: Timestamp::now(),
        timeout: Duration::from_secs(5),
    };
    match api.search(&request) {
        Ok(_) => Ok(format!("connected in {} ms", started.elapsed().as_millis())),
        Err(error) => Err(redact::bounded(&error.to_string(), 300)),
    }
}
