use super::{lines, said};
use crate::support::Repo;

fn opened(tasks: &[&str]) -> Repo {
    let repo = Repo::new();
    repo.commit("a");
    for task in tasks {
        said(
            &repo.operator(["task", task, "--owner", "S1"]),
            &format!("opened '{task}' for session 'S1'"),
        );
    }
    repo
}

fn is_open(repo: &Repo, task: &str) -> bool {
    lines(repo, &["show", task])[0].starts_with(&format!("task {task} (open"))
}

#[test]
fn a_verdict_closes_its_task_and_carries_the_stamp() {
    let repo = opened(&["T-1", "T-2", "T-3"]);
    let stamp = repo.head()[..12].to_owned();
    for (task, outcome) in [("T-1", "PASS"), ("T-2", "FAIL"), ("T-3", "MOOT")] {
        said(
            &repo.operator([
                "verdict",
                task,
                "suite passes",
                "412 passed",
                outcome,
                "--owner",
                "S1",
            ]),
            &format!("{outcome} '{task}': suite passes @{stamp}"),
        );
        assert!(!is_open(&repo, task));
    }
    repo.operator(["log", "--outcome", "PASS", "--format", "%t|%c|%e|%a|%o"])
        .stdout(format!("T-1|suite passes|412 passed|@{}|S1\n", repo.head()))
        .check();
}

#[test]
fn a_verdict_on_a_dirty_tree_is_stamped_dirty() {
    let repo = opened(&["T"]);
    repo.dirty("a");
    said(
        &repo.operator(["verdict", "T", "c", "e", "PASS", "--owner", "S1"]),
        &format!("PASS 'T': c @{}+dirty", &repo.head()[..12]),
    );
}

#[test]
fn a_verdict_before_the_first_commit_says_so() {
    let repo = Repo::new();
    said(
        &repo.operator(["task", "T", "--owner", "S1"]),
        "opened 'T' for session 'S1'",
    );
    said(
        &repo.operator(["verdict", "T", "c", "e", "PASS", "--owner", "S1"]),
        "PASS 'T': c @no-commit",
    );
}

#[test]
fn evidence_comes_from_a_file_or_stdin_byte_for_byte() {
    let repo = opened(&["file", "stdin", "dash"]);
    let long: Vec<u8> = (0..3_000_000_u32).map(|n| (n * 7 % 251) as u8).collect();
    repo.write("../ev", &long);
    let text = |task| format!("PASS '{task}': c @{}", &repo.head()[..12]);
    let base = ["--owner", "S1"];
    said(
        &repo
            .operator(["verdict", "file", "c", "PASS", "--evidence-file", "../ev"])
            .args(base),
        &text("file"),
    );
    said(
        &repo
            .operator(["verdict", "stdin", "c", "PASS"])
            .args(base)
            .stdin(&long),
        &text("stdin"),
    );
    said(
        &repo
            .operator(["verdict", "dash", "c", "PASS", "--evidence-file", "-"])
            .args(base)
            .stdin(b"\xff\xfe\0"),
        &text("dash"),
    );
    for (task, wanted) in [
        ("file", &long[..]),
        ("stdin", &long),
        ("dash", b"\xff\xfe\0"),
    ] {
        let output = repo
            .operator(["log", "--task", task, "--evidence"])
            .command()
            .output();
        assert!(output.unwrap().stdout == wanted, "{task}");
    }
}

#[test]
fn evidence_that_is_blank_or_too_long_is_refused_and_the_task_stays_open() {
    let repo = opened(&["T"]);
    for evidence in ["", " \n\t", "\u{a0}\u{2003}", "\u{200b}\u{feff}"] {
        repo.operator(["verdict", "T", "c", "PASS", "--owner", "S1"])
            .stdin(evidence)
            .stderr("error: cannot record a verdict for 'T': the evidence is blank\n")
            .exit(1)
            .check();
    }
    let long = vec![b'x'; (16 << 20) + 1];
    let output = repo
        .operator(["verdict", "T", "c", "PASS", "--owner", "S1"])
        .stdin(&long)
        .run();
    assert_eq!(output.code, 1);
    repo.write("../ev", &long);
    let output = repo
        .operator([
            "verdict",
            "T",
            "c",
            "PASS",
            "--owner",
            "S1",
            "--evidence-file",
            "../ev",
        ])
        .run();
    assert_eq!(output.code, 1);
    assert!(is_open(&repo, "T"));
    assert_eq!(lines(&repo, &["log"]).len(), 1);
}

#[test]
fn the_task_of_another_session_is_refused_with_the_line_that_adopts_it() {
    let repo = opened(&["t5"]);
    repo.operator(["verdict", "t5", "c", "ok", "PASS", "--owner", "S2"])
        .stderr(
            "error: cannot record a verdict for 't5': the task is owned by session 'S1'\n\
             hint: git operator adopt --owner S2 t5\n",
        )
        .exit(1)
        .check();
    assert!(is_open(&repo, "t5"));
}

#[test]
fn a_task_that_was_never_opened_gets_an_exception_with_its_verdict() {
    let repo = opened(&[]);
    let output = repo
        .operator(["verdict", "ghost", "c", "ok", "PASS", "--owner", "S1"])
        .run();
    let exception = lines(
        &repo,
        &["log", "--kind", "GATE-EXCEPTION", "--format", "%h"],
    )
    .remove(0);
    assert_eq!(
        output.stderr,
        format!("warning: 'ghost' was never opened; the GATE-EXCEPTION [{exception}] says so\n")
    );
    assert_eq!(output.code, 0);
    assert_eq!(
        repo.git(["rev-list", "--count", "refs/operator/ledger"]),
        "1"
    );
    // Nobody at all is refused: the exception must be somebody's.
    let output = repo
        .operator(["verdict", "ghost2", "c", "ok", "PASS"])
        .run();
    assert_eq!(output.code, 1);
}

