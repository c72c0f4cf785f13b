//! Scopes by table.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::filter::Filter;
use crate::memory::{Category, Memory};

fn place(root: &str, below: &str, remote: Option<&str>) -> Place {
    let root = PathBuf::from(root);
    let cwd = if below.is_empty() { root.clone() } else { root.join(below) };
    let git = remote.map(|remote| GitFacts {
        remote: Some(remote.to_owned()).filter(|remote| !remote.is_empty()),
        branch: "main".to_owned(),
        head: "abc".to_owned(),
        main_root: None,
    });
    Place { given: cwd.clone(), cwd, given_root: root.clone(), root, git }
}

fn scope(remote: &str) -> Scope {
    resolve(&place("/w/repo", "", Some(remote)), &Naming::default())
}

#[test]
fn one_repository_has_one_identity() {
    for remote in [
        "https://github.com/acme/widgets.git",
        "https://github.com/acme/widgets",
        "https://github.com/acme/widgets/",
        "https://github.com/acme/widgets.git/",
        "https://github.com/acme/widgets.git//",
        " https://github.com/acme/widgets.git\n",
        "https://GitHub.com/acme/widgets",
        "HTTPS://github.com/acme/widgets",
        "https://ada@github.com/acme/widgets.git",
        "https://ada:secret@github.com/acme/widgets.git/",
        "https://x-access-token:a@b@github.com/acme/widgets",
        "https://ada:pa/ss@github.com/acme/widgets",
        "git@github.com:acme/widgets.git",
        "git@github.com:acme/widgets",
        "git@github.com:acme/widgets.git/",
        "git@GITHUB.com:acme/widgets/",
        "git@github.com:/acme/widgets.git",
        "ada@github.com:acme/widgets.git",
        "github.com:acme/widgets.git",
        "ssh://git@github.com/acme/widgets.git",
        "ssh://github.com/acme/widgets",
        "ssh://git@github.com:22/acme/widgets.git/",
        "git+ssh://git@github.com/acme/widgets.git",
    ] {
        let scope = scope(remote);
        assert_eq!(scope.identity, "https://github.com/acme/widgets", "{remote}");
        assert_eq!(scope.app_id, "acme-widgets", "{remote}");
        assert_eq!(
            scope.project_id,
            format!("acme-widgets-{}", digest::hex(&["https://github.com/acme/widgets"], 10)),
            "{remote}"
        );
        assert_eq!(scope.older_project_id.as_deref(), Some("acme-widgets"));
    }
}

#[test]
fn other_repositories_differ() {
    let ours = scope("https://github.com/acme/widgets.git");
    for remote in [
        "https://github.com/fork/widgets.git",
        "https://gitlab.com/acme/widgets.git",
        "https://github.com/acme/widgets-2",
        "https://github.com:8443/acme/widgets",
        "ssh://git@github.com:2222/acme/widgets",
        "http://github.com/acme/widgets",
        "https://github.com/Acme/widgets",
        "/srv/git/acme/widgets.git",
    ] {
        let other = scope(remote);
        assert_ne!(other.identity, ours.identity, "{remote}");
        assert_ne!(other.project_id, ours.project_id, "{remote}");
    }
}

#[test]
fn remotes_by_table() {
    for (remote, identity, slug) in [
        ("https://gitlab.com/group/sub/proj.git", "https://gitlab.com/group/sub/proj", "sub-proj"),
        ("ssh://git@host:2222/x/y/z.git", "ssh://host:2222/x/y/z", "y-z"),
        ("https://github.com/solo.git", "https://github.com/solo", "github.com-solo"),
        ("https://ada:tok@github.com/solo.git", "https://github.com/solo", "github.com-solo"),
        ("ssh://git@github.com:22/solo", "https://github.com/solo", "github.com-solo"),
        (
            "https://deploy:t@git.example.org:8443/platform/ledger.git",
            "https://git.example.org:8443/platform/ledger",
            "platform-ledger",
        ),
        ("git@host.example:team/app.git", "https://host.example/team/app", "team-app"),
        ("https://user:tok@host.example/team/app.git/", "https://host.example/team/app", "team-app"),
        ("https://host/a/b?x=1#y", "https://host/a/b?x=1#y", "a-b?x=1#y"),
        ("git://host/a/b.git", "git://host/a/b", "a-b"),
        ("/srv/git/app.git", "/srv/git/app", "git-app"),
        ("../sibling", "../sibling", "..-sibling"),
        ("C:/code/app.git", "C:/code/app", "code-app"),
        ("file:///srv/app.git", "file:///srv/app", "srv-app"),
    ] {
        assert_eq!(normalize_remote(remote), identity, "{remote}");
        assert_eq!(slug_of_remote(remote), slug, "{remote}");
    }
}

