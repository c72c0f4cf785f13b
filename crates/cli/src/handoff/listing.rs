//! What resources there are.
//!
//! Every file is validated fully, by several threads; what the index knows of a file that did not change was found that way.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use jiff::Timestamp;
use mem0_code_core::handoff::document::{Item, Part};
use mem0_code_core::handoff::refusal::{Kind, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::draft::{self, Draft, Input, Wanted};
use super::index::{Index, State};
use super::project;
use super::spool::io_error;
use crate::env::Env;
use crate::setup::Setup;

/// From so many files read anew on, what was found is remembered.
const REMEMBER_FROM: usize = 64;

/// A resource, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) resource: String,
    pub(crate) title: String,
    pub(crate) source_host: String,
    pub(crate) session_id: String,
    pub(crate) project_cwd: String,
    pub(crate) saved_at: String,
    pub(crate) items: u64,
    pub(crate) approximate_tokens: u64,
}

/// A file that is no resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unreadable {
    pub(crate) path: String,
    pub(crate) kind: String,
    pub(crate) message: String,
}

/// What a store holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listing {
    /// Newest first.
    pub(crate) rows: Vec<Row>,
    pub(crate) unreadable: Vec<Unreadable>,
}

/// What a file is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Found {
    Row(Row),
    Bad(Unreadable),
}

impl Row {
    /// The row of a document that is at `resource`.
    pub(super) fn of(draft: &Draft, resource: &Path) -> Self {
        let source = &draft.source;
        let saved_at = draft.saved_at.clone().filter(|at| at.parse::<Timestamp>().is_ok());
        Self {
            resource: resource.to_string_lossy().into_owned(),
            title: source.title.clone(),
            source_host: source.host.clone(),
            session_id: source.session_id.clone(),
            project_cwd: source.project_cwd.clone().unwrap_or_else(|| source.cwd.clone()),
            saved_at: saved_at.unwrap_or_else(|| file_time(resource)),
            items: draft.counts.responses_items,
            approximate_tokens: draft.counts.approximate_tokens,
        }
    }
}

/// A file of a store.
struct File {
    path: PathBuf,
    /// Its name, as far as it is text.
    name: String,
    state: State,
    found: Option<Found>,
}

/// Lists a store; with `project`, only what belongs to it.
///
/// # Errors
/// `io_error` when the folder cannot be read.
pub(crate) fn list(setup: &Setup, folder: &Path, project: Option<&Path>) -> Result<Listing, Refusal> {
    let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let mut index = Index::read(setup, &real);
    let was_empty = index.is_empty();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Listing::default()),
        Err(error) => return Err(io_error(&format!("reading {}", folder.display()), &error)),
    };
    let mut found: Vec<File> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') || !name.ends_with(".json") {
                return None;
            }
            // A link that leads nowhere is named as well; a file that has gone meanwhile is not.
            let path = real.join(entry.file_name());
            let state = State::of(&path).or_else(|| fs::symlink_metadata(&path).is_ok().then_some(State::NOWHERE))?;
            let found = index.take(&name, state);
            Some(File { path, name, state, found })
        })
        .collect();
    let n_new = read_new(&mut found, &setup.env);
    if n_new >= REMEMBER_FROM || (n_new > 0 && !was_empty) || index.is_stale(found.len()) {
        index.replace(found.iter().filter_map(|file| Some((file.name.as_str(), file.state, file.found.as_ref()?))));
    }
    let mut listing = Listing::default();
    let mut projects: HashMap<String, Option<PathBuf>> = HashMap::new();
    for file in found {
        match file.found {
            Some(Found::Row(row)) => {
                let belongs = project.is_none_or(|project| {
                    Path::new(&row.project_cwd) == project
                        || projects
                            .entry(row.project_cwd.clone())
                            .or_insert_with(|| {
                                let folder = Path::new(&row.project_cwd);
                                folder.is_absolute().then(|| project::of(folder, &setup.env).ok()).flatten()
                            })
                            .as_deref()
                            == Some(project)
                });
                if belongs {
                    listing.rows.push(row);
                }
            }
            Some(Found::Bad(bad)) => listing.unreadable.push(bad),
            None => {}
        }
    }
    listing.rows.sort_by_cached_key(|row| {
        let saved: Option<Timestamp> = row.saved_at.parse().ok();
        (std::cmp::Reverse(saved), row.resource.clone())
    });
    listing.unreadable.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(listing)
}

