//! Who stands behind a record. Keys are made for each test.

use std::{fs, process::Command};

use git_operator::model::{Body, Class, Criterion, Draft, Outcome, Record, Signature, TaskId};

use super::scene::{Scene, found};

/// Makes a key and returns its public half.
fn key(scene: &Scene, name: &str) -> String {
    let path = scene.home().join(name);
    let status = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"])
        .arg(&path)
        .status()
        .unwrap();
    assert!(status.success());
    fs::read_to_string(path.with_extension("pub"))
        .unwrap()
        .trim()
        .to_owned()
}

fn sign_with(scene: &Scene, name: &str) {
    let path = scene.home().join(name);
    scene.git(["config", "gpg.format", "ssh"]);
    scene.git(["config", "user.signingKey", path.to_str().unwrap()]);
}

/// Commits what the base says of signatures.
fn require(scene: &Scene, signers: &str, revoked: &str) {
    scene.write(
        ".operator/requirements.yaml",
        format!(
            "version: 1\nrequire: {{all: {{ref: ['refs/heads/*'], criterion: [tests]}}}}\n\
             criterion: {{tests: {{}}}}\nsign: {{required: true, revoked: [{revoked}]}}\n"
        ),
    );
    if !signers.is_empty() {
        scene.write(".operator/allowed_signers", signers);
    }
    scene.commit_all("signers");
}

fn signed_run(scene: &Scene) {
    assert_eq!(scene.run_with(&["--sign"], "test -e src/lib"), 0);
}

#[test]
fn a_listed_key_is_trusted() {
    let scene = Scene::new();
    let ann = key(&scene, "ann");
    require(
        &scene,
        &format!("ann@example.org namespaces=\"verdict@git-operator\" {ann}\n"),
        "",
    );
    sign_with(&scene, "ann");
    signed_run(&scene);
    assert_eq!(scene.verify(), found("fresh exact", &[], 0));
    let report = scene.report(&[]);
    assert_eq!(
        report["records"][0]["axes"]["principals"][0],
        "ann@example.org"
    );
}

#[test]
fn a_key_that_only_the_change_lists_is_untrusted() {
    let scene = Scene::new();
    let (ann, eve) = (key(&scene, "ann"), key(&scene, "eve"));
    require(&scene, &format!("ann@example.org {ann}\n"), "");
    scene.branch("topic");
    scene.write(
        ".operator/allowed_signers",
        format!("ann@example.org {ann}\neve@example.org {eve}\n"),
    );
    scene.edit("src/lib", "evil");
    sign_with(&scene, "eve");
    signed_run(&scene);
    assert_eq!(scene.verify(), found("untrusted-signer exact", &[], 1));
    let report = scene.report(&[]);
    assert_eq!(report["findings"][0]["state"], "policy-modified");
}

#[test]
fn a_key_listed_for_commits_only_is_untrusted() {
    let scene = Scene::new();
    let ann = key(&scene, "ann");
    require(
        &scene,
        &format!("ann@example.org namespaces=\"git\" {ann}\n"),
        "",
    );
    sign_with(&scene, "ann");
    signed_run(&scene);
    assert_eq!(scene.verify(), found("untrusted-signer exact", &[], 1));
}

#[test]
fn a_revoked_key_is_revoked() {
    let scene = Scene::new();
    let ann = key(&scene, "ann");
    require(
        &scene,
        &format!("ann@example.org {ann}\n"),
        &format!("'{ann}'"),
    );
    sign_with(&scene, "ann");
    signed_run(&scene);
    assert_eq!(scene.verify(), found("key-revoked exact", &[], 1));
}

#[test]
fn an_expired_key_counts_only_for_what_the_base_has_already() {
    let scene = Scene::new();
    let ann = key(&scene, "ann");
    // The records of a test are of January 2026, and the clock of the verifier is later.
    let valid = "valid-after=\"20251201\",valid-before=\"20260201\"";
    require(&scene, &format!("ann@example.org {valid} {ann}\n"), "");
    sign_with(&scene, "ann");
    signed_run(&scene);
    assert_eq!(scene.verify(), found("key-expired exact", &[], 1));
    let head = scene.head();
    let row = format!(
        "| T | tests | sh -c test -e src/lib: exit 0, no output @{} | PASS |",
        &head[..12]
    );
    scene.edit(".operator/VERDICTS.md", &row);
    assert_eq!(scene.verify(), found("fresh tree", &[], 0));
}

#[test]
fn a_criterion_takes_the_signers_it_names() {
    for (pattern, state, exit) in [
        ("*@example.org", "fresh exact", 0),
        ("ann@*", "fresh exact", 0),
        ("*@ci.example.org", "untrusted-signer exact", 1),
        ("ann", "untrusted-signer exact", 1),
    ] {
        let scene = Scene::new();
        let ann = key(&scene, "ann");
        scene.write(
            ".operator/allowed_signers",
            format!("ann@example.org {ann}\n"),
        );
        scene.require(&format!("{{signer: ['{pattern}']}}"));
        // Nothing else asks for signatures: the pattern does.
        scene.run();
        assert_eq!(scene.verify(), found("unsigned exact", &[], 1), "{pattern}");
        sign_with(&scene, "ann");
        signed_run(&scene);
        assert_eq!(scene.verify(), found(state, &[], exit), "{pattern}");
    }
}