#[test]
fn folders_without_a_remote() {
    let plain = resolve(&place("/w/clients/north/notes", "", None), &Naming::default());
    assert_eq!(plain.identity, "local:/w/clients/north/notes");
    assert_eq!(plain.app_id, "notes");
    assert_eq!(plain.project_id, format!("local-notes-{}", digest::hex(&["/w/clients/north/notes"], 10)));
    assert_eq!((plain.older_project_id.as_deref(), plain.branch.as_str(), plain.directory.as_str()), (None, "", ""));
    let repository = resolve(&place("/w/clients/north/notes", "", Some("")), &Naming::default());
    assert_eq!(repository.identity, plain.identity);
    assert_eq!(repository.branch, "main");
    // B083: a slash and a dash in a path are not the same folder.
    let (one, two) = (place("/tmp/a-b/c", "", None), place("/tmp/a/b-c", "", None));
    assert_ne!(resolve(&one, &Naming::default()).identity, resolve(&two, &Naming::default()).identity);
    assert_eq!(resolve(&place("/", "", None), &Naming::default()).app_id, "unknown");
}

#[test]
fn linked_work_trees_share_the_main_ones_memory() {
    let mut linked = place("/w/trees/fix-7", "src", Some(""));
    linked.git.as_mut().expect("git").main_root = Some(PathBuf::from("/w/notes"));
    let (linked, main) =
        (resolve(&linked, &Naming::default()), resolve(&place("/w/notes", "src", Some("")), &Naming::default()));
    assert_eq!(
        (&linked.identity, &linked.app_id, &linked.project_id, &linked.directory),
        (&main.identity, &main.app_id, &main.project_id, &main.directory)
    );
    assert_eq!(linked.root, PathBuf::from("/w/trees/fix-7"));
}

#[test]
fn names_given_by_the_person() {
    let remote = "https://github.com/acme/widgets.git";
    let mut place = place("/real/repo", "lib", Some(remote));
    place.given = "/link/repo/lib".into();
    place.given_root = "/link/repo".into();
    let by_remote = format!("remote:{}", digest::hex(&[remote], 16));
    for (project_id, map, expected) in [
        (Some(" by-env "), json!({"/link/repo/lib": "by-path"}), "by-env"),
        (Some("**"), json!({"/link/repo/lib": "given", "/link/repo": "root"}), "given"),
        (None, json!({"/link/repo": "given-root", "/real/repo/lib": "real"}), "given-root"),
        (None, json!({"/real/repo/lib": " real ", "/real/repo": "x"}), "real"),
        (None, json!({"/real/repo": "real-root"}), "real-root"),
        (None, json!({"/real/repo": "  ", &by_remote: "by-remote"}), "by-remote"),
        (None, json!({"/real/repo": 5, &by_remote: "by-remote"}), "by-remote"),
        (None, json!({"/real/repo": "*"}), "acme-widgets"),
        (None, json!([1]), "acme-widgets"),
        (Some(""), Value::Null, "acme-widgets"),
    ] {
        let scope = resolve(&place, &Naming { project_id, project_map: Some(&map) });
        assert_eq!(scope.app_id, expected, "{map}");
        assert_eq!(scope.project_id, format!("{expected}-{}", digest::hex(&["https://github.com/acme/widgets"], 10)));
        assert_eq!(scope.directory, "lib");
    }
}

#[test]
fn directories() {
    assert_eq!(directory_chain("a/b/c"), ["a", "a/b", "a/b/c"]);
    assert!(directory_chain("").is_empty());
    assert_eq!(directory(Path::new("/r/a/b"), Path::new("/r")), "a/b");
    assert_eq!(directory(Path::new("/other"), Path::new("/r")), "");
    for (value, wild) in [("", true), (" ", true), ("*", true), (" ** ", true), ("a*", false), ("ada", false)] {
        assert_eq!(is_wildcard(value), wild, "{value}");
    }
}

