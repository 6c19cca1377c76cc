use std::collections::{BTreeMap, BTreeSet};

use super::{Candidate, Judge, candidate::What};
use crate::{
    policy::Globs,
    verify::{
        Error, Grade,
        binding::{self, Claim, Near},
        state::Result as Outcome,
    },
};

/// How many records of one criterion, and of all, are looked at closely.
const NEAR: usize = 20;

const NEAR_ALL: usize = 100;

impl<'a> Judge<'a> {
    /// Looks closely at the newest records of criteria that nothing accepted binds.
    pub(super) fn deepen(&self, candidates: &mut [Candidate<'a>]) -> Result<(), Error> {
        let met: BTreeSet<&str> = candidates
            .iter()
            .filter(|one| one.counts && one.axes.result == Outcome::Pass)
            .filter(|one| {
                let grade = one.axes.binding.grade();
                grade.is_some_and(|grade| self.accepts(one.criterion, grade))
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
                by_text: self.accepted(one.criterion).contains(&Grade::Patch),
                binding: one.axes.binding.clone(),
            });
        }
        binding::deepen(&mut near, self.source)?;
        for (at, near) in places.into_iter().zip(near) {
            candidates[at].axes.binding = near.binding;
        }
        Ok(())
    }

    pub(super) fn inputs(&self, criterion: &str) -> Option<&'a Globs> {
        self.criterion(criterion)?.inputs.as_ref()
    }
}
