//! What policies see of a call, and when.

use std::fs;

use serde_json::{Value, json};

use super::policy::{denied, policy, sent, shell, tool, write};
use crate::support::Repo;

#[test]
fn a_guard_of_branches_knows_the_branch_it_is_on() {
    let repo =
        policy("on: [tool.call]\nwhen: { builtin: git-guard, with: { branches: [main] } }\n");
    let call = |command: &str| {
        let input = json!({ "command": command });
        tool(&repo, "PreToolUse", "u1", ("Bash", input))
    };
    for command in ["git push", "git push origin HEAD"] {
        let answer = call(command);
        assert!(denied(&answer).contains("a protected branch"), "{answer}");
    }
    repo.git(["switch", "-qc", "side"]);
    assert_eq!(call("git push"), Value::Null);
}

const TODO: &str = "on: [file.write]\nwhen: { builtin: forbid-text, with: { patterns: [TODO] } }\nthen: [restore, block]\n";

/// An edit by a file tool that writes `after`; returns what the hook after it answers.
fn edited(repo: &Repo, (name, input): (&str, Value), after: &[u8]) -> Value {
    let before = tool(repo, "PreToolUse", "e1", (name, input.clone()));
    assert_eq!(before, Value::Null, "{name}");
    fs::write(repo.path().join("f"), after).unwrap();
    tool(repo, "PostToolUse", "e1", (name, input))
}

#[test]
fn an_edit_that_could_not_be_foreseen_is_judged_by_what_it_left() {
    let path = |repo: &Repo| repo.path().join("f");
    let edit = |old: &str| json!({ "old_string": old, "new_string": "TODO\n" });
    let cell = json!({ "cell_id": "c", "new_source": "TODO" });
    for (name, before, input, after) in [
        (
            "Edit",
            &b"a\r\nb\r\nc\r\n"[..],
            edit("a\nb\n"),
            &b"TODO\r\nc\r\n"[..],
        ),
        ("Edit", b"a\xe9\nb\n", edit("b\n"), b"a\xe9\nTODO\n"),
        (
            "Edit",
            "\u{201c}a\u{201d}\n".as_bytes(),
            edit("\"a\"\n"),
            b"TODO\n",
        ),
        ("NotebookEdit", b"{}\n", cell.clone(), b"{\"TODO\": 1}\n"),
        ("NotebookEdit", b"", cell, b"{\"TODO\": 1}\n"),
    ] {
        let repo = policy(TODO);
        if !before.is_empty() {
            fs::write(path(&repo), before).unwrap();
            repo.git(["add", "f"]);
            repo.git(["commit", "-qm", "c2"]);
        }
        let mut input = input;
        input["file_path"] = path(&repo).to_str().into();
        let answer = edited(&repo, (name, input), after);
        assert_eq!(answer["decision"], "block", "{name}: {answer}");
        let reason = answer["reason"].as_str().unwrap();
        assert!(reason.contains("'f' line"), "{reason}");
        assert_eq!(fs::read(path(&repo)).unwrap_or_default(), before, "{name}");
    }
}

#[test]
fn an_edit_that_was_foreseen_is_judged_once() {
    let repo = policy(
        "on: [file.write]\nwhen: { builtin: forbid-text, with: { patterns: [TODO] } }\nthen: [restore, warn]\n---\n\
         on: [file.write]\npaths: [f]\nthen: [warn]\n",
    );
    repo.write("f", "a\n");
    repo.git(["add", "f"]);
    repo.git(["commit", "-qm", "c2"]);
    let input =
        json!({ "file_path": repo.path().join("f"), "old_string": "a", "new_string": "TODO" });
    let before = tool(&repo, "PreToolUse", "e1", ("Edit", input.clone()));
    assert!(before.to_string().contains("p#1"), "{before}");
    repo.write("f", "TODO\n");
    assert_eq!(
        tool(&repo, "PostToolUse", "e1", ("Edit", input)),
        Value::Null
    );
    // Whether the path is right was asked before, whatever became of the text.
    let cell = json!({ "notebook_path": repo.path().join("f"), "new_source": "b" });
    let before = tool(&repo, "PreToolUse", "e2", ("NotebookEdit", cell.clone()));
    assert!(before.to_string().contains("p#2"), "{before}");
    repo.write("f", "b\n");
    assert_eq!(
        tool(&repo, "PostToolUse", "e2", ("NotebookEdit", cell)),
        Value::Null
    );
}

#[test]
fn a_file_too_large_to_keep_has_a_size_and_lines() {
    for builtin in [
        "max-bytes, with: { max: 1000000 }",
        "max-lines, with: { max: 9000 }",
    ] {
        let repo = policy(&format!(
            "on: [file.write]\nwhen: {{ builtin: {builtin} }}\nthen: [restore, block]\n"
        ));
        let (_, answer) = shell(&repo, "u1", "yes | head -c 17000000 > big", || {
            fs::write(repo.path().join("big"), "y\n".repeat(8_500_000)).unwrap();
        });
        assert_eq!(answer["decision"], "block", "{answer}");
        let reason = answer["reason"].as_str().unwrap();
        let known = reason.contains("17000000 bytes") || reason.contains("8500000 lines");
        assert!(known, "{reason}");
        // What is too large to keep is not removed, and the model is told.
        assert!(repo.path().join("big").exists());
        let left = "These files could not be put back:\n- big: it is too large to keep";
        assert!(reason.contains(left), "{reason}");
    }
}

