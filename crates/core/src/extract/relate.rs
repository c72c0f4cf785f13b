//! How a new statement stands to a stored one: another subject, the same thing, or newer news of the same subject.
//!
//! Superseding hides a memory from injection, so it needs a reason one can point at: the same sentence with another
//! number, the same subject and verb with another value, the opposite instruction, or a new statement that names the
//! old value as the one given up. Everything else is another subject.

use super::place::{content_words, is_identifier};
use super::prose::is_cjk;
use super::{Relation, pattern};

/// Embeddings nearer than this say the same, if values and polarity agree.
const SAME_COSINE: f32 = 0.92;

/// Tells how `new` stands to `old`; `cosine` is the similarity of their embeddings, -1 to 1.
pub fn relate(new: &str, old: &str, cosine: f32) -> Relation {
    let (new, old) = (Reading::of(new), Reading::of(old));
    if new.same_words(&old) {
        return Relation::Duplicate;
    }
    if new.core == old.core && new.negative == old.negative && !new.swapped(&old) {
        return Relation::Supersedes;
    }
    if new.negative != old.negative && new.core == old.core && new.values == old.values {
        return Relation::Supersedes;
    }
    if gives_up(&new, &old) || other_number(&new, &old) || other_value(&new, &old) {
        return Relation::Supersedes;
    }
    let same_values = new.values == old.values && new.negative == old.negative;
    if same_values && (cosine > SAME_COSINE || new.alike(&old)) && !gives_up(&old, &new) {
        return Relation::Duplicate;
    }
    Relation::Unrelated
}

/// Tells whether two statements found in one block say the same: the wording aside, or one within the other.
pub(super) fn says_the_same(one: &str, other: &str) -> bool {
    let (one, other) = (Reading::of(one), Reading::of(other));
    one.same_words(&other) || (one.values == other.values && one.negative == other.negative && one.alike(&other))
}

pattern!(
    NOISE,
    r"(?i)\b(?:now|currently|today|these days|still|again|from now on|going forward|please|always|remember|that|the user|actually|jetzt|inzwischen|ahora|maintenant|agora|сейчас|теперь)\b|现在|現在|目前|今は|이제|지금"
);
pattern!(
    NEGATIVE,
    r"(?i)\b(?:never|not|no longer|don't|doesn't|do not|does not|without|stop(?:ped)? using|avoid|cannot|can't|mustn't|nie|niemals|nicht|kein\w*|jamais|ne|nunca|no|não|не|никогда)\b|不要|别|別|ないで|지 마"
);
pattern!(NUMBER, r"\d+(?:[.,:]\d+)*");
pattern!(
    CLAUSE,
    r"(?i)^(.{2,120}?)\s+(?:(?:has|have|was|were|is|are) (?:been )?(moved|switched|migrated|renamed|changed) (?:from \S+ )?to|(?:(is|are|was|runs?|lives?|uses?|listens?|points?|belongs?|depends?|deploys?|sits?|goes|expires?|requires?|needs?|returns?|stores?|reviews?|starts?|reads?|hosts?|keeps?|works?|ships?|speaks?|läuft|liegt|ist|tourne|est|es|está|corre|é|roda|работает)\b(?:\s+((?:written|hosted|stored|owned|deployed|called|named|located|licensed|built|based|managed|kept|configured|generated|released|maintained|defined|reviewed|tested|spelled|released|cached)\b))?(?:\s+(in|on|at|by|under|with|to|from|after|for|as|through|via|auf|unter|sur|sous|en|em|на|the|a|an)\b)?(?:\s+((?:port|version|branch|node|python)\b))?))\s+(.+)$"
);
pattern!(
    INSTEAD,
    r"(?i)\b(?:instead of|rather than|no longer(?: (?:use|uses|using|on|in|run|runs|deploy|deploys|need|needs|support|supports|at|with))?|replac(?:e|es|ed|ing)|(?:moved|switched|migrated|moving|changed|went|renamed)(?: \w+)? from|(?:stop|stopped) using|dropped|don't use|do not use|never use|, not|and not|statt|anstatt|au lieu d[eu']|en lugar de|en vez de|em vez de|вместо)\s+(?:the |our |old |a )*([\w@./+#-]+(?: [\w@./+#-]+)?)"
);
pattern!(
    FOR_GOOD,
    r"(?i)\b(?:we|the (?:team|project)|everything|everyone)(?:'ve| have)? (?:moved|switched|migrated|replaced|dropped|no longer|stopped)\b"
);
pattern!(CJK_INSTEAD, r"(?:而不是|不再用|不再使用|取代)\s*([\w@./+-]+)|([\w@./+-]+)\s*(?:ではなく|の代わりに|대신)");
pattern!(
    USES,
    r"(?i)\b(?:use|uses|using|prefers?|with|on|in|via|through|run|runs|deploy|deploys|go with|is|are|called|stay with|live|lives|hosted|written|stored?|managed|by|verwenden|nutzen|utilisons|utilise|usamos|utilizamos|usa|используем)\b|用|使用|使って|사용"
);

