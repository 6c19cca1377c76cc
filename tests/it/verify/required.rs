//! What is required, and what reports say of it.

use std::fs;

use super::{
    scenarios::{branch_run, moved_main, squash},
    scene::{Found, Scene, found},
};

fn fresh(grade: &str) -> Found {
    found(&format!("fresh {grade}"), &[], 0)
}

#[test]
fn a_file_that_fails_and_then_passes_unchanged_is_flaky() {
    let scene = Scene::new();
    scene.write(".gitignore", "state\n");
    scene.commit_all("ignore");
    let script = "test -e state";
    assert_eq!(scene.run_with(&[], script), 1);
    scene.write("state", "");
    assert_eq!(scene.run_with(&[], script), 0);
    assert_eq!(scene.verify(), found("flaky exact", &[], 1));
    scene.require("{flaky: allow}");
    assert_eq!(scene.verify(), fresh("tree"));
}

#[test]
fn nothing_to_check_is_no_success() {
    let scene = Scene::new();
    assert_eq!(scene.report(&[])["exit"], 5);
    scene.run();
    assert_eq!(scene.report(&["--criterion=typo"])["exit"], 5);
    scene.require("{}");
    assert_eq!(scene.report(&["--ref=refs/tags/v1"])["exit"], 5);
}

#[test]
fn requirements_that_are_no_plain_file_are_not_taken_for_none() {
    let scene = Scene::new();
    scene.run();
    scene.write("rules.yaml", "version: 1\n");
    std::fs::create_dir_all(scene.path().join(".operator")).unwrap();
    let link = scene.path().join(".operator/requirements.yaml");
    std::os::unix::fs::symlink("../rules.yaml", link).unwrap();
    scene.commit_all("a link");
    let output = scene.verify_command(&[]).run();
    assert_eq!(output.code, 4, "{output:?}");
    assert!(output.stderr.contains("it is no plain file"), "{output:?}");
}

#[test]
fn an_absent_ledger_is_told_from_an_empty_one() {
    let scene = Scene::new();
    scene.run();
    scene.edit(
        ".operator/VERDICTS.md",
        "| T | tests | ok @1234567 | PASS |",
    );
    let url = format!("file://{}", scene.path().display());
    let target = scene.dir().join("clone");
    scene.git(["clone", "-q", &url, target.to_str().unwrap()]);
    let clone = scene.at(&target);
    let report = clone.report(&[]);
    assert_eq!(report["exit"], 4);
    let remedy = report["findings"][0]["remedy"].as_str().unwrap();
    assert!(
        remedy.starts_with("git fetch --no-tags origin '+refs/operator/*:"),
        "{remedy}"
    );
}

#[test]
fn a_definition_that_changed_since_is_said_so() {
    let scene = Scene::new();
    scene.require("{arg: [test, -e, src/lib]}");
    let run = scene.operator(["run", "T", "tests", "--owner", "S1"]).run();
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(scene.verify(), fresh("exact"));
    scene.require("{arg: [test, -e, other]}");
    assert_eq!(scene.verify(), found("policy-changed tree", &[], 1));
}

#[test]
fn a_guarded_path_is_reported_beside_fresh_evidence() {
    let scene = Scene::new();
    scene.write(
        ".operator/requirements.yaml",
        "version: 1\nrequire: {all: {ref: ['refs/heads/*'], criterion: [tests]}}\n\
         criterion: {tests: {}}\nguard: [{path: ['tests/**']}]\n",
    );
    scene.commit_all("guard");
    scene.branch("topic");
    scene.edit("tests/t", "weaker");
    scene.run();
    let report = scene.report(&[]);
    assert_eq!(report["requirements"][0]["state"], "fresh");
    assert_eq!(report["findings"][0]["state"], "guarded-path-changed");
    assert_eq!(report["findings"][0]["path"], "tests/t");
    assert_eq!(report["exit"], 1);
}

