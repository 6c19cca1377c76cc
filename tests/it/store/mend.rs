use std::fs;

use git_operator::{
    git::{Clock, Repo as Git},
    model::{Adopt, Body, Class, Decision, DecisionKind, Digest, Draft, Opened, Outcome, Owner},
    store::{LEDGER, Store, TakenOver, Wait, decisions, tasks},
};

use super::{env, fsck, note, notes, on, open, record, store, verdict};
use crate::support::Repo;

fn clock(repo: &Repo) -> Clock {
    Clock::new(&env(repo)).unwrap()
}

fn deviation(what: &str) -> Draft {
    Draft::new(Body::Decision(Decision {
        decision: DecisionKind::Deviation,
        scope: "s".to_owned(),
        what: what.to_owned(),
        why: "w".to_owned(),
        covers: Vec::new(),
        import: None,
    }))
}

#[test]
fn lost_task_files_are_made_anew_and_nothing_is_closed() {
    let repo = Repo::new();
    let store = store(&repo);
    let closed = record(&store, open("closed"));
    record(
        &store,
        verdict("closed", Some(closed.id), Class::Asserted, Outcome::Pass),
    );
    let opened = record(&store, open("adopted"));
    let mut adopt = on("adopted", "S2", Body::Adopt(Adopt { from: None }));
    adopt.opened = Opened::By(opened.id);
    record(&store, adopt);
    record(&store, open("plain"));
    record(&store, deviation("odd"));
    let wanted = tasks::list(store.dir()).unwrap();
    let unpresented = decisions::unpresented(store.dir()).unwrap();
    assert_eq!(wanted.open.len(), 2);
    fs::remove_dir_all(store.dir().join("tasks")).unwrap();
    fs::remove_dir_all(store.dir().join("decisions")).unwrap();
    let mut transaction = store.begin(Wait::Command, clock(&repo)).unwrap();
    let made: Vec<String> = transaction
        .rebuild()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(made, ["adopted", "plain"]);
    assert_eq!(tasks::list(store.dir()).unwrap(), wanted);
    assert_eq!(decisions::unpresented(store.dir()).unwrap(), unpresented);
    assert_eq!(transaction.rebuild().unwrap(), []);
}

#[test]
fn a_damaged_task_file_is_made_anew() {
    let repo = Repo::new();
    let store = store(&repo);
    record(&store, open("T-1"));
    let wanted = tasks::list(store.dir()).unwrap();
    let file = fs::read_dir(store.dir().join("tasks"))
        .unwrap()
        .next()
        .unwrap();
    fs::write(file.unwrap().path(), "{").unwrap();
    let mut transaction = store.begin(Wait::Command, clock(&repo)).unwrap();
    assert_eq!(transaction.rebuild().unwrap().len(), 1);
    assert_eq!(tasks::list(store.dir()).unwrap(), wanted);
}

#[test]
fn packing_leaves_nothing_loose() {
    let repo = Repo::new();
    let store = store(&repo);
    for number in 0..5 {
        record(&store, note(&format!("n{number}")));
    }
    let mut transaction = store.begin(Wait::Command, clock(&repo)).unwrap();
    assert!(transaction.tidy().unwrap() >= 5);
    drop(transaction);
    let counted = repo.git(["count-objects", "-v"]);
    assert!(counted.starts_with("count: 0\n"), "{counted}");
    assert!(store.dir().join("index").exists());
    assert_eq!(notes(&store).len(), 5);
    record(&store, note("next"));
    fsck(&repo);
}

/// A store outside git with a task, long evidence, a decision and a closed task.
fn outside() -> (Repo, Store, Vec<u8>) {
    let repo = Repo::outside();
    let path = repo.path().join("store.git");
    Git::create_bare_store(&path).unwrap();
    let store = Store::outside(&path).unwrap();
    let bytes = vec![b'e'; 9_000];
    record(&store, open("T-1"));
    let closed = record(&store, open("T-2"));
    record(
        &store,
        verdict("T-2", Some(closed.id), Class::Asserted, Outcome::Pass),
    );
    let mut transaction = store.begin(Wait::Command, clock(&repo)).unwrap();
    transaction
        .commit(&[deviation("odd")], vec![bytes.clone()])
        .unwrap();
    drop(transaction);
    (repo, store, bytes)
}

#[test]
fn a_store_outside_git_works_as_any_other() {
    let (repo, store, bytes) = outside();
    assert_eq!(store.load().unwrap().len(), 4);
    assert_eq!(store.evidence(&Digest::of(&bytes)).unwrap(), Some(bytes));
    assert_eq!(tasks::list(store.dir()).unwrap().open.len(), 1);
    assert!(repo.path().join("store.git/operator/journal").exists());
    assert!(!repo.path().join("store.git/hooks").exists());
}

#[test]
fn a_store_outside_git_is_moved_into_a_repository() {
    for repo in [Some(Repo::new()), Repo::sha256()].into_iter().flatten() {
        let (_outside, from, bytes) = outside();
        let store = store(&repo);
        let lines: Vec<String> = from
            .load()
            .unwrap()
            .iter()
            .map(|record| record.line().to_owned())
            .collect();
        let mut transaction = store.begin(Wait::Command, clock(&repo)).unwrap();
        let taken = transaction.take_over(&from).unwrap();
        assert_eq!(taken.records, 4);
        assert_eq!(taken.tasks.len(), 1);
        // Again: everything is here.
        assert_eq!(transaction.take_over(&from).unwrap(), TakenOver::default());
        drop(transaction);
        let ledger = store.load().unwrap();
        let moved: Vec<String> = ledger
            .iter()
            .map(|record| record.line().to_owned())
            .collect();
        assert_eq!(moved, lines);
        assert_eq!(store.evidence(&Digest::of(&bytes)).unwrap(), Some(bytes));
        let open = tasks::list(store.dir()).unwrap().open;
        assert_eq!(open.len(), 1);
        assert_eq!(open[0].owner, Some(Owner::new("S1").unwrap()));
        assert_eq!(decisions::unpresented(store.dir()).unwrap().len(), 1);
        assert_eq!(tasks::list(from.dir()).unwrap().open, []);
        assert_eq!(decisions::unpresented(from.dir()).unwrap(), []);
        // A verdict on the moved task answers its opening.
        let passed = verdict("T-1", Some(open[0].opened), Class::Asserted, Outcome::Pass);
        record(&store, passed);
        assert_eq!(tasks::list(store.dir()).unwrap().open, []);
        assert_eq!(repo.git(["rev-list", "--count", LEDGER]), "2");
        fsck(&repo);
    }
}

#[test]
fn a_store_is_moved_into_a_repository_that_has_a_ledger() {
    let (_outside, from, _) = outside();
    let repo = Repo::new();
    let store = store(&repo);
    record(&store, note("ours"));
    let own = store.state().replica;
    let mut transaction = store.begin(Wait::Command, clock(&repo)).unwrap();
    assert_eq!(transaction.take_over(&from).unwrap().records, 4);
    drop(transaction);
    assert_eq!(store.state().replica, own);
    assert_eq!(store.load().unwrap().len(), 5);
    assert_eq!(tasks::list(store.dir()).unwrap().open.len(), 1);
    record(&store, note("next"));
    assert_eq!(tasks::list(store.dir()).unwrap().open.len(), 1);
}
