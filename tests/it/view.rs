//! The views in a project: written at each record, rendered, checked and reconciled.

use std::{fs, os::unix::fs::symlink};

use crate::support::Repo;

const HDR: &str =
    "# Engagement Verdicts\n\n| Gate | Criterion | Evidence | PASS/FAIL |\n|---|---|---|---|\n";
pub(crate) const OWN: &str = "# VERDICTS — append-only. One row per gated task; written only by git-operator.\n| Gate | Criterion | Evidence | PASS/FAIL |\n|---|---|---|---|\n";
pub(crate) const VERDICTS: &str = ".operator/VERDICTS.md";
pub(crate) const DECISIONS: &str = ".operator/DECISIONS.md";

fn row(task: &str) -> String {
    format!("| {task} | c | e @1234567 | PASS |\n")
}

pub(crate) fn project() -> Repo {
    let repo = Repo::new();
    repo.commit("base");
    fs::create_dir(repo.path().join(".operator")).unwrap();
    repo
}

#[track_caller]
pub(crate) fn ok(repo: &Repo, args: &[&str]) -> String {
    let output = repo.operator(args).run();
    assert_eq!(
        output.code, 0,
        "{args:?}\n{}{}",
        output.stdout, output.stderr
    );
    output.stdout
}

#[track_caller]
pub(crate) fn verdict(repo: &Repo, task: &str, evidence: &str) {
    ok(repo, &["task", task, "--owner", "S1"]);
    ok(
        repo,
        &["verdict", task, "c", evidence, "PASS", "--owner", "S1"],
    );
}

pub(crate) fn own_row(repo: &Repo, task: &str, evidence: &str) -> String {
    let head = &repo.head()[..12];
    format!("| {task} | c | {evidence} @{head} | PASS |\n")
}

#[test]
fn a_verdict_writes_its_row_and_the_next_one_appends() {
    let repo = project();
    for task in ["t1", "t2", "t3"] {
        verdict(&repo, task, "ok");
    }
    let rows: String = ["t1", "t2", "t3"]
        .map(|task| own_row(&repo, task, "ok"))
        .concat();
    assert_eq!(repo.read(VERDICTS), format!("{OWN}{rows}"));
    assert_eq!(ok(&repo, &["render", "--check", "--complete"]), "");
    assert_eq!(ok(&repo, &["reconcile"]), "");
    assert_eq!(ok(&repo, &["render"]), "");
}

#[test]
fn a_row_that_stands_already_is_not_appended_again() {
    let repo = project();
    verdict(&repo, "t0", "ok");
    verdict(&repo, "t1", "ok");
    verdict(&repo, "t1", "other");
    verdict(&repo, "t1", "ok");
    // Typed before it was recorded; kept by a whole rendering.
    let typed = own_row(&repo, "t2", "ok");
    repo.write(VERDICTS, repo.read(VERDICTS) + &typed);
    verdict(&repo, "t3", "ok");
    verdict(&repo, "t2", "ok");
    verdict(&repo, "t4", "ok");
    let text = repo.read(VERDICTS);
    for (task, evidence) in [
        ("t0", "ok"),
        ("t1", "ok"),
        ("t1", "other"),
        ("t2", "ok"),
        ("t3", "ok"),
        ("t4", "ok"),
    ] {
        let row = own_row(&repo, task, evidence);
        assert_eq!(text.matches(row.as_str()).count(), 1, "{row}{text}");
    }
    for _ in 0..2 {
        ok(&repo, &["decide", "DEVIATION", "skipped", "--why", "flaky"]);
    }
    let decisions = repo.read(DECISIONS);
    assert_eq!(decisions.matches("skipped").count(), 1, "{decisions}");
    ok(&repo, &["reconcile"]);
    assert_eq!(ok(&repo, &["render", "--check", "--complete"]), "");
}

