use std::{fs, os::unix::fs::MetadataExt, time::Duration};

use git_operator::{
    git::{self, Error, Expected, ObjectKind, RefStorage, Swap, Swapped, Verify},
    model::Oid,
};

use super::{formats, oid, open};
use crate::support::{Repo, skipped};

const LEDGER: &str = "refs/operator/ledger";

fn to(new: Oid, old: Option<Oid>) -> Swap<'static> {
    Swap {
        name: LEDGER,
        old: Expected::from_read(old),
        new,
        own: &[],
        wait: Duration::from_millis(60),
    }
}

#[test]
fn a_swap_happens_only_from_the_expected_value() {
    for repo in formats() {
        let one = oid(&repo.commit("a"));
        let two = oid(&repo.commit("b"));
        let git = open(&repo);
        assert_eq!(git.read_ref(LEDGER).unwrap(), None);
        let mismatch = Swapped::Mismatch { found: None };
        assert_eq!(git.swap_ref(to(two, Some(one))).unwrap(), mismatch);
        assert_eq!(git.swap_ref(to(one, None)).unwrap(), Swapped::Done);
        let mismatch = Swapped::Mismatch { found: Some(one) };
        assert_eq!(git.swap_ref(to(two, None)).unwrap(), mismatch);
        assert_eq!(git.swap_ref(to(two, Some(two))).unwrap(), mismatch);
        assert_eq!(git.swap_ref(to(two, Some(one))).unwrap(), Swapped::Done);
        assert_eq!(repo.git(["rev-parse", LEDGER]), two.to_hex());
        assert_eq!(git.read_ref(LEDGER).unwrap(), Some(two));
    }
}

#[test]
fn in_a_reftable_repository_no_loose_ref_is_ever_written() {
    let Some(repo) = Repo::reftable() else { return };
    let one = oid(&repo.commit("a"));
    let git = open(&repo);
    assert_eq!(git.ref_storage(), RefStorage::Commands);
    assert_eq!(git.swap_ref(to(one, None)).unwrap(), Swapped::Done);
    assert!(!repo.path().join(".git/refs/operator").exists());
    assert_eq!(repo.git(["rev-parse", LEDGER]), one.to_hex());
    let linked = repo.worktree("side");
    assert_eq!(open(&linked).read_ref(LEDGER).unwrap(), Some(one));
}

#[test]
fn an_extension_we_do_not_know_leaves_the_refs_to_git() {
    let repo = Repo::new();
    assert_eq!(open(&repo).ref_storage(), RefStorage::Files);
    repo.git(["config", "core.repositoryFormatVersion", "1"]);
    repo.git(["config", "extensions.worktreeConfig", "true"]);
    assert_eq!(open(&repo).ref_storage(), RefStorage::Files);
    // git knows this one for its own tests.
    repo.git(["config", "extensions.noop-v1", "true"]);
    assert_eq!(open(&repo).ref_storage(), RefStorage::Commands);
}

#[test]
fn a_packed_ref_is_read_and_swapped_beside_a_stale_packed_refs_lock() {
    let repo = Repo::new();
    let one = oid(&repo.commit("a"));
    let two = oid(&repo.commit("b"));
    repo.git(["update-ref", LEDGER, &one.to_hex()]);
    repo.git(["pack-refs", "--all", "--prune"]);
    repo.write(".git/packed-refs.lock", "");
    let git = open(&repo);
    assert_eq!(git.read_ref(LEDGER).unwrap(), Some(one));
    assert_eq!(git.read_ref("refs/heads/main").unwrap(), Some(two));
    assert_eq!(git.swap_ref(to(two, Some(one))).unwrap(), Swapped::Done);
    assert_eq!(repo.git(["rev-parse", LEDGER]), two.to_hex());
    assert_eq!(repo.read(".git/packed-refs.lock"), "");
    assert!(!repo.path().join(".git/logs/refs/operator").exists());
}

#[test]
fn nothing_is_left_behind() {
    let repo = Repo::new();
    let one = oid(&repo.commit("a"));
    let git = open(&repo);
    git.swap_ref(to(one, None)).unwrap();
    git.swap_ref(to(one, None)).unwrap();
    let dir = repo.path().join(".git/refs/operator");
    let names: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names, ["ledger"]);
    let temp = fs::read_dir(git.operator_dir().join("tmp")).unwrap();
    assert_eq!(temp.count(), 0);
    let meta = fs::metadata(repo.path().join(".git/refs/operator/ledger")).unwrap();
    assert_eq!(meta.nlink(), 1);
}

