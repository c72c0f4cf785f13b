//! Delivers what waits, and knows who it is from.

use std::fs;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use mem0_code_core::telemetry::{self, Account, Identity};
use mem0_code_engine::api::{ApiError, MemoryApi};
use mem0_code_engine::platform::http::{Http, Method};
use mem0_code_engine::platform::{Platform, PlatformConfig};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::claims::{self, Claim, Content};
use super::{Telemetry, replace_private};

const IDENTITY: &str = "telemetry-identity.json";
/// Events in one request.
const BATCH: usize = 100;
/// Claims of other processes that one run looks after.
const MAX_PARKED: usize = 3;
/// Time for one request.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What a run came to.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// Events that the endpoint took.
    pub(crate) sent: usize,
    /// Why the run ended early, if it did. What was not sent is kept.
    pub(crate) failure: Option<String>,
}

/// Sends the spool, then up to three claims that others left.
pub(super) fn flush(telemetry: &Telemetry) -> Delivery {
    let mut delivery = Delivery::default();
    claims::sweep(&telemetry.data_dir);
    if let Err(reason) = drain(telemetry, &mut delivery) {
        delivery.failure = Some(reason);
    }
    delivery
}

fn drain(telemetry: &Telemetry, delivery: &mut Delivery) -> Result<(), String> {
    let url = telemetry.settings.url.as_deref().unwrap_or_default();
    let agent = format!("mem0-code/{}", telemetry.settings.version);
    let http = Http::new(url, &agent, Vec::new()).map_err(|error| error.to_string())?;
    let mut sender = None;
    let spool = Claim::spool(&telemetry.data_dir);
    if let Some(claim) = spool {
        send(&claim, telemetry, &http, &mut sender, delivery)?;
    }
    let parked = claims::parked(&telemetry.data_dir);
    for claim in parked.iter().filter_map(|path| Claim::parked(path)).take(MAX_PARKED) {
        send(&claim, telemetry, &http, &mut sender, delivery)?;
    }
    Ok(())
}

fn send(
    claim: &Claim,
    telemetry: &Telemetry,
    http: &Http,
    sender: &mut Option<String>,
    delivery: &mut Delivery,
) -> Result<(), String> {
    let events = match claim.content() {
        Content::Events(events) => events,
        Content::Nothing => return Ok(()),
        Content::Unreadable => return Err("a claim could not be read".to_owned()),
    };
    // Only now: who sends may have to be asked for, and with nothing to send nobody is asked.
    let sender = sender.get_or_insert_with(|| identify(telemetry, http));
    let mut rest = events.as_slice();
    while !rest.is_empty() {
        let (batch, later) = rest.split_at(rest.len().min(BATCH));
        if let Err(reason) = post(http, "/batch/", &telemetry::batch(batch, sender)) {
            claim.park();
            return Err(reason);
        }
        delivery.sent += batch.len();
        rest = later;
        if !rest.is_empty() {
            claim.keep(rest).map_err(|error| format!("a claim could not be rewritten: {error}"))?;
        }
    }
    claim.delete();
    Ok(())
}

fn post(http: &Http, path: &str, body: &Value) -> Result<(), String> {
    let reply = http.send(Method::Post, path, Some(body), TIMEOUT).map_err(|error| error.to_string())?;
    if reply.is_success() { Ok(()) } else { Err(format!("the endpoint answered {}: {}", reply.status, reply.detail())) }
}

/// Returns who the events are from, and remembers it.
fn identify(telemetry: &Telemetry, http: &Http) -> String {
    let path = telemetry.path(IDENTITY);
    let before = read(&path);
    let random: String = Sha256::digest(Uuid::now_v7())[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    let key = telemetry.settings.api_key.as_deref().map(str::trim).filter(|key| !key.is_empty());
    let mut identity = before.resolve(key, &format!("code-anon-{random}"), |key| ask(telemetry, key));
    if let Some(email) = identity.email.as_deref().filter(|_| !identity.aliased) {
        let announcement = telemetry::identification(&identity.anonymous_id, email, Timestamp::now());
        identity.aliased = post(http, "/i/v0/e/", &announcement).is_ok();
    }
    if identity != before {
        let _ = replace_private(&path, json!(identity).to_string().as_bytes());
    }
    identity.distinct_id().to_owned()
}

/// Returns who the events would be from, without asking anybody.
pub(super) fn known_sender(data_dir: &Path) -> Option<String> {
    let identity = read(&data_dir.join(IDENTITY));
    Some(identity.distinct_id().to_owned()).filter(|id| !id.is_empty())
}

fn read(path: &Path) -> Identity {
    fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn ask(telemetry: &Telemetry, key: &str) -> Account {
    let config = PlatformConfig {
        url: telemetry.settings.api_url.clone(),
        api_key: key.to_owned(),
        application: telemetry.settings.host.clone(),
        version: &telemetry.settings.version,
        poll: Duration::from_secs(1),
    };
    match Platform::open(config).and_then(|mut platform| platform.ping()) {
        Ok(account) => account.email.filter(|email| !email.is_empty()).map_or(Account::Unknown, Account::Email),
        Err(ApiError::Unreachable(_) | ApiError::Unavailable { .. }) => Account::Offline,
        Err(_) => Account::Unknown,
    }
}
