//! A ledger of a million records: rows that are run on request, for they take minutes to prepare.

use super::{
    data::{OURS, repository},
    pair::{By, Process, Row},
    rows::{hook, row, verdict},
};

/// The argument that asks for these rows.
pub(crate) const MILLION: &str = "--million";
const RECORDS: usize = 1_000_000;

/// Returns the rows of the paths that are to be flat, and of the one that grows with the ledger.
pub(crate) fn all() -> Vec<Row> {
    let log = |records| move |_| Process::new(&[OURS, "log", "-n", "20"], repository(10, records));
    vec![
        row(
            "Stop, 1,000,000 records / none",
            1.3,
            |_| hook("Stop", repository(10, RECORDS)),
            |_| hook("Stop", repository(10, 0)),
        ),
        row(
            "verdict, 1,000,000 records / none",
            1.3,
            verdict(repository(12, RECORDS)),
            verdict(repository(12, 0)),
        ),
        row(
            "log -n 20, 1,000,000 records / 1,000",
            1.3,
            log(RECORDS),
            log(1_000),
        ),
        Row {
            name: "render, 1,000,000 records / git log",
            bar: 0.0,
            slack: 10_000.0,
            rounds: 3,
            by: By::Ratio,
            ours: Box::new(|_| Process::new(&[OURS, "-q", "render"], repository(14, RECORDS))),
            base: Box::new(|_| {
                let args = ["git", "log", "--format=%B", "refs/operator/ledger"];
                Process::new(&args, repository(14, RECORDS))
            }),
        },
    ]
}
