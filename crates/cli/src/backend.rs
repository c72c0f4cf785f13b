//! Which place memories live in, by the settings of this run.

use jiff::Timestamp;
use mem0_code_core::config::Backend;
use mem0_code_core::scope::{self, Scope};
use mem0_code_engine::api::{ApiError, MemoryApi};
use mem0_code_engine::embedded::{Access, Embedded};
use mem0_code_engine::llm::ledger::{Ledger, Usage};
use mem0_code_engine::llm::{Extractor, LlmConfig, ModelExtractor};
use mem0_code_engine::platform::{Platform, PlatformConfig};

use serde_json::Value;

use crate::log;
use crate::setup::Setup;

/// Tells whether memories can be stored and searched at all: the Platform wants a key.
pub(crate) fn is_ready(setup: &Setup) -> bool {
    match setup.backend {
        Backend::Embedded => true,
        Backend::Platform { .. } => setup.api_key.is_some(),
        Backend::Postgres { .. } => false,
    }
}

/// Opens the place for everything.
pub(crate) fn open(setup: &Setup) -> Result<Box<dyn MemoryApi>, ApiError> {
    open_with(setup, Access::ReadWrite)
}

/// Opens the place for searching only: nothing is created, and no lock is waited for long.
pub(crate) fn open_for_search(setup: &Setup) -> Result<Box<dyn MemoryApi>, ApiError> {
    open_with(setup, Access::Search)
}

/// Opens the embedded engine itself, for the upkeep no other place needs.
pub(crate) fn open_embedded(setup: &Setup) -> Result<Option<Embedded>, ApiError> {
    match setup.backend {
        Backend::Embedded => embedded(setup, Access::ReadWrite).map(Some),
        _ => Ok(None),
    }
}

/// Narrows a search to a repository where that is ours to say: what the Mem0 API is asked is laid down.
pub(crate) fn confined(setup: &Setup, scope: &Scope, filters: Value) -> Value {
    match setup.backend {
        Backend::Embedded | Backend::Postgres { .. } => scope::confined(filters, scope),
        Backend::Platform { .. } => filters,
    }
}

/// The place's name for people.
pub(crate) fn name(setup: &Setup) -> String {
    match &setup.backend {
        Backend::Embedded => format!("embedded ({})", setup.memory_path().display()),
        Backend::Platform { url } => format!("Mem0 API at {url}"),
        Backend::Postgres { .. } => "PostgreSQL".to_owned(),
    }
}

fn open_with(setup: &Setup, access: Access) -> Result<Box<dyn MemoryApi>, ApiError> {
    match &setup.backend {
        Backend::Embedded => Ok(Box::new(embedded(setup, access)?)),
        Backend::Platform { url } => {
            let Some((key, _)) = &setup.api_key else {
                return Err(ApiError::Invalid("no API key is configured for the Mem0 API".to_owned()));
            };
            let config = PlatformConfig {
                url: url.clone(),
                api_key: key.expose().to_owned(),
                application: setup.host.clone(),
                version: env!("CARGO_PKG_VERSION"),
                poll: setup.settings.event_poll,
            };
            Ok(Box::new(Platform::open(config)?))
        }
        Backend::Postgres { .. } => Err(ApiError::Invalid(
            "this release cannot keep memories in PostgreSQL; unset MEM0_CODE_BACKEND and MEM0_CODE_STORE_URL"
                .to_owned(),
        )),
    }
}

/// Opens the embedded engine for looking only.
pub(crate) fn open_embedded_for_search(setup: &Setup) -> Result<Option<Embedded>, ApiError> {
    match setup.backend {
        Backend::Embedded => embedded(setup, Access::Search).map(Some),
        _ => Ok(None),
    }
}

fn embedded(setup: &Setup, access: Access) -> Result<Embedded, ApiError> {
    // A search takes a missing database for an empty memory; a home that cannot hold one is something else.
    if setup.mem0.exists() && !setup.mem0.is_dir() {
        return Err(ApiError::File { path: setup.mem0.clone(), source: std::io::ErrorKind::NotADirectory.into() });
    }
    let engine = Embedded::open(&setup.memory_path(), access)?;
    Ok(match (access, extractor(setup)) {
        (Access::ReadWrite, Some(extractor)) => engine.with_extractor(extractor),
        _ => engine,
    })
}

/// The language model that looks for memories, where one is set.
fn extractor(setup: &Setup) -> Option<Box<dyn Extractor>> {
    let llm = setup.settings.llm.clone()?;
    let config = LlmConfig { url: llm.url, model: llm.model, api_key: llm.api_key, daily_tokens: llm.daily_tokens };
    let folder = setup.data_folder.clone();
    let say = move |reason: &str| log::append(&folder, log::WORKER, format_args!("rules extracted: {reason}"));
    match ModelExtractor::new(config, &setup.mem0, env!("CARGO_PKG_VERSION"), Box::new(say)) {
        Ok(extractor) => Some(Box::new(extractor)),
        Err(reason) => {
            log::append(&setup.data_folder, log::WORKER, format_args!("rules extract: {reason}"));
            None
        }
    }
}

/// What the model was asked today; `None` when none is set.
pub(crate) fn model_usage(setup: &Setup) -> Option<Usage> {
    setup.settings.llm.as_ref().map(|_| Ledger::in_folder(&setup.mem0).usage(Timestamp::now()))
}
