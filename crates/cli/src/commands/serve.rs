//! `serve`: the Mem0 API for SDKs, plugins and teams.

use std::path::Path;

use crate::cli::{ServeAction, ServeArgs};
use crate::output;
use crate::report::{CommandResult, Ending};
use crate::serve::{self, Options, tokens::Tokens};
use crate::setup::Setup;

/// Serves until it is told to stop, or makes a token.
pub(crate) fn run(mut setup: Setup, arguments: &ServeArgs) -> CommandResult {
    if let Some(ServeAction::Token { name, token_file }) = &arguments.action {
        return token(token_file, name);
    }
    // Whatever else this machine's agents use: what is served is the embedded engine.
    setup.backend = mem0_code_core::config::Backend::Embedded;
    if let Some(store) = &arguments.store {
        setup.memory = Some(setup.env.cwd.join(store));
    }
    let tokens = arguments.token_file.as_deref().map(Tokens::read).transpose()?;
    serve::serve(&setup, Options { addr: arguments.addr, tokens })?;
    Ok(Ending::Done)
}

fn token(path: &Path, name: &str) -> CommandResult {
    let token = Tokens::add(path, name)?;
    output::line(format_args!("{token}"));
    output::error_line(format_args!(
        "This is {name}'s token; it is shown once. {} keeps its hash. Clients send it as their API key, with {name} as user id.",
        path.display()
    ));
    Ok(Ending::Done)
}
