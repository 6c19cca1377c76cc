use std::collections::{HashMap, HashSet};

use super::{Candidate, Judge, candidate::What};
use crate::{
    ledger::State as Standing,
    model::{Class, Oid, Outcome as Said, RecordId, Verdict},
    verify::{
        Rank,
        requirements::{Criterion, Flaky, Ratchet},
        state::Result as Outcome,
    },
};

impl<'a> Judge<'a> {
    /// Sets what records say together: contested, flaky, shrunk.
    pub(super) fn outcomes(&self, candidates: &mut [Candidate<'a>]) {
        let contested: HashSet<(&str, &str)> = self
            .standings
            .iter()
            .filter(|(_, one)| one.state == Standing::Contested)
            .map(|(task, one)| (*task, one.criterion))
            .collect();
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
                let counted = tests.contains_key(one.criterion);
                if passed && criterion.is_some_and(|criterion| asks_for_tests(criterion, counted)) {
                    one.axes.result = Outcome::Shrunk;
                }
                continue;
            };
            // Another definition asked for another suite.
            if let (Some(criterion), Some(definition)) = (criterion, &verdict.definition)
                && criterion.definition != *definition
            {
                continue;
            }
            let ran = ran.passed + ran.failed;
            let before = tests.get(one.criterion).copied();
            let shrunk = criterion.is_some_and(|criterion| has_shrunk(criterion, ran, before));
            if passed && shrunk {
                one.axes.result = Outcome::Shrunk;
            }
            // Neither a suite that shrank nor one that failed lowers what the next is held to.
            let least = match passed && !shrunk {
                true => ran,
                false => ran.max(before.unwrap_or(0)),
            };
            tests.insert(one.criterion, least);
        }
    }

    /// Sets what runs say of the records they repeat on the same source.
    pub(super) fn repeats(&self, candidates: &mut [Candidate<'a>]) {
        let places: HashMap<RecordId, usize> = candidates
            .iter()
            .enumerate()
            .map(|(at, one)| (one.record.id, at))
            .collect();
        for at in 0..candidates.len() {
            let one = &candidates[at];
            let What::Verdict(verdict) = one.body else {
                continue;
            };
            let Some(of) = verdict.of.and_then(|of| places.get(&of).copied()) else {
                continue;
            };
            if !one.counts || verdict.class < Class::Isolated || !repeats(one, &candidates[of]) {
                continue;
            }
            match one.axes.result {
                Outcome::Pass => candidates[at].rank = Rank::Reproduced,
                Outcome::Failed => {
                    candidates[at].axes.result = Outcome::Contradicted;
                    candidates[of].axes.result = Outcome::Contradicted;
                }
                _ => {}
            }
        }
    }
}

/// Says whether a verdict speaks of what `other` passed on.
fn repeats(one: &Candidate<'_>, other: &Candidate<'_>) -> bool {
    let (What::Verdict(verdict), What::Verdict(of)) = (one.body, other.body) else {
        return false;
    };
    let argv = |verdict: &Verdict| verdict.run.as_ref().map(|run| run.argv.clone());
    of.outcome == Said::Pass
        && verdict.subject.is_some()
        && argv(verdict) == argv(of)
        && (one.task, one.criterion, verdict.subject) == (other.task, other.criterion, of.subject)
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

/// Says whether a run that counted no tests ran too few.
fn asks_for_tests(criterion: &Criterion, counted_before: bool) -> bool {
    criterion.min_tests.is_some() || criterion.ratchet == Ratchet::On && counted_before
}

fn has_shrunk(criterion: &Criterion, ran: u64, before: Option<u64>) -> bool {
    let few = criterion.min_tests.is_some_and(|least| ran < least);
    let fell = criterion.ratchet == Ratchet::On && before.is_some_and(|before| ran < before);
    few || fell
}
