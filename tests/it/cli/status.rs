use git_operator::model::{Class, Outcome, RecordId};
use serde_json::{Value, json};

use super::lines;
use crate::{
    store::{commit, open, store, verdict},
    support::Repo,
};

/// Two tasks of S1, one of S2 in a linked worktree, one of nobody, two decisions.
fn busy() -> Repo {
    let repo = Repo::new();
    repo.commit("a");
    let linked = repo.worktree("linked");
    repo.operator(["task", "T-1", "--owner", "S1"]).run();
    repo.tick();
    repo.operator(["task", "a b", "--owner", "S1"]).run();
    linked.operator(["task", "T-2", "--owner", "S2"]).run();
    repo.operator(["task", "free"]).run();
    for (kind, owner) in [
        ("DEVIATION", "S1"),
        ("ESCALATION", "S2"),
        ("DECISION", "S1"),
    ] {
        repo.operator(["decide", kind, "what", "--why", "why", "--owner", owner])
            .run();
    }
    repo
}

#[test]
fn what_is_open_is_listed_by_whose_it_is() {
    let repo = busy();
    let deviation = lines(&repo, &["log", "--kind", "DEVIATION", "--format", "%h"]).remove(0);
    repo.operator(["status", "--owner", "S1"])
        .stdout(format!(
            "Open tasks of session S1, which hold its Stop back:\n\
             \x20 (use \"git operator run <task> <criterion> -- <command>\" to earn a PASS, \
             \"git operator defer <task> <reason>\" to close one without)\n\
             \x20 T-1  S1  2026-01-01 00:01\n\
             \x20 a b  S1  2026-01-01 00:02\n\
             Open tasks of nobody, which hold every session back:\n\
             \x20 (use \"git operator adopt --owner <session> <task>\" to take one over)\n\
             \x20 free  -  2026-01-01 00:02\n\
             Open tasks of other sessions, which hold only those back:\n\
             \x20 (use \"git operator adopt --owner <session> <task>\" to take one over)\n\
             \x20 T-2  S2  2026-01-01 00:01  in worktree linked\n\
             Decisions nobody was shown, which hold a Stop back:\n\
             \x20 (use \"git operator handoff --mark\" once people have read them)\n\
             \x20 {deviation} DEVIATION -: what\n"
        ))
        .check();
}

#[test]
fn json_says_the_same() {
    let repo = busy();
    let output = repo
        .operator(["status", "--json"])
        .env("CLAUDE_CODE_SESSION_ID", "S2")
        .run();
    let values: Vec<Value> = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let tasks: Vec<[&str; 3]> = values
        .iter()
        .filter(|value| value["type"] == "task")
        .map(|value| ["task", "whose", "worktree"].map(|name| value[name].as_str().unwrap()))
        .collect();
    assert_eq!(
        tasks,
        [
            ["T-2", "mine", "linked"],
            ["free", "unowned", "."],
            ["T-1", "foreign", "."],
            ["a b", "foreign", "."]
        ]
    );
    let decisions: Vec<&Value> = values
        .iter()
        .filter(|value| value["type"] == "decision")
        .collect();
    assert_eq!(decisions.len(), 1);
    assert_eq!(decisions[0]["decision"], json!("ESCALATION"));
}

#[test]
fn nothing_open_is_said() {
    let repo = Repo::new();
    repo.operator(["status"])
        .stdout("no task is open\n")
        .check();
    repo.operator(["status", "--json"]).check();
}

#[test]
fn heads_that_differ_are_contested() {
    let repo = Repo::new();
    let store = store(&repo);
    let opened = commit(&store, &[open("T")]).records.remove(0);
    let says = |outcome, after: Vec<RecordId>| {
        let mut draft = verdict("T", Some(opened.id), Class::Asserted, outcome);
        draft.after = after;
        draft
    };
    // Both name only the opening as what they had seen, as two clones would.
    commit(&store, &[says(Outcome::Pass, vec![opened.id])]);
    commit(&store, &[says(Outcome::Fail, vec![opened.id])]);
    repo.operator(["status"])
        .stdout(
            "no task is open\nContested criteria, which count as not passed:\n  T: suite passes\n",
        )
        .check();
}

#[test]
fn an_unreadable_task_file_is_named() {
    let repo = busy();
    let dir = repo.path().join(".git/operator/tasks");
    let file = std::fs::read_dir(&dir)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    std::fs::write(&file, "{").unwrap();
    let shown = lines(&repo, &["status", "--owner", "S1"]).join("\n");
    assert!(
        shown.contains("Entries that cannot be read and hold every session back:"),
        "{shown}"
    );
    assert!(shown.contains(&file.display().to_string()), "{shown}");
}

#[test]
fn a_read_only_repository_can_be_read() {
    use std::{fs, os::unix::fs::PermissionsExt};
    let repo = busy();
    let before = lines(&repo, &["status"]);
    let dirs = [".git", ".git/operator", ".git/operator/tasks", "."];
    let mode = |bits| {
        for dir in dirs {
            let path = repo.path().join(dir);
            fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
        }
    };
    mode(0o555);
    let (status, log) = (lines(&repo, &["status"]), lines(&repo, &["log"]));
    mode(0o755);
    assert_eq!(status, before);
    assert_eq!(log.len(), 7);
}

/// What a command prints for a terminal of so many columns.
fn narrow(repo: &Repo, args: &[&str], columns: usize) -> Vec<String> {
    let output = repo
        .operator(args)
        .env("GIT_PAGER_IN_USE", "1")
        .env("COLUMNS", columns.to_string())
        .run();
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{args:?}");
    let plain = regex::Regex::new("\x1b\\[[0-9]*m").unwrap();
    let text = plain.replace_all(&output.stdout, "").into_owned();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let repo = busy();
    for (task, text) in [("T-1", "日本語".repeat(30)), ("a b", "w".repeat(300))] {
        let verdict = ["verdict", task, &text, &text, "PASS", "--owner", "S1"];
        assert_eq!(repo.operator(verdict).run().code, 0);
    }
    repo.commit("b");
    let commands: [&[&str]; 4] = [
        &["status", "--owner", "S1"],
        &["status"],
        &["log"],
        &["log", "--graph"],
    ];
    for args in commands {
        for columns in [20, 39, 40, 63, 64, 80] {
            for line in narrow(&repo, args, columns) {
                let width = git_operator::ui::width(&line);
                assert!(width <= columns, "{args:?} in {columns}: {width}: {line}");
            }
        }
    }
}

#[test]
fn what_passed_on_another_source_is_stale() {
    let repo = Repo::new();
    repo.commit("a");
    repo.operator(["task", "T", "--owner", "S1"]).run();
    repo.operator(["verdict", "T", "it holds", "seen", "PASS", "--owner", "S1"])
        .run();
    repo.operator(["status"])
        .stdout("no task is open\n")
        .check();
    let made = repo.head();
    repo.commit("b");
    let id = lines(&repo, &["log", "--outcome", "PASS", "--format", "%h"]).remove(0);
    repo.operator(["status"])
        .stdout(format!(
            "no task is open\n\
             Criteria that passed on another source than HEAD's:\n\
             \x20 (use \"git operator verify\" to see what changed)\n\
             \x20 it holds: {id} of T made at {}: stale\n",
            &made[..12]
        ))
        .check();
    repo.operator(["task", "U", "--owner", "S1"]).run();
    repo.operator(["verdict", "U", "it holds", "seen", "PASS", "--owner", "S1"])
        .run();
    repo.operator(["status"])
        .stdout("no task is open\n")
        .check();
}
