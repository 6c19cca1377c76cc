//! One file per event; what all events have in common here.

mod gate;
pub(crate) mod policy;
mod policy_events;
mod policy_faults;
mod policy_kept;
mod policy_seen;
mod shorten;
mod stop;

use std::{
    fs,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{Operator, Repo};

/// A payload of `event` for session S1 in the repository's directory, with more members.
pub(crate) fn payload(repo: &Repo, event: &str, more: Value) -> Vec<u8> {
    let mut payload = json!({
        "session_id": "S1",
        "transcript_path": "/tmp/t.jsonl",
        "cwd": repo.path(),
        "permission_mode": "default",
        "hook_event_name": event,
    });
    for (name, value) in more.as_object().unwrap() {
        payload[name] = value.clone();
    }
    serde_json::to_vec(&payload).unwrap()
}

/// The hook `event` of session S1, sent as the client does: its name in the payload alone.
pub(crate) fn hook(repo: &Repo, event: &str, more: Value) -> Operator {
    repo.operator(["hook"]).stdin(payload(repo, event, more))
}

#[test]
fn every_real_payload_is_let_pass_outside_a_project() {
    let repo = Repo::outside();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/payloads");
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with("env.") || name.starts_with("statusLine.") {
            continue;
        }
        let mut value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        value["cwd"] = json!(repo.path());
        repo.operator(["hook"]).stdin(value.to_string()).check();
    }
}

#[test]
fn a_long_payload_is_read_to_its_end_whatever_the_event() {
    let repo = Repo::outside();
    for event in ["PostToolUse", "NoSuchEvent"] {
        let sent = payload(
            &repo,
            event,
            json!({"tool_response": "x".repeat(3_000_000)}),
        );
        let mut child = repo.operator(["hook", event]).command().spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, &sent).unwrap();
        drop(stdin);
        assert_eq!(child.wait().unwrap().code(), Some(0), "{event}");
    }
}

#[test]
fn an_open_pipe_is_not_awaited() {
    let repo = Repo::outside();
    let mut child = repo.operator(["hook"]).command().spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let begun = Instant::now();
    std::io::Write::write_all(&mut stdin, &payload(&repo, "Stop", json!({}))).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(2));
    drop(stdin);
}

#[test]
fn a_closed_stdin_and_stdout_break_nothing() {
    let repo = Repo::outside();
    let mut command = repo.operator(["hook", "Stop"]).command();
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
}
