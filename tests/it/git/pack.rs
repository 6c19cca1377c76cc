use std::fs;

use git_operator::{git::ObjectKind, model::Oid};

use super::{formats, open};
use crate::support::Repo;

fn blobs(count: usize) -> Vec<Vec<u8>> {
    (0..count)
        .map(|n| format!("blob {n}").into_bytes())
        .collect()
}

fn packed(bytes: &[Vec<u8>]) -> Vec<(ObjectKind, &[u8])> {
    bytes
        .iter()
        .map(|bytes| (ObjectKind::Blob, bytes.as_slice()))
        .collect()
}

fn names(repo: &Repo, extension: &str) -> usize {
    let dir = fs::read_dir(repo.path().join(".git/objects/pack")).unwrap();
    dir.filter(|entry| entry.as_ref().unwrap().path().extension().unwrap() == extension)
        .count()
}

#[test]
fn a_pack_is_kept_until_it_is_released() {
    for repo in formats() {
        let git = open(&repo);
        let bytes = blobs(50);
        let kept = git.write_pack(&packed(&bytes)).unwrap();
        repo.git(["fsck", "--full", "--strict"]);
        repo.git(["gc", "-q", "--prune=now"]);
        for bytes in &bytes {
            let id = git.hash(ObjectKind::Blob, bytes);
            assert_eq!(&git.read_verified(id).unwrap().bytes, bytes);
        }
        assert_eq!(names(&repo, "keep"), 1);
        git.release_keep(kept).unwrap();
        assert_eq!(names(&repo, "keep"), 0);
        assert_eq!(
            fs::read_dir(git.operator_dir().join("tmp"))
                .unwrap()
                .count(),
            0
        );
        repo.git(["gc", "-q", "--prune=now"]);
        assert_eq!(names(&repo, "pack"), 0, "nothing reaches them");
    }
}

#[test]
fn a_pack_replaces_damaged_loose_objects() {
    let repo = Repo::new();
    let git = open(&repo);
    let bytes = blobs(3);
    let ids: Vec<Oid> = bytes
        .iter()
        .map(|bytes| {
            git.write_object(ObjectKind::Blob, bytes, git_operator::git::Verify::No)
                .unwrap()
        })
        .collect();
    fs::remove_file(git.loose_path(ids[0])).unwrap();
    fs::write(git.loose_path(ids[0]), "").unwrap();
    let kept = git.write_pack(&packed(&bytes)).unwrap();
    git.remove_loose_copies(&ids).unwrap();
    for (id, bytes) in ids.iter().zip(&bytes) {
        assert!(!git.loose_path(*id).exists());
        assert_eq!(&git.read_verified(*id).unwrap().bytes, bytes);
    }
    git.release_keep(kept).unwrap();
}

#[test]
fn a_repository_of_more_packs_than_it_is_opened_for_is_read() {
    let repo = Repo::new();
    let commit = repo.commit("a");
    repo.git(["repack", "-adq"]);
    let dir = repo.path().join(".git/objects/pack");
    let packs: Vec<_> = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    for number in 0..700 {
        for path in &packs {
            let end = path.extension().unwrap().to_str().unwrap();
            fs::hard_link(path, dir.join(format!("pack-{number:040x}.{end}"))).unwrap();
        }
    }
    let git = open(&repo);
    assert!(
        !git.has(Oid::from_bytes(&[7; 20]).unwrap()),
        "all packs are looked through"
    );
    assert_eq!(git.commit(commit.parse().unwrap()).unwrap().parents, []);
    repo.operator(["task", "t", "--owner", "S1"]).run();
    let verdict = ["verdict", "t", "c", "ok", "PASS", "--owner", "S1"];
    let output = repo.operator(verdict).run();
    assert_eq!(output.code, 0, "{}", output.stderr);
}

#[test]
fn a_sweep_takes_our_marks_and_leftovers_and_nobody_elses() {
    let repo = Repo::new();
    let git = open(&repo);
    let _lost = git.write_pack(&packed(&blobs(2))).unwrap();
    let foreign = repo.path().join(".git/objects/pack/pack-foreign.keep");
    fs::write(&foreign, "receive-pack 1 on host\n").unwrap();
    let temp = git.operator_dir().join("tmp");
    fs::create_dir(temp.join("pack.dead")).unwrap();
    fs::write(temp.join("pack.dead/x"), "").unwrap();
    fs::write(temp.join("ref.dead"), "").unwrap();
    fs::write(temp.join("other"), "").unwrap();
    git.sweep_packs().unwrap();
    assert_eq!(names(&repo, "keep"), 1);
    assert!(foreign.exists());
    let left: Vec<_> = fs::read_dir(&temp)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left, ["other"]);
}
