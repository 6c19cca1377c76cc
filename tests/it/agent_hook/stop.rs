use std::fs;

use serde_json::{Value, json};

use super::{hook, payload};
use crate::support::{Output, Repo};

/// The line the user sees of a hook that let pass.
#[track_caller]
fn message(output: &Output) -> String {
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let reply: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(reply.as_object().unwrap().len(), 1);
    reply["systemMessage"].as_str().unwrap().to_owned()
}

#[test]
fn nothing_open_is_silence() {
    let repo = Repo::new();
    for active in [false, true] {
        hook(&repo, "Stop", json!({"stop_hook_active": active})).check();
    }
    assert!(!repo.path().join(".git/operator").exists());
}

#[test]
fn a_repository_that_cannot_be_used_is_named_and_passes() {
    let repo = Repo::outside();
    repo.write(".git", "gitdir: missing\n");
    assert_eq!(
        message(&hook(&repo, "Stop", json!({})).run()),
        format!(
            "git-operator could not check for open tasks, so this turn ends unchecked: \
             cannot open repository '{0}/.git': '{0}/missing' is not there",
            repo.path().display()
        )
    );
}

#[test]
fn a_repository_of_somebody_else_is_named_with_the_command_that_trusts_it() {
    let repo = Repo::new();
    let output = hook(&repo, "Stop", json!({}))
        .env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
        .run();
    let path = repo.path().display().to_string();
    assert_eq!(
        message(&output),
        format!(
            "git-operator could not check for open tasks, so this turn ends unchecked: \
             cannot open repository '{path}': it is owned by another user; \
             run: git config --global --add safe.directory '{path}'"
        )
    );
}

#[test]
fn a_directory_that_is_gone_with_nothing_else_to_go_by_is_said() {
    let repo = Repo::outside();
    let gone = repo.path().join("gone/sub");
    let output = hook(&repo, "Stop", json!({"cwd": gone})).run();
    assert!(message(&output).ends_with(&format!(
        "'{}' is gone and no project is set",
        gone.display()
    )));
}

#[test]
fn the_inherited_environment_of_git_says_nothing_about_the_session() {
    let repo = Repo::new();
    hook(&repo, "Stop", json!({}))
        .env("GIT_DIR", "/no/such")
        .env("GIT_WORK_TREE", "/no/such")
        .check();
}

#[test]
fn a_process_whose_directory_is_gone_still_answers() {
    let repo = Repo::new();
    let gone = repo.path().join("gone");
    fs::create_dir(&gone).unwrap();
    let mut command = std::process::Command::new("sh");
    let program = env!("CARGO_BIN_EXE_git-operator");
    let sent = payload(&repo, "Stop", json!({"cwd": gone}));
    repo.write("payload", sent);
    let output = command
        .args([
            "-c",
            &format!("rmdir ../gone && '{program}' hook <../payload"),
        ])
        .current_dir(&gone)
        .env_clear()
        .envs(repo.env())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// Opens a task of session S1, records an outcome on its criterion `tests`, and returns the record's id.
fn verdict(repo: &Repo, task: &str, outcome: &str) -> String {
    let owner = ["--owner", "S1"];
    repo.operator(["-q", "task", task].into_iter().chain(owner))
        .check();
    let verdict = ["verdict", "--json", task, "tests", "ran them", outcome];
    let line = repo.operator(verdict.into_iter().chain(owner)).run();
    let record: Value = serde_json::from_str(&line.stdout).unwrap();
    record["id"].as_str().unwrap().to_owned()
}

const FAILING: &str = "git-operator: 1 criterion failed again and again: 'tests' of task 'a' \
                       (2 times); ask the people before trying the same once more";

#[test]
fn what_failed_twice_in_a_row_is_reported_when_the_turn_may_end() {
    let repo = Repo::new();
    for task in ["a", "b"] {
        verdict(&repo, task, "FAIL");
    }
    hook(&repo, "Stop", json!({})).check();
    verdict(&repo, "a", "FAIL");
    assert_eq!(message(&hook(&repo, "Stop", json!({})).run()), FAILING);
    hook(&repo, "Stop", json!({"session_id": "S2"})).check();
}

#[test]
fn a_refused_stop_names_what_fails_again_and_again_too() {
    let repo = Repo::new();
    verdict(&repo, "a", "FAIL");
    verdict(&repo, "a", "FAIL");
    repo.operator(["task", "a", "--owner", "S1"]).run();
    let refused = hook(&repo, "Stop", json!({})).run();
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.ends_with(&format!("{FAILING}\n")));
}

#[test]
fn any_other_outcome_ends_the_row_of_failures() {
    for outcome in ["PASS", "MOOT"] {
        let repo = Repo::new();
        for outcome in ["FAIL", "FAIL", outcome] {
            verdict(&repo, "a", outcome);
        }
        hook(&repo, "Stop", json!({})).check();
        verdict(&repo, "a", "FAIL");
        hook(&repo, "Stop", json!({})).check();
    }
}

#[test]
fn a_verdict_taken_back_counts_neither_way() {
    let repo = Repo::new();
    let ids = ["FAIL", "FAIL", "PASS"].map(|outcome| verdict(&repo, "a", outcome));
    let retract = |id: &str| {
        let line = ["retract", id, "--why", "wrong", "--owner", "S1"];
        assert_eq!(repo.operator(line).run().code, 0);
    };
    retract(&ids[2]);
    assert_eq!(message(&hook(&repo, "Stop", json!({})).run()), FAILING);
    retract(&ids[0]);
    hook(&repo, "Stop", json!({})).check();
}
