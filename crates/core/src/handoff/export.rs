//! A conversation for people: Markdown, or one HTML page that needs nothing else and runs nothing.
//!
//! Texts of a session are anybody's. In HTML they are escaped and stand in elements that interpret nothing; the page forbids
//! scripts and every address by its own policy. In Markdown they stand in fences longer than any in them, except what people and the
//! model said, which is Markdown already; there markup that would fetch or run something is made harmless.

use std::fmt::Write as _;

use serde_json::Value;

use super::content::split_data_url;
use super::count::base64_of;
use super::document::{Counts, Item, Part, Role, Source};
use super::validate::IMAGE_TYPES;

/// What it is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Markdown.
    Markdown,
    /// One HTML page.
    Html,
}

/// The beginning, up to the first item.
pub fn head(format: Format, source: &Source, counts: &Counts, saved_at: &str) -> String {
    let title = one_line(&source.title);
    let rows = [
        ("Host", source.host.clone()),
        ("Session", source.session_id.clone()),
        ("Folder", source.project_cwd.clone().unwrap_or_else(|| source.cwd.clone())),
        ("Saved", saved_at.to_owned()),
        ("Items", counts.responses_items.to_string()),
    ];
    let mut text = String::new();
    match format {
        Format::Markdown => {
            let _ = writeln!(text, "# {}\n", inline(&title));
            for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
                let _ = writeln!(text, "- {name}: {}", inline(&one_line(value)));
            }
        }
        Format::Html => {
            let _ = write!(
                text,
                "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
                 <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                 base-uri 'none'; form-action 'none'\">\n\
                 <meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
                 <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header><h1>{}</h1>\n<dl>",
                escaped(&title),
                escaped(&title)
            );
            for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
                let _ = write!(text, "<dt>{name}</dt><dd>{}</dd>", escaped(&one_line(value)));
            }
            text.push_str("</dl></header>\n<main>\n");
        }
    }
    text
}

/// One item.
pub fn item(format: Format, item: &Item) -> String {
    match format {
        Format::Markdown => markdown(item),
        Format::Html => html(item),
    }
}

/// The end.
pub fn foot(format: Format) -> &'static str {
    match format {
        Format::Markdown => "",
        Format::Html => "</main>\n</body>\n</html>\n",
    }
}

const STYLE: &str = "body{max-width:60rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif;color:#1c1c1c;background:#fff}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:0 1rem}dd{margin:0;overflow-wrap:anywhere}\
section{border-left:.25rem solid #bbb;margin:1rem 0;padding:.25rem 1rem}section.user{border-color:#2b6cb0}section.assistant{border-color:#2f855a}\
h2{font-size:.9rem;margin:.25rem 0;color:#555}pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.25rem 0;font:.9rem/1.45 ui-monospace,monospace}\
.message pre{font:inherit}summary{cursor:pointer;overflow-wrap:anywhere}.error summary{color:#b83232}img{max-width:100%}\
@media(prefers-color-scheme:dark){body{color:#e4e4e4;background:#161616}h2{color:#aaa}}";

fn markdown(item: &Item) -> String {
    let mut text = String::new();
    match item {
        Item::Message { role, content, .. } => {
            let _ = write!(text, "\n## {}\n", speaker(*role));
            for part in content {
                match part {
                    Part::InputText { text: said } | Part::OutputText { text: said } => {
                        let _ = write!(text, "\n{}\n", prose(said));
                    }
                    Part::InputImage { image_url } => text.push_str(&markdown_image(image_url)),
                }
            }
        }
        Item::FunctionCall { name, arguments, .. } => {
            let _ = write!(text, "\n### Call: {}\n\n{}", inline(&one_line(name)), fenced(arguments, "json"));
        }
        Item::FunctionCallOutput { name, output, more, .. } => {
            let what = if is_error(more) { "Error of" } else { "Result of" };
            let _ = write!(text, "\n### {what}: {}\n\n", inline(&one_line(name)));
            for piece in pieces(output) {
                match piece {
                    Piece::Text(said) => text.push_str(&fenced(&said, "text")),
                    Piece::Image(url) => text.push_str(&markdown_image(&url)),
                }
            }
        }
    }
    text
}