#[test]
fn a_command_line_that_holds_a_secret_is_not_run() {
    let scene = Scene::new();
    let token = ["ghp", "_abcdefghijklmnopqrstuvwxyz0123456789"].concat();
    let run = |options: &[&str]| {
        let args = ["run", "T", "tests", "--owner", "S1"];
        let command = ["--", "sh", "-c", "echo ok", token.as_str()];
        scene
            .operator([&args[..], options, &command].concat())
            .run()
    };
    let output = run(&[]);
    assert_eq!(output.code, 125, "{output:?}");
    let expected = "error: cannot run the command: its line holds what looks like github-token\n\
                    hint: git operator run --allow-secret …\n";
    assert_eq!(output.stderr, expected);
    assert_eq!(output.stdout, "");
    assert_eq!(scene.records().len(), 0);
    assert_eq!(run(&["--allow-secret"]).code, 0);
    // So is what only the environment knows to be one.
    let output = scene
        .operator(["run", "T", "tests", "--owner", "S1", "--"])
        .args(["sh", "-c", "echo connecting with $DB_PASSWORD"])
        .env("DB_PASSWORD", "correct-horse-battery")
        .run();
    assert_eq!(output.code, 125, "{output:?}");
    assert!(
        output
            .stderr
            .contains("looks like the value of DB_PASSWORD\n"),
        "{output:?}"
    );
    // What it prints is the other way out.
    let output = scene
        .operator(["run", "T", "tests", "--owner", "S1", "--"])
        .args([
            "sh",
            "-c",
            "printf ghp_; echo abcdefghijklmnopqrstuvwxyz0123456789",
        ])
        .run();
    assert_eq!(output.code, 125, "{output:?}");
    assert!(
        output
            .stderr
            .ends_with("\nhint: git operator run --allow-secret …\n"),
        "{output:?}"
    );
}

#[test]
fn what_a_criterion_settles_fails_in_no_report_once_it_is_met() {
    let scene = Scene::new();
    scene.write(
        ".operator/requirements.yaml",
        "version: 1\nrequire: {all: {ref: ['refs/heads/*'], criterion: [tests]}}\n\
         criterion: {tests: {}}\nguard: [{path: ['tests/**'], criterion: tests}]\n",
    );
    scene.commit_all("guard");
    scene.branch("topic");
    scene.edit("tests/t", "more");
    let printed = |format: &str| {
        let output = scene.verify_command(&[&format!("--format={format}")]).run();
        (output.code, output.stdout)
    };
    let (code, text) = printed("github");
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("::error title=guarded-path-changed"),
        "{text}"
    );
    scene.run();
    let (code, text) = printed("github");
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("::warning title=guarded-path-changed"),
        "{text}"
    );
    assert!(!text.contains("::error"), "{text}");
    let (_, text) = printed("junit");
    assert!(!text.contains("<failure"), "{text}");
    let (_, text) = printed("sarif");
    assert!(!text.contains("\"error\""), "{text}");
}

#[test]
fn a_suite_that_lost_tests_has_shrunk() {
    let scene = Scene::new();
    scene.write(".gitignore", "r.xml\n");
    scene.require("{ratchet: true}");
    scene.commit_all("ignore");
    let cases = |count: usize| {
        let cases = "<testcase/>".repeat(count);
        format!("echo '<testsuite>{cases}</testsuite>' > r.xml && test -e r.xml")
    };
    scene.run_with(&["--junit=r.xml"], &cases(5));
    assert_eq!(scene.verify(), fresh("exact"));
    scene.run_with(&["--junit=r.xml"], &cases(4));
    assert_eq!(scene.verify(), found("shrunk exact", &[], 1));
    // Neither counting none, nor asking twice, nor a run that fails lowers what is asked.
    scene.run_with(&[], "test -e r.xml");
    assert_eq!(scene.verify(), found("shrunk exact", &[], 1));
    scene.run_with(&["--junit=r.xml"], &cases(4));
    assert_eq!(scene.verify(), found("shrunk exact", &[], 1));
    scene.edit("other", "more");
    let fails = format!("{} && exit 1", cases(3));
    assert_eq!(scene.run_with(&["--junit=r.xml"], &fails), 1);
    scene.edit("other", "still more");
    scene.run_with(&["--junit=r.xml"], &cases(4));
    assert_eq!(scene.verify(), found("shrunk exact", &[], 1));
    scene.run_with(&["--junit=r.xml"], &cases(5));
    assert_eq!(scene.verify(), fresh("exact"));
}

