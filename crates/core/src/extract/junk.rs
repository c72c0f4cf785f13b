//! What is never a memory: questions, narration, states of the moment, secrets, restated files.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::pattern;
use super::prose::{Sentence, is_cjk};
use crate::memory::{Message, Role};

pattern!(
    QUESTION_START,
    r"^(?:(?:and|but|so|ok|okay|hm+|also|then),?\s+)?(?:when\s+(?:is|are|was|were|do|does|did|can|could|should|would|will)\b|(?:what|why|how|where|which|who|whose)(?:'s|'re|'d)?\s+(?:is|are|was|were|do|does|did|about|if|can|could|should|would|will|the|this|that|it|we|you|i|they|happens|to|else|of|in|a|hard|many|much|kind|version|one)\b|(?:is|are|was|were|do|does|did|can|could|should|would|will|shall|have|has|had|isn't|aren't|don't you|doesn't|didn't|can't|won't|wouldn't)\s+(?:there|the|this|that|these|those|it|we|you|i|they|he|she|my|our|your|a|an|any|all)\b|any (?:idea|clue|reason|chance)\b|warum\b|wieso\b|weshalb\b|kannst du\b|könntest\b|pourquoi\b|est-ce\b|peux-tu\b|¿|puedes\b|por qué\b|por que\b|você pode\b|pode\b|почему\b|зачем\b|можешь\b|为什么|為什麼|怎么|怎麼|なぜ|どうして|왜\b)"
);
pattern!(QUESTION_END, r"[?？]\W*$|(?:吗|嗎|呢|ですか|ますか|でしょうか|なのか|나요|까요|니까)[。.!]?$");

/// Tells whether a sentence asks something.
pub(super) fn is_question(sentence: &Sentence) -> bool {
    QUESTION_END.is_match(&sentence.lower) || QUESTION_START.is_match(&sentence.lower)
}

pattern!(
    NARRATION,
    r"^(?:(?:now|ok(?:ay)?|great|perfect|good|first|next|then|alright|sure|got it|excellent|understood|right|so|and|wait|hmm+|ah|aha|done)[,.!:]?\s+)*(?:i(?:'ll| will| am going to|'m going to| need to| should| can| could| want to| would| am now|'m now|'d like to| have to| must| see\b| think| notice| don't have| wasn't able| couldn't| found that it)|let me|let's|let us|we(?:'ll| will| can| could| should| need to| have (?:a few|two|three|several))|going to|now (?:i|let|we|you|to)\b|(?:run|restart|rerun|re-run|reload|refresh) |looking at|checking|running|reading|starting|waiting|on it|here(?:'s| is| are)\b|you(?:'re| are) (?:right|welcome|absolutely)|you can|you could|you may|you might|you should|you'll|want me|would you|do you|shall i|should i|tell me|feel free|happy to|anytime|sorry|thanks|thank you|glad|noted|understood|sure|try |test it|please (?:let|run|try|check|tell|provide)|next (?:up|step|steps)|todo\b|to ?do:|if you(?:'d| would| want| need| prefer| like| still)|when you(?:'re| are) (?:ready|done)|from memory\b|draft\b|some ideas|a few ideas|two options|options?:)"
);

/// Tells whether a sentence of an answer narrates, offers, thanks or announces.
pub(super) fn is_narration(sentence: &Sentence) -> bool {
    NARRATION.is_match(&sentence.lower)
}

pattern!(
    PROPOSAL,
    r"\b(?:could|might|may want|would (?:be|make|need|allow|let|you|also|work)|i(?:'d| would) (?:suggest|recommend|propose|pin|go|start|use)|suggest(?:ion|ed)?|recommend(?:ation|ed)?|propos(?:e|al)|alternatively|you should be able|whether|to see if|if the (?:issue|problem|error)|helps? (?:you )?(?:determine|identify|resolve|understand)|should help|hope|option \d|one option|another option|we can|you can|consider|should we|should i|if you (?:want|like|prefer)|perhaps|maybe|probably|possibly|i think|i believe|likely|seems?|appears?|unclear|not sure|presumably|plan to|ideas?|bet|suspect|guess|assum(?:e|ing)|would (?:then |also )?(?:be|use|have))\b"
);

