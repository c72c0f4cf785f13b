//! `forget`: deletes what is stored about the repository of the working folder.

use std::collections::BTreeSet;

use mem0_code_core::config::Backend;
use mem0_code_core::redact;
use mem0_code_core::scope::{self, Scope};
use mem0_code_engine::api::{ListRequest, MemoryApi};
use mem0_code_engine::db::Role;
use mem0_code_engine::evidence::{Counts, Evidence, FILE_NAME};
use serde_json::{Value, json};

use crate::cli::ForgetArgs;
use crate::report::{CommandResult, Ending, Usage};
use crate::setup::Setup;
use crate::{backend, lookup, output, pending};

/// Memories a page, and the most pages read: what lies beyond is reported, never passed over in silence.
const PAGE_SIZE: usize = 100;
const MAX_PAGES: usize = 1_000;
/// Memories shown by a preview.
const N_PREVIEWED: usize = 10;

/// Deletes, or tells what it would delete.
pub(crate) fn run(setup: &Setup, arguments: &ForgetArgs) -> CommandResult {
    let here = lookup::scope_of(setup, &setup.env.cwd);
    if arguments.preview {
        return preview(setup, &here, arguments);
    }
    if !arguments.yes {
        let what = match setup.backend {
            Backend::Embedded => "what this computer recorded about it and every memory of it, as --preview shows",
            _ => "what this computer recorded about it, with --remote also your memories of it, as --preview shows",
        };
        output::line(format_args!(
            "Nothing was deleted. {}: `mem0-code forget --yes` deletes {what}; this cannot be undone.",
            here.identity
        ));
        return Ok(Ending::Refused);
    }
    // What is found by listing must go first: local rows are what a second try would start from.
    let is_remote = arguments.remote && !matches!(setup.backend, Backend::Embedded);
    let remote = is_remote.then(|| forget_memories(setup, &here, arguments.include_project_memory));
    let mut local = Counts::default();
    let mut n_packets = 0;
    for (_, folder) in setup.data_folders() {
        if !folder.join(FILE_NAME).is_file() {
            continue;
        }
        let mut evidence = Evidence::open(&folder, Role::Worker)?;
        let sessions: BTreeSet<String> = evidence.sessions(&here.identity)?.into_iter().collect();
        n_packets += pending::forget(&folder, |input| {
            input.get("session_id").and_then(Value::as_str).is_some_and(|id| sessions.contains(id))
        });
        let gone = evidence.forget(&here.identity)?;
        local.events += gone.events;
        local.session_scopes += gone.session_scopes;
        local.flushes += gone.flushes;
        local.retrievals += gone.retrievals;
        local.operations += gone.operations;
        local.subagent_runs += gone.subagent_runs;
    }
    let mut counts = serde_json::to_value(&local)?;
    if let Some(mut engine) = backend::open_embedded(setup)? {
        // Memories of the embedded engine are as local as the evidence they were made from.
        let mut filters = filters(setup, &here, true).map_err(Usage)?;
        for filter in &mut filters {
            *filter = json!({ "AND": [filter.take(), { "app_id": here.app_id }] });
        }
        counts["memories"] = engine.delete_where(&scope::confined(json!({ "OR": filters }), &here))?.into();
    }
    counts["pending_packets"] = n_packets.into();
    let is_whole = remote.as_ref().is_none_or(|remote| remote["status"] == "deleted");
    let properties = json!({ "success": is_whole, "item_count": local.events });
    setup.count("forget", None, properties);
    output::json(&json!({ "local": counts, "remote": remote }));
    Ok(if is_whole { Ending::Done } else { Ending::Failed })
}

/// Which memories belong to the repository: filters whose union is deleted.
fn filters(setup: &Setup, here: &Scope, with_project: bool) -> Result<Vec<Value>, String> {
    let user_id = &setup.settings.user_id;
    for name in [user_id, &here.app_id, &here.project_id] {
        if name.trim().is_empty() || scope::is_wildcard(name) {
            return Err(format!("refusing to delete: `{name}` is not one user or project"));
        }
    }
    let mut filters = vec![json!({ "user_id": user_id })];
    if with_project {
        filters.push(json!({ "agent_id": here.project_id }));
        filters.extend(here.older_project_id.as_ref().map(|older| json!({ "agent_id": older })));
    }
    Ok(filters)
}

