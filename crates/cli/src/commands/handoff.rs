//! `handoff`: saving a session, listing what was saved, giving it to another agent.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use mem0_code_core::handoff::command::{self, Command, USAGE};
use mem0_code_core::handoff::document::Item;
use mem0_code_core::handoff::export::{self, Format};
use mem0_code_core::handoff::redact;
use mem0_code_core::handoff::refusal::{Kind, Refusal};
use mem0_code_core::handoff::resume::GUARD;
use serde_json::{Value, json};

use crate::handoff::draft::{self, Input, Wanted};
use crate::handoff::listing::{self, Listing};
use crate::handoff::{answer, into, project, save, store};
use crate::output::{self, JsonWriter};
use crate::report::{CommandResult, Ending, Usage};
use crate::setup::Setup;

/// Most bytes of a shim's request.
const MAX_REQUEST_BYTES: u64 = 1 << 30;

/// Arguments of `handoff`.
#[derive(Debug, Args)]
pub(crate) struct HandoffArgs {
    /// The folder of resources instead of ~/.mem0/handoffs.
    #[arg(long, global = true, value_name = "DIR")]
    store: Option<PathBuf>,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Save a finished session as a resource that any agent can resume.
    Save {
        #[command(flatten)]
        input: InputArgs,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the resources of a project, newest first.
    List {
        /// The project.
        #[arg(long, value_name = "DIR", default_value = ".")]
        cwd: PathBuf,
        /// Of every project.
        #[arg(long, conflicts_with = "cwd")]
        all: bool,
        /// Fail when a file cannot be read.
        #[arg(long)]
        strict: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a resource as evidence for another agent, or go on with it in one.
    Resume {
        /// The resource; any path.
        resource: PathBuf,
        /// The project to go on in.
        #[arg(long, value_name = "DIR")]
        cwd: Option<PathBuf>,
        /// Write it as a session of this host and print the command that goes on with it.
        #[arg(long, value_name = "HOST")]
        into: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show what a resource is and how it ends.
    Show {
        /// The resource.
        resource: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the document of a session without saving it.
    Convert {
        #[command(flatten)]
        input: InputArgs,
        /// Errors as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Check that resources are whole and valid.
    Verify {
        /// The resources.
        #[arg(required = true)]
        resources: Vec<PathBuf>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write a resource for people, without secrets.
    Export {
        /// The resource.
        resource: PathBuf,
        /// As one HTML page instead of Markdown.
        #[arg(long)]
        html: bool,
        /// Where to; a file that does not exist yet. Standard output otherwise.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Keep secrets.
        #[arg(long)]
        no_redact: bool,
    },
    /// Find resources by title, project, host and text; every word must stand in them.
    Search {
        /// The words.
        query: String,
        /// Only this project.
        #[arg(long, value_name = "DIR")]
        cwd: Option<PathBuf>,
        /// Only this host.
        #[arg(long)]
        host: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Answer a slash command of a host: one JSON object on standard input, one on standard output.
    Command,
}

/// What a document is made of.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("input").required(true).args(["session", "bundle", "messages"]))]
struct InputArgs {
    /// The host whose session it is.
    #[arg(long, value_name = "HOST", requires = "session")]
    source: Option<String>,
    /// The session's file, or its id where the host's folder is known.
    #[arg(long, value_name = "PATH|ID", requires = "source")]
    session: Option<String>,
    /// A document; `-` reads standard input.
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
    /// Messages of a host; `-` reads standard input.
    #[arg(long, value_name = "FILE")]
    messages: Option<PathBuf>,
    /// The project.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// A title.
    #[arg(long)]
    title: Option<String>,
    /// Mark results that the host did not record instead of refusing the session.
    #[arg(long)]
    allow_missing_results: bool,
    /// Take secrets out.
    #[arg(long)]
    redact: bool,
}

impl InputArgs {
    fn input(self) -> Result<(Input, Wanted), Usage> {
        let wanted = Wanted {
            cwd: self.cwd,
            title: self.title.filter(|title| !title.trim().is_empty()),
            allow_missing_results: self.allow_missing_results,
            redact: self.redact,
            exclude_call_id: None,
        };
        let input = match (self.source, self.session, self.bundle, self.messages) {
            (Some(host), Some(session), None, None) => Input::Session { host, session },
            (None, None, Some(bundle), None) => Input::Bundle(bundle),
            (None, None, None, Some(messages)) => Input::Messages(messages),
            _ => return Err(Usage("name one session, bundle or messages".to_owned())),
        };
        Ok((input, wanted))
    }
}

/// `handoff`.
pub(crate) fn run(setup: &Setup, arguments: HandoffArgs) -> CommandResult {
    let folder = store::folder(setup, arguments.store.as_deref());
    let env = &setup.env;
    match arguments.action {
        Action::Save { input, json } => {
            let (input, wanted) = input.input()?;
            told(json, save(setup, input, &wanted, &folder), |saved| {
                if json { output::json(&saved.json()) } else { output::line(saved.text()) }
            })
        }
        Action::List { cwd, all, strict, json } => {
            let project = if all { Ok(None) } else { project::of(&cwd, env).map(Some) };
            let listing = project.and_then(|project| listing::list(setup, &folder, project.as_deref()));
            match listing {
                Ok(listing) => Ok(print_list(&listing, strict, json)),
                Err(refusal) => Ok(refused(&refusal, json)),
            }
        }
        Action::Resume { resource, cwd, into: Some(host), json } => {
            let document = answer::open(&resource, env).and_then(|(path, _)| {
                String::from_utf8(fs::read(path).map_err(|error| Refusal::new(Kind::Io, error.to_string()))?)
                    .map_err(|_| Refusal::new(Kind::InvalidJson, "the document is not UTF-8"))
            });
            let resumed = document.and_then(|document| into::resume(env, &document, &host, cwd.as_deref()));
            told(
                json,
                resumed,
                |resumed| {
                    if json { output::json(&resumed.json()) } else { output::line(resumed.text()) }
                },
            )
        }
        Action::Resume { resource, cwd, into: None, json } => {
            let mut out = JsonWriter::default();
            let cwd = cwd.unwrap_or_else(|| env.cwd.clone());
            let done = answer::whole(&resource, &cwd, env, &mut out);
            told(json, done, |_| end(&mut out))
        }
        Action::Show { resource, json } => show(setup, &resource, json),
        Action::Convert { input, json } => {
            let (input, wanted) = input.input()?;
            told(json, draft::read(input, &wanted, env), |mut draft| {
                let mut out = JsonWriter::default();
                let _ = draft.write(&mut out);
                end(&mut out);
            })
        }
        Action::Verify { resources, json } => Ok(verify(setup, &resources, json)),
        Action::Export { resource, html, output: target, no_redact } => {
            let format = if html { Format::Html } else { Format::Markdown };
            told(false, exported(setup, &resource, format, !no_redact, target.as_deref()), |n_taken| {
                if n_taken > 0 {
                    output::error_line(format_args!("Secrets taken out: {n_taken}."));
                }
            })
        }
        Action::Search { query, cwd, host, json } => {
            let project = cwd.map(|cwd| project::of(&cwd, env)).transpose();
            let found = project.and_then(|project| listing::list(setup, &folder, project.as_deref()));
            told(json, found, |mut found| {
                found.rows.retain(|row| host.as_ref().is_none_or(|host| row.source_host == *host));
                for bad in found.unreadable.iter().filter(|_| !json) {
                    output::error_line(format_args!("not searched: {} ({})", bad.path, bad.kind));
                }
                print_hits(&listing::search(found.rows, &query, env), &found.unreadable, json);
            })
        }
        Action::Command => command(setup, &folder),
    }
}

fn end(out: &mut JsonWriter) {
    let _ = out.write_all(b"\n").and_then(|()| out.flush());
}

/// Prints what came of it, or why it was refused.
fn told<T>(json: bool, result: Result<T, Refusal>, print: impl FnOnce(T)) -> CommandResult {
    match result {
        Ok(value) => {
            print(value);
            Ok(Ending::Done)
        }
        Err(refusal) => Ok(refused(&refusal, json)),
    }
}

fn refused(refusal: &Refusal, json: bool) -> Ending {
    output::progress("");
    output::error_line(format_args!("Handoff failed: {}", refusal.message));
    if json {
        output::error_line(error_json(refusal));
    }
    Ending::Failed
}

fn error_json(refusal: &Refusal) -> Value {
    json!({ "error": { "kind": refusal.kind.name(), "message": refusal.message } })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A list for people.
pub(crate) fn list_text(listing: &Listing) -> String {
    if listing.rows.is_empty() {
        return "There are no handoffs of this project.".to_owned();
    }
    let lines: Vec<String> =
        listing.rows.iter().map(|row| format!("{} — {}", one_line(&row.title), row.resource)).collect();
    lines.join("\n")
}

fn print_list(listing: &Listing, strict: bool, json: bool) -> Ending {
    if json {
        output::json(&json!({ "resources": listing.rows, "unreadable": listing.unreadable }));
    } else {
        output::line(list_text(listing));
    }
    if !json || strict {
        for bad in &listing.unreadable {
            output::error_line(format_args!("{}: {}", bad.path, bad.message));
        }
    }
    if strict && !listing.unreadable.is_empty() { Ending::Failed } else { Ending::Done }
}

fn print_hits(hits: &[(listing::Row, String)], unreadable: &[listing::Unreadable], json: bool) {
    if json {
        let rows: Vec<Value> = hits
            .iter()
            .map(|(row, line)| {
                let mut value = serde_json::to_value(row).unwrap_or_default();
                value["line"] = line.clone().into();
                value
            })
            .collect();
        output::json(&json!({ "resources": rows, "unreadable": unreadable }));
    } else if hits.is_empty() {
        output::line("No handoff matches.");
    } else {
        for (row, line) in hits {
            output::line(format_args!("{} — {}\n    {}", one_line(&row.title), row.resource, one_line(line)));
        }
    }
}

fn show(setup: &Setup, resource: &Path, json: bool) -> CommandResult {
    let opened = answer::open(resource, &setup.env).and_then(|(path, mut draft)| {
        let mut last: std::collections::VecDeque<String> = std::collections::VecDeque::new();
        draft.items(&mut |item| {
            let text = match &item {
                Item::Message { role, content, .. } => {
                    let texts: Vec<String> = content
                        .iter()
                        .filter_map(|part| Some(serde_json::to_value(part).ok()?["text"].as_str()?.to_owned()))
                        .collect();
                    format!("{role:?}: {}", texts.join(" "))
                }
                Item::FunctionCall { name, .. } => format!("Call: {name}"),
                Item::FunctionCallOutput { name, .. } => format!("Result of: {name}"),
            };
            last.push_back(one_line(&text).chars().take(200).collect());
            if last.len() > 6 {
                last.pop_front();
            }
            Ok(())
        })?;
        Ok((path, draft, last))
    });
    told(json, opened, |(path, draft, last)| {
        if json {
            output::json(&json!({
                "resource": path.to_string_lossy(), "source": draft.source, "counts": draft.counts,
                "warnings": draft.warnings, "saved_at": draft.saved_at, "last": last,
            }));
            return;
        }
        let source = &draft.source;
        output::line(one_line(&source.title));
        output::line(format_args!("  host     {}\n  session  {}", source.host, one_line(&source.session_id)));
        output::line(format_args!("  project  {}", one_line(source.project_cwd.as_ref().unwrap_or(&source.cwd))));
        output::line(format_args!("  saved    {}", draft.saved_at.as_deref().map_or_else(|| "-".to_owned(), one_line)));
        output::line(format_args!(
            "  items    {} (about {} tokens)",
            draft.counts.responses_items, draft.counts.approximate_tokens
        ));
        for warning in &draft.warnings {
            output::line(format_args!("  left out {}", one_line(warning)));
        }
        for line in last {
            output::line(format_args!("  … {line}"));
        }
    })
}

fn verify(setup: &Setup, resources: &[PathBuf], json: bool) -> Ending {
    let mut ending = Ending::Done;
    let mut results = Vec::new();
    for resource in resources {
        let path = resource.to_string_lossy().into_owned();
        match answer::open(resource, &setup.env) {
            Ok((path, draft)) if json => {
                results.push(
                    json!({"resource": path.to_string_lossy(), "ok": true, "items": draft.counts.responses_items}),
                );
            }
            Ok((path, draft)) => {
                output::line(format_args!("{}: whole, {} items", path.display(), draft.counts.responses_items));
            }
            Err(refusal) => {
                ending = Ending::Failed;
                if json {
                    let mut result = error_json(&refusal);
                    result["resource"] = path.into();
                    result["ok"] = false.into();
                    results.push(result);
                } else {
                    output::error_line(format_args!("{path}: {} ({})", refusal.message, refusal.kind.name()));
                }
            }
        }
    }
    if json {
        output::json(&json!({ "results": results }));
    }
    ending
}

/// Writes a resource for people; returns how many secrets were taken out.
fn exported(
    setup: &Setup,
    resource: &Path,
    format: Format,
    redacts: bool,
    target: Option<&Path>,
) -> Result<u64, Refusal> {
    let (_, mut draft) = answer::open(resource, &setup.env)?;
    let mut out: Box<dyn Write> = match target {
        None => Box::new(Printed),
        Some(path) => {
            let mut options = fs::OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = options
                .open(path)
                .map_err(|error| Refusal::new(Kind::Io, format!("writing {}: {error}", path.display())))?;
            Box::new(std::io::BufWriter::new(file))
        }
    };
    let told = |error: std::io::Error| Refusal::new(Kind::Io, format!("writing the export: {error}"));
    let mut n_taken = 0;
    let mut source = draft.source.clone();
    if redacts {
        n_taken += redact::text(&mut source.title) + redact::text(&mut source.session_id);
    }
    let saved_at = draft.saved_at.clone().unwrap_or_default();
    out.write_all(export::head(format, &source, &draft.counts, &saved_at).as_bytes()).map_err(told)?;
    draft.items(&mut |mut item| {
        if redacts {
            n_taken += redact::item(&mut item);
        }
        out.write_all(export::item(format, &item).as_bytes()).map_err(told)
    })?;
    out.write_all(export::foot(format).as_bytes()).and_then(|()| out.flush()).map_err(told)?;
    Ok(n_taken)
}

/// Standard output, through the one printer.
struct Printed;

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        output::print_bytes(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A shim's request.
#[derive(Debug, serde::Deserialize)]
struct Request {
    host: String,
    #[serde(default)]
    arguments: String,
    cwd: Option<PathBuf>,
    title: Option<String>,
    session: Option<SessionOf>,
    part: Option<u64>,
}

/// Where the session is that a shim wants saved.
#[derive(Debug, serde::Deserialize)]
struct SessionOf {
    transcript: Option<String>,
    messages: Option<Value>,
    export: Option<Value>,
}

fn command(setup: &Setup, folder: &Path) -> CommandResult {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_REQUEST_BYTES).read_to_end(&mut bytes);
    let request = read.ok().and_then(|_| serde_json::from_slice::<Request>(&bytes).ok());
    let Some(request) = request else {
        let told = "standard input must hold one JSON object with `host`, `arguments` and `cwd`";
        output::json(&failed("usage", "usage", told));
        return Ok(Ending::Done);
    };
    drop(bytes);
    let Some(command) = command::parse(&request.arguments) else {
        output::json(
            &json!({"action": "usage", "ok": false, "text": USAGE, "error": {"kind": "usage", "message": USAGE}}),
        );
        return Ok(Ending::Done);
    };
    let (name, answer) = match command {
        Command::Save => ("save", command_save(setup, folder, request)),
        Command::List => ("list", command_list(setup, folder, &request)),
        Command::Resume(path) => ("resume", command_resume(setup, Path::new(&path), &request)),
    };
    let answer = answer
        .unwrap_or_else(|refusal| failed(name, refusal.kind.name(), &format!("Handoff failed: {}", refusal.message)));
    output::json(&answer);
    Ok(Ending::Done)
}

fn failed(action: &str, kind: &str, text: &str) -> Value {
    let text = output::harmless(text);
    let message = text.strip_prefix("Handoff failed: ").unwrap_or(&text).to_owned();
    json!({"action": action, "ok": false, "text": text, "error": {"kind": kind, "message": message}})
}

fn project_of(request: &Request) -> Result<&Path, Refusal> {
    let cwd = request.cwd.as_deref().filter(|cwd| cwd.is_absolute());
    cwd.ok_or_else(|| Refusal::new(Kind::MissingCwd, "the host did not say in which folder it works"))
}

fn command_save(setup: &Setup, folder: &Path, request: Request) -> Result<Value, Refusal> {
    let Some(session) = request.session else {
        return Ok(
            json!({"action": "save", "ok": false, "needs": "session", "text": "The session is needed to save it."}),
        );
    };
    let mut wanted = Wanted { cwd: request.cwd.clone(), title: request.title, ..Wanted::default() };
    let bytes = |value: &Value| value.to_string().into_bytes();
    let input = match session {
        SessionOf { transcript: Some(session), .. } => Input::Session { host: request.host, session },
        SessionOf { messages: Some(mut messages), .. } => {
            if messages["source"]["host"].is_null() {
                messages["source"]["host"] = request.host.into();
            }
            if let (true, Some(cwd)) = (messages["source"]["cwd"].is_null(), &request.cwd) {
                messages["source"]["cwd"] = cwd.to_string_lossy().into();
            }
            Input::Memory(bytes(&messages))
        }
        SessionOf { export: Some(export), .. } => {
            wanted.exclude_call_id = export["exclude"].as_str().map(str::to_owned);
            // The folder of the session stays evidence; the project is looked up by it.
            if export["info"]["directory"].is_string() {
                wanted.cwd = None;
            }
            Input::Export { host: request.host, bytes: bytes(&export) }
        }
        _ => return Err(Refusal::new(Kind::InvalidBundle, "the session is neither transcript, messages nor export")),
    };
    let saved = save(setup, input, &wanted, folder)?;
    let mut answer = saved.json();
    answer["action"] = "save".into();
    answer["ok"] = true.into();
    answer["text"] = output::harmless(&saved.text()).into();
    Ok(answer)
}

fn command_list(setup: &Setup, folder: &Path, request: &Request) -> Result<Value, Refusal> {
    let project = project::of(project_of(request)?, &setup.env)?;
    let listing = listing::list(setup, folder, Some(&project))?;
    let text = output::harmless(&list_text(&listing));
    Ok(json!({"action": "list", "ok": true, "text": text, "resources": listing.rows, "unreadable": listing.unreadable}))
}

fn command_resume(setup: &Setup, path: &Path, request: &Request) -> Result<Value, Refusal> {
    let cwd = project_of(request)?;
    let resource = project::expanded(&path.to_string_lossy(), &setup.env).to_string_lossy().into_owned();
    if let Some(part) = request.part {
        let told = answer::part(path, cwd, part, &setup.env)?;
        let (title, text) = (answer::open(path, &setup.env)?.1.source.title, told.text);
        return Ok(json!({
            "action": "resume", "ok": true, "text": text, "resource": resource, "title": title,
            "part": told.part, "parts": told.parts,
        }));
    }
    let mut bytes = Vec::new();
    let draft = answer::whole(path, cwd, &setup.env, &mut bytes)?;
    let text = format!("{GUARD}\n\n{}", String::from_utf8_lossy(&bytes));
    Ok(json!({
        "action": "resume", "ok": true, "text": text, "resource": resource, "title": draft.source.title,
        "part": 1, "parts": 1,
    }))
}
