//! `status`: what is stored about this repository, what waits, and what went wrong.

use mem0_code_engine::db::Role;
use mem0_code_engine::evidence::{Counts, Evidence, FILE_NAME, LastOperation, LastRun, Waiting};
use serde_json::{Value, json};

use crate::report::{CommandResult, Ending};
use crate::setup::Setup;
use crate::{backend, lookup, output, pending};

/// What one data folder says.
struct Folder {
    host: String,
    path: String,
    is_paused: bool,
    counts: Counts,
    waiting: Waiting,
    packets: (usize, usize),
    last_operation: Option<LastOperation>,
    last_run: Option<LastRun>,
    last_event_at: Option<String>,
    set_aside: Vec<String>,
    error: Option<String>,
}

/// Prints the status.
pub(crate) fn run(setup: &Setup, as_json: bool) -> CommandResult {
    let here = lookup::scope_of(setup, &setup.env.cwd);
    let folders: Vec<Folder> =
        setup.data_folders().into_iter().map(|(host, path)| look(host, &path, &here.identity)).collect();
    let memory = backend::open_embedded_for_search(setup).map(|engine| engine.map(|mut engine| engine.stats()));
    let sum = |pick: fn(&Counts) -> u64| folders.iter().map(|folder| pick(&folder.counts)).sum::<u64>();
    let last_operation = folders
        .iter()
        .filter_map(|folder| folder.last_operation.clone())
        .max_by(|a, b| a.created_at.cmp(&b.created_at));
    let last_run =
        folders.iter().filter_map(|folder| folder.last_run.clone()).max_by(|a, b| a.started_at.cmp(&b.started_at));
    let is_paused = !folders.is_empty() && folders.iter().all(|folder| folder.is_paused);
    let data_dir = match folders.as_slice() {
        [only] => only.path.clone(),
        _ => setup.mem0.display().to_string(),
    };
    let status = json!({
        "paused": is_paused,
        "events": sum(|counts| counts.events),
        "flushes": sum(|counts| counts.flushes),
        "retrievals": sum(|counts| counts.retrievals),
        "subagent_runs": sum(|counts| counts.subagent_runs),
        "last_operation": last_operation,
        "last_subagent": last_run,
        "repo_id": here.identity,
        "app_id": here.app_id,
        "project_id": here.project_id,
        "directory": here.directory,
        "user_id": setup.settings.user_id,
        "data_dir": data_dir,
        "api_key_configured": setup.api_key.is_some(),
        "backend": backend::name(setup),
        "memory": match memory {
            Ok(None) => Value::Null,
            Ok(Some(Ok(stats))) => json!({
                "memories": stats.rows,
                "durable": stats.durable,
                "indexed": stats.indexed,
                "unindexed": stats.tail,
                "database_bytes": stats.database_bytes,
                "index_bytes": stats.index_bytes,
                "note": stats.note,
                "last_error": stats.last_error,
            }),
            Ok(Some(Err(error))) | Err(error) => json!({ "error": error.to_string() }),
        },
        "model": setup.settings.llm.as_ref().zip(backend::model_usage(setup)).map(|(llm, usage)| json!({
            "name": llm.model,
            "url": llm.url,
            "daily_tokens": llm.daily_tokens,
            "tokens_today": usage.tokens,
            "requests_today": usage.requests,
            "fallbacks_today": usage.fallbacks,
            "last_failure": usage.last_failure.map(|(at, reason)| json!({ "at": at, "reason": reason })),
        })),
        "pending_packets": folders.iter().map(|folder| folder.packets.0).sum::<usize>(),
        "running_packets": folders.iter().map(|folder| folder.packets.1).sum::<usize>(),
        "unsent_events": folders.iter().map(|folder| folder.waiting.unsent_events).sum::<u64>(),
        "unfinished_packets": folders.iter().map(|folder| folder.waiting.unfinished_packets).sum::<u64>(),
        "gave_up": folders.iter().map(|folder| folder.waiting.gave_up).sum::<u64>(),
        "last_error": folders.iter().filter_map(|folder| folder.waiting.last_error.clone()).max(),
        "config_error": setup.config_error,
        "hosts": folders.iter().map(|folder| json!({
            "host": folder.host,
            "data_dir": folder.path,
            "paused": folder.is_paused,
            "events": folder.counts.events,
            "pending_packets": folder.packets.0,
            "last_event_at": folder.last_event_at,
            "set_aside": folder.set_aside,
            "error": folder.error,
        })).collect::<Vec<_>>(),
    });
    if as_json {
        output::json(&status);
    } else {
        print(setup, &status);
    }
    let is_well = folders.iter().all(|folder| folder.error.is_none());
    Ok(if is_well { Ending::Done } else { Ending::Failed })
}

