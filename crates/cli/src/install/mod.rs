//! Wiring hosts to this program, and taking the wiring out again without a trace.
//!
//! What a package is and how it is rendered is [`crate::bundle`]'s; here it is decided where it goes on this machine, what is added to
//! the user's own files, and how all of that is undone. The rules for files that are not ours: only our keys, every other byte as it
//! was, links followed, modes kept, one write that happens whole, a copy kept until uninstall, and a file that cannot be read is left
//! alone and named.
//!
//! A host that already has the plugin through its own plugin command is left as it is: two copies would run every hook twice.

mod diff;
mod edit;
mod health;
mod jsonc;
mod plan;
mod plugins;
mod program;
mod record;
mod server;
mod shapes;
mod shims;
mod splice;
mod toml;
mod traps;
mod wiring;
mod yaml;

use anyhow::bail;
use jiff::Timestamp;
use plan::{Naming, Plan, Write};
use record::Store;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use wiring::{WIRINGS, Wiring};

#[cfg(test)]
use health::Check;
pub(crate) use health::check;

/// What to install where.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    /// Ids of the hosts to wire.
    pub hosts: Vec<String>,
    /// Every host that is on this machine; for uninstall, every host that may have something of ours.
    pub all: bool,
    /// Say what would be done, with diffs, and write nothing.
    pub dry_run: bool,
    /// The user's home folder.
    pub home: PathBuf,
    /// Our own home, usually `~/.mem0`.
    pub mem0_dir: PathBuf,
    /// The program that is running.
    pub binary: PathBuf,
    /// `PATH`, `CARGO_HOME` and the variables that move hosts' configuration folders.
    pub env: BTreeMap<String, String>,
    /// The moment, for hosts that note when a plugin came.
    pub now: Timestamp,
}

/// What happened to one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostReport {
    /// The host's id.
    pub host: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The files that changed, or would.
    pub changes: Vec<Change>,
    /// What the user should know or do.
    pub notes: Vec<String>,
}

/// How it ended for one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Wired now.
    Installed,
    /// Our part was taken out.
    Removed,
    /// There was nothing to do.
    Unchanged,
    /// Left as it is, for this reason.
    Skipped(String),
    /// Nothing was done for this host, or it stopped half-way; running the command again goes on.
    Failed(String),
}

/// One file that changed, or would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// The file.
    pub path: PathBuf,
    /// `create`, `change` or `remove`.
    pub what: &'static str,
    /// The difference, as a unified diff.
    pub diff: String,
    /// Where the file as it was is kept.
    pub backup: Option<PathBuf>,
}

/// Wires the chosen hosts.
///
/// One host's failure does not keep the others from being wired; it is in that host's report.
///
/// # Errors
/// When no host is named or found, a name is unknown, the program does not run, or our own home cannot be written.
pub(crate) fn install(options: &Options) -> anyhow::Result<Vec<HostReport>> {
    let wirings = chosen(options, |wiring| wiring.is_present(options))?;
    if wirings.is_empty() {
        bail!("no supported agent was found on this machine; name one: {}", known());
    }
    program::version(&options.binary)?;
    let mut store = Store::open(&options.mem0_dir)?;
    let stable = program::stable_path(options);
    let naming = naming(options, &stable)?;
    let mut reports: Vec<HostReport> = Vec::new();
    let mut planned = Vec::new();
    for wiring in wirings {
        match prepare(options, wiring, &naming, &store) {
            Ok(plan) => planned.push((wiring, plan)),
            Err(report) => reports.push(*report),
        }
    }
    if !options.dry_run && planned.iter().any(|(_, plan)| !plan.writes.is_empty()) {
        store.record.folders.extend(crate::fsx::missing_folders(store.folder()));
    }
    if !options.dry_run && !planned.is_empty() {
        program::place(options, &stable, &mut store.record)?;
    }
    for (wiring, plan) in planned {
        let mut report = report(wiring, &plan, Outcome::Installed, Some(&store));
        if !plan.writes.is_empty() {
            report.notes.push(format!("found by {}", wiring.found(options).join(" and ")));
            report.notes.extend(wiring.notes.iter().map(|note| (*note).to_owned()));
        }
        if !options.dry_run {
            let done = note_plan(&mut store, wiring, &plan).and_then(|()| plan.carry_out());
            if let Err(error) = done {
                report.outcome = Outcome::Failed(format!("{error:#}"));
                report.changes.retain(|change| plan.is_done(&change.path));
                report.notes.clear();
            }
        }
        if plan.writes.is_empty() {
            report.outcome = Outcome::Unchanged;
        }
        reports.push(report);
    }
    if !options.dry_run {
        store.tidy()?;
    }
    reports.sort_by(|one, other| one.host.cmp(&other.host));
    Ok(reports)
}

