//! `generate`: reference pages, manual page, completions and packages, from the code that defines them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Command;
use clap_complete::Shell;
use mem0_code_core::host::Capability;
use mem0_code_core::{config, envvars, hosts};

use crate::commands::bundle as bundle_command;
use crate::report::{CommandResult, Ending};
use crate::{bundle, fsx, output};

/// Writes everything generated below `root`, or tells what differs.
pub(crate) fn run(command: Command, root: &Path, is_check: bool) -> CommandResult {
    let pages = pages(command)?;
    if !is_check {
        for (path, text) in &pages {
            let path = root.join(path);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            fsx::write_atomic(&path, text.as_bytes(), fsx::Mode::Shared)?;
        }
        bundle::sync(root)?;
        output::line(format_args!("Wrote {} pages and the packages.", pages.len()));
        return Ok(Ending::Done);
    }
    let stale: Vec<&PathBuf> = pages
        .iter()
        .filter(|(path, text)| std::fs::read_to_string(root.join(path)).ok().as_deref() != Some(text.as_str()))
        .map(|(path, _)| path)
        .collect();
    for path in &stale {
        output::error_line(format_args!("{}: stale", path.display()));
    }
    let packages = bundle_command::tell(&bundle::check(root)?, "`mem0-code generate` mends it");
    Ok(if stale.is_empty() { packages } else { Ending::Failed })
}

fn pages(command: Command) -> anyhow::Result<BTreeMap<PathBuf, String>> {
    let mut pages = BTreeMap::new();
    pages.insert("docs/reference/environment.md".into(), environment());
    pages.insert("docs/reference/settings.md".into(), settings());
    pages.insert("docs/reference/hosts.md".into(), host_table());
    pages.insert("docs/reference/commands.md".into(), commands(&command));
    let mut man = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut man)?;
    pages.insert("docs/reference/mem0-code.1".into(), String::from_utf8(man)?);
    for (shell, name) in [(Shell::Bash, "mem0-code.bash"), (Shell::Zsh, "_mem0-code"), (Shell::Fish, "mem0-code.fish")]
    {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut command.clone(), "mem0-code", &mut script);
        pages.insert(Path::new("docs/reference/completions").join(name), String::from_utf8(script)?);
    }
    Ok(pages)
}

const NOTE: &str = "<!-- Written by `mem0-code generate`; edit the code it is made from. -->\n\n";

fn environment() -> String {
    let mut page = format!(
        "{NOTE}# Environment variables\n\n| variable | decides | default | example |\n| --- | --- | --- | --- |\n"
    );
    for variable in envvars::ALL {
        let code = |text: &str| if text.is_empty() { String::new() } else { format!("`{text}`") };
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            variable.name,
            variable.purpose,
            variable.default,
            code(variable.example)
        );
    }
    page
}

fn settings() -> String {
    let mut page = format!(
        "{NOTE}# Settings\n\n`~/.mem0/code.toml` takes these keys; `mem0-code config set KEY VALUE` writes them. An environment \
         variable of the same meaning wins.\n\n"
    );
    for key in config::KEYS {
        let _ = writeln!(page, "- `{key}`");
    }
    page
}

fn host_table() -> String {
    let mut page = format!(
        "{NOTE}# Hosts and their hooks\n\n| host | hook | matcher | time limit (s) |\n| --- | --- | --- | --- |\n"
    );
    for host in hosts::ALL {
        for hook in host.hooks {
            let matcher = hook.matcher.map(|matcher| format!("`{}`", matcher.replace('|', "\\|"))).unwrap_or_default();
            let _ = writeln!(page, "| {} | `{}` | {matcher} | {} |", host.name, hook.native, hook.timeout_s);
        }
    }
    page.push_str(
        "\n## Host capture capabilities\n\nWhat a host's hooks tell and take. A number points to the limit below.\n\n",
    );
    page.push_str(&capability_table());
    page
}

/// A row a host, a column a capability, and the limits as a list behind it: equal ones share a number.
fn capability_table() -> String {
    let names = hosts::ALL.first().map(|host| host.capabilities.named().map(|(name, _)| name)).unwrap_or_default();
    let mut table = format!("| host | {} |\n|{}\n", names.join(" | "), " --- |".repeat(names.len() + 1));
    let mut limits: Vec<&str> = Vec::new();
    for host in hosts::ALL {
        let mut number = |limit| {
            let known = limits.iter().position(|known| *known == limit);
            known.unwrap_or_else(|| {
                limits.push(limit);
                limits.len() - 1
            }) + 1
        };
        let cells = host.capabilities.named().map(|(_, capability)| match capability {
            Capability::Yes => "yes".to_owned(),
            Capability::Limited(limit) => format!("limited ({})", number(limit)),
            Capability::No(reason) => format!("no ({})", number(reason)),
        });
        let _ = writeln!(table, "| {} | {} |", host.name, cells.join(" | "));
    }
    table.push('\n');
    for (at, limit) in limits.iter().enumerate() {
        let _ = writeln!(table, "{}. {limit}", at + 1);
    }
    table
}

fn commands(command: &Command) -> String {
    let mut page = format!("{NOTE}# Commands\n");
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let mut sub = sub.clone().bin_name(format!("mem0-code {}", sub.get_name())).term_width(100);
        let help = sub.render_long_help().to_string();
        let _ = write!(page, "\n## {}\n\n```text\n{}\n```\n", sub.get_name(), help.trim_end());
    }
    page
}
