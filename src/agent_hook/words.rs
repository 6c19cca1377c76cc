//! What a refused or released Stop says: to the agent, in the imperative, with commands that work from
//! any directory.

use super::session::Site;
use crate::{
    gate::{self, Open, Reason, Survey, Who},
    model::shell_quoted,
    ui::one_line,
};

const ROWS: usize = 10;
const ROW: usize = 110;

/// Returns the reason a Stop is refused.
pub(super) fn refusal(
    site: &Site,
    (who, trouble): (&Who, Option<&str>),
    (survey, reasons): (&Survey, &[Reason]),
    count: u32,
) -> String {
    let mut text = format!(
        "git-operator: this turn cannot end yet (refusal {count} of {}).\n",
        gate::REFUSALS
    );
    if let Some(why) = trouble {
        text.push_str(&format!(
            "payload unreadable: {why}; every open task of this worktree counts as yours.\n"
        ));
    }
    let owner = match who {
        Who::Session(owner) => format!(" --owner {owner}"),
        Who::Unknown { .. } | Who::Nobody => String::new(),
    };
    tasks(&mut text, site, survey, &owner);
    decisions(&mut text, site, survey, &owner);
    for reason in reasons {
        text.push_str(&format!("{}\n", reason.text));
    }
    if let Some(line) = failing(survey) {
        text.push_str(&format!("{line}\n"));
    }
    text
}

fn tasks(text: &mut String, site: &Site, survey: &Survey, owner: &str) {
    let parts = &survey.parts;
    let blocking: Vec<&Open> = parts.mine.iter().chain(&parts.unowned).collect();
    let command = site.command();
    if !blocking.is_empty() {
        text.push_str(&format!(
            "{} open:\n",
            plural(blocking.len(), "task is", "tasks are")
        ));
    }
    for open in blocking.iter().take(ROWS) {
        let whose = if open.owner.is_none() {
            " (nobody's: it blocks every session)"
        } else {
            ""
        };
        text.push_str(&format!("- {}{whose}\n", cut(&open.task)));
    }
    rest(text, blocking.len());
    if let Some(open) = blocking.first() {
        let task = shell_quoted(&open.task);
        let own = if open.owner.is_none() { "" } else { owner };
        text.push_str(&format!(
            "Earn the verdict:      {command} run{own} {task} '<criterion>' -- <command>\n\
             or record it:          {command} verdict{own} {task} '<criterion>' '<evidence>' PASS\n\
             or close it honestly:  {command} defer{own} {task} '<reason>'\n"
        ));
    }
    for name in parts.unreadable.iter().take(ROWS) {
        text.push_str(&format!(
            "- {}\n  look at it with: {command} doctor\n",
            cut(name)
        ));
    }
    rest(text, parts.unreadable.len());
}

fn decisions(text: &mut String, site: &Site, survey: &Survey, owner: &str) {
    if survey.decisions.is_empty() {
        return;
    }
    let count = plural(survey.decisions.len(), "decision was", "decisions were");
    text.push_str(&format!("{count} not presented to the people:\n"));
    for decision in survey.decisions.iter().take(ROWS) {
        let row = format!("{} {}: {}", decision.kind, decision.scope, decision.what);
        text.push_str(&format!("- {}\n", cut(&row)));
    }
    rest(text, survey.decisions.len());
    let command = site.command();
    text.push_str(&format!(
        "Name them in your answer ({command} handoff shows all), then: {command} handoff --mark{owner}\n"
    ));
}

fn rest(text: &mut String, count: usize) {
    if count > ROWS {
        text.push_str(&format!("- and {} more\n", count - ROWS));
    }
}

fn plural(count: usize, one: &str, many: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{count} {many}")
    }
}

/// Returns the text without control characters, cut to a row.
fn cut(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(ROW) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// Returns what the user is told when the turn ends all the same.
pub(super) fn release(survey: &Survey, open: &[String]) -> String {
    let mut left: Vec<String> = Vec::new();
    if !open.is_empty() {
        let names: Vec<String> = open
            .iter()
            .take(ROWS)
            .map(|task| format!("'{}'", cut(task)))
            .collect();
        left.push(format!(
            "{} without a verdict: {}",
            plural(open.len(), "task", "tasks"),
            names.join(", ")
        ));
    }
    if !survey.decisions.is_empty() {
        left.push(format!(
            "{} not presented",
            plural(survey.decisions.len(), "decision", "decisions")
        ));
    }
    if !survey.parts.unreadable.is_empty() {
        left.push(format!(
            "{} unreadable",
            plural(survey.parts.unreadable.len(), "task file", "task files")
        ));
    }
    if left.is_empty() {
        left.push("a policy's reason".to_owned());
    }
    format!(
        "git-operator LET THIS TURN END UNRESOLVED after {} refusals: {}",
        gate::REFUSALS,
        left.join("; ")
    )
}

/// Returns what is told of criteria that fail again and again; `None` when there are none.
pub(super) fn failing(survey: &Survey) -> Option<String> {
    let failing = &survey.failing;
    if failing.is_empty() {
        return None;
    }
    let names: Vec<String> = failing
        .iter()
        .take(ROWS)
        .map(|entry| {
            let (task, criterion) = (cut(&entry.task), cut(&entry.criterion));
            format!("'{criterion}' of task '{task}' ({} times)", entry.times)
        })
        .collect();
    let rest = match failing.len().saturating_sub(ROWS) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let count = plural(failing.len(), "criterion", "criteria");
    Some(format!(
        "git-operator: {count} failed again and again: {}{rest}; ask the people before trying the same once more",
        names.join(", ")
    ))
}

/// Returns what is told of other sessions' tasks; `None` when there are none.
pub(super) fn foreign(survey: &Survey) -> Option<String> {
    let foreign = &survey.parts.foreign;
    if foreign.is_empty() {
        return None;
    }
    let names: Vec<String> = foreign
        .iter()
        .take(ROWS)
        .map(|open| {
            let owner = open.owner.as_ref().map_or("nobody", |owner| owner.as_str());
            format!("'{}' ({owner})", cut(&open.task))
        })
        .collect();
    let count = plural(
        foreign.len(),
        "task of another session is",
        "tasks of other sessions are",
    );
    Some(format!(
        "git-operator: {count} open here: {}",
        names.join(", ")
    ))
}
