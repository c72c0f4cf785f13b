//! `search`, `add`, `list`, `get`, `update`, `delete`, `history`.

use std::io::Read;

use anyhow::Context;
use jiff::Timestamp;
use mem0_code_core::context;
use mem0_code_core::filter::Filter;
use mem0_code_core::memory::{Category, Entities, Memory, Message, Role};
use mem0_code_core::redact;
use mem0_code_core::scope::{self, Scope, SearchScope};
use mem0_code_engine::api::{AddRequest, EventStatus, ListRequest};
use serde_json::{Map, Value, json};

use crate::cli::{AddArgs, ListArgs, ScopeName, SearchArgs};
use crate::lookup::{self, Question};
use crate::report::{CommandResult, Ending, Usage};
use crate::setup::Setup;
use crate::{backend, output};

/// Longest fact stored by `add`, in characters.
const MAX_FACT_CHARS: usize = 20_000;

impl From<ScopeName> for SearchScope {
    fn from(name: ScopeName) -> Self {
        match name {
            ScopeName::Repo => Self::Repo,
            ScopeName::Dir => Self::Dir,
            ScopeName::Mine => Self::Mine,
        }
    }
}

/// `search`.
pub(crate) fn search(setup: &Setup, arguments: &SearchArgs) -> CommandResult {
    let question = Question {
        query: arguments.query.clone(),
        top_k: arguments.top_k.map(usize::from),
        category: arguments.category.as_deref().and_then(Category::parse),
        scope: arguments.scope.map(SearchScope::from),
        run_id: arguments.run_id.clone(),
    };
    let found = lookup::search(setup, &setup.env.cwd, &question)?;
    if arguments.json {
        output::json(&json!({ "results": found }));
    } else if found.is_empty() {
        output::line("No matching memories found.");
    } else {
        output::line(context::list(&found, setup.settings.max_context_chars).text);
    }
    Ok(Ending::Done)
}

/// `add`.
pub(crate) fn add(setup: &Setup, arguments: &AddArgs) -> CommandResult {
    let text = match arguments.text.as_str() {
        "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("reading the fact from standard input")?;
            text
        }
        text => text.to_owned(),
    };
    let text = redact::text(text.trim()).into_owned();
    if text.is_empty() {
        return Err(Usage("there is nothing to remember: the text is empty".to_owned()).into());
    }
    let n_chars = text.chars().count();
    if n_chars > MAX_FACT_CHARS {
        return Err(
            Usage(format!("the text has {n_chars} characters; at most {MAX_FACT_CHARS} are kept as one fact")).into()
        );
    }
    let here = lookup::scope_of(setup, &setup.env.cwd);
    let request = request(setup, &here, text, arguments.personal);
    let mut api = backend::open(setup)?;
    let receipt = api.add(&request)?;
    let event = api.event(&receipt)?;
    if let Some(mut engine) = backend::open_embedded(setup)? {
        engine.maintain(false)?;
    }
    let is_stored = event.status == EventStatus::Succeeded;
    if arguments.json {
        output::json(&json!({ "event_id": receipt, "stored": is_stored, "project_id": here.project_id }));
    } else if is_stored {
        output::line(format_args!("Remembered for {}.", if arguments.personal { "you" } else { &here.app_id }));
    } else {
        output::line(format_args!("Accepted as {receipt}; it can be found once the server has worked on it."));
    }
    Ok(Ending::Done)
}

fn request(setup: &Setup, here: &Scope, text: String, is_personal: bool) -> AddRequest {
    let user_id = setup.settings.user_id.clone();
    let mut metadata = Map::new();
    metadata.insert("source".into(), "mem0_code".into());
    metadata.insert("author".into(), user_id.clone().into());
    metadata.insert("dirs".into(), json!(scope::directory_chain(&here.directory)));
    if !matches!(here.branch.as_str(), "" | "detached" | "unknown") {
        metadata.insert("branch".into(), here.branch.clone().into());
    }
    metadata.insert("lane".into(), if is_personal { "personal" } else { "project" }.into());
    AddRequest {
        messages: vec![Message { role: Role::User, content: text, at: Some(Timestamp::now()), tool: None }],
        entities: Entities {
            user_id,
            agent_id: if is_personal { String::new() } else { here.project_id.clone() },
            app_id: here.app_id.clone(),
            run_id: None,
        },
        metadata,
        infer: false,
        ..AddRequest::default()
    }
}

