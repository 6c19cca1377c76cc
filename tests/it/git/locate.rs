use std::{fs, os::unix::fs::symlink, path::Path};

use git_operator::git::{self, Error, Location, nearest_dir};
use git_operator::model::Explain as _;

use super::{env, located};
use crate::support::{Repo, skipped};

/// What git says of the same place.
#[track_caller]
fn agrees(repo: &Repo) {
    let location = located(repo);
    let args = ["rev-parse", "--path-format=absolute"];
    let git_dir = repo.git([&args[..], &["--git-dir"]].concat());
    let common = repo.git([&args[..], &["--git-common-dir"]].concat());
    assert_eq!(location.git_dir, Path::new(&git_dir));
    assert_eq!(location.common_dir, Path::new(&common));
    let top = repo.try_git(["rev-parse", "--show-toplevel"]);
    let top = top
        .status
        .success()
        .then(|| String::from_utf8(top.stdout).unwrap());
    assert_eq!(
        location.top.as_deref(),
        top.as_deref().map(|top| Path::new(top.trim_end()))
    );
}

#[test]
fn every_shape_of_repository_is_found_where_git_finds_it() {
    let repo = Repo::new();
    repo.write("a/b/file", "x");
    repo.commit("a/b/c");
    agrees(&repo);
    agrees(&repo.at("a/b"));
    agrees(&repo.at(".git"));
    agrees(&repo.at(".git/refs"));
    let linked = repo.worktree("linked");
    linked.write("d/e", "x");
    agrees(&linked);
    agrees(&linked.at("d"));
    agrees(&Repo::bare());
    agrees(&Repo::bare().at("refs/heads"));
}

#[test]
fn a_worktree_is_called_as_git_calls_it() {
    let repo = Repo::new();
    repo.commit("a");
    assert_eq!(located(&repo).worktree_name(), ".");
    assert_eq!(located(&repo.worktree("side")).worktree_name(), "side");
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let outer = Repo::new();
    let inner = outer.at("../inner");
    outer.git(["init", "-q", "../inner"]);
    inner.commit("i");
    outer.git(["submodule", "--quiet", "add", "../inner", "sub"]);
    outer.commit_staged("add it");
    agrees(&outer.at("sub"));
    let location = located(&outer.at("sub"));
    assert_eq!(location.git_dir, outer.path().join(".git/modules/sub"));
    assert_eq!(location.worktree_name(), ".");
}

#[test]
fn links_on_the_way_are_resolved() {
    let repo = Repo::new();
    repo.write("deep/dir/x", "");
    let link = repo.dir().join("link");
    symlink(repo.path().join("deep"), &link).unwrap();
    assert_eq!(located(&repo.at(link.join("dir"))), located(&repo));
}

#[test]
fn the_root_directory_is_the_end() {
    let repo = Repo::outside();
    let found = git::locate(Path::new("/"), &env(&repo, &[])).unwrap();
    assert_eq!(found, None);
    assert_eq!(git::locate(repo.path(), &env(&repo, &[])).unwrap(), None);
}

#[test]
fn discovery_stops_at_a_ceiling() {
    let repo = Repo::new();
    repo.write("a/b/x", "");
    let start = repo.path().join("a/b");
    let at = |ceiling: &Path| {
        let ceiling = ceiling.to_str().unwrap();
        git::locate(&start, &env(&repo, &[("GIT_CEILING_DIRECTORIES", ceiling)])).unwrap()
    };
    assert_eq!(at(&repo.path().join("a")), None);
    assert_eq!(at(repo.path()), None);
    assert!(at(&repo.dir()).is_some());
    assert!(at(&start).is_some(), "a ceiling does not shut out itself");
    let relative = git::locate(&start, &env(&repo, &[("GIT_CEILING_DIRECTORIES", "a:b")]));
    assert!(relative.unwrap().is_some());
}

