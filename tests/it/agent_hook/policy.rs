use std::fs;

use serde_json::{Value, json};

use crate::{
    cli::policy::{FIRST, OTHERS},
    support::Repo,
};

pub(crate) const SESSION: &str = "S1";

/// A repository with a commit and the four policies of the documentation.
pub(crate) fn repo() -> Repo {
    let repo = Repo::new();
    repo.write(".operator/policies/max-lines.yaml", FIRST);
    repo.write(".operator/policies/respect.yaml", OTHERS);
    repo.write("a", "one\n");
    repo.git(["add", "-A"]);
    repo.git(["commit", "-qm", "c1"]);
    repo
}

pub(crate) fn sent(repo: &Repo, event: &str, more: Value) -> (i32, Value, String) {
    let mut payload = json!({
        "session_id": SESSION, "cwd": repo.path(), "hook_event_name": event,
        "prompt_id": "p1", "permission_mode": "default",
    });
    for (key, value) in more.as_object().unwrap() {
        payload[key] = value.clone();
    }
    let output = repo.operator(["hook"]).stdin(payload.to_string()).run();
    let answer = serde_json::from_str(&output.stdout).unwrap_or(Value::Null);
    (output.code, answer, output.stderr)
}

pub(crate) fn tool(repo: &Repo, event: &str, id: &str, (name, input): (&str, Value)) -> Value {
    let more = json!({
        "tool_name": name, "tool_input": input, "tool_use_id": id,
        "tool_response": { "stdout": "", "stderr": "" },
    });
    let (code, answer, stderr) = sent(repo, event, more);
    assert_eq!((code, stderr.as_str()), (0, ""), "{answer}");
    answer
}

pub(crate) fn write(repo: &Repo, path: &str, content: &str) -> Value {
    let input = json!({ "file_path": repo.path().join(path), "content": content });
    tool(repo, "PreToolUse", "w", ("Write", input))
}

/// Runs a shell call that does `work`; returns what the hooks before and after it answer.
pub(crate) fn shell(repo: &Repo, id: &str, command: &str, work: impl FnOnce()) -> (Value, Value) {
    let input = json!({ "command": command });
    let before = tool(repo, "PreToolUse", id, ("Bash", input.clone()));
    work();
    (before, tool(repo, "PostToolUse", id, ("Bash", input)))
}

pub(crate) fn denied(answer: &Value) -> &str {
    let own = &answer["hookSpecificOutput"];
    assert_eq!(own["permissionDecision"], "deny", "{answer}");
    own["permissionDecisionReason"].as_str().unwrap()
}

#[test]
fn an_oversized_write_is_refused_up_front() {
    let repo = repo();
    let answer = write(&repo, "big.rs", &"x\n".repeat(401));
    assert!(
        denied(&answer).contains("[max-lines] 'big.rs' would have 401 lines; the limit is 400")
    );
    assert_eq!(
        answer["systemMessage"],
        "git-operator: refused by policy max-lines"
    );
    assert_eq!(write(&repo, "small.rs", "x\n"), Value::Null);
}

#[test]
fn an_oversized_file_that_a_shell_wrote_is_put_back() {
    let repo = repo();
    let (before, after) = shell(&repo, "u1", "cp /x big.rs; sed -i s/a/b/ a", || {
        fs::write(repo.path().join("big.rs"), "x\n".repeat(500)).unwrap();
        fs::write(repo.path().join("a"), "y\n".repeat(401)).unwrap();
    });
    assert_eq!(before, Value::Null);
    assert_eq!(after["decision"], "block", "{after}");
    let reason = after["reason"].as_str().unwrap();
    assert!(reason.contains("'a' has 401 lines"), "{reason}");
    assert!(
        reason.contains("These files were put back as they were before the call:\n- a\n- big.rs"),
        "{reason}"
    );
    assert!(
        after["systemMessage"]
            .as_str()
            .unwrap()
            .contains("put back: a, big.rs")
    );
    assert!(!repo.path().join("big.rs").exists());
    assert_eq!(fs::read_to_string(repo.path().join("a")).unwrap(), "one\n");
}

