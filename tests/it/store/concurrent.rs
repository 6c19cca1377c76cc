//! Writers beside each other, beside git, beside readers.

use std::{
    os::unix::process::ExitStatusExt,
    process::Child,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use git_operator::store::{LEDGER, Step, Wait};
use nix::sys::signal::Signal;

use super::{
    child::{Writer, acknowledged},
    env, fsck, note, notes, record, store,
};
use crate::support::Repo;

fn finish(writers: Vec<Child>) -> Vec<String> {
    let mut recorded = Vec::new();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        recorded.extend(acknowledged(&output));
    }
    recorded.sort();
    recorded
}

fn sorted(repo: &Repo) -> Vec<String> {
    let mut names = notes(&store(repo));
    names.sort();
    names
}

#[test]
fn writers_lose_nothing() {
    let repo = Repo::new();
    let writers = ["a", "b", "c", "d"].map(|name| Writer::new(&repo, name, 25).spawn());
    let recorded = finish(writers.into());
    assert_eq!(recorded.len(), 100);
    assert_eq!(sorted(&repo), recorded);
    assert_eq!(repo.git(["rev-list", "--count", LEDGER]), "100");
    assert_eq!(repo.git(["rev-list", "--count", "--merges", LEDGER]), "0");
    fsck(&repo);
}

#[test]
fn the_first_writers_of_a_repository_begin_one_ledger() {
    let repo = Repo::new();
    let names: Vec<String> = (0..8).map(|number| format!("w{number}")).collect();
    let writers = names.iter().map(|name| Writer::new(&repo, name, 1).spawn());
    let recorded = finish(writers.collect());
    assert_eq!(sorted(&repo), recorded);
    assert_eq!(
        repo.git(["rev-list", "--max-parents=0", "--count", LEDGER]),
        "1"
    );
}

#[test]
fn a_reader_beside_writers_sees_no_ref_that_somebody_moved() {
    let repo = Repo::new();
    let writers = ["a", "b"].map(|name| Writer::new(&repo, name, 100).spawn());
    let writing = thread::spawn(move || finish(writers.into()));
    let mut warnings = Vec::new();
    while !writing.is_finished() {
        let store = store(&repo);
        store.tip().unwrap();
        warnings.extend(store.take_warnings());
    }
    assert_eq!(writing.join().unwrap().len(), 200);
    assert!(warnings.is_empty(), "{warnings:?}");
}

/// Ends the loops beside the writers, also when one of those failed.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs git again and again until the writers are done.
fn beside(repo: &Repo, commands: &[&[&str]], writers: Vec<Child>) -> Vec<String> {
    let done = AtomicBool::new(false);
    let path = repo.path().to_owned();
    let vars = repo.env();
    thread::scope(|scope| {
        for args in commands {
            let (done, path, vars) = (&done, &path, &vars);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let run = std::process::Command::new("git")
                        .args(*args)
                        .current_dir(path)
                        .env_clear()
                        .envs(vars.iter().map(|(name, value)| (name, value)))
                        .output();
                    run.unwrap();
                }
            });
        }
        let _end = End(&done);
        finish(writers)
    })
}

#[test]
fn writers_lose_nothing_while_git_prunes_and_packs() {
    let repo = Repo::new();
    repo.commit("a");
    let writers = ["a", "b", "c"].map(|name| Writer::new(&repo, name, 30).spawn());
    let commands: [&[&str]; 3] = [
        &["gc", "-q", "--prune=now"],
        &["pack-refs", "--all", "--prune"],
        &["repack", "-adq"],
    ];
    let recorded = beside(&repo, &commands, writers.into());
    assert_eq!(recorded.len(), 90);
    record(&store(&repo), note("last"));
    let mut names = sorted(&repo);
    names.retain(|name| name != "last");
    assert_eq!(names, recorded);
    // git's own gc leaves this lock when it is overtaken.
    let _ = std::fs::remove_file(repo.path().join(".git/objects/info/commit-graph.lock"));
    repo.git(["gc", "-q", "--prune=now"]);
    fsck(&repo);
    assert_eq!(sorted(&repo).len(), 91);
}

#[test]
fn a_reader_beside_a_writer_sees_a_growing_ledger() {
    let repo = Repo::new();
    record(&store(&repo), note("first"));
    let mut writer = Writer::new(&repo, "a", 60).spawn();
    let mut seen = 0;
    loop {
        let ended = writer.try_wait().unwrap().is_some();
        let now = notes(&store(&repo)).len();
        assert!(now >= seen, "{now} after {seen}");
        seen = now;
        if ended {
            break;
        }
    }
    assert_eq!(seen, 61);
}

#[test]
fn a_signal_waits_until_the_write_is_whole() {
    let repo = Repo::new();
    let signals = [
        Signal::SIGTERM,
        Signal::SIGINT,
        Signal::SIGHUP,
        Signal::SIGQUIT,
    ];
    let steps = [Step::Locked, Step::Promised, Step::RefMoved, Step::Effects];
    for (signal, step) in signals.into_iter().zip(steps) {
        let output = Writer::new(&repo, signal.as_str(), 3)
            .signaled_at(signal, step, 2)
            .spawn()
            .wait_with_output()
            .unwrap();
        assert_eq!(output.status.signal(), Some(signal as i32));
        assert_eq!(acknowledged(&output), [format!("{signal}-0")]);
        let count = repo.git(["rev-list", "--count", LEDGER, "--grep", signal.as_str()]);
        assert_eq!(count, "2", "{signal} at {step:?}");
        assert!(!repo.path().join(".git/refs/operator/ledger.lock").exists());
        let temp = std::fs::read_dir(repo.path().join(".git/operator/tmp")).unwrap();
        assert_eq!(temp.count(), 0, "{signal} at {step:?}");
    }
    fsck(&repo);
}

#[test]
fn a_writer_that_waits_too_long_says_so() {
    let repo = Repo::new();
    let holder = store(&repo);
    let clock = git_operator::git::Clock::new(&env(&repo)).unwrap();
    let held = holder.begin(Wait::Command, clock).unwrap();
    let other = store(&repo);
    let error = other.begin(Wait::SessionEnd, clock).err().unwrap();
    assert!(error.is_busy());
    assert_eq!(
        error.to_string(),
        format!(
            "cannot lock the ledger: '{}' is held by another process; not recorded",
            repo.path().join(".git/operator/lock").display()
        )
    );
    drop(held);
    record(&other, note("later"));
}

#[test]
fn a_lock_file_that_is_deleted_while_it_is_held_keeps_nobody_out() {
    let repo = Repo::new();
    record(&store(&repo), note("one"));
    std::fs::remove_file(repo.path().join(".git/operator/lock")).unwrap();
    std::fs::remove_dir_all(repo.path().join(".git/operator/tmp")).unwrap();
    record(&store(&repo), note("two"));
    assert_eq!(notes(&store(&repo)), ["one", "two"]);
}
