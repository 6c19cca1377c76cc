//! The stash: its entries, and the files that each holds.

use std::{collections::BTreeSet, fs, io};

use super::{Error, RefStorage, Repo};
use crate::model::{Oid, RepoPath};

const LINK: u32 = 0o120_000;
const FILES: [u32; 3] = [0o100_644, 0o100_755, LINK];

/// A file in the index or in a stash: a blob as git stores it, filters not undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub mode: u32,
    pub id: Oid,
}

impl Entry {
    pub fn is_link(&self) -> bool {
        self.mode == LINK
    }

    pub fn is_executable(&self) -> bool {
        self.mode == FILES[1]
    }

    /// Returns the entry of a file or a link; `None` for anything else, and for nothing.
    pub fn of((mode, id): (u32, Oid)) -> Option<Self> {
        (FILES.contains(&mode) && !id.is_null()).then_some(Self { mode, id })
    }
}

impl Repo {
    /// Returns the commits in the stash. One that no reflog tells is not known to git either.
    pub fn stashes(&self) -> Result<Vec<Oid>, Error> {
        let Some(tip) = self.read_ref("refs/stash")? else {
            return Ok(Vec::new());
        };
        if self.ref_storage() != RefStorage::Files {
            let args = ["log", "--walk-reflogs", "--format=%H", "refs/stash", "--"];
            let output = self.git(args).read_only().output()?;
            let text = String::from_utf8_lossy(&output);
            return Ok(text.lines().filter_map(|line| line.parse().ok()).collect());
        }
        let path = self.common_dir().join("logs/refs/stash");
        let log = match fs::read(&path) {
            Ok(log) => log,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Error::read(path)(error)),
        };
        // `<old> <new> <who>\t<message>`, the newest last.
        let new = |line: &[u8]| {
            let field = line.split(|byte| *byte == b' ').nth(1)?;
            std::str::from_utf8(field).ok()?.parse().ok()
        };
        let mut ids: Vec<Oid> = log.split(|byte| *byte == b'\n').filter_map(new).collect();
        ids.reverse();
        if !ids.contains(&tip) {
            ids.insert(0, tip);
        }
        Ok(ids)
    }

    /// Returns what a stash holds that the commit it was made on does not: of the working tree, of the
    /// index, and untracked files.
    pub fn stashed(&self, stash: Oid) -> Result<Vec<(RepoPath, Entry)>, Error> {
        let commit = self.commit(stash)?;
        let Some(base) = commit.parents.first() else {
            return Ok(Vec::new());
        };
        let base = self.commit(*base)?.tree;
        let mut sides = vec![(Some(base), commit.tree)];
        if let Some(index) = commit.parents.get(1) {
            sides.push((Some(base), self.commit(*index)?.tree));
        }
        if let Some(untracked) = commit.parents.get(2) {
            sides.push((None, self.commit(*untracked)?.tree));
        }
        let mut files = BTreeSet::new();
        for (old, new) in sides {
            for changed in self.diff_trees(old, Some(new))? {
                if let Some(entry) = changed.new.and_then(Entry::of) {
                    files.insert((changed.path, entry));
                }
            }
        }
        Ok(files.into_iter().collect())
    }

    /// Says whether a branch, a tag, a remote's branch or HEAD reaches a commit.
    pub fn is_reached(&self, commit: Oid) -> Result<bool, Error> {
        if !self.has(commit) {
            return Ok(false);
        }
        if let Some(head) = self.head()?.commit()
            && self.is_ancestor(commit, head)? != super::Ancestry::No
        {
            return Ok(true);
        }
        let contains = format!("--contains={commit}");
        let args = ["for-each-ref", "--count=1", "--format=x", &contains];
        let refs = ["refs/heads", "refs/tags", "refs/remotes"];
        let found = self
            .git(args.into_iter().chain(refs))
            .read_only()
            .output()?;
        Ok(!found.is_empty())
    }
}
