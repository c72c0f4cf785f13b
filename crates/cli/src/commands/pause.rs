//! `pause` and `resume`: the switch hooks, workers and searches look at.

use jiff::Timestamp;
use mem0_code_core::hosts;
use mem0_code_engine::db::Role;
use mem0_code_engine::evidence::Evidence;
use serde_json::json;

use crate::output;
use crate::report::{CommandResult, Ending};
use crate::setup::Setup;

/// Pauses or resumes the named host, or every host.
pub(crate) fn run(setup: &Setup, is_paused: bool, as_json: bool) -> CommandResult {
    let mut folders = setup.data_folders();
    if !setup.is_data_folder_given && setup.host.is_none() {
        // A host that has recorded nothing yet must not begin while the others are paused.
        for host in hosts::ALL {
            if !folders.iter().any(|(id, _)| id == host.id) {
                folders.push((host.id.to_owned(), setup.mem0.join(format!("{}-plugin", host.id))));
            }
        }
    }
    for (_, folder) in &folders {
        Evidence::open(folder, Role::Worker)?.set_paused(is_paused, Timestamp::now())?;
    }
    let names: Vec<&str> = folders.iter().map(|(host, _)| host.as_str()).collect();
    if as_json {
        output::json(&json!({ "paused": is_paused, "hosts": names }));
        return Ok(Ending::Done);
    }
    output::line(format_args!(
        "{} saving and searching memories for {}.",
        if is_paused { "Stopped" } else { "Resumed" },
        names.join(", ")
    ));
    Ok(Ending::Done)
}
