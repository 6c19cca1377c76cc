//! The smaller commands of the gate: defer, adopt, decide, bar, retract.

use super::{lines, said};
use crate::support::Repo;

fn open(repo: &Repo, task: &str, owner: &str) {
    said(
        &repo.operator(["task", task, "--owner", owner]),
        &format!("opened '{task}' for session '{owner}'"),
    );
}

#[test]
fn a_deferral_closes_its_task_with_a_reason() {
    let repo = Repo::new();
    open(&repo, "T", "S1");
    said(
        &repo.operator(["defer", "T", "no network", "--owner", "S1"]),
        "deferred 'T': no network",
    );
    assert_eq!(lines(&repo, &["show", "T"])[0], "task T (not open here)");
    for (args, code) in [
        (&["defer", "T"][..], 129),
        (&["defer", "T", " "], 1),
        (&["defer", "a/b", "r"], 1),
    ] {
        assert_eq!(repo.operator(args).run().code, code, "{args:?}");
    }
}

#[test]
fn adopting_is_all_or_nothing_and_says_from_whom() {
    let repo = Repo::new();
    open(&repo, "a", "S1");
    repo.operator(["task", "b"]).run();
    repo.operator(["adopt", "--owner", "S2", "a", "ghost"])
        .stderr("error: cannot adopt 'ghost': it is not open\nhint: git operator status\n")
        .exit(1)
        .check();
    assert_eq!(
        lines(&repo, &["show", "a"])[0],
        "task a (open, owned by S1)"
    );
    let output = repo.operator(["adopt", "--owner", "S2", "a", "b"]).run();
    let texts: Vec<&str> = output
        .stdout
        .lines()
        .map(|line| line.rsplit_once(" [").unwrap().0)
        .collect();
    assert_eq!(
        texts,
        [
            "adopted 'a' from session 'S1' for session 'S2'",
            "adopted 'b' from nobody for session 'S2'"
        ]
    );
    assert_eq!(
        lines(&repo, &["show", "a"])[0],
        "task a (open, owned by S2)"
    );
    repo.operator(["adopt", "a"])
        .stderr(
            "error: cannot adopt: no session is known\n\
             hint: git operator adopt --owner <session> <id>...\n",
        )
        .exit(129)
        .check();
    assert_eq!(repo.operator(["adopt", "--owner", "S2"]).run().code, 129);
}

#[test]
fn decisions_have_a_kind_a_reason_and_a_scope() {
    let repo = Repo::new();
    said(
        &repo
            .operator([
                "decide",
                "DEVIATION",
                "skipped | the cache test",
                "--why",
                "flaky\nupstream",
            ])
            .args(["--scope", "T-12", "--owner", "S1"]),
        "DEVIATION T-12: skipped | the cache test",
    );
    said(
        &repo.operator(["decide", "decision", "use gix", "--why", "fast"]),
        "DECISION -: use gix",
    );
    for args in [
        &["decide", "HANDOFF-MARK", "w", "--why", "y"][..],
        &["decide", "OTHER", "w", "--why", "y"],
        &["decide", "DECISION", "w"],
        &["decide", "DECISION", "--why", "y"],
    ] {
        assert_eq!(repo.operator(args).run().code, 129, "{args:?}");
    }
    for args in [
        ["decide", "DECISION", " ", "--why", "y", "--scope", "s"],
        ["decide", "DECISION", "w", "--why", "", "--scope", "s"],
        ["decide", "DECISION", "w", "--why", "y", "--scope", ""],
    ] {
        assert_eq!(repo.operator(args).run().code, 1, "{args:?}");
    }
    assert_eq!(lines(&repo, &["log"]).len(), 2);
}

