//! Repositories in unusual places and of unusual kinds: every command works there, or says why not and
//! changes nothing.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use crate::support::Repo;

#[track_caller]
fn ok(repo: &Repo, args: &[&str]) -> String {
    let output = repo.operator(args).run();
    assert_eq!(
        output.code, 0,
        "{args:?}: {}{}",
        output.stdout, output.stderr
    );
    assert_eq!(output.stderr, "", "{args:?}");
    output.stdout
}

fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![dir.to_owned()];
    while let Some(dir) = pending.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => {
                    pending.push(path.clone());
                    found.insert(path, Vec::new());
                }
                false => {
                    let bytes = fs::read(&path).unwrap();
                    found.insert(path, bytes);
                }
            }
        }
    }
    found
}

/// Every command of the views and of the exchange, in a repository that has a commit and the remote
/// 'origin'.
#[track_caller]
fn goes_through_everything(repo: &Repo) {
    ok(repo, &["start", "--hooks", "file"]);
    ok(repo, &["task", "t1", "--owner", "S1"]);
    repo.write("new", "new\n");
    ok(repo, &["verdict", "t1", "c", "ok", "PASS", "--owner", "S1"]);
    let long = "long ".repeat(4_000);
    ok(repo, &["task", "t2", "--owner", "S1"]);
    ok(
        repo,
        &["verdict", "t2", "c2", &long, "PASS", "--owner", "S1"],
    );
    for args in [
        &["run", "t3", "c3", "--owner", "S1", "--", "true"][..],
        &[
            "run",
            "--isolated",
            "t3",
            "c3",
            "--owner",
            "S1",
            "--",
            "test",
            "-e",
            "new",
        ],
    ] {
        let output = repo.operator(args).run();
        assert_eq!(output.code, 0, "{args:?}: {}", output.stderr);
    }
    let view = repo.read(".operator/VERDICTS.md");
    fs::remove_file(repo.path().join(".operator/VERDICTS.md")).unwrap();
    ok(repo, &["reconcile"]);
    assert_eq!(repo.read(".operator/VERDICTS.md"), view);
    ok(repo, &["render", "--check", "--complete"]);
    ok(repo, &["sync", "--evidence"]);
    ok(repo, &["gc", "--notes"]);
    assert_eq!(ok(repo, &["doctor"]), "all is well\n");
    ok(repo, &["doctor", "--fix"]);
    repo.git(["add", "-A"]);
    repo.commit_staged("all");
    repo.git(["fsck", "--no-dangling"]);
    ok(repo, &["uninstall"]);
}

fn with_remote(repo: &Repo, format: &[&str]) {
    let hub = repo.path().join("../hub.git");
    repo.git(
        [
            &["init", "-q", "--bare"],
            format,
            &[hub.to_str().unwrap_or("../hub.git")],
        ]
        .concat(),
    );
    repo.git(["remote", "add", "origin", "../hub.git"]);
    repo.commit("a");
}

#[test]
fn paths_of_strange_bytes_are_paths() {
    for name in [
        "a b",
        "line\nbreak",
        "co:lon",
        "quo\"te",
        "back\\slash",
        "-dash",
        "'; $(x) `y`",
    ] {
        let outer = Repo::outside();
        let path = outer
            .path()
            .join(OsStr::from_bytes(name.as_bytes()))
            .join("repo");
        fs::create_dir_all(&path).unwrap();
        let repo = outer.at(&path);
        repo.git(["init", "-q"]);
        with_remote(&repo, &[]);
        goes_through_everything(&repo);
    }
}

#[test]
fn other_formats_of_ids_and_refs_are_formats() {
    if let Some(repo) = Repo::sha256() {
        with_remote(&repo, &["--object-format=sha256"]);
        goes_through_everything(&repo);
    }
    if let Some(repo) = Repo::reftable() {
        with_remote(&repo, &["--ref-format=reftable"]);
        goes_through_everything(&repo);
        assert!(!repo.path().join(".git/refs/operator").exists());
    }
}

