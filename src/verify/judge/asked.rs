use std::time::Duration;

use super::{Candidate, Judge, Request, candidate::What};
use crate::{
    model::{Class, Outcome, Run, Verdict},
    verify::{
        Error, Rank,
        requirements::Criterion,
        sign,
        state::{Authenticity, Definition, Signing},
    },
};

impl<'a> Judge<'a> {
    pub(super) fn authenticate(&self, candidates: &mut [Candidate<'a>]) -> Result<(), Error> {
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
            let wanted = self.criterion(one.criterion);
            if let (Some(criterion), Authenticity::Trusted(principals)) =
                (wanted, &one.axes.authenticity)
                && !criterion.takes(principals)
            {
                one.axes.authenticity = Authenticity::UntrustedSigner;
            }
        }
        Ok(())
    }

    /// Sets what the criterion says of each record: definition, grade, age.
    pub(super) fn accept(&self, candidates: &mut [Candidate<'a>]) {
        for one in candidates.iter_mut() {
            let grade = one.axes.binding.grade();
            one.axes.accepted = grade.is_some_and(|grade| self.accepts(one.criterion, grade));
            if one.rank == Rank::Of(Class::Imported) {
                one.axes.definition = Definition::WeakEvidence;
            }
            if let (None, What::Verdict(verdict)) = (self.criterion(one.criterion), one.body)
                && needs_excuse(verdict)
            {
                one.axes.definition = Definition::PolicyChanged;
            }
            if let (Some(criterion), What::Verdict(verdict)) =
                (self.criterion(one.criterion), one.body)
            {
                one.axes.definition = definition(criterion, verdict, one.rank);
                one.axes.expired = criterion
                    .max_age
                    .is_some_and(|limit| is_older(one.record.time, limit, self.request.now));
            }
        }
    }

    pub(super) fn signing(&self, one: &Candidate<'_>) -> Signing {
        signing(self.request, one.criterion)
    }
}

/// Says whether what was made at `time` is too old; what claims to be of the future never grows old and
/// so is, but for what clocks differ by.
fn is_older(time: u64, limit: Duration, now: u64) -> bool {
    const SKEW: u64 = 24 * 60 * 60 * 1_000;
    let age = now.saturating_sub(time);
    u128::from(age) > limit.as_millis() || time > now.saturating_add(SKEW)
}

/// Says whether a PASS rests on a definition that counts its exit code as success.
fn needs_excuse(verdict: &Verdict) -> bool {
    let failed = |run: &Run| run.exit != Some(0);
    verdict.outcome == Outcome::Pass && verdict.run.as_ref().is_some_and(failed)
}

fn definition(criterion: &Criterion, verdict: &Verdict, rank: Rank) -> Definition {
    if let Some(definition) = &verdict.definition
        && *definition != criterion.definition
    {
        return Definition::PolicyChanged;
    }
    let asked = !criterion.arg.is_empty();
    if let (true, Some(run)) = (asked, &verdict.run)
        && (run.argv != criterion.arg || !run.cwd.is_empty())
    {
        return Definition::WrongCommand;
    }
    if rank < criterion.min_class || verdict.class == Class::Imported {
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

pub(super) fn signing(request: &Request<'_>, criterion: &str) -> Signing {
    let asked = request.requirements.is_some_and(|file| {
        let named = file.criteria.get(criterion);
        file.sign.required || named.is_some_and(|criterion| !criterion.signers.is_empty())
    });
    match asked {
        true => Signing::Asked,
        false => Signing::Optional,
    }
}
