//! What has to change on disk for one host, worked out before anything is written.

use super::Options;
use super::edit::{EditError, Entries};
use super::record::{EditRecord, HostRecord, Store, sha256};
use super::wiring::{Step, Way, Wiring};
use super::{shims, splice};
use crate::bundle::{self, Files, Program};
use crate::fsx;
use anyhow::{Context, bail};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One file and what it is to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Write {
    /// The file.
    pub path: PathBuf,
    /// As it is now.
    pub before: Option<Vec<u8>>,
    /// As it is to be; `None`: it goes.
    pub after: Option<Vec<u8>>,
    /// The mode of a new file.
    pub mode: fsx::Mode,
}

/// Everything to be done for one host.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The writes, in order; files that are right already are not among them.
    pub writes: Vec<Write>,
    /// What the record is to say about the host.
    pub record: HostRecord,
    /// Copies of the user's files as they were: name and text.
    pub backups: Vec<(String, String)>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// How the program is named in what is written.
#[derive(Debug, Clone)]
pub(super) struct Naming {
    /// Shell text.
    pub shell: String,
    /// Absolute path.
    pub path: String,
    /// Variables it needs.
    pub env: Vec<(String, String)>,
}

impl Plan {
    /// What installing means for this host now.
    ///
    /// # Errors
    /// When a file of the user's cannot be read or edited, or a place is taken. Nothing has been written then.
    pub(super) fn install(options: &Options, wiring: &Wiring, naming: &Naming, store: &Store) -> anyhow::Result<Plan> {
        let root = wiring.root(options);
        let mut plan = Plan::default();
        let old = store.record.hosts.get(wiring.host).cloned().unwrap_or_default();
        let way = wiring.way(options, &old.way);
        way.name.clone_into(&mut plan.record.way);
        plan.record.folders.clone_from(&old.folders);
        let files = package(wiring, naming)?;
        let places = Places::of(way, &root, options)?;
        for step in way.steps {
            match step {
                Step::Package { .. } => {
                    plan.place(&step.file(&root, options), &files, bundle::manifest(wiring.host), &old)?;
                }
                Step::Skills { prefix, .. } => {
                    plan.place(&step.file(&root, options), &skills(&files, prefix)?, None, &old)?;
                }
                Step::Module { text, .. } => {
                    plan.place_one(&step.file(&root, options), text, &old)?;
                }
                Step::Entries { form, .. } => {
                    let now = options.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
                    let entries = Entries {
                        host: wiring.host,
                        hooks: bundle::hooks::of(wiring.host).unwrap_or_default(),
                        shell: &naming.shell,
                        path: &naming.path,
                        env: &naming.env,
                        package: &places.package,
                        module: &places.module,
                        now: &now,
                    };
                    plan.enter(&step.file(&root, options), *form, &entries, store)?;
                }
            }
        }
        let mut folders: BTreeSet<PathBuf> = plan.record.folders.drain(..).collect();
        for write in &plan.writes {
            if let Some(parent) = write.path.parent() {
                folders.extend(fsx::missing_folders(parent));
            }
        }
        plan.record.folders = folders.into_iter().collect();
        Ok(plan)
    }

    /// Puts a set of files into a folder that is ours alone; the manifest is what makes it count, so it comes last.
    fn place(&mut self, folder: &Path, files: &Files, manifest: Option<&str>, old: &HostRecord) -> anyhow::Result<()> {
        let recorded = old.files.keys().any(|path| path.starts_with(folder));
        let mut order: Vec<&String> = files.keys().collect();
        order.sort_by_key(|path| Some(path.as_str()) == manifest);
        let mut writes = Vec::new();
        for path in order {
            let target = folder.join(path);
            let file = &files[path];
            let before = fsx::read_optional(&target).with_context(|| format!("reading {}", target.display()))?;
            if before.as_ref().is_some_and(|bytes| *bytes != file.bytes) && !recorded {
                bail!("{} is there already and is not mem0-code's; move it away first", target.display());
            }
            let mut hashes = old.files.get(&target).cloned().unwrap_or_default();
            let hash = sha256(&file.bytes);
            hashes.retain(|old| *old != hash);
            hashes.push(hash);
            self.record.files.insert(target.clone(), hashes);
            if before.as_deref() != Some(file.bytes.as_slice()) {
                let mode = if file.executable { fsx::Mode::Program } else { fsx::Mode::Shared };
                writes.push(Write { path: target, before, after: Some(file.bytes.clone()), mode });
            }
        }
        // Files of an older version that this one no longer has.
        for (path, hashes) in old.files.iter().filter(|(path, _)| path.starts_with(folder)) {
            if self.record.files.contains_key(path) {
                continue;
            }
            let before = fsx::read_optional(path).with_context(|| format!("reading {}", path.display()))?;
            if before.as_ref().is_some_and(|bytes| hashes.contains(&sha256(bytes))) {
                self.writes.push(Write { path: path.clone(), before, after: None, mode: fsx::Mode::Shared });
            }
        }
        self.writes.extend(writes);
        Ok(())
    }

