//! The words by which people mark what should last, in the languages they speak to agents in.
//!
//! English, German, French, Spanish, Portuguese, Italian, Russian, Chinese (both scripts), Japanese, Korean.
//! Each function answers for one sentence; which rule wins is decided in `said`.

use super::pattern;
use super::place;
use super::prose::Sentence;

/// How a sentence asks to be kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Marker {
    /// "Remember …": the rest is the note.
    Remember(String),
    /// A standing instruction, with the confidence it deserves.
    Standing(f32),
}

pattern!(
    REMEMBER_EN,
    r"^(?:(?:ok(?:ay)?|yes|yep|yeah|and|also|so|now|btw|hey|alright|great|good|nice|cool|thanks|please|pls|could you|can you|to)[,.!:;]?\s+)*(?:remember|keep in mind|bear in mind|memori[sz]e|note|take note|(?:don't|do not|never) forget|for the record|save (?:this|that|to memory)|store (?:this|that)|add (?:this |that )?to (?:your )?memory)(?:\s+(?:this|that|also|please|for (?:later|next time|the future)))*\s*(?:[:,–—-]\s*|\s+|$)"
);
pattern!(
    REMEMBER_MID,
    r"(?:[,;.:–—-]|\band|\bbut|\balso|\bplease)\s+(?:please\s+)?(?:remember|keep in mind|note|bear in mind|(?:don't|do not) forget)(?:\s+that)?[:,]?\s+(?:that\s+)?"
);
pattern!(
    REMEMBER_OTHER,
    r"(?i)^(?:(?:bitte|und|ok|s'il te plaît|por favor|пожалуйста|et|y|e|и)[,.]?\s+)*(?:merk(?:e)? dir(?: bitte)?(?: mal)?|denk(?:e)? (?:bitte )?(?:immer )?daran|vergiss (?:bitte )?nicht|notier(?:e)? dir|souviens-toi|souvenez-vous|rappelle-toi|retiens|n'oublie(?:z)? pas|note(?: bien)?|recuerda|recuérdalo|acuérdate|ten en cuenta|toma nota|no olvides|lembr[ea](?:-se)?|tenha em mente|não (?:se )?esqueça|anot[ae]|ricorda(?:ti)?|tieni presente|non dimenticare|запомни(?:те)?|помни(?:те)?|не забудь(?:те)?|име(?:й|йте) в виду)\s*[,:]?\s*(?:dass |daran, dass |que |qu'|de que |de |che |что )?"
);
pattern!(
    REMEMBER_CJK_HEAD,
    r"^(?:请|請|麻烦你?|麻煩你?|帮我|幫我|好的?[，,])*(?:记住|記住|记一下|記一下|记得|記得|请记|記著|记着|覚えて(?:おいて)?(?:ください|くれ|ね)?|メモして(?:おいて)?(?:ください)?|기억해\s?(?:줘|주세요|둬|두세요|요)?)[了吧]?[:：,，、。\s]*"
);
pattern!(
    REMEMBER_CJK_TAIL,
    r"^(.{4,}?)(?:という)?(?:こと|の)?(?:を|と|은|는|을|를)?[、,\s]*(?:覚えて|記憶して|メモして|기억해)\s?(?:おいて)?(?:ください|くれ|ね|줘|주세요|둬|두세요)?[。.!！]*$"
);
pattern!(TO_DO, r"^to\s+");
pattern!(
    LASTING,
    r"\b(?:always|never|every|each|whenever|when|after|before|all|any|only|first|must|from now on|going forward|in (?:this|the) (?:project|repo))\b"
);

