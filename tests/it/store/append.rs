use std::fs;

use git_operator::{
    model::{Evidence, Prefix},
    store::{LEDGER, Store, Wait},
};

use super::{commit, env, fsck, note, notes, record, store};
use crate::support::Repo;

#[test]
fn a_record_is_a_commit_that_people_can_read() {
    let repo = Repo::new();
    let record = record(&store(&repo), note("use one ref"));
    let message = repo.git(["log", "-1", "--format=%an <%ae>%n%B", LEDGER]);
    let line = record.line();
    assert_eq!(
        message,
        format!("A U Thor <author@example.com>\ndecision DECISION: use one ref\n\n{line}\n")
    );
    assert_eq!(repo.git(["ls-tree", "-r", LEDGER]), "");
    fsck(&repo);
}

#[test]
fn what_is_recorded_is_read_in_order() {
    let repo = Repo::new();
    let store = store(&repo);
    for number in 0..5 {
        record(&store, note(&format!("n{number}")));
    }
    commit(&store, &[note("n5"), note("n6")]);
    assert_eq!(notes(&store), ["n0", "n1", "n2", "n3", "n4", "n5", "n6"]);
    let seqs: Vec<u64> = store
        .load()
        .unwrap()
        .iter()
        .map(|record| record.seq)
        .collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5, 6, 7]);
    let newest: Vec<usize> = store
        .newest()
        .unwrap()
        .take(2)
        .map(|append| append.unwrap().entries.len())
        .collect();
    assert_eq!(newest, [2, 1]);
    assert_eq!(repo.git(["rev-list", "--count", LEDGER]), "6");
}

#[test]
fn a_ledger_that_nobody_began_is_empty() {
    let repo = Repo::new();
    let store = store(&repo);
    assert_eq!(store.tip().unwrap(), None);
    assert!(store.load().unwrap().is_empty());
    assert!(!store.dir().exists(), "a reader writes nothing");
}

#[test]
fn records_are_found_by_a_prefix_of_their_hash() {
    let repo = Repo::new();
    let store = store(&repo);
    let one = record(&store, note("one"));
    record(&store, note("two"));
    let prefix = Prefix::parse(one.id.short()).unwrap();
    assert_eq!(store.find(&prefix).unwrap(), std::slice::from_ref(&one));
    assert_eq!(store.get(&one.id).unwrap(), Some(one));
}

#[test]
fn a_child_is_never_older_than_its_parent() {
    let repo = Repo::new();
    repo.tick();
    repo.tick();
    record(&store(&repo), note("late"));
    let early = repo.at("");
    let mut vars = early.env();
    for (name, value) in &mut vars {
        if name == "GIT_COMMITTER_DATE" {
            *value = "@1000 +0000".into();
        }
    }
    let env = git_operator::git::Env::new(vars);
    let location = git_operator::git::locate(repo.path(), &env)
        .unwrap()
        .unwrap();
    let store = Store::open(git_operator::git::Repo::open(&location, &env).unwrap());
    let record = record(&store, note("early"));
    assert_eq!(record.time, 1_000_000);
    let times = repo.git(["log", "--format=%ct", LEDGER]);
    let (child, parent) = times.split_once('\n').unwrap();
    assert_eq!(child, parent);
}

#[test]
fn long_evidence_lies_in_its_own_ref() {
    let repo = Repo::new();
    let store = store(&repo);
    let clock = git_operator::git::Clock::new(&env(&repo)).unwrap();
    for size in [9_000, 40_000, 200_000] {
        let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        let Evidence::Long(long) = Evidence::of(&bytes) else {
            panic!("{size} bytes fit a record");
        };
        let mut transaction = store.begin(Wait::Command, clock).unwrap();
        transaction
            .commit(&[note("with evidence")], vec![bytes.clone()])
            .unwrap();
        drop(transaction);
        assert_eq!(store.evidence(&long.digest).unwrap(), Some(bytes));
        let hex = long.digest.to_hex();
        let path = format!("refs/operator/evidence:{}/{hex}", &hex[..2]);
        assert_eq!(repo.git(["cat-file", "-s", &path]), size.to_string());
    }
    assert_eq!(
        repo.git(["rev-list", "--count", "refs/operator/evidence"]),
        "3"
    );
    fsck(&repo);
    let keeps = fs::read_dir(repo.path().join(".git/objects/pack")).unwrap();
    let keeps = keeps.filter(|entry| {
        let path = entry.as_ref().unwrap().path();
        path.extension()
            .is_some_and(|extension| extension == "keep")
    });
    assert_eq!(keeps.count(), 0);
}

#[test]
fn a_large_batch_is_split_as_every_clone_accepts() {
    let repo = Repo::new();
    let store = store(&repo);
    let drafts: Vec<_> = (0..2_500)
        .map(|number| note(&format!("n{number}")))
        .collect();
    let committed = commit(&store, &drafts);
    assert_eq!(committed.records.len(), 2_500);
    assert_eq!(repo.git(["rev-list", "--count", LEDGER]), "3");
    assert_eq!(notes(&store).len(), 2_500);
    assert_eq!(
        fs::read_dir(repo.path().join(".git/operator/tmp"))
            .unwrap()
            .count(),
        0
    );
    fsck(&repo);
}

#[test]
fn another_commit_goes_on_from_the_last() {
    let repo = Repo::new();
    let store = store(&repo);
    let clock = git_operator::git::Clock::new(&env(&repo)).unwrap();
    let mut transaction = store.begin(Wait::Command, clock).unwrap();
    transaction.commit(&[note("one")], Vec::new()).unwrap();
    transaction.commit(&[note("two")], Vec::new()).unwrap();
    drop(transaction);
    record(&store, note("three"));
    assert_eq!(notes(&store), ["one", "two", "three"]);
}

#[test]
fn linked_worktrees_share_the_ledger() {
    let repo = Repo::new();
    repo.commit("a");
    let linked = repo.worktree("side");
    record(&store(&linked), note("from the side"));
    record(&store(&repo), note("from the main one"));
    assert_eq!(
        notes(&store(&linked)),
        ["from the side", "from the main one"]
    );
    assert!(repo.path().join(".git/operator/journal").exists());
}

#[test]
fn sha256_and_reftable_work() {
    for repo in [Repo::sha256(), Repo::reftable()].into_iter().flatten() {
        let store = store(&repo);
        record(&store, note("one"));
        record(&store, note("two"));
        assert_eq!(notes(&store), ["one", "two"]);
        assert_eq!(repo.git(["rev-list", "--count", LEDGER]), "2");
        let tip = store.tip().unwrap().unwrap().to_hex();
        assert_eq!(repo.git(["rev-parse", LEDGER]), tip);
        fsck(&repo);
    }
    if let Some(repo) = Repo::reftable() {
        record(&store(&repo), note("one"));
        assert!(!repo.path().join(".git/refs/operator").exists());
    }
}

#[test]
fn a_repository_without_an_identity_gets_ours() {
    let repo = Repo::new();
    fs::write(
        repo.home().join(".gitconfig"),
        "[user]\n\tuseConfigOnly = true\n[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = false\n",
    )
    .unwrap();
    record(&store(&repo), note("unnamed"));
    assert_eq!(
        repo.git(["log", "-1", "--format=%an <%ae> %cn", LEDGER]),
        "git-operator <git-operator@localhost> git-operator"
    );
    assert!(!repo.git(["cat-file", "-p", LEDGER]).contains("gpgsig"));
}
