//! JSON of records: broken surrogates mended, texts never quoted in an error, the order of keys and the digits of numbers
//! kept where a text is made of it.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;

use super::refusal::{Kind, Refusal};

/// Reads a record, or a part of one. Of a key that stands twice the last counts.
///
/// # Errors
/// `invalid_json` with the line's number; `unsupported_record` when a field has another type than any known version writes.
pub fn read<T: DeserializeOwned>(text: &str, line: u64) -> Result<T, Refusal> {
    let error = match serde_json::from_str(text) {
        Ok(read) => return Ok(read),
        Err(error) => error,
    };
    // Its own words could quote the conversation.
    if error.classify() != Category::Data {
        return Err(invalid(line, error.column()));
    }
    let last_wins = serde_json::from_str::<Value>(text).map_err(|error| invalid(line, error.column()))?;
    serde_json::from_str(&last_wins.to_string()).map_err(|_| {
        Refusal::new(Kind::UnsupportedRecord, format!("line {line}: a field of the record has an unexpected type"))
    })
}

fn invalid(line: u64, column: usize) -> Refusal {
    Refusal::new(Kind::InvalidJson, format!("line {line} is not valid JSON (column {column})"))
}

/// Returns JSON text without white space between its tokens; keys stay in order, numbers as written, and strings are
/// written with the fewest escapes. The text must be valid.
pub fn compact(json: &str) -> String {
    let bytes = json.as_bytes();
    let mut compact = String::with_capacity(json.len());
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let end = string_end(bytes, at);
                let literal = &json[at..end];
                match serde_json::from_str::<String>(literal) {
                    Ok(text) if literal.contains('\\') => push_string(&mut compact, &text),
                    _ => compact.push_str(literal),
                }
                at = end;
            }
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            _ => {
                let end = bytes[at..]
                    .iter()
                    .position(|byte| matches!(byte, b'"' | b' ' | b'\t' | b'\n' | b'\r'))
                    .map_or(bytes.len(), |length| at + length);
                compact.push_str(&json[at..end]);
                at = end;
            }
        }
    }
    compact
}

fn push_string(text: &mut String, string: &str) {
    if let Ok(literal) = serde_json::to_string(string) {
        text.push_str(&literal);
    }
}

/// The place after the string literal that begins here.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

/// Replaces escapes of unpaired surrogates by U+FFFD: hosts write them when they cut a text inside an emoji, and no Unicode
/// text can hold them. Borrowed when there is none.
pub fn mended(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut mended = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        at += found;
        match code_unit(bytes, at) {
            None => at += 2,
            Some(0xD800..=0xDBFF) if matches!(code_unit(bytes, at + 6), Some(0xDC00..=0xDFFF)) => at += 12,
            Some(0xD800..=0xDFFF) => {
                mended.push_str(&text[copied..at]);
                mended.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            Some(_) => at += 6,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    mended.push_str(&text[copied..]);
    Cow::Owned(mended)
}

fn code_unit(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compact_keeps_what_means_something() {
        for (given, expected) in [
            ("{ \"b\" : 1.0 , \"a\": [ ] }", r#"{"b":1.0,"a":[]}"#),
            (r#"{"a":"x y \u00e9\ud83d\ude80 \/ \u0041 \n \u001f"}"#, r#"{"a":"x y é🚀 / A \n \u001f"}"#),
            ("12345678901234567890123456789e400", "12345678901234567890123456789e400"),
            (r#"["\"", "\\"  ]"#, r#"["\"","\\"]"#),
            ("\"open", "\"open"),
            ("", ""),
        ] {
            assert_eq!(compact(given), expected);
        }
    }

    #[test]
    fn only_unpaired_surrogates_are_mended() {
        for (given, expected) in [
            (r#""\ud83d""#, "\"\\ufffd\""),
            (r#""\ud83d\ude80""#, r#""\ud83d\ude80""#),
            (r#""\ude80\ud83d\ude80\\ud83d""#, "\"\\ufffd\\ud83d\\ude80\\\\ud83d\""),
            (r#""\u12""#, r#""\u12""#),
            ("\"é\\", "\"é\\"),
        ] {
            assert_eq!(mended(given), expected);
        }
    }

    #[test]
    fn errors_say_where_and_quote_nothing() {
        let error = read::<Value>("{\"a\":SECRET}", 7).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (Kind::InvalidJson, "line 7 is not valid JSON (column 6)"));
        let error = read::<Vec<u8>>("[\"SECRET\"]", 3).unwrap_err();
        assert_eq!(error.kind, Kind::UnsupportedRecord);
        assert!(!error.message.contains("SECRET"));
        let deep = "[".repeat(100_000);
        assert_eq!(read::<Value>(&deep, 1).unwrap_err().kind, Kind::InvalidJson);
        assert_eq!(read::<Value>("1e999", 1).unwrap_err().kind, Kind::InvalidJson);
    }
}
