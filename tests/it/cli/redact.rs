use std::fs;

use crate::support::Repo;

const SECRET: &str = "the-words-that-must-go";

/// Records long evidence, what must go in its middle; returns the record's id as log prints it.
fn long(repo: &Repo, task: &str) -> String {
    let filler: String = (0..2_000).map(|n| format!("{task} line {n}\n")).collect();
    let evidence = format!("{filler}{SECRET} {task}\n{filler}");
    repo.operator(["task", task, "--owner", "S1"]).run();
    let output = repo
        .operator(["verdict", task, "c", "PASS", "--owner", "S1"])
        .stdin(evidence)
        .run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    let ids = repo.operator(["log", "-n", "1", "--format", "%h"]).run();
    ids.stdout.trim().to_owned()
}

fn site() -> Repo {
    let repo = Repo::new();
    repo.commit("a");
    repo
}

/// Says whether any object that a ref of ours reaches, or the journal, holds the words.
fn holds(repo: &Repo, needle: &str) -> bool {
    let refs = repo.git([
        "for-each-ref",
        "--format=%(refname)",
        "refs/operator",
        "refs/operator-local",
    ]);
    let mut list = vec!["rev-list", "--objects", "--no-object-names"];
    list.extend(refs.lines());
    let reached = repo.git(list);
    let in_objects = reached.lines().any(|id| {
        let kind = repo.git(["cat-file", "-t", id]);
        kind == "blob" && repo.git(["cat-file", "blob", id]).contains(needle)
    });
    let journals =
        ["journal", "journal.1"].map(|name| repo.path().join(".git/operator").join(name));
    in_objects
        || journals.iter().any(|path| {
            fs::read(path).is_ok_and(|text| String::from_utf8_lossy(&text).contains(needle))
        })
}

fn sync(repo: &Repo) {
    let output = repo.operator(["sync", "--evidence"]).run();
    assert_eq!(output.code, 0, "{}", output.stderr);
}

#[test]
fn redacted_evidence_is_gone_from_the_refs_the_journal_and_after_a_prune_from_git() {
    let repo = site();
    let id = long(&repo, "t1");
    long(&repo, "t2");
    assert!(holds(&repo, &format!("{SECRET} t1")));
    let output = repo.operator(["redact", &id, "--dry-run"]).run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    let (first, records) = output.stdout.split_once('\n').unwrap();
    assert!(first.starts_with("would take out "), "{first}");
    assert!(first.ends_with(" bytes, of these records:"), "{first}");
    assert!(records.contains(" t1: "), "{records}");
    assert_eq!(records.lines().count(), 1, "{records}");
    assert!(holds(&repo, &format!("{SECRET} t1")));
    let output = repo.operator(["redact", &id, "--why", "a password"]).run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stdout.starts_with("redacted "), "{}", output.stdout);
    assert!(
        output.stderr.contains("cannot be recalled"),
        "{}",
        output.stderr
    );
    assert!(!holds(&repo, &format!("{SECRET} t1")));
    assert!(
        holds(&repo, &format!("{SECRET} t2")),
        "the other evidence is gone, too"
    );
    assert_eq!(
        repo.git(["rev-list", "--count", "refs/operator/evidence"]),
        "1"
    );
    repo.git(["gc", "-q", "--prune=now"]);
    let all = repo.git([
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objectname) %(objecttype)",
    ]);
    let blobs = all.lines().filter_map(|line| line.strip_suffix(" blob"));
    for blob in blobs {
        assert!(
            !repo
                .git(["cat-file", "blob", blob])
                .contains(&format!("{SECRET} t1"))
        );
    }
    repo.git(["fsck", "--strict", "--no-dangling"]);
    // The ledger goes on.
    long(&repo, "t3");
    assert!(holds(&repo, &format!("{SECRET} t3")));
    assert!(!holds(&repo, &format!("{SECRET} t1")));
}

#[test]
fn evidence_within_a_record_cannot_be_taken_out() {
    let repo = site();
    repo.operator(["task", "t1", "--owner", "S1"]).run();
    repo.operator(["verdict", "t1", "c", "ok", "PASS", "--owner", "S1"])
        .run();
    let id = repo.operator(["log", "-n", "1", "--format", "%h"]).run();
    let tip = repo.git(["rev-parse", "refs/operator/ledger"]);
    let id = id.stdout.trim();
    repo.operator(["redact", id])
        .stderr(format!(
            "error: cannot redact '{id}': it has no long evidence; what a record itself says cannot be \
             taken out\n"
        ))
        .exit(1)
        .check();
    repo.operator(["redact", "zzzzzz"])
        .stderr("error: cannot redact 'zzzzzz': there is no such record\nhint: git operator log\n")
        .exit(1)
        .check();
    assert_eq!(repo.git(["rev-parse", "refs/operator/ledger"]), tip);
}

/// One push that is forced, with a lease of the tip that was seen.
#[test]
fn clones_that_unite_lose_it_and_the_remote_does_too() {
    let one = site();
    let bare = one.dir().join("hub.git");
    one.git(["init", "-q", "--bare", bare.to_str().unwrap()]);
    one.git(["remote", "add", "origin", bare.to_str().unwrap()]);
    one.git(["push", "-q", "origin", "main"]);
    let hub = one.at(&bare);
    let id = long(&one, "t1");
    sync(&one);
    let there = one.dir().join("two");
    one.git([
        "clone",
        "-q",
        bare.to_str().unwrap(),
        there.to_str().unwrap(),
    ]);
    let two = one.at(&there);
    sync(&two);
    long(&two, "t2");
    assert!(holds(&two, &format!("{SECRET} t1")));
    let before = hub.git(["rev-parse", "refs/operator/evidence"]);
    assert_eq!(one.operator(["redact", &id]).run().code, 0);
    sync(&one);
    assert_ne!(hub.git(["rev-parse", "refs/operator/evidence"]), before);
    sync(&two);
    sync(&one);
    for (name, repo) in [("one", &one), ("two", &two), ("hub", &hub)] {
        assert!(!holds(repo, &format!("{SECRET} t1")), "{name}");
        assert!(holds(repo, &format!("{SECRET} t2")), "{name}");
    }
    let tip = |repo: &Repo| repo.git(["rev-parse", "refs/operator/evidence"]);
    assert_eq!((tip(&one), tip(&two)), (tip(&hub), tip(&hub)));
}

