//! What a failed command tells its user: the error, its causes, a hint, and the exit status.

use std::process::ExitCode;

use mem0_code_engine::api::ApiError;
use mem0_code_engine::db::StoreError;

use crate::lookup::LookupError;
use crate::output;

/// How a command ended.
pub(crate) type CommandResult = anyhow::Result<Ending>;

/// How a command that ran ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It did what was asked.
    Done,
    /// It ran, and what it reported is not good.
    Failed,
    /// It refused to do what was asked.
    Refused,
}

impl From<Ending> for ExitCode {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Done => Self::SUCCESS,
            Ending::Failed => Self::from(1),
            Ending::Refused => Self::from(2),
        }
    }
}

/// A mistake in how a command was called.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Tells the user what went wrong and returns the exit status.
pub(crate) fn exit_code(result: CommandResult) -> ExitCode {
    match result {
        // What was asked for did not arrive.
        Ok(Ending::Done) if output::has_failed() => {
            output::error_line("error: the output could not be written completely");
            Ending::Failed.into()
        }
        Ok(ending) => ending.into(),
        Err(error) => {
            let mut said = error.to_string();
            output::error_line(format_args!("error: {said}"));
            // Some errors tell their cause themselves.
            for cause in error.chain().skip(1).map(|cause| cause.to_string()) {
                if !said.contains(&cause) {
                    output::error_line(format_args!("  cause: {cause}"));
                }
                said = cause;
            }
            if let Some(hint) = hint(&error) {
                output::error_line(format_args!("hint: {hint}"));
            }
            let is_usage = error.is::<Usage>() || matches!(error.downcast_ref(), Some(LookupError::Invalid(_)));
            if is_usage { Ending::Refused.into() } else { Ending::Failed.into() }
        }
    }
}

fn hint(error: &anyhow::Error) -> Option<&'static str> {
    if let Some(error) = error.chain().find_map(|cause| cause.downcast_ref::<ApiError>()) {
        return match error {
            ApiError::Unauthorized { .. } => {
                Some("check the key with `mem0-code doctor`, or unset MEM0_API_KEY to use the local engine")
            }
            ApiError::Unreachable(_) | ApiError::Unavailable { .. } => {
                Some("check MEM0_API_URL and the network; evidence is kept and delivered later")
            }
            ApiError::NotFound(_) => Some("`mem0-code list` shows the ids"),
            ApiError::Store { .. } | ApiError::File { .. } => {
                Some("`mem0-code doctor` says what is wrong with the local files")
            }
            _ => None,
        };
    }
    if let Some(error) = error.chain().find_map(|cause| cause.downcast_ref::<StoreError>()) {
        return match error {
            StoreError::Full { .. } => Some("free some space; recording goes on by itself"),
            StoreError::Denied { .. } => Some("check who owns the folder; MEM0_DIR can move it"),
            StoreError::Locked { .. } => Some("another process is writing; try again in a moment"),
            StoreError::Newer { .. } => Some("update mem0-code"),
            _ => Some("`mem0-code doctor` says what is wrong with the local files"),
        };
    }
    None
}