#[test]
fn no_view_is_written_where_no_project_is() {
    let repo = Repo::new();
    repo.commit("base");
    verdict(&repo, "t1", "ok");
    assert!(!repo.path().join(".operator").exists());
    ok(&repo, &["render"]);
    assert!(repo.read(".operator/.gitignore").contains("VERDICTS.md"));
    assert_eq!(
        repo.read(VERDICTS),
        format!("{OWN}{}", own_row(&repo, "t1", "ok"))
    );
}

#[test]
fn text_typed_between_two_verdicts_stays_where_it_is() {
    let repo = project();
    verdict(&repo, "t1", "ok");
    let text = repo.read(VERDICTS) + "\n## BAR — mine\n- keep | me\n\nno end";
    repo.write(VERDICTS, &text);
    verdict(&repo, "t2", "ok");
    verdict(&repo, "t3", "ok");
    let rows = own_row(&repo, "t2", "ok") + &own_row(&repo, "t3", "ok");
    assert_eq!(repo.read(VERDICTS), format!("{text}\n{rows}"));
}

#[test]
fn cells_that_would_break_a_row_do_not() {
    let repo = project();
    let evidence =
        "ok | PASS |\n| t2 | forged | x | PASS |\n`a|b` \\| end\r\n<!-- \u{1b}[31m --> | - |";
    ok(&repo, &["task", "t1", "--owner", "S1"]);
    ok(
        &repo,
        &["verdict", "t1", "c|d", evidence, "PASS", "--owner", "S1"],
    );
    let text = repo.read(VERDICTS);
    let line = text.strip_prefix(OWN).unwrap();
    assert_eq!(line.matches('\n').count(), 1, "{line}");
    assert_eq!(line.matches('|').count(), 5, "{line}");
    assert_eq!(ok(&repo, &["render", "--check"]), "");
}

#[test]
fn an_old_project_is_imported_whole_and_once() {
    let repo = project();
    let verdicts = format!(
        "{HDR}{}| t2 | crit with → arrow | out: `3 passed` @abc1234+dirty | FAIL |\n\n## BAR — hand written\n- keep me | as is\n\n{}",
        row("t1"),
        row("t3")
    );
    let decision = "2026-01-02 | scope | DEVIATION | text with | pipes — and → | why\n";
    repo.write(VERDICTS, &verdicts);
    repo.write(DECISIONS, decision);
    repo.write(
        ".operator/verdicts.d/S0.md",
        row("t4").replace('\n', "\r\n") + &row("t1"),
    );
    ok(&repo, &["reconcile"]);
    assert_eq!(repo.read(VERDICTS), format!("{verdicts}{}", row("t4")));
    assert!(
        repo.read(DECISIONS).ends_with(decision),
        "{}",
        repo.read(DECISIONS)
    );
    let log = ok(&repo, &["log"]);
    for task in ["t1", "t2", "t3", "t4"] {
        assert_eq!(log.matches(&format!(" {task}: ")).count(), 1, "{log}");
    }
    assert_eq!(ok(&repo, &["reconcile"]), "");
    assert_eq!(ok(&repo, &["render", "--check", "--complete"]), "");
    let before = (repo.read(VERDICTS), repo.read(DECISIONS));
    for view in [VERDICTS, DECISIONS] {
        fs::remove_file(repo.path().join(view)).unwrap();
    }
    ok(&repo, &["reconcile"]);
    assert_eq!((repo.read(VERDICTS), repo.read(DECISIONS)), before);
}

