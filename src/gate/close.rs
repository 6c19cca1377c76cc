//! Verdicts and deferrals.

use super::{
    Error, Gate,
    failing::{self, Fate},
    open::one,
};
use crate::{
    model::{
        Body, Criterion, Decision, DecisionKind, Defer, Draft, Evidence, Opened, Owner, Record,
        RecordId, TaskId, Text, Verdict, secret,
    },
    store::Transaction,
};

/// The most bytes of evidence one verdict takes.
pub const EVIDENCE_LIMIT: u64 = 16 << 20;

/// Whether evidence that looks like a secret is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    Refuse,
    Allow,
}

/// A verdict to record.
#[derive(Clone, Debug)]
pub struct NewVerdict {
    pub task: TaskId,
    pub criterion: Criterion,
    pub owner: Option<Owner>,
    /// Everything but the evidence, which is made from `bytes`.
    pub verdict: Verdict,
    /// The evidence, byte for byte.
    pub bytes: Vec<u8>,
    /// What else the record names by digest: a long delta.
    pub blobs: Vec<Vec<u8>>,
    pub secrets: Secrets,
}

/// A deferral to record.
#[derive(Clone, Debug)]
pub struct NewDefer {
    pub task: TaskId,
    pub reason: Text,
    pub owner: Option<Owner>,
}

/// What a verdict or a deferral did to its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    Closed,
    /// A `run` that failed leaves the task open.
    StillOpen,
    /// The task was closed before; the record amends it.
    Amended,
    /// The task was never opened; a GATE-EXCEPTION says so.
    NeverOpened,
}

/// What was recorded.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub record: Record,
    /// Every record of the commit.
    pub records: Vec<Record>,
    pub closing: Closing,
    /// The owner of the task, when nobody said who closes it.
    pub closed_for: Option<Owner>,
    /// Why git does not see the record yet, though it is safe; the next write shows it.
    pub pending: Option<String>,
}

/// Records a verdict. Any explicit outcome closes the task; one owned by another session is refused; a
/// task that was never opened gets its verdict and a GATE-EXCEPTION, in one commit.
pub fn record(gate: &Gate<'_>, new: NewVerdict) -> Result<Recorded, Error> {
    check_evidence(&new)?;
    let NewVerdict {
        task,
        criterion,
        owner,
        mut verdict,
        bytes,
        mut blobs,
        ..
    } = new;
    verdict.evidence = Evidence::of(&bytes);
    if verdict.evidence.stored().is_some() {
        blobs.push(bytes);
    }
    let mut draft = Draft::new(Body::Verdict(Box::new(verdict)));
    draft.criterion = Some(criterion);
    draft.task = Some(task);
    draft.owner = owner;
    write(gate, "record a verdict for", draft, blobs)
}

/// Closes a task without a verdict, honestly: the reason is recorded, and a DEFERRED-VERDICT line says
/// so in DECISIONS.md.
pub fn defer(gate: &Gate<'_>, new: NewDefer) -> Result<Recorded, Error> {
    let mut draft = Draft::new(Body::Defer(Defer {
        reason: new.reason.as_str().to_owned(),
    }));
    draft.task = Some(new.task);
    draft.owner = new.owner;
    write(gate, "defer", draft, Vec::new())
}

fn check_evidence(new: &NewVerdict) -> Result<(), Error> {
    let task = || new.task.clone();
    if Evidence::is_blank(&new.bytes) {
        return Err(Error::BlankEvidence { task: task() });
    }
    let size = new.bytes.len() as u64;
    if size > EVIDENCE_LIMIT {
        return Err(Error::LargeEvidence {
            task: task(),
            size,
            limit: EVIDENCE_LIMIT,
        });
    }
    check_secrets(&new.task, &new.bytes, new.secrets)
}

pub(super) fn check_secrets(task: &TaskId, bytes: &[u8], secrets: Secrets) -> Result<(), Error> {
    match secret::secrets(bytes).first() {
        Some(found) if secrets == Secrets::Refuse => Err(Error::Secret {
            task: task.clone(),
            what: found.kind.to_string(),
        }),
        Some(_) | None => Ok(()),
    }
}

/// How the ledger knows a task that a record speaks of.
pub(super) enum Known {
    Open { closed_for: Option<Owner> },
    Before,
    Never,
}

