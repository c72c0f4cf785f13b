//! Where a statement belongs: category, lane, and the wording in which it is kept.

use super::pattern;
use super::prose::is_cjk;
use super::{Rule, prose};
use crate::memory::{Category, Lane};

/// What kind of evidence a statement rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ground {
    /// A person said it.
    Said(Rule),
    /// An answer told it.
    Told(Rule),
}

pattern!(
    DEIXIS,
    r"\b(?:the (?:first|second|third|last|other|previous|next|old|new|same|left|right|above) (?:one|screenshot|image|option|version|approach|variant|way|thing)|this one|that one|like (?:this|that|before)|as (?:before|above|is)|try again|the rest|as well\?)\b"
);
pattern!(PRONOUN, r"^(?:it|they|this|that|these|those|there|he|she|them|both|its|their|such)\b(?:'s|'re)?");

pattern!(
    ABOUT_TALK,
    r"(?i)\b(?:answers?|repl(?:y|ies)|respon(?:d|se|ses)|explain(?:s|ed)?|explanations?|summar(?:y|ies|ize)|emojis?|tone|verbose|concise|terse|brief|talk to me|call me|my name|speak|chat|wording|address me|when i ask|tell me|show me|greetings?|apologi[sz]e|antwort(?:e|en)?|erkläre?|réponses?|réponds|respuestas?|respond[ea]|respostas?|risposte|ответы|ответ|отвечай)\b|回答|回复|回覆|答复|返答|返信|説明|답변|대답|설명"
);
pattern!(ABOUT_ME, r"^(?:i|i'm|i've|i'd|my|as a|call me)\b|\b(?:my|for me|to me)\b");
pattern!(
    MY_TOOLS,
    r"(?i)\b(?:editor|shell|fish|zsh|terminal|vim|neovim|emacs|vs ?code|jetbrains|keyboard|laptop|os|mac(?:os)?|windows|linux|time ?zone|tabs|spaces|indent\w*|style|functional|comments?|commits?|code|pull requests?|reviews?)\b"
);
pattern!(
    OF_PROJECT,
    r"\b(?:the|our|we|this (?:project|repo|app|service)|here|production|staging|in the|tests?|api|endpoint|database|theme|module|component|service|report)\b|[`/]|\w+\.\w{2,4}\b|\w+_\w+|[a-z][A-Z]"
);

/// Chooses the lane: what a person says of themselves or of how to talk to them is personal; the rest is the project's.
pub(super) fn lane(lower: &str, rule: Rule) -> Lane {
    if matches!(rule, Rule::Decision | Rule::Outcome | Rule::Fix | Rule::Environment) {
        return Lane::Project;
    }
    if ABOUT_TALK.is_match(lower) && !lower.contains('`') && !HTTP.is_match(lower) {
        return Lane::Personal;
    }
    let of_me = ABOUT_ME.is_match(lower) && !USING.is_match(lower);
    if of_me && rule == Rule::Fact {
        return Lane::Personal;
    }
    if of_me && (MY_TOOLS.is_match(lower) || !OF_PROJECT.is_match(lower)) && !OUR.is_match(lower) {
        return Lane::Personal;
    }
    Lane::Project
}
// "I'm using Flask 2.3" tells what the project is made of, "I use fish" what its user likes.
pattern!(USING, r"^(?:i'm|i am) using\b");
pattern!(HTTP, r"\b(?:http|api|endpoint|status code|json|server|request|\d{3})\b");
pattern!(OUR, r"\b(?:our|we|in this (?:project|repo)|reports?|the (?:tests?|api|e2e))\b");

pattern!(
    TROUBLE_TALK,
    r"(?i)\b(?:root cause|caused by|fails?|failed|failure|crash(?:es|ed)?|bugs?|errors?|broken|timeouts?|leak(?:s|ed)?|deadlock|race condition|regression|workaround|fehler|schlägt fehl|erreur|ошибка)\b|报错|エラー"
);
pattern!(
    HOW_TO,
    r"(?i)\b(?:run|build|deploy(?:s|ed|ment)?|releas(?:e|es|ing)|install(?:s|ed)?|commits?|push(?:es|ed)?|force-push|merge|rebase|branch(?:es)?|pull requests?|prs?|pr titles?|lint|format|migrat(?:e|ions?)|scripts?|commands?|workflow|docker compose|make|npm|pnpm|yarn|pip|poetry|cargo|ci|pipeline|review(?:s|ed)?|changelog|tests? (?:need|are|with)|seed|deployen|запускаем|миграции)\b|部署|发布|提交|デプロイ|배포"
);
pattern!(
    RULING,
    r"(?i)\b(?:must|mustn't|never|always|don't|do not|cannot|can't|not|should|instead|rather|prefer|only|because|avoid|no longer|over|keep|decided|forbidden|allowed|invariant|require[sd]?|immer|nie|niemals|nicht|jamais|toujours|siempre|nunca|sempre|всегда|никогда|только)\b|必须|不要|一律|必ず|절대|항상"
);

