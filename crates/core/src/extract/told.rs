//! What an agent's final answer tells: approved plans, decisions, findings, outcomes.

use super::junk::{self, Restated};
use super::place::{self, Ground};
use super::prose::{Form, Sentence, clip, sentences, words};
use super::{Candidate, MAX_CHARS, Rule, pattern};
use crate::memory::{Category, Lane};

/// Decisions and findings one answer may yield.
const MAX_FINDINGS: usize = 2;

/// Tells whether a message is a sub-agent's assignment or response.
pub(super) fn is_subagent(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("Subagent assignment") || text.starts_with("Subagent response")
}

pattern!(
    PLAN_INTRO,
    r"^\s*(?:\*\*)?(?:(?:user|human)[- ])?(?:approved|accepted) (?:implementation )?plan\b[^\n:]{0,60}:?(?:\*\*)?|^\s*(?:the )?plan (?:was |has been |is )?(?:approved|accepted)\b[^\n:]{0,60}:?|^\s*(?:the )?(?:user|human) (?:has )?(?:approved|accepted) (?:this|the|your|my|a|following)[^\n:]{0,60}\bplan\b[^\n:]{0,40}:?"
);

/// Returns what follows the introduction of an approved plan.
pub(super) fn plan_intro(text: &str) -> Option<&str> {
    let head = text.char_indices().nth(200).map_or(text, |(at, _)| &text[..at]);
    let found = PLAN_INTRO.find(&head.to_ascii_lowercase())?.end();
    Some(text[found..].trim())
}

/// Makes one memory of an approved plan: its title, its goal and its first steps.
pub(super) fn plan(message: &str, idx: usize) -> Option<Candidate> {
    let body = plan_intro(message)?;
    let usable: Vec<Sentence> =
        sentences(body).into_iter().filter(|s| !junk::is_question(s) && !junk::is_secret(&s.text)).collect();
    let title = usable.iter().find(|s| s.form == Form::Heading).map(|s| s.text.trim_start_matches("Plan: ").to_owned());
    let goal = usable.iter().find(|s| s.form == Form::Plain).map(|s| s.text.clone());
    let mut text = String::from("Approved plan: ");
    let head: Vec<String> =
        title.into_iter().chain(goal).map(|part| part.trim_end_matches(['.', ':']).to_owned()).collect();
    text.push_str(&head.join(". "));
    let steps: Vec<&str> =
        usable.iter().filter(|s| s.form == Form::Item).map(|s| s.text.trim_end_matches(['.', ';'])).take(8).collect();
    join_items(&mut text, &steps);
    (words(&text) >= 5).then(|| Candidate {
        text: clip(&text, MAX_CHARS),
        rule: Rule::Decision,
        category: Category::DecisionsAndConstraints,
        lane: Lane::Project,
        confidence: 0.85,
        sources: vec![idx],
    })
}

/// Adds list items as long as they fit.
fn join_items(text: &mut String, items: &[&str]) {
    for (at, item) in items.iter().enumerate() {
        let mark = if at > 0 {
            "; "
        } else if text.ends_with(": ") {
            ""
        } else {
            ": "
        };
        if text.chars().count() + item.chars().count() + mark.len() > MAX_CHARS {
            break;
        }
        text.push_str(mark);
        text.push_str(item);
    }
}

