//! What a person said: explicit requests to remember, corrections, preferences, facts, answers to questions.

use super::junk::{is_question, is_secret, is_transient};
use super::place::{self, Ground};
use super::prose::{Form, Sentence, clip, collapse, sentences, words};
use super::words::{self as tongue, Marker};
use super::{Candidate, MAX_CHARS, Rule, pattern};
use crate::memory::{Category, Lane};

/// Prompts above this many characters are mostly pasted; only an explicit "remember" counts in them.
const LONG_PROMPT_CHARS: usize = 2_000;
/// Longer sentences tell stories; facts and preferences are shorter.
const MAX_WORDS: usize = 32;
/// Memories one prompt may yield.
const MAX_PER_PROMPT: usize = 6;

/// Finds what a prompt says that lasts. `previous` is the agent's last answer, with its message index.
pub(super) fn memories(prompt: &str, idx: usize, previous: Option<(usize, &[Sentence])>) -> Vec<Candidate> {
    let trimmed = prompt.trim();
    if trimmed.is_empty() || is_harness(trimmed) {
        return Vec::new();
    }
    if let Some(note) = command_note(trimmed) {
        return single(note, idx, 0.97).into_iter().collect();
    }
    if trimmed.starts_with('/') && !trimmed[1..].split_whitespace().next().unwrap_or("").contains('/') {
        return Vec::new();
    }
    if let Some(rest) = answers_intro(trimmed) {
        return answers(rest, idx);
    }
    let all = sentences(trimmed);
    let long = trimmed.chars().count() > LONG_PROMPT_CHARS;
    let mut out = explicit(&all, idx, long);
    if !long {
        let taken: Vec<usize> = out.iter().flat_map(|found| found.1.clone()).collect();
        let corrected = correction(&all, idx, previous, &taken);
        let in_correction: Vec<usize> = corrected.iter().flat_map(|found| found.1.clone()).collect();
        out.extend(corrected);
        for (at, sentence) in all.iter().enumerate() {
            if taken.contains(&at) || in_correction.contains(&at) {
                continue;
            }
            if let Some(found) = preference(sentence, idx).or_else(|| fact(sentence, idx)) {
                out.push((found, vec![at]));
            }
        }
    }
    out.sort_by_key(|(_, at)| at.first().copied());
    out.into_iter().map(|(candidate, _)| candidate).take(MAX_PER_PROMPT).collect()
}

/// A candidate and the sentences it used up.
type Found = (Candidate, Vec<usize>);

pattern!(
    HARNESS,
    r"^(?:\[request interrupted|\[image|caveat:|<!-- |this session is being continued|base directory for this skill|stop hook feedback|\[system|api error|subagent (?:assignment|response)|you are (?:a|an|the) [a-z ]{0,40}(?:agent|assistant|reviewer))"
);

/// Tells whether a whole prompt is words of the harness.
fn is_harness(prompt: &str) -> bool {
    HARNESS.is_match(&prompt.to_ascii_lowercase())
}

pattern!(NOTE_COMMAND, r"^/(?:mem0:)?(?:remember|memorize|note)\b[:\s]*");
pattern!(HEX_COLOR, r"^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b");

/// Returns the note of `/remember note` or `# note`.
fn command_note(prompt: &str) -> Option<&str> {
    let lower = prompt.to_ascii_lowercase();
    if let Some(found) = NOTE_COMMAND.find(&lower) {
        return Some(prompt[found.end()..].trim()).filter(|note| !note.is_empty());
    }
    let note = prompt.strip_prefix('#')?;
    let one_line = !note.contains('\n') && note.chars().count() <= MAX_CHARS;
    let starts = note.starts_with([' ']) || note.starts_with(char::is_alphabetic);
    let hash_word = note.starts_with("include") || note.starts_with("define") || HEX_COLOR.is_match(&lower);
    (one_line && starts && !hash_word && words(note) >= 4 && !note.trim_end().ends_with('?')).then(|| note.trim())
}

