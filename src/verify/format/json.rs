use serde_json::{Value, json};

use super::Report;
use crate::{
    model::{RepoPath, time},
    verify::{
        report::{Finding, Judged, Requirement, Severity, State},
        state::{Authenticity, Axes, Definition},
    },
};

pub(super) fn render(report: &Report) -> String {
    let (target, tree) = report.target.unzip();
    let value = json!({
        "v": 1,
        "type": "verify",
        "target": target.map(|id| id.to_hex()),
        "target_tree": tree.map(|id| id.to_hex()),
        "policy": {
            "from": report.policy.from.map(|id| id.to_hex()),
            "blob": report.policy.blob.map(|id| id.to_hex()),
            "ref": report.policy.name,
        },
        "exit": report.exit(),
        "verdict": report.verdict(),
        "requirements": report.requirements.iter().map(requirement).collect::<Vec<_>>(),
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        "records": report.records.iter().map(judged).collect::<Vec<_>>(),
    });
    format!("{}\n", super::json_text(&value))
}

fn paths(paths: &[RepoPath]) -> Vec<String> {
    paths.iter().map(RepoPath::quoted).collect()
}

fn requirement(one: &Requirement) -> Value {
    let (word, grade) = match &one.state {
        State::Met(headline) | State::Unmet(headline) => (headline.word, headline.grade),
        State::Missing => ("missing", None),
        State::Exempt { .. } => ("exempt", None),
    };
    json!({
        "criterion": one.criterion,
        "met": one.state.is_met(),
        "state": word,
        "grade": grade.map(|grade| grade.as_str()),
        "class": one.class.map(|class| class.as_str()),
        "task": one.task,
        "record": one.record.map(|id| id.to_string()),
        "tested_at": one.tested_at.map(|id| id.to_hex()),
        "paths": paths(&one.paths),
        "details": one.details,
        "remedy": one.remedy,
    })
}

fn finding(one: &Finding) -> Value {
    json!({
        "state": one.word,
        "severity": match one.severity {
            Severity::Warning => "warning",
            Severity::Unmet => "unmet",
            Severity::Undecided => "undecided",
            Severity::Unchecked => "unchecked",
            Severity::Integrity => "integrity",
        },
        "message": one.message,
        "record": one.record.map(|id| id.to_string()),
        "path": one.place.as_ref().map(|(path, _)| path.quoted()),
        "line": one.place.as_ref().map(|(_, line)| *line).filter(|line| *line > 0),
        "remedy": one.remedy,
    })
}

fn judged(one: &Judged) -> Value {
    let headline = one.headline();
    json!({
        "id": one.id.to_string(),
        "task": one.task,
        "criterion": one.criterion,
        "class": one.class.as_str(),
        "time": time::format_time(one.time),
        "tested_at": one.tested_at.map(|id| id.to_hex()),
        "head": one.head,
        "counts": one.counts,
        "state": headline.word,
        "axes": axes(&one.axes),
    })
}

fn axes(axes: &Axes) -> Value {
    let binding = match (axes.binding.grade(), axes.accepted) {
        (Some(_), false) => "weak-binding",
        _ => axes.binding.as_str(),
    };
    let principals = match &axes.authenticity {
        Authenticity::Trusted(principals) => principals.clone(),
        _ => Vec::new(),
    };
    let taints = match &axes.definition {
        Definition::Tainted(taints) => taints.clone(),
        _ => Vec::new(),
    };
    json!({
        "integrity": axes.integrity.map_or("sound", |integrity| integrity.as_str()),
        "authenticity": axes.authenticity.as_str(),
        "principals": principals,
        "definition": axes.definition.as_str(),
        "taints": taints,
        "binding": binding,
        "grade": axes.binding.grade().map(|grade| grade.as_str()),
        "paths": paths(axes.binding.paths()),
        "outcome": axes.result.as_str(),
        "age": if axes.expired { "expired" } else { "current" },
    })
}
