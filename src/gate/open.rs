//! Opening and adopting tasks.

use super::{Error, Gate, legacy};
use crate::{
    git::files::Tree,
    model::{Adopt, Body, Draft, Opened, Owner, Record, Task, TaskId},
    store::{Transaction, Wait},
};

/// What became of an opening.
#[derive(Clone, Debug)]
pub enum Opening {
    Opened(Box<Record>),
    /// It was open before, and nothing changed.
    Already {
        owner: Option<Owner>,
    },
}

/// Opens a task for `owner`, or for nobody. Of any number of parallel openings one wins; a task that is
/// open under another owner is refused.
pub fn open(gate: &Gate<'_>, task: &TaskId, owner: Option<&Owner>) -> Result<Opening, Error> {
    let mut tx = gate.begin()?;
    if let Some(known) = tx.task(task)? {
        if owner.is_none() || owner == known.owner.as_ref() {
            return Ok(Opening::Already { owner: known.owner });
        }
        return Err(Error::OpenElsewhere {
            task: task.clone(),
            owner: known.owner,
        });
    }
    let record = one(tx
        .commit(&[opening(gate, task, owner)], Vec::new())?
        .records);
    drop(tx);
    if let Some(owner) = owner {
        gate.place
            .sessions()
            .update(&gate.place.git_dir, owner.as_str(), |session| {
                session.opened = true;
            })?;
    }
    Ok(Opening::Opened(Box::new(record)))
}

fn opening(gate: &Gate<'_>, task: &TaskId, owner: Option<&Owner>) -> Draft {
    let mut draft = Draft::new(Body::Task(Task {
        worktree: gate.place.worktree.clone(),
    }));
    draft.task = Some(task.clone());
    draft.owner = owner.cloned();
    draft.session = gate.session.cloned();
    draft
}

/// Returns the only record of a commit of one draft.
pub(super) fn one(mut records: Vec<Record>) -> Record {
    records.swap_remove(0)
}

/// A task that changed its owner.
#[derive(Clone, Debug)]
pub struct Adopted {
    pub task: TaskId,
    pub from: Option<Owner>,
    pub record: Record,
}

/// Gives the tasks to `owner`: all of them, or none when one is not open.
pub fn adopt(gate: &Gate<'_>, tasks: &[TaskId], owner: &Owner) -> Result<Vec<Adopted>, Error> {
    let mut tx = gate.begin()?;
    let mut drafts = Vec::new();
    let mut from = Vec::new();
    let mut each: Vec<&TaskId> = Vec::new();
    for task in tasks {
        if !each.contains(&task) {
            each.push(task);
        }
    }
    for task in &each {
        let Some(known) = tx.task(task)? else {
            let task = (*task).clone();
            return Err(Error::NotOpen { task });
        };
        let mut draft = Draft::new(Body::Adopt(Adopt {
            from: known.owner.as_ref().map(|owner| owner.as_str().to_owned()),
        }));
        draft.task = Some((*task).clone());
        draft.owner = Some(owner.clone());
        draft.session = gate.session.cloned();
        draft.opened = Opened::By(known.opened);
        drafts.push(draft);
        from.push(known.owner);
    }
    let records = tx.commit(&drafts, Vec::new())?.records;
    drop(tx);
    gate.place
        .sessions()
        .update(&gate.place.git_dir, owner.as_str(), |session| {
            session.opened = true;
        })?;
    let adopted = each.into_iter().cloned().zip(from).zip(records);
    Ok(adopted
        .map(|((task, from), record)| Adopted { task, from, record })
        .collect())
}

/// Takes over the predecessor's open tasks and returns their names. A name that is open already stays
/// where it is and goes on blocking.
pub fn import_pending(gate: &Gate<'_>) -> Result<Vec<TaskId>, Error> {
    let mut tx = gate.store.begin(Wait::Command, *gate.clock)?;
    take_over(gate, &mut tx)
}

pub(super) fn take_over(gate: &Gate<'_>, tx: &mut Transaction<'_>) -> Result<Vec<TaskId>, Error> {
    let Some(top) = &gate.place.top else {
        return Ok(Vec::new());
    };
    let mut drafts = Vec::new();
    let mut taken: Vec<(String, TaskId)> = Vec::new();
    for entry in legacy::pending(top) {
        let legacy::Task::Open { task, owner } = entry.task else {
            continue;
        };
        if taken.iter().any(|(_, known)| *known == task) || tx.task(&task)?.is_some() {
            continue;
        }
        drafts.push(opening(gate, &task, owner.as_ref()));
        taken.push((entry.name, task));
    }
    if drafts.is_empty() {
        return Ok(Vec::new());
    }
    tx.commit(&drafts, Vec::new())?;
    let tree = Tree::open(top)?;
    for (name, _) in &taken {
        tree.remove(&format!(".operator/pending/{name}"))?;
    }
    Ok(taken.into_iter().map(|(_, task)| task).collect())
}
