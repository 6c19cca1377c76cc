//! Texts of records and links to them, as every part of the page shows them.

use maud::{Markup, html};

use super::facts::Facts;
use crate::{
    model::{Outcome, Record, RecordId, time},
    ui::{cut, one_line, record as shown},
};

/// How much of a name and of a longer text is shown.
pub(super) const NAME: usize = 80;
pub(super) const TEXT: usize = 240;

/// Returns a text of a record: on one line, nothing in it acting, apart from the direction around it.
pub(super) fn text(text: &str, limit: usize) -> Markup {
    html! { bdi { (cut(&one_line(text), limit)) } }
}

/// Returns where a record's line is on the page: the first 80 bits of its hash.
pub(super) fn anchor(id: &RecordId) -> String {
    format!("r-{}", &id.hash()[..16])
}

/// Returns a number as people group it.
pub(super) fn number(count: usize) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns `1 task`, `2 tasks`.
pub(super) fn count(count: usize, one: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{} {one}{end}", number(count))
}

/// Returns when something was, to the minute; nothing where no time is known.
pub(super) fn moment(ms: u64) -> Markup {
    html! {
        @if ms > 0 {
            @let at = time::format_time(ms);
            time datetime=(at) { (at[..16].replace('T', " ")) }
        } @else {
            span.none { "no time" }
        }
    }
}

/// Returns a record's word in its color; the word says the same without it.
pub(super) fn word(record: &Record) -> Markup {
    let word = shown::word(record);
    html! { span class={ "word " (tone(word)) } { (cut(&one_line(word), 20)) } }
}

/// Returns the class that colors a word.
pub(super) fn tone(word: &str) -> &'static str {
    match word {
        "PASS" => "pass",
        "FAIL" | "ERROR" | "MUTATED" | "TIMEOUT" => "fail",
        "MOOT" | "layout" | "signature" | "rewrite" | "work" | "SKIP" => "moot",
        "DEVIATION" | "ESCALATION" | "GATE-EXCEPTION" | "defer" | "session" | "retract"
        | "redact" | "INTERRUPT" => "warn",
        _ => "plain",
    }
}

/// Returns the sign that stands before an outcome, so that color is never alone.
pub(super) fn sign(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "✓",
        Outcome::Fail => "✗",
        Outcome::Moot => "–",
    }
}

impl Facts<'_> {
    /// Returns the abbreviated id of a record, a link where the record has a line.
    pub(super) fn record(&self, id: &RecordId) -> Markup {
        html! {
            @if self.listed.contains(id) {
                a.id href={ "#" (anchor(id)) } { (id.short()) }
            } @else {
                span.id title="older than the lines of this page" { (id.short()) }
            }
        }
    }

    /// Returns the abbreviated id of a commit, a link where the commit has a line.
    pub(super) fn commit(&self, digits: &str) -> Markup {
        let id = self.whole(digits);
        let short = cut(&one_line(&id), 13).chars().take(12).collect::<String>();
        html! {
            @if self.has_line(&id) {
                a.id href={ "#c-" (short) } { (short) }
            } @else {
                span.id { (short) }
            }
        }
    }

    /// Returns the commits a record was made on; of a rewrite, how many.
    pub(super) fn made_on(&self, record: &Record) -> Markup {
        let commits = record.commits();
        html! {
            @match commits.as_slice() {
                [] => {}
                [one] => (self.commit(one)),
                several => span.none { (count(several.len(), "commit")) },
            }
        }
    }
}