#[test]
fn a_text_with_a_byte_that_is_no_utf_8_is_text() {
    let repo = policy(TODO);
    for (name, bytes) in [("f", &b"TODO\n\xff"[..]), ("g", b"\xff\xff\xff\nTODO")] {
        let (_, answer) = shell(&repo, name, "printf x", || {
            fs::write(repo.path().join(name), bytes).unwrap();
        });
        assert_eq!(answer["decision"], "block", "{answer}");
    }
    let (_, answer) = shell(&repo, "u3", "printf x", || {
        fs::write(repo.path().join("h"), b"TODO\n\0").unwrap();
    });
    assert_eq!(answer, Value::Null);
}

fn link(repo: &Repo, target: &str, name: &str) {
    std::os::unix::fs::symlink(target, repo.path().join(name)).unwrap();
}

#[test]
fn a_link_leads_no_write_around_the_policies() {
    let repo = policy(
        "on: [file.write]\npaths: [real/**, by-name]\n---\n\
         on: [file.write]\nwhen: { builtin: protect-paths, with: { paths: [kept/**, by-guard] } }\n",
    );
    for directory in ["real", "kept", "other", "deep/er"] {
        fs::create_dir_all(repo.path().join(directory)).unwrap();
    }
    link(&repo, ".operator/policies", "rules");
    link(&repo, ".operator/policies/new.yaml", "new");
    link(&repo, "../.operator/policies", "deep/up");
    link(&repo, "real", "lnk");
    link(&repo, "kept", "guarded");
    link(&repo, "other/x", "by-name");
    link(&repo, "other/x", "by-guard");
    let says = |answer: &Value| {
        let own = &answer["hookSpecificOutput"];
        own["permissionDecision"]
            .as_str()
            .unwrap_or("none")
            .to_owned()
    };
    for (path, expected) in [
        ("rules/x.yaml", "ask"),
        ("new", "ask"),
        ("deep/up/x.yaml", "ask"),
        ("deep/up/../policies/x.yaml", "ask"),
        ("lnk/x", "deny"),
        ("guarded/x", "deny"),
        ("by-name", "deny"),
        ("by-guard", "deny"),
        ("other/x", "none"),
    ] {
        assert_eq!(says(&write(&repo, path, "x\n")), expected, "Write {path}");
        let input = json!({ "command": format!("echo x > {path}") });
        let answer = tool(&repo, "PreToolUse", "u1", ("Bash", input));
        assert_eq!(says(&answer), expected, "> {path}");
    }
}

#[test]
fn a_call_names_where_its_path_leads() {
    let repo = policy("on: [tool.call]\npaths: [real/**]\n");
    fs::create_dir(repo.path().join("real")).unwrap();
    link(&repo, "real", "lnk");
    let input = json!({ "file_path": repo.path().join("lnk/x") });
    denied(&tool(&repo, "PreToolUse", "u1", ("Read", input)));
}

#[test]
fn a_test_counts_by_its_status_and_for_the_files_it_is_about() {
    let repo = policy(
        "on: [turn.end]\nwhen: { builtin: tests-ran, with: { commands: [\"cargo test\"], paths: [\"src/**\"] } }\n",
    );
    repo.git(["config", "operator.autoArm", "false"]);
    let run = |id: &str, command: &str, response: Value, path: Option<&str>| {
        let mut call =
            json!({ "tool_name": "Bash", "tool_use_id": id, "tool_input": { "command": command } });
        let _ = sent(&repo, "PreToolUse", call.clone());
        if let Some(path) = path {
            repo.write(path, id);
        }
        call["tool_response"] = response;
        let _ = sent(&repo, "PostToolUse", call);
        sent(&repo, "Stop", json!({})).0
    };
    let done = || json!({ "stdout": "", "stderr": "" });
    assert_eq!(run("u1", "echo > src/a", done(), Some("src/a")), 2);
    assert_eq!(run("u2", "cargo test || true", done(), None), 2);
    let task = json!({ "stdout": "", "backgroundTaskId": "b1" });
    assert_eq!(run("u3", "cargo test", task, None), 2);
    assert_eq!(run("u4", "cargo test > log", done(), Some("log")), 0);
    assert_eq!(run("u5", "echo > notes", done(), Some("notes")), 0);
    assert_eq!(run("u6", "echo > src/b", done(), Some("src/b")), 2);
}

#[test]
fn a_migration_is_kept_from_a_shell_as_from_a_tool() {
    let page = include_str!("../../../docs/policy.md");
    let text = page
        .split("```yaml\n")
        .find(|part| part.starts_with("id: migrations"));
    let repo = policy(text.unwrap().split("```").next().unwrap());
    repo.write("db/migrations/1.sql", "one\n");
    repo.git(["add", "-A"]);
    repo.git(["commit", "-qm", "c2"]);
    denied(&write(&repo, "db/migrations/1.sql", "two\n"));
    let (_, answer) = shell(&repo, "u1", "sed -i s/one/two/ db/migrations/1.sql", || {
        repo.write("db/migrations/1.sql", "two\n");
    });
    assert!(
        answer["reason"]
            .as_str()
            .unwrap()
            .contains("may have run already"),
        "{answer}"
    );
    let kept = fs::read_to_string(repo.path().join("db/migrations/1.sql")).unwrap();
    assert_eq!(kept, "one\n");
    assert_eq!(write(&repo, "db/migrations/2.sql", "two\n"), Value::Null);
}