fn forget_memories(setup: &Setup, here: &Scope, with_project: bool) -> Value {
    let found = backend::open(setup)
        .map_err(|error| error.to_string())
        .and_then(|mut api| find(api.as_mut(), setup, here, with_project).map(|found| (api, found)));
    let (mut api, (ids, is_complete)) = match found {
        Ok(found) => found,
        Err(error) => return json!({ "status": "error", "error": redact::bounded(&error, 300) }),
    };
    let mut n_deleted = 0;
    let mut n_failed = 0;
    let mut last_error = None;
    for id in ids {
        match api.delete(&id) {
            Ok(()) => n_deleted += 1,
            Err(error) => {
                n_failed += 1;
                last_error = Some(redact::bounded(&error.to_string(), 300));
            }
        }
    }
    if !is_complete {
        last_error = Some(format!("more than {} memories; run it again", PAGE_SIZE * MAX_PAGES));
    }
    match last_error {
        None => json!({ "status": "deleted", "deleted": n_deleted }),
        Some(error) => json!({ "status": "partial", "deleted": n_deleted, "failed": n_failed, "error": error }),
    }
}

/// Returns the ids of the repository's memories, and whether these are all.
fn find(
    api: &mut dyn MemoryApi,
    setup: &Setup,
    here: &Scope,
    with_project: bool,
) -> Result<(Vec<String>, bool), String> {
    let mut ids = Vec::new();
    let mut seen = BTreeSet::new();
    let below = format!("{}/", here.app_id);
    for filters in filters(setup, here, with_project)? {
        for page in 1.. {
            if page > MAX_PAGES {
                return Ok((ids, false));
            }
            let request = ListRequest { filters: filters.clone(), page, page_size: PAGE_SIZE };
            let listed = api.list(&request).map_err(|error| error.to_string())?.results;
            let is_last = listed.len() < PAGE_SIZE;
            let theirs = listed.into_iter().filter(|memory| {
                scope::is_of(memory, here)
                    && memory
                        .app_id
                        .as_deref()
                        .is_some_and(|app_id| app_id == here.app_id || app_id.starts_with(&below))
            });
            for memory in theirs {
                if seen.insert(memory.id.clone()) {
                    ids.push(memory.id);
                }
            }
            if is_last {
                break;
            }
        }
    }
    Ok((ids, true))
}

/// What would be deleted of one host's evidence.
struct Previewed {
    host: String,
    counts: Counts,
}

fn preview(setup: &Setup, here: &Scope, arguments: &ForgetArgs) -> CommandResult {
    let mut hosts = Vec::new();
    for (host, folder) in setup.data_folders() {
        if folder.join(FILE_NAME).is_file() {
            let counts = Evidence::open(&folder, Role::Worker)?.counts(&here.identity)?;
            hosts.push(Previewed { host, counts });
        }
    }
    let is_embedded = matches!(setup.backend, Backend::Embedded);
    let mut memories = None;
    if arguments.remote || is_embedded {
        let mut api = backend::open_for_search(setup)?;
        let (ids, is_complete) = find(api.as_mut(), setup, here, is_embedded || arguments.include_project_memory)
            .map_err(anyhow::Error::msg)?;
        let mut first = Vec::new();
        for id in ids.iter().take(N_PREVIEWED) {
            let text = api.get(id)?.memory.split_whitespace().collect::<Vec<_>>().join(" ");
            first.push((id.clone(), text.chars().take(100).collect::<String>()));
        }
        memories = Some((ids.len(), is_complete, first));
    }
    if arguments.json {
        let hosts: Vec<Value> = hosts
            .iter()
            .map(|one| {
                let Counts { events, session_scopes, flushes, .. } = one.counts;
                json!({ "host": one.host, "events": events, "sessions": session_scopes, "packets": flushes })
            })
            .collect();
        let memories = memories.map(|(total, is_complete, first)| {
            let first: Vec<Value> = first.iter().map(|(id, text)| json!({ "id": id, "memory": text })).collect();
            json!({ "total": total, "is_complete": is_complete, "first": first })
        });
        output::json(&json!({ "repo_id": here.identity, "hosts": hosts, "memories": memories }));
        return Ok(Ending::Done);
    }
    output::line(format_args!("Nothing is deleted by this preview. About {}:", here.identity));
    for Previewed { host, counts } in hosts {
        output::line(format_args!(
            "  {host}: {} recorded events of {} sessions, {} packets",
            counts.events, counts.session_scopes, counts.flushes
        ));
    }
    if let Some((total, is_complete, first)) = memories {
        output::line(format_args!("  memories:{} {total}", if is_complete { "" } else { " at least" }));
        for (id, text) in first {
            output::line(format_args!("    {id}  {text}"));
        }
    }
    Ok(Ending::Done)
}
