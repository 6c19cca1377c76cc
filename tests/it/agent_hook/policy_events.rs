//! Every event of a session, as policies see it.

use std::fs;

use serde_json::{Value, json};

use super::policy::{SESSION, denied, policy, sent, shell, tool};
use crate::support::Repo;

#[test]
fn a_turn_ends_when_the_newest_verdict_is_about_the_source_as_it_is() {
    let repo = policy("on: [turn.end]\nwhen: { builtin: verdict-fresh }\n");
    let change = |id: &str, text: &str| {
        let _ = shell(&repo, id, "echo > a", || {
            fs::write(repo.path().join("a"), text).unwrap();
        });
    };
    let verdict = |owner: &str| {
        repo.operator([
            "verdict", "T-1", "it holds", "seen", "PASS", "--owner", owner,
        ])
        .run()
    };
    let stop = || sent(&repo, "Stop", json!({}));
    change("u1", "two\n");
    let (code, _, stderr) = stop();
    assert_eq!(code, 2, "{stderr}");
    assert!(
        stderr.contains("no verdict covers these files:\n- a"),
        "{stderr}"
    );

    verdict("S9");
    repo.operator(["handoff", "--mark", "--owner", "S9"]).run();
    let (code, _, stderr) = stop();
    assert_eq!(
        code, 2,
        "a verdict of another session counts for nothing: {stderr}"
    );

    repo.operator(["task", "T-1", "--owner", SESSION]).run();
    verdict(SESSION);
    let (code, answer, stderr) = stop();
    assert_eq!((code, answer), (0, Value::Null), "{stderr}");

    change("u2", "three\n");
    let (code, _, stderr) = stop();
    assert_eq!(code, 2, "{stderr}");
    assert!(
        stderr.contains("the newest verdict is older than these changes:\n- a"),
        "{stderr}"
    );
}

#[test]
fn an_expression_sees_the_newest_verdict() {
    let repo = policy(
        "on: [tool.call]\ntools: [Bash]\nwhen: { cel: \"gate.last != null && gate.last.result == 'FAIL'\" }\n\
         message: \"{{ gate.last.result }} {{ gate.last.fresh }} {{ size(gate.last.id) > 5 }} {{ gate.last.stamp }}\"\n",
    );
    let call = || {
        tool(
            &repo,
            "PreToolUse",
            "t",
            ("Bash", json!({ "command": "ls" })),
        )
    };
    assert_eq!(call(), Value::Null);
    repo.operator(["task", "T-1", "--owner", SESSION]).run();
    repo.operator(["verdict", "T-1", "c", "no", "FAIL", "--owner", SESSION])
        .run();
    let reason = denied(&call()).to_owned();
    assert!(reason.starts_with("[p] FAIL true true @"), "{reason}");
    let id = repo.operator(["log", "--json", "-n", "1"]).run().stdout;
    let id = serde_json::from_str::<Value>(&id).unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    repo.operator(["retract", &id, "--why", "wrong", "--owner", SESSION])
        .run();
    assert_eq!(call(), Value::Null, "a verdict that was retracted is none");
}

#[test]
fn every_event_of_a_session_is_judged() {
    let repo = policy(
        "id: begins\non: [session.start]\nthen: [warn]\nmessage: 'began: {{ event.data.source }}'\n---\n\
         id: asks\non: [prompt.submit]\nwhen: { cel: \"event.data.prompt.contains('secret')\" }\nmessage: no secrets\n---\n\
         id: says\non: [prompt.submit]\nthen: [context]\nmessage: 'mind {{ size(work.foreign) }} files'\n---\n\
         id: refused\non: [tool.denied]\nthen: [warn]\nmessage: 'denied: {{ event.data.reason }}'\n---\n\
         id: gone\non: [file.delete]\nmessage: '{{ event.data.path }} is gone'\n---\n\
         id: reads\non: [tool.call]\ntools: [Read]\nwhen: { cel: size(work.foreign) > 0 }\nmessage: 'foreign: {{ work.foreign }}'\n---\n\
         id: ends\non: [session.end]\nthen: [log]\nmessage: '{{ event.data.reason }}'\n",
    );
    let (_, answer, _) = sent(&repo, "SessionStart", json!({ "source": "resume" }));
    assert_eq!(
        answer["systemMessage"], "git-operator: warned by policy begins",
        "{answer}"
    );
    let brief = answer["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap();
    assert!(
        brief.contains("Session id: S1") && brief.contains("[begins] began: resume"),
        "{brief}"
    );

    repo.write("notes", "mine\n");
    let (code, answer, _) = sent(&repo, "UserPromptSubmit", json!({ "prompt": "the secret" }));
    assert_eq!(
        (code, &answer["decision"]),
        (0, &json!("block")),
        "{answer}"
    );
    assert_eq!(answer["reason"], "[asks] no secrets\n[says] mind 1 files");
    let (_, answer, _) = sent(&repo, "UserPromptSubmit", json!({ "prompt": "x" }));
    assert_eq!(
        answer["hookSpecificOutput"],
        json!({"hookEventName": "UserPromptSubmit", "additionalContext": "[says] mind 1 files"})
    );
    let read = json!({ "file_path": repo.path().join("a") });
    let answer = tool(&repo, "PreToolUse", "r", ("Read", read));
    assert_eq!(denied(&answer), "[reads] foreign: \n- notes", "{answer}");
    let more = json!({ "tool_name": "Bash", "tool_use_id": "d", "tool_input": { "command": "x" }, "reason": "why" });
    let (_, answer, _) = sent(&repo, "PermissionDenied", more);
    assert_eq!(
        answer,
        json!({"systemMessage": "git-operator: warned by policy refused"})
    );
    let (_, after) = shell(&repo, "u1", "rm a", || {
        fs::remove_file(repo.path().join("a")).unwrap();
    });
    assert_eq!(after["reason"], "[gone] a is gone", "{after}");
    let (code, answer, _) = sent(&repo, "SessionEnd", json!({ "reason": "logout" }));
    assert_eq!((code, answer), (0, Value::Null));
    let why = repo.operator(["policy", "why"]).run().stdout;
    assert!(why.contains("session.end"), "{why}");
}

#[test]
fn outside_a_repository_the_users_own_policies_speak() {
    let repo = Repo::outside();
    let dir = repo.home().join(".config/git-operator/policies");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("a.yaml"), "on: [tool.call, turn.end]\nwhen: { cel: \"!work.tracked && event.tool != 'Read'\" }\nmessage: not here\n").unwrap();
    let answer = tool(
        &repo,
        "PreToolUse",
        "t",
        ("Bash", json!({ "command": "ls" })),
    );
    assert_eq!(denied(&answer), "[a] not here");
    assert_eq!(
        tool(&repo, "PreToolUse", "t", ("Read", json!({}))),
        Value::Null
    );
    let (code, _, stderr) = sent(&repo, "Stop", json!({}));
    assert_eq!((code, stderr.trim()), (2, "[a] not here"));
    let (code, ..) = sent(&repo, "Stop", json!({ "stop_hook_active": true }));
    assert_eq!(code, 0);
}