#[test]
fn a_write_beside_foreign_work_is_refused() {
    let repo = repo();
    assert_eq!(write(&repo, "b", "x\n"), Value::Null);
    repo.write("notes", "mine\n");
    let answer = write(&repo, "c", "x\n");
    assert!(
        denied(&answer).contains("work.foreign:\n- notes"),
        "{answer}"
    );
}

#[test]
fn a_command_that_wrote_beside_foreign_work_is_put_back() {
    let repo = repo();
    repo.write("notes", "mine\n");
    let (_, after) = shell(&repo, "u1", "echo two > a", || {
        fs::write(repo.path().join("a"), "two\n").unwrap();
    });
    assert_eq!(after["decision"], "block", "{after}");
    let reason = after["reason"].as_str().unwrap();
    assert!(
        reason.contains("[respect#2]") && reason.contains("- a"),
        "{reason}"
    );
    assert_eq!(fs::read_to_string(repo.path().join("a")).unwrap(), "one\n");
    assert_eq!(
        fs::read_to_string(repo.path().join("notes")).unwrap(),
        "mine\n"
    );
}

#[test]
fn a_command_that_only_cleans_the_tree_passes() {
    let repo = repo();
    repo.write("notes", "mine\n");
    let (before, after) = shell(&repo, "u1", "git add notes && git commit -m x", || {
        repo.git(["add", "notes"]);
        repo.git(["commit", "-qm", "x"]);
    });
    assert_eq!((before, after["decision"].as_str()), (Value::Null, None));
}

#[test]
fn a_turn_with_uncommitted_work_goes_on_until_the_commit() {
    let repo = repo();
    let _ = shell(&repo, "u1", "echo two > a", || {
        fs::write(repo.path().join("a"), "two\n").unwrap();
    });
    let (code, _, stderr) = sent(&repo, "Stop", json!({ "stop_hook_active": false }));
    assert_eq!(code, 2, "{stderr}");
    assert!(
        stderr.contains("[respect#3]") && stderr.contains("- a"),
        "{stderr}"
    );
    repo.git(["commit", "-qam", "c2"]);
    let (code, answer, stderr) = sent(&repo, "Stop", json!({ "stop_hook_active": true }));
    assert_eq!((code, answer), (0, Value::Null), "{stderr}");
    let why = repo.operator(["policy", "why"]).run();
    assert!(why.stdout.contains("turn.end"), "{}", why.stdout);
}

#[test]
fn the_ledger_is_guarded_in_a_started_project() {
    let repo = Repo::new();
    assert_eq!(write(&repo, ".operator/VERDICTS.md", "x"), Value::Null);
    fs::create_dir(repo.path().join(".operator")).unwrap();
    let answer = write(&repo, ".operator/VERDICTS.md", "x");
    assert!(denied(&answer).contains("[ledger-files]"), "{answer}");
    let asked = write(&repo, ".operator/policies/a.yaml", "x");
    assert_eq!(asked["hookSpecificOutput"]["permissionDecision"], "ask");
    assert_eq!(write(&repo, "src/a.rs", "x"), Value::Null);
}

#[test]
fn a_broken_policy_does_not_lock_its_own_repair_out() {
    let repo = Repo::new();
    repo.write(".operator/policies/a.yaml", "on: [turn.ned]\n");
    let call = |name: &str, input: Value| tool(&repo, "PreToolUse", "t", (name, input));
    let bash = call("Bash", json!({ "command": "make" }));
    assert!(denied(&bash).contains("unknown event 'turn.ned', did you mean 'turn.end'?"));
    let path = repo.path().join(".operator/policies/a.yaml");
    assert_eq!(call("Read", json!({ "file_path": path })), Value::Null);
    assert_eq!(
        call("Bash", json!({ "command": "git operator policy check" })),
        Value::Null
    );
    let edit = json!({ "file_path": path, "old_string": "ned", "new_string": "end" });
    let answer = call("Edit", edit);
    assert_ne!(
        answer["hookSpecificOutput"]["permissionDecision"], "deny",
        "{answer}"
    );
}

