//! One file per command.

mod agents;
mod completions;
mod compress;
mod demo;
mod gate;
mod gc;
mod handoff;
mod install_man;
mod log;
mod places;
pub(crate) mod policy;
mod policy_test;
mod redact;
mod show;
mod spec;
mod start;
mod status;
mod task;
mod terminal;
mod tiers;
mod usage;
mod verdict;

use crate::support::{Operator, Repo};

/// Runs a command that records, checks the line it prints but for the id in brackets, returns the id.
#[track_caller]
pub(crate) fn said(operator: &Operator, text: &str) -> String {
    let output = operator.run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    if text.is_empty() {
        return String::new();
    }
    assert_eq!(output.stderr, "");
    let (line, id) = output.stdout.trim_end().rsplit_once(" [").unwrap();
    assert_eq!(line, text);
    id.trim_end_matches(']').to_owned()
}

/// The lines that a command prints, which must succeed and warn of nothing.
#[track_caller]
pub(crate) fn lines(repo: &Repo, args: &[&str]) -> Vec<String> {
    let output = repo.operator(args).run();
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{args:?}");
    output.stdout.lines().map(str::to_owned).collect()
}