/// `list`.
pub(crate) fn list(setup: &Setup, arguments: &ListArgs) -> CommandResult {
    if !(1..=1_000).contains(&arguments.page_size) || arguments.page == 0 {
        return Err(Usage("pages are counted from 1 and hold 1 to 1,000 memories".to_owned()).into());
    }
    let filters = match &arguments.filter {
        Some(text) => {
            let filter = serde_json::from_str(text).map_err(|error| {
                Usage(format!("the filter is not JSON (line {}, column {})", error.line(), error.column()))
            })?;
            let parsed = Filter::parse(&filter).map_err(|error| Usage(error.to_string()))?;
            if let Some(name) = parsed.unknown_field() {
                return Err(
                    Usage(format!("filter: no memory has a field `{name}`; own facts are below `metadata`")).into()
                );
            }
            filter
        }
        None => {
            let here = lookup::scope_of(setup, &setup.env.cwd);
            let filters = scope::filters(&here, &setup.settings.user_id, SearchScope::Repo, None, None)?;
            backend::confined(setup, &here, filters)
        }
    };
    let filters =
        if arguments.durable { json!({ "AND": [filters, { "metadata": { "kind": "durable" } }] }) } else { filters };
    let request = ListRequest { filters, page: arguments.page, page_size: arguments.page_size };
    let page = backend::open_for_search(setup)?.list(&request)?;
    if arguments.json {
        output::json(&json!({ "results": page.results, "total": page.total }));
        return Ok(Ending::Done);
    }
    if page.results.is_empty() {
        output::line("No memories here.");
    }
    for memory in &page.results {
        output::line(format_args!("{}  {}", memory.id, summary(memory)));
    }
    if let Some(total) = page.total.filter(|total| *total > page.results.len()) {
        output::line(format_args!("{} of {total}; --page {} shows more.", page.results.len(), arguments.page + 1));
    }
    Ok(Ending::Done)
}

fn summary(memory: &Memory) -> String {
    let kind = memory.metadata.as_ref().and_then(|metadata| metadata.get("kind")).and_then(Value::as_str).unwrap_or("");
    let text = memory.memory.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = text.chars().take(120).collect();
    let mark = if cut.len() < text.len() { "…" } else { "" };
    format!("[{kind}] {cut}{mark}")
}

/// `get`.
pub(crate) fn get(setup: &Setup, id: &str, as_json: bool) -> CommandResult {
    let memory = backend::open_for_search(setup)?.get(id)?;
    print(&memory, as_json);
    Ok(Ending::Done)
}

/// `update`.
pub(crate) fn update(setup: &Setup, id: &str, text: &str, as_json: bool) -> CommandResult {
    let text = redact::text(text.trim());
    if text.is_empty() {
        return Err(Usage("the new text is empty; `delete` removes a memory".to_owned()).into());
    }
    let memory = backend::open(setup)?.update(id, &text)?;
    print(&memory, as_json);
    Ok(Ending::Done)
}

/// `delete`.
pub(crate) fn delete(setup: &Setup, ids: &[String], as_json: bool) -> CommandResult {
    let mut api = backend::open(setup)?;
    let (mut deleted, mut failed) = (Vec::new(), Vec::new());
    for id in ids {
        match api.delete(id) {
            Ok(()) => deleted.push(id),
            Err(error) => failed.push((id, error)),
        }
    }
    if as_json {
        let failed: Vec<Value> =
            failed.iter().map(|(id, error)| json!({ "id": id, "error": error.to_string() })).collect();
        output::json(&json!({ "deleted": deleted, "failed": failed }));
        return Ok(if failed.is_empty() { Ending::Done } else { Ending::Failed });
    }
    if !deleted.is_empty() {
        let noun = if deleted.len() == 1 { "memory" } else { "memories" };
        output::line(format_args!("Deleted {} {noun}.", deleted.len()));
    }
    let mut failed = failed.into_iter().map(|(_, error)| error);
    let first = failed.next();
    for error in failed {
        output::error_line(format_args!("error: {error}"));
    }
    first.map_or(Ok(Ending::Done), |error| Err(error.into()))
}

/// `history`.
pub(crate) fn history(setup: &Setup, id: &str, as_json: bool) -> CommandResult {
    let changes = backend::open_for_search(setup)?.history(id)?;
    if as_json {
        let changes: Vec<Value> = changes
            .iter()
            .map(|change| {
                json!({
                    "event": change.event, "old_memory": change.old_memory,
                    "new_memory": change.new_memory, "created_at": change.created_at,
                })
            })
            .collect();
        output::json(&changes);
        return Ok(Ending::Done);
    }
    for change in changes {
        let text = change.new_memory.or(change.old_memory).unwrap_or_default();
        output::line(format_args!("{}  {:<9}  {text}", change.created_at, change.event));
    }
    Ok(Ending::Done)
}

fn print(memory: &Memory, as_json: bool) {
    if as_json {
        output::json(memory);
    } else {
        output::line(format_args!("{}\n\n{}", memory.id, memory.memory));
    }
}
