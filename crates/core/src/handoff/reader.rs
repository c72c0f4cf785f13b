//! What a reader of a host's sessions is, and what it is given.

use super::document::Item;
use super::refusal::Refusal;

/// Where a record lies in the transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Bytes from the start of the (decompressed) transcript.
    pub offset: u64,
    /// Bytes, without the line's end.
    pub len: usize,
    /// The line's number, from 1.
    pub line: u64,
}

/// One record: a complete line, without its end, with unpaired surrogate escapes already made U+FFFD.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Where it lies.
    pub at: Span,
    /// Its JSON text.
    pub text: &'a str,
}

/// What lies around a transcript. Implemented by who has the files.
pub trait Surroundings {
    /// The transcript's canonical path, or `<host>:<session id>` where there is no file.
    fn path(&self) -> &str;

    /// Reads a record again.
    ///
    /// # Errors
    /// `io_error`, or `source_changed` when it cannot be read as before.
    fn record(&mut self, at: Span) -> Result<String, Refusal>;

    /// Reads a file beside the transcript, by a path relative to the transcript's folder (`../../state.json`), or an absolute
    /// one; at most `limit` bytes. `None`: there is none.
    ///
    /// # Errors
    /// `io_error`; `too_large` above the limit.
    fn file(&mut self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Refusal>;

    /// A setting of the surroundings by its variable's name, such as `DSH_HOME`, with `~` forms already made absolute.
    fn setting(&self, name: &str) -> Option<String>;
}

/// What is known of a session once its records were seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// The session's id; `None`: take it from the file's name.
    pub session_id: Option<String>,
    /// The session's own title; `None`: the default.
    pub title: Option<String>,
    /// Where it started; `None`: `--cwd` must say.
    pub cwd: Option<String>,
    /// The compaction that is applied.
    pub compact_boundary: Option<String>,
    /// Leaf, first and last record taken, where records have ids; `None`: counts of items stand in.
    pub ids: Option<RecordIds>,
    /// Active and imported records, where they differ from the count of items.
    pub records: Option<(u64, u64)>,
    /// Records of the source, where they are not the lines.
    pub source_records: Option<u64>,
}

/// Ids of records, for hosts whose records have them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordIds {
    /// The last record of the active branch.
    pub leaf: String,
    /// The first record taken.
    pub first: String,
    /// The last record taken.
    pub last: String,
}

/// What was left out on the way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Blocks of hidden reasoning.
    pub reasoning: u64,
    /// `code: text`, at most one a code.
    pub warnings: Vec<String>,
}

/// Options of a reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Calls that have no result get a made-up one.
    pub allow_missing_results: bool,
    /// The call that is the handoff itself.
    pub exclude_call_id: Option<String>,
}

/// Takes items in order; an error ends the reading.
pub type Sink<'a> = dyn FnMut(Item) -> Result<(), Refusal> + 'a;

/// Reads the sessions of one host.
///
/// Called in this order: `scan` for every record, `outline` once, `items` once. The validator that follows checks what is
/// common to all hosts (pairing of calls and results, unique ids, pictures, at least one user message), so that a reader
/// checks only what is its host's own.
pub trait SessionReader {
    /// Takes note of a record. It keeps positions and ids rather than texts.
    ///
    /// # Errors
    /// The rules of the host that a single record can break.
    fn scan(&mut self, record: Record<'_>) -> Result<(), Refusal>;

    /// Decides which records count and says what is known of the session.
    ///
    /// # Errors
    /// The rules of the host about the whole: broken trees, compactions that cannot be followed.
    fn outline(&mut self, around: &mut dyn Surroundings) -> Result<Outline, Refusal>;

    /// Gives the items in order.
    ///
    /// # Errors
    /// What `sink` gives, and the rules of the host about contents.
    fn items(&mut self, around: &mut dyn Surroundings, sink: &mut Sink<'_>) -> Result<Tally, Refusal>;
}

/// Makes a reader.
pub type NewSessionReader = fn(&Options) -> Box<dyn SessionReader>;
