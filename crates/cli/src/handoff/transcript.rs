//! Reading a host's transcript: a file of any size, twice, in bounded memory, without a change to it.

use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mem0_code_core::handoff::json;
use mem0_code_core::handoff::reader::{Record, SessionReader, Span, Surroundings};
use mem0_code_core::handoff::refusal::{Kind, Refusal};
use mem0_code_core::handoff::zstd;
use mem0_code_core::hosts::sessions::Form;
use sha2::{Digest, Sha256};

use super::spool::{hex, io_error};
use crate::env::Env;
use crate::output;

/// Largest transcript or document.
pub(crate) const MAX_BYTES: u64 = 1 << 30;
/// Largest record.
const MAX_RECORD_BYTES: usize = 64 << 20;
/// From here on a person at a terminal is told how far it is.
const PROGRESS_FROM: u64 = 64 << 20;

/// A transcript, open.
pub(crate) struct Transcript {
    path: String,
    folder: PathBuf,
    env: Env,
    body: Body,
    /// State of the file when it was opened.
    before: Option<(PathBuf, u64, Option<SystemTime>)>,
    size: u64,
    /// Digest of the file's bytes.
    pub(crate) sha256: String,
    /// Records seen.
    pub(crate) records: u64,
    /// Whether halves of characters were replaced.
    pub(crate) is_mended: bool,
}

enum Body {
    File(BufReader<File>, u64),
    Memory(Vec<u8>),
}

impl Transcript {
    /// Opens a file.
    pub(crate) fn open(path: &Path, env: &Env) -> Result<Self, Refusal> {
        let shown = path.display();
        let not_found = || {
            Refusal::new(Kind::SourceNotFound, format!("there is no session file {shown}; pass its id or full path"))
        };
        let canonical = fs::canonicalize(path).map_err(|_| not_found())?;
        let file = File::open(&canonical).map_err(|error| io_error(&format!("opening {shown}"), &error))?;
        let metadata = file.metadata().map_err(|error| io_error(&format!("looking at {shown}"), &error))?;
        if !metadata.is_file() {
            return Err(not_found());
        }
        too_large(metadata.len())?;
        let before = Some((canonical.clone(), metadata.len(), modified(&metadata)));
        Ok(Self {
            path: canonical.to_string_lossy().into_owned(),
            folder: canonical.parent().unwrap_or(Path::new("/")).to_owned(),
            env: env.clone(),
            body: Body::File(BufReader::with_capacity(256 << 10, file), 0),
            before,
            size: metadata.len(),
            sha256: String::new(),
            records: 0,
            is_mended: false,
        })
    }

    /// Takes a transcript that has no file.
    pub(crate) fn of_bytes(path: String, bytes: Vec<u8>, env: &Env) -> Self {
        Self {
            path,
            folder: env.cwd.clone(),
            env: env.clone(),
            size: bytes.len() as u64,
            body: Body::Memory(bytes),
            before: None,
            sha256: String::new(),
            records: 0,
            is_mended: false,
        }
    }

    /// Shows every record to the reader.
    pub(crate) fn scan(&mut self, form: Form, reader: &mut dyn SessionReader) -> Result<(), Refusal> {
        self.unpack()?;
        match form {
            Form::Document => self.scan_document(reader)?,
            Form::Lines => self.scan_lines(reader)?,
        }
        if self.records == 0 {
            return Err(Refusal::new(Kind::EmptySource, "the transcript has no records"));
        }
        self.check_unchanged()
    }

    /// Refuses a file that is being written to.
    pub(crate) fn check_unchanged(&self) -> Result<(), Refusal> {
        let Some((path, len, time)) = &self.before else { return Ok(()) };
        match fs::metadata(path) {
            Ok(now) if now.len() == *len && modified(&now) == *time => Ok(()),
            _ => Err(changed()),
        }
    }

