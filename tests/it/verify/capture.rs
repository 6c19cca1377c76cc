//! A run's conclusion follows from its process and the two snapshots around it.

use std::{ffi::OsString, fs, os::unix::fs::PermissionsExt, path::Path, time::Duration};

use git_operator::{
    git::{self, Clock, Env, Stamped, Subject, Trust},
    model::{AttemptResult, Class, Evidence, Outcome, RepoPath},
    verify::{
        Screen,
        run::{Conclusion, Place, Plan, Report, prepare},
    },
};

use crate::support::Repo;

const PASS: Conclusion = Conclusion::Verdict(Outcome::Pass);
const FAIL: Conclusion = Conclusion::Verdict(Outcome::Fail);

fn attempt(result: AttemptResult) -> Conclusion {
    Conclusion::Attempt(result)
}

struct Done {
    stamped: Stamped,
    report: Report,
    out: String,
    err: String,
}

fn open(repo: &Repo) -> git::Repo {
    let env = Env::new(repo.env());
    let location = git::locate(repo.path(), &env).unwrap().unwrap();
    git::Repo::open(&location, &env).unwrap()
}

fn plan<'a>(cwd: &'a Path, argv: &[&str]) -> Plan<'a> {
    Plan {
        argv: argv.iter().map(OsString::from).collect(),
        cwd,
        subject: Subject::Worktree,
        place: Place::Worktree,
        trust: Trust::Stat,
        timeout: None,
        junit: None,
        control: None,
        ok_exit: &[],
        roots: &[],
        clock: Clock::default(),
    }
}

fn done(repo: &Repo, plan: Plan<'_>) -> Done {
    let git = open(repo);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let screen = Screen {
        out: &mut out,
        err: &mut err,
    };
    let (stamped, report) = prepare(&git, plan).unwrap().execute(screen).unwrap();
    Done {
        stamped,
        report,
        out: String::from_utf8(out).unwrap(),
        err: String::from_utf8(err).unwrap(),
    }
}

fn run(repo: &Repo, argv: &[&str]) -> Done {
    done(repo, plan(repo.path(), argv))
}

fn sh(repo: &Repo, script: &str) -> Done {
    run(repo, &["sh", "-c", script])
}

fn isolated(repo: &Repo, script: &str) -> Done {
    done(
        repo,
        Plan {
            place: Place::Isolated,
            ..plan(repo.path(), &["sh", "-c", script])
        },
    )
}

fn started() -> Repo {
    let repo = Repo::new();
    repo.write(".gitignore", "target/\n");
    repo.git(["add", "."]);
    repo.commit("a");
    repo
}

#[test]
fn the_exit_code_is_the_outcome() {
    let repo = started();
    for (code, conclusion, exit) in [
        (0, PASS, 0),
        (1, FAIL, 1),
        (101, FAIL, 101),
        (124, FAIL, 124),
        (125, attempt(AttemptResult::Skip), 125),
        (126, attempt(AttemptResult::Error), 125),
        (127, attempt(AttemptResult::Error), 125),
    ] {
        let done = sh(&repo, &format!("exit {code}"));
        assert_eq!(
            (&done.report.conclusion, done.report.exit),
            (&conclusion, exit),
            "{code}"
        );
        assert_eq!(done.report.run.exit, Some(code));
    }
    let done = sh(&repo, "kill -9 $$");
    assert_eq!((done.report.conclusion, done.report.exit), (FAIL, 137));
    assert_eq!(
        (done.report.run.exit, done.report.run.signal),
        (None, Some(9))
    );
}

#[test]
fn what_is_shown_is_what_is_kept() {
    let repo = started();
    let done = sh(&repo, "echo out; echo err >&2");
    assert_eq!((done.out.as_str(), done.err.as_str()), ("out\n", "err\n"));
    let Evidence::Text(text) = done.report.captured.evidence else {
        panic!()
    };
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["err", "out"]);
}

#[test]
fn a_silent_command_is_described() {
    let repo = started();
    let done = sh(&repo, "exit 0");
    let expected = Evidence::Text("sh -c exit 0: exit 0, no output".to_owned());
    assert_eq!(done.report.captured.evidence, expected);
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let repo = started();
    let done = run(&repo, &["no-such-program"]);
    assert_eq!(done.report.conclusion, attempt(AttemptResult::Error));
    assert_eq!((done.report.run.exit, done.report.exit), (Some(127), 125));
    repo.write("not-executable", "x");
    let done = run(&repo, &["./not-executable"]);
    assert_eq!(done.report.run.exit, Some(126));
}

#[test]
fn a_command_that_changes_the_source_proves_nothing() {
    let repo = started();
    let done = sh(&repo, "echo more >> a; echo new > b");
    assert_eq!(done.report.conclusion, attempt(AttemptResult::Mutated));
    assert_eq!(
        done.report.paths,
        [RepoPath::from("a"), RepoPath::from("b")]
    );
    assert_eq!(done.report.exit, 125);
}