pattern!(
    STANDING_STRONG,
    r"\b(?:from now on(?:wards)?|going forward|as a rule|by convention|in (?:the )?future|for the future|henceforth|always|never|(?:don't|do not) ever|not ever|under no circumstances)\b"
);
pattern!(
    STANDING_WEAK,
    r"\b(?:must(?:n't| not| never| always)?|(?:is|are) not allowed|not allowed to|(?:is|are) forbidden|off[- ]limits|only ever|no exceptions|^(?:every|each) time|whenever (?:you|we|i)|when(?:ever)? (?:you|we) (?:explain|write|commit|add|create|review|answer|change|touch|edit|release|deploy|refactor|generate|open|make|use|need|run|push|merge|rename))\b"
);
pattern!(MAKE_SURE, r"^(?:please |and |also |then )*(?:make sure|ensure|be sure)\b");
pattern!(
    TELLS_OF_SELF,
    r"^(?:(?:and|but|so|since|also|yeah|well)[, ]+)*(?:i|i'm|i've|i'll|i'd|it|it's|he|she|they|they'll|this|that|my)\b"
);
pattern!(TELLS_YOU, r"\b(?:want|need|expect|like) you to\b|\byou (?:must|should|have to)\b");
pattern!(QUANTIFIED, r"\b(?:always|never|every|all|any|each|whenever|no)\b");
pattern!(DONE_NOW, r"^when(?:ever)? (?:you're|you are|that's|it's|this is|finished|done)\b");
pattern!(
    STANDING_OTHER,
    r"(?i)\b(?:immer|nie|niemals|ab jetzt|ab sofort|von nun an|künftig|zukünftig|in zukunft|grundsätzlich|stets|toujours|jamais|désormais|dorénavant|à partir de maintenant|siempre|nunca|jamás|de ahora en adelante|a partir de ahora|a partir de agora|daqui em diante|sempre|d'ora in poi|всегда|никогда|отныне|впредь|ни в коем случае|обязательно)\b|(?:以后|以後|今后|今後|从现在起|從現在起|从现在开始|從現在開始|一律|总是|總是|永远|永遠|务必|務必|绝对不|絕對不|绝不|絕不|千万不要|千萬不要|不要再|必须|必須|これから(?:は)?|必ず|常に|いつも|絶対に|決して|毎回|앞으로|항상|언제나|절대|반드시|늘 )"
);

/// Tells whether, and how, a sentence asks to be kept.
pub(super) fn explicit(sentence: &Sentence) -> Option<Marker> {
    let (text, lower) = (sentence.text.as_str(), sentence.lower.as_str());
    if let Some(found) = REMEMBER_EN.find(lower) {
        let rest = &text[found.end()..];
        return note(rest);
    }
    if let Some(found) = REMEMBER_OTHER.find(text).or_else(|| REMEMBER_CJK_HEAD.find(text)) {
        return Some(Marker::Remember(text[found.end()..].to_owned()));
    }
    if let Some(found) = REMEMBER_CJK_TAIL.captures(text) {
        return Some(Marker::Remember(found[1].to_owned()));
    }
    if let Some(found) = REMEMBER_MID.find(lower)
        && !lower[..found.start()].ends_with("you")
    {
        return note(&text[found.end()..]);
    }
    // "I always lose my place" tells of oneself; it orders nothing.
    if DONE_NOW.is_match(lower) || (TELLS_OF_SELF.is_match(lower) && !TELLS_YOU.is_match(lower)) {
        return None;
    }
    if STANDING_STRONG.is_match(lower) || STANDING_OTHER.is_match(text) {
        return Some(Marker::Standing(0.9));
    }
    if STANDING_WEAK.is_match(lower) || (MAKE_SURE.is_match(lower) && QUANTIFIED.is_match(lower)) {
        return Some(Marker::Standing(0.8));
    }
    None
}

pattern!(WILL, r"^(?:i|we|they|he|she|it|you)(?:'ll| will)\b");

/// The note after "remember": "remember to …" lasts only when it says when.
fn note(rest: &str) -> Option<Marker> {
    let lower = rest.to_ascii_lowercase();
    match TO_DO.find(&lower) {
        Some(_) if !LASTING.is_match(&lower) => None,
        Some(found) => Some(Marker::Remember(rest[found.end()..].to_owned())),
        None if WILL.is_match(&lower) => None,
        None if lower.starts_with("when ") || lower.starts_with("how ") || lower.starts_with("last ") => None,
        None => Some(Marker::Remember(rest.to_owned())),
    }
}

