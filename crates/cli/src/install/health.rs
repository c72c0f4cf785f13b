//! Whether the wiring of a host is in order, for `doctor`.

use super::plan::{Naming, Plan};
use super::record::Store;
use super::wiring::{self, Wiring};
use super::{Options, naming, program, server, traps};

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    /// What was looked at: `wiring`, `program`, `files`, `server`, `twice`, or a host's own trap.
    pub name: String,
    /// Whether it is as it should be.
    pub ok: bool,
    /// What was found, and what to do about it.
    pub detail: String,
}

pub(super) fn entry(name: &str, ok: bool, detail: impl Into<String>) -> Check {
    Check { name: name.to_owned(), ok, detail: detail.into() }
}

/// Looks at the wiring of a host; writes nothing.
///
/// An unknown host gets one failed check. Whether hooks were ever called is not known here: the evidence says that.
pub(crate) fn check(options: &Options, host: &str) -> Vec<Check> {
    let Some(wiring) = wiring::find(host) else {
        return vec![entry("wiring", false, format!("install does not know the host `{host}`"))];
    };
    let store = match Store::open(&options.mem0_dir) {
        Ok(store) => store,
        Err(error) => return vec![entry("wiring", false, format!("{error:#}"))],
    };
    let plugin = wiring.plugin(options, &store);
    let Some(record) = store.record.hosts.get(host) else {
        return vec![match plugin {
            Some(plugin) => entry("wiring", true, format!("through the plugin {plugin}")),
            None => entry("wiring", false, format!("not installed; `mem0-code install {host}` does it")),
        }];
    };
    let way = wiring.way(options, &record.way);
    let found = wiring.found(options);
    let found = if found.is_empty() {
        "the host itself is gone".to_owned()
    } else {
        format!("found by {}", found.join(" and "))
    };
    let mut checks =
        vec![entry("wiring", true, format!("as {} in {}; {found}", way.name, wiring.root(options).display()))];
    if let Some(plugin) = plugin {
        let detail = format!("the plugin {plugin} is there too; {}", wiring.removal(&plugin));
        checks.push(entry("twice", false, detail));
    }
    let registered =
        store.record.program.as_ref().map_or_else(|| program::stable_path(options), |copy| copy.path.clone());
    let version = program::version(&registered);
    let runs = version.is_ok();
    checks.push(match version {
        Ok(version) => entry("program", true, format!("{} ({version})", registered.display())),
        Err(error) => entry("program", false, format!("{error:#}")),
    });
    match naming(options, &registered) {
        Ok(naming) => {
            checks.push(files(options, wiring, &naming, &store, record.files.len() + record.edits.len()));
            if runs {
                checks.push(match server::tools(&registered, host, &naming.env) {
                    Ok(tools) => entry("server", true, format!("answers with {}", tools.join(", "))),
                    Err(error) => entry("server", false, format!("{error:#}")),
                });
            }
            checks.extend(wiring.traps.iter().filter_map(|trap| traps::check(options, wiring, way, &naming, *trap)));
        }
        Err(error) => checks.push(entry("files", false, format!("{error:#}"))),
    }
    checks
}

/// Everything is as an install would leave it when an install would have nothing to do.
fn files(options: &Options, wiring: &Wiring, naming: &Naming, store: &Store, n_files: usize) -> Check {
    match Plan::install(options, wiring, naming, store) {
        Ok(plan) if plan.writes.is_empty() => entry("files", true, format!("{n_files} files as installed")),
        Ok(plan) => {
            let paths: Vec<String> = plan.writes.iter().map(|write| write.path.display().to_string()).collect();
            let again = format!("`mem0-code install {}` puts it right", wiring.host);
            entry("files", false, format!("missing or changed: {}; {again}", paths.join(", ")))
        }
        Err(error) => entry("files", false, format!("{error:#}")),
    }
}