/// Validates the files that are not known, on several threads; returns how many there were.
fn read_new(found: &mut [File], env: &Env) -> usize {
    let mut new: Vec<&mut File> = found.iter_mut().filter(|file| file.found.is_none()).collect();
    let n_new = new.len();
    let n_threads = thread::available_parallelism().map_or(1, usize::from).min(8).min(n_new.div_ceil(32)).max(1);
    let share = n_new.div_ceil(n_threads).max(1);
    thread::scope(|scope| {
        for files in new.chunks_mut(share) {
            scope.spawn(move || files.iter_mut().for_each(|file| file.found = Some(look(&file.path, env))));
        }
    });
    n_new
}

/// Reads and validates a file.
fn look(path: &Path, env: &Env) -> Found {
    match draft::read(Input::Bundle(path.to_owned()), &Wanted::default(), env) {
        Ok(draft) => Found::Row(Row::of(&draft, path)),
        Err(refusal) => Found::Bad(Unreadable {
            path: path.to_string_lossy().into_owned(),
            kind: refusal.kind.name().to_owned(),
            message: refusal.message,
        }),
    }
}

fn file_time(path: &Path) -> String {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    modified.and_then(|time| Timestamp::try_from(time).ok()).unwrap_or_default().to_string()
}

/// Keeps those resources in which every word stands: in the title, project, host or text. Returns a line of text for each where the first one stands.
///
/// # Errors
/// None of its own; files that went away meanwhile are left out.
pub(crate) fn search(rows: Vec<Row>, query: &str, env: &Env) -> Vec<(Row, String)> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let mut hits = Vec::new();
    for row in rows {
        let mut left = words.clone();
        let mut line = String::new();
        strike(
            &mut left,
            &mut line,
            &[&row.title, &row.project_cwd, &row.source_host, &row.session_id].map(String::as_str).join("\n"),
        );
        if left.is_empty() {
            line.clone_from(&row.title);
        } else if let Ok(mut draft) = draft::read(Input::Bundle((&row.resource).into()), &Wanted::default(), env) {
            line.clear();
            let _ = draft.items(&mut |item| {
                texts(&item, &mut |text| strike(&mut left, &mut line, text));
                if left.is_empty() { Err(Refusal::new(Kind::Io, "found")) } else { Ok(()) }
            });
        }
        if left.is_empty() {
            hits.push((row, line));
        }
    }
    hits
}

/// Strikes the words that stand in a text; keeps the line of the first.
fn strike(words: &mut Vec<String>, line: &mut String, text: &str) {
    if words.is_empty() {
        return;
    }
    let lower = text.to_lowercase();
    words.retain(|word| {
        if !lower.contains(word.as_str()) {
            return true;
        }
        if line.is_empty() {
            let found = text.lines().find(|line| line.to_lowercase().contains(word.as_str())).unwrap_or_default();
            *line = found.trim().chars().take(160).collect();
        }
        false
    });
}

fn texts(item: &Item, take: &mut dyn FnMut(&str)) {
    fn strings(value: &Value, take: &mut dyn FnMut(&str)) {
        match value {
            Value::String(text) => take(text),
            Value::Array(values) => values.iter().for_each(|value| strings(value, take)),
            Value::Object(map) if map.get("type").is_none_or(|kind| kind != "base64") => {
                map.values().for_each(|value| strings(value, take));
            }
            _ => {}
        }
    }
    match item {
        Item::Message { content, .. } => content.iter().for_each(|part| match part {
            Part::InputText { text } | Part::OutputText { text } => take(text),
            Part::InputImage { .. } => {}
        }),
        Item::FunctionCall { name, arguments, .. } => {
            take(name);
            take(arguments);
        }
        Item::FunctionCallOutput { output, .. } => strings(output, take),
    }
}
