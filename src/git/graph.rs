use gix::commitgraph::Graph;

use super::{Error, Repo, object};
use crate::model::Oid;

/// How many commits are kept in mind: one command asks about the newest again and again.
const MOST_KNOWN: usize = 10_000;

/// A commit's place in history.
pub(crate) struct Node {
    pub(crate) parents: Vec<Oid>,
    pub(crate) time: i64,
    /// More than any parent's, where git has counted; else nothing is known.
    pub(crate) generation: Option<u32>,
}

/// Parents and times of commits, from git's commit-graph where there is one.
pub(crate) struct History<'repo> {
    repo: &'repo Repo,
    graph: Option<Graph>,
}

impl<'repo> History<'repo> {
    /// As in git, a shallow repository's commit-graph is not used: it may know cut-off parents.
    pub(crate) fn new(repo: &'repo Repo) -> Self {
        let info = repo.common_dir().join("objects/info");
        let graph = match repo.is_shallow() {
            true => None,
            // A damaged one is git's to repair; the commits themselves say the same, slower.
            false => Graph::at(&info, repo.hash_kind().of_gix(), None).ok(),
        };
        Self { repo, graph }
    }

    pub(crate) fn node(&self, id: Oid) -> Result<Node, Error> {
        if let Some(node) = self.graphed(id) {
            return Ok(node);
        }
        if let Some((parents, time)) = self.repo.known.borrow().get(&id) {
            return Ok(Node {
                parents: parents.clone(),
                time: *time,
                generation: None,
            });
        }
        let commit = self.repo.commit(id)?;
        let mut known = self.repo.known.borrow_mut();
        if known.len() < MOST_KNOWN {
            known.insert(id, (commit.parents.clone(), commit.committer_time));
        }
        Ok(Node {
            parents: commit.parents,
            time: commit.committer_time,
            generation: None,
        })
    }

    fn graphed(&self, id: Oid) -> Option<Node> {
        let graph = self.graph.as_ref()?;
        let commit = graph.commit_by_id(object::gix_of(id))?;
        let mut parents = Vec::new();
        for position in commit.iter_parents() {
            parents.push(object::oid_of(graph.commit_at(position.ok()?).id()));
        }
        Some(Node {
            parents,
            time: i64::try_from(commit.committer_timestamp()).ok()?,
            generation: Some(commit.generation()).filter(|generation| *generation > 0),
        })
    }
}
