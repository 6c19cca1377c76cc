//! Whose a change is: pure functions over snapshots, by content.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Content,
    beside::Beside,
    look::Look,
    state::{
        Before, Call, Change, Claim, Dirty, HeadFile, Held, Modes, Others, Phase, Reach, Snapshot,
        State, Trail, Verdict, Whose,
    },
};
use crate::model::RepoPath;

/// How many finished calls can be undone.
const FINISHED: usize = 256;
/// How many changes the finished calls hold together.
const CHANGES: usize = 50_000;
/// How many calls that never ended keep their snapshot.
const DROPPED: usize = 8;

/// The working tree when a call ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Now {
    pub(crate) dirty: Dirty,
    /// What lies at paths of the call that are clean now.
    pub(crate) clean: BTreeMap<RepoPath, Content>,
    /// Dirty paths that hold what they held when they were not dirty yet.
    pub(crate) same: BTreeSet<RepoPath>,
    /// The paths of commits made while the call ran.
    pub(crate) made: BTreeSet<RepoPath>,
    /// Those of them that were clean when the call began, are clean again and hold something else.
    pub(crate) committed: BTreeMap<RepoPath, Content>,
    /// Dirty paths that hold what somebody else's stash held.
    pub(crate) stashed: BTreeSet<RepoPath>,
    /// Dirty paths that the call changed and where nobody looked before.
    pub(crate) unseen: BTreeMap<RepoPath, Birth>,
}

/// When a file was made, as seen from a call that changed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Birth {
    /// Before it: it was somebody else's.
    Before,
    /// While it ran; it may have taken the place of another.
    During,
}

/// A tool use that is about to begin.
#[derive(Clone, Debug)]
pub(crate) struct Begin {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) agent: Option<String>,
    pub(crate) reach: Reach,
    pub(crate) time: u64,
    pub(crate) head: Option<crate::model::Oid>,
    /// Repositories inside this one.
    pub(crate) not_covered: Vec<RepoPath>,
}

/// Whether a tool did what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Success,
    Failure,
}

/// Somebody else's content that is no longer where it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) path: RepoPath,
    pub(crate) content: Content,
    pub(crate) mode: Option<u32>,
}

impl State {
    /// Returns whose the content of a dirty path is.
    pub(crate) fn whose(&self, path: &RepoPath, content: &Content) -> Whose {
        self.whose_by(self.paths.get(path), path, content)
    }

    /// The same, by the path's trail.
    fn whose_by(&self, trail: Option<&Trail>, path: &RepoPath, content: &Content) -> Whose {
        if trail.is_some_and(|trail| trail.claims(content)) {
            return Whose::Mine;
        }
        let was_foreign = trail.is_some_and(|trail| trail.foreign.contains(content));
        if trail.is_some_and(|trail| trail.left(content)) && !was_foreign {
            return Whose::Mine;
        }
        if trail.is_some_and(|trail| trail.unattributed.as_ref() == Some(content)) {
            return Whose::Unattributed;
        }
        let differs = |call: &Call, snapshot: &Snapshot| {
            call.reaches(path)
                && snapshot
                    .get(path)
                    .is_none_or(|held| held.content != *content)
        };
        match !was_foreign && self.open().any(|(call, snapshot)| differs(call, snapshot)) {
            true => Whose::Unattributed,
            false => Whose::Foreign,
        }
    }

    /// Takes the dirty paths in: claims of paths that are clean end, and what is not the session's
    /// is remembered as somebody else's.
    pub(crate) fn observe(&mut self, dirty: &Dirty) {
        let mut now = Beside::new(dirty);
        for (path, trail) in &mut self.paths {
            if now.get(path).is_none() {
                trail.park();
                trail.mixed = None;
                trail.unattributed = None;
            }
        }
        let mut trails = Beside::new(&self.paths);
        let mut foreign = Vec::new();
        for (path, content) in dirty {
            let trail = trails.get(path);
            let known = trail.is_some_and(|trail| trail.foreign.contains(content));
            if !known && self.whose_by(trail, path, content) == Whose::Foreign {
                foreign.push((path, content));
            }
        }
        for (path, content) in foreign {
            self.trail(path).saw_foreign(content);
        }
    }

