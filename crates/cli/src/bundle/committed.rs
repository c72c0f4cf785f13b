//! The packages in the repository: written from their templates, and compared with them.

use super::packages::{self, Package};
use super::{Files, Problem, Program, marketplaces, put, refuse_protected, render, templates, validate, write};
use crate::fsx;
use std::path::{Path, PathBuf};

/// Where the repository keeps the packages, relative to its root.
pub(super) const FOLDER: &str = "plugins";

/// Writes every committed package and marketplace file under the repository's root that is not as its templates give it.
///
/// A package that lost files is written anew, as long as one of its generated files is left to know it by.
///
/// # Errors
/// As [`super::build`].
pub(crate) fn sync(root: &Path) -> anyhow::Result<()> {
    for package in packages::PACKAGES {
        let out = root.join(FOLDER).join(package.folder);
        let files = render(package.host, &Program::Launcher)?;
        if !check_package(package, &files, &out).is_empty() {
            refuse_protected(&out, |path| path != "README.md" && files.contains_key(path), package)?;
            put(package, &files, &out)?;
        }
    }
    write(&marketplaces::files(), root)
}

/// Compares what is committed under the repository's root with what the templates give now.
///
/// Names files that are missing, differ, lost their executable bit, should not be there, or are links; and folders beside the packages
/// that are none. Empty: current.
pub(crate) fn check(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for package in packages::PACKAGES {
        let files = render(package.host, &Program::Launcher)?;
        problems.extend(check_package(package, &files, &root.join(FOLDER).join(package.folder)));
    }
    let folders = packages::PACKAGES.iter().map(|package| package.folder);
    let folders: Vec<&str> = folders.chain(packages::ELSEWHERE.iter().map(|elsewhere| elsewhere.host)).collect();
    for entry in std::fs::read_dir(root.join(FOLDER)).into_iter().flatten().flatten() {
        if !entry.file_name().to_str().is_some_and(|name| folders.contains(&name)) {
            problems
                .push(Problem { path: entry.path(), what: "extra: no host has this package, remove it".to_owned() });
        }
    }
    compare(&marketplaces::files(), root, |_| "crates/cli/src/bundle/marketplaces.rs", &mut problems);
    problems.extend(marketplaces::check(root));
    problems.sort();
    problems.dedup();
    Ok(problems)
}

/// What is wrong with one committed package.
fn check_package(package: &Package, files: &Files, folder: &Path) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !compare(files, folder, |path| origin(package, path), &mut problems) {
        return problems;
    }
    let extra = validate::walk(folder).0.into_iter().filter(|path| !files.contains_key(path));
    let extra = extra.map(|path| Problem { path: folder.join(path), what: "extra: nothing generates it".to_owned() });
    problems.extend(extra);
    // A file that differs is made anew; what its content breaks besides need not be told.
    let known: Vec<PathBuf> = problems.iter().map(|problem| problem.path.clone()).collect();
    let broken = validate::validate_as(package, folder).into_iter().filter(|new| !known.contains(&new.path));
    problems.extend(broken);
    problems
}

/// What a generated file is made from, as a path from the repository's root.
fn origin(package: &Package, path: &str) -> &'static str {
    let templates = package.files.iter().chain(templates::SKILLS).chain([templates::LAUNCHER]);
    // The hooks come from what the hosts are.
    templates
        .into_iter()
        .find(|template| template.path == path)
        .map_or("crates/core/src/hosts", |template| template.source)
}

/// Compares files with what is in a folder; `false` when the folder is no folder of its own.
fn compare(files: &Files, folder: &Path, origin: impl Fn(&str) -> &'static str, problems: &mut Vec<Problem>) -> bool {
    let is_link = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    if is_link(folder) {
        problems.push(Problem { path: folder.to_owned(), what: validate::link(folder, folder) });
        return false;
    }
    for (path, file) in files {
        let target = folder.join(path);
        // Whatever a link leads to, it is not the file.
        let linked = target.ancestors().take_while(|part| *part != folder).filter(|part| is_link(part)).last();
        if let Some(linked) = linked {
            problems.push(Problem { path: linked.to_owned(), what: validate::link(linked, folder) });
            continue;
        }
        let what = match std::fs::read(&target) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => "missing".to_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::IsADirectory => {
                "missing: a folder has its name".to_owned()
            }
            Err(error) => format!("missing: {error}"),
            Ok(bytes) if bytes != file.bytes => format!("stale: differs from what {} gives", origin(path)),
            Ok(_) if file.executable && !fsx::is_program(&target) => "not executable".to_owned(),
            Ok(_) => continue,
        };
        problems.push(Problem { path: target, what });
    }
    true
}
