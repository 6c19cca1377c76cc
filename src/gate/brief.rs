//! What a session is told when it starts, and what is remembered of its life.

use std::time::Duration;

use super::{
    Error, Place,
    session::Session,
    stop::{Survey, survey},
    who::{Open, Who},
};
use crate::{
    git::files::Tree,
    model::{Owner, spec::Status},
};

const SPEC_LIMIT: u64 = 1 << 20;
const LIFE_OF_A_PID: Duration = Duration::from_secs(3600);

/// What a session is told when it starts.
#[derive(Clone, Debug)]
pub struct Brief {
    pub survey: Survey,
    /// The other sessions' open tasks.
    pub others: Vec<Other>,
    /// Sessions that are known to have ended while they owned an open task.
    pub ended: Vec<Ended>,
    pub stage: Stage,
}

/// An open task of another session.
#[derive(Clone, Debug)]
pub struct Other {
    pub open: Open,
    pub life: Life,
}

/// A session's last sign of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// Its end was seen.
    Ended,
    /// Its client is gone, and no end was seen.
    Gone,
    /// A hook of it ran so long ago.
    Seen(Duration),
    Unknown,
}

/// A session that ended with open tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub session: String,
    pub tasks: Vec<String>,
}

/// Where the project stands, derived from its tree; it is said, and gates nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// An entry nobody could have written blocks everybody.
    Blocked,
    /// This session has open tasks.
    Implement,
    /// Decisions wait to be presented.
    Handoff,
    /// A spec is a draft.
    Spec,
    /// A spec is approved.
    Plan,
    Clear,
}

impl Stage {
    /// Returns the stage's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Blocked => "BLOCKED",
            Self::Implement => "IMPLEMENT",
            Self::Handoff => "HANDOFF",
            Self::Spec => "SPEC",
            Self::Plan => "PLAN",
            Self::Clear => "CLEAR",
        }
    }
}

/// Returns what the session `who` is told, at `now` (ms of wall clock).
pub fn brief(place: &Place, who: &Who, now: u64) -> Result<Brief, Error> {
    let survey = survey(place, who)?;
    let sessions = place.sessions().all();
    let life_of = |owner: &Owner| {
        let known = sessions
            .iter()
            .filter(|session| session.session == owner.as_str());
        known
            .max_by_key(|session| session.seen)
            .map_or(Life::Unknown, |session| life(session, now))
    };
    let others: Vec<Other> = survey
        .parts
        .foreign
        .iter()
        .map(|open| Other {
            life: open.owner.as_ref().map_or(Life::Unknown, life_of),
            open: open.clone(),
        })
        .collect();
    let stage = stage(place, &survey);
    Ok(Brief {
        ended: ended(&others),
        others,
        stage,
        survey,
    })
}

fn life(session: &Session, now: u64) -> Life {
    if session.ended {
        return Life::Ended;
    }
    // One that only commands named was never seen by a hook.
    if session.seen == 0 {
        return Life::Unknown;
    }
    let since = Duration::from_millis(now.saturating_sub(session.seen));
    match session.pid {
        // A pid is used again sooner or later: only a recent one says that its client is gone.
        Some(pid) if since < LIFE_OF_A_PID * 24 && is_gone(pid) => Life::Gone,
        _ => Life::Seen(since),
    }
}

fn is_gone(pid: u32) -> bool {
    let Ok(pid) = i32::try_from(pid) else {
        return false;
    };
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None) == Err(nix::errno::Errno::ESRCH)
}

fn ended(others: &[Other]) -> Vec<Ended> {
    let mut found: Vec<Ended> = Vec::new();
    for other in others.iter().filter(|other| other.life == Life::Ended) {
        let Some(owner) = &other.open.owner else {
            continue;
        };
        match found
            .iter_mut()
            .find(|ended| ended.session == owner.as_str())
        {
            Some(ended) => ended.tasks.push(other.open.task.clone()),
            None => {
                found.push(Ended {
                    session: owner.as_str().to_owned(),
                    tasks: vec![other.open.task.clone()],
                });
            }
        }
    }
    found
}

fn stage(place: &Place, survey: &Survey) -> Stage {
    let parts = &survey.parts;
    if !parts.unreadable.is_empty() {
        return Stage::Blocked;
    }
    if !parts.mine.is_empty() || !parts.unowned.is_empty() {
        return Stage::Implement;
    }
    if !survey.decisions.is_empty() {
        return Stage::Handoff;
    }
    let states = spec_states(place);
    if states.contains(&false) {
        return Stage::Spec;
    }
    if states.contains(&true) {
        Stage::Plan
    } else {
        Stage::Clear
    }
}

/// Returns of each spec whether it is approved.
fn spec_states(place: &Place) -> Vec<bool> {
    let Some(tree) = place.top.as_ref().and_then(|top| Tree::open(top).ok()) else {
        return Vec::new();
    };
    let names = tree.names(".operator/specs").unwrap_or_default();
    names
        .iter()
        .filter_map(|name| name.to_str().filter(|name| name.ends_with(".md")))
        .filter_map(|name| {
            tree.read(&format!(".operator/specs/{name}"), SPEC_LIMIT)
                .ok()
                .flatten()
        })
        .filter_map(|bytes| match Status::of(&String::from_utf8_lossy(&bytes)) {
            Status::Draft => Some(false),
            Status::Approved(_) => Some(true),
            Status::Unknown => None,
        })
        .collect()
}

/// Remembers that a hook of `session` ran at `now` (ms of wall clock) under the client `pid`.
pub fn note_seen(place: &Place, session: &Owner, now: u64, pid: Option<u32>) -> Result<(), Error> {
    place
        .sessions()
        .update(&place.git_dir, session.as_str(), |known| {
            known.seen = now;
            known.ended = false;
            known.worktree.clone_from(&place.worktree);
            if pid.is_some() {
                known.pid = pid;
            }
        })
}

/// Remembers that `session` ended and returns the names of its open tasks.
pub fn end_session(place: &Place, session: &Owner, now: u64) -> Result<Vec<String>, Error> {
    place
        .sessions()
        .update(&place.git_dir, session.as_str(), |known| {
            known.seen = now;
            known.ended = true;
        })?;
    let survey = survey(place, &Who::Session(session.clone()))?;
    Ok(survey
        .parts
        .mine
        .into_iter()
        .map(|open| open.task)
        .collect())
}
