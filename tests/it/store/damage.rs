//! Refs, objects and files are lost or damaged: records are not.

use std::{
    cell::Cell,
    fs, io,
    path::{Path, PathBuf},
    rc::Rc,
};

use git_operator::{
    git::Clock,
    model::{Digest, Explain},
    store::{EVIDENCE, LEDGER, SHADOW, Step, Store, Wait, tasks},
};

use super::{
    child::{Writer, acknowledged},
    commit, env, fsck, note, notes, open, record, store,
};
use crate::support::Repo;

const COUNT: usize = 12;

/// A ledger of twelve notes.
fn ledger() -> (Repo, Vec<String>) {
    let repo = Repo::new();
    let store = store(&repo);
    let names: Vec<String> = (0..COUNT).map(|number| format!("n{number:02}")).collect();
    for name in &names {
        record(&store, note(name));
    }
    (repo, names)
}

/// A reader and then a writer find every record, and the reader wrote nothing.
#[track_caller]
fn check_all_there((repo, names): &(Repo, Vec<String>)) {
    let before = files(&repo.path().join(".git"));
    let mut read = notes(&store(repo));
    read.sort();
    assert_eq!(read, *names, "a reader");
    assert_eq!(files(&repo.path().join(".git")), before, "a reader wrote");
    record(&store(repo), note("next"));
    let mut read = notes(&store(repo));
    read.sort();
    let mut wanted = names.clone();
    wanted.push("next".to_owned());
    wanted.sort();
    assert_eq!(read, wanted, "after a writer");
    fsck(repo);
    let tip = store(repo).tip().unwrap().unwrap().to_hex();
    assert_eq!(repo.git(["rev-parse", LEDGER]), tip);
    assert_eq!(store(repo).take_warnings(), []);
}

fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                let bytes = fs::read(&path).unwrap();
                found.push((path, bytes));
            }
        }
    }
    found.sort();
    found
}

fn loose(repo: &Repo, rev: &str) -> PathBuf {
    let id = repo.git(["rev-parse", rev]);
    repo.path()
        .join(".git/objects")
        .join(&id[..2])
        .join(&id[2..])
}

fn overwrite(path: &Path, bytes: &[u8]) {
    // git makes objects read-only.
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
}

fn ref_file(repo: &Repo) -> PathBuf {
    repo.path().join(".git").join(LEDGER)
}

#[test]
fn a_ref_that_is_deleted() {
    let whole = ledger();
    whole.0.git(["update-ref", "-d", LEDGER]);
    check_all_there(&whole);
}

#[test]
fn a_ref_that_is_empty_or_garbage() {
    for bytes in [&b""[..], &[0; 41], b"garbage\n"] {
        let whole = ledger();
        fs::write(ref_file(&whole.0), bytes).unwrap();
        check_all_there(&whole);
    }
}

#[test]
fn a_ref_that_is_empty_over_an_older_packed_value() {
    let whole = ledger();
    let (repo, _) = &whole;
    let tip = repo.git(["rev-parse", LEDGER]);
    repo.git(["update-ref", LEDGER, &format!("{tip}~5")]);
    repo.git(["pack-refs", "--all"]);
    fs::write(ref_file(repo), b"").unwrap();
    check_all_there(&whole);
}

#[test]
fn a_ref_that_is_rewound() {
    let whole = ledger();
    whole.0.git(["update-ref", LEDGER, &format!("{LEDGER}~7")]);
    check_all_there(&whole);
}

#[test]
fn a_ref_that_names_no_object() {
    let whole = ledger();
    fs::write(ref_file(&whole.0), format!("{}\n", "12".repeat(20))).unwrap();
    check_all_there(&whole);
}

#[test]
fn a_ref_that_names_something_else() {
    let whole = ledger();
    let head = whole.0.commit("a");
    whole.0.git(["update-ref", LEDGER, &head]);
    let mut read = notes(&store(&whole.0));
    read.sort();
    assert_eq!(read, whole.1);
}

#[test]
fn objects_that_are_deleted() {
    for depth in [0, 1, 5, COUNT - 1] {
        let whole = ledger();
        fs::remove_file(loose(&whole.0, &format!("{LEDGER}~{depth}"))).unwrap();
        check_all_there(&whole);
    }
}

