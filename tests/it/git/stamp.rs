//! The subject of a working tree is the tree that committing all of it would make.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
};

use git_operator::{
    git::{Budget, Shortfall, StampRequest, Stamped, Trust},
    model::{Delta, DeltaEntry},
};

use super::{formats, oid, open};
use crate::support::Repo;

const PLAIN: StampRequest<'static> = StampRequest {
    budget: Budget::Run,
    trust: Trust::Stat,
    roots: &[],
};

fn stamped(repo: &Repo) -> Stamped {
    open(repo).stamp(PLAIN)
}

fn strict(repo: &Repo) -> Stamped {
    open(repo).stamp(StampRequest {
        trust: Trust::Nothing,
        ..PLAIN
    })
}

/// The subject that git's own commands make of everything in the working tree.
#[track_caller]
fn committed_subject(repo: &Repo) -> String {
    repo.git(["add", "-A"]);
    let root = repo.git(["write-tree"]);
    let lines = repo.git(["ls-tree", &root]);
    let kept: Vec<&str> = lines
        .lines()
        .filter(|line| !line.ends_with("\t.operator"))
        .collect();
    let lines = kept.iter().map(|line| format!("{line}\n"));
    fs::write(repo.dir().join("listing"), lines.collect::<String>()).unwrap();
    sh(repo, "git mktree --missing < ../listing")
}

