//! `event`: how far a stored fact has come, for places that work on it after they accepted it.

use mem0_code_engine::api::EventStatus;
use serde_json::json;

use crate::report::{CommandResult, Ending};
use crate::setup::Setup;
use crate::{backend, output};

/// Prints the state of what `add` gave this receipt for.
pub(crate) fn run(setup: &Setup, id: &str, as_json: bool) -> CommandResult {
    let event = backend::open(setup)?.event(id)?;
    let status = match event.status {
        EventStatus::Pending => "PENDING",
        EventStatus::Succeeded => "SUCCEEDED",
        EventStatus::Failed => "FAILED",
    };
    if as_json {
        output::json(&json!({ "event_id": id, "status": status, "results": event.results }));
    } else {
        output::line(format_args!("{status}, {} memories", event.results));
    }
    Ok(if event.status == EventStatus::Failed { Ending::Failed } else { Ending::Done })
}