    /// Begins a call; one that is known already, whatever became of it, is left as it is.
    pub(crate) fn begin(&mut self, begin: Begin, snapshot: Snapshot) {
        if self.call(&begin.id).is_some() {
            return;
        }
        self.step += 1;
        self.calls.push(Call {
            id: begin.id,
            tool: begin.tool,
            agent: begin.agent,
            reach: begin.reach,
            begun: self.step,
            time: begin.time,
            head: begin.head,
            not_covered: begin.not_covered,
            phase: Phase::Open { snapshot },
        });
    }

    /// Returns the dirty paths with whose they are.
    pub(crate) fn snapshot(&self, dirty: &Dirty, modes: &Modes) -> Snapshot {
        let (mut trails, mut modes) = (Beside::new(&self.paths), Beside::new(modes));
        let held = |(path, content): (&RepoPath, &Content)| {
            let trail = trails.get(path);
            let carried = |trail: &Trail| trail.carried.as_ref() == Some(content);
            let whose = match self.whose_by(trail, path, content) {
                Whose::Mine if trail.is_some_and(carried) => Whose::Carried,
                whose => whose,
            };
            let held = Held {
                content: content.clone(),
                whose,
                mode: modes.get(path).copied(),
            };
            (path.clone(), held)
        };
        dirty.iter().map(held).collect()
    }

    /// Returns a call that can still report its end.
    pub(crate) fn pending(&self, id: &str) -> Option<(&Call, &Snapshot)> {
        let call = self.call(id)?;
        match &call.phase {
            Phase::Open { snapshot } | Phase::Dropped { snapshot } => Some((call, snapshot)),
            Phase::Denied | Phase::Finished { .. } => None,
        }
    }

    /// Ends a call that could change any path: returns what it took from others.
    pub(crate) fn finish_tree(&mut self, id: &str, now: &Now, others: &Others) -> Vec<Lost> {
        let Some((begun, agent, snapshot)) = self.take_pending(id) else {
            return Vec::new();
        };
        let paths = differing(&snapshot, now);
        let mut changes = Vec::new();
        for path in paths {
            let before = snapshot.get(path);
            let Some(after) = now.at(path) else {
                continue;
            };
            if before.is_some_and(|held| held.content == *after)
                || self.explained((id, begun), path, after)
            {
                continue;
            }
            let unseen = now.unseen.get(path);
            let whose = match unseen {
                Some(Birth::Before) => Some(Whose::Foreign),
                Some(Birth::During) | None => before.map(|held| held.whose),
            };
            let verdict = match now.dirty.contains_key(path) {
                false if now.made.contains(path) => Verdict::Committed,
                false => Verdict::Clean,
                true => self.judge((path, after), whose, others),
            };
            changes.push(Change {
                path: path.clone(),
                before: unseen.map_or_else(|| Before::of(before), |_| Before::Unseen),
                after: after.clone(),
                verdict,
                claimed: self.claim_of(path),
                stashed: now.stashed.contains(path),
            });
        }
        let foreign = foreign_of(&snapshot);
        self.settle(id, agent.as_deref(), &changes);
        self.carry(&changes, now);
        let lost = lost_by(&changes, now);
        self.end(id, changes, foreign);
        lost
    }

    /// Takes the snapshot of a call that is about to end.
    fn take_pending(&mut self, id: &str) -> Option<(u64, Option<String>, Snapshot)> {
        let call = self.call_mut(id)?;
        match &mut call.phase {
            Phase::Open { snapshot } | Phase::Dropped { snapshot } => {
                let snapshot = std::mem::take(snapshot);
                Some((call.begun, call.agent.clone(), snapshot))
            }
            Phase::Denied | Phase::Finished { .. } => None,
        }
    }

