//! Events as policies saw them, kept in this clone so that they can be judged again.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Error,
    lines::Lines,
    texts::{self, Long},
};
use crate::policy::{EventName, Facts, Lost, Ruling, Shared};

/// How long the file may grow before it begins anew; the one before it is kept.
const SIZE_LIMIT: u64 = 16 << 20;
/// What a hook call was about is kept up to this size, each long text counted once: room for the
/// largest content that policies see, before and after, and what the tool was given.
const LINE_LIMIT: usize = 8 << 20;

/// One hook call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Moment {
    /// ms of wall clock.
    pub time: u64,
    pub session: Option<String>,
    /// The client's name of the event.
    pub hook: String,
    /// What was answered.
    pub level: String,
    /// The policies that said something.
    pub policies: Vec<String>,
    /// Empty where it was too much to be kept.
    events: Vec<Kept>,
    work: Value,
    gate: Value,
    /// Long texts of the events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    texts: Vec<Long>,
    /// What could not be found out.
    #[serde(default, skip_serializing_if = "Lost::is_empty")]
    lost: Lost,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    name: String,
    event: Value,
}

impl Moment {
    /// Returns a hook call that is about to be judged.
    pub fn of(hook: &str, facts: &[Facts], time: u64) -> Self {
        let (short, texts) = texts::part(facts.iter().map(Facts::event));
        let first = facts.first();
        let around = [first.map(Facts::work), first.map(Facts::gate)];
        let values = short.iter().chain(around.into_iter().flatten());
        let size = values
            .map(size)
            .chain(texts.iter().map(Long::size))
            .sum::<usize>();
        let first = first.filter(|_| size <= LINE_LIMIT);
        let kept = |(facts, event): (&Facts, Value)| Kept {
            name: facts.name().as_str().to_owned(),
            event,
        };
        let events = facts.iter().zip(short).map(kept);
        Self {
            time,
            session: facts
                .first()
                .and_then(|facts| facts.event()["session"].as_str())
                .map(str::to_owned),
            hook: hook.to_owned(),
            level: String::new(),
            policies: Vec::new(),
            events: first.map_or_else(Vec::new, |_| events.collect()),
            work: first.map_or(Value::Null, |facts| facts.work().clone()),
            gate: first.map_or(Value::Null, |facts| facts.gate().clone()),
            texts: first.map_or_else(Vec::new, |_| texts),
            lost: first.map_or_else(Lost::default, |facts| facts.lost().clone()),
        }
    }

    /// Tells what came of it.
    pub fn answer(&mut self, ruling: &Ruling) {
        self.level = ruling.level().to_string();
        self.policies = speaking(ruling);
    }

    /// Returns the facts to judge again; the error says why that is not possible.
    pub fn facts(&self) -> Result<Vec<Facts>, String> {
        if self.events.is_empty() {
            return Err("it was too large to be kept".to_owned());
        }
        let shared = Shared::new(self.work.clone(), self.gate.clone());
        let shared = shared.map_err(|error| error.to_string())?;
        let shared = shared.without(self.lost.clone());
        let mut events: Vec<Value> = self.events.iter().map(|kept| kept.event.clone()).collect();
        texts::join(&mut events, &self.texts);
        let facts = |(kept, event): (&Kept, Value)| {
            let name = EventName::parse(&kept.name).ok_or("its event is not known")?;
            Facts::new(name, event, &shared).map_err(|error| error.to_string())
        };
        self.events.iter().zip(events).map(facts).collect()
    }

    /// Returns what it was about: the file or the tool.
    pub fn subject(&self) -> &str {
        let event = self.events.iter().map(|kept| &kept.event);
        let path = event
            .clone()
            .find_map(|event| event["data"]["path"].as_str());
        let tool = || self.events.first()?.event["tool"].as_str();
        path.or_else(tool).unwrap_or("-")
    }
}

/// Returns about how many bytes a value takes.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| name.len() + size(value))
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

/// Returns the policies that say something, each once.
pub fn speaking(ruling: &Ruling) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for outcome in ruling.speaking() {
        if !ids.contains(&outcome.policy) {
            ids.push(outcome.policy.clone());
        }
    }
    ids
}

/// The hook calls of a clone.
#[derive(Clone, Debug)]
pub struct Moments(Lines);

impl Moments {
    /// Returns those kept under `operator`, the directory of local state.
    pub fn new(operator: &Path) -> Self {
        Self(Lines::new(operator.join("policy-events"), SIZE_LIMIT))
    }

    /// Keeps one more.
    pub fn add(&self, moment: &Moment) -> Result<(), Error> {
        self.0
            .add(serde_json::to_string(moment).unwrap_or_default())
    }

    /// Returns them, oldest first; of one session, or of the newest where `session` is `last`, or of
    /// all.
    pub fn read(&self, session: Option<&str>) -> Result<Vec<Moment>, Error> {
        let mut found: Vec<Moment> = self.0.read()?;
        let Some(session) = session else {
            return Ok(found);
        };
        let wanted = match (session, found.last()) {
            ("last", Some(newest)) => newest.session.clone(),
            (session, _) => Some(session.to_owned()),
        };
        found.retain(|moment| moment.session == wanted);
        Ok(found)
    }
}
