//! Small changes to a policy that its tests ought to notice.

use super::{
    super::{
        builtin::Builtin,
        load::Policies,
        policy::{Condition, Policy, Scope},
        ruling::Ruling,
    },
    coverage::cases,
    differences,
};
use crate::policy::{
    judge::{Detail, Judge},
    watch,
};

/// How the tests of a policy do against its mutants.
#[derive(Clone, Debug)]
pub struct Mutation {
    pub policy: String,
    pub tried: usize,
    /// The changes that no test notices.
    pub survivors: Vec<String>,
}

/// Changes one operator, literal or parameter of each policy at a time and runs its tests.
pub fn mutation(policies: &Policies) -> Vec<Mutation> {
    let mutations = || {
        let own = |policy: &&Policy| policy.enabled && policy.scope != Scope::BuiltIn;
        let enabled = policies.list().iter().filter(own);
        enabled
            .map(|policy| mutate(policies, policy))
            .collect::<Vec<_>>()
    };
    watch::on_deep_stack(mutations).unwrap_or_default()
}

fn mutate(policies: &Policies, policy: &Policy) -> Mutation {
    let mutants = mutants(&policy.when);
    let tried = mutants.len();
    let survives = |when: Condition| {
        let mutant = Policy {
            when,
            ..policy.clone()
        };
        !cases(policies, policy).iter().any(|case| {
            let Ok(facts) = case.given.facts() else {
                return false;
            };
            let outcomes = if mutant.on.contains(&facts.name()) {
                let mut judge = Judge::new(&facts, &policies.patterns, Detail::Outcome);
                vec![judge.policy(&mutant, &mut Vec::new())]
            } else {
                Vec::new()
            };
            !differences(&case.expect, &Ruling::new(outcomes)).is_empty()
        })
    };
    Mutation {
        policy: policy.id.clone(),
        tried,
        survivors: mutants
            .into_iter()
            .filter(|(_, when)| survives(when.clone()))
            .map(|(text, _)| text)
            .collect(),
    }
}

/// Returns the condition with one change each, and what the change is.
fn mutants(condition: &Condition) -> Vec<(String, Condition)> {
    match condition {
        Condition::Always => Vec::new(),
        Condition::Cel(expression) => expression
            .mutants()
            .into_iter()
            .map(|mutant| (mutant.source.clone(), Condition::Cel(mutant)))
            .collect(),
        Condition::Builtin(builtin) => builtin
            .params
            .mutants()
            .into_iter()
            .map(|(change, params)| {
                let spec = builtin.spec;
                let text = format!("builtin {} with {change}", spec.name);
                (text, Condition::Builtin(Builtin { spec, params }))
            })
            .collect(),
        Condition::All(parts) => {
            let mut found = vec![("all → any".to_owned(), Condition::Any(parts.clone()))];
            found.extend(inside(parts, Condition::All));
            found
        }
        Condition::Any(parts) => {
            let mut found = vec![("any → all".to_owned(), Condition::All(parts.clone()))];
            found.extend(inside(parts, Condition::Any));
            found
        }
        Condition::Not(part) => {
            let mut found = vec![("not dropped".to_owned(), Condition::clone(part))];
            found.extend(
                mutants(part)
                    .into_iter()
                    .map(|(text, part)| (text, Condition::Not(Box::new(part)))),
            );
            found
        }
    }
}

fn inside(parts: &[Condition], make: fn(Vec<Condition>) -> Condition) -> Vec<(String, Condition)> {
    let mut found = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        for (text, mutant) in mutants(part) {
            let mut parts = parts.to_vec();
            parts[at] = mutant;
            found.push((text, make(parts)));
        }
    }
    found
}
