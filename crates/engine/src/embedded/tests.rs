use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use mem0_code_core::memory::{Entities, Role};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::*;
use crate::api::{EventStatus, Purpose};

struct Fixture {
    folder: TempDir,
    engine: Embedded,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let engine = Embedded::open(&folder.path().join("home/memory.sqlite3"), Access::ReadWrite).unwrap();
        Self { folder, engine }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("home/memory.sqlite3")
    }

    fn open(&self, access: Access) -> Embedded {
        Embedded::open(&self.path(), access).unwrap()
    }

    fn say(&mut self, run: &str, messages: &[(Role, &str)]) -> String {
        self.engine.add(&said("u", run, messages)).unwrap()
    }

    fn know(&mut self, text: &str) -> String {
        let request = AddRequest { infer: false, ..said("u", "r", &[(Role::User, text)]) };
        self.engine.add(&request).unwrap();
        let page = self.engine.list(&ListRequest { filters: json!({}), page: 1, page_size: 1 }).unwrap();
        page.results[0].id.clone()
    }

    fn texts(&mut self, query: &str) -> Vec<String> {
        texts(&mut self.engine, query)
    }

    fn segment_files(&self) -> Vec<PathBuf> {
        let folder = self.engine.folder();
        let mut out: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        out.retain(|path| path.file_name().unwrap().to_string_lossy().contains(".seg"));
        out
    }
}

fn entities(user: &str) -> Entities {
    Entities { user_id: user.into(), agent_id: "proj-1".into(), app_id: "proj".into(), run_id: None }
}

fn said(user: &str, run: &str, messages: &[(Role, &str)]) -> AddRequest {
    AddRequest {
        messages: messages.iter().map(|(role, text)| remember::message(*role, text, None)).collect(),
        entities: Entities { run_id: Some(run.into()), ..entities(user) },
        metadata: json!({"branch": "main", "author": user}).as_object().cloned().unwrap_or_default(),
        infer: true,
        now: Some("2026-03-01T10:00:00Z".parse().unwrap()),
        ..AddRequest::default()
    }
}

fn ask(query: &str, filters: Value, purpose: Purpose) -> SearchRequest {
    SearchRequest {
        query: query.into(),
        app_id: "proj".into(),
        filters,
        top_k: 5,
        purpose,
        now: "2026-03-05T10:00:00Z".parse().unwrap(),
        timeout: Duration::from_secs(1),
    }
}

fn repo() -> Value {
    json!({"OR": [{"AND": [{"agent_id": "proj-1"}, {"app_id": "proj"}]}, {"AND": [{"user_id": "u"}, {"app_id": "proj"}]}]})
}

fn texts(engine: &mut Embedded, query: &str) -> Vec<String> {
    let found = engine.search(&ask(query, repo(), Purpose::Search)).unwrap();
    found.into_iter().map(|memory| memory.memory).collect()
}

fn recalled(engine: &mut Embedded, query: &str) -> Vec<String> {
    let found = engine.search(&ask(query, repo(), Purpose::Recall)).unwrap();
    found.into_iter().map(|memory| memory.memory).collect()
}

/// Texts about many unrelated things, from a fixed seed.
fn filler(n: usize) -> Vec<String> {
    const WHO: [&str; 8] = [
        "The parser",
        "Our cache",
        "The build",
        "A reviewer",
        "The docs",
        "The queue",
        "This script",
        "The login page",
    ];
    const DOES: [&str; 8] = ["needs", "breaks", "skips", "renames", "prints", "reloads", "rejects", "measures"];
    const WHAT: [&str; 10] = [
        "empty lines",
        "the color theme",
        "nested folders",
        "old tickets",
        "image sizes",
        "retry headers",
        "unicode names",
        "slow queries",
        "stale locks",
        "test fixtures",
    ];
    (0..n).map(|i| format!("{} {} {} in step {}", WHO[i % 8], DOES[i / 8 % 8], WHAT[i / 3 % 10], i * 7 % 97)).collect()
}