pattern!(
    ANSWERS,
    r"^(?:the |here are (?:the |my )?)?(?:user(?:'s)? )?(?:has )?answer(?:s|ed)?\b[^\n]{0,40}\bquestions?\b[^\n:]{0,40}[:.]?"
);

/// Returns what follows the introduction of answers to the agent's questions.
fn answers_intro(prompt: &str) -> Option<&str> {
    let found = ANSWERS.find(&prompt.get(..160).unwrap_or(prompt).to_ascii_lowercase())?.end();
    prompt.get(found..).map(str::trim)
}

pattern!(PAIR, r#""([^"\n]{4,300})"\s*(?:=|:|→|->)\s*"([^"\n]{1,300})""#);
pattern!(
    LINE_PAIR,
    r"(?m)^\s*(?:[-*]|\d+[.)]|q\d*[:.])?\s*([^\n?]{4,300}\?)\s*(?:\n\s*)?(?:a\d*[:.]\s*|→|->|=|:|-|—)?\s*([^\n]{1,300})$"
);

/// Turns answered questions into decisions.
fn answers(text: &str, idx: usize) -> Vec<Candidate> {
    let pairs: Vec<(String, String)> = if PAIR.is_match(text) {
        PAIR.captures_iter(text).map(|found| (found[1].to_owned(), found[2].to_owned())).collect()
    } else {
        LINE_PAIR.captures_iter(text).map(|found| (found[1].to_owned(), found[2].to_owned())).collect()
    };
    pairs
        .into_iter()
        .filter_map(|(question, answer)| {
            let question = collapse(question.trim().trim_end_matches(['?', '？', ':', ' ']));
            let answer = collapse(answer.trim().trim_end_matches('.'));
            let text = format!("Decided by the user: {question}: {answer}");
            (!answer.is_empty() && !answer.ends_with('?') && !is_secret(&text)).then(|| Candidate {
                text: clip(&text, MAX_CHARS),
                rule: Rule::Decision,
                category: Category::DecisionsAndConstraints,
                lane: Lane::Project,
                confidence: 0.8,
                sources: vec![idx],
            })
        })
        .take(MAX_PER_PROMPT)
        .collect()
}

/// Makes an explicit memory of a note as it stands.
fn single(note: &str, idx: usize, confidence: f32) -> Option<Candidate> {
    let sentence = Sentence::new(note, Form::Plain, 0);
    if is_secret(&sentence.text) {
        // Keep what stands alone.
        let rest: Vec<String> = sentences(note).into_iter().map(|s| s.text).filter(|s| !is_secret(s)).collect();
        let rest = rest.join(" ");
        return (words(&rest) >= 4)
            .then(|| make(&Sentence::new(&rest, Form::Plain, 0), Rule::Explicit, confidence, idx));
    }
    (words(&sentence.text) >= 2 && !is_question(&sentence)).then(|| make(&sentence, Rule::Explicit, confidence, idx))
}

/// Finds standing instructions and requests to remember. In a long prompt only the latter count.
fn explicit(all: &[Sentence], idx: usize, long: bool) -> Vec<Found> {
    let mut out: Vec<Found> = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let sentence = &all[at];
        if is_question(sentence) {
            at += 1;
            continue;
        }
        match tongue::explicit(sentence) {
            Some(Marker::Remember(rest)) => {
                // "Remember this:" introduces what follows in its paragraph.
                let mut used = vec![at];
                let mut notes = vec![rest.clone()];
                if words(&rest) < 3 {
                    notes.clear();
                    let mut next = at + 1;
                    while next < all.len()
                        && (all[next].paragraph == sentence.paragraph || all[next].form == Form::Item)
                        && (notes.is_empty() || all[next].form == Form::Item)
                    {
                        notes.push(all[next].text.clone());
                        used.push(next);
                        next += 1;
                    }
                }
                for note in notes {
                    let note = Sentence::new(strip_lead(&note), Form::Plain, sentence.paragraph);
                    if note.words() >= 2 && !is_secret(&note.text) && note.text.chars().count() <= MAX_CHARS {
                        out.push((make(&note, Rule::Explicit, 0.95, idx), used.clone()));
                    }
                }
                at = used.last().map_or(at, |last| *last) + 1;
                continue;
            }
            Some(Marker::Standing(confidence)) if !long => {
                let text = Sentence::new(trim_request(strip_lead(&sentence.text)), sentence.form, sentence.paragraph);
                if text.words() >= 4 && !is_secret(&text.text) && !is_complaint(&text) {
                    out.push((make(&text, Rule::Explicit, confidence, idx), vec![at]));
                }
            }
            _ => {}
        }
        at += 1;
    }
    out
}

