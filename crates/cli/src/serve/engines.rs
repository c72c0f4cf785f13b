//! Handles on the memory, lent to requests: any number for reading, one for writing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
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
    is_maintaining: std::sync::Arc<AtomicBool>,
}

impl Engines {
    /// Opens the memory, making it when there is none.
    pub(super) fn open(setup: &Setup) -> Result<Self, ApiError> {
        let writer = Mutex::new(backend::embedded(setup, Access::ReadWrite)?);
        Ok(Self {
            setup: setup.clone(),
            readers: Mutex::default(),
            writer,
            is_maintaining: AtomicBool::new(false).into(),
        })
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
        if self.is_maintaining.swap(true, Ordering::AcqRel) {
            return;
        }
        let (setup, is_maintaining) = (self.setup.clone(), std::sync::Arc::clone(&self.is_maintaining));
        let work = move || {
            let done =
                Embedded::open(&setup.memory_path(), Access::ReadWrite).and_then(|mut engine| engine.maintain(false));
            if let Err(error) = done {
                log::append(&setup.data_folder, log::WORKER, format_args!("index: {error}"));
            }
            is_maintaining.store(false, Ordering::Release);
        };
        if thread::Builder::new().name("index".to_owned()).spawn(work).is_err() {
            self.is_maintaining.store(false, Ordering::Release);
        }
    }
}
