//! Which changes are undone, and which of them belong together: what a call moved goes back to where it
//! was.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Content, Error,
    restore::RestoreRequest,
    session::Session,
    state::{Before, Call, Change, HeadFile, LINK, Phase, State, Verdict},
};
use crate::{
    git::ObjectKind,
    model::{Oid, RepoPath},
};

/// How many files are read at once to be compared.
const GROUP: usize = 100;

/// A change to undo, of a call.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) call: String,
    pub(super) begun: u64,
    pub(super) change: Change,
    /// The paths that the same call took this content from.
    pub(super) sources: Vec<RepoPath>,
}

/// The steps of a restore, by path.
type Steps = BTreeMap<RepoPath, Step>;
/// Paths that a call took a content from, by the content.
type Taken = BTreeMap<Content, Vec<Step>>;

impl Session<'_> {
    /// Returns what is to be undone, sorted by path: what was asked for, and the changes of the paths
    /// that it was taken from.
    pub(super) fn steps(&self, request: &RestoreRequest<'_>) -> Result<Vec<Step>, Error> {
        let mut steps = self.state.steps(request)?;
        let calls: BTreeSet<String> = steps.values().map(|step| step.call.clone()).collect();
        for call in calls {
            let mut taken = self.state.taken(&call);
            follow(&mut steps, &call, &taken);
            if self.take_filtered(&steps, (&call, &mut taken))? {
                follow(&mut steps, &call, &taken);
            }
        }
        Ok(steps.into_values().collect())
    }

    /// Adds what a checkout makes of HEAD's files that the call removed, where that may be what it left
    /// elsewhere. Says whether there was any.
    fn take_filtered(
        &self,
        steps: &Steps,
        (call, taken): (&str, &mut Taken),
    ) -> Result<bool, Error> {
        let is_unexplained = |step: &Step| {
            step.call == call
                && step.sources.is_empty()
                && step.change.before == Before::Clean(HeadFile::Absent)
                && step.change.after.holds_bytes()
        };
        if !steps.values().any(is_unexplained) {
            return Ok(false);
        }
        let removed: Vec<(Oid, Step)> = self
            .state
            .changed(call)
            .filter(|(_, change)| change.after == Content::Absent && !change.is_settled())
            .filter_map(|(call, change)| match change.before {
                Before::Clean(HeadFile::Entry { id, mode }) if mode != LINK => {
                    Some((id, Step::of(call, change)))
                }
                Before::Clean(_) | Before::Dirty(_) | Before::Unseen => None,
            })
            .collect();
        let mut any = false;
        for group in removed.chunks(GROUP) {
            let heads = group
                .iter()
                .map(|(id, step)| (*id, step.change.path.clone()));
            let heads: Vec<(Oid, RepoPath)> = heads.collect();
            // A filter that fails makes nothing that could have been moved.
            let smudged = self.repo.smudged(&heads).unwrap_or_default();
            for ((id, step), bytes) in group.iter().zip(smudged) {
                let made = self.repo.hash(ObjectKind::Blob, &bytes);
                if made != *id {
                    let steps = taken.entry(Content::File(made)).or_default();
                    steps.push(step.clone());
                    any = true;
                }
            }
        }
        Ok(any)
    }
}

/// Adds to the steps of a call the changes of the paths that what they left was taken from.
fn follow(steps: &mut Steps, call: &str, taken: &Taken) {
    let own = |step: &&Step| step.call == call && step.sources.is_empty();
    let mut left: Vec<RepoPath> = steps
        .values()
        .filter(own)
        .map(|step| step.change.path.clone())
        .collect();
    while let Some(path) = left.pop() {
        let Some(step) = steps.get_mut(&path) else {
            continue;
        };
        let from = step
            .change
            .after
            .bytes()
            .and_then(|content| taken.get(&content));
        let from: Vec<&Step> = from
            .into_iter()
            .flatten()
            .filter(|source| source.change.path != path)
            .collect();
        step.sources = from
            .iter()
            .map(|source| source.change.path.clone())
            .collect();
        for source in from {
            let path = &source.change.path;
            if !steps.contains_key(path) {
                steps.insert(path.clone(), source.clone());
                left.push(path.clone());
            }
        }
    }
}

impl State {
    /// Returns the changes asked for, the newest of each path.
    fn steps(&self, request: &RestoreRequest<'_>) -> Result<Steps, Error> {
        let mut steps = Steps::new();
        let mut found = false;
        for call in self.calls.iter().rev() {
            let is_finished = matches!(call.phase, Phase::Finished { .. });
            if !is_finished || request.call.is_some_and(|id| id != call.id) {
                continue;
            }
            found = true;
            for (call, change) in self.changed(&call.id) {
                let wanted = match request.paths.is_empty() {
                    true => !change.is_settled(),
                    false => request.paths.contains(&change.path),
                };
                if wanted {
                    let step = || Step::of(call, change);
                    steps.entry(change.path.clone()).or_insert_with(step);
                }
            }
        }
        match (request.call, found) {
            (Some(id), false) => Err(Error::UnknownCall(id.to_owned())),
            _ => match request.paths.iter().find(|path| !steps.contains_key(path)) {
                Some(path) if request.call.is_none() => Err(Error::UnknownPath(path.quoted())),
                _ => Ok(steps),
            },
        }
    }

    /// Returns the changes of a call that were not undone yet.
    fn changed(&self, id: &str) -> impl Iterator<Item = (&Call, &Change)> {
        let call = self.call(id);
        let changes = call.and_then(|call| match &call.phase {
            Phase::Finished {
                changes, restored, ..
            } => Some((call, changes, restored)),
            Phase::Open { .. } | Phase::Dropped { .. } | Phase::Denied => None,
        });
        changes.into_iter().flat_map(|(call, changes, restored)| {
            let left = changes
                .iter()
                .filter(|change| !restored.contains(&change.path));
            left.map(move |change| (call, change))
        })
    }

    /// Returns the changes of a call that took a content from a path, by the content.
    fn taken(&self, id: &str) -> Taken {
        let mut taken = Taken::new();
        for (call, change) in self.changed(id) {
            let before = match &change.before {
                Before::Dirty(held) => held.content.bytes(),
                Before::Clean(HeadFile::Entry { id, mode }) => Some(HeadFile::content(*id, *mode)),
                Before::Clean(HeadFile::Absent | HeadFile::Unread) | Before::Unseen => None,
            };
            if before == change.after.bytes() || change.is_settled() {
                continue;
            }
            if let Some(before) = before {
                taken
                    .entry(before)
                    .or_default()
                    .push(Step::of(call, change));
            }
        }
        taken
    }
}

impl Step {
    fn of(call: &Call, change: &Change) -> Self {
        Self {
            call: call.id.clone(),
            begun: call.time,
            change: change.clone(),
            sources: Vec::new(),
        }
    }
}

impl Change {
    /// Says whether nothing was left of it that could be undone.
    fn is_settled(&self) -> bool {
        self.verdict == Verdict::Committed && matches!(self.before, Before::Clean(_))
    }
}
