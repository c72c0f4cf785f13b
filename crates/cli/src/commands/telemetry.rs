//! `telemetry`: what would be sent, and sending it.

use serde_json::json;

use crate::cli::TelemetryAction;
use crate::output;
use crate::report::{CommandResult, Ending};
use crate::setup::Setup;
use crate::telemetry::State;

/// Shows or sends the spools of every data folder this run is about.
pub(crate) fn run(setup: &Setup, action: TelemetryAction) -> CommandResult {
    for (host, folder) in setup.data_folders() {
        let setup = Setup { host: Some(host.clone()), data_folder: folder, ..setup.clone() };
        let telemetry = setup.telemetry();
        match action {
            TelemetryAction::Show => {
                let preview = telemetry.show();
                output::json(&json!({
                    "host": host,
                    "state": match preview.state {
                        State::On => "on",
                        State::OptedOut => "off: MEM0_TELEMETRY says so",
                        State::NoEndpoint => "off: no MEM0_TELEMETRY_URL is set",
                    },
                    "url": preview.url,
                    "distinct_id": preview.distinct_id,
                    "events": preview.events,
                }));
            }
            TelemetryAction::Flush { .. } => drop(telemetry.flush_once()),
        }
    }
    Ok(Ending::Done)
}
