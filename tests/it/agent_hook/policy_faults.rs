//! What policies do when they, or what they ask for, fail: no silent pass, no lock-out.

use std::fs;

use serde_json::{Value, json};

use super::policy::{denied, policy, repo, sent, shell, tool, write};
use crate::support::Repo;

/// Makes the work ledger of the session unusable.
fn break_ledger(repo: &Repo) {
    let dir = repo.path().join(".git/operator/work");
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(repo.path().join(".git/operator")).unwrap();
    fs::write(dir, "no directory").unwrap();
}

#[test]
fn a_work_ledger_that_fails_lets_no_policy_pass_and_locks_nobody_out() {
    let repo = repo();
    repo.operator(["start"]).run();
    break_ledger(&repo);
    let answer = write(&repo, "b", "x\n");
    let reason = denied(&answer);
    assert!(
        reason.contains(
            "[respect#1] policy .operator/policies/respect.yaml:1 could not be evaluated: "
        ),
        "{reason}"
    );
    let large = write(&repo, "b", &"x\n".repeat(401));
    assert!(
        denied(&large).contains("[max-lines] 'b' would have 401 lines"),
        "{large}"
    );

    let input = json!({ "command": "make" });
    let after = tool(&repo, "PostToolUse", "u1", ("Bash", input.clone()));
    assert_eq!(after["decision"], "block", "{after}");
    for id in ["max-lines", "respect#1", "respect#2"] {
        let text = after["reason"].as_str().unwrap();
        assert!(text.contains(&format!("[{id}] policy ")), "{id}: {text}");
    }
    let failed = tool(&repo, "PostToolUseFailure", "u1", ("Bash", input));
    assert_eq!(failed["decision"], "block", "{failed}");

    let call = |name: &str, input: Value| tool(&repo, "PreToolUse", "t", (name, input));
    let not_denied = |answer: &Value| {
        assert_ne!(
            answer["hookSpecificOutput"]["permissionDecision"], "deny",
            "{answer}"
        );
    };
    not_denied(&call("Read", json!({ "file_path": "a" })));
    not_denied(&call("Bash", json!({ "command": "git operator doctor" })));
    let path = repo.path().join(".operator/policies/respect.yaml");
    not_denied(&call(
        "Edit",
        json!({ "file_path": path, "old_string": "size", "new_string": "size" }),
    ));
    let (code, _, stderr) = sent(&repo, "Stop", json!({}));
    assert_eq!(code, 2);
    assert!(
        stderr.contains("[respect#3] policy ") && stderr.contains("could not be evaluated"),
        "{stderr}"
    );
}

#[test]
fn a_policy_that_only_warns_does_so_when_it_cannot_be_evaluated() {
    let repo = policy(
        "on: [tool.call]\ntools: [Bash]\nwhen: { cel: size(work.foreign) > 0 }\nthen: [warn]\n",
    );
    break_ledger(&repo);
    let answer = tool(
        &repo,
        "PreToolUse",
        "t",
        ("Bash", json!({ "command": "ls" })),
    );
    let own = &answer["hookSpecificOutput"];
    assert_eq!(own["permissionDecision"], Value::Null, "{answer}");
    assert!(
        own["additionalContext"]
            .as_str()
            .unwrap()
            .contains("could not be evaluated"),
        "{answer}"
    );
}

#[test]
fn counts_that_cannot_be_kept_let_no_policy_pass() {
    let repo = policy("on: [tool.call]\nwhen: { builtin: repeat, with: { max: 1 } }\n");
    fs::create_dir_all(repo.path().join(".git/operator")).unwrap();
    fs::write(repo.path().join(".git/operator/turns"), "no directory").unwrap();
    let call = |name: &str| tool(&repo, "PreToolUse", "t", (name, json!({ "command": "ls" })));
    assert!(denied(&call("Bash")).contains("could not be evaluated"));
    assert_eq!(
        call("Grep")["hookSpecificOutput"]["permissionDecision"],
        Value::Null
    );
}

#[test]
fn a_directory_of_policies_that_cannot_be_read_is_a_broken_policy() {
    let repo = Repo::new();
    fs::create_dir(repo.path().join(".operator")).unwrap();
    let elsewhere = repo.dir().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, repo.path().join(".operator/policies")).unwrap();
    let bash = tool(
        &repo,
        "PreToolUse",
        "t",
        ("Bash", json!({ "command": "make" })),
    );
    assert!(
        denied(&bash).contains("the policy file cannot be used"),
        "{bash}"
    );
    let output = repo.operator(["policy", "check"]).run();
    assert_eq!(output.code, 1, "{}", output.stdout);
    assert!(
        output
            .stdout
            .contains("error[E01] .operator/policies:1:1: the file cannot be read"),
        "{}",
        output.stdout
    );
}

