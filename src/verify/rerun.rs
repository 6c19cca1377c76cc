//! Required commands once more, on the target and in isolation: only that says that a tree passes.

use std::ffi::OsString;

use super::{
    Ask, Error, Finding, Report, Screen,
    ask::judged,
    conduct::{NewRun, conduct},
    report::{Requirement, Severity, State},
    requirements::{Criterion, Requirements},
    run::{Conclusion, Place, Plan},
    sign::Signer,
    state::Authenticity,
};
use crate::{
    gate::{Gate, Purpose, Secrets},
    git::{Repo, Subject, Trust},
    model::{AttemptResult, Body, Criterion as Name, Digest, Oid, Outcome, Owner, Record, TaskId},
};

/// Which of the required criteria are run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    All,
    /// Those no trusted signature stands behind.
    Untrusted,
    /// So many of a hundred, picked by what nobody knows before the job runs.
    Sample {
        percent: u64,
        seed: String,
    },
}

impl Which {
    /// Reads `all`, `untrusted` or `sample:<percent>`.
    pub fn parse(text: &str, seed: &str) -> Option<Self> {
        match text {
            "all" => Some(Self::All),
            "untrusted" => Some(Self::Untrusted),
            text => {
                let percent = text.strip_prefix("sample:")?.parse().ok()?;
                (1..=100).contains(&percent).then(|| Self::Sample {
                    percent,
                    seed: seed.to_owned(),
                })
            }
        }
    }

    fn takes(&self, one: &Requirement, report: &Report) -> bool {
        match self {
            Self::All => true,
            Self::Untrusted => !report.records.iter().any(|record| {
                Some(record.id) == one.record
                    && matches!(record.axes.authenticity, Authenticity::Trusted(_))
            }),
            Self::Sample { percent, seed } => {
                let target = report.target.map(|(commit, _)| commit.to_hex());
                let text = format!("{seed}\0{}\0{}", target.unwrap_or_default(), one.criterion);
                let hash = Digest::of(text.as_bytes()).to_hex();
                let number = u64::from_str_radix(&hash[..12], 16).unwrap_or(0);
                number % 100 < *percent
            }
        }
    }
}

/// What is run again, and how that is recorded and told.
pub struct Again<'a> {
    pub which: Which,
    pub signer: Option<Signer>,
    /// Takes one line about each run, before and after it.
    pub tell: &'a dyn Fn(&str),
}

/// Judges as `verify` does, runs again what `again` picks, records what that came to, and judges anew.
/// What could not be run again is named. A ledger that was tampered with is not built upon.
pub fn rerun(gate: &Gate<'_>, ask: &Ask, again: &Again<'_>) -> Result<Report, Error> {
    let (mut report, requirements) = judged(gate.store, ask)?;
    let Some((target, _)) = report.target else {
        return Ok(report);
    };
    if report.worst() == Some(Severity::Integrity) {
        return Ok(report);
    }
    let round = Round {
        gate,
        repo: gate.store.repo(),
        target,
        file: requirements.as_ref(),
        again,
    };
    let picked = report
        .requirements
        .iter()
        .filter(|one| again.which.takes(one, &report));
    let (waived, picked): (Vec<_>, Vec<_>) =
        picked.partition(|one| matches!(one.state, State::Exempt { .. }));
    let waived: Vec<Finding> = waived.into_iter().map(waiver).collect();
    let (mut missed, mut ran) = (Vec::new(), 0);
    for one in picked {
        match round.run(one)? {
            Ran::Again => ran += 1,
            Ran::Not(finding) => missed.push(finding),
            Ran::Stopped => {
                ran += 1;
                break;
            }
        }
    }
    match (ran, missed.is_empty()) {
        (0, true) => {}
        (0, false) => {
            let message = "no command could be run again";
            missed.push(Finding::new("vacuous", Severity::Unchecked, message));
        }
        _ => report = judged(gate.store, ask)?.0,
    }
    report.findings.extend(missed);
    report.findings.extend(waived);
    report
        .findings
        .sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Ok(report)
}

/// Says that nothing is asked of a criterion, which therefore is not run again.
fn waiver(one: &Requirement) -> Finding {
    let name = &one.criterion;
    let message = format!("'{name}' was not run again: it is exempt");
    Finding::new("not-rerun", Severity::Warning, message)
}

enum Ran {
    Again,
    Not(Finding),
    /// Somebody asked us to end.
    Stopped,
}

struct Round<'a> {
    gate: &'a Gate<'a>,
    repo: &'a Repo,
    target: Oid,
    file: Option<&'a Requirements>,
    again: &'a Again<'a>,
}