/// Finds what a final answer tells that lasts. `wrote` are the files the turn wrote.
pub(super) fn memories(
    told: &[Sentence],
    idx: usize,
    wrote: &[&str],
    restated: &Restated,
    fixes: &[Candidate],
) -> Vec<Candidate> {
    let usable: Vec<&Sentence> = told.iter().filter(|s| is_usable(s, restated)).collect();
    let asks = told.last().is_some_and(junk::is_question);
    let mut out: Vec<Candidate> = Vec::new();
    let within =
        |text: &str, others: &[Candidate]| others.iter().any(|other| other.text.contains(text.trim_end_matches('.')));
    for (at, sentence) in usable.iter().enumerate() {
        if out.len() == MAX_FINDINGS {
            break;
        }
        let Some((confidence, category)) = finding(sentence, asks) else { continue };
        let Some(text) = self_contained(sentence, at.checked_sub(1).map(|before| usable[before])) else { continue };
        if !within(&sentence.text, fixes) && !within(&sentence.text, &out) {
            out.push(Candidate {
                text,
                rule: Rule::Decision,
                category,
                lane: Lane::Project,
                confidence,
                sources: vec![idx],
            });
        }
    }
    if let Some(outcome) = outcome(told, &usable, idx, wrote) {
        // The outcome that only says what a fix or a finding says is not told twice.
        let first = outcome.text.split(['.', ';']).next().unwrap_or("").to_owned();
        if !within(&first, fixes) && !within(&first, &out) && (fixes.is_empty() || outcome.text.contains(';')) {
            out.push(outcome);
        }
    }
    out
}

/// Tells whether a sentence of an answer may be kept at all.
pub(super) fn is_usable(sentence: &Sentence, restated: &Restated) -> bool {
    !junk::is_question(sentence)
        && !junk::is_narration(sentence)
        && !junk::is_transient(sentence)
        && !junk::is_secret(&sentence.text)
        && !sentence.text.starts_with(['"', '“', '«'])
        && sentence.text.chars().count() <= MAX_CHARS
        && !restated.holds(sentence)
}

pattern!(
    CAUSE,
    r"\b(?:root cause(?: here)?(?:\s+(?:is|was|turned out|of\b.{1,80}\b(?:is|was))\b|:)|the (?:actual |real |underlying |main |core )?(?:issue|problem|bug|reason|culprit|cause) (?:is|was|were|lies|turned out|here is)|the (?:cause|reason|culprit):|cause (?:is|was)\b|turns out|turned out)"
);
pattern!(
    CAUSE_WEAK,
    r"\b(?:(?:was|were|is) caused by|(?:was|were) causing|(?:was|is|were|are) because|(?:is|was|were|are) due to|(?:fails?|failed|crash(?:es|ed)|happens|happened|broke|breaks|hangs?) (?:because|when))\b"
);
pattern!(TEACHES, r"\b(?:your?|you're|can|may|typically|usually|often|commonly|generally|several|various|such as)\b");
pattern!(LABEL, r"^(?:ensure|use|explain|make|check|consider|avoid|set|add) |^[a-z][a-z ]{2,30}: ");
pattern!(TELLING_LABEL, r"^(?:root cause|cause|reason|decision|decided|finding|fix|problem|issue|why)\b");
pattern!(
    CHOICE,
    r"\b(?:decided|decision:|(?:i|we)(?:'ve| have)? (?:went with|chose|opted|settled on|picked|kept|used)|going with|went with|settled on|chose|in favou?r of|deliberately|on purpose|by design|trade-?off)\b"
);
pattern!(
    RULE_FOUND,
    r"\b(?:must(?:n't| not)?|cannot|can't|only (?:works|runs|accepts|supports|compares|checks|reads|allows)|requires|never|not safe|has to|have to|is ignored|are ignored|defaults to|overrides?|takes precedence|depends on)\b"
);
pattern!(
    LINK,
    r"(?:\b(?:because|since|so that|until|unless|which means|therefore|otherwise|instead of|rather than)\b|, so\b|; so\b|: )"
);

pattern!(SPEAKS, r"^(?:now,?\s+)?(?:i|i've|i'll|i'm|we|we've|we'll|you|your)\b");
pattern!(CONSEQUENCE, r"(?:,|;) so |, which means\b|\botherwise\b");

