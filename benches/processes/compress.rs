//! The compressor against what a compressor in node would cost before it did anything.

use std::fmt::Write as _;

use super::{
    data::{OURS, repository},
    pair::{By, Process, Row},
    rows::row,
};

/// Returns the output of a test run, of about 200 kB.
fn output() -> String {
    let mut text = String::new();
    for number in 0..3_600 {
        writeln!(
            text,
            "test module_{}::case_{number} ... ok in {number} ms",
            number % 40
        )
        .expect("a string grows");
    }
    text
}

/// Returns the row of the compressor; none without node.
pub(crate) fn all() -> Vec<Row> {
    let node = std::process::Command::new("node").arg("--version").output();
    if node.is_err() {
        return Vec::new();
    }
    let mut compressor = row(
        "compress 200 kB / node -e 0, CPU",
        0.1,
        |_| Process::new(&[OURS, "compress"], repository(10, 0)).stdin(output()),
        |_| Process::new(&["node", "-e", "0"], "/"),
    );
    compressor.by = By::Cpu;
    compressor.rounds = 9;
    vec![compressor]
}