/// Chooses one of the five categories.
pub(super) fn category(lower: &str, ground: Ground) -> Category {
    match ground {
        Ground::Told(Rule::Outcome) => Category::Results,
        Ground::Told(Rule::Fix) => Category::ProblemsAndFixes,
        Ground::Told(Rule::Environment) => Category::Workflows,
        Ground::Told(_) if TROUBLE_TALK.is_match(lower) => Category::ProblemsAndFixes,
        Ground::Told(_) => Category::DecisionsAndConstraints,
        Ground::Said(Rule::Fact) => {
            if WE_WORK.is_match(lower) || NEEDS_FIRST.is_match(lower) {
                Category::Workflows
            } else {
                Category::ProjectKnowledge
            }
        }
        Ground::Said(Rule::Explicit) => {
            if HOW_TO.is_match(lower) {
                Category::Workflows
            } else if RULING.is_match(lower) {
                Category::DecisionsAndConstraints
            } else {
                Category::ProjectKnowledge
            }
        }
        Ground::Said(_) => {
            if RULING.is_match(lower) || !HOW_TO.is_match(lower) {
                Category::DecisionsAndConstraints
            } else {
                Category::Workflows
            }
        }
    }
}
pattern!(
    WE_WORK,
    r"^(?:we|everyone|the team|our team)\b.*\b(?:deploy|release|ship|run|build|test|review|merge|squash|rebase|publish|commit|tag|freeze)\b|^(?:i use|my )"
);
pattern!(
    NEEDS_FIRST,
    r"\b(?:needs?|requires?)\b.*\b(?:first|before)\b|\bbefore (?:you|running|every|each)\b|\bgo(?:es)? through\b"
);

pattern!(
    ANCHOR,
    r"\d|`[^`]+`|[\w-]+/[\w./-]+|\b\w+_\w+\b|\b[a-z]+[a-z0-9]*[A-Z]\w*|\b[A-Z]{2,}\w*\b|\b\w+\.(?:[a-z]{1,5})\b|--\w|\b[a-z]+-[a-z]+-[a-z0-9]+\b|\bv\d"
);
pattern!(
    NOUN_OF_WORK,
    r"(?i)\b(?:port|database|db|server|services?|team|branch|bucket|tenants?|schema|queue|cache|cluster|region|endpoint|host|domain|repo(?:sitory)?|monorepo|staging|production|prod|deploy(?:s|ed|ment)?|releases?|migrations?|seed script|script|tests?|fixtures?|config(?:uration)?|secrets?|env(?:ironment)? vars?|runners?|pipeline|ci|docker|redis|postgres(?:ql)?|mysql|sqlite|kafka|kubernetes|terraform|node|python|rust|go|java|typescript|invariant|width|api|sdk|clients?|app|frontend|backend|module|package|library|framework|linter|timestamps?|utc|users?|customers?|prices?|currency|tax|locale|language|feature flags?|component|logs?|ticket|license|directory|folder|files?|codebase|umgebung|datenbank|serveur|servidor|base|сервер\w*|баз[аы]|миграци\w*)\b|端口|数据库|資料庫|服务|服務|测试|環境|环境|部署|ポート|データベース|サーバ|テスト|포트|서버|데이터베이스|테스트"
);

/// Tells whether a statement is tied to something one can find again: an identifier, a number, a name, a thing of the trade.
pub(super) fn is_anchored(text: &str) -> bool {
    ANCHOR.is_match(text) || NOUN_OF_WORK.is_match(text) || has_name(text)
}

/// Tells whether a text has an identifier, a number or a path in it (stricter than [`is_anchored`]).
pub(super) fn is_pinned(text: &str) -> bool {
    ANCHOR.is_match(text)
}

/// Tells whether a word inside the sentence is a name by its capital.
fn has_name(text: &str) -> bool {
    text.split_whitespace().skip(1).any(|word| {
        let mut chars = word.chars();
        chars.next().is_some_and(char::is_uppercase)
            && chars.next().is_some_and(char::is_lowercase)
            && !word.starts_with("I'")
    })
}

/// Tells whether a word is an identifier, a number or a path rather than a plain word.
pub(super) fn is_identifier(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_digit() || "_/.`".contains(c)) || word.contains("::") || word.split('-').count() > 2
}

const STOP: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
    "do", "does", "each", "every", "for", "from", "had", "has", "have", "here", "how", "i", "if", "in", "into", "is",
    "it", "its", "just", "me", "my", "now", "of", "on", "or", "our", "over", "please", "so", "some", "still", "such",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "through", "to",
    "under", "up", "was", "we", "were", "what", "when", "where", "which", "while", "who", "why", "will", "with", "you",
    "your", "user", "always",
];

/// Returns the lower-cased words that carry meaning, identifiers whole.
pub(super) fn content_words(text: &str) -> Vec<String> {
    text.split(|c: char| c.is_whitespace() || ",;:!?()[]{}\"“”'`，。：；！？、".contains(c))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '_').to_lowercase())
        .filter(|word| !word.is_empty() && !STOP.contains(&word.as_str()))
        .collect()
}