#[test]
fn a_lock_of_ours_that_died_is_removed_at_once_and_a_foreign_one_is_not() {
    let repo = Repo::new();
    let one = oid(&repo.commit("a"));
    let dead = oid(&repo.commit("b"));
    let git = open(&repo);
    let lock = ".git/refs/operator/ledger.lock";
    repo.write(lock, format!("{dead}\n"));
    let error = git.swap_ref(to(one, None)).unwrap_err();
    assert!(matches!(error, Error::RefLocked { .. }), "{error}");
    assert_eq!(repo.read(lock), format!("{dead}\n"));
    let own = Swap {
        own: &[dead],
        ..to(one, None)
    };
    assert_eq!(git.swap_ref(own).unwrap(), Swapped::Done);
    assert!(!repo.path().join(lock).exists());
    assert_eq!(git.read_ref(LEDGER).unwrap(), Some(one));
}

#[test]
fn a_foreign_lock_is_taken_for_dead_after_ten_seconds() {
    let repo = Repo::new();
    let one = oid(&repo.commit("a"));
    let lock = repo.path().join(".git/refs/operator/ledger.lock");
    repo.write(&lock, "");
    let now = fs::metadata(&lock).unwrap().modified().unwrap();
    let file = fs::File::options().write(true).open(&lock).unwrap();
    file.set_modified(now - Duration::from_secs(9)).unwrap();
    assert!(matches!(
        open(&repo).swap_ref(to(one, None)),
        Err(Error::RefLocked { .. })
    ));
    file.set_modified(now - Duration::from_secs(11)).unwrap();
    assert_eq!(open(&repo).swap_ref(to(one, None)).unwrap(), Swapped::Done);
}

#[test]
fn an_unreadable_ref_is_told_from_an_absent_one_and_can_be_dropped() {
    for bytes in [&b""[..], b"garbage\n", &[0; 41]] {
        let repo = Repo::new();
        let one = oid(&repo.commit("a"));
        repo.git(["update-ref", LEDGER, &one.to_hex()]);
        repo.git(["pack-refs", "--all"]);
        repo.write(".git/refs/operator/ledger", bytes);
        let git = open(&repo);
        assert!(matches!(
            git.read_ref(LEDGER),
            Err(Error::UnreadableRef { .. })
        ));
        assert!(matches!(
            git.swap_ref(to(one, None)),
            Err(Error::UnreadableRef { .. })
        ));
        assert!(!repo.path().join(".git/refs/operator/ledger.lock").exists());
        git.drop_unreadable_ref(to(one, None)).unwrap();
        assert_eq!(
            git.read_ref(LEDGER).unwrap(),
            Some(one),
            "its packed value shows"
        );
        git.drop_unreadable_ref(to(one, None)).unwrap();
        assert_eq!(
            git.read_ref(LEDGER).unwrap(),
            Some(one),
            "a readable one stays"
        );
    }
}

#[test]
fn a_ref_that_would_be_another_ones_directory_is_refused_and_named() {
    let repo = Repo::new();
    let one = oid(&repo.commit("a"));
    repo.git(["update-ref", "refs/operator/ledger/x", &one.to_hex()]);
    let git = open(&repo);
    let error = git.swap_ref(to(one, None)).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("cannot update ref '{LEDGER}': there are refs below it")
    );
    repo.git(["pack-refs", "--all", "--prune"]);
    let error = git.swap_ref(to(one, None)).unwrap_err().to_string();
    let expected = format!("cannot update ref '{LEDGER}': there is a ref 'refs/operator/ledger/x'");
    assert_eq!(error, expected);
    repo.git(["update-ref", "-d", "refs/operator/ledger/x"]);
    fs::create_dir_all(repo.path().join(".git/refs/operator/ledger/empty/dirs")).unwrap();
    assert_eq!(git.swap_ref(to(one, None)).unwrap(), Swapped::Done);
    let error = git.swap_ref(Swap {
        name: "refs/operator/ledger/y",
        ..to(one, None)
    });
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("another ref is where its directory would be"),
        "{error}"
    );
}

#[test]
fn refs_are_listed_as_git_lists_them() {
    for repo in formats() {
        let one = repo.commit("a");
        for name in [
            "refs/operator/b",
            "refs/operator/a/z",
            "refs/operator-local/x",
        ] {
            repo.git(["update-ref", name, &one]);
        }
        repo.git(["pack-refs", "--all", "--prune"]);
        let two = repo.commit("b");
        repo.git(["update-ref", "refs/operator/b", &two]);
        let git = open(&repo);
        for prefix in [
            "refs/",
            "refs/operator/",
            "refs/operator",
            "refs/operator/a/",
            "refs/no/",
        ] {
            let text = repo.git(["for-each-ref", "--format=%(refname) %(objectname)"]);
            let expected: Vec<&str> = text.lines().filter(|l| l.starts_with(prefix)).collect();
            let listed = git.list_refs(prefix).unwrap();
            let listed: Vec<String> = listed
                .iter()
                .map(|(name, id)| format!("{name} {id}"))
                .collect();
            assert_eq!(listed, expected, "{prefix}");
        }
    }
}