#[test]
fn deleted_views_come_back_with_their_blocks_in_place() {
    let repo = project();
    verdict(&repo, "t1", "ok");
    let typed = repo
        .read(VERDICTS)
        .replacen(OWN, &format!("{OWN}top\n\n"), 1);
    repo.write(VERDICTS, typed + "\n## BAR — t2\n- [ ] one\n\n");
    verdict(&repo, "t2", "ok");
    ok(&repo, &["reconcile"]);
    ok(
        &repo,
        &[
            "decide",
            "DEVIATION",
            "skipped the cache test",
            "--why",
            "flaky",
        ],
    );
    let ticked = repo.read(VERDICTS).replace("[ ]", "[x]");
    repo.write(VERDICTS, &ticked);
    verdict(&repo, "t3", "ok");
    ok(&repo, &["reconcile"]);
    assert_eq!(ok(&repo, &["reconcile"]), "");
    let before = (repo.read(VERDICTS), repo.read(DECISIONS));
    assert_eq!(before.0, ticked + &own_row(&repo, "t3", "ok"));
    for view in [VERDICTS, DECISIONS] {
        fs::remove_file(repo.path().join(view)).unwrap();
    }
    ok(&repo, &["reconcile"]);
    assert_eq!((repo.read(VERDICTS), repo.read(DECISIONS)), before);
}

#[test]
fn malformed_rows_are_named_and_left_alone() {
    let repo = project();
    verdict(&repo, "t1", "ok");
    let bad = "| t3 | c | e @1234567 | PASS | extra |\n| t4 | c | PASS |\n|t5|c|e|pass|\n";
    let text = repo.read(VERDICTS) + bad;
    repo.write(VERDICTS, &text);
    let output = repo.operator(["reconcile"]).run();
    assert_eq!(output.code, 1);
    assert_eq!(
        output.stderr,
        "warning: .operator/VERDICTS.md:5: it has 5 cells, not 4\n\
         warning: .operator/VERDICTS.md:6: it has 3 cells, not 4\n\
         warning: .operator/VERDICTS.md:7: its last cell is no verdict\n"
    );
    assert_eq!(repo.read(VERDICTS), text);
    assert!(!ok(&repo, &["log"]).contains("t3"));
    let check = repo.operator(["render", "--check"]).run();
    assert_eq!(check.code, 1);
    assert_eq!(
        check.stdout.matches("malformed row").count(),
        3,
        "{}",
        check.stdout
    );
}

