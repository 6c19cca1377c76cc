//! Defects that other tools which keep data in git were reported for, met with ours.

use std::{fs, os::unix::fs::PermissionsExt as _};

use crate::support::Repo;

const VERDICTS: &str = ".operator/VERDICTS.md";

fn started() -> Repo {
    let repo = Repo::new();
    repo.commit("a");
    ok(&repo, &["start", "--hooks", "file"]);
    repo.git(["add", "-A"]);
    repo.commit_staged("started");
    repo
}

#[track_caller]
fn ok(repo: &Repo, args: &[&str]) -> String {
    let output = repo.operator(args).run();
    assert_eq!(output.code, 0, "{args:?}: {}", output.stderr);
    output.stdout
}

#[track_caller]
fn verdict(repo: &Repo, task: &str) {
    ok(repo, &["task", task, "--owner", "S1"]);
    ok(repo, &["verdict", task, "c", "ok", "PASS", "--owner", "S1"]);
}

/// A remote that has nothing of ours yet, or nothing at all, keeps no fetch and no push from working.
#[test]
fn an_empty_remote_is_fetched_from_pushed_to_and_synced_with() {
    let repo = started();
    let bare = repo.dir().join("hub.git");
    repo.git(["init", "-q", "--bare", bare.to_str().unwrap()]);
    repo.git(["remote", "add", "origin", bare.to_str().unwrap()]);
    ok(&repo, &["start", "--hooks", "file"]);
    repo.git(["fetch", "-q"]);
    let said = ok(&repo, &["sync"]);
    assert!(said.starts_with("synced with origin: 0 new here"), "{said}");
    repo.git(["push", "-q", "origin", "main"]);
    repo.git(["fetch", "-q", "--prune"]);
    verdict(&repo, "t1");
    ok(&repo, &["sync"]);
    assert_eq!(
        repo.git(["ls-remote", "--refs", "origin", "refs/operator/*"]),
        format!(
            "{}\trefs/operator/ledger",
            repo.git(["rev-parse", "refs/operator/ledger"])
        )
    );
}

/// A server that wants a name, an address and a subject of every commit gets them, also of a union.
#[test]
fn a_remote_that_checks_every_commit_takes_the_ledger() {
    let one = started();
    let bare = one.dir().join("hub.git");
    one.git(["init", "-q", "--bare", bare.to_str().unwrap()]);
    let hook = bare.join("hooks/pre-receive");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(
        &hook,
        "#!/bin/sh\nwhile read old new ref; do\n\
         git rev-list \"$new\" --not --all | while read c; do\n\
         git log -1 --format='%an|%ae|%cn|%ce|%s' \"$c\" | grep -Eq '^[^|]+\\|[^|]+@[^|]+\\|[^|]+\\|[^|]+@[^|]+\\|.' || exit 1\n\
         git fsck --strict --no-dangling >/dev/null 2>&1 || exit 1\n\
         done || exit 1\ndone\n",
    )
    .unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    one.git(["remote", "add", "origin", bare.to_str().unwrap()]);
    one.git(["push", "-q", "origin", "main"]);
    let two = one.at(one.dir().join("two"));
    one.git(["clone", "-q", bare.to_str().unwrap(), "../two"]);
    for (repo, task) in [(&one, "t1"), (&two, "t2"), (&one, "t3"), (&two, "t4")] {
        verdict(repo, task);
    }
    for repo in [&one, &two, &one] {
        ok(repo, &["sync"]);
    }
    let tip = |repo: &Repo| repo.git(["rev-parse", "refs/operator/ledger"]);
    assert_eq!(tip(&one), tip(&two));
}

/// Text that one branch took out stays out when another is rebased over it.
#[test]
fn a_rebase_brings_no_line_back_that_was_taken_out() {
    let repo = started();
    repo.write(
        VERDICTS,
        repo.read(VERDICTS) + "\nfirst line\nsecond line\n",
    );
    ok(&repo, &["reconcile"]);
    repo.git(["commit", "-qam", "text"]);
    repo.branch("x");
    verdict(&repo, "t1");
    repo.git(["commit", "-qam", "row"]);
    repo.checkout("main");
    repo.write(VERDICTS, repo.read(VERDICTS).replace("first line\n", ""));
    repo.git(["commit", "-qam", "taken out"]);
    repo.checkout("x");
    repo.tick();
    repo.git(["rebase", "-q", "main"]);
    let text = repo.read(VERDICTS);
    assert!(
        !text.contains("first line") && text.contains("second line"),
        "{text}"
    );
    assert_eq!(text.matches("| t1 |").count(), 1, "{text}");
    ok(&repo, &["reconcile"]);
    assert!(!repo.read(VERDICTS).contains("first line"));
}

/// No command and no hook adds to what is staged, and a commit of a view leaves the tree clean, twice.
#[test]
fn what_is_staged_is_what_is_committed() {
    let repo = started();
    repo.write("src.txt", "1\n");
    repo.git(["add", "src.txt"]);
    verdict(&repo, "t1");
    ok(&repo, &["render"]);
    ok(&repo, &["reconcile"]);
    ok(&repo, &["gc", "--notes"]);
    assert_eq!(repo.git(["diff", "--cached", "--name-only"]), "src.txt");
    repo.commit_staged("src");
    assert_eq!(repo.git(["show", "--format=", "--name-only"]), "src.txt");
    for task in ["t2", "t3"] {
        verdict(&repo, task);
        repo.git(["commit", "-qam", task]);
        assert_eq!(repo.git(["status", "--porcelain"]), "");
    }
}

