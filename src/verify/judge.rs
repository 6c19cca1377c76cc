//! Every record against the target, each on its own axes; then each required criterion by its best
//! record.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{
    Binding, Error, Finding, Grade,
    binding::{self, Claim, Near},
    integrity,
    report::{Judged, Policy, Report, Requirement, Severity, State},
    requirements::{Criterion, Flaky, Ratchet, Requirements},
    sign,
    source::Source,
    state::{Authenticity, Axes, Definition, Integrity, Result as Outcome, Signing},
};
use crate::{
    ledger::{Ledger, State as Standing},
    model::{
        Attempt, AttemptResult, Body, Class, Digest, Oid, Outcome as Said, Record, RecordId,
        ReplicaId, Run, Verdict,
    },
    policy::Globs,
    store::Store,
};

/// How many records of one criterion, and of all, are looked at closely.
const NEAR: usize = 20;
const NEAR_ALL: usize = 100;

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
    /// The repository's root commits; empty where they are not known.
    pub roots: &'a [Oid],
    /// The records the base has had already: they are judged at their own time.
    pub accepted: &'a HashSet<RecordId>,
}

/// A verdict or an attempt, and what is made of it.
struct Candidate<'a> {
    record: &'a Record,
    body: What<'a>,
    criterion: &'a str,
    task: &'a str,
    head: bool,
    counts: bool,
    axes: Axes,
}

#[derive(Clone, Copy)]
enum What<'a> {
    Verdict(&'a Verdict),
    Attempt(&'a Attempt),
}

impl What<'_> {
    fn head(self) -> Option<Oid> {
        match self {
            Self::Verdict(verdict) => verdict.head,
            Self::Attempt(attempt) => attempt.head,
        }
    }

    fn class(self) -> Class {
        match self {
            Self::Verdict(verdict) => verdict.class,
            Self::Attempt(_) => Class::Captured,
        }
    }
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
        findings: Vec::new(),
    };
    let mut candidates = judge.candidates()?;
    judge.deepen(&mut candidates)?;
    judge.outcomes(&mut candidates);
    judge.authenticate(&mut candidates)?;
    judge.accept(&mut candidates);
    judge.ledger_findings(&candidates)?;
    let requirements = judge.requirements(&candidates);
    judge.undecided(&candidates, &requirements);
    let mut findings = judge.findings;
    findings.extend(super::context::findings(&source, request)?);
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

