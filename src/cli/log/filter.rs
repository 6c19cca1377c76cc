use std::{cell::RefCell, collections::BTreeSet};

use regex::{Regex, RegexBuilder};

use super::super::record;
use crate::{
    git::{Range, Repo, Walk},
    model::{Body, Decision, Evidence, Oid, Outcome, Record, time},
    ui::{Context, Failure},
    verify::came_from,
};

/// Which records are wanted.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Wanted {
    /// Records on this task
    #[arg(long, value_name = "ID")]
    task: Vec<String>,

    /// Records of this session
    #[arg(long, value_name = "SESSION")]
    owner: Vec<String>,

    /// Records on this criterion
    #[arg(long, value_name = "TEXT")]
    criterion: Vec<String>,

    /// Verdicts of this outcome: PASS, FAIL or MOOT
    #[arg(long, value_name = "OUTCOME", value_parser = outcome)]
    outcome: Vec<Outcome>,

    /// Records of this kind, or decisions of this kind
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Vec<String>,

    /// Records made on this commit, on what became it, or on the same source
    #[arg(long, value_name = "REV")]
    commit: Vec<String>,

    /// Records made at this date or later
    ///
    /// A date is what git takes: `2026-11-30`, `2026-11-30 21:04`, `2 days ago`. A date without a time
    /// means its first moment, in UTC.
    #[arg(long, value_name = "DATE")]
    since: Option<String>,

    /// Records made at this date or before
    ///
    /// A date without a time means its last moment, in UTC.
    #[arg(long, value_name = "DATE")]
    until: Option<String>,

    /// Records in whose texts this regular expression matches
    #[arg(long, value_name = "PATTERN")]
    grep: Vec<String>,

    /// Match --grep in upper and lower case
    #[arg(short = 'i', long)]
    ignore_case: bool,
}

fn outcome(text: &str) -> Result<Outcome, &'static str> {
    Outcome::parse(&text.to_ascii_uppercase()).ok_or("expected PASS, FAIL or MOOT")
}

const KINDS: &str = "task adopt verdict attempt defer decision bar layout signature rewrite work \
                     session retract redact";

fn kind(text: &str) -> Result<String, String> {
    let decision = crate::model::DecisionKind::parse(&text.to_ascii_uppercase());
    if let Some(kind) = decision {
        return Ok(kind.as_str().to_owned());
    }
    match KINDS.split_whitespace().any(|kind| kind == text) {
        true => Ok(text.to_owned()),
        false => Err(format!("expected a kind of decision or one of {KINDS}")),
    }
}

/// The records that a command line asks for.
pub(in crate::cli) struct Filter<'a> {
    args: &'a Wanted,
    since: Option<u64>,
    until: Option<u64>,
    grep: Vec<Regex>,
    /// The commits of the range and those of `--commit`; a record must be made on one of each.
    commits: Vec<Commits<'a>>,
    /// What `--commit` names.
    named: Vec<Oid>,
}

impl<'a> Filter<'a> {
    pub(super) fn new(
        args: &'a Wanted,
        range: Option<&str>,
        context: &'a Context,
    ) -> Result<Self, Failure> {
        let (mut commits, mut named) = (Vec::new(), Vec::new());
        if let Some(range) = range {
            commits.push(Commits::in_range(context.repo()?, range)?);
        }
        if !args.commit.is_empty() {
            let repo = context.repo()?;
            for spec in &args.commit {
                named.push(repo.rev_parse(spec)?);
            }
            let mut all = named.clone();
            for commit in &named {
                all.extend(came_from(context.store()?, *commit)?);
            }
            commits.push(Commits::named(repo, &all));
        }
        let date = |text: &Option<String>, last| match text {
            Some(text) => date(text, last, context).map(Some),
            None => Ok(None),
        };
        Ok(Self {
            args,
            since: date(&args.since, 0)?,
            until: date(&args.until, DAY - 1)?,
            grep: patterns(args)?,
            commits,
            named,
        })
    }

    /// Returns the commits that `--commit` names.
    pub(super) fn named(&self) -> &[Oid] {
        &self.named
    }

    pub(super) fn matches(&self, record: &Record) -> bool {
        let args = self.args;
        let one_of = |wanted: &[String], found: Option<&str>| {
            wanted.is_empty() || found.is_some_and(|found| wanted.iter().any(|one| one == found))
        };
        one_of(&args.task, record.task.as_deref())
            && one_of(&args.owner, record.owner.as_deref())
            && one_of(&args.criterion, record.criterion.as_deref())
            && self.matches_kind(record)
            && self.since.is_none_or(|since| record.time >= since)
            && self.until.is_none_or(|until| record.time <= until)
            && self.commits.iter().all(|commits| commits.hold(record))
            && self.matches_text(record)
    }

    /// Fails where the history of the range could not be read.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        let failed = self.commits.iter().find_map(|one| one.failed.take());
        failed.map_or(Ok(()), Err)
    }

    fn matches_kind(&self, record: &Record) -> bool {
        let outcome = match &record.body {
            Body::Verdict(verdict) => Some(verdict.outcome),
            _ => None,
        };
        let wanted = &self.args.outcome;
        let kinds = &self.args.kind;
        let is_kind = |kind: &String| kind == record.body.kind() || kind == record::word(record);
        (wanted.is_empty() || outcome.is_some_and(|outcome| wanted.contains(&outcome)))
            && (kinds.is_empty() || kinds.iter().any(is_kind))
    }

    fn matches_text(&self, record: &Record) -> bool {
        if self.grep.is_empty() {
            return true;
        }
        let text = texts(record);
        self.grep.iter().any(|pattern| pattern.is_match(&text))
    }
}

