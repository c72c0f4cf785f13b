//! Recording an answer: the host's own record of the turn where there is one, else the words the hook was given.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use mem0_code_core::evidence;
use mem0_code_core::host::{HostSpec, Places};
use mem0_code_core::transcript::{Asked, Reader, Since, Slice};
use mem0_code_engine::db::StoreError;
use mem0_code_engine::evidence::{Evidence, NewEvent, Recorded, TranscriptState};

use crate::env::Env;
use crate::session::Session;

/// Longest transcript line that is held, in bytes; longer ones (tool output, images) are skipped.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// How often to read again when another process stored an answer meanwhile.
const MAX_ROUNDS: usize = 5;

/// Most bytes of a transcript a hook reads: about a third of a second. Hosts stop a hook that takes long, Claude Code
/// that of a session's end after 1.4 s.
pub(crate) const MAX_BYTES_IN_HOOK: u64 = 64 * 1024 * 1024;

/// How often to look again for what a host may write a moment after it called a hook, and the pause before each look.
/// The longest such delay that was seen was 84 ms.
const MAX_LOOKS: usize = 5;
const LOOK_PAUSE: Duration = Duration::from_millis(25);

/// What is known of a turn that ended.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Turn<'a> {
    /// The host's record of the session.
    pub(crate) transcript: Option<&'a Path>,
    /// The final answer, where the host sent it.
    pub(crate) text: Option<&'a str>,
    /// Whether the session is over as well.
    pub(crate) is_over: bool,
    /// Most that may be read of the transcript: one that has more is left alone.
    pub(crate) max_bytes: Option<u64>,
}

/// How far a transcript was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Reading {
    /// To its end, or there is none that could be read.
    Finished,
    /// Not at all: there is more to read than was allowed.
    TooLong,
}

/// Stores what a finished turn brought, if anything of it is new.
pub(crate) fn answer(
    host: &HostSpec,
    evidence: &mut Evidence,
    session: &Session,
    turn: &Turn<'_>,
    now: Timestamp,
) -> Result<Reading, StoreError> {
    let key = session.key();
    let text = turn.text;
    if let (Some(make_reader), Some(path)) = (host.transcript, turn.transcript) {
        let mut n_looks = 0;
        for _ in 0..MAX_ROUNDS + MAX_LOOKS {
            let state = evidence.transcript_state(key)?;
            let (slice, offset) = match read(&|| make_reader(&session.id), path, &state, turn) {
                Ok(Some(read)) => read,
                Ok(None) => return Ok(Reading::TooLong),
                Err(_) => break,
            };
            if slice.is_open && n_looks < MAX_LOOKS {
                n_looks += 1;
                thread::sleep(LOOK_PAUSE);
                continue;
            }
            let Some(record) = evidence::read_answer(text, &slice, path, offset, state.last_text.as_deref()) else {
                return Ok(Reading::Finished);
            };
            let event = NewEvent { session: key, kind: record.kind, payload: &record.payload, now };
            if evidence.record_read_answer(&event, &state, &slice.outcomes)? != Recorded::Stale {
                return Ok(Reading::Finished);
            }
        }
    }
    // No transcript, or one that cannot be read: the words the hook was given are all there is.
    if let Some(record) = text.and_then(evidence::answer) {
        let event = NewEvent { session: key, kind: record.kind, payload: &record.payload, now };
        evidence.record_spoken_answer(&event)?;
    }
    Ok(Reading::Finished)
}

/// Returns the last thing a person asked since the last answer that was stored, for hosts whose hooks do not tell it.
pub(crate) fn asked(
    host: &HostSpec,
    evidence: &Evidence,
    session: &Session,
    path: &Path,
) -> Result<Option<Asked>, StoreError> {
    let Some(make_reader) = host.transcript else { return Ok(None) };
    let state = evidence.transcript_state(session.key())?;
    let turn = Turn { max_bytes: Some(MAX_BYTES_IN_HOOK), ..Turn::default() };
    for n_looks in 0..=MAX_LOOKS {
        if n_looks > 0 {
            thread::sleep(LOOK_PAUSE);
        }
        // The file may not be there yet.
        let read = read(&|| make_reader(&session.id), path, &state, &turn).ok();
        match read {
            Some(Some((Slice { asked: Some(asked), .. }, _))) => return Ok(Some(asked)),
            Some(None) => return Ok(None),
            Some(Some(_)) | None => {}
        }
    }
    Ok(None)
}