#[test]
fn a_verdict_in_a_linked_worktree_writes_the_view_there_and_no_other() {
    let repo = started();
    let before = repo.read(VERDICTS);
    let linked = repo.worktree("w");
    verdict(&linked, "t1");
    assert!(linked.read(VERDICTS).contains("| t1 |"));
    assert_eq!(repo.read(VERDICTS), before);
    verdict(&repo, "t2");
    assert!(!linked.read(VERDICTS).contains("| t2 |"));
    // An old view that is merged in takes no row away.
    linked.git(["commit", "-qam", "w"]);
    repo.git(["commit", "-qam", "main"]);
    repo.merge("w");
    for task in ["t1", "t2"] {
        let row = format!("| {task} |");
        assert_eq!(repo.read(VERDICTS).matches(&row).count(), 1, "{task}");
    }
}

/// The number of refs does not grow with the ledger, and none lies where branches and tags are.
#[test]
fn many_records_are_few_refs() {
    let repo = started();
    let mut refs = 0;
    for round in 0..3 {
        for at in 0..5 {
            verdict(&repo, &format!("t{round}-{at}"));
        }
        repo.commit(&format!("c{round}"));
        ok(&repo, &["gc", "--notes"]);
        let list = repo.git(["for-each-ref", "--format=%(refname)"]);
        let heads = list.lines().filter(|name| name.starts_with("refs/heads/"));
        assert_eq!(heads.collect::<Vec<_>>(), ["refs/heads/main"]);
        assert!(!list.contains("refs/tags/"), "{list}");
        let ours = list.lines().count() - 1;
        assert!(ours <= 5 && (round == 0 || ours == refs), "{list}");
        refs = ours;
    }
}

/// A repository that was moved is the same one, with its open tasks, views and hooks.
#[test]
fn a_repository_that_moved_goes_on() {
    let repo = started();
    ok(&repo, &["task", "t1", "--owner", "S1"]);
    let there = repo.dir().join("moved here");
    fs::rename(repo.path(), &there).unwrap();
    let moved = repo.at(&there);
    ok(
        &moved,
        &["verdict", "t1", "c", "ok", "PASS", "--owner", "S1"],
    );
    assert!(moved.read(VERDICTS).contains("| t1 |"));
    assert_eq!(ok(&moved, &["doctor"]), "all is well\n");
    assert_eq!(ok(&moved, &["render", "--check", "--complete"]), "");
}

/// The driver made for a view that is added on both branches, with the same rows among others.
#[test]
fn a_view_that_both_branches_add_is_one_view() {
    let repo = Repo::new();
    repo.commit("a");
    ok(&repo, &["start", "--hooks", "none"]);
    fs::remove_file(repo.path().join(VERDICTS)).unwrap();
    repo.git(["add", "-A"]);
    repo.commit_staged("started");
    for branch in ["x", "main"] {
        if branch == "x" {
            repo.branch("x");
        } else {
            repo.checkout("main");
        }
        verdict(&repo, branch);
        ok(&repo, &["render"]);
        repo.git(["add", "-A"]);
        repo.commit_staged(branch);
    }
    repo.merge("x");
    let text = repo.read(VERDICTS);
    assert_eq!(text.matches("# VERDICTS").count(), 1, "{text}");
    for task in ["x", "main"] {
        assert_eq!(text.matches(&format!("| {task} |")).count(), 1, "{text}");
    }
    assert_eq!(ok(&repo, &["render", "--check", "--complete"]), "");
}

/// A host that squashes a branch and merges the squash gives the same source to two commits.
#[test]
fn a_record_is_found_from_the_squash_and_from_the_merge_of_it() {
    let repo = started();
    repo.branch("topic");
    repo.commit("b");
    repo.commit("c");
    let topic = repo.head();
    verdict(&repo, "t1");
    repo.git(["checkout", "-q", "-f", "main"]);
    let tree = format!("{topic}^{{tree}}");
    let squash = repo.git(["commit-tree", &tree, "-p", "main", "-m", "squash"]);
    let merge = repo.git([
        "commit-tree",
        &tree,
        "-p",
        "main",
        "-p",
        &squash,
        "-m",
        "merge",
    ]);
    repo.git(["reset", "-q", "--hard", &merge]);
    repo.git(["branch", "-q", "-D", "topic"]);
    repo.git(["reflog", "expire", "--expire=now", "--all"]);
    repo.git(["gc", "-q", "--prune=now"]);
    for commit in [&squash, &merge] {
        let log = ok(&repo, &["log", "--commit", commit, "--kind", "verdict"]);
        assert!(log.contains("(tree) t1: c: ok"), "{log}");
        let verify = ok(&repo, &["verify", commit]);
        assert!(verify.starts_with("c: fresh tree (task 't1'"), "{verify}");
    }
}