#[test]
fn git_dir_and_work_tree_are_obeyed_and_a_hook_forgets_them() {
    let other = Repo::new();
    let repo = Repo::new();
    let git_dir = other.path().join(".git");
    let given = [
        ("GIT_DIR", git_dir.to_str().unwrap()),
        ("GIT_WORK_TREE", other.path().to_str().unwrap()),
    ];
    let found = git::locate(repo.path(), &env(&repo, &given)).unwrap();
    assert_eq!(found, Some(located(&other)));
    let found = git::locate(repo.path(), &env(&repo, &given).hook()).unwrap();
    assert_eq!(found, Some(located(&repo)));
    let found = git::locate(repo.path(), &env(&repo, &given[..1])).unwrap();
    assert_eq!(found.unwrap().top.as_deref(), Some(repo.path()));
    let relative = git::locate(repo.path(), &env(&repo, &[("GIT_DIR", ".git")])).unwrap();
    assert_eq!(relative, Some(located(&repo)));
}

#[test]
fn a_git_dir_that_is_none_is_an_error() {
    let repo = Repo::new();
    for dir in ["/dev/null", "/no/such/dir", "/"] {
        let found = git::locate(repo.path(), &env(&repo, &[("GIT_DIR", dir)]));
        assert!(found.is_err(), "{dir}: {found:?}");
    }
}

#[test]
fn core_worktree_and_core_bare_settle_the_top() {
    let repo = Repo::new();
    let tree = repo.dir().join("elsewhere");
    fs::create_dir(&tree).unwrap();
    repo.git(["config", "core.worktree", "../../elsewhere"]);
    assert_eq!(located(&repo).top, Some(tree));
    repo.git(["config", "--unset", "core.worktree"]);
    repo.git(["config", "core.bare", "true"]);
    assert_eq!(located(&repo).top, None);
    repo.git(["config", "core.bare", "false"]);
    repo.git(["config", "extensions.worktreeConfig", "true"]);
    agrees(&repo);
}

#[test]
fn a_broken_repository_is_an_error_and_never_none() {
    let repo = Repo::outside();
    let dot_git = repo.path().join(".git");
    for text in ["", "gitdir: ", "nonsense", "gitdir: no/such", "gitdir: ."] {
        fs::write(&dot_git, text).unwrap();
        let found = git::locate(repo.path(), &env(&repo, &[]));
        assert!(
            matches!(found, Err(Error::Invalid { .. })),
            "{text}: {found:?}"
        );
    }
    let repo = Repo::new();
    for name in ["HEAD", "objects", "refs"] {
        let path = repo.path().join(".git").join(name);
        let aside = repo.dir().join("aside");
        fs::rename(&path, &aside).unwrap();
        let error = git::locate(repo.path(), &env(&repo, &[])).unwrap_err();
        let expected = format!(
            "cannot open repository '{}': it has no {name}",
            repo.path().join(".git").display()
        );
        assert_eq!(error.to_string(), expected);
        fs::rename(&aside, &path).unwrap();
    }
}

#[test]
fn an_empty_dot_git_is_passed_over_as_git_does() {
    let repo = Repo::new();
    fs::create_dir_all(repo.path().join("a/.git")).unwrap();
    assert_eq!(located(&repo.at("a")), located(&repo));
    agrees(&repo.at("a"));
}

#[test]
fn a_worktree_that_is_just_being_made_is_an_error() {
    let repo = Repo::new();
    repo.commit("a");
    let linked = repo.worktree("linked");
    let commondir = repo.path().join(".git/worktrees/linked/commondir");
    fs::write(commondir, "").unwrap();
    let found = git::locate(linked.path(), &env(&repo, &[]));
    assert!(matches!(found, Err(Error::Invalid { .. })), "{found:?}");
}

#[test]
fn another_owner_is_an_error_whose_hint_gives_trust() {
    let repo = Repo::new();
    let foreign = [("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")];
    let error = git::locate(repo.path(), &env(&repo, &foreign)).unwrap_err();
    let path = repo.path().display();
    assert_eq!(
        error.to_string(),
        format!("cannot open repository '{path}': it is owned by another user")
    );
    assert_eq!(
        error.hint().unwrap(),
        format!("git config --global --add safe.directory '{path}'")
    );
    repo.git(["config", "safe.directory", "*"]);
    assert!(
        git::locate(repo.path(), &env(&repo, &foreign)).is_err(),
        "the repository cannot vouch for itself"
    );
    repo.git(["config", "--global", "safe.directory", &path.to_string()]);
    assert_eq!(
        git::locate(repo.path(), &env(&repo, &foreign)).unwrap(),
        Some(located(&repo))
    );
}

