use git_operator::git::{self, Config, Identity, Role};

use super::{env, located, open};
use crate::support::Repo;

#[test]
fn every_place_is_read_in_gits_order() {
    let repo = Repo::new();
    repo.commit("a");
    let linked = repo.worktree("wt");
    repo.write(
        "../home/.config/git/config",
        "[o]\n\tv = xdg\n\tonly = xdg\n",
    );
    let read = |repo: &Repo, more: &[(&str, &str)]| {
        let config = Config::load(Some(&located(repo)), &env(repo, more)).unwrap();
        config.text("o.V").unwrap()
    };
    assert_eq!(read(&repo, &[]), "xdg");
    repo.git([
        "config",
        "--file",
        repo.home().join(".gitconfig").to_str().unwrap(),
        "o.v",
        "global",
    ]);
    assert_eq!(read(&repo, &[]), "global");
    repo.git(["config", "o.v", "local"]);
    assert_eq!(read(&repo, &[]), "local");
    repo.git(["config", "extensions.worktreeConfig", "true"]);
    linked.git(["config", "--worktree", "o.v", "worktree"]);
    assert_eq!(read(&linked, &[]), "worktree");
    assert_eq!(read(&repo, &[]), "local");
    let count = [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "o.v"),
        ("GIT_CONFIG_VALUE_0", "counted"),
    ];
    assert_eq!(read(&linked, &count), "counted");
    let given = [&count[..], &[("GIT_CONFIG_PARAMETERS", "'o.v'='given'")]].concat();
    assert_eq!(read(&linked, &given), "given");
    let mut every = Config::load(Some(&located(&linked)), &env(&linked, &given))
        .unwrap()
        .strings("o.v");
    assert_eq!(every.pop().unwrap(), "given");
    assert_eq!(every, ["xdg", "global", "local", "worktree", "counted"]);
}

#[test]
fn includes_follow_their_conditions() {
    let repo = Repo::new();
    repo.write("../extra", "[o]\n\tincluded = yes\n");
    let path = repo.dir().join("extra").display().to_string();
    let read = |repo: &Repo| open(repo).config().unwrap().bool("o.included").unwrap();
    for (key, found) in [
        (
            format!("includeIf.gitdir:{}/.path", repo.path().display()),
            Some(true),
        ),
        ("includeIf.gitdir:/elsewhere/.path".to_owned(), None),
        ("includeIf.onbranch:main.path".to_owned(), Some(true)),
        ("includeIf.onbranch:other.path".to_owned(), None),
        ("include.path".to_owned(), Some(true)),
    ] {
        repo.git(["config", "--global", &key, &path]);
        assert_eq!(read(&repo), found, "{key}");
        let outside = Config::load(None, &env(&repo, &[])).unwrap();
        assert_eq!(
            outside.bool("o.included").unwrap().is_some(),
            key == "include.path"
        );
        repo.git(["config", "--global", "--unset", &key]);
    }
}

#[test]
fn values_have_gits_types() {
    let repo = Repo::new();
    repo.write(
        ".git/config",
        repo.read(".git/config") + "[o]\n\tflag\n\tno = off\n\tsize = 2k\n\tbad = maybe\n",
    );
    let git = open(&repo);
    let config = git.config().unwrap();
    assert_eq!(config.bool("o.flag").unwrap(), Some(true));
    assert_eq!(config.bool("o.no").unwrap(), Some(false));
    assert_eq!(config.bool("o.none").unwrap(), None);
    assert_eq!(config.int("o.size").unwrap(), Some(2048));
    assert_eq!(
        config.bool("o.bad").unwrap_err().to_string(),
        "cannot read config 'o.bad': 'maybe' is not a boolean"
    );
}

#[test]
fn a_key_is_set_and_unset_in_the_repository() {
    let repo = Repo::new();
    let git = open(&repo);
    git.set_config("operator.remote", "origin; rm -rf").unwrap();
    assert_eq!(
        repo.git(["config", "--local", "operator.remote"]),
        "origin; rm -rf"
    );
    assert_eq!(
        open(&repo)
            .config()
            .unwrap()
            .text("operator.remote")
            .unwrap(),
        "origin; rm -rf"
    );
    git.unset_config("operator.remote").unwrap();
    git.unset_config("operator.remote").unwrap();
    assert_eq!(open(&repo).config().unwrap().text("operator.remote"), None);
}

#[test]
fn an_identity_is_the_users_or_our_own_and_nothing_is_guessed() {
    let repo = Repo::new();
    let read = |more: &[(&str, &str)]| {
        let git = git::Repo::open(&located(&repo), &env(&repo, more)).unwrap();
        git.identity(Role::Committer).unwrap().to_string()
    };
    assert_eq!(read(&[]), "A U Thor <author@example.com>");
    assert_eq!(
        read(&[("GIT_COMMITTER_NAME", "C")]),
        "C <author@example.com>"
    );
    repo.git(["config", "committer.email", "c@example.com"]);
    assert_eq!(read(&[]), "A U Thor <c@example.com>");
    assert_eq!(
        read(&[("GIT_COMMITTER_NAME", "a\n<x>")]),
        "ax <c@example.com>"
    );
    repo.git(["config", "--unset", "committer.email"]);
    repo.git(["config", "--global", "--unset", "user.name"]);
    repo.git(["config", "--global", "--unset", "user.email"]);
    repo.git(["config", "user.useConfigOnly", "true"]);
    assert_eq!(read(&[]), Identity::own().to_string());
    assert_eq!(
        read(&[("GIT_COMMITTER_NAME", "only a name")]),
        Identity::own().to_string()
    );
}

#[test]
fn one_value_of_several_is_added_and_removed() {
    let repo = Repo::new();
    repo.git(["config", "transfer.hideRefs", "refs/mine"]);
    let git = open(&repo);
    for _ in 0..2 {
        git.add_config("transfer.hideRefs", "refs/operator-local")
            .unwrap();
    }
    let all = || repo.git(["config", "--get-all", "transfer.hideRefs"]);
    assert_eq!(all(), "refs/mine\nrefs/operator-local");
    for _ in 0..2 {
        git.remove_config("transfer.hideRefs", "refs/operator-local")
            .unwrap();
    }
    assert_eq!(all(), "refs/mine");
}

#[test]
fn a_file_that_cannot_be_parsed_is_named() {
    let repo = Repo::new();
    repo.write("../home/.gitconfig", "[user\nname = x\n");
    let error = open(&repo).config().err().unwrap().to_string();
    let path = repo.home().join(".gitconfig");
    assert_eq!(
        error,
        format!(
            "cannot read config '{}': line 1 is in no form git knows",
            path.display()
        )
    );
}
