//! What the gate does at a Stop and over the life of a session.

use git_operator::{
    gate::{self, NewDecision, NewVerdict, Opening, Secrets},
    model::{
        Class, Criterion, DecisionKind, Evidence, Outcome, Owner, Stamp, TaskId, Text, Verdict,
    },
};
use serde_json::{Value, json};

use super::{hook, payload};
use crate::support::{Output, Repo, Site};

fn started() -> Repo {
    let repo = Repo::new();
    repo.commit("a");
    repo.write(".operator/.gitignore", "*\n");
    repo.git(["config", "operator.autoArm", "false"]);
    repo
}

fn open(repo: &Repo, task: &str, owner: Option<&str>) {
    let site = Site::of(repo);
    let owner = owner.map(|owner| Owner::new(owner).unwrap());
    let opened = gate::open(&site.gate(), &TaskId::new(task).unwrap(), owner.as_ref()).unwrap();
    assert!(matches!(opened, Opening::Opened(_)));
}

fn close(repo: &Repo, task: &str, owner: &str) {
    let site = Site::of(repo);
    let new = NewVerdict {
        task: TaskId::new(task).unwrap(),
        criterion: Criterion::new("c").unwrap(),
        owner: Some(Owner::new(owner).unwrap()),
        verdict: Verdict::new(
            Outcome::Pass,
            Class::Asserted,
            Evidence::of(b""),
            Stamp::NoCommit,
        ),
        bytes: b"ok".to_vec(),
        blobs: Vec::new(),
        secrets: Secrets::Refuse,
    };
    gate::record(&site.gate(), new).unwrap();
}

fn stop(repo: &Repo, session: &str) -> Output {
    hook(
        repo,
        "Stop",
        json!({"session_id": session, "stop_hook_active": false}),
    )
    .run()
}

