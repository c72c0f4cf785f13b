//! Durable memories found by rules, without a model.
//!
//! [`extract`] reads a block of turns and returns the few statements worth keeping; [`relate()`] tells whether a new
//! one repeats or replaces a stored one. What was said and done is kept verbatim elsewhere: a rule that stays silent
//! loses nothing, a rule that speaks too often makes the first prompt's recall worse. So rules prefer silence.
//!
//! | rule | looks at | confidence |
//! | --- | --- | --- |
//! | explicit | `/remember`, `# note` 0.97; "remember …" 0.95; always, never, from now on 0.9; must, "make sure every" 0.8 | as given |
//! | correction | a prompt that opens with no, wrong, actually …, with the sentence of the answer it corrects | 0.85 |
//! | preference | "I prefer", "we don't want" 0.8; other languages 0.75; "let's use", "use X instead of Y" 0.7; "X should be" 0.6 | as given |
//! | fact | a declarative sentence of a person: "we deploy …" 0.75, "our database runs on …", "I use …" 0.7 | as given |
//! | decision | answers to the agent's questions 0.8, approved plans 0.85; causes 0.75, choices 0.7, mechanisms 0.6 in a final answer | as given |
//! | outcome | the first sentence of a final answer that reports a change, and its list | 0.65, with a path 0.7 |
//! | fix | a command that failed and passed later with something changed between | 0.8, tests that only asserted 0.6 |
//! | environment | a test, build, lint or run command that passed three times | 0.7 |
//!
//! Never a memory: questions, code, pasted output, prompts above 2,000 characters (unless they say "remember"),
//! sub-agents' words, harness text, `<mem0-memory>` blocks, states of the moment, secrets, sentences an answer
//! repeats from a file it read.

mod junk;
pub mod model;
mod place;
mod prose;
mod ran;
mod relate;
mod said;
mod told;
mod words;

use crate::memory::{Category, Lane, Message, Role};

pub use relate::relate;

/// A memory is at most this many characters long.
pub const MAX_CHARS: usize = 400;

/// A durable memory a rule found.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// One self-contained statement, at most [`MAX_CHARS`] characters.
    pub text: String,
    /// The rule that found it.
    pub rule: Rule,
    /// What it is about.
    pub category: Category,
    /// Whom it is for.
    pub lane: Lane,
    /// How sure the rule is, 0 to 1. Decides injection; search sees everything.
    pub confidence: f32,
    /// Indices into the messages it comes from.
    pub sources: Vec<usize>,
}

/// The rules of extraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The person asked to remember something, or set a standing instruction.
    Explicit,
    /// The person corrected the agent.
    Correction,
    /// The person stated a preference.
    Preference,
    /// The person stated a plain fact about the project or about themselves.
    Fact,
    /// A decision or a finding in an answer, or an accepted plan.
    Decision,
    /// What a finished turn brought about.
    Outcome,
    /// A command that failed and was made to work.
    Fix,
    /// A fact about the environment seen again and again.
    Environment,
    /// A language model found it, see [`model`].
    Model,
}

impl Rule {
    /// The name kept in a memory's metadata.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Correction => "correction",
            Self::Preference => "preference",
            Self::Fact => "fact",
            Self::Decision => "decision",
            Self::Outcome => "outcome",
            Self::Fix => "fix",
            Self::Environment => "environment",
            Self::Model => "model",
        }
    }
}

/// How a new statement stands to a stored one of the same scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// About something else.
    Unrelated,
    /// Says the same; nothing new needs storing.
    Duplicate,
    /// Says something newer about the same subject; the old one goes to history.
    Supersedes,
}

/// Declares a regular expression compiled at first use.
macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        pub(super) static $name: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| $crate::extract::compiled(&$pattern));
    };
}
use pattern;

/// Compiles a pattern. One of ASCII letters only gets ASCII classes and boundaries, which are several times cheaper to
/// compile and to run; one that knows other scripts keeps the Unicode ones, or "всегда" would have no boundaries.
fn compiled(pattern: &str) -> regex::Regex {
    let narrow = pattern.is_ascii().then(|| {
        pattern
            .replace(r"\b", r"(?-u:\b)")
            .replace(r"\w", "[0-9A-Za-z_]")
            .replace(r"\W", "[^0-9A-Za-z_]")
            .replace(r"\d", "[0-9]")
            .replace(r"\s", r"[\t-\r ]")
    });
    regex::Regex::new(narrow.as_deref().unwrap_or(pattern)).expect("patterns are constants; a test compiles them all")
}

/// One prompt and what followed it, as indices into the messages.
#[derive(Debug, Default)]
struct Turn {
    prompt: Option<usize>,
    tools: Vec<usize>,
    answers: Vec<usize>,
    plans: Vec<usize>,
}