pattern!(
    COMPLAINT,
    r"\b(?:you|it|this|that|he|she|they|i)(?:'ve|'s|'re)? (?:always|never|must (?:be|have))\b|\b(?:that|it|this)(?: should| must)? never\b|\bmust (?:be (?:a|an|the|because|some|something|related|wrong)|have (?:been|broken|changed|gone))\b|\bnever ?mind\b|\b(?:as|like) always\b|\balways (?:fails?|crash|breaks?|hangs?|wrong|prints?)\b|\bimmer (?:noch|wieder)\b|\b(?:fuck|wtf|stupid)"
);

pattern!(MUST_NOT, r"\b(?:must|should|may|shall) (?:never|not)\b");

/// Tells whether "always" or "never" is spoken in anger or wonder.
fn is_complaint(sentence: &Sentence) -> bool {
    // "Themes must never crash the app" is a rule that speaks of trouble, not a report of it.
    let rule = MUST_NOT.is_match(&sentence.lower) && !place::PRONOUN.is_match(&sentence.lower);
    COMPLAINT.is_match(&sentence.lower) || (tongue::is_trouble(&sentence.lower) && !rule)
}

pattern!(
    CORRECTS,
    r"^(?:(?:hm+|ok|well|dude|hey|oh|but|my dude)[,.!]?\s+)?(?:no\b[,.!: ]|nope\b|wrong\b|actually\b|wait\b|undo\b|revert\b|stop\b|why did you\b|that's (?:not|wrong|incorrect)|that is (?:not|wrong)|this is wrong|not (?:quite|what|like)|i (?:said|meant|told)|you (?:forgot|missed|misunderstood|removed|broke)|nein\b|falsch\b|non\b|faux\b|incorrecto\b|não\b|нет\b|неправильно|неверно|不对|不對|不是|错了|錯了|違います|違う|아니)"
);
pattern!(
    REJECTS,
    r"^(?:(?:hm+|ok|well|dude|hey|oh|but)[,.!]?\s+)?(?:no\b[,.!: ]|nope\b|wrong\b|undo\b|revert\b|why did you\b|that's (?:not|wrong)|that is (?:not|wrong)|not what\b|nein\b|falsch\b|нет\b|不对|不對|错了|錯了)|\b(?:undo|revert|roll back|rolled back|undid) (?:it|that|this|your|the change)"
);

/// Tells whether a prompt rejects what the agent did just before.
pub(super) fn rejects(prompt: &str) -> bool {
    REJECTS.is_match(&prompt.trim_start().to_ascii_lowercase())
}

pattern!(
    SUBSTANCE,
    r"\bnot\b|n't\b|\binstead\b|\brather\b|\bshould\b|\bmust\b|\bhave to\b|\bhas to\b|\bbecause\b|\bonly\b|\buses\b|\bis (?:in|at|on|called|named)\b|\bruns?\b|\bmeans\b|\bnicht\b|\bstatt\b|\bsondern\b|\bpas\b|\bsino\b|\bне\b|не |而是|ではなく|아니라"
);
pattern!(
    REDO,
    r"^(?:i'll|i will|we'll|thanks|thank you)\b|^(?:(?:please|just|and|ok|so|then)\s+)*(?:try again|again|undo(?: it| that| this)?|revert(?: it| that| this)?|redo|fix (?:it|that|this)|do it|start over|put it back|read)\b"
);

