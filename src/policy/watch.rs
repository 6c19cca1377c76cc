//! Judging on a thread whose stack is known, with somebody watching the time.
//!
//! The crate that evaluates expressions can neither be interrupted nor bounded. A policy that takes
//! too long is left behind on its thread, which ends with the process; the next one goes on on
//! another.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    facts::Facts,
    judge::{self, Detail, Judge},
    load::Policies,
    ruling::{Outcome, Ruling},
};

/// What evaluation needs at the depth an expression may have, several times over.
const STACK: usize = 16 << 20;

/// How long judging may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// One policy at one event.
    pub policy: Duration,
    /// All of a hook call.
    pub total: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            policy: Duration::from_millis(100),
            total: Duration::from_millis(500),
        }
    }
}

impl Limits {
    /// Returns limits for a person who waits.
    pub fn patient() -> Self {
        Self {
            policy: Duration::from_secs(10),
            total: Duration::from_secs(60),
        }
    }
}

/// Judges the events of one hook call, in the order given.
pub fn judge(policies: &Arc<Policies>, facts: Vec<Facts>, limits: Limits) -> Ruling {
    run(policies, facts, limits, Detail::Outcome)
}

/// Judges as `judge` does, and tells the value of every part of every condition.
pub fn trace(policies: &Arc<Policies>, facts: Vec<Facts>, limits: Limits) -> Ruling {
    run(policies, facts, limits, Detail::Parts)
}

/// Runs `work` on a thread with the stack that expressions need; `None` when it panics.
pub fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, work);
        thread.ok().and_then(|thread| thread.join().ok())
    })
}

/// A policy and the event it is judged at, by their places.
type Step = (usize, usize);

struct Job {
    policies: Arc<Policies>,
    facts: Arc<Vec<Facts>>,
    steps: Arc<Vec<Step>>,
    detail: Detail,
}

fn run(policies: &Arc<Policies>, facts: Vec<Facts>, limits: Limits, detail: Detail) -> Ruling {
    let mut outcomes: Vec<Outcome> = facts
        .iter()
        .flat_map(|facts| {
            let broken = policies.broken.iter();
            broken.filter_map(|broken| judge::broken(broken, facts))
        })
        .collect();
    let steps = steps(policies, &facts);
    if !steps.is_empty() {
        let job = Arc::new(Job {
            policies: Arc::clone(policies),
            facts: Arc::new(facts),
            steps: Arc::new(steps),
            detail,
        });
        outcomes.extend(watched(&job, limits));
    }
    Ruling::new(outcomes)
}

fn steps(policies: &Policies, facts: &[Facts]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (event, facts) in facts.iter().enumerate() {
        for (policy, candidate) in policies.list.iter().enumerate() {
            if candidate.on.contains(&facts.name) {
                steps.push((event, policy));
            }
        }
    }
    steps
}

fn watched(job: &Arc<Job>, limits: Limits) -> Vec<Outcome> {
    let deadline = Instant::now() + limits.total;
    let mut outcomes: Vec<Outcome> = Vec::new();
    let mut answers = start(job, 0, Vec::new());
    while outcomes.len() < job.steps.len() {
        let left = deadline.saturating_duration_since(Instant::now());
        let next = match &answers {
            Some(answers) => answers.recv_timeout(left.min(limits.policy)),
            None => Err(RecvTimeoutError::Disconnected),
        };
        let reason = match next {
            Ok(outcome) => {
                outcomes.push(outcome);
                continue;
            }
            Err(RecvTimeoutError::Timeout) => {
                format!(
                    "it took longer than {} ms",
                    left.min(limits.policy).as_millis()
                )
            }
            Err(RecvTimeoutError::Disconnected) => "an internal error".to_owned(),
        };
        outcomes.push(stopped(job, outcomes.len(), &reason));
        answers = if left.is_zero() {
            None
        } else {
            start(job, outcomes.len(), restored(&outcomes))
        };
    }
    outcomes
}

fn stopped(job: &Job, step: usize, reason: &str) -> Outcome {
    let (event, policy) = job.steps[step];
    judge::stopped(&job.facts[event], &job.policies.list[policy], reason)
}

fn restored(outcomes: &[Outcome]) -> Vec<String> {
    outcomes
        .iter()
        .filter_map(|outcome| outcome.restore.clone())
        .flatten()
        .collect()
}

/// Starts judging at step `from`; `None` when no thread can be had.
fn start(job: &Arc<Job>, from: usize, restored: Vec<String>) -> Option<Receiver<Outcome>> {
    let (sender, receiver) = channel();
    let job = Arc::clone(job);
    thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || steps_from(&job, from, restored, &sender))
        .ok()
        .map(|_| receiver)
}

fn steps_from(job: &Job, from: usize, mut restored: Vec<String>, sender: &Sender<Outcome>) {
    let mut current: Option<(usize, Judge<'_>)> = None;
    for (event, policy) in &job.steps[from.min(job.steps.len())..] {
        if current.as_ref().is_none_or(|(at, _)| at != event) {
            let mut judge = Judge::new(&job.facts[*event], &job.policies.patterns, job.detail);
            if !restored.is_empty() {
                judge.set_restored(&restored);
            }
            current = Some((*event, judge));
        }
        let Some((_, judge)) = &mut current else {
            return;
        };
        let outcome = judge.policy(&job.policies.list[*policy], &mut restored);
        if sender.send(outcome).is_err() {
            return;
        }
    }
}
