//! Views, rewritten history, and the job of a pull request, as people meet them.

use super::scene::{Scene, found};

fn run_task(scene: &Scene, task: &str) {
    let args = [
        "run", task, "tests", "--owner", "S1", "--", "test", "-e", "src/lib",
    ];
    let output = scene.operator(args).run();
    scene.tick();
    assert_eq!(output.code, 0, "{output:?}");
}

#[test]
fn a_verdict_of_a_run_is_in_the_view_at_once() {
    let scene = Scene::new();
    scene.write(".operator/.gitignore", "");
    scene.run();
    let head = scene.head();
    let row = format!(
        "| T | tests | sh -c test -e src/lib: exit 0, no output @{} | PASS |\n",
        &head[..12]
    );
    assert!(scene.read(".operator/VERDICTS.md").ends_with(&row));
    assert_eq!(scene.verify(), found("fresh exact", &[], 0));
}

fn states(scene: &Scene, args: &[&str]) -> Vec<(String, String, usize)> {
    let report = scene.report(args);
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .map(|one| {
            let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
            let line = one["line"].as_u64().unwrap_or(0);
            (text("state"), text("path"), usize::try_from(line).unwrap())
        })
        .collect()
}

#[test]
fn rows_without_a_record_malformed_rows_and_markers_are_named_by_line() {
    let scene = Scene::new();
    scene.run();
    let row = format!(
        "| T | tests | sh -c test -e src/lib: exit 0, no output @{} | PASS |",
        &scene.head()[..12]
    );
    scene.write(
        ".operator/VERDICTS.md",
        format!(
            "# VERDICTS — append-only. One row per gated task; written only by git-operator.\n\
             | Gate | Criterion | Evidence | PASS/FAIL |\n|---|---|---|---|\n{row}\n\
             | t9 | tests | made up @1234567 | PASS |\n\
             | t3 | c | e @1234567 | PASS | extra |\n<<<<<<< HEAD\n"
        ),
    );
    let path = ".operator/VERDICTS.md".to_owned();
    let expected = [("unbacked", 5), ("malformed", 6), ("marker", 7)];
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(word, line)| (word.to_owned(), path.clone(), line))
        .collect();
    assert_eq!(states(&scene, &[]), expected);
    assert_eq!(scene.verify(), found("fresh exact", &[], 1));
}

#[test]
fn heads_that_disagree_are_contested() {
    let scene = Scene::new();
    scene.run();
    let store = scene.store();
    let pass = store.load().unwrap();
    drop(store);
    // Another clone, which knew nothing of the first verdict, says the contrary.
    let url = format!("file://{}", scene.path().display());
    let target = scene.dir().join("clone");
    scene.git(["clone", "-q", &url, target.to_str().unwrap()]);
    let clone = scene.at(&target);
    assert_eq!(clone.run_with(&[], "exit 1"), 1);
    clone.git([
        "fetch",
        "-q",
        "origin",
        "+refs/operator/*:refs/operator-remotes/origin/*",
    ]);
    let mut lines: Vec<String> = clone
        .records()
        .iter()
        .map(|one| one.line().to_owned())
        .collect();
    lines.extend(pass.iter().map(|one| one.line().to_owned()));
    clone.forge(&lines);
    let found = clone.verify();
    // Each clone opened the task by itself, so both verdicts stand.
    assert_eq!((found.state.as_str(), found.exit), ("contested exact", 1));
}

