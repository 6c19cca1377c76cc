//! What the tests of a policy never show.

use super::super::{
    builtin::Answer,
    case::{Case, Given},
    cel::{Expression, meter},
    judge::{Detail, Judge},
    load::Policies,
    policy::{Condition, Policy, Scope},
    watch,
};

/// Something that no test of a policy shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    pub policy: String,
    pub missing: String,
}

/// What the tests of the policies show, and what they leave out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    pub gaps: Vec<Gap>,
    /// How many things there are to show: a match, no match, and both values of each part.
    pub total: usize,
}

/// A part of a condition and the values it had.
struct Part {
    text: String,
    held: bool,
    failed: bool,
}

/// Returns what the tests of each policy leave out: a match, no match, and for each part joined by
/// `&&`, `||`, `all` or `any` both of its values.
pub fn coverage(policies: &Policies) -> Coverage {
    let covered = || {
        let own = |policy: &&Policy| policy.enabled && policy.scope != Scope::BuiltIn;
        let mut coverage = Coverage::default();
        for policy in policies.list().iter().filter(own) {
            let always = usize::from(matches!(policy.when, Condition::Always));
            coverage.total += 2 - always + 2 * texts(&policy.when).len();
            coverage.gaps.extend(gaps(policies, policy));
        }
        coverage
    };
    watch::on_deep_stack(covered).unwrap_or_default()
}

/// Returns the tests that are put to a policy.
pub(super) fn cases<'p>(policies: &'p Policies, policy: &'p Policy) -> Vec<&'p Case> {
    let suites = policies.suites().iter().filter(|suite| {
        let ids = suite.policies.as_ref();
        ids.is_none_or(|ids| ids.contains(&policy.id))
    });
    let shared = suites.flat_map(|suite| &suite.cases);
    policy
        .cases
        .iter()
        .chain(shared)
        .filter(|case| matches!(case.given, Given::Event { .. }))
        .collect()
}

fn gaps(policies: &Policies, policy: &Policy) -> Vec<Gap> {
    let cases = cases(policies, policy);
    let has_scenario = policy
        .cases
        .iter()
        .any(|case| matches!(case.given, Given::Scenario(_)));
    let mut parts = vec![Part {
        text: String::new(),
        held: false,
        failed: false,
    }];
    parts.extend(texts(&policy.when).into_iter().map(|text| Part {
        text,
        held: false,
        failed: false,
    }));
    for case in cases {
        let Ok(facts) = case.given.facts() else {
            continue;
        };
        if !policy.on.contains(&facts.name()) {
            continue;
        }
        let judge = Judge::new(&facts, &policies.patterns, Detail::Outcome);
        let whole = judge.holds(policy);
        let values = std::iter::once(whole).chain(values(&policy.when, &judge));
        for (part, value) in parts.iter_mut().zip(values) {
            part.held |= value == Some(true);
            part.failed |= value == Some(false);
        }
    }
    let gap = |missing| Gap {
        policy: policy.id.clone(),
        missing,
    };
    let mut found = Vec::new();
    for (number, part) in parts.into_iter().enumerate() {
        if number == 0 {
            let always = matches!(policy.when, Condition::Always);
            if !part.held && !has_scenario {
                found.push(gap("no test in which it matches".to_owned()));
            }
            if !part.failed && !always {
                found.push(gap("no test in which it does not match".to_owned()));
            }
            continue;
        }
        if !part.held && !has_scenario {
            found.push(gap(format!("no test in which this holds: {}", part.text)));
        }
        if !part.failed {
            found.push(gap(format!("no test in which this fails: {}", part.text)));
        }
    }
    found
}

/// Returns the parts of a condition that others are joined with.
fn texts(condition: &Condition) -> Vec<String> {
    match condition {
        Condition::Always | Condition::Builtin(_) => Vec::new(),
        Condition::Cel(expression) => {
            let operands = expression.operands();
            if operands.len() < 2 {
                return Vec::new();
            }
            operands.into_iter().map(|operand| operand.source).collect()
        }
        Condition::All(parts) | Condition::Any(parts) => parts.iter().flat_map(inner).collect(),
        Condition::Not(part) => texts(part),
    }
}

fn inner(condition: &Condition) -> Vec<String> {
    match condition {
        Condition::Builtin(builtin) => vec![format!("builtin {}", builtin.spec.name)],
        Condition::Cel(expression) if expression.operands().len() < 2 => {
            vec![expression.source.clone()]
        }
        other => texts(other),
    }
}

/// Returns the values of the parts, in the order of `texts`.
fn values(condition: &Condition, judge: &Judge<'_>) -> Vec<Option<bool>> {
    match condition {
        Condition::Always | Condition::Builtin(_) => Vec::new(),
        Condition::Cel(expression) => {
            let operands = expression.operands();
            if operands.len() < 2 {
                return Vec::new();
            }
            operands
                .iter()
                .map(|operand| value(operand, judge))
                .collect()
        }
        Condition::All(parts) | Condition::Any(parts) => parts
            .iter()
            .flat_map(|part| inner_values(part, judge))
            .collect(),
        Condition::Not(part) => values(part, judge),
    }
}

fn value(expression: &Expression, judge: &Judge<'_>) -> Option<bool> {
    meter::begin();
    judge.is_true(expression).ok()
}

fn inner_values(condition: &Condition, judge: &Judge<'_>) -> Vec<Option<bool>> {
    match condition {
        Condition::Builtin(builtin) => vec![match builtin.check(judge.facts) {
            Answer::Match(_) => Some(true),
            Answer::NoMatch(_) => Some(false),
            Answer::Unknown(_) => None,
        }],
        Condition::Cel(expression) if expression.operands().len() < 2 => {
            vec![value(expression, judge)]
        }
        other => values(other, judge),
    }
}
