use std::{fs, time::Duration};

use git_operator::git::{Mark, ObjectKind};

use super::open;
use crate::support::Repo;

#[test]
fn a_kept_pack_outlives_every_gc_and_goes_when_it_is_dropped() {
    let repo = Repo::new();
    repo.commit("a");
    let handle = open(&repo);
    let mark = Mark::new("work/1");
    let other = Mark::new("work/2");
    let name = handle
        .keep_pack(&[(ObjectKind::Blob, b"precious")], &mark)
        .unwrap();
    let id = handle.hash(ObjectKind::Blob, b"precious");
    handle.sweep_packs().unwrap();
    repo.git(["gc", "-q", "--prune=now"]);
    repo.git(["repack", "-qadk"]);
    assert_eq!(repo.git(["cat-file", "blob", &id.to_hex()]), "precious");
    assert_eq!(
        handle.marked_packs(&mark, Duration::ZERO).unwrap(),
        std::slice::from_ref(&name)
    );
    assert!(
        handle
            .marked_packs(&other, Duration::ZERO)
            .unwrap()
            .is_empty()
    );
    assert!(
        handle
            .marked_packs(&mark, Duration::from_secs(60))
            .unwrap()
            .is_empty()
    );
    handle.drop_pack(&name, &other).unwrap();
    handle.drop_pack("../../config", &mark).unwrap();
    assert!(handle.has(id));
    handle.drop_pack(&name, &mark).unwrap();
    assert!(
        !repo
            .try_git(["cat-file", "-e", &id.to_hex()])
            .status
            .success()
    );
    assert_eq!(repo.git(["fsck", "--full"]), "");
}

#[test]
fn a_dropped_pack_takes_the_multi_pack_index_that_names_it_along() {
    let repo = Repo::new();
    repo.commit("a");
    repo.git(["repack", "-qad"]);
    let handle = open(&repo);
    let mark = Mark::new("work/1");
    let name = handle
        .keep_pack(&[(ObjectKind::Blob, b"x")], &mark)
        .unwrap();
    repo.git(["multi-pack-index", "write"]);
    let index = repo.path().join(".git/objects/pack/multi-pack-index");
    assert!(index.exists());
    handle.drop_pack(&name, &mark).unwrap();
    assert!(!index.exists());
    assert_eq!(repo.git(["fsck", "--full"]), "");
    repo.git(["log", "--oneline"]);

    let name = handle
        .keep_pack(&[(ObjectKind::Blob, b"y")], &mark)
        .unwrap();
    fs::rename(pack(&repo, &name), repo.dir().join("aside")).unwrap();
    repo.git(["multi-pack-index", "write"]);
    fs::rename(repo.dir().join("aside"), pack(&repo, &name)).unwrap();
    handle.drop_pack(&name, &mark).unwrap();
    assert!(index.exists(), "one that does not name the pack stays");
}

fn pack(repo: &Repo, name: &str) -> std::path::PathBuf {
    repo.path().join(format!(".git/objects/pack/{name}.idx"))
}
