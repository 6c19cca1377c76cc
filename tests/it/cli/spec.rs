use crate::support::Repo;

const PATH: &str = ".operator/specs/stop.md";
const WHOLE: &str = "# stop\n\nStatus: DRAFT\n\n## North star\n\nIt holds.\n\nMissed if: it does not\n\n\
    ## Done criteria\n\n| criterion | decided by |\n|---|---|\n| it blocks | `cargo test` |\n\n\
    ## In scope\n\n- x\n\n## Out of scope\n\nnone\n\n## Open questions\n\nnone\n\n## Constraints\n\nnone\n";

fn started() -> Repo {
    let repo = Repo::new();
    repo.commit("a");
    repo.operator(["start"]).run();
    repo
}

#[test]
fn a_spec_is_made_checked_and_approved() {
    let repo = started();
    repo.operator(["spec", "new", "stop"])
        .stdout(format!("created {PATH}\n"))
        .check();
    repo.operator(["spec", "new", "stop"])
        .stdout(format!("kept {PATH}\n"))
        .check();
    let unfinished = repo.operator(["spec", "check", "stop"]).run();
    assert_eq!(unfinished.code, 1);
    assert!(
        unfinished
            .stdout
            .starts_with("the north star is not said\n")
    );
    let refused = repo.operator(["spec", "approve", "stop"]).run();
    assert_eq!((refused.code, refused.stdout.as_str()), (1, ""));
    assert!(
        refused
            .stderr
            .contains("\nhint: git operator spec check stop\n")
    );

    repo.write(PATH, WHOLE);
    repo.operator(["spec", "check", "stop"])
        .stdout("stop is a draft and lacks nothing\n")
        .check();
    let stamp = &repo.head()[..12];
    let approved = repo
        .operator(["spec", "approve", "stop", "--owner", "S1"])
        .run();
    assert_eq!((approved.code, approved.stderr.as_str()), (0, ""));
    let start = format!("approved stop @{stamp}");
    assert!(approved.stdout.starts_with(&start), "{}", approved.stdout);
    let checked = repo.operator(["spec", "check", "stop"]).run();
    assert!(
        checked
            .stdout
            .starts_with(&format!("stop is approved @{stamp}"))
    );
    let log = repo.operator(["log"]).run().stdout;
    assert!(log.contains("SPEC-APPROVED"), "{log}");
    assert!(log.contains("BAR — spec stop"), "{log}");
    let again = repo.operator(["spec", "approve", "stop"]).run();
    assert!(again.stdout.starts_with("kept stop @"), "{}", again.stdout);

    repo.write(PATH, repo.read(PATH).replace("it blocks", "it may block"));
    repo.operator(["spec", "check", "stop"])
        .stdout("stop says that it is approved, but this text never was\n")
        .exit(1)
        .check();
}

#[test]
fn a_name_that_is_no_slug_and_a_spec_that_is_not_there_are_refused() {
    let repo = started();
    repo.operator(["spec", "new", "../x"])
        .stderr("error: a spec's name cannot contain '.'\n")
        .exit(1)
        .check();
    repo.operator(["spec", "check", "stop"])
        .stderr(format!(
            "error: cannot read the spec 'stop': there is no '{PATH}'\n\
             hint: git operator spec new stop\n"
        ))
        .exit(1)
        .check();
}

#[test]
fn a_project_that_was_not_started_says_how() {
    let repo = Repo::new();
    repo.operator(["spec", "new", "stop"])
        .stderr(
            "error: cannot write the spec 'stop': the project was not started\n\
             hint: git operator start\n",
        )
        .exit(1)
        .check();
    assert!(!repo.path().join(".operator").exists());
}
