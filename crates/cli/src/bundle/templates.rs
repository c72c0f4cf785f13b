//! The sources of the packages, compiled in, and what is filled into them.

/// One source file and where it goes in the package.
#[derive(Debug, Clone, Copy)]
pub(super) struct Template {
    /// Path inside the package, with `/`.
    pub path: &'static str,
    /// The text with its `{{TOKENS}}`.
    pub text: &'static str,
    /// Its own path, from the repository's root.
    pub source: &'static str,
}

/// The text of a file below `templates/`.
macro_rules! source {
    ($source:literal) => {
        include_str!(concat!("../../../../templates/", $source))
    };
}
pub(super) use source;

/// Files of a package, each from a file below `templates/`.
macro_rules! templates {
    ($($path:literal from $source:literal),* $(,)?) => {
        &[$($crate::bundle::templates::Template {
            path: $path,
            text: $crate::bundle::templates::source!($source),
            source: concat!("templates/", $source),
        }),*]
    };
}
pub(super) use templates;

/// The skills every package has.
pub(super) const SKILLS: &[Template] = templates![
    "skills/forget/SKILL.md" from "skills/forget/SKILL.md.tmpl",
    "skills/handoff/SKILL.md" from "skills/handoff/SKILL.md.tmpl",
    "skills/pause/SKILL.md" from "skills/pause/SKILL.md.tmpl",
    "skills/remember/SKILL.md" from "skills/remember/SKILL.md.tmpl",
    "skills/resume/SKILL.md" from "skills/resume/SKILL.md.tmpl",
    "skills/search/SKILL.md" from "skills/search/SKILL.md.tmpl",
    "skills/status/SKILL.md" from "skills/status/SKILL.md.tmpl",
];

/// The shell launcher of packages that are not tied to one machine.
pub(super) const LAUNCHER: &Template = &templates!["bin/mem0-code" from "launcher/mem0-code.sh"][0];

/// Replaces every `{{NAME}}` by its value.
///
/// # Errors
/// The first token that has no value, or that is not closed.
pub(super) fn fill(text: &str, values: &[(&str, &str)]) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        out.push_str(&rest[..start]);
        let after = &rest[start + 2..];
        let end = after.find("}}").ok_or_else(|| "a token that is not closed".to_owned())?;
        let name = &after[..end];
        let (_, value) =
            values.iter().find(|(token, _)| *token == name).ok_or_else(|| format!("the unknown token {name}"))?;
        out.push_str(value);
        rest = &after[end + 2..];
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_filled_once_and_unknown_ones_refused() {
        assert_eq!(fill("a {{X}} b{{Y}}", &[("X", "{{Y}}"), ("Y", "2")]).unwrap(), "a {{Y}} b2");
        assert!(fill("{{Z}}", &[("X", "1")]).unwrap_err().contains('Z'));
        assert!(fill("{{X", &[("X", "1")]).is_err());
    }
}
