//! In which order paths are put back, and which are left alone because others are.

use std::collections::BTreeMap;

use super::{Content, steps::Step};
use crate::model::{Oid, RepoPath};

/// How many paths are read before they are written.
const GROUP: usize = 100;

/// What is to lie at a path.
#[derive(Clone, Debug)]
pub(super) enum Want {
    Nothing,
    Kept(Content, Option<u32>),
    Head { id: Oid, mode: u32 },
}

/// What is to be done, and what is left as it is.
///
/// What stands in the way of something that is to come goes first, the deepest first. The rest goes
/// last: what was moved is back where it was by then, or stays.
pub(super) struct Plan {
    pub(super) ready: Vec<(Step, Want)>,
    /// Why a path is left alone.
    pub(super) left: BTreeMap<RepoPath, String>,
}

impl Plan {
    /// Makes a plan of steps that were checked, sorted by path.
    pub(super) fn new(checked: Vec<(Step, Result<Want, String>)>) -> Self {
        let mut plan = Self {
            ready: Vec::new(),
            left: BTreeMap::new(),
        };
        for (step, want) in checked {
            match want {
                Ok(want) => plan.ready.push((step, want)),
                Err(reason) => _ = plan.left.insert(step.change.path, reason),
            }
        }
        plan.settle();
        let (mut go, come): (Vec<_>, Vec<_>) = std::mem::take(&mut plan.ready)
            .into_iter()
            .partition(|(_, want)| matches!(want, Want::Nothing));
        go.reverse();
        let coming: Vec<&RepoPath> = come.iter().map(|(step, _)| &step.change.path).collect();
        let (first, last): (Vec<_>, Vec<_>) = go
            .into_iter()
            .partition(|(step, _)| is_in_the_way(step, &coming));
        plan.ready = first.into_iter().chain(come).chain(last).collect();
        plan
    }

    /// Leaves a path as it is that had its turn.
    pub(super) fn leave(&mut self, path: &RepoPath, reason: String) {
        self.left.insert(path.clone(), reason);
        self.settle();
    }

    /// Leaves the paths as they are for which there is a reason.
    pub(super) fn leave_all(&mut self, reason: impl Fn(&Step) -> Option<String>) {
        let left = &mut self.left;
        self.ready.retain(|(step, _)| {
            let reason = reason(step).map(|reason| left.insert(step.change.path.clone(), reason));
            reason.is_none()
        });
        self.settle();
    }

    /// What was moved from a path that is left as it is stays where it is.
    fn settle(&mut self) {
        loop {
            let mut more = BTreeMap::new();
            self.ready.retain(|(step, _)| {
                let from = step
                    .sources
                    .iter()
                    .find(|path| self.left.contains_key(*path));
                if let Some(from) = from {
                    let reason = format!(
                        "it was moved here from '{}', which cannot be put back",
                        from.quoted()
                    );
                    more.insert(step.change.path.clone(), reason);
                }
                from.is_none()
            });
            if more.is_empty() {
                return;
            }
            self.left.extend(more);
        }
    }

    /// Takes the steps that have their turn now.
    pub(super) fn next_group(&mut self) -> Option<Vec<(Step, Want)>> {
        let is_go = |want: &Want| matches!(want, Want::Nothing);
        let first = is_go(&self.ready.first()?.1);
        let same = self
            .ready
            .iter()
            .take_while(|(_, want)| is_go(want) == first);
        let count = same.count().min(GROUP);
        Some(self.ready.drain(..count).collect())
    }
}

/// Says whether a path lies above or below one that is to come, or may be the same to the file system.
fn is_in_the_way(step: &Step, coming: &[&RepoPath]) -> bool {
    let path = step.change.path.as_bytes();
    let below = [path, b"/"].concat();
    let next = coming.partition_point(|other| other.as_bytes() < below.as_slice());
    let is_above = coming
        .get(next)
        .is_some_and(|other| other.as_bytes().starts_with(&below));
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let mut above = slashes.map(|(at, _)| &path[..at]);
    let folded = |path: &[u8]| String::from_utf8_lossy(path).to_lowercase();
    is_above
        || above.any(|above| {
            let found = coming.binary_search_by(|other| other.as_bytes().cmp(above));
            found.is_ok()
        })
        || step
            .sources
            .iter()
            .any(|source| folded(source.as_bytes()) == folded(path))
}
