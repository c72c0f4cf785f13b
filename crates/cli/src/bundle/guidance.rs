//! Wordings that made agents search several times a turn. None of them may stand in what is shipped.

/// Each is found when its fragments follow each other in one sentence, upper and lower case alike.
const FORBIDDEN: &[&[&str]] = &[
    &["always call", "search"],
    &["search memory before answering"],
    &["proactively before answering"],
    &["multi-hop"],
    &["run 2-4 parallel searches"],
    &["run 2 parallel searches"],
    &["run several parallel searches"],
    &["one search is rarely enough"],
    &["always rewrite the query"],
];

/// The first forbidden wording in a text, however its lines are broken.
pub(super) fn forbidden(text: &str) -> Option<String> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let sentences = words.split_inclusive(|word| word.ends_with(['.', '!', '?', ':', ';']));
    sentences.map(|words| words.join(" ").replace(['–', '—'], "-")).find_map(|sentence| {
        let found = FORBIDDEN.iter().find(|fragments| follow_each_other(&sentence, fragments));
        found.map(|fragments| fragments.join(" … "))
    })
}

fn follow_each_other(sentence: &str, fragments: &[&str]) -> bool {
    let mut rest = sentence;
    fragments.iter().all(|fragment| match rest.find(fragment) {
        Some(at) => {
            rest = &rest[at + fragment.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_wording_is_found_and_its_neighbours_are_not() {
        let cases = [
            ("You must Always call the tool\n  `search_memories` first.", true),
            ("SEARCH MEMORY\nbefore answering", true),
            ("proactively before\tanswering", true),
            ("for multi-hop questions", true),
            ("run 2-4 parallel searches", true),
            ("Run 2–4 parallel searches", true),
            ("run 2 parallel searches", true),
            ("run several parallel searches", true),
            ("One search is rarely enough.", true),
            ("Always rewrite the query", true),
            ("Always call by name. Then search.", false),
            (crate::mcp::SEARCH_GUIDANCE, false),
        ];
        for (text, expected) in cases {
            assert_eq!(forbidden(text).is_some(), expected, "{text}");
        }
    }

    /// Everything a user or a model may come to read: templates, packages, pages, and the JavaScript hosts' sources.
    #[test]
    fn no_shipped_text_orders_needless_searches() {
        fn visit(folder: &Path, texts: &mut usize) {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                let name = entry.file_name().to_string_lossy().into_owned();
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    if !["node_modules", "target"].contains(&name.as_str()) {
                        visit(&path, texts);
                    }
                } else if kind.is_file()
                    && [".md", ".tmpl", ".ts", ".js", ".mjs", ".json", ".sh"].iter().any(|end| name.ends_with(end))
                {
                    let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                    // A test of this very rule in another language has to name the wordings.
                    if !name.contains(".test.") {
                        assert_eq!(forbidden(&text), None, "{}", path.display());
                    }
                    *texts += 1;
                }
            }
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut n_texts = 0;
        for folder in ["templates", "plugins", "docs", "shims"].map(|folder| root.join(folder)) {
            if folder.is_dir() {
                visit(&folder, &mut n_texts);
            }
        }
        assert!(n_texts > 50, "only {n_texts} texts were read");
    }
}