fn look(host: String, path: &std::path::Path, identity: &str) -> Folder {
    let mut folder = Folder {
        host,
        path: path.display().to_string(),
        is_paused: false,
        counts: Counts::default(),
        waiting: Waiting::default(),
        packets: pending::count(path),
        last_operation: None,
        last_run: None,
        last_event_at: None,
        set_aside: set_aside(path),
        error: None,
    };
    if !path.join(FILE_NAME).is_file() {
        return folder;
    }
    let read = || {
        let evidence = Evidence::open(path, Role::Hook)?;
        folder.is_paused = evidence.is_paused()?;
        folder.counts = evidence.counts(identity)?;
        folder.waiting = evidence.waiting(identity)?;
        folder.last_operation = evidence.last_operation(identity)?;
        folder.last_run = evidence.last_run(identity)?;
        folder.last_event_at = evidence.last_event_at()?;
        Ok::<_, mem0_code_engine::db::StoreError>(())
    };
    let mut read = read;
    if let Err(error) = read() {
        folder.error = Some(error.to_string());
    }
    folder.error = folder.error.or_else(|| crate::log::last_trouble(path));
    folder
}

/// Databases that could not be read and were put aside.
fn set_aside(path: &std::path::Path) -> Vec<String> {
    let mut found: Vec<String> = std::fs::read_dir(path)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains(".corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm"))
        .collect();
    found.sort();
    found
}

fn print(setup: &Setup, status: &Value) {
    let text = |key: &str| status[key].as_str().unwrap_or_default().to_owned();
    let number = |key: &str| status[key].as_u64().unwrap_or(0);
    output::line(format_args!("Memory is {}.", if status["paused"] == true { "paused" } else { "active" }));
    output::line(format_args!("Repository   {}", text("repo_id")));
    output::line(format_args!("Kept in      {}", text("backend")));
    output::line(format_args!("Evidence in  {}", text("data_dir")));
    if !matches!(setup.backend, mem0_code_core::config::Backend::Embedded) {
        output::line(format_args!(
            "API key      {}",
            if status["api_key_configured"] == true { "configured" } else { "missing" }
        ));
    }
    output::line("");
    output::line(format_args!("Recorded here: {} events in {} memory updates.", number("events"), number("flushes")));
    output::line(format_args!(
        "Shown here: {} memories; {} sub-agents seen.",
        number("retrievals"),
        number("subagent_runs")
    ));
    if let Some(memories) = status["memory"]["memories"].as_u64() {
        output::line(format_args!(
            "Memories on this machine: {memories}, {} of them distilled.",
            status["memory"]["durable"].as_u64().unwrap_or(0)
        ));
    }
    for key in ["error", "note", "last_error"] {
        if let Some(trouble) = status["memory"][key].as_str() {
            output::line(format_args!("Memory: {trouble}"));
        }
    }
    let n_waiting = number("pending_packets") + number("running_packets");
    if n_waiting + number("unsent_events") > 0 {
        output::line(format_args!(
            "Waiting: {} events not yet handed over, {n_waiting} packets on their way.",
            number("unsent_events")
        ));
    }
    if number("gave_up") > 0 {
        output::line(format_args!("Given up after five attempts: {} packets.", number("gave_up")));
    }
    if let Some(model) = status["model"].as_object() {
        output::line(format_args!(
            "Model: {} took {} of {} tokens today in {} requests; rules stood in {} times.",
            model["name"].as_str().unwrap_or_default(),
            model["tokens_today"],
            model["daily_tokens"],
            model["requests_today"],
            model["fallbacks_today"],
        ));
        if let Some(failure) = model["last_failure"].as_object() {
            let text = |key: &str| failure[key].as_str().unwrap_or_default();
            output::line(format_args!("  last trouble ({}): {}", text("at"), text("reason")));
        }
    }
    if let [time, error] = status["last_error"].as_array().map(Vec::as_slice).unwrap_or_default() {
        output::line(format_args!("Last error ({}): {}", time.as_str().unwrap_or(""), error.as_str().unwrap_or("")));
    }
    if let Some(operation) = status["last_operation"].as_object() {
        let name = operation["operation"].as_str().unwrap_or_default();
        let name = if name.starts_with("flush") { "memory update".to_owned() } else { name.replace('-', " ") };
        let outcome = if operation["success"] == 1 { "succeeded" } else { "failed" };
        output::line(format_args!(
            "Last: {name} {outcome} with {} memories in {:.1} ms.",
            operation["item_count"],
            operation["duration_ms"].as_f64().unwrap_or(0.0)
        ));
    }
    for host in status["hosts"].as_array().into_iter().flatten() {
        let name = host["host"].as_str().unwrap_or_default();
        let seen = host["last_event_at"].as_str().unwrap_or("never");
        output::line(format_args!("{name}: last seen {seen}"));
        for kept in host["set_aside"].as_array().into_iter().flatten() {
            output::line(format_args!("  a damaged database was set aside as {}", kept.as_str().unwrap_or_default()));
        }
        if let Some(error) = host["error"].as_str() {
            output::line(format_args!("  trouble: {error}"));
        }
    }
    if let Some(error) = status["config_error"].as_str() {
        output::line(format_args!("code.toml is not used: {error}"));
    }
}