/// Returns the ids of the hosts that `install` has wired on this machine.
pub(crate) fn wired(options: &Options) -> Vec<String> {
    Store::open(&options.mem0_dir).map(|store| store.record.hosts.keys().cloned().collect()).unwrap_or_default()
}

/// Returns the ids of the hosts that are on this machine and have the plugin through their own commands, or not at all.
pub(crate) fn unwired(options: &Options) -> Vec<(String, String)> {
    let Ok(store) = Store::open(&options.mem0_dir) else { return Vec::new() };
    let others =
        WIRINGS.iter().filter(|wiring| !store.record.hosts.contains_key(wiring.host) && wiring.is_present(options));
    others
        .map(|wiring| {
            let detail = match wiring.plugin(options, &store) {
                Some(plugin) => format!("through the plugin {plugin}"),
                None => {
                    let found = wiring.found(options).join(" and ");
                    format!("not installed, and found by {found}; `mem0-code install {}` wires it", wiring.host)
                }
            };
            (wiring.host.to_owned(), detail)
        })
        .collect()
}

/// Takes our part out of the chosen hosts; with the last one, the program's copy and the record go too.
///
/// # Errors
/// When a name is unknown or no host is named, or our own home cannot be read or written.
pub(crate) fn uninstall(options: &Options) -> anyhow::Result<Vec<HostReport>> {
    let wirings = chosen(options, |_| true)?;
    let mut store = Store::open(&options.mem0_dir)?;
    let mut reports = Vec::new();
    for wiring in wirings {
        let plan = match Plan::uninstall(options, wiring, &store) {
            Ok(plan) => plan,
            Err(error) => {
                reports.push(failed(wiring, &error));
                continue;
            }
        };
        let mut report = report(wiring, &plan, Outcome::Removed, None);
        if plan.writes.is_empty() {
            report.outcome = Outcome::Unchanged;
        }
        if let Some(plugin) = wiring.plugin(options, &store) {
            report.notes.push(format!("the plugin {plugin} stays; to remove it: {}", wiring.removal(&plugin)));
        }
        if !options.dry_run {
            match plan.carry_out() {
                Ok(()) => {
                    crate::fsx::remove_empty_folders(&plan.record.folders);
                    store.record.hosts.remove(wiring.host);
                }
                Err(error) => report.outcome = Outcome::Failed(format!("{error:#}")),
            }
        }
        // With all hosts meant, those with nothing of ours are not worth a line.
        let is_named = options.hosts.iter().any(|host| host == wiring.host);
        if is_named || report.outcome != Outcome::Unchanged || !report.notes.is_empty() {
            reports.push(report);
        }
    }
    if !options.dry_run {
        finish_uninstall(&mut store)?;
    }
    Ok(reports)
}

fn finish_uninstall(store: &mut Store) -> anyhow::Result<()> {
    if store.record.hosts.is_empty()
        && let Some(copy) = store.record.program.take()
        && crate::fsx::read_optional(&copy.path)?.is_some_and(|bytes| record::sha256(&bytes) == copy.sha256)
    {
        crate::fsx::remove_file(&copy.path)?;
    }
    if !store.record.hosts.is_empty() {
        store.save()?;
    }
    store.tidy()
}

