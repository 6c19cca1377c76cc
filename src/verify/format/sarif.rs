//! SARIF 2.1.0: one rule for each state that occurs.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Report, sentence, shown};
use crate::{
    model::RepoPath,
    verify::report::{Finding, Requirement, Severity, State},
};

pub(super) fn render(report: &Report) -> String {
    let unmet = report.requirements.iter().filter(|one| !one.state.is_met());
    let mut results: Vec<Value> = report.findings.iter().map(of_finding).collect();
    results.extend(unmet.map(of_requirement));
    let rules: BTreeSet<&str> = results
        .iter()
        .filter_map(|result| result["ruleId"].as_str())
        .collect();
    let rules: Vec<Value> = rules.iter().map(|id| json!({"id": id})).collect();
    let value = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "git-operator",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": results,
        }],
    });
    format!("{}\n", super::json_text(&value))
}

fn of_finding(finding: &Finding) -> Value {
    let level = match finding.severity {
        Severity::Warning => "warning",
        _ => "error",
    };
    let path = || finding.place.as_ref().map(|(path, _)| path.quoted());
    let about = finding.record.map(|id| id.to_string()).or_else(path);
    let about = about.unwrap_or_default();
    // A reader of SARIF may refuse a result that lies nowhere.
    let place = match &finding.place {
        Some((path, line)) => location(path, *line),
        None => location(&RepoPath::from(crate::verify::requirements::PATH), 0),
    };
    json!({
        "ruleId": finding.word,
        "level": level,
        "message": {"text": shown(&finding.message)},
        "locations": [place],
        "partialFingerprints": {"state/v1": format!("{}/{about}", finding.word)},
    })
}

fn of_requirement(one: &Requirement) -> Value {
    let word = match &one.state {
        State::Met(headline) | State::Unmet(headline) => headline.word,
        State::Missing => "missing",
        State::Exempt { .. } => "exempt",
    };
    let places: Vec<Value> = match one.paths.as_slice() {
        [] => vec![location(
            &RepoPath::from(crate::verify::requirements::PATH),
            0,
        )],
        paths => paths.iter().map(|path| location(path, 0)).collect(),
    };
    json!({
        "ruleId": word,
        "level": "error",
        "message": {"text": format!("{}: {}", shown(&one.criterion), sentence(one))},
        "locations": places,
        "partialFingerprints": {"state/v1": format!("{}/{word}", one.criterion)},
    })
}

fn location(path: &RepoPath, line: usize) -> Value {
    let mut physical = json!({"artifactLocation": {"uri": uri(path)}});
    if line > 0 {
        physical["region"] = json!({"startLine": line});
    }
    json!({"physicalLocation": physical})
}

/// Percent-encodes what a URI's path cannot hold.
fn uri(path: &RepoPath) -> String {
    path.as_bytes()
        .iter()
        .map(|c| match c {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                char::from(*c).to_string()
            }
            c => format!("%{c:02X}"),
        })
        .collect()
}
