//! The packages of the hosts that load JavaScript, compiled in, and what is told to them about this machine.
//!
//! A shim only translates: it runs the program with the host's events. Where the program is stands in a file of the package, so that
//! the module itself is the same bytes everywhere.

use super::plan::Naming;
use crate::bundle::{File, Files};

/// One host's package, as it was built.
#[derive(Debug)]
pub(super) struct Shim {
    /// The host's id.
    pub host: &'static str,
    /// Every file of the package: path and text.
    pub files: &'static [(&'static str, &'static str)],
}

/// The module of every package, as a path inside it.
pub(super) const MODULE: &str = "dist/index.js";

macro_rules! shim {
    ($host:literal: $($path:literal),* $(,)?) => {
        Shim {
            host: $host,
            files: &[$(($path, include_str!(concat!("../../../../shims/", $host, "/", $path)))),*],
        }
    };
}

/// Every shim that was built in.
pub(super) const SHIMS: &[Shim] = &[
    shim!("deepseek": "dist/index.js", "package.json"),
    shim!("openclaw": "dist/index.js", "openclaw.plugin.json", "package.json"),
    shim!("opencode": "dist/index.js", "package.json"),
    shim!("pi": "dist/index.js", "package.json"),
];

/// The file that tells a module where the program is: one line, an absolute path.
const PATH_FILE: &str = "mem0-code.path";

/// Where a module looks for the program when that file is not there.
const PROGRAM: &str = "bin/mem0-code";

/// The shim of a host.
pub(super) fn find(host: &str) -> Option<&'static Shim> {
    SHIMS.iter().find(|shim| shim.host == host)
}

impl Shim {
    /// The package's files, with the program's place on this machine.
    pub(super) fn render(&self, naming: &Naming) -> Files {
        let text = |text: &str, executable| File { bytes: text.as_bytes().to_vec(), executable };
        let mut files: Files =
            self.files.iter().map(|(path, bytes)| ((*path).to_owned(), text(bytes, false))).collect();
        if naming.env.is_empty() {
            files.insert(PATH_FILE.to_owned(), text(&format!("{}\n", naming.path), false));
        } else {
            // A path alone cannot say which variables the program needs.
            let script = format!("#!/bin/sh\nexec env {} \"$@\"\n", naming.shell);
            files.insert(PROGRAM.to_owned(), text(&script, true));
        }
        files
    }
}
