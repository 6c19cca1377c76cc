//! The facts of an event as a hook would find them now; nothing is written.

use serde_json::{Value, json};

use crate::{
    gate::{self, Who},
    git::{Repo, Until},
    model::Owner,
    policy::{Facts, Lost, Shared},
    rules::{self, Bytes, Hook, Turns},
    store::Store,
    ui::{Context, Failure},
    work,
};

/// Returns the events that a payload makes, for its session, else for `session`, else for the one this
/// command runs in.
pub(super) fn of(
    payload: &Value,
    session: Option<&str>,
    context: &Context,
) -> Result<Vec<Facts>, Failure> {
    let mut payload = payload.clone();
    let running = context.env().text("CLAUDE_CODE_SESSION_ID");
    if payload["session_id"].is_null() {
        payload["session_id"] = session.or(running).into();
    }
    let name = payload["hook_event_name"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let top = context
        .location()?
        .and_then(|location| location.top.clone());
    let repo = match top {
        Some(_) => Some(context.repo()?),
        None => None,
    };
    let session = payload["session_id"].as_str().map(str::to_owned);
    let hook = Hook {
        name: &name,
        around: around(repo, session.as_deref(), context)?,
        shared: shared(repo, &payload, context)?,
        payload: &payload,
        changes: Vec::new(),
        blocks: 0,
    };
    let cwd = context.cwd()?.to_owned();
    let place = |named: &str| rules::below(top.as_deref(), &cwd, named);
    let read = |path: &str| match &top {
        Some(top) => rules::bytes(top, path),
        None => Bytes::Unknown,
    };
    Ok(rules::events(&hook, &place, &read)?)
}

fn around(repo: Option<&Repo>, session: Option<&str>, context: &Context) -> Result<Value, Failure> {
    let Some((repo, top)) = repo.and_then(|repo| Some((repo, repo.top()?))) else {
        return Ok(json!({}));
    };
    let (head, branch) = rules::head(repo)?;
    let below = context.cwd()?.strip_prefix(top).unwrap_or("".as_ref());
    let mut around = json!({
        "root": top.to_string_lossy(),
        "cwd": below.to_string_lossy(),
        "head": head,
        "branch": branch,
    });
    if let Some(session) = session {
        around["turn"] = Turns::new(&repo.operator_dir()).look(session);
    }
    Ok(around)
}

fn shared(repo: Option<&Repo>, payload: &Value, context: &Context) -> Result<Shared, Failure> {
    let Some(repo) = repo else {
        return Ok(Shared::none());
    };
    let session = payload["session_id"].as_str();
    let who = session.map_or(work::Who::Last, work::Who::Session);
    let work = work::status(repo, who, context.clock()?.wall_ms());
    let work = work
        .map(|work| with_call(rules::work(&work), payload))
        .map_err(|error| error.to_string());
    let gate = gate(session, context).map_err(|failure| failure.message.unwrap_or_default());
    let lost = Lost {
        work: work.as_ref().err().cloned(),
        gate: gate.as_ref().err().cloned(),
        ..Lost::default()
    };
    let shared = Shared::new(work.unwrap_or_default(), gate.unwrap_or_default());
    Ok(shared.map_err(rules::Error::from)?.without(lost))
}

/// Sets `work.call` as the call of the payload would see it.
fn with_call(mut work: Value, payload: &Value) -> Value {
    let tool = payload["tool_name"].as_str().unwrap_or_default();
    let id = payload["tool_use_id"].as_str().unwrap_or_default();
    let begins = payload["hook_event_name"] == "PreToolUse";
    work["call"] = match work::Tool::of(tool) {
        Some(_) if begins => json!({ "tool": tool, "id": id, "foreign": work["foreign"] }),
        Some(_) if work["call"]["id"] == id => work["call"].take(),
        Some(_) | None => Value::Null,
    };
    work
}

fn gate(session: Option<&str>, context: &Context) -> Result<Value, Failure> {
    let place = gate::Place::of_project(context.project()?);
    let owner = session.map(Owner::new).transpose()?;
    let who = owner.clone().map_or(Who::Nobody, Who::Session);
    let mut gate = rules::gate(&rules::tasks(&place, &who)?);
    if let Some(owner) = &owner {
        let store = Store::open(context.project()?.open(context.env())?);
        gate["last"] = rules::last(&store, owner, Until::done())?;
    }
    Ok(gate)
}
