//! Tasks against criteria: the criteria that several tasks share are columns, the others stand in the
//! row.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{
    facts::{Facts, TaskFacts},
    links::{self, NAME, number, text},
};
use crate::{
    ledger::{Standing, State},
    model::{Outcome, Record, time},
};

/// How many criteria get a column.
const COLUMNS: usize = 6;
/// How many tasks stand open before the months, and how many criteria of one task are shown.
const FIRST: usize = 15;
const CHIPS: usize = 12;
/// How many tasks the page has at all.
const TASKS: usize = 5_000;

pub(super) fn html(facts: &Facts<'_>) -> Markup {
    if facts.tasks.is_empty() {
        return html! { p { "No record speaks of a task." } };
    }
    let columns = columns(&facts.tasks);
    let (urgent, calm): (Vec<&TaskFacts<'_>>, Vec<&TaskFacts<'_>>) = facts
        .tasks
        .iter()
        .take(TASKS)
        .partition(|task| is_urgent(facts, task));
    let (first, rest) = calm.split_at(calm.len().min(FIRST));
    html! {
        p {
            "Each cell is the verdict that stands. " span.word.moot { "stale" }
            " says that the source has changed since, as it does behind every task that is over."
        }
        @if !urgent.is_empty() {
            h3 { "Open, failed, contested or flaky" }
            (paged(facts, &columns, "Tasks that want attention", &urgent))
        }
        @if !first.is_empty() {
            h3 { "Settled" }
            (table(facts, &columns, ("The tasks settled last", first)))
            @for (month, tasks) in months(rest) {
                details {
                    summary { (month) ": " (links::count(tasks.len(), "task")) }
                    (table(facts, &columns, (&format!("Tasks settled in {month}"), &tasks)))
                }
            }
        }
        @if facts.tasks.len() > TASKS {
            p.note { (number(facts.tasks.len() - TASKS)) " older tasks are counted above and not listed." }
        }
    }
}

fn is_urgent(facts: &Facts<'_>, task: &TaskFacts<'_>) -> bool {
    let in_doubt = |standing: &Standing<'_>| match standing.state {
        State::Contested | State::Agreed(Outcome::Fail) => true,
        State::Agreed(Outcome::Pass | Outcome::Moot) => {
            standing.heads.iter().any(|head| facts.is_flaky(&head.id))
        }
    };
    task.open || task.standings.iter().any(in_doubt)
}

/// Returns the criteria that most tasks share, in order of how many do.
fn columns<'a>(tasks: &[TaskFacts<'a>]) -> Vec<&'a str> {
    let mut shared: BTreeMap<&str, usize> = BTreeMap::new();
    for standing in tasks.iter().flat_map(|task| &task.standings) {
        *shared.entry(standing.criterion).or_default() += 1;
    }
    let mut shared: Vec<(&str, usize)> =
        shared.into_iter().filter(|(_, count)| *count > 1).collect();
    shared.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    shared
        .into_iter()
        .take(COLUMNS)
        .map(|(criterion, _)| criterion)
        .collect()
}

/// Parts tasks by the month of their last record, newest first.
fn months<'a, 'b>(tasks: &[&'b TaskFacts<'a>]) -> Vec<(String, Vec<&'b TaskFacts<'a>>)> {
    let mut months: Vec<(String, Vec<&TaskFacts<'_>>)> = Vec::new();
    for task in tasks {
        let month = match task.last.time {
            0 => "without a time".to_owned(),
            at => time::format_date(at)[..7].to_owned(),
        };
        match months.iter_mut().find(|(known, _)| *known == month) {
            Some((_, of_month)) => of_month.push(task),
            None => months.push((month, vec![task])),
        }
    }
    months
}

/// Returns the first tasks, and the others behind a line that opens them.
fn paged(facts: &Facts<'_>, columns: &[&str], caption: &str, tasks: &[&TaskFacts<'_>]) -> Markup {
    let (first, rest) = tasks.split_at(tasks.len().min(FIRST));
    html! {
        (table(facts, columns, (caption, first)))
        @if !rest.is_empty() {
            details {
                summary { (number(rest.len())) " more" }
                (table(facts, columns, (&format!("{caption}, continued"), rest)))
            }
        }
    }
}