#[test]
fn a_deleted_ref_is_gone_packed_or_not() {
    for repo in formats() {
        let one = oid(&repo.commit("a"));
        repo.git(["update-ref", LEDGER, &one.to_hex()]);
        repo.git(["pack-refs", "--all"]);
        let git = open(&repo);
        let other = git.hash(ObjectKind::Blob, b"x");
        let mismatch = Swapped::Mismatch { found: Some(one) };
        assert_eq!(git.delete_ref(LEDGER, other).unwrap(), mismatch);
        assert_eq!(git.delete_ref(LEDGER, one).unwrap(), Swapped::Done);
        assert_eq!(git.read_ref(LEDGER).unwrap(), None);
    }
}

#[test]
fn processes_that_swap_at_once_lose_nothing() {
    const WRITERS: usize = 4;
    const EACH: usize = 25;
    for repo in formats() {
        repo.commit("a");
        let each = if open(&repo).ref_storage() == RefStorage::Files {
            EACH
        } else {
            3
        };
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let repo = repo.at("");
                scope.spawn(move || count_up(&open(&repo), writer, each));
            }
        });
        let git = open(&repo);
        let tip = git.read_ref(LEDGER).unwrap().unwrap();
        assert_eq!(git.ancestors(&[tip], &[]).unwrap().len(), WRITERS * each);
    }
}

/// Puts `count` commits on the ledger, each on whatever is there.
fn count_up(git: &git::Repo, writer: usize, count: usize) {
    let tree = git.write_tree(&[]).unwrap();
    let mut done = 0;
    while done < count {
        let old = git.read_ref(LEDGER).unwrap();
        let parent = old.map(|id| format!("parent {id}\n")).unwrap_or_default();
        let who = "T <t@example.com> 1000000000 +0000";
        let raw =
            format!("tree {tree}\n{parent}author {who}\ncommitter {who}\n\n{writer} {done}\n");
        let new = git
            .write_object(ObjectKind::Commit, raw.as_bytes(), Verify::No)
            .unwrap();
        let swap = Swap {
            wait: Duration::from_secs(20),
            ..to(new, old)
        };
        if git.swap_ref(swap).unwrap() == Swapped::Done {
            done += 1;
        }
    }
}

#[test]
fn swaps_beside_a_pack_refs_loop_and_a_git_writer_lose_nothing() {
    use std::sync::atomic::{AtomicBool, Ordering};
    const EACH: usize = 30;
    let repo = Repo::new();
    repo.commit("a");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let packer = repo.at("");
        let done = &done;
        scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                packer.try_git(["pack-refs", "--all", "--prune"]);
            }
        });
        let theirs = repo.at("");
        let foreign = scope.spawn(move || {
            let mut made = 0;
            while made < 10 {
                let old = theirs
                    .try_git(["rev-parse", "-q", "--verify", LEDGER])
                    .stdout;
                let old = String::from_utf8(old).unwrap().trim_end().to_owned();
                if old.is_empty() {
                    continue;
                }
                let args = ["commit-tree", "-m", "theirs", "-p", &old, "HEAD^{tree}"];
                let new = theirs.git(args);
                let update = theirs.try_git(["update-ref", LEDGER, &new, &old]);
                made += usize::from(update.status.success());
            }
        });
        let ours: Vec<_> = (0..2)
            .map(|writer| {
                let repo = repo.at("");
                scope.spawn(move || count_up(&open(&repo), writer, EACH))
            })
            .collect();
        for writer in ours {
            writer.join().unwrap();
        }
        foreign.join().unwrap();
        done.store(true, Ordering::Relaxed);
    });
    let git = open(&repo);
    let tip = git.read_ref(LEDGER).unwrap().unwrap();
    assert_eq!(git.ancestors(&[tip], &[]).unwrap().len(), 2 * EACH + 10);
}

#[test]
fn where_a_file_cannot_be_linked_the_lock_is_created() {
    let repo = Repo::new();
    let one = oid(&repo.commit("a"));
    let device = |path: &std::path::Path| fs::metadata(path).map(|meta| meta.dev()).ok();
    let memory = std::path::Path::new("/dev/shm");
    if device(memory).is_none_or(|memory| Some(memory) == device(repo.path())) {
        skipped("there is no second file system");
        return;
    }
    let elsewhere = assert_fs::TempDir::new_in(memory).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), repo.path().join(".git/operator")).unwrap();
    let git = open(&repo);
    let lock = repo.path().join(".git/refs/operator/ledger.lock");
    repo.write(&lock, "");
    assert!(matches!(
        git.swap_ref(to(one, None)),
        Err(Error::RefLocked { .. })
    ));
    let old = fs::metadata(&lock).unwrap().modified().unwrap() - Duration::from_secs(20);
    let file = fs::File::options().write(true).open(&lock).unwrap();
    file.set_modified(old).unwrap();
    assert_eq!(git.swap_ref(to(one, None)).unwrap(), Swapped::Done);
    assert_eq!(repo.git(["rev-parse", LEDGER]), one.to_hex());
    assert!(!lock.exists());
    assert_eq!(
        fs::read_dir(elsewhere.path().join("tmp")).unwrap().count(),
        0
    );
}
