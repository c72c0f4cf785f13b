//! The sources of the packages, compiled in, and what is filled into them.

/// One source file and where it goes in the package.
#[derive(Debug, Clone, Copy)]
pub(super) struct Template {
    /// Path inside the package, with `/`.
    pub path: &'static str,
    /// The text with its `{{TOKENS}}`.
    pub text: &'static str,
}

macro_rules! templates {
    ($($path:literal from $source:literal),* $(,)?) => {
        &[$(Template { path: $path, text: include_str!(concat!("../../../../templates/", $source)) }),*]
    };
}

/// The skills every package has.
pub(super) const SKILLS: &[Template] = templates![
    "skills/forget/SKILL.md" from "skills/forget/SKILL.md.tmpl",
    "skills/pause/SKILL.md" from "skills/pause/SKILL.md.tmpl",
    "skills/remember/SKILL.md" from "skills/remember/SKILL.md.tmpl",
    "skills/resume/SKILL.md" from "skills/resume/SKILL.md.tmpl",
    "skills/search/SKILL.md" from "skills/search/SKILL.md.tmpl",
    "skills/status/SKILL.md" from "skills/status/SKILL.md.tmpl",
];

/// The shell launcher of packages that are not tied to one machine.
pub(super) const LAUNCHER: Template =
    Template { path: "bin/mem0-code", text: include_str!("../../../../templates/launcher/mem0-code.sh") };

/// What is particular to one host's package.
#[derive(Debug, Clone, Copy)]
pub(super) struct Package {
    /// The host's id.
    pub host: &'static str,
    /// Files of this host only, apart from the hooks' file.
    pub files: &'static [Template],
    /// The manifest, as a path inside the package. It is what makes a folder a package: written last, removed first.
    pub manifest: &'static str,
    /// How the package's root is spelled in a hook's command.
    pub root: &'static str,
    /// How the package's own launcher is spelled as the command of its MCP server.
    pub mcp_command: &'static str,
    /// How a skill of the package runs the program when it is not tied to one machine.
    pub skill_program: &'static str,
    /// What a skill must add about that, as Markdown; empty when the host fills in the path.
    pub skill_note: &'static str,
}

/// Every host that has a package.
pub(super) const PACKAGES: &[Package] = &[
    Package {
        host: "claude-code",
        files: templates![
            ".claude-plugin/plugin.json" from "bundles/claude-code/.claude-plugin/plugin.json.tmpl",
            ".mcp.json" from "bundles/claude-code/.mcp.json.tmpl",
            "README.md" from "bundles/claude-code/README.md.tmpl",
        ],
        manifest: ".claude-plugin/plugin.json",
        root: "${CLAUDE_PLUGIN_ROOT}",
        mcp_command: "${CLAUDE_PLUGIN_ROOT}/bin/mem0-code",
        skill_program: "\"${CLAUDE_PLUGIN_ROOT}/bin/mem0-code\"",
        skill_note: "",
    },
    Package {
        host: "codex",
        files: templates![
            ".codex-plugin/plugin.json" from "bundles/codex/.codex-plugin/plugin.json.tmpl",
            ".mcp.json" from "bundles/codex/.mcp.json.tmpl",
            "README.md" from "bundles/codex/README.md.tmpl",
        ],
        manifest: ".codex-plugin/plugin.json",
        root: "${PLUGIN_ROOT}",
        mcp_command: "./bin/mem0-code",
        skill_program: "mem0-code",
        skill_note: "\nWhen `mem0-code` is not on the PATH, use `~/.mem0/bin/mem0-code`, or `bin/mem0-code` two folders above this file.\n",
    },
];

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
