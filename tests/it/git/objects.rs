use std::fs;

use git_operator::{
    git::{Error, ObjectKind, Verify},
    model::Explain as _,
};

use super::{formats, oid, open};
use crate::support::Repo;

#[test]
fn git_reads_what_we_write_and_we_read_what_git_writes() {
    for repo in formats() {
        let git = open(&repo);
        let id = git
            .write_object(ObjectKind::Blob, b"text\0\xff", Verify::Yes)
            .unwrap();
        assert_eq!(git.hash(ObjectKind::Blob, b"text\0\xff"), id);
        assert_eq!(repo.git(["cat-file", "-t", &id.to_hex()]), "blob");
        assert_eq!(repo.git(["cat-file", "-s", &id.to_hex()]), "6");
        assert_eq!(git.header(id).unwrap(), (ObjectKind::Blob, 6));
        let commit = oid(&repo.commit("a"));
        let raw = repo.git(["cat-file", "commit", &commit.to_hex()]) + "\n";
        let read = git.commit(commit).unwrap();
        assert_eq!(String::from_utf8(read.raw.clone()).unwrap(), raw);
        assert_eq!(read.message(), b"a\n");
        assert_eq!(read.committer_time, 1_767_225_660);
        assert_eq!(read.tree.to_hex(), repo.git(["rev-parse", "HEAD^{tree}"]));
        assert_eq!(
            repo.git(["fsck", "--strict"]),
            format!("dangling blob {id}")
        );
    }
}

#[test]
fn objects_in_packs_made_later_are_found() {
    let repo = Repo::new();
    let first = oid(&repo.commit("a"));
    let git = open(&repo);
    assert!(git.has(first));
    let second = oid(&repo.commit("b"));
    repo.git(["repack", "-adq"]);
    repo.git(["prune-packed", "-q"]);
    assert!(git.has(second));
    assert_eq!(git.commit(second).unwrap().parents, [first]);
}

#[test]
fn a_missing_object_is_named() {
    let repo = Repo::new();
    let git = open(&repo);
    let id = git.hash(ObjectKind::Blob, b"never written");
    assert!(!git.has(id));
    let error = git.read(id).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("cannot read object '{id}': it is missing")
    );
    let long = oid(&"ab".repeat(32));
    assert!(!git.has(long), "an id of another format is missing, too");
    assert!(matches!(git.read(long), Err(Error::MissingObject { .. })));
}

#[test]
fn an_object_of_another_kind_is_refused() {
    let repo = Repo::new();
    let commit = oid(&repo.commit("a"));
    let error = open(&repo).blob(commit).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("cannot read object '{commit}': it is a commit, not a blob")
    );
}

#[test]
fn an_empty_or_damaged_loose_file_is_replaced() {
    let repo = Repo::new();
    let git = open(&repo);
    let id = git
        .write_object(ObjectKind::Blob, b"whole", Verify::No)
        .unwrap();
    let path = git.loose_path(id);
    let whole = fs::read(&path).unwrap();
    let damage = |bytes: &[u8]| {
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes).unwrap();
    };
    damage(b"");
    assert!(!git.has(id));
    git.write_object(ObjectKind::Blob, b"whole", Verify::No)
        .unwrap();
    assert_eq!(fs::read(&path).unwrap(), whole);
    for bytes in [&whole[..whole.len() / 2], b"garbage"] {
        damage(bytes);
        assert!(git.read_verified(id).is_err());
        git.write_object(ObjectKind::Blob, b"whole", Verify::Yes)
            .unwrap();
        assert_eq!(git.read_verified(id).unwrap().bytes, b"whole");
    }
    let other = git
        .write_object(ObjectKind::Blob, b"other", Verify::No)
        .unwrap();
    damage(&fs::read(git.loose_path(other)).unwrap());
    let error = git.read_verified(id).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("cannot read object '{id}': its bytes have another id")
    );
}

#[test]
fn writing_outlives_a_prune_that_takes_the_directory() {
    let repo = Repo::new();
    let git = open(&repo);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let objects = repo.path().join(".git/objects");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                for entry in fs::read_dir(&objects).unwrap().flatten() {
                    let _ = fs::remove_dir(entry.path());
                }
            }
        });
        for number in 0..200 {
            let text = format!("{number}");
            let id = git
                .write_object(ObjectKind::Blob, text.as_bytes(), Verify::No)
                .unwrap();
            assert_eq!(git.read_verified(id).unwrap().bytes, text.as_bytes());
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn trees_are_written_as_git_writes_them() {
    for repo in formats() {
        repo.write("a.b", "1");
        repo.write("a/x", "2");
        repo.write("a0", "3");
        repo.write(".operator/VERDICTS.md", "rows");
        repo.write(".operators", "4");
        repo.git(["add", "-A"]);
        repo.commit_staged("tree");
        let git = open(&repo);
        let root = oid(&repo.git(["rev-parse", "HEAD^{tree}"]));
        let mut entries = git.tree(root).unwrap();
        entries.reverse();
        assert_eq!(git.write_tree(&entries).unwrap(), root);
        repo.git(["rm", "-rq", "--cached", ".operator"]);
        assert_eq!(
            git.subject_tree(root).unwrap().to_hex(),
            repo.git(["write-tree"])
        );
        assert_eq!(git.tree(git.empty_tree()).unwrap(), []);
    }
}

#[test]
fn what_a_partial_clone_left_out_has_a_command_that_brings_it() {
    let repo = Repo::new();
    let commit = oid(&repo.commit("a"));
    let blob = oid(&repo.git(["rev-parse", "HEAD:a"]));
    repo.git(["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", repo.path().display());
    repo.git([
        "clone",
        "-q",
        "--no-checkout",
        "--filter=blob:none",
        &url,
        "../clone",
    ]);
    let clone = repo.at("../clone");
    let git = open(&clone);
    assert_eq!(git.commit(commit).unwrap().message(), b"a\n");
    let error = git.blob(blob).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("cannot read object '{blob}': this partial clone left it out")
    );
    let hint = error.hint().unwrap();
    clone.git(hint.split(' ').skip(1));
    assert_eq!(git.blob(blob).unwrap(), b"a\n");
}