#[test]
fn a_bar_keeps_its_text() {
    let repo = Repo::new();
    said(
        &repo
            .operator(["bar", "Release 1"])
            .stdin("- [ ] suite passes\n- [ ] docs | done\n"),
        "bar 'Release 1'",
    );
    let id = lines(&repo, &["log", "--format", "%h"]).remove(0);
    let text = lines(&repo, &["show", &id]).join("\n");
    assert!(
        text.ends_with("    ## BAR — Release 1\n    - [ ] suite passes\n    - [ ] docs | done"),
        "{text}"
    );
    repo.operator(["bar", "Empty"])
        .stdin(" \n")
        .stderr("error: a bar cannot be empty\n")
        .exit(1)
        .check();
    repo.operator(["bar", "Long"])
        .stdin("x".repeat(25_000))
        .stderr("error: cannot take the bar from stdin: it is longer than 24576 bytes\n")
        .exit(1)
        .check();
    let output = repo.operator(["bar", "Bytes"]).stdin(b"\xff").run();
    assert_eq!(output.code, 1);
}

#[test]
fn a_bar_whose_text_is_no_text_in_a_view_is_refused() {
    let repo = Repo::new();
    for (line, what) in [
        ("| t | c | e @abc1234 | PASS |", "the row of a verdict"),
        ("<<<<<<< HEAD", "the marker of a conflict"),
        ("| t | PASS |", "a malformed row: it has 2 cells, not 4"),
    ] {
        repo.operator(["bar", "x"])
            .stdin(format!("text\n{line}\n"))
            .stderr(format!(
                "error: cannot record the bar 'x': line 2 of its text would be read as {what}\n"
            ))
            .exit(1)
            .check();
    }
    said(
        &repo
            .operator(["bar", "x"])
            .stdin("| opt | cost | risk | note |\n|---|---|---|---|\n| A | 1 | 2 | x |\n"),
        "bar 'x'",
    );
}

#[test]
fn a_record_is_taken_back_by_its_own_session_only() {
    let repo = Repo::new();
    open(&repo, "T", "S1");
    repo.operator(["verdict", "T", "c", "e", "PASS", "--owner", "S1"])
        .run();
    let id = lines(&repo, &["log", "--outcome", "PASS", "--format", "%h"]).remove(0);
    let output = repo
        .operator(["retract", &id, "--why", "wrong", "--owner", "S2"])
        .run();
    assert_eq!((output.code, output.stdout.as_str()), (1, ""));
    assert!(
        output.stderr.ends_with("another session owns it\n"),
        "{}",
        output.stderr
    );
    said(
        &repo.operator([
            "retract",
            &id.to_lowercase(),
            "--why",
            "wrong tree",
            "--owner",
            "S1",
        ]),
        &format!("retracted {id}: wrong tree"),
    );
    assert!(lines(&repo, &["log", "--outcome", "PASS"])[0].contains("(retracted)"));
    repo.operator(["retract", "ZZZZ", "--why", "w"])
        .stderr("error: cannot retract 'ZZZZ': there is no such record\nhint: git operator log\n")
        .exit(1)
        .check();
}

#[test]
fn a_linked_worktree_and_a_subdirectory_share_the_gate() {
    let repo = Repo::new();
    repo.commit("a");
    let linked = repo.worktree("linked");
    open(&linked, "tw", "W");
    repo.write("sub/x", "");
    assert_eq!(
        lines(&repo.at("sub"), &["show", "tw"])[0],
        "task tw (open, owned by W)"
    );
    repo.git([
        "worktree",
        "remove",
        "--force",
        linked.path().to_str().unwrap(),
    ]);
    said(
        &repo.operator(["adopt", "--owner", "M", "tw"]),
        "adopted 'tw' from session 'W' for session 'M'",
    );
}

#[test]
fn quiet_prints_nothing_and_records_all_the_same() {
    let repo = Repo::new();
    repo.operator(["-q", "task", "T"]).check();
    repo.operator(["verdict", "-q", "T", "c", "e", "PASS", "--owner", "S1"])
        .check();
    assert_eq!(lines(&repo, &["log"]).len(), 2);
}

#[test]
fn a_repository_of_somebody_else_is_refused_and_named() {
    let repo = Repo::new();
    let path = repo.path().display().to_string();
    for args in [
        &["verdict", "T", "c", "e", "PASS", "--owner", "S1"][..],
        &["task", "T"],
        &["log"],
    ] {
        repo.operator(args)
            .env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
            .stderr(format!(
                "error: cannot open repository '{path}': it is owned by another user\n\
                 hint: git config --global --add safe.directory '{path}'\n"
            ))
            .exit(1)
            .check();
    }
}
