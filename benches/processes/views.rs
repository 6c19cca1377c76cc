//! The views of a long ledger, written whole.

use std::path::PathBuf;

use super::{
    data::{OURS, repository},
    pair::{By, Process, Row},
};

const RECORDS: usize = 100_000;

fn written(command: &str, dir: PathBuf) -> Process {
    Process::new(&[OURS, "-q", command], dir)
}

/// Returns the rows about views: a second at most, beside the time git takes to print the same records.
pub(crate) fn all() -> Vec<Row> {
    let log = |_| {
        let args = ["git", "log", "--format=%B", "refs/operator/ledger"];
        Process::new(&args, repository(14, RECORDS))
    };
    let rows = [
        ("render, 100,000 records / git log", "render"),
        ("reconcile, 100,000 records / git log", "reconcile"),
    ];
    rows.map(|(name, command)| Row {
        name,
        bar: 0.0,
        slack: 1_000.0,
        rounds: 7,
        by: By::Ratio,
        ours: Box::new(move |_| written(command, repository(14, RECORDS))),
        base: Box::new(log),
    })
    .into()
}