pattern!(
    PREFER_EN,
    r"\bi(?:'d| would)? (?:(?:really|much|strongly|always|usually|generally) )?(?:prefer|rather|hate|dislike)\b|\bi(?:'d| would) rather\b|\bi (?:really )?(?:like|love) (?:it )?(?:when|my|short|concise|small|to (?:have|see|keep))\b|\bi (?:don't|do not) (?:like|want|use|need|read)\b|\bmy preference\b|\bwe (?:explicitly |really |generally )?(?:don't|do not) (?:want|use|allow|like|do|support|ship|mock|commit|log)\b|\bwe (?:strongly )?(?:prefer|avoid)\b"
);
pattern!(
    LETS,
    r"^(?:i think |i say |then )?(?:let's|let us|we'll|we will|we want to|we should) (?:always |just |rather |only |please )?(?:use|keep|stick (?:to|with)|go with|avoid|not use|never use|standardi[sz]e|stay (?:on|with))\b"
);
pattern!(
    INSTEAD,
    r"^(?:please |then |just )?(?:use|prefer|go with|pick|choose|put|write|store|name|call) \S.*\b(?:instead of|rather than|over|and not|not|never|no)\b"
);
pattern!(CONTRAST, r"\b(?:instead|rather|over|not|never|no|everywhere|always|only|because)\b");
pattern!(
    SHOULD,
    r"^(?:the|our|all|every|each|any|no|errors?|logs?|tests?|commits?|[\w`./-]+(?:\(\))?) (?:[\w`./-]+ ){0,5}(?:should(?:n't| not| never| always| only)? (?:be|use|return|stay|have|live|go|come|contain|end|start|follow|never|always|only|not)\b)"
);
pattern!(
    ONE_OFF,
    r"\b(?:button|screenshot|heading|page|line|word|title|typo|paragraph|section) (?:should|to)\b|\b(?:first|second|third|last|other|previous|above|below|left|right|top|bottom) (?:one|screenshot|image|option|version|approach|variant|column|row|line|file)\b"
);
pattern!(
    I_THINK,
    r"^i think|^maybe|^perhaps|^what if|\bi (?:don't|do not) (?:want|need) (?:to|you to|that|this|it|any of)\b"
);
pattern!(
    PREFER_OTHER,
    r"(?i)\b(?:ich bevorzuge|ich mag (?:lieber|keine|es)|ich möchte lieber|ich hätte (?:gerne|lieber)|mir ist lieber|lieber .* als|je préfère|j'aime mieux|je n'aime pas|prefiero|no me gusta|me gusta más|prefiro|eu prefiro|não gosto|preferisco|предпочитаю|мне больше нравится|не люблю|не используй(?:те)?|используй(?:те)? .* вместо)\b|(?:我更?喜欢|我更?喜歡|我偏好|我比较喜欢|我不喜欢|我不喜歡|请用|請用|改用|别用|別用|不要用|の方が(?:好き|いい|良い)|が好み|は嫌い|を使ってください|使わないで|선호(?:해|합니다|한다)|더 좋아|사용하지 마|쓰지 마|사용해\s?줘|써\s?줘)"
);

/// Returns how sure it is that a sentence states a preference.
pub(super) fn preference(sentence: &Sentence) -> Option<f32> {
    let lower = sentence.lower.as_str();
    if ONE_OFF.is_match(lower) {
        return None;
    }
    if PREFER_EN.is_match(lower) && !I_THINK.is_match(lower) {
        return Some(0.8);
    }
    if PREFER_OTHER.is_match(&sentence.text) {
        return Some(0.75);
    }
    if INSTEAD.is_match(lower) || LETS.is_match(lower) {
        let contrast = CONTRAST.is_match(lower) || place::is_anchored(&sentence.text);
        return (contrast && sentence.words() >= 4).then_some(0.7);
    }
    (SHOULD.is_match(lower)
        && (place::is_anchored(&sentence.text) || lower.contains(" all ") || lower.starts_with("all ")))
    .then_some(0.6)
}

pattern!(
    TROUBLE,
    r"\b(?:broken|flaky|fail(?:s|ed|ing|ure)?|crash(?:es|ed|ing)?|dies|died|hangs?|hung|explod(?:es|ed|e)|wrong(?:ly)?|weird|strange|ugly|awful|stuck|buggy|bugs?|slow|doesn't|does not work|isn't work|not working|won't|wouldn't|couldn't|error|errors out|red\b|looks?|seems?|appears?|feels?|still (?:looks?|fails?|shows?|not|doesn't|the same|see|get|broken)|kaputt|fehler|fehlschlägt|erreur|échoue|plante|roto|falla|quebrado|erro|ошибк\w*|сломан\w*|падает|не работает)\b|报错|報錯|出错|失败|失敗|坏了|壞了|エラー|壊れ|動かない|오류|에러|안 ?돼|안 ?됩"
);

/// Tells whether a sentence reports trouble: a state to be ended, not a fact to be kept.
pub(super) fn is_trouble(lower: &str) -> bool {
    TROUBLE.is_match(lower)
}

const STATIVE: &str = r"(?:runs?|lives?|uses?|listens?|points?|belongs?|depends?|requires?|needs?|expects?|supports?|talks?|sits?|goes|comes|holds?|contains?|stores?|returns?|reads?|writes?|owns?|reviews?|deploys?|releases?|wipes?|starts?|ends?|expires?|means|maps?|serves?|handles?|accepts?|costs?|takes?|ships?|follows?|has|have|is|are|must|can only|cannot|can't|only|may not)";

