//! What the commands tell: failures that were made to work, and commands the project is worked with.

use super::junk::{self, Restated};
use super::prose::{self, Sentence, clip};
use super::{Candidate, MAX_CHARS, Rule, Turn, pattern, told};
use crate::memory::{Category, Lane, Message, ToolOutcome};

/// A failure is taken to be mended by the same command at most this many tool calls later.
const WITHIN: usize = 40;
/// A command is the project's way once it passed this often.
const TIMES: usize = 3;
/// Environment facts and fixes a block may yield, each.
const MAX_EACH: usize = 3;

/// A command that failed and passed later.
#[derive(Debug)]
pub(super) struct Mended {
    /// Message of the failure.
    failed: usize,
    /// Message of the passing run.
    passed: usize,
    /// The turn it passed in.
    pub(super) turn: usize,
    /// Files written between.
    files: Vec<String>,
    /// Commands between that may have changed something.
    steps: Vec<String>,
}

pattern!(
    WRAPPED,
    r"^(?:cd\s+(\S+)\s*(?:&&|;)\s*|(?:[A-Z_][A-Z0-9_]*=\S*\s+)+|(?:timeout|time|nice|sudo|env)\s+(?:-\S+\s+)*(?:\d+[smh]?\s+)?)"
);
pattern!(
    TRIMMED,
    r"\s*(?:2>&1|[12]?>\s*\S+|\|\|?\s*(?:tail|head|grep|rg|tee|cat|less|true|sed|awk|wc)\b.*|;\s*echo\b.*|&&\s*echo\b.*)$"
);

/// Returns a command without what differs between two runs of it: folder, environment, time limit, output filters.
fn normalize(command: &str) -> String {
    let mut rest = prose::collapse(command.lines().next().unwrap_or(""));
    while let Some(end) = WRAPPED.find(&rest).map(|found| found.end()).filter(|&end| end > 0) {
        rest.replace_range(..end, "");
    }
    while let Some(start) = TRIMMED.find(&rest).map(|found| found.start()) {
        rest.truncate(start);
    }
    rest.trim().to_owned()
}

pattern!(
    READ_ONLY,
    r"^(?:ls|cat|head|tail|grep|rg|find|echo|pwd|cd|which|sed -n|git (?:status|diff|log|show|branch|blame)|wc|stat|file|tree|ps|sleep|true|test|date|env|printenv)\b"
);

/// Finds commands that failed and passed later with a change between.
pub(super) fn fixes(messages: &[Message], turns: &[Turn]) -> Vec<Mended> {
    let calls: Vec<(usize, usize, &ToolOutcome)> = turns
        .iter()
        .enumerate()
        .flat_map(|(at, turn)| turn.tools.iter().map(move |&idx| (at, idx)))
        .filter_map(|(at, idx)| Some((at, idx, messages[idx].tool.as_ref()?)))
        .collect();
    let mut out: Vec<Mended> = Vec::new();
    let mut open: Vec<(String, usize)> = Vec::new(); // normalized command, position of its first failure
    for (position, (turn, idx, tool)) in calls.iter().enumerate() {
        let Some(command) = tool.command.as_deref() else { continue };
        let command = normalize(command);
        if command.is_empty() || READ_ONLY.is_match(&command) {
            continue;
        }
        let at = open.iter().position(|(other, _)| *other == command);
        match (tool.failed, at) {
            (Some(true), None) => open.push((command, position)),
            (Some(false), Some(at)) => {
                let (_, start) = open.remove(at);
                if position - start > WITHIN {
                    continue;
                }
                let between = &calls[start + 1..position];
                let mut files: Vec<String> = Vec::new();
                let mut steps: Vec<String> = Vec::new();
                for (_, _, tool) in between {
                    if let Some(path) = tool.path.as_ref().filter(|path| !files.contains(path)) {
                        files.push(path.clone());
                    }
                    if let Some(step) = tool.command.as_deref().map(normalize)
                        && tool.failed != Some(true)
                        && step != command
                        && !READ_ONLY.is_match(&step)
                        && !step.is_empty()
                        && !steps.contains(&step)
                    {
                        steps.push(step);
                    }
                }
                if !files.is_empty() || !steps.is_empty() {
                    out.push(Mended { failed: calls[start].1, passed: *idx, turn: *turn, files, steps });
                }
            }
            _ => {}
        }
    }
    out.truncate(MAX_EACH);
    out
}

