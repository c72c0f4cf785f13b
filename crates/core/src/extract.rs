//! Durable memories found by rules, without a model.

use crate::memory::{Category, Lane, Message};

/// A durable memory a rule found.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// One self-contained statement.
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
    /// A decision or a finding in an answer, or an accepted plan.
    Decision,
    /// What a finished turn brought about.
    Outcome,
    /// A command that failed and was made to work.
    Fix,
    /// A fact about the environment seen again and again.
    Environment,
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

/// Finds the durable memories in a block of messages.
pub fn extract(_messages: &[Message]) -> Vec<Candidate> {
    Vec::new()
}

/// Tells how `new` stands to `old`; `cosine` is the similarity of their embeddings, -1 to 1.
pub fn relate(_new: &str, _old: &str, _cosine: f32) -> Relation {
    Relation::Unrelated
}
