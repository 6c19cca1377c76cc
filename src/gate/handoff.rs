//! The handoff: six sections, filled from the ledger as far as the ledger knows. Every line cites the
//! record it rests on; what only people know is left to them.

use std::fmt;

use super::{
    Error,
    who::{Open, Partition},
};
use crate::{
    git::files::Tree,
    ledger::{Ledger, Standing, State},
    model::{Body, Decision, DecisionKind, Outcome, Record, RecordId, shell_quoted},
};

/// How many lines of one section are shown; the rest is counted.
const LINES: usize = 40;
/// How much of a text is shown in a line.
const TEXT: usize = 160;
const LIMIT: u64 = 4 << 20;

/// A handoff, ready to be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handoff {
    pub sections: [Section; 6],
}

/// One of the six sections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    pub title: &'static str,
    pub lines: Vec<String>,
    /// Lines that were left out, and the command that shows them.
    pub left_out: usize,
}

const TITLES: [&str; 6] = [
    "Verdict vs the BAR",
    "Banked",
    "Unverified/open",
    "Conditional next steps",
    "Stop conditions",
    "Not-doing",
];

/// Returns the handoff of what happened since the last mark. Open tasks are told whenever they were
/// opened.
pub fn handoff(ledger: &Ledger, open: &Partition) -> Handoff {
    let view = View::new(ledger);
    let lines = [
        view.verdicts(),
        view.banked(open),
        view.open(open),
        view.next_steps(open),
        view.stops(),
        view.not_doing(),
    ];
    let mut sections = lines.into_iter().zip(TITLES).map(|(mut lines, title)| {
        let left_out = lines.len().saturating_sub(LINES);
        lines.truncate(LINES);
        Section {
            title,
            lines,
            left_out,
        }
    });
    Handoff {
        sections: std::array::from_fn(|_| sections.next().unwrap_or_default()),
    }
}

impl fmt::Display for Handoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# Handoff")?;
        for section in &self.sections {
            writeln!(f, "\n## {}\n", section.title)?;
            if section.lines.is_empty() {
                writeln!(f, "- the ledger knows of nothing")?;
            }
            for line in &section.lines {
                writeln!(f, "- {line}")?;
            }
            if section.left_out > 0 {
                writeln!(f, "- {} more: `git operator log`", section.left_out)?;
            }
        }
        Ok(())
    }
}

/// The part of a ledger that a handoff speaks of.
struct View<'a> {
    ledger: &'a Ledger,
    /// Records after it are new.
    since: (u64, Option<RecordId>),
}

impl<'a> View<'a> {
    fn new(ledger: &'a Ledger) -> Self {
        let mark = ledger.iter().rev().find(|record| {
            decision(record).is_some_and(|found| found.decision == DecisionKind::HandoffMark)
        });
        Self {
            ledger,
            since: mark.map_or((0, None), |mark| (mark.seq, Some(mark.id))),
        }
    }

    fn is_new(&self, record: &Record) -> bool {
        (record.seq, Some(record.id)) > self.since && self.ledger.retracted_by(record).is_none()
    }

