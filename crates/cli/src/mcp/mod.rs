//! The stdio MCP server: two read-only tools, [`search_memories` and `handoff_resource`](tools), for every protocol
//! revision from 2024-11-05 to 2026-07-28.
//!
//! Messages, versions and results are the types of `rmcp`; the loop is ours, because the service of `rmcp` 3.11
//! does otherwise than hosts need: it drops unparseable lines without an answer, ends when a notification comes
//! before `initialize`, refuses requests without metadata there (an unknown method must get -32601), loses a
//! last line without a newline, and runs each call as a task of its own, so that answers come in any order. A
//! loop over one channel also needs no runtime.
//!
//! * [`protocol`] turns one line into what to do. Pure.
//! * [`tools`] is the table of tools: what they are called, take and mean. Pure.
//! * This module moves lines: a thread reads, a thread runs the calls one after the other, and the caller's
//!   thread writes. A ping is answered while a search runs.

mod protocol;
mod tools;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use mem0_code_core::memory::Category;
use serde_json::Value;

use self::protocol::{Action, Protocol, RequestId, Shape};

/// How searching is recommended to a model: in the tool's description, the server's instructions and the
/// packages' texts, always in these words.
pub(crate) const SEARCH_GUIDANCE: &str = "Search when decisions, fixes, commands, preferences or results of earlier work may \
help. Ask one focused question, and none at all when the context already holds the answer. Search again only to fill a \
specific gap that is left.";

/// Most bytes of one message. A message above it is refused, and the next one is read.
const MAX_MESSAGE_BYTES: usize = 8 * 1024 * 1024;
/// How long calls that run when the client closes its end may still take. Clients wait about a second.
const GRACE: Duration = Duration::from_millis(800);
/// Messages read ahead of the one in work.
const READ_AHEAD: usize = 64;

/// What the server says of itself, and where it searches.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Version of this program.
    pub(crate) version: String,
    /// The project of a call whose metadata names none: `CLAUDE_PROJECT_DIR`, else the working folder.
    pub(crate) default_project: Option<PathBuf>,
}

/// One valid call of `search_memories`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SearchCall {
    /// The question, trimmed, 1 to 2,000 characters.
    pub(crate) query: String,
    /// Results wanted, 1 to 20; `None` leaves it to the settings.
    pub(crate) top_k: Option<usize>,
    /// Only memories of this category.
    pub(crate) category: Option<Category>,
    /// `repo`, `dir` or `mine`; `None` means `repo`.
    pub(crate) scope: Option<String>,
    /// Only memories of this session, trimmed.
    pub(crate) run_id: Option<String>,
    /// Where the caller works: the first workspace in the request's metadata, else [`Options::default_project`].
    pub(crate) project: Option<PathBuf>,
}

/// One valid call of `handoff_resource`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HandoffCall {
    /// The resource to give, and which part of it; `None` lists resources.
    pub(crate) resume: Option<(String, u64)>,
    /// Where the caller works, as in [`SearchCall::project`]; never from the arguments.
    pub(crate) project: Option<PathBuf>,
}

/// An answer for a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Reply {
    /// Its text.
    pub(crate) text: String,
    /// Pictures after it: payload in base64 and media type.
    pub(crate) images: Vec<(String, String)>,
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self { text, images: Vec::new() }
    }
}

/// Answers a search: the text for the model, or what went wrong, in words that may be shown to it.
pub(crate) type Search = Box<dyn FnMut(SearchCall) -> Result<String, String> + Send>;
/// Answers a call about handoffs, in the same way.
pub(crate) type Handoff = Box<dyn FnMut(HandoffCall) -> Result<Reply, String> + Send>;

/// What answers calls, one for each tool.
pub(crate) struct Answers {
    /// Of `search_memories`.
    pub(crate) search: Search,
    /// Of `handoff_resource`.
    pub(crate) handoff: Handoff,
}

/// Serves on standard input and output until the input ends.
///
/// `answers` are called on a thread of their own, never two at once. Calls that are unfinished when the input
/// ends get 0.8 s; what is unfinished then is answered with an error and left behind.
///
/// # Errors
/// When standard output cannot be written for another reason than that nobody reads it any more.
pub(crate) fn serve(options: Options, answers: Answers) -> anyhow::Result<()> {
    serve_on(options, answers, io::stdin(), io::stdout().lock())
}

/// Answers one message by itself; `None` when it wants no answer. For transports that carry single messages.
pub(crate) fn respond(options: Options, message: &[u8], mut answers: Answers) -> Option<Value> {
    match Protocol::new(options).receive(message) {
        Action::Nothing | Action::Cancel(_) => None,
        Action::Reply(answer) => Some(answer),
        Action::Call { id, shape, call } => Some(protocol::call_result(id, shape, answers.to(call))),
    }
}

impl Answers {
    fn to(&mut self, call: tools::Call) -> Result<Reply, String> {
        match call {
            tools::Call::Search(call) => (self.search)(call).map(Reply::from),
            tools::Call::Handoff(call) => (self.handoff)(call),
        }
    }
}

