//! A writer dies at any point: what it was told is recorded stays, the next writer goes on.

use std::fs;

use git_operator::{
    model::{Class, Outcome, TaskId},
    store::{LEDGER, Step, tasks},
};

use super::{child::Writer, fsck, note, notes, open, record, store, verdict};
use crate::support::Repo;

/// The notes of a ledger by their names, which end where the filling begins.
fn named(repo: &Repo) -> Vec<String> {
    let mut names: Vec<String> = notes(&store(repo))
        .iter()
        .map(|note| note.trim_end_matches('x').to_owned())
        .collect();
    names.sort();
    names
}

fn leftovers(repo: &Repo) -> Vec<String> {
    let mut found = Vec::new();
    for dir in [
        "operator/tmp",
        "objects/pack",
        "refs/operator",
        "refs/operator-local",
    ] {
        let Ok(entries) = fs::read_dir(repo.path().join(".git").join(dir)) else {
            continue;
        };
        for entry in entries {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if dir == "operator/tmp" || name.ends_with(".lock") || name.ends_with(".keep") {
                found.push(format!("{dir}/{name}"));
            }
        }
    }
    found
}

#[track_caller]
fn check_killed_at(step: Step, (count, size, nth): (usize, usize, usize)) {
    let repo = Repo::new();
    let acknowledged = Writer::new(&repo, "a", count)
        .size(size)
        .killed_at(step, nth)
        .run();
    assert!(acknowledged.len() < count, "{step:?}: it was not killed");
    let before = named(&repo);
    record(&store(&repo), note("next"));
    let after = named(&repo);
    for name in acknowledged.iter().chain(["next".to_owned()].iter()) {
        let times = after.iter().filter(|known| *known == name).count();
        assert_eq!(times, 1, "{step:?}: {name} is there {times} times");
    }
    assert!(after.len() <= acknowledged.len() + 2, "{step:?}: {after:?}");
    let expected: Vec<String> = after
        .iter()
        .filter(|name| *name != "next")
        .cloned()
        .collect();
    assert_eq!(
        before, expected,
        "{step:?}: a reader saw what the writer found"
    );
    let count = repo.git(["rev-list", "--count", LEDGER]);
    assert_eq!(count, after.len().to_string(), "{step:?}");
    fsck(&repo);
    let locks: Vec<String> = leftovers(&repo)
        .into_iter()
        .filter(|name| name.ends_with(".lock"))
        .collect();
    assert_eq!(locks, [""; 0], "{step:?}");
}

#[test]
fn at_any_step_of_a_small_write() {
    for step in [
        Step::Locked,
        Step::JournalWrite,
        Step::JournalSync,
        Step::Promised,
        Step::Object,
        Step::RefMoved,
        Step::ReadBack,
        Step::Effects,
    ] {
        for nth in [1, 3] {
            check_killed_at(step, (5, 0, nth));
        }
    }
}

#[test]
fn at_any_step_of_a_write_that_makes_a_pack() {
    for step in [
        Step::PackWritten,
        Step::JournalSync,
        Step::Promised,
        Step::RefMoved,
        Step::Effects,
    ] {
        check_killed_at(step, (4, 65_150, 2));
    }
}

#[test]
fn at_any_step_of_a_cut() {
    for step in [Step::CutPacked, Step::CutJournal, Step::CutReleased] {
        check_killed_at(step, (14, 50_000, 1));
    }
}

#[test]
fn what_dead_writers_left_is_swept_at_the_next_cut() {
    let repo = Repo::new();
    for step in [Step::PackWritten, Step::CutPacked] {
        Writer::new(&repo, "a", 14)
            .size(if step == Step::PackWritten {
                65_150
            } else {
                50_000
            })
            .killed_at(step, 1)
            .run();
    }
    assert_ne!(leftovers(&repo), [""; 0]);
    Writer::new(&repo, "b", 14).size(50_000).run();
    assert_eq!(leftovers(&repo), [""; 0]);
    fsck(&repo);
}

#[test]
fn a_task_is_open_or_its_verdict_is_there() {
    let repo = Repo::new();
    let task = TaskId::new("T-1").unwrap();
    let first = store(&repo);
    let opened = record(&first, open("T-1"));
    // A writer that died between its record and the task file.
    let text = fs::read(first.dir().join("state")).unwrap();
    let file = fs::read_dir(first.dir().join("tasks")).unwrap();
    let file = file.map(|entry| entry.unwrap().path()).next().unwrap();
    let bytes = fs::read(&file).unwrap();
    record(
        &first,
        verdict("T-1", Some(opened.id), Class::Asserted, Outcome::Pass),
    );
    fs::write(&file, bytes).unwrap();
    fs::write(first.dir().join("state"), text).unwrap();
    assert!(tasks::find(first.dir(), &task).unwrap().is_some());
    record(&store(&repo), note("next"));
    assert_eq!(tasks::find(first.dir(), &task).unwrap(), None);
}

#[test]
fn an_opening_whose_file_was_not_written_is_finished() {
    let repo = Repo::new();
    let first = store(&repo);
    record(&first, note("before"));
    let text = fs::read(first.dir().join("state")).unwrap();
    let opened = record(&first, open("T-1"));
    fs::remove_dir_all(first.dir().join("tasks")).unwrap();
    fs::write(first.dir().join("state"), text).unwrap();
    record(&store(&repo), note("next"));
    let task = TaskId::new("T-1").unwrap();
    let file = tasks::find(first.dir(), &task).unwrap().unwrap();
    assert_eq!(file.opened, opened.id);
    assert_eq!(file.heads.task, [opened.id]);
}
