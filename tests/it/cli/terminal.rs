//! Long work is told of at a terminal, and nowhere else.

use std::{fs::File, io::Read as _, process::Stdio};

use git_operator::store::Wait;
use nix::pty::openpty;

use crate::{
    store::{env, record, store},
    support::Repo,
};

/// Runs a command whose stderr is a terminal; `see` is told what it shows so far. Returns all of it.
fn on_terminal(repo: &Repo, args: &[&str], mut see: impl FnMut(&str)) -> String {
    let pty = openpty(None, None).unwrap();
    let mut command = repo.operator(args).command();
    command.stdout(Stdio::null()).stderr(pty.slave);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut terminal = File::from(pty.master);
    let (mut shown, mut some) = (String::new(), [0; 256]);
    // Where nobody holds the other end any more, Linux answers with an error.
    while let Ok(count) = terminal.read(&mut some) {
        if count == 0 {
            break;
        }
        shown.push_str(&String::from_utf8_lossy(&some[..count]));
        see(&shown);
    }
    assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}: {shown}");
    shown
}

#[test]
fn who_waits_at_a_terminal_is_told_for_how_long() {
    for (args, what) in [(&["gc"][..], "packing"), (&["reconcile"], "importing")] {
        let repo = Repo::new();
        repo.commit("a");
        let store = store(&repo);
        record(&store, crate::store::open("T"));
        let clock = git_operator::git::Clock::new(&env(&repo)).unwrap();
        let mut held = Some(store.begin(Wait::Command, clock).unwrap());
        let line = format!("\r{what}: 0 s\x1b[K");
        let shown = on_terminal(&repo, args, |shown| {
            if shown.contains(&line) {
                held.take();
            }
        });
        assert!(shown.starts_with(&line), "{shown:?}");
        assert!(
            shown.ends_with("\r\x1b[K"),
            "the line is cleared: {shown:?}"
        );
    }
}

#[test]
fn an_exchange_is_announced_at_a_terminal() {
    let repo = Repo::new();
    repo.commit("a");
    let remote = repo.dir().join("remote.git");
    let remote = remote.to_str().unwrap();
    repo.git(["init", "-q", "--bare", remote]);
    repo.git(["remote", "add", "origin", remote]);
    let shown = on_terminal(&repo, &["sync"], |_| {});
    assert!(shown.starts_with("exchanging records..."), "{shown:?}");
    assert!(
        shown.ends_with("\r\x1b[K"),
        "the line is cleared: {shown:?}"
    );
}

#[test]
fn short_work_and_quiet_work_say_nothing() {
    let repo = Repo::new();
    repo.commit("a");
    record(&store(&repo), crate::store::open("T"));
    let page = repo.dir().join("page.html");
    let page = page.to_str().unwrap();
    for args in [
        &["gc", "-q"][..],
        &["-q", "reconcile"],
        &["-q", "report", "-o", page],
    ] {
        assert_eq!(on_terminal(&repo, args, |_| {}), "", "{args:?}");
    }
}