#[test]
fn all_objects_deleted() {
    let whole = ledger();
    let ids = whole.0.git(["rev-list", LEDGER]);
    for id in ids.lines() {
        fs::remove_file(loose(&whole.0, id)).unwrap();
    }
    check_all_there(&whole);
}

#[test]
fn objects_that_are_emptied_or_flipped() {
    for depth in [0, 4] {
        let whole = ledger();
        overwrite(&loose(&whole.0, &format!("{LEDGER}~{depth}")), b"");
        check_all_there(&whole);
    }
    let whole = ledger();
    let path = loose(&whole.0, LEDGER);
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 0x10;
    overwrite(&path, &bytes);
    let mut read = notes(&store(&whole.0));
    read.sort();
    assert_eq!(read, whole.1);
}

#[test]
fn a_journal_that_is_torn_zeroed_or_gone() {
    let change: [fn(&mut Vec<u8>); 3] = [
        |bytes| bytes.truncate(bytes.len() - 100),
        |bytes| bytes.extend([0; 300]),
        |bytes| {
            let half = bytes.len() / 2;
            bytes[half] ^= 1;
        },
    ];
    for change in change {
        let whole = ledger();
        let path = whole.0.path().join(".git/operator/journal");
        let mut bytes = fs::read(&path).unwrap();
        change(&mut bytes);
        fs::write(&path, bytes).unwrap();
        check_all_there(&whole);
    }
    for name in ["journal", "state", ""] {
        let whole = ledger();
        let path = whole.0.path().join(".git/operator").join(name);
        if name.is_empty() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
        check_all_there(&whole);
    }
}

#[test]
fn a_journal_that_is_emptied_beside_a_ref_that_is_deleted() {
    let whole = ledger();
    fs::write(whole.0.path().join(".git/operator/journal"), b"").unwrap();
    whole.0.git(["update-ref", "-d", LEDGER]);
    check_all_there(&whole);
}

#[test]
fn a_rewind_behind_a_cut_is_seen_by_the_shadow() {
    let repo = Repo::new();
    let first = store(&repo);
    let mut names: Vec<String> = Vec::new();
    for number in 0..12 {
        let name = format!("n{number:02}{}", "x".repeat(50_000));
        record(&first, note(&name));
        names.push(name);
    }
    assert_eq!(repo.git(["rev-list", "--count", SHADOW]), "11");
    fs::remove_dir_all(repo.path().join(".git/operator")).unwrap();
    repo.git(["update-ref", LEDGER, &format!("{LEDGER}~9")]);
    let reader = store(&repo);
    names.truncate(11);
    let mut read = notes(&reader);
    read.sort();
    assert_eq!(read, names);
    let warnings: Vec<String> = reader
        .take_warnings()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("was moved to"), "{warnings:?}");
    check_all_there(&(repo, names));
}

#[test]
fn the_refspec_that_lets_a_fetch_move_the_ref_is_named() {
    let (repo, _) = ledger();
    repo.git(["config", "remote.origin.url", "."]);
    repo.git([
        "config",
        "--add",
        "remote.origin.fetch",
        "+refs/heads/*:refs/remotes/origin/*",
    ]);
    repo.git([
        "config",
        "--add",
        "remote.origin.fetch",
        "+refs/operator/*:refs/operator/*",
    ]);
    repo.git(["update-ref", "-d", LEDGER]);
    let reader = store(&repo);
    reader.load().unwrap();
    let warnings = reader.take_warnings();
    assert_eq!(
        warnings[0].to_string(),
        "'refs/operator/ledger' was deleted ('remote.origin.fetch +refs/operator/*:refs/operator/*' \
         lets a fetch do that); its records are kept and read all the same"
    );
}

#[test]
fn a_writer_says_that_the_ref_was_moved() {
    let (repo, _) = ledger();
    repo.git(["update-ref", LEDGER, &format!("{LEDGER}~7")]);
    let writer = store(&repo);
    record(&writer, note("next"));
    let warnings = writer.take_warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].to_string().contains("was moved to"));
}