pattern!(
    ERROR_LINE,
    r"(?i)\b(?:error|failed|failure|panicked|exception|fatal|traceback|denied|refused|not found|no such|undefined|cannot|can't|unable|timeout|timed out|unexpected|unresolved|invalid|missing|mismatch|err!|ts\d{3,5}|e\d{4})\b|\w+(?:Error|Exception)\b|^e\s{2,}"
);
pattern!(
    VAGUE,
    r"(?i)^\s*(?:traceback|exit code|exit status|npm err! (?:code|errno|path|a complete log)|npm error (?:code|errno|path|a complete log)|error: (?:process|command|aborting|could not compile)|make(?:\[\d+\])?: \*\*\*|\d+ (?:failed|errors?)|failures?:|failed tests?:?\s*$|test result|stderr:|error:?\s*$)"
);
pattern!(ASSERTS, r"(?i)\bassert|\bexpected\b.*\b(?:to|but|got|received)\b|\bmismatch\b");

/// Returns the first line of an output that names an error, bounded.
fn error_line(output: &str) -> Option<String> {
    let lines: Vec<&str> =
        output.lines().map(str::trim).filter(|line| line.len() > 3 && !VAGUE.is_match(line)).collect();
    // A Python traceback tells its error last.
    let last =
        output.contains("Traceback (most recent").then(|| lines.iter().rev().find(|line| ERROR_LINE.is_match(line)));
    let line = last.flatten().or_else(|| lines.iter().find(|line| ERROR_LINE.is_match(line)))?;
    let line = clip(&prose::collapse(line.trim_start_matches("E  ")), 140);
    (!junk::is_secret(&line)).then_some(line)
}

/// Makes a memory of a mended command, with the sentence of the answer that closes the matter.
pub(super) fn fix(
    run: &Mended,
    messages: &[Message],
    answer: Option<(usize, &[Sentence])>,
    restated: &Restated,
) -> Option<Candidate> {
    let failed = messages[run.failed].tool.as_ref()?;
    let command = normalize(failed.command.as_deref()?);
    if command.chars().count() > 120 || junk::is_secret(&command) {
        return None;
    }
    let error = error_line(&failed.output)?;
    let mut text = format!("`{command}` failed with: {}", error.trim_end_matches('.'));
    let by = if run.files.is_empty() {
        run.steps.iter().rev().take(2).rev().map(|step| format!("`{}`", clip(step, 60))).collect::<Vec<_>>().join(", ")
    } else {
        run.files.iter().take(3).cloned().collect::<Vec<_>>().join(", ")
    };
    let how = if run.files.is_empty() { "fixed by running" } else { "fixed by changing" };
    let with = format!("{text}; {how} {by}");
    if with.chars().count() <= MAX_CHARS && !junk::is_secret(&by) {
        text = with;
    }
    let mut sources = vec![run.failed, run.passed];
    if let Some((idx, closing)) = answer.and_then(|(idx, told)| Some((idx, closing(told, restated)?))) {
        let with = format!("{text}. {}", closing.text);
        if with.chars().count() <= MAX_CHARS {
            text = with;
            sources.push(idx);
        }
    }
    let asserted = failed.command_kind.as_deref() == Some("test") && ASSERTS.is_match(&error);
    Some(Candidate {
        text: clip(&text, MAX_CHARS),
        rule: Rule::Fix,
        category: Category::ProblemsAndFixes,
        lane: Lane::Project,
        confidence: if asserted { 0.6 } else { 0.8 },
        sources,
    })
}

pattern!(
    EXPLAINS,
    r"(?i)\b(?:because|cause|reason|was|were|no longer|crashes|missing|removed|dropped|used|turns out|due to|since)\b"
);