/// Serves on any pair of streams. See [`serve`].
fn serve_on(
    options: Options,
    answers: Answers,
    input: impl Read + Send + 'static,
    output: impl Write,
) -> anyhow::Result<()> {
    let (inbox, arrivals) = mpsc::sync_channel(READ_AHEAD);
    let (calls, queue) = mpsc::channel();
    let lines = inbox.clone();
    thread::Builder::new().name("mcp-read".to_owned()).spawn(move || read(input, &lines))?;
    thread::Builder::new().name("mcp-call".to_owned()).spawn(move || work(answers, &queue, &inbox))?;
    let server = Server { protocol: Protocol::new(options), calls, running: Vec::new(), output };
    match server.run(&arrivals) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// What the loop waits for.
enum Arrival {
    /// A line, without its newline.
    Line(Vec<u8>),
    /// A line above the limit, left out.
    Oversized,
    /// The input ended.
    End,
    /// A call ended.
    Done(u64, Result<Reply, String>),
}

/// A call on its way to the thread that runs it.
struct Job {
    number: u64,
    call: tools::Call,
    cancelled: Arc<AtomicBool>,
}

/// A call that is not answered yet.
struct Running {
    number: u64,
    id: RequestId,
    shape: Shape,
    cancelled: Arc<AtomicBool>,
}

struct Server<W> {
    protocol: Protocol,
    calls: Sender<Job>,
    running: Vec<Running>,
    output: W,
}

impl<W: Write> Server<W> {
    fn run(mut self, arrivals: &Receiver<Arrival>) -> io::Result<()> {
        let mut number = 0;
        loop {
            let Ok(arrival) = arrivals.recv() else { return Ok(()) };
            let action = match arrival {
                Arrival::Line(line) => self.protocol.receive(&line),
                Arrival::Oversized => protocol::oversized(MAX_MESSAGE_BYTES),
                Arrival::Done(number, result) => {
                    self.finish(number, result)?;
                    continue;
                }
                Arrival::End => break,
            };
            match action {
                Action::Nothing => {}
                Action::Reply(message) => self.write(&message)?,
                Action::Cancel(id) => self.cancel(&id),
                Action::Call { id, shape, call } => {
                    number += 1;
                    let cancelled = Arc::new(AtomicBool::new(false));
                    self.running.push(Running { number, id, shape, cancelled: Arc::clone(&cancelled) });
                    if self.calls.send(Job { number, call, cancelled }).is_err() {
                        self.finish(number, Err("This server stopped working.".to_owned()))?;
                    }
                }
            }
        }
        self.wind_down(arrivals)
    }

    /// Waits a moment for what still runs, then answers the rest.
    fn wind_down(&mut self, arrivals: &Receiver<Arrival>) -> io::Result<()> {
        let deadline = Instant::now() + GRACE;
        while !self.running.is_empty() {
            match arrivals.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Arrival::Done(number, result)) => self.finish(number, result)?,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        while let Some(running) = self.running.first() {
            self.finish(running.number, Err("The call did not finish before the input ended.".to_owned()))?;
        }
        Ok(())
    }

    fn finish(&mut self, number: u64, result: Result<Reply, String>) -> io::Result<()> {
        let Some(position) = self.running.iter().position(|running| running.number == number) else { return Ok(()) };
        let running = self.running.remove(position);
        if running.cancelled.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.write(&protocol::call_result(running.id, running.shape, result))
    }

    /// Takes back a call. An id that is not running was answered already, which hosts do send.
    fn cancel(&mut self, id: &RequestId) {
        if let Some(running) = self.running.iter().find(|running| running.id == *id) {
            running.cancelled.store(true, Ordering::Relaxed);
        }
    }

    fn write(&mut self, message: &Value) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.output.write_all(&line)?;
        self.output.flush()
    }
}

/// Reads lines until the input ends, also a last one without a newline.
fn read(input: impl Read, inbox: &SyncSender<Arrival>) {
    let mut input = BufReader::new(input);
    loop {
        let mut line = Vec::new();
        // One byte above the limit tells a line that is too long from one that just fits.
        let taken = (&mut input).take(MAX_MESSAGE_BYTES as u64 + 1).read_until(b'\n', &mut line);
        let arrival = match taken {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => Arrival::End,
            Ok(_) if line.last() == Some(&b'\n') => Arrival::Line(line),
            Ok(_) if line.len() <= MAX_MESSAGE_BYTES => Arrival::Line(line),
            Ok(_) => {
                if input.skip_until(b'\n').is_err() {
                    let _ = inbox.send(Arrival::End);
                    return;
                }
                Arrival::Oversized
            }
        };
        let ended = matches!(arrival, Arrival::End);
        if inbox.send(arrival).is_err() || ended {
            return;
        }
    }
}

/// Runs calls in order until nobody asks any more.
fn work(mut answers: Answers, queue: &Receiver<Job>, inbox: &SyncSender<Arrival>) {
    for Job { number, call, cancelled } in queue {
        let result = if cancelled.load(Ordering::Relaxed) { Err(String::new()) } else { answers.to(call) };
        if inbox.send(Arrival::Done(number, result)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
