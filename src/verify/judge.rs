//! Every record against the target, each on its own axes; then each required criterion by its best
//! record.

mod asked;
mod candidate;
mod near;
mod require;
mod together;

use std::{
    cell::OnceCell,
    collections::{BTreeSet, HashMap, HashSet},
};

use super::{
    Binding, Error, Finding, Grade, Rank,
    binding::{self, Claim},
    integrity,
    report::{Policy, Report, Requirement, Severity},
    requirements::{Criterion, Requirements},
    sign,
    source::Source,
    state::{Authenticity, Axes, Definition, Integrity},
};
use crate::{
    ledger::{Ledger, Standing},
    model::{
        Attempt, AttemptResult, Body, Digest, Oid, Outcome as Said, Record, RecordId, Verdict,
    },
    store::{Held, Store},
};

use candidate::{Candidate, What, begun, came_to, ended, said};

/// What is to be judged.
pub struct Request<'a> {
    pub target: Option<Oid>,
    pub policy: Policy,
    pub requirements: Option<&'a Requirements>,
    /// Only these criteria; empty for all.
    pub only: &'a [String],
    /// ms since 1970, by the real clock.
    pub now: u64,
    pub trust: &'a sign::Trust,
    /// Finds the repository's root commits; none where they are not known.
    pub roots: &'a dyn Fn() -> Vec<Oid>,
    /// The records the base has had already: they are judged at their own time.
    pub accepted: &'a HashSet<RecordId>,
}

/// Judges every record of a ledger.
pub fn judge(store: &Store, ledger: &Ledger, request: &Request<'_>) -> Result<Report, Error> {
    let source = Source::new(store.repo(), request.target)?;
    let stored = |digest: &Digest| store.evidence(digest).ok().flatten();
    let mut judge = Judge {
        ledger,
        request,
        source: &source,
        stored: &stored,
        standings: ledger
            .tasks()
            .flat_map(|task| {
                ledger
                    .standings(task)
                    .into_iter()
                    .map(move |one| (task, one))
            })
            .collect(),
        roots: OnceCell::new(),
        findings: Vec::new(),
    };
    let mut candidates = judge.candidates()?;
    judge.deepen(&mut candidates)?;
    judge.outcomes(&mut candidates);
    judge.repeats(&mut candidates);
    judge.authenticate(&mut candidates)?;
    judge.accept(&mut candidates);
    judge.ledger_findings(&candidates)?;
    let around = super::context::findings(&source, request)?;
    let requirements = judge.requirements(&candidates, &guards(&around));
    judge.output_findings(store, &candidates, &requirements)?;
    judge.undecided(&candidates, &requirements);
    let mut findings = judge.findings;
    findings.extend(around);
    settle(&mut findings, &requirements);
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Ok(Report {
        target: source
            .target
            .as_ref()
            .map(|target| (target.commit, target.trees.subject)),
        policy: request.policy.clone(),
        requirements,
        records: candidates.iter().map(|one| one.judged(request)).collect(),
        findings,
    })
}

/// Returns the criteria that settle a change which is guarded.
fn guards(findings: &[Finding]) -> BTreeSet<String> {
    let criteria = findings.iter().filter_map(|one| one.criterion.clone());
    criteria.collect()
}

/// What a criterion settles once it is met is worth a look and no more, in every form of report.
fn settle(findings: &mut [Finding], requirements: &[Requirement]) {
    let met = |name: &String| {
        let is = |one: &Requirement| one.criterion == *name && one.state.is_met();
        requirements.iter().any(is)
    };
    for finding in findings.iter_mut() {
        if finding.criterion.as_ref().is_some_and(met) {
            finding.severity = finding.severity.min(Severity::Warning);
        }
    }
}

struct Judge<'a> {
    ledger: &'a Ledger,
    request: &'a Request<'a>,
    source: &'a Source<'a>,
    stored: &'a dyn Fn(&Digest) -> Option<Vec<u8>>,
    /// What the heads of each task come to.
    standings: Vec<(&'a str, Standing<'a>)>,
    roots: OnceCell<Vec<Oid>>,
    findings: Vec<Finding>,
}

