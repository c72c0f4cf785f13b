//! `install` and `uninstall`.

use crate::cli::InstallArgs;
use crate::install::{self, HostReport, Options, Outcome};
use crate::output;
use crate::report::{CommandResult, Ending, Usage};
use crate::setup::Setup;

/// Wires hosts.
pub(crate) fn install(setup: &Setup, arguments: &InstallArgs) -> CommandResult {
    let options = options(setup, arguments)?;
    tell(&install::install(&options)?, arguments.dry_run)
}

/// Takes the wiring out.
pub(crate) fn uninstall(setup: &Setup, arguments: &InstallArgs) -> CommandResult {
    let options = options(setup, arguments)?;
    tell(&install::uninstall(&options)?, arguments.dry_run)
}

/// What installing needs to know of this run.
pub(crate) fn options(setup: &Setup, arguments: &InstallArgs) -> Result<Options, Usage> {
    if !arguments.all && arguments.hosts.is_empty() {
        return Err(Usage("name the hosts, or use --all".to_owned()));
    }
    Ok(Options {
        hosts: arguments.hosts.clone(),
        all: arguments.all,
        dry_run: arguments.dry_run,
        home: setup.env.home.clone().ok_or_else(|| Usage("there is no home folder: HOME is unset".to_owned()))?,
        mem0_dir: setup.mem0.clone(),
        binary: setup.env.binary.clone(),
        env: setup.env.variables().clone(),
        now: jiff::Timestamp::now(),
    })
}

fn tell(reports: &[HostReport], is_dry_run: bool) -> CommandResult {
    let mut is_well = true;
    if reports.is_empty() {
        output::line(format_args!("nothing is installed"));
    }
    for report in reports {
        let outcome = match &report.outcome {
            Outcome::Installed if is_dry_run => "would be installed".to_owned(),
            Outcome::Removed if is_dry_run => "would be removed".to_owned(),
            Outcome::Installed => "installed".to_owned(),
            Outcome::Removed => "removed".to_owned(),
            Outcome::Unchanged => "nothing to do".to_owned(),
            Outcome::Skipped(reason) => format!("left alone: {reason}"),
            Outcome::Failed(reason) => {
                is_well = false;
                format!("failed: {reason}")
            }
        };
        output::line(format_args!("{}: {outcome}", report.host));
        for change in &report.changes {
            output::line(format_args!("  {} {}", change.what, change.path.display()));
            if is_dry_run && !change.diff.is_empty() {
                for line in change.diff.lines() {
                    output::line(format_args!("    {line}"));
                }
            }
            if let Some(backup) = &change.backup {
                output::line(format_args!("    as it was: {}", backup.display()));
            }
        }
        for note in &report.notes {
            output::line(format_args!("  {note}"));
        }
    }
    Ok(if is_well { Ending::Done } else { Ending::Failed })
}