fn html(item: &Item) -> String {
    let mut text = String::new();
    match item {
        Item::Message { role, content, .. } => {
            let class = if *role == Role::User { "user" } else { "assistant" };
            let _ = write!(text, "<section class=\"message {class}\"><h2>{}</h2>", speaker(*role));
            for part in content {
                match part {
                    Part::InputText { text: said } | Part::OutputText { text: said } => {
                        let _ = write!(text, "<pre>{}</pre>", escaped(said));
                    }
                    Part::InputImage { image_url } => text.push_str(&html_image(image_url)),
                }
            }
            text.push_str("</section>\n");
        }
        Item::FunctionCall { name, arguments, .. } => {
            let (name, arguments) = (escaped(&one_line(name)), escaped(arguments));
            let _ = writeln!(
                text,
                "<section class=\"call\"><details><summary>Call: {name}</summary><pre>{arguments}</pre></details></section>"
            );
        }
        Item::FunctionCallOutput { name, output, more, .. } => {
            let (class, what) = if is_error(more) { ("result error", "Error of") } else { ("result", "Result of") };
            let name = escaped(&one_line(name));
            let _ = write!(text, "<section class=\"{class}\"><details><summary>{what}: {name}</summary>");
            for piece in pieces(output) {
                match piece {
                    Piece::Text(said) => {
                        let _ = write!(text, "<pre>{}</pre>", escaped(&said));
                    }
                    Piece::Image(url) => text.push_str(&html_image(&url)),
                }
            }
            text.push_str("</details></section>\n");
        }
    }
    text
}

fn speaker(role: Role) -> &'static str {
    match role {
        Role::User => "User",
        Role::Assistant => "Assistant",
    }
}

fn is_error(more: &serde_json::Map<String, Value>) -> bool {
    more.get("is_error") == Some(&Value::Bool(true))
}

enum Piece {
    Text(String),
    Image(String),
}

/// Texts and pictures of an output; blocks of other kinds as their JSON.
fn pieces(output: &Value) -> Vec<Piece> {
    match output {
        Value::String(text) => vec![Piece::Text(text.clone())],
        Value::Array(blocks) => blocks
            .iter()
            .map(|block| match (base64_of(block), block.get("text").and_then(Value::as_str)) {
                (Some((media_type, data)), _) => Piece::Image(format!("data:{media_type};base64,{data}")),
                (None, Some(text)) => Piece::Text(text.to_owned()),
                (None, None) => Piece::Text(block.to_string()),
            })
            .collect(),
        Value::Null => Vec::new(),
        other => vec![Piece::Text(other.to_string())],
    }
}

/// The address of a picture, when it is nothing but one: media type known, payload in the alphabet.
fn safe_image(url: &str) -> Option<&str> {
    let (media_type, data) = split_data_url(url).ok()?;
    let is_known = IMAGE_TYPES.iter().any(|known| known.eq_ignore_ascii_case(media_type));
    let is_base64 = data.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
    (is_known && is_base64).then_some(url)
}

fn html_image(url: &str) -> String {
    safe_image(url).map_or_else(|| "<p>[image]</p>".to_owned(), |url| format!("<img alt=\"image\" src=\"{url}\">"))
}

fn markdown_image(url: &str) -> String {
    safe_image(url).map_or_else(|| "\n[image]\n".to_owned(), |url| format!("\n![image]({url})\n"))
}

/// Text for HTML, in an element or a quoted attribute. Characters that reorder or hide text are shown as replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + text.len() / 16);
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            char => escaped.push(visible(char)),
        }
    }
    escaped
}

fn visible(char: char) -> char {
    let is_hidden = (char.is_control() && !matches!(char, '\n' | '\t'))
        || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if is_hidden { char::REPLACEMENT_CHARACTER } else { char }
}

