//! What happens beside a run: another session in the same tree, and signals.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Child, Command},
};

use nix::{
    errno::Errno,
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::scene::{Scene, found};

fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap())
}

/// Returns the first line of what a child prints.
fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    line.trim().to_owned()
}

/// Makes a pipe outside the tree that a command can wait for.
fn gate(scene: &Scene) -> String {
    let path = scene.home().join("gate");
    let made = Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    path.to_str().unwrap().to_owned()
}

#[test]
fn an_edit_by_another_session_during_the_run_is_mutated_with_its_path() {
    let scene = Scene::new();
    let gate = gate(&scene);
    let script = format!("echo ready; cat '{gate}' >/dev/null");
    let run = ["run", "T", "tests", "--owner", "S1", "--", "sh", "-c"];
    let args = [&run[..], &[&script]].concat();
    let mut child = scene.operator(args).command().spawn().unwrap();
    assert_eq!(first_line(&mut child), "ready");
    // Another session, in the same tree.
    let other = ["task", "U", "--owner", "S2"];
    assert_eq!(scene.operator(other).run().code, 0);
    scene.dirty("other");
    fs::write(&gate, "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(125));
    assert_eq!(scene.verify(), found("mutated", &["other"], 1));
}

#[test]
fn a_terminal_that_closes_ends_the_group_and_is_recorded() {
    for signal in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT] {
        let scene = Scene::new();
        let script = "echo $$; exec sleep 1000";
        let args = [
            "run", "T", "tests", "--owner", "S1", "--", "sh", "-c", script,
        ];
        let mut child = scene.operator(args).command().spawn().unwrap();
        let command = Pid::from_raw(first_line(&mut child).parse().unwrap());
        kill(pid(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(125), "{signal}");
        assert_eq!(kill(command, None), Err(Errno::ESRCH), "{signal}");
        let report = scene.report(&[]);
        assert_eq!(report["requirements"][0]["state"], "interrupted");
        assert_eq!(report["exit"], 1);
    }
}

#[test]
fn a_run_told_to_ignore_the_end_of_its_terminal_goes_on() {
    let scene = Scene::new();
    let gate = gate(&scene);
    let script = format!("echo ready; cat '{gate}' >/dev/null");
    let program = scene.operator(["run"]).command().get_program().to_owned();
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh"])
        .arg(program)
        .args([
            "run", "T", "tests", "--owner", "S1", "--", "sh", "-c", &script,
        ])
        .current_dir(scene.path())
        .env_clear()
        .envs(scene.env())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    assert_eq!(first_line(&mut child), "ready");
    kill(pid(&child), Signal::SIGHUP).unwrap();
    fs::write(&gate, "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(scene.verify(), found("fresh exact", &[], 0));
}

/// An edit of the same size whose times say that nothing happened.
fn disguised(scene: &Scene) {
    scene.git(["config", "core.trustctime", "false"]);
    let path = scene.path().join("other");
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    scene.write("other", "y\n");
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_modified(before).unwrap();
}

#[test]
fn an_edit_that_its_times_disguise_is_found() {
    for options in [&[][..], &["--strict"]] {
        let scene = Scene::new();
        scene.git(["update-index", "-q", "--refresh"]);
        disguised(&scene);
        assert_eq!(scene.run_with(options, "test -e src/lib"), 0);
        let expected = found("dirty-unmatched", &["other"], 1);
        assert_eq!(scene.verify(), expected, "{options:?}");
    }
}

#[test]
fn a_row_of_before_has_its_stamp_and_is_less_than_a_required_run() {
    let scene = Scene::new();
    let row = format!("| T | tests | 12 passed @{}+dirty | PASS |\n", scene.head());
    scene.write(
        ".operator/VERDICTS.md",
        format!(
            "# VERDICTS — append-only. One row per gated task; written only by git-operator.\n\
             | Gate | Criterion | Evidence | PASS/FAIL |\n|---|---|---|---|\n{row}"
        ),
    );
    scene.git(["config", "operator.view", "off"]);
    assert_eq!(scene.operator(["reconcile"]).run().code, 0);
    let report = scene.report(&[]);
    assert_eq!(report["requirements"][0]["class"], "imported");
    assert_eq!(report["requirements"][0]["state"], "weak-evidence");
    assert_eq!(report["records"][0]["axes"]["binding"], "dirty-unmatched");
    assert_eq!(report["exit"], 1);
}

#[test]
fn a_view_that_is_a_link_is_a_finding_and_no_error() {
    let scene = Scene::new();
    scene.run();
    let view = scene.path().join(".operator/VERDICTS.md");
    scene.write(".operator/DECISIONS.md", "");
    std::os::unix::fs::symlink("../other", &view).unwrap();
    let report = scene.report(&[]);
    assert_eq!(report["exit"], 1, "{report:#}");
    let finding = &report["findings"][0];
    assert_eq!(finding["state"], "outside-subject");
    assert_eq!(finding["path"], ".operator/VERDICTS.md");
}

#[test]
fn a_hint_stays_on_its_line_whatever_a_record_says() {
    let scene = Scene::new();
    let words = ["verdict", "T", "q\n::error::pwned", "bad", "FAIL"];
    assert_eq!(
        scene
            .operator([&words[..], &["--owner", "S1"]].concat())
            .run()
            .code,
        0
    );
    let output = scene.verify_command(&["--format=github"]).run();
    for line in output.stdout.lines().chain(output.stderr.lines()) {
        assert!(!line.starts_with("::error::pwned"), "{output:?}");
    }
    assert!(
        output.stderr.contains(r"$'q\n::error::pwned'"),
        "{output:?}"
    );
}

#[test]
fn a_run_says_what_a_verdict_would_say() {
    let scene = Scene::new();
    let run = |words: &[&str]| {
        let args = [words, &["--", "true"]].concat();
        let output = scene.operator(args).run();
        assert_eq!(output.code, 0, "{output:?}");
        output.stderr
    };
    let text = run(&["run", "new", "c", "--owner", "S1"]);
    assert!(
        text.contains("warning: 'new' was never opened; the GATE-EXCEPTION ["),
        "{text}"
    );
    assert_eq!(scene.operator(["task", "o", "--owner", "S2"]).run().code, 0);
    let text = run(&["run", "o", "c", "--owner", ""]);
    let expected = "warning: 'o' is owned by session 'S2'; no session was named here";
    assert!(text.contains(expected), "{text}");
    let text = run(&["run", "o", "c", "--owner", "S2"]);
    assert!(text.contains("warning: 'o' is not open any more"), "{text}");
}

#[test]
fn evidence_that_was_redacted_is_told_as_such() {
    let scene = Scene::new();
    let long = "line of evidence\n".repeat(2_000);
    let say = ["verdict", "T", "tests", "PASS", "--owner", "S1"];
    assert_eq!(scene.operator(say).stdin(long).run().code, 0);
    let id = scene.verdict().id.to_string();
    let redact = ["redact", &id, "--why", "private", "--owner", "S1"];
    assert_eq!(scene.operator(redact).run().code, 0);
    let by = scene.records().last().unwrap().id.short().to_string();
    let output = scene.operator(["log", "--evidence", "-n5"]).run();
    assert_eq!(output.code, 1, "{output:?}");
    let expected = format!("it was redacted by {by}\n");
    assert!(output.stderr.ends_with(&expected), "{output:?}");
}
