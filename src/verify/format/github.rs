//! Annotations of a GitHub job. It shows ten of a level in a step, so the worst nine go out and a
//! tenth says how many there are; the summary page has all.

use super::{Report, sentence, shown};
use crate::{
    model::RepoPath,
    verify::report::{Finding, Requirement, Severity},
};

const LIMIT: usize = 9;

struct Annotation {
    level: &'static str,
    title: String,
    message: String,
    place: Option<(RepoPath, usize)>,
}

pub(super) fn render(report: &Report) -> String {
    let all = annotations(report);
    let mut out = String::new();
    for level in ["error", "warning"] {
        let of_level: Vec<&Annotation> = all.iter().filter(|one| one.level == level).collect();
        for one in of_level.iter().take(LIMIT) {
            out.push_str(&one.line());
        }
        if of_level.len() > LIMIT {
            let rest = of_level.len() - LIMIT;
            let message = format!("{rest} more are on the summary page of the job");
            out.push_str(&format!("::{level} title=git-operator::{message}\n"));
        }
    }
    let code = report.exit();
    out.push_str(&format!(
        "git-operator: {} (exit {code})\n",
        report.verdict()
    ));
    out
}

pub(super) fn summary(report: &Report) -> String {
    let mut out = format!("### git-operator: {}\n\n", report.verdict());
    if !report.requirements.is_empty() {
        out.push_str("| criterion | state |\n|---|---|\n");
    }
    for one in &report.requirements {
        let name = cell(&shown(&one.criterion));
        out.push_str(&format!("| {name} | {} |\n", cell(&sentence(one))));
    }
    out.push('\n');
    for finding in &report.findings {
        let message = cell(&shown(&finding.message));
        out.push_str(&format!("- **{}**: {message}\n", finding.word));
    }
    for one in report
        .requirements
        .iter()
        .filter(|one| !one.paths.is_empty())
    {
        out.push_str(&format!("\nPaths of {}:\n\n", cell(&shown(&one.criterion))));
        for path in &one.paths {
            out.push_str(&format!("- {}\n", cell(&shown(&path.quoted()))));
        }
    }
    out
}

/// Takes what Markdown would read out of a text.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '!' | '\\' | '@' | '#' | '~' | '$' => {
                out.push_str(&format!("&#{};", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

fn annotations(report: &Report) -> Vec<Annotation> {
    let findings = report.findings.iter().map(of_finding);
    let unmet = report.requirements.iter().filter(|one| !one.state.is_met());
    findings.chain(unmet.flat_map(of_requirement)).collect()
}

fn of_finding(finding: &Finding) -> Annotation {
    Annotation {
        level: match finding.severity {
            Severity::Warning => "warning",
            _ => "error",
        },
        title: finding.word.to_owned(),
        message: match &finding.remedy {
            Some(remedy) => format!("{}; run: {remedy}", finding.message),
            None => finding.message.clone(),
        },
        place: finding.place.clone(),
    }
}

/// One annotation for each path that differs, so that each stands at its file; one where none does.
fn of_requirement(one: &Requirement) -> Vec<Annotation> {
    let title = format!("{}: {}", one.criterion, one.state);
    let annotation = |place: Option<RepoPath>| Annotation {
        level: "error",
        title: title.clone(),
        message: sentence(one),
        place: place.map(|path| (path, 0)),
    };
    match one.paths.is_empty() {
        true => vec![annotation(None)],
        false => one
            .paths
            .iter()
            .cloned()
            .map(Some)
            .map(annotation)
            .collect(),
    }
}

impl Annotation {
    fn line(&self) -> String {
        let mut properties = vec![format!("title={}", property(&shown(&self.title)))];
        if let Some((path, line)) = &self.place {
            properties.push(format!("file={}", property(&shown(&path.quoted()))));
            if *line > 0 {
                properties.push(format!("line={line}"));
            }
        }
        let message = data(&shown(&self.message));
        format!("::{} {}::{message}\n", self.level, properties.join(","))
    }
}

fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
