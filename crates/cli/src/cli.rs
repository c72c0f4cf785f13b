//! The command line: what can be asked, and one match that says who answers.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::env::Env;
use crate::report::{self, CommandResult};
use crate::setup::{Globals, Setup, is_host_id};
use crate::{commands, output, spawn};

/// One memory for every coding agent on this machine.
#[derive(Debug, Parser)]
#[command(name = "mem0-code", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Use this data folder instead of the host's own.
    #[arg(long, global = true, value_name = "DIR", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    plugin_data_dir: Option<PathBuf>,
    /// Act for this host, such as `claude-code`.
    #[arg(long, global = true, value_name = "ID", value_parser = host_id)]
    harness: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// What hosts call; reads one JSON object from standard input.
    Hook {
        /// The host's id.
        host: String,
        /// The host's name of the event.
        event: String,
    },
    /// Serve the memory tools over MCP on standard input and output.
    Mcp {
        /// The host that starts the server.
        #[arg(long, value_parser = host_id)]
        host: Option<String>,
    },
    /// Serve the Mem0 API over HTTP, for SDKs, plugins and teams.
    Serve(ServeArgs),
    /// Search the memories of this repository.
    Search(SearchArgs),
    /// Store a fact now.
    #[command(visible_alias = "remember")]
    Add(AddArgs),
    /// List the memories of this repository, newest first.
    List(ListArgs),
    /// Show one memory.
    Get {
        /// Its id.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Replace a memory's text; the old one stays in its history.
    Update {
        /// Its id.
        id: String,
        /// The new text.
        text: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Delete memories for good.
    Delete {
        /// Their ids.
        #[arg(required = true)]
        ids: Vec<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show what happened to a memory.
    History {
        /// Its id.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show how far a fact has come that a server accepted.
    Event {
        /// The receipt `add` gave.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show what is stored, what waits and what went wrong.
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Check that everything memory needs is in order.
    Doctor {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Stop saving and searching until `resume`.
    Pause {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Save and search again.
    Resume {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Delete what is stored about this repository.
    Forget(ForgetArgs),
    /// Save this session for another agent, and go on with one.
    Handoff(commands::handoff::HandoffArgs),
    /// Wire hosts on this machine to mem0-code.
    Install(InstallArgs),
    /// Undo `install`; memories stay.
    Uninstall(InstallArgs),
    /// Show or change settings.
    Config {
        #[command(subcommand)]
        action: ConfigAction,
    },
    /// Show a fact going from one agent's session into another's.
    Demo,
    /// Deliver a claimed packet, or every packet that waits.
    Worker {
        /// The claimed packet.
        packet: Option<PathBuf>,
        /// Leave the caller's session first.
        #[arg(long, hide = true)]
        detached: bool,
    },
    /// Look at or send the usage spool.
    Telemetry {
        #[command(subcommand)]
        action: TelemetryAction,
    },
    /// Build, synchronize and check the packages hosts load.
    Bundle {
        #[command(subcommand)]
        action: BundleAction,
    },
    /// Answer the JSON Lines protocol of a retrieval benchmark on standard input and output.
    EvalEngine,
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
    /// Write the generated reference pages and packages.
    Generate {
        /// Only tell what is stale, and fail when something is.
        #[arg(long)]
        check: bool,
        /// The root of the source tree.
        #[arg(long, default_value = ".")]
        root: PathBuf,
    },
}

impl Command {
    /// The name under which use of a command is counted, for those that are.
    fn counted(&self) -> Option<&'static str> {
        match self {
            Self::Status { .. } => Some("status"),
            Self::Doctor { .. } => Some("doctor"),
            Self::Pause { .. } => Some("pause"),
            Self::Resume { .. } => Some("resume"),
            Self::Forget(_) => Some("forget"),
            _ => None,
        }
    }
}

/// Arguments of `search`.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// The question.
    pub(crate) query: String,
    /// Most results, 1 to 20.
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=20))]
    pub(crate) top_k: Option<u8>,
    /// Only this category.
    #[arg(long, value_parser = category_names())]
    pub(crate) category: Option<String>,
    /// Where to look.
    #[arg(long)]
    pub(crate) scope: Option<ScopeName>,
    /// Only this session.
    #[arg(long)]
    pub(crate) run_id: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ServeArgs {
    /// Where to listen; beyond loopback only with `--token-file`.
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:8787")]
    pub(crate) addr: SocketAddr,
    /// The memory database; this machine's own when not given.
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// Who may ask: names and hashed tokens.
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) action: Option<ServeAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServeAction {
    /// Make a token for a person and print it once.
    Token {
        /// The person; clients use the same name as their user id.
        name: String,
        /// The file that keeps its hash.
        #[arg(long, value_name = "FILE")]
        token_file: PathBuf,
    },
}

/// Names of search scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeName {
    /// This repository's shared memories and your own.
    Repo,
    /// The same, from this directory down.
    Dir,
    /// Only your own.
    Mine,
}

/// Arguments of `add`.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The fact; `-` reads it from standard input.
    pub(crate) text: String,
    /// Keep it for yourself, in this repository, instead of for everyone who works on it.
    #[arg(long)]
    pub(crate) personal: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Page, from 1.
    #[arg(long, default_value_t = 1)]
    pub(crate) page: usize,
    /// Memories a page, 1 to 1,000.
    #[arg(long, default_value_t = 50)]
    pub(crate) page_size: usize,
    /// Only distilled memories, without the turns they come from.
    #[arg(long)]
    pub(crate) durable: bool,
    /// A filter in the Mem0 language instead of this repository.
    #[arg(long, value_name = "JSON")]
    pub(crate) filter: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `forget`.
#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// Also delete your memories of this repository where memories are kept.
    #[arg(long)]
    pub(crate) remote: bool,
    /// With `--remote`: also delete what is shared with everyone who works on the repository.
    #[arg(long)]
    pub(crate) include_project_memory: bool,
    /// Show what would be deleted.
    #[arg(long)]
    pub(crate) preview: bool,
    /// Really do it.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print JSON; what was deleted always is.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `install` and `uninstall`.
#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// The hosts.
    pub(crate) hosts: Vec<String>,
    /// Every host found on this machine.
    #[arg(long, conflicts_with = "hosts")]
    pub(crate) all: bool,
    /// Show what would change and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Show every setting with its value and where it comes from.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show one setting.
    Get {
        /// Its key.
        key: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Change a setting in code.toml.
    Set {
        /// Its key.
        key: String,
        /// Its value.
        value: String,
    },
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum TelemetryAction {
    /// Show what would be sent.
    Show,
    /// Send the spool once.
    Flush {
        /// Leave the caller's session first.
        #[arg(long, hide = true)]
        detached: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum BundleAction {
    /// Build one host's package.
    Build {
        /// The host.
        host: String,
        /// Where to.
        #[arg(long)]
        out: PathBuf,
        /// The platform of the binary to put inside.
        #[arg(long, requires = "binary")]
        target: Option<String>,
        /// The binary to put inside.
        #[arg(long, requires = "target")]
        binary: Option<PathBuf>,
    },
    /// Write the committed packages anew.
    Sync {
        /// The root of the source tree.
        #[arg(long, default_value = ".")]
        root: PathBuf,
    },
    /// Name every stale, missing or extra file of the committed packages.
    Check {
        /// The root of the source tree.
        #[arg(long, default_value = ".")]
        root: PathBuf,
    },
    /// Check one package against its host's rules.
    Validate {
        /// The package.
        folder: PathBuf,
    },
}

/// Parses the command line and runs the command.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    let program = [OsString::from("mem0-code")];
    match Cli::try_parse_from(program.into_iter().chain(arguments)) {
        Ok(cli) => report::exit_code(run(cli)),
        Err(error) => {
            let status = error.exit_code();
            let text = error.render().to_string();
            if error.use_stderr() {
                output::error_line(text.trim_end());
            } else {
                output::line(text.trim_end());
            }
            ExitCode::from(status as u8)
        }
    }
}

fn run(cli: Cli) -> CommandResult {
    let globals = Globals { data_folder: cli.plugin_data_dir, host: cli.harness.filter(|id| !id.is_empty()) };
    let setup = |host: Option<String>| {
        let globals =
            Globals { host: globals.host.clone().or_else(|| host.filter(|id| !id.is_empty())), ..globals.clone() };
        Setup::new(Env::read(), &globals)
    };
    let counted = cli.command.counted();
    let result = answer(cli.command, &setup);
    if let Some(action) = counted {
        let setup = setup(None);
        setup.count("control", None, serde_json::json!({ "action": action }));
        if setup.telemetry().has_work() {
            // It is sent at another time when it cannot be sent now.
            let _ = spawn::telemetry_sender(&setup);
        }
    }
    result
}

fn answer(command: Command, setup: &dyn Fn(Option<String>) -> Setup) -> CommandResult {
    match command {
        // Taken before clap sees it; here for the manual.
        Command::Hook { .. } => Ok(report::Ending::Done),
        Command::Mcp { host } => commands::mcp::run(&setup(host)),
        Command::Serve(arguments) => commands::serve::run(setup(None), &arguments),
        Command::Search(arguments) => commands::memories::search(&setup(None), &arguments),
        Command::Add(arguments) => commands::memories::add(&setup(None), &arguments),
        Command::List(arguments) => commands::memories::list(&setup(None), &arguments),
        Command::Get { id, json } => commands::memories::get(&setup(None), &id, json),
        Command::Update { id, text, json } => commands::memories::update(&setup(None), &id, &text, json),
        Command::Delete { ids, json } => commands::memories::delete(&setup(None), &ids, json),
        Command::History { id, json } => commands::memories::history(&setup(None), &id, json),
        Command::Event { id, json } => commands::event::run(&setup(None), &id, json),
        Command::Status { json } => commands::status::run(&setup(None), json),
        Command::Doctor { json } => commands::doctor::run(&setup(None), json),
        Command::Pause { json } => commands::pause::run(&setup(None), true, json),
        Command::Resume { json } => commands::pause::run(&setup(None), false, json),
        Command::Forget(arguments) => commands::forget::run(&setup(None), &arguments),
        Command::Handoff(arguments) => commands::handoff::run(&setup(None), arguments),
        Command::Install(arguments) => commands::install::install(&setup(None), &arguments),
        Command::Uninstall(arguments) => commands::install::uninstall(&setup(None), &arguments),
        Command::Config { action } => commands::config::run(&setup(None), &action),
        Command::Demo => commands::demo::run(),
        Command::Worker { packet, detached } => {
            if detached {
                spawn::leave_session();
            }
            commands::worker::run(&setup(None), packet.as_deref(), detached)
        }
        Command::Telemetry { action } => {
            if matches!(action, TelemetryAction::Flush { detached: true }) {
                spawn::leave_session();
            }
            commands::telemetry::run(&setup(None), action)
        }
        Command::Bundle { action } => commands::bundle::run(&action),
        Command::EvalEngine => commands::eval_engine::run(),
        Command::Completions { shell } => commands::manual::completions(&mut Cli::command(), shell),
        Command::Man => commands::manual::page(Cli::command()),
        Command::Generate { check, root } => commands::generate::run(Cli::command(), &root, check),
    }
}

/// A host's id. A blank one counts as none: packages pass on what they were given.
fn host_id(text: &str) -> Result<String, String> {
    let id = text.trim();
    if id.is_empty() || is_host_id(id) {
        return Ok(id.to_owned());
    }
    Err("an id has letters, digits, `-` and `_` only, such as `claude-code`".to_owned())
}

fn category_names() -> Vec<&'static str> {
    mem0_code_core::memory::Category::ALL.iter().map(|category| category.as_str()).collect()
}
