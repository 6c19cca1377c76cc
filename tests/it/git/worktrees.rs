use std::fs;

use git_operator::model::RepoPath;

use super::{located, open};
use crate::support::Repo;

#[test]
fn linked_worktrees_are_those_that_are_there() {
    let repo = Repo::new();
    repo.commit("a");
    assert_eq!(open(&repo).linked_worktrees().unwrap(), []);
    let one = repo.worktree("one");
    let two = repo.worktree("two");
    let gone = repo.worktree("gone");
    fs::remove_dir_all(gone.path()).unwrap();
    let expected = [located(&one), located(&two)];
    for seen_from in [&repo, &one] {
        assert_eq!(open(seen_from).linked_worktrees().unwrap(), expected);
    }
}

#[test]
fn paths_are_ignored_as_git_ignores_them() {
    let repo = Repo::new();
    repo.write(".gitignore", "*.log\n!keep.log\nbuild/\n");
    repo.write("tracked.log", "");
    repo.git(["add", "-f", "tracked.log"]);
    let git = open(&repo);
    let names: [&[u8]; 8] = [
        b"a.log",
        b"keep.log",
        b"build/x",
        b"src/x",
        b"tracked.log",
        b":(top).log",
        b"nl\n.log",
        b"\xff.log",
    ];
    let paths: Vec<RepoPath> = names.iter().map(|name| RepoPath::new(*name)).collect();
    let ignored = git.ignored(&paths).unwrap();
    assert_eq!(ignored, [true, false, true, false, false, true, true, true]);
    assert!(git.ignored(&[]).unwrap().is_empty());
}
