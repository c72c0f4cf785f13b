//! Binary and machine-made content in tool output.

use std::borrow::Cow;

/// Longest run without white space, and longest line of dense text, that counts as written for reading, in bytes.
const LONGEST_RUN: usize = 2_000;
/// Longest `data:` address that is left alone, in bytes.
const LONGEST_DATA: usize = 256;

/// Returns the text with every `data:` address, every run of more than 2,000 characters without white space and
/// every long line that is nearly one (minified code) replaced by a short placeholder with its size.
///
/// For tool output only: prompts and answers are kept whole. Scripts that do not use spaces are left alone.
pub fn without_blobs(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST_DATA {
        return Cow::Borrowed(text);
    }
    let mut kept = String::new();
    let mut changed = false;
    for line in text.split_inclusive('\n') {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        if body.len() > LONGEST_RUN && is_dense(body) && is_varied(body) {
            changed = true;
            kept.push_str(&placeholder("minified or encoded", body));
        } else if body.len() > LONGEST_DATA {
            changed |= runs(body, &mut kept);
        } else {
            kept.push_str(body);
        }
        kept.push_str(end);
    }
    if changed { Cow::Owned(kept) } else { Cow::Borrowed(text) }
}

/// Copies a line run by run; `true` when one was replaced.
fn runs(line: &str, kept: &mut String) -> bool {
    let mut changed = false;
    for run in line.split_inclusive(|char: char| char.is_ascii_whitespace()) {
        let word = run.trim_ascii_end();
        let space = &run[word.len()..];
        if word.len() > LONGEST_RUN && is_ascii_mostly(word) && is_varied(word) && data_address(word).is_none() {
            changed = true;
            kept.push_str(&placeholder("unbroken", word));
        } else if let Some((before, data, after)) = data_address(word) {
            changed = true;
            kept.push_str(before);
            kept.push_str(&placeholder(media_type(data), data));
            kept.push_str(if after.len() > LONGEST_RUN { "" } else { after });
        } else {
            kept.push_str(word);
        }
        kept.push_str(space);
    }
    changed
}

/// Splits a word at the `data:` address in it, if it has a long one.
fn data_address(word: &str) -> Option<(&str, &str, &str)> {
    if word.len() <= LONGEST_DATA {
        return None;
    }
    let start = memchr::memmem::find(word.as_bytes(), b"data:")?;
    let address = &word[start..];
    let comma = address.find(',').filter(|&comma| comma < 120)?;
    let payload = &address[comma + 1..];
    let length = payload
        .find(|char: char| !(char.is_ascii_alphanumeric() || "+/=%-_.~".contains(char)))
        .unwrap_or(payload.len());
    let end = start + comma + 1 + length;
    (end - start > LONGEST_DATA).then(|| (&word[..start], &word[start..end], &word[end..]))
}

/// The media type of a `data:` address.
fn media_type(data: &str) -> &str {
    let end = data.find([';', ',']).unwrap_or(data.len());
    match &data["data:".len()..end] {
        "" => "text/plain",
        media => media,
    }
}

fn placeholder(kind: &str, blob: &str) -> String {
    format!("[{kind} data left out: {} characters]", blob.chars().count())
}

/// Prose and source have a space every 5 to 12 characters, minified code one in 20 to 50.
fn is_dense(line: &str) -> bool {
    let spaces = line.bytes().filter(u8::is_ascii_whitespace).count();
    spaces * 18 < line.len() && is_ascii_mostly(line) && data_address(line).is_none()
}

fn is_ascii_mostly(text: &str) -> bool {
    text.bytes().filter(u8::is_ascii).count() * 10 >= text.len() * 9
}

/// Encoded data and code draw on many characters; a ruler, a bar or padding does not.
fn is_varied(text: &str) -> bool {
    let mut seen = [false; 256];
    text.bytes().for_each(|byte| seen[usize::from(byte)] = true);
    seen.iter().filter(|is_seen| **is_seen).count() >= 12
}
