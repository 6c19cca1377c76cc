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
        output
            .stdout
            .contains("would create .operator/.gitignore\n"),
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

#[test]
fn a_project_of_the_predecessor_is_taken_in_whole() {
    let repo = Repo::new();
    repo.commit("a");
    let view = "# Engagement Verdicts\n\n| Gate | Criterion | Evidence | PASS/FAIL |\n|---|---|---|---|\n\
        | t1 | c | e @1234567 | PASS |\n\
        | t2 | crit with → arrow | out: `3 passed` @abc1234+dirty | FAIL |\n\
        \n## BAR — hand written\n- keep me | as is\n\n\
        | t3 | c | e @1234567 | PASS |\n";
    repo.write(".operator/VERDICTS.md", view);
    repo.write(
        ".operator/DECISIONS.md",
        "2026-01-02 | scope | DEVIATION | text with | pipes — and → | why\n\
         2026-01-03 | handoff | HANDOFF-MARK | [sid:S0] 2026-01-03T00:00:00Z | handoff presented\n\
         2026-01-04 | scope | DEVIATION | after the mark | why\n",
    );
    repo.write(
        ".operator/verdicts.d/S0.md",
        "| t4 | c | e @1234567 | PASS |\n",
    );
    repo.write(".operator/pending/t5", "session_id: S1\n");
    let first = repo.operator(["start"]).run();
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(
        first.stdout.contains("imported open task 't5'\n"),
        "{}",
        first.stdout
    );
    let written = repo.read(".operator/VERDICTS.md");
    assert!(written.starts_with(view), "{written}");
    assert!(
        written.contains("| t4 | c | e @1234567 | PASS |\n"),
        "{written}"
    );
    let log = repo.operator(["log"]).run().stdout;
    for row in ["t1", "t2", "t3", "t4", "t5", "text with | pipes — and →"] {
        assert!(log.contains(row), "{row}\n{log}");
    }
    let second = repo.operator(["start"]).run();
    assert!(
        second.stdout.lines().all(|line| line.starts_with("kept ")),
        "{}",
        second.stdout
    );
    assert_eq!(repo.read(".operator/VERDICTS.md"), written);
}

#[test]
fn a_ledger_kept_outside_git_is_moved_in() {
    let repo = Repo::outside();
    repo.operator(["start"]).run();
    assert_eq!(repo.operator(["task", "t1", "--owner", "S1"]).run().code, 0);
    repo.git(["init", "-q", "-b", "main"]);
    repo.commit("a");
    let stop = format!(
        r#"{{"session_id":"S9","cwd":"{}","hook_event_name":"Stop"}}"#,
        repo.path().display()
    );
    let refused = repo.operator(["hook"]).stdin(stop).run();
    assert_eq!(refused.code, 2);
    assert!(
        refused
            .stderr
            .contains("'git operator start' moves them in"),
        "{}",
        refused.stderr
    );
    let moved = repo.operator(["start"]).run();
    assert!(
        moved
            .stdout
            .contains("moved in .operator/store.git: 1 records, 1 open tasks\n"),
        "{}",
        moved.stdout
    );
    assert_eq!(
        repo.operator(["verdict", "t1", "c", "ok", "PASS", "--owner", "S1"])
            .run()
            .code,
        0
    );
}

#[test]
fn the_predecessors_scripts_keep_their_codes() {
    let repo = Repo::new();
    repo.commit("a");
    repo.operator(["start"]).run();
    let script = |args: &[&str]| {
        let env = repo.env();
        let there = env
            .iter()
            .find(|(name, _)| name == "PATH")
            .unwrap()
            .1
            .to_str()
            .unwrap();
        let binary = std::path::Path::new(env!("CARGO_BIN_EXE_git-operator"))
            .parent()
            .unwrap();
        let path = format!("{}:{}", binary.display(), there);
        let done = std::process::Command::new("sh")
            .args(args)
            .current_dir(repo.path())
            .env_clear()
            .envs(repo.env())
            .env("PATH", path)
            .output()
            .unwrap();
        done.status.code().unwrap()
    };
    let bin = |name: &str| format!(".operator/bin/ops-{name}.sh");
    assert_eq!(script(&[&bin("task"), "t1", "--owner", "S1"]), 0);
    assert_eq!(
        script(&[
            &bin("verdict"),
            "t1",
            "c",
            "3 passed",
            "PASS",
            "--owner",
            "S1"
        ]),
        0
    );
    assert_eq!(script(&[&bin("task"), "t2", "--owner", "S1"]), 0);
    assert_eq!(script(&[&bin("adopt"), "--owner", "S2", "t2"]), 0);
    assert_eq!(
        script(&[
            &bin("verdict"),
            "t2",
            "--defer",
            "needs a key",
            "--owner",
            "S2"
        ]),
        0
    );
    assert_eq!(script(&[&bin("verdict"), "--reconcile"]), 0);
    assert_eq!(script(&[&bin("task"), "a/b", "--owner", "S1"]), 2);
    assert_eq!(script(&[&bin("adopt"), "--owner", "S2", "nosuch"]), 2);
    assert_eq!(script(&[&bin("verdict"), "t3", "c", "e", "MAYBE"]), 2);
    let view = repo.read(".operator/VERDICTS.md");
    assert_eq!(view.matches("| t1 | c | 3 passed @").count(), 1, "{view}");
}
