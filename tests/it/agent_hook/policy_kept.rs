//! Policies that somebody tries to be rid of.

use std::{fs, path::Path};

use serde_json::Value;

use super::policy::{denied, policy, shell, write};

const NO_B: &str = "on: [file.write]\npaths: [b]\n";
const OFF: &str = "id: policy-files\nenabled: false\n";

fn is_asked(answer: &Value) -> bool {
    answer["hookSpecificOutput"]["permissionDecision"] == "ask"
}

#[test]
fn a_policy_that_a_command_takes_away_stands_until_that_is_committed() {
    let removed: [fn(&Path); 4] = [
        |top| fs::remove_file(top.join(".operator/policies/p.yaml")).unwrap(),
        |top| {
            fs::remove_file(top.join(".operator/policies/p.yaml")).unwrap();
            fs::create_dir(top.join(".operator/policies/p.yaml")).unwrap();
        },
        |top| fs::rename(top.join(".operator/policies/p.yaml"), top.join("p.yaml")).unwrap(),
        |top| fs::rename(top.join(".operator"), top.join("x")).unwrap(),
    ];
    for (number, remove) in removed.into_iter().enumerate() {
        for work in ["true", "false"] {
            let repo = policy(NO_B);
            repo.git(["config", "operator.work", work]);
            let (_, answer) = shell(&repo, "u1", "x", || remove(repo.path()));
            if work == "true" {
                assert_eq!(answer["decision"], "block", "{number}: {answer}");
                let reason = answer["reason"].as_str().unwrap();
                assert!(
                    reason.contains("[policy-files] '.operator/policies/p.yaml'"),
                    "{reason}"
                );
            }
            let refused = write(&repo, "b", "x");
            assert_ne!(refused, Value::Null, "{number} {work}");
            assert!(denied(&refused).contains("[p]"), "{number}: {refused}");
            repo.git(["add", "-A"]);
            repo.git(["commit", "-qm", "gone"]);
            assert_eq!(write(&repo, "b", "x"), Value::Null, "{number}");
        }
    }
}

#[test]
fn what_is_on_by_default_is_switched_off_by_a_commit_only() {
    for place in [
        ".operator/policies/z.yaml",
        ".operator/policies.local/z.yaml",
    ] {
        let repo = policy(NO_B);
        repo.git(["config", "operator.work", "true"]);
        repo.write(".git/info/exclude", ".operator/policies.local/\n");
        let (_, answer) = shell(&repo, "u1", "python3 x", || repo.write(place, OFF));
        let is_tracked = !place.contains("local");
        assert_eq!(answer["decision"] == "block", is_tracked, "{answer}");
        assert_eq!(repo.path().join(place).exists(), !is_tracked);
        repo.write(place, OFF);
        assert!(
            is_asked(&write(&repo, ".operator/policies/a.yaml", "x")),
            "{place}"
        );
    }
    let repo = policy(OFF);
    assert_eq!(write(&repo, ".operator/policies/a.yaml", "x"), Value::Null);
}
