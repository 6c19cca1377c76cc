//! What can be asked of the work ledger without changing it, and the few changes people ask for.

use std::{path::PathBuf, time::Duration};

use super::{
    Error, Work,
    look::{Look, Looker},
    rescue::{RETENTION, Why},
    rules::{Lost, taken},
    session::{self, HOOK, Session},
    shelf::Shelf,
    state::{Phase, State},
};
use crate::{git::Repo, model::RepoPath};

/// Whose work is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who<'a> {
    Session(&'a str),
    /// The session whose hook ran last in this worktree.
    Last,
}

/// A session that the ledger knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    pub session: String,
    pub worktree: String,
    /// The wall time of its last event, in ms.
    pub last: u64,
    pub ended: bool,
    /// Calls that have not reported their end.
    pub open_calls: usize,
    pub claims: usize,
    /// How many bytes are kept for it.
    pub kept: u64,
}

/// Says whether `operator.work` switches the ledger on.
pub fn is_on(repo: &Repo) -> Result<bool, Error> {
    Ok(repo.config()?.bool("operator.work")? == Some(true))
}

/// Returns a session's work as it is now; nothing is written.
pub fn status(repo: &Repo, who: Who<'_>, time: u64) -> Result<Work, Error> {
    let (mut state, look) = observed(repo, who, time)?;
    state.settle_claims(&look);
    let others = state.others_for(repo, &look);
    let mut work = state.work(&look.dirty, &others);
    work.not_covered = look.not_covered;
    if state.session.is_empty() {
        work.session = None;
    }
    Ok(work)
}

/// Returns the dirty paths a session changed, `.operator` left out; nothing is written.
pub fn uncommitted(repo: &Repo, name: &str, time: u64) -> Result<Vec<RepoPath>, Error> {
    let work = status(repo, Who::Session(name), time)?;
    let own = |path: &RepoPath| path.as_bytes().starts_with(b".operator/");
    let paths = work.uncommitted.into_iter().filter(|path| !own(path));
    Ok(paths.collect())
}

fn observed(repo: &Repo, who: Who<'_>, time: u64) -> Result<(State, Look), Error> {
    let mut state = match who {
        Who::Session(name) => {
            session::read(repo, name)?.unwrap_or_else(|| State::new(name, &repo.worktree_name()))
        }
        Who::Last => last(repo).unwrap_or_else(|| State::new("", &repo.worktree_name())),
    };
    let look = Looker::new(repo, &mut state.seen, time)?.all(repo.status()?, |_| false)?;
    Ok((state, look))
}

/// Says whether a call of a session was seen to begin in this worktree.
pub fn knows(repo: &Repo, (name, id): (&str, &str)) -> Result<bool, Error> {
    Ok(session::knows(repo, name, id))
}

/// Returns the session whose hook ran last in this worktree.
pub fn last_session(repo: &Repo) -> Option<String> {
    last(repo).map(|state| state.session)
}

/// Returns the state of the session whose hook ran last in this worktree.
fn last(repo: &Repo) -> Option<State> {
    let worktree = repo.worktree_name();
    session::read_all(repo)
        .into_iter()
        .map(|(_, state)| state)
        .filter(|state| state.worktree == worktree)
        .max_by_key(|state| state.last)
}

impl State {
    /// Claims of paths that are clean have ended, whether or not a hook saw it.
    fn settle_claims(&mut self, look: &Look) {
        for (path, trail) in &mut self.paths {
            if !look.dirty.contains_key(path) {
                trail.park();
            }
        }
    }
}

/// Returns what is known of every session, in all worktrees, newest first.
pub fn sessions(repo: &Repo) -> Vec<SessionInfo> {
    let info = |(_, state): (PathBuf, State)| SessionInfo {
        open_calls: state.open().count(),
        claims: state.claims().count(),
        kept: state.vault.bytes(),
        ended: state.ended.is_some(),
        last: state.last,
        session: state.session,
        worktree: state.worktree,
    };
    let mut infos: Vec<SessionInfo> = session::read_all(repo).into_iter().map(info).collect();
    infos.sort_by_key(|info| std::cmp::Reverse(info.last));
    infos
}

/// Lets go of rescues and claims older than 14 days; returns the sessions that are gone with them.
///
/// What a session that was killed keeps of other people's files is rescued first, for 14 more days.
pub fn sweep(repo: &Repo, time: u64) -> Result<Vec<String>, Error> {
    let mut gone = Vec::new();
    for (dir, state) in session::read_all(repo) {
        let old = state.last + RETENTION <= time;
        let Some(mut session) = Session::reopen(repo, &dir, Duration::from_millis(100))? else {
            continue;
        };
        session.expire_rescues(time)?;
        if old {
            session.expire_calls(time)?;
        }
        if old && session.rescued.found.is_empty() {
            gone.push(session.state.session.clone());
            session.remove()?;
        } else {
            session.save(state.last)?;
        }
    }
    Ok(gone)
}

impl Session<'_> {
    fn expire_calls(&mut self, time: u64) -> Result<(), Error> {
        let left = self.state.left_behind(self.repo)?;
        let pending = self.state.calls.iter().rev();
        let pending = pending.map(|call| call.id.clone()).next();
        self.rescue(&left, &pending.unwrap_or_default(), (time, Why::Dropped))?;
        for call in std::mem::take(&mut self.state.calls) {
            if let Phase::Open { snapshot } | Phase::Dropped { snapshot } = &call.phase {
                let lost: Vec<Lost> = snapshot
                    .iter()
                    .filter_map(|(path, held)| taken(path, held))
                    .collect();
                self.rescue(&lost, &call.id, (time, Why::Dropped))?;
            }
        }
        self.state.shelf = Shelf::default();
        self.vault().clear()
    }
}

/// Gives the claims of the session `from`, in every worktree, to the session `to`; returns how many.
pub fn adopt(repo: &Repo, from: &str, to: &str) -> Result<usize, Error> {
    let mut moved = 0;
    if from == to {
        return Ok(moved);
    }
    for (dir, state) in session::read_all(repo) {
        if state.session != from || state.claims().next().is_none() {
            continue;
        }
        let Some(mut giver) = Session::reopen(repo, &dir, HOOK)? else {
            continue;
        };
        let mut taker = Session::open_in(repo, (&state.worktree, to), HOOK)?;
        moved += taker.state.take_claims(&mut giver.state);
        let (given, taken) = (giver.state.last, taker.state.last.max(1));
        taker.save(taken)?;
        giver.save(given)?;
    }
    Ok(moved)
}

impl State {
    fn take_claims(&mut self, from: &mut Self) -> usize {
        let mut taken = 0;
        for (path, trail) in &mut from.paths {
            let Some(claim) = trail.claim.take() else {
                continue;
            };
            trail.touched = false;
            trail.earlier.clear();
            let own = self.trail(path);
            if own.claim.is_none() {
                own.set_claim(claim);
                taken += 1;
            }
        }
        from.paths.retain(|_, trail| !trail.is_empty());
        taken
    }
}
