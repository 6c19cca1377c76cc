//! The workflows, run by node with a scripted `agent()`.

use std::process::Command;

use super::{at, files, text};

/// Set where the tests must not be skipped for want of node.
const REQUIRED: &str = "OPERATOR_TESTS_NEED_NODE";

#[test]
#[expect(clippy::disallowed_methods, reason = "the job that has node says so")]
fn the_workflows_behave_with_dead_and_lying_seats() {
    let version = Command::new("node").arg("--version").output();
    if version.is_err() {
        assert!(
            std::env::var_os(REQUIRED).is_none(),
            "node is not installed"
        );
        eprintln!("SKIPPED: node is not installed, so no workflow was run");
        return;
    }
    let output = Command::new("node")
        .arg("--test")
        .args(files("tests/workflows", ".test.mjs"))
        .current_dir(at(""))
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{shown}");
    let passed = shown.lines().find_map(|line| line.strip_prefix("# pass "));
    let passed: usize = passed.expect("a count of tests").parse().unwrap();
    assert!(passed >= 40, "{shown}");
}

#[test]
fn every_seat_of_a_workflow_is_an_agent_of_the_plugin() {
    let mut seats = 0;
    for path in files("plugin/workflows", ".js") {
        for rest in text(&path).split("agentType: '").skip(1) {
            let name = rest.split('\'').next().unwrap();
            let seat = name
                .strip_prefix("cc-operator:")
                .expect("an agent of the plugin");
            assert!(
                at(&format!("plugin/agents/{seat}.md")).is_file(),
                "{path}: {name}"
            );
            seats += 1;
        }
    }
    assert!(seats >= 7, "{seats}");
}

/// The client lets a workflow import nothing, so what they share stands in each: the same, to the byte.
#[test]
fn what_workflows_share_is_the_same_in_each() {
    let workflows: Vec<String> = files("plugin/workflows", ".js")
        .iter()
        .map(|path| text(path))
        .collect();
    for name in ["refuse", "parsed", "textOf", "readTiers", "seat"] {
        let mut copies: Vec<&str> = workflows.iter().map(|text| function(text, name)).collect();
        copies.dedup();
        assert_eq!(copies.len(), 1, "{name} differs");
    }
}

fn function<'a>(text: &'a str, name: &str) -> &'a str {
    let head = format!("function {name}(");
    let start = text.find(&head).unwrap_or_else(|| panic!("no {head}"));
    let end = text[start..].find("\n}\n").expect("it ends") + start;
    &text[start..end]
}