#[test]
fn a_squash_merge_loses_no_record_and_relink_ties_what_it_can() {
    let scene = Scene::new();
    let base = scene.head();
    scene.branch("f");
    scene.edit("f1", "one");
    run_task(&scene, "t1");
    scene.edit("f2", "two");
    run_task(&scene, "t2");
    let tip = scene.head();
    scene.checkout("main");
    scene.git(["merge", "-q", "--squash", "f"]);
    let squashed = scene.commit_staged("squashed");
    let range = format!("{base}..main");
    let pair = format!("{} -> {} same source\n", &tip[..12], &squashed[..12]);
    let count = scene.records().len();
    let foretold = scene.operator(["relink", "--dry-run", &range]).run();
    assert_eq!(
        (foretold.stdout.as_str(), foretold.stderr.as_str()),
        (pair.as_str(), "nothing was recorded\n")
    );
    assert_eq!(scene.records().len(), count);
    let output = scene.operator(["relink", &range]).run();
    assert_eq!(output.stdout, pair);
    scene.git(["branch", "-qD", "f"]);
    scene.git(["reflog", "expire", "--expire=now", "--all"]);
    scene.git(["gc", "-q", "--prune=now"]);
    assert_eq!(scene.verify(), found("fresh tree", &[], 0));
    let report = scene.report(&[]);
    let states: Vec<_> = report["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["task"].as_str().unwrap(),
                one["axes"]["binding"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(states, [("t1", "unknown-commit"), ("t2", "fresh")]);
    let again = scene.operator(["relink", &format!("{base}..main")]).run();
    assert_eq!(
        (again.stdout.as_str(), again.stderr.as_str()),
        ("", "nothing to relink\n")
    );
}

#[test]
fn relink_knows_a_rebased_commit_by_its_patch() {
    let scene = Scene::new();
    let base = scene.head();
    scene.branch("topic");
    let old = scene.edit("src/lib", "at the end");
    scene.run();
    scene.checkout("main");
    let text = scene.read("src/lib").replace("one\n", "ONE\n");
    scene.write("src/lib", text);
    scene.commit_all("moved");
    scene.checkout("topic");
    scene.tick();
    scene.git(["rebase", "-q", "main"]);
    let output = scene.operator(["relink", &format!("{base}..HEAD")]).run();
    let expected = format!("{} -> {} same patch\n", &old[..12], &scene.head()[..12]);
    assert_eq!(output.stdout, expected, "{output:?}");
}

/// How often git was started for `verify`, by way of a git of ours that counts.
pub(super) fn children(scene: &Scene, args: &[&str]) -> usize {
    let dir = scene.home().join("counting");
    let count = scene.home().join("count");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(&count, "").unwrap();
    let path = crate::support::path_variable();
    let script = format!(
        "#!/bin/sh\necho \"$*\" >>'{}'\nPATH='{}' exec git \"$@\"\n",
        count.display(),
        path.to_str().unwrap()
    );
    let git = dir.join("git");
    std::fs::write(&git, script).unwrap();
    scene.at(&dir).executable("git");
    let path = format!("{}:{}", dir.display(), path.to_str().unwrap());
    let output = scene.verify_command(args).env("PATH", path).run();
    assert!(output.code < 6, "{output:?}");
    std::fs::read_to_string(&count).unwrap().lines().count()
}

#[test]
fn verify_starts_git_for_nothing_that_ids_tell_and_seldom_for_more() {
    let scene = Scene::new();
    scene.git(["config", "operator.view", "off"]);
    for number in 0..30 {
        scene.edit("src/lib", &format!("line {number}"));
        scene.run();
    }
    assert_eq!(children(&scene, &[]), 0);
    // Stale: nothing to merge.
    scene.edit("other", "more");
    assert_eq!(children(&scene, &[]), 0);
    // Made elsewhere, on branches that are gone: roots, merges, and no text that nobody asked for.
    for number in 0..30 {
        let name = format!("topic{number}");
        scene.branch(&name);
        scene.edit("src/lib", &name);
        scene.run();
        scene.checkout("main");
    }
    assert_eq!(children(&scene, &[]), 1);
}

/// A clone as a job makes it, with the event of a pull request from `topic` to `main`.
fn job(scene: &Scene, head: &str, base: &str) -> (Scene, std::path::PathBuf) {
    let url = format!("file://{}", scene.path().display());
    let target = scene.dir().join(format!("job-{}", &head[..8]));
    let _ = std::fs::remove_dir_all(&target);
    scene.git(["init", "-q", target.to_str().unwrap()]);
    let clone = scene.at(&target);
    clone.git(["remote", "add", "origin", &url]);
    clone.git([
        "fetch",
        "-q",
        "--no-tags",
        "--depth=1",
        "origin",
        head,
        base,
    ]);
    clone.git([
        "fetch",
        "-q",
        "--no-tags",
        "origin",
        "+refs/operator/*:refs/operator-remotes/origin/*",
    ]);
    clone.git(["checkout", "-q", head]);
    let event = target.with_extension("json");
    let text = format!(
        r#"{{"pull_request":{{"head":{{"sha":"{head}"}},"base":{{"sha":"{base}","ref":"main"}}}}}}"#
    );
    std::fs::write(&event, text).unwrap();
    (clone, event)
}

fn play(scene: &Scene, head: &str, base: &str) -> (i32, String) {
    let (clone, event) = job(scene, head, base);
    let output = clone
        .verify_command(&["--format=github"])
        .env("GITHUB_EVENT_PATH", &event)
        .run();
    (output.code, output.stdout)
}

#[test]
fn the_job_of_a_pull_request_judges_its_head_at_depth_one() {
    let scene = Scene::new();
    scene.git(["config", "uploadpack.allowAnySHA1InWant", "true"]);
    scene.require("{arg: [test, -e, src/lib]}");
    let base = scene.head();
    scene.branch("topic");
    let head = scene.edit("src/lib", "feature");
    let run = |scene: &Scene| {
        scene
            .operator(["run", "T", "tests", "--owner", "S1"])
            .run()
            .code
    };
    assert_eq!(run(&scene), 0);
    assert_eq!(
        play(&scene, &head, &base),
        (0, "git-operator: satisfied (exit 0)\n".to_owned())
    );

    // The merge a host makes for a pull request carries the change and was never tested itself.
    scene.checkout("main");
    let moved = scene.edit("other", "main moved");
    let merge = scene.merge("topic");
    let (code, text) = play(&scene, &merge, &moved);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("title=tests%3A weak-binding delta"), "{text}");

    // A change that weakens the requirements is judged by the base's.
    scene.checkout("topic");
    scene.write(
        ".operator/requirements.yaml",
        "version: 1\nrequire: {all: {ref: ['refs/heads/*'], criterion: [tests]}}\n\
         criterion: {tests: {arg: ['true']}}\n",
    );
    let weak = scene.edit("src/lib", "weaker");
    assert_eq!(run(&scene), 0);
    let (code, text) = play(&scene, &weak, &base);
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("title=tests%3A policy-changed exact"),
        "{text}"
    );
    assert!(text.contains("::warning title=policy-modified"), "{text}");

    // Naming the commit does not change whose rules apply: the job says what the base is.
    let (clone, event) = job(&scene, &weak, &base);
    let output = clone
        .verify_command(&["--format=github", &weak])
        .env("GITHUB_EVENT_PATH", &event)
        .run();
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.stdout.contains("policy-changed exact"), "{output:?}");

    // A PASS of another source proves nothing about this one.
    let replayed = scene.edit("src/lib", "never tested");
    let (code, text) = play(&scene, &replayed, &base);
    assert_ne!(code, 0, "{text}");
}