#[test]
fn a_pipe_that_hides_the_exit_code_is_denied_where_required() {
    let scene = Scene::new();
    assert_eq!(scene.run_with(&[], "false | tail -1"), 0);
    let report = scene.report(&[]);
    assert_eq!(report["requirements"][0]["state"], "fresh");
    assert_eq!(
        report["requirements"][0]["details"][0],
        "taint weak-command"
    );
    scene.require("{}");
    assert_eq!(scene.verify(), found("tainted tree", &[], 1));
}

#[test]
fn old_evidence_expires() {
    let scene = Scene::new();
    scene.require("{max-age: 1d}");
    // The commits of a test, and so its records, are of long ago.
    scene.run();
    assert_eq!(scene.verify(), found("expired exact", &[], 1));
    // One of the future would never grow old.
    let run = |date: String| {
        let args = [
            "run", "T", "tests", "--owner", "S1", "--", "test", "-e", "other",
        ];
        let output = scene.operator(args).env("GIT_COMMITTER_DATE", date).run();
        assert_eq!(output.code, 0, "{output:?}");
    };
    run("@4102444800 +0000".to_owned());
    assert_eq!(scene.verify(), found("expired exact", &[], 1));
    scene.edit("other", "more");
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    run(format!("@{now} +0000"));
    assert_eq!(scene.verify(), fresh("exact"));
}

#[test]
fn a_read_only_repository_gives_the_same_result() {
    let scene = Scene::new();
    branch_run(&scene);
    moved_main(&scene);
    squash(&scene);
    let expected = scene.verify();
    let git = scene.path().join(".git");
    let chmod = |mode: &str| {
        let status = std::process::Command::new("chmod")
            .args(["-R", mode])
            .arg(&git)
            .status();
        assert!(status.unwrap().success());
    };
    let listing = |dir: &std::path::Path| {
        let output = std::process::Command::new("find")
            .arg(dir)
            .args(["-printf", "%p %s %T@\n"])
            .output();
        let mut lines: Vec<String> = String::from_utf8(output.unwrap().stdout)
            .unwrap()
            .lines()
            // git makes an object it would have written young again, wherever it lies.
            .map(|line| match line.contains("/objects/") {
                true => line.rsplit_once(' ').unwrap().0.to_owned(),
                false => line.to_owned(),
            })
            .collect();
        lines.sort();
        lines
    };
    chmod("a-w");
    let before = listing(&git);
    let found = scene.verify();
    let after = listing(&git);
    chmod("u+w");
    assert_eq!(found, expected);
    assert!(after == before);
}

#[test]
fn captured_output_reaches_no_annotation() {
    let scene = Scene::new();
    scene.run_with(&[], "printf '::error::owned\\n\\033[31m'; exit 1");
    let output = scene.verify_command(&["--format=github"]).run();
    assert!(!output.stdout.contains("owned"), "{output:?}");
    assert!(!output.stdout.contains('\u{1b}'));
    assert_eq!(
        output
            .stdout
            .lines()
            .filter(|line| line.starts_with("::"))
            .count(),
        1
    );
}

