//! Whether a record says of itself what can be true.

use super::{
    Error,
    source::{Seen, Source},
    state::Integrity,
};
use crate::{
    ledger::Ledger,
    model::{
        Class, Delta, DeltaEntry, Oid, Outcome, Record, RecordId, Run, Stamp, TreeState, Verdict,
    },
};

/// What a record is held against.
pub(super) trait Ground<'a> {
    fn source(&self) -> &Source<'a>;
    /// The delta's entries, where they can be read.
    fn entries(&self, verdict: &Verdict) -> Option<Vec<DeltaEntry>>;
    /// Says whether a definition may count this exit code as success: it says so, or is not known here.
    fn may_excuse(&self, definition: &str, criterion: &str, code: u64) -> bool;
    /// The root commits of this repository; empty where they are not known.
    fn roots(&self) -> &[Oid];
}

/// Returns what is wrong with a verdict, worst first.
pub(super) fn check(
    verdict: &Verdict,
    criterion: &str,
    ground: &dyn Ground<'_>,
) -> Result<Option<Integrity>, Error> {
    if verdict.class == Class::Imported {
        return Ok(None);
    }
    if is_forged(verdict, ground)? {
        return Ok(Some(Integrity::Forged));
    }
    let excused = |definition: &str, code| ground.may_excuse(definition, criterion, code);
    if contradicts(verdict, &excused) {
        return Ok(Some(Integrity::Contradicted));
    }
    Ok(is_foreign(verdict, ground).then_some(Integrity::Foreign))
}

/// The delta, applied to what it starts from, must give the subject.
fn is_forged(verdict: &Verdict, ground: &dyn Ground<'_>) -> Result<bool, Error> {
    let (Some(subject), Some(entries)) = (verdict.subject, ground.entries(verdict)) else {
        return Ok(false);
    };
    let source = ground.source();
    let root = match verdict.head.map(|head| source.trees(head)) {
        None => None,
        Some(Seen::There(trees)) if entries.is_empty() => return Ok(trees.subject != subject),
        Some(Seen::There(trees)) => Some(trees.root),
        Some(Seen::Gone | Seen::Hidden) => return Ok(false),
    };
    match source.repo.apply_delta(root, &entries) {
        Ok(made) => Ok(made != Some(subject)),
        Err(error) if error.is_absence() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Says whether a definition may count an exit code as success.
type Excused<'a> = dyn Fn(&str, u64) -> bool + 'a;

fn contradicts(verdict: &Verdict, excused: &Excused<'_>) -> bool {
    let stamped = match &verdict.stamp {
        Stamp::Commit { id, tree } => {
            verdict.head.is_some_and(|head| head.to_hex() != *id)
                || *tree == TreeState::Clean && has_delta(verdict)
        }
        Stamp::NoCommit | Stamp::NoVcs => verdict.head.is_some(),
    };
    let run = match (&verdict.run, verdict.class) {
        (None, Class::Captured | Class::Isolated | Class::Controlled) => true,
        (None, Class::Imported | Class::Asserted) => false,
        (Some(run), _) => ran_otherwise(verdict, run, excused),
    };
    stamped || run
}

fn has_delta(verdict: &Verdict) -> bool {
    match &verdict.delta {
        None => false,
        Some(Delta::Inline(entries)) => !entries.is_empty(),
        Some(Delta::Stored { count, .. } | Delta::Omitted { count }) => *count > 0,
    }
}

fn ran_otherwise(verdict: &Verdict, run: &Run, excused: &Excused<'_>) -> bool {
    let failed = run.tests.is_some_and(|tests| tests.failed > 0);
    // Exit codes that count as success are the definition's to name.
    let succeeded = match (run.exit, &verdict.definition) {
        (Some(0), _) => true,
        (Some(code), Some(definition)) => excused(definition, code),
        (Some(_) | None, _) => false,
    };
    let outcome = match verdict.outcome {
        Outcome::Pass => !succeeded || failed || run.timed_out || run.signal.is_some(),
        Outcome::Fail => run.exit == Some(0) && !failed,
        Outcome::Moot => true,
    };
    let moved = run.after.is_some() && run.after != verdict.subject;
    let control = verdict.class == Class::Controlled && matches!(run.control, None | Some(0));
    outcome || moved || control
}

/// A commit that is here was made here, also when its root was rewritten since.
fn is_foreign(verdict: &Verdict, ground: &dyn Ground<'_>) -> bool {
    let Some(theirs) = &verdict.repo else {
        return false;
    };
    let here = |head| matches!(ground.source().trees(head), Seen::There(_));
    if verdict.head.is_some_and(here) {
        return false;
    }
    if theirs.is_empty() {
        return false;
    }
    let roots = ground.roots();
    !roots.is_empty() && !theirs.iter().any(|root| roots.contains(root))
}

/// Says whether a record names others that the ledger should hold and does not.
pub(super) fn has_gap(record: &Record, ledger: &Ledger) -> bool {
    let known =
        |id: RecordId| ledger.get(&id).is_some() || ledger.newer().any(|newer| newer.id == id);
    let mut named = record.after.iter().copied().chain(record.opened.id());
    !named.all(known)
}

/// Returns what a finding says.
pub(super) fn message(integrity: Integrity, record: &Record) -> String {
    let why = match integrity {
        Integrity::Forged => "its delta does not make its subject",
        Integrity::Contradicted => "it says two things that cannot both be true",
        Integrity::Gap => "a record it names is not in the ledger",
        Integrity::Foreign => "it was made in another repository",
    };
    let task = record.task.as_deref().unwrap_or_default();
    format!("record {} of '{task}': {why}", record.id.short())
}
