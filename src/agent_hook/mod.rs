//! Claude Code hooks: one file per event holding payload, call and reply.
//!
//! A hook exits 0, or 2 to block; nothing that goes wrong in here is a reason to block. docs/hooks.md
//! says what each event is answered.

mod reply;
mod stop;

use crate::{
    git::Env,
    payload::{self, Payload},
    ui::{self, Exit, Failure},
};

use reply::Reply;

/// One event on its way: what came, and what it was sent with.
struct Event {
    payload: Payload,
    env: Env,
}

/// Answers the hook `event`, whose payload is on stdin.
pub fn run(event: Option<&str>) -> Exit {
    let reply = ui::caught(|| answer(event)).unwrap_or_else(|failure| fault(&failure));
    let exit = reply.give();
    payload::drain();
    exit
}

fn answer(event: Option<&str>) -> Result<Reply, Failure> {
    let payload = Payload::read();
    let name = event.map(str::to_owned).or_else(|| payload.event());
    let event = Event {
        payload,
        env: Env::from_process().hook(),
    };
    match name.as_deref() {
        Some("Stop") => stop::answer(&event),
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