#[test]
fn policy_files_beyond_what_is_read_are_a_broken_policy() {
    let policy = "on: [tool.call]\nwhen: { cel: \"false\" }\n";
    let padded = format!("{policy}# {}\n", "x".repeat(200_000));
    let is_denied = |files: usize, text: &str| {
        let repo = Repo::new();
        for number in 0..files {
            repo.write(format!(".operator/policies/p{number:04}.yaml"), text);
        }
        let input = json!({ "command": "make" });
        let bash = tool(&repo, "PreToolUse", "t", ("Bash", input));
        let listed = repo.operator(["policy", "list"]).run().stderr;
        let left = listed.matches("there are too many policy files").count();
        let reason = bash["hookSpecificOutput"]["permissionDecisionReason"].clone();
        let reason = reason.as_str().map(str::to_owned);
        (reason, left)
    };
    let text = "[.operator/policies] the policy file cannot be used: .operator/policies:1:1: the file cannot be read: there are more than 1,000 policy files, or more than 2 MiB of them (E01); repair it, then run 'git operator policy check'";
    assert_eq!(is_denied(12, &padded), (Some(text.to_owned()), 1));
    assert_eq!(is_denied(1_001, "[]\n").1, 1);
    assert_eq!(is_denied(11, &padded), (None, 0));
}

#[test]
fn a_policy_that_does_not_come_to_an_end_follows_its_on_error() {
    let endless = "lists.range(10000).all(i, lists.range(10000).all(j, i + j >= 0))";
    let one = |id: &str, then: &str| {
        format!("id: {id}\non: [tool.call]\nwhen: {{ cel: \"{endless}\" }}\nthen: [{then}]\n")
    };
    let repo = policy(&format!(
        "{}---\n{}---\n{}",
        one("first", "block"),
        one("second", "warn"),
        "id: third\non: [tool.call]\nmessage: the third\n"
    ));
    let answer = tool(
        &repo,
        "PreToolUse",
        "t",
        ("Bash", json!({ "command": "ls" })),
    );
    let reason = denied(&answer);
    assert!(
        reason.contains("[first] policy .operator/policies/p.yaml:1 could not be evaluated: it t"),
        "{reason}"
    );
    assert!(
        reason.contains("[second] policy ") && reason.contains("[third] the third"),
        "{reason}"
    );
    let reading = tool(
        &repo,
        "PreToolUse",
        "t",
        ("Grep", json!({ "pattern": "x" })),
    );
    let lines: Vec<&str> = denied(&reading).lines().collect();
    assert_eq!(lines[0], "[third] the third");
    for (line, start) in [
        (
            lines[1],
            "[first] policy .operator/policies/p.yaml:1 could not",
        ),
        (
            lines[2],
            "[second] policy .operator/policies/p.yaml:6 could not",
        ),
    ] {
        assert!(line.starts_with(start), "{line}");
    }
}

#[test]
fn many_endless_policies_together_take_no_longer_than_one_hook_may() {
    let endless = "lists.range(10000).all(i, lists.range(10000).all(j, i + j >= 0))";
    let all: Vec<String> = (0..40)
        .map(|number| format!("id: p{number}\non: [turn.end]\nwhen: {{ cel: \"{endless}\" }}\n"))
        .collect();
    let repo = policy(&all.join("---\n"));
    let (code, _, stderr) = sent(&repo, "Stop", json!({}));
    assert_eq!(code, 2, "{stderr}");
    assert_eq!(
        stderr.matches("could not be evaluated").count(),
        40,
        "{stderr}"
    );
    assert!(stderr.contains("[p39] policy .operator/policies/p.yaml:157 could not be evaluated: the policies together took longer than 500 ms"), "{stderr}");
}

#[test]
fn restore_at_the_end_of_a_turn_is_refused_by_the_check_and_blocks() {
    let repo =
        policy("on: [turn.end]\nwhen: { cel: size(work.uncommitted) > 0 }\nthen: [restore]\n");
    repo.operator(["policy", "check"])
        .stdout(
            "error[E07] .operator/policies/p.yaml:3:8: 'restore' is not possible at turn.end: files are put back only after a tool ran\n \
             3 | then: [restore]\n   |        ^\n2 policies in 1 files: 1 errors, 0 warnings\n",
        )
        .exit(1)
        .check();
    let (_, after) = shell(&repo, "u1", "echo two > a", || {
        fs::write(repo.path().join("a"), "two\n").unwrap();
    });
    assert_eq!(after, Value::Null);
    let (code, _, stderr) = sent(&repo, "Stop", json!({}));
    assert_eq!(code, 2, "{stderr}");
    assert!(
        stderr.contains("'restore' is not possible at turn.end"),
        "{stderr}"
    );
    assert_eq!(fs::read_to_string(repo.path().join("a")).unwrap(), "two\n");
}