pattern!(
    FACT_SUBJECT,
    format!(
        r"^(?:the|our|all|every|each|both|any|this (?:project|repo(?:sitory)?|service|app|package|codebase|workspace|monorepo)|production|staging|prod|dev|ci|[\w-]+(?:'s)) (?:[\w`'./@()-]+,? ){{1,9}}?(?:is|are|was moved|were moved|now |only |always |also |still )?\s?{STATIVE}\b"
    )
);
pattern!(
    PLACE_SUBJECT,
    r"^(?:production|staging|prod|ci|qa) (?:now |still |only )?(?:runs?|uses?|is|has|needs?|lives?|sits?|points?|talks?)\b"
);
pattern!(
    WE_DO,
    r"^(?:here )?(?:we|everyone|the team|my team|our team)(?:'re| are| currently| only| mostly| usually| generally| all| also| already|'ve| have)*\s*(?:deploy|release|ship|use|run|build|test|host|store|keep|support|target|write|name|tag|review|merge|squash|rebase|publish|pin|freeze|follow|have (?:a|an|two|three|no|\d)|on|using|running|hosted|moved|switched|migrated|replaced|dropped|renamed|standardi[sz]ed|decided|agreed|settled|chose|went with|call|speak|work|bill|log|cache|serve|vendor|generate|mock|track)\b"
);
pattern!(
    BARE_SUBJECT,
    r"^(?:[\w`./@-]+ ){1,5}(?:lives? (?:in|under|at|on)|(?:is|are) (?:stored|kept|configured|deployed|hosted|named|called|located|owned|generated|defined|managed|synced|written|tagged|documented|served|mounted|pinned|reserved|required|versioned|built with|shared|in `|in [a-z_./-]+[/.][a-z]|at (?:http|/)|on port)|runs? (?:on|in|under|at|with|as|only)|listens? on|points? (?:to|at)|belongs? to|depends? on|needs? (?:to be|a|an|the|docker|at least)?|requires?|expires? (?:after|in|on)|only (?:runs|works|accepts|supports)|must)\b"
);
pattern!(
    NOT_SUBJECT,
    r"^(?:it|this|that|these|those|they|he|she|there|here|what|which|who|i|you|then|now|one|something|nothing|let|make|add|use|run|fix|put|move|change|remove|delete|show|write|check|see|open|set|get|please|try|do|don't|if|when|while|same|both of|next|again)\b"
);
pattern!(
    NOT_LASTING,
    r"\b(?:is|are|looks?|was|were) (?:\w+ )?(?:fine|good|great|ok|okay|nice|ready|done|clear|wrong|right|correct|too|pretty|perfect|missing|empty|open|down|up|back|gone|off|away|there|here|next|better|worse|enough|unclear|confusing|outdated|dead code|dim|bright|attached|below|above)\b|\bwe (?:need|should|could|can|want|have) to\b|\bwe still (?:need|have)\b|\b(?:today|tomorrow|yesterday|this morning|tonight|just now|a minute ago|earlier)\b|\bneeds? to (?:be )?(?:fix|chang|updat|remov|add|mov|push|show|go|look|work|done|rewrit|refactor|test)\w*\b|\bneeds? (?:some |a |more )?(?:fix|work|update|test|tests|section|love|cleanup)\b"
);
pattern!(
    I_AM,
    r"^(?:i (?:use|work|code|write|speak|live|am|only use|mostly|usually|normally|generally|run|type|read)\b|i (?:always|never) \w+|i'm (?:a|an|the|in|on|using|from|based|not a|new to|used to|more of|color ?blind|left)\b|i(?:'ve| have) been \w+ing\b.*\bfor (?:\d+|a|many|several|two|three|four|five|six|seven|eight|nine|ten|twenty|over|more than|about|almost)\b.*\b(?:years?|months?|decades?)\b|my (?:name|editor|shell|terminal|os|laptop|machine|time ?zone|language|keyboard|team|role|job|first language|native language|preferred|default|main)\b.*\b(?:is|are)\b|call me\b)"
);
pattern!(
    I_NOW,
    r"^i (?:use|run|read|write|am|work)(?: (?:it|this|that|the (?:same|command|script|test|tests))\b| (?:trying|getting|seeing|looking|going|not sure|done|working on|wondering|confused|happy))|^i'm (?:on it|in (?:the|a) |a little|a big|the one|a bit|a little|not sure)|^i (?:am|work) (?:on|now)\b|\bthe following\b|\bthis code\b|^i (?:always|never) (?:get|see|forget|said|asked|know|saw|had|liked?|thought|noticed)"
);
pattern!(
    WE_OTHER,
    r"(?i)^(?:(?:hier |aquí |ici |aqui )?(?:wir (?:verwenden|nutzen|benutzen|deployen|setzen|hosten|releasen|arbeiten)|bei uns|unser[e]? |die |der |das |nous (?:utilisons|déployons|hébergeons)|on (?:utilise|déploie)|notre |nos |le serveur|la base|usamos|utilizamos|desplegamos|nuestr[oa]s? |el servidor|la base|nós usamos|noss[oa]s? |a gente usa|o servidor|o banco|usiamo|il nostro|la nostra|мы (?:используем|применяем|деплоим|запускаем|храним|пишем|выкатываем)|у нас |наш[аие]? |база |сервер ))|^(?:我们|我們|咱们|本项目|本專案|这个项目|這個專案|项目|測試|测试|生产|生產|私たち|うち|当プロジェクト|このプロジェクト|本番|ステージング|우리|이 프로젝트|스테이징|운영)"
);
pattern!(
    IS_OTHER,
    r"(?i)\b(?:ist|sind|läuft|laufen|liegt|liegen|heißt|verwenden|nutzen|benutzen|deployen|setzen|hosten|est|sont|tourne|utilisons|utilise|se trouve|es|son|está|están|corre|usamos|utilizamos|é|são|fica|roda|usiamo|è|используем|применяем|деплоим|запускаем|храним|пишем|работает|находится|лежит)\b|у нас|是|在|用|使用|跑在|です|ます|にある|使って|이다|입니다|이야|예요|에요|있다|있어|사용|쓴다|써요"
);

