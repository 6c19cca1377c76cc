use std::time::Duration;

use serde_json::json;

use super::{
    Event, arm,
    reply::Reply,
    session::{Missing, Site, known},
};
use crate::{
    gate::{self, Brief, Life, Other, Who},
    model::{Owner, shell_quoted},
    setup,
    store::{Store, Wait},
    ui::{Failure, one_line},
};

/// The client shows a longer text as a preview only.
const LIMIT: usize = 9_000;
const ROWS: usize = 20;

/// SessionStart: the session is told who it is, what is open and how to go on.
pub(super) fn answer(event: &Event) -> Result<Reply, Failure> {
    let site = match Site::of(event) {
        Ok(site) if site.project.is_started() => site,
        Ok(_) | Err(Missing::Nowhere) => return Ok(Reply::Nothing),
        Err(Missing::Fault(why)) => return Ok(Reply::message(&format!("git-operator: {why}"))),
    };
    let session = known(event);
    let mut lines = Vec::new();
    let store = site.store(event)?;
    replay(&site, &store, &mut lines);
    // Where nothing can be written or locked, what can be read is told all the same.
    if let Some(session) = &session
        && let Err(failure) = remember(event, &site, (&store, session))
    {
        lines.extend(failure.message.map(|why| format!("Session: {why}")));
    }
    let who = session.clone().map_or(Who::Nobody, Who::Session);
    let brief = gate::brief(&site.place, &who, site.clock.wall_ms())?;
    if !store.repo().is_store() {
        for finding in setup::drift(store.repo())? {
            let fix = finding
                .fix
                .map(|fix| format!(" ({fix})"))
                .unwrap_or_default();
            lines.push(format!("Set-up: {}{fix}", finding.what));
        }
    }
    Ok(context(&text(&site, session.as_ref(), (&brief, &lines))))
}

fn context(text: &str) -> Reply {
    let end = text
        .char_indices()
        .map(|(at, _)| at)
        .find(|at| *at > LIMIT)
        .unwrap_or(text.len());
    Reply::Json(json!({
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": &text[..end]}
    }))
}

/// Finishes what a killed writer left; another writer at work is no reason to wait.
fn replay(site: &Site, store: &Store, lines: &mut Vec<String>) {
    if !site.place.operator.join("journal").exists() {
        return;
    }
    if let Err(error) = store.begin(Wait::SessionStart, site.clock) {
        lines.push(format!("Ledger: {error}"));
    }
    lines.extend(
        store
            .take_warnings()
            .iter()
            .map(|warning| format!("Ledger: {warning}")),
    );
}

fn remember(event: &Event, site: &Site, (store, session): (&Store, &Owner)) -> Result<(), Failure> {
    let pid = event
        .env
        .text("CLAUDE_PID")
        .and_then(|pid| pid.parse().ok());
    gate::note_seen(&site.place, session, site.clock.wall_ms(), pid)?;
    let sessions = site.place.sessions();
    if sessions
        .read(&site.place.git_dir, session.as_str())
        .baseline
        .is_none()
        && let Some(baseline) = arm::baseline(store.repo())
    {
        sessions.update(&site.place.git_dir, session.as_str(), |known| {
            known.baseline = Some(baseline);
        })?;
    }
    Ok(())
}

fn text(site: &Site, session: Option<&Owner>, (brief, lines): (&Brief, &[String])) -> String {
    let command = site.command();
    let mut text = String::from("git-operator keeps the evidence of this project.\n");
    let owner = match session {
        Some(session) => {
            text.push_str(&format!("Session id: {session} (commands take it from CLAUDE_CODE_SESSION_ID; else --owner {session}).\n"));
            format!(" --owner {session}")
        }
        None => String::new(),
    };
    text.push_str(&format!(
        "Open a task:     {command} task <id>{owner}\n\
         Earn a verdict:  {command} run <id> '<criterion>'{owner} -- <command>\n\
         Record one:      {command} verdict <id> '<criterion>' '<evidence>' PASS|FAIL|MOOT{owner}\n\
         Close honestly:  {command} defer <id> '<reason>'{owner}\n"
    ));
    text.push_str(&format!("Stage: {}\n", brief.stage.as_str()));
    own(&mut text, brief);
    others(&mut text, &command, session, &brief.others);
    for ended in &brief.ended {
        text.push_str(&format!(
            "Session {} ended with open tasks: {}\n",
            one_line(&ended.session),
            one_line(&ended.tasks.join(", "))
        ));
    }
    for line in lines {
        text.push_str(&format!("{}\n", one_line(line)));
    }
    text
}

fn own(text: &mut String, brief: &Brief) {
    let parts = &brief.survey.parts;
    for open in parts.mine.iter().take(ROWS) {
        text.push_str(&format!("Open and yours: {}\n", one_line(&open.task)));
    }
    for open in parts.unowned.iter().take(ROWS) {
        text.push_str(&format!(
            "Open and nobody's (it blocks every session): {}\n",
            one_line(&open.task)
        ));
    }
    for name in parts.unreadable.iter().take(ROWS) {
        text.push_str(&format!(
            "Unreadable (it blocks every session): {}\n",
            one_line(name)
        ));
    }
    let waiting = brief.survey.decisions.len();
    if waiting > 0 {
        text.push_str(&format!(
            "Decisions not presented yet: {waiting} (git operator handoff)\n"
        ));
    }
}

fn others(text: &mut String, command: &str, session: Option<&Owner>, others: &[Other]) {
    let new = session.map_or("<session>", Owner::as_str);
    for other in others.iter().take(ROWS) {
        let owner = other.open.owner.as_ref().map_or("nobody", Owner::as_str);
        let life = match other.life {
            Life::Ended => "which ended".to_owned(),
            Life::Gone => "whose client is gone".to_owned(),
            Life::Seen(since) => format!("last seen {} ago", ago(since)),
            Life::Unknown => "of which nothing is known".to_owned(),
        };
        text.push_str(&format!(
            "Orphaned unless that session lives: {} of session {owner}, {life}; to take it over: {command} adopt --owner {new} {}\n",
            one_line(&other.open.task),
            shell_quoted(&other.open.task)
        ));
    }
    if others.len() > ROWS {
        text.push_str(&format!(
            "and {} more tasks of other sessions: {command} status\n",
            others.len() - ROWS
        ));
    }
}

fn ago(since: Duration) -> String {
    match since.as_secs() {
        seconds if seconds < 120 => format!("{seconds} s"),
        seconds if seconds < 7_200 => format!("{} min", seconds / 60),
        seconds if seconds < 172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}
