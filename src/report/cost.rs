//! What the gate cost, as far as anything here wrote it down.

use std::collections::HashMap;

use maud::{Markup, html};

use super::{
    facts::Facts,
    links::{self, NAME, count, number, text},
};
use crate::{
    gate::{REFUSALS, Session},
    model::{Body, DecisionKind, Opened, Outcome, Record, RecordId, SessionEvent},
};

const LIMIT: usize = 50;

pub(super) fn html(facts: &Facts<'_>) -> Markup {
    let releases: Vec<&Record> = of_event(facts, SessionEvent::Released);
    html! {
        dl.tiles {
            @for (name, value) in numbers(facts, releases.len()) {
                div.tile { dt { (name) } dd { span.big { (value) } } }
            }
        }
        (released(facts, &releases))
        (refused(&facts.local.sessions))
        p.note {
            "Not recorded: how often a Stop was blocked before its task was closed. The ledger has a record only where "
            "the gate let go after " (REFUSALS) " refusals, or a session ended with open tasks; this clone keeps the count of each session's "
            "present state, and forgets it at the next."
        }
    }
}

fn of_event<'a>(facts: &Facts<'a>, wanted: SessionEvent) -> Vec<&'a Record> {
    let is =
        |record: &&&Record| matches!(&record.body, Body::Session(note) if note.event == wanted);
    facts.records.iter().rev().filter(is).copied().collect()
}

fn numbers(facts: &Facts<'_>, releases: usize) -> Vec<(&'static str, String)> {
    let exceptions = facts.records.iter().filter(|record| {
        matches!(&record.body, Body::Decision(decision) if decision.decision == DecisionKind::GateException)
    });
    let deferred = facts
        .records
        .iter()
        .filter(|record| matches!(record.body, Body::Defer(_)));
    let blocked: u64 = facts
        .local
        .sessions
        .iter()
        .map(|one| u64::from(one.refusal.count))
        .sum();
    let mut open = open_times(facts);
    open.sort_unstable();
    let median = open.get(open.len() / 2).copied();
    let running = running(facts);
    vec![
        (
            "Blocked Stops, this clone's present states",
            number(usize::try_from(blocked).unwrap_or(usize::MAX)),
        ),
        ("Let go by the cap", number(releases)),
        (
            "Sessions that ended with open tasks",
            number(of_event(facts, SessionEvent::Ended).len()),
        ),
        ("Exceptions to the gate", number(exceptions.count())),
        ("Deferred", number(deferred.count())),
        (
            "Half of the tasks closed within",
            median.map_or_else(|| "–".to_owned(), duration),
        ),
        ("Time spent in runs", duration(running)),
    ]
}

/// Returns how long each closed task was open, ms.
fn open_times(facts: &Facts<'_>) -> Vec<u64> {
    let mut opened: HashMap<RecordId, u64> = HashMap::new();
    let mut times = Vec::new();
    for record in &facts.records {
        let closes = match &record.body {
            Body::Task(_) => {
                opened.insert(record.id, record.time);
                false
            }
            Body::Defer(_) => true,
            Body::Verdict(verdict) => verdict.run.is_none() || verdict.outcome == Outcome::Pass,
            _ => false,
        };
        if let (true, Opened::By(id)) = (closes, record.opened)
            && let Some(since) = opened.remove(&id)
        {
            times.push(record.time.saturating_sub(since));
        }
    }
    times
}

/// Returns how long the recorded runs took together, ms.
fn running(facts: &Facts<'_>) -> u64 {
    let runs = facts
        .records
        .iter()
        .filter_map(|record| match &record.body {
            Body::Verdict(verdict) => verdict.run.as_ref(),
            Body::Attempt(attempt) if attempt.result.is_some() => attempt.run.as_ref(),
            _ => None,
        });
    runs.fold(0, |all: u64, run| all.saturating_add(run.duration))
}

fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match (
        seconds / 86_400,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
    ) {
        (0, 0, 0, seconds) => format!("{seconds} s"),
        (0, 0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (0, hours, minutes, _) => format!("{hours} h {minutes} min"),
        (days, hours, ..) => format!(
            "{} d {hours} h",
            number(usize::try_from(days).unwrap_or(usize::MAX))
        ),
    }
}

fn released(facts: &Facts<'_>, releases: &[&Record]) -> Markup {
    html! {
        @if !releases.is_empty() {
            div.wide role="region" tabindex="0" aria-label="Releases by the cap" {
                table {
                    caption { "Stops that were let go after " (REFUSALS) " refusals, newest first" }
                    thead { tr { th scope="col" { "Record" } th scope="col" { "Session" } th scope="col" { "When" } th scope="col" { "Open tasks" } } }
                    tbody {
                        @for record in releases.iter().take(LIMIT) {
                            tr {
                                th scope="row" { (facts.record(&record.id)) }
                                td { (text(record.owner.as_deref().unwrap_or("nobody"), NAME)) }
                                td { (links::moment(record.time)) }
                                td { @if let Body::Session(note) = &record.body { (text(&note.open.join(", "), 200)) } }
                            }
                        }
                    }
                }
            }
            @if releases.len() > LIMIT { p.note { (number(releases.len() - LIMIT)) " older ones are not listed." } }
        }
    }
}

fn refused(sessions: &[Session]) -> Markup {
    let refused: Vec<&Session> = sessions
        .iter()
        .filter(|one| one.refusal.count > 0)
        .collect();
    html! {
        @if !refused.is_empty() {
            details {
                summary { (count(refused.len(), "session")) " of this clone with a blocked Stop" }
                div.wide role="region" tabindex="0" aria-label="Blocked Stops in this clone" {
                    table {
                        caption { "Refusals in the state each session's gate is in now" }
                        thead { tr { th scope="col" { "Session" } th.n scope="col" { "Refusals" } th scope="col" { "Then" } } }
                        tbody {
                            @for one in refused.iter().take(LIMIT) {
                                tr {
                                    th scope="row" { @if one.session.is_empty() { "unknown" } @else { (text(&one.session, NAME)) } }
                                    td.n { (one.refusal.count) }
                                    td { @if one.refusal.released { "let go" } @else { "refused" } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
