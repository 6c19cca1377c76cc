use std::fs;

use git_operator::git::{Error, Head};

use super::{formats, oid, open};
use crate::support::Repo;

#[test]
fn head_is_unborn_then_a_branch_then_detached() {
    for repo in formats() {
        let branch = "refs/heads/main".to_owned();
        assert_eq!(
            open(&repo).head().unwrap(),
            Head::Unborn {
                branch: branch.clone()
            }
        );
        let commit = oid(&repo.commit("a"));
        let expected = Head::Branch {
            name: branch,
            commit,
        };
        assert_eq!(open(&repo).head().unwrap(), expected);
        repo.git(["checkout", "-q", "--detach"]);
        assert_eq!(open(&repo).head().unwrap(), Head::Detached { commit });
        assert_eq!(open(&repo).rev_parse("HEAD").unwrap(), commit);
    }
}

#[test]
fn each_worktree_has_a_head_of_its_own() {
    for repo in formats() {
        repo.commit("a");
        let linked = repo.worktree("side");
        let commit = oid(&linked.commit("b"));
        let name = "refs/heads/side".to_owned();
        assert_eq!(open(&linked).head().unwrap(), Head::Branch { name, commit });
        assert_ne!(open(&repo).head().unwrap().commit(), Some(commit));
    }
}

#[test]
fn a_broken_head_is_an_error() {
    for text in ["", "\n", "ref: \n", "ref: ../x\n", "garbage\n", "\0\0\0\0"] {
        let repo = Repo::new();
        repo.commit("a");
        let opened = open(&repo);
        fs::write(repo.path().join(".git/HEAD"), text).unwrap();
        let head = opened.head();
        assert!(
            matches!(head, Err(Error::UnreadableRef { .. })),
            "{text:?}: {head:?}"
        );
    }
}

#[test]
fn a_branch_whose_file_is_garbage_is_not_unborn() {
    let repo = Repo::new();
    repo.commit("a");
    repo.write(".git/refs/heads/main", "");
    let error = open(&repo).head().unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot read ref 'refs/heads/main': it is empty"
    );
}
