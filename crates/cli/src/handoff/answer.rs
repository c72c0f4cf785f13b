//! Giving a resource to a model or a program.

use std::io::Write;
use std::path::{Path, PathBuf};

use mem0_code_core::handoff::document::FORMAT;
use mem0_code_core::handoff::refusal::{Kind, Refusal};
use mem0_code_core::handoff::resume::{GUARD, Image, MAX_CHARS, Parts, take_images};
use serde_json::{Value, json};

use super::draft::{self, Draft, Input, Wanted};
use super::project;
use super::spool::io_error;
use super::transcript::read_document;
use crate::env::Env;

/// Most pictures of one answer, and their bytes.
const MAX_IMAGES: usize = 8;
const MAX_IMAGE_BYTES: usize = 5 << 20;

/// Opens a resource, by any path.
///
/// # Errors
/// A refusal.
pub(crate) fn open(path: &Path, env: &Env) -> Result<(PathBuf, Draft), Refusal> {
    if path.as_os_str().to_string_lossy().contains('\0') {
        return Err(Refusal::new(Kind::ResourceNotFound, "the path holds a NUL character"));
    }
    let path = project::expanded(&path.to_string_lossy(), env);
    let bytes = read_document(&path, Kind::ResourceNotFound)?;
    let real = std::fs::canonicalize(&path).unwrap_or(path);
    Ok((real, draft::read(Input::Document(bytes), &Wanted::default(), env)?))
}

/// Writes a resource for a program: one JSON object.
///
/// # Errors
/// A refusal, before anything is written, or `io_error`.
pub(crate) fn whole(path: &Path, cwd: &Path, env: &Env, out: &mut dyn Write) -> Result<Draft, Refusal> {
    let (resource, mut draft) = open(path, env)?;
    let project = project::of(cwd, env)?;
    // It keeps what it says of when it was saved; who saved it is not told again.
    let told = |error: &std::io::Error| io_error("writing the history", error);
    write!(
        out,
        "{{\"resource\":{},\"context_type\":\"historical_session\",\"project_cwd\":{},\"handoff\":",
        json!(resource.to_string_lossy()),
        json!(project.to_string_lossy())
    )
    .and_then(|()| draft.write(out))
    .and_then(|()| out.write_all(b"}"))
    .map_err(|error| told(&error))?;
    Ok(draft)
}

/// A part of a history for a model.
#[derive(Debug)]
pub(crate) struct Told {
    /// Guard, blank line, JSON.
    pub(crate) text: String,
    /// Pictures that belong to it.
    pub(crate) images: Vec<Image>,
    pub(crate) part: u64,
    pub(crate) parts: u64,
}

/// Gives a part of a resource to a model, from 1.
///
/// # Errors
/// A refusal.
pub(crate) fn part(path: &Path, cwd: &Path, wanted: u64, env: &Env) -> Result<Told, Refusal> {
    let (resource, mut draft) = open(path, env)?;
    let project = project::of(cwd, env)?;
    let mut parts = Parts::new(wanted);
    let mut n_images = 0;
    draft.items(&mut |mut item| {
        let images = take_images(&mut item, &mut n_images);
        let json = serde_json::to_string(&item).map_err(|_| Refusal::new(Kind::Io, "an item cannot be written"))?;
        parts.push(json, images);
        Ok(())
    })?;
    let parted = parts.finish();
    if wanted == 0 || wanted > parted.n_parts {
        let told = format!("there is no part {wanted}; the history has {} parts", parted.n_parts);
        return Err(Refusal::new(Kind::ResourceNotFound, told));
    }
    let pieces: Vec<Value> = parted.pieces.iter().filter_map(|piece| serde_json::from_str(piece).ok()).collect();
    let mut answer = json!({
        "resource": resource.to_string_lossy(),
        "context_type": "historical_session",
        "project_cwd": project.to_string_lossy(),
    });
    if wanted == 1 {
        answer["handoff"] = json!({
            "format": FORMAT, "source": draft.source, "counts": draft.counts, "warnings": draft.warnings, "items": pieces,
        });
    } else {
        answer["items"] = Value::Array(pieces);
    }
    if parted.n_parts > 1 {
        answer["part"] = wanted.into();
        answer["parts"] = parted.n_parts.into();
        answer["note"] = match wanted < parted.n_parts {
            true => format!("This is part {wanted} of {}; ask for the next with part {}.", parted.n_parts, wanted + 1),
            false => format!("This is the last of {} parts.", parted.n_parts),
        }
        .into();
    }
    let mut n_bytes = 0;
    let mut images = parted.images;
    let n_found = images.len();
    images.truncate(MAX_IMAGES);
    images.retain(|image| {
        n_bytes += image.data.len();
        n_bytes <= MAX_IMAGE_BYTES
    });
    if images.len() < n_found {
        answer["images_left_out"] = (n_found - images.len()).into();
    }
    let text = format!("{GUARD}\n\n{answer}");
    debug_assert!(text.chars().count() <= MAX_CHARS * 2);
    Ok(Told { text, images, part: wanted, parts: parted.n_parts })
}