/// Finds the durable memories in a block of messages (redacted, in order, as `packet::turns` gives them).
///
/// Costs well under a millisecond a turn once the patterns are compiled.
pub fn extract(messages: &[Message]) -> Vec<Candidate> {
    let turns = turns(messages);
    let restated = junk::Restated::of(messages);
    let mut found: Vec<Candidate> = Vec::new();
    let mut previous: Option<(usize, Vec<prose::Sentence>)> = None;
    let runs = ran::fixes(messages, &turns);
    for (at, turn) in turns.iter().enumerate() {
        if let Some(prompt) = turn.prompt {
            // What the person rejects right away did not come about.
            if let Some((answer, _)) = previous.as_ref().filter(|_| said::rejects(&messages[prompt].content)) {
                found.retain(|told| told.rule != Rule::Outcome || !told.sources.contains(answer));
            }
            let before = previous.as_ref().map(|(idx, told)| (*idx, told.as_slice()));
            found.extend(said::memories(&messages[prompt].content, prompt, before));
        }
        for &plan in &turn.plans {
            found.extend(told::plan(&messages[plan].content, plan));
        }
        // Words before the turn's last tool call announce; they conclude nothing.
        let after = turn.tools.last().copied().unwrap_or(0);
        let answer = turn
            .answers
            .last()
            .filter(|idx| **idx >= after)
            .map(|&idx| (idx, prose::sentences(&messages[idx].content)));
        let fixes: Vec<Candidate> = runs
            .iter()
            .filter(|run| run.turn == at)
            .filter_map(|run| {
                ran::fix(run, messages, answer.as_ref().map(|(idx, told)| (*idx, told.as_slice())), &restated)
            })
            .collect();
        if let Some((idx, told)) = &answer {
            let wrote: Vec<&str> =
                turn.tools.iter().filter_map(|&tool| messages[tool].tool.as_ref()?.path.as_deref()).collect();
            found.extend(told::memories(told, *idx, &wrote, &restated, &fixes));
        }
        found.extend(fixes);
        previous = answer.or(previous);
    }
    found.extend(ran::environment(messages));
    tidy(found)
}

/// Groups messages into turns; words of sub-agents belong to none.
fn turns(messages: &[Message]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = vec![Turn::default()];
    for (idx, message) in messages.iter().enumerate() {
        if message.role == Role::User {
            turns.push(Turn { prompt: Some(idx), ..Turn::default() });
            continue;
        }
        let Some(turn) = turns.last_mut() else { continue };
        match message.role {
            Role::Tool => turn.tools.push(idx),
            _ if told::is_subagent(&message.content) => {}
            _ if told::plan_intro(&message.content).is_some() => turn.plans.push(idx),
            _ => turn.answers.push(idx),
        }
    }
    turns
}

