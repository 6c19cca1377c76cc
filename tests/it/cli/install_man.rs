use std::fs;

use crate::support::Repo;

#[test]
fn pages_lie_where_man_looks() {
    let repo = Repo::outside();
    let man1 = repo.home().join(".local/share/man/man1");
    let output = repo.operator(["install-man"]).run();
    let count = git_operator::cli::pages().len();
    assert_eq!(
        output.stdout,
        format!("wrote {count} manual pages to {}\n", man1.display())
    );
    assert_eq!(output.code, 0);
    for (name, text) in git_operator::cli::pages() {
        assert_eq!(fs::read(man1.join(name)).unwrap(), text);
    }
}

#[test]
fn where_man_does_not_look_the_line_that_makes_it_look_is_told() {
    let repo = Repo::outside();
    let man = repo.home().join(".local/share/man");
    let bin = repo.home().join(".local/bin");
    let told = format!(
        "man does not look there yet\nhint: export MANPATH=\"{}:$MANPATH\"\n",
        man.display()
    );
    let install = || repo.operator(["install-man"]);
    assert_eq!(install().run().stderr, told);
    assert_eq!(
        install().env("MANPATH", "/usr/share/man").run().stderr,
        told
    );
    assert_eq!(install().env("MANPATH", &man).run().stderr, "");
    let path = std::env::join_paths(["/usr/bin".as_ref(), bin.as_path()]).unwrap();
    assert_eq!(install().env("PATH", &path).run().stderr, "");
    let both = install().env("PATH", &path).env("MANPATH", "/opt/man:");
    assert_eq!(both.run().stderr, "");
}

#[test]
fn a_directory_may_be_given() {
    let repo = Repo::outside();
    assert_eq!(repo.operator(["install-man", "pages"]).run().code, 0);
    assert!(repo.path().join("pages/man1/git-operator.1").is_file());
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let repo = Repo::outside();
    repo.write("taken", "");
    repo.operator(["install-man", "taken"])
        .stderr(format!(
            "error: cannot write manual pages to '{}': not a directory\n",
            repo.path().join("taken/man1").display()
        ))
        .exit(128)
        .check();
}

#[test]
fn git_operator_help_shows_the_page() {
    let repo = Repo::new();
    assert_eq!(repo.operator(["install-man"]).run().code, 0);
    let man = std::process::Command::new("man").arg("--version").output();
    if !man.is_ok_and(|output| output.status.success()) {
        return crate::support::skipped("man is not installed");
    }
    for args in [&["operator", "--help"][..], &["help", "operator"]] {
        let output = std::process::Command::new("git")
            .args(args)
            .current_dir(repo.path())
            .env_clear()
            .envs(repo.env())
            .env(
                "MANPATH",
                format!("{}:", repo.home().join(".local/share/man").display()),
            )
            .env("MANPAGER", "cat")
            .env("GIT_CONFIG_PARAMETERS", "'help.format'='man'")
            .output()
            .unwrap();
        let (stdout, stderr) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(output.status.success(), "{args:?}: {stderr}");
        assert!(
            stdout.to_lowercase().contains("git-operator"),
            "{args:?}: {stdout}{stderr}"
        );
    }
}
