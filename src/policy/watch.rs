//! Judging on a thread whose stack is known, with somebody watching the time.
//!
//! The steps of an expression are counted (`cel::meter`), so that it ends on every machine alike; the
//! time is for what no step is counted of. It is the processor's: on a busy machine nothing is taken
//! for endless because it had to wait. The crate that evaluates expressions cannot be interrupted: a
//! policy that takes too long is left behind on its thread, which ends with the process; the next one
//! goes on on another.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use nix::time::{ClockId, clock_gettime};

use super::{
    facts::Facts,
    judge::{self, Detail, Judge},
    load::Policies,
    policy::Scope,
    ruling::{Outcome, Ruling},
};

/// What evaluation needs at the depth an expression may have, several times over.
const STACK: usize = 16 << 20;

/// How many times as long as it may compute a policy may wait for the processor.
const PATIENCE: u32 = 8;
/// How often it is looked how much was computed, at least.
const GLANCE: Duration = Duration::from_millis(5);

/// How long judging may take, in time of the processor.
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
            policy: Duration::from_millis(150),
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
    let all = Lap::begin();
    let mut lap = Lap::begin();
    let mut outcomes: Vec<Outcome> = Vec::new();
    let mut answers = start(job, 0, Vec::new());
    while outcomes.len() < job.steps.len() {
        let left = all.left(limits.total);
        let next = match &answers {
            Some(answers) => answers.recv_timeout(lap.left(limits.policy).min(left)),
            None if left.is_zero() => Err(RecvTimeoutError::Timeout),
            None => Err(RecvTimeoutError::Disconnected),
        };
        let reason = match next {
            Ok(outcome) => {
                outcomes.push(outcome);
                lap = Lap::begin();
                continue;
            }
            Err(RecvTimeoutError::Timeout) if all.left(limits.total).is_zero() => format!(
                "the policies together took longer than {} ms",
                limits.total.as_millis()
            ),
            Err(RecvTimeoutError::Timeout) if lap.left(limits.policy).is_zero() => {
                format!("it took longer than {} ms", limits.policy.as_millis())
            }
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => "an internal error".to_owned(),
        };
        let left = all.left(limits.total);
        lap = Lap::begin();
        outcomes.push(stopped(job, outcomes.len(), &reason));
        answers = if left.is_zero() {
            None
        } else {
            start(job, outcomes.len(), restored(&outcomes))
        };
    }
    outcomes
}

/// When something began, on the clock and in time of the processor.
#[derive(Clone, Copy)]
struct Lap {
    began: Instant,
    computed: Option<Duration>,
}

impl Lap {
    fn begin() -> Self {
        Self {
            began: Instant::now(),
            computed: computed(),
        }
    }

    /// Returns how long may be waited until it is looked again; zero where `limit` is reached.
    fn left(&self, limit: Duration) -> Duration {
        let waited = self.began.elapsed();
        let spent = match (self.computed, computed()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => waited,
        };
        let over = spent >= limit || waited >= limit * PATIENCE;
        match over {
            true => Duration::ZERO,
            false => limit.saturating_sub(spent).max(GLANCE),
        }
    }
}

/// Returns what this process has computed so far.
fn computed() -> Option<Duration> {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).ok()?;
    Some(Duration::from(time))
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

impl Job {
    /// Says whether all that is judged is part of the program, of which is known that it ends.
    fn is_own(&self) -> bool {
        let policies = &self.policies.list;
        self.steps
            .iter()
            .all(|(_, policy)| policies[*policy].scope == Scope::BuiltIn)
    }
}

/// Starts judging at step `from`; `None` when no thread can be had. What is only the program's own is
/// judged before this returns.
fn start(job: &Arc<Job>, from: usize, restored: Vec<String>) -> Option<Receiver<Outcome>> {
    let (sender, receiver) = channel();
    let job = Arc::clone(job);
    if job.is_own() {
        // One that panics sends no answer, as on a thread.
        let steps = AssertUnwindSafe(|| steps_from(&job, from, restored, &sender));
        let _ = catch_unwind(steps);
        return Some(receiver);
    }
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

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use serde_json::json;

    use super::{Limits, judge};
    use crate::policy::{EventName, Facts, Level, Policies, Shared, load::tests::load};

    #[test]
    fn restore_where_nothing_can_be_put_back_blocks() {
        let mut policies = load("on: [tool.result]\nthen: [restore]\n");
        policies.list[0].on = vec![EventName::TurnEnd];
        let work = json!({"call": {"written": ["a"]}});
        let shared = Shared::new(work, json!({})).unwrap();
        let facts = Facts::new(EventName::TurnEnd, json!({}), &shared).unwrap();
        let ruling = judge(&Arc::new(policies), vec![facts], Limits::default());
        assert_eq!(
            (ruling.level(), ruling.restores()),
            (Level::Block, Vec::new())
        );
        assert_eq!(
            ruling.reason(),
            "[p] policy .operator/policies/p.yaml:1 could not put files back: files are put back only after a tool ran"
        );
    }

    #[test]
    fn what_is_part_of_the_program_is_judged_before_anybody_could_wait() {
        let shared = Shared::new(json!({}), json!({})).unwrap();
        let facts = || {
            let event = json!({"data": {"path": ".operator/policies/p.yaml"}});
            vec![Facts::new(EventName::FileWrite, event, &shared).unwrap()]
        };
        let none = Limits {
            policy: Duration::ZERO,
            total: Duration::ZERO,
        };
        let own = Arc::new(Policies::default().with_defaults(&|_| true));
        let ruling = judge(&own, facts(), none);
        assert_eq!(ruling.level(), Level::Ask, "{}", ruling.reason());
        // A policy of the project's has a thread, and somebody who waits for it.
        let theirs = Arc::new(load(
            "on: [file.write]\nwhen: { cel: 'lines(event.data.content).all(l, l != \"y\")' }\n",
        ));
        // Nobody is done with it before it is looked for an answer.
        let event = json!({"data": {"path": "x", "content": "x\n".repeat(100_000)}});
        let long = Facts::new(EventName::FileWrite, event, &shared).unwrap();
        let reason = judge(&theirs, vec![long], none).reason();
        assert!(reason.contains("took longer than 0 ms"), "{reason}");
    }
}