    /// Decompresses a transcript that is compressed, into a file without a name.
    fn unpack(&mut self) -> Result<(), Refusal> {
        let Body::File(file, _) = &mut self.body else { return Ok(()) };
        let head = file.fill_buf().map_err(|error| io_error("reading the transcript", &error))?;
        if !head.starts_with(&zstd::MAGIC) {
            return Ok(());
        }
        let mut hashed = Hashed { from: file, hasher: Sha256::new() };
        let mut plain = tempfile::tempfile().map_err(|error| io_error("decompressing the transcript", &error))?;
        let mut out = io::BufWriter::with_capacity(256 << 10, &mut plain);
        self.size = zstd::decompress(&mut hashed, &mut out, MAX_BYTES)?;
        out.flush().map_err(|error| io_error("decompressing the transcript", &error))?;
        drop(out);
        self.sha256 = hex(&hashed.hasher.finalize());
        plain.seek(SeekFrom::Start(0)).map_err(|error| io_error("decompressing the transcript", &error))?;
        self.body = Body::File(BufReader::with_capacity(256 << 10, plain), 0);
        Ok(())
    }

    fn scan_document(&mut self, reader: &mut dyn SessionReader) -> Result<(), Refusal> {
        if let Body::File(file, _) = &mut self.body {
            let mut bytes = Vec::new();
            file.take(MAX_BYTES + 1)
                .read_to_end(&mut bytes)
                .map_err(|error| io_error("reading the transcript", &error))?;
            too_large(bytes.len() as u64)?;
            self.body = Body::Memory(bytes);
        }
        let Body::Memory(bytes) = &self.body else { return Ok(()) };
        if self.sha256.is_empty() {
            self.sha256 = hex(&Sha256::digest(bytes));
        }
        if bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        let at = Span { offset: 0, len: bytes.len(), line: 1 };
        let text = text(bytes, 1)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if !text.trim_start().starts_with('{') {
            return Err(not_object(text, 1));
        }
        let mended = json::mended(text);
        self.is_mended |= matches!(mended, std::borrow::Cow::Owned(_));
        self.records = 1;
        reader.scan(Record { at, text: &mended })
    }

    fn scan_lines(&mut self, reader: &mut dyn SessionReader) -> Result<(), Refusal> {
        let mut body = std::mem::replace(&mut self.body, Body::Memory(Vec::new()));
        let result = match &mut body {
            Body::File(file, _) => self.lines(file, reader),
            Body::Memory(bytes) => self.lines(&mut bytes.as_slice(), reader),
        };
        if let Body::File(_, at) = &mut body {
            *at = u64::MAX;
        }
        self.body = body;
        result
    }

    fn lines(&mut self, from: &mut dyn BufRead, reader: &mut dyn SessionReader) -> Result<(), Refusal> {
        let mut hasher = self.sha256.is_empty().then(Sha256::new);
        let mut progress = Progress::new(self.size);
        let mut line = Vec::new();
        let (mut offset, mut number) = (0_u64, 0);
        loop {
            line.clear();
            let n_bytes = (&mut *from)
                .take(MAX_RECORD_BYTES as u64 + 2)
                .read_until(b'\n', &mut line)
                .map_err(|error| io_error("reading the transcript", &error))?;
            if n_bytes == 0 {
                break;
            }
            number += 1;
            if let Some(hasher) = &mut hasher {
                hasher.update(&line);
            }
            let Some(record) = line.strip_suffix(b"\n") else {
                if n_bytes > MAX_RECORD_BYTES {
                    return Err(Refusal::new(Kind::TooLarge, format!("line {number} has more than 64 MiB")));
                }
                let told = "the final record of the transcript is incomplete; finish or stop the active response and save again";
                return Err(Refusal::new(Kind::TornLastRecord, told));
            };
            let mark = if offset == 0 && record.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
            let record = &record[mark..];
            let record = record.strip_suffix(b"\r").unwrap_or(record);
            let at = Span { offset: offset + mark as u64, len: record.len(), line: number };
            offset += n_bytes as u64;
            if record.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
                continue;
            }
            let text = text(record, number)?;
            if !text.trim_start().starts_with('{') {
                return Err(not_object(text, number));
            }
            let mended = json::mended(text);
            self.is_mended |= matches!(mended, std::borrow::Cow::Owned(_));
            self.records += 1;
            reader.scan(Record { at, text: &mended })?;
            progress.at(offset);
        }
        progress.end();
        if let Some(hasher) = hasher {
            self.sha256 = hex(&hasher.finalize());
        }
        Ok(())
    }
}

fn text(bytes: &[u8], line: u64) -> Result<&str, Refusal> {
    std::str::from_utf8(bytes)
        .map_err(|_| Refusal::new(Kind::InvalidJson, format!("line {line} is not UTF-8, so it is no JSON")))
}

