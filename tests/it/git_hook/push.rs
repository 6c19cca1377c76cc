//! pre-push: beside a push, never in its way (C55).

use std::{
    fs,
    time::{Duration, Instant},
};

use super::{site, start, verdict};
use crate::support::Repo;

/// Waits until `done`, looking again and again; nothing tells us when a process that nobody waits for
/// has ended.
#[track_caller]
fn until(what: &str, done: impl Fn() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(60), "never: {what}");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

fn with_remote(asked: &str) -> (Repo, Repo) {
    let repo = site();
    let bare = repo.dir().join("hub.git");
    repo.git(["init", "-q", "--bare", bare.to_str().unwrap()]);
    repo.git(["remote", "add", "origin", bare.to_str().unwrap()]);
    repo.git(["config", "operator.prePush", asked]);
    start(&repo);
    verdict(&repo, "t1", None);
    let hub = repo.at(&bare);
    (repo, hub)
}

fn refs(hub: &Repo) -> String {
    hub.git(["for-each-ref", "--format=%(refname)"])
}

#[test]
fn a_push_carries_no_ledger_unless_asked() {
    for asked in ["off", "", "no-such"] {
        let (repo, hub) = with_remote(asked);
        repo.git(["push", "-q", "origin", "main"]);
        assert_eq!(refs(&hub), "refs/heads/main", "{asked}");
        assert!(!repo.path().join(".git/hooks/pre-push").exists());
    }
}

#[test]
fn a_push_syncs_beside_itself_when_asked() {
    let (repo, hub) = with_remote("sync");
    repo.git(["push", "-q", "origin", "main"]);
    until("the ledger arrives", || {
        refs(&hub) == "refs/heads/main\nrefs/operator/ledger"
    });
    assert_eq!(
        hub.git(["rev-parse", "refs/operator/ledger"]),
        repo.git(["rev-parse", "refs/operator/ledger"])
    );
}

#[test]
fn a_push_to_another_remote_syncs_with_nobody() {
    let (repo, hub) = with_remote("sync");
    let other = repo.dir().join("other.git");
    repo.git(["init", "-q", "--bare", other.to_str().unwrap()]);
    repo.git(["push", "-q", other.to_str().unwrap(), "main"]);
    let output = repo
        .operator(["git-hook", "pre-push", "upstream", "url"])
        .run();
    assert_eq!((output.code, output.stdout.as_str()), (0, ""));
    assert!(!repo.path().join(".git/operator/sync").exists());
    assert_eq!(
        (refs(&hub), refs(&repo.at(&other))),
        (String::new(), "refs/heads/main".to_owned())
    );
}

/// The sync hangs on a server that says nothing; the push has a way that works.
#[test]
fn a_dead_remote_of_the_ledger_neither_delays_nor_fails_a_push() {
    let (repo, hub) = with_remote("sync");
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let url = format!("git://127.0.0.1:{port}/x");
    let way = hub.path().to_str().unwrap().to_owned();
    repo.git(["remote", "set-url", "origin", &url]);
    repo.git(["remote", "set-url", "--push", "origin", &way]);
    repo.git(["push", "-q", "origin", "main"]);
    assert_eq!(refs(&hub), "refs/heads/main");
    // Now nobody listens: what the sync waited for ends.
    drop(silent);
}

#[test]
fn a_push_that_is_refused_stays_refused_and_a_failed_sync_is_noted() {
    let (repo, hub) = with_remote("sync");
    let hook = hub.path().join("hooks/pre-receive");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let way = hub.path().to_str().unwrap().to_owned();
    repo.git(["remote", "set-url", "--push", "origin", &way]);
    repo.git(["remote", "set-url", "origin", "../none"]);
    let output = repo.try_git(["push", "-q", "origin", "main"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(refs(&hub), "");
    until("the failed sync is noted", || {
        fs::read_to_string(repo.path().join(".git/operator/sync"))
            .is_ok_and(|text| text.contains("cannot fetch from 'origin'"))
    });
    let found = repo.operator(["doctor"]).run();
    assert!(
        found
            .stdout
            .contains("the last sync beside a push failed: cannot fetch from 'origin'"),
        "{}",
        found.stdout
    );
}

/// git-lfs reads the refs that are pushed from stdin (bug 81).
#[test]
fn a_hook_of_somebody_else_gets_the_whole_stdin_and_decides() {
    let repo = site();
    let bare = repo.dir().join("hub.git");
    repo.git(["init", "-q", "--bare", bare.to_str().unwrap()]);
    repo.git(["remote", "add", "origin", bare.to_str().unwrap()]);
    let seen = repo.dir().join("seen");
    let hook = repo.path().join(".git/hooks/pre-push");
    let text = format!("#!/bin/sh\ncat > '{}'\nexit 3\n", seen.display());
    fs::write(&hook, &text).unwrap();
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    repo.git(["config", "operator.prePush", "sync"]);
    start(&repo);
    assert_ne!(fs::read_to_string(&hook).unwrap(), text);
    verdict(&repo, "t1", None);
    let output = repo.try_git(["push", "-q", "origin", "main"]);
    assert!(!output.status.success());
    let head = repo.head();
    assert_eq!(
        fs::read_to_string(&seen).unwrap(),
        format!(
            "refs/heads/main {head} refs/heads/main {}\n",
            "0".repeat(40)
        )
    );
    let opened = super::store(&repo);
    git_operator::setup::uninstall(
        repo.path(),
        Some(opened.repo()),
        git_operator::setup::Mode::Apply,
    )
    .unwrap();
    assert_eq!(fs::read_to_string(&hook).unwrap(), text);
}

fn pushed(repo: &Repo) -> std::process::Output {
    repo.try_git(["push", "-q", "origin", "HEAD:main"])
}

/// The one hook of ours that may say no, because somebody asked for it.
#[test]
fn a_push_of_what_failed_is_refused_where_verify_is_asked_for() {
    let (repo, hub) = with_remote("verify");
    let output = pushed(&repo);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    repo.operator(["task", "t2", "--owner", "S1"]).run();
    let said = repo
        .operator(["verdict", "t2", "tests", "broken", "FAIL", "--owner", "S1"])
        .run();
    assert_eq!(said.code, 0, "{}", said.stderr);
    let before = hub.git(["rev-parse", "main"]);
    let new = repo.commit("b");
    let output = pushed(&repo);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("error: cannot push to 'refs/heads/main': it is not verified"),
        "{stderr}"
    );
    assert_eq!(hub.git(["rev-parse", "main"]), before);
    // It is git's own way around a hook, and ours knows of none other.
    repo.git(["push", "-q", "--no-verify", "origin", "HEAD:main"]);
    assert_eq!(hub.git(["rev-parse", "main"]), new);
}

#[test]
fn a_check_that_cannot_be_made_lets_no_push_through() {
    let (repo, hub) = with_remote("verify");
    fs::write(repo.path().join(".git/operator/journal"), "garbage\n").unwrap();
    fs::remove_file(repo.path().join(".git/operator/state")).unwrap();
    repo.git(["update-ref", "-d", "refs/operator/ledger"]);
    let output = pushed(&repo);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(refs(&hub), "");
}
