//! What the PostToolUse hook does to long output, and what a new session forgets.

use serde_json::{Value, json};

use super::hook;
use crate::support::Repo;

fn long() -> String {
    (0..2_000)
        .map(|i| format!("line number {i} of the run\n"))
        .collect()
}

fn bash(command: &str, stdout: &str) -> Value {
    json!({
        "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "toolu_1",
        "tool_response": {"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false},
    })
}

#[test]
fn long_output_is_replaced_in_its_own_shape_and_lies_whole_in_the_project() {
    let repo = Repo::new();
    repo.commit("a");
    repo.write(".operator/.gitignore", "*\n");
    let output = hook(&repo, "PostToolUse", bash("make", &long())).run();
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let answer: Value = serde_json::from_str(&output.stdout).unwrap();
    let specific = &answer["hookSpecificOutput"];
    assert_eq!(specific["hookEventName"], "PostToolUse");
    let replaced = &specific["updatedToolOutput"];
    assert_eq!(replaced["interrupted"], false);
    let shown = replaced["stdout"].as_str().unwrap();
    assert!(shown.len() < 12_000 && shown.starts_with("line number 0 "));
    let spill = shown
        .split("whole output: ")
        .nth(1)
        .unwrap()
        .split(']')
        .next()
        .unwrap();
    assert!(
        spill.starts_with(
            repo.path()
                .join(".operator/.compress-spill")
                .to_str()
                .unwrap()
        )
    );
    assert_eq!(std::fs::read_to_string(spill).unwrap(), long());

    hook(&repo, "SessionStart", json!({"source": "clear"})).run();
    assert!(!std::path::Path::new(spill).exists());
}

#[test]
fn output_of_the_gate_and_short_output_are_not_answered() {
    let repo = Repo::new();
    repo.commit("a");
    repo.write(".operator/.gitignore", "*\n");
    for payload in [
        bash("git operator log", &long()),
        bash("cat .operator/VERDICTS.md", &long()),
        bash("ls", "short\n"),
    ] {
        hook(&repo, "PostToolUse", payload).check();
    }
    hook(&repo, "PostToolUse", bash("make", &long()))
        .env("CC_OPERATOR_COMPRESS", "0")
        .check();
    assert!(!repo.path().join(".operator/.compress-spill").exists());
}

#[test]
fn a_failure_between_two_equal_outputs_is_not_passed_over() {
    let repo = Repo::new();
    repo.commit("a");
    repo.write(".operator/.gitignore", "*\n");
    let output: String = (0..60)
        .map(|i| format!("{i} of the status lines\n"))
        .collect();
    let shown = || {
        hook(&repo, "PostToolUse", bash("make check", &output))
            .run()
            .stdout
    };
    assert_eq!(shown(), "");
    assert!(shown().contains("bytes as the output of `make check` before"));
    let failed = json!({"tool_name": "Bash", "tool_input": {"command": "make check"},
        "tool_use_id": "toolu_2", "error": "Exit code 1\nbroken"});
    hook(&repo, "PostToolUseFailure", failed).run();
    assert_eq!(shown(), "");
}

#[test]
fn a_secret_is_masked_in_a_payload_that_is_not_proper_json() {
    let repo = Repo::new();
    repo.commit("a");
    let key = format!("ghp_{}", "a1B2c3".repeat(6));
    for odd in [&b"\\ud800"[..], b"\x01", b"\xff\xfe", b"\\x"] {
        for (input, stdout) in [(odd, &b""[..]), (b"", odd)] {
            let payload = [
                b"{\"session_id\":\"S1\",\"cwd\":\"" as &[u8],
                repo.path().to_str().unwrap().as_bytes(),
                b"\",\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Bash\",\"tool_use_id\":\"t\",",
                b"\"tool_input\":{\"command\":\"x",
                input,
                b"\"},\"tool_response\":{\"stdout\":\"k ",
                key.as_bytes(),
                b" ",
                stdout,
                b"\",\"stderr\":\"\"}}",
            ]
            .concat();
            let output = repo.operator(["hook"]).stdin(payload).run();
            let answer: Value = serde_json::from_str(&output.stdout).unwrap();
            let shown = &answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"];
            let shown = shown.as_str().unwrap();
            assert!(shown.starts_with("k [masked:github-token] "), "{shown}");
        }
    }
    let without = json!({"tool_name": "Bash", "tool_use_id": "t",
        "tool_response": {"stdout": key, "stderr": ""}});
    let output = hook(&repo, "PostToolUse", without).run();
    assert!(output.stdout.contains("[masked:github-token]"));
}