#[test]
fn what_was_fetched_before_is_let_go_and_the_repository_stays_sound() {
    let repo = site();
    let hub = Repo::bare();
    repo.git(["remote", "add", "origin", hub.path().to_str().unwrap()]);
    let id = long(&repo, "t1");
    sync(&repo);
    let tracked = "refs/operator-remotes/origin/evidence";
    let fetched = repo.git(["rev-parse", tracked]);
    repo.git(["update-ref", "refs/heads/mine", &fetched]);
    let redact = || repo.operator(["redact", &id, "--why", "a password"]).run();
    assert_eq!(redact().code, 0);
    assert_eq!(repo.git(["for-each-ref", tracked]), "");
    repo.git(["fsck", "--connectivity-only", "--no-dangling"]);
    repo.git(["update-ref", "-d", "refs/heads/mine"]);
    repo.git(["gc", "-q", "--prune=now"]);
    assert!(!repo.try_git(["cat-file", "-e", &fetched]).status.success());
    sync(&repo);
    repo.git(["fsck", "--connectivity-only", "--no-dangling"]);
    assert_eq!(
        hub.git(["rev-list", "--count", "refs/operator/evidence"]),
        "1"
    );
}

fn tip(repo: &Repo) -> String {
    repo.git(["rev-parse", "refs/operator/ledger"])
}

#[test]
fn redacted_evidence_is_not_recorded_again() {
    let repo = site();
    let id = long(&repo, "t1");
    assert_eq!(repo.operator(["redact", &id]).run().code, 0);
    let before = tip(&repo);
    let filler: String = (0..2_000).map(|n| format!("t1 line {n}\n")).collect();
    let evidence = format!("{filler}{SECRET} t1\n{filler}");
    let output = repo
        .operator(["verdict", "t1", "c", "PASS", "--owner", "S1"])
        .stdin(&evidence)
        .run();
    assert_eq!(output.code, 1, "{}", output.stderr);
    assert!(
        output
            .stderr
            .starts_with("error: cannot record a verdict for 't1': evidence '")
            && output.stderr.ends_with("' was redacted before\n"),
        "{}",
        output.stderr
    );
    assert_eq!(tip(&repo), before);
    // What a command printed is not a reason to forget how it ended.
    repo.write("../printed", &evidence);
    repo.operator(["task", "t2", "--owner", "S1"]).run();
    let output = repo
        .operator(["run", "--owner", "S1", "t2", "c", "--", "cat", "../printed"])
        .run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(
        output
            .stderr
            .contains("was redacted before and is not kept"),
        "{}",
        output.stderr
    );
    let log = repo.operator(["log", "-n", "1"]).run();
    assert!(log.stdout.contains(" PASS     t2: c"), "{}", log.stdout);
    assert!(!holds(&repo, &format!("{SECRET} t1")));
}

#[test]
fn what_was_redacted_stays_gone_whatever_is_packed_later() {
    let repo = site();
    let id = long(&repo, "t1");
    assert_eq!(repo.operator(["redact", &id]).run().code, 0);
    for _ in 0..2 {
        assert_eq!(repo.operator(["gc"]).run().code, 0);
        repo.git(["gc", "-q"]);
        long(&repo, "t2");
        assert!(!holds(&repo, &format!("{SECRET} t1")));
        assert!(holds(&repo, &format!("{SECRET} t2")));
    }
    repo.git(["gc", "-q", "--prune=now"]);
    let all = repo.git([
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objectname)",
    ]);
    for object in all.lines() {
        let kind = repo.git(["cat-file", "-t", object]);
        assert!(
            kind != "blob"
                || !repo
                    .git(["cat-file", "blob", object])
                    .contains(&format!("{SECRET} t1"))
        );
    }
    assert_eq!(
        repo.operator(["doctor"])
            .run()
            .stdout
            .matches("redacted")
            .count(),
        0
    );
}

/// A clone that cannot take it out at once says so, and `doctor --fix` finishes it.
#[test]
fn a_redaction_that_was_not_finished_is_named_and_finished() {
    let repo = site();
    let id = long(&repo, "t1");
    let copy = repo.dir().join("copy.git");
    let copy = copy.to_str().unwrap();
    repo.git(["init", "-q", "--bare", copy]);
    repo.git(["push", "-q", copy, "refs/operator/evidence"]);
    assert_eq!(repo.operator(["redact", &id]).run().code, 0);
    let what = "evidence that was redacted still lies in 'refs/operator/evidence'";
    assert!(!repo.operator(["doctor"]).run().stdout.contains(what));
    let evidence = "+refs/operator/evidence:refs/operator/evidence";
    repo.git(["fetch", "-q", copy, evidence]);
    let found = repo.operator(["doctor"]).run();
    assert!(found.stdout.contains(what), "{}", found.stdout);
    let fixed = repo.operator(["doctor", "--fix"]).run();
    assert!(
        fixed.stdout.contains(&format!("fixed: {what}")),
        "{}",
        fixed.stdout
    );
    assert!(!holds(&repo, &format!("{SECRET} t1")));
    assert!(!repo.operator(["doctor"]).run().stdout.contains(what));
}
