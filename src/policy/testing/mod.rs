//! Policies put to their tests: cases, what the cases leave untouched, and small changes they miss.

mod coverage;
mod mutation;

use std::{sync::Arc, time::Instant};

pub use coverage::{Coverage, Gap, coverage};
pub use mutation::{Mutation, mutation};

use super::{
    case::{Case, Expect, Given},
    event::Level,
    load::Policies,
    ruling::{Ruling, Verdict},
    watch::{self, Limits},
};

/// Tests of policies that stand in a file of their own.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The policies they are put to; all of them where there is none.
    pub policies: Option<Vec<String>>,
    pub cases: Vec<Case>,
}

/// What came of a test.
#[derive(Clone, Debug)]
pub struct Tested {
    /// The policy, or `all`.
    pub policy: String,
    pub case: Case,
    pub result: TestResult,
    /// What was decided, in a test of one event.
    pub got: Option<Level>,
    pub micros: u64,
}

/// Whether a test passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestResult {
    Passed,
    /// What was expected and what came, a line each.
    Failed(Vec<String>),
    Skipped(String),
}

/// Plays a scenario in a real repository; the lines say what is not as expected.
pub type Scenario<'a> = &'a dyn Fn(&Arc<Policies>, &Case) -> Result<Vec<String>, String>;

/// Runs the tests that `wanted` chooses by the policy's id and the test's name.
pub fn run(
    policies: &Policies,
    wanted: &dyn Fn(&str, &str) -> bool,
    scenario: Option<Scenario<'_>>,
) -> Vec<Tested> {
    let mut results = Vec::new();
    for (name, subject, case) in subjects(policies) {
        if !wanted(&name, &case.name) {
            continue;
        }
        let started = Instant::now();
        let mut got = None;
        let result = match (&case.given, scenario) {
            (Given::Event { .. }, _) => put(&subject, case, &mut got),
            (Given::Scenario(_), None) => {
                TestResult::Skipped("a scenario needs a repository".to_owned())
            }
            (Given::Scenario(_), Some(play)) => match play(&subject, case) {
                Ok(lines) if lines.is_empty() => TestResult::Passed,
                Ok(lines) => TestResult::Failed(lines),
                Err(reason) => TestResult::Failed(vec![reason]),
            },
        };
        results.push(Tested {
            policy: name,
            case: case.clone(),
            result,
            got,
            micros: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
        });
    }
    results
}

/// Returns every test with the policies it is put to.
fn subjects(policies: &Policies) -> Vec<(String, Arc<Policies>, &Case)> {
    let mut found = Vec::new();
    for policy in policies.list() {
        let subject = Arc::new(policies.only(&[policy.id.as_str()]));
        for case in &policy.cases {
            found.push((policy.id.clone(), Arc::clone(&subject), case));
        }
    }
    for suite in policies.suites() {
        let (name, subject) = match &suite.policies {
            None => ("all".to_owned(), Arc::new(policies.clone())),
            Some(ids) => {
                let texts: Vec<&str> = ids.iter().map(String::as_str).collect();
                (ids.join(", "), Arc::new(policies.only(&texts)))
            }
        };
        for case in &suite.cases {
            found.push((name.clone(), Arc::clone(&subject), case));
        }
    }
    found
}

fn put(policies: &Arc<Policies>, case: &Case, got: &mut Option<Level>) -> TestResult {
    let facts = match case.given.facts() {
        Ok(facts) => facts,
        Err(error) => return TestResult::Failed(vec![error]),
    };
    let ruling = watch::judge(policies, vec![facts], Limits::patient());
    *got = Some(ruling.level());
    let lines = differences(&case.expect, &ruling);
    match lines.is_empty() {
        true => TestResult::Passed,
        false => TestResult::Failed(lines),
    }
}

/// Returns in what a ruling is not as expected.
pub fn differences(expect: &Expect, ruling: &Ruling) -> Vec<String> {
    let mut lines = Vec::new();
    let level = ruling.level();
    if let Some(wanted) = expect.decision.filter(|wanted| *wanted != level) {
        let said: Vec<&str> = ruling.speaking().map(|o| o.policy.as_str()).collect();
        let by = if said.is_empty() {
            String::new()
        } else {
            format!(" by {}", said.join(", "))
        };
        lines.push(format!("expected {wanted}, got {level}{by}"));
        lines.extend(unexpected(ruling));
    }
    if let Some(wanted) = &expect.policies {
        let matched: Vec<&str> = ruling
            .outcomes
            .iter()
            .filter(|outcome| outcome.verdict == Verdict::Match)
            .map(|outcome| outcome.policy.as_str())
            .collect();
        if matched != wanted.iter().map(String::as_str).collect::<Vec<_>>() {
            lines.push(format!(
                "expected the policies {}, got {}",
                listed(wanted),
                listed(&matched)
            ));
        }
    }
    if let Some(wanted) = &expect.restore {
        let restores = ruling.restores();
        if restores != *wanted {
            let (wanted, got) = (listed(wanted), listed(&restores));
            lines.push(format!("expected to restore {wanted}, got {got}"));
        }
    }
    lines.extend(texts(expect, ruling));
    lines
}

fn texts(expect: &Expect, ruling: &Ruling) -> Vec<String> {
    let mut lines = Vec::new();
    let message = format!("{}\n{}", ruling.reason(), ruling.context());
    for wanted in &expect.message {
        if !message.contains(wanted.as_str()) {
            lines.push(format!(
                "the message lacks '{wanted}': {}",
                message.trim().replace('\n', "⏎")
            ));
        }
    }
    let errors: Vec<&String> = ruling
        .outcomes
        .iter()
        .filter_map(|outcome| match &outcome.verdict {
            Verdict::Error(error) => Some(error),
            _ => None,
        })
        .collect();
    match &expect.error {
        Some(wanted) if !errors.iter().any(|error| error.contains(wanted.as_str())) => {
            lines.push(format!("expected an error with '{wanted}', got {errors:?}"));
        }
        None if expect.decision.is_none_or(|level| level == Level::Nothing) => {
            lines.extend(errors.iter().map(|error| format!("error: {error}")));
        }
        _ => {}
    }
    lines
}

/// Returns why the policies came to what they came to.
fn unexpected(ruling: &Ruling) -> Vec<String> {
    ruling
        .outcomes
        .iter()
        .map(|outcome| {
            let (word, reason) = match &outcome.verdict {
                Verdict::Match => ("match", ""),
                Verdict::Pass(reason) => ("pass", reason.as_str()),
                Verdict::Skip(reason) => ("skip", reason.as_str()),
                Verdict::Unknown(reason) => ("unknown", reason.as_str()),
                Verdict::Error(reason) => ("error", reason.as_str()),
            };
            format!("  {word} {}: {reason}", outcome.policy)
        })
        .collect()
}

fn listed<T: AsRef<str>>(items: &[T]) -> String {
    let texts: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    format!("[{}]", texts.join(", "))
}

#[cfg(test)]
mod tests;