pub(super) fn write(
    gate: &Gate<'_>,
    verb: &'static str,
    mut draft: Draft,
    evidence: Vec<Vec<u8>>,
) -> Result<Recorded, Error> {
    let mut tx = gate.begin()?;
    let task = draft
        .task
        .clone()
        .expect("a verdict and a deferral name their task");
    draft.session = gate.session.cloned();
    let known = answer(&mut tx, verb, &task, &mut draft)?;
    let exception = matches!(known, Known::Never).then(|| exception(gate, &task, &draft));
    refuse_redacted(&tx, &task, &draft)?;
    let mut drafts = vec![draft];
    drafts.extend(exception);
    let committed = tx.commit(&drafts, evidence)?;
    let still_open = tx.task(&task)?.is_some();
    let record = committed.records[0].clone();
    failing::note(&tx, &gate.place.operator, (&record, Fate::Recorded));
    let (closing, closed_for) = match known {
        Known::Open { .. } if still_open => (Closing::StillOpen, None),
        Known::Open { closed_for } => (Closing::Closed, closed_for),
        Known::Before => (Closing::Amended, None),
        Known::Never => (Closing::NeverOpened, None),
    };
    Ok(Recorded {
        record,
        records: committed.records,
        closing,
        closed_for,
        pending: committed.pending,
    })
}

/// Refuses evidence that was taken out before. How a command ended is recorded all the same, without
/// what it printed.
fn refuse_redacted(tx: &Transaction<'_>, task: &TaskId, draft: &Draft) -> Result<(), Error> {
    let Body::Verdict(verdict) = &draft.body else {
        return Ok(());
    };
    match verdict.evidence.stored() {
        Some(stored) if verdict.run.is_none() && tx.is_redacted(&stored.digest)? => {
            Err(Error::Redacted {
                task: task.clone(),
                digest: stored.digest,
            })
        }
        Some(_) | None => Ok(()),
    }
}

/// Names the opening that the record answers, and refuses a task of another session.
pub(super) fn answer(
    tx: &mut Transaction<'_>,
    verb: &'static str,
    task: &TaskId,
    draft: &mut Draft,
) -> Result<Known, Error> {
    if let Some(open) = tx.task(task)? {
        draft.opened = Opened::By(open.opened);
        return match (&open.owner, &draft.owner) {
            (Some(owner), Some(session)) if owner != session => Err(Error::Foreign {
                verb,
                task: task.clone(),
                owner: owner.clone(),
                session: session.clone(),
            }),
            (Some(owner), None) => {
                draft.owner = Some(owner.clone());
                Ok(Known::Open {
                    closed_for: Some(owner.clone()),
                })
            }
            _ => Ok(Known::Open { closed_for: None }),
        };
    }
    if let Some(opening) = last_opening(tx, task)? {
        draft.opened = Opened::By(opening);
        return Ok(Known::Before);
    }
    if draft.owner.is_none() {
        return Err(Error::NeverOpened {
            verb,
            task: task.clone(),
        });
    }
    draft.opened = Opened::Never;
    Ok(Known::Never)
}

/// Returns the newest opening of the task in this clone.
fn last_opening(tx: &Transaction<'_>, task: &TaskId) -> Result<Option<RecordId>, Error> {
    let records = tx.records(task)?;
    let replica = tx.replica();
    let mut openings = records
        .of_task(task.as_str())
        .rev()
        .filter(|record| matches!(record.body, Body::Task(_)));
    Ok(openings
        .find(|record| record.replica == Some(replica))
        .map(|record| record.id))
}

fn exception(gate: &Gate<'_>, task: &TaskId, draft: &Draft) -> Draft {
    let what = match &draft.body {
        Body::Defer(_) => format!("deferral of '{task}' recorded without an open task"),
        _ => format!("verdict on '{task}' recorded without an open task"),
    };
    let mut exception = Draft::new(Body::Decision(Decision {
        decision: DecisionKind::GateException,
        scope: task.as_str().to_owned(),
        what,
        why: "never opened".to_owned(),
        covers: Vec::new(),
        import: None,
    }));
    exception.owner.clone_from(&draft.owner);
    exception.session = gate.session.cloned();
    exception.task = Some(task.clone());
    exception
}

/// Records one draft that is nobody's opening or closing.
pub(super) fn append(gate: &Gate<'_>, draft: Draft) -> Result<Record, Error> {
    let mut tx = gate.begin()?;
    Ok(one(tx.commit(&[draft], Vec::new())?.records))
}
