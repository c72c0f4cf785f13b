//! A session's scope: pinned by its first event, looked up in git once.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use mem0_code_core::event::UNKNOWN_SESSION;
use mem0_code_core::scope::{self, Naming, Scope};
use mem0_code_engine::db::StoreError;
use mem0_code_engine::evidence::{self, Evidence, Pin};
use serde_json::Value;

use crate::git;
use crate::setup::Setup;

/// Our file that names projects by folder.
const PROJECT_MAP: &str = "project_map.json";

/// A host's session and where it belongs.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    /// The host's id.
    pub(crate) id: String,
    /// The folder it works in now.
    pub(crate) cwd: PathBuf,
    pin: Pin,
    root: PathBuf,
}

impl Session {
    /// Finds a session's scope: the pinned one, else that of `cwd`, which is then pinned.
    pub(crate) fn resolve(
        setup: &Setup,
        evidence: &Evidence,
        id: &str,
        cwd: &Path,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let pin = match evidence.pin(id)? {
            Some(pin) => pin,
            None => match git::place(cwd) {
                Ok(place) => evidence.pin_to(id, &resolve(setup, &place), now)?,
                // A repository that cannot be read now must not be a folder for the whole session.
                Err(meanwhile) => evidence.pin_to(UNKNOWN_SESSION, &resolve(setup, &meanwhile), now)?,
            },
        };
        Ok(Self { id: id.to_owned(), cwd: cwd.to_owned(), root: PathBuf::from(&pin.root), pin })
    }

    /// How the store names this session.
    pub(crate) fn key(&self) -> evidence::Session<'_> {
        evidence::Session { identity: &self.pin.identity, app_id: &self.pin.app_id, id: &self.id }
    }

    /// Root of the checkout it began in.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the host gave it an id; others are stored but never sent.
    pub(crate) fn is_named(&self) -> bool {
        self.id != UNKNOWN_SESSION
    }

    /// The branch it began on.
    pub(crate) fn branch(&self) -> String {
        self.pin.branch.clone()
    }

    /// The commit it began at.
    pub(crate) fn head_sha(&self) -> String {
        self.pin.head_sha.clone()
    }

    /// The scope memories of this session are searched in: the pinned one.
    pub(crate) fn scope(&self) -> Scope {
        let has_remote = !self.pin.identity.starts_with("local:");
        Scope {
            cwd: self.cwd.clone(),
            root: self.root.clone(),
            identity: self.pin.identity.clone(),
            app_id: self.pin.app_id.clone(),
            project_id: (self.pin.project_id.clone())
                .unwrap_or_else(|| scope::project_id(&self.pin.app_id, &self.pin.identity)),
            older_project_id: has_remote.then(|| self.pin.app_id.clone()),
            branch: self.pin.branch.clone(),
            head_sha: self.pin.head_sha.clone(),
            directory: self.pin.directory.clone(),
        }
    }

    /// The scope memories of this session are filed under now: the pinned one, with the branch and commit of today.
    pub(crate) fn current_scope(&self, setup: &Setup) -> Scope {
        let mut scope = self.scope();
        let here = git::place(&self.cwd)
            .ok()
            .map(|place| resolve(setup, &place))
            .filter(|here| here.identity == scope.identity && !here.head_sha.is_empty());
        let today = here.or_else(|| {
            git::place(&self.root)
                .ok()
                .map(|place| resolve(setup, &place))
                .filter(|root| root.identity == scope.identity)
        });
        if let Some(today) = today {
            scope.branch = today.branch;
            scope.head_sha = today.head_sha;
        }
        scope
    }
}

/// Returns the scope of a folder that no session is pinned to.
pub(crate) fn scope_of(setup: &Setup, folder: &Path) -> Scope {
    resolve(setup, &git::place(folder).unwrap_or_else(|meanwhile| *meanwhile))
}

fn resolve(setup: &Setup, place: &scope::Place) -> Scope {
    let map: Option<Value> =
        std::fs::read_to_string(setup.mem0.join(PROJECT_MAP)).ok().and_then(|text| serde_json::from_str(&text).ok());
    scope::resolve(place, &Naming { project_id: setup.settings.project_id.as_deref(), project_map: map.as_ref() })
}
