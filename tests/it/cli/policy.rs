use std::fs;

use crate::support::Repo;

pub(crate) const FIRST: &str = "\
on: [file.write]
when: { builtin: max-lines, with: { max: 400 } }
then: [restore, block] # a file tool is refused up front; a file a shell wrote is restored
";
pub(crate) const OTHERS: &str = "\
on: [file.write]
when: { cel: \"event.data.via != 'shell' && size(work.foreign) > 0\" }
---
on: [tool.result, tool.error]
when: { cel: \"work.call != null && size(work.call.foreign) > 0 && size(work.call.written) > 0\" }
then: [restore, block]
---
on: [turn.end]
when: { cel: \"size(work.uncommitted) > 0\" }
";

fn repo() -> Repo {
    let repo = Repo::new();
    repo.write(".operator/policies/max-lines.yaml", FIRST);
    repo.write(".operator/policies/deep/respect.yaml", OTHERS);
    repo
}

#[test]
fn the_four_policies_are_read_as_they_are() {
    let repo = repo();
    repo.write(".operator/policies/README.md", "x");
    let output = repo.operator(["policy", "check"]).run();
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    assert!(!output.stdout.contains("error["), "{}", output.stdout);
    assert!(
        output
            .stdout
            .ends_with("6 policies in 2 files: 0 errors, 4 warnings\n")
    );
    repo.operator(["policy", "list"])
        .stdout(
            "policy-files  built-in  enforce  file.write,file.delete  restore,ask    builtin/policy-files:1\n\
             ledger-files  built-in  enforce  file.write              restore,block  builtin/ledger-files:1\n\
             respect#1     project   enforce  file.write              block          .operator/policies/deep/respect.yaml:1\n\
             respect#2     project   enforce  tool.result,tool.error  restore,block  .operator/policies/deep/respect.yaml:4\n\
             respect#3     project   enforce  turn.end                block          .operator/policies/deep/respect.yaml:8\n\
             max-lines     project   enforce  file.write              restore,block  .operator/policies/max-lines.yaml:1\n",
        )
        .stderr("left aside: .operator/policies/README.md: its name does not end in .yaml or .yml\n")
        .check();
}

#[test]
fn a_fault_is_shown_with_line_and_caret() {
    let repo = Repo::new();
    repo.write(
        ".operator/policies/a.yaml",
        "on: [turn.end]\nwhen: { cel: \"size(work.foregin) > 0\" }\n",
    );
    repo.operator(["policy", "check"])
        .stdout(
            "error[E06] .operator/policies/a.yaml:2:25: unknown field 'work.foregin', did you mean 'foreign'?\n \
             2 | when: { cel: \"size(work.foregin) > 0\" }\n   |                         ^\n\
             2 policies in 1 files: 1 errors, 0 warnings\n",
        )
        .exit(1)
        .check();
}

#[test]
fn a_broken_file_is_used_as_it_is_at_head() {
    let repo = repo();
    repo.git(["add", "-A"]);
    repo.git(["commit", "-qm", "a"]);
    repo.write(".operator/policies/max-lines.yaml", "on: [file.wrte]\n");
    let output = repo.operator(["policy", "check"]).run();
    assert_eq!(output.code, 1);
    let told = "max-lines.yaml: the version at HEAD is used meanwhile (max-lines)\n";
    assert!(output.stdout.contains(told), "{}", output.stdout);
    let output = repo.operator(["policy", "explain", "max-lines"]).run();
    assert!(output.stdout.contains("this is the version at HEAD"));
}

#[test]
fn a_link_among_the_policies_is_left_aside() {
    let repo = repo();
    let outside = repo.dir().join("outside.yaml");
    fs::write(&outside, "on: [tool.call]\n").unwrap();
    std::os::unix::fs::symlink(&outside, repo.path().join(".operator/policies/l.yaml")).unwrap();
    let output = repo.operator(["policy", "list"]).run();
    assert!(!output.stdout.contains("l.yaml"), "{}", output.stdout);
    assert!(output.stderr.contains("it is a link or no regular file"));
}

#[test]
fn a_trace_shows_every_part_and_touches_nothing() {
    let repo = repo();
    repo.git(["add", "-A"]);
    repo.git(["commit", "-qm", "a"]);
    let before = repo.git(["status", "--porcelain", "-uall", "--ignored"]);
    let large = "x\n".repeat(401);
    let output = repo
        .operator([
            "policy",
            "trace",
            "--write",
            "a.rs",
            "--content",
            "-",
            "--exit-code",
        ])
        .stdin(large)
        .run();
    assert_eq!((output.code, output.stderr.as_str()), (1, ""));
    let text = output.stdout;
    for part in [
        "event   file.write a.rs  via=tool  applied=false  known=true  lines=401\n",
        "BLOCK   max-lines  .operator/policies/max-lines.yaml:1",
        "true    builtin max-lines: 'a.rs' would have 401 lines; the limit is 400\n",
        "restore  nothing to put back\n",
        "false     size(work.foreign) > 0\n",
        "work.foreign = []\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.ends_with("answer  block\n"), "{text}");
    assert_eq!(
        repo.git(["status", "--porcelain", "-uall", "--ignored"]),
        before
    );
    assert!(!repo.path().join(".git/operator/policy-log").exists());
}

#[test]
fn a_payload_is_traced_as_the_hook_would_judge_it() {
    let repo = repo();
    let payload = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"u",
        "tool_input":{"command":"cat x > .operator/VERDICTS.md"}}"#;
    let output = repo
        .operator(["policy", "trace", "--event", "-", "--json"])
        .stdin(payload)
        .run();
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let last = output.stdout.lines().last().unwrap();
    assert_eq!(
        last,
        r#"{"v":1,"type":"answer","level":"block","restore":[]}"#
    );
    repo.operator(["policy", "trace", "--event", "-"])
        .stdin("{")
        .stderr("error: cannot read the event: EOF while parsing an object at line 1 column 1\n")
        .exit(1)
        .check();
}

#[test]
fn tests_are_run_and_a_failing_one_is_told() {
    let repo = Repo::new();
    let policy = "on: [tool.call]\nwhen: { builtin: command, with: { deny: [\"rm -r\"] } }\ntests:\n  \
        - { name: rm, event: tool.call, data: { command: rm -rf x }, expect: block }\n  \
        - { name: ls, event: tool.call, data: { command: ls }, expect: none }\n";
    repo.write(".operator/policies/a.yaml", policy);
    repo.operator(["policy", "test", "--coverage", "--mutate"])
        .stdout("2 passed, 0 failed\ncoverage: 2 of 2 shown (100 %)\nmutation: 0 of 0 noticed (100 %)\n")
        .check();
    repo.write(
        ".operator/policies/a.yaml",
        policy.replace("expect: none", "expect: ask"),
    );
    repo.operator(["policy", "test", "-k", "ls"])
        .stdout(
            "FAIL .operator/policies/a.yaml:5 a: ls\n  expected ask, got none\n    pass a: no command matches\n\
             0 passed, 1 failed\n",
        )
        .exit(1)
        .check();
    let tap = "1..2\nok 1 - a: rm\nnot ok 2 - a: ls\n# expected ask, got none\n#   pass a: no command matches\n";
    repo.operator(["policy", "test", "--format", "tap"])
        .stdout(tap)
        .exit(1)
        .check();
    let junit = repo.operator(["policy", "test", "--format", "junit"]).run();
    assert!(
        junit
            .stdout
            .contains("tests=\"2\" failures=\"1\" skipped=\"0\"")
    );
    Repo::new()
        .operator(["policy", "test"])
        .stdout("0 passed, 0 failed\n")
        .exit(5)
        .check();
}

#[test]
fn a_new_policy_passes_its_own_check() {
    let repo = Repo::new();
    repo.operator(["policy", "new", "small"])
        .stderr("error: cannot write '.operator/policies/small.yaml': the project was not started\nhint: git operator start\n")
        .exit(1)
        .check();
    fs::create_dir(repo.path().join(".operator")).unwrap();
    repo.operator(["policy", "new", "small"])
        .stdout("wrote .operator/policies/small.yaml\n")
        .check();
    repo.operator(["policy", "check", "--strict"])
        .stdout("3 policies in 1 files: 0 errors, 0 warnings\n")
        .check();
    repo.operator(["policy", "test", "--coverage"])
        .stdout("3 passed, 0 failed\ncoverage: 6 of 6 shown (100 %)\n")
        .check();
    repo.operator(["policy", "new", "small"])
        .stderr("error: cannot write '.operator/policies/small.yaml': it is there already\n")
        .exit(1)
        .check();
}

#[test]
fn an_agent_cannot_pause_policies() {
    let repo = repo();
    repo.operator(["policy", "pause", "--for", "10m"])
        .stderr("error: cannot pause policies: only a person at a terminal can\n")
        .exit(1)
        .check();
    repo.operator(["policy", "pause", "--end"])
        .stdout("policies were not paused\n")
        .check();
}

#[test]
fn names_are_described() {
    let repo = Repo::outside();
    let output = repo
        .operator(["policy", "schema", "builtin/git-guard"])
        .run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stdout.starts_with("builtin/git-guard: matches when"));
    repo.operator(["policy", "schema", "file.wrte"])
        .stderr(
            "error: cannot describe 'file.wrte': there is no 'file.wrte', did you mean 'file.write'?\n\
             hint: git operator policy schema\n",
        )
        .exit(1)
        .check();
}