#[test]
fn safe_directory_is_read_as_git_reads_it() {
    let repo = Repo::new();
    let top = repo.path().to_str().unwrap().to_owned();
    let above = format!("{}/*", repo.dir().display());
    for (values, trusted) in [
        (vec!["*"], true),
        (vec!["/elsewhere"], false),
        (vec![above.as_str()], true),
        (vec![top.as_str(), ""], false),
        (vec!["", top.as_str()], true),
    ] {
        let mut vars = vec![("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1".to_owned())];
        vars.push(("GIT_CONFIG_COUNT", values.len().to_string()));
        let names: Vec<(String, String)> = (0..values.len())
            .map(|i| {
                (
                    format!("GIT_CONFIG_KEY_{i}"),
                    format!("GIT_CONFIG_VALUE_{i}"),
                )
            })
            .collect();
        for ((key, name), value) in names.iter().zip(&values) {
            vars.push((key, "safe.directory".to_owned()));
            vars.push((name, (*value).to_owned()));
        }
        let vars: Vec<(&str, &str)> = vars.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let found = git::locate(repo.path(), &env(&repo, &vars));
        assert_eq!(found.is_ok(), trusted, "{values:?}");
    }
}

#[test]
fn a_directory_that_is_gone_has_a_nearest_one() {
    let repo = Repo::new();
    let gone = repo.path().join("gone/deeper");
    assert_eq!(nearest_dir(&gone).as_deref(), Some(repo.path()));
    assert_eq!(nearest_dir(Path::new("relative")), None);
    let found: Result<Option<Location>, Error> = git::locate(&gone, &env(&repo, &[]));
    assert!(matches!(found, Err(Error::Read { .. })), "{found:?}");
}

#[test]
fn a_bare_repository_that_nobody_named_is_refused_where_that_is_asked_for() {
    let repo = Repo::bare();
    repo.git(["config", "--global", "safe.bareRepository", "explicit"]);
    assert!(!repo.try_git(["rev-parse", "--git-dir"]).status.success());
    let found = git::locate(repo.path(), &env(&repo, &[]));
    assert!(matches!(found, Err(Error::Invalid { .. })), "{found:?}");
    let named = [("GIT_DIR", repo.path().to_str().unwrap())];
    assert!(
        git::locate(repo.path(), &env(&repo, &named))
            .unwrap()
            .is_some()
    );
    let inside = Repo::new();
    inside.git(["config", "--global", "safe.bareRepository", "explicit"]);
    agrees(&inside.at(".git"));
}

#[test]
fn a_worktree_with_relative_paths_and_its_own_configuration_opens() {
    let repo = Repo::new();
    repo.commit("a");
    let linked = repo.worktree("wt");
    let dot_git = linked.path().join(".git");
    fs::write(&dot_git, "gitdir: ../repo/.git/worktrees/wt\n").unwrap();
    repo.write(".git/worktrees/wt/gitdir", "../../../../wt/.git\n");
    let location = located(&linked);
    repo.git(["config", "core.repositoryFormatVersion", "1"]);
    repo.git(["config", "extensions.worktreeConfig", "true"]);
    let config = repo.read(".git/config") + "[extensions]\n\trelativeWorktrees = true\n";
    repo.write(".git/config", config);
    assert_eq!(located(&linked), location);
    let git = git::Repo::open(&location, &env(&repo, &[])).unwrap();
    assert_eq!(git.ref_storage(), git::RefStorage::Files);
    assert_eq!(git.linked_worktrees().unwrap(), [location]);
    assert!(git.head().unwrap().commit().is_some());
}

#[test]
fn a_repository_given_to_another_user_is_dubious_unless_sudo_says_whose_it_is() {
    let repo = Repo::new();
    repo.commit("a");
    if std::os::unix::fs::chown(repo.path(), Some(12_345), None).is_err() {
        skipped("only root gives a directory away");
        return;
    }
    let found = git::locate(repo.path(), &env(&repo, &[]));
    assert!(
        matches!(found, Err(Error::DubiousOwnership { .. })),
        "{found:?}"
    );
    assert!(
        !repo.try_git(["status"]).status.success(),
        "git thinks so, too"
    );
    let sudo = [("SUDO_UID", "12345")];
    assert!(
        git::locate(repo.path(), &env(&repo, &sudo))
            .unwrap()
            .is_some()
    );
}
