//! JUnit XML: a suite for each task, a case for each criterion.

use std::collections::BTreeMap;

use super::{Report, sentence};
use crate::verify::report::{Requirement, Severity, State};

pub(super) fn render(report: &Report) -> String {
    let mut suites: BTreeMap<&str, Vec<&Requirement>> = BTreeMap::new();
    for one in &report.requirements {
        let task = one.task.as_deref().unwrap_or("-");
        suites.entry(task).or_default().push(one);
    }
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for (task, cases) in suites {
        let cases: String = cases.into_iter().map(|one| case(task, one)).collect();
        out.push_str(&suite(task, &cases));
    }
    let heavy: Vec<String> = report
        .findings
        .iter()
        .filter(|finding| finding.severity > Severity::Warning)
        .map(|finding| {
            let tag = match finding.severity {
                Severity::Unmet | Severity::Warning => "failure",
                Severity::Undecided | Severity::Unchecked | Severity::Integrity => "error",
            };
            element(("ledger", finding.word), tag, &finding.message)
        })
        .collect();
    if !heavy.is_empty() {
        out.push_str(&suite("ledger", &heavy.concat()));
    }
    out.push_str("</testsuites>\n");
    out
}

fn suite(name: &str, cases: &str) -> String {
    let count = |tag: &str| cases.matches(&format!("<{tag} ")).count();
    format!(
        "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{cases}</testsuite>\n",
        xml(name),
        count("testcase"),
        count("failure"),
        count("error"),
        count("skipped"),
    )
}

fn case(task: &str, one: &Requirement) -> String {
    let name = (task, one.criterion.as_str());
    let undecided = [
        "undecidable",
        "sig-unverifiable",
        "forged",
        "contradicted",
        "foreign",
    ];
    let text = sentence(one);
    match &one.state {
        State::Met(_) => format!(
            "<testcase classname=\"{}\" name=\"{}\"/>\n",
            xml(task),
            xml(name.1)
        ),
        State::Exempt { .. } => element(name, "skipped", &text),
        State::Unmet(headline) if undecided.contains(&headline.word) => {
            element(name, "error", &text)
        }
        State::Unmet(_) | State::Missing => element(name, "failure", &text),
    }
}

fn element((task, name): (&str, &str), tag: &str, message: &str) -> String {
    format!(
        "<testcase classname=\"{}\" name=\"{}\"><{tag} message=\"{}\"/></testcase>\n",
        xml(task),
        xml(name),
        xml(message)
    )
}

fn xml(text: &str) -> String {
    let mut out = String::new();
    for c in super::shown(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML has no way to write these.
            '\u{fffe}' | '\u{ffff}' => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}