struct Judge<'a> {
    ledger: &'a Ledger,
    request: &'a Request<'a>,
    source: &'a Source<'a>,
    stored: &'a dyn Fn(&Digest) -> Option<Vec<u8>>,
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
        let heads = heads(self.ledger);
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
                counts: self.counts(record),
                axes: self.axes(body)?,
            });
        }
        Ok(found)
    }

    /// A FAIL and an attempt cannot be taken back; a PASS for an older opening counts for nothing.
    fn counts(&self, record: &Record) -> bool {
        let passed =
            matches!(&record.body, Body::Verdict(verdict) if verdict.outcome != Said::Fail);
        let retracted = passed && self.ledger.retracted_by(record).is_some();
        !retracted && self.ledger.answers_current(record)
    }

    fn axes(&self, body: What<'_>) -> Result<Axes, Error> {
        let (binding, integrity, result) = match body {
            What::Verdict(verdict) => {
                let claim = Claim::of(verdict, self.source);
                let binding = binding::bind(&claim, self.source)?;
                let integrity = integrity::check(verdict, self)?;
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

    fn criterion(&self, name: &str) -> Option<&'a Criterion> {
        self.request.requirements?.criteria.get(name)
    }

    fn accepts(&self, name: &str) -> &'a [Grade] {
        const PLAIN: &[Grade] = &[Grade::Exact, Grade::Tree];
        self.criterion(name)
            .map_or(PLAIN, |criterion| &criterion.accept)
    }

    /// Looks closely at the newest records of criteria that nothing accepted binds.
    fn deepen(&self, candidates: &mut [Candidate<'a>]) -> Result<(), Error> {
        let met: BTreeSet<&str> = candidates
            .iter()
            .filter(|one| one.counts && one.axes.result == Outcome::Pass)
            .filter(|one| {
                let grade = one.axes.binding.grade();
                grade.is_some_and(|grade| self.accepts(one.criterion).contains(&grade))
            })
            .map(|one| one.criterion)
            .collect();
        let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
        let mut places = Vec::new();
        let mut near = Vec::new();
        for (at, one) in candidates.iter().enumerate().rev() {
            let What::Verdict(verdict) = one.body else {
                continue;
            };
            let bound = one.axes.binding.grade().is_some();
            let count = taken.entry(one.criterion).or_default();
            let enough = *count >= NEAR || near.len() >= NEAR_ALL;
            if bound || enough || met.contains(one.criterion) {
                continue;
            }
            *count += 1;
            places.push(at);
            near.push(Near {
                claim: Claim::of(verdict, self.source),
                entries: binding::entries(verdict, self.stored),
                inputs: self.inputs(one.criterion),
                binding: one.axes.binding.clone(),
            });
        }
        binding::deepen(&mut near, self.source)?;
        for (at, near) in places.into_iter().zip(near) {
            candidates[at].axes.binding = near.binding;
        }
        Ok(())
    }

    fn inputs(&self, criterion: &str) -> Option<&'a Globs> {
        self.criterion(criterion)?.inputs.as_ref()
    }

    /// Sets what records say together: contested, flaky, shrunk.
    fn outcomes(&self, candidates: &mut [Candidate<'a>]) {
        let contested = contested(self.ledger);
        let mut failed: HashSet<Attempted> = HashSet::new();
        let mut tests: HashMap<&str, u64> = HashMap::new();
        for one in candidates.iter_mut() {
            let What::Verdict(verdict) = one.body else {
                continue;
            };
            if !one.counts {
                continue;
            }
            if contested.contains(&(one.task, one.criterion)) && one.head {
                one.axes.result = Outcome::Contested;
                continue;
            }
            let tried = Attempted::of(one.criterion, verdict);
            if one.axes.result == Outcome::Failed {
                failed.extend(tried.clone());
            }
            let criterion = self.criterion(one.criterion);
            let passed = one.axes.result == Outcome::Pass;
            let allowed = criterion.is_some_and(|criterion| criterion.flaky == Flaky::Allow);
            if passed && !allowed && tried.is_some_and(|tried| failed.contains(&tried)) {
                one.axes.result = Outcome::Flaky;
            }
            let Some(ran) = verdict.run.as_ref().and_then(|run| run.tests) else {
                if passed && criterion.is_some_and(|criterion| criterion.min_tests.is_some()) {
                    one.axes.result = Outcome::Shrunk;
                }
                continue;
            };
            let ran = ran.passed + ran.failed;
            let before = tests.insert(one.criterion, ran);
            if passed && criterion.is_some_and(|criterion| has_shrunk(criterion, ran, before)) {
                one.axes.result = Outcome::Shrunk;
            }
        }
    }

    fn authenticate(&self, candidates: &mut [Candidate<'a>]) -> Result<(), Error> {
        let signatures = sign::signatures(self.ledger);
        for one in candidates.iter_mut() {
            let bound = one.axes.binding.grade().is_some();
            let known = self.request.accepted.contains(&one.record.id);
            let at = match known {
                true => one.record.time,
                false => self.request.now,
            };
            let found = signatures
                .get(&one.record.id)
                .map_or(&[][..], Vec::as_slice);
            one.axes.authenticity = match bound {
                true => self.request.trust.check(one.record, found, at)?,
                false => Authenticity::Unasked,
            };
        }
        Ok(())
    }

    /// Sets what the criterion says of each record: definition, grade, age.
    fn accept(&self, candidates: &mut [Candidate<'a>]) {
        for one in candidates.iter_mut() {
            let grade = one.axes.binding.grade();
            one.axes.accepted =
                grade.is_some_and(|grade| self.accepts(one.criterion).contains(&grade));
            if one.body.class() == Class::Imported {
                one.axes.definition = Definition::WeakEvidence;
            }
            if let (Some(criterion), What::Verdict(verdict)) =
                (self.criterion(one.criterion), one.body)
            {
                one.axes.definition = definition(criterion, verdict);
                let age = self.request.now.saturating_sub(one.record.time);
                one.axes.expired = criterion
                    .max_age
                    .is_some_and(|limit| u128::from(age) > limit.as_millis());
            }
        }
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

    /// Returns the criteria that must be met, with what is known of each.
    fn requirements(&mut self, candidates: &[Candidate<'a>]) -> Vec<Requirement> {
        let mut names: Vec<String> = match self.request.requirements {
            Some(file) => {
                let name = self.request.policy.name.as_deref().unwrap_or_default();
                file.of_ref(name).into_iter().map(str::to_owned).collect()
            }
            None => {
                let all: BTreeSet<&str> = candidates.iter().map(|one| one.criterion).collect();
                all.into_iter().map(str::to_owned).collect()
            }
        };
        let only = self.request.only;
        names.retain(|name| only.is_empty() || only.contains(name));
        if names.is_empty() {
            self.findings.push(self.nothing(candidates));
        }
        names
            .iter()
            .map(|name| self.requirement(name, candidates))
            .collect()
    }

    fn nothing(&self, candidates: &[Candidate<'a>]) -> Finding {
        let name = self.request.policy.name.as_deref();
        let message = match (self.request.requirements, name) {
            _ if !self.request.only.is_empty() => {
                format!("no criterion is named '{}'", self.request.only.join("', '"))
            }
            (Some(_), Some(name)) => format!("the requirements ask nothing of '{name}'"),
            (Some(_), None) => "no ref is known whose requirements apply".to_owned(),
            (None, _) if candidates.is_empty() => "the ledger holds no verdict".to_owned(),
            (None, _) => "there is nothing to check".to_owned(),
        };
        Finding::new("vacuous", Severity::Unchecked, message)
    }

    fn requirement(&self, name: &str, candidates: &[Candidate<'a>]) -> Requirement {
        let criterion = self.criterion(name);
        let speaks =
            |one: &&Candidate<'a>| one.criterion == name || self.implies(one.criterion, name);
        let best = candidates
            .iter()
            .filter(speaks)
            .filter(|one| one.counts)
            .max_by_key(|one| self.worth(one));
        let exempt = self
            .request
            .requirements
            .and_then(|file| file.exemption(name, self.request.now));
        let headline = best.map(|one| one.axes.headline(self.signing(one)));
        let state = match (headline, exempt) {
            (Some(headline), _) if headline.is_fresh() => State::Met(headline),
            (_, Some(exempt)) => State::Exempt {
                reason: exempt.reason.clone(),
                until: exempt.until.clone(),
            },
            (Some(headline), None) => State::Unmet(headline),
            (None, None) => State::Missing,
        };
        let task = best.map_or("<task>", |one| one.task);
        Requirement {
            criterion: name.to_owned(),
            remedy: (!state.is_met()).then(|| remedy(task, name, criterion)),
            state,
            record: best.map(|one| one.record.id),
            task: best.map(|one| one.task.to_owned()),
            class: best.map(|one| one.body.class()),
            tested_at: best.and_then(|one| one.body.head()),
            paths: best.map(Candidate::paths).unwrap_or_default(),
            details: best.map(|one| one.details()).unwrap_or_default(),
        }
    }

    fn implies(&self, other: &str, name: &str) -> bool {
        self.criterion(other)
            .is_some_and(|criterion| criterion.implies.iter().any(|implied| implied == name))
    }

    fn signing(&self, one: &Candidate<'_>) -> Signing {
        signing(self.request, one.criterion)
    }

    /// Best binding first, then what the criterion takes at all, then heads, then the newest.
    fn worth(&self, one: &Candidate<'_>) -> (u8, bool, bool, (u64, RecordId)) {
        let grade = one.axes.binding.grade().map(|grade| grade as u8);
        let bound = match (grade, one.axes.accepted) {
            (Some(grade), true) => 40 - grade,
            (Some(grade), false) => 30 - grade,
            (None, _) => match &one.axes.binding {
                Binding::Undecidable => 9,
                Binding::DirtyUnmatched(_) => 8,
                Binding::Stale(_) => 7,
                Binding::Mutated => 6,
                Binding::Unreachable(_) => 5,
                Binding::UnknownCommit => 4,
                Binding::Unbound | Binding::Bound(_) => 3,
            },
        };
        let answered =
            one.axes.definition == Definition::Answered || one.axes.result != Outcome::Pass;
        let trusted = self.signing(one) == Signing::Optional || one.axes.authenticity.is_trusted();
        (bound, answered && trusted, one.head, one.record.order())
    }

    /// Reports what this clone cannot tell, as far as it matters.
    fn undecided(&mut self, candidates: &[Candidate<'a>], requirements: &[Requirement]) {
        // What exact and tree bind is known from ids alone: nothing unseen could bind better.
        let bound = |state: &State| match state {
            State::Unmet(headline) => headline.grade.is_some() && headline.word != "weak-binding",
            State::Met(_) | State::Exempt { .. } => true,
            State::Missing => false,
        };
        let settled: HashSet<&str> = requirements
            .iter()
            .filter(|requirement| bound(&requirement.state))
            .map(|requirement| requirement.criterion.as_str())
            .collect();
        let asked: HashSet<&str> = requirements
            .iter()
            .map(|requirement| requirement.criterion.as_str())
            .collect();
        let lenient = self.request.requirements.is_some();
        let matters = |one: &&Candidate<'a>| {
            one.axes.binding == Binding::Undecidable
                && one.counts
                && asked.contains(one.criterion)
                && !(lenient && settled.contains(one.criterion))
        };
        let hidden: Vec<&Candidate<'a>> = candidates.iter().filter(matters).collect();
        if let Some(newest) = hidden.last() {
            let message = format!(
                "{} records were made at commits that this clone was not given, the newest for \
                 task '{}'",
                hidden.len(),
                newest.task
            );
            let finding = Finding::new("undecidable", Severity::Undecided, message);
            self.findings.push(
                finding
                    .record(newest.record.id)
                    .remedy(fetch_line(self.source)),
            );
        }
        let unmet: HashSet<&str> = requirements
            .iter()
            .filter(|requirement| !requirement.state.is_met())
            .map(|requirement| requirement.criterion.as_str())
            .collect();
        let mut unverifiable = Vec::new();
        for one in candidates {
            let waits = one.counts
                && self.signing(one) == Signing::Asked
                && asked.contains(one.criterion)
                && unmet.contains(one.criterion);
            if let (true, Authenticity::Unverifiable(why)) = (waits, &one.axes.authenticity) {
                let message = format!("a signature cannot be checked: {why}");
                let finding = Finding::new("sig-unverifiable", Severity::Undecided, message);
                unverifiable.push(finding.record(one.record.id));
            }
        }
        self.findings.extend(unverifiable);
    }
}

impl integrity::Ground for Judge<'_> {
    fn source(&self) -> &Source<'_> {
        self.source
    }

    fn entries(&self, verdict: &Verdict) -> Option<Vec<crate::model::DeltaEntry>> {
        binding::entries(verdict, self.stored)
    }

    fn roots(&self) -> &[Oid] {
        self.request.roots
    }
}

impl Candidate<'_> {
    fn judged(&self, request: &Request<'_>) -> Judged {
        Judged {
            id: self.record.id,
            task: self.task.to_owned(),
            criterion: self.criterion.to_owned(),
            class: self.body.class(),
            time: self.record.time,
            tested_at: self.body.head(),
            axes: self.axes.clone(),
            signing: signing(request, self.criterion),
            head: self.head,
            counts: self.counts,
        }
    }

    fn paths(&self) -> Vec<crate::model::RepoPath> {
        match self.body {
            What::Attempt(attempt) if !attempt.paths.is_empty() => attempt.paths.clone(),
            _ => self.axes.binding.paths().to_vec(),
        }
    }

    fn details(&self) -> Vec<String> {
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

/// One command on one source.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Attempted {
    criterion: String,
    subject: Oid,
    argv: Vec<String>,
    definition: Option<String>,
}

impl Attempted {
    fn of(criterion: &str, verdict: &Verdict) -> Option<Self> {
        Some(Self {
            criterion: criterion.to_owned(),
            subject: verdict.subject?,
            argv: verdict.run.as_ref()?.argv.clone(),
            definition: verdict.definition.clone(),
        })
    }
}

/// What a run's records have in common: clone, task, criterion, and when it began.
type Begun<'a> = (Option<ReplicaId>, &'a str, &'a str, u64);

fn begun<'a>(record: &'a Record, run: Option<&Run>) -> Option<Begun<'a>> {
    let (task, criterion) = (record.task.as_deref()?, record.criterion.as_deref()?);
    Some((record.replica, task, criterion, run?.started))
}

/// Returns the runs that came to a verdict, and the attempts that others end.
fn ended(ledger: &Ledger) -> (HashSet<Begun<'_>>, HashSet<RecordId>) {
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

fn heads(ledger: &Ledger) -> HashSet<RecordId> {
    let mut heads = HashSet::new();
    for task in ledger.tasks() {
        for standing in ledger.standings(task) {
            heads.extend(standing.heads.iter().map(|record| record.id));
        }
    }
    heads
}

fn contested(ledger: &Ledger) -> HashSet<(&str, &str)> {
    let mut found = HashSet::new();
    for task in ledger.tasks() {
        for standing in ledger.standings(task) {
            if standing.state == Standing::Contested {
                found.insert((task, standing.criterion));
            }
        }
    }
    found
}

fn said(outcome: Said) -> Outcome {
    match outcome {
        Said::Pass => Outcome::Pass,
        Said::Fail => Outcome::Failed,
        Said::Moot => Outcome::Moot,
    }
}

fn came_to(result: Option<AttemptResult>) -> Outcome {
    match result {
        Some(AttemptResult::Skip) => Outcome::Skipped,
        Some(AttemptResult::Error) => Outcome::Error,
        Some(AttemptResult::Mutated) => Outcome::Mutated,
        Some(AttemptResult::Timeout) => Outcome::TimedOut,
        Some(AttemptResult::Interrupt) => Outcome::Interrupted,
        None => Outcome::Unfinished,
    }
}

fn has_shrunk(criterion: &Criterion, ran: u64, before: Option<u64>) -> bool {
    let few = criterion.min_tests.is_some_and(|least| ran < least);
    let fell = criterion.ratchet == Ratchet::On && before.is_some_and(|before| ran < before);
    few || fell
}

fn definition(criterion: &Criterion, verdict: &Verdict) -> Definition {
    if let Some(definition) = &verdict.definition
        && *definition != criterion.definition
    {
        return Definition::PolicyChanged;
    }
    let asked = !criterion.arg.is_empty();
    if let (true, Some(run)) = (asked, &verdict.run)
        && run.argv != criterion.arg
    {
        return Definition::WrongCommand;
    }
    if verdict.class < criterion.min_class || verdict.class == Class::Imported {
        return Definition::WeakEvidence;
    }
    let denied = |taint: &&String| {
        let name = taint.split(':').next().unwrap_or(taint);
        criterion.deny_taint.iter().any(|denied| denied == name)
    };
    let taints: Vec<String> = verdict.taints.iter().filter(denied).cloned().collect();
    match taints.is_empty() {
        true => Definition::Answered,
        false => Definition::Tainted(taints),
    }
}

fn signing(request: &Request<'_>, criterion: &str) -> Signing {
    let asked = request.requirements.is_some_and(|file| {
        let named = file.criteria.get(criterion);
        file.sign.required || named.is_some_and(|criterion| !criterion.signers.is_empty())
    });
    match asked {
        true => Signing::Asked,
        false => Signing::Optional,
    }
}

fn remedy(task: &str, name: &str, criterion: Option<&Criterion>) -> String {
    let command = match criterion {
        Some(criterion) if !criterion.arg.is_empty() => {
            let words: Vec<String> = criterion.arg.iter().map(|arg| quoted(arg)).collect();
            words.join(" ")
        }
        _ => "<command>".to_owned(),
    };
    format!(
        "git operator run {} {} -- {command}",
        quoted(task),
        quoted(name)
    )
}

fn quoted(text: &str) -> String {
    match text.starts_with('<') {
        true => text.to_owned(),
        false => crate::gate::quoted(text),
    }
}

/// Returns the command that brings what is missing.
pub(super) fn fetch_line(source: &Source<'_>) -> String {
    match source.repo.is_shallow() {
        true => "git fetch --unshallow".to_owned(),
        false => "git fetch --refetch --no-filter".to_owned(),
    }
}
