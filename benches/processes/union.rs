//! Two ledgers that share a long history become one, with no transport in between.

use std::path::PathBuf;

use git_operator::{
    git::{Clock, Env, Repo, locate},
    store::{Limits, Store, Wait},
};

use super::{
    data::git,
    pair::{By, Process, Row},
    sync::fresh,
};

/// The argument that makes this program unite the ledger where it is run with the fetched one.
pub(crate) const UNITE: &str = "--unite";
const THEIRS: &str = "refs/operator-remotes/origin/ledger";
const RECORDS: usize = 100_000;

/// Unites as a sync does once git has fetched.
pub(crate) fn unite() {
    let env = Env::new(std::env::vars_os());
    let dir = std::env::current_dir().expect("there is a directory");
    let location = locate(&dir, &env)
        .expect("a repository can be looked for")
        .expect("there is one");
    let store = Store::open(Repo::open(&location, &env).expect("it opens"));
    let theirs = store.repo().read_ref(THEIRS).expect("it is read");
    let mut tx = store
        .begin(Wait::Command, Clock::default())
        .expect("nobody else writes");
    let adopted = tx
        .adopt_ledger(theirs.expect("it was fetched"), Limits::USUAL)
        .expect("the ledgers unite");
    assert!(adopted.records > 0, "{:?}", adopted.refused);
}

/// Returns a clone that has fetched the other ledger and not united with it.
fn fetched(name: &str) -> PathBuf {
    let dir = fresh(RECORDS, name);
    let refspec = "+refs/operator/*:refs/operator-remotes/origin/*";
    git(&dir, &["fetch", "-q", "origin", refspec], b"");
    dir
}

/// Returns the row of the union.
pub(crate) fn all() -> Vec<Row> {
    let own = std::env::current_exe().expect("this program has a path");
    let own = own.to_string_lossy().into_owned();
    let peer = format!(
        "git merge-base refs/operator/ledger {THEIRS} && git rev-list --count refs/operator/ledger...{THEIRS}"
    );
    vec![Row {
        name: "union, 100,000 + 1,000 each / git rev-list",
        bar: 3.0,
        slack: 0.0,
        rounds: 11,
        by: By::Ratio,
        ours: Box::new(move |_| Process::new(&[&own, UNITE], fetched("union-ours"))),
        base: Box::new(move |_| Process::new(&["sh", "-c", &peer], fetched("union-base"))),
    }]
}
