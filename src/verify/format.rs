//! A report as text for people and for machines. Nothing of a record reaches a line as it is.

mod github;
mod human;
mod json;
mod junit;
mod sarif;

use super::Report;
use crate::model::RepoPath;

/// A form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Human,
    Json,
    Github,
    Sarif,
    Junit,
}

impl Format {
    pub const ALL: &[Self] = &[
        Self::Human,
        Self::Json,
        Self::Github,
        Self::Sarif,
        Self::Junit,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Json => "json",
            Self::Github => "github",
            Self::Sarif => "sarif",
            Self::Junit => "junit",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|format| format.as_str() == text)
    }

    /// Returns the report in this form, its last line ended.
    pub fn render(self, report: &Report) -> String {
        match self {
            Self::Human => human::render(report),
            Self::Json => json::render(report),
            Self::Github => github::render(report),
            Self::Sarif => sarif::render(report),
            Self::Junit => junit::render(report),
        }
    }
}

/// Returns the whole report as Markdown, for the summary page of a job.
pub fn summary(report: &Report) -> String {
    github::summary(report)
}

/// Returns `text` with its control characters spelled out.
fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let hidden = c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
        match hidden {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    out
}

/// Returns JSON whose invisible characters are escapes.
fn json_text(value: &serde_json::Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        match u32::from(c) {
            0x7f..=0x9f | 0x61c | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x2069 | 0xfeff => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            _ => out.push(c),
        }
    }
    out
}

fn paths_shown(paths: &[RepoPath], limit: usize) -> String {
    let mut text = paths
        .iter()
        .take(limit)
        .map(|path| shown(&path.quoted()))
        .collect::<Vec<_>>()
        .join(", ");
    if paths.len() > limit {
        text.push_str(&format!(" and {} more", paths.len() - limit));
    }
    text
}

/// Returns the sentence that says why a criterion stands as it does.
fn sentence(requirement: &super::report::Requirement) -> String {
    use super::report::State;
    let mut text = match &requirement.state {
        State::Exempt { reason, until } => {
            return format!("exempt until {}: {}", shown(until), shown(reason));
        }
        state => state.to_string(),
    };
    if !requirement.paths.is_empty() {
        text.push_str(&format!(": {}", paths_shown(&requirement.paths, 10)));
    }
    let mut about = Vec::new();
    if let Some(task) = &requirement.task {
        about.push(format!("task '{}'", shown(task)));
    }
    if let Some(record) = &requirement.record {
        about.push(format!("record {}", record.short()));
    }
    if let Some(commit) = requirement.tested_at {
        about.push(format!("made at {}", commit.short()));
    }
    about.extend(requirement.details.iter().map(|detail| shown(detail)));
    if !about.is_empty() {
        text.push_str(&format!(" ({})", about.join(", ")));
    }
    text
}

#[cfg(test)]
#[path = "format/tests.rs"]
mod tests;
