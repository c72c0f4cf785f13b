//! `worker`: what hooks start detached, and the same in the foreground.

use std::path::Path;

use crate::report::{CommandResult, Ending};
use crate::setup::Setup;
use crate::{output, worker};

/// Delivers one claimed packet, or all that wait in every data folder this run is about.
pub(crate) fn run(setup: &Setup, packet: Option<&Path>) -> CommandResult {
    if let Some(packet) = packet {
        anyhow::ensure!(packet.is_file(), "there is no packet {}; perhaps it was delivered already", packet.display());
        worker::packet(setup, packet);
        return Ok(Ending::Done);
    }
    let mut n_all = 0;
    let mut n_left_all = 0;
    for (host, folder) in setup.data_folders() {
        let setup = Setup { host: Some(host), data_folder: folder, ..setup.clone() };
        let (n_taken, n_left) = worker::all(&setup);
        n_all += n_taken;
        n_left_all += n_left;
    }
    if n_all > 0 {
        output::line(format_args!("Delivered {} of {n_all} packets.", n_all - n_left_all));
    }
    Ok(if n_left_all == 0 { Ending::Done } else { Ending::Failed })
}