#[test]
fn what_was_said_is_found_from_every_worktree_and_by_the_person() {
    let mut f = Fixture::new();
    f.say("s1", &[(Role::User, "We decided to ship the billing service with Kafka"), (Role::Assistant, "Done.")]);
    assert!(f.texts("billing kafka")[0].contains("Kafka"));
    let mine = json!({"AND": [{"user_id": "u"}, {"app_id": "proj"}]});
    assert_eq!(f.engine.search(&ask("billing kafka", mine, Purpose::Search)).unwrap()[0].user_id.as_deref(), Some("u"));
    let other = json!({"AND": [{"agent_id": "proj-2"}, {"app_id": "proj"}]});
    assert!(f.engine.search(&ask("billing kafka", other, Purpose::Search)).unwrap().is_empty());
}

#[test]
fn adding_twice_with_one_key_stores_once() {
    let mut f = Fixture::new();
    let request = AddRequest {
        idempotency_key: Some("packet-1".into()),
        ..said("u", "s", &[(Role::User, "Tests run with make check")])
    };
    let event = f.engine.add(&request).unwrap();
    assert_eq!(f.engine.add(&request).unwrap(), event);
    assert_eq!(f.engine.event(&event).unwrap().status, EventStatus::Succeeded);
    let turns = json!({"metadata": {"kind": "turn"}});
    assert_eq!(f.engine.list(&ListRequest { filters: turns, page: 1, page_size: 10 }).unwrap().total, Some(1));
    assert!(matches!(f.engine.event("nothing"), Err(ApiError::NotFound(_))));
}

#[test]
fn told_memories_are_durable_and_stored_once() {
    let mut f = Fixture::new();
    let id = f.know("Deploys go out on Tuesdays.");
    f.know("deploys go out on tuesdays");
    assert_eq!(f.engine.stats().unwrap().rows, 1);
    let memory = f.engine.get(&id).unwrap();
    assert_eq!(memory.metadata.unwrap()["kind"], "durable");
    assert_eq!(memory.categories, None);
}

#[test]
fn a_memory_must_belong_to_someone() {
    let mut f = Fixture::new();
    let request = AddRequest { entities: Entities::default(), ..said("u", "s", &[(Role::User, "x")]) };
    assert!(matches!(f.engine.add(&request), Err(ApiError::Invalid(_))));
}

#[test]
fn changing_keeps_history_and_finds_the_new_text_only() {
    let mut f = Fixture::new();
    let id = f.know("The staging port is 5433");
    f.engine.maintain(true).unwrap();
    f.engine.update(&id, "The staging port is 5544").unwrap();
    assert_eq!(f.texts("staging port"), ["The staging port is 5544"]);
    let history = f.engine.history(&id).unwrap();
    let events: Vec<&str> = history.iter().map(|change| change.event.as_str()).collect();
    assert_eq!(events, ["ADD", "UPDATE"]);
    assert_eq!(history[0].new_memory.as_deref(), Some("The staging port is 5433"));
    assert!(matches!(f.engine.update("nothing", "x"), Err(ApiError::NotFound(_))));
}

/// B105, B119: found by no word and no meaning, before and after indexing and restarting, and in no file.
#[test]
fn deleted_memories_never_come_back() {
    for is_indexed in [false, true] {
        let mut f = Fixture::new();
        let secret = format!("zanzibar{}", uuid::Uuid::now_v7().simple());
        let id = f.know(&format!("The vault phrase is {secret}"));
        f.know("The parser skips empty lines");
        if is_indexed {
            f.engine.maintain(true).unwrap();
        }
        f.engine.update(&id, &format!("The vault phrase was {secret}")).unwrap();
        f.engine.delete(&id).unwrap();
        for _ in 0..2 {
            for query in [secret.as_str(), "vault phrase", "what is the secret passphrase of the safe?"] {
                assert!(f.texts(query).iter().all(|text| !text.contains(&secret)), "{query}");
            }
            f.engine.maintain(true).unwrap();
            f.engine = f.open(Access::ReadWrite);
        }
        assert!(matches!(f.engine.get(&id), Err(ApiError::NotFound(_))));
        assert_eq!(f.engine.history(&id).unwrap().last().unwrap().event, "DELETE");
        let root = f.path().parent().unwrap().to_owned();
        for folder in [root, f.engine.folder()] {
            for entry in fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.path().is_file()) {
                let bytes = fs::read(entry.path()).unwrap();
                let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
                assert!(!found, "{} holds it, indexed: {is_indexed}", entry.path().display());
            }
        }
    }
}

