//! The arrangement itself holds what it promises.

use crate::support::Repo;

#[test]
fn each_commit_is_a_minute_after_the_last() {
    let repo = Repo::new();
    repo.commit("a");
    repo.branch("topic");
    repo.commit("b");
    repo.checkout("main");
    repo.merge("topic");
    assert_eq!(
        repo.git(["log", "--format=%ct %s", "--date-order"]),
        "1767225780 merge topic\n1767225720 b\n1767225660 a"
    );
}

#[test]
fn a_repository_is_blind_to_the_machine() {
    let repo = Repo::new();
    let origins = repo.git(["config", "--list", "--show-origin", "--name-only"]);
    let home = format!("file:{}", repo.home().display());
    for line in origins.lines() {
        assert!(
            line.starts_with(&home) || line.starts_with("file:.git/config"),
            "{line}"
        );
    }
}

#[test]
fn a_worktree_stands_beside_its_repository() {
    let repo = Repo::new();
    repo.commit("a");
    let linked = repo.worktree("wt");
    linked.dirty("a");
    assert_eq!(linked.read("a"), "a\ndirty\n");
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    assert_eq!(linked.git(["status", "--porcelain"]), " M a");
}

#[test]
fn what_is_not_expected_of_a_run_must_be_empty() {
    let repo = Repo::outside();
    let output = repo.operator(["no-such-command"]).run();
    let same = repo
        .operator(["no-such-command"])
        .stdout(output.stdout.clone())
        .stderr(output.stderr.clone())
        .exit(output.code);
    assert_eq!(same.check(), output);
    let wrong = same.exit(output.code + 1);
    assert!(std::panic::catch_unwind(move || wrong.check()).is_err());
}

#[test]
fn repositories_come_in_every_format() {
    if let Some(repo) = Repo::sha256() {
        assert_eq!(repo.commit("a").len(), 64);
    }
    if let Some(repo) = Repo::reftable() {
        repo.commit("a");
        assert!(!repo.path().join(".git/refs/heads/main").exists());
    }
    assert_eq!(
        Repo::bare().git(["rev-parse", "--is-bare-repository"]),
        "true"
    );
}

#[test]
fn a_run_can_be_given_another_place_environment_and_input() {
    let repo = Repo::outside();
    let run = repo
        .operator(["no-such-command"])
        .cwd(repo.home())
        .env("GIT_DIR", "/dev/null")
        .env_remove("GIT_DIR")
        .stdin("ignored");
    assert_ne!(run.run().code, 0);
    let text = format!("{:?}", run.command());
    assert!(
        text.contains("home") && !text.contains("/dev/null"),
        "{text}"
    );
}