/// Tools of which a project uses one at a time for one purpose.
const RIVALS: [&[&str]; 14] = [
    &["npm", "pnpm", "yarn", "bun"],
    &["jest", "vitest", "mocha", "ava"],
    &["eslint", "biome", "oxlint"],
    &["pip", "poetry", "uv", "pipenv", "conda"],
    &["tabs", "spaces"],
    &["jenkins", "buildkite", "circleci", "travis"],
    &["gitlab", "github", "bitbucket"],
    &["webpack", "vite", "rollup", "esbuild", "parcel"],
    &["moment", "date-fns", "luxon", "dayjs"],
    &["rebase", "squash"],
    &["vim", "neovim", "emacs", "helix"],
    &["bash", "zsh", "fish"],
    &["black", "yapf"],
    &["make", "just"],
];

/// A statement as far as comparing needs it.
#[derive(Debug)]
struct Reading {
    text: String,
    /// Content words, stemmed a little, sorted; identifiers and numbers among them.
    core: Vec<String>,
    /// Numbers and identifiers, sorted.
    values: Vec<String>,
    negative: bool,
}

impl Reading {
    fn of(text: &str) -> Self {
        let text = text.replace(['\u{2019}', '\u{2018}'], "'");
        let quiet = NOISE.replace_all(&text, " ");
        let mut core: Vec<String> = words_of(&NEGATIVE.replace_all(&quiet, " "));
        let mut values: Vec<String> = core.iter().filter(|word| is_value(word)).cloned().collect();
        core.sort();
        core.dedup();
        values.sort();
        values.dedup();
        let negative = NEGATIVE.is_match(&text);
        let text = super::prose::collapse(quiet.trim_end_matches(['.', '。', '!']));
        Self { text, core, values, negative }
    }

    /// The same words in the same order of sense: case, marks and fillers aside.
    fn same_words(&self, other: &Self) -> bool {
        let letters =
            |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
        letters(&self.text) == letters(&other.text)
            || (self.core == other.core
                && self.negative == other.negative
                && !self.core.is_empty()
                && self.swapped(other))
    }

    /// Equal sets of words may still be "A over B" and "B over A": the values must come in the same order.
    fn swapped(&self, other: &Self) -> bool {
        words_of(&self.text) == words_of(&other.text)
            || (INSTEAD.captures(&self.text).is_none() && !self.text.contains(" over "))
    }

    /// Nine words of ten shared.
    fn alike(&self, other: &Self) -> bool {
        let shared = self.core.iter().filter(|word| other.core.contains(word)).count();
        let all = self.core.len() + other.core.len() - shared;
        all >= 4 && shared * 10 >= all * 9
    }
}

fn is_value(word: &str) -> bool {
    is_identifier(word) || word.chars().any(|c| c.is_ascii_digit())
}

/// Content words with a light stem, in order. CJK runs are cut into characters.
fn words_of(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for word in content_words(text) {
        if word.chars().any(is_cjk) {
            let mut narrow = String::new();
            for c in word.chars() {
                if is_cjk(c) {
                    if !narrow.is_empty() {
                        out.push(std::mem::take(&mut narrow));
                    }
                    out.push(c.to_string());
                } else {
                    narrow.push(c);
                }
            }
            if !narrow.is_empty() {
                out.push(narrow);
            }
        } else {
            out.push(stem(&word));
        }
    }
    out
}

fn stem(word: &str) -> String {
    if is_value(word) || word.len() < 4 {
        return word.to_owned();
    }
    let word = word.strip_suffix("'s").unwrap_or(word);
    let base = word
        .strip_suffix("ing")
        .or_else(|| word.strip_suffix("ed"))
        .or_else(|| word.strip_suffix("es"))
        .or_else(|| word.strip_suffix('s'));
    match base {
        Some(base) if base.len() >= 3 && !word.ends_with("ss") => base.to_owned(),
        _ => word.strip_suffix('e').unwrap_or(word).to_owned(),
    }
}