/// B099.
#[test]
fn forty_thousand_ids_can_be_deleted() {
    let mut f = Fixture::new();
    let id = f.know("The parser skips empty lines");
    let mut ids: Vec<String> = (0..40_000).map(|n| format!("id-{n}")).collect();
    ids.push(id);
    assert_eq!(f.engine.delete_many(&ids).unwrap(), 1);
    let page = ListRequest { filters: json!({"id": {"in": ids}}), page: 1, page_size: 10 };
    assert_eq!(f.engine.list(&page).unwrap().total, Some(0));
}

#[test]
fn deleting_by_filter_spares_the_rest() {
    let mut f = Fixture::new();
    f.say("s1", &[(Role::User, "alpha talk about caching")]);
    f.say("s2", &[(Role::User, "beta talk about caching")]);
    assert_eq!(f.engine.delete_where(&json!({"run_id": "s1"})).unwrap(), 1);
    assert_eq!(f.texts("caching talk"), ["beta talk about caching"]);
}

/// B109, B111.
#[test]
fn cjk_words_are_found_first() {
    let mut f = Fixture::new();
    let words = ["缓存", "接口", "日志", "测试", "部署", "数据库", "配置", "权限", "前端", "脚本"];
    for n in 0..200 {
        f.say("s", &[(Role::User, &format!("第{n}条笔记：{}和{}需要更新", words[n % 10], words[n / 10 % 10]))]);
    }
    f.say("s", &[(Role::User, "支付服务改用消息队列重试")]);
    f.say("s", &[(Role::User, "输入法用雾凇拼音方案")]);
    f.say("s", &[(Role::User, "ログイン失敗の原因はトークンの期限切れ")]);
    f.say("s", &[(Role::User, "로그인 오류가 계속 발생합니다")]);
    for is_indexed in [false, true] {
        if is_indexed {
            f.engine.maintain(true).unwrap();
        }
        for (query, expected) in [
            ("消息队列", "支付服务"),
            ("重试", "支付服务"),
            ("支付", "支付服务"),
            ("雾凇拼音", "雾凇"),
            ("ログイン失敗", "ログイン"),
            ("로그인 오류", "로그인"),
        ] {
            assert!(f.texts(query)[0].contains(expected), "{query}, indexed: {is_indexed}");
        }
    }
    // The same without any segment.
    for file in f.segment_files() {
        fs::remove_file(file).unwrap();
    }
    f.engine = f.open(Access::ReadWrite);
    assert!(f.texts("消息队列")[0].contains("支付服务"));
}

/// B113.
#[test]
fn hyphens_and_code_words_are_words() {
    let mut f = Fixture::new();
    f.know("The pre-edit hook formats files");
    f.know("Call parseHttpHeader in src/net/http.rs before --dry-run");
    for (query, expected) in [
        ("pre-edit", "pre-edit"),
        ("parseHttpHeader", "parseHttp"),
        ("http header", "parseHttp"),
        ("src/net/http.rs", "parseHttp"),
        ("--dry-run", "parseHttp"),
        ("\"pre-edit hook\"", "pre-edit"),
        ("parseHttpHe", "parseHttp"),
    ] {
        assert!(f.texts(query)[0].contains(expected), "{query}");
    }
}

/// B115.
#[test]
fn an_old_exact_match_beats_new_weak_ones() {
    let mut f = Fixture::new();
    let mut old = said("u", "s0", &[(Role::User, "The release checklist lives in ops/release.md")]);
    old.now = Some("2020-01-01T00:00:00Z".parse().unwrap());
    f.engine.add(&old).unwrap();
    for n in 0..30 {
        f.say(&format!("s{n}"), &[(Role::User, &format!("the next release needs step {n}"))]);
    }
    assert!(f.texts("where is the release checklist?")[0].contains("ops/release.md"));
}

