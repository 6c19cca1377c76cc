//! What does not hold and why: criteria against the commit, heads that differ, runs that differ, and
//! whatever else `verify` found.

use maud::{Markup, html};

use super::{
    facts::{Facts, Flaky},
    links::{self, NAME, TEXT, number, text},
};
use crate::{
    ledger::{Standing, State},
    model::{Record, RepoPath},
    ui::record as shown,
    verify::report::{Finding, Requirement, Severity, State as Met},
};

/// How many rows stand open, and how many a table has at all.
const ROWS: usize = 12;
const LIMIT: usize = 500;
/// How many paths a row names.
const PATHS: usize = 6;

pub(super) fn html(facts: &Facts<'_>) -> Markup {
    let contested: Vec<(&str, &Standing<'_>)> = facts
        .tasks
        .iter()
        .flat_map(|task| task.standings.iter().map(|standing| (task.name, standing)))
        .filter(|(_, standing)| standing.state == State::Contested)
        .collect();
    let (unmet, findings) = match facts.judgement {
        Ok(report) => (
            report
                .requirements
                .iter()
                .filter(|one| !one.state.is_met())
                .collect(),
            report.findings.iter().collect(),
        ),
        Err(_) => (Vec::new(), Vec::new()),
    };
    let clear = contested.is_empty() && unmet.is_empty() && facts.flaky.is_empty();
    html! {
        @if let Err(reason) = facts.judgement {
            p.lead.warn { "What is stale cannot be said: " (text(reason, 400)) }
        }
        @if clear && facts.judgement.is_ok() {
            p { "Nothing: no criterion is stale, contested or flaky." }
        }
        (stale(facts, &unmet))
        (contests(facts, &contested))
        (flaky(facts))
        (found(facts, &findings))
    }
}

/// Returns rows of a table, the first ones open and the rest behind a line that opens them.
fn rows<T>(caption: &str, heads: &[&str], all: &[T], row: impl Fn(&T) -> Markup) -> Markup {
    let table = |caption: &str, some: &[T]| {
        html! {
            div.wide role="region" tabindex="0" aria-label=(caption) {
                table {
                    caption { (caption) }
                    thead { tr { @for head in heads { th scope="col" { (head) } } } }
                    tbody { @for one in some { tr { (row(one)) } } }
                }
            }
        }
    };
    let all = &all[..all.len().min(LIMIT)];
    let (first, rest) = all.split_at(all.len().min(ROWS));
    html! {
        (table(caption, first))
        @if !rest.is_empty() {
            details {
                summary { (number(rest.len())) " more" }
                (table(&format!("{caption}, continued"), rest))
            }
        }
    }
}

fn stale(facts: &Facts<'_>, unmet: &[&Requirement]) -> Markup {
    html! {
        @if !unmet.is_empty() {
            h3 { "Criteria that do not hold" }
            (rows("Criteria that do not hold for the source as it is", &["Criterion", "State", "Why", "Record"], unmet, |one| html! {
                th scope="row" { (text(&one.criterion, NAME)) }
                td { span.word.warn { (one.state.to_string()) } }
                td { (why(one)) }
                td {
                    @if let Some(id) = &one.record { (facts.record(id)) }
                    @if let Some(commit) = one.tested_at { " made at " (facts.commit(&commit.to_string())) }
                }
            }))
        }
    }
}

fn why(one: &Requirement) -> Markup {
    html! {
        @if let Met::Exempt { reason, until } = &one.state { (text(reason, TEXT)) " until " (text(until, 40)) }
        @if !one.paths.is_empty() { "changed since: " (paths(&one.paths)) " " }
        @for detail in &one.details { (text(detail, TEXT)) " " }
        @if one.record.is_none() { "no record speaks of it " }
        @if let Some(remedy) = &one.remedy { code.remedy { (text(remedy, TEXT)) } }
    }
}

fn paths(paths: &[RepoPath]) -> Markup {
    html! {
        @for (at, path) in paths.iter().take(PATHS).enumerate() {
            @if at > 0 { ", " }
            code { (text(&path.quoted(), NAME)) }
        }
        @if paths.len() > PATHS { " and " (number(paths.len() - PATHS)) " more" }
    }
}

fn contests(facts: &Facts<'_>, contested: &[(&str, &Standing<'_>)]) -> Markup {
    html! {
        @if !contested.is_empty() {
            h3 { "Contested" }
            p { "Two clones said different things without knowing of each other; until a later verdict settles it, the criterion counts as not passed." }
            (rows("Contested criteria", &["Task", "Criterion", "Heads"], contested, |(task, standing)| html! {
                th scope="row" { (text(task, NAME)) }
                td { (text(standing.criterion, NAME)) }
                td { (heads(facts, &standing.heads)) }
            }))
        }
    }
}

fn heads(facts: &Facts<'_>, heads: &[&Record]) -> Markup {
    html! {
        ul.runs {
            @for head in heads.iter().take(PATHS) {
                li {
                    (links::word(head)) " " (facts.record(&head.id))
                    @if let Some(owner) = &head.owner { " by " (text(owner, 40)) }
                    " " (facts.made_on(head))
                }
            }
        }
        @if heads.len() > PATHS { (number(heads.len() - PATHS)) " more" }
    }
}

fn flaky(facts: &Facts<'_>) -> Markup {
    html! {
        @if !facts.flaky.is_empty() {
            h3 { "Flaky" }
            p { "The same command on the same source came to different ends." }
            (rows("Runs that differ on one source", &["Criterion", "Source", "Ends", "The newest of each"], &facts.flaky, |one| html! {
                th scope="row" { (text(one.criterion, NAME)) }
                td { span.id title="subject tree" { (one.subject.short()) } }
                td { (ends(one)) }
                td { (heads(facts, &newest(one))) }
            }))
        }
    }
}

/// Returns the newest run of each end.
fn newest<'a>(one: &Flaky<'a>) -> Vec<&'a Record> {
    let mut found: Vec<&Record> = Vec::new();
    for run in one.runs.iter().rev() {
        if found
            .iter()
            .all(|known| shown::word(known) != shown::word(run))
        {
            found.push(run);
        }
    }
    found
}

fn ends(one: &Flaky<'_>) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for run in &one.runs {
        let word = shown::word(run);
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    let ends: Vec<String> = counts
        .iter()
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    ends.join(", ")
}

fn found(facts: &Facts<'_>, findings: &[&Finding]) -> Markup {
    html! {
        @if !findings.is_empty() {
            h3 { "Also found" }
            (rows("What verify found beside the criteria", &["What", "Weight", "Says", "Record"], findings, |one| html! {
                th scope="row" { (one.word) }
                td { (weight(one.severity)) }
                td { (text(&one.message, TEXT)) @if let Some(remedy) = &one.remedy { " " code.remedy { (text(remedy, TEXT)) } } }
                td { @if let Some(id) = &one.record { (facts.record(id)) } }
            }))
        }
    }
}

fn weight(severity: Severity) -> Markup {
    let (tone, word) = match severity {
        Severity::Warning => ("moot", "warning"),
        Severity::Unmet => ("warn", "unmet"),
        Severity::Undecided => ("warn", "cannot decide"),
        Severity::Unchecked => ("warn", "not checked"),
        Severity::Integrity => ("fail", "integrity"),
    };
    html! { span class={ "word " (tone) } { (word) } }
}
