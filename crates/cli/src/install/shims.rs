//! The modules of the hosts that load JavaScript, compiled in, and what is told to them about this machine.
//!
//! A shim only translates: it runs the program with the host's events. Where the program is stands in a file beside the module, so
//! that the module itself is the same bytes everywhere.

use super::plan::Naming;
use crate::bundle::ordered::{Json, PLAIN};
use crate::bundle::{File, Files};

/// One host's package, as it was built.
#[derive(Debug)]
pub(super) struct Shim {
    /// The host's id.
    pub host: &'static str,
    /// The bundled module, as a path inside the package.
    pub module: &'static str,
    /// Every file of the package: path and text.
    pub files: &'static [(&'static str, &'static str)],
}

/// Every shim that was built in.
pub(super) const SHIMS: &[Shim] = &[];

/// The file that tells a module where the program is, beside it.
const SETTINGS: &str = "mem0-code.json";

/// The shim of a host.
pub(super) fn find(host: &str) -> Option<&'static Shim> {
    SHIMS.iter().find(|shim| shim.host == host)
}

impl Shim {
    /// The package's files, with the program's place on this machine.
    pub(super) fn render(&self, naming: &Naming) -> Files {
        let plain = |text: &str| File { bytes: text.as_bytes().to_vec(), executable: false };
        let mut files: Files = self.files.iter().map(|(path, text)| ((*path).to_owned(), plain(text))).collect();
        let env = naming.env.iter().map(|(name, value)| (name.clone(), Json::text(value))).collect();
        let settings = Json::object([("program", Json::text(&naming.path)), ("env", Json::Object(env))]);
        files.insert(settings_path(self.module), plain(&(settings.pretty(PLAIN, "") + "\n")));
        files
    }
}

/// Where the settings of a module are: beside it.
fn settings_path(module: &str) -> String {
    match module.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{SETTINGS}"),
        None => SETTINGS.to_owned(),
    }
}