/// B121.
#[test]
fn no_result_lies_outside_the_filter() {
    let mut f = Fixture::new();
    for (user, run) in [("u", "a"), ("v", "b")] {
        for text in filler(40) {
            f.engine
                .add(&AddRequest {
                    entities: Entities { run_id: Some(run.into()), agent_id: String::new(), ..entities(user) },
                    ..said(user, run, &[(Role::User, &text)])
                })
                .unwrap();
        }
    }
    let check = |engine: &mut Embedded| {
        for filters in [
            json!({"AND": [{"user_id": "v"}, {"app_id": "proj"}]}),
            json!({"run_id": "b"}),
            json!({"AND": [{"user_id": "v"}, {"created_at": {"gte": "2020-01-01"}}]}),
            json!({"AND": [{"user_id": "v"}, {"metadata": {"role": "user"}}]}),
        ] {
            let found = engine.search(&ask("xylophone parser cache", filters.clone(), Purpose::Search)).unwrap();
            assert!(!found.is_empty() && found.iter().all(|m| m.user_id.as_deref() == Some("v")), "{filters}");
        }
        let none = json!({"AND": [{"user_id": "nobody"}, {"app_id": "proj"}]});
        assert!(engine.search(&ask("parser", none, Purpose::Search)).unwrap().is_empty());
    };
    check(&mut f.engine);
    f.engine.maintain(true).unwrap();
    check(&mut f.engine);
}

/// B117.
#[test]
fn days_of_a_zone_are_filtered_exactly() {
    let mut f = Fixture::new();
    for (text, at) in [("late item", "2026-02-10T23:59:59.999+09:00"), ("early item", "2026-02-11T00:00:00+09:00")] {
        let mut request = said("u", "s", &[(Role::User, text)]);
        request.now = Some(at.parse().unwrap());
        f.engine.add(&request).unwrap();
    }
    let day = json!({"created_at": {"gte": "2026-02-11T00:00:00+09:00", "lt": "2026-02-12T00:00:00+09:00"}});
    let found = f.engine.search(&ask("item", day, Purpose::Search)).unwrap();
    assert_eq!(found.iter().map(|m| m.memory.as_str()).collect::<Vec<_>>(), ["early item"]);
}

/// B129.
#[test]
fn empty_and_enormous_questions_get_short_answers() {
    let mut f = Fixture::new();
    f.know("The parser skips empty lines");
    for query in ["", "   ", "?!…", "\u{0}"] {
        assert!(f.texts(query).is_empty(), "{query:?}");
    }
    assert!(f.texts(&"parser ".repeat(15_000)).len() <= 5);
}

/// B135.
#[test]
fn a_clock_ahead_hides_nothing() {
    let mut f = Fixture::new();
    let mut ahead = said("u", "s", &[(Role::User, "the tunnel uses wireguard")]);
    ahead.now = Some("2030-01-01T00:00:00Z".parse().unwrap());
    f.engine.add(&ahead).unwrap();
    f.say("s", &[(Role::User, "the tunnel uses port 51820")]);
    assert_eq!(f.texts("tunnel").len(), 2);
    let page = f.engine.list(&ListRequest { filters: json!({}), page: 1, page_size: 10 }).unwrap();
    assert!(page.results[0].memory.contains("51820"), "by arrival");
}

#[test]
fn a_search_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none/memory.sqlite3");
    let mut engine = Embedded::open(&path, Access::Search).unwrap();
    assert!(texts(&mut engine, "anything").is_empty());
    assert!(!path.parent().unwrap().exists());
    let mut writer = Embedded::open(&path, Access::ReadWrite).unwrap();
    writer.add(&said("u", "s", &[(Role::User, "the tunnel uses wireguard")])).unwrap();
    assert_eq!(texts(&mut engine, "tunnel").len(), 1, "the file came later");
    assert!(engine.add(&said("u", "s", &[(Role::User, "x")])).is_err());
}

#[cfg(unix)]
#[test]
fn files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let mut f = Fixture::new();
    f.know("The parser skips empty lines");
    f.engine.maintain(true).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&f.path()), 0o600);
    assert_eq!(mode(f.path().parent().unwrap()), 0o700);
    assert_eq!(mode(&f.engine.folder()), 0o700);
    f.segment_files().iter().for_each(|file| assert_eq!(mode(file), 0o600));
}