/// Returns the sentence of an answer that says what was wrong, else its first of substance.
fn closing<'a>(told: &'a [Sentence], restated: &Restated) -> Option<&'a Sentence> {
    let usable = || {
        told.iter().filter(|s| {
            told::is_usable(s, restated) && s.words() >= 5 && s.form != prose::Form::Heading && !s.text.ends_with(':')
        })
    };
    usable().find(|s| EXPLAINS.is_match(&s.lower)).or_else(|| usable().next())
}

pattern!(
    TESTS,
    r"\b(?:tests?|test-\w+|spec|pytest|jest|vitest|mocha|rspec|phpunit|ctest|nextest|tox|playwright|e2e|check)\b"
);
pattern!(
    LINTS,
    r"\b(?:lint|eslint|clippy|ruff|flake8|mypy|pyright|tsc|typecheck|detekt|rubocop|golangci-lint|fmt|prettier|biome|shellcheck)\b"
);
pattern!(BUILDS, r"\b(?:build|compile|make|bundle|webpack|package|assemble|bazel|cmake|ninja)\b");
pattern!(STARTS, r"\b(?:dev|start|serve|up|runserver|watch)\b|^(?:\./)?run\b|\./run");
pattern!(NOT_A_WAY, r"<<|\$\(|/tmp/|\bpython3? -c\b|\bnode -e\b|\bcurl\b|\bkill\b|\brm\b|\bgit\b|\bgh\b|[|;]|&&");

/// Finds the commands the project is tested, linted, built and run with.
pub(super) fn environment(messages: &[Message]) -> Vec<Candidate> {
    let mut seen: Vec<(String, Option<&str>, Vec<usize>)> = Vec::new();
    for (idx, message) in messages.iter().enumerate() {
        let Some(tool) = &message.tool else { continue };
        let (Some(command), Some(false)) = (tool.command.as_deref(), tool.failed) else { continue };
        if command.lines().nth(1).is_some() {
            continue;
        }
        let command = normalize(command);
        match seen.iter_mut().find(|(other, _, _)| *other == command) {
            Some((_, _, at)) => at.push(idx),
            None => seen.push((command, tool.command_kind.as_deref(), vec![idx])),
        }
    }
    seen.into_iter()
        .filter(|(command, _, at)| at.len() >= TIMES && command.chars().count() <= 120 && !READ_ONLY.is_match(command))
        .filter(|(command, _, _)| !NOT_A_WAY.is_match(command) && !junk::is_secret(command))
        .filter_map(|(command, kind, sources)| {
            let lower = command.to_ascii_lowercase();
            let what = if LINTS.is_match(&lower) {
                "Lint and type checks run"
            } else if kind == Some("test") || TESTS.is_match(&lower) {
                "Tests run"
            } else if kind == Some("build") || BUILDS.is_match(&lower) {
                "The project builds"
            } else if STARTS.is_match(&lower) {
                "The project is started"
            } else {
                return None;
            };
            Some(Candidate {
                text: format!("{what} with `{command}`."),
                rule: Rule::Environment,
                category: Category::Workflows,
                lane: Lane::Project,
                confidence: 0.7,
                sources,
            })
        })
        .take(MAX_EACH)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_command_are_recognized() {
        for command in [
            "cargo test -p ledger",
            "cd crates && cargo test -p ledger 2>&1 | tail -20",
            "RUST_LOG=debug timeout 60 cargo test -p ledger > out.txt 2>&1",
        ] {
            assert_eq!(normalize(command), "cargo test -p ledger");
        }
    }

    #[test]
    fn the_error_line_is_the_one_that_says_something() {
        let cases = [
            (
                "   Compiling x\nerror[E0433]: failed to resolve\nerror: could not compile `x`",
                Some("error[E0433]: failed to resolve"),
            ),
            ("Traceback (most recent call last):\n  File \"a\", line 1\nKeyError: 'x'", Some("KeyError: 'x'")),
            ("all good", None),
        ];
        for (output, line) in cases {
            assert_eq!(error_line(output).as_deref(), line);
        }
    }
}