/// `new` names as given up what `old` says is used.
fn gives_up(new: &Reading, old: &Reading) -> bool {
    let given_up: Vec<Vec<String>> = INSTEAD
        .captures_iter(&new.text)
        .filter_map(|found| found.get(1))
        .chain(CJK_INSTEAD.captures_iter(&new.text).filter_map(|found| found.get(1).or_else(|| found.get(2))))
        .map(|found| words_of(found.as_str()))
        .collect();
    given_up.iter().any(|words| {
        // "npm in" is npm: the second word counts only when the old statement has it too.
        let Some(first) = words.first() else { return false };
        let named: Vec<&String> =
            std::iter::once(first).chain(words.iter().skip(1).filter(|word| old.core.contains(word))).collect();
        if !old.core.contains(first) || !USES.is_match(&old.text) || old.core.len() > 10 {
            return false;
        }
        // The old one must not be the same ruling already.
        if INSTEAD
            .captures_iter(&old.text)
            .filter_map(|found| found.get(1))
            .any(|found| words_of(found.as_str()).first() == Some(first))
        {
            return false;
        }
        let rest = |reading: &Reading| -> Vec<String> {
            reading.core.iter().filter(|word| !named.contains(word) && !is_light(word)).cloned().collect()
        };
        let (new_rest, old_rest) = (rest(new), rest(old));
        // What else they speak of must meet, unless the old one speaks of nothing else.
        let for_good =
            FOR_GOOD.is_match(&new.text) && old_rest.len() <= 2 && !old_rest.iter().any(|word| is_value(word));
        old_rest.is_empty()
            || for_good
            || old_rest.iter().any(|word| new_rest.contains(word))
            || (new_rest.len() <= 2 && old_rest.len() <= 1 && !old_rest.iter().any(|word| is_value(word)))
    })
}

/// Words of every second statement; they tell no subject.
fn is_light(word: &str) -> bool {
    const LIGHT: [&str; 30] = [
        "us",
        "use",
        "using",
        "prefer",
        "mov",
        "move",
        "switch",
        "migrat",
        "replac",
        "instead",
        "rather",
        "longer",
        "no",
        "not",
        "never",
        "run",
        "keep",
        "go",
        "went",
        "chang",
        "must",
        "should",
        "would",
        "only",
        "project",
        "team",
        "everywher",
        "new",
        "old",
        "stop",
    ];
    LIGHT.contains(&word)
}

/// The same sentence with another number, where the number is the news and not a name.
fn other_number(new: &Reading, old: &Reading) -> bool {
    let skeleton = |reading: &Reading| {
        let bare = NUMBER.replace_all(&reading.text, "#").to_lowercase();
        (
            words_of(&bare.replace('#', " 0 ")),
            NUMBER.find_iter(&reading.text).map(|found| found.as_str().to_owned()).collect::<Vec<_>>(),
        )
    };
    let ((new_bones, new_numbers), (old_bones, old_numbers)) = (skeleton(new), skeleton(old));
    if new_bones != old_bones || new_numbers == old_numbers || new_numbers.is_empty() || new.negative != old.negative {
        return false;
    }
    // A number before the verb, or grown together with a word, is part of a name: SHOP-123, step 2, v1 API.
    let named = |reading: &Reading| {
        let verb = CLAUSE
            .captures(&reading.text)
            .and_then(|found| found.get(1))
            .map_or_else(|| reading.text.match_indices(' ').nth(2).map_or(0, |(at, _)| at), |subject| subject.end());
        NUMBER
            .find_iter(&reading.text)
            .filter(|found| {
                let before = reading.text[..found.start()].chars().next_back();
                let grown = before.is_some_and(|c| c.is_ascii_alphanumeric() || "-_/`".contains(c));
                found.start() < verb || grown
            })
            .map(|found| found.as_str().to_owned())
            .collect::<Vec<_>>()
    };
    named(new) == named(old)
}