#[test]
fn an_unreadable_file_is_set_aside_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.sqlite3");
    fs::write(&path, "no database at all, but long enough to be looked at ".repeat(40)).unwrap();
    assert!(texts(&mut Embedded::open(&path, Access::Search).unwrap(), "x").is_empty());
    let mut engine = Embedded::open(&path, Access::ReadWrite).unwrap();
    assert!(engine.stats().unwrap().note.unwrap().contains("set aside"));
    let kept: Vec<String> =
        fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert!(kept.iter().any(|name| name.starts_with("memory.sqlite3.corrupt-")), "{kept:?}");
}

#[test]
fn a_newer_database_is_left_alone() {
    let f = Fixture::new();
    f.engine.db.as_ref().unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(Embedded::open(&f.path(), Access::ReadWrite), Err(ApiError::Invalid(_))));
}

/// A kind of damage and how it is done.
type Damage = (&'static str, fn(&Path));

/// Missing, cut and damaged segments answer all the same, and the worker makes them whole (B101 for leftovers).
#[test]
fn broken_segments_are_survived_and_rebuilt() {
    let damage: [Damage; 4] = [
        ("missing", |path| fs::remove_file(path).unwrap()),
        ("cut", |path| fs::OpenOptions::new().write(true).open(path).unwrap().set_len(200).unwrap()),
        ("header", |path| flip(path, 40)),
        ("body", |path| flip(path, fs::metadata(path).unwrap().len() as usize - 30)),
    ];
    for (name, damage) in damage {
        let mut f = Fixture::new();
        for text in filler(60) {
            f.know(&text);
        }
        f.know("The acceptance marker is cobalt-orchid");
        f.engine.maintain(true).unwrap();
        f.know("A later fact about zebras");
        let files = f.segment_files();
        assert_eq!(files.len(), 1);
        f.engine.open_segment = None;
        damage(&files[0]);
        fs::write(f.engine.folder().join("dead.seg.tmp"), "half").unwrap();
        f.engine = f.open(Access::ReadWrite);
        assert!(f.texts("acceptance marker")[0].contains("cobalt"), "{name}");
        assert!(f.texts("zebras")[0].contains("zebras"), "{name}");
        let done = f.engine.maintain(false).unwrap();
        assert!(done.is_rebuilt && done.n_swept >= 1, "{name}: {done:?}");
        assert!(!f.engine.stats().unwrap().is_degraded);
        assert_eq!(f.engine.stats().unwrap().indexed, 62, "{name}");
        assert!(f.texts("acceptance marker")[0].contains("cobalt"), "{name}");
        assert_eq!(f.segment_files().len(), 1);
    }
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x55;
    fs::write(path, bytes).unwrap();
}

#[test]
fn indexed_and_unindexed_rows_rank_alike() {
    let mut f = Fixture::new();
    for (n, text) in filler(80).iter().enumerate() {
        f.say(&format!("s{}", n / 9), &[(if n % 2 == 0 { Role::User } else { Role::Assistant }, text)]);
    }
    let queries = [
        "which lines does the parser skip?",
        "stale locks in the queue",
        "who renames old tickets",
        "login page unicode",
    ];
    let ranking = |engine: &mut Embedded| queries.map(|query| texts(engine, query));
    let before = ranking(&mut f.engine);
    f.engine.maintain(true).unwrap();
    assert_eq!(ranking(&mut f.engine), before);
    // Half in the segment, half in the tail of the same sessions.
    let mut g = Fixture::new();
    for (n, text) in filler(80).iter().enumerate() {
        g.say(&format!("s{}", n / 9), &[(if n % 2 == 0 { Role::User } else { Role::Assistant }, text)]);
        if n == 41 {
            g.engine.maintain(true).unwrap();
        }
    }
    assert_eq!(ranking(&mut g.engine), before);
}

#[test]
fn readers_go_on_while_segments_are_replaced() {
    let mut f = Fixture::new();
    f.know("The acceptance marker is cobalt-orchid");
    let path = f.path();
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || {
                let mut engine = Embedded::open(&path, Access::Search).unwrap();
                for _ in 0..60 {
                    assert!(texts(&mut engine, "acceptance marker cobalt")[0].contains("cobalt"));
                }
            })
        })
        .collect();
    for text in filler(40) {
        f.know(&text);
        f.engine.maintain(true).unwrap();
    }
    readers.into_iter().for_each(|reader| reader.join().unwrap());
}

