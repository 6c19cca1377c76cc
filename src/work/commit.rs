//! Which paths of a commit sessions wrote.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Content, Error,
    look::{Looker, Sight},
    session,
    state::{Call, LINK, Phase, Reach, Snapshot, State, Whose},
};
use crate::{
    git::{Repo, Trees},
    model::{self, DeltaEntry, Oid, RepoPath},
};

/// How many paths a record names.
const NAMED: usize = 500;

/// A commit just made.
#[derive(Clone, Copy, Debug)]
pub struct Committed<'a> {
    pub commit: Oid,
    /// The session that made it, where that is known.
    pub session: Option<&'a str>,
    /// The wall time in ms.
    pub time: u64,
}

/// Returns what a `work` record says of a commit; `None` when no session of this worktree has anything
/// to do with it.
pub fn commit_record(repo: &Repo, made: &Committed<'_>) -> Result<Option<model::Work>, Error> {
    let worktree = repo.worktree_name();
    let states: Vec<State> = session::read_all(repo)
        .into_iter()
        .map(|(_, state)| state)
        .filter(|state| state.worktree == worktree)
        .collect();
    let own = states
        .iter()
        .any(|state| Some(state.session.as_str()) == made.session);
    if states.is_empty() {
        return Ok(None);
    }
    let commit = repo.commit(made.commit)?;
    let parent = match commit.parents.first() {
        Some(parent) => Some(repo.commit(*parent)?.tree),
        None => None,
    };
    let entries = repo.diff_subjects(parent, Some(commit.tree))?;
    let mut judge = Judge::new(repo, &states, made);
    let mut mine: BTreeMap<String, Vec<RepoPath>> = BTreeMap::new();
    let mut other = Vec::new();
    for entry in entries.iter().take(NAMED) {
        match judge.writer(entry)? {
            Some(session) => mine.entry(session).or_default().push(entry.path.clone()),
            None => other.push(entry.path.clone()),
        }
    }
    let is_edited = other.iter().any(|path| judge.has_claim(path));
    Ok((own || is_edited || !mine.is_empty()).then(|| model::Work {
        commit: made.commit,
        mine: mine.into_iter().collect(),
        other,
        omitted: entries.len().saturating_sub(NAMED) as u64,
    }))
}

struct Judge<'a> {
    repo: &'a Repo,
    states: &'a [State],
    made: &'a Committed<'a>,
    trees: Trees<'a>,
    /// Read once, and only where a filter may have changed what was committed.
    dirty: Option<BTreeSet<RepoPath>>,
}

impl<'a> Judge<'a> {
    fn new(repo: &'a Repo, states: &'a [State], made: &'a Committed<'a>) -> Self {
        Self {
            repo,
            states,
            made,
            trees: Trees::new(repo),
            dirty: None,
        }
    }

    /// Returns the session that left what was committed.
    fn writer(&mut self, entry: &DeltaEntry) -> Result<Option<String>, Error> {
        if let Some(session) = self.claimant(&entry.path, &content(entry)) {
            return Ok(Some(session));
        }
        if self.is_claimed(&entry.path) && !self.dirty()?.contains(&entry.path) {
            let mut seen = Sight::default();
            let lies = Looker::new(self.repo, &mut seen, self.made.time)?.at(&entry.path)?;
            if let Some(session) = self.claimant(&entry.path, &lies) {
                return Ok(Some(session));
            }
        }
        let states = self.states;
        for state in states {
            for (call, snapshot) in state.open() {
                if self.made_by(state, call) && self.wrote(call, snapshot, entry)? {
                    return Ok(Some(state.session.clone()));
                }
            }
        }
        Ok(None)
    }

    fn claimant(&self, path: &RepoPath, content: &Content) -> Option<String> {
        let left = |state: &&State| {
            let trail = state.paths.get(path);
            trail.is_some_and(|trail| trail.left(content) && !trail.foreign.contains(content))
        };
        let mut sessions = self.states.iter().filter(left);
        let own = sessions
            .clone()
            .find(|state| Some(state.session.as_str()) == self.made.session);
        own.or_else(|| sessions.next())
            .map(|state| state.session.clone())
    }

    fn is_claimed(&self, path: &RepoPath) -> bool {
        let touched = |state: &State| state.paths.get(path).is_some_and(|trail| trail.touched);
        self.states.iter().any(touched)
    }

    /// Says whether a session left something at a path that was not committed, edited since or not.
    fn has_claim(&self, path: &RepoPath) -> bool {
        let claims = |state: &State| {
            let trail = state.paths.get(path);
            trail.is_some_and(|trail| trail.claim.is_some())
        };
        self.states.iter().any(claims)
    }

    fn dirty(&mut self) -> Result<&BTreeSet<RepoPath>, Error> {
        if self.dirty.is_none() {
            let entries = self.repo.status()?;
            self.dirty = Some(entries.into_iter().map(|entry| entry.path).collect());
        }
        Ok(self.dirty.get_or_insert_default())
    }

    /// Says whether a commit may be a call's: its session made it, or nobody else can have.
    fn made_by(&self, state: &State, call: &Call) -> bool {
        let shells = |state: &State| state.open().any(|(call, _)| call.reach == Reach::Tree);
        call.reach == Reach::Tree
            && match self.made.session {
                Some(session) => session == state.session,
                None => self.states.iter().filter(|state| shells(state)).count() == 1,
            }
    }

    /// Says whether an open call wrote what was committed: it was clean, or the session's, when the
    /// call began, and was something else then.
    fn wrote(
        &mut self,
        call: &Call,
        snapshot: &Snapshot,
        entry: &DeltaEntry,
    ) -> Result<bool, Error> {
        debug_assert!(matches!(call.phase, Phase::Open { .. }));
        if let Some(held) = snapshot.get(&entry.path) {
            return Ok(held.whose == Whose::Mine);
        }
        let then = match call.head {
            Some(head) => self
                .trees
                .place(self.repo.commit(head)?.tree, &entry.path)?,
            None => None,
        };
        Ok(then != entry.new)
    }
}

fn content(entry: &DeltaEntry) -> Content {
    match entry.new {
        None => Content::Absent,
        Some((0o100_755, id)) => Content::Executable(id),
        Some((LINK, id)) => Content::Link(id),
        Some((_, id)) => Content::File(id),
    }
}
