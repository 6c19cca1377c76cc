//! Commits made since a moment, as opposed to those that were only fetched or checked out.

use std::{
    collections::{BTreeSet, HashSet},
    fs,
    path::Path,
    time::UNIX_EPOCH,
};

use super::{Error, Repo};
use crate::model::{Oid, RepoPath};

/// How many commits are looked at.
const COMMITS: usize = 1_000;

impl Repo {
    /// Returns the commits between `from` and `tip` that were made at `since`, in ms, or later.
    pub fn made_since(
        &self,
        (from, tip): (Option<Oid>, Oid),
        since: u64,
    ) -> Result<Vec<Oid>, Error> {
        let mut seen = self.fetched_since(since);
        seen.extend(from);
        let mut next = vec![tip];
        let mut made = Vec::new();
        while let Some(id) = next.pop() {
            if made.len() == COMMITS || !seen.insert(id) {
                continue;
            }
            let commit = self.commit(id)?;
            let dated = u64::try_from(commit.committer_time).unwrap_or(0);
            // The object says when it came here, whatever date its maker chose.
            let is_made = match modified(&self.loose_path(id)) {
                Some(at) => at >= since,
                None => dated.saturating_add(1).saturating_mul(1000) > since,
            };
            if is_made {
                made.push(id);
                next.extend(commit.parents);
            }
        }
        Ok(made)
    }

    /// Returns what git fetched last, if that was since a moment.
    fn fetched_since(&self, since: u64) -> HashSet<Oid> {
        let path = self.git_dir().join("FETCH_HEAD");
        if modified(&path).is_none_or(|at| at < since) {
            return HashSet::new();
        }
        let text = fs::read(&path).unwrap_or_default();
        let lines = String::from_utf8_lossy(&text);
        let ids = lines.lines().filter_map(|line| line.split('\t').next());
        ids.filter_map(|id| id.parse().ok()).collect()
    }

    /// Returns the paths that the commits changed; of a merge, what it has from no parent.
    pub fn changed_by(&self, commits: &[Oid]) -> Result<BTreeSet<RepoPath>, Error> {
        let mut paths = BTreeSet::new();
        for id in commits {
            let commit = self.commit(*id)?;
            let mut own: Option<BTreeSet<RepoPath>> = None;
            for parent in &commit.parents {
                let parent = self.commit(*parent)?.tree;
                let differs = self.differing(Some(parent), Some(commit.tree))?;
                own = Some(match own {
                    Some(own) => own.intersection(&differs).cloned().collect(),
                    None => differs,
                });
            }
            paths.extend(match own {
                Some(own) => own,
                None => self.differing(None, Some(commit.tree))?,
            });
        }
        Ok(paths)
    }

    fn differing(&self, old: Option<Oid>, new: Option<Oid>) -> Result<BTreeSet<RepoPath>, Error> {
        let entries = self.diff_trees(old, new)?;
        Ok(entries.into_iter().map(|entry| entry.path).collect())
    }
}

/// When a file was last written, in ms.
fn modified(path: &Path) -> Option<u64> {
    let modified = fs::metadata(path).and_then(|meta| meta.modified()).ok()?;
    let since = modified.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}