/// B091, in one process: SQLite's lock is the same between threads' connections and processes.
#[test]
fn parallel_writers_lose_nothing() {
    let f = Fixture::new();
    let path = f.path();
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let path = path.clone();
            std::thread::spawn(move || {
                let mut engine = Embedded::open(&path, Access::ReadWrite).unwrap();
                for n in 0..12 {
                    engine.add(&said("u", "s", &[(Role::User, &format!("writer {writer} says {n}"))])).unwrap();
                    if n % 5 == 0 {
                        engine.maintain(true).unwrap();
                    }
                }
            })
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    let turns = ListRequest { filters: json!({"metadata": {"kind": "turn"}}), page: 1, page_size: 200 };
    let page = f.open(Access::Search).list(&turns).unwrap();
    let distinct: BTreeSet<String> = page.results.into_iter().map(|memory| memory.memory).collect();
    assert_eq!((page.total, distinct.len()), (Some(96), 96));
}

#[test]
fn the_marker_of_an_earlier_session_is_recalled() {
    let mut f = Fixture::new();
    f.say(
        "s1",
        &[
            (Role::User, "The acceptance marker for this project is cobalt-orchid-731. Reply with the word noted."),
            (Role::Assistant, "Noted."),
        ],
    );
    for text in filler(500) {
        f.say("s2", &[(Role::User, &text)]);
    }
    for is_indexed in [false, true] {
        if is_indexed {
            f.engine.maintain(true).unwrap();
        }
        let found = recalled(&mut f.engine, "What is the acceptance marker for this project?");
        assert!(found.first().is_some_and(|text| text.contains("cobalt-orchid-731")), "{found:?}");
    }
}

#[test]
fn unrelated_questions_recall_nothing() {
    let mut f = Fixture::new();
    for (n, text) in filler(500).iter().enumerate() {
        if n % 5 == 0 {
            f.know(text);
        } else {
            f.say(&format!("s{}", n / 20), &[(if n % 3 == 0 { Role::Assistant } else { Role::User }, text)]);
        }
    }
    for query in [
        "What should I cook for dinner tonight?",
        "Please add a dark mode switch to the settings dialog",
        "How do I configure the Kubernetes ingress for the billing domain?",
        "hello",
        "fix it",
        "run the tests",
        "今天天气怎么样？",
    ] {
        assert_eq!(recalled(&mut f.engine, query), [""; 0], "{query}");
    }
}

#[test]
fn superseded_memories_are_not_recalled_and_rank_lower() {
    let mut f = Fixture::new();
    let old = f.know("The staging database listens on port 5433");
    let new = f.know("Since May the staging database has another port, 5544");
    let db = f.engine.db.as_ref().unwrap();
    db.execute("UPDATE memory SET superseded_by = ?2 WHERE id = ?1", [&old, &new]).unwrap();
    let seq = rows::by_id(db, &old).unwrap().unwrap().seq;
    rows::reindex(db, &mut Indexer::new(), seq).unwrap();
    let found = recalled(&mut f.engine, "which port does the staging database use?");
    assert!(!found.is_empty() && found.iter().all(|text| text.contains("5544")), "{found:?}");
    assert!(f.texts("staging database port").iter().any(|text| text.contains("5433")));
}

#[test]
fn long_turns_are_shown_around_the_match() {
    let mut f = Fixture::new();
    let text = format!(
        "{} The flux capacitor needs 1.21 gigawatts. {}",
        "Filler words go here. ".repeat(60),
        "More of them follow. ".repeat(60)
    );
    f.say("s", &[(Role::Assistant, &text)]);
    let found = f.texts("how much does the flux capacitor need?");
    assert!(found[0].contains("1.21 gigawatts") && found[0].chars().count() <= 600, "{}", found[0]);
}

#[test]
fn a_named_day_prefers_its_memories() {
    let mut f = Fixture::new();
    for (day, text) in
        [("2026-03-04", "standup notes about the importer"), ("2026-01-10", "standup notes about the importer queue")]
    {
        let mut request = said("u", day, &[(Role::Assistant, text)]);
        request.now = Some(format!("{day}T09:00:00Z").parse().unwrap());
        f.engine.add(&request).unwrap();
    }
    assert_eq!(f.texts("importer standup notes yesterday")[0], "standup notes about the importer");
}

