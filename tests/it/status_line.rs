//! The status line segment.

use std::{
    fs,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::support::{Operator, Repo};

fn segment(repo: &Repo, session: Option<&str>) -> Operator {
    let mut payload = json!({"cwd": repo.path(), "model": {"id": "m"}, "workspace": {}});
    if let Some(session) = session {
        payload["session_id"] = json!(session);
    }
    repo.operator(["statusline"])
        .env("NO_COLOR", "1")
        .stdin(payload.to_string())
}

fn task(repo: &Repo, args: &[&str]) {
    assert_eq!(repo.operator(["task"]).args(args).run().code, 0, "{args:?}");
}

/// Two tasks each of S1 and S2, one of nobody.
fn five() -> Repo {
    let repo = Repo::new();
    for number in ["1", "2"] {
        task(&repo, &[&format!("a{number}"), "--owner", "S1"]);
        task(&repo, &[&format!("b{number}"), "--owner", "S2"]);
    }
    task(&repo, &["free"]);
    repo
}

#[test]
fn it_counts_what_blocks_this_session_and_what_is_open_for_others() {
    let repo = five();
    segment(&repo, Some("S1")).stdout("op[3+2*]").check();
    segment(&repo, Some("S2")).stdout("op[3+2*]").check();
    segment(&repo, Some("ZZ")).stdout("op[1+4*]").check();
    segment(&repo, None).stdout("op[1]").check();
    repo.operator(["verdict", "free", "c", "e", "PASS", "--owner", "S1"])
        .run();
    segment(&repo, Some("ZZ")).stdout("op[0+4*]").check();
    segment(&repo, None).check();
}

#[test]
fn nothing_is_shown_when_nothing_is_open() {
    let repo = Repo::new();
    segment(&repo, Some("S1")).check();
    for stdin in ["", "{}", "{", "[]", "null", "\u{feff}{}"] {
        repo.operator(["statusline"]).stdin(stdin).check();
    }
    let outside = Repo::outside();
    segment(&outside, Some("S1")).check();
    outside.write(".git", "gitdir: missing\n");
    segment(&outside, Some("S1")).check();
    assert!(!repo.path().join(".git/operator").exists());
}

#[test]
fn what_blocks_is_red_and_the_rest_is_dim() {
    let repo = five();
    segment(&repo, Some("S1"))
        .env_remove("NO_COLOR")
        .stdout("op[\x1b[31m3\x1b[m\x1b[2m+2*\x1b[m]")
        .check();
}

#[test]
fn decisions_nobody_was_shown_are_counted() {
    let repo = Repo::new();
    for owner in ["S1", "S2", ""] {
        repo.operator(["decide", "DEVIATION", "w", "--why", "y", "--owner", owner])
            .run();
    }
    segment(&repo, Some("S1")).stdout("dev[2]").check();
    task(&repo, &["t", "--owner", "S1"]);
    segment(&repo, Some("S1")).stdout("op[1] dev[2]").check();
    segment(&repo, None).stdout("dev[1]").check();
}

#[test]
fn a_workflow_that_runs_is_shown() {
    let repo = Repo::new();
    let run = repo
        .home()
        .join(".claude/projects/p/S1/subagents/workflows/wf_1");
    fs::create_dir_all(&run).unwrap();
    let line = |kind: &str| format!("{{\"type\":\"{kind}\"}}\n");
    fs::write(
        run.join("journal.jsonl"),
        [line("started"), line("started"), line("result")].concat(),
    )
    .unwrap();
    segment(&repo, Some("S1")).stdout("wf 1/2").check();
    segment(&repo, Some("S2")).check();
}

#[test]
fn every_place_of_the_repository_shows_the_same() {
    let repo = five();
    repo.commit("a");
    repo.write("sub/deep/x", "");
    let linked = repo.worktree("linked");
    segment(&repo.at("sub/deep"), Some("S1"))
        .stdout("op[3+2*]")
        .check();
    segment(&linked, Some("S1")).stdout("op[3+2*]").check();
    let gone = repo.path().join("sub/gone");
    let payload = json!({"cwd": gone, "session_id": "S1"});
    repo.operator(["statusline"])
        .env("NO_COLOR", "1")
        .stdin(payload.to_string())
        .stdout("op[3+2*]")
        .check();
}

#[test]
fn whatever_follows_the_command_is_ignored() {
    let repo = five();
    segment(&repo, Some("S1"))
        .args(["--no-such", "x"])
        .stdout("op[3+2*]")
        .check();
}

#[test]
fn the_real_payloads_are_read() {
    let repo = Repo::new();
    for name in ["statusLine.start.json", "statusLine.after-turn.json"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/payloads")
            .join(name);
        let mut payload: serde_json::Value =
            serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        payload["cwd"] = json!(repo.path());
        let session = payload["session_id"].as_str().unwrap().to_owned();
        repo.operator(["task", name, "--owner", &session]).run();
        let output = repo
            .operator(["statusline"])
            .env("NO_COLOR", "1")
            .stdin(payload.to_string())
            .run();
        assert!(
            output.stdout.starts_with("op["),
            "{name}: {}",
            output.stdout
        );
    }
}

#[test]
fn an_open_pipe_is_not_awaited() {
    let repo = five();
    let mut child = segment(&repo, Some("S1")).command().spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let begun = Instant::now();
    let payload = json!({"cwd": repo.path(), "session_id": "S1"}).to_string();
    std::io::Write::write_all(&mut stdin, payload.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "op[3+2*]");
    assert!(begun.elapsed() < Duration::from_secs(2));
    drop(stdin);
}