    fn new_records(&self) -> impl Iterator<Item = &'a Record> + use<'a, '_> {
        self.ledger.iter().filter(|record| self.is_new(record))
    }

    /// The standings that a new record had a part in, by task.
    fn standings(&self) -> Vec<(&'a str, Vec<Standing<'a>>)> {
        let tasks = self.ledger.tasks().map(|task| {
            let mut standings = self.ledger.standings(task);
            standings.retain(|standing| standing.heads.iter().any(|head| self.is_new(head)));
            (task, standings)
        });
        tasks
            .filter(|(_, standings)| !standings.is_empty())
            .collect()
    }

    fn verdicts(&self) -> Vec<String> {
        let bars = self.new_records().filter_map(|record| match &record.body {
            Body::Bar(bar) => Some(cite(
                bar.text.lines().next()?.trim_start_matches("## "),
                record,
            )),
            _ => None,
        });
        let rows = self.standings().into_iter().flat_map(|(task, standings)| {
            standings
                .into_iter()
                .map(move |standing| standing_line(task, &standing))
        });
        bars.chain(rows).collect()
    }

    /// Tasks that are closed with every criterion passed, and decisions that stand.
    fn banked(&self, open: &Partition) -> Vec<String> {
        let passed = |standing: &Standing| standing.state == State::Agreed(Outcome::Pass);
        let tasks = self
            .standings()
            .into_iter()
            .filter_map(|(task, standings)| {
                if is_open(task, open) || !standings.iter().all(passed) {
                    return None;
                }
                let heads: Vec<&Record> = standings
                    .iter()
                    .filter_map(|s| s.heads.last().copied())
                    .collect();
                Some(cite_all(
                    &format!("{task}: {} passed", criteria(standings.len())),
                    &heads,
                ))
            });
        let decided = [DecisionKind::Decision, DecisionKind::SpecApproved];
        tasks.chain(self.decisions(&decided)).collect()
    }

    fn open(&self, open: &Partition) -> Vec<String> {
        let tasks = all(open).map(|task| {
            let owner = task.owner.as_ref().map_or("nobody", |owner| owner.as_str());
            let text = format!("{} is open, owned by {owner}", task.task);
            cite_all(&text, &self.opening(&task.task))
        });
        let unreadable = open
            .unreadable
            .iter()
            .map(|what| format!("unreadable: {what}"));
        let doubtful = self.standings().into_iter().flat_map(|(task, standings)| {
            let unsure = |standing: &Standing| {
                !matches!(standing.state, State::Agreed(Outcome::Pass | Outcome::Moot))
            };
            standings
                .into_iter()
                .filter(unsure)
                .map(move |standing| standing_line(task, &standing))
                .collect::<Vec<_>>()
        });
        let deferred = self.new_records().filter_map(|record| match &record.body {
            Body::Defer(defer) => {
                let task = record.task.as_deref().unwrap_or("-");
                Some(cite(
                    &format!("{task} was deferred: {}", defer.reason),
                    record,
                ))
            }
            _ => None,
        });
        tasks
            .chain(unreadable)
            .chain(doubtful)
            .chain(deferred)
            .collect()
    }

    fn next_steps(&self, open: &Partition) -> Vec<String> {
        let tasks = all(open).map(|task| {
            let text = format!(
                "when {} is taken up: `git operator adopt --owner <session-id> {}`",
                task.task,
                shell_quoted(&task.task)
            );
            cite_all(&text, &self.opening(&task.task))
        });
        let steps = self.new_records().filter_map(|record| {
            let task = record.task.as_deref().unwrap_or("-");
            match &record.body {
                Body::Defer(defer) => {
                    let text = format!(
                        "when this no longer holds, open {task} again: {}",
                        defer.reason
                    );
                    Some(cite(&text, record))
                }
                Body::Decision(found) if found.decision == DecisionKind::Escalation => Some(cite(
                    &format!("when it is answered: {}", found.what),
                    record,
                )),
                _ => None,
            }
        });
        let failed = self.standings().into_iter().flat_map(|(task, standings)| {
            let failed = |standing: &Standing| standing.state == State::Agreed(Outcome::Fail);
            let line = |standing: &Standing| {
                let text = format!(
                    "when its cause is repaired, check again: {task}: {}",
                    standing.criterion
                );
                cite_all(&text, &standing.heads)
            };
            let lines: Vec<String> = standings.iter().filter(|s| failed(s)).map(line).collect();
            lines
        });
        tasks.chain(steps).chain(failed).collect()
    }

    /// What stops the work until somebody has decided.
    fn stops(&self) -> Vec<String> {
        let repeated = self.standings().into_iter().flat_map(|(task, standings)| {
            let lines: Vec<String> = standings
                .iter()
                .filter_map(|standing| self.repeated_fail(task, standing))
                .collect();
            lines
        });
        let contested = self.standings().into_iter().flat_map(|(task, standings)| {
            let lines: Vec<String> = standings
                .iter()
                .filter(|standing| standing.state == State::Contested)
                .map(|standing| standing_line(task, standing))
                .collect();
            lines
        });
        let kinds = [
            DecisionKind::Escalation,
            DecisionKind::Deviation,
            DecisionKind::GateException,
        ];
        self.decisions(&kinds)
            .chain(contested)
            .chain(repeated)
            .collect()
    }

    fn not_doing(&self) -> Vec<String> {
        let moot = self.standings().into_iter().flat_map(|(task, standings)| {
            let lines: Vec<String> = standings
                .iter()
                .filter(|standing| standing.state == State::Agreed(Outcome::Moot))
                .map(|standing| standing_line(task, standing))
                .collect();
            lines
        });
        let retracted = self.new_records().filter_map(|record| match &record.body {
            Body::Retract(retract) => Some(cite(
                &format!("{} was retracted: {}", retract.of.short(), retract.why),
                record,
            )),
            _ => None,
        });
        moot.chain(retracted).collect()
    }

    fn decisions(&self, kinds: &[DecisionKind]) -> impl Iterator<Item = String> + use<'a, '_> {
        let kinds = kinds.to_vec();
        self.new_records().filter_map(move |record| {
            let found = decision(record).filter(|found| kinds.contains(&found.decision))?;
            let text = format!("{}: {}: {}", found.decision, found.what, found.why);
            Some(cite(&text, record))
        })
    }

    /// The last opening of a task in this clone.
    fn opening(&self, task: &str) -> Vec<&'a Record> {
        self.ledger.openings(task)
    }

    /// Two FAIL verdicts or more on a criterion without a later PASS or MOOT.
    fn repeated_fail(&self, task: &str, standing: &Standing) -> Option<String> {
        if standing.state != State::Agreed(Outcome::Fail) {
            return None;
        }
        let mut failed: Vec<&Record> = Vec::new();
        for record in self.ledger.of_task(task) {
            if record.criterion.as_deref() != Some(standing.criterion) {
                continue;
            }
            match &record.body {
                Body::Verdict(verdict) if verdict.outcome == Outcome::Fail => failed.push(record),
                Body::Verdict(_) => failed.clear(),
                _ => {}
            }
        }
        (failed.len() >= 2).then(|| {
            let text = format!(
                "{task}: {} failed {} times in a row",
                standing.criterion,
                failed.len()
            );
            cite_all(&text, &failed)
        })
    }
}

