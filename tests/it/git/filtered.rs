use git_operator::model::RepoPath;

use super::open;
use crate::support::Repo;

#[test]
fn a_blob_is_smudged_as_a_checkout_would_whatever_its_name() {
    let repo = Repo::new();
    repo.write(".gitattributes", "*.up filter=up\n*.crlf text eol=crlf\n");
    repo.git(["config", "filter.up.smudge", "tr a-z A-Z"]);
    repo.git(["config", "filter.up.clean", "tr A-Z a-z"]);
    let names = [
        "a.up",
        "b.crlf",
        " lead.up",
        "new\nline.up",
        "plain",
        "tab\t.crlf",
        "empty",
    ];
    for name in names {
        repo.write(name, format!("{name}\n\nx\n"));
    }
    repo.write("empty", "");
    repo.git(["add", "."]);
    repo.commit_staged("all");
    let handle = open(&repo);
    let head = repo.head().parse().unwrap();
    let root = handle.commit(head).unwrap().tree;
    let blobs: Vec<_> = names
        .iter()
        .map(|name| {
            let path = RepoPath::from(*name);
            let (_, id) = handle.place(root, &path).unwrap().unwrap();
            (id, path)
        })
        .collect();
    let smudged = handle.smudged(&blobs).unwrap();
    for name in names {
        std::fs::remove_file(repo.path().join(name)).unwrap();
    }
    repo.git(["checkout", "-q", "--", "."]);
    for (name, bytes) in names.iter().zip(smudged) {
        assert_eq!(
            bytes,
            std::fs::read(repo.path().join(name)).unwrap(),
            "{name:?}"
        );
    }
    assert!(handle.smudged(&[]).unwrap().is_empty());
}

#[test]
fn a_required_filter_that_fails_is_an_error() {
    let repo = Repo::new();
    repo.write(".gitattributes", "*.up filter=up\n");
    let id = repo.commit("a.up");
    repo.git(["config", "filter.up.smudge", "false"]);
    repo.git(["config", "filter.up.required", "true"]);
    let handle = open(&repo);
    let root = handle.commit(id.parse().unwrap()).unwrap().tree;
    let path = RepoPath::from("a.up");
    let (_, id) = handle.place(root, &path).unwrap().unwrap();
    assert!(handle.smudged(&[(id, path)]).is_err());
}