/// Finds a correction: what the person said, with the sentence of the answer it corrects.
fn correction(all: &[Sentence], idx: usize, previous: Option<(usize, &[Sentence])>, taken: &[usize]) -> Vec<Found> {
    let Some(first) = all.first() else { return Vec::new() };
    if !CORRECTS.is_match(&first.lower) {
        return Vec::new();
    }
    let mut used = Vec::new();
    let mut parts = Vec::new();
    for (at, sentence) in all.iter().enumerate().take(4) {
        if taken.contains(&at) || is_question(sentence) || REDO.is_match(&sentence.lower) || is_secret(&sentence.text) {
            continue;
        }
        let text = trim_request(strip_lead(&sentence.text));
        let lower = text.to_ascii_lowercase();
        if words(text) < 3 || REDO.is_match(&lower) || place::DEIXIS.is_match(&lower) || LOOKS.is_match(&lower) {
            continue;
        }
        if SUBSTANCE.is_match(&lower) || place::is_anchored(text) || used.last() == Some(&at.wrapping_sub(1)) {
            used.push(at);
            parts.push(text.trim_end_matches('.').to_owned());
        }
    }
    let mut text = parts.join(". ");
    let solid = words(&text) >= 5 || (words(&text) >= 3 && place::is_anchored(&text));
    if !solid || tongue::is_trouble(&text.to_ascii_lowercase()) {
        return Vec::new();
    }
    text = place::capital(&text);
    let mut sources = vec![idx];
    if let Some((answer, told)) = previous.and_then(|(answer, told)| Some((answer, corrected(&text, told)?))) {
        let with = format!("{text} (this corrects: \"{}\")", told.text.trim_end_matches('.'));
        if with.chars().count() <= MAX_CHARS && !is_secret(&with) {
            text = with;
            sources.insert(0, answer);
        }
    } else if place::PRONOUN.is_match(&text.to_ascii_lowercase()) || !SUBSTANCE.is_match(&text.to_ascii_lowercase()) {
        return Vec::new(); // "they have to stay" says nothing without what "they" are
    }
    let sentence = Sentence::new(&text, Form::Plain, 0);
    let mut found = make(&sentence, Rule::Correction, 0.85, idx);
    if matches!(found.category, Category::ProjectKnowledge | Category::ProblemsAndFixes) {
        found.category = Category::DecisionsAndConstraints;
    }
    found.sources = sources;
    vec![(found, used)]
}

pattern!(
    LOOKS,
    r"\b(?:looks?|feels?|sounds?|seems?) |\b(?:awful|ugly|terrible|horrible)\b|^(?:that's|it's|that is|this is) (?:wrong|not (?:it|right|true|what))\W*$"
);

/// Returns the sentence of an answer that shares most with its correction.
fn corrected<'a>(text: &str, told: &'a [Sentence]) -> Option<&'a Sentence> {
    let wanted = place::content_words(text);
    let mut best: Option<(usize, &Sentence)> = None;
    for sentence in told.iter().filter(|sentence| !is_question(sentence)) {
        let words = place::content_words(&sentence.text);
        let shared = words
            .iter()
            .filter(|word| wanted.contains(word))
            .map(|word| if place::is_identifier(word) { 3 } else { 1 })
            .sum();
        if best.is_none_or(|(most, _)| shared > most) {
            best = Some((shared, sentence));
        }
    }
    best.filter(|(shared, sentence)| *shared >= 1 && sentence.text.chars().count() <= 200).map(|(_, sentence)| sentence)
}

pattern!(
    STORY,
    r"^(?:i'm|i am|i've been|i was|we're|we are) (?:\w+ing|about|kinda|kind of|a bit|really|so|also|not)\b"
);
pattern!(VAGUE, r"\b(?:something|anything|somehow|whatever|stuff|things like)\b");

