use std::thread;

use super::{lines, said};
use crate::support::Repo;

#[test]
fn a_task_is_opened_once() {
    let repo = Repo::new();
    let id = said(
        &repo.operator(["task", "T-1", "--owner", "S1"]),
        "opened 'T-1' for session 'S1'",
    );
    repo.operator(["log", "--format", "%h %w %s"])
        .stdout(format!("{id} open T-1 for S1\n"))
        .check();
    for args in [&["task", "T-1", "--owner", "S1"][..], &["task", "T-1"]] {
        repo.operator(args)
            .stderr("'T-1' is open already, for session 'S1'\n")
            .check();
    }
    assert_eq!(lines(&repo, &["log"]).len(), 1);
}

#[test]
fn the_task_of_another_session_is_not_opened_again() {
    let repo = Repo::new();
    said(
        &repo.operator(["task", "t5", "--owner=S1"]),
        "opened 't5' for session 'S1'",
    );
    repo.operator(["task", "t5", "--owner", "S2"])
        .stderr(
            "error: cannot open 't5': it is open and owned by session 'S1'\n\
             hint: git operator adopt --owner <session> t5\n",
        )
        .exit(1)
        .check();
    repo.operator(["task", "--compat", "t5", "--owner", "S2"])
        .stderr("'t5' is open already, for session 'S1'\n")
        .check();
}

#[test]
fn the_owner_is_the_session_that_runs_the_command() {
    let repo = Repo::new();
    let run = |args: &[&str], text| {
        said(
            &repo.operator(args).env("CLAUDE_CODE_SESSION_ID", "S9"),
            text,
        );
    };
    run(&["task", "a"], "opened 'a' for session 'S9'");
    run(
        &["task", "b", "--owner", "S1"],
        "opened 'b' for session 'S1'",
    );
    run(
        &["task", "c", "--owner", ""],
        "opened 'c' for nobody: it blocks every session",
    );
    said(
        &repo.operator(["task", "d"]),
        "opened 'd' for nobody: it blocks every session",
    );
}

#[test]
fn names_are_refused_not_sanitised() {
    let repo = Repo::new();
    let long = "x".repeat(300);
    for id in [
        "s/x", ".a", "", ".", "..", "a\nb", "a|b", "a\rb", &long, " ",
    ] {
        let output = repo.operator(["task", "--owner", "S1", "--", id]).run();
        assert_eq!((output.code, output.stdout.as_str()), (1, ""), "{id:?}");
        assert!(
            output.stderr.starts_with("error: a task id cannot "),
            "{id:?}"
        );
        let output = repo
            .operator(["task", "--compat", "--owner", "S1", "--", id])
            .run();
        assert_eq!(output.code, 2, "{id:?}");
    }
    for owner in ["S1\r", " S1 ", "a b", "$S", "`id`", "a|b", "a/b", ".s"] {
        let output = repo.operator(["task", "t", "--owner", owner]).run();
        assert_eq!((output.code, output.stdout.as_str()), (1, ""), "{owner:?}");
        assert!(
            output.stderr.starts_with("error: a session id cannot "),
            "{owner:?}"
        );
    }
    repo.operator(["log"]).check();
    assert!(!repo.path().join(".git/operator").exists());
}

#[test]
fn names_that_look_alike_are_different_tasks() {
    let repo = Repo::new();
    let ids = [
        "s", "S", "a b", "a..b", "a.lock", "a~1", "a@{1}", "a\\b", "-x", "é", "CON", "a*", "a__b",
        "a_b",
    ];
    for id in ids {
        said(
            &repo.operator(["task", "--owner", "S1", "--", id]),
            &format!("opened '{id}' for session 'S1'"),
        );
    }
    assert_eq!(lines(&repo, &["log", "--kind", "task"]).len(), ids.len());
    assert_eq!(
        repo.git(["for-each-ref", "--format=%(refname)", "refs/operator"]),
        "refs/operator/ledger"
    );
    repo.git(["fsck", "--strict"]);
}

#[test]
fn of_many_parallel_openings_one_wins() {
    let repo = Repo::new();
    let wins = thread::scope(|scope| {
        let runs: Vec<_> = (0..40)
            .map(|n| {
                let run = repo.operator(["task", "T", "--owner", &format!("S{n}")]);
                scope.spawn(move || run.run().code)
            })
            .collect();
        runs.into_iter()
            .map(|run| run.join().unwrap())
            .filter(|code| *code == 0)
            .count()
    });
    assert_eq!(wins, 1);
    assert_eq!(lines(&repo, &["log"]).len(), 1);
}

#[test]
fn json_is_the_record() {
    let repo = Repo::new();
    let output = repo
        .operator(["task", "T", "--owner", "S1", "--json"])
        .run();
    let record: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(record["type"], "record");
    assert_eq!(record["kind"], "task");
    assert_eq!(record["owner"], "S1");
}

#[test]
fn an_owner_is_given_once() {
    let repo = Repo::new();
    for args in [
        &["task", "T", "--owner", "S1", "--owner", "S2"][..],
        &["task", "T", "--owner"],
        &["task", "T", "surplus"],
        &["task"],
        &["task", "T", "--no-such"],
    ] {
        assert_eq!(repo.operator(args).run().code, 129, "{args:?}");
    }
}