#[test]
fn a_commit_during_the_run_proves_nothing() {
    let repo = started();
    let done = sh(&repo, "git commit -q --allow-empty -m x");
    assert_eq!(done.report.conclusion, attempt(AttemptResult::Mutated));
}

#[test]
fn ignored_files_and_the_ledger_directory_may_change() {
    let repo = started();
    let done = sh(
        &repo,
        "mkdir -p target .operator; echo x > target/x; echo y > .operator/y",
    );
    assert_eq!(done.report.conclusion, PASS);
    assert_eq!(done.report.class, Class::Captured);
    assert_eq!(done.report.run.after, done.stamped.subject);
}

#[test]
fn a_time_out_ends_the_whole_group() {
    let repo = started();
    let script = "sleep 1000 & echo $! > target/pid; sleep 1000";
    repo.write("target/x", "");
    let done = done(
        &repo,
        Plan {
            timeout: Some(Duration::from_millis(300)),
            ..plan(repo.path(), &["sh", "-c", script])
        },
    );
    assert_eq!(done.report.conclusion, attempt(AttemptResult::Timeout));
    assert!(done.report.run.timed_out);
    assert_eq!(done.report.exit, 124);
    let pid = repo.read("target/pid");
    let state = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    assert!(state.is_empty() || state.contains(" Z "), "{state}");
}

#[test]
fn a_child_left_behind_does_not_hold_the_run() {
    let repo = started();
    let start = std::time::Instant::now();
    let done = sh(&repo, "sleep 1000 & echo started");
    assert_eq!(done.out, "started\n");
    assert!(start.elapsed() < Duration::from_secs(60));
    assert_eq!(done.stamped.taints, ["weak-command"]);
}

#[test]
fn the_command_sees_no_repository_of_a_hook() {
    let repo = started();
    let env = repo.env().into_iter().chain([
        ("GIT_INDEX_FILE".into(), "/nonexistent".into()),
        ("GIT_AUTHOR_NAME".into(), "kept".into()),
    ]);
    let env = Env::new(env);
    let location = git::locate(repo.path(), &env).unwrap().unwrap();
    let git = git::Repo::open(&location, &env).unwrap();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let screen = Screen {
        out: &mut out,
        err: &mut err,
    };
    let argv = ["sh", "-c", "echo ${GIT_INDEX_FILE-unset} $GIT_AUTHOR_NAME"];
    let prepared = prepare(&git, plan(repo.path(), &argv)).unwrap();
    prepared.execute(screen).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "unset kept\n");
}

#[test]
fn stdin_is_empty() {
    let repo = started();
    assert_eq!(sh(&repo, "cat; exit 3").report.run.exit, Some(3));
}

#[test]
fn a_subdirectory_is_where_it_runs() {
    let repo = started();
    repo.commit("dir/b");
    for place in [Place::Worktree, Place::Isolated] {
        let cwd = repo.path().join("dir");
        let done = done(
            &repo,
            Plan {
                place,
                ..plan(&cwd, &["cat", "b"])
            },
        );
        assert_eq!(done.out, "dir/b\n");
        assert_eq!(done.report.run.cwd, "dir");
    }
}

#[test]
fn an_isolated_run_sees_the_subject_and_nothing_else() {
    let repo = started();
    repo.write(".git/info/exclude", "helper\n");
    repo.write("helper", "x");
    repo.write("target/x", "x");
    repo.write(".operator/VERDICTS.md", "x");
    repo.dirty("a");
    repo.write("new", "n\n");
    assert_eq!(sh(&repo, "test -e helper").report.conclusion, PASS);
    assert_eq!(isolated(&repo, "test -e helper").report.conclusion, FAIL);
    let done = isolated(
        &repo,
        "ls -A; cat a new; git status --porcelain; git log --format=%s -1 HEAD~1",
    );
    assert_eq!(done.out, ".git\n.gitignore\na\nnew\na\ndirty\nn\na\n");
    assert_eq!(
        (done.report.conclusion, done.report.class),
        (PASS, Class::Isolated)
    );
    assert_eq!(done.stamped.taints, ["hidden-untracked:1", "weak-command"]);
    assert_eq!(repo.git(["worktree", "list"]).lines().count(), 1);
    let done = isolated(&repo, "echo x >> a");
    assert_eq!(done.report.conclusion, attempt(AttemptResult::Mutated));
    assert_eq!(done.report.paths, [RepoPath::from("a")]);
}

