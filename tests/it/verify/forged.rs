//! Records that say what cannot be true, and ledgers with a hole.

use git_operator::model::{
    Body, Class, Criterion, Draft, Evidence, Opened, Outcome, Owner, Record, RecordId, ReplicaId,
    Seal, Stamp, TaskId, Verdict,
};

use super::scene::{Scene, found};
use crate::support::Repo;

/// Seals a record anew with another verdict: what a writer without scruples makes.
fn resealed(record: &Record, change: impl Fn(&mut Verdict)) -> Record {
    let Body::Verdict(verdict) = &record.body else {
        panic!("{record:?}")
    };
    let mut verdict = verdict.clone();
    change(&mut verdict);
    let mut draft = Draft::new(Body::Verdict(verdict));
    draft.owner = record
        .owner
        .as_deref()
        .map(|owner| Owner::new(owner).unwrap());
    draft.task = record
        .task
        .as_deref()
        .map(|task| TaskId::new(task).unwrap());
    draft.criterion = record
        .criterion
        .as_deref()
        .map(|text| Criterion::new(text).unwrap());
    draft.opened = record.opened;
    draft.after.clone_from(&record.after);
    let seal = Seal {
        time: record.time,
        seq: record.seq,
        replica: record.replica.unwrap_or(ReplicaId::new([1; 8])),
    };
    draft.seal(seal).unwrap()
}

fn lines(records: &[Record], without: RecordId, with: &str) -> Vec<String> {
    let kept = records.iter().filter(|record| record.id != without);
    kept.map(|record| record.line().to_owned())
        .chain((!with.is_empty()).then(|| with.to_owned()))
        .collect()
}

/// Puts a forged record in the place of the newest verdict.
fn replace(scene: &Scene, change: impl Fn(&mut Verdict)) {
    let verdict = scene.verdict();
    let forged = resealed(&verdict, change);
    scene.forge(&lines(&scene.records(), verdict.id, forged.line()));
}

#[test]
fn a_changed_line_is_tampered() {
    let scene = Scene::new();
    scene.run_with(&[], "exit 1");
    let verdict = scene.verdict();
    let line = verdict.line().replace("\"FAIL\"", "\"PASS\"");
    scene.forge(&lines(&scene.records(), verdict.id, &line));
    let report = scene.report(&[]);
    assert_eq!(report["exit"], 3);
    assert_eq!(report["findings"][0]["state"], "tampered");
}

#[test]
fn a_pass_of_a_command_that_failed_is_contradicted() {
    let scene = Scene::new();
    scene.run_with(&[], "exit 1");
    replace(&scene, |verdict| verdict.outcome = Outcome::Pass);
    assert_eq!(scene.verify(), found("contradicted exact", &[], 3));
}

