//! Commands run again by whoever verifies.

use git_operator::model::Body;

use super::scene::{Scene, found};

const AGAIN: &[&str] = &["--rerun"];

fn fresh(grade: &str) -> super::scene::Found {
    found(&format!("fresh {grade}"), &[], 0)
}

/// A PASS that needs a file the project ignores.
fn lucky() -> Scene {
    let scene = Scene::new();
    scene.write(".gitignore", "helper\n");
    scene.commit_all("ignore");
    scene.write("helper", "here only\n");
    assert_eq!(scene.run_with(&[], "test -e helper"), 0);
    scene
}

#[test]
fn a_pass_that_needs_an_ignored_file_is_contradicted() {
    let scene = lucky();
    assert_eq!(scene.verify(), fresh("exact"));
    let expected = found("contradicted exact", &[], 1);
    assert_eq!(scene.verify_with(AGAIN), expected);
    // What was found stays found.
    assert_eq!(scene.verify(), expected);
    let report = scene.report(&[]);
    let states: Vec<&str> = report["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["contradicted", "contradicted"]);
    let remedy = "git operator run --isolated T tests -- <command>";
    assert_eq!(report["requirements"][0]["remedy"], remedy);
}

#[test]
fn a_pass_that_holds_is_reproduced_by_a_verdict_of_its_own() {
    let scene = Scene::new();
    scene.run();
    let first = scene.verdict().id;
    assert_eq!(scene.verify_with(AGAIN), fresh("exact"));
    let report = scene.report(&[]);
    assert_eq!(report["requirements"][0]["class"], "reproduced");
    let Body::Verdict(verdict) = scene.verdict().body else {
        panic!("no verdict");
    };
    assert_eq!(verdict.of, Some(first));
    assert_eq!(verdict.class.as_str(), "isolated");
    let shown = scene.operator(["show", scene.verdict().id.short()]).run();
    let repeats = format!("\nRepeats:   {}\n", first.short());
    assert!(shown.stdout.contains(&repeats), "{shown:?}");
    let decisions = scene
        .records()
        .iter()
        .filter(|record| matches!(record.body, Body::Decision(_)))
        .count();
    assert_eq!(
        decisions, 1,
        "only the run itself was on a task nobody opened"
    );
}

#[test]
fn a_commit_that_was_never_tested_is_tested_by_a_rerun() {
    let scene = Scene::new();
    scene.run();
    scene.edit("other", "more");
    assert_eq!(scene.verify(), found("stale", &["other"], 1));
    assert_eq!(scene.verify_with(AGAIN), fresh("exact"));
    let report = scene.report(&[]);
    assert_eq!(report["requirements"][0]["class"], "isolated");
    // The one before was judged too.
    assert_eq!(scene.verify_with(&["HEAD~1"]), fresh("exact"));
}

#[test]
fn requirements_may_ask_for_a_run_that_somebody_repeated() {
    let scene = Scene::new();
    scene.require("{min-class: reproduced, arg: [test, -e, src/lib]}");
    let run = ["run", "T", "tests", "--owner", "S1"];
    assert_eq!(scene.operator(run).run().code, 0);
    assert_eq!(scene.verify(), found("weak-evidence exact", &[], 1));
    let report = scene.report(&[]);
    assert_eq!(
        report["requirements"][0]["remedy"],
        "git operator verify --rerun"
    );
    assert_eq!(scene.verify_with(AGAIN), fresh("exact"));
}

#[test]
fn the_command_run_again_is_the_one_required_and_not_the_one_recorded() {
    let scene = Scene::new();
    scene.require("{}");
    scene.run_with(&[], "true");
    scene.require("{arg: [test, -e, missing]}");
    let report = scene.report(AGAIN);
    assert_eq!(report["requirements"][0]["state"], "failed");
    assert_eq!(report["exit"], 1);
    let Body::Verdict(verdict) = scene.verdict().body else {
        panic!("no verdict");
    };
    assert_eq!(verdict.run.unwrap().argv, ["test", "-e", "missing"]);
}

#[test]
fn an_exempt_criterion_is_not_run_again_and_stays_met() {
    let scene = Scene::new();
    scene.write(
        ".operator/requirements.yaml",
        "version: 1\nrequire: {all: {ref: ['refs/heads/*'], criterion: [tests]}}\n\
         criterion: {tests: {arg: ['false']}}\n\
         exempt: [{criterion: tests, reason: no code, until: 2999-12-31}]\n",
    );
    scene.commit_all("requirements");
    assert_eq!(scene.verify(), found("exempt", &[], 0));
    let report = scene.report(AGAIN);
    assert_eq!(report["exit"], 0);
    assert_eq!(report["verdict"], "satisfied");
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{report:#}");
    assert_eq!(findings[0]["state"], "not-rerun");
    assert_eq!(
        findings[0]["message"],
        "'tests' was not run again: it is exempt"
    );
    assert!(scene.records().is_empty());
}

#[test]
fn what_cannot_be_run_again_is_named_and_is_no_success() {
    let scene = Scene::new();
    let say = |criterion: &str| {
        let args = [
            "verdict",
            "T",
            criterion,
            "looked at it",
            "PASS",
            "--owner",
            "S1",
        ];
        assert_eq!(scene.operator(args).run().code, 0);
    };
    say("review");
    let report = scene.report(AGAIN);
    assert_eq!(report["exit"], 5);
    let words = |report: &serde_json::Value| -> Vec<String> {
        let findings = report["findings"].as_array().unwrap().iter();
        findings
            .map(|one| one["state"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(words(&report), ["vacuous", "not-rerun"]);
    scene.run();
    let report = scene.report(AGAIN);
    assert_eq!(report["exit"], 4);
    assert_eq!(words(&report), ["not-rerun"]);
    assert!(
        report["findings"][0]["message"]
            .as_str()
            .unwrap()
            .starts_with("'review' was not run again: its record names no command"),
        "{report:#}"
    );
}

#[test]
fn a_criterion_without_a_command_is_no_obstacle_where_the_base_says_so() {
    let scene = Scene::new();
    scene.write(
        ".operator/requirements.yaml",
        "version: 1\nrequire: {all: {ref: ['refs/heads/*'], criterion: [tests, review]}}\n\
         criterion: {tests: {arg: [test, -e, src/lib]}, review: {}}\n",
    );
    scene.commit_all("requirements");
    let run = ["run", "T", "tests", "--owner", "S1"];
    assert_eq!(scene.operator(run).run().code, 0);
    let say = ["verdict", "T", "review", "read it", "PASS", "--owner", "S1"];
    assert_eq!(scene.operator(say).run().code, 0);
    let report = scene.report(AGAIN);
    assert_eq!(report["exit"], 0, "{report:#}");
    assert_eq!(report["findings"][0]["severity"], "warning");
    assert_eq!(report["findings"][0]["state"], "not-rerun");
}

#[test]
fn a_sample_is_picked_by_the_job_and_a_wrong_word_is_usage() {
    let scene = Scene::new();
    scene.run();
    let verdicts = |scene: &Scene| {
        let records = scene.records();
        records
            .iter()
            .filter(|record| matches!(record.body, Body::Verdict(_)))
            .count()
    };
    let picked: Vec<bool> = (0..20)
        .map(|job: u32| {
            let before = verdicts(&scene);
            let output = scene
                .verify_command(&["--rerun=sample:50"])
                .env("GITHUB_RUN_ID", job.to_string())
                .run();
            assert_eq!(output.code, 0, "{output:?}");
            verdicts(&scene) > before
        })
        .collect();
    assert!(
        picked.contains(&true) && picked.contains(&false),
        "{picked:?}"
    );
    for word in ["sample:0", "sample:101", "some"] {
        let output = scene.verify_command(&[&format!("--rerun={word}")]).run();
        assert_eq!(output.code, 129, "{output:?}");
    }
}

#[test]
fn what_a_rerun_prints_reaches_no_log_of_the_job() {
    let scene = Scene::new();
    scene.run_with(&[], "echo ::error::evil; echo evil >&2");
    let output = scene.verify_command(&["--rerun", "--format=github"]).run();
    assert_eq!(output.code, 0, "{output:?}");
    // The command itself is named, its output is not.
    assert!(!output.stdout.contains("evil"), "{output:?}");
    let said: Vec<&str> = output.stderr.lines().collect();
    assert!(
        said.iter().all(|line| line.starts_with("tests: ")),
        "{output:?}"
    );
}

#[test]
fn a_tampered_ledger_is_not_built_upon() {
    let scene = Scene::new();
    scene.run();
    let line = scene.verdict().line().replace("PASS", "FAIL");
    scene.forge(&[line]);
    let before = scene.git(["rev-parse", "refs/operator/ledger"]);
    let output = scene.verify_command(AGAIN).run();
    assert_eq!(output.code, 3, "{output:?}");
    assert_eq!(scene.git(["rev-parse", "refs/operator/ledger"]), before);
}

/// A clone as a job makes it: one commit, and the ledger beside it.
pub(super) fn job(scene: &Scene, name: &str) -> Scene {
    let target = scene.dir().join(name);
    let url = format!("file://{}", scene.path().display());
    scene.git(["clone", "-q", "--depth=1", &url, target.to_str().unwrap()]);
    let clone = scene.at(&target);
    clone.git([
        "fetch",
        "-q",
        "--no-tags",
        "origin",
        "+refs/operator/*:refs/operator-remotes/origin/*",
    ]);
    clone
}

#[test]
fn a_job_that_records_goes_on_from_the_ledger_it_fetched() {
    let scene = lucky();
    let clone = job(&scene, "job");
    assert_eq!(clone.verify(), fresh("exact"));
    assert_eq!(
        clone.verify_with(AGAIN),
        found("contradicted exact", &[], 1)
    );
    let fetched = clone.git(["rev-parse", "refs/operator-remotes/origin/ledger"]);
    clone.git([
        "merge-base",
        "--is-ancestor",
        &fetched,
        "refs/operator/ledger",
    ]);
    // A run in such a job does, too.
    let other = job(&scene, "other");
    other.run();
    assert_eq!(other.records().len(), scene.records().len() + 3);
}

#[test]
fn a_merge_queue_needs_the_group_tested_though_each_head_is_fresh() {
    let scene = Scene::new();
    scene.git(["config", "operator.view", "off"]);
    scene.require("{arg: [test, -e, src/lib]}");
    let run = |scene: &Scene, task: &str| {
        let args = ["run", task, "tests", "--owner", "S1"];
        assert_eq!(scene.operator(args).run().code, 0);
        scene.tick();
    };
    let main = scene.head();
    scene.branch("one");
    let one = scene.edit("src/lib", "one");
    run(&scene, "A");
    scene.checkout("main");
    scene.branch("two");
    let two = scene.edit("feature", "two");
    run(&scene, "B");
    scene.checkout("main");
    scene.edit("other", "landed before");
    scene.branch("queue");
    scene.merge("one");
    let group = scene.merge("two");
    let base = format!("--policy-from={main}");
    for head in [&one, &two] {
        assert_eq!(scene.verify_with(&[&base, head]), fresh("exact"));
    }
    let untested = scene.verify_with(&[&base, &group]);
    assert_eq!(untested, found("weak-binding delta", &[], 1));
    assert_eq!(
        scene.verify_with(&[&base, "--rerun", &group]),
        fresh("exact")
    );
    assert_eq!(scene.verify_with(&[&base, &group]), fresh("exact"));
}

#[test]
fn a_required_command_runs_at_the_top_wherever_it_is_called() {
    let scene = Scene::new();
    scene.require("{arg: [test, -e, src/lib]}");
    let run = |scene: &Scene| {
        let run = ["run", "T", "tests", "--owner", "S1"];
        scene.operator(run).run().code
    };
    let below = scene.at(scene.path().join("src"));
    assert_eq!(run(&below), 0);
    assert_eq!(scene.verify(), fresh("exact"));
}