#[test]
fn an_isolated_run_keeps_modes_links_and_filters() {
    let repo = started();
    repo.write("tool", "#!/bin/sh\necho ran\n");
    fs::set_permissions(repo.path().join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("tool", repo.path().join("link")).unwrap();
    repo.write(".gitattributes", "*.up filter=up\n");
    repo.git(["config", "filter.up.clean", "tr A-Z a-z"]);
    repo.git(["config", "filter.up.smudge", "tr a-z A-Z"]);
    repo.write("x.up", "LOUD\n");
    let done = isolated(&repo, "./link && cat x.up");
    assert_eq!(done.out, "ran\nLOUD\n");
    assert_eq!(done.report.conclusion, PASS);
}

#[test]
fn an_isolated_run_in_a_sha256_repository_without_a_commit() {
    let Some(repo) = Repo::sha256() else { return };
    repo.write("a", "x\n");
    let done = isolated(&repo, "cat a");
    assert_eq!(done.out, "x\n");
    assert_eq!(done.report.conclusion, PASS);
    assert_eq!(done.stamped.stamp.to_string(), "@no-commit");
}

#[test]
fn what_the_index_holds_can_be_the_subject() {
    let repo = started();
    repo.write("a", "staged\n");
    repo.git(["add", "a"]);
    repo.write("a", "not staged\n");
    let index = repo.path().join(".git/index");
    let done = done(
        &repo,
        Plan {
            subject: Subject::Index(index),
            place: Place::Isolated,
            ..plan(repo.path(), &["cat", "a"])
        },
    );
    assert_eq!(done.out, "staged\n");
    repo.git(["commit", "-qm", "staged"]);
    assert_eq!(
        done.stamped.subject.unwrap().to_hex(),
        repo.git(["rev-parse", "HEAD^{tree}"])
    );
}

fn controlled(repo: &Repo, script: &str) -> Done {
    let is_test = |path: &RepoPath| path.as_bytes().starts_with(b"tests/");
    done(
        repo,
        Plan {
            control: Some(&is_test),
            ..plan(repo.path(), &["sh", "-c", script])
        },
    )
}

#[test]
fn a_new_test_that_fails_on_the_base_source_is_controlled() {
    let repo = started();
    repo.branch("topic");
    repo.commit("feature");
    repo.write("tests/t.sh", "test -e feature\n");
    let done = controlled(&repo, "sh tests/t.sh");
    assert_eq!(
        (done.report.conclusion, done.report.class),
        (PASS, Class::Controlled)
    );
    assert_eq!(done.report.run.control, Some(1));
    assert_eq!(done.report.notes, Vec::<String>::new());
}

#[test]
fn a_new_test_that_passes_on_the_base_source_is_not() {
    let repo = started();
    repo.write("tests/t.sh", "test -e a\n");
    let done = controlled(&repo, "sh tests/t.sh");
    assert_eq!(
        (done.report.conclusion, done.report.class),
        (PASS, Class::Captured)
    );
    assert_eq!(done.report.run.control, Some(0));
    assert_eq!(
        done.report.notes,
        ["the changed tests pass on the base source, too"]
    );
    repo.git(["add", "."]);
    repo.commit_staged("tests");
    let done = controlled(&repo, "sh tests/t.sh");
    assert_eq!(
        done.report.notes,
        ["no control run: no test differs from the base"]
    );
}

fn reported(repo: &Repo, script: &str) -> Done {
    done(
        repo,
        Plan {
            junit: Some("target/report.xml".into()),
            ..plan(repo.path(), &["sh", "-c", script])
        },
    )
}

#[test]
fn a_report_counts_and_a_missing_one_is_an_error() {
    let repo = started();
    repo.write("target/x", "");
    let write = |cases: &str| format!("echo '<testsuite>{cases}</testsuite>' > target/report.xml");
    let done = reported(&repo, &write("<testcase/><testcase><skipped/></testcase>"));
    assert_eq!(done.report.conclusion, PASS);
    let tests = done.report.run.tests.unwrap();
    assert_eq!((tests.passed, tests.failed, tests.skipped), (1, 0, 1));
    let done = reported(&repo, &write("<testcase><failure/></testcase>"));
    assert_eq!((done.report.conclusion, done.report.exit), (FAIL, 1));
    let done = reported(&repo, "rm target/report.xml");
    assert_eq!(done.report.conclusion, attempt(AttemptResult::Error));
    assert_eq!(done.report.notes.len(), 1);
    repo.write("target/report.xml", "<testsuite/>");
    let old = fs::File::open(repo.path().join("target/report.xml")).unwrap();
    old.set_modified(std::time::UNIX_EPOCH).unwrap();
    let done = reported(&repo, "true");
    assert_eq!(
        done.report.notes,
        ["cannot read report 'target/report.xml': it is older than the run"]
    );
}

#[test]
fn a_command_under_the_ledger_directory_is_outside_the_subject() {
    let repo = started();
    repo.write(".operator/check", "#!/bin/sh\nexit 0\n");
    let path = repo.path().join(".operator/check");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    for program in [".operator/check", "./.operator/../.operator/check"] {
        let done = run(&repo, &[program]);
        assert_eq!(
            done.stamped.taints,
            ["command-outside-subject"],
            "{program}"
        );
    }
}

#[test]
fn nothing_runs_where_no_snapshot_can_be_taken() {
    let repo = started();
    fs::write(repo.path().join(".git/index"), "garbage garbage garbage").unwrap();
    let git = open(&repo);
    let error = prepare(&git, plan(repo.path(), &["true"])).err().unwrap();
    let text = error.to_string();
    assert!(
        text.starts_with("cannot run the command: its source cannot be named: "),
        "{text}"
    );
}
