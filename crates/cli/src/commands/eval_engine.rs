//! `eval-engine`: the embedded engine behind a retrieval benchmark's JSON Lines protocol.

use std::io;

use crate::report::{CommandResult, Ending};

/// Answers until standard input ends.
pub(crate) fn run() -> CommandResult {
    mem0_code_engine::embedded::eval::run(io::stdin().lock(), io::stdout().lock())?;
    Ok(Ending::Done)
}
