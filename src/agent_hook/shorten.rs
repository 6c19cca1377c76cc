use std::path::PathBuf;

use serde_json::json;

use super::{Event, reply::Reply};
use crate::{
    compress::{self, Call, Place, Settings},
    payload::{self, Session, Value},
};

/// Adds to the answer of a PostToolUse the shorter output, where there is one.
pub(super) fn add(event: &Event, reply: Reply) -> Reply {
    let Some(output) = shorter(event) else {
        return reply;
    };
    let mut answer = match reply {
        Reply::Nothing => json!({}),
        Reply::Json(answer) => answer,
        // Another answer is worth more than a saving.
        reply @ (Reply::Talk(_) | Reply::Block(_)) => return reply,
    };
    answer["hookSpecificOutput"]["hookEventName"] = "PostToolUse".into();
    answer["hookSpecificOutput"]["updatedToolOutput"] = output;
    Reply::Json(answer)
}

fn shorter(event: &Event) -> Option<serde_json::Value> {
    let payload = &event.payload;
    let tool = payload.text("tool_name")?;
    if !compress::may_change(&tool) {
        return None;
    }
    let json = |name: &str| payload.get(name).map(Value::json);
    let settings = settings(event);
    let agent = payload.text("agent_id");
    let call = Call {
        tool: &tool,
        input: &json("tool_input").unwrap_or_default(),
        response: &json("tool_response")?,
        agent: agent.as_deref(),
    };
    serde_json::from_str(&compress::reply(&call, &settings, &place(event))?).ok()
}

fn settings(event: &Event) -> Settings {
    Settings::read(|name| event.env.text(name).map(str::to_owned))
}

/// Lets no later output be called the same as the one before this failed call.
pub(super) fn note_failure(event: &Event) {
    let payload = &event.payload;
    let Some(tool) = payload.text("tool_name") else {
        return;
    };
    if compress::may_change(&tool) {
        let agent = payload.text("agent_id");
        compress::forget(&tool, agent.as_deref(), &settings(event), &place(event));
    }
}

/// Removes the spills of the sessions that this client ran before.
pub(super) fn forget(event: &Event) {
    compress::wipe(&place(event));
}

/// Returns where the outputs of this event's session lie whole.
fn place(event: &Event) -> Place {
    let env = &event.env;
    let project = match event.place() {
        payload::Place::Found(project) if project.is_started() => project.top.clone(),
        _ => None,
    };
    let temp = env.path("TMPDIR").map(PathBuf::from);
    let session = match event.payload.session() {
        Session::Known(session) => session.as_str().to_owned(),
        Session::Unknown(_) => String::new(),
    };
    Place {
        project,
        temp: temp.unwrap_or_else(|| PathBuf::from("/tmp")),
        cwd: event.payload.cwd().unwrap_or_default(),
        session,
        call: event.payload.text("tool_use_id").unwrap_or_default(),
        client: env.text("CLAUDE_PID").and_then(|pid| pid.parse().ok()),
    }
}
