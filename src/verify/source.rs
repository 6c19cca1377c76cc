//! What the repository says of commits, each asked once.

use std::{cell::RefCell, collections::HashMap};

use crate::{
    git::{Ancestry, Error, Reached, Repo},
    model::{Oid, RepoPath},
};

/// Something of a repository that may lack parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen<T> {
    There(T),
    /// It is not there, and nothing says that it could be elsewhere.
    Gone,
    /// A shallow or partial clone may have left it out.
    Hidden,
}

/// A commit's trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trees {
    pub(super) root: Oid,
    pub(super) subject: Oid,
}

/// The commit that records are judged against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) commit: Oid,
    pub(super) trees: Trees,
    pub(super) parents: Vec<Oid>,
}

/// The repository as verify reads it.
pub(super) struct Source<'a> {
    pub(super) repo: &'a Repo,
    pub(super) target: Option<Target>,
    /// Objects may be elsewhere.
    pub(super) incomplete: bool,
    trees: RefCell<HashMap<Oid, Seen<Trees>>>,
    reached: RefCell<Option<Reached<'a>>>,
}

impl<'a> Source<'a> {
    pub(super) fn new(repo: &'a Repo, target: Option<Oid>) -> Result<Self, Error> {
        let target = match target {
            Some(commit) => Some(read_target(repo, commit)?),
            None => None,
        };
        Ok(Self {
            repo,
            target,
            incomplete: repo.is_shallow() || repo.is_partial(),
            trees: RefCell::new(HashMap::new()),
            reached: RefCell::new(None),
        })
    }

    /// Returns what something absent is in this clone.
    pub(super) fn absent<T>(&self) -> Seen<T> {
        match self.incomplete {
            true => Seen::Hidden,
            false => Seen::Gone,
        }
    }

    /// Returns a commit's trees.
    pub(super) fn trees(&self, commit: Oid) -> Seen<Trees> {
        if let Some(known) = self.trees.borrow().get(&commit) {
            return *known;
        }
        let found = match read_trees(self.repo, commit) {
            Ok(trees) => Seen::There(trees),
            Err(_) => self.absent(),
        };
        self.trees.borrow_mut().insert(commit, found);
        found
    }

    /// Says whether the target reaches a commit.
    pub(super) fn reach(&self, commit: Oid) -> Result<Ancestry, Error> {
        let Some(target) = &self.target else {
            return Ok(Ancestry::No);
        };
        let mut reached = self.reached.borrow_mut();
        let reached = match &mut *reached {
            Some(reached) => reached,
            none => none.insert(self.repo.reached(target.commit)?),
        };
        reached.holds(commit)
    }

    /// Returns up to `limit` first-parent ancestors of the target with their root trees, nearest
    /// first, as far as they are there.
    pub(super) fn bases(&self, limit: usize) -> Vec<(Oid, Oid)> {
        let mut found = Vec::new();
        let mut next = self
            .target
            .as_ref()
            .and_then(|target| target.parents.first().copied());
        while let Some(commit) = next.filter(|_| found.len() < limit) {
            let Ok(read) = self.repo.commit(commit) else {
                break;
            };
            found.push((commit, read.tree));
            next = read.parents.first().copied();
        }
        found
    }

    /// Returns the paths that differ between the subjects of two roots.
    pub(super) fn paths(&self, old: Oid, new: Oid) -> Result<Vec<RepoPath>, Error> {
        let entries = self.repo.diff_subjects(Some(old), Some(new))?;
        Ok(entries.into_iter().map(|entry| entry.path).collect())
    }
}

fn read_trees(repo: &Repo, commit: Oid) -> Result<Trees, Error> {
    let root = repo.commit(commit)?.tree;
    Ok(Trees {
        root,
        subject: repo.subject_tree(root)?,
    })
}

fn read_target(repo: &Repo, commit: Oid) -> Result<Target, Error> {
    let read = repo.commit(commit)?;
    Ok(Target {
        commit,
        trees: Trees {
            root: read.tree,
            subject: repo.subject_tree(read.tree)?,
        },
        parents: read.parents,
    })
}
