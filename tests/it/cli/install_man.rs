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