/// The same subject and the same kind of statement with another value.
fn other_value(new: &Reading, old: &Reading) -> bool {
    let (Some(new_said), Some(old_said)) = (Clause::of(&new.text), Clause::of(&old.text)) else {
        return rivals(new, old);
    };
    if new_said.value == old_said.value || new.negative != old.negative {
        return false;
    }
    let same_subject = !new_said.subject.is_empty() && new_said.subject == old_said.subject;
    if !same_subject {
        return rivals(new, old);
    }
    // "Is", "uses" and "needs" take many values at a time; with them the rest must tell.
    let single = match new_said.verb.as_str() {
        "moved" => old_said.relation.is_some() || old_said.verb == "moved",
        "is" => {
            new_said.relation.is_some()
                && !matches!(new_said.relation.as_deref(), Some("the" | "a" | "an" | "for" | "as"))
                || is_value_like(&new_said.value) && is_value_like(&old_said.value)
                || new_said.participle.is_some()
        }
        "use" | "need" | "requir" | "depend" | "return" | "read" | "keep" | "support" => false,
        _ => true,
    };
    let kind = new_said.verb == "moved"
        || (new_said.verb == old_said.verb
            && new_said.participle == old_said.participle
            && new_said.relation == old_said.relation
            && new_said.attribute == old_said.attribute);
    let shape = new_said.verb == "moved"
        || new_said.value.iter().any(|w| is_value(w)) == old_said.value.iter().any(|w| is_value(w));
    (single && kind && shape) || rivals(new, old)
}

/// Two statements that are the same but for one of two rivals, or that both only name a rival.
fn rivals(new: &Reading, old: &Reading) -> bool {
    if new.negative || old.negative {
        return false;
    }
    RIVALS.iter().any(|family| {
        let named = |reading: &Reading| -> Vec<String> {
            reading.core.iter().filter(|word| family.iter().any(|name| stem(name) == **word)).cloned().collect()
        };
        let (new_name, old_name) = (named(new), named(old));
        if new_name.len() != 1
            || old_name.len() != 1
            || new_name == old_name
            || !USES.is_match(&old.text)
            || !USES.is_match(&new.text)
        {
            return false;
        }
        let rest = |reading: &Reading, name: &[String]| -> Vec<String> {
            reading.core.iter().filter(|word| !name.contains(word) && !is_light(word)).cloned().collect()
        };
        let (new_rest, old_rest) = (rest(new, &new_name), rest(old, &old_name));
        new_rest == old_rest
            || (new_rest.is_empty() && old_rest.len() <= 1 || old_rest.is_empty() && new_rest.len() <= 1)
                && !new_rest.iter().chain(&old_rest).any(|word| is_value(word))
    })
}

/// A value such as a name, number or identifier, rather than a description.
fn is_value_like(value: &[String]) -> bool {
    value.len() == 1 || (value.len() <= 2 && value.iter().any(|word| is_value(word)))
}

/// Subject, verb and value of a simple statement.
#[derive(Debug)]
struct Clause {
    subject: Vec<String>,
    verb: String,
    participle: Option<String>,
    relation: Option<String>,
    attribute: Option<String>,
    value: Vec<String>,
}

