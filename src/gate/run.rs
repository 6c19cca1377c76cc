//! What a `run` records: an attempt before the command, and its end.

use super::{
    Closing, Error, Gate, Recorded, Secrets,
    close::{answer, check_secrets, write},
    open::one,
};
use crate::{
    model::{Attempt, Body, Criterion, Draft, Opened, Owner, Record, TaskId, Verdict},
    store::Transaction,
};

/// Which criterion of which task a command is run for, and by whom.
#[derive(Clone, Debug)]
pub struct Purpose {
    pub task: TaskId,
    pub criterion: Criterion,
    pub owner: Option<Owner>,
    /// The opening that the record a rerun repeats answers; `None` where the task's own is asked for.
    pub repeats: Option<Opened>,
}

/// What a command's output leaves beside its record.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// What goes into the evidence ref.
    pub blobs: Vec<Vec<u8>>,
}

/// Records that a command is about to run; a task of another session is refused before it does.
pub fn begin_attempt(
    gate: &Gate<'_>,
    purpose: &Purpose,
    attempt: Attempt,
) -> Result<Record, Error> {
    let mut tx = gate.begin()?;
    let mut draft = draft(gate, purpose, Body::Attempt(Box::new(attempt)));
    answer_for(&mut tx, "run a command for", purpose, &mut draft)?;
    Ok(one(tx.commit(&[draft], Vec::new())?.records))
}

/// Records the end of an attempt that gave no verdict.
pub fn end_attempt(
    gate: &Gate<'_>,
    purpose: &Purpose,
    attempt: Attempt,
    kept: Kept,
) -> Result<Record, Error> {
    let mut tx = gate.begin()?;
    let mut draft = draft(gate, purpose, Body::Attempt(Box::new(attempt)));
    answer_for(&mut tx, "record an attempt for", purpose, &mut draft)?;
    Ok(one(tx.commit(&[draft], kept.blobs)?.records))
}

/// Records the verdict of a run: PASS closes the task, FAIL leaves it open.
pub fn record_run(
    gate: &Gate<'_>,
    purpose: &Purpose,
    verdict: Verdict,
    kept: Kept,
) -> Result<Recorded, Error> {
    let mut draft = draft(gate, purpose, Body::Verdict(Box::new(verdict)));
    let Some(opened) = purpose.repeats else {
        return write(gate, "record a verdict for", draft, kept.blobs);
    };
    draft.opened = opened;
    let mut tx = gate.begin()?;
    let committed = tx.commit(&[draft], kept.blobs)?;
    let closing = match tx.task(&purpose.task)? {
        Some(_) => Closing::StillOpen,
        None => Closing::Amended,
    };
    Ok(Recorded {
        record: committed.records[0].clone(),
        records: committed.records,
        closing,
        closed_for: None,
        pending: committed.pending,
    })
}

/// A rerun answers what the record it repeats answers, whoever runs it.
fn answer_for(
    tx: &mut Transaction<'_>,
    verb: &'static str,
    purpose: &Purpose,
    draft: &mut Draft,
) -> Result<(), Error> {
    match purpose.repeats {
        Some(opened) => draft.opened = opened,
        None => {
            answer(tx, verb, &purpose.task, draft)?;
        }
    }
    Ok(())
}

/// Refuses output that looks like a secret.
pub fn check_output(purpose: &Purpose, output: &[u8], secrets: Secrets) -> Result<(), Error> {
    check_secrets(&purpose.task, output, secrets)
}

fn draft(gate: &Gate<'_>, purpose: &Purpose, body: Body) -> Draft {
    let mut draft = Draft::new(body);
    draft.task = Some(purpose.task.clone());
    draft.criterion = Some(purpose.criterion.clone());
    draft.owner.clone_from(&purpose.owner);
    draft.session = gate.session.cloned();
    draft
}
