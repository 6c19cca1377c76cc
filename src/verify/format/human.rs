use super::{Report, sentence, shown};
use crate::verify::report::Severity;

pub(super) fn render(report: &Report) -> String {
    let mut out = String::new();
    for requirement in &report.requirements {
        out.push_str(&format!(
            "{}: {}\n",
            shown(&requirement.criterion),
            sentence(requirement)
        ));
    }
    for finding in &report.findings {
        let weight = match finding.severity {
            Severity::Warning => "warning: ",
            _ => "",
        };
        let place = match &finding.place {
            Some((path, 0)) => format!("{}: ", shown(&path.quoted())),
            Some((path, line)) => format!("{}:{line}: ", shown(&path.quoted())),
            None => String::new(),
        };
        let message = shown(&finding.message);
        out.push_str(&format!("{weight}{place}{}: {message}\n", finding.word));
    }
    let target = match report.target {
        Some((commit, _)) => commit.short(),
        None => "no commit yet".to_owned(),
    };
    let met = report
        .requirements
        .iter()
        .filter(|one| one.state.is_met())
        .count();
    out.push_str(&format!(
        "{target}: {}, {met} of {} criteria met\n",
        report.verdict(),
        report.requirements.len()
    ));
    out
}