    /// Ends a call that could change its own path only.
    pub(crate) fn finish_path(&mut self, id: &str, after: &Content, outcome: Outcome) -> Vec<Lost> {
        let Some((call, snapshot)) = self.pending(id) else {
            return Vec::new();
        };
        let Reach::Path(path) = call.reach.clone() else {
            return Vec::new();
        };
        let (begun, agent) = (call.begun, call.agent.clone());
        let before = snapshot.get(&path).cloned();
        let foreign = foreign_of(snapshot);
        let changed = before.as_ref().is_none_or(|held| held.content != *after);
        let mut changes = Vec::new();
        let mut lost = Vec::new();
        if changed || outcome == Outcome::Success {
            let change = Change {
                path: path.clone(),
                before: Before::of(before.as_ref()),
                after: after.clone(),
                verdict: Verdict::Mine,
                claimed: self.claim_of(&path),
                stashed: false,
            };
            self.disown(begun, &path, after);
            self.claim(&path, after, (id, agent.as_deref()));
            if changed {
                lost.extend(before.and_then(|held| taken(&path, &held)));
                changes.push(change);
            }
        }
        self.end(id, changes, foreign);
        lost
    }

    /// Ends a call that could change nothing here.
    pub(crate) fn finish_nothing(&mut self, id: &str) {
        if self.pending(id).is_some() {
            self.end(id, Vec::new(), Vec::new());
        }
    }

    /// Says whether the call left anything that another session may have left.
    pub(crate) fn has_new_claims(&self, id: &str, now: &Now) -> bool {
        let Some((_, snapshot)) = self.pending(id) else {
            return false;
        };
        let mut held = Beside::new(snapshot);
        now.dirty.iter().any(|(path, content)| {
            let is_known = held.get(path).is_some_and(|held| held.content == *content);
            !is_known && !now.same.contains(path)
        })
    }

    /// Follows a command that goes on in the background: what differs from now is unattributed as
    /// long as it runs.
    pub(crate) fn background(&mut self, call: &str, task: &str, (look, time): (&Look, u64)) {
        let agent = self.call(call).and_then(|call| call.agent.clone());
        let begin = Begin {
            id: format!("background:{task}"),
            tool: "Bash".to_owned(),
            agent,
            reach: Reach::Background(task.to_owned()),
            time,
            head: None,
            not_covered: look.inside(),
        };
        let snapshot = self.snapshot(&look.dirty, &look.modes);
        self.begin(begin, snapshot);
    }

    /// Claims a path for a call that was never seen to begin.
    pub(crate) fn claim_unseen(&mut self, begin: &Begin, after: &Content) {
        if self.call(&begin.id).is_some() {
            return;
        }
        let Reach::Path(path) = begin.reach.clone() else {
            return;
        };
        self.begin(begin.clone(), Snapshot::new());
        self.claim(&path, after, (&begin.id, begin.agent.as_deref()));
        self.end(&begin.id, Vec::new(), Vec::new());
    }

    /// Forgets a call that was refused: it never ran.
    pub(crate) fn deny(&mut self, id: &str) {
        if let Some(call) = self.call_mut(id)
            && matches!(call.phase, Phase::Open { .. } | Phase::Dropped { .. })
        {
            call.phase = Phase::Denied;
            self.bound();
        }
    }

    /// Gives up on a call that has not reported its end: what differs from its snapshot stays
    /// unattributed. Returns what may have been taken from others.
    pub(crate) fn drop_call(&mut self, id: &str, now: &Now) -> Vec<Lost> {
        let Some((call, Phase::Open { snapshot })) = self.call(id).map(|call| (call, &call.phase))
        else {
            return Vec::new();
        };
        let (call, snapshot) = (call.clone(), snapshot.clone());
        let mut marked = Vec::new();
        for (path, content) in &now.dirty {
            let is_changed = call.reaches(path) && !now.same.contains(path);
            if is_changed && self.whose(path, content) == Whose::Unattributed {
                marked.push((path.clone(), content.clone()));
            }
        }
        for (path, content) in marked {
            self.trail(&path).unattributed = Some(content);
        }
        let lost = |(path, held): (&RepoPath, &Held)| {
            let after = now.at(path)?;
            let gone = call.reaches(path) && *after != held.content && !moved(&held.content, now);
            gone.then(|| taken(path, held)).flatten()
        };
        let lost = snapshot.iter().filter_map(lost).collect();
        if let Some(call) = self.call_mut(id) {
            call.phase = Phase::Dropped { snapshot };
        }
        self.bound();
        lost
    }

