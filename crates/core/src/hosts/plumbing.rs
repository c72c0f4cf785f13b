//! Telling a host's own text from a person's.
//!
//! Hosts put notices, reminders and echoes where prompts go, wrapped in tags. A message is theirs only when nothing
//! else is in it: a person may well quote such a tag.

/// Returns whether `text` is made of complete blocks of these tags and white space alone.
///
/// A tag ending in `*` stands for every tag that begins so. Attributes in the opening tag are allowed.
pub(crate) fn only_blocks(text: &str, tags: &[&str]) -> bool {
    let mut rest = text.trim();
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        match after_block(rest, tags) {
            Some(after) => rest = after.trim_start(),
            None => return false,
        }
    }
    true
}

/// Returns what lies between `<name>` and the last `</name>`.
pub(crate) fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let open = format!("<{name}>");
    let start = text.find(&open)? + open.len();
    let end = text.rfind(&format!("</{name}>"))?;
    text.get(start..end)
}

fn after_block<'a>(text: &'a str, tags: &[&str]) -> Option<&'a str> {
    let inner = text.strip_prefix('<')?;
    let name_end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))?;
    let name = &inner[..name_end];
    let listed = |tag: &&str| tag.strip_suffix('*').map_or(name == *tag, |start| name.starts_with(start));
    if !tags.iter().any(listed) {
        return None;
    }
    let open_end = inner.find('>')?;
    let close = format!("</{name}>");
    let at = inner[open_end..].find(&close)?;
    Some(&inner[open_end + at + close.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_alone_are_the_hosts() {
        let tags = ["system-reminder", "command-*", "hook_prompt"];
        for (text, expected) in [
            ("<system-reminder>todo</system-reminder>", true),
            (" <command-name>/x</command-name>\n<command-args>a</command-args>\n", true),
            ("<hook_prompt hook_run_id=\"stop:1\">again</hook_prompt>", true),
            ("<system-reminder>todo</system-reminder> why does this show up?", false),
            ("What is a <system-reminder>?", false),
            ("<system-reminder> is printed, why?", false),
            ("<b>bold</b>", false),
            ("<", false),
            ("<é>", false),
            ("  ", false),
        ] {
            assert_eq!(only_blocks(text, &tags), expected, "{text}");
        }
    }

    #[test]
    fn an_element_reaches_to_its_last_end() {
        assert_eq!(element("<result>a</result>b</result>", "result"), Some("a</result>b"));
        assert_eq!(element("</result><result>", "result"), None);
    }
}