/// Puts other bytes where the ledger keeps what a long output was.
fn exchange_evidence(scene: &Scene) {
    const REF: &str = "refs/operator/evidence";
    let path = scene.git(["ls-tree", "-r", "--name-only", REF]);
    let (dir, name) = path.split_once('/').unwrap();
    scene.write("../forged", "all tests passed\n");
    let blob = scene.git(["hash-object", "-w", "../forged"]);
    let tree = |entry: String| {
        scene.write("../entries", entry);
        let script = "git mktree < ../entries";
        let output = std::process::Command::new("sh")
            .args(["-c", script])
            .current_dir(scene.path())
            .env_clear()
            .envs(scene.env())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let inner = tree(format!("100644 blob {blob}\t{name}\n"));
    let root = tree(format!("040000 tree {inner}\t{dir}\n"));
    let commit = scene.git(["commit-tree", "-p", REF, "-m", "evidence", &root]);
    scene.git(["update-ref", REF, &commit]);
    std::fs::remove_dir_all(scene.path().join(".git/operator")).unwrap();
}

#[test]
fn kept_output_that_is_not_what_the_record_names_is_tampered() {
    let scene = Scene::new();
    scene.run_with(&[], "seq 5000");
    assert_eq!(scene.verify(), found("fresh exact", &[], 0));
    exchange_evidence(&scene);
    let report = scene.report(&[]);
    assert_eq!(report["exit"], 3, "{report:#}");
    assert_eq!(report["findings"][0]["state"], "tampered");
    // What is wrong with a record is wrong in no line of a file; readers of SARIF ask for one.
    let sarif = scene.verify_command(&["--format=sarif"]).run().stdout;
    let sarif: serde_json::Value = serde_json::from_str(&sarif).unwrap();
    for result in sarif["runs"][0]["results"].as_array().unwrap() {
        let place = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert!(place.is_string(), "{sarif:#}");
    }
    let output = scene
        .operator(["log", "--evidence", "--outcome=PASS"])
        .run();
    assert_eq!(output.code, 3, "{output:?}");
    assert!(output.stderr.contains("other bytes"), "{output:?}");
}

/// A criterion's definition names the exit codes that count as success, and nobody else does.
#[test]
fn a_definition_excuses_only_the_exit_codes_it_names() {
    let run = |scene: &Scene| {
        let args = ["run", "T", "tests", "--owner", "S1"];
        scene.operator(args).run().code
    };
    let scene = Scene::new();
    scene.require("{arg: [sh, -c, exit 3]}");
    assert_eq!(run(&scene), 3);
    assert_eq!(scene.verify(), found("failed exact", &[], 1));
    replace(&scene, |verdict| verdict.outcome = Outcome::Pass);
    assert_eq!(scene.verify(), found("contradicted exact", &[], 3));
    // Of another definition nobody here knows what it named.
    scene.require("{arg: [sh, -c, exit 4]}");
    assert_eq!(scene.verify(), found("policy-changed tree", &[], 1));
    scene.git(["rm", "-q", ".operator/requirements.yaml"]);
    scene.commit_staged("no requirements");
    assert_eq!(scene.verify(), found("policy-changed tree", &[], 1));

    let scene = Scene::new();
    scene.require("{arg: [sh, -c, exit 3], ok-exit: [3]}");
    assert_eq!(run(&scene), 3);
    assert_eq!(scene.verify(), found("fresh exact", &[], 0));
}

#[test]
fn a_whole_lie_passes_until_signatures_are_required() {
    let scene = Scene::new();
    scene.run_with(&[], "exit 1");
    replace(&scene, |verdict| {
        verdict.outcome = Outcome::Pass;
        verdict.run.as_mut().unwrap().exit = Some(0);
    });
    assert_eq!(scene.verify(), found("fresh exact", &[], 0));
    scene.write(
        ".operator/requirements.yaml",
        "version: 1\nrequire: {all: {ref: ['refs/heads/*'], criterion: [tests]}}\n\
         criterion: {tests: {}}\nsign: {required: true}\n",
    );
    scene.commit_all("sign");
    assert_eq!(scene.verify(), found("unsigned tree", &[], 1));
}

#[test]
fn a_subject_its_delta_does_not_make_is_forged() {
    let scene = Scene::new();
    scene.dirty("src/lib");
    scene.run();
    scene.edit("other", "evil");
    let tree = scene.git(["rev-parse", "HEAD^{tree}"]).parse().unwrap();
    replace(&scene, |verdict| {
        verdict.subject = Some(tree);
        verdict.run.as_mut().unwrap().after = Some(tree);
    });
    assert_eq!(scene.verify(), found("forged tree", &[], 3));
}

#[test]
fn a_record_that_is_gone_leaves_a_gap() {
    let scene = Scene::new();
    scene.run_with(&[], "exit 1");
    let fail = scene.verdict();
    scene.edit("src/lib", "fixed");
    scene.run();
    scene.forge(&lines(&scene.records(), fail.id, ""));
    let report = scene.report(&[]);
    assert_eq!(report["exit"], 3, "{report:#}");
    assert_eq!(report["findings"][0]["state"], "gap");
}

#[test]
fn a_record_of_another_repository_is_foreign() {
    let scene = Scene::new();
    let elsewhere = Repo::new();
    elsewhere.commit("unrelated");
    let other = Scene::of(elsewhere);
    other.run();
    let theirs = other.verdict();
    let tree = scene.git(["rev-parse", "HEAD^{tree}"]).parse().unwrap();
    let moved = resealed(&theirs, |verdict| {
        verdict.subject = Some(tree);
        verdict.run.as_mut().unwrap().after = Some(tree);
    });
    scene.forge(&[moved.line().to_owned()]);
    let report = scene.report(&[]);
    assert_eq!(report["requirements"][0]["state"], "foreign", "{report:#}");
    assert_eq!(report["exit"], 3);
}

#[test]
fn somebodys_word_is_less_than_a_required_capture() {
    let scene = Scene::new();
    scene.require("{min-class: captured}");
    let head = scene.head();
    let mut draft = Draft::new(Body::Verdict(Box::new(Verdict {
        head: Some(head.parse().unwrap()),
        ..Verdict::new(
            Outcome::Pass,
            Class::Asserted,
            Evidence::of(b"looks fine"),
            format!("@{head}+dirty").parse::<Stamp>().unwrap(),
        )
    })));
    draft.owner = Some(Owner::new("S1").unwrap());
    draft.task = Some(TaskId::new("T").unwrap());
    draft.criterion = Some(Criterion::new("tests").unwrap());
    draft.opened = Opened::Never;
    scene.append(draft);
    let report = scene.report(&[]);
    assert_eq!(report["requirements"][0]["state"], "weak-evidence");
    assert_eq!(report["records"][0]["axes"]["binding"], "dirty-unmatched");
    assert_eq!(report["exit"], 1);
}

#[test]
fn a_killed_run_leaves_an_attempt_and_the_next_one_goes_on() {
    let scene = Scene::new();
    let args = [
        "run",
        "T",
        "tests",
        "--owner",
        "S1",
        "--",
        "sh",
        "-c",
        "echo ready; exec sleep 1000",
    ];
    let mut child = scene.operator(args).command().spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(child.stdout.take().unwrap()),
        &mut line,
    )
    .unwrap();
    assert_eq!(line, "ready\n");
    child.kill().unwrap();
    child.wait().unwrap();
    let report = scene.report(&[]);
    assert_eq!(report["requirements"][0]["state"], "unfinished");
    assert_eq!(report["exit"], 1);
    scene.run();
    assert_eq!(scene.verify(), found("fresh exact", &[], 0));
}

#[test]
fn an_interrupt_is_an_attempt_that_says_so() {
    let scene = Scene::new();
    let args = [
        "run",
        "T",
        "tests",
        "--owner",
        "S1",
        "--",
        "sh",
        "-c",
        "echo ready; exec sleep 1000",
    ];
    let mut child = scene.operator(args).command().spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(child.stdout.take().unwrap()),
        &mut line,
    )
    .unwrap();
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(125));
    let report = scene.report(&[]);
    assert_eq!(report["requirements"][0]["state"], "interrupted");
}