    /// Says whether another call that ended since `begun` accounts for this content.
    fn explained(&self, (id, begun): (&str, u64), path: &RepoPath, after: &Content) -> bool {
        let trail = self.paths.get(path);
        let claim = trail.and_then(|trail| trail.claim.as_ref());
        claim.is_some_and(|claim| claim.content == *after && claim.step > begun && claim.call != id)
            || self.calls.iter().any(|call| match &call.phase {
                Phase::Finished { step, changes, .. } => {
                    *step > begun
                        && changes.iter().any(|change| {
                            change.verdict == Verdict::Committed
                                && change.path == *path
                                && change.after == *after
                        })
                }
                Phase::Open { .. } | Phase::Dropped { .. } | Phase::Denied => false,
            })
    }

    /// The rules, first that holds.
    fn judge(
        &self,
        (path, after): (&RepoPath, &Content),
        before: Option<Whose>,
        others: &Others,
    ) -> Verdict {
        let trail = self.paths.get(path);
        if trail.is_some_and(|trail| trail.foreign.contains(after))
            || others.get(path).is_some_and(|left| left.contains(after))
        {
            return Verdict::Foreign;
        }
        if trail.is_some_and(|trail| trail.left(after)) {
            return Verdict::Mine;
        }
        match before {
            None | Some(Whose::Mine | Whose::Carried | Whose::Clean) => Verdict::Mine,
            Some(Whose::Foreign | Whose::Unattributed) => Verdict::Mixed,
        }
    }

    fn settle(&mut self, id: &str, agent: Option<&str>, changes: &[Change]) {
        for change in changes {
            match change.verdict {
                Verdict::Mine => self.claim(&change.path, &change.after, (id, agent)),
                Verdict::Mixed => {
                    let trail = self.trail(&change.path);
                    trail.unattributed = None;
                    trail.mixed = Some(change.after.clone());
                }
                Verdict::Foreign => self.trail(&change.path).saw_foreign(&change.after),
                Verdict::Committed if change.before.is_others() => {}
                // The claim ends with the commit, and is remembered: a reset may bring it back.
                Verdict::Committed => {
                    self.claim(&change.path, &change.after, (id, agent));
                    self.trail(&change.path).park();
                }
                Verdict::Clean => {}
            }
        }
    }

    /// Remembers where somebody else's content lies that has left its own path.
    fn carry(&mut self, changes: &[Change], now: &Now) {
        let left = |change: &Change| match &change.before {
            Before::Dirty(held) => taken(&change.path, held).map(|lost| lost.content),
            Before::Clean(_) | Before::Unseen => None,
        };
        let left: BTreeSet<Content> = changes.iter().filter_map(left).collect();
        if left.is_empty() {
            return;
        }
        for (path, content) in &now.dirty {
            let trail = self.paths.get_mut(path);
            if let Some(trail) = trail.filter(|trail| trail.claims(content))
                && left.contains(content)
            {
                trail.carried = Some(content.clone());
            }
        }
    }

    fn claim(&mut self, path: &RepoPath, content: &Content, (id, agent): (&str, Option<&str>)) {
        self.step += 1;
        let claim = Claim {
            content: content.clone(),
            call: id.to_owned(),
            agent: agent.map(str::to_owned),
            step: self.step,
        };
        self.trail(path).set_claim(claim);
    }

    /// Takes a path's change away from calls that ran beside a file tool whose doing it was.
    fn disown(&mut self, begun: u64, path: &RepoPath, after: &Content) {
        for call in &mut self.calls {
            if let Phase::Finished { step, changes, .. } = &mut call.phase
                && *step > begun
                && !matches!(call.reach, Reach::Path(_))
            {
                changes.retain(|change| change.path != *path || change.after != *after);
            }
        }
    }

    fn end(&mut self, id: &str, changes: Vec<Change>, foreign: Vec<RepoPath>) {
        self.step += 1;
        let step = self.step;
        for call in &mut self.calls {
            if let Phase::Finished { foreign, .. } = &mut call.phase {
                foreign.clear();
            }
        }
        if let Some(call) = self.call_mut(id) {
            call.not_covered.clear();
            call.phase = Phase::Finished {
                step,
                changes,
                foreign,
                restored: Vec::new(),
            };
        }
        self.bound();
    }

