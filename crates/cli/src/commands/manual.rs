//! `man` and `completions`.

use clap::Command;
use clap_complete::Shell;

use crate::output;
use crate::report::{CommandResult, Ending};

/// Prints a shell's completion script.
pub(crate) fn completions(command: &mut Command, shell: Shell) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(shell, command, "mem0-code", &mut script);
    output::print_bytes(&script);
    Ok(Ending::Done)
}

/// Prints the manual page.
pub(crate) fn page(command: Command) -> CommandResult {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    output::print_bytes(&page);
    Ok(Ending::Done)
}
