//! Ledgers over a real transport: git's own daemon on the loopback.

use std::{
    net::{Ipv4Addr, TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::support::{Repo, skipped};

/// A daemon that serves the repositories beside `repo`; it ends with the value.
struct Daemon {
    child: Child,
    port: u16,
}

impl Daemon {
    /// Starts a daemon; `None` (and a line) where this git has none.
    fn start(repo: &Repo) -> Option<Self> {
        let there = repo.try_git(["daemon", "--no-such-option"]);
        if String::from_utf8_lossy(&there.stderr).contains("is not a git command") {
            skipped("this git has no daemon");
            return None;
        }
        for _ in 0..10 {
            let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
                .and_then(|free| free.local_addr())
                .unwrap()
                .port();
            let child = Command::new("git")
                .args([
                    "daemon",
                    "--listen=127.0.0.1",
                    "--export-all",
                    "--reuseaddr",
                ])
                .args(["--enable=receive-pack", "--informative-errors"])
                .arg(format!("--port={port}"))
                .arg(format!("--base-path={}", repo.dir().display()))
                .arg(repo.dir())
                .current_dir(repo.dir())
                .env_clear()
                .envs(repo.env())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let mut daemon = Self { child, port };
            if daemon.answers() {
                return Some(daemon);
            }
        }
        panic!("no port for git daemon");
    }

    /// Waits until somebody listens; says no when the daemon ended, as where another took the port.
    fn answers(&mut self) -> bool {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(30) {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
                return true;
            }
            std::thread::park_timeout(Duration::from_millis(10));
        }
        false
    }

    fn url(&self, name: &str) -> String {
        format!("git://127.0.0.1:{}/{name}", self.port)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and that is all that is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn verdict(repo: &Repo, task: &str) {
    for args in [
        vec!["task", task, "--owner", "S1"],
        vec!["verdict", task, "c", "ok", "PASS", "--owner", "S1"],
    ] {
        let output = repo.operator(args).run();
        assert_eq!(output.code, 0, "{}", output.stderr);
    }
}

fn sync(repo: &Repo) -> String {
    let output = repo.operator(["sync"]).run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    output.stdout
}

fn tip(repo: &Repo) -> String {
    repo.git(["rev-parse", "refs/operator/ledger"])
}

/// Returns a served bare repository, the clone that made it, and the daemon.
fn served() -> Option<(Repo, Repo, Daemon)> {
    let one = Repo::new();
    one.commit("a");
    let bare = one.dir().join("hub.git");
    one.git(["init", "-q", "--bare", bare.to_str().unwrap()]);
    let hub = one.at(&bare);
    hub.git(["config", "uploadpack.allowFilter", "true"]);
    let daemon = Daemon::start(&one)?;
    one.git(["remote", "add", "origin", &daemon.url("hub.git")]);
    one.git(["push", "-q", "origin", "main"]);
    Some((hub, one, daemon))
}

fn clone(one: &Repo, daemon: &Daemon, args: &[&str]) -> Repo {
    let name = format!("clone{}", args.len());
    let there = one.dir().join(name);
    let mut all = vec!["clone", "-q"];
    all.extend(args);
    let url = daemon.url("hub.git");
    all.extend([url.as_str(), there.to_str().unwrap()]);
    one.git(all);
    one.at(there)
}

#[test]
fn a_daemon_carries_ledgers_both_ways() {
    let Some((hub, one, daemon)) = served() else {
        return;
    };
    verdict(&one, "t1");
    assert_eq!(sync(&one), "synced with origin: 0 new here, pushed ours\n");
    let two = clone(&one, &daemon, &[]);
    sync(&two);
    let note = two.git(["notes", "--ref=operator", "show", "HEAD"]);
    assert!(note.ends_with(" PASS exact t1"), "{note}");
    verdict(&two, "t2");
    sync(&two);
    sync(&one);
    assert_eq!((tip(&one), tip(&two)), (tip(&hub), tip(&hub)));
    let log = one
        .operator(["log", "--kind", "verdict", "--format", "%t%n"])
        .run();
    assert!(
        log.stdout.contains("t1") && log.stdout.contains("t2"),
        "{}",
        log.stdout
    );
    assert_eq!(
        hub.git(["for-each-ref", "--format=%(refname)"]),
        "refs/heads/main\nrefs/operator/ledger"
    );
}

/// Records lie in commit messages, so a clone without blobs or trees has them all (bug 89).
#[test]
fn partial_and_shallow_clones_read_and_write_the_whole_ledger() {
    let Some((hub, one, daemon)) = served() else {
        return;
    };
    one.commit("b");
    one.git(["push", "-q", "origin", "main"]);
    for task in ["t1", "t2", "t3"] {
        verdict(&one, task);
    }
    sync(&one);
    for (number, args) in [
        &["--filter=blob:none"][..],
        &["--filter=tree:0", "--no-checkout"],
        &["--depth", "1", "--no-tags"],
    ]
    .into_iter()
    .enumerate()
    {
        let some = clone(&one, &daemon, args);
        sync(&some);
        let log = some.operator(["log", "--kind", "verdict"]).run();
        assert_eq!(
            log.stdout.lines().count(),
            3 + number,
            "{args:?}: {}",
            log.stdout
        );
        let task = format!("p{number}");
        some.operator(["task", &task, "--owner", "S2"]).run();
        let done = some
            .operator(["verdict", &task, "c", "ok", "PASS", "--owner", "S2"])
            .run();
        assert_eq!(done.code, 0, "{args:?}: {}", done.stderr);
        sync(&some);
        assert_eq!(tip(&some), tip(&hub), "{args:?}");
    }
    sync(&one);
    assert_eq!(tip(&one), tip(&hub));
}

/// `url.<x>.insteadOf` is git's to know (bug 67).
#[test]
fn another_name_of_the_remote_is_resolved_by_git() {
    let Some((hub, one, daemon)) = served() else {
        return;
    };
    let base = daemon.url("");
    one.git(["config", &format!("url.{base}.insteadOf"), "work:"]);
    one.git(["remote", "set-url", "origin", "work:hub.git"]);
    verdict(&one, "t1");
    sync(&one);
    assert_eq!(tip(&one), tip(&hub));
}
