use crate::support::Repo;

#[test]
fn each_change_is_printed_once() {
    let repo = Repo::new();
    repo.commit("a");
    let first = repo.operator(["start"]).run();
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(
        first.stdout.contains("created OPERATOR.md\n"),
        "{}",
        first.stdout
    );
    assert!(
        first
            .stdout
            .contains("created config transfer.hideRefs: refs/operator-local\n"),
        "{}",
        first.stdout
    );
    let second = repo.operator(["init"]).run();
    assert!(
        second.stdout.lines().all(|line| line.starts_with("kept ")),
        "{}",
        second.stdout
    );
}

#[test]
fn a_dry_run_changes_nothing() {
    let repo = Repo::new();
    repo.commit("a");
    let output = repo.operator(["start", "--dry-run"]).run();
    assert!(
        output.stdout.contains("created .operator/.gitignore\n"),
        "{}",
        output.stdout
    );
    assert_eq!(repo.git(["status", "--porcelain", "--ignored"]), "");
}

#[test]
fn from_a_subdirectory_the_top_is_set_up_and_named() {
    let repo = Repo::new();
    repo.commit("a");
    repo.write("sub/x", "x");
    let output = repo.at("sub").operator(["start"]).run();
    assert!(
        output
            .stderr
            .contains(&format!("the project's top is '{}'", repo.path().display())),
        "{}",
        output.stderr
    );
    assert!(repo.path().join(".operator/.gitignore").exists());
    assert!(!repo.path().join("sub/.operator").exists());
}

#[test]
fn uninstall_names_what_goes_and_what_stays() {
    let repo = Repo::new();
    repo.commit("a");
    repo.operator(["start"]).run();
    let output = repo.operator(["uninstall"]).run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(
        output.stdout.contains("removed OPERATOR.md\n"),
        "{}",
        output.stdout
    );
    assert!(
        output.stdout.contains("kept .operator: "),
        "{}",
        output.stdout
    );
    assert!(!repo.path().join("CLAUDE.md").exists());
}