fn context(output: &Output) -> String {
    assert_eq!(output.code, 0, "{}", output.stderr);
    let reply: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(reply["hookSpecificOutput"]["hookEventName"], "SessionStart");
    reply["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_session_nobody_saw_has_no_age_and_a_stop_is_a_sign_of_life() {
    let repo = started();
    open(&repo, "t1", Some("A"));
    let told = start(&repo, "B", "startup");
    assert!(
        told.contains("t1 of session A, of which nothing is known;"),
        "{told}"
    );
    // The client of A never said that it started.
    assert_eq!(stop(&repo, "A").code, 2);
    let told = start(&repo, "B", "startup");
    assert!(told.contains("t1 of session A, last seen "), "{told}");
    assert!(!told.contains(" days ago"), "{told}");
}

#[test]
fn a_date_that_cannot_be_read_opens_no_gate() {
    let repo = started();
    open(&repo, "t1", Some("A"));
    let output = hook(&repo, "Stop", json!({"session_id": "A"}))
        .env("GIT_COMMITTER_DATE", "yesterdayish")
        .run();
    assert_eq!(output.code, 2, "{output:?}");
}

#[test]
fn a_session_that_cannot_be_noted_is_told_what_is_open() {
    let repo = started();
    open(&repo, "t1", Some("A"));
    let sessions = repo.path().join(".git/operator/sessions");
    let _ = std::fs::remove_dir_all(&sessions);
    std::fs::write(&sessions, "").unwrap();
    let told = start(&repo, "A", "startup");
    assert!(told.contains("t1"), "{told}");
    assert!(told.contains("\nSession: cannot "), "{told}");
    let output = hook(&repo, "UserPromptSubmit", json!({"session_id": "A"})).run();
    assert_eq!(
        (output.code, output.stdout.as_str(), output.stderr.as_str()),
        (0, "", "")
    );
    // A refusal that cannot be counted would never end.
    let output = stop(&repo, "A");
    assert_eq!(output.code, 0);
    assert!(output.stdout.contains("ends unchecked"), "{output:?}");
}

fn start(repo: &Repo, session: &str, source: &str) -> String {
    context(
        &hook(
            repo,
            "SessionStart",
            json!({"session_id": session, "source": source}),
        )
        .run(),
    )
}

#[test]
fn an_open_task_blocks_until_its_verdict() {
    let repo = started();
    open(&repo, "t1", Some("S1"));
    let refused = stop(&repo, "S1");
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    let top = repo.path().display();
    for line in [
        "1 task is open:\n- t1\n".to_owned(),
        format!("git -C {top} operator verdict --owner S1 t1 '<criterion>' '<evidence>' PASS"),
        format!("git -C {top} operator defer --owner S1 t1 '<reason>'"),
    ] {
        assert!(refused.stderr.contains(&line), "{line}\n{}", refused.stderr);
    }
    close(&repo, "t1", "S1");
    hook(&repo, "Stop", json!({"stop_hook_active": true})).check();
}

#[test]
fn seven_refusals_then_a_loud_release_with_a_record() {
    let repo = started();
    open(&repo, "t1", Some("S1"));
    for _ in 0..7 {
        assert_eq!(stop(&repo, "S1").code, 2);
    }
    let released = stop(&repo, "S1");
    assert_eq!((released.code, released.stderr.as_str()), (0, ""));
    let reply: Value = serde_json::from_str(&released.stdout).unwrap();
    let text = reply["systemMessage"].as_str().unwrap();
    assert!(
        text.contains(
            "LET THIS TURN END UNRESOLVED after 7 refusals: 1 task without a verdict: 't1'"
        ),
        "{text}"
    );
    assert_eq!(stop(&repo, "S1").code, 0);
    let log = repo.operator(["log", "--kind", "session"]).run().stdout;
    assert_eq!(log.matches("released").count(), 1, "{log}");
    open(&repo, "t2", Some("S1"));
    assert_eq!(stop(&repo, "S1").code, 2);
}

#[test]
fn another_sessions_task_is_told_and_never_blocks() {
    let repo = started();
    open(&repo, "t1", Some("S2"));
    let passed = stop(&repo, "S1");
    assert_eq!(passed.code, 0);
    let reply: Value = serde_json::from_str(&passed.stdout).unwrap();
    assert_eq!(
        reply["systemMessage"],
        "git-operator: 1 task of another session is open here: 't1' (S2)"
    );
}

#[test]
fn nobodys_task_blocks_everybody() {
    let repo = started();
    open(&repo, "free", None);
    for session in ["S1", "S2"] {
        let refused = stop(&repo, session);
        assert_eq!(refused.code, 2);
        assert!(
            refused
                .stderr
                .contains("free (nobody's: it blocks every session)"),
            "{}",
            refused.stderr
        );
    }
}

#[test]
fn an_unreadable_payload_counts_every_task_of_this_worktree() {
    let repo = started();
    open(&repo, "t1", Some("S1"));
    for text in [
        "",
        "{",
        "[]",
        "null",
        "{\"session_id\":5}",
        "{}",
        "{\"session_id\":\"\"}",
    ] {
        let refused = repo.operator(["hook", "Stop"]).stdin(text).run();
        assert_eq!(refused.code, 2, "{text}");
        assert!(
            refused.stderr.contains("payload unreadable: "),
            "{}",
            refused.stderr
        );
    }
    close(&repo, "t1", "S1");
    let passed = repo.operator(["hook", "Stop"]).stdin("{").run();
    assert_eq!((passed.code, passed.stderr.lines().count()), (0, 1));
}

#[test]
fn a_broken_repository_is_no_refusal_and_forgets_nothing() {
    let repo = started();
    open(&repo, "t1", Some("S1"));
    let head = repo.read(".git/HEAD");
    repo.write(".git/HEAD", "garbage\n");
    let passed = stop(&repo, "S1");
    assert_eq!(passed.code, 0);
    assert!(
        passed.stdout.contains("could not check for open tasks"),
        "{}",
        passed.stdout
    );
    repo.write(".git/HEAD", head);
    assert_eq!(stop(&repo, "S1").code, 2);
}

#[test]
fn without_a_git_a_stop_passes_and_says_so() {
    let repo = started();
    open(&repo, "t1", Some("S1"));
    let passed = hook(&repo, "Stop", json!({})).env("PATH", "/nowhere").run();
    assert_eq!(passed.code, 0);
    assert!(
        passed.stdout.contains("there is no git on PATH"),
        "{}",
        passed.stdout
    );
    assert_eq!(stop(&repo, "S1").code, 2);
}

#[test]
fn decisions_that_nobody_presented_block_and_are_named() {
    let repo = started();
    let site = Site::of(&repo);
    let decide = |owner: &str| {
        let new = NewDecision {
            kind: DecisionKind::Deviation,
            scope: "t1".to_owned(),
            what: Text::new("decision", "skipped the \u{1b}[2J cache").unwrap(),
            why: Text::new("reason", "flaky").unwrap(),
            owner: Owner::new(owner).ok(),
        };
        gate::decide(&site.gate(), new).unwrap();
    };
    decide("S2");
    assert_eq!(stop(&repo, "S1").code, 0);
    decide("S1");
    let refused = stop(&repo, "S1");
    assert_eq!(refused.code, 2);
    assert!(
        refused
            .stderr
            .contains("1 decision was not presented to the people:\n- DEVIATION t1: skipped the"),
        "{}",
        refused.stderr
    );
    assert!(!refused.stderr.contains('\u{1b}'));
    gate::mark_handoff(&site.gate(), Owner::new("S1").ok().as_ref(), "handoff").unwrap();
    assert_eq!(stop(&repo, "S1").code, 0);
}

#[test]
fn work_in_the_background_is_waited_for() {
    let repo = started();
    open(&repo, "t1", Some("S1"));
    let with = |kind: &str| {
        let tasks = json!([{"id": "b1", "type": kind, "status": "running"}]);
        hook(&repo, "Stop", json!({"background_tasks": tasks}))
            .run()
            .code
    };
    assert_eq!([with("subagent"), with("subagent")], [0, 0]);
    assert_eq!([with("shell"), with("shell")], [0, 2]);
}

#[test]
fn every_directory_of_the_project_gives_the_same_answer() {
    let repo = started();
    std::fs::create_dir_all(repo.path().join("p/q")).unwrap();
    open(&repo, "t1", Some("S1"));
    for dir in ["", "p", "p/q", "gone/x"] {
        let cwd = repo.path().join(dir);
        assert_eq!(
            hook(&repo, "Stop", json!({"cwd": cwd})).run().code,
            2,
            "{dir}"
        );
    }
    let linked = repo.worktree("w");
    assert_eq!(hook(&linked, "Stop", json!({})).run().code, 2);
}

#[test]
fn two_stops_at_once_are_one_refusal() {
    let repo = started();
    open(&repo, "t1", Some("S1"));
    for _ in 0..7 {
        std::thread::scope(|scope| {
            let commands: Vec<_> = (0..2).map(|_| hook(&repo, "Stop", json!({}))).collect();
            for command in commands {
                let mut child = command.command();
                let sent = payload(&repo, "Stop", json!({}));
                scope.spawn(move || {
                    use std::io::Write as _;
                    let mut child = child
                        .stdin(std::process::Stdio::piped())
                        .stderr(std::process::Stdio::null())
                        .spawn()
                        .unwrap();
                    child.stdin.take().unwrap().write_all(&sent).unwrap();
                    child.wait().unwrap()
                });
            }
        });
    }
    // Fourteen Stops, at most fourteen refusals counted; the eighth counted one would be released.
    let log = repo.operator(["log", "--kind", "session"]).run().stdout;
    assert!(log.matches("released").count() <= 1, "{log}");
}

#[test]
fn a_subagents_stop_never_blocks() {
    let repo = started();
    open(&repo, "t1", Some("S1"));
    hook(
        &repo,
        "SubagentStop",
        json!({"agent_id": "a9", "agent_type": ""}),
    )
    .check();
    assert_eq!(stop(&repo, "S1").code, 2);
}

#[test]
fn a_new_session_is_told_what_it_can_take_over() {
    let repo = started();
    start(&repo, "OLD", "startup");
    open(&repo, "release candidate", Some("OLD"));
    let told = start(&repo, "NEW", "clear");
    assert!(told.contains("Session id: NEW"), "{told}");
    assert!(
        told.contains(&format!(
            "git -C {} operator adopt --owner NEW 'release candidate'",
            repo.path().display()
        )),
        "{told}"
    );
    assert_eq!((stop(&repo, "NEW").code, stop(&repo, "NEW2").code), (0, 0));
    let site = Site::of(&repo);
    gate::adopt(
        &site.gate(),
        &[TaskId::new("release candidate").unwrap()],
        &Owner::new("NEW").unwrap(),
    )
    .unwrap();
    assert_eq!((stop(&repo, "NEW").code, stop(&repo, "OLD").code), (2, 0));
}

#[test]
fn an_end_with_open_tasks_is_recorded_and_told() {
    let repo = started();
    start(&repo, "S1", "startup");
    open(&repo, "t1", Some("S1"));
    hook(&repo, "SessionEnd", json!({"reason": "other"})).check();
    let told = start(&repo, "S2", "startup");
    assert!(told.contains("t1 of session S1, which ended"), "{told}");
    assert!(
        told.contains("Session S1 ended with open tasks: t1"),
        "{told}"
    );
    let log = repo.operator(["log", "--kind", "session"]).run().stdout;
    assert!(log.contains("ended"), "{log}");
}

#[test]
fn a_project_that_was_never_started_hears_nothing_and_gets_nothing() {
    let repo = Repo::new();
    repo.commit("a");
    repo.dirty("x");
    repo.dirty("y");
    for event in [
        "SessionStart",
        "UserPromptSubmit",
        "Stop",
        "PreCompact",
        "SubagentStop",
        "SessionEnd",
    ] {
        hook(&repo, event, json!({"source": "startup"})).check();
    }
    assert!(!repo.path().join(".git/operator").exists());
    assert!(!repo.path().join(".operator").exists());
}

#[test]
fn a_session_that_changed_two_files_is_asked_for_a_task_once() {
    let repo = started();
    repo.git(["config", "operator.autoArm", "true"]);
    repo.dirty("before");
    start(&repo, "S1", "startup");
    repo.dirty("one");
    assert_eq!(stop(&repo, "S1").code, 0);
    repo.dirty("dir/two");
    let refused = stop(&repo, "S1");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("- autobar-"), "{}", refused.stderr);
    let task = refused
        .stderr
        .lines()
        .find_map(|line| line.strip_prefix("- "))
        .unwrap()
        .to_owned();
    close(&repo, &task, "S1");
    repo.dirty("three");
    assert_eq!(stop(&repo, "S1").code, 0);
}

#[test]
fn a_decision_typed_by_hand_is_asked_for() {
    let repo = started();
    repo.write(
        ".operator/DECISIONS.md",
        "2026-01-02 | t1 | DEVIATION | presented long ago | why\n\
         2026-01-03 | handoff | HANDOFF-MARK | [sid:S1] 2026-01-03T00:00:00Z | handoff presented\n\
         2026-01-04 | t1 | DEVIATION | [sid:S1] typed by hand | why\n",
    );
    let refused = stop(&repo, "S1");
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains(
            "1 decision was not presented to the people:\n- DEVIATION t1: typed by hand\n"
        ),
        "{}",
        refused.stderr
    );
    assert_eq!(stop(&repo, "S2").code, 0);
    let site = Site::of(&repo);
    gate::mark_handoff(&site.gate(), Owner::new("S1").ok().as_ref(), "handoff").unwrap();
    assert_eq!(stop(&repo, "S1").code, 0);
}
