use std::{fs, os::unix::fs::symlink, time::Duration};

use git_operator::git::{Error, Expected, ObjectKind, Repo as Git, Swap, Swapped, Verify};

use crate::support::Repo;

#[test]
fn a_store_keeps_objects_and_refs_and_never_starts_git() {
    let repo = Repo::outside();
    let path = repo.path().join(".operator/store.git");
    let store = Git::create_bare_store(&path).unwrap();
    let id = store
        .write_object(ObjectKind::Blob, b"x", Verify::Yes)
        .unwrap();
    let swap = Swap {
        name: "refs/operator/ledger",
        old: Expected::Absent,
        new: id,
        own: &[],
        wait: Duration::ZERO,
    };
    assert_eq!(store.swap_ref(swap).unwrap(), Swapped::Done);
    let again = Git::open_bare_store(&path).unwrap();
    assert!(again.is_store());
    assert_eq!(again.read_ref("refs/operator/ledger").unwrap(), Some(id));
    assert_eq!(
        again.list_refs("refs/").unwrap(),
        [("refs/operator/ledger".to_owned(), id)]
    );
    let error = again.git(["version"]).run().unwrap_err().to_string();
    assert_eq!(
        error,
        "cannot run 'git version': git is never started in a store"
    );
    assert_eq!(
        again.delete_ref("refs/operator/ledger", id).unwrap(),
        Swapped::Done
    );
    assert_eq!(again.read_ref("refs/operator/ledger").unwrap(), None);
    assert_eq!(
        repo.git(["-C", path.to_str().unwrap(), "fsck"]),
        format!("dangling blob {id}")
    );
}

#[test]
fn making_a_store_twice_keeps_what_it_holds() {
    let repo = Repo::outside();
    let path = repo.path().join("store.git");
    let store = Git::create_bare_store(&path).unwrap();
    let id = store
        .write_object(ObjectKind::Blob, b"x", Verify::No)
        .unwrap();
    assert!(Git::create_bare_store(&path).unwrap().has(id));
}

type Change = fn(&std::path::Path);

#[test]
fn a_store_that_could_run_a_program_stays_shut() {
    let changes: [(&str, Change); 7] = [
        ("its config is not the one it was made with", |store| {
            let text = fs::read_to_string(store.join("config")).unwrap();
            fs::write(store.join("config"), text + "[core]\n\tfsmonitor = x\n").unwrap();
        }),
        ("its config is a link", |store| {
            fs::rename(store.join("config"), store.join("c")).unwrap();
            symlink("c", store.join("config")).unwrap();
        }),
        ("it has hooks", |store| {
            fs::create_dir(store.join("hooks")).unwrap();
        }),
        ("it has info", |store| {
            fs::create_dir(store.join("info")).unwrap();
        }),
        ("it has commondir", |store| {
            fs::write(store.join("commondir"), "..").unwrap();
        }),
        ("it has objects/info/alternates", |store| {
            fs::write(store.join("objects/info/alternates"), "/x\n").unwrap();
        }),
        ("its objects is a link", |store| {
            fs::rename(store.join("objects"), store.join("o")).unwrap();
            symlink("o", store.join("objects")).unwrap();
        }),
    ];
    for (reason, change) in changes {
        let repo = Repo::outside();
        let path = repo.path().join("store.git");
        let _ = Git::create_bare_store(&path).unwrap();
        change(&path);
        let Err(Error::Store { reason: found, .. }) = Git::open_bare_store(&path) else {
            panic!("opened although {reason}");
        };
        assert_eq!(found, reason);
    }
}
