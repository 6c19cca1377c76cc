//! What each session recorded.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{
    facts::Facts,
    links::{self, NAME, number, text},
};
use crate::model::{Body, Outcome, Record, SessionEvent};

/// How many sessions stand open, and how many are listed.
const FIRST: usize = 20;
const LIMIT: usize = 500;

#[derive(Default)]
struct Told<'a> {
    tasks: usize,
    outcomes: [usize; 3],
    deferred: usize,
    released: usize,
    left: usize,
    last: Option<&'a Record>,
}

pub(super) fn html(facts: &Facts<'_>) -> Markup {
    let mut told: BTreeMap<&str, Told<'_>> = BTreeMap::new();
    for record in &facts.records {
        if let Some(owner) = &record.owner {
            add(told.entry(owner).or_default(), record);
        }
    }
    if told.is_empty() {
        return html! { p { "No record names a session." } };
    }
    let mut told: Vec<(&str, Told<'_>)> = told.into_iter().collect();
    told.sort_by_key(|(_, told)| std::cmp::Reverse(told.last.map(Record::order)));
    let all = told.len();
    told.truncate(LIMIT);
    let (first, rest) = told.split_at(told.len().min(FIRST));
    html! {
        (table(facts, "Sessions, those heard of last first", first))
        @if !rest.is_empty() {
            details {
                summary { (number(rest.len())) " more" }
                (table(facts, "Older sessions", rest))
            }
        }
        @if all > LIMIT { p.note { (number(all - LIMIT)) " older sessions are not listed." } }
    }
}

fn add<'a>(told: &mut Told<'a>, record: &'a Record) {
    told.last = Some(record);
    match &record.body {
        Body::Task(_) => told.tasks += 1,
        Body::Verdict(verdict) => told.outcomes[at(verdict.outcome)] += 1,
        Body::Defer(_) => told.deferred += 1,
        Body::Session(note) => match note.event {
            SessionEvent::Released => told.released += 1,
            SessionEvent::Ended => told.left += 1,
        },
        _ => {}
    }
}

fn at(outcome: Outcome) -> usize {
    match outcome {
        Outcome::Pass => 0,
        Outcome::Fail => 1,
        Outcome::Moot => 2,
    }
}

fn table(facts: &Facts<'_>, caption: &str, some: &[(&str, Told<'_>)]) -> Markup {
    const HEADS: [&str; 7] = [
        "Tasks",
        "PASS",
        "FAIL",
        "MOOT",
        "Deferred",
        "Let go",
        "Left open",
    ];
    html! {
        div.wide role="region" tabindex="0" aria-label=(caption) {
            table {
                caption { (caption) }
                thead { tr { th scope="col" { "Session" } @for head in HEADS { th.n scope="col" { (head) } } th scope="col" { "Last record" } } }
                tbody {
                    @for (owner, told) in some {
                        tr {
                            th scope="row" { (text(owner, NAME)) }
                            td.n { (number(told.tasks)) }
                            @for count in told.outcomes { td.n { (number(count)) } }
                            td.n { (number(told.deferred)) }
                            td.n { (number(told.released)) }
                            td.n { (number(told.left)) }
                            td { @if let Some(last) = told.last { (links::moment(last.time)) " " (facts.record(&last.id)) } }
                        }
                    }
                }
            }
        }
    }
}
