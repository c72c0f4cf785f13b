//! Handles on the memory, lent to requests: any number for reading, one for writing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use mem0_code_engine::api::ApiError;
use mem0_code_engine::embedded::{Access, Embedded};

use crate::backend;
use crate::log;
use crate::setup::Setup;

/// Readers that are kept for the next request.
const MAX_IDLE: usize = 8;

/// The memory of a server.
pub(super) struct Engines {
    setup: Setup,
    readers: Mutex<Vec<Embedded>>,
    writer: Mutex<Embedded>,
    index: Arc<Index>,
}

/// Whether the index is behind, and whether somebody sees to it.
#[derive(Debug, Default)]
struct Index {
    is_behind: AtomicBool,
    is_seen_to: AtomicBool,
}

impl Engines {
    /// Opens the memory, making it when there is none.
    pub(super) fn open(setup: &Setup) -> Result<Self, ApiError> {
        let writer = Mutex::new(backend::embedded(setup, Access::ReadWrite)?);
        Ok(Self { setup: setup.clone(), readers: Mutex::default(), writer, index: Arc::default() })
    }

    /// Reads.
    pub(super) fn read<T>(&self, work: impl FnOnce(&mut Embedded) -> Result<T, ApiError>) -> Result<T, ApiError> {
        let kept = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut engine = match kept {
            Some(engine) => engine,
            None => Embedded::open(&self.setup.memory_path(), Access::Search)?,
        };
        let result = work(&mut engine);
        // One that failed may hold on to a file that was replaced.
        if result.is_ok() {
            let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
            if readers.len() < MAX_IDLE {
                readers.push(engine);
            }
        }
        result
    }

    /// Writes, one request at a time, and sees to the index afterwards.
    pub(super) fn write<T>(&self, work: impl FnOnce(&mut Embedded) -> Result<T, ApiError>) -> Result<T, ApiError> {
        let result = work(&mut self.writer.lock().unwrap_or_else(PoisonError::into_inner));
        self.maintain();
        result
    }

    /// Brings the index up to date in the background, once at a time; it has a handle of its own.
    fn maintain(&self) {
        self.index.is_behind.store(true, Ordering::Release);
        if self.index.is_seen_to.swap(true, Ordering::AcqRel) {
            return;
        }
        let (setup, index) = (self.setup.clone(), Arc::clone(&self.index));
        let work = move || {
            // A write that comes while the index is built is seen to in another round.
            loop {
                while index.is_behind.swap(false, Ordering::AcqRel) {
                    bring_up_to_date(&setup);
                }
                index.is_seen_to.store(false, Ordering::Release);
                let is_behind = index.is_behind.load(Ordering::Acquire);
                if !is_behind || index.is_seen_to.swap(true, Ordering::AcqRel) {
                    return;
                }
            }
        };
        if thread::Builder::new().name("index".to_owned()).spawn(work).is_err() {
            self.index.is_seen_to.store(false, Ordering::Release);
        }
    }
}

fn bring_up_to_date(setup: &Setup) {
    let done = Embedded::open(&setup.memory_path(), Access::ReadWrite).and_then(|mut engine| engine.maintain(false));
    if let Err(error) = done {
        log::append(&setup.data_folder, log::WORKER, format_args!("index: {error}"));
    }
}