#[test]
fn pages_are_newest_first() {
    let mut f = Fixture::new();
    for n in 0..7 {
        f.know(&format!("fact number {n} about {}", filler(7)[n]));
    }
    let page = |engine: &mut Embedded, page| engine.list(&ListRequest { filters: repo(), page, page_size: 3 }).unwrap();
    assert_eq!(page(&mut f.engine, 1).total, Some(7));
    assert!(page(&mut f.engine, 1).results[0].memory.starts_with("fact number 6"));
    assert_eq!(page(&mut f.engine, 3).results.len(), 1);
    assert!(page(&mut f.engine, 4).results.is_empty());
}

#[test]
fn the_protocol_answers_line_by_line() {
    let add = |id: &str, scope: &str, text: &str| {
        json!({"op": "add", "id": id, "scope": scope, "session": "s", "time": "2026-01-01T00:00:00Z", "role": "user", "text": text}).to_string()
    };
    let lines = [
        r#"{"op":"reset"}"#.to_owned(),
        add("a", "one", "the cat sat"),
        add("b", "two", "the cat ran"),
        r#"{"op":"flush"}"#.to_owned(),
        r#"{"op":"search","scope":"one","query":"cat","k":5,"time":"2026-01-02T00:00:00Z"}"#.to_owned(),
        "nonsense".to_owned(),
    ];
    let mut out = Vec::new();
    eval::run(lines.join("\n").as_bytes(), &mut out).unwrap();
    let answers: Vec<Map<String, Value>> =
        out.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(|l| serde_json::from_slice(l).unwrap()).collect();
    assert_eq!(answers.len(), 6);
    assert_eq!(answers[4]["results"].as_array().unwrap().len(), 1);
    assert_eq!(answers[4]["results"][0]["id"], "a");
    assert!(answers[5].contains_key("error"));
}

/// B095.
#[test]
fn a_damaged_page_costs_a_page() {
    let mut f = Fixture::new();
    let texts = filler(10_000);
    for (n, part) in texts.chunks(500).enumerate() {
        let turns: Vec<(Role, String)> =
            part.iter().enumerate().map(|(at, text)| (Role::Assistant, format!("{at}: {text}"))).collect();
        let turns: Vec<(Role, &str)> = turns.iter().map(|(role, text)| (*role, text.as_str())).collect();
        f.say(&format!("s{n}"), &turns);
    }
    let before = f.engine.stats().unwrap().rows;
    assert!(before >= 10_000);
    let db = f.engine.db.take().unwrap();
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let page: usize = db
        .query_row(
            "SELECT pageno FROM dbstat WHERE name = 'memory' AND pagetype = 'leaf' LIMIT 1 OFFSET 40",
            [],
            |row| row.get::<_, u32>(0),
        )
        .map_or(120, |page| page as usize);
    drop(db);
    let mut bytes = fs::read(f.path()).unwrap();
    bytes[(page - 1) * 4096..page * 4096].fill(0xa5);
    fs::write(f.path(), bytes).unwrap();
    let done = super::salvage::salvage(&f.path(), &rusqlite::Error::InvalidQuery).unwrap();
    assert!(done.kept * 100 >= before * 99 && done.kept < before && done.set_aside.exists(), "{done:?} of {before}");
    f.engine = f.open(Access::ReadWrite);
    f.engine.maintain(true).unwrap();
    assert!(!f.texts("stale locks in the queue").is_empty());
    assert!(f.engine.stats().unwrap().note.unwrap().contains("saved from it"));
}

/// `serve` moves an engine between threads.
#[test]
fn engines_can_be_sent() {
    fn check<T: Send>() {}
    check::<Embedded>();
}

/// A distilled memory and the turn it was distilled from are one thing to a prompt.
#[test]
fn a_turn_is_not_recalled_beside_what_came_of_it() {
    let mut f = Fixture::new();
    f.say(
        "s1",
        &[(Role::User, "Run the tests. Remember that we deploy with make ship."), (Role::Assistant, "Both pass.")],
    );
    assert_eq!(recalled(&mut f.engine, "How do we deploy this project?"), ["We deploy with make ship."]);
}
