//! From what was named on the command line to a document that is complete and valid, but not yet anywhere.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use mem0_code_core::handoff::bundle::{Bundle, check_host};
use mem0_code_core::handoff::content::warning;
use mem0_code_core::handoff::count::Size;
use mem0_code_core::handoff::document::{Counts, FORMAT, Item, Source};
use mem0_code_core::handoff::reader::{Options, Outline, RecordIds};
use mem0_code_core::handoff::redact;
use mem0_code_core::handoff::refusal::{Kind, Refusal};
use mem0_code_core::handoff::validate::Validator;
use mem0_code_core::hosts::sessions::{self, Place, Sessions};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::project;
use super::spool::{Spool, hex, io_error};
use super::transcript::{MAX_BYTES, Transcript, read_document};
use crate::env::Env;

/// What a document is made of.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    /// A host's own session, by path or id.
    Session { host: String, session: String },
    /// A host's own session that has no file: its bytes.
    Export { host: String, bytes: Vec<u8> },
    /// A document, or `-`.
    Bundle(PathBuf),
    /// Bytes of a document.
    Document(Vec<u8>),
    /// Messages of a host, or `-`.
    Messages(PathBuf),
    /// Bytes of messages.
    Memory(Vec<u8>),
}

/// How it is made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) title: Option<String>,
    pub(crate) allow_missing_results: bool,
    pub(crate) redact: bool,
    pub(crate) exclude_call_id: Option<String>,
}

/// A valid document.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) source: Source,
    pub(crate) counts: Counts,
    pub(crate) warnings: Vec<String>,
    /// Secrets taken out.
    pub(crate) redacted: u64,
    pub(crate) saved_at: Option<String>,
    inserted: Vec<(u64, String)>,
    items: Spool,
}

/// Takes items through the validator into the spool.
struct Intake {
    validator: Validator,
    size: Size,
    spool: Spool,
    redact: bool,
    redacted: u64,
    /// Texts to insert, each after so many items.
    inserted: Vec<(u64, String)>,
    warnings: Vec<String>,
}

