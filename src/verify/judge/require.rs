//! Each required criterion by its best record.

use std::collections::{BTreeSet, HashSet};

use super::{Candidate, Judge, asked::signing};
use crate::{
    model::RecordId,
    verify::{
        Binding, Finding, Rank,
        report::{Requirement, Severity, State},
        requirements::Criterion,
        source::Source,
        state::{Authenticity, Definition, Result as Outcome, Signing},
    },
};

impl<'a> Judge<'a> {
    /// Returns the criteria that must be met, those of `guards` among them, with what is known of each.
    pub(super) fn requirements(
        &mut self,
        candidates: &[Candidate<'a>],
        guards: &BTreeSet<String>,
    ) -> Vec<Requirement> {
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
        let unasked = guards.iter().filter(|guard| !names.contains(guard));
        let unasked: Vec<String> = unasked.cloned().collect();
        names.extend(unasked);
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
        let exempt = self.request.requirements.and_then(|file| {
            let tasks = self.tasks_of(name, candidates);
            file.exemption(name, &tasks, self.request.now)
        });
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
            remedy: (!state.is_met()).then(|| remedy((task, name), criterion, &state)),
            state,
            record: best.map(|one| one.record.id),
            task: best.map(|one| one.task.to_owned()),
            class: best.map(|one| one.rank),
            tested_at: best.and_then(|one| one.body.head()),
            paths: best.map(Candidate::paths).unwrap_or_default(),
            details: best.map(|one| one.details()).unwrap_or_default(),
        }
    }

    /// Returns the tasks the target was made for: those of sound records that bind to it, signed where
    /// the criterion asks for it, or anybody could name the one that is exempt.
    fn tasks_of(&self, name: &str, candidates: &[Candidate<'a>]) -> BTreeSet<&'a str> {
        let asked = signing(self.request, name) == Signing::Asked;
        let signed = |one: &&Candidate<'a>| match &one.axes.authenticity {
            Authenticity::Trusted(principals) => {
                let criterion = self.criterion(name);
                criterion.is_none_or(|criterion| criterion.takes(principals))
            }
            _ => false,
        };
        candidates
            .iter()
            .filter(|one| one.counts && one.axes.accepted && one.axes.integrity.is_none())
            .filter(|one| !asked || signed(one))
            .map(|one| one.task)
            .collect()
    }

    fn implies(&self, other: &str, name: &str) -> bool {
        self.criterion(other)
            .is_some_and(|criterion| criterion.implies.iter().any(|implied| implied == name))
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
                Binding::Stale(_) => 8,
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
    pub(super) fn undecided(&mut self, candidates: &[Candidate<'a>], requirements: &[Requirement]) {
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

fn remedy((task, name): (&str, &str), criterion: Option<&Criterion>, state: &State) -> String {
    if criterion.is_some_and(|criterion| criterion.min_class == Rank::Reproduced) {
        return "git operator verify --rerun".to_owned();
    }
    let command = match criterion {
        Some(criterion) if !criterion.arg.is_empty() => {
            let words: Vec<String> = criterion.arg.iter().map(|arg| quoted(arg)).collect();
            words.join(" ")
        }
        _ => "<command>".to_owned(),
    };
    // What holds here and fails elsewhere would hold here again.
    let apart = match state {
        State::Unmet(headline) if headline.word == "contradicted" => "--isolated ",
        _ => "",
    };
    format!(
        "git operator run {apart}{} {} -- {command}",
        quoted(task),
        quoted(name)
    )
}

fn quoted(text: &str) -> String {
    match text.starts_with('<') {
        true => text.to_owned(),
        false => crate::model::shell_quoted(text),
    }
}

/// Returns the command that brings what is missing.
fn fetch_line(source: &Source<'_>) -> String {
    match source.repo.is_shallow() {
        true => "git fetch --unshallow".to_owned(),
        false => "git fetch --refetch --no-filter".to_owned(),
    }
}
