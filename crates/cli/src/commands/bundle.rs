//! `bundle`: the packages hosts load.

use crate::bundle::{self, Problem};
use crate::cli::BundleAction;
use crate::output;
use crate::report::{CommandResult, Ending};

/// Builds, writes or checks packages.
pub(crate) fn run(action: &BundleAction) -> CommandResult {
    match action {
        BundleAction::Build { host, out, target, binary } => {
            let binary = target.as_deref().zip(binary.as_deref());
            bundle::build(host, out, binary)?;
            output::line(format_args!("Built {}.", out.display()));
            Ok(Ending::Done)
        }
        BundleAction::Sync { root } => {
            bundle::sync(root)?;
            output::line("The packages are up to date.");
            Ok(Ending::Done)
        }
        BundleAction::Check { root } => {
            Ok(tell(&bundle::check(root)?, "`mem0-code bundle sync` mends it; sources are in templates/"))
        }
        BundleAction::Validate { folder } => Ok(tell(&bundle::validate(folder), "")),
    }
}

/// Names every problem.
pub(crate) fn tell(problems: &[Problem], hint: &str) -> Ending {
    for problem in problems {
        output::error_line(problem);
    }
    if problems.is_empty() {
        output::line("Nothing to complain about.");
        return Ending::Done;
    }
    if !hint.is_empty() {
        output::error_line(format_args!("hint: {hint}"));
    }
    Ending::Failed
}