impl Intake {
    fn new(wanted: &Wanted) -> Self {
        Self {
            validator: Validator::default(),
            size: Size::default(),
            spool: Spool::default(),
            redact: wanted.redact,
            redacted: 0,
            inserted: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn take(&mut self, mut item: Item) -> Result<(), Refusal> {
        self.validator.admit(&mut item)?;
        if self.redact {
            self.redacted += redact::item(&mut item);
        }
        let json = self.text(&item)?;
        self.spool.push(&json)
    }

    fn text(&mut self, item: &Item) -> Result<String, Refusal> {
        let json =
            serde_json::to_string(item).map_err(|_| Refusal::new(Kind::Io, "an item cannot be written as JSON"))?;
        self.size.add(item, &json);
        Ok(json)
    }

    /// Ends it: makes up what is missing, if that is wanted.
    fn finish(&mut self, wanted: &Wanted) -> Result<(), Refusal> {
        let missing = std::mem::take(&mut self.validator).finish(wanted.allow_missing_results)?;
        for call in &missing {
            let json = self.text(&call.filled())?;
            self.inserted.push((call.after, json));
        }
        self.inserted.sort_by_key(|(after, _)| *after);
        if !missing.is_empty() {
            self.warnings.push(warning("missing_results_filled"));
        }
        Ok(())
    }

    /// Takes secrets out of a title, if that is wanted: titles are often the first words of a session.
    fn clean(&mut self, title: &mut String) {
        if self.redact {
            self.redacted += redact::text(title);
        }
    }

    /// What is to be warned of, once everything was looked at.
    fn take_warnings(&mut self) -> Vec<String> {
        let mut warnings = std::mem::take(&mut self.warnings);
        if self.redacted > 0 {
            warnings.push(format!("redacted: {}", self.redacted));
        }
        warnings
    }
}

/// Reads and checks.
///
/// # Errors
/// A refusal; nothing was written then.
pub(crate) fn read(input: Input, wanted: &Wanted, env: &Env) -> Result<Draft, Refusal> {
    match input {
        Input::Session { host, session } => {
            let sessions = known(&host)?;
            let path = locate(sessions, &session, env)?;
            native(sessions, Transcript::open(&path, env)?, &path, wanted, env)
        }
        Input::Export { host, bytes } => {
            let sessions = known(&host)?;
            let name = format!("{host}:export");
            native(sessions, Transcript::of_bytes(name.clone(), bytes, env), Path::new(&name), wanted, env)
        }
        Input::Bundle(path) => bundle(&bytes_of(&path)?, wanted),
        Input::Document(bytes) => bundle(&bytes, wanted),
        Input::Messages(path) => messages(bytes_of(&path)?, wanted, env),
        Input::Memory(bytes) => messages(bytes, wanted, env),
    }
}

fn known(host: &str) -> Result<&'static Sessions, Refusal> {
    sessions::find(host).ok_or_else(|| {
        let ids: Vec<&str> = sessions::ALL.iter().map(|sessions| sessions.id).collect();
        Refusal::new(
            Kind::UnsupportedFormat,
            format!("sessions of this host cannot be read; known are {}", ids.join(", ")),
        )
    })
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, Refusal> {
    if path.as_os_str() != "-" {
        return read_document(path, Kind::SourceNotFound);
    }
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| io_error("reading standard input", &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Refusal::new(Kind::TooLarge, "the input has more than 1 GiB"));
    }
    Ok(bytes)
}

fn utf8(bytes: &[u8]) -> Result<&str, Refusal> {
    std::str::from_utf8(bytes)
        .map_err(|_| Refusal::new(Kind::InvalidJson, "the document is not UTF-8, so it is no JSON"))
}

fn bundle(bytes: &[u8], wanted: &Wanted) -> Result<Draft, Refusal> {
    let bundle = Bundle::read(utf8(bytes)?)?;
    if let Some(digest) = &bundle.items_sha256
        && *digest != hex(&Sha256::digest(bundle.items.as_bytes()))
    {
        return Err(Refusal::new(Kind::IntegrityMismatch, "the items of the document are not those it was saved with"));
    }
    let mut intake = Intake::new(wanted);
    bundle.items(&mut |item| intake.take(item))?;
    intake.finish(wanted)?;
    let n_items = intake.size.items();
    let mut source = bundle.source(|| hex(&Sha256::digest(bytes)), n_items);
    if let Some(title) = &wanted.title {
        source.title.clone_from(title);
    }
    intake.clean(&mut source.title);
    let mut warnings = bundle.warnings.clone();
    warnings.append(&mut intake.take_warnings());
    Ok(Draft {
        counts: bundle.counts(n_items, intake.size.approximate_tokens()),
        source,
        warnings,
        redacted: intake.redacted,
        saved_at: bundle.saved_at.clone(),
        inserted: intake.inserted,
        items: intake.spool,
    })
}

/// What a shim says of the session besides its messages.
fn messages(bytes: Vec<u8>, wanted: &Wanted, env: &Env) -> Result<Draft, Refusal> {
    #[derive(serde::Deserialize)]
    struct Head {
        #[serde(default)]
        source: Value,
        #[serde(default)]
        exclude_call_id: Value,
    }
    let head: Head = mem0_code_core::handoff::json::read(utf8(&bytes)?, 1)?;
    let text = |name: &str| match head.source.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.trim().is_empty())),
        Some(_) => Err(Refusal::new(Kind::InvalidBundle, format!("source.{name} is not a text"))),
    };
    let needed = |name: &str| {
        text(name)?.ok_or_else(|| Refusal::new(Kind::InvalidBundle, format!("source.{name} is missing or blank")))
    };
    let (host, session_id) = (needed("host")?, needed("session_id")?);
    check_host(&host)?;
    let exclude_call_id = match &head.exclude_call_id {
        Value::Null => wanted.exclude_call_id.clone(),
        Value::String(id) if !id.is_empty() => Some(id.clone()),
        _ => return Err(Refusal::new(Kind::InvalidBundle, "exclude_call_id is not an id")),
    };
    let wanted = Wanted { exclude_call_id, title: wanted.title.clone().or(text("title")?), ..wanted.clone() };
    let path = text("path")?.unwrap_or_else(|| format!("{host}:{session_id}"));
    let name = PathBuf::from(&path);
    let cwd = text("cwd")?;
    let transcript = Transcript::of_bytes(path, bytes, env);
    let given = Some((host, session_id, cwd));
    native_of(&sessions::MESSAGES, transcript, &name, &wanted, env, given)
}