#[test]
fn no_payload_goes_around_a_policy_or_breaks_the_hook() {
    let repo = policy("on: [tool.call]\ntools: [Bash]\nmessage: no\n");
    let head = format!(
        r#"{{"session_id":"S1","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"u","tool_input":{{"command":"ls""#,
        repo.path().display()
    );
    let deep = format!(r#","x":{}{}}}}}"#, "[".repeat(50_000), "]".repeat(50_000));
    let tails: [&[u8]; 12] = [
        b"}}",
        br#","x":"\ud800"}}"#,
        br#"},"x":1e999}"#,
        b",\"x\":\"\x00\x01\"}}",
        b",\"x\":\"\xff\xfe\"}}",
        br#"},"permission_mode":{"a":[1]}}"#,
        br#"},"prompt_id":7,"agent_id":[],"duration_ms":"x","error":{}}"#,
        br#"},"tool_response":null,"background_tasks":"none"}"#,
        br#","command":"ls"}}"#,
        br#"},"session_id":"S1"}"#,
        br#"},"unheard":"of"}   trailing"#,
        deep.as_bytes(),
    ];
    for tail in tails {
        let payload = [head.as_bytes(), tail].concat();
        let output = repo.operator(["hook"]).stdin(payload).run();
        let shown = String::from_utf8_lossy(&tail[..tail.len().min(80)]).into_owned();
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{shown}");
        let answer: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
        assert_eq!(denied(&answer), "[p] no", "{shown}");
    }
    for garbage in ["", "{", "[]", "null", "\u{0}", "{\"hook_event_name\":7}"] {
        let output = repo.operator(["hook"]).stdin(garbage).run();
        let said = (output.code, output.stdout.as_str(), output.stderr.as_str());
        assert_eq!(
            said,
            (0, "", ""),
            "of no event, no policy stands: {garbage}"
        );
    }
}

#[test]
fn a_payload_that_does_not_tell_what_it_is_about_follows_on_error() {
    let strict =
        "id: strict\non: [tool.call]\ntools: [Bash]\nwhen: { cel: event.data.command == 'x' }\n";
    let files = "id: files\non: [file.write]\npaths: [\"*.rs\"]\nwhen: { builtin: max-lines, with: { max: 4 } }\n";
    let loose = "id: loose\non: [tool.call, prompt.submit, tool.result]\nwhen: { cel: event.session == 'x' }\nthen: [warn]\n";
    let repo = policy(&[strict, files, loose].join("---\n"));
    let asked = |event: &str, payload: &str| {
        let output = repo.operator(["hook", event]).stdin(payload).run();
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{payload}");
        serde_json::from_str::<Value>(&output.stdout).unwrap_or_default()
    };
    for (payload, reason) in [
        ("", "the payload is unreadable: it is empty"),
        (
            "{\"tool_name\":\"Ba",
            "the payload is unreadable: it is cut off",
        ),
        ("[]", "the payload is unreadable: it is no JSON object"),
        ("{}", "the payload names no tool"),
        (
            r#"{"tool_name":["Bash"],"tool_input":{"command":"x"}}"#,
            "the payload names no tool",
        ),
    ] {
        let answer = asked("PreToolUse", payload);
        for (id, line) in [("strict", 1), ("files", 6)] {
            let text = format!(
                "[{id}] policy .operator/policies/p.yaml:{line} could not be evaluated: {reason}"
            );
            assert!(denied(&answer).contains(&text), "{payload}: {answer}");
        }
        let told = answer.to_string();
        assert!(told.contains("[loose] policy "), "{payload}: {answer}");
    }
    for input in ["{}", "7", r#"{"file_path":5}"#, r#"{"file_path":""}"#] {
        let payload = format!(r#"{{"tool_name":"Write","tool_input":{input}}}"#);
        let answer = asked("PreToolUse", &payload);
        assert_eq!(
            denied(&answer),
            "[files] policy .operator/policies/p.yaml:6 could not be evaluated: Write names no file that it is to change",
            "{payload}"
        );
    }
    let other =
        r#"{"tool_name":"Write","tool_input":{"filePath":"b.rs","content":"1\n2\n3\n4\n5\n"}}"#;
    assert_eq!(
        denied(&asked("PreToolUse", other)),
        "[files] 'b.rs' would have 5 lines; the limit is 4"
    );
    let prompt = asked("UserPromptSubmit", "{\"prompt\":\"x");
    assert!(prompt.to_string().contains("[loose] policy "), "{prompt}");
    assert_ne!(prompt["decision"], "block");
}

#[test]
fn an_unreadable_payload_is_not_held_up_by_what_is_on_by_default() {
    let repo = policy("on: [turn.end]\nwhen: { cel: \"false\" }\n");
    repo.operator(["start"]).run();
    for event in ["PreToolUse", "PostToolUse", "PostToolUseFailure"] {
        for payload in ["", "{", "{}", r#"{"tool_name":"Write","tool_input":{}}"#] {
            let output = repo.operator(["hook", event]).stdin(payload).run();
            let said = (output.code, output.stdout.as_str(), output.stderr.as_str());
            assert_eq!(said, (0, "", ""), "{event} {payload}");
        }
    }
}