    /// Forgets the oldest calls beyond what is kept.
    fn bound(&mut self) {
        let (mut finished, mut changes, mut dropped) = (0, 0, 0);
        let keep: Vec<bool> = self
            .calls
            .iter()
            .rev()
            .map(|call| match &call.phase {
                Phase::Open { .. } => true,
                Phase::Dropped { .. } => {
                    dropped += 1;
                    dropped <= DROPPED
                }
                Phase::Denied => {
                    finished += 1;
                    finished <= FINISHED
                }
                Phase::Finished { changes: own, .. } => {
                    finished += 1;
                    changes += own.len();
                    finished == 1 || (finished <= FINISHED && changes <= CHANGES)
                }
            })
            .collect();
        let mut keep = keep.into_iter().rev();
        self.calls.retain(|_| keep.next().unwrap_or(true));
    }

    pub(crate) fn trail(&mut self, path: &RepoPath) -> &mut super::state::Trail {
        self.paths.entry(path.clone()).or_default()
    }

    fn claim_of(&self, path: &RepoPath) -> Option<Content> {
        let claim = self.paths.get(path)?.claim.as_ref()?;
        Some(claim.content.clone())
    }
}

/// Returns the paths that a call may have changed.
fn differing<'a>(snapshot: &'a Snapshot, now: &'a Now) -> BTreeSet<&'a RepoPath> {
    let (mut dirty, mut held) = (Beside::new(&now.dirty), Beside::new(snapshot));
    let is_changed = |(path, held): &(&RepoPath, &Held)| dirty.get(path) != Some(&held.content);
    let changed = snapshot.iter().filter(is_changed).map(|(path, _)| path);
    let is_new = |path: &&RepoPath| held.get(path).is_none() && !now.same.contains(*path);
    let new = now.dirty.keys().filter(is_new);
    changed.chain(new).chain(now.committed.keys()).collect()
}

pub(crate) fn foreign_of(snapshot: &Snapshot) -> Vec<RepoPath> {
    snapshot
        .iter()
        .filter(|(_, held)| held.whose == Whose::Foreign)
        .map(|(path, _)| path.clone())
        .collect()
}

impl Now {
    /// Returns what lies at a path, as far as it was looked at.
    fn at(&self, path: &RepoPath) -> Option<&Content> {
        let clean = || self.clean.get(path).or_else(|| self.committed.get(path));
        self.dirty.get(path).or_else(clean)
    }
}

impl Before {
    fn is_others(&self) -> bool {
        match self {
            Self::Dirty(held) => matches!(held.whose, Whose::Foreign | Whose::Unattributed),
            Self::Clean(_) => false,
            Self::Unseen => true,
        }
    }

    fn of(held: Option<&Held>) -> Self {
        match held {
            Some(held) if held.whose != Whose::Clean => Self::Dirty(held.clone()),
            Some(_) | None => Self::Clean(HeadFile::Unread),
        }
    }
}

fn lost_by(changes: &[Change], now: &Now) -> Vec<Lost> {
    let lost = |change: &Change| match &change.before {
        Before::Dirty(held) if !moved(&held.content, now) => taken(&change.path, held),
        Before::Dirty(_) | Before::Clean(_) | Before::Unseen => None,
    };
    changes.iter().filter_map(lost).collect()
}

/// Says whether a content still lies in the working tree, at whatever dirty path.
fn moved(content: &Content, now: &Now) -> bool {
    now.dirty.values().any(|other| other == content)
}

/// Returns what is lost when somebody else's content goes.
pub(crate) fn taken(path: &RepoPath, held: &Held) -> Option<Lost> {
    let others = match held.whose {
        Whose::Mine | Whose::Clean => false,
        Whose::Carried | Whose::Foreign | Whose::Unattributed => held.content.holds_bytes(),
    };
    others.then(|| Lost {
        path: path.clone(),
        content: held.content.clone(),
        mode: held.mode,
    })
}