#[test]
fn our_own_commands_are_let_through_an_error_and_those_they_run_are_not() {
    let repo = Repo::new();
    repo.write(".operator/policies/a.yaml", "on: [turn.ned]\n");
    let bash = |line: &str| {
        let input = json!({ "command": line });
        tool(&repo, "PreToolUse", "t", ("Bash", input))
    };
    for line in [
        "git operator policy check",
        "git operator -C . -q status",
        "git -C . operator status && git-operator log -n 1",
        "git operator verify --json 2> /dev/null",
        "git operator --help",
    ] {
        assert_eq!(bash(line), Value::Null, "{line}");
    }
    for line in [
        "git operator run t c -- rm x",
        "git operator -C . run t c -- rm x",
        "git operator -q run t c -- rm x",
        "git operator --git-dir x run t c -- rm x",
        "git-operator --no-pager run t c",
        "git operator verify --rerun",
        "git operator -q verify --rerun=all",
        "git operator \"$X\"",
        "PATH=/evil git operator status",
        "git -c alias.operator='!rm x' operator status",
        "git --exec-path=/evil operator status",
        "/evil/git operator status",
        "git operator status > src/a",
        "git operator status; rm x",
    ] {
        assert!(denied(&bash(line)).contains("turn.ned"), "{line}");
    }
}

#[test]
fn a_bare_push_of_a_protected_branch_is_refused() {
    let repo =
        policy("on: [tool.call]\nwhen: { builtin: git-guard, with: { branches: [kept] } }\n");
    let bash = |line: &str| {
        let input = json!({ "command": line });
        tool(&repo, "PreToolUse", "t", ("Bash", input))
    };
    repo.git(["checkout", "-qb", "kept"]);
    let inside = format!("cd {} && git push", repo.path().display());
    for line in [
        "git push",
        "git push origin HEAD",
        "git push -u origin @",
        &inside,
    ] {
        assert!(denied(&bash(line)).contains("protected"), "{line}");
    }
    for line in [
        "git push origin other",
        "git switch -c new && git push",
        "cd / && git push",
    ] {
        assert_eq!(bash(line), Value::Null, "{line}");
    }
    repo.git(["checkout", "-qb", "topic"]);
    assert_eq!(bash("git push"), Value::Null);
    denied(&bash("git checkout kept && git push"));
}

#[test]
fn a_permission_mode_nobody_knows_switches_no_policy_off() {
    let repo = repo();
    let input = json!({ "file_path": repo.path().join("b"), "content": "x\n".repeat(401) });
    let more = json!({ "tool_name": "Write", "tool_input": input, "tool_use_id": "w",
        "permission_mode": { "new": true }, "unheard": [1] });
    let (code, answer, _) = sent(&repo, "PreToolUse", more);
    assert_eq!(code, 0);
    denied(&answer);
}

#[test]
fn a_test_that_passed_lets_the_turn_end() {
    let repo = Repo::new();
    repo.write(
        ".operator/policies/t.yaml",
        "on: [turn.end]\nwhen: { builtin: tests-ran, with: { commands: [\"cargo test\"] } }\n",
    );
    repo.write("a", "one\n");
    repo.git(["add", "-A"]);
    repo.git(["commit", "-qm", "c1"]);
    let _ = shell(&repo, "u1", "echo two > a", || {
        fs::write(repo.path().join("a"), "two\n").unwrap();
    });
    let (code, ..) = sent(&repo, "Stop", json!({}));
    assert_eq!(code, 2);
    let _ = shell(&repo, "u2", "cargo test --lib", || {});
    let (code, _, stderr) = sent(&repo, "Stop", json!({}));
    assert_eq!(code, 0, "{stderr}");
}

/// A repository with a commit and one file of policies.
pub(crate) fn policy(text: &str) -> Repo {
    let repo = Repo::new();
    repo.write(".operator/policies/p.yaml", text);
    repo.write("a", "one\n");
    repo.git(["add", "-A"]);
    repo.git(["commit", "-qm", "c1"]);
    repo
}
