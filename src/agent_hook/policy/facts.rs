//! What is found out about an event for the policies that ask for it; what no policy asks for is not
//! looked at.

use std::{path::Path, time::Duration};

use serde_json::{Value, json};

use super::{Rules, members::payload_json};
use crate::{
    agent_hook::Event,
    gate::{self, Who},
    git::{Clock, Until},
    model::{Explain, Owner},
    payload::{self, Session},
    policy::{Facts, Lost, Part, Shared},
    rules::{self, Bytes, Call, Change, Hook, Turns},
    store::Store,
    work::{self, Work},
};

/// How long it may take to say whether the source is still what a verdict speaks of.
const FRESH_LIMIT: Duration = Duration::from_secs(2);
const NO_SESSION: &str = "the client names no session";

/// What is known already of the working tree and of what a call did there.
#[derive(Default)]
pub(in crate::agent_hook) struct Seen {
    pub(in crate::agent_hook) work: Option<Work>,
    /// Why the work ledger cannot tell, where it should.
    pub(in crate::agent_hook) work_lost: Option<String>,
    pub(in crate::agent_hook) changes: Vec<Change>,
    /// Why it is not known what a command changed.
    pub(in crate::agent_hook) changes_lost: Option<String>,
    /// How often this Stop was refused in a row.
    pub(in crate::agent_hook) blocks: u64,
}

impl Rules {
    pub(super) fn facts(&self, event: &Event, seen: Seen) -> Result<Vec<Facts>, rules::Error> {
        let payload = payload_json(event);
        let top = self.top();
        let (around, lost) = self.around(event);
        let hook = Hook {
            name: &event.name,
            payload: &payload,
            around,
            shared: self.shared(event, &seen, lost)?,
            changes: seen.changes,
            blocks: seen.blocks,
        };
        let cwd = event.payload.cwd().or_else(|| top.map(Path::to_owned));
        let cwd = cwd.unwrap_or_default();
        let place = |named: &str| rules::below(top, &cwd, named);
        let read = |path: &str| match top {
            Some(top) => rules::bytes(top, path),
            None => Bytes::Unknown,
        };
        rules::events(&hook, &place, &read)
    }

    fn top(&self) -> Option<&Path> {
        self.project.as_ref()?.top.as_deref()
    }

    fn shared(&self, event: &Event, seen: &Seen, lost: Lost) -> Result<Shared, rules::Error> {
        let policies = self.on(event);
        let work = match (&seen.work, &seen.work_lost) {
            (_, Some(reason)) => Err(reason.clone()),
            (Some(work), None) => Ok(rules::work(work)),
            (None, None) if policies.iter().any(|policy| policy.reads(Part::Work)) => {
                self.work(event)
            }
            (None, None) => Ok(json!({})),
        };
        let gate = match policies.iter().any(|policy| policy.reads(Part::Gate)) {
            true => self.gate(event),
            false => Ok(json!({})),
        };
        let lost = Lost {
            work: work.as_ref().err().cloned(),
            gate: gate.as_ref().err().cloned(),
            ..lost
        };
        let shared = Shared::new(work.unwrap_or_default(), gate.unwrap_or_default())?;
        Ok(shared.without(lost))
    }

    /// Returns whose the changes are, outside a tracked tool use.
    fn work(&self, event: &Event) -> Result<Value, String> {
        let project = self.project.as_ref().filter(|project| !project.is_store());
        let Some(project) = project.filter(|project| project.top.is_some()) else {
            return Ok(json!({}));
        };
        let session = event.payload.text("session_id").ok_or(NO_SESSION)?;
        let repo = project
            .open(&event.env)
            .map_err(|error| error.to_string())?;
        let time = Clock::default().wall_ms();
        let found = work::status(&repo, work::Who::Session(&session), time);
        found
            .map(|work| rules::work(&work))
            .map_err(|error| error.to_string())
    }

    fn gate(&self, event: &Event) -> Result<Value, String> {
        let Some(project) = &self.project else {
            return Ok(json!({}));
        };
        let place = gate::Place::of_project(project);
        let who = match event.payload.session() {
            Session::Known(owner) => Who::Session(owner),
            Session::Unknown(_) => Who::Unknown {
                worktree: place.worktree.clone(),
            },
        };
        let parts = rules::tasks(&place, &who).map_err(|error| error.to_string())?;
        let mut gate = rules::gate(&parts);
        if self
            .on(event)
            .iter()
            .any(|policy| policy.reads(Part::Verdict))
        {
            let Who::Session(session) = &who else {
                return Err(NO_SESSION.to_owned());
            };
            gate["last"] = self.last(event, session)?;
        }
        Ok(gate)
    }

    fn last(&self, event: &Event, session: &Owner) -> Result<Value, String> {
        let Some(project) = &self.project else {
            return Ok(Value::Null);
        };
        let repo = project
            .open(&event.env)
            .map_err(|error| error.to_string())?;
        let last = rules::last(&Store::open(repo), session, Until::after(FRESH_LIMIT));
        last.map_err(|error| match error.hint() {
            Some(hint) => format!("{error} ({hint})"),
            None => error.to_string(),
        })
    }

    /// Returns the fields of `event` that the payload does not tell, and why some are not known.
    fn around(&self, event: &Event) -> (Value, Lost) {
        let top = self.top().map(Path::to_owned).unwrap_or_default();
        let cwd = event.payload.cwd().unwrap_or_default();
        let below = cwd.strip_prefix(&top).unwrap_or(Path::new(""));
        let mut around = json!({ "root": shown(&top), "cwd": shown(below) });
        let policies = self.on(event);
        let asks = |part| policies.iter().any(|policy| policy.reads(part));
        let mut lost = Lost::default();
        if asks(Part::Head) {
            match self.head(event) {
                Ok((head, branch)) => {
                    around["head"] = head;
                    around["branch"] = branch;
                }
                Err(reason) => lost.head = Some(reason),
            }
        }
        if asks(Part::Turn) {
            match self.turn(event) {
                Ok(turn) => around["turn"] = turn,
                Err(reason) => lost.turn = Some(reason),
            }
        }
        (around, lost)
    }

    fn head(&self, event: &Event) -> Result<(Value, Value), String> {
        let Some(project) = &self.project else {
            return Ok((Value::Null, Value::Null));
        };
        let repo = project.open(&event.env);
        let repo = repo.map_err(|error| error.to_string())?;
        rules::head(&repo).map_err(|error| error.to_string())
    }

    fn turn(&self, event: &Event) -> Result<Value, String> {
        let session = event.payload.text("session_id").ok_or(NO_SESSION)?;
        let prompt = event.payload.text("prompt_id");
        let tool = event.payload.text("tool_name").unwrap_or_default();
        let input = event.payload.get("tool_input").map(payload::Value::raw);
        let call = Call {
            prompt: prompt.as_deref(),
            tool: &tool,
            input: input.unwrap_or_default(),
        };
        let counted = Turns::new(&self.operator).count(&session, &event.name, call);
        counted.map_err(|error| error.to_string())
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