#[test]
fn an_evidence_ref_that_is_deleted_or_rewound() {
    let change: [&[&str]; 2] = [
        &["update-ref", "-d", EVIDENCE],
        &["update-ref", EVIDENCE, "refs/operator/evidence~1"],
    ];
    for change in change {
        let (repo, _) = ledger();
        let store = store(&repo);
        let mut digests = Vec::new();
        for byte in *b"abc" {
            let bytes = vec![byte; 9_000];
            digests.push(Digest::of(&bytes));
            let clock = Clock::new(&env(&repo)).unwrap();
            let mut transaction = store.begin(Wait::Command, clock).unwrap();
            transaction.commit(&[note("e")], vec![bytes]).unwrap();
            drop(transaction);
            // So many that the journal's end no longer tells of the evidence.
            for number in 0..20 {
                record(&store, note(&format!("n{number}")));
            }
        }
        repo.git(change);
        for digest in &digests {
            assert!(store.evidence(digest).unwrap().is_some(), "{change:?}");
        }
        record(&store, note("next"));
        assert_eq!(
            repo.git(["rev-list", "--count", EVIDENCE]),
            "3",
            "{change:?}"
        );
        fsck(&repo);
    }
}

#[test]
fn where_nothing_is_readable_no_second_ledger_is_begun() {
    let (repo, _) = ledger();
    for id in repo.git(["rev-list", LEDGER]).lines() {
        fs::remove_file(loose(&repo, id)).unwrap();
    }
    let path = repo.path().join(".git/operator/journal");
    fs::write(&path, b"gone\n").unwrap();
    for bytes in [None, Some(b""), Some(b"")] {
        if let Some(bytes) = bytes {
            fs::write(ref_file(&repo), bytes).unwrap();
            fs::write(&path, b"").unwrap();
            fs::remove_file(repo.path().join(".git/operator/state")).unwrap_or_default();
        }
        let clock = Clock::new(&env(&repo)).unwrap();
        let store = store(&repo);
        let error = store.begin(Wait::Command, clock).err().unwrap();
        assert_eq!(error.hint().unwrap(), "git operator doctor");
        assert_eq!(
            error.to_string(),
            "cannot read the ledger: 'refs/operator/ledger' says there is one and none of it is \
             readable"
        );
        assert!(store.tip().is_err());
    }
}

/// Fails a write when the journal reaches a limit, after a part of it was written.
#[test]
fn a_line_that_only_partly_fits_the_disk_records_nothing_and_says_so() {
    let whole = ledger();
    let journal = whole.0.path().join(".git/operator/journal");
    let before = fs::read(&journal).unwrap();
    let blocks = before.len() / 512 + 1;
    let output = Writer::new(&whole.0, "lost", 1)
        .size(5_000)
        .limited(blocks)
        .spawn()
        .wait_with_output()
        .unwrap();
    assert_eq!(acknowledged(&output), [""; 0]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("File too large"), "{text}");
    assert_eq!(fs::read(&journal).unwrap(), before);
    check_all_there(&whole);
}

/// A store whose `step` fails as a full disk does, once.
fn failing(repo: &Repo, step: Step) -> Store {
    let failed = Cell::new(false);
    store(repo).hooked(Rc::new(move |at| {
        if at == step && !failed.replace(true) {
            return Err(io::Error::from_raw_os_error(28));
        }
        Ok(())
    }))
}

#[test]
fn a_journal_that_cannot_be_written_or_synced_records_nothing() {
    for step in [Step::JournalWrite, Step::JournalSync] {
        let whole = ledger();
        let journal = whole.0.path().join(".git/operator/journal");
        let before = fs::read(&journal).unwrap();
        let store = failing(&whole.0, step);
        let clock = Clock::new(&env(&whole.0)).unwrap();
        let mut transaction = store.begin(Wait::Command, clock).unwrap();
        let error = transaction.commit(&[note("lost")], Vec::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "cannot append to '{}': No space left on device (os error 28); not recorded",
                journal.display()
            )
        );
        assert_eq!(fs::read(&journal).unwrap(), before, "{step:?}");
        drop(transaction);
        check_all_there(&whole);
    }
}

#[test]
fn what_fails_behind_the_promise_is_pending_and_finished_by_the_next_writer() {
    for step in [Step::Object, Step::RefMoved, Step::ReadBack, Step::Effects] {
        let (repo, mut names) = ledger();
        let store = failing(&repo, step);
        let clock = Clock::new(&env(&repo)).unwrap();
        let mut transaction = store.begin(Wait::Command, clock).unwrap();
        let committed = transaction.commit(&[note("n99")], Vec::new()).unwrap();
        assert!(
            committed.pending.is_some() || committed.unfinished.is_some(),
            "{step:?}"
        );
        drop(transaction);
        names.push("n99".to_owned());
        check_all_there(&(repo, names));
    }
}

