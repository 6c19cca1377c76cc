//! What policies decided in this clone, newest last.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::Error;
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
pub struct Log {
    path: PathBuf,
}

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
        Self {
            path: operator.join("policy-log"),
        }
    }

    /// Appends a decision.
    pub fn add(&self, decision: &Decision) -> Result<(), Error> {
        if let Some(dir) = self.path.parent() {
            fs::create_dir_all(dir).map_err(Error::write(dir))?;
        }
        let long = fs::metadata(&self.path).is_ok_and(|found| found.len() > SIZE_LIMIT);
        if long {
            fs::rename(&self.path, self.before()).map_err(Error::write(&self.path))?;
        }
        let mut line = serde_json::to_string(decision).unwrap_or_default();
        line.push('\n');
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(Error::write(&self.path))
    }

    fn before(&self) -> PathBuf {
        self.path.with_extension("1")
    }

    /// Returns the decisions, oldest first; lines that cannot be read are left out.
    pub fn read(&self) -> Result<Vec<Decision>, Error> {
        let mut decisions = Vec::new();
        for path in [self.before(), self.path.clone()] {
            let text = match fs::read_to_string(&path) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::read(&path)(error)),
            };
            decisions.extend(
                text.lines()
                    .filter_map(|line| serde_json::from_str(line).ok()),
            );
        }
        Ok(decisions)
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
