//! The numbers, and the one sentence that matters.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::{
    facts::Facts,
    links::{count, number},
};
use crate::{
    ledger::State,
    model::{Body, Outcome},
};

pub(super) fn html(facts: &Facts<'_>) -> Markup {
    if facts.records.is_empty() {
        return empty(facts);
    }
    html! {
        (sentence(facts))
        dl.tiles {
            @for tile in tiles(facts) {
                div class={ "tile " (tile.tone) } {
                    dt { (tile.name) }
                    dd { span.big { (number(tile.count)) } @if let Some(more) = tile.more { span.more { (more) } } }
                }
            }
        }
        (unread(facts))
    }
}

fn empty(facts: &Facts<'_>) -> Markup {
    html! {
        p.lead {
            @if facts.ask.spec.is_some() && !facts.ledger.is_empty() {
                "No record was made on a commit of this range; the ledger holds "
                (count(facts.ledger.len(), "record")) "."
            } @else {
                "The ledger is empty: nothing has been recorded here yet. "
                code { "git operator task <id>" } " opens a task, "
                code { "git operator run <task> <criterion> -- <command>" } " earns its first verdict."
            }
        }
        (unread(facts))
    }
}

/// What `verify` comes to, in its words.
fn sentence(facts: &Facts<'_>) -> Markup {
    let report = match facts.judgement {
        Ok(report) => report,
        Err(reason) => {
            return html! { p.lead.warn { "The records could not be judged: " (super::links::text(reason, 400)) } };
        }
    };
    let met = report
        .requirements
        .iter()
        .filter(|one| one.state.is_met())
        .count();
    let all = report.requirements.len();
    let tone = match report.exit() {
        0 => "pass",
        1 | 3 => "fail",
        _ => "warn",
    };
    html! {
        p class={ "lead " (tone) } {
            strong { (capital(report.verdict())) } ": "
            @if all == 0 { "nothing is required here." }
            @else { (number(met)) " of " (criteria(all)) " hold for the source as it is." }
        }
    }
}

fn criteria(count: usize) -> String {
    let noun = if count == 1 { "criterion" } else { "criteria" };
    format!("{} {noun}", number(count))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

struct Tile {
    name: &'static str,
    count: usize,
    more: Option<String>,
    tone: &'static str,
}

fn tiles(facts: &Facts<'_>) -> Vec<Tile> {
    let outcome = |wanted| {
        facts
            .verdicts()
            .filter(|(_, verdict)| verdict.outcome == wanted)
            .count()
    };
    let open = facts.tasks.iter().filter(|task| task.open).count();
    let contested = facts
        .tasks
        .iter()
        .flat_map(|task| &task.standings)
        .filter(|standing| standing.state == State::Contested)
        .count();
    let flaky = facts.flaky.len();
    let sessions: BTreeSet<&str> = facts
        .records
        .iter()
        .filter_map(|one| one.owner.as_deref())
        .collect();
    let runs = facts
        .verdicts()
        .filter(|(_, verdict)| verdict.run.is_some())
        .count();
    let tile = |name, count, tone| Tile {
        name,
        count,
        more: None,
        tone,
    };
    let doubt = |count| if count > 0 { "warn" } else { "plain" };
    vec![
        Tile {
            more: Some(format!("{} open here", number(open))),
            ..tile("Tasks", facts.tasks.len(), "plain")
        },
        Tile {
            more: Some(format!("{} by run", number(runs))),
            ..tile("PASS", outcome(Outcome::Pass), "pass")
        },
        tile("FAIL", outcome(Outcome::Fail), "fail"),
        tile("MOOT", outcome(Outcome::Moot), "moot"),
        tile("Contested", contested, doubt(contested)),
        tile("Flaky", flaky, doubt(flaky)),
        tile("Sessions", sessions.len(), "plain"),
        tile("Records", facts.records.len(), "plain"),
    ]
}

/// What of the ledger no line can be made of.
fn unread(facts: &Facts<'_>) -> Markup {
    let newer = facts.ledger.newer().count();
    let aside: Vec<_> = facts.ledger.quarantined().collect();
    let strange = facts
        .records
        .iter()
        .filter(|one| matches!(one.body, Body::Other(_)))
        .count();
    html! {
        @if newer > 0 { p.note { (count(newer, "record")) " of a later version cannot be read here: upgrade git-operator." } }
        @if strange > 0 { p.note { (count(strange, "record")) " of a kind this program does not know." } }
        @if !aside.is_empty() {
            details {
                summary { (count(aside.len(), "line")) " of the ledger set aside" }
                ul { @for line in aside.iter().take(100) { li { (super::links::text(&line.place, 80)) ": " (super::links::text(&line.reason, 200)) } } }
            }
        }
    }
}