#[test]
fn a_dead_lock_of_ours_on_the_ref_is_removed_at_once() {
    let whole = ledger();
    let tip = whole.0.git(["rev-parse", &format!("{LEDGER}~3")]);
    fs::write(
        ref_file(&whole.0).with_extension("lock"),
        format!("{tip}\n"),
    )
    .unwrap();
    check_all_there(&whole);
}

#[test]
fn a_foreign_lock_on_the_ref_makes_a_write_pending() {
    let (repo, mut names) = ledger();
    let lock = ref_file(&repo).with_extension("lock");
    fs::write(&lock, b"").unwrap();
    for name in ["p1", "p2"] {
        let writer = store(&repo);
        let committed = commit(&writer, &[note(name)]);
        assert_eq!(writer.take_warnings(), []);
        let reason = committed.pending.unwrap();
        assert!(
            reason.starts_with("cannot lock ref 'refs/operator/ledger'"),
            "{reason}"
        );
        names.push(name.to_owned());
    }
    assert_eq!(repo.git(["rev-list", "--count", LEDGER]), COUNT.to_string());
    fs::remove_file(&lock).unwrap();
    check_all_there(&(repo, names));
}

#[test]
fn another_writer_of_the_ref_is_united_with() {
    let (repo, mut names) = ledger();
    let other = Repo::new();
    record(&store(&other), note("theirs"));
    repo.git(["fetch", "-q", other.path().to_str().unwrap(), LEDGER]);
    repo.git(["update-ref", LEDGER, "FETCH_HEAD"]);
    names.push("theirs".to_owned());
    check_all_there(&(repo, names));
}

/// A plain git moves the ref between our promise and our move of it.
#[test]
fn a_race_that_is_lost_is_united_with_and_learned_from() {
    let repo = Repo::new();
    record(&store(&repo), open("T-1"));
    let other = Repo::new();
    let path = repo.path().to_str().unwrap();
    other.git(["fetch", "-q", path, &format!("{LEDGER}:{LEDGER}")]);
    let theirs = record(&store(&other), open("T-1"));
    repo.git(["fetch", "-q", other.path().to_str().unwrap(), LEDGER]);
    let (dir, vars) = (repo.path().to_owned(), repo.env());
    let moved = Cell::new(false);
    let racing = store(&repo).hooked(Rc::new(move |step| {
        if step == Step::Promised && !moved.replace(true) {
            let done = std::process::Command::new("git")
                .args(["update-ref", LEDGER, "FETCH_HEAD"])
                .current_dir(&dir)
                .env_clear()
                .envs(vars.iter().map(|(name, value)| (name, value)))
                .status();
            assert!(done.unwrap().success());
        }
        Ok(())
    }));
    let committed = commit(&racing, &[note("ours")]);
    assert_eq!(committed.pending, None);
    assert_eq!(repo.git(["rev-list", "--count", "--merges", LEDGER]), "1");
    let heads = &tasks::list(racing.dir()).unwrap().open[0].heads.task;
    assert!(heads.contains(&theirs.id), "{heads:?}");
    assert_eq!(racing.load().unwrap().len(), 3);
    let next = record(&store(&repo), note("next"));
    assert_eq!(next.seq, 3);
    assert_eq!(store(&repo).tip().unwrap(), store(&repo).state().tip);
    fsck(&repo);
}

#[test]
fn a_ref_in_the_way_is_named() {
    let repo = Repo::new();
    repo.commit("a");
    repo.git(["update-ref", "refs/operator/ledger/x", "HEAD"]);
    let first = commit(&store(&repo), &[note("one")]);
    assert!(first.pending.unwrap().contains("refs/operator/ledger"));
    repo.git(["update-ref", "-d", "refs/operator/ledger/x"]);
    record(&store(&repo), note("two"));
    assert_eq!(notes(&store(&repo)), ["one", "two"]);
}

#[test]
fn a_stale_lock_on_packed_refs_is_no_obstacle() {
    let whole = ledger();
    whole.0.git(["pack-refs", "--all"]);
    fs::write(whole.0.path().join(".git/packed-refs.lock"), b"").unwrap();
    record(&store(&whole.0), note("beside it"));
    let mut read = notes(&store(&whole.0));
    read.sort();
    assert_eq!(read.len(), COUNT + 1);
}