/// Tells whether a sentence proposes or guesses rather than reports.
pub(super) fn is_proposal(sentence: &Sentence) -> bool {
    PROPOSAL.is_match(&sentence.lower)
}

pattern!(
    TRANSIENT,
    r"\b(?:currently|right now|at the moment|for now|at present|as of now|in progress|so far|todo|uncommitted|working tree|work(?:ing)? directory is|ahead of|behind (?:origin|main|master)|up to date|commits? (?:ahead|behind)|step \d+ of \d+|\d+ of \d+|next up|remaining (?:steps?|tasks?|work)|still (?:need|have|todo|failing|open)|background task|dev server is|momentan|gerade|aktuell|actuellement|actualmente|en este momento|сейчас|目前|现在正|現在正)\b|\b(?:all\s+)?\d+\s+(?:unit |integration |e2e )?(?:tests?|specs?|checks?|examples?|assertions?)\b|\b(?:all|the)\s+(?:unit |type |existing )?(?:tests?|checks?|specs?|suite|build|linter|lint|type ?check|ci)(?:\s+(?:now|all|still))*\s+(?:pass(?:es|ed|ing)?|(?:is|are)\s+(?:\w+\s+)?(?:green|passing|clean|failing|red)|fail(?:s|ed|ing)?|succeeds?|succeeded)\b|^tests? pass\b|^type ?check is\b|\bpass(?:es|ed|ing)? (?:again|now)\b|\b(?:is|are) (?:stable|green|clean) now\b|\bready (?:for|to)\b|\bgood progress\b|\bopened it\b|^everything (?:is|works|builds|passes)|\bbuilds? (?:now|successfully|fine|cleanly)\b|\bimage builds\b|\b(?:committed|pushed|shipped|merged) (?:as|to|it)\b"
);

/// Tells whether a sentence is true of this moment only.
pub(super) fn is_transient(sentence: &Sentence) -> bool {
    TRANSIENT.is_match(&sentence.lower)
}

pattern!(
    CREDENTIAL,
    r"\b(?:pass(?:word|phrase|wd|wort)?|mot de passe|contraseña|senha|пароль|token|secret|credentials?|api[ _-]?key|access[ _-]?key|private[ _-]?key|密码|密碼|パスワード|비밀번호)\b"
);

/// What takes the place of a secret; see [`crate::redact`].
const REDACTED: &str = "[REDACTED";

/// Tells whether a text holds, or held, something secret. Redaction comes before extraction; this is the second lock.
pub(super) fn is_secret(text: &str) -> bool {
    if text.contains(REDACTED) {
        return true;
    }
    let mut opaque = text.split(|c: char| c.is_whitespace() || "\"'`=,;()<>".contains(c)).map(|word| {
        let word = word.trim_end_matches(['.', ':', '!']);
        let digits = word.chars().filter(char::is_ascii_digit).count();
        let letters = word.chars().filter(char::is_ascii_alphabetic).count();
        let upper = word.chars().any(|c| c.is_ascii_uppercase()) && word.chars().any(|c| c.is_ascii_lowercase());
        (word.len(), digits, letters, upper, word.contains(['/', '\\']))
    });
    let mentions = CREDENTIAL.is_match(&text.to_lowercase());
    opaque.any(|(len, digits, letters, upper, path)| {
        !path
            && digits >= 2
            && letters >= 2
            && ((mentions && len >= 8 && (upper || digits >= 4)) || (upper && len >= 24 && digits >= 4))
    })
}

/// Words a restated sentence shares with its file.
const RUN: usize = 8;

/// Runs of words that stand in files the agent read; an answer that repeats one restates, it does not find.
#[derive(Debug, Default)]
pub(super) struct Restated {
    runs: HashSet<u64>,
}