    /// Puts one file of ours among those of others.
    fn place_one(&mut self, path: &Path, text: &str, old: &HostRecord) -> anyhow::Result<()> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
        let file = bundle::File { bytes: text.as_bytes().to_vec(), executable: false };
        let files = Files::from([(name.to_string_lossy().into_owned(), file)]);
        let only =
            old.files.iter().filter(|(known, _)| *known == path).map(|(known, hashes)| (known.clone(), hashes.clone()));
        let old = HostRecord { files: only.collect(), ..HostRecord::default() };
        self.place(folder, &files, None, &old)
    }

    /// Adds our entries to a file of the user's.
    fn enter(
        &mut self,
        path: &Path,
        form: super::edit::Form,
        entries: &Entries<'_>,
        store: &Store,
    ) -> anyhow::Result<()> {
        let current = read_text(path)?;
        let known = store.edit(entries.host, path);
        let baseline = match &current {
            None => None,
            Some(text) => {
                remove_ours(text, form, entries.host, known.as_ref()).map_err(|error| refused(path, &error))?
            }
        };
        // Entries in place stay where they are, whatever was changed around them: a host's trust in a hook goes by its position.
        let in_place = current.as_deref().filter(|text| form.is_current(text, entries));
        if let (Some(_), Some((edit, before))) = (in_place, &known) {
            let name = edit.before.clone().zip(before.clone());
            self.backups.extend(name);
            self.record.edits.push((*edit).clone());
            return Ok(());
        }
        let baseline = baseline.filter(|text| in_place.is_none() || !form.is_blank(text));
        let before = baseline.as_deref().unwrap_or_default();
        let splices = form.insert(before, entries).map_err(|error| refused(path, &error))?;
        let after = splice::apply(before, &splices).context("the insertions fit the file")?;
        let name = baseline.is_some().then(|| backup_name(entries.host, path));
        if let (Some(name), Some(text)) = (&name, &baseline) {
            self.backups.push((name.clone(), text.clone()));
        }
        self.record.edits.push(EditRecord {
            path: path.to_path_buf(),
            form,
            before: name,
            splices,
            after_sha256: sha256(in_place.unwrap_or(&after).as_bytes()),
        });
        if in_place.is_none() && current.as_deref() != Some(after.as_str()) {
            if fsx::is_read_only(path) {
                bail!("{} is left as it is: it is read-only", path.display());
            }
            self.writes.push(Write {
                path: path.to_path_buf(),
                before: current.map(String::into_bytes),
                after: Some(after.into_bytes()),
                mode: fsx::Mode::Private,
            });
        }
        Ok(())
    }

    /// What uninstalling means for this host now.
    ///
    /// # Errors
    /// When a file of the user's with entries of ours cannot be read or edited.
    pub(super) fn uninstall(options: &Options, wiring: &Wiring, store: &Store) -> anyhow::Result<Plan> {
        let root = wiring.root(options);
        let mut plan = Plan::default();
        let old = store.record.hosts.get(wiring.host).cloned().unwrap_or_default();
        let mut edited: Vec<(PathBuf, super::edit::Form)> =
            old.edits.iter().map(|edit| (edit.path.clone(), edit.form)).collect();
        for step in wiring.ways.iter().flat_map(|way| way.steps) {
            if let Step::Entries { form, .. } = step {
                edited.push((step.file(&root, options), *form));
            }
        }
        let mut seen = BTreeSet::new();
        edited.retain(|(path, _)| seen.insert(path.clone()));
        for (path, form) in edited {
            let Some(current) = read_text(&path)? else { continue };
            let known = store.edit(wiring.host, &path);
            let after =
                remove_ours(&current, form, wiring.host, known.as_ref()).map_err(|error| refused(&path, &error))?;
            if after.as_deref() != Some(current.as_str()) {
                plan.writes.push(Write {
                    path,
                    before: Some(current.into_bytes()),
                    after: after.map(String::into_bytes),
                    mode: fsx::Mode::Private,
                });
            }
        }
        let manifest = bundle::manifest(wiring.host).unwrap_or_default();
        let mut files: Vec<_> = old.files.iter().collect();
        files.sort_by_key(|(path, _)| !path.ends_with(manifest));
        for (path, hashes) in files {
            let before = fsx::read_optional(path).with_context(|| format!("reading {}", path.display()))?;
            match before {
                Some(bytes) if hashes.contains(&sha256(&bytes)) => plan.writes.push(Write {
                    path: path.clone(),
                    before: Some(bytes),
                    after: None,
                    mode: fsx::Mode::Shared,
                }),
                Some(_) => plan.notes.push(format!("{} was changed since and is kept", path.display())),
                None => {}
            }
        }
        plan.record.folders = old.folders;
        Ok(plan)
    }

    /// Whether a file is already as it is to be.
    pub(super) fn is_done(&self, path: &Path) -> bool {
        let write = self.writes.iter().find(|write| write.path == path);
        write.is_none_or(|write| fsx::read_optional(path).is_ok_and(|bytes| bytes == write.after))
    }

    /// Writes the files.
    ///
    /// # Errors
    /// The first file that cannot be written; the ones before it are.
    pub(super) fn carry_out(&self) -> anyhow::Result<()> {
        for write in &self.writes {
            let path = &write.path;
            match &write.after {
                None => fsx::remove_file(path).with_context(|| format!("removing {}", path.display()))?,
                Some(bytes) => {
                    // Links may lead elsewhere; folders are made where the host looks.
                    if let Some(parent) = path.parent() {
                        let private = write.mode == fsx::Mode::Private;
                        fsx::create_folders(parent, private).with_context(|| format!("making {}", parent.display()))?;
                    }
                    fsx::write_atomic(path, bytes, write.mode)
                        .with_context(|| format!("writing {}", path.display()))?;
                }
            }
        }
        Ok(())
    }
}