pattern!(
    FIRST_PERSON,
    r"(?i)^(?:i think |i guess |i'd say )?(i'd|i would|i'm|i am|i've|i have|i don't|i do not|i)\s+(\w+)"
);

/// Puts a person's sentence into the words it is kept in: about "the user" where it says "I", imperative where it says "let's".
pub(super) fn third_person(text: &str) -> String {
    let mut text = text.trim().trim_end_matches([',', ';', ':', '-']).trim_end().to_owned();
    let lower = text.to_ascii_lowercase();
    for (start, instead) in [
        ("i think that we ", "we "),
        ("i think we ", "we "),
        ("i think the ", "the "),
        ("let's not ", "do not "),
        ("let's ", ""),
        ("let us ", ""),
        ("please ", ""),
        ("don't ever ", "never "),
    ] {
        if lower.starts_with(start) {
            text.replace_range(..start.len(), instead);
            break;
        }
    }
    let first = FIRST_PERSON.captures(&text).map(|found| {
        let (pronoun, verb) = (found[1].to_ascii_lowercase(), found[2].to_ascii_lowercase());
        let end = found.get(0).map_or(0, |whole| whole.end());
        let head = match pronoun.as_str() {
            "i'd" | "i would" => format!("The user would {verb}"),
            "i'm" | "i am" => format!("The user is {verb}"),
            "i've" | "i have" => format!("The user has {verb}"),
            "i don't" | "i do not" => format!("The user does not {verb}"),
            _ if matches!(
                verb.as_str(),
                "always" | "never" | "usually" | "really" | "only" | "mostly" | "generally" | "normally" | "strongly"
            ) =>
            {
                format!("The user {verb}")
            }
            _ => format!("The user {}", singular(&verb)),
        };
        (head, end)
    });
    let (head, end) = first.unwrap_or_else(|| (String::new(), 0));
    let mut out = head;
    let mut tail = text[end..].to_owned();
    let of_user = end > 0 || ABOUT_ME.is_match(&lower);
    if of_user {
        tail = ME
            .replace_all(&tail, |found: &regex::Captures<'_>| {
                let word = found[0].to_ascii_lowercase();
                match word.as_str() {
                    "my" if end == 0 && found.get(0).is_some_and(|m| m.start() == 0) => "The user's",
                    "my" => "their",
                    "me" => "them",
                    "i'm" | "i am" => "they are",
                    "i've" => "they have",
                    "i'd" => "they would",
                    "myself" => "themselves",
                    _ => "they",
                }
                .to_owned()
            })
            .into_owned();
    }
    out.push_str(&tail);
    capital(&out)
}
pattern!(ME, r"(?i)\b(?:i am|i'm|i've|i'd|i|my|me|myself)\b");

fn singular(verb: &str) -> String {
    match verb {
        "have" => "has".to_owned(),
        "do" => "does".to_owned(),
        "go" => "goes".to_owned(),
        _ if verb.ends_with(['s', 'x', 'z']) || verb.ends_with("sh") || verb.ends_with("ch") => format!("{verb}es"),
        _ if verb.ends_with('y') && !verb.ends_with("ay") && !verb.ends_with("ey") => {
            format!("{}ies", &verb[..verb.len() - 1])
        }
        _ => format!("{verb}s"),
    }
}

/// Gives a sentence its capital, unless it begins with code.
pub(super) fn capital(text: &str) -> String {
    let text = prose::collapse(text);
    let first_word = text.split_whitespace().next().unwrap_or("");
    if is_identifier(first_word.trim_end_matches(['.', ',', ':'])) || first_word.chars().any(is_cjk) {
        return text;
    }
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if first.is_lowercase() && !first_word.chars().skip(1).any(char::is_uppercase) => {
            first.to_uppercase().chain(chars).collect()
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_kept_in_the_third_person() {
        let cases = [
            ("I prefer short answers", "The user prefers short answers"),
            ("I'd rather have SQL than my ORM", "The user would rather have SQL than their ORM"),
            ("btw is kept", "Btw is kept"),
            ("let's use named exports", "Use named exports"),
            ("my editor is helix", "The user's editor is helix"),
            ("i've been writing Go for ten years", "The user has been writing Go for ten years"),
            ("`make check` runs first", "`make check` runs first"),
            ("src/gen is generated", "src/gen is generated"),
            ("pnpm is used", "Pnpm is used"),
        ];
        for (said, kept) in cases {
            assert_eq!(third_person(said), kept);
        }
    }

    #[test]
    fn lanes_follow_whom_a_statement_is_for() {
        for text in [
            "i prefer short answers",
            "i use fish as my shell",
            "i prefer tabs over spaces",
            "以後請用繁體中文回答",
            "i'm a backend developer",
        ] {
            assert_eq!(lane(text, Rule::Fact), Lane::Personal, "{text}");
        }
        for text in ["we deploy on tuesdays", "the api answers 404 with json", "never force-push to main"] {
            assert_eq!(lane(text, Rule::Explicit), Lane::Project, "{text}");
        }
    }
}
