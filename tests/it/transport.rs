//! Ledgers over real transports on the loopback: git's own daemon, and git behind an HTTP server.

use std::{
    net::{Ipv4Addr, TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::support::{Answer, HttpServer, Repo, skipped};

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

enum Server {
    Daemon(Daemon),
    Http(HttpServer),
}

impl Server {
    fn url(&self, name: &str) -> String {
        match self {
            Self::Daemon(daemon) => daemon.url(name),
            Self::Http(server) => server.url(name),
        }
    }

    /// Starts every kind of server that this git has, in turn, and has `test` use it.
    fn each(test: impl Fn(&Repo, &Repo, &Self)) {
        let daemon: fn(&Repo) -> Option<Self> = |repo| Daemon::start(repo).map(Self::Daemon);
        let http: fn(&Repo) -> Option<Self> = |repo| HttpServer::start(repo).map(Self::Http);
        for start in [daemon, http] {
            if let Some((hub, one, server)) = served(start) {
                test(&hub, &one, &server);
            }
        }
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

/// Returns a served bare repository, the clone that made it, and the server.
fn served(start: impl Fn(&Repo) -> Option<Server>) -> Option<(Repo, Repo, Server)> {
    let one = Repo::new();
    one.commit("a");
    let bare = one.dir().join("hub.git");
    one.git(["init", "-q", "--bare", bare.to_str().unwrap()]);
    let hub = one.at(&bare);
    hub.git(["config", "uploadpack.allowFilter", "true"]);
    let server = start(&one)?;
    one.git(["remote", "add", "origin", &server.url("hub.git")]);
    one.git(["push", "-q", "origin", "main"]);
    Some((hub, one, server))
}

fn clone(one: &Repo, server: &Server, args: &[&str]) -> Repo {
    let name = format!("clone{}", args.len());
    let there = one.dir().join(name);
    let mut all = vec!["clone", "-q"];
    all.extend(args);
    let url = server.url("hub.git");
    all.extend([url.as_str(), there.to_str().unwrap()]);
    one.git(all);
    one.at(there)
}

#[test]
fn a_server_carries_ledgers_both_ways() {
    Server::each(|hub, one, server| {
        verdict(one, "t1");
        assert_eq!(
            sync(one),
            "synced with origin: 0 new here, pushed refs/operator/ledger (new there; no host shows it)\n"
        );
        let two = clone(one, server, &[]);
        sync(&two);
        let note = two.git(["notes", "--ref=operator", "show", "HEAD"]);
        assert!(note.ends_with(" PASS exact t1"), "{note}");
        verdict(&two, "t2");
        sync(&two);
        sync(one);
        assert_eq!((tip(one), tip(&two)), (tip(hub), tip(hub)));
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
    });
}

/// Records lie in commit messages, so a clone without blobs or trees has them all (bug 89).
#[test]
fn partial_and_shallow_clones_read_and_write_the_whole_ledger() {
    Server::each(|hub, one, server| {
        one.commit("b");
        one.git(["push", "-q", "origin", "main"]);
        for task in ["t1", "t2", "t3"] {
            verdict(one, task);
        }
        sync(one);
        for (number, args) in [
            &["--filter=blob:none"][..],
            &["--filter=tree:0", "--no-checkout"],
            &["--depth", "1", "--no-tags"],
        ]
        .into_iter()
        .enumerate()
        {
            let some = clone(one, server, args);
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
            assert_eq!(tip(&some), tip(hub), "{args:?}");
        }
        sync(one);
        assert_eq!(tip(one), tip(hub));
    });
}

/// `url.<x>.insteadOf` is git's to know (bug 67).
#[test]
fn another_name_of_the_remote_is_resolved_by_git() {
    Server::each(|hub, one, server| {
        let base = server.url("");
        one.git(["config", &format!("url.{base}.insteadOf"), "work:"]);
        one.git(["remote", "set-url", "origin", "work:hub.git"]);
        verdict(one, "t1");
        sync(one);
        assert_eq!(tip(one), tip(hub));
    });
}

fn http() -> Option<(Repo, Repo, HttpServer)> {
    let start = |repo: &Repo| HttpServer::start(repo).map(Server::Http);
    match served(start)? {
        (hub, one, Server::Http(server)) => Some((hub, one, server)),
        (_, _, Server::Daemon(_)) => None,
    }
}

/// Packs over 1 MB go in chunks.
#[test]
fn long_evidence_goes_over_http() {
    let Some((hub, one, server)) = http() else {
        return;
    };
    one.operator(["task", "t1", "--owner", "S1"]).run();
    let evidence: String = (0..400_000u32)
        .map(|n| format!("{:x}\n", n.wrapping_mul(2_654_435_761)))
        .collect();
    let output = one
        .operator(["verdict", "t1", "c", "PASS", "--owner", "S1"])
        .stdin(evidence)
        .run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    let output = one.operator(["sync", "--evidence"]).run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    let server = Server::Http(server);
    let two = clone(&one, &server, &[]);
    let output = two.operator(["sync", "--evidence"]).run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    for name in ["refs/operator/ledger", "refs/operator/evidence"] {
        let here = two.git(["rev-parse", name]);
        assert_eq!(here, hub.git(["rev-parse", name]), "{name}");
    }
}

#[test]
fn a_server_that_refuses_or_fails_is_named_and_nothing_is_lost() {
    let Some((hub, one, server)) = http() else {
        return;
    };
    verdict(&one, "t1");
    let before = tip(&one);
    for (answer, said) in [
        (Answer::Status(401), "authentication failed"),
        (Answer::Status(403), "403"),
        (Answer::Status(404), "not found"),
        (Answer::Status(500), "500"),
        (Answer::Silence, "too slow"),
    ] {
        server.answer_fetches(answer);
        let output = one
            .operator(["sync"])
            .env("GIT_CONFIG_COUNT", "2")
            .env("GIT_CONFIG_KEY_0", "http.lowSpeedLimit")
            .env("GIT_CONFIG_VALUE_0", "1")
            .env("GIT_CONFIG_KEY_1", "http.lowSpeedTime")
            .env("GIT_CONFIG_VALUE_1", "1")
            .run();
        assert_eq!(output.code, 128, "{answer:?}: {}", output.stderr);
        assert_eq!(
            output.stderr.lines().count(),
            1,
            "{answer:?}: {}",
            output.stderr
        );
        let named = output
            .stderr
            .starts_with("error: cannot fetch from 'origin': ");
        assert!(
            named && output.stderr.to_lowercase().contains(said),
            "{answer:?}: {}",
            output.stderr
        );
        assert_eq!(tip(&one), before, "{answer:?}");
    }
    server.answer_fetches(Answer::Git);
    sync(&one);
    assert_eq!(tip(&one), tip(&hub));
}

/// The push itself goes through; what the hook starts beside it meets a server that says no, or nothing.
#[test]
fn a_push_waits_for_no_sync_over_http() {
    for answer in [Answer::Status(401), Answer::Status(500), Answer::Silence] {
        let Some((hub, one, server)) = http() else {
            return;
        };
        verdict(&one, "t1");
        one.git(["config", "operator.prePush", "sync"]);
        let output = one.operator(["start", "--hooks", "file"]).run();
        assert_eq!(output.code, 0, "{}", output.stderr);
        server.answer_fetches(answer);
        let head = one.commit("b");
        one.git(["push", "-q", "origin", "main"]);
        assert_eq!(hub.git(["rev-parse", "main"]), head, "{answer:?}");
        // The sync came as far as the server, which gave it nothing.
        let began = Instant::now();
        while server.asked() == 0 {
            assert!(began.elapsed() < Duration::from_secs(60), "{answer:?}");
            std::thread::park_timeout(Duration::from_millis(10));
        }
        assert_eq!(
            hub.git(["for-each-ref", "--format=%(refname)"]),
            "refs/heads/main",
            "{answer:?}"
        );
    }
}
