use crate::support::Repo;

const EMPTY: &str = "# Handoff\n\n## Verdict vs the BAR\n\n- the ledger knows of nothing\n\n\
    ## Banked\n\n- the ledger knows of nothing\n\n## Unverified/open\n\n- the ledger knows of nothing\n\n\
    ## Conditional next steps\n\n- the ledger knows of nothing\n\n## Stop conditions\n\n\
    - the ledger knows of nothing\n\n## Not-doing\n\n- the ledger knows of nothing\n";

#[test]
fn the_six_sections_are_printed_and_written_for_a_person_to_finish() {
    let repo = Repo::new();
    repo.commit("a");
    repo.operator(["start"]).run();
    let path = ".operator/handoff-2026-01-01.md";
    repo.operator(["handoff"])
        .stdout(format!("{EMPTY}\nwritten to {path}\n"))
        .check();
    assert_eq!(repo.read(path), EMPTY);
    assert_eq!(
        repo.try_git(["check-ignore", "-q", path]).status.code(),
        Some(1)
    );
    repo.write(path, "finished");
    repo.operator(["handoff"])
        .stdout(format!(
            "{EMPTY}\nwritten to .operator/handoff-2026-01-01-2.md\n"
        ))
        .check();
    assert_eq!(repo.read(path), "finished");
}

#[test]
fn a_project_that_was_not_started_gets_no_file() {
    let repo = Repo::new();
    repo.commit("a");
    repo.operator(["handoff"]).stdout(EMPTY).check();
    assert!(!repo.path().join(".operator").exists());
}

#[test]
fn a_mark_needs_a_session() {
    let repo = Repo::new();
    repo.commit("a");
    repo.operator(["start"]).run();
    let refused = repo.operator(["handoff", "--mark"]).run();
    assert_eq!((refused.code, refused.stdout.as_str()), (1, ""));
    assert!(
        refused
            .stderr
            .starts_with("error: cannot mark a handoff: no session is known\n")
    );
    let marked = repo
        .operator(["handoff", "--mark", "--engagement", "e1"])
        .env("CLAUDE_CODE_SESSION_ID", "S1")
        .run();
    assert_eq!(marked.code, 0, "{}", marked.stderr);
    assert!(marked.stdout.starts_with("marked ["), "{}", marked.stdout);
    let log = repo.operator(["log"]).run().stdout;
    assert!(log.contains("HANDOFF-MARK"), "{log}");
}