fn sh(repo: &Repo, script: &str) -> String {
    let output = std::process::Command::new("sh")
        .args(["-c", script])
        .current_dir(repo.path())
        .env_clear()
        .envs(repo.env())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn paths(stamped: &Stamped) -> Vec<String> {
    match &stamped.delta {
        None => Vec::new(),
        Some(Delta::Inline(entries)) => entries.iter().map(|entry| entry.path.quoted()).collect(),
        Some(other) => panic!("{other:?}"),
    }
}

fn entries(stamped: &Stamped) -> Vec<DeltaEntry> {
    match &stamped.delta {
        Some(Delta::Inline(entries)) => entries.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_clean_tree_is_its_commits() {
    for repo in formats() {
        repo.commit("a");
        repo.write(".operator/VERDICTS.md", "x");
        repo.git(["add", "-A"]);
        let head = repo.commit_staged("ledger");
        repo.write(".operator/VERDICTS.md", "y");
        repo.write(".operator/new", "z");
        let found = stamped(&repo);
        assert_eq!(found.stamp.to_string(), format!("@{head}"));
        assert_eq!(found.delta, None);
        assert_eq!(found.subject.unwrap().to_hex(), committed_subject(&repo));
        assert_eq!(
            found.subject.unwrap().to_hex(),
            repo.git(["rev-parse", "HEAD~1^{tree}"])
        );
    }
}

#[test]
fn every_kind_of_change_is_in_the_subject_and_the_delta() {
    for repo in formats() {
        for name in ["changed", "staged", "gone", "mode", "dir/file", "to-dir"] {
            repo.commit(name);
        }
        let head = repo.head();
        repo.dirty("changed");
        repo.dirty("staged");
        repo.git(["add", "staged"]);
        fs::remove_file(repo.path().join("gone")).unwrap();
        fs::set_permissions(repo.path().join("mode"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::remove_dir_all(repo.path().join("dir")).unwrap();
        repo.write("dir", "now a file");
        fs::remove_file(repo.path().join("to-dir")).unwrap();
        repo.write("to-dir/inside", "x");
        repo.write("new in/a b\nc", "x");
        symlink("changed", repo.path().join("link")).unwrap();
        repo.write(".gitignore", "ignored\n");
        repo.write("ignored", "x");
        repo.write(".operator/x", "x");
        let before = repo.git(["status", "--porcelain", "-uall"]);
        let found = stamped(&repo);
        assert_eq!(repo.git(["status", "--porcelain", "-uall"]), before);
        assert_eq!(found.stamp.to_string(), format!("@{head}+dirty"));
        assert_eq!(
            paths(&found),
            [
                ".gitignore",
                "changed",
                "dir",
                "dir/file",
                "gone",
                "link",
                "mode",
                "\"new in/a b\\nc\"",
                "staged",
                "to-dir",
                "to-dir/inside"
            ]
        );
        let git = open(&repo);
        let root = git.commit(oid(&head)).unwrap().tree;
        let rebuilt = git.apply_delta(Some(root), &entries(&found)).unwrap();
        assert_eq!(rebuilt, found.subject);
        assert_eq!(strict(&repo).subject, found.subject);
        assert_eq!(found.subject.unwrap().to_hex(), committed_subject(&repo));
    }
}

#[test]
fn nothing_of_the_snapshot_stays_and_no_object_enters_the_repository() {
    let repo = Repo::new();
    repo.commit("a");
    let count = |repo: &Repo| repo.git(["count-objects", "-v"]);
    let before = count(&repo);
    repo.write(".env", "SECRET");
    let index = fs::read(repo.path().join(".git/index")).unwrap();
    assert_eq!(paths(&stamped(&repo)), [".env"]);
    assert_eq!(count(&repo), before);
    assert_eq!(fs::read(repo.path().join(".git/index")).unwrap(), index);
    let left = fs::read_dir(repo.path().join(".git/operator/tmp")).unwrap();
    assert_eq!(left.count(), 0);
}

#[test]
fn an_unborn_branch_has_a_subject_and_no_commit() {
    for repo in formats() {
        let empty = stamped(&repo);
        assert_eq!(empty.stamp.to_string(), "@no-commit");
        assert_eq!(empty.subject.unwrap().to_hex(), committed_subject(&repo));
        assert_eq!(empty.repo, None);
        repo.write("a", "x");
        let found = stamped(&repo);
        assert_eq!(found.head, None);
        assert_eq!(found.subject.unwrap().to_hex(), committed_subject(&repo));
        assert_eq!(paths(&found), ["a"]);
    }
}

#[test]
fn an_edit_hidden_by_a_bit_of_the_index_is_found() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let repo = Repo::new();
        repo.commit("a");
        repo.commit("b");
        repo.git(["update-index", flag, "a"]);
        repo.dirty("a");
        let found = stamped(&repo);
        assert_eq!(paths(&found), ["a"], "{flag}");
        assert_eq!(found.taints, Vec::<String>::new());
        assert_eq!(strict(&repo).subject, found.subject);
    }
}

#[test]
fn a_file_left_out_by_sparse_checkout_stays_in_the_subject() {
    let repo = Repo::new();
    repo.commit("in/a");
    repo.commit("out/b");
    let whole = repo.git(["rev-parse", "HEAD^{tree}"]);
    for kind in ["--no-sparse-index", "--sparse-index"] {
        repo.git(["sparse-checkout", "set", "--cone", kind, "in"]);
        let found = stamped(&repo);
        assert_eq!(found.subject.unwrap().to_hex(), whole);
        assert_eq!(found.taints, ["sparse"]);
        repo.dirty("in/a");
        let found = stamped(&repo);
        assert_eq!(paths(&found), ["in/a"]);
        repo.git(["checkout", "-q", "--", "in/a"]);
    }
}

#[test]
fn an_edit_of_the_same_size_and_time_is_found_whatever_the_settings_say() {
    let repo = Repo::new();
    repo.commit("a");
    repo.git(["config", "core.trustctime", "false"]);
    repo.git(["config", "core.checkStat", "minimal"]);
    let path = repo.path().join("a");
    let old = fs::File::open(&path).unwrap();
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    old.set_modified(long_ago).unwrap();
    repo.git(["update-index", "--refresh"]);
    let changed = |path: &std::path::Path| fs::metadata(path).unwrap().ctime();
    let before = changed(&path);
    let edit = || {
        fs::write(&path, "A\n").unwrap();
        fs::File::open(&path)
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
    };
    edit();
    assert_eq!(paths(&strict(&repo)), ["a"]);
    // git compares whole seconds.
    while changed(&path) == before {
        edit();
    }
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    assert_eq!(paths(&stamped(&repo)), ["a"]);
}

#[test]
fn an_edit_within_the_second_of_its_staging_is_in_the_subject() {
    let repo = Repo::new();
    repo.git(["config", "core.trustctime", "false"]);
    let then = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    let set = |path: &str| {
        let file = fs::OpenOptions::new()
            .write(true)
            .open(repo.path().join(path));
        file.unwrap().set_modified(then).unwrap();
    };
    fs::write(repo.path().join("a"), "one\n").unwrap();
    set("a");
    repo.git(["add", "a"]);
    repo.git(["commit", "-qm", "c1"]);
    set(".git/index");
    fs::write(repo.path().join("a"), "two\n").unwrap();
    set("a");
    let stamped = stamped(&repo);
    assert_eq!(paths(&stamped), ["a"]);
    let subject = stamped.subject.unwrap().to_hex();
    assert_eq!(subject, committed_subject(&repo));
}

#[test]
fn a_replaced_commit_is_not_what_was_tested() {
    let repo = Repo::new();
    repo.commit("a");
    repo.commit("b");
    let tree = repo.git(["rev-parse", "HEAD^{tree}"]);
    repo.git(["replace", "HEAD", "HEAD~1"]);
    let found = stamped(&repo);
    assert_eq!(found.subject.unwrap().to_hex(), tree);
    assert_eq!(found.delta, None);
}

#[test]
fn hooks_do_not_run() {
    let repo = Repo::new();
    repo.commit("a");
    let hook = repo.path().join(".git/hooks/post-index-change");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\ntouch \"$HOME/ran\"\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    repo.dirty("a");
    repo.git(["update-index", "--assume-unchanged", "a"]);
    let _ = fs::remove_file(repo.home().join("ran"));
    strict(&repo);
    stamped(&repo);
    assert!(!repo.home().join("ran").exists());
}

#[test]
fn a_dirty_submodule_is_a_taint_and_a_dirty_stamp() {
    let repo = Repo::new();
    let inner = Repo::new();
    inner.commit("x");
    repo.commit("a");
    repo.git([
        "submodule",
        "-q",
        "add",
        inner.path().to_str().unwrap(),
        "sub",
    ]);
    let head = repo.commit_staged("sub");
    repo.dirty("sub/x");
    let found = stamped(&repo);
    assert_eq!(found.stamp.to_string(), format!("@{head}+dirty"));
    assert_eq!(found.delta, None);
    assert_eq!(found.taints, ["dirty-submodule"]);
}

#[test]
fn a_conflict_is_a_taint_and_its_markers_are_the_subject() {
    let repo = Repo::new();
    repo.commit("a");
    repo.branch("other");
    repo.write("a", "theirs\n");
    repo.git(["commit", "-qam", "theirs"]);
    repo.checkout("main");
    repo.write("a", "ours\n");
    repo.git(["commit", "-qam", "ours"]);
    assert!(!repo.try_git(["merge", "other"]).status.success());
    let found = stamped(&repo);
    assert_eq!(found.taints, ["unmerged"]);
    assert_eq!(paths(&found), ["a"]);
    assert_eq!(found.subject.unwrap().to_hex(), committed_subject(&repo));
}

#[test]
fn a_conflict_in_a_view_is_no_part_of_the_subject() {
    let repo = Repo::new();
    repo.commit("a");
    repo.branch("other");
    repo.commit(".operator/x");
    repo.checkout("main");
    repo.write(".operator/x", "ours\n");
    repo.git(["add", "-A"]);
    repo.commit_staged("ours");
    assert!(!repo.try_git(["merge", "other"]).status.success());
    repo.dirty("a");
    let found = stamped(&repo);
    assert_eq!(found.taints, Vec::<String>::new());
    assert_eq!(paths(&found), ["a"]);
    assert_eq!(found.shortfall, None);
}

#[test]
fn a_repository_inside_is_what_git_add_makes_of_it() {
    let repo = Repo::new();
    repo.commit("a");
    for (name, commit) in [("inner", true), ("unborn", false)] {
        let dir = repo.path().join(name);
        fs::create_dir(&dir).unwrap();
        let inner = repo.at(&dir);
        inner.git(["init", "-q"]);
        if commit {
            inner.commit("x");
        }
    }
    let found = stamped(&repo);
    assert_eq!(found.taints, ["embedded-repo"]);
    assert_eq!(paths(&found), ["inner"]);
    assert_eq!(entries(&found)[0].new.unwrap().0, 0o160_000);
}

#[test]
fn a_linked_worktree_inside_is_not_there() {
    let repo = Repo::new();
    let head = repo.commit("a");
    repo.git(["worktree", "add", "-q", "wt"]);
    let found = stamped(&repo);
    assert_eq!(found.stamp.to_string(), format!("@{head}"));
    assert_eq!(found.taints, Vec::<String>::new());
    repo.dirty("a");
    assert_eq!(paths(&stamped(&repo)), ["a"]);
}

#[test]
fn what_only_this_clone_excludes_is_a_taint() {
    let repo = Repo::new();
    repo.write(".gitignore", "public\n");
    repo.git(["add", ".gitignore"]);
    repo.commit_staged("ignore");
    repo.write("public", "x");
    assert_eq!(stamped(&repo).taints, Vec::<String>::new());
    repo.write(".git/info/exclude", "# mine\nhelper*\n");
    assert_eq!(stamped(&repo).taints, Vec::<String>::new());
    repo.write("helper1", "x");
    repo.write("dir/helper2", "x");
    assert_eq!(stamped(&repo).taints, ["hidden-untracked:2"]);
    fs::create_dir_all(repo.home().join(".config/git")).unwrap();
    fs::write(repo.home().join(".config/git/ignore"), "*.o\n").unwrap();
    repo.write("x.o", "x");
    assert_eq!(stamped(&repo).taints, ["hidden-untracked:3"]);
}

#[test]
fn a_filter_that_keeps_the_size_is_a_taint() {
    let repo = Repo::new();
    repo.write("secret.txt", "abc\n");
    repo.write("plain", "abc\n");
    repo.write(".gitattributes", "*.txt filter=up\n*.none filter=up\n");
    repo.git(["add", "-A"]);
    repo.commit_staged("plain");
    // Attributes alone run nothing.
    assert_eq!(stamped(&repo).taints, Vec::<String>::new());
    repo.git(["config", "filter.up.clean", "tr a-z A-Z"]);
    repo.git(["config", "filter.up.smudge", "tr A-Z a-z"]);
    assert_eq!(stamped(&repo).taints, ["filters"]);
    repo.git(["rm", "-q", "--cached", "secret.txt"]);
    repo.commit_staged("no file of the filter's");
    std::fs::remove_file(repo.path().join("secret.txt")).unwrap();
    assert_eq!(stamped(&repo).taints, Vec::<String>::new());
    // Nor does it matter who asks for the filter.
    fs::create_dir_all(repo.home().join(".config/git")).unwrap();
    fs::write(
        repo.home().join(".config/git/attributes"),
        "plain filter=up\n",
    )
    .unwrap();
    assert_eq!(stamped(&repo).taints, ["filters"]);
    fs::remove_file(repo.home().join(".config/git/attributes")).unwrap();
    fs::write(repo.home().join("mine"), "plain filter=up\n").unwrap();
    repo.git(["config", "core.attributesFile", "~/mine"]);
    assert_eq!(stamped(&repo).taints, ["filters"]);
}

#[test]
fn crlf_files_are_clean_and_tainted() {
    let repo = Repo::new();
    repo.write(".gitattributes", "* text=auto\n");
    repo.write("a", "one\r\ntwo\r\n");
    repo.write("b", "one\n");
    repo.git(["add", "-A"]);
    let head = repo.commit_staged("crlf");
    let found = stamped(&repo);
    assert_eq!(found.stamp.to_string(), format!("@{head}"));
    assert_eq!(found.taints, ["filters"]);
    assert_eq!(strict(&repo).subject, found.subject);
    repo.git(["rm", "-q", "a"]);
    assert_eq!(stamped(&repo).taints, Vec::<String>::new());
}

#[test]
fn a_status_that_fails_makes_the_stamp_unknown() {
    let repo = Repo::new();
    let head = repo.commit("a");
    fs::write(repo.path().join(".git/index"), "garbage garbage garbage").unwrap();
    let found = stamped(&repo);
    assert_eq!(found.stamp.to_string(), format!("@{head}+unknown"));
    assert_eq!(found.subject, None);
    assert!(matches!(found.shortfall, Some(Shortfall::Failed(_))));
}

#[test]
fn the_whole_tree_counts_in_a_subdirectory() {
    let repo = Repo::new();
    repo.commit("dir/a");
    let head = repo.commit("top");
    repo.dirty("top");
    let found = stamped(&repo.at("dir"));
    assert_eq!(found.stamp.to_string(), format!("@{head}+dirty"));
    assert_eq!(paths(&found), ["top"]);
}

#[test]
fn a_long_delta_is_stored_and_a_longer_one_counted() {
    let repo = Repo::new();
    repo.commit("a");
    for name in 0..201 {
        repo.write(format!("d/{name:04}"), format!("{name}"));
    }
    let found = stamped(&repo);
    let Some(Delta::Stored {
        count: 201,
        paths,
        digest,
    }) = &found.delta
    else {
        panic!("{:?}", found.delta)
    };
    assert_eq!(paths.len(), 50);
    assert_eq!(*digest, git_operator::model::Digest::of(&found.blobs[0]));
    for name in 201..2001 {
        repo.write(format!("d/{name:04}"), format!("{name}"));
    }
    assert_eq!(stamped(&repo).delta, Some(Delta::Omitted { count: 2001 }));
    assert_eq!(
        stamped(&repo).subject.unwrap().to_hex(),
        committed_subject(&repo)
    );
}

#[test]
fn a_branch_carries_the_change_it_makes_to_the_main_one() {
    let repo = Repo::new();
    let base = repo.commit("a");
    assert_eq!(stamped(&repo).change, None);
    repo.branch("topic");
    repo.commit("b");
    let clean = stamped(&repo).change.unwrap();
    assert_eq!(clean.base.to_hex(), base);
    let id = sh(
        &repo,
        "git diff-tree -p --full-index --binary main HEAD | git patch-id --verbatim",
    );
    assert_eq!(clean.patch.unwrap().to_hex(), id.split(' ').next().unwrap());
    repo.dirty("c");
    let dirty = stamped(&repo).change.unwrap();
    assert_ne!(dirty.digest, clean.digest);
    repo.git(["add", "-A"]);
    repo.commit_staged("c");
    assert_eq!(stamped(&repo).change.unwrap(), dirty);
}

#[test]
fn the_roots_are_found_once_and_not_in_a_shallow_clone() {
    let repo = Repo::new();
    let root = repo.commit("a");
    repo.commit("b");
    assert_eq!(stamped(&repo).repo, Some(vec![oid(&root)]));
    let url = format!("file://{}", repo.path().display());
    let target = repo.dir().join("shallow");
    repo.git(["clone", "-q", "--depth=1", &url, target.to_str().unwrap()]);
    assert_eq!(stamped(&repo.at(&target)).repo, None);
}

/// Writes a random small tree: each file of a few paths, some of which are directories of others.
fn scatter(repo: &Repo, picks: &[(usize, u8)]) {
    const PATHS: [&str; 7] = ["a", "a/b", "a/b/c", "b", "b.c", "b/x", ".operator/x"];
    for entry in fs::read_dir(repo.path()).unwrap() {
        let path = entry.unwrap().path();
        match path.file_name().unwrap().to_str().unwrap() {
            ".git" => {}
            _ if path.is_dir() => fs::remove_dir_all(path).unwrap(),
            _ => fs::remove_file(path).unwrap(),
        }
    }
    for (at, content) in picks {
        let path = repo.path().join(PATHS[*at]);
        let parent = path.parent().unwrap();
        if !path.is_dir() && fs::create_dir_all(parent).is_ok() {
            fs::write(path, [*content]).unwrap();
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(12))]
    #[test]
    fn a_delta_applied_to_its_base_is_the_subject(
        old in proptest::collection::vec((0_usize..7, 0_u8..3), 0..7),
        new in proptest::collection::vec((0_usize..7, 0_u8..3), 0..7),
    ) {
        let repo = Repo::new();
        scatter(&repo, &old);
        repo.git(["add", "-A"]);
        let head = repo.commit_staged("old");
        scatter(&repo, &new);
        let found = stamped(&repo);
        let delta = found.delta.as_ref().map(|_| entries(&found)).unwrap_or_default();
        let git = open(&repo);
        let root = git.commit(oid(&head)).unwrap().tree;
        proptest::prop_assert_eq!(git.apply_delta(Some(root), &delta).unwrap(), found.subject);
        proptest::prop_assert_eq!(found.subject.unwrap().to_hex(), committed_subject(&repo));
        let mut forged = delta.clone();
        if let Some(entry) = forged.first_mut() {
            entry.old = Some((0o100_644, oid(&head)));
            proptest::prop_assert_eq!(git.apply_delta(Some(root), &forged).unwrap(), None);
        }
    }
}