fn native(
    sessions: &'static Sessions,
    transcript: Transcript,
    path: &Path,
    wanted: &Wanted,
    env: &Env,
) -> Result<Draft, Refusal> {
    native_of(sessions, transcript, path, wanted, env, None)
}

fn native_of(
    sessions: &'static Sessions,
    mut transcript: Transcript,
    path: &Path,
    wanted: &Wanted,
    env: &Env,
    given: Option<(String, String, Option<String>)>,
) -> Result<Draft, Refusal> {
    use mem0_code_core::handoff::reader::Surroundings as _;
    let options = Options {
        allow_missing_results: wanted.allow_missing_results,
        exclude_call_id: wanted.exclude_call_id.clone(),
    };
    let mut reader = (sessions.reader)(&options);
    transcript.scan(sessions.form, &mut *reader)?;
    let mut outline = reader.outline(&mut transcript)?;
    let mut host = sessions.id.to_owned();
    if let Some((given_host, session_id, cwd)) = given {
        host = given_host;
        outline.session_id = Some(session_id);
        outline.cwd = cwd;
    }
    let session_id = outline.session_id.clone().filter(|id| !id.is_empty()).unwrap_or_else(|| file_stem(path));
    let asked = wanted.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into_owned());
    let cwd = match (sessions.cwd_replaces, &outline.cwd) {
        (true, _) => asked.clone().or(outline.cwd.clone()),
        (false, own) => own.clone().or(asked),
    };
    let cwd = cwd.ok_or_else(|| {
        Refusal::new(Kind::MissingCwd, "the session does not say in which folder it started; name it with --cwd")
    })?;
    let mut intake = Intake::new(wanted);
    let tally = reader.items(&mut transcript, &mut |item| intake.take(item))?;
    transcript.check_unchanged()?;
    intake.finish(wanted).map_err(|refusal| sessions.explained(refusal))?;
    let n_items = intake.size.items();
    let title = wanted.title.clone().or(outline.title.take().filter(|title| !title.trim().is_empty()));
    let mut title = title.unwrap_or_else(|| match host == sessions.id {
        true => sessions.default_title.of(&session_id),
        false => format!("{host} session {}", session_id.chars().take(12).collect::<String>()),
    });
    intake.clean(&mut title);
    let mut warnings = tally.warnings;
    if transcript.is_mended {
        warnings.push(warning("invalid_unicode_replaced"));
    }
    warnings.append(&mut intake.take_warnings());
    warnings.sort();
    warnings.dedup();
    let (active, imported) = outline.records.unwrap_or((n_items, n_items));
    Ok(Draft {
        counts: Counts {
            source_records: outline.source_records.unwrap_or(transcript.records),
            active_records: active,
            imported_records: imported,
            responses_items: n_items,
            hidden_reasoning_blocks_skipped: tally.reasoning,
            approximate_tokens: intake.size.approximate_tokens(),
        },
        source: source(
            outline,
            n_items,
            Known {
                path: transcript.path().to_owned(),
                sha256: transcript.sha256.clone(),
                session_id,
                title,
                cwd: project::normalized(&cwd, env),
                host,
            },
        ),
        warnings,
        redacted: intake.redacted,
        saved_at: None,
        inserted: intake.inserted,
        items: intake.spool,
    })
}

struct Known {
    path: String,
    sha256: String,
    session_id: String,
    title: String,
    cwd: String,
    host: String,
}

