//! From bytes to a host's structs: byte-order marks, broken surrogates, and errors that say where.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::host::PayloadError;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Reads a hook's payload. `Ok(None)` for an object without a single key: nothing was said.
///
/// One or two byte-order marks before it are passed over (Windows shells add them).
pub(crate) fn payload<T: DeserializeOwned>(bytes: &[u8]) -> Result<Option<T>, PayloadError> {
    let once = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let text = once.strip_prefix(BOM).unwrap_or(once).trim_ascii();
    let malformed = |reason: &str| PayloadError::Malformed { line: 1, column: 1, reason: reason.to_owned() };
    match text.first() {
        None => return Err(malformed("there is no input")),
        Some(b'{') => {}
        Some(_) => return Err(malformed("it does not begin with a brace")),
    }
    if text.strip_suffix(b"}").is_some_and(|object| object[1..].trim_ascii().is_empty()) {
        return Ok(None);
    }
    parse(text).map(Some).map_err(|error| {
        let full = error.to_string();
        let reason = full.split(" at line ").next().unwrap_or_default().to_owned();
        PayloadError::Malformed { line: error.line(), column: error.column(), reason }
    })
}

/// Reads one line of a transcript; `None` when it is not a JSON object.
pub(crate) fn line<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let text = bytes.trim_ascii();
    if text.first() != Some(&b'{') {
        return None;
    }
    parse(text).ok()
}

/// Returns serialized JSON; nothing when that is impossible, which no output struct of ours is.
pub(crate) fn print<T: serde::Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T, serde_json::Error> {
    let error = match serde_json::from_slice(text) {
        Ok(parsed) => return Ok(parsed),
        Err(error) => error,
    };
    let mended = mend(text);
    let text = mended.as_deref().unwrap_or(text);
    // A key that stands twice is legal JSON, if odd; the last one counts, as it does for JavaScript.
    let last_wins = || serde_json::from_slice::<Value>(text).and_then(serde_json::from_value).ok();
    match mended.is_some().then(|| serde_json::from_slice(text).ok()).flatten().or_else(last_wins) {
        Some(parsed) => Ok(parsed),
        None => Err(error),
    }
}

/// Replaces what JavaScript hosts can write and no Rust string can hold: lone surrogates (a text cut in the middle of
/// an emoji) and bytes that are not UTF-8. `None` when there is nothing to mend.
fn mend(text: &[u8]) -> Option<Vec<u8>> {
    let lossy = String::from_utf8_lossy(text);
    let mut changed = matches!(lossy, std::borrow::Cow::Owned(_));
    let mut bytes = lossy.into_owned().into_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        match escape(&bytes, at) {
            None => at += 2,
            Some(0xD800..=0xDBFF) if matches!(escape(&bytes, at + 6), Some(0xDC00..=0xDFFF)) => at += 12,
            Some(0xD800..=0xDFFF) => {
                bytes[at + 2..at + 6].copy_from_slice(b"fffd");
                changed = true;
                at += 6;
            }
            Some(_) => at += 6,
        }
    }
    changed.then_some(bytes)
}

/// Returns the code unit of a `\uXXXX` at this place.
fn escape(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq, serde::Deserialize)]
    #[serde(default)]
    struct Sample {
        text: super::super::lenient::Maybe<String>,
        flag: super::super::lenient::Maybe<bool>,
    }

    fn text_of(bytes: &[u8]) -> Option<String> {
        payload::<Sample>(bytes).unwrap().unwrap().text.0
    }

    #[test]
    fn of_a_key_that_stands_twice_the_last_counts() {
        assert_eq!(text_of(br#"{"text": "first", "text": "last"}"#).as_deref(), Some("last"));
        assert_eq!(text_of(br#"{"text": "\ud83d", "text": "b"}"#).as_deref(), Some("b"));
    }

    #[test]
    fn marks_before_the_object_are_passed_over() {
        for marks in [0, 1, 2] {
            let bytes = [BOM.repeat(marks), br#" {"text":"a"}"#.to_vec()].concat();
            assert_eq!(text_of(&bytes).as_deref(), Some("a"), "{marks} marks");
        }
    }

    #[test]
    fn what_is_no_object_is_an_error_that_says_where() {
        let utf16: Vec<u8> = "\u{feff}{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [b"".as_slice(), b"  ", BOM, &utf16, b"null", b"[]", b"\"x\"", b"{", b"{nope", b"{} {}", b"3"] {
            assert!(payload::<Sample>(bytes).is_err(), "{bytes:?}");
        }
        let error = payload::<Sample>(b"{\n \"text\": }").unwrap_err().to_string();
        assert_eq!(error, "hook payload is not a JSON object (line 2, column 10): expected value");
    }

    #[test]
    fn an_empty_object_says_nothing() {
        for bytes in [b"{}".as_slice(), b" { \n } ", b"\xEF\xBB\xBF{}"] {
            assert_eq!(payload::<Sample>(bytes).unwrap(), None);
        }
    }

    #[test]
    fn other_types_count_as_absent() {
        for value in ["null", "3", "-2.5", "true", "[1,[2]]", "{\"a\":{\"b\":[]}}"] {
            let sample: Sample = payload(format!("{{\"text\":{value},\"flag\":\"yes\"}}").as_bytes()).unwrap().unwrap();
            assert_eq!(sample, Sample::default(), "{value}");
        }
    }

    #[test]
    fn a_text_cut_inside_an_emoji_or_a_byte_is_read() {
        assert_eq!(text_of(br#"{"text":"a\ud83e"}"#).as_deref(), Some("a\u{fffd}"));
        assert_eq!(text_of(br#"{"text":"\udde0\ud83e\udde0\\ud83e"}"#).as_deref(), Some("\u{fffd}🧠\\ud83e"));
        assert_eq!(text_of(b"{\"text\":\"a\xFFb\"}").as_deref(), Some("a\u{fffd}b"));
    }
}
