//! What policies decided in this clone, newest last.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use super::{Error, lines::Lines};
use crate::{
    model::Digest,
    policy::{Outcome, Ruling, Verdict},
};

/// How long the file may grow before it begins anew; the one before it is kept.
const SIZE_LIMIT: u64 = 1 << 20;
/// How much of a reason is kept.
const REASON_LIMIT: usize = 2_000;
const ID: usize = 10;

/// One decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub id: String,
    /// ms of wall clock.
    pub time: u64,
    pub session: Option<String>,
    pub event: String,
    pub tool: Option<String>,
    pub path: Option<String>,
    pub level: String,
    pub policies: Vec<Said>,
    /// What the agent was told.
    pub reason: String,
    pub restored: Vec<String>,
}

/// What one policy said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    pub policy: String,
    pub place: String,
    pub level: String,
    pub error: Option<String>,
    pub micros: u64,
}

/// What is known of a policy from the record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    pub fired: usize,
    pub blocked: usize,
    pub errors: usize,
    /// ms of wall clock.
    pub last: Option<u64>,
    /// The median time it took.
    pub micros: Option<u64>,
}

/// The record of a clone.
#[derive(Clone, Debug)]
pub struct Log(Lines);

/// Who and when a decision is about.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    pub time: u64,
    pub session: Option<&'a str>,
    pub tool: Option<&'a str>,
}

impl Decision {
    /// Returns the record of a ruling that says something; `None` for one that says nothing.
    pub fn of(ruling: &Ruling, about: About<'_>, restored: &[String]) -> Option<Self> {
        let speaking: Vec<&Outcome> = ruling.speaking().collect();
        let first = speaking.first()?;
        let mut decision = Self {
            id: String::new(),
            time: about.time,
            session: about.session.map(str::to_owned),
            event: first.event.to_string(),
            tool: about.tool.map(str::to_owned),
            path: first.path.clone(),
            level: ruling.level().to_string(),
            policies: speaking.into_iter().map(said).collect(),
            reason: ruling.reason().chars().take(REASON_LIMIT).collect(),
            restored: restored.to_vec(),
        };
        let text = serde_json::to_string(&decision).unwrap_or_default();
        decision.id = Digest::of(text.as_bytes()).to_hex()[..ID].to_owned();
        Some(decision)
    }
}

fn said(outcome: &Outcome) -> Said {
    Said {
        policy: outcome.policy.clone(),
        place: outcome.place.clone(),
        level: outcome.level.to_string(),
        error: match &outcome.verdict {
            Verdict::Error(error) => Some(error.clone()),
            Verdict::Match | Verdict::Pass(_) | Verdict::Skip(_) | Verdict::Unknown(_) => None,
        },
        micros: outcome.micros,
    }
}

impl Log {
    /// Returns the record kept under `operator`, the directory of local state.
    pub fn new(operator: &Path) -> Self {
        Self(Lines::new(operator.join("policy-log"), SIZE_LIMIT))
    }

    /// Appends a decision.
    pub fn add(&self, decision: &Decision) -> Result<(), Error> {
        self.0
            .add(serde_json::to_string(decision).unwrap_or_default())
    }

    /// Returns the decisions, oldest first; lines that cannot be read are left out.
    pub fn read(&self) -> Result<Vec<Decision>, Error> {
        self.0.read()
    }

    /// Returns what is known of each policy.
    pub fn stats(&self) -> Result<BTreeMap<String, Stat>, Error> {
        let mut stats: BTreeMap<String, Stat> = BTreeMap::new();
        let mut times: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for decision in self.read()? {
            for said in decision.policies {
                let stat = stats.entry(said.policy.clone()).or_default();
                stat.last = Some(decision.time);
                match said.error {
                    Some(_) => stat.errors += 1,
                    None => stat.fired += 1,
                }
                stat.blocked += usize::from(said.level == "block");
                times.entry(said.policy).or_default().push(said.micros);
            }
        }
        for (policy, mut times) in times {
            times.sort_unstable();
            if let Some(stat) = stats.get_mut(&policy) {
                stat.micros = times.get(times.len() / 2).copied();
            }
        }
        Ok(stats)
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs::OpenOptions, thread};

    use fs4::FileExt;

    use super::{Decision, Log, SIZE_LIMIT, Said};

    fn decision(id: String, reason: String) -> Decision {
        Decision {
            id,
            time: 1,
            session: Some("S1".to_owned()),
            event: "tool.call".to_owned(),
            tool: None,
            path: None,
            level: "block".to_owned(),
            policies: vec![Said {
                policy: "p".to_owned(),
                place: "p:1".to_owned(),
                level: "block".to_owned(),
                error: None,
                micros: 1,
            }],
            reason,
            restored: Vec::new(),
        }
    }

    #[test]
    fn writers_side_by_side_lose_no_line_and_tear_none() {
        const WRITERS: usize = 8;
        const EACH: usize = 50;
        let dir = assert_fs::TempDir::new().unwrap();
        // Long lines, so that the file begins anew under the writers once.
        let reason = "x".repeat(usize::try_from(SIZE_LIMIT).unwrap() / (WRITERS * EACH) * 4 / 3);
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (log, reason) = (Log::new(dir.path()), &reason);
                scope.spawn(move || {
                    for number in 0..EACH {
                        let id = format!("{writer}-{number}");
                        log.add(&decision(id, reason.clone())).unwrap();
                    }
                });
            }
        });
        let log = Log::new(dir.path());
        assert!(log.0.before().exists());
        let read = log.read().unwrap();
        let ids: BTreeSet<&str> = read.iter().map(|decision| decision.id.as_str()).collect();
        assert_eq!((read.len(), ids.len()), (WRITERS * EACH, WRITERS * EACH));
        assert_eq!(log.stats().unwrap()["p"].blocked, WRITERS * EACH);
    }

    #[test]
    fn a_writer_that_never_lets_go_is_waited_for_a_moment_only() {
        let dir = assert_fs::TempDir::new().unwrap();
        let path = dir.path().join("policy-log.lock");
        let held = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .unwrap();
        FileExt::lock(&held).unwrap();
        let error = Log::new(dir.path())
            .add(&decision("a".to_owned(), String::new()))
            .unwrap_err();
        assert!(
            error.to_string().ends_with("another process holds it"),
            "{error}"
        );
    }
}
