//! The page around its sections.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    commits, cost, decisions, doubts, facts::Facts, links, matrix, records, sessions, summary,
    timeline,
};

const STYLE: &str = include_str!("../../templates/report.css");

/// Nothing is fetched and nothing runs, whatever a record holds.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// A part of the page: its place, its name, and what stands in it.
struct Section {
    id: &'static str,
    title: &'static str,
    body: Markup,
}

/// Returns the page.
pub(super) fn html(facts: &Facts<'_>) -> Markup {
    let sections = sections(facts);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "git-operator " (env!("CARGO_PKG_VERSION")) };
                link rel="icon" href="data:,";
                title { "Evidence in " (crate::ui::one_line(&facts.local.name)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#summary" { "Skip to the summary" }
                (header(facts))
                nav aria-label="Sections" {
                    ul {
                        @for one in &sections { li { a href={ "#" (one.id) } { (one.title) } } }
                    }
                }
                main {
                    @for one in &sections {
                        section id=(one.id) aria-labelledby={ (one.id) "-title" } {
                            h2 id={ (one.id) "-title" } { (one.title) }
                            (one.body)
                        }
                    }
                }
                (footer())
            }
        }
    }
}

fn sections(facts: &Facts<'_>) -> Vec<Section> {
    let of = |id, title, body| Section { id, title, body };
    vec![
        of("summary", "Summary", summary::html(facts)),
        of("timeline", "Verdicts over time", timeline::html(facts)),
        of("doubts", "In doubt", doubts::html(facts)),
        of("matrix", "Tasks and criteria", matrix::html(facts)),
        of("decisions", "Decisions to present", decisions::html(facts)),
        of("commits", "Commits and whose work", commits::html(facts)),
        of("sessions", "Sessions", sessions::html(facts)),
        of("cost", "What the gate cost", cost::html(facts)),
        of("records", "Records", records::html(facts)),
    ]
}

fn header(facts: &Facts<'_>) -> Markup {
    let target = match facts.judgement {
        Ok(report) => report.target.map(|(commit, _)| commit),
        Err(_) => None,
    };
    let newest = facts.records.iter().map(|record| record.time).max();
    html! {
        header {
            p.over { "git-operator" }
            h1 { "Evidence in " (links::text(&facts.local.name, 60)) }
            p.about {
                @if let Some(spec) = &facts.ask.spec {
                    "Range " code { (links::text(spec, 80)) } ". "
                }
                @if let Some(target) = target {
                    "Judged against commit " code { (target.short()) } ". "
                }
                @if let Some(newest) = newest.filter(|newest| *newest > 0) {
                    "Newest record " (links::moment(newest)) " UTC."
                }
            }
        }
    }
}

fn footer() -> Markup {
    html! {
        footer {
            p {
                "Made by " code { "git operator report" } " " (env!("CARGO_PKG_VERSION"))
                " from refs/operator/ledger. " code { "git operator show <id>" }
                " shows a record whole, " code { "git operator verify" } " judges again. Times are UTC."
            }
        }
    }
}