const DAY: u64 = 24 * 60 * 60 * 1000;

/// Reads a date; one without a time of day means the moment `last` ms into its day.
fn date(text: &str, last: u64, context: &Context) -> Result<u64, Failure> {
    let day = text.len() == 10 && !text.contains(' ');
    match time::parse(text) {
        Some(start) if day => Ok(start + last),
        Some(moment) => Ok(moment),
        None => Ok(context.clock()?.date(text)?),
    }
}

fn patterns(args: &Wanted) -> Result<Vec<Regex>, Failure> {
    args.grep
        .iter()
        .map(|pattern| {
            RegexBuilder::new(pattern)
                .case_insensitive(args.ignore_case)
                .multi_line(true)
                .build()
                .map_err(|error| {
                    let reason = error.to_string();
                    let reason = reason.lines().last().unwrap_or_default().trim();
                    let reason = reason.trim_start_matches("error: ");
                    Failure::usage(format!("cannot search for '{pattern}': {reason}"))
                })
        })
        .collect()
}

/// Returns everything a person wrote or a command printed that a record holds.
fn texts(record: &Record) -> String {
    let mut texts: Vec<&str> = [&record.task, &record.criterion]
        .into_iter()
        .filter_map(Option::as_deref)
        .collect();
    match record::evidence(record) {
        Some(Evidence::Text(text)) => texts.push(text),
        Some(Evidence::Long(long)) => texts.push(&long.excerpt),
        Some(Evidence::Bytes(_)) | None => {}
    }
    let joined;
    match &record.body {
        Body::Defer(defer) => texts.push(&defer.reason),
        Body::Decision(Decision {
            scope, what, why, ..
        }) => texts.extend([scope.as_str(), what, why]),
        Body::Bar(bar) => texts.push(&bar.text),
        Body::Session(note) => {
            joined = note.open.join("\n");
            texts.extend([joined.as_str(), &note.reason]);
        }
        Body::Retract(retract) => texts.push(&retract.why),
        Body::Redact(redact) => texts.push(&redact.why),
        Body::Verdict(verdict) => texts.extend(verdict.run.iter().flat_map(|run| {
            let argv = run.argv.iter().map(String::as_str);
            argv.collect::<Vec<_>>()
        })),
        _ => {}
    }
    texts.join("\n")
}

/// Commits by their hex digits, to look abbreviations up in, and the subjects that speak of them too.
struct Commits<'a> {
    ids: RefCell<BTreeSet<String>>,
    subjects: BTreeSet<Oid>,
    /// History that is read as far as somebody asks.
    rest: RefCell<Option<Walk<'a>>>,
    failed: RefCell<Option<Failure>>,
}

impl<'a> Commits<'a> {
    fn in_range(repo: &'a Repo, spec: &str) -> Result<Self, Failure> {
        let found = match repo.rev_range(spec)? {
            Range::One(tip) => {
                return Ok(Self {
                    rest: RefCell::new(Some(repo.walk(&[tip])?)),
                    ..Self::of(&[])
                });
            }
            Range::Between { from, to } => repo.ancestors(&[to], &[from])?,
            Range::Symmetric { left, right } => {
                let mut difference = repo.difference(left, right)?;
                difference.left.append(&mut difference.right);
                difference.left
            }
        };
        Ok(Self::of(&found))
    }

    fn named(repo: &Repo, commits: &[Oid]) -> Self {
        let subjects = commits
            .iter()
            .filter_map(|commit| subject_of(repo, *commit));
        Self {
            subjects: subjects.collect(),
            ..Self::of(commits)
        }
    }

    fn of(commits: &[Oid]) -> Self {
        Self {
            ids: RefCell::new(commits.iter().map(Oid::to_string).collect()),
            subjects: BTreeSet::new(),
            rest: RefCell::new(None),
            failed: RefCell::new(None),
        }
    }

    fn hold(&self, record: &Record) -> bool {
        let subject = subject(record);
        subject.is_some_and(|tree| self.subjects.contains(&tree))
            || commits(record).iter().any(|commit| self.holds(commit))
    }

    /// Looks among the commits read so far, then reads on until one is met that begins so.
    fn holds(&self, digits: &str) -> bool {
        let known = self.ids.borrow().range(digits.to_owned()..).next().cloned();
        if known.is_some_and(|known| known.starts_with(digits)) {
            return true;
        }
        let mut rest = self.rest.borrow_mut();
        while let Some(walk) = rest.as_mut() {
            let id = match walk.next() {
                Some(Ok((id, _))) => id,
                end => {
                    *self.failed.borrow_mut() = end.and_then(Result::err).map(Failure::from);
                    *rest = None;
                    break;
                }
            };
            let id = id.to_string();
            let met = id.starts_with(digits);
            self.ids.borrow_mut().insert(id);
            if met {
                return true;
            }
        }
        false
    }
}

/// Returns the source of a commit; `None` where its tree is not here.
pub(in crate::cli) fn subject_of(repo: &Repo, commit: Oid) -> Option<Oid> {
    let root = repo.commit(commit).ok()?.tree;
    repo.subject_tree(root).ok()
}

/// Returns the source a record was made on.
pub(in crate::cli) fn subject(record: &Record) -> Option<Oid> {
    match &record.body {
        Body::Verdict(verdict) => verdict.subject,
        Body::Attempt(attempt) => attempt.subject,
        _ => None,
    }
}

/// Returns the commits a record was made on, in hex; imported rows carry abbreviations.
pub(in crate::cli) fn commits(record: &Record) -> Vec<String> {
    record.commits()
}