impl Round<'_> {
    fn run(&self, one: &Requirement) -> Result<Ran, Error> {
        let name = &one.criterion;
        let missed = |severity, why: String| {
            let finding = Finding::new(
                "not-rerun",
                severity,
                format!("'{name}' was not run again: {why}"),
            );
            Ran::Not(match one.record {
                Some(id) => finding.record(id),
                None => finding,
            })
        };
        let cited = match one.record {
            Some(id) => self.gate.store.get(&id)?,
            None => None,
        };
        let Some(cited) = cited else {
            let why = "no record names the task it is for".to_owned();
            return Ok(missed(Severity::Undecided, why));
        };
        let criterion = self.file.and_then(|file| file.criteria.get(name));
        let command = match self.command((name, criterion), &cited) {
            Ok(command) => command,
            Err((severity, why)) => return Ok(missed(severity, why.to_owned())),
        };
        (self.again.tell)(&format!(
            "{name}: running again: {}",
            command.argv.join(" ")
        ));
        match self.conduct(&command, criterion, &cited) {
            Ok(Conclusion::Attempt(AttemptResult::Interrupt)) => Ok(Ran::Stopped),
            Ok(conclusion) => {
                (self.again.tell)(&format!("{name}: {}", word(&conclusion)));
                Ok(Ran::Again)
            }
            Err(error) => Ok(missed(Severity::Undecided, error.to_string())),
        }
    }

    /// The base's command where it has requirements: what a record says was run is its author's word.
    fn command(
        &self,
        (name, criterion): (&str, Option<&Criterion>),
        cited: &Record,
    ) -> Result<Command, (Severity, &'static str)> {
        if let Some(criterion) = criterion {
            return match criterion.arg.is_empty() {
                true => Err((Severity::Warning, "the requirements name no command for it")),
                false => Ok(Command {
                    criterion: name.to_owned(),
                    argv: criterion.arg.clone(),
                    cwd: String::new(),
                }),
            };
        }
        let run = match &cited.body {
            Body::Verdict(verdict) => verdict.run.as_ref(),
            Body::Attempt(attempt) => attempt.run.as_ref(),
            _ => None,
        };
        let Some(run) = run.filter(|run| !run.argv.is_empty()) else {
            let why = "its record names no command, and there are no requirements";
            return Err((Severity::Undecided, why));
        };
        // Arguments are kept as text; a replaced byte is the mark of one that was none.
        if run.argv.iter().any(|arg| arg.contains('\u{fffd}')) {
            return Err((Severity::Undecided, "its command is not kept byte for byte"));
        }
        Ok(Command {
            criterion: name.to_owned(),
            argv: run.argv.clone(),
            cwd: run.cwd.clone(),
        })
    }

    fn conduct(
        &self,
        command: &Command,
        criterion: Option<&Criterion>,
        cited: &Record,
    ) -> Result<Conclusion, Error> {
        let top = self.repo.top().ok_or(Error::NoWorktree)?;
        let task = cited.task.as_deref().unwrap_or_default();
        let owner = cited.owner.as_deref().map(Owner::new);
        // One that implies the criterion ran another command.
        let repeats = cited.criterion.as_deref() == Some(&command.criterion);
        let roots = self.gate.store.state().roots;
        let new = NewRun {
            purpose: Purpose {
                task: TaskId::new(task)?,
                criterion: Name::new(&command.criterion)?,
                owner: owner.transpose()?,
                repeats: Some(cited.opened),
            },
            plan: Plan {
                argv: command.argv.iter().map(OsString::from).collect(),
                cwd: &top.join(&command.cwd),
                subject: Subject::Commit(self.target),
                place: Place::Isolated,
                trust: Trust::Stat,
                timeout: criterion.and_then(|criterion| criterion.timeout),
                junit: criterion.and_then(|criterion| criterion.junit.clone()),
                control: None,
                ok_exit: criterion.map_or(&[], |criterion| &criterion.ok_exit),
                roots: &roots,
                clock: *self.gate.clock,
            },
            secrets: Secrets::Refuse,
            definition: criterion.map(|criterion| criterion.definition.clone()),
            signer: self.again.signer.clone(),
            of: repeats.then_some(cited.id),
        };
        // What a command prints may be commands to the job that shows it.
        let screen = Screen {
            out: &mut std::io::sink(),
            err: &mut std::io::sink(),
        };
        let conducted = conduct(self.gate, self.repo, new, screen)?;
        if let Some(why) = &conducted.unsigned {
            (self.again.tell)(why);
        }
        Ok(conducted.report.conclusion)
    }
}

struct Command {
    criterion: String,
    argv: Vec<String>,
    cwd: String,
}

fn word(conclusion: &Conclusion) -> &'static str {
    match conclusion {
        Conclusion::Verdict(Outcome::Pass) => "passed again",
        Conclusion::Verdict(outcome) => outcome.as_str(),
        Conclusion::Attempt(result) => result.as_str(),
    }
}
