//! The slash command `/mem0-handoff`: what its arguments mean.

/// How it is used.
pub const USAGE: &str = "Usage: /mem0-handoff [save | list | resume <path>]";

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Save this session.
    Save,
    /// List the resources of this project.
    List,
    /// Give the history of a resource, by its path.
    Resume(String),
}

/// Reads the text after the command's name; `None` when it means nothing. The path is all that follows `resume`,
/// blanks inside it included; it never passes through a shell.
pub fn parse(arguments: &str) -> Option<Command> {
    match arguments.trim() {
        "" | "save" => Some(Command::Save),
        "list" => Some(Command::List),
        other => {
            let rest = other.strip_prefix("resume").filter(|rest| rest.starts_with(char::is_whitespace))?;
            let path = rest.trim_start();
            (!path.is_empty() && !path.contains('\0')).then(|| Command::Resume(path.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_case_of_the_fixture() {
        let text = include_str!("../../../../tests/fixtures/handoff/command-arguments.json");
        let fixture: Value = serde_json::from_str(text).unwrap();
        let cases = fixture["cases"].as_array().unwrap();
        assert!(cases.len() > 10);
        for case in cases {
            let expected = match case["action"].as_str() {
                Some("save") => Some(Command::Save),
                Some("list") => Some(Command::List),
                Some("resume") => Some(Command::Resume(case["resource"].as_str().unwrap().to_owned())),
                _ => None,
            };
            assert_eq!(parse(case["args"].as_str().unwrap()), expected, "{case}");
        }
    }
}
