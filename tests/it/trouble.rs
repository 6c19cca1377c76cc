//! Trouble from outside: a clock that goes back, a writer that is stopped in the middle.

use std::fs::File;

use serde_json::{Value, json};

use crate::{agent_hook::hook, support::Repo};

/// Records a PASS on a task of its own, at `date`.
fn pass(repo: &Repo, (task, date): (&str, &str)) {
    for words in [&["task", task][..], &["verdict", task, "c", "ok", "PASS"]] {
        let line = repo.operator(words).args(["--owner", "S1"]);
        let output = line.env("GIT_COMMITTER_DATE", date).run();
        assert_eq!(output.code, 0, "{}", output.stderr);
    }
}

#[test]
fn a_clock_that_goes_back_changes_no_order() {
    let repo = Repo::new();
    repo.operator(["start"]).run();
    let dates = [
        ("now", "@1900000000"),
        ("back", "@1000000000"),
        ("on", "@1500000000"),
    ];
    for entry in dates {
        pass(&repo, entry);
    }
    let log = repo.operator(["log", "--kind", "verdict", "--json"]).run();
    let records = log
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let tasks: Vec<Value> = records.map(|record| record["task"].clone()).collect();
    assert_eq!(tasks, ["on", "back", "now"]);
    let times = repo.git(["log", "--format=%ct", "refs/operator/ledger"]);
    let times: Vec<u64> = times.lines().map(|time| time.parse().unwrap()).collect();
    assert_eq!(times.len(), 6);
    assert!(
        times.is_sorted_by(|later, earlier| later >= earlier),
        "{times:?}"
    );
    let view = repo.read(".operator/VERDICTS.md");
    let rows: Vec<&str> = view
        .lines()
        .skip(3)
        .filter_map(|row| row.split(' ').nth(1))
        .collect();
    assert_eq!(rows, ["now", "back", "on"]);
    repo.operator(["render", "--check"]).run();
    hook(&repo, "Stop", json!({})).check();
}

#[test]
fn beside_a_writer_that_is_stopped_a_command_records_nothing_and_a_hook_goes_on() {
    let repo = Repo::new();
    repo.operator(["start"]).run();
    repo.operator(["task", "open", "--owner", "S1"]).run();
    let lock = repo.path().join(".git/operator/lock");
    let holder = File::options().write(true).open(&lock).unwrap();
    holder.lock().unwrap();
    let tip = repo.git(["rev-parse", "refs/operator/ledger"]);
    let refused = repo.operator(["task", "new", "--owner", "S1"]).run();
    assert_eq!((refused.code, refused.stdout.as_str()), (1, ""));
    assert!(
        refused.stderr.contains("not recorded"),
        "{}",
        refused.stderr
    );
    for event in ["SessionStart", "PreToolUse", "PostToolUse", "SessionEnd"] {
        let call =
            json!({"tool_name": "Bash", "tool_use_id": "u", "tool_input": {"command": "true"}});
        assert_eq!(hook(&repo, event, call).run().code, 0, "{event}");
    }
    assert_eq!(hook(&repo, "Stop", json!({})).run().code, 2);
    assert_eq!(repo.git(["rev-parse", "refs/operator/ledger"]), tip);
    drop(holder);
    assert_eq!(
        repo.operator(["task", "new", "--owner", "S1"]).run().code,
        0
    );
}
