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
    let output = scene.operator(["relink", &format!("{base}..main")]).run();
    assert_eq!(
        output.stdout,
        format!("{} -> {} same source\n", &tip[..12], &squashed[..12])
    );
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

/// A clone as a job makes it, with the event of a pull request from `topic` to `main`.
fn job(scene: &Scene, head: &str, base: &str) -> (Scene, std::path::PathBuf) {
    let url = format!("file://{}", scene.path().display());
    let target = scene.dir().join(format!("job-{}", &head[..8]));
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

    // A PASS of another source proves nothing about this one.
    let replayed = scene.edit("src/lib", "never tested");
    let (code, text) = play(&scene, &replayed, &base);
    assert_ne!(code, 0, "{text}");
}
