//! What is judged: a verdict, or an attempt that came to none.

use std::collections::HashSet;

use super::{Request, asked::signing};
use crate::{
    ledger::Ledger,
    model::{
        Attempt, AttemptResult, Body, Class, Delta, Digest, Evidence, Oid, Outcome as Said, Record,
        RecordId, ReplicaId, RepoPath, Run, Verdict,
    },
    verify::{
        Rank,
        report::Judged,
        state::{Axes, Definition, Result as Outcome},
    },
};

/// A verdict or an attempt, and what is made of it.
pub(super) struct Candidate<'a> {
    pub(super) record: &'a Record,
    pub(super) body: What<'a>,
    pub(super) criterion: &'a str,
    pub(super) task: &'a str,
    pub(super) head: bool,
    pub(super) counts: bool,
    pub(super) axes: Axes,
    pub(super) rank: Rank,
}

#[derive(Clone, Copy)]
pub(super) enum What<'a> {
    Verdict(&'a Verdict),
    Attempt(&'a Attempt),
}

impl What<'_> {
    pub(super) fn head(self) -> Option<Oid> {
        match self {
            Self::Verdict(verdict) => verdict.head,
            Self::Attempt(attempt) => attempt.head,
        }
    }

    /// Returns the digests of what is kept beside the record.
    pub(super) fn kept(self) -> Vec<Digest> {
        let (evidence, delta) = match self {
            Self::Verdict(verdict) => (Some(&verdict.evidence), verdict.delta.as_ref()),
            Self::Attempt(attempt) => (attempt.evidence.as_ref(), None),
        };
        let evidence = evidence.and_then(Evidence::stored).map(|kept| kept.digest);
        let delta = match delta {
            Some(Delta::Stored { digest, .. }) => Some(*digest),
            Some(Delta::Inline(_) | Delta::Omitted { .. }) | None => None,
        };
        evidence.into_iter().chain(delta).collect()
    }

    pub(super) fn class(self) -> Class {
        match self {
            Self::Verdict(verdict) => verdict.class,
            Self::Attempt(_) => Class::Captured,
        }
    }
}

impl Candidate<'_> {
    pub(super) fn judged(&self, request: &Request<'_>) -> Judged {
        Judged {
            id: self.record.id,
            task: self.task.to_owned(),
            criterion: self.criterion.to_owned(),
            class: self.rank,
            time: self.record.time,
            tested_at: self.body.head(),
            axes: self.axes.clone(),
            signing: signing(request, self.criterion),
            head: self.head,
            counts: self.counts,
        }
    }

    pub(super) fn paths(&self) -> Vec<RepoPath> {
        match self.body {
            What::Attempt(attempt) if !attempt.paths.is_empty() => attempt.paths.clone(),
            _ => self.axes.binding.paths().to_vec(),
        }
    }

    pub(super) fn details(&self) -> Vec<String> {
        let mut details = Vec::new();
        if let Definition::Tainted(taints) = &self.axes.definition {
            details.extend(taints.iter().cloned());
        } else if let What::Verdict(verdict) = self.body {
            details.extend(verdict.taints.iter().map(|taint| format!("taint {taint}")));
        }
        if let What::Verdict(verdict) = self.body
            && verdict
                .run
                .as_ref()
                .is_some_and(|run| run.control == Some(0))
        {
            details.push("control-passed".to_owned());
        }
        details
    }
}

/// What a run's records have in common: clone, task, criterion, and when it began.
pub(super) type Begun<'a> = (Option<ReplicaId>, &'a str, &'a str, u64);

pub(super) fn begun<'a>(record: &'a Record, run: Option<&Run>) -> Option<Begun<'a>> {
    let (task, criterion) = (record.task.as_deref()?, record.criterion.as_deref()?);
    Some((record.replica, task, criterion, run?.started))
}

/// Returns the runs that came to a verdict, and the attempts that others end.
pub(super) fn ended(ledger: &Ledger) -> (HashSet<Begun<'_>>, HashSet<RecordId>) {
    let (mut runs, mut attempts) = (HashSet::new(), HashSet::new());
    for record in ledger.iter() {
        match &record.body {
            Body::Attempt(attempt) => attempts.extend(attempt.of),
            Body::Verdict(verdict) => runs.extend(begun(record, verdict.run.as_ref())),
            _ => {}
        }
    }
    (runs, attempts)
}

pub(super) fn said(outcome: Said) -> Outcome {
    match outcome {
        Said::Pass => Outcome::Pass,
        Said::Fail => Outcome::Failed,
        Said::Moot => Outcome::Moot,
    }
}

pub(super) fn came_to(result: Option<AttemptResult>) -> Outcome {
    match result {
        Some(AttemptResult::Skip) => Outcome::Skipped,
        Some(AttemptResult::Error) => Outcome::Error,
        Some(AttemptResult::Mutated) => Outcome::Mutated,
        Some(AttemptResult::Timeout) => Outcome::TimedOut,
        Some(AttemptResult::Interrupt) => Outcome::Interrupted,
        None => Outcome::Unfinished,
    }
}
