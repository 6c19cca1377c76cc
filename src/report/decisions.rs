//! Deviations, escalations and exceptions that no handoff has presented.

use std::collections::HashSet;

use maud::{Markup, html};

use super::{
    facts::Facts,
    links::{self, NAME, TEXT, number, text},
};
use crate::model::{Body, Decision, Record, RecordId};

/// How many stand open, and how many are listed.
const FIRST: usize = 12;
const LIMIT: usize = 200;

pub(super) fn html(facts: &Facts<'_>) -> Markup {
    let presented: HashSet<RecordId> = facts.ledger.iter().flat_map(covers).copied().collect();
    let here: HashSet<RecordId> = facts.local.waiting.iter().map(|one| one.id).collect();
    let mut waiting: Vec<(&Record, &Decision)> = Vec::new();
    for record in facts.records.iter().rev() {
        if let Body::Decision(decision) = &record.body
            && decision.decision.wants_presenting()
            && !presented.contains(&record.id)
            && facts.ledger.retracted_by(record).is_none()
        {
            waiting.push((record, decision));
        }
    }
    html! {
        @if waiting.is_empty() { p { "None: every deviation, escalation and exception was presented." } }
        @else {
            p {
                (links::count(waiting.len(), "decision")) " that no handoff covers. "
                code { "git operator handoff" } " presents them; those marked " span.word.warn { "asked here" }
                " hold a Stop back in this clone."
            }
            (table(facts, "Decisions that nobody was shown, newest first", &waiting[..waiting.len().min(FIRST)], &here))
            @if waiting.len() > FIRST {
                details {
                    summary { (number(waiting.len().min(LIMIT) - FIRST)) " more" }
                    (table(facts, "Older decisions that nobody was shown", &waiting[FIRST..waiting.len().min(LIMIT)], &here))
                }
            }
            @if waiting.len() > LIMIT { p.note { (number(waiting.len() - LIMIT)) " older ones are not listed." } }
        }
    }
}

fn table(
    facts: &Facts<'_>,
    caption: &str,
    some: &[(&Record, &Decision)],
    here: &HashSet<RecordId>,
) -> Markup {
    const HEADS: [&str; 6] = ["Record", "Kind", "Scope", "What", "Why", "Made"];
    html! {
        div.wide role="region" tabindex="0" aria-label=(caption) {
            table {
                caption { (caption) }
                thead { tr { @for head in HEADS { th scope="col" { (head) } } } }
                tbody {
                    @for (record, decision) in some {
                        (row(facts, record, (decision, here.contains(&record.id).then_some(()))))
                    }
                }
            }
        }
    }
}

fn row(facts: &Facts<'_>, record: &Record, (decision, here): (&Decision, Option<()>)) -> Markup {
    html! {
        tr {
            th scope="row" { (facts.record(&record.id)) }
            td { (links::word(record)) @if here.is_some() { " " span.word.warn { "asked here" } } }
            td { (text(&decision.scope, NAME)) }
            td { (text(&decision.what, TEXT)) }
            td { (text(&decision.why, TEXT)) }
            td { (links::moment(record.time)) @if let Some(owner) = &record.owner { span.under { (text(owner, 24)) } } }
        }
    }
}

/// Returns what a handoff mark presents.
fn covers(record: &Record) -> &[RecordId] {
    if let Body::Decision(decision) = &record.body {
        &decision.covers
    } else {
        &[]
    }
}
