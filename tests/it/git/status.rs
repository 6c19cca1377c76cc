use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
};

use git_operator::git::{self, Change, Error};

use super::{env, formats, located, open};
use crate::support::Repo;

/// `XY path` for each entry, `??` for what git does not track.
fn lines(repo: &Repo) -> Vec<String> {
    shown(&open(repo))
}

fn shown(git: &git::Repo) -> Vec<String> {
    let entries = git.status().unwrap();
    entries
        .iter()
        .map(|entry| {
            let [x, y] = match entry.change {
                Change::Tracked {
                    staged, unstaged, ..
                } => [staged, unstaged],
                Change::Unmerged { sides, .. } => sides,
                Change::Untracked => *b"??",
            };
            format!("{}{} {}", char::from(x), char::from(y), entry.path)
        })
        .collect()
}

#[test]
fn every_kind_of_change_is_seen() {
    for repo in formats() {
        for name in ["changed", "staged", "gone", "mode"] {
            repo.commit(name);
        }
        repo.dirty("changed");
        repo.dirty("staged");
        repo.write("dir/deep/new", "");
        repo.git(["add", "staged"]);
        fs::remove_file(repo.path().join("gone")).unwrap();
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(repo.path().join("mode"), mode).unwrap();
        let expected = [
            ".M changed",
            ".D gone",
            ".M mode",
            "M. staged",
            "?? dir/deep/new",
        ];
        assert_eq!(lines(&repo), expected);
    }
}

#[test]
fn a_path_keeps_its_bytes() {
    let repo = Repo::new();
    let names: [&[u8]; 4] = [b"a b", b"new\nline", b"q\"uote", b"\xff\xfe"];
    for name in names {
        fs::write(repo.path().join(OsStr::from_bytes(name)), "").unwrap();
    }
    let entries = open(&repo).status().unwrap();
    let paths: Vec<&[u8]> = entries.iter().map(|entry| entry.path.as_bytes()).collect();
    assert_eq!(paths, names);
}

#[test]
fn no_setting_of_the_user_changes_it() {
    let repo = Repo::new();
    for name in ["a", "b", "sub/c"] {
        repo.commit(name);
    }
    repo.git(["mv", "a", "renamed"]);
    repo.dirty("b");
    repo.write("new/x", "");
    let before = lines(&repo);
    assert_eq!(before, ["D. a", ".M b", "A. renamed", "?? new/x"]);
    for setting in [
        "color.ui=always",
        "color.status=always",
        "status.showUntrackedFiles=no",
        "status.relativePaths=true",
        "status.branch=true",
        "status.short=true",
        "status.showStash=true",
        "status.renames=copies",
        "status.submoduleSummary=true",
        "diff.renames=true",
        "diff.noprefix=true",
        "diff.external=false",
        "diff.ignoreSubmodules=all",
        "diff.mnemonicPrefix=true",
        "core.quotePath=true",
        "core.abbrev=4",
        "core.pager=false",
        "column.ui=always",
        "advice.statusHints=true",
    ] {
        let (key, value) = setting.split_once('=').unwrap();
        repo.git(["config", key, value]);
    }
    repo.git(["stash", "store", &repo.git(["stash", "create"])]);
    assert_eq!(lines(&repo), before);
    assert_eq!(lines(&repo.at("sub")), before);
}

#[test]
fn it_works_beside_an_index_lock_and_leaves_the_index_alone() {
    let repo = Repo::new();
    repo.commit("a");
    repo.write(".git/index.lock", "");
    repo.dirty("a");
    let index = fs::read(repo.path().join(".git/index")).unwrap();
    assert_eq!(lines(&repo), [".M a"]);
    assert_eq!(fs::read(repo.path().join(".git/index")).unwrap(), index);
    assert_eq!(repo.read(".git/index.lock"), "");
}

#[test]
fn an_inherited_repository_does_not_leak_in() {
    let other = Repo::new();
    other.commit("other");
    let repo = Repo::new();
    repo.commit("a");
    repo.dirty("a");
    let git_dir = other.path().join(".git");
    let index = git_dir.join("index");
    let before = fs::read(&index).unwrap();
    let leaked = [
        ("GIT_DIR", git_dir.to_str().unwrap()),
        ("GIT_WORK_TREE", other.path().to_str().unwrap()),
        ("GIT_INDEX_FILE", index.to_str().unwrap()),
        ("GIT_OBJECT_DIRECTORY", "/dev/null"),
        ("GIT_PREFIX", "x/"),
        ("GIT_LITERAL_PATHSPECS", "1"),
    ];
    let git = git::Repo::open(&located(&repo), &env(&repo, &leaked)).unwrap();
    assert_eq!(shown(&git), [".M a"]);
    assert_eq!(fs::read(&index).unwrap(), before);
}

#[test]
fn a_conflict_keeps_its_stages() {
    let repo = Repo::new();
    repo.commit("f");
    repo.branch("x");
    repo.write("f", "x\n");
    repo.git(["commit", "-qam", "x"]);
    repo.checkout("main");
    repo.write("f", "m\n");
    repo.git(["commit", "-qam", "m"]);
    assert!(!repo.try_git(["merge", "-q", "x"]).status.success());
    let entries = open(&repo).status().unwrap();
    let Change::Unmerged { sides, ids, .. } = &entries[0].change else {
        panic!("{entries:?}");
    };
    assert_eq!(sides, b"UU");
    let stages = repo.git(["ls-files", "-u", "--format=%(objectname)"]);
    let stages: Vec<&str> = stages.lines().collect();
    assert_eq!(ids.map(|id| id.to_hex()).as_slice(), stages);
}

#[test]
fn a_submodule_says_what_of_it_differs() {
    let repo = Repo::new();
    repo.git(["init", "-q", "../inner"]);
    repo.at("../inner").commit("i");
    repo.git(["submodule", "--quiet", "add", "../inner", "sub"]);
    repo.git(["config", "-f", ".gitmodules", "submodule.sub.ignore", "all"]);
    repo.git(["add", "-A"]);
    repo.commit_staged("add it");
    assert_eq!(lines(&repo), [""; 0]);
    let inner = repo.at("sub");
    inner.write("untracked", "");
    inner.dirty("i");
    let entries = open(&repo).status().unwrap();
    let Change::Tracked {
        submodule: Some(submodule),
        ..
    } = entries[0].change
    else {
        panic!("{entries:?}");
    };
    assert_eq!(
        (submodule.commit, submodule.modified, submodule.untracked),
        (false, true, true)
    );
    assert_eq!(lines(&inner), [".M i", "?? untracked"]);
}

#[test]
fn a_linked_worktree_inside_the_tree_is_not_the_trees_business() {
    let repo = Repo::new();
    repo.commit("a");
    repo.git(["worktree", "add", "-q", "-b", "in", "inside/wt"]);
    repo.git(["init", "-q", "embedded"]);
    repo.at("embedded").commit("e");
    assert_eq!(lines(&repo), ["?? embedded/"]);
    assert_eq!(lines(&repo.at("inside/wt")), [""; 0]);
}

#[test]
fn a_bare_repository_has_none() {
    let repo = Repo::bare();
    let error = open(&repo).status().unwrap_err();
    assert!(matches!(error, Error::Git { .. }), "{error}");
}

#[test]
fn without_git_on_the_path_the_error_says_so() {
    let repo = Repo::new();
    let env = env(&repo, &[("PATH", "/nowhere")]);
    let git = git::Repo::open(&located(&repo), &env).unwrap();
    let error = git.status().unwrap_err().to_string();
    assert_eq!(error, "cannot run 'git status': there is no git on PATH");
}