/// Which hosts are meant.
fn chosen(options: &Options, is_meant: impl Fn(&Wiring) -> bool) -> anyhow::Result<Vec<&'static Wiring>> {
    if let Some(unknown) = options.hosts.iter().find(|host| wiring::find(host).is_none()) {
        return Err(crate::report::Usage(format!("unknown host `{unknown}`; known: {}", known())).into());
    }
    if options.hosts.is_empty() && !options.all {
        bail!("name a host or pass --all; known: {}", known());
    }
    let is_named = |wiring: &Wiring| options.hosts.iter().any(|host| host == wiring.host);
    Ok(WIRINGS.iter().filter(|wiring| is_named(wiring) || (options.all && is_meant(wiring))).collect())
}

fn known() -> String {
    WIRINGS.iter().map(|wiring| wiring.host).collect::<Vec<_>>().join(", ")
}

/// How the program is named in what is written.
fn naming(options: &Options, program: &Path) -> anyhow::Result<Naming> {
    let Some(path) = program.to_str().filter(|path| !path.contains(['\n', '\r', '\0']) && !path.contains("${")) else {
        bail!("the path {} cannot be written into hosts' files", program.display());
    };
    if !program.is_absolute() {
        bail!("the path {path} is not absolute");
    }
    let mut env = Vec::new();
    // Hosts may start hooks and servers without the variable that was set for this command.
    if options.mem0_dir != options.home.join(".mem0") {
        let Some(folder) = options.mem0_dir.to_str() else {
            bail!("the path {} cannot be written into hosts' files", options.mem0_dir.display());
        };
        env.push(("MEM0_DIR".to_owned(), folder.to_owned()));
    }
    Ok(Naming { shell: program::shell_text(path, &env), path: path.to_owned(), env })
}

/// Plans one host, or says why not.
fn prepare(
    options: &Options,
    wiring: &'static Wiring,
    naming: &Naming,
    store: &Store,
) -> Result<Plan, Box<HostReport>> {
    if let Some(plugin) = wiring.plugin(options, store) {
        let reason = format!(
            "it already has the plugin {plugin}, and two copies would record everything twice; to have this one instead, first {}",
            wiring.removal(&plugin)
        );
        let outcome = Outcome::Skipped(reason);
        let host = wiring.host.to_owned();
        return Err(Box::new(HostReport { host, outcome, changes: Vec::new(), notes: Vec::new() }));
    }
    Plan::install(options, wiring, naming, store).map_err(|error| Box::new(failed(wiring, &error)))
}

fn failed(wiring: &Wiring, error: &anyhow::Error) -> HostReport {
    let outcome = Outcome::Failed(format!("{error:#}"));
    HostReport { host: wiring.host.to_owned(), outcome, changes: Vec::new(), notes: Vec::new() }
}

/// Writes down what is about to be done.
fn note_plan(store: &mut Store, wiring: &Wiring, plan: &Plan) -> anyhow::Result<()> {
    for (name, text) in &plan.backups {
        store.keep(name, text)?;
    }
    let new = &plan.record;
    if store.record.hosts.get(wiring.host) != Some(new) || !plan.writes.is_empty() {
        store.record.hosts.insert(wiring.host.to_owned(), new.clone());
        store.save()?;
    }
    Ok(())
}

fn report(wiring: &Wiring, plan: &Plan, outcome: Outcome, store: Option<&Store>) -> HostReport {
    let backup_of = |path: &Path| {
        let edit = plan.record.edits.iter().find(|edit| edit.path == path)?;
        Some(store?.backup_path(edit.before.as_ref()?))
    };
    let change = |write: &Write| {
        let text = |bytes: &Option<Vec<u8>>| bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let what = match (&write.before, &write.after) {
            (None, _) => "create",
            (_, None) => "remove",
            _ => "change",
        };
        let name = write.path.display().to_string();
        let diff = diff::unified(&name, text(&write.before).as_deref(), text(&write.after).as_deref());
        Change { path: write.path.clone(), what, diff, backup: backup_of(&write.path) }
    };
    let changes = plan.writes.iter().map(change).collect();
    HostReport { host: wiring.host.to_owned(), outcome, changes, notes: plan.notes.clone() }
}

#[cfg(test)]
mod homes;
#[cfg(test)]
mod tests;
