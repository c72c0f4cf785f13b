//! The figures as a Markdown table.

use std::path::Path;
use std::time::Duration;

use crate::child::Sample;

/// One command and what its runs cost.
pub(crate) struct Row {
    name: String,
    /// One a round.
    pub(crate) samples: Vec<Sample>,
}

impl Row {
    /// A row without samples.
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), samples: Vec::new() }
    }
}

/// Prints the table, with what is needed to read it.
#[expect(clippy::print_stdout, reason = "a bench prints its result")]
pub(crate) fn print(rows: &[Row], binary: &Path) {
    let rounds = rows.first().map_or(0, |row| row.samples.len());
    let baseline = rows.first().map_or(0.0, |row| millis(minimum(row)));
    println!("{rounds} rounds, all commands in turn; binary {:.1} MB\n", size_mb(binary));
    println!("| process | min ms | median ms | p95 ms | CPU ms (median) | peak MB | × empty (min) |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for row in rows {
        let (wall, cpu) = (sorted(row, |sample| sample.wall), sorted(row, |sample| sample.cpu));
        let peak_kib = row.samples.iter().map(|sample| sample.peak_kib).max().unwrap_or_default();
        println!(
            "| {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.1} | {:.1} |",
            row.name,
            millis(wall[0]),
            millis(quantile(&wall, 50)),
            millis(quantile(&wall, 95)),
            millis(quantile(&cpu, 50)),
            peak_kib as f64 / 1024.0,
            millis(wall[0]) / baseline,
        );
    }
}

fn minimum(row: &Row) -> Duration {
    row.samples.iter().map(|sample| sample.wall).min().unwrap_or_default()
}

fn sorted(row: &Row, what: impl Fn(&Sample) -> Duration) -> Vec<Duration> {
    let mut values: Vec<Duration> = row.samples.iter().map(what).collect();
    values.sort();
    values
}

/// The value that `percent` of the sorted values do not exceed.
fn quantile(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() * percent).div_ceil(100).saturating_sub(1)]
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn size_mb(path: &Path) -> f64 {
    std::fs::metadata(path).map_or(0.0, |meta| meta.len() as f64 / 1e6)
}
