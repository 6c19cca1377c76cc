//! Each command where there is no repository, no working tree, no commit or no git.

use crate::support::Repo;

/// Commands that work on a repository, each with arguments that make sense.
const COMMANDS: [&[&str]; 30] = [
    &["adopt", "T", "--owner", "S"],
    &["bar", "T"],
    &["decide", "DECISION", "w", "--why", "y"],
    &["defer", "T", "r"],
    &["doctor"],
    &["export"],
    &["gc"],
    &["handoff"],
    &["log"],
    &["log", "HEAD"],
    &["policy", "stats"],
    &["policy", "why"],
    &["reconcile"],
    &["recover"],
    &["redact", "AAAAAAAAAA"],
    &["relink", "a..b"],
    &["render"],
    &["report"],
    &["restore", "--call", "x"],
    &["restore", "x"],
    &["retract", "AAAAAAAAAA", "--why", "y"],
    &["run", "T", "c", "--", "true"],
    &["show", "T"],
    &["spec", "check", "x"],
    &["status"],
    &["sync"],
    &["task", "T"],
    &["verdict", "T", "c", "e", "PASS"],
    &["verify"],
    &["verify", "--rerun"],
];

const HINT: &str = "hint: git init && git operator start\n";

#[test]
fn outside_a_repository_each_command_says_so_and_what_to_do() {
    let repo = Repo::outside();
    let dir = repo.path().display();
    let said =
        format!("error: cannot open a repository in '{dir}': there is none here or above\n{HINT}");
    for args in COMMANDS {
        let output = repo.operator(args).run();
        let fatal = if args[0] == "run" { 125 } else { 128 };
        assert_eq!(output.stderr, said, "{args:?}");
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (fatal, ""),
            "{args:?}"
        );
    }
}

#[test]
fn what_needs_git_says_so_where_the_ledger_is_kept_outside_git() {
    let repo = Repo::outside();
    assert_eq!(repo.operator(["start"]).run().code, 0);
    let dir = repo.path().display();
    let repository = format!(
        "error: cannot open a repository in '{dir}': its ledger is kept outside git\n{HINT}"
    );
    let sync = format!("error: cannot sync: this project's ledger is kept outside git\n{HINT}");
    for (args, said, code) in [
        (&["sync"][..], &sync, 1),
        (&["recover"], &repository, 128),
        (&["restore", "x"], &repository, 128),
        (&["relink", "a..b"], &repository, 128),
        (&["log", "HEAD"], &repository, 128),
        (&["run", "T", "c", "--", "true"], &repository, 125),
    ] {
        let output = repo.operator(args).run();
        assert_eq!((&output.stderr, output.code), (said, code), "{args:?}");
        assert_eq!(output.stdout, "", "{args:?}");
    }
}

#[test]
fn a_bare_repository_and_one_without_a_commit_are_no_panic() {
    let unborn = Repo::new();
    for repo in [&Repo::bare(), &unborn] {
        for args in COMMANDS {
            let output = repo.operator(args).run();
            let known = [0, 1, 4, 5, 125, 128];
            assert!(known.contains(&output.code), "{args:?}: {}", output.code);
            let (out, err) = (&output.stdout, &output.stderr);
            assert!(!err.contains("panic"), "{args:?}: {err}");
            assert!(!out.contains("error:"), "{args:?}: {out}");
            let told = err.lines().filter(|line| line.starts_with("error: "));
            assert!(told.count() <= 1, "{args:?}: {err}");
        }
    }
}