fn not_object(text: &str, line: u64) -> Refusal {
    if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        Refusal::new(Kind::RecordNotObject, format!("line {line} is not a JSON object"))
    } else {
        Refusal::new(Kind::InvalidJson, format!("line {line} is not valid JSON"))
    }
}

fn changed() -> Refusal {
    Refusal::new(Kind::SourceChanged, "the transcript is being written to; save again when the session is idle")
}

fn too_large(n_bytes: u64) -> Result<(), Refusal> {
    if n_bytes > MAX_BYTES {
        return Err(Refusal::new(Kind::TooLarge, "the file has more than 1 GiB"));
    }
    Ok(())
}

fn modified(metadata: &Metadata) -> Option<SystemTime> {
    metadata.modified().ok()
}

/// Reads a whole regular file of at most 1 GiB.
pub(crate) fn read_document(path: &Path, missing: Kind) -> Result<Vec<u8>, Refusal> {
    let shown = path.display();
    let not_found = |told: &str| Refusal::new(missing, format!("{shown} {told}"));
    let metadata = fs::metadata(path).map_err(|_| not_found("does not exist or cannot be reached"))?;
    if !metadata.is_file() {
        return Err(not_found("is not a file"));
    }
    too_large(metadata.len())?;
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| io_error(&format!("reading {shown}"), &error))?;
    too_large(bytes.len() as u64)?;
    Ok(bytes)
}

impl Surroundings for Transcript {
    fn path(&self) -> &str {
        &self.path
    }

    fn record(&mut self, at: Span) -> Result<String, Refusal> {
        let mut bytes = vec![0; at.len];
        match &mut self.body {
            Body::Memory(all) => {
                let start = usize::try_from(at.offset).unwrap_or(usize::MAX);
                let found = start.checked_add(at.len).and_then(|end| all.get(start..end)).ok_or_else(changed)?;
                bytes.copy_from_slice(found);
            }
            Body::File(file, present) => {
                // Mostly the next record is wanted, which the buffer holds already.
                let seeked = match i64::try_from(at.offset.wrapping_sub(*present)) {
                    Ok(ahead) if *present <= at.offset => file.seek_relative(ahead),
                    _ => file.seek(SeekFrom::Start(at.offset)).map(drop),
                };
                seeked.and_then(|()| file.read_exact(&mut bytes)).map_err(|_| changed())?;
                *present = at.offset + at.len as u64;
            }
        }
        let text = String::from_utf8(bytes).map_err(|_| changed())?;
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        match json::mended(&text) {
            std::borrow::Cow::Owned(mended) => Ok(mended),
            std::borrow::Cow::Borrowed(_) => Ok(text),
        }
    }

    fn file(&mut self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Refusal> {
        let path = self.folder.join(path);
        let Ok(metadata) = fs::metadata(&path) else { return Ok(None) };
        if !metadata.is_file() {
            return Ok(None);
        }
        if metadata.len() > limit {
            return Err(Refusal::new(Kind::TooLarge, format!("{} has more than {limit} bytes", path.display())));
        }
        let mut bytes = Vec::new();
        File::open(&path)
            .and_then(|file| file.take(limit).read_to_end(&mut bytes))
            .map_err(|error| io_error(&format!("reading {}", path.display()), &error))?;
        Ok(Some(bytes))
    }

    fn setting(&self, name: &str) -> Option<String> {
        if name == "HOME" {
            return self.env.home.as_ref().map(|home| home.to_string_lossy().into_owned());
        }
        let value = self.env.get(name)?;
        Some(super::project::expanded(&value, &self.env).to_string_lossy().into_owned())
    }
}

struct Hashed<R> {
    from: R,
    hasher: Sha256,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.from.read(buffer)?;
        self.hasher.update(&buffer[..n_bytes]);
        Ok(n_bytes)
    }
}

/// Tells a person at a terminal how far a long reading is.
struct Progress {
    size: u64,
    told: u64,
}

impl Progress {
    fn new(size: u64) -> Self {
        Self { size, told: 0 }
    }

    fn at(&mut self, offset: u64) {
        if self.size < PROGRESS_FROM {
            return;
        }
        let percent = offset * 100 / self.size.max(1);
        if percent >= self.told + 5 {
            self.told = percent;
            output::progress(&format!("reading the session: {percent} %"));
        }
    }

    fn end(&self) {
        if self.told > 0 {
            output::progress("");
        }
    }
}
