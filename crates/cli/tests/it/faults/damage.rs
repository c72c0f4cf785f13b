//! Databases that are no longer what they were.

use std::fs;
use std::path::Path;

use super::home::{Home, assert_intact, open};

/// A way to damage a file.
#[derive(Debug, Clone, Copy)]
enum Damage {
    /// Overwritten with text.
    Garbage,
    /// Cut in the middle of a page.
    Truncated,
    /// Cut within the header.
    Stump,
    /// The magic of the header changed.
    Header,
    /// Single bytes of pages beyond the first changed.
    Pages,
}

impl Damage {
    /// Does it. The write-ahead log is folded in first, so that it cannot heal the damage.
    fn apply(self, path: &Path) {
        let connection = open(path);
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("nobody else uses it");
        drop(connection);
        let mut bytes = fs::read(path).expect("the database is there");
        match self {
            Self::Garbage => bytes = b"not a database, but a shopping list\n".repeat(400),
            Self::Truncated => bytes.truncate(bytes.len() / 2 - 1000),
            Self::Stump => bytes.truncate(60),
            Self::Header => bytes[..16].reverse(),
            // The type byte and the cell pointers of every page but the first.
            Self::Pages => {
                bytes[4096..].chunks_mut(4096).for_each(|page| page[..40].iter_mut().for_each(|byte| *byte ^= 0x5a))
            }
        }
        fs::write(path, bytes).expect("damaging the database");
    }

    /// Whether opening alone shows it.
    fn shows_at_once(self) -> bool {
        matches!(self, Self::Garbage | Self::Stump | Self::Header)
    }
}

const ALL: [Damage; 5] = [Damage::Garbage, Damage::Truncated, Damage::Stump, Damage::Header, Damage::Pages];

/// Files set aside beside a database.
fn set_aside(database: &Path) -> Vec<String> {
    let prefix = format!("{}.corrupt-", database.file_name().unwrap_or_default().to_string_lossy());
    let entries = fs::read_dir(database.parent().expect("a file is in a folder")).expect("the folder is there");
    let names = entries.filter_map(Result::ok).map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(&prefix) && !name.ends_with("-wal") && !name.ends_with("-shm")).collect()
}

fn filled(home: &Home) {
    for idx in 0..30 {
        let text = format!("Question {idx}: {}", "padding that makes pages ".repeat(40));
        home.exchange("before", &text, &format!("Answer {idx}."));
    }
    home.settle(&["before".to_owned()]);
}

#[test]
fn a_damaged_evidence_database_is_set_aside_and_capture_goes_on() {
    for damage in ALL {
        let home = Home::new();
        filled(&home);
        eprintln!("{damage:?}");
        damage.apply(&home.evidence());
        let damaged = fs::read(home.evidence()).expect("the database is there");
        home.exchange("after", "Which database takes this prompt now?", "A new one.");
        home.exchange("after", "And is the second one stored as well?", "It is.");
        let aside = set_aside(&home.evidence());
        if damage.shows_at_once() {
            assert_eq!(aside.len(), 1, "{damage:?}: {aside:?}");
        }
        if let Some(name) = aside.first() {
            assert_eq!(
                fs::read(home.data().join(name)).expect("it is kept"),
                damaged,
                "{damage:?}: changed when set aside"
            );
            let text = home.status();
            assert!(text.contains("corrupt") || text.contains("set aside"), "{damage:?}: status is silent: {text}");
        }
        assert!(!aside.is_empty(), "{damage:?}: not noticed");
        let prompts = home.stored_prompts();
        for text in ["Which database takes this prompt now?", "And is the second one stored as well?"] {
            assert!(prompts.iter().any(|prompt| prompt == text), "{damage:?}: {text:?} is lost");
        }
        assert_intact(&home.evidence());
        home.settle(&["after".to_owned()]);
        assert!(home.turns().iter().any(|turn| turn.contains("A new one.")), "{damage:?}");
    }
}

#[test]
fn a_damaged_memory_database_is_set_aside_and_memory_goes_on() {
    for damage in ALL {
        let home = Home::new();
        filled(&home);
        eprintln!("{damage:?}");
        damage.apply(&home.memory());
        home.exchange("after", "What is the acceptance marker for this project?", "Remember: it is cobalt-orchid-731.");
        home.settle(&["after".to_owned()]);
        let turns = home.turns();
        assert!(turns.iter().any(|turn| turn.contains("cobalt-orchid-731")), "{damage:?}: {turns:?}");
        assert!(!set_aside(&home.memory()).is_empty(), "{damage:?}: not noticed");
        assert_intact(&home.memory());
        let text = home.status();
        assert!(text.contains("corrupt") || text.contains("set aside"), "{damage:?}: status is silent: {text}");
    }
}

/// Derived files are rebuilt, whatever happened to them; nothing that was known is forgotten.
#[test]
fn damaged_index_files_change_no_answer() {
    let home = Home::new();
    filled(&home);
    let search = || {
        let outcome = home.run(&["search", "Question 17 padding", "--json"]);
        assert!(outcome.is_success(), "{outcome:?}");
        outcome.stdout
    };
    assert!(search().contains("Question 17"));
    let folder = home.mem0_dir().join("memory.sqlite3.d");
    for damaged in [&b""[..], b"garbage", &[0xff; 100_000]] {
        for entry in fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
            fs::write(entry.path(), damaged).expect("damaging an index file");
        }
        assert!(search().contains("Question 17"), "with index files of {} bytes", damaged.len());
    }
    fs::remove_dir_all(&folder).ok();
    assert!(search().contains("Question 17"), "without index files");
}

/// An empty file is a database that was never written to: no damage, and no data to lose.
#[test]
fn empty_database_files_are_filled() {
    let home = Home::new();
    fs::create_dir_all(home.data()).expect("making the data folder");
    fs::write(home.evidence(), b"").expect("making an empty file");
    fs::write(home.memory(), b"").expect("making an empty file");
    home.exchange("s1", "Is an empty file good enough to start?", "It is.");
    home.settle(&["s1".to_owned()]);
    assert!(home.turns().iter().any(|turn| turn.contains("good enough")));
    assert!(set_aside(&home.evidence()).is_empty() && set_aside(&home.memory()).is_empty());
}