/// Tells whether a sentence reports a finding or a decision, how sure that is, and what it is about.
fn finding(sentence: &Sentence, asks: bool) -> Option<(f32, Category)> {
    if sentence.form == Form::Heading
        || sentence.words() < 6
        || junk::is_proposal(sentence)
        || sentence.text.ends_with(':')
    {
        return None;
    }
    let lower = sentence.lower.as_str();
    let category = place::category(lower, Ground::Told(Rule::Decision));
    let body = strip_opener(&sentence.text).to_ascii_lowercase();
    if LABEL.is_match(&body) && !TELLING_LABEL.is_match(&body) {
        return None;
    }
    if CAUSE.is_match(lower) {
        return Some((0.75, Category::ProblemsAndFixes));
    }
    if asks {
        return None;
    }
    let pinned = place::is_pinned(&sentence.text) || sentence.text.contains('`');
    if TEACHES.is_match(lower) {
        return None;
    }
    if CAUSE_WEAK.is_match(lower) && pinned {
        return Some((0.7, Category::ProblemsAndFixes));
    }
    if CHOICE.is_match(lower) {
        return Some((0.7, Category::DecisionsAndConstraints));
    }
    let mechanism = CONSEQUENCE.is_match(lower) || (RULE_FOUND.is_match(lower) && LINK.is_match(lower));
    let report = CHANGED.is_match(&body) || SPEAKS.is_match(lower);
    (pinned && mechanism && !report && sentence.form == Form::Plain).then_some((0.6, category))
}

/// Gives a sentence that opens with a pronoun the sentence before it; without one it can't stand alone.
fn self_contained(sentence: &Sentence, before: Option<&Sentence>) -> Option<String> {
    let text = strip_opener(&sentence.text);
    if !place::PRONOUN.is_match(&text.to_ascii_lowercase()) {
        return Some(place::capital(text));
    }
    let before = before.filter(|b| b.form == Form::Plain && b.paragraph == sentence.paragraph)?;
    let joined = format!("{} {text}", place::capital(strip_opener(&before.text)));
    if junk::is_proposal(before) || TEACHES.is_match(&before.lower) {
        return None;
    }
    let fits = joined.chars().count() <= MAX_CHARS && !place::PRONOUN.is_match(&before.lower);
    fits.then_some(joined)
}

pattern!(
    OPENER,
    r"^(?:(?:done|perfect|great|excellent|fixed|good|ok|okay|yes|no|nope|ah|aha|found it|got it|right|sure|alright|all set|you're right|it does not|it does|decided|correct|exactly|indeed|summary)\s*[.!:,—–-]+\s*(?:now,?\s+|so,?\s+)?)+"
);

/// Drops the exclamation an answer opens with.
fn strip_opener(text: &str) -> &str {
    let lower = text.to_ascii_lowercase();
    OPENER.find(&lower).filter(|found| found.end() < text.len()).map_or(text, |found| &text[found.end()..])
}

const PAST: &str = r"added|fixed|implemented|removed|replaced|refactored|created|moved|renamed|migrated|switched|changed|converted|wired|introduced|extracted|rewrote|rewritten|reworked|marked|pinned|raised|lowered|enabled|disabled|configured|made|ported|restored|reverted|upgraded|bumped|corrected|deleted|dropped|documented|merged|simplified|hardened|optimi[sz]ed|cached|moved|exposed|deprecated|updated|resolved|patched|built|wrote|turned|limited|registered|integrated|separated|adjusted|cleaned|unified|stored|redesigned|guarded|hooked";
pattern!(
    CHANGED,
    format!(r"^(?:i(?:'ve| have)? (?:also |now |just |properly )?|we(?:'ve| have)? |now |properly )?(?:{PAST})\b")
);
pattern!(
    SUMMARY,
    r"^(?:summary|done|fixed|updated|added|what (?:i )?changed|changes(?: made)?|key changes|implementation summary|result)\b"
);
pattern!(NOW_IS, r"\b(?:now|no longer|instead|from now)\b");
pattern!(
    TELLS_USER,
    r"^(?:run|use|open|test|try|check|edit|save|watch|modify|restart|visit|see|select|let me|you|to (?:apply|use|test|run)|all \d|\d+ (?:tests?|files?)|tests?\b|documentation|docs|readme|changelog|updated (?:the )?(?:docs|documentation|readme|changelog|tests?))\b"
);