#[test]
fn the_job_of_a_push_to_the_landing_branch_judges_it_by_what_was_there_before() {
    let scene = Scene::new();
    scene.require("{arg: [test, -e, src/lib]}");
    let before = scene.head();
    scene.write(
        ".operator/requirements.yaml",
        "version: 1\nrequire: {all: {ref: ['refs/heads/*'], criterion: [tests]}}\n\
         criterion: {tests: {arg: ['true']}}\n",
    );
    let weak = scene.edit("src/lib", "weaker");
    let run = ["run", "T", "tests", "--owner", "S1"];
    assert_eq!(scene.operator(run).run().code, 0);
    let (clone, event) = job(&scene, &weak, &before);
    let verify = |before: &str| {
        let text = format!(r#"{{"ref":"refs/heads/main","before":"{before}","after":"{weak}"}}"#);
        std::fs::write(&event, text).unwrap();
        let command = clone.verify_command(&["--format=github"]);
        command.env("GITHUB_EVENT_PATH", &event).run()
    };
    clone.git(["fetch", "-q", "--unshallow", "origin"]);
    let judged = verify(&before);
    assert_eq!(judged.code, 1, "{judged:?}");
    assert!(judged.stdout.contains("policy-changed exact"), "{judged:?}");
    assert!(judged.stdout.contains("policy-modified"), "{judged:?}");
    // A new branch was nothing before; what was there and is not here cannot be judged by.
    let new = verify(&"0".repeat(40));
    assert!(!new.stdout.contains("policy-modified"), "{new:?}");
    let absent = verify(&"1".repeat(40));
    assert_eq!((absent.code, absent.stdout.as_str()), (4, ""), "{absent:?}");
}

/// A clone that has the branch `topic` alone, with the ledger.
fn alone(scene: &Scene, name: &str, options: &[&str]) -> Scene {
    let url = format!("file://{}", scene.path().display());
    let target = scene.dir().join(name);
    let words = ["clone", "-q", "--single-branch", "-b", "topic"];
    let places = [url.as_str(), target.to_str().unwrap()];
    scene.git([&words[..], options, &places].concat());
    let clone = scene.at(&target);
    let ledger = "+refs/operator/*:refs/operator-remotes/origin/*";
    clone.git(["fetch", "-q", "--no-tags", "origin", ledger]);
    clone
}

/// What `verify` says of the base it judges by: its exit code, and what to run.
fn of_the_base(clone: &Scene, args: &[&str]) -> (i32, Option<String>) {
    let report = clone.report(args);
    let findings = report["findings"].as_array().unwrap();
    let unproven = findings
        .iter()
        .find(|one| one["state"] == "policy-unproven");
    let code = i32::try_from(report["exit"].as_i64().unwrap()).unwrap();
    let remedy = |one: &serde_json::Value| one["remedy"].as_str().unwrap_or_default().to_owned();
    (code, unproven.map(remedy))
}

#[test]
fn requirements_of_the_commit_itself_prove_nothing_where_its_base_is_not_here() {
    let scene = Scene::new();
    scene.require("{arg: [test, -e, src/lib]}");
    let base = scene.head();
    scene.branch("topic");
    scene.require("{min-class: asserted}");
    let weak = ["verdict", "T", "tests", "fine", "PASS", "--owner", "S1"];
    assert_eq!(scene.operator(weak).run().code, 0);
    // With the base: its requirements are not met.
    assert_eq!(of_the_base(&scene, &[]), (1, None));
    scene.checkout("main");
    for (name, options) in [("shallow", &["--depth=1"][..]), ("whole", &[])] {
        let clone = alone(&scene, name, options);
        let (code, remedy) = of_the_base(&clone, &[]);
        assert_eq!(code, 4, "{name}");
        // What it says helps.
        let status = std::process::Command::new("sh")
            .args(["-c", &remedy.unwrap()])
            .current_dir(clone.path())
            .env_clear()
            .envs(clone.env())
            .status();
        assert!(status.unwrap().success(), "{name}");
        assert_eq!(of_the_base(&clone, &[]), (1, None), "{name}");
    }
    let clone = alone(&scene, "given", &[]);
    assert_eq!(of_the_base(&clone, &["--policy-from", &base]), (1, None));
    // A detached HEAD is no proof, either.
    let clone = alone(&scene, "detached", &[]);
    clone.git(["checkout", "-q", "--detach"]);
    let (code, remedy) = of_the_base(&clone, &[]);
    assert_eq!((code, remedy.is_some()), (5, true));
    // Nor what another push to the same branch left there.
    let clone = alone(&scene, "pushed", &[]);
    let event = clone.path().with_extension("json");
    let text = |name: &str| {
        let before = clone.git(["rev-parse", "HEAD~1"]);
        format!(
            r#"{{"ref":"refs/heads/{name}","before":"{before}","after":"x","repository":{{"default_branch":"main"}}}}"#
        )
    };
    for (name, expected) in [("topic", 4), ("main", 1)] {
        std::fs::write(&event, text(name)).unwrap();
        let command = clone.verify_command(&[]).env("GITHUB_EVENT_PATH", &event);
        assert_eq!(command.run().code, expected, "{name}");
    }
    // Nor are requirements that were taken away.
    scene.checkout("topic");
    scene.git(["rm", "-q", ".operator/requirements.yaml"]);
    scene.commit_all("none");
    scene.checkout("main");
    let clone = alone(&scene, "none", &[]);
    assert_eq!(of_the_base(&clone, &[]).0, 4);
}

#[test]
fn a_branch_is_judged_by_where_it_lands_though_another_is_checked_out() {
    let scene = Scene::new();
    scene.require("{arg: [test, -e, src/lib]}");
    scene.branch("topic");
    scene.require("{min-class: asserted}");
    let weak = ["verdict", "T", "tests", "fine", "PASS", "--owner", "S1"];
    assert_eq!(scene.operator(weak).run().code, 0);
    scene.checkout("main");
    assert_eq!(of_the_base(&scene, &["topic"]), (1, None));
}

#[test]
fn a_project_without_rules_or_remotes_needs_no_base() {
    let scene = Scene::new();
    scene.git(["branch", "-q", "-m", "trunk"]);
    scene.require("{min-class: asserted}");
    scene.run();
    assert_eq!(of_the_base(&scene, &[]), (0, None));
    let scene = Scene::new();
    scene.branch("topic");
    scene.run();
    scene.checkout("main");
    let clone = alone(&scene, "clone", &[]);
    assert_eq!(of_the_base(&clone, &[]), (0, None));
}

#[test]
fn what_a_job_was_not_given_is_named_with_the_fetch_that_brings_it() {
    let scene = Scene::new();
    scene.git(["config", "uploadpack.allowAnySHA1InWant", "true"]);
    scene.require("{arg: [test, -e, src/lib]}");
    let base = scene.head();
    scene.branch("topic");
    scene.edit("src/lib", "feature");
    let run = ["run", "T", "tests", "--owner", "S1"];
    assert_eq!(scene.operator(run).run().code, 0);
    scene.checkout("main");
    let clone = alone(&scene, "clone", &["--depth=1"]);
    clone.git(["remote", "rename", "origin", "up"]);
    let said = |args: &[&str]| {
        let output = clone.verify_command(args).run();
        (output.code, output.stderr)
    };
    for args in [&["--policy-from", &base][..], &[&format!("{base}..HEAD")]] {
        let (code, text) = said(args);
        assert_eq!(code, 4, "{text}");
        let expected = format!(
            "error: cannot judge '{base}': this clone was not given it\n\
             hint: git fetch --no-tags --depth=1 up {base}\n"
        );
        assert_eq!(text, expected);
    }
    assert_eq!(
        said(&["HEAD~1..HEAD"]),
        (
            4,
            "error: cannot judge 'HEAD~1': this clone was not given it\n\
             hint: git fetch --unshallow up\n"
                .to_owned()
        )
    );
    clone.git(["fetch", "-q", "--no-tags", "--depth=1", "up", &base]);
    assert_eq!(said(&["--policy-from", &base]).0, 0);
}

/// The last step of the job that `start --ci gitlab` writes.
fn gitlab_script() -> String {
    let template = include_str!("../../../templates/ci-gitlab.yml");
    let lines = template
        .lines()
        .skip_while(|line| *line != "    - |")
        .skip(1);
    lines
        .map_while(|line| line.strip_prefix("      "))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn the_job_of_gitlab_asks_for_what_the_branch_requires_today() {
    let scene = Scene::new();
    let old = scene.head();
    scene.require("{arg: [test, -e, src/lib]}");
    // A change that starts where nothing was required yet.
    scene.git(["checkout", "-q", "-b", "topic", &old]);
    let head = scene.edit("src/lib", "feature");
    let play = |scene: &Scene, name: &str| {
        let url = format!("file://{}", scene.path().display());
        let target = scene.dir().join(name);
        scene.git(["clone", "-q", &url, target.to_str().unwrap()]);
        let clone = scene.at(&target);
        clone.git([
            "fetch",
            "-q",
            "origin",
            "+refs/operator/*:refs/operator-remotes/origin/*",
        ]);
        let output = std::process::Command::new("sh")
            .args(["-ec", &gitlab_script()])
            .current_dir(&target)
            .env_clear()
            .envs(clone.env())
            .env("CI_COMMIT_SHA", &head)
            .env("CI_MERGE_REQUEST_DIFF_BASE_SHA", &old)
            .env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (
            output.status.code(),
            text + &String::from_utf8_lossy(&output.stderr),
        )
    };
    let word = ["verdict", "T", "tests", "ok", "PASS", "--owner", "S1"];
    assert_eq!(scene.operator(word).run().code, 0);
    let (code, text) = play(&scene, "word");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("tests: weak-evidence exact"), "{text}");
    scene.run_with(&[], "true");
    let (code, text) = play(&scene, "other");
    assert_eq!(code, Some(1), "{text}");
    let run = [
        "run", "T", "tests", "--owner", "S1", "--", "test", "-e", "src/lib",
    ];
    assert_eq!(scene.operator(run).run().code, 0);
    let (code, text) = play(&scene, "run");
    assert_eq!(code, Some(0), "{text}");
    assert!(scene.dir().join("run/evidence.xml").exists());
}
