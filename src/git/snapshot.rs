//! The working tree as a tree id: git's own filters, modes and ignore rules, and none of its
//! shortcuts. Neither the user's index nor the user's objects are touched.

use std::{
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use super::{
    Error, Head, Repo, StatusEntry, Survey, Until,
    bench::Bench,
    survey::{is_repository, lines},
};
use crate::model::{DeltaEntry, Oid, RepoPath};

/// What a snapshot is taken of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The files, tracked and untracked.
    Worktree,
    /// What an index would commit.
    Index(PathBuf),
    /// A commit, whatever lies in the working tree.
    Commit(Oid),
}

/// How far git's record of the files' times is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Files whose times and size are those of the index are not read.
    Stat,
    /// Every file is read.
    Nothing,
}

/// A tree, and what it takes to read it.
pub struct Snapshot {
    /// The whole root, `.operator` as the index or commit has it.
    pub root: Oid,
    pub subject: Oid,
    /// From HEAD's subject.
    pub delta: Vec<DeltaEntry>,
    bench: Option<Bench>,
}

impl Snapshot {
    /// Returns the directory of objects that the repository does not have, if there are any.
    pub fn objects(&self) -> Option<&Path> {
        self.bench.as_ref().map(Bench::objects)
    }
}

impl Repo {
    /// Names the tree of what a survey found.
    pub fn snapshot(&self, survey: Survey, until: Until) -> Result<Snapshot, Error> {
        let Survey {
            head,
            entries,
            own_unmerged,
            bench,
            ..
        } = survey;
        if entries.is_empty() {
            return self.snapshot_of_commit(head);
        }
        let bench = match bench {
            Some(bench) => bench,
            None => {
                let bench = Bench::new(self)?;
                bench.copy_index(&self.git_dir().join("index"))?;
                bench
            }
        };
        let paths: Vec<RepoPath> = entries
            .iter()
            .filter(|entry| !is_repository(entry) || self.has_commit(entry))
            .map(|entry| match entry.path.as_bytes().strip_suffix(b"/") {
                Some(path) => RepoPath::new(path),
                None => entry.path.clone(),
            })
            .chain(own_unmerged)
            .collect();
        let update = [
            "update-index",
            "--add",
            "--remove",
            "--replace",
            "-z",
            "--stdin",
        ];
        let git = self.forced(&update).stdin(lines(paths.iter()));
        until.bound(bench.bind(git)).output()?;
        self.snapshot_of_bench(head, bench, until)
    }

    /// Names the tree an index would commit; one with conflicts has none.
    pub fn snapshot_of_index(&self, index: &Path, until: Until) -> Result<Snapshot, Error> {
        let head = self.head()?.commit();
        let bench = Bench::new(self)?;
        bench.copy_index(index)?;
        self.snapshot_of_bench(head, bench, until)
    }

    /// Names the tree of a commit; `None` is the empty tree of an unborn branch.
    pub fn snapshot_of_commit(&self, commit: Option<Oid>) -> Result<Snapshot, Error> {
        let root = match commit {
            Some(commit) => self.commit(commit)?.tree,
            None => self.empty_tree(),
        };
        Ok(Snapshot {
            root,
            subject: self.subject_tree(root)?,
            delta: Vec::new(),
            bench: None,
        })
    }

    fn snapshot_of_bench(
        &self,
        head: Option<Oid>,
        bench: Bench,
        until: Until,
    ) -> Result<Snapshot, Error> {
        let git = bench.bind(self.forced(&["write-tree", "--missing-ok"]));
        let output = until.bound(git).output()?;
        let root = super::refs::oid_of("the tree written", &output)?;
        let reader = self.over(bench.objects());
        let base = head.map(|head| self.commit(head)).transpose()?;
        Ok(Snapshot {
            root,
            subject: reader.subject_tree(root)?,
            delta: reader.diff_subjects(base.map(|base| base.tree), Some(root))?,
            bench: Some(bench),
        })
    }

    fn has_commit(&self, entry: &StatusEntry) -> bool {
        let Some(top) = self.top() else { return false };
        let dir = { top.join(std::ffi::OsStr::from_bytes(entry.path.as_bytes())) };
        let inside = super::locate(&dir, &self.env().clone().hook())
            .ok()
            .flatten()
            .filter(|location| location.common_dir != self.common_dir());
        inside
            .and_then(|location| Self::open(&location, self.env()).ok())
            .and_then(|repo| repo.head().ok())
            .and_then(|head: Head| head.commit())
            .is_some()
    }
}