/// The files of a host's package as they are to be on this machine.
fn package(wiring: &Wiring, naming: &Naming) -> anyhow::Result<Files> {
    if let Some(shim) = shims::find(wiring.host) {
        return Ok(shim.render(naming));
    }
    if bundle::manifest(wiring.host).is_none() {
        bail!("this build does not carry the package of `{}`", wiring.host);
    }
    let program = Program::Native { shell: naming.shell.clone(), path: naming.path.clone(), env: naming.env.clone() };
    bundle::render(wiring.host, &program)
}

/// Where the package and its module will be, as text for hosts that are told so.
#[derive(Debug, Default)]
struct Places {
    package: String,
    module: String,
}

impl Places {
    fn of(way: &Way, root: &Path, options: &Options) -> anyhow::Result<Self> {
        let Some(step) = way.steps.iter().find(|step| matches!(step, Step::Package { .. })) else {
            return Ok(Self::default());
        };
        let folder = step.file(root, options);
        let module = folder.join(shims::MODULE);
        let text = |path: &Path| {
            let text = path.to_str().filter(|text| !text.contains(['\n', '\r', '\0']));
            text.map(str::to_owned)
                .with_context(|| format!("the path {} cannot be written into hosts' files", path.display()))
        };
        Ok(Self { package: text(&folder)?, module: text(&module)? })
    }
}

/// The text without our entries; `None` when the file was not there before us and holds nothing else.
fn remove_ours(
    current: &str,
    form: super::edit::Form,
    host: &str,
    known: Option<&(&EditRecord, Option<String>)>,
) -> Result<Option<String>, EditError> {
    if let Some((edit, before)) = known
        && sha256(current.as_bytes()) == edit.after_sha256
    {
        return Ok(before.clone());
    }
    if !form.has_ours(current, host) {
        return Ok(Some(current.to_owned()));
    }
    let exact = known.map(|(edit, before)| (before.as_deref().unwrap_or_default(), edit.splices.as_slice()));
    let rest = form.remove(current, host, exact)?;
    let was_there = known.is_none_or(|(_, before)| before.is_some());
    Ok((was_there || !form.is_blank(&rest)).then_some(rest))
}

fn refused(path: &Path, error: &EditError) -> anyhow::Error {
    anyhow::anyhow!("{} is left as it is: {error}", path.display())
}

/// Reads a file of the user's.
fn read_text(path: &Path) -> anyhow::Result<Option<String>> {
    let Some(bytes) = fsx::read_optional(path).with_context(|| format!("reading {}", path.display()))? else {
        return Ok(None);
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => Err(refused(path, &EditError::NotText { at: error.utf8_error().valid_up_to() })),
    }
}

fn backup_name(host: &str, path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    format!("{host}-{name}.before")
}

/// The skills of a package under names that say whose they are.
fn skills(files: &Files, prefix: &str) -> anyhow::Result<Files> {
    let mut named = Files::new();
    for (path, file) in files {
        let Some(rest) = path.strip_prefix("skills/") else { continue };
        let skill = rest.split('/').next().unwrap_or_default();
        let text = std::str::from_utf8(&file.bytes)?;
        let line = format!("name: {skill}\n");
        let text = text.replacen(&line, &format!("name: {prefix}{skill}\n"), 1);
        named.insert(format!("{prefix}{rest}"), bundle::File { bytes: text.into_bytes(), executable: false });
    }
    Ok(named)
}
