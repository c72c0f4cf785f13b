//! File and text patterns with `*` and `?`, as the cases use them.

use std::path::{Path, PathBuf};

/// Tells whether `text` matches a pattern in which `*` stands for anything (slashes too) and `?` for one
/// character.
pub(crate) fn wildcard(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut pos) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while pos < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, pos));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == text[pos] => {
                at += 1;
                pos += 1;
            }
            _ => match star {
                Some((star_at, taken)) => {
                    star = Some((star_at, taken + 1));
                    at = star_at + 1;
                    pos = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|left| *left == '*')
}

/// Returns the paths that match, sorted. A pattern works within one path component and, as in a shell,
/// does not match a leading dot.
pub(crate) fn paths(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for component in pattern.components() {
        let name = component.as_os_str().to_string_lossy();
        if !name.contains(['*', '?']) {
            found.iter_mut().for_each(|path| path.push(component));
            continue;
        }
        found = found.iter().flat_map(|folder| children(folder)).filter(|path| is_named(path, &name)).collect();
    }
    // A dangling link exists for our purposes.
    found.retain(|path| path.symlink_metadata().is_ok());
    found.sort();
    found
}

/// Returns every file below a folder.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for path in children(folder) {
        match path.symlink_metadata() {
            Ok(meta) if meta.is_dir() => out.extend(files_below(&path)),
            Ok(meta) if meta.is_file() => out.push(path),
            _ => {}
        }
    }
    out
}

fn is_named(path: &Path, pattern: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    !name.starts_with('.') && wildcard(pattern, &name)
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(Result::ok).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::wildcard;

    #[test]
    fn a_star_matches_anything() {
        for (pattern, text, wanted) in [
            ("* *", "GET /x", true),
            ("DELETE /v1/memories/*", "DELETE /v1/memories/a/", true),
            ("idle-*.json", "idle-1.json.tmp", false),
            ("a*b*c", "aXbYbZc", true),
            ("a?c", "ac", false),
            ("*", "", true),
        ] {
            assert_eq!(wildcard(pattern, text), wanted, "{pattern} {text}");
        }
    }
}