/// Returns how sure it is that a sentence states a fact which lasts.
pub(super) fn fact(sentence: &Sentence) -> Option<f32> {
    let lower = sentence.lower.as_str();
    let anchored = place::is_anchored(&sentence.text);
    if I_AM.is_match(lower) && !I_NOW.is_match(lower) && sentence.words() >= 4 {
        return Some(0.7);
    }
    if WE_OTHER.is_match(&sentence.text) && IS_OTHER.is_match(&sentence.text) && anchored {
        return Some(0.7);
    }
    if NOT_LASTING.is_match(lower) || sentence.words() < 4 {
        return None;
    }
    if WE_DO.is_match(lower) {
        return Some(0.75);
    }
    if NOT_SUBJECT.is_match(lower) {
        return None;
    }
    if PLACE_SUBJECT.is_match(lower) || BARE_SUBJECT.is_match(lower) {
        return anchored.then_some(0.7);
    }
    (FACT_SUBJECT.is_match(lower) && anchored).then_some(0.7)
}

#[cfg(test)]
mod tests {
    use super::super::prose::Form;
    use super::*;

    fn sentence(text: &str) -> Sentence {
        Sentence::new(text, Form::Plain, 0)
    }

    #[test]
    fn requests_to_remember_give_the_note() {
        let cases = [
            ("Remember that the port is 5433", "the port is 5433"),
            ("ok, please keep in mind: no ORM", "no ORM"),
            ("ship it, and remember that EU is on v12", "EU is on v12"),
            ("Merk dir bitte: der Port ist 8443", "der Port ist 8443"),
            ("N'oublie pas que le port est 9090", "le port est 9090"),
            ("Recuerda que usamos pnpm", "usamos pnpm"),
            ("Lembre-se de que usamos pnpm", "usamos pnpm"),
            ("Запомни, что порт 5433", "порт 5433"),
            ("请记住：端口是 5433", "端口是 5433"),
            ("記住,埠號是 5433", "埠號是 5433"),
            ("ポートは5433だと覚えておいてください", "ポートは5433だ"),
            ("기억해줘: 포트는 7001이야", "포트는 7001이야"),
        ];
        for (text, note) in cases {
            assert_eq!(explicit(&sentence(text)), Some(Marker::Remember(note.to_owned())), "{text}");
        }
        assert_eq!(explicit(&sentence("don't forget to add tests")), None);
        assert_eq!(explicit(&sentence("make sure toolText is also used")), None);
    }

    #[test]
    fn facts_are_told_from_trouble_and_requests() {
        for text in [
            "Our staging database runs on port 5433.",
            "The acceptance marker for this project is cobalt-orchid-731.",
            "We deploy on Tuesdays only",
            "Secrets live in Vault under kv/shop/prod",
            "production runs node 22",
            "Wir verwenden hier Poetry, nicht pip.",
            "我们的测试数据库端口是 5433",
        ] {
            assert!(fact(&sentence(text)).is_some(), "{text}");
        }
        for text in [
            "the button is too dim",
            "it runs on port 3000",
            "we need to port the selector",
            "the plan is good",
            "I'm not sure",
        ] {
            assert!(fact(&sentence(text)).is_none(), "{text}");
        }
    }
}