#[test]
fn a_task_is_exempt_by_name_and_only_where_its_record_is_signed() {
    let scene = Scene::new();
    let ann = key(&scene, "ann");
    scene.write(
        ".operator/allowed_signers",
        format!("ann@example.org {ann}\n"),
    );
    scene.write(
        ".operator/requirements.yaml",
        "version: 1\nrequire: {all: {ref: ['refs/heads/*'], criterion: [tests]}}\n\
         criterion: {tests: {}, review: {}}\nsign: {required: true}\n\
         exempt: [{criterion: tests, task: docs, reason: no code, until: 2999-12-31}]\n",
    );
    scene.commit_all("requirements");
    let review = |task: &str, sign: &[&str]| {
        let args = ["run", task, "review", "--owner", "S1"];
        let command = ["--", "test", "-e", "other"];
        let args = [&args[..], sign, &command].concat();
        assert_eq!(scene.operator(args).run().code, 0);
        scene.tick();
    };
    assert_eq!(scene.verify(), found("missing", &[], 1));
    review("docs", &[]);
    assert_eq!(scene.verify(), found("missing", &[], 1));
    sign_with(&scene, "ann");
    review("docs", &["--sign"]);
    assert_eq!(scene.verify(), found("exempt", &[], 0));
    // The same commit is another task's work as well, and that one has no exemption.
    review("code", &["--sign"]);
    assert_eq!(scene.verify(), found("missing", &[], 1));
}

/// Says that a run in isolation came to the same, or did not, as anybody could.
fn repetition(scene: &Scene, of: &Record, outcome: Outcome) {
    let Body::Verdict(verdict) = &of.body else {
        panic!("{of:?}")
    };
    let mut verdict = verdict.clone();
    (verdict.of, verdict.class) = (Some(of.id), Class::Isolated);
    verdict.outcome = outcome;
    if let (Outcome::Fail, Some(run)) = (outcome, &mut verdict.run) {
        run.exit = Some(1);
    }
    let mut draft = Draft::new(Body::Verdict(verdict));
    draft.task = Some(TaskId::new("T").unwrap());
    draft.criterion = Some(Criterion::new("tests").unwrap());
    draft.opened = of.opened;
    scene.append(draft);
}

#[test]
fn an_unsigned_repetition_makes_nothing_reproduced_where_signatures_are_asked_for() {
    let scene = Scene::new();
    let ann = key(&scene, "ann");
    scene.write(
        ".operator/allowed_signers",
        format!("ann@example.org {ann}\n"),
    );
    scene.require("{min-class: reproduced, signer: ['ann@*']}");
    sign_with(&scene, "ann");
    signed_run(&scene);
    let first = scene.verdict();
    assert_eq!(scene.verify(), found("weak-evidence exact", &[], 1));
    repetition(&scene, &first, Outcome::Pass);
    assert_eq!(scene.verify(), found("unsigned exact", &[], 1));
    // One who says that it failed needs no key: a doubt is enough to ask again.
    repetition(&scene, &first, Outcome::Fail);
    assert_eq!(scene.report(&[])["exit"], 1);
}

#[test]
fn a_signature_without_a_trust_root_cannot_be_checked_and_none_is_unsigned() {
    let scene = Scene::new();
    key(&scene, "ann");
    require(&scene, "", "");
    scene.run();
    assert_eq!(scene.verify(), found("unsigned exact", &[], 1));
    sign_with(&scene, "ann");
    scene.edit("src/lib", "next");
    signed_run(&scene);
    assert_eq!(scene.verify(), found("sig-unverifiable exact", &[], 4));
}

#[test]
fn without_a_program_to_check_it_a_signature_cannot_be_checked() {
    let scene = Scene::new();
    let ann = key(&scene, "ann");
    require(&scene, &format!("ann@example.org {ann}\n"), "");
    sign_with(&scene, "ann");
    signed_run(&scene);
    scene.git(["config", "gpg.ssh.program", "/nonexistent/ssh-keygen"]);
    assert_eq!(scene.verify(), found("sig-unverifiable exact", &[], 4));
}

/// Signs bytes with ssh-keygen as anybody could, and attaches that to the newest verdict.
fn attach(scene: &Scene, namespace: &str, bytes: &[u8]) {
    let file = scene.home().join("bytes");
    fs::write(&file, bytes).unwrap();
    let status = Command::new("ssh-keygen")
        .args(["-q", "-Y", "sign", "-n", namespace, "-f"])
        .arg(scene.home().join("ann"))
        .arg(&file)
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let armor = fs::read_to_string(scene.home().join("bytes.sig")).unwrap();
    let of = scene.verdict().id;
    scene.append(Draft::new(Body::Signature(Signature {
        of,
        format: "ssh".to_owned(),
        armor,
    })));
}

