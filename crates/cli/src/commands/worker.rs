//! `worker`: what hooks start detached, and the same in the foreground.

use std::path::Path;

use crate::report::{CommandResult, Ending, Usage};
use crate::setup::Setup;
use crate::{output, worker};

/// Delivers one claimed packet, or all that wait in every data folder this run is about. In the foreground nothing is
/// waited for: who asks wants it now.
pub(crate) fn run(setup: &Setup, packet: Option<&Path>, is_detached: bool) -> CommandResult {
    if let Some(packet) = packet {
        anyhow::ensure!(packet.is_file(), "there is no packet {}; perhaps it was delivered already", packet.display());
        // A packet that is none is put aside, and one that is delivered is deleted: never anything else of the user's.
        if !is_of_ours(setup, packet) {
            return Err(Usage(format!("{} is not in the pending folder of a host's data", packet.display())).into());
        }
        worker::packet(setup, packet);
        return Ok(Ending::Done);
    }
    let mut n_all = 0;
    let mut n_left_all = 0;
    for (host, folder) in setup.data_folders() {
        let setup = Setup { host: Some(host), data_folder: folder, ..setup.clone() };
        let (n_taken, n_left) = worker::all(&setup, !is_detached);
        n_all += n_taken;
        n_left_all += n_left;
    }
    if n_all > 0 {
        output::line(format_args!("Delivered {} of {n_all} packets.", n_all - n_left_all));
    }
    Ok(if n_left_all == 0 { Ending::Done } else { Ending::Failed })
}

fn is_of_ours(setup: &Setup, packet: &Path) -> bool {
    let folder = packet.parent().and_then(|folder| folder.canonicalize().ok());
    let known = setup.data_folders().into_iter().map(|(_, folder)| folder).chain([setup.data_folder.clone()]);
    let mut pending = known.filter_map(|data| data.join("pending").canonicalize().ok());
    let is_named = packet.extension().is_some_and(|extension| extension == "running" || extension == "json");
    is_named && folder.is_some_and(|folder| pending.any(|known| known == folder))
}
