use std::fs;

use git_operator::{
    model::{Adopt, Body, Class, Explain, Opened, Outcome, Owner, TaskId},
    store::{Store, tasks},
};

use super::{commit, defer, on, open, record, store, verdict};
use crate::support::Repo;

fn names(store: &Store) -> Vec<String> {
    let tasks = tasks::list(store.dir()).unwrap();
    assert_eq!(tasks.unreadable, []);
    tasks
        .open
        .iter()
        .map(|open| open.task.to_string())
        .collect()
}

#[test]
fn an_opening_makes_a_file_and_a_verdict_removes_it() {
    let repo = Repo::new();
    let store = store(&repo);
    let opened = record(&store, open("T-1"));
    let file = tasks::find(store.dir(), &TaskId::new("T-1").unwrap())
        .unwrap()
        .unwrap();
    assert_eq!(file.opened, opened.id);
    assert_eq!(file.owner, Some(Owner::new("S1").unwrap()));
    assert_eq!(file.heads.task, [opened.id]);
    record(
        &store,
        verdict("T-1", Some(opened.id), Class::Asserted, Outcome::Fail),
    );
    assert_eq!(names(&store), [""; 0]);
}

#[test]
fn a_captured_verdict_closes_only_when_it_passed() {
    let repo = Repo::new();
    let store = store(&repo);
    let opened = record(&store, open("T-1"));
    let failed = record(
        &store,
        verdict("T-1", Some(opened.id), Class::Captured, Outcome::Fail),
    );
    assert_eq!(names(&store), ["T-1"]);
    let passed = record(
        &store,
        verdict("T-1", Some(opened.id), Class::Captured, Outcome::Pass),
    );
    assert_eq!(passed.after, [failed.id]);
    assert_eq!(names(&store), [""; 0]);
}

#[test]
fn a_verdict_on_an_older_opening_closes_nothing() {
    let repo = Repo::new();
    let store = store(&repo);
    let old = record(&store, open("T-1"));
    record(&store, defer("T-1", old.id));
    let new = record(&store, open("T-1"));
    assert_ne!(old.id, new.id);
    record(
        &store,
        verdict("T-1", Some(old.id), Class::Asserted, Outcome::Pass),
    );
    assert_eq!(names(&store), ["T-1"]);
}

#[test]
fn an_adoption_changes_the_owner() {
    let repo = Repo::new();
    let store = store(&repo);
    let opened = record(&store, open("T-1"));
    let from = Some("S1".to_owned());
    let mut adopt = on("T-1", "S2", Body::Adopt(Adopt { from }));
    adopt.opened = Opened::By(opened.id);
    let adopted = record(&store, adopt);
    assert_eq!(adopted.after, [opened.id]);
    let file = tasks::find(store.dir(), &TaskId::new("T-1").unwrap())
        .unwrap()
        .unwrap();
    assert_eq!(file.owner, Some(Owner::new("S2").unwrap()));
    assert_eq!(file.opened, opened.id);
    assert_eq!(file.heads.task, [adopted.id]);
}

#[test]
fn records_of_one_write_come_after_each_other() {
    let repo = Repo::new();
    let store = store(&repo);
    let drafts = [
        verdict("T-1", None, Class::Asserted, Outcome::Fail),
        verdict("T-1", None, Class::Asserted, Outcome::Pass),
    ];
    let records = commit(&store, &drafts).records;
    assert_eq!(records[1].after, [records[0].id]);
    let third = record(&store, verdict("T-1", None, Class::Asserted, Outcome::Moot));
    assert_eq!(third.after, [records[1].id]);
}

#[test]
fn names_that_differ_by_little_never_collide() {
    let repo = Repo::new();
    let store = store(&repo);
    let ids = ["s", "S", "a__b", "a_b", "a b", "CON", "a.lock", "-x", "é"];
    for id in ids {
        record(&store, open(id));
    }
    let mut listed = names(&store);
    listed.sort();
    let mut wanted = ids.to_vec();
    wanted.sort_unstable();
    assert_eq!(listed, wanted);
}

#[test]
fn a_file_that_says_nothing_is_named_and_blocks() {
    let repo = Repo::new();
    let store = store(&repo);
    record(&store, open("T-1"));
    let dir = store.dir().join("tasks");
    let file = fs::read_dir(&dir).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&file).unwrap();
    let copy = dir.join("0".repeat(32));
    fs::write(&copy, &text).unwrap();
    fs::write(&file, &text[..20]).unwrap();
    fs::create_dir(dir.join("dir")).unwrap();
    let tasks = tasks::list(store.dir()).unwrap();
    assert_eq!(tasks.open, []);
    let paths: Vec<_> = tasks
        .unreadable
        .iter()
        .map(|bad| bad.path.clone())
        .collect();
    let mut wanted = vec![copy, dir.join("dir"), file];
    wanted.sort();
    assert_eq!(paths, wanted);
    let error = tasks::find(store.dir(), &TaskId::new("T-1").unwrap()).unwrap_err();
    assert_eq!(error.hint().unwrap(), "git operator doctor");
}