#[test]
fn a_signature_of_other_bytes_or_of_a_commit_is_forged() {
    for (namespace, other) in [("verdict@git-operator", true), ("git", false)] {
        let scene = Scene::new();
        let ann = key(&scene, "ann");
        require(&scene, &format!("ann@example.org {ann}\n"), "");
        scene.run();
        let line = scene.verdict().line().to_owned();
        let bytes = if other { line.replace("T", "U") } else { line };
        attach(&scene, namespace, bytes.as_bytes());
        assert_eq!(scene.verify(), found("forged exact", &[], 3), "{namespace}");
    }
}

#[test]
fn a_signature_made_later_counts() {
    let scene = Scene::new();
    let ann = key(&scene, "ann");
    require(&scene, &format!("ann@example.org {ann}\n"), "");
    scene.run();
    attach(
        &scene,
        "verdict@git-operator",
        scene.verdict().line().to_owned().as_bytes(),
    );
    assert_eq!(scene.verify(), found("fresh exact", &[], 0));
}

#[test]
fn a_run_that_cannot_be_signed_is_recorded_and_says_so() {
    let scene = Scene::new();
    scene.git(["config", "gpg.format", "ssh"]);
    scene.git(["config", "operator.sign", "true"]);
    let output = scene
        .operator([
            "run", "T", "tests", "--owner", "S1", "--", "test", "-e", "src/lib",
        ])
        .run();
    assert_eq!(output.code, 0);
    assert!(
        output
            .stderr
            .contains("warning: cannot sign the record: user.signingKey is not set\n"),
        "{output:?}"
    );
    assert_eq!(scene.verify(), found("fresh exact", &[], 0));
}

#[test]
fn an_envelope_holds_the_line_and_a_dirty_statement_names_no_commit() {
    use base64::{Engine as _, prelude::BASE64_STANDARD};
    let scene = Scene::new();
    key(&scene, "ann");
    sign_with(&scene, "ann");
    signed_run(&scene);
    let output = scene.operator(["export"]).run();
    let envelope: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let payload = BASE64_STANDARD
        .decode(envelope["payload"].as_str().unwrap())
        .unwrap();
    assert_eq!(String::from_utf8(payload).unwrap(), scene.verdict().line());
    assert_eq!(envelope["signatures"].as_array().unwrap().len(), 1);
    let statement = |scene: &Scene| {
        let id = scene.verdict().id;
        let output = scene
            .operator(["export", "--format=in-toto", id.short()])
            .run();
        serde_json::from_str::<serde_json::Value>(&output.stdout).unwrap()
    };
    let clean = statement(&scene);
    assert_eq!(clean["predicate"]["result"], "PASSED");
    assert_eq!(
        clean["subject"][0]["digest"]["gitTree"],
        scene.git(["rev-parse", "HEAD^{tree}"])
    );
    assert_eq!(clean["subject"][1]["digest"]["gitCommit"], scene.head());
    scene.dirty("src/lib");
    signed_run(&scene);
    assert_eq!(statement(&scene)["subject"].as_array().unwrap().len(), 1);
}

#[test]
fn an_asserted_verdict_is_signed_like_any_other() {
    let scene = Scene::new();
    let ann = key(&scene, "ann");
    scene.write(
        ".operator/requirements.yaml",
        "version: 1\nrequire: {all: {ref: ['refs/heads/*'], criterion: [tests]}}\n\
         criterion: {tests: {min-class: asserted}}\nsign: {required: true}\n",
    );
    let line = format!("ann@example.org namespaces=\"verdict@git-operator\" {ann}\n");
    scene.write(".operator/allowed_signers", line);
    scene.commit_all("signers");
    sign_with(&scene, "ann");
    let say = |options: &[&str]| {
        let words = ["verdict", "T", "tests", "seen", "PASS", "--owner", "S1"];
        scene.operator([&words[..], options].concat()).run()
    };
    assert_eq!(say(&[]).code, 0);
    assert_eq!(scene.verify(), found("unsigned exact", &[], 1));
    assert_eq!(say(&["--sign"]).code, 0);
    assert_eq!(scene.verify(), found("fresh exact", &[], 0));
    scene.git(["config", "operator.sign", "true"]);
    let signatures = || {
        let records = scene.records();
        let is = |record: &&Record| matches!(record.body, Body::Signature(_));
        records.iter().filter(is).count()
    };
    assert_eq!(say(&[]).code, 0);
    assert_eq!(signatures(), 2);
    assert_eq!(say(&["--no-sign"]).code, 0);
    assert_eq!(signatures(), 2);
    // What is recorded stands, and why it is not signed is said.
    fs::remove_file(scene.home().join("ann")).unwrap();
    let unsigned = say(&[]);
    assert_eq!(unsigned.code, 0);
    assert!(
        unsigned
            .stderr
            .contains("warning: cannot sign the record: "),
        "{unsigned:?}"
    );
}
