use std::{
    path::Path,
    time::{Duration, Instant},
};

use git_operator::git::{self, Error};

use super::{env, located, open};
use crate::support::Repo;

/// What a child of ours finds in its environment.
fn seen(repo: &Repo, more: &[(&str, &str)]) -> String {
    let git = git::Repo::open(&located(repo), &env(repo, more)).unwrap();
    let output = git.git(["-c", "alias.show=!env", "show"]).output();
    drop(output);
    let output = git
        .git(["-c", "alias.print=!env", "print"])
        .output()
        .unwrap();
    String::from_utf8(output).unwrap()
}

#[test]
fn every_variable_git_calls_local_is_kept_from_a_child() {
    let repo = Repo::new();
    let names = repo.git(["rev-parse", "--local-env-vars"]);
    let kept = ["GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"];
    let local: Vec<&str> = names.lines().filter(|name| !kept.contains(name)).collect();
    assert!(local.len() > 10);
    let leaked: Vec<(&str, &str)> = local.iter().map(|name| (*name, "/leaked")).collect();
    let outer = env(&repo, &leaked).hook();
    for name in &local {
        assert_eq!(outer.var(name), None, "{name}");
    }
    let git = git::Repo::open(&located(&repo), &env(&repo, &leaked)).unwrap();
    let output = git
        .git(["-c", "alias.print=!env", "print"])
        .output()
        .unwrap();
    let text = String::from_utf8(output).unwrap();
    assert!(!text.contains("/leaked"), "{text}");
    let git_dir = repo.path().join(".git");
    assert!(
        text.lines()
            .any(|line| line == format!("GIT_DIR={}", git_dir.display()))
    );
}

#[test]
fn configuration_given_to_us_reaches_a_child() {
    let repo = Repo::new();
    let given = [("GIT_CONFIG_PARAMETERS", "'user.name'='Given'")];
    let git = git::Repo::open(&located(&repo), &env(&repo, &given)).unwrap();
    assert_eq!(
        git.git(["config", "user.name"]).output().unwrap(),
        b"Given\n"
    );
    assert!(seen(&repo, &given).contains("'user.name'='Given'"));
}

#[test]
fn a_child_reads_what_it_is_given_and_its_failure_is_told() {
    let repo = Repo::new();
    let git = open(&repo);
    let long = vec![b'x'; 1 << 20];
    let id = git
        .git(["hash-object", "--stdin"])
        .stdin(long.clone())
        .output()
        .unwrap();
    let expected = git.hash(git::ObjectKind::Blob, &long);
    assert_eq!(String::from_utf8(id).unwrap().trim_end(), expected.to_hex());
    let finished = git.git(["rev-parse", "--verify", "no-such"]).run().unwrap();
    assert_eq!(finished.code, 128);
    assert_eq!(
        finished.error().to_string(),
        "cannot run 'git rev-parse': Needed a single revision"
    );
}

#[test]
fn a_child_that_takes_too_long_is_killed_with_its_own_children() {
    let repo = Repo::new();
    let git = open(&repo);
    let pid = repo.dir().join("pid");
    let alias = format!("alias.hang=!echo $$ >{} && sleep 60", pid.display());
    let started = Instant::now();
    let result = git
        .git(["-c", &alias, "hang"])
        .env("GIT_TERMINAL_PROMPT", "0")
        .deadline(Duration::from_millis(500))
        .run();
    let error = result.unwrap_err().to_string();
    assert_eq!(error, "cannot run 'git hang': it was not done after 500ms");
    assert!(started.elapsed() < Duration::from_secs(30));
    let pid = std::fs::read_to_string(pid).unwrap();
    let state = Path::new("/proc").join(pid.trim_end()).join("stat");
    // A process that was just killed may still be on its way, or wait to be reaped.
    let runs = || std::fs::read_to_string(&state).is_ok_and(|stat| !stat.contains(") Z "));
    while runs() {
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "{pid} still runs"
        );
        std::thread::yield_now();
    }
}

#[test]
fn a_working_tree_that_is_gone_is_not_a_missing_git() {
    let repo = Repo::new();
    repo.commit("a");
    let linked = repo.worktree("wt");
    let git = open(&linked);
    std::fs::remove_dir_all(linked.path()).unwrap();
    let error = git.status().unwrap_err();
    assert!(matches!(error, Error::Git { .. }), "{error}");
}

#[test]
fn a_trace_has_a_line_per_child_and_ref_edit_and_no_evidence() {
    use std::sync::Mutex;
    static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let repo = Repo::new();
    let sink = |line: &str| LINES.lock().unwrap().push(line.to_owned());
    let run = |trace: &str| {
        let env = env(&repo, &[("GIT_TRACE", trace)]).traced(sink);
        let git = git::Repo::open(&located(&repo), &env).unwrap();
        git.git(["hash-object", "--stdin"])
            .stdin("secret")
            .output()
            .unwrap();
        std::mem::take(&mut *LINES.lock().unwrap())
    };
    assert_eq!(run("1"), ["run: git hash-object --stdin"]);
    assert_eq!(run("0"), [""; 0]);
}

#[test]
fn a_push_that_is_not_accepted_yet_shuts_the_repository() {
    let repo = Repo::bare();
    let quarantine = [("GIT_QUARANTINE_PATH", "/objects/tmp_objdir")];
    let opened = git::Repo::open(&located(&repo), &env(&repo, &quarantine));
    assert!(matches!(opened, Err(Error::Quarantine { .. })));
}

#[test]
fn what_a_talking_child_says_is_not_kept() {
    let repo = Repo::new();
    let git = open(&repo);
    let quiet = git.git(["-c", "alias.say=!echo >&2", "say"]);
    assert_eq!(quiet.run().unwrap().stderr, b"\n");
    let talking = git.git(["-c", "alias.say=!echo >&2", "say"]).talking();
    assert_eq!(talking.run().unwrap().stderr, b"");
}