impl<'a> Judge<'a> {
    /// Returns every verdict, and every attempt that came to none, oldest first.
    fn candidates(&mut self) -> Result<Vec<Candidate<'a>>, Error> {
        let (runs, attempts) = ended(self.ledger);
        let is_over = |record: &Record, attempt: &Attempt| {
            let run = begun(record, attempt.run.as_ref());
            attempts.contains(&record.id) || run.is_some_and(|run| runs.contains(&run))
        };
        let heads = self.heads();
        let openings: HashMap<&str, Vec<&Record>> = self
            .ledger
            .tasks()
            .map(|task| (task, self.ledger.openings(task)))
            .collect();
        let mut found = Vec::new();
        for record in self.ledger.iter() {
            let body = match &record.body {
                Body::Verdict(verdict) => What::Verdict(verdict),
                Body::Attempt(attempt) if attempt.result.is_some() => What::Attempt(attempt),
                Body::Attempt(attempt) if !is_over(record, attempt) => What::Attempt(attempt),
                _ => continue,
            };
            let (Some(task), Some(criterion)) = (&record.task, &record.criterion) else {
                continue;
            };
            found.push(Candidate {
                record,
                body,
                criterion,
                task,
                head: heads.contains(&record.id),
                counts: self.counts(record, &openings[task.as_str()]),
                axes: self.axes(body, criterion)?,
                rank: Rank::Of(body.class()),
            });
        }
        Ok(found)
    }

    fn heads(&self) -> HashSet<RecordId> {
        let heads = self.standings.iter().flat_map(|(_, one)| &one.heads);
        heads.map(|record| record.id).collect()
    }

    /// A FAIL and an attempt cannot be taken back; a PASS for an older opening counts for nothing.
    fn counts(&self, record: &Record, openings: &[&Record]) -> bool {
        let passed =
            matches!(&record.body, Body::Verdict(verdict) if verdict.outcome != Said::Fail);
        let retracted = passed && self.ledger.retracted_by(record).is_some();
        !retracted && self.ledger.answers_current(record, openings)
    }

    fn axes(&self, body: What<'_>, criterion: &str) -> Result<Axes, Error> {
        let (binding, integrity, result) = match body {
            What::Verdict(verdict) => {
                let claim = Claim::of(verdict, self.source);
                let binding = binding::bind(&claim, self.source)?;
                let integrity = integrity::check(verdict, criterion, self)?;
                (binding, integrity, said(verdict.outcome))
            }
            What::Attempt(attempt) => {
                let binding = match attempt.result {
                    Some(AttemptResult::Mutated) => Binding::Mutated,
                    _ => self.bind_attempt(attempt)?,
                };
                (binding, None, came_to(attempt.result))
            }
        };
        Ok(Axes {
            integrity,
            authenticity: Authenticity::Unasked,
            definition: Definition::Answered,
            binding,
            accepted: false,
            result,
            expired: false,
        })
    }

    fn bind_attempt(&self, attempt: &Attempt) -> Result<Binding, Error> {
        let Some(stamp) = &attempt.stamp else {
            return Ok(Binding::Unbound);
        };
        let claim = Claim::new(stamp, (attempt.head, attempt.subject), self.source);
        Ok(binding::bind(&claim, self.source)?)
    }

    pub(super) fn criterion(&self, name: &str) -> Option<&'a Criterion> {
        self.request.requirements?.criteria.get(name)
    }

    /// Who takes the same change by its text takes what says more of the same change.
    fn accepts(&self, name: &str, grade: Grade) -> bool {
        let accept = self.accepted(name);
        let more = grade >= Grade::Merge && accept.iter().any(|weaker| *weaker > grade);
        more || accept.contains(&grade)
    }

    fn accepted(&self, name: &str) -> &'a [Grade] {
        const PLAIN: &[Grade] = &[Grade::Exact, Grade::Tree];
        self.criterion(name)
            .map_or(PLAIN, |criterion| &criterion.accept)
    }

    fn ledger_findings(&mut self, candidates: &[Candidate<'a>]) -> Result<(), Error> {
        for line in self.ledger.quarantined() {
            self.findings.push(Finding::new(
                "tampered",
                Severity::Integrity,
                format!("{}: {}", line.place, line.reason),
            ));
        }
        for one in candidates {
            if let Some(integrity) = one.axes.integrity {
                let message = integrity::message(integrity, one.record);
                let word = integrity.as_str();
                self.findings
                    .push(Finding::new(word, Severity::Integrity, message).record(one.record.id));
            } else if one.axes.authenticity == Authenticity::Forged {
                let message = "its signature does not hold";
                self.findings.push(
                    Finding::new("forged", Severity::Integrity, message).record(one.record.id),
                );
            }
        }
        for record in self.ledger.iter() {
            if integrity::has_gap(record, self.ledger) {
                let message = integrity::message(Integrity::Gap, record);
                self.findings
                    .push(Finding::new("gap", Severity::Integrity, message).record(record.id));
            }
        }
        let newer = self.ledger.newer().count();
        if newer > 0 {
            let message = format!("{newer} newer records: upgrade git-operator");
            self.findings
                .push(Finding::new("newer", Severity::Undecided, message));
        }
        Ok(())
    }

    /// Reports what is kept for the records that decide and has not the digest they name.
    fn output_findings(
        &mut self,
        store: &Store,
        candidates: &[Candidate<'a>],
        requirements: &[Requirement],
    ) -> Result<(), Error> {
        let decide: HashSet<RecordId> = requirements.iter().filter_map(|one| one.record).collect();
        for one in candidates
            .iter()
            .filter(|one| decide.contains(&one.record.id))
        {
            for digest in one.body.kept() {
                if store.held(&digest).is_ok_and(|held| held == Held::Others) {
                    let message = format!(
                        "what is kept for record {} is not what it names: {digest}",
                        one.record.id.short()
                    );
                    let finding = Finding::new("tampered", Severity::Integrity, message);
                    self.findings.push(finding.record(one.record.id));
                }
            }
        }
        Ok(())
    }
}

impl<'a> integrity::Ground<'a> for Judge<'a> {
    fn source(&self) -> &Source<'a> {
        self.source
    }

    fn entries(&self, verdict: &Verdict) -> Option<Vec<crate::model::DeltaEntry>> {
        binding::entries(verdict, self.stored)
    }

    fn may_excuse(&self, definition: &str, criterion: &str, code: u64) -> bool {
        self.criterion(criterion)
            .filter(|known| known.definition == definition)
            .is_none_or(|known| {
                known
                    .ok_exit
                    .iter()
                    .any(|ok| u64::try_from(*ok) == Ok(code))
            })
    }

    fn roots(&self) -> &[Oid] {
        self.roots.get_or_init(self.request.roots)
    }
}
