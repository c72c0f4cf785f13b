//! A unified diff, for showing what an install would do.

use std::fmt::Write;

/// Lines shown around a change.
const CONTEXT: usize = 3;
/// Largest table of line pairs compared; beyond it, the changed middle is shown as a whole.
const MAX_CELLS: usize = 4_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Same,
    Removed,
    Added,
}

/// The difference of two texts under a name; empty when they are equal. A carriage return is shown as `␍`.
pub(super) fn unified(name: &str, before: Option<&str>, after: Option<&str>) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (
        before.unwrap_or_default().split_inclusive('\n').collect(),
        after.unwrap_or_default().split_inclusive('\n').collect(),
    );
    let lines = compare(&old, &new);
    if lines.iter().all(|(kind, _)| *kind == Kind::Same) {
        return String::new();
    }
    let from = if before.is_some() { name } else { "/dev/null" };
    let to = if after.is_some() { name } else { "/dev/null" };
    let mut out = format!("--- {from}\n+++ {to}\n");
    let mut start = 0;
    while let Some(first) = (start..lines.len()).find(|&idx| lines[idx].0 != Kind::Same) {
        let begin = first.saturating_sub(CONTEXT).max(start);
        let mut end = first + 1;
        while let Some(next) = (end..lines.len().min(end + 2 * CONTEXT)).find(|&idx| lines[idx].0 != Kind::Same) {
            end = next + 1;
        }
        let end = (end + CONTEXT).min(lines.len());
        hunk(&mut out, &lines, begin, end);
        start = end;
    }
    out
}

fn hunk(out: &mut String, lines: &[(Kind, &str)], begin: usize, end: usize) {
    let count =
        |range: std::ops::Range<usize>, other: Kind| lines[range].iter().filter(|(kind, _)| *kind != other).count();
    let (n_old, n_new) = (count(begin..end, Kind::Added), count(begin..end, Kind::Removed));
    let first = |skipped: usize, n_lines: usize| if n_lines == 0 { skipped } else { skipped + 1 };
    let old_start = first(count(0..begin, Kind::Added), n_old);
    let new_start = first(count(0..begin, Kind::Removed), n_new);
    let _ = writeln!(out, "@@ -{old_start},{n_old} +{new_start},{n_new} @@");
    for (kind, line) in &lines[begin..end] {
        let mark = match kind {
            Kind::Same => ' ',
            Kind::Removed => '-',
            Kind::Added => '+',
        };
        let text = line.strip_suffix('\n');
        let _ = writeln!(out, "{mark}{}", text.unwrap_or(line).replace('\r', "␍"));
        if text.is_none() {
            out.push_str("\\ No newline at end of file\n");
        }
    }
}

fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(Kind, &'a str)> {
    let n_head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let n_tail = old[n_head..].iter().rev().zip(new[n_head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_mid, new_mid) = (&old[n_head..old.len() - n_tail], &new[n_head..new.len() - n_tail]);
    let mut lines: Vec<(Kind, &str)> = old[..n_head].iter().map(|line| (Kind::Same, *line)).collect();
    lines.extend(middle(old_mid, new_mid));
    lines.extend(old[old.len() - n_tail..].iter().map(|line| (Kind::Same, *line)));
    lines
}

/// The longest common subsequence, by the textbook table.
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(Kind, &'a str)> {
    let width = new.len() + 1;
    if (old.len() + 1).saturating_mul(width) > MAX_CELLS {
        let removed = old.iter().map(|line| (Kind::Removed, *line));
        return removed.chain(new.iter().map(|line| (Kind::Added, *line))).collect();
    }
    let mut longest = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * width + j] = if old[i] == new[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push((Kind::Same, old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && longest[(i + 1) * width + j] >= longest[i * width + j + 1]) {
            lines.push((Kind::Removed, old[i]));
            i += 1;
        } else {
            lines.push((Kind::Added, new[j]));
            j += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn hunks_read_as_patches_do() {
        let before: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let after = before.replace("5\n6\n", "5\nfive\n6\n").replace("19\n20\n", "19\n20\r");
        insta::assert_snapshot!(unified("f", Some(&before), Some(&after)), @r"
        --- f
        +++ f
        @@ -3,6 +3,7 @@
         3
         4
         5
        +five
         6
         7
         8
        @@ -17,4 +18,4 @@
         17
         18
         19
        -20
        +20␍
        \ No newline at end of file
        ");
        assert_eq!(unified("f", Some("a\n"), Some("a\n")), "");
        assert_eq!(unified("f", None, Some("a\n")), "--- /dev/null\n+++ f\n@@ -0,0 +1,1 @@\n+a\n");
    }
}
