//! Claude Code hooks: one file per event holding payload, call and reply.
//!
//! A hook exits 0, or 2 to block; nothing that goes wrong in here is a reason to block. docs/hooks.md
//! says what each event is answered.

mod arm;
mod permission_denied;
mod policy;
mod post_tool_use;
mod post_tool_use_failure;
mod pre_tool_use;
mod prompt;
mod reply;
mod session;
mod session_end;
mod session_start;
mod shorten;
mod stop;
mod tool_use;
mod turn;
mod words;

use std::cell::OnceCell;

use crate::{
    git::{Clock, Env},
    payload::{self, Payload},
    ui::{self, Exit, Failure},
};

use reply::Reply;

/// One event on its way: what came, and what it was sent with.
struct Event {
    /// The client's name of it; empty where neither the command line nor the payload tells.
    name: String,
    payload: Payload,
    env: Env,
    /// When the process began, µs of wall clock.
    began: u64,
    rules: policy::Cell,
    place: OnceCell<payload::Place>,
}

impl Event {
    /// Returns the project the event is about, which is looked for once.
    fn place(&self) -> &payload::Place {
        self.place
            .get_or_init(|| payload::Place::find(&self.payload, &self.env))
    }
}

/// Answers the hook `event`, whose payload is on stdin.
pub fn run(event: Option<&str>) -> Exit {
    let reply = ui::caught(|| answer(event)).unwrap_or_else(|failure| fault(&failure));
    let exit = reply.give();
    payload::drain();
    exit
}

fn answer(event: Option<&str>) -> Result<Reply, Failure> {
    let env = Env::from_process().hook();
    let began = Clock::default().wall_ms() * 1000;
    let payload = Payload::read();
    let name = event.map(str::to_owned).or_else(|| payload.event());
    let event = Event {
        name: name.unwrap_or_default(),
        payload,
        env,
        began,
        rules: policy::Cell::new(),
        place: OnceCell::new(),
    };
    let tracked = match event.name.as_str() {
        "Stop" | "UserPromptSubmit" => turn::ended(&event),
        "SessionEnd" => turn::session_ended(&event),
        _ => Ok(()),
    };
    let reply = dispatch(&event)?;
    Ok(match tracked.err().and_then(|failure| failure.message) {
        // What the work ledger could not do now is done at the next event of the session.
        Some(message) => told(&event, reply, &message),
        None => reply,
    })
}

/// Says beside an answer that the work ledger could not be kept; the answer stays what it is.
fn told(event: &Event, reply: Reply, message: &str) -> Reply {
    let text = format!("git-operator could not keep the work ledger: {message}");
    match (event.name.as_str(), reply) {
        // The client reads nothing but stderr then.
        ("SessionEnd", Reply::Nothing) => Reply::Talk(text),
        (_, reply) => reply.with_message(&text),
    }
}

fn dispatch(event: &Event) -> Result<Reply, Failure> {
    match event.name.as_str() {
        "Stop" => stop::answer(event),
        "SessionStart" => {
            shorten::forget(event);
            let brief = session_start::answer(event).unwrap_or_else(|failure| fault(&failure));
            let brief = match tool_use::nameless(event) {
                Some(message) => brief.with_message(&message),
                None => brief,
            };
            Ok(policy::plain(event, brief))
        }
        "SessionEnd" => {
            policy::session_end(event);
            session_end::answer(event)
        }
        "UserPromptSubmit" => {
            let told = prompt::answer(event).unwrap_or_else(|failure| fault(&failure));
            Ok(policy::plain(event, told))
        }
        // A seat is not held up by the tasks of the session that sent it; nothing important lives only
        // in memory when the client compacts.
        "SubagentStop" | "PreCompact" => Ok(Reply::Nothing),
        "PreToolUse" => Ok(pre_tool_use::answer(event)),
        "PostToolUse" => Ok(shorten::add(event, post_tool_use::answer(event))),
        "PostToolUseFailure" => Ok(post_tool_use_failure::answer(event)),
        "PermissionDenied" => Ok(permission_denied::answer(event)),
        // An event without a gate, or one this program does not know, passes.
        _ => Ok(Reply::Nothing),
    }
}

fn fault(failure: &Failure) -> Reply {
    match &failure.message {
        Some(message) => {
            Reply::message(&format!("git-operator could not check the gate: {message}"))
        }
        None => Reply::Nothing,
    }
}
