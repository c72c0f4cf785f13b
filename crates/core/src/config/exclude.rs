//! Globs of project roots.

/// Tells whether a folder is at or below what a glob names. `*` and `?` stay within one part of the path, `**` takes
/// any number of parts, `~` at the beginning is `home`. Blank globs match nothing.
pub(super) fn matches(glob: &str, folder: &str, home: Option<&str>) -> bool {
    let glob = glob.trim().replace('\\', "/");
    let glob = match (glob.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            format!("{}{rest}", home.trim_end_matches(['/', '\\']).replace('\\', "/"))
        }
        _ => glob,
    };
    let folder = folder.replace('\\', "/");
    let glob: Vec<&str> = glob.split('/').filter(|part| !part.is_empty()).collect();
    let folder: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    !glob.is_empty() && parts(&glob, &folder)
}

/// Matches part by part; what is left of the folder lies below.
fn parts(glob: &[&str], folder: &[&str]) -> bool {
    // Where to go on when a part does not match: after the last `**`, one part further.
    let (mut at, mut position) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while at < glob.len() {
        if glob[at] == "**" {
            retry = Some((at, position));
            at += 1;
        } else if position < folder.len() && part(glob[at].as_bytes(), folder[position].as_bytes()) {
            at += 1;
            position += 1;
        } else {
            match retry {
                Some((star, from)) if from < folder.len() => {
                    retry = Some((star, from + 1));
                    at = star + 1;
                    position = from + 1;
                }
                _ => return false,
            }
        }
    }
    true
}

/// Matches one part; the same walk over bytes.
fn part(glob: &[u8], name: &[u8]) -> bool {
    let (mut at, mut position) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while position < name.len() {
        match glob.get(at) {
            Some(b'*') => {
                retry = Some((at, position));
                at += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[position] => {
                at += 1;
                position += 1;
            }
            _ => match retry {
                Some((star, from)) => {
                    retry = Some((star, from + 1));
                    at = star + 1;
                    position = from + 1;
                }
                None => return false,
            },
        }
    }
    glob[at..].iter().all(|&byte| byte == b'*')
}
