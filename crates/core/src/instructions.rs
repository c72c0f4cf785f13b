//! What a remote place is told to extract: the categories and the two instruction texts that travel
//! with every `add`.
//!
//! The embedded engine ignores them, its rules are fixed. What each text must ask for follows
//! the add request of the Mem0 plugins; the wording is ours.

use serde_json::{Value, json};

use crate::memory::Category;

/// What the shared memory of a repository is to hold.
pub const AGENT: &str = "\
Extract concise facts that help anyone who works in this repository later. The repository is the subject of \
every fact: never the user, the assistant or the session.
- For each change that was completed, write one memory: how it behaves now, where it lives, and what it must respect.
- Keep a finding from exploration, or a decision that was accepted, as a memory of its own only if it is useful without the rest.
- When a command failed and was then made to work, write one memory with the failing call, its error and the call that \
works. Leave out commands that passed, and errors that went away by themselves.
- Take conclusions from the agent's final answer. Leave out proposals that were neither accepted nor carried out.
- What a sub-agent reports supports a conclusion; it is not a decision.
- Leave out personal preferences, facts that only name the repository, its branch or a folder, test results, \
documentation updates, release notes and any state that will soon be different.
If nothing worth keeping was learned, extract nothing.";

/// What the personal memory of the user is to hold.
pub const PERSONAL: &str = "\
Extract facts about the user that help in any repository: tools and languages they favor, their coding style, how they \
like reviews and communication to go, and whatever they explicitly asked to have remembered. Write in the third \
person. Leave out facts about the repository at hand. If the conversation shows no such fact, extract nothing; never \
write that the user has no preferences.";

/// Returns the sentence that explains a category to a remote extractor.
pub fn sentence(category: Category) -> &'static str {
    match category {
        Category::ProjectKnowledge => "What the project is, how its parts fit together and how they behave.",
        Category::DecisionsAndConstraints => "Choices that were made, the reasons for them, and what has to stay true.",
        Category::Workflows => "How to set up, run, test, configure, release or deploy the project.",
        Category::ProblemsAndFixes => "Failures that were met, what caused them, and what cured or avoided them.",
        Category::Results => "What work, experiments and measurements came to.",
    }
}

/// Returns the categories as the add request carries them: a list of five objects `{name: sentence}`.
pub fn categories() -> Value {
    Category::ALL.into_iter().map(|category| json!({ category.as_str(): sentence(category) })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_categories_with_a_sentence_each() {
        let categories = categories();
        let list = categories.as_array().unwrap();
        assert_eq!(list.len(), 5);
        for (item, category) in list.iter().zip(Category::ALL) {
            let object = item.as_object().unwrap();
            assert_eq!(object.len(), 1);
            assert!(object[category.as_str()].as_str().unwrap().ends_with('.'));
        }
    }

    #[test]
    fn the_texts_are_long_enough_to_instruct() {
        assert!(AGENT.chars().count() >= 80 && PERSONAL.chars().count() >= 80);
        for text in [AGENT, PERSONAL] {
            assert!(!text.contains("  ") && text.is_ascii(), "{text}");
        }
    }
}
