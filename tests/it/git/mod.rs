//! The repository as `git_operator::git` sees it, against what git itself says.

mod child;
mod config;
mod filtered;
mod head;
mod keep;
mod locate;
mod notes;
mod objects;
mod pack;
mod refs;
mod shared;
mod stamp;
mod status;
mod store;
mod trees;
mod walk;
mod worktrees;

use git_operator::{
    git::{self, Env, Location},
    model::Oid,
};

use crate::support::Repo;

/// The environment of the test's repository, with these variables over it.
fn env(repo: &Repo, more: &[(&str, &str)]) -> Env {
    let more = more
        .iter()
        .map(|(name, value)| ((*name).into(), (*value).into()));
    Env::new(repo.env().into_iter().chain(more))
}

fn located(repo: &Repo) -> Location {
    git::locate(repo.path(), &env(repo, &[])).unwrap().unwrap()
}

fn open(repo: &Repo) -> git::Repo {
    git::Repo::open(&located(repo), &env(repo, &[])).unwrap()
}

fn oid(text: &str) -> Oid {
    text.parse().unwrap()
}

/// A repository of each format that this git can make.
fn formats() -> Vec<Repo> {
    [Some(Repo::new()), Repo::sha256(), Repo::reftable()]
        .into_iter()
        .flatten()
        .collect()
}
