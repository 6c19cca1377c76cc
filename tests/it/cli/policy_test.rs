//! `policy test`: scenarios, the corpus, updated expectations, events judged again.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Value, json};

use crate::{
    agent_hook::policy::{SESSION, policy, sent, shell, tool},
    support::Repo,
};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/policy");

fn corpus() -> Vec<String> {
    let files = fs::read_dir(CORPUS).unwrap();
    let mut files: Vec<String> = files
        .map(|entry| entry.unwrap().path().display().to_string())
        .collect();
    files.sort();
    files
}

#[test]
fn the_corpus_passes_and_its_scores_are_printed() {
    let repo = Repo::outside();
    let mut args = vec!["policy", "test", "--coverage", "--mutate"];
    let files = corpus();
    args.extend(files.iter().map(String::as_str));
    let output = repo.operator(args).run();
    let lines: Vec<&str> = output.stdout.lines().collect();
    let (passed, rest) = lines[0].split_once(" passed, ").unwrap();
    assert_eq!(rest, "0 failed", "{}", output.stdout);
    assert!(passed.parse::<usize>().unwrap() >= 450, "{passed}");
    assert!(
        lines[1].starts_with("coverage: ") && lines[1].ends_with(" shown (100 %)"),
        "{}",
        lines[1]
    );
    let score = lines.last().unwrap();
    let (noticed, tried) = score
        .strip_prefix("mutation: ")
        .and_then(|score| score.split_once(" noticed"))
        .and_then(|(counts, _)| counts.split_once(" of "))
        .unwrap();
    let (noticed, tried): (usize, usize) = (noticed.parse().unwrap(), tried.parse().unwrap());
    assert!(tried >= 80 && noticed * 10 >= tried * 9, "{score}");
}

#[test]
fn no_two_cases_of_the_corpus_are_one() {
    let repo = Repo::outside();
    let files = corpus();
    let mut args = vec!["policy", "test", "--format", "json"];
    args.extend(files.iter().map(String::as_str));
    let output = repo.operator(args).run();
    let mut cases = BTreeSet::new();
    let mut count = 0;
    for line in output.stdout.lines() {
        let result: Value = serde_json::from_str(line).unwrap();
        assert_eq!(result["result"], "passed", "{line}");
        let file = fs::read_to_string(Path::new(result["file"].as_str().unwrap())).unwrap();
        let number = usize::try_from(result["line"].as_u64().unwrap()).unwrap();
        let text = file.lines().nth(number - 1).unwrap();
        // What a case gives and expects, without its name.
        let given = text.split_once("event:").map_or(text, |(_, given)| given);
        count += 1;
        cases.insert(format!("{} {given}", result["policy"]));
    }
    assert!(count >= 450, "{count}");
    assert!(
        cases.len() * 100 >= count * 99,
        "{} of {count} differ",
        cases.len()
    );
}

#[test]
fn a_scenario_that_ends_otherwise_fails_with_its_step() {
    let repo = policy(
        "id: short\non: [file.write]\nwhen: { builtin: max-lines, with: { max: 1 } }\nthen: [restore, block]\ntests:\n\
         \x20 - name: it is put back\n    repo: { a: \"one\\n\" }\n    steps:\n\
         \x20     - call: { command: x, does: { write: { a: \"1\\n2\\n\", \"b c/d\": \"x\\n\" } } }\n\
         \x20     - expect: { decision: warn, restore: [b], file: { a: \"1\\n2\\n\", \"b c/d\": null } }\n",
    );
    repo.operator(["policy", "test"])
        .stdout(
            "FAIL .operator/policies/p.yaml:6 short: it is put back\n  \
             step 2: expected warn, got block by short\n  step 2:   match short: \n  step 2:   pass short: 1 lines, the limit is 1\n  \
             step 2: expected to restore [b], got [a]\n  \
             step 2: expected 'a' to hold \"1\\n2\\n\", it holds \"one\\n\"\n  \
             step 2: expected 'b c/d' to hold null, it holds \"x\\n\"\n0 passed, 1 failed\n",
        )
        .exit(1)
        .check();
    assert!(
        !repo.path().join("b c").exists(),
        "a scenario has a repository of its own"
    );
}

