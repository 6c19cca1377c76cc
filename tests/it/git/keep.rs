use std::{collections::HashSet, fs, time::Duration};

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
    let drop = |name: &str, mark: &Mark| {
        let names = [name.to_owned()];
        handle.drop_packs(&names, mark, &HashSet::new()).unwrap();
    };
    drop(&name, &other);
    drop("../../config", &mark);
    assert!(pack(&repo, &name).exists());
    drop(&name, &mark);
    assert!(!pack(&repo, &name).exists());
    // What it held is git's to prune.
    assert_eq!(repo.git(["cat-file", "blob", &id.to_hex()]), "precious");
    repo.git(["gc", "-q", "--prune=now"]);
    let gone = repo.try_git(["cat-file", "-e", &id.to_hex()]);
    assert!(!gone.status.success());
    assert_eq!(repo.git(["fsck", "--full", "--no-dangling"]), "");
}

#[test]
fn what_git_found_in_a_kept_pack_and_committed_stays_when_the_pack_goes() {
    let repo = Repo::new();
    repo.commit("a");
    let handle = open(&repo);
    let mark = Mark::new("work/1");
    let before = [(ObjectKind::Blob, &b"mine"[..]), (ObjectKind::Blob, b"too")];
    let name = handle.keep_pack(&before, &mark).unwrap();
    // It is there already, so git writes it nowhere else.
    repo.write("f", "mine");
    repo.git(["add", "f"]);
    repo.commit_staged("f");
    // One that was loose is removed, since a pack holds it; and no other pack takes it in.
    repo.write("g", "later");
    repo.git(["add", "g"]);
    repo.commit_staged("g");
    let later = handle
        .keep_pack(&[(ObjectKind::Blob, b"later")], &mark)
        .unwrap();
    repo.git(["repack", "-qad"]);
    let kept = HashSet::from([handle.hash(ObjectKind::Blob, b"too")]);
    let names = [name, later];
    handle.drop_packs(&names, &mark, &kept).unwrap();
    assert!(names.iter().all(|name| !pack(&repo, name).exists()));
    assert_eq!(repo.git(["cat-file", "blob", "HEAD:f"]), "mine");
    assert_eq!(repo.git(["cat-file", "blob", "HEAD:g"]), "later");
    // What another pack keeps is not written once more.
    let too = handle.hash(ObjectKind::Blob, b"too").to_hex();
    assert!(!repo.try_git(["cat-file", "-e", &too]).status.success());
    assert_eq!(repo.git(["fsck", "--full", "--no-dangling"]), "");
    repo.git(["gc", "-q", "--prune=now"]);
    assert_eq!(repo.git(["fsck", "--full", "--no-dangling"]), "");
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
    handle
        .drop_packs(std::slice::from_ref(&name), &mark, &HashSet::new())
        .unwrap();
    assert!(!index.exists());
    assert_eq!(repo.git(["fsck", "--full", "--no-dangling"]), "");
    repo.git(["log", "--oneline"]);

    let name = handle
        .keep_pack(&[(ObjectKind::Blob, b"y")], &mark)
        .unwrap();
    fs::rename(pack(&repo, &name), repo.dir().join("aside")).unwrap();
    repo.git(["multi-pack-index", "write"]);
    fs::rename(repo.dir().join("aside"), pack(&repo, &name)).unwrap();
    handle
        .drop_packs(std::slice::from_ref(&name), &mark, &HashSet::new())
        .unwrap();
    assert!(index.exists(), "one that does not name the pack stays");
}

fn pack(repo: &Repo, name: &str) -> std::path::PathBuf {
    repo.path().join(format!(".git/objects/pack/{name}.idx"))
}

#[test]
fn a_damaged_pack_is_left_to_git_and_holds_nothing_up() {
    let repo = Repo::new();
    repo.commit("a");
    let handle = open(&repo);
    let mark = Mark::new("work/1");
    let keep = |text: &'static [u8]| {
        let objects = [(ObjectKind::Blob, text)];
        handle.keep_pack(&objects, &mark).unwrap()
    };
    let (whole, broken) = (keep(b"whole"), keep(b"broken"));
    let index = pack(&repo, &broken).with_extension("idx");
    fs::remove_file(&index).unwrap();
    fs::write(&index, "no index").unwrap();
    let handle = open(&repo);
    let names = [broken.clone(), whole.clone()];
    handle.drop_packs(&names, &mark, &HashSet::new()).unwrap();
    assert!(pack(&repo, &broken).with_extension("pack").exists());
    assert!(!pack(&repo, &broken).with_extension("keep").exists());
    assert!(!pack(&repo, &whole).exists());
    let id = handle.hash(ObjectKind::Blob, b"whole").to_hex();
    let held = repo.try_git(["cat-file", "blob", &id]);
    assert_eq!(String::from_utf8_lossy(&held.stdout), "whole");
}