pattern!(
    DOCUMENT,
    r"(?i)(?:^|/)(?:readme|changelog|contributing|agents|claude|gemini|license|todo|notes?)[\w.-]*$|\.(?:md|mdx|rst|adoc)$"
);

/// Makes one memory of the change an answer reports.
fn outcome(told: &[Sentence], usable: &[&Sentence], idx: usize, wrote: &[&str]) -> Option<Candidate> {
    let opens = told
        .iter()
        .take(4)
        .any(|s| SUMMARY.is_match(&s.lower) || CHANGED.is_match(&strip_opener(&s.text).to_ascii_lowercase()));
    // A change of documents alone is no news about the project.
    let documents = !wrote.is_empty() && wrote.iter().all(|path| DOCUMENT.is_match(path));
    if documents || (!opens && wrote.is_empty()) {
        return None;
    }
    let first_at = usable.iter().position(|s| {
        let text = strip_opener(&s.text).to_ascii_lowercase();
        let changed = CHANGED.is_match(&text)
            || ((NOW_IS.is_match(&text) || (!wrote.is_empty() && text.contains('`')))
                && !wrote.is_empty()
                && s.form == Form::Plain);
        let headline = s.form == Form::Plain && s.text.ends_with(':') && words(&text) >= 4 && NOW_IS.is_match(&text);
        s.form != Form::Heading && !junk::is_proposal(s) && (changed || headline) && words(&text) >= 4
    })?;
    let first = usable[first_at];
    let lead = strip_opener(&first.text);
    if place::PRONOUN.is_match(&lead.to_ascii_lowercase()) || place::DEIXIS.is_match(&lead.to_ascii_lowercase()) {
        return None;
    }
    let mut text = place::capital(strip_agent(lead).trim_end_matches(['.', ':', '!']));
    // The list belongs to the sentence when it follows it; items that are headings of lists are left out.
    let items: Vec<&str> = usable[first_at + 1..]
        .iter()
        .filter(|s| s.form == Form::Item && !TELLS_USER.is_match(&s.lower) && !junk::is_proposal(s))
        .filter(|s| !s.text.ends_with(':') && s.words() >= 3)
        .map(|s| s.text.trim_end_matches(['.', ';']))
        .take(4)
        .collect();
    let intro = lead.ends_with(':') && items.is_empty();
    join_items(&mut text, &items);
    let pinned = place::is_pinned(&text) || text.contains('`');
    if intro || (!pinned && items.is_empty() && wrote.is_empty() && words(&text) < 8) {
        return None;
    }
    if !pinned && words(&text) < 5 {
        return None;
    }
    let mut confidence = 0.65;
    if !text.contains(['/']) && !wrote.is_empty() {
        let mut files: Vec<&str> = Vec::new();
        for path in wrote {
            if !files.contains(path) && !text.contains(path) {
                files.push(path);
            }
        }
        let with = format!("{text} ({})", files.iter().take(3).copied().collect::<Vec<_>>().join(", "));
        if !files.is_empty() && with.chars().count() <= MAX_CHARS {
            text = with;
        }
    }
    if text.contains('/') {
        confidence = 0.7;
    }
    Some(Candidate {
        text: clip(&text, MAX_CHARS),
        rule: Rule::Outcome,
        category: Category::Results,
        lane: Lane::Project,
        confidence,
        sources: vec![idx],
    })
}

pattern!(AGENT, r"^(?:now,?\s+)?(?:(?:i've|i have|i|we've|we have)\s+(?:also |now |just |properly |successfully )?)?");

/// Drops the agent as subject of what was done.
fn strip_agent(text: &str) -> &str {
    AGENT.find(&text.to_ascii_lowercase()).map_or(text, |found| &text[found.end()..])
}