#[test]
fn a_scenario_is_checked_when_it_is_read() {
    for (steps, fault) in [
        ("[{ cal: {} }]", "unknown field 'cal', did you mean 'call'?"),
        (
            "[{ call: { comand: x } }]",
            "unknown field 'comand', did you mean 'command'?",
        ),
        (
            "[{ user: { wirte: {} } }]",
            "unknown field 'wirte', did you mean 'write'?",
        ),
        (
            "[{ user: { write: { ../a: x } } }]",
            "'../a' is no path below the top of a repository",
        ),
        (
            "[{ user: { delete: .git/config } }]",
            "'.git/config' is no path below the top of a repository",
        ),
        ("[{ stop: true }]", "a scenario expects nothing"),
        (
            "[{ stop: true, prompt: x }]",
            "a step is one of user, call, stop, prompt, expect",
        ),
    ] {
        let repo = policy(&format!(
            "on: [turn.end]\nwhen: {{ builtin: clean-tree }}\ntests:\n  - {{ name: a, repo: {{}}, steps: {steps} }}\n"
        ));
        let output = repo.operator(["policy", "test"]).run();
        assert_eq!(output.code, 1, "{steps}");
        assert!(output.stdout.contains(fault), "{steps}: {}", output.stdout);
    }
}

#[test]
fn what_is_decided_now_can_be_written_into_the_tests() {
    let text = "on: [tool.call]\nwhen: { builtin: command, with: { deny: [\"rm -r\"] } }\ntests:\n  \
        - { name: rm, event: tool.call, data: { command: rm -r x }, expect: none }\n  \
        - { name: ls, event: tool.call, data: { command: ls }, expect: { decision: block, message: x } }\n  \
        - { name: message, event: tool.call, data: { command: rm -r y }, expect: { decision: block, message: nope } }\n";
    let repo = policy(text);
    let output = repo.operator(["policy", "test", "--update"]).run();
    assert_eq!(output.code, 1);
    for line in [
        "updated .operator/policies/p.yaml:4 p: rm: none is block now\n",
        "updated .operator/policies/p.yaml:5 p: ls: block is none now\n",
        "left    .operator/policies/p.yaml:6 p: message\n",
    ] {
        assert!(output.stdout.contains(line), "{line}: {}", output.stdout);
    }
    let changed = fs::read_to_string(repo.path().join(".operator/policies/p.yaml")).unwrap();
    let expected = text
        .replace("rm -r x }, expect: none", "rm -r x }, expect: block")
        .replace(
            "{ decision: block, message: x }",
            "{ decision: none, message: x }",
        );
    assert_eq!(changed, expected);
}

#[test]
fn recorded_events_are_judged_again_by_the_policies_as_they_are() {
    let repo = policy(
        "id: quiet\non: [tool.call]\nwhen: { cel: \"event.data.command.contains('rm')\" }\nthen: [warn]\n",
    );
    let call = |id: &str, command: &str| {
        tool(
            &repo,
            "PreToolUse",
            id,
            ("Bash", json!({ "command": command })),
        );
    };
    call("u1", "ls");
    call("u2", "rm x");
    let replay =
        |session: &'static str| repo.operator(["policy", "test", "--replay", session]).run();
    let same = replay("last");
    assert_eq!(
        (same.code, same.stdout.as_str()),
        (
            0,
            "2 events judged again, 0 decided otherwise, 0 not judged\n"
        )
    );
    repo.write(
        ".operator/policies/p.yaml",
        "id: strict\non: [tool.call]\nwhen: { cel: \"event.data.command == 'ls'\" }\n",
    );
    let other = replay(SESSION);
    assert_eq!(other.code, 1);
    let lines: Vec<&str> = other
        .stdout
        .lines()
        .map(|line| &line[line.find("PreToolUse").unwrap_or(0)..])
        .collect();
    assert_eq!(
        lines,
        [
            "PreToolUse Bash: none is block by strict now",
            "PreToolUse Bash: warn by quiet is none now",
            "2 events judged again, 2 decided otherwise, 0 not judged",
        ]
    );
    let none = replay("S9");
    assert_eq!(
        (none.code, none.stderr.as_str()),
        (1, "error: cannot replay 'S9': no event of it is recorded\n")
    );
}

