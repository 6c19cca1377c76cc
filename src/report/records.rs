//! The records themselves, newest first, paged by month: what every link leads to.

use maud::{Markup, html};

use super::{
    facts::{Facts, LISTED},
    links::{self, TEXT, anchor, count, number},
};
use crate::{
    model::{Record, time},
    ui::{cut, record as shown},
};

/// A stretch with more records than this is parted by day.
const PAGE: usize = 300;

pub(super) fn html(facts: &Facts<'_>) -> Markup {
    let mut listed: Vec<&Record> = facts.records.iter().rev().take(LISTED).copied().collect();
    if listed.is_empty() {
        return html! { p { "None." } };
    }
    // Times of several clones need not follow their order; a month is one stretch all the same.
    listed.sort_by_key(|record| std::cmp::Reverse(day(record)));
    let left_out = facts.records.len() - listed.len();
    html! {
        p {
            (count(listed.len(), "record")) ", newest first. A link to a record opens its month. "
            @if left_out > 0 { (number(left_out)) " older ones are counted above; " code { "git operator log" } " lists them." }
        }
        div.records {
            @for month in listed.chunk_by(|one, other| day(one)[..7.min(day(one).len())] == day(other)[..7.min(day(other).len())]) {
                (stretch(facts, month))
            }
        }
    }
}

/// Returns the day of a record; nothing for one without a time.
fn day(record: &Record) -> String {
    match record.time {
        0 => String::new(),
        at => time::format_date(at),
    }
}

fn stretch(facts: &Facts<'_>, month: &[&Record]) -> Markup {
    let name = day(month[0]);
    let name = name.get(..7).unwrap_or("Without a time");
    html! {
        details.month {
            summary { h3 { (name) } " " span.none { (count(month.len(), "record")) } }
            @if month.len() <= PAGE { (list(facts, month)) }
            @else {
                @for some in month.chunk_by(|one, other| day(one) == day(other)) {
                    details.day {
                        summary { h4 { (day(some[0])) } " " span.none { (count(some.len(), "record")) } }
                        (list(facts, some))
                    }
                }
            }
        }
    }
}

fn list(facts: &Facts<'_>, some: &[&Record]) -> Markup {
    html! {
        ol.list { @for record in some { (line(facts, record)) } }
    }
}

fn line(facts: &Facts<'_>, record: &Record) -> Markup {
    let subject = shown::subject(record);
    html! {
        li id=(anchor(&record.id)) {
            span.id title=(record.id) { (record.id.short()) }
            " " (links::moment(record.time)) " " (links::word(record))
            " " bdi { (cut(&subject, TEXT)) }
            @if facts.ledger.retracted_by(record).is_some() { " " span.word.warn { "retracted" } }
            @if let Some(headline) = facts.headline(&record.id).filter(|one| !one.is_fresh()) {
                " " span.state { (headline.to_string()) }
            }
            @let made = record.commits();
            @if !made.is_empty() { " " span.at { (facts.made_on(record)) } }
        }
    }
}
