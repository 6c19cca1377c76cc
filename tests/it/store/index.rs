use std::fs;

use git_operator::{
    git::Clock,
    ledger::Ledger,
    model::{Class, Outcome, Prefix, Record, TaskId},
    store::{LEDGER, Store, Wait},
};

use super::{commit, note, open, record, store, verdict};
use crate::support::Repo;

const COUNT: usize = 600;

/// A ledger that was cut, so that an index lies beside it, and its records.
fn indexed() -> (Repo, Vec<Record>) {
    let repo = Repo::new();
    let store = store(&repo);
    let mut records = Vec::new();
    for batch in 0..12 {
        let drafts: Vec<_> = (0..COUNT / 12)
            .map(|number| match number % 10 {
                0 => open(&format!("T-{batch}-{number}")),
                1 => verdict(&format!("T-{batch}"), None, Class::Asserted, Outcome::Pass),
                _ => note(&format!("n{batch}-{number}")),
            })
            .collect();
        records.extend(commit(&store, &drafts).records);
    }
    for number in 0..11 {
        records.push(record(
            &store,
            note(&format!("{number}{}", "x".repeat(50_000))),
        ));
    }
    assert!(store.dir().join("index").exists());
    (repo, records)
}

fn ids(ledger: &Ledger) -> Vec<String> {
    ledger.iter().map(|record| record.id.to_string()).collect()
}

/// What is asked of a ledger, in one text.
fn answers(store: &Store, records: &[Record]) -> String {
    let mut text = String::new();
    for record in records.iter().step_by(97) {
        let found = store.get(&record.id).unwrap().unwrap();
        assert_eq!(&found, record);
        let prefix = Prefix::parse(record.id.short()).unwrap();
        assert_eq!(store.find(&prefix).unwrap(), std::slice::from_ref(record));
        let whole = Prefix::parse(record.id.as_str()).unwrap();
        assert_eq!(store.find(&whole).unwrap(), std::slice::from_ref(record));
    }
    for task in ["T-3", "T-0-10", "none"] {
        text.push_str(&format!(
            "{task}: {:?}\n",
            ids(&store.of_task(task).unwrap())
        ));
    }
    for kinds in [&["task"][..], &["verdict", "task"], &["redact"]] {
        text.push_str(&format!(
            "{kinds:?}: {:?}\n",
            ids(&store.of_kinds(kinds).unwrap())
        ));
    }
    text
}

#[test]
fn an_index_answers_as_the_whole_history_does() {
    let (repo, mut records) = indexed();
    let store = store(&repo);
    records.push(record(
        &store,
        verdict("T-3", None, Class::Asserted, Outcome::Fail),
    ));
    let fast = answers(&store, &records);
    assert!(fast.lines().next().unwrap().len() > 100, "{fast}");
    fs::remove_file(store.dir().join("index")).unwrap();
    assert_eq!(answers(&store, &records), fast);
}

#[test]
fn a_damaged_index_is_not_believed() {
    let (repo, records) = indexed();
    let store = store(&repo);
    let answer = || {
        let found = store.get(&records[7].id).unwrap();
        (found, ids(&store.of_task("T-3").unwrap()))
    };
    let wanted = answer();
    assert_eq!(wanted.1.len(), COUNT / 120);
    let path = store.dir().join("index");
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 12) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(answer(), wanted, "byte {at}");
    }
    for len in [0, 10, whole.len() - 1] {
        fs::write(&path, &whole[..len]).unwrap();
        assert_eq!(answer(), wanted, "{len} bytes");
    }
}

#[test]
fn an_index_of_another_history_is_not_used() {
    let (repo, _) = indexed();
    let other = Repo::new();
    let second = store(&other);
    let alone = record(&second, note("alone"));
    fs::copy(
        repo.path().join(".git/operator/index"),
        second.dir().join("index"),
    )
    .unwrap();
    assert_eq!(store(&other).get(&alone.id).unwrap(), Some(alone));
    // One whose tip is here and not contained in ours.
    other.git(["fetch", "-q", repo.path().to_str().unwrap(), LEDGER]);
    assert_eq!(store(&other).of_kinds(&["decision"]).unwrap().len(), 1);
}

#[test]
fn an_index_that_is_gone_is_made_by_the_next_writer_that_asks() {
    let (repo, mut records) = indexed();
    let store = store(&repo);
    fs::remove_file(store.dir().join("index")).unwrap();
    records.push(record(&store, open("T-new")));
    assert!(store.dir().join("index").exists());
    assert_eq!(
        answers(&store, &records),
        answers_by_reading(&repo, &records)
    );
}

/// What the ledger answers where there is no index.
fn answers_by_reading(repo: &Repo, records: &[Record]) -> String {
    let store = store(repo);
    fs::remove_file(store.dir().join("index")).unwrap();
    answers(&store, records)
}

/// A short ledger is read faster than an index of it.
#[test]
fn a_short_ledger_is_counted_and_not_indexed() {
    let repo = Repo::new();
    let ours = store(&repo);
    record(&ours, open("T-1"));
    for _ in 0..3 {
        record(&ours, verdict("T-1", None, Class::Asserted, Outcome::Fail));
    }
    let task = TaskId::new("T-1").unwrap();
    let clock = Clock::new(ours.repo().env()).unwrap();
    let tx = ours.begin(Wait::Command, clock).unwrap();
    assert_eq!(tx.records(&task).unwrap().iter().count(), 4);
    drop(tx);
    assert_eq!(ours.state().count, Some(4));
    assert!(!ours.dir().join("index").exists());
    // A clone that has the records of others only counts them.
    let other = Repo::new();
    let url = repo.path().to_str().unwrap();
    other.git([
        "fetch",
        "-q",
        url,
        "refs/operator/ledger:refs/operator/ledger",
    ]);
    let theirs = store(&other);
    record(&theirs, note("n"));
    assert_eq!(theirs.state().count, Some(5));
}
