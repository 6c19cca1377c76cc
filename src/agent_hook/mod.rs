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

use crate::{
    git::{Clock, Env},
    payload::{self, Payload},
    ui::{self, Exit, Failure},
};

use reply::Reply;

/// One event on its way: what came, and what it was sent with.
struct Event {
    payload: Payload,
    env: Env,
    /// When the process began, µs of wall clock.
    began: u64,
    rules: policy::Cell,
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
    let began = Clock::new(&env)?.wall_ms() * 1000;
    let payload = Payload::read();
    let name = event.map(str::to_owned).or_else(|| payload.event());
    let event = Event {
        payload,
        env,
        began,
        rules: policy::Cell::new(),
    };
    // What the work ledger cannot do then is done at the next event of the session.
    let _ = match name.as_deref() {
        Some("Stop" | "UserPromptSubmit") => turn::ended(&event),
        Some("SessionEnd") => turn::session_ended(&event),
        _ => Ok(()),
    };
    match name.as_deref() {
        Some("Stop") => stop::answer(&event),
        Some("SessionStart") => {
            shorten::forget(&event);
            session_start::answer(&event)
        }
        Some("SessionEnd") => session_end::answer(&event),
        Some("UserPromptSubmit") => prompt::answer(&event),
        // A seat is not held up by the tasks of the session that sent it; nothing important lives only
        // in memory when the client compacts.
        Some("SubagentStop" | "PreCompact") => Ok(Reply::Nothing),
        Some("PreToolUse") => tracked(pre_tool_use::answer(&event)),
        Some("PostToolUse") => {
            tracked(post_tool_use::answer(&event)).map(|reply| shorten::add(&event, reply))
        }
        Some("PostToolUseFailure") => tracked(post_tool_use_failure::answer(&event)),
        Some("PermissionDenied") => tracked(permission_denied::answer(&event)),
        // An event without a gate, or one this program does not know, passes.
        _ => Ok(Reply::Nothing),
    }
}

/// A tool use that cannot be tracked is told, and goes on.
fn tracked(answer: Result<Reply, Failure>) -> Result<Reply, Failure> {
    Ok(answer.unwrap_or_else(|failure| match &failure.message {
        Some(message) => Reply::message(&format!(
            "git-operator could not track this tool use: {message}"
        )),
        None => Reply::Nothing,
    }))
}

fn fault(failure: &Failure) -> Reply {
    match &failure.message {
        Some(message) => {
            Reply::message(&format!("git-operator could not check the gate: {message}"))
        }
        None => Reply::Nothing,
    }
}