impl Clause {
    fn of(text: &str) -> Option<Self> {
        let found = CLAUSE.captures(text)?;
        let group = |at: usize| found.get(at).map(|group| group.as_str().to_lowercase());
        let mut subject = words_of(&found[1]);
        subject.sort();
        let verb = match (group(2), group(3).as_deref()) {
            (Some(_), _) => "moved".to_owned(),
            (None, Some("is" | "are" | "was" | "ist" | "est" | "es" | "é" | "está")) => "is".to_owned(),
            (None, verb) => stem(verb.unwrap_or_default()),
        };
        Some(Self {
            subject,
            verb,
            participle: group(4),
            relation: group(5),
            attribute: group(6),
            value: words_of(&found[7]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Relation::{Duplicate, Supersedes, Unrelated};
    use super::*;

    /// New, old, cosine, how they stand.
    const PAIRS: &[(&str, &str, f32, Relation)] = &[
        // The same.
        ("Staging runs on port 5433.", "staging runs on port 5433", 0.99, Duplicate),
        ("Our staging database runs on port 5433", "The staging database runs on port 5433.", 0.95, Duplicate),
        ("Always use pnpm for installs", "Use pnpm for installs.", 0.9, Duplicate),
        ("Please remember that we deploy on Tuesdays only", "We deploy on Tuesdays only.", 0.9, Duplicate),
        ("Deploys happen only on Tuesdays", "We deploy on Tuesdays only", 0.94, Duplicate),
        ("The user prefers short answers", "The user prefers brief answers", 0.95, Duplicate),
        ("Tests run with `make test`.", "Tests run with `make test`", 0.5, Duplicate),
        ("我们的测试数据库端口是 5433", "我们的测试数据库端口是5433。", 0.9, Duplicate),
        ("Never force-push to main", "never force-push to main!", 0.9, Duplicate),
        ("All timestamps must be stored in UTC", "All timestamps must be stored in UTC, always", 0.9, Duplicate),
        // Newer news.
        ("Staging now runs on port 5544", "Staging runs on port 5433", 0.93, Supersedes),
        ("Our staging database runs on port 5544.", "Our staging database runs on port 5433.", 0.97, Supersedes),
        ("Use pnpm instead of npm", "Use npm for installs", 0.8, Supersedes),
        ("Use pnpm, not npm", "We use npm", 0.8, Supersedes),
        ("We moved from Jenkins to Buildkite last month", "CI runs on Jenkins", 0.7, Supersedes),
        ("We no longer use Redux", "We use Redux for state", 0.8, Supersedes),
        ("Always squash before merging", "Never squash before merging", 0.95, Supersedes),
        (
            "The rate limit is 200 requests a minute per API key",
            "The rate limit is 100 requests a minute per API key",
            0.98,
            Supersedes,
        ),
        ("Production runs node 22", "Production runs node 20", 0.96, Supersedes),
        (
            "The billing service is owned by the Oslo team",
            "The billing service is owned by the Lyon team",
            0.95,
            Supersedes,
        ),
        ("Secrets live in Doppler", "Secrets live in Vault", 0.9, Supersedes),
        ("We use vitest", "We use jest", 0.8, Supersedes),
        ("The user prefers spaces", "The user prefers tabs", 0.9, Supersedes),
        ("The code name of the importer is falcon-7", "The code name of the importer is heron-42", 0.9, Supersedes),
        ("我们的测试数据库端口现在是 5544", "我们的测试数据库端口是 5433", 0.95, Supersedes),
        (
            "Die Staging-Umgebung läuft jetzt unter Port 9443",
            "Die Staging-Umgebung läuft unter Port 8443",
            0.95,
            Supersedes,
        ),
        ("The repository has moved to GitLab", "The repository is hosted on GitHub", 0.8, Supersedes),
        ("The session store uses Postgres instead of Redis", "The session store uses Redis", 0.9, Supersedes),
        ("Wir verwenden Poetry statt pip", "Wir verwenden pip", 0.8, Supersedes),
        ("Tokens expire after 30 minutes", "Tokens expire after 15 minutes", 0.97, Supersedes),
        ("The default branch is `trunk`", "The default branch is `main`", 0.93, Supersedes),
        // Two subjects.
        ("Production runs on port 5544", "Staging runs on port 5433", 0.9, Unrelated),
        ("The API server runs on port 8080", "The API server runs on Kubernetes", 0.8, Unrelated),
        ("We use Postgres", "We use pnpm", 0.6, Unrelated),
        ("The project is written in Rust", "The project is licensed under MIT", 0.6, Unrelated),
        ("Use vitest instead of jest in packages/web", "packages/api uses jest", 0.7, Unrelated),
        ("Use pnpm instead of npm", "npm 10.9 crashes when the cache directory is not writable", 0.5, Unrelated),
        ("SHOP-124 is about refunds", "SHOP-123 is about refunds", 0.97, Unrelated),
        ("Migration 0043 adds an index on orders", "Migration 0042 adds an index on orders", 0.98, Unrelated),
        (
            "`cargo test -p ledger` failed with: error[E0433]",
            "`cargo test -p ledger` failed with: error[E0599]",
            0.96,
            Unrelated,
        ),
        ("The user is based in Oslo", "The user is a backend engineer", 0.6, Unrelated),
        ("Tests run with `make test-unit`.", "Lint and type checks run with `make lint`.", 0.8, Unrelated),
        ("Never edit generated files", "Never force-push to main", 0.6, Unrelated),
        ("The header uses flexbox", "The header uses the brand font", 0.8, Unrelated),
        ("Redis listens on port 6379", "Postgres listens on port 5432", 0.85, Unrelated),
        ("The v2 API returns 404 for drafts", "The v1 API returns 404 for drafts", 0.97, Unrelated),
        ("Use tabs in Makefiles", "Use spaces in Python files", 0.8, Unrelated),
        ("Deploys to eu-west-1 go through `ship-eu`", "Deploys to us-east-1 go through `ship-us`", 0.93, Unrelated),
        ("Use date-fns over Luxon", "Use Luxon over date-fns", 0.97, Supersedes),
        ("The user prefers short answers", "The user prefers dark themes", 0.7, Unrelated),
    ];

    #[test]
    fn pairs_of_statements() {
        let wrong: Vec<String> = PAIRS
            .iter()
            .filter(|(new, old, cosine, expected)| relate(new, old, *cosine) != *expected)
            .map(|(new, old, cosine, expected)| {
                format!("{expected:?} but {:?}: {new} | {old}", relate(new, old, *cosine))
            })
            .collect();
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), PAIRS.len(), wrong.join("\n"));
    }
}