/// Drops what slipped through (too long, secret, our own markers) and all but the surest of those that say the same.
fn tidy(found: Vec<Candidate>) -> Vec<Candidate> {
    let mut kept: Vec<Candidate> = Vec::new();
    for candidate in found {
        let text = &candidate.text;
        let lower = text.to_ascii_lowercase();
        let unfit = text.trim().is_empty()
            || text.chars().count() > MAX_CHARS
            || text.ends_with(['?', '？'])
            || junk::is_secret(text)
            || lower.contains("<mem0-memory")
            || lower.contains("</mem0-memory");
        if unfit {
            continue;
        }
        match kept.iter().position(|other| relate::says_the_same(text, &other.text)) {
            Some(at) if candidate.confidence > kept[at].confidence => kept[at] = candidate,
            Some(_) => {}
            None => kept.push(candidate),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_comes_from_nothing() {
        assert_eq!(extract(&[]), []);
        let blank = Message { role: Role::User, content: "  \n ".to_owned(), at: None, tool: None };
        assert_eq!(extract(&[blank]), []);
    }

    #[test]
    fn every_pattern_compiles() {
        let all: &[&regex::Regex] = &[
            &*junk::QUESTION_START,
            &*junk::QUESTION_END,
            &*junk::NARRATION,
            &*junk::PROPOSAL,
            &*junk::TRANSIENT,
            &*junk::CREDENTIAL,
            &*junk::READS,
            &*junk::READ_COMMAND,
            &*junk::INSTRUCTION_FILE,
            &*place::DEIXIS,
            &*place::PRONOUN,
            &*place::ABOUT_TALK,
            &*place::ABOUT_ME,
            &*place::MY_TOOLS,
            &*place::OF_PROJECT,
            &*place::USING,
            &*place::HTTP,
            &*place::OUR,
            &*place::TROUBLE_TALK,
            &*place::HOW_TO,
            &*place::RULING,
            &*place::WE_WORK,
            &*place::NEEDS_FIRST,
            &*place::ANCHOR,
            &*place::NOUN_OF_WORK,
            &*place::FIRST_PERSON,
            &*place::ME,
            &*prose::LOG_LINE,
            &*prose::PASTE_START,
            &*prose::ITEM,
            &*prose::HEADING,
            &*ran::WRAPPED,
            &*ran::TRIMMED,
            &*ran::READ_ONLY,
            &*ran::ERROR_LINE,
            &*ran::VAGUE,
            &*ran::ASSERTS,
            &*ran::EXPLAINS,
            &*ran::TESTS,
            &*ran::LINTS,
            &*ran::BUILDS,
            &*ran::STARTS,
            &*ran::NOT_A_WAY,
            &*relate::NOISE,
            &*relate::NEGATIVE,
            &*relate::NUMBER,
            &*relate::CLAUSE,
            &*relate::INSTEAD,
            &*relate::FOR_GOOD,
            &*relate::CJK_INSTEAD,
            &*relate::USES,
            &*said::HARNESS,
            &*said::NOTE_COMMAND,
            &*said::HEX_COLOR,
            &*said::ANSWERS,
            &*said::PAIR,
            &*said::LINE_PAIR,
            &*said::COMPLAINT,
            &*said::MUST_NOT,
            &*said::CORRECTS,
            &*said::REJECTS,
            &*said::SUBSTANCE,
            &*said::REDO,
            &*said::LOOKS,
            &*said::STORY,
            &*said::VAGUE,
            &*said::LEAD,
            &*said::REQUEST_TAIL,
            &*told::PLAN_INTRO,
            &*told::CAUSE,
            &*told::CAUSE_WEAK,
            &*told::TEACHES,
            &*told::LABEL,
            &*told::TELLING_LABEL,
            &*told::CHOICE,
            &*told::RULE_FOUND,
            &*told::LINK,
            &*told::SPEAKS,
            &*told::CONSEQUENCE,
            &*told::OPENER,
            &*told::CHANGED,
            &*told::SUMMARY,
            &*told::NOW_IS,
            &*told::TELLS_USER,
            &*told::DOCUMENT,
            &*told::AGENT,
            &*words::REMEMBER_EN,
            &*words::REMEMBER_MID,
            &*words::REMEMBER_OTHER,
            &*words::REMEMBER_CJK_HEAD,
            &*words::REMEMBER_CJK_TAIL,
            &*words::TO_DO,
            &*words::LASTING,
            &*words::STANDING_STRONG,
            &*words::STANDING_WEAK,
            &*words::MAKE_SURE,
            &*words::TELLS_OF_SELF,
            &*words::TELLS_YOU,
            &*words::QUANTIFIED,
            &*words::DONE_NOW,
            &*words::STANDING_OTHER,
            &*words::WILL,
            &*words::PREFER_EN,
            &*words::LETS,
            &*words::INSTEAD,
            &*words::CONTRAST,
            &*words::SHOULD,
            &*words::ONE_OFF,
            &*words::I_THINK,
            &*words::PREFER_OTHER,
            &*words::TROUBLE,
            &*words::FACT_SUBJECT,
            &*words::PLACE_SUBJECT,
            &*words::WE_DO,
            &*words::BARE_SUBJECT,
            &*words::NOT_SUBJECT,
            &*words::NOT_LASTING,
            &*words::I_AM,
            &*words::I_NOW,
            &*words::WE_OTHER,
            &*words::IS_OTHER,
        ];
        assert!(all.iter().all(|pattern| !pattern.as_str().is_empty()));
        let declared: usize = [
            include_str!("junk.rs"),
            include_str!("place.rs"),
            include_str!("prose.rs"),
            include_str!("ran.rs"),
            include_str!("relate.rs"),
            include_str!("said.rs"),
            include_str!("told.rs"),
            include_str!("words.rs"),
        ]
        .iter()
        .map(|source| source.matches("\npattern!(").count())
        .sum();
        assert_eq!(all.len(), declared, "a pattern is missing from this list");
    }

    #[test]
    fn a_stated_fact_is_one_memory_with_its_source() {
        let said = Message {
            role: Role::User,
            content: "please remember that the acceptance marker for this project is cobalt-orchid-731.".to_owned(),
            at: None,
            tool: None,
        };
        assert_eq!(
            extract(&[said]),
            [Candidate {
                text: "The acceptance marker for this project is cobalt-orchid-731.".to_owned(),
                rule: Rule::Explicit,
                category: Category::ProjectKnowledge,
                lane: Lane::Project,
                confidence: 0.95,
                sources: vec![0],
            }]
        );
    }
}
