//! The status line segment: `op[N+M*] dev[N] wf d/s`, from the same partition of tasks as the Stop hook.
//!
//! It writes nothing, takes no lock, always succeeds; whatever it cannot tell it leaves out.

mod progress;

pub use progress::{Look, Progress, STALLED, progress, stalled};

use std::{path::PathBuf, time::Duration};

use crate::{
    gate::{self, Survey, Who},
    git::{Clock, Env},
    model::Owner,
    payload::{self, Payload, Place, Session},
    ui::{self, Color, Exit, Format, Paint, Talk, Ui},
};

/// Prints the segment of the session whose payload is on stdin; nothing when nothing is open.
pub fn run() -> Exit {
    let line = ui::caught(|| Ok(segment())).unwrap_or_default();
    let ui = Ui::new(Format::Text, Talk::Quiet);
    if !line.is_empty() {
        // Whoever does not want the line goes on without it.
        let _ = ui.print(line).and_then(|()| ui.finish());
    }
    payload::drain();
    Exit::Done
}

fn segment() -> String {
    let payload = Payload::read();
    let env = Env::from_process().hook();
    let session = match payload.session() {
        Session::Known(owner) => Some(owner),
        Session::Unknown(_) => None,
    };
    let survey = match Place::find(&payload, &env) {
        Place::Found(project) => {
            let who = session.clone().map_or(Who::Nobody, Who::Session);
            gate::survey(&gate::Place::of_project(&project), &who).ok()
        }
        Place::Nowhere | Place::Gone(_) | Place::Fault(_) => None,
    };
    let paint = match env.text("NO_COLOR") {
        Some(_) => Paint::Plain,
        None => Paint::Colored,
    };
    let is_known = session.is_some();
    let workflow = session.and_then(|session| workflow(&payload, &env, &session));
    let parts = [
        survey
            .as_ref()
            .and_then(|survey| tasks(survey, paint, is_known)),
        survey.as_ref().and_then(|survey| decisions(survey, paint)),
        workflow.map(|Progress { done, started }| {
            paint.paint(Color::Dim, &format!("wf {done}/{started}"))
        }),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// `op[N]`, `op[N+M*]`, `op[0+M*]`: what blocks this session, and what is open for others; where it is
/// not known which session this is, only what blocks every one.
fn tasks(survey: &Survey, paint: Paint, is_known: bool) -> Option<String> {
    let blocking = match survey.parts.blocking() {
        0 => "0".to_owned(),
        count => paint.paint(Color::Red, &count.to_string()),
    };
    match survey.parts.foreign.len() * usize::from(is_known) {
        0 if survey.parts.blocking() == 0 => None,
        0 => Some(format!("op[{blocking}]")),
        foreign => {
            let foreign = paint.paint(Color::Dim, &format!("+{foreign}*"));
            Some(format!("op[{blocking}{foreign}]"))
        }
    }
}

fn decisions(survey: &Survey, paint: Paint) -> Option<String> {
    let count = survey.decisions.len();
    (count > 0).then(|| paint.paint(Color::Dim, &format!("dev[{count}]")))
}

fn workflow(payload: &Payload, env: &Env, session: &Owner) -> Option<Progress> {
    let config = match env.path("CLAUDE_CONFIG_DIR") {
        Some(dir) => dir.to_owned(),
        None => env.home()?.join(".claude"),
    };
    let transcript: Option<PathBuf> = payload.path("transcript_path");
    let now = Duration::from_millis(Clock::default().wall_ms());
    progress(&Look {
        config: &config,
        transcript: transcript.as_deref(),
        session,
        now: std::time::UNIX_EPOCH + now,
        stalled: stalled(env.text("STALL_SEC")),
    })
}