/// Finds a session's transcript where the host's payloads do not name it; of several the one last written.
pub(crate) fn find(env: &Env, host: &HostSpec, session_id: &str) -> Option<PathBuf> {
    let places = Places { variable: &|name| env.get(name), home: env.home.as_deref() };
    let candidates = (host.find_transcript?)(&places, session_id);
    let found = candidates.iter().flat_map(|place| files_at(place));
    let written = |path: &PathBuf| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    found.max_by_key(written)
}

/// Returns the files at a place; one component of it may be `*`, for every folder there.
fn files_at(place: &Path) -> Vec<PathBuf> {
    let mut components = place.components();
    let before: PathBuf = components.by_ref().take_while(|component| component.as_os_str() != "*").collect();
    let after = components.as_path();
    let candidates = match std::fs::read_dir(&before) {
        Ok(folders) if before != place => folders.flatten().map(|folder| folder.path().join(after)).collect(),
        _ => vec![place.to_owned()],
    };
    candidates.into_iter().filter(|path| path.is_file()).collect()
}

/// Reads what is new in a transcript and returns it with the offset after its last complete line; `None` when that is
/// more than may be read.
fn read(
    make_reader: &dyn Fn() -> Box<dyn Reader>,
    path: &Path,
    state: &TranscriptState,
    turn: &Turn<'_>,
) -> io::Result<Option<(Slice, u64)>> {
    let size = std::fs::metadata(path)?.len();
    let is_same_file = state.path.as_deref() == Some(&*path.to_string_lossy());
    let start = if is_same_file && state.offset <= size { state.offset } else { 0 };
    let since = Since {
        leaf: state.leaf.clone(),
        resumed: start > 0,
        last_prompt: state.last_prompt.clone(),
        answer: turn.text.map(str::to_owned),
        is_over: turn.is_over,
    };
    let is_too_long = |n_bytes: u64| turn.max_bytes.is_some_and(|max_bytes| n_bytes > max_bytes);
    if is_too_long(size - start) {
        return Ok(None);
    }
    let (slice, end) = feed(make_reader(), path, start, size, &since)?;
    if !(slice.needs_whole_file && start > 0) {
        return Ok(Some((slice, end)));
    }
    if is_too_long(size) {
        return Ok(None);
    }
    feed(make_reader(), path, 0, size, &since).map(Some)
}

/// Feeds the complete lines between two offsets to a reader. Lines appended meanwhile are left for the next time.
fn feed(mut reader: Box<dyn Reader>, path: &Path, start: u64, size: u64, since: &Since) -> io::Result<(Slice, u64)> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(start))?;
    let mut input = BufReader::with_capacity(256 * 1024, io::Read::take(file, size - start));
    let mut end = start;
    let mut line = Vec::new();
    loop {
        line.clear();
        let (n_bytes, is_complete) = read_line(&mut input, &mut line)?;
        if !is_complete {
            return Ok((reader.finish(since), end));
        }
        end += n_bytes;
        if n_bytes as usize > MAX_LINE_BYTES {
            reader.skip_line(n_bytes);
        } else {
            reader.push_line(&line);
        }
    }
}

/// Reads one line, keeping at most [`MAX_LINE_BYTES`] of it; tells how long it was and whether it ended in a newline.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<(u64, bool)> {
    let mut n_bytes = 0;
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok((n_bytes, false));
        }
        let newline = buffer.iter().position(|byte| *byte == b'\n');
        let part = &buffer[..newline.unwrap_or(buffer.len())];
        if line.len() + part.len() <= MAX_LINE_BYTES {
            line.extend_from_slice(part);
        }
        let n_used = part.len() + usize::from(newline.is_some());
        n_bytes += n_used as u64;
        input.consume(n_used);
        if newline.is_some() {
            return Ok((n_bytes, true));
        }
    }
}
