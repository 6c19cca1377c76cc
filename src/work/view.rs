//! What a session's work is, from its state and the dirty paths.

use std::collections::BTreeMap;

use super::state::{Call, Dirty, Others, Phase, State, Whose};
use crate::model::RepoPath;

/// Whose the dirty paths are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The ledger is active for this project.
    pub tracked: bool,
    pub session: Option<String>,
    /// Every path the session claimed.
    pub touched: Vec<RepoPath>,
    /// Dirty paths whose content is exactly what the session left.
    pub mine: Vec<RepoPath>,
    /// Dirty paths that are not the session's.
    pub foreign: Vec<RepoPath>,
    /// Dirty paths the session changed, even if edited since.
    pub uncommitted: Vec<RepoPath>,
    /// Dirty paths changed during a call that never reported its end.
    pub unattributed: Vec<RepoPath>,
    /// Why a path is foreign or unattributed.
    pub reasons: BTreeMap<RepoPath, Reason>,
    /// Which subagent left a path.
    pub agents: BTreeMap<RepoPath, String>,
    /// Repositories inside this one.
    pub not_covered: Vec<RepoPath>,
    pub call: Option<CallView>,
}

/// A tool use of the session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallView {
    pub tool: String,
    pub id: String,
    pub agent: Option<String>,
    /// What was foreign when it began.
    pub foreign: Vec<RepoPath>,
    /// What it changed.
    pub changed: Vec<RepoPath>,
    /// What it changed and left dirty.
    pub written: Vec<RepoPath>,
    /// What was put back since.
    pub restored: Vec<RepoPath>,
}

/// Why a dirty path is not the session's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    NeverClaimed,
    EditedSince,
    OtherSession,
    Mixed,
    Unattributed,
}

impl Reason {
    /// Returns the word of `work.reasons`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NeverClaimed => "never-claimed",
            Self::EditedSince => "edited-since",
            Self::OtherSession => "other-session",
            Self::Mixed => "mixed",
            Self::Unattributed => "unattributed",
        }
    }
}

impl State {
    /// Returns the session's work, `dirty` being what lies in the working tree.
    pub(crate) fn work(&self, dirty: &Dirty, others: &Others) -> Work {
        let mut work = Work {
            tracked: true,
            session: Some(self.session.clone()),
            call: self.current(),
            ..Work::default()
        };
        let touched = self.paths.iter().filter(|(_, trail)| trail.touched);
        work.touched = touched.map(|(path, _)| path.clone()).collect();
        for (path, content) in dirty {
            let trail = self.paths.get(path);
            if trail.is_some_and(|trail| trail.claim.is_some() || trail.left(content)) {
                work.uncommitted.push(path.clone());
            }
            match self.whose(path, content) {
                Whose::Mine | Whose::Carried | Whose::Clean => {
                    work.mine.push(path.clone());
                    let claim = trail.and_then(|trail| trail.claim.as_ref());
                    if let Some(agent) = claim.and_then(|claim| claim.agent.clone()) {
                        work.agents.insert(path.clone(), agent);
                    }
                }
                Whose::Unattributed => {
                    work.unattributed.push(path.clone());
                    work.reasons.insert(path.clone(), Reason::Unattributed);
                }
                Whose::Foreign => {
                    let other = others.get(path).is_some_and(|left| left.contains(content));
                    let reason = match trail {
                        _ if other => Reason::OtherSession,
                        Some(trail) if trail.mixed.as_ref() == Some(content) => Reason::Mixed,
                        Some(trail) if trail.claim.is_some() => Reason::EditedSince,
                        Some(_) | None => Reason::NeverClaimed,
                    };
                    work.foreign.push(path.clone());
                    work.reasons.insert(path.clone(), reason);
                }
            }
        }
        work
    }

    /// Returns the last call of the turn: the newest open one, else the newest that ended.
    fn current(&self) -> Option<CallView> {
        let of_turn = |call: &&Call| call.begun > self.turn && !call.is_background();
        let mut calls = self.calls.iter().rev().filter(of_turn);
        let open = calls
            .clone()
            .find(|call| matches!(call.phase, Phase::Open { .. }));
        open.or_else(|| calls.find(|call| matches!(call.phase, Phase::Finished { .. })))
            .map(Call::view)
    }
}

impl Call {
    /// Returns the call as policies see it.
    pub(crate) fn view(&self) -> CallView {
        let mut view = CallView {
            tool: self.tool.clone(),
            id: self.id.clone(),
            agent: self.agent.clone(),
            ..CallView::default()
        };
        match &self.phase {
            Phase::Open { snapshot } | Phase::Dropped { snapshot } => {
                view.foreign = super::rules::foreign_of(snapshot);
            }
            Phase::Denied => {}
            Phase::Finished {
                changes,
                foreign,
                restored,
                ..
            } => {
                view.foreign.clone_from(foreign);
                view.restored.clone_from(restored);
                view.restored.sort();
                view.changed = changes.iter().map(|change| change.path.clone()).collect();
                let left = changes.iter().filter(|change| change.is_written());
                view.written = left.map(|change| change.path.clone()).collect();
            }
        }
        view
    }
}