#[test]
fn a_linked_worktree_and_a_submodule_are_repositories() {
    let repo = Repo::new();
    with_remote(&repo, &[]);
    let linked = repo.worktree("linked");
    goes_through_everything(&linked);
    let outer = Repo::new();
    let inner = outer.at("../inner");
    outer.git(["init", "-q", "../inner"]);
    inner.commit("i");
    outer.git(["submodule", "--quiet", "add", "../inner", "sub"]);
    outer.git(["init", "-q", "--bare", "../hub.git"]);
    outer.commit_staged("sub");
    let sub = outer.at("sub");
    let hub = outer.dir().join("hub.git");
    sub.git(["remote", "set-url", "origin", hub.to_str().unwrap()]);
    goes_through_everything(&sub);
    assert!(!outer.path().join(".operator").exists());
    assert!(!outer.path().join(".git/operator").exists());
}

#[test]
fn line_ends_that_git_changes_leave_the_views_alone() {
    let repo = Repo::new();
    repo.git(["config", "core.autocrlf", "true"]);
    repo.git(["config", "core.safecrlf", "false"]);
    with_remote(&repo, &[]);
    goes_through_everything(&repo);
    fs::remove_file(repo.path().join(".operator/VERDICTS.md")).unwrap();
    repo.git(["checkout", "--", ".operator"]);
    assert!(!repo.read(".operator/VERDICTS.md").contains('\r'));
    assert_eq!(ok(&repo, &["render", "--check", "--complete"]), "");
}

#[test]
fn borrowed_objects_are_objects() {
    let base = Repo::new();
    base.commit("b");
    base.git(["clone", "-q", "--shared", ".", "../borrower"]);
    let repo = base.at("../borrower");
    repo.git(["remote", "remove", "origin"]);
    with_remote(&repo, &[]);
    goes_through_everything(&repo);
}

/// git reads no repository with an extension it does not know, and neither do we.
#[test]
fn an_extension_that_nobody_knows_is_named_and_nothing_is_changed() {
    let repo = Repo::new();
    repo.commit("a");
    repo.git(["config", "core.repositoryFormatVersion", "1"]);
    let config = repo.path().join(".git/config");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(
        &config,
        format!("{text}[extensions]\n\tfrobnicate = true\n"),
    )
    .unwrap();
    let before = files(repo.path());
    for args in [
        &["task", "t1", "--owner", "S1"][..],
        &["verdict", "t1", "c", "ok", "PASS", "--owner", "S1"],
        &["log"],
        &["render"],
        &["reconcile"],
        &["sync"],
        &["gc"],
        &["doctor", "--fix"],
        &["start"],
        &["uninstall"],
    ] {
        let output = repo.operator(args).run();
        assert_eq!(output.code, 128, "{args:?}: {output:?}");
        assert!(
            output
                .stderr
                .contains("unknown repository extension found: frobnicate\n"),
            "{args:?}: {}",
            output.stderr
        );
        assert!(files(repo.path()) == before, "{args:?}");
    }
}

#[test]
fn a_bare_repository_has_a_ledger_and_no_views() {
    let repo = Repo::bare();
    let before = files(repo.path());
    for (args, code) in [
        (&["start"][..], 1),
        (&["render"], 128),
        (&["render", "--check"], 128),
        (&["reconcile"], 128),
    ] {
        let output = repo.operator(args).run();
        assert_eq!(output.code, code, "{args:?}: {output:?}");
        assert!(
            output.stderr.contains("it is a bare repository"),
            "{output:?}"
        );
        assert!(files(repo.path()) == before, "{args:?}");
    }
    ok(&repo, &["task", "t1", "--owner", "S1"]);
    ok(&repo, &["gc"]);
    assert!(ok(&repo, &["log"]).contains("open     t1 for S1"));
}
