//! Recording an answer: the host's own record of the turn where there is one, else the words the hook was given.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use jiff::Timestamp;
use mem0_code_core::evidence;
use mem0_code_core::host::HostSpec;
use mem0_code_core::transcript::{Reader, Since, Slice};
use mem0_code_engine::db::StoreError;
use mem0_code_engine::evidence::{Evidence, NewEvent, Recorded, TranscriptState};

use crate::session::Session;

/// Longest transcript line that is held, in bytes; longer ones (tool output, images) are skipped.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// How often to read again when another process stored an answer meanwhile.
const MAX_ROUNDS: usize = 5;

/// Most bytes of a transcript a hook reads: about a third of a second. Hosts stop a hook that takes long, Claude Code
/// that of a session's end after 1.4 s.
pub(crate) const MAX_BYTES_IN_HOOK: u64 = 64 * 1024 * 1024;

/// How far a transcript was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Reading {
    /// To its end, or there is none that could be read.
    Finished,
    /// Not at all: there is more to read than was allowed.
    TooLong,
}

/// Stores what a finished turn brought, if anything of it is new. With `max_bytes`, a transcript that has more to read
/// is left alone.
pub(crate) fn answer(
    host: &HostSpec,
    evidence: &mut Evidence,
    session: &Session,
    transcript: Option<&Path>,
    text: Option<&str>,
    max_bytes: Option<u64>,
    now: Timestamp,
) -> Result<Reading, StoreError> {
    let key = session.key();
    if let (Some(make_reader), Some(path)) = (host.transcript, transcript) {
        for _ in 0..MAX_ROUNDS {
            let state = evidence.transcript_state(key)?;
            let (slice, offset) = match read(&|| make_reader(&session.id), path, &state, text, max_bytes) {
                Ok(Some(read)) => read,
                Ok(None) => return Ok(Reading::TooLong),
                Err(_) => break,
            };
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

/// Reads what is new in a transcript and returns it with the offset after its last complete line; `None` when that is
/// more than `max_bytes`.
fn read(
    make_reader: &dyn Fn() -> Box<dyn Reader>,
    path: &Path,
    state: &TranscriptState,
    text: Option<&str>,
    max_bytes: Option<u64>,
) -> io::Result<Option<(Slice, u64)>> {
    let size = std::fs::metadata(path)?.len();
    let is_same_file = state.path.as_deref() == Some(&*path.to_string_lossy());
    let start = if is_same_file && state.offset <= size { state.offset } else { 0 };
    let since = Since {
        leaf: state.leaf.clone(),
        resumed: start > 0,
        last_prompt: state.last_prompt.clone(),
        answer: text.map(str::to_owned),
    };
    let is_too_long = |n_bytes: u64| max_bytes.is_some_and(|max_bytes| n_bytes > max_bytes);
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