#[test]
fn leftover_markers_go_and_every_row_stays() {
    let repo = project();
    verdict(&repo, "t1", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x");
    verdict(&repo, "t2", "ok");
    let clean = repo.read(VERDICTS);
    let second = own_row(&repo, "t2", "ok");
    let marked = clean.replace(
        &second,
        &format!("<<<<<<< HEAD\n=======\n{second}>>>>>>> x\n"),
    );
    repo.write(VERDICTS, marked);
    let check = repo.operator(["render", "--check"]).run();
    assert_eq!(check.code, 1);
    assert_eq!(
        check.stdout.matches("left over from a conflict").count(),
        3,
        "{}",
        check.stdout
    );
    ok(&repo, &["reconcile"]);
    assert_eq!(repo.read(VERDICTS), clean);
}

#[test]
fn a_table_another_tool_formatted_is_the_same_table() {
    let repo = project();
    verdict(&repo, "t1", "ok");
    let clean = repo.read(VERDICTS) + "\ntext  outside\n";
    let padded = clean
        .replace("# VERDICTS", "#  VERDICTS")
        .replace("|---|---|---|---|", "| :--- | ---: | --- | --- |")
        .replace("| t1 | c |", "| t1    | c     |");
    repo.write(
        VERDICTS,
        format!("\u{feff}{}", padded.trim_end().replace('\n', "\r\n")),
    );
    ok(&repo, &["reconcile"]);
    assert_eq!(repo.read(VERDICTS), clean);
    assert_eq!(
        ok(&repo, &["log", "--json"])
            .matches("\"kind\":\"verdict\"")
            .count(),
        1
    );
}

#[test]
fn a_forged_row_is_imported_and_says_so() {
    let repo = project();
    verdict(&repo, "t1", "ok");
    let text = repo.read(VERDICTS) + &row("t9");
    repo.write(VERDICTS, &text);
    let check = repo.operator(["render", "--check"]).run();
    assert_eq!(
        check.stdout,
        ".operator/VERDICTS.md:5: no record backs this row\n"
    );
    assert_eq!(check.code, 1);
    ok(&repo, &["reconcile"]);
    assert_eq!(repo.read(VERDICTS), text);
    let log = ok(&repo, &["log", "--json"]);
    assert_eq!(log.matches("\"class\":\"imported\"").count(), 1, "{log}");
}

#[test]
fn two_clones_that_import_one_file_make_one_ledger() {
    let repo = project();
    repo.write(VERDICTS, format!("{HDR}{}{}", row("a"), row("a")));
    repo.git(["add", "-f", ".operator"]);
    repo.commit_staged("views");
    let other = repo.at(repo.dir().join("other"));
    repo.git(["clone", "-q", ".", "../other"]);
    let ids = |repo: &Repo| {
        ok(repo, &["reconcile"]);
        let log = ok(repo, &["log", "--json"]);
        let mut ids: Vec<String> = log
            .lines()
            .filter(|line| line.contains("imported"))
            .map(|line| line.split("\"id\":\"").nth(1).unwrap()[..42].to_owned())
            .collect();
        ids.sort();
        ids
    };
    let here = ids(&repo);
    assert_eq!(here.len(), 2);
    assert_eq!(here, ids(&other));
}

#[test]
fn rows_of_earlier_versions_come_back_from_history() {
    let repo = project();
    for (tasks, message) in [(&["a", "b"][..], "one"), (&["b"], "two")] {
        let rows: String = tasks.iter().map(|task| row(task)).collect();
        repo.write(VERDICTS, format!("{HDR}{rows}"));
        repo.git(["add", "-f", ".operator"]);
        repo.commit_staged(message);
    }
    ok(&repo, &["reconcile", "--from-history"]);
    assert_eq!(
        repo.read(VERDICTS),
        format!("{HDR}{}{}", row("b"), row("a"))
    );
}

#[test]
fn a_shallow_clone_says_that_older_versions_are_not_there() {
    let repo = project();
    repo.write(VERDICTS, format!("{HDR}{}", row("a")));
    repo.git(["add", "-f", ".operator"]);
    repo.commit_staged("one");
    repo.commit("two");
    let url = format!("file://{}", repo.path().display());
    let clone = repo.at(repo.dir().join("shallow"));
    repo.git([
        "clone",
        "-q",
        "--depth=1",
        &url,
        clone.path().to_str().unwrap(),
    ]);
    let output = clone.operator(["reconcile", "--from-history"]).run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    let told = "warning: this clone is shallow: rows of versions that it lacks are not taken";
    assert!(output.stderr.starts_with(told), "{}", output.stderr);
}

#[test]
fn links_and_directories_in_the_way_are_named() {
    let repo = project();
    let victim = repo.dir().join("victim");
    fs::write(&victim, "keep").unwrap();
    symlink(&victim, repo.path().join(VERDICTS)).unwrap();
    let output = repo.operator(["reconcile"]).run();
    assert_ne!(output.code, 0);
    assert!(
        output.stderr.contains("VERDICTS.md' is a symbolic link"),
        "{}",
        output.stderr
    );
    assert_eq!(fs::read_to_string(&victim).unwrap(), "keep");
    fs::remove_file(repo.path().join(VERDICTS)).unwrap();
    fs::create_dir(repo.path().join(VERDICTS)).unwrap();
    ok(&repo, &["task", "t1", "--owner", "S1"]);
    let output = repo
        .operator(["verdict", "t1", "c", "ok", "PASS", "--owner", "S1"])
        .run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(
        output.stderr.contains("VERDICTS.md' is not a regular file"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_fragment_too_large_or_linked_is_refused_and_the_others_read() {
    let repo = project();
    repo.write(".operator/verdicts.d/a.md", "x".repeat(9 << 20));
    symlink(
        "/etc/hostname",
        repo.path().join(".operator/verdicts.d/b.md"),
    )
    .unwrap();
    repo.write(".operator/verdicts.d/c.md", row("t4"));
    let output = repo.operator(["reconcile"]).run();
    assert_eq!(output.code, 1);
    assert!(
        output.stderr.contains("a.md' is larger than"),
        "{}",
        output.stderr
    );
    assert!(
        output.stderr.contains("b.md' is a symbolic link"),
        "{}",
        output.stderr
    );
    assert_eq!(repo.read(VERDICTS), format!("{OWN}{}", row("t4")));
}

#[test]
fn merges_without_the_driver_are_repaired() {
    let repo = project();
    verdict(&repo, "t0", "ok");
    repo.git(["add", "-f", ".operator"]);
    repo.commit_staged("views");
    repo.branch("x");
    verdict(&repo, "t1", "ok");
    let first = own_row(&repo, "t1", "ok");
    repo.git(["commit", "-qam", "x"]);
    repo.checkout("main");
    verdict(&repo, "t2", "ok");
    let second = own_row(&repo, "t2", "ok");
    repo.git(["commit", "-qam", "main"]);
    let _ = repo.try_git(["merge", "-q", "x"]);
    assert_eq!(ok(&repo, &["reconcile"]).matches("added").count(), 0);
    let text = repo.read(VERDICTS);
    for line in [&first, &second] {
        assert_eq!(text.matches(line.as_str()).count(), 1, "{text}");
    }
    assert!(!text.contains("<<<<<<<"));
    assert_eq!(ok(&repo, &["render", "--check", "--complete"]), "");
}

#[test]
fn many_verdicts_at_once_leave_every_row_once() {
    let repo = project();
    let children: Vec<_> = (0..12)
        .map(|at| {
            let args = ["decide", "DECISION", &format!("d{at}"), "--why", "x"].map(str::to_owned);
            let mut child = repo.operator(args).command().spawn().unwrap();
            drop(child.stdin.take());
            child
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let text = repo.read(DECISIONS);
    for at in 0..12 {
        assert_eq!(text.matches(&format!("| d{at} |")).count(), 1, "{text}");
    }
    assert_eq!(ok(&repo, &["render", "--check", "--complete"]), "");
}

#[test]
fn start_takes_an_old_project_over_and_again_changes_nothing() {
    let repo = project();
    repo.write(VERDICTS, format!("{HDR}{}", row("t1")));
    ok(&repo, &["start", "--hooks", "none"]);
    let log = ok(&repo, &["log", "--json"]);
    assert_eq!(log.matches("\"class\":\"imported\"").count(), 1, "{log}");
    assert_eq!(repo.read(VERDICTS), format!("{HDR}{}", row("t1")));
    assert!(repo.path().join(DECISIONS).exists());
    ok(&repo, &["start", "--hooks", "none"]);
    assert_eq!(ok(&repo, &["log", "--json"]), log);
}

#[test]
fn a_decision_typed_by_hand_blocks_a_stop_until_it_is_presented() {
    let repo = project();
    ok(&repo, &["start", "--hooks", "none"]);
    let typed = "2026-01-02 | s | DEVIATION | [sid:S1] skipped a test | flaky\n";
    let text = repo.read(DECISIONS) + typed;
    repo.write(DECISIONS, &text);
    let payload = format!(
        "{{\"session_id\":\"S1\",\"cwd\":{:?},\"hook_event_name\":\"Stop\",\"stop_hook_active\":false}}",
        repo.path().display().to_string()
    );
    let stop = || repo.operator(["hook", "Stop"]).stdin(&payload).run();
    let refused = stop();
    assert_eq!(refused.code, 2, "{}{}", refused.stdout, refused.stderr);
    assert!(
        refused.stderr.contains("skipped a test"),
        "{}",
        refused.stderr
    );
    assert_eq!(repo.read(DECISIONS), text);
    let output = repo
        .operator(["handoff", "--mark"])
        .env("CLAUDE_CODE_SESSION_ID", "S1")
        .run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(repo.read(DECISIONS).starts_with(&text));
    assert_eq!(stop().code, 0);
}

#[test]
fn a_linked_project_directory_is_named_and_nothing_is_written_behind_it() {
    let repo = Repo::new();
    repo.commit("base");
    let outside = repo.dir().join("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, repo.path().join(".operator")).unwrap();
    let output = repo
        .operator(["decide", "DECISION", "a", "--why", "b"])
        .run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(
        output.stderr.contains(".operator' is a symbolic link"),
        "{}",
        output.stderr
    );
    assert_ne!(repo.operator(["render"]).run().code, 0);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

/// `operator.view=off`: no command writes a view, but the two that are called to.
#[test]
fn no_view_is_written_where_they_are_switched_off() {
    let repo = Repo::new();
    repo.commit("base");
    repo.git(["config", "operator.view", "off"]);
    ok(&repo, &["start", "--hooks", "file"]);
    let views = || [VERDICTS, DECISIONS].map(|view| fs::read(repo.path().join(view)).ok());
    assert_eq!(views(), [None, None]);
    verdict(&repo, "t1", "ok");
    ok(&repo, &["decide", "DECISION", "d", "--why", "w"]);
    ok(&repo, &["handoff", "--mark", "--owner", "S1"]);
    repo.git(["add", "-f", ".operator"]);
    repo.commit_staged("started");
    let payload = format!(
        "{{\"session_id\":\"S1\",\"cwd\":{:?},\"hook_event_name\":\"Stop\",\"stop_hook_active\":false}}",
        repo.path().display().to_string()
    );
    let stop = repo.operator(["hook", "Stop"]).stdin(&payload).run();
    assert_eq!(stop.code, 0, "{}", stop.stderr);
    repo.branch("x");
    repo.commit("c");
    repo.checkout("main");
    repo.commit("d");
    repo.merge("x");
    assert_eq!(views(), [None, None]);
    assert_eq!(ok(&repo, &["doctor"]), "all is well\n");
    // What others committed is taken in and stays as it is.
    let theirs = format!("{HDR}{}\ntheir text", row("t9"));
    repo.write(VERDICTS, &theirs);
    ok(&repo, &["start", "--hooks", "file"]);
    assert_eq!(repo.read(VERDICTS), theirs);
    assert!(ok(&repo, &["log"]).contains("t9: c"));
    ok(&repo, &["start", "--hooks", "file"]);
    assert_eq!(ok(&repo, &["log"]).matches("t9: c").count(), 1);
    fs::remove_file(repo.path().join(VERDICTS)).unwrap();
    // Called by name they write, and the file that is there is not kept up.
    ok(&repo, &["render"]);
    let written = views();
    assert!(written.iter().all(Option::is_some));
    verdict(&repo, "t2", "ok");
    assert_eq!(views(), written);
    ok(&repo, &["reconcile"]);
    assert_ne!(views(), written);
    repo.git(["config", "operator.view", "auto"]);
    verdict(&repo, "t3", "ok");
    assert!(repo.read(VERDICTS).contains("| t3 |"));
    assert_eq!(ok(&repo, &["render", "--check", "--complete"]), "");
}

#[test]
fn a_view_somebody_else_keeps_stays_as_it_is_where_they_are_switched_off() {
    let repo = project();
    repo.git(["config", "operator.view", "off"]);
    let own = format!("{HDR}{}\ntheir text", row("t9"));
    repo.write(VERDICTS, &own);
    repo.operator(["start", "--hooks", "none"]).run();
    verdict(&repo, "t1", "ok");
    assert_eq!(repo.read(VERDICTS), own);
}

/// The first line of a block may be blank; a list of records shows what it says.
#[test]
fn a_block_is_listed_by_its_first_line_of_text() {
    let repo = project();
    verdict(&repo, "t1", "ok");
    let text = repo.read(VERDICTS);
    repo.write(VERDICTS, format!("{text}\n## BAR\n- keep me\n"));
    ok(&repo, &["reconcile"]);
    let log = ok(&repo, &["log", "--kind", "bar", "--format", "%s"]);
    assert_eq!(log, "## BAR\n");
}
