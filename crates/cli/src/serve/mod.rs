//! `serve`: the embedded engine behind the Mem0 HTTP API, for SDKs, plugins and teams.
//!
//! * [`routes`] is the one table of what is offered; the router and the OpenAPI document both come from it.
//! * [`guard`] decides whether a request is heard at all: loopback names, origins, tokens.
//! * [`requests`] reads bodies, [`handlers`] answers, [`engines`] lends engine handles. These block and know no HTTP library.
//! * This module moves bytes: one axum service, a pool of blocking threads, limits on everything.
//!
//! Several servers over one store are safe: they share nothing but the database, like workers and hooks do.

mod engines;
mod guard;
mod handlers;
mod mcp;
mod openapi;
mod requests;
mod routes;
pub(crate) mod tokens;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, header};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use self::engines::Engines;
use self::guard::Guard;
use self::handlers::{Answer, Asked, Failure};
use crate::output;
use crate::setup::Setup;

/// Largest body of a request.
const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;
/// How long a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// Bodies are held in pieces of this size, and so many pieces at once; more wait. A small body that comes slowly keeps few
/// from being held.
const PIECE_BYTES: usize = 64 * 1024;
const MAX_PIECES: usize = 4 * 1024;
/// Requests worked on at once; more wait. As many threads may block.
const MAX_AT_WORK: usize = 32;
/// Of these, writes: they wait for each other, and must leave threads for reading.
const MAX_WRITES: usize = 8;
/// How long a request waits for its turn.
const TURN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long requests under way may take once the server is asked to stop.
const GRACE: Duration = Duration::from_secs(10);

/// What a server is started with.
#[derive(Debug)]
pub(crate) struct Options {
    /// Where to listen.
    pub(crate) addr: SocketAddr,
    /// Who may ask; `None` on loopback only.
    pub(crate) tokens: Option<tokens::Tokens>,
}

/// What every request needs.
struct Server {
    guard: Guard,
    engines: Engines,
    held: Arc<Semaphore>,
    turns: Arc<Semaphore>,
    writes: Arc<Semaphore>,
    setup: Setup,
}

/// Serves until it is told to stop (SIGINT, SIGTERM).
///
/// # Errors
/// When the address cannot be listened on, or is open to others without tokens.
pub(crate) fn serve(setup: &Setup, options: Options) -> anyhow::Result<()> {
    if options.tokens.is_none() && !options.addr.ip().is_loopback() {
        return Err(crate::report::Usage(format!(
            "{} can be reached from other machines: name who may ask with --token-file (`mem0-code serve token NAME \
             --token-file FILE` makes one)",
            options.addr
        ))
        .into());
    }
    let engines = Engines::open(setup)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(MAX_AT_WORK).build()?;
    runtime.block_on(async {
        let listener =
            TcpListener::bind(options.addr).await.with_context(|| format!("listening on {}", options.addr))?;
        let addr = listener.local_addr()?;
        let guard = Guard::new(addr, options.tokens);
        let who = if guard.is_open() { "no token needed" } else { "tokens needed" };
        let limit = |count| Arc::new(Semaphore::new(count));
        let (held, turns, writes) = (limit(MAX_PIECES), limit(MAX_AT_WORK), limit(MAX_WRITES));
        let server = Arc::new(Server { guard, engines, held, turns, writes, setup: setup.clone() });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&server));
        output::line(format_args!("Serving {} at http://{addr} ({who}).", setup.memory_path().display()));
        let stopping = Arc::new(tokio::sync::Notify::new());
        let stopped = {
            let stopping = Arc::clone(&stopping);
            async move {
                asked_to_stop().await;
                stopping.notify_one();
            }
        };
        let serving = axum::serve(listener, router).with_graceful_shutdown(stopped).into_future();
        tokio::select! {
            ended = serving => ended.context("serving"),
            // Connections that stay open must not keep the process.
            () = async { stopping.notified().await; tokio::time::sleep(GRACE).await; } => Ok(()),
        }
    })?;
    runtime.shutdown_timeout(GRACE);
    Ok(())
}

async fn asked_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signals) => drop(signals.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}

async fn answer(State(server): State<Arc<Server>>, request: Request<Body>) -> Response<Body> {
    match respond(server, request).await {
        Ok(answer) => response(answer),
        Err(failure) => response(failure.into()),
    }
}

async fn respond(server: Arc<Server>, request: Request<Body>) -> Result<Answer, Failure> {
    let (parts, body) = request.into_parts();
    let header = |name: &str| text_of(&parts.headers, name);
    let who = server.guard.admit(&header)?;
    let (route, parameters) = routes::find(parts.method.as_str(), parts.uri.path())?;
    let declared = header("content-length").and_then(|length| length.parse::<usize>().ok());
    if declared.is_some_and(|bytes| bytes > MAX_BODY_BYTES) {
        return Err(too_large());
    }
    let expected = if header("transfer-encoding").is_some() { MAX_BODY_BYTES } else { declared.unwrap_or(0) };
    let _held = match expected.div_ceil(PIECE_BYTES) {
        0 => None,
        pieces => Some(turn(&server.held, pieces).await?),
    };
    let body = tokio::time::timeout(BODY_TIMEOUT, axum::body::to_bytes(body, MAX_BODY_BYTES))
        .await
        .map_err(|_| Failure::new(408, "the request's body did not arrive in time"))?
        .map_err(|error| match error.to_string().contains("length limit") {
            true => too_large(),
            false => Failure::bad("the request's body is broken"),
        })?;
    let asked = Asked {
        route,
        parameters,
        query: requests::query(parts.uri.query().unwrap_or_default())?,
        body: body.to_vec(),
        idempotency_key: header("idempotency-key"),
        base: base(&header, server.guard.addr()),
        who,
    };
    let write = if route.operation.is_write() { Some(turn(&server.writes, 1).await?) } else { None };
    let turn = turn(&server.turns, 1).await?;
    let worker = Arc::clone(&server);
    // The permits go with the work: a client that hangs up does not end it.
    let work = move || {
        let _permits = (write, turn);
        handlers::answer(&worker.setup, &worker.engines, &worker.guard, &asked)
    };
    tokio::task::spawn_blocking(work).await.map_err(|_| Failure::new(500, "the request could not be worked on"))?
}

/// Waits for a turn, not for ever.
async fn turn(turns: &Arc<Semaphore>, count: usize) -> Result<OwnedSemaphorePermit, Failure> {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    tokio::time::timeout(TURN_TIMEOUT, Arc::clone(turns).acquire_many_owned(count))
        .await
        .ok()
        .and_then(Result::ok)
        .ok_or_else(|| Failure::new(503, "too many requests at once; try again"))
}

fn too_large() -> Failure {
    Failure::new(413, format!("a request may have at most {MAX_BODY_BYTES} bytes"))
}

fn text_of(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// The address under which the client reached us, for links to further pages.
fn base(header: &dyn Fn(&str) -> Option<String>, addr: SocketAddr) -> String {
    let host = header("host").filter(|host| !host.contains(['/', '"', '<', '\\', ' ']));
    format!("http://{}", host.unwrap_or_else(|| addr.to_string()))
}

fn response(answer: Answer) -> Response<Body> {
    let mut response = match answer.body {
        Some(body) => Response::new(Body::from(body.to_string())),
        None => Response::new(Body::empty()),
    };
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    for (name, value) in answer.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    response
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Self {
        Self { status: failure.status, body: Some(json!({ "detail": failure.detail })), headers: failure.headers }
    }
}
