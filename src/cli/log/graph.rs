//! The records of each task together, newest task first.

use std::collections::HashMap;

use super::{format, record};
use crate::{
    model::{Body, Record},
    ui::{Color, Failure, Paint, cut, one_line},
};

/// A record and its marks.
type Marked = (Record, String);

/// Records met so far, by what they are about.
#[derive(Default)]
pub(super) struct Graph {
    groups: Vec<(Option<String>, Vec<Marked>)>,
    places: HashMap<Option<String>, usize>,
}

impl Graph {
    /// Takes a record and its marks; the newest comes first.
    pub(super) fn take(&mut self, record: &Record, marks: String) {
        let about = about(record);
        let next = self.groups.len();
        let place = *self.places.entry(about.clone()).or_insert(next);
        if place == next {
            self.groups.push((about, Vec::new()));
        }
        self.groups[place].1.push((record.clone(), marks));
    }

    /// Writes the groups, a line of their own before the records of each.
    pub(super) fn show(
        &self,
        (paint, columns): (Paint, Option<usize>),
        mut line: impl FnMut(String) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let bar = paint.paint(Color::Cyan, "|");
        for (at, (about, records)) in self.groups.iter().enumerate() {
            if at > 0 {
                line(String::new())?;
            }
            line(head(about.as_deref(), records, (paint, columns)))?;
            for (record, marks) in records {
                let subject = record::subject(record);
                let task = about.as_deref().map(|task| format!("{}: ", one_line(task)));
                let subject = task
                    .and_then(|task| subject.strip_prefix(&task).map(str::to_owned))
                    .unwrap_or(subject);
                let text = format!("{marks}{subject}");
                let within = columns.map(|columns| columns.saturating_sub(2));
                for part in format::fitted(record, &text, (marks.len(), paint), within).lines() {
                    line(format!("{bar} {part}"))?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the task a record is about; a decision is about the task it is scoped to.
fn about(record: &Record) -> Option<String> {
    match &record.body {
        Body::Decision(decision) if decision.scope != "-" => Some(decision.scope.clone()),
        _ => record.task.clone(),
    }
}

/// Returns the line before a group: the task, and what each criterion came to last.
fn head(
    about: Option<&str>,
    records: &[Marked],
    (paint, columns): (Paint, Option<usize>),
) -> String {
    let star = paint.paint(Color::Cyan, "*");
    let limit = columns.map_or(usize::MAX, |columns| columns.saturating_sub(2).max(1));
    let Some(task) = about else {
        return format!("{star} {}", cut("of no task", limit));
    };
    let mut said: Vec<(&str, &str)> = Vec::new();
    for (record, _) in records {
        if let (Body::Verdict(verdict), Some(criterion)) = (&record.body, &record.criterion)
            && said.iter().all(|(known, _)| known != criterion)
        {
            said.push((criterion, verdict.outcome.as_str()));
        }
    }
    let said: Vec<String> = said
        .iter()
        .map(|(criterion, word)| format!("{word} {}", one_line(criterion)))
        .collect();
    let name = cut(&one_line(task), limit);
    let left = limit.saturating_sub(crate::ui::width(&name) + 2);
    let name = paint.paint(Color::Bold, &name);
    match said.is_empty() || left < 8 {
        true => format!("{star} {name}"),
        false => format!("{star} {name}  {}", cut(&said.join(", "), left)),
    }
}