#[test]
fn in_a_hook_the_index_is_the_commit_that_is_being_made() {
    let scene = Scene::new();
    scene.write("src/lib", "new\n");
    scene.edit("b", "x");
    scene.write("other", "staged, not committed\n");
    scene.git(["add", "other"]);
    scene.write("b", "committed\n");
    let program = env!("CARGO_BIN_EXE_git-operator");
    let hook = scene.path().join(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(
        &hook,
        format!(
            "#!/bin/sh\nexec {program} run T tests --owner S1 --subject=index -- grep committed b\n"
        ),
    )
    .unwrap();
    scene.executable(".git/hooks/pre-commit");
    scene.tick();
    scene.git(["commit", "-q", "-m", "only b", "b"]);
    assert_eq!(scene.verify(), fresh("tree"));
    assert_eq!(scene.git(["diff", "--cached", "--name-only"]), "other");
}

#[test]
fn a_new_test_that_passes_without_the_change_stays_captured() {
    let scene = Scene::new();
    scene.require("{tests: ['tests/**']}");
    scene.branch("topic");
    scene.write("tests/t", "test -e src/lib\n");
    scene.commit_all("test");
    assert_eq!(scene.run_with(&["--control"], "sh tests/t"), 0);
    let report = scene.report(&[]);
    assert_eq!(report["requirements"][0]["class"], "captured");
    assert_eq!(report["requirements"][0]["details"][0], "control-passed");
}

#[test]
fn many_stale_paths_are_few_annotations_and_a_whole_summary() {
    let scene = Scene::new();
    scene.run();
    for at in 0..60 {
        scene.write(format!("many/{at}"), "x");
    }
    scene.commit_all("many");
    let summary = scene.dir().join("summary");
    let output = scene
        .verify_command(&["--format=github"])
        .env("GITHUB_STEP_SUMMARY", &summary)
        .run();
    assert_eq!(output.code, 1);
    assert_eq!(
        output
            .stdout
            .lines()
            .filter(|line| line.starts_with("::error "))
            .count(),
        10
    );
    let summary = fs::read_to_string(summary).unwrap();
    assert_eq!(
        summary
            .lines()
            .filter(|line| line.starts_with("- many/"))
            .count(),
        60
    );
}

#[test]
fn a_guard_is_settled_by_a_criterion_that_nothing_else_asks_for() {
    let scene = Scene::new();
    scene.write(
        ".operator/requirements.yaml",
        "version: 1\nrequire: {all: {ref: ['refs/heads/*'], criterion: [tests]}}\n\
         criterion: {tests: {}, review: {min-class: asserted}}\n\
         guard: [{path: ['tests/**'], criterion: review}]\n",
    );
    scene.commit_all("guard");
    scene.branch("topic");
    scene.write("tests/t", "1\n");
    scene.commit_all("test");
    scene.run();
    let report = scene.report(&["main..topic"]);
    assert_eq!(report["exit"], 1, "{report:#}");
    let states = |report: &serde_json::Value| -> Vec<(String, String)> {
        let word = |one: &serde_json::Value, name: &str| one[name].as_str().unwrap().to_owned();
        let all = report["requirements"].as_array().unwrap().iter();
        all.map(|one| (word(one, "criterion"), word(one, "state")))
            .collect()
    };
    let pair = |one: &str, other: &str| (one.to_owned(), other.to_owned());
    let fresh = pair("tests", "fresh");
    assert_eq!(states(&report), [fresh.clone(), pair("review", "missing")]);
    let review = [
        "verdict",
        "R",
        "review",
        "looked at it",
        "PASS",
        "--owner",
        "S1",
    ];
    assert_eq!(scene.operator(review).run().code, 0);
    let report = scene.report(&["main..topic"]);
    assert_eq!(report["exit"], 0, "{report:#}");
    assert_eq!(states(&report), [fresh, pair("review", "fresh")]);
    // Also where only another criterion is asked for.
    assert_eq!(
        scene.report(&["main..topic", "--criterion", "tests"])["exit"],
        0
    );
}
