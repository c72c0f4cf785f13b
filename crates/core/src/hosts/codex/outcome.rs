//! How a command ended, from the several forms Codex has told it in.

use super::wire::{Command, ShellOutput};
use crate::hosts::json;

/// What a tool's output says about the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) exit_code: i64,
    pub(super) output: String,
}

/// Reads the output of a shell tool: the older tool's JSON, or a few head lines with the output after them.
/// `None` when no exit code is told, as for a command that still runs or was interrupted.
pub(super) fn of_output(output: &str) -> Option<Ended> {
    if output.trim_start().starts_with('{') {
        let old: ShellOutput = json::line(output.as_bytes())?;
        let exit_code = old.metadata.get()?.exit_code.0?;
        return Some(Ended { exit_code, output: old.output.0.unwrap_or_default() });
    }
    let (head, printed) = output.split_once("\nOutput:\n").unwrap_or((output, ""));
    let code_of = |line: &str| {
        let code = line.strip_prefix("Process exited with code ").or(line.strip_prefix("Exit code: "))?;
        code.trim().parse().ok()
    };
    let exit_code = head.lines().take(8).find_map(code_of)?;
    Some(Ended { exit_code, output: printed.to_owned() })
}

/// Returns a command as hooks are given it: what the shell was asked to run, without the shell.
pub(super) fn command_line(command: Command) -> String {
    let words = match command {
        Command::Line(line) => return line,
        Command::Words(words) => words,
    };
    let shell = words.first().map(|path| path.rsplit(['/', '\\']).next().unwrap_or(path).to_ascii_lowercase());
    let shell = shell.as_deref().map(|name| name.strip_suffix(".exe").unwrap_or(name));
    let is_shell =
        matches!(shell, Some("sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" | "pwsh" | "powershell" | "cmd"));
    let runs_text =
        |flag: &str| matches!(flag.to_ascii_lowercase().as_str(), "-c" | "-lc" | "-ic" | "-lic" | "-command" | "/c");
    if let [_, .., flag, text] = words.as_slice()
        && is_shell
        && runs_text(flag)
    {
        return text.clone();
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\"'\"'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_an_ending_is_read() {
        let unified = "Chunk ID: e2\nWall time: 2.0 seconds\nProcess exited with code 101\nOutput:\nerror\n";
        let patch = "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n";
        let old = r#"{"output":"no such file\n","metadata":{"exit_code":1,"duration_seconds":0.1}}"#;
        for (output, expected) in [
            (unified, Some((101, "error\n"))),
            (patch, Some((0, "Success.\n"))),
            (old, Some((1, "no such file\n"))),
            ("Wall time: 6.4 seconds\naborted by user", None),
            ("Wall time: 1 s\nProcess running with session ID 7\nOutput:\nExit code: 3\n", None),
            ("{\"output\":\"x\"}", None),
            ("{", None),
            ("Exit code: many", None),
            ("", None),
        ] {
            let expected = expected.map(|(exit_code, output)| Ended { exit_code, output: output.to_owned() });
            assert_eq!(of_output(output), expected, "{output}");
        }
    }

    #[test]
    fn a_command_is_what_the_shell_was_given() {
        for (words, expected) in [
            (vec!["bash", "-lc", "cat ci.log | head"], "cat ci.log | head"),
            (vec!["/bin/zsh", "-c", "ls"], "ls"),
            (vec!["powershell.exe", "-NoProfile", "-Command", "Get-Item x"], "Get-Item x"),
            (vec!["C:\\Windows\\cmd.exe", "/C", "dir"], "dir"),
            (vec!["git", "commit", "-m", "it's done"], "git commit -m 'it'\"'\"'s done'"),
            (vec!["bash", "run.sh"], "bash run.sh"),
            (vec![], ""),
        ] {
            let words = words.into_iter().map(str::to_owned).collect();
            assert_eq!(command_line(Command::Words(words)), expected);
        }
        assert_eq!(command_line(Command::Line("bash -lc ls".into())), "bash -lc ls");
    }
}
