//! Repositories of every shape.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use git_operator::{
    git::Clock,
    model::Explain,
    store::{LEDGER, Wait},
};

use super::{child::Writer, env, fsck, note, notes, open, record, store};
use crate::support::Repo;

fn url(repo: &Repo) -> String {
    format!("file://{}", repo.path().display())
}

/// A repository with a commit and a ledger of three notes.
fn source() -> Repo {
    let repo = Repo::new();
    repo.commit("a");
    repo.git(["config", "uploadpack.allowFilter", "true"]);
    for name in ["one", "two", "three"] {
        record(&store(&repo), note(name));
    }
    repo
}

/// A clone made with these options, in a directory of its own.
fn clone(repo: &Repo, options: &[&str]) -> Repo {
    let copy = repo.at(repo.dir().join("copy"));
    let path = copy.path().to_str().unwrap();
    repo.git([&["clone", "-q"], options, &[&url(repo), path]].concat());
    copy
}

#[test]
fn a_cut_off_ledger_is_read_as_far_as_it_goes_and_not_extended() {
    let source = source();
    let copy = clone(&source, &[]);
    let spec = format!("{LEDGER}:{LEDGER}");
    copy.git(["fetch", "-q", "--depth=1", "origin", &spec]);
    let reader = store(&copy);
    assert_eq!(notes(&reader), ["three"]);
    let warnings: Vec<String> = reader
        .take_warnings()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("by a shallow fetch"), "{warnings:?}");
    let clock = Clock::new(&env(&copy)).unwrap();
    let error = store(&copy).begin(Wait::Command, clock).err().unwrap();
    assert!(
        error.to_string().starts_with("cannot extend the ledger"),
        "{error}"
    );
    assert_eq!(error.hint().unwrap(), "git fetch --unshallow");
    copy.git(["fetch", "-q", "--unshallow", "origin", &spec]);
    record(&store(&copy), note("four"));
    assert_eq!(notes(&store(&copy)), ["one", "two", "three", "four"]);
}

#[test]
fn a_shallow_clone_with_a_whole_ledger_is_whole() {
    let source = source();
    source.commit("b");
    let copy = clone(&source, &["--depth=1"]);
    copy.git(["fetch", "-q", "origin", &format!("{LEDGER}:{LEDGER}")]);
    record(&store(&copy), note("four"));
    assert_eq!(notes(&store(&copy)), ["one", "two", "three", "four"]);
}

#[test]
fn clones_without_blobs_or_trees_hold_every_record() {
    for filter in ["--filter=blob:none", "--filter=tree:0"] {
        let source = source();
        let copy = clone(&source, &["--no-checkout", filter]);
        copy.git(["fetch", "-q", "origin", &format!("{LEDGER}:{LEDGER}")]);
        assert_eq!(notes(&store(&copy)), ["one", "two", "three"]);
        record(&store(&copy), note("four"));
        assert_eq!(notes(&store(&copy)), ["one", "two", "three", "four"]);
    }
}

#[test]
fn tracking_refs_stand_in_where_there_is_no_ledger() {
    let (one, other) = (source(), Repo::new());
    record(&store(&other), note("other"));
    let copy = Repo::new();
    for (name, repo) in [("a", &one), ("b", &other)] {
        let spec = format!("+refs/operator/*:refs/operator-remotes/{name}/*");
        copy.git(["fetch", "-q", &url(repo), &spec]);
    }
    let mut read = notes(&store(&copy));
    read.sort();
    assert_eq!(read, ["one", "other", "three", "two"]);
    assert!(copy.try_git(["rev-parse", LEDGER]).status.code() != Some(0));
    assert!(!copy.path().join(".git/operator").exists());
}

#[test]
fn a_bare_repository_keeps_a_ledger() {
    let repo = Repo::bare();
    record(&store(&repo), note("one"));
    assert_eq!(notes(&store(&repo)), ["one"]);
    assert!(repo.path().join("operator/journal").exists());
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn a_shared_repository_lets_its_group_write() {
    let repo = Repo::new();
    repo.git(["config", "core.sharedRepository", "group"]);
    record(&store(&repo), open("T-1"));
    let dir = repo.path().join(".git/operator");
    for name in ["", "tmp", "tasks"] {
        assert_eq!(mode(&dir.join(name)) & 0o2070, 0o2070, "{name}");
    }
    let task = fs::read_dir(dir.join("tasks")).unwrap().next().unwrap();
    let names = ["lock", "journal", "state"].map(|name| dir.join(name));
    for path in names.iter().chain([&task.unwrap().path()]) {
        assert_eq!(mode(path) & 0o060, 0o060, "{}", path.display());
    }
}

#[test]
fn a_repository_is_not_shared_unless_it_says_so() {
    let repo = Repo::new();
    record(&store(&repo), open("T-1"));
    let dir = repo.path().join(".git/operator");
    for name in ["", "tmp", "tasks", "lock", "journal", "state"] {
        assert_eq!(mode(&dir.join(name)) & 0o022, 0, "{name}");
    }
}

#[test]
fn writers_lose_nothing_while_the_journal_is_cut() {
    let repo = Repo::new();
    let names = ["a", "b", "c"];
    let writers = names.map(|name| Writer::new(&repo, name, 14).size(50_000).spawn());
    for writer in writers {
        assert!(writer.wait_with_output().unwrap().status.success());
    }
    assert_eq!(repo.git(["rev-list", "--count", LEDGER]), "42");
    assert_eq!(notes(&store(&repo)).len(), 42);
    fsck(&repo);
}
