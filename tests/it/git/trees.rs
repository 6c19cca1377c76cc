use std::collections::BTreeMap;

use git_operator::{
    git::{Identity, NewCommit, ObjectKind, Verify},
    model::RepoPath,
};

use super::open;
use crate::support::Repo;

#[test]
fn a_path_is_found_in_a_tree() {
    let repo = Repo::new();
    repo.write("a/b/c", "text");
    repo.git(["add", "-A"]);
    repo.commit_staged("x");
    let git = open(&repo);
    let root = git.commit(git.rev_parse("HEAD").unwrap()).unwrap().tree;
    let at = |path: &str| git.place(root, &RepoPath::from(path)).unwrap();
    let (mode, blob) = at("a/b/c").unwrap();
    assert_eq!(mode, 0o100644);
    assert_eq!(git.blob(blob).unwrap(), b"text");
    assert_eq!(at("a/b").unwrap().0, 0o40000);
    for path in ["a/b/c/d", "a/x", "A/b/c", "", "a//b", "../a"] {
        assert_eq!(at(path), None, "{path}");
    }
}

#[test]
fn paths_become_trees() {
    let repo = Repo::new();
    let git = open(&repo);
    let blob = git
        .write_object(ObjectKind::Blob, b"x", Verify::No)
        .unwrap();
    let paths = ["ab/1", "ab/2", "ab.c", "cd/ef/3"];
    let places: BTreeMap<Vec<u8>, _> = paths
        .iter()
        .map(|path| (path.as_bytes().to_vec(), (0o100644, blob)))
        .collect();
    let tree = git.write_paths(&places).unwrap();
    let names = repo.git(["ls-tree", "-r", "--name-only", &tree.to_hex()]);
    assert_eq!(names, "ab.c\nab/1\nab/2\ncd/ef/3");
    assert_eq!(
        repo.git(["fsck", "--strict"]),
        format!("dangling tree {tree}")
    );
}

#[test]
fn a_commit_is_the_same_bytes_whoever_makes_it_and_git_accepts_them() {
    let repo = Repo::new();
    repo.git(["config", "commit.gpgsign", "true"]);
    repo.git(["config", "gpg.program", "false"]);
    let git = open(&repo);
    let who = Identity::own();
    let commit = NewCommit {
        author: &who,
        committer: &who,
        time: 5,
        message: b"union 7\n",
    };
    let tree = git.write_tree(&[]).unwrap();
    let first = git
        .write_object(ObjectKind::Commit, &commit.bytes(tree, &[]), Verify::Yes)
        .unwrap();
    let bytes = commit.bytes(tree, &[first, first]);
    assert_eq!(
        String::from_utf8(bytes.clone()).unwrap(),
        format!(
            "tree {tree}\nparent {first}\nparent {first}\n\
             author git-operator <git-operator@localhost> 5 +0000\n\
             committer git-operator <git-operator@localhost> 5 +0000\n\nunion 7\n"
        )
    );
    let id = git
        .write_object(
            ObjectKind::Commit,
            &commit.bytes(tree, &[first]),
            Verify::Yes,
        )
        .unwrap();
    assert_eq!(
        repo.git(["fsck", "--strict"]),
        format!("dangling commit {id}")
    );
    assert_eq!(git.commit(id).unwrap().message(), b"union 7\n");
}