fn decision(record: &Record) -> Option<&Decision> {
    match &record.body {
        Body::Decision(decision) => Some(decision),
        _ => None,
    }
}

fn all(open: &Partition) -> impl Iterator<Item = &Open> {
    open.mine.iter().chain(&open.unowned).chain(&open.foreign)
}

fn is_open(task: &str, open: &Partition) -> bool {
    all(open).any(|known| known.task == task)
}

fn criteria(count: usize) -> String {
    match count {
        1 => "1 criterion".to_owned(),
        count => format!("{count} criteria"),
    }
}

fn standing_line(task: &str, standing: &Standing) -> String {
    let word = match standing.state {
        State::Agreed(outcome) => outcome.as_str(),
        State::Contested => "CONTESTED",
    };
    let evidence = standing
        .heads
        .last()
        .map_or_else(String::new, |head| match &head.body {
            Body::Verdict(verdict) => {
                format!(" {} {}", verdict.evidence.cell(), verdict.stamp.short())
            }
            _ => String::new(),
        });
    cite_all(
        &format!("{word} {task}: {}:{evidence}", standing.criterion),
        &standing.heads,
    )
}

fn cite(text: &str, record: &Record) -> String {
    cite_all(text, &[record])
}

fn cite_all(text: &str, records: &[&Record]) -> String {
    let ids: Vec<&str> = records.iter().map(|record| record.id.short()).collect();
    let line = one_line(text);
    if ids.is_empty() {
        line
    } else {
        format!("{line} [{}]", ids.join(" "))
    }
}

/// `text` on one line that markdown shows as text, cut where it is long.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text
        .split(char::is_whitespace)
        .filter(|word| !word.is_empty())
        .collect();
    let mut line: String = words
        .join(" ")
        .chars()
        .filter(|c| !c.is_control())
        .collect();
    if line.chars().count() > TEXT {
        line = line.chars().take(TEXT).collect::<String>() + "…";
    }
    line
}

/// Writes a handoff to `.operator/handoff-<date>.md`, beside what a person may have made of an earlier
/// one; returns the path.
pub fn write_handoff(tree: &Tree, date: &str, handoff: &Handoff) -> Result<String, Error> {
    let text = handoff.to_string();
    let mut path = format!(".operator/handoff-{date}.md");
    for number in 2.. {
        match tree.read(&path, LIMIT)? {
            None => break,
            Some(found) if found == text.as_bytes() => return Ok(path),
            Some(_) => path = format!(".operator/handoff-{date}-{number}.md"),
        }
    }
    tree.write(&path, text.as_bytes(), 0o644)?;
    Ok(path)
}
