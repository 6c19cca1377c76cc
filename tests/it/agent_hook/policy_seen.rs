//! What policies see of a call, and when.

use serde_json::{Value, json};

use super::policy::{denied, policy, tool};

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