fn source(outline: Outline, n_items: u64, known: Known) -> Source {
    let count = n_items.to_string();
    let ids = outline.ids.unwrap_or(RecordIds { leaf: count.clone(), first: "1".to_owned(), last: count });
    Source {
        path: known.path,
        sha256: known.sha256,
        session_id: known.session_id,
        title: known.title,
        cwd: known.cwd,
        leaf_uuid: ids.leaf,
        compact_boundary_uuid: outline.compact_boundary,
        first_imported_uuid: ids.first,
        last_imported_uuid: ids.last,
        project_cwd: None,
        host: known.host,
    }
}

fn file_stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let stem = [".zstd", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    [".jsonl", ".json"].iter().find_map(|end| stem.strip_suffix(end)).unwrap_or(stem).to_owned()
}

/// Finds a session by its path, or by its id where the host's folder is known.
fn locate(sessions: &Sessions, session: &str, env: &Env) -> Result<PathBuf, Refusal> {
    let not_found = || {
        Refusal::new(Kind::SourceNotFound, format!("there is no session {}; pass its id or full path", shown(session)))
    };
    if session.contains('\0') {
        return Err(not_found());
    }
    let path = project::expanded(session, env);
    let is_id =
        !session.is_empty() && session.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if path.is_file() || !is_id {
        return Ok(path);
    }
    let Some(Place { setting, folder, pattern }) = sessions.place else { return Err(not_found()) };
    let root = match (env.get(setting), &env.home) {
        (Some(root), _) => project::expanded(&root, env),
        (None, Some(home)) => home.join(folder),
        (None, None) => return Err(not_found()),
    };
    let mut found = vec![root];
    for component in pattern.split('/') {
        let component = component.replace("{id}", session);
        found = match component.split_once('*') {
            None => found.into_iter().map(|folder| folder.join(&component)).filter(|path| path.exists()).collect(),
            Some((before, after)) => found
                .into_iter()
                .filter_map(|folder| fs::read_dir(folder).ok())
                .flat_map(|entries| entries.flatten())
                .filter(|entry| {
                    let name = entry.file_name().to_string_lossy().into_owned();
                    name.strip_prefix(before).is_some_and(|rest| rest.ends_with(after))
                })
                .map(|entry| entry.path())
                .collect(),
        };
    }
    found.retain(|path| path.is_file());
    found.sort();
    match found.as_slice() {
        [] => Err(not_found()),
        [path] => Ok(path.clone()),
        several => {
            let names: Vec<String> = several.iter().take(5).map(|path| path.display().to_string()).collect();
            let told = format!("several sessions have the id {session}: {}; pass the full path", names.join(", "));
            Err(Refusal::new(Kind::AmbiguousSession, told))
        }
    }
}

fn shown(text: &str) -> String {
    mem0_code_core::handoff::validate::shown(text)
}

impl Draft {
    /// Writes the document as JSON.
    pub(crate) fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{{\"format\":{},\"source\":{},\"items\":", json!(FORMAT), compact(&self.source))?;
        let digest = self.items.write_list(&self.inserted, out)?;
        write!(out, ",\"counts\":{},\"warnings\":{}", compact(&self.counts), compact(&self.warnings))?;
        if let Some(saved_at) = &self.saved_at {
            let engine = json!({"name": "mem0-code", "version": env!("CARGO_PKG_VERSION")});
            write!(out, ",\"saved_at\":{},\"engine\":{engine}", json!(saved_at))?;
        }
        write!(out, ",\"integrity\":{}}}", json!({"items_sha256": digest}))
    }

    /// Gives its items again.
    pub(crate) fn items(&mut self, take: &mut dyn FnMut(Item) -> Result<(), Refusal>) -> Result<(), Refusal> {
        let mut list = Vec::new();
        self.items.write_list(&self.inserted, &mut list).map_err(|error| io_error("reading items", &error))?;
        let list = String::from_utf8(list).map_err(|_| Refusal::new(Kind::Io, "the items are not UTF-8"))?;
        mem0_code_core::handoff::bundle::each(&list, &mut |at, text| {
            take(mem0_code_core::handoff::bundle::item(text, at)?)
        })
    }
}

fn compact(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}