#[test]
fn filters_of_a_search() {
    let mut scope = scope("https://github.com/acme/widgets.git");
    let project = scope.project_id.clone();
    let app = json!({"app_id": "acme-widgets"});
    let shared = json!({"OR": [{"AND": [{"agent_id": project}, app]}, {"AND": [{"agent_id": "acme-widgets"}, app]}]});
    let mine = json!({"AND": [{"user_id": "ada"}, app]});
    let ask = |scope: &Scope, search, category, run| filters(scope, "ada", search, category, run).expect("a filter");
    assert_eq!(ask(&scope, SearchScope::Repo, None, None), json!({"OR": [shared, mine]}));
    assert_eq!(ask(&scope, SearchScope::Dir, None, None), json!({"OR": [shared, mine]}));
    assert_eq!(ask(&scope, SearchScope::Mine, None, None), mine);
    scope.directory = "lib/io".into();
    assert_eq!(
        ask(&scope, SearchScope::Dir, None, None),
        json!({"OR": [{"AND": [shared, {"metadata": {"dirs": {"contains": "lib/io"}}}]}, mine]})
    );
    assert_eq!(
        ask(&scope, SearchScope::Repo, Some(Category::Workflows), Some(" sess-9 ")),
        json!({"AND": [{"AND": [{"OR": [shared, mine]}, {"categories": {"contains": "workflows"}}]}, {"run_id": "sess-9"}]})
    );
    let folder = resolve(&place("/w/notes", "", None), &Naming::default());
    assert_eq!(
        ask(&folder, SearchScope::Repo, None, None),
        json!({"OR": [
            {"AND": [{"agent_id": folder.project_id}, {"app_id": "notes"}]},
            {"AND": [{"user_id": "ada"}, {"app_id": "notes"}]},
        ]})
    );
}

#[test]
fn wildcards_are_refused() {
    let scope = scope("https://github.com/acme/widgets.git");
    assert_eq!(filters(&scope, " * ", SearchScope::Repo, None, None), Err(ScopeError::Wildcard("user id")));
    assert_eq!(filters(&scope, "ada", SearchScope::Mine, None, Some("**")), Err(ScopeError::Wildcard("session id")));
    let nameless = Scope { app_id: "*".into(), ..scope.clone() };
    assert_eq!(filters(&nameless, "ada", SearchScope::Repo, None, None), Err(ScopeError::Wildcard("repository slug")));
    let nowhere = Scope { project_id: String::new(), ..scope };
    assert_eq!(filters(&nowhere, "ada", SearchScope::Repo, None, None), Err(ScopeError::Wildcard("project namespace")));
}

#[test]
fn a_search_filter_selects_its_memories() {
    let mut scope = scope("https://github.com/acme/widgets.git");
    scope.directory = "lib".into();
    let filter = filters(&scope, "ada", SearchScope::Dir, None, None).expect("a filter");
    let filter = Filter::parse(&filter).expect("our own language");
    let memory = |agent: &str, user: &str, app: &str, dirs: &[&str]| Memory {
        agent_id: Some(agent.to_owned()).filter(|id| !id.is_empty()),
        user_id: Some(user.to_owned()).filter(|id| !id.is_empty()),
        app_id: Some(app.to_owned()),
        metadata: json!({"dirs": dirs}).as_object().cloned(),
        ..Memory::default()
    };
    for (memory, expected) in [
        (memory(&scope.project_id, "", "acme-widgets", &["lib"]), true),
        (memory(&scope.project_id, "", "acme-widgets", &["src"]), false),
        (memory("acme-widgets", "", "acme-widgets", &["lib", "lib/io"]), true),
        (memory("", "ada", "acme-widgets", &[]), true),
        (memory("", "bob", "acme-widgets", &["lib"]), false),
        (memory(&scope.project_id, "ada", "other", &["lib"]), false),
    ] {
        assert_eq!(filter.matches(&memory), expected, "{memory:?}");
    }
}

proptest! {
    #[test]
    fn credentials_never_enter_an_identity(user in "[a-z]{1,8}", token in "[A-Za-z0-9]{12,30}", path in "[a-z]{2,8}/[a-z]{2,8}") {
        for remote in [format!("https://{user}:{token}@host.example/{path}.git"), format!("ssh://{user}:{token}@host.example/{path}")] {
            let scope = scope(&remote);
            prop_assert_eq!(&scope.identity, &format!("https://host.example/{path}"));
            let shown = format!("{:?}", scope);
            prop_assert!(!shown.contains(&token));
        }
    }

    #[test]
    fn any_remote_is_normalized_once(remote in "[ -~é]{0,60}") {
        let once = normalize_remote(&remote);
        let _ = slug_of_remote(&remote);
        prop_assert!(!once.ends_with('/') || once.len() < 3);
    }
}