fn table(
    facts: &Facts<'_>,
    columns: &[&str],
    (caption, tasks): (&str, &[&TaskFacts<'_>]),
) -> Markup {
    let others = tasks
        .iter()
        .flat_map(|task| &task.standings)
        .any(|standing| !columns.contains(&standing.criterion));
    html! {
        div.wide role="region" tabindex="0" aria-label=(caption) {
            table.matrix {
                caption { (caption) }
                thead {
                    tr {
                        th scope="col" { "Task" }
                        th scope="col" { "Last record" }
                        @for column in columns { th scope="col" { (text(column, 40)) } }
                        @if others { th scope="col" { "Other criteria" } }
                    }
                }
                tbody { @for task in tasks { (row(facts, columns, others.then_some(()), task)) } }
            }
        }
    }
}

fn row(facts: &Facts<'_>, columns: &[&str], others: Option<()>, task: &TaskFacts<'_>) -> Markup {
    let of = |column: &str| task.standings.iter().find(|one| one.criterion == column);
    let rest: Vec<&Standing<'_>> = task
        .standings
        .iter()
        .filter(|one| !columns.contains(&one.criterion))
        .collect();
    html! {
        tr {
            th scope="row" {
                (text(task.name, NAME))
                @if task.open { " " span.word.warn { "open" } }
                @if let Some(owner) = task.owner { span.under { (text(owner, 24)) } }
            }
            td { (links::moment(task.last.time)) " " (facts.record(&task.last.id)) }
            @for column in columns {
                td { @if let Some(one) = of(column) { (cell(facts, one)) } @else { span.none { span.hidden { "no verdict" } span aria-hidden="true" { "·" } } } }
            }
            @if others.is_some() {
                td {
                    ul.chips { @for one in rest.iter().take(CHIPS) { li { (cell(facts, one)) " " (text(one.criterion, 48)) } } }
                    @if rest.len() > CHIPS { (number(rest.len() - CHIPS)) " more" }
                }
            }
        }
    }
}

fn cell(facts: &Facts<'_>, standing: &Standing<'_>) -> Markup {
    let head = standing.heads.last();
    let (sign, tone, word) = match standing.state {
        State::Contested => ("≠", "warn", "contested"),
        State::Agreed(outcome) => (
            links::sign(outcome),
            links::tone(outcome.as_str()),
            outcome.as_str(),
        ),
    };
    let state = head
        .and_then(|head| facts.headline(&head.id))
        .map(|headline| headline.word);
    let state = match head.is_some_and(|head| facts.is_flaky(&head.id)) {
        true => Some("flaky"),
        false => state,
    };
    // Said already by the outcome.
    let state = state.filter(|word| !matches!(*word, "fresh" | "failed" | "moot" | "contested"));
    html! {
        (outcome(facts, head.copied(), (sign, tone, word)))
        @if let Some(state) = state {
            @let tone = if state == "stale" { "moot" } else { "warn" };
            " " span class={ "word " (tone) } { (state) }
        }
        @if let Some(head) = head { " " span.at { (facts.made_on(head)) } }
    }
}

/// Returns the outcome, a link to its record where that has a line.
fn outcome(
    facts: &Facts<'_>,
    head: Option<&Record>,
    (sign, tone, word): (&str, &str, &str),
) -> Markup {
    let said = html! { span.sign aria-hidden="true" { (sign) } " " (word) };
    let listed = head.filter(|head| facts.listed.contains(&head.id));
    html! {
        @if let Some(head) = listed {
            a class={ "cell " (tone) } href={ "#" (links::anchor(&head.id)) } {
                (said) span.hidden { ", record " (head.id.short()) }
            }
        } @else {
            span class={ "cell " (tone) } { (said) }
        }
    }
}