/// Finds a preference: how this person or this project wants things done.
fn preference(sentence: &Sentence, idx: usize) -> Option<Candidate> {
    if is_question(sentence) || is_secret(&sentence.text) {
        return None;
    }
    let text = trim_request(strip_lead(&sentence.text));
    let sentence = Sentence::new(text, sentence.form, sentence.paragraph);
    let confidence = tongue::preference(&sentence)?;
    // A long sentence that also says "prefer" tells a story.
    if sentence.words() > MAX_WORDS || STORY.is_match(&sentence.lower) {
        return None;
    }
    let short = sentence.words() < 4 && !sentence.text.chars().any(super::prose::is_cjk);
    let trouble = tongue::is_trouble(&sentence.lower) && !sentence.lower.contains(" should ");
    if short
        || trouble
        || VAGUE.is_match(&sentence.lower)
        || place::DEIXIS.is_match(&sentence.lower)
        || sentence.text.chars().count() > MAX_CHARS
    {
        return None;
    }
    Some(make(&sentence, Rule::Preference, confidence, idx))
}

/// Finds a plain fact a person states about the project, or about themselves.
fn fact(sentence: &Sentence, idx: usize) -> Option<Candidate> {
    if is_question(sentence) || is_secret(&sentence.text) || sentence.form == Form::Heading {
        return None;
    }
    let text = trim_request(strip_lead(&sentence.text));
    let sentence = Sentence::new(text, sentence.form, sentence.paragraph);
    if sentence.words() > MAX_WORDS
        || is_transient(&sentence)
        || tongue::is_trouble(&sentence.lower)
        || sentence.text.chars().count() > MAX_CHARS
    {
        return None;
    }
    let confidence = tongue::fact(&sentence)?;
    Some(make(&sentence, Rule::Fact, confidence, idx))
}

/// Makes a candidate of a person's sentence: rewritten, placed in a category and a lane.
fn make(sentence: &Sentence, rule: Rule, confidence: f32, idx: usize) -> Candidate {
    let lane = place::lane(&sentence.lower, rule);
    let category = place::category(&sentence.lower, Ground::Said(rule));
    Candidate { text: place::third_person(&sentence.text), rule, category, lane, confidence, sources: vec![idx] }
}

pattern!(
    LEAD,
    r"^(?:(?:omf?g|ok(?:ay)?|ja|oui|sí|si|да|yes|yep|yeah|yup|hm+|um+|btw|fyi|also|but|and|so|oh|ah|hey|alright|pls|please|bitte|alors|entonces|по поводу)[,.!:;]?\s+|(?:by the way|just so you know|for your information|for context|for the record|for reference|for the future|small note|note|context|one (?:more )?thing|heads[- ]up|reminder|fun fact|important|quick note|dude|my dude|omg|omfg|lol)[,.!:;—-]+\s*|(?:no|nope|good|great|nice|cool|perfect|thanks|thank you|right|well|actually|wait|look|sorry|wrong|stop|sure|fine|exactly|correct|nein|falsch|non|нет|that's (?:wrong|not (?:right|it|true|correct))|that is (?:wrong|not right)|no no)(?:[,.!:;]+|\s+[–—-])\s*|(?:actually|no no)\s+|(?:不对|不對|错了|錯了|不是)[，,。]\s*)+"
);

/// Drops acknowledgements, fillers and introductions from the start of a sentence.
fn strip_lead(text: &str) -> &str {
    let lower = text.to_ascii_lowercase();
    LEAD.find(&lower).map_or(text, |found| &text[found.end()..])
}

pattern!(
    REQUEST_TAIL,
    r"(?:,|;|\s[–—-])\s*(?:so|and|then)?\s*(?:please|pls|can you|could you|make sure (?:you |to |that )?|don't bother|do not bother|give me|just |let's|go ahead|you can|feel free|fix |try |check |update |change |remove |add |undo|revert|thx|thanks|ok\b|okay\b|right\?).*$|\s+so\s+(?:please|can you|could you|don't bother|give me|just |let's|you can).*$|,\s*(?:and|but|so)\s+(?:i|i'm|i'd|i've|i'll|we're)\s.*$|,?\s+(?:please|pls|thx|thanks|ok|okay)\W*$"
);

/// Drops the request about now that trails a statement.
fn trim_request(text: &str) -> &str {
    let lower = text.to_ascii_lowercase();
    match REQUEST_TAIL.find(&lower) {
        Some(found) if words(&text[..found.start()]) >= 4 => text[..found.start()].trim_end(),
        _ => text,
    }
}
