//! Whose the open tasks are: the one partition that the Stop hook, the status line, `status` and the
//! writers use.

use std::path::Path;

use super::{
    Error,
    legacy::{self, Pending},
};
use crate::{
    model::Owner,
    store::tasks::{self, OpenTask, Tasks, Unreadable},
};

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// A session of the client.
    Session(Owner),
    /// A session that did not say which: every open task of this worktree is its.
    Unknown { worktree: String },
    /// Nobody in particular: only unowned tasks concern it.
    Nobody,
}

/// An open task, whichever tool opened it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    pub task: String,
    pub owner: Option<Owner>,
    pub worktree: String,
    /// When it was opened, ms since 1970; 0 when the predecessor opened it.
    pub time: u64,
}

/// The open tasks, by what they mean to the one who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    pub mine: Vec<Open>,
    /// Nobody's: they block everybody.
    pub unowned: Vec<Open>,
    /// Other sessions': reported, never blocking.
    pub foreign: Vec<Open>,
    /// Files and entries that say nothing we understand: they block everybody.
    pub unreadable: Vec<String>,
}

impl Partition {
    /// Says whether a Stop of the one who asks is blocked by a task.
    pub fn blocks(&self) -> bool {
        !(self.mine.is_empty() && self.unowned.is_empty() && self.unreadable.is_empty())
    }

    /// Returns how many tasks block.
    pub fn blocking(&self) -> usize {
        self.mine.len() + self.unowned.len() + self.unreadable.len()
    }
}

/// Reads the open tasks of the clone whose directory is `operator` and, below `top`, the
/// predecessor's, and parts them.
pub fn partition(operator: &Path, top: Option<&Path>, who: &Who) -> Result<Partition, Error> {
    let pending = top.map(legacy::pending).unwrap_or_default();
    let mut parts = part(tasks::list(operator)?, pending, who);
    if let Some(top) = top {
        parts.unreadable.extend(left_outside(operator, top)?);
    }
    Ok(parts)
}

/// Names the tasks that were opened before the project was in a repository and were not moved in.
fn left_outside(operator: &Path, top: &Path) -> Result<Option<String>, Error> {
    let outside = top.join(".operator/store.git/operator");
    if outside == operator || !outside.join("tasks").is_dir() {
        return Ok(None);
    }
    let count = tasks::list(&outside)?.open.len();
    let text = format!("{count} open in .operator/store.git: 'git operator start' moves them in");
    Ok((count > 0).then_some(text))
}

fn part(tasks: Tasks, pending: Vec<Pending>, who: &Who) -> Partition {
    let mut parts = Partition::default();
    for open in tasks.open {
        let OpenTask {
            task,
            owner,
            worktree,
            time,
            ..
        } = open;
        place(
            &mut parts,
            Open {
                task: task.to_string(),
                owner,
                worktree,
                time,
            },
            who,
        );
    }
    for Unreadable { path, reason } in tasks.unreadable {
        parts
            .unreadable
            .push(format!("{}: {reason}", path.display()));
    }
    for Pending { name, task } in pending {
        match task {
            legacy::Task::Open { task, owner } => {
                let worktree = match who {
                    Who::Unknown { worktree } => worktree.clone(),
                    Who::Session(_) | Who::Nobody => ".".to_owned(),
                };
                place(
                    &mut parts,
                    Open {
                        task: task.to_string(),
                        owner,
                        worktree,
                        time: 0,
                    },
                    who,
                );
            }
            legacy::Task::Malformed => parts
                .unreadable
                .push(format!(".operator/pending/{name}: no tool writes it")),
        }
    }
    parts
}

fn place(parts: &mut Partition, open: Open, who: &Who) {
    let list = match (&open.owner, who) {
        (None, _) => &mut parts.unowned,
        (Some(owner), Who::Session(session)) if owner == session => &mut parts.mine,
        (Some(_), Who::Unknown { worktree }) if *worktree == open.worktree => &mut parts.mine,
        (Some(_), Who::Session(_) | Who::Unknown { .. } | Who::Nobody) => &mut parts.foreign,
    };
    list.push(open);
}