pattern!(
    READS,
    r"^(?:.*[_.])?(?:read|view|cat|open|fetch|webfetch|get_?file|read_?file|readfile|read_?many_?files|grep|search|glob|ls|skill)"
);
pattern!(
    READ_COMMAND,
    r"(?:^|&&|;|\|)\s*(?:cat|bat|head|tail|less|more|sed -n|awk|rg|grep|git show|git log|gh (?:issue|pr) view|curl|jq)\b"
);
pattern!(
    INSTRUCTION_FILE,
    r"\b(?:agents|claude|gemini|contributing|copilot-instructions|cursorrules)(?:\.md)?\b.{0,40}\b(?:says?|states?|requires?|asks?|rules?|guidelines?|instructions?|convention)|\b(?:per|according to|as (?:stated|written|required|instructed) (?:in|by)|following|read) (?:the )?`?(?:agents|claude|gemini|contributing|readme)(?:\.md)?\b|\bproject rules\b"
);

impl Restated {
    /// Collects the runs of everything that was read in these messages.
    pub(super) fn of(messages: &[Message]) -> Self {
        let mut runs = HashSet::new();
        for message in messages.iter().filter(|message| message.role == Role::Tool) {
            let Some(tool) = &message.tool else { continue };
            let reads = match &tool.command {
                Some(command) => READ_COMMAND.is_match(command),
                None => READS.is_match(&tool.name.to_ascii_lowercase()),
            };
            if reads {
                runs.extend(hashes(if tool.output.is_empty() { &message.content } else { &tool.output }));
            }
        }
        Self { runs }
    }

    /// Tells whether an agent's sentence repeats a run of what was read, or says that it quotes an instruction file.
    pub(super) fn holds(&self, sentence: &Sentence) -> bool {
        INSTRUCTION_FILE.is_match(&sentence.lower)
            || (!self.runs.is_empty() && hashes(&sentence.text).into_iter().any(|run| self.runs.contains(&run)))
    }
}

/// Hashes of all runs of [`RUN`] words; a CJK character is a word.
fn hashes(text: &str) -> Vec<u64> {
    let mut words: Vec<String> = Vec::new();
    for piece in text.split(|c: char| !c.is_alphanumeric()).filter(|piece| !piece.is_empty()) {
        if piece.chars().any(is_cjk) {
            words.extend(piece.chars().map(String::from));
        } else {
            words.push(piece.to_lowercase());
        }
    }
    words
        .windows(RUN)
        .map(|run| {
            let mut hasher = DefaultHasher::new();
            run.hash(&mut hasher);
            hasher.finish()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::prose::Form;
    use super::*;

    fn sentence(text: &str) -> Sentence {
        Sentence::new(text, Form::Plain, 0)
    }

    #[test]
    fn questions_are_told_from_statements() {
        for text in
            ["is it always run in CI", "why does it always do that", "Ist das so?", "这个是什么吗", "can you check"]
        {
            assert!(is_question(&sentence(text)), "{text}");
        }
        for text in
            ["The port is 5433.", "When you commit, sign off.", "Do not edit vendor/.", "Have tests for all of it."]
        {
            assert!(!is_question(&sentence(text)), "{text}");
        }
    }

    #[test]
    fn states_of_the_moment_are_seen() {
        for text in
            ["All 42 tests pass.", "Currently it fails.", "The branch is 2 commits ahead of main.", "Tests pass again."]
        {
            assert!(is_transient(&sentence(text)), "{text}");
        }
        for text in ["Tests are written with vitest.", "The build uses esbuild."] {
            assert!(!is_transient(&sentence(text)), "{text}");
        }
    }

    #[test]
    fn secrets_are_seen_even_unredacted() {
        let made = format!("the password is {}{}", "Hx7", "kQ29zzT");
        assert!(is_secret(&made));
        assert!(is_secret("its token is [REDACTED]"));
        assert!(!is_secret("tokens are stored in `auth_tokens` for 3600 seconds"));
        assert!(!is_secret("commit 4f2a9c1d8e7b6a5f4e3d2c1b0a9f8e7d6c5b4a39 added it"));
    }
}