/// What somebody said, as Markdown: kept, but tags and addresses that a viewer would act on are not.
fn prose(text: &str) -> String {
    let mut prose = String::with_capacity(text.len());
    // A fence that they left open would swallow all that follows.
    let mut open: Option<&str> = None;
    for line in text.lines() {
        let fence = line.trim_start();
        let marks = &fence[..fence.len() - fence.trim_start_matches(['`', '~']).len()];
        match open {
            Some(begun) if marks.starts_with(begun) && fence.trim_end() == marks => open = None,
            None if marks.starts_with("```") || marks.starts_with("~~~") => open = Some(marks),
            _ => {}
        }
        // A heading or a rule of theirs must not look like one of ours.
        let body = line.trim_start();
        if body.starts_with("# ") || body.starts_with("## ") || body.starts_with("### ") {
            prose.push('\\');
        }
        let mut chars = line.chars().peekable();
        while let Some(char) = chars.next() {
            match char {
                '<' => prose.push_str("&lt;"),
                '!' if chars.peek() == Some(&'[') => prose.push_str("\\!"),
                ']' if matches!(chars.peek(), Some('(' | ':')) => prose.push_str("\\]"),
                char => prose.push(visible(char)),
            }
        }
        prose.push('\n');
    }
    prose.truncate(prose.trim_end_matches('\n').len());
    if let Some(fence) = open {
        prose.push('\n');
        prose.push_str(fence);
    }
    prose
}

/// Text in a line of ours.
fn inline(text: &str) -> String {
    let mut inline = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '<' => inline.push_str("&lt;"),
            '&' => inline.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '>' | '#' | '!' | '|' => inline.extend(['\\', char]),
            char => inline.push(visible(char)),
        }
    }
    inline
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A fence longer than any run of backticks inside.
fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let text: String = text.chars().map(visible).collect();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::handoff::content::{call, result};

    const NASTY: &str = "</pre><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u{1b}[31m\u{202e} ![a](http://x/y) [b](javascript:c)\n# Title\n````";

    fn items() -> Vec<Item> {
        let message = |role, part| Item::Message { role, content: vec![part], more: serde_json::Map::new() };
        vec![
            message(Role::User, Part::InputText { text: NASTY.to_owned() }),
            message(Role::Assistant, Part::OutputText { text: NASTY.to_owned() }),
            message(Role::User, Part::InputImage { image_url: "data:image/svg+xml;base64,\"><script>".to_owned() }),
            message(Role::User, Part::InputImage { image_url: "data:image/png;base64,QUJD".to_owned() }),
            call(NASTY, NASTY, NASTY),
            result(NASTY, json!([{"type": "text", "text": NASTY}, {"type": NASTY}, NASTY]), true),
        ]
    }

    fn written(format: Format) -> String {
        let source =
            Source { title: NASTY.to_owned(), host: "x".to_owned(), cwd: NASTY.to_owned(), ..Source::default() };
        let mut text = head(format, &source, &Counts::default(), "");
        items().iter().for_each(|given| text.push_str(&item(format, given)));
        text + foot(format)
    }

    #[test]
    fn a_page_runs_and_fetches_nothing() {
        let page = written(Format::Html);
        assert!(!page.contains("<script") && !page.contains("<img src=x"), "{page}");
        assert_eq!(page.matches("<img ").count(), 1, "only the picture that is one");
        assert!(page.contains("default-src 'none'"));
        assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
        for tag in ["section", "details", "pre", "main", "body", "html", "summary"] {
            let open = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
            assert_eq!(open, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }

    #[test]
    fn markdown_fetches_nothing_and_keeps_its_fences() {
        let text = written(Format::Markdown);
        let outside: String = {
            let mut fence: Option<&str> = None;
            let mut lines = Vec::new();
            for line in text.lines() {
                let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
                match fence {
                    Some(open) if line == open => fence = None,
                    Some(_) => {}
                    None if ticks.len() >= 3 => fence = Some(ticks),
                    None => lines.push(line),
                }
            }
            assert_eq!(fence, None, "every fence is closed");
            lines.join("\n")
        };
        assert!(!outside.contains("<script") && !outside.contains("![a](") && !outside.contains("[b]("), "{outside}");
        assert!(!text.contains('\u{1b}'));
        assert_eq!(outside.lines().filter(|line| line.starts_with("# ")).count(), 1, "{outside}");
    }
}