#[test]
fn an_event_of_the_largest_content_is_judged_again() {
    let repo = policy("id: p\non: [file.write]\nwhen: { builtin: max-lines, with: { max: 3 } }\n");
    repo.write("b", "old\n".repeat(250_000));
    let content = "new\n".repeat(250_000);
    let input = json!({ "file_path": repo.path().join("b"), "content": content });
    tool(&repo, "PreToolUse", "w", ("Write", input));
    let kept = repo.read(".git/operator/policy-events").len();
    assert!(kept < 3_000_000, "{kept} bytes for two texts of a million");
    let replay = || repo.operator(["policy", "test", "--replay", "last"]).run();
    let same = replay();
    assert_eq!(
        (same.code, same.stdout.as_str()),
        (
            0,
            "1 events judged again, 0 decided otherwise, 0 not judged\n"
        )
    );
    repo.write(
        ".operator/policies/p.yaml",
        "id: p\non: [file.write]\nwhen: { cel: \"size(event.data.content) == 1000000 && event.data.before.startsWith('old') && event.input.content == event.data.content\" }\nthen: [warn]\n",
    );
    let other = replay();
    assert!(
        other.stdout.contains(": block by p is warn by p now\n"),
        "{}",
        other.stdout
    );
}

#[test]
fn an_event_too_large_to_be_kept_is_told() {
    let repo = policy("id: p\non: [file.write]\nwhen: { builtin: max-lines, with: { max: 3 } }\n");
    let input = json!({ "file_path": repo.path().join("b"), "content": "x\n".repeat(5_000_000) });
    tool(&repo, "PreToolUse", "w", ("Write", input));
    let output = repo.operator(["policy", "test", "--replay", "last"]).run();
    assert_eq!(output.code, 1);
    assert!(
        output
            .stdout
            .contains("not judged: it was too large to be kept"),
        "{}",
        output.stdout
    );
}

/// The bytes of every file, those of git included.
fn everything(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                found.push((path.display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_trace_shows_the_facts_and_changes_no_byte() {
    let repo = policy(
        "id: alone\non: [tool.result]\nwhen: { cel: \"work.call != null && size(work.call.foreign) > 0 && size(work.call.written) > 0\" }\n\
         then: [restore, block]\n---\nid: named\non: [tool.call]\nwhen: { cel: \"gate.open > 1 || event.branch == 'main' && gate.last.fresh == false\" }\nthen: [warn]\n",
    );
    repo.operator(["task", "T-1", "--owner", SESSION]).run();
    repo.operator(["verdict", "T-1", "c", "seen", "PASS", "--owner", SESSION])
        .run();
    repo.operator(["task", "T-2", "--owner", SESSION]).run();
    repo.write("notes", "mine\n");
    let _ = shell(&repo, "u1", "echo two > a", || {
        fs::write(repo.path().join("a"), "two\n").unwrap();
    });
    repo.write("a", "two\n");
    let before = everything(repo.path());
    let last = repo.operator(["policy", "trace", "--last"]).run();
    assert_eq!((last.code, last.stderr.as_str()), (0, ""));
    for part in [
        "around  session S1  mode default\n",
        "call    id \"u1\"  foreign [\"notes\"]  changed [\"a\"]  written [\"a\"]  restored []\n",
        "event   tool.result echo two > a\n",
        "BLOCK   alone  .operator/policies/p.yaml:1",
        "true        size(work.call.foreign) > 0\n",
        "restore  would put back a\n",
        "restore would put back a\nanswer  block\n",
    ] {
        assert!(last.stdout.contains(part), "{part}: {}", last.stdout);
    }
    let before_that = repo
        .operator(["policy", "trace", "--last=2", "--session", SESSION])
        .run();
    for part in [
        "event   tool.call echo two > a\n",
        "gate    mine [\"T-2\"]  foreign []  last PASS ",
        " fresh false\n",
        "WARN    named  .operator/policies/p.yaml:6",
        "false     gate.open > 1\n",
        "gate.open = 1\n",
        "event.branch = \"main\"\n",
        "true        gate.last.fresh == false\n",
    ] {
        assert!(
            before_that.stdout.contains(part),
            "{part}: {}",
            before_that.stdout
        );
    }
    let now = repo
        .operator(["policy", "trace", "--command", "make", "--session", SESSION])
        .run();
    for part in [
        "around  session S1  branch main  head ",
        "work    tracked true  foreign [\"notes\"]  mine [\"a\"]",
        "call    id \"\"  foreign [\"notes\"]  changed []  written []  restored []\n",
        "scopes  project 2, local 0, user 0, built-in 2; on other events 3\n",
        "answer  warn\n",
    ] {
        assert!(now.stdout.contains(part), "{part}: {}", now.stdout);
    }
    assert!(everything(repo.path()) == before, "a trace changed a file");
    repo.operator(["policy", "trace", "--last=99"])
        .stderr("error: cannot trace event 99 from the newest: fewer are recorded\n")
        .exit(1)
        .check();
    let (code, ..) = sent(&repo, "Stop", json!({}));
    assert_eq!(code, 2);
}