#[test]
fn a_second_verdict_amends_the_first() {
    let repo = opened(&["T"]);
    let text = format!("FAIL 'T': c @{}", &repo.head()[..12]);
    said(
        &repo.operator(["verdict", "T", "c", "e", "FAIL", "--owner", "S1"]),
        &text,
    );
    let output = repo
        .operator(["verdict", "T", "c", "e2", "PASS", "--owner", "S1"])
        .run();
    assert_eq!(
        output.stderr,
        "warning: 'T' is not open any more; this amends what was recorded\n"
    );
    assert_eq!(lines(&repo, &["show", "T"])[1], "  PASS      c");
}

#[test]
fn a_verdict_by_nobody_in_particular_closes_an_owned_task_and_says_whose() {
    let repo = opened(&["T"]);
    let output = repo.operator(["verdict", "T", "c", "e", "PASS"]).run();
    assert_eq!(
        (output.code, output.stderr.as_str()),
        (
            0,
            "warning: 'T' is owned by session 'S1'; no session was named here\n"
        )
    );
    assert!(!is_open(&repo, "T"));
}

#[test]
fn evidence_may_begin_with_a_dash() {
    let repo = opened(&["T"]);
    said(
        &repo.operator(["verdict", "T", "c", "-p 2: ok", "PASS", "--owner", "S1"]),
        &format!("PASS 'T': c @{}", &repo.head()[..12]),
    );
    said(
        &repo
            .operator([
                "verdict", "--owner", "S1", "--", "-x", "--c", "--owner", "PASS",
            ])
            .exit(0),
        "",
    );
}

#[test]
fn what_looks_like_a_secret_is_refused_unless_it_is_meant() {
    let repo = opened(&["T"]);
    let key = format!("AKIA{}", "QWERTY7IOPASD2GH");
    let output = repo
        .operator(["verdict", "T", "c", &key, "PASS", "--owner", "S1"])
        .run();
    assert_eq!((output.code, output.stdout.as_str()), (1, ""));
    assert!(!output.stderr.contains(&key));
    assert!(is_open(&repo, "T"));
    said(
        &repo.operator([
            "verdict",
            "T",
            "c",
            &key,
            "PASS",
            "--owner",
            "S1",
            "--allow-secret",
        ]),
        &format!("PASS 'T': c @{}", &repo.head()[..12]),
    );
}

#[test]
fn a_wrong_command_line_records_nothing() {
    let repo = opened(&["T"]);
    for args in [
        &["T", "c", "e", "pass"][..],
        &["T", "c", "e", "OK"],
        &["T", "c"],
        &["T"],
        &[],
        &["T", "c", "e", "PASS", "surplus"],
        &["T", "c", "e", "PASS", "--evidence-file", "x"],
        &["T", "--defer", "r", "--mark-handoff"],
        &["T", "c", "--defer", "r"],
    ] {
        let output = repo.operator(["verdict"]).args(args).run();
        assert_eq!((output.code, output.stdout.as_str()), (129, ""), "{args:?}");
        let output = repo.operator(["verdict", "--compat"]).args(args).run();
        assert_eq!(output.code, 2, "{args:?}");
    }
    let output = repo
        .operator(["verdict", "T", "c", "PASS", "--evidence-file", "no-such"])
        .run();
    assert_eq!(output.code, 128);
    assert_eq!(lines(&repo, &["log"]).len(), 1);
}

#[test]
fn the_predecessors_forms_work() {
    let repo = opened(&["T"]);
    said(
        &repo.operator([
            "verdict",
            "--compat",
            "T",
            "--defer",
            "no network",
            "--owner",
            "S1",
        ]),
        "deferred 'T': no network",
    );
    repo.operator(["verdict", "--compat", "x", "c", "e", "PASS"])
        .stderr(
            "error: cannot record a verdict for 'x': it was never opened, and no session is known\n\
             hint: git operator task x\n",
        )
        .exit(2)
        .check();
    said(
        &repo.operator(["verdict", "--compat", "--mark-handoff", "--owner", "S1"]),
        "marked 0 decisions as presented",
    );
}

#[test]
fn the_ledger_reads_as_an_audit_trail() {
    let repo = opened(&["T"]);
    said(
        &repo.operator(["verdict", "T", "suite passes", "e", "PASS", "--owner", "S1"]),
        &format!("PASS 'T': suite passes @{}", &repo.head()[..12]),
    );
    assert_eq!(
        repo.git(["log", "--format=%s", "refs/operator/ledger"]),
        "verdict PASS T: suite passes\ntask T: opened by S1"
    );
}

#[test]
fn the_roots_of_history_are_looked_for_once() {
    let repo = opened(&["T-1", "T-2", "T-3", "T-4"]);
    let looks = |task: &str| {
        let verdict = ["verdict", task, "c", "e", "PASS", "--owner", "S1"];
        let ran = repo.operator(verdict).env("GIT_TRACE", "1").run();
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stderr.contains("--max-parents=0")
    };
    let recorded = || {
        let shown = repo.operator(["log", "-n", "1", "--json"]).run();
        shown.stdout
    };
    let first = repo.head();
    assert!(looks("T-1"));
    repo.commit("b");
    assert!(!looks("T-2"));
    assert!(
        recorded().contains(&format!("\"repo\":[\"{first}\"]")),
        "{}",
        recorded()
    );
    // A history that begins anew has another root.
    repo.git(["checkout", "-q", "--orphan", "other"]);
    repo.commit("c");
    let second = repo.head();
    assert!(looks("T-3"));
    assert!(recorded().contains(&second), "{}", recorded());
    assert!(!looks("T-4"));
}
