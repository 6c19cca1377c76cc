//! Criteria that failed again and again, as a Stop reports them: `<common-dir>/operator/failing`.
//!
//! The file is made from the ledger when a verdict is written, so that a Stop need not open it.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    model::{Body, Outcome, Owner, Record, TaskId},
    store::Transaction,
};

/// How often a criterion fails before it is worth a word.
const OFTEN: usize = 2;
const ENTRIES: usize = 100;
const LIMIT: u64 = 1 << 20;

/// A criterion whose last verdicts were all FAIL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failing {
    pub task: String,
    pub criterion: String,
    /// How many FAILs in a row.
    pub times: usize,
    /// Whose the last one is.
    pub owner: Option<String>,
}

/// Returns the failing criteria that concern `session`: its own and nobody's. A file that cannot be read
/// holds none, because nothing but a report hangs on it.
pub fn failing(operator: &Path, session: Option<&Owner>) -> Vec<Failing> {
    let mut all = read(&path(operator));
    all.retain(|entry| match &entry.owner {
        Some(owner) => session.is_some_and(|session| session.as_str() == owner),
        None => true,
    });
    all
}

/// What became of a verdict.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Recorded,
    Retracted,
}

/// Brings the file up to date with the verdicts on `record`'s criterion. The ledger's lock is held.
///
/// A failure is not told: the verdict itself is safe, and the next one mends the file.
pub(super) fn note(
    tx: &Transaction<'_>,
    operator: &Path,
    (record, fate): (&Record, Fate),
) -> Option<()> {
    let Body::Verdict(verdict) = &record.body else {
        return None;
    };
    let (name, criterion) = (record.task.as_deref()?, record.criterion.as_deref()?);
    let path = path(operator);
    let mut all = read(&path);
    let before = all.clone();
    all.retain(|entry| entry.task != name || entry.criterion != criterion);
    if fate == Fate::Retracted || verdict.outcome == Outcome::Fail {
        let times = in_a_row(tx, &TaskId::new(name).ok()?, criterion)?;
        if times >= OFTEN && all.len() < ENTRIES {
            all.push(Failing {
                task: name.to_owned(),
                criterion: criterion.to_owned(),
                times,
                owner: record.owner.clone(),
            });
        }
    }
    if all == before {
        return Some(());
    }
    write(&path, &all)
}

/// Returns how many FAILs that count stand after the last other verdict on the criterion.
fn in_a_row(tx: &Transaction<'_>, task: &TaskId, criterion: &str) -> Option<usize> {
    let records = tx.records(task).ok()?;
    let retractions = tx.store().of_kinds(&["retract"]).ok()?;
    let verdicts = records.of_task(task.as_str()).rev();
    let times = verdicts
        .filter(|record| record.criterion.as_deref() == Some(criterion))
        .filter(|record| retractions.retracted_by(record).is_none())
        .filter_map(|record| match &record.body {
            Body::Verdict(verdict) => Some(verdict.outcome),
            _ => None,
        })
        .take_while(|outcome| *outcome == Outcome::Fail)
        .count();
    Some(times)
}

fn path(operator: &Path) -> PathBuf {
    operator.join("failing")
}

fn read(path: &Path) -> Vec<Failing> {
    let text = || {
        let mut text = String::new();
        let file = File::open(path).ok()?;
        file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        file.take(LIMIT).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    };
    text().unwrap_or_default()
}

fn write(path: &Path, all: &[Failing]) -> Option<()> {
    let mut file = tempfile::Builder::new()
        .prefix(".new-")
        .tempfile_in(path.parent()?)
        .ok()?;
    let text = serde_json::to_string(all).ok()?;
    file.write_all(text.as_bytes()).ok()?;
    file.persist(path).ok().map(drop)
}
