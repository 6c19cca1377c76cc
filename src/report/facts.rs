//! Everything the page tells, gathered once.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
};

use super::Ask;
use crate::{
    gate::{Partition, Session},
    ledger::{Ledger, Standing},
    model::{AttemptResult, Body, Oid, Outcome, Record, RecordId, Verdict},
    store::{Store, decisions::Unpresented},
    verify::{
        Report,
        report::Judged,
        state::{Headline, Result as Came},
    },
};

/// How many records have a line of their own on the page.
pub(super) const LISTED: usize = 10_000;

/// What only this clone knows.
pub(super) struct Local {
    pub(super) open: Partition,
    pub(super) waiting: Vec<Unpresented>,
    pub(super) sessions: Vec<Session>,
    pub(super) name: String,
}

/// Where the facts come from.
pub(super) struct Sources<'a> {
    pub(super) store: &'a Store,
    pub(super) ledger: &'a Ledger,
    pub(super) judgement: &'a Result<Report, String>,
    pub(super) local: &'a Local,
    /// The commits asked for; `None` for all.
    pub(super) commits: Option<Vec<Oid>>,
    pub(super) ask: &'a Ask,
}

/// A commit of the project as this clone has it.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) subject: String,
    /// ms since 1970.
    pub(super) time: u64,
}

pub(super) struct Facts<'a> {
    pub(super) ask: &'a Ask,
    pub(super) ledger: &'a Ledger,
    pub(super) judgement: Result<&'a Report, &'a str>,
    pub(super) local: &'a Local,
    /// The records asked for, oldest first.
    pub(super) records: Vec<&'a Record>,
    /// Those with a line of their own.
    pub(super) listed: HashSet<RecordId>,
    /// The tasks they speak of, each with its criteria as they stand.
    pub(super) tasks: Vec<TaskFacts<'a>>,
    /// Runs of one command on one source that came to different ends.
    pub(super) flaky: Vec<Flaky<'a>>,
    /// Commits that have a line of their own, newest first.
    pub(super) commits: Vec<(String, Option<Known>)>,
    named: HashSet<String>,
    judged: HashMap<RecordId, &'a Judged>,
    store: &'a Store,
    known: RefCell<HashMap<String, Option<String>>>,
}

pub(super) struct TaskFacts<'a> {
    pub(super) name: &'a str,
    pub(super) owner: Option<&'a str>,
    pub(super) open: bool,
    pub(super) last: &'a Record,
    pub(super) standings: Vec<Standing<'a>>,
}

pub(super) struct Flaky<'a> {
    pub(super) criterion: &'a str,
    pub(super) subject: Oid,
    pub(super) runs: Vec<&'a Record>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(from: Sources<'a>) -> Self {
        let records = wanted(&from);
        let listed = records.iter().rev().take(LISTED).map(|one| one.id);
        let judged = from.judgement.as_ref().map_or(HashMap::new(), |report| {
            let records = report.records.iter();
            records.map(|judged| (judged.id, judged)).collect()
        });
        let commits = commits(&records, from.store);
        let mut facts = Self {
            ask: from.ask,
            ledger: from.ledger,
            judgement: from.judgement.as_ref().map_err(String::as_str),
            local: from.local,
            listed: listed.collect(),
            tasks: Vec::new(),
            flaky: flaky(&records),
            named: commits.iter().map(|(id, _)| id.clone()).collect(),
            commits,
            judged,
            store: from.store,
            records,
            known: RefCell::default(),
        };
        facts.tasks = facts.tasks();
        facts
    }

    /// Returns the tasks, those that were spoken of last first.
    fn tasks(&self) -> Vec<TaskFacts<'a>> {
        let mut last: BTreeMap<&str, &Record> = BTreeMap::new();
        for record in &self.records {
            if let Some(task) = &record.task {
                last.insert(task, record);
            }
        }
        let parts = &self.local.open;
        let open = parts
            .mine
            .iter()
            .chain(&parts.unowned)
            .chain(&parts.foreign);
        let open: BTreeSet<&str> = open.map(|open| open.task.as_str()).collect();
        let mut tasks: Vec<TaskFacts<'_>> = last
            .into_iter()
            .map(|(name, last)| TaskFacts {
                name,
                owner: last.owner.as_deref(),
                open: open.contains(name),
                last,
                standings: self.ledger.standings(name),
            })
            .collect();
        tasks.sort_by_key(|task| std::cmp::Reverse(task.last.order()));
        tasks
    }

    /// Returns what `verify` says of a record; `None` where it says nothing.
    pub(super) fn judged(&self, id: &RecordId) -> Option<&'a Judged> {
        self.judged.get(id).copied()
    }

    /// Returns the record's state in a word.
    pub(super) fn headline(&self, id: &RecordId) -> Option<Headline> {
        self.judged(id).map(Judged::headline)
    }

    /// Says whether `verify` takes the record for a PASS that came after a failure on the same source.
    pub(super) fn is_flaky(&self, id: &RecordId) -> bool {
        self.judged(id)
            .is_some_and(|judged| judged.axes.result == Came::Flaky)
    }

    /// Returns the whole id of a commit that records name by these digits; the digits where this clone
    /// does not know it.
    pub(super) fn whole(&self, digits: &str) -> String {
        whole(self.store, &self.known, digits)
    }

    /// Says whether a commit has a line of its own.
    pub(super) fn has_line(&self, commit: &str) -> bool {
        self.named.contains(commit)
    }

    /// Returns the verdicts among the records.
    pub(super) fn verdicts(&self) -> impl Iterator<Item = (&'a Record, &'a Verdict)> {
        self.records.iter().filter_map(|record| {
            if let Body::Verdict(verdict) = &record.body {
                Some((*record, &**verdict))
            } else {
                None
            }
        })
    }
}

type Whole = RefCell<HashMap<String, Option<String>>>;

fn whole(store: &Store, known: &Whole, digits: &str) -> String {
    if let Some(found) = known.borrow().get(digits) {
        return found.clone().unwrap_or_else(|| digits.to_owned());
    }
    let found = match digits.len() {
        40 | 64 => None,
        _ => store.repo().find_commit(digits).map(|id| id.to_string()),
    };
    known.borrow_mut().insert(digits.to_owned(), found.clone());
    found.unwrap_or_else(|| digits.to_owned())
}

/// Returns the records asked for: those made on the commits, and what else was recorded on their tasks
/// that names no commit.
fn wanted<'a>(from: &Sources<'a>) -> Vec<&'a Record> {
    let Some(commits) = &from.commits else {
        return from.ledger.iter().collect();
    };
    let commits: BTreeSet<String> = commits.iter().map(Oid::to_string).collect();
    let holds = |digits: &String| {
        let from = commits.range(digits.clone()..).next();
        from.is_some_and(|found| found.starts_with(digits))
    };
    let made: HashMap<RecordId, bool> = from
        .ledger
        .iter()
        .map(|record| (record.id, record.commits().iter().any(holds)))
        .collect();
    let is_made = |record: &&Record| made.get(&record.id).copied().unwrap_or_default();
    let on: HashSet<&str> = from
        .ledger
        .iter()
        .filter(is_made)
        .filter_map(|record| record.task.as_deref())
        .collect();
    let also = |record: &&Record| {
        let scope = match &record.body {
            Body::Decision(decision) => Some(decision.scope.as_str()),
            _ => record.task.as_deref(),
        };
        record.commits().is_empty() && scope.is_some_and(|task| on.contains(task))
    };
    let all = from.ledger.iter();
    all.filter(|record| is_made(record) || also(record))
        .collect()
}

/// How many commits have a line of their own.
const COMMITS: usize = 1_000;

/// Returns the newest commits that records name, with what this clone knows of them.
fn commits(records: &[&Record], store: &Store) -> Vec<(String, Option<Known>)> {
    let cache = RefCell::default();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for record in records.iter().rev() {
        if matches!(record.body, Body::Rewrite(_)) {
            continue;
        }
        for digits in record.commits() {
            let id = whole(store, &cache, &digits);
            if found.len() < COMMITS && seen.insert(id.clone()) {
                let known = id.parse().ok().and_then(|id| known(store, id));
                found.push((id, known));
            }
        }
    }
    found.sort_by_key(|(_, known)| std::cmp::Reverse(known.as_ref().map(|known| known.time)));
    found
}

fn known(store: &Store, id: Oid) -> Option<Known> {
    let commit = store.repo().commit(id).ok()?;
    let message = String::from_utf8_lossy(commit.message());
    Some(Known {
        subject: message
            .trim_start()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned(),
        time: u64::try_from(commit.committer_time)
            .unwrap_or(0)
            .saturating_mul(1000),
    })
}

/// Says whether an end tells of the command, and not of who stopped it.
fn says_something(result: AttemptResult) -> bool {
    match result {
        AttemptResult::Error | AttemptResult::Mutated | AttemptResult::Timeout => true,
        AttemptResult::Skip | AttemptResult::Interrupt => false,
    }
}

/// Returns the commands that came to different ends on one source: of one criterion, argument vector
/// and subject tree, both a PASS and something else.
fn flaky<'a>(records: &[&'a Record]) -> Vec<Flaky<'a>> {
    let mut groups: BTreeMap<(&str, Oid, &[String]), Vec<&Record>> = BTreeMap::new();
    for record in records {
        let (run, subject) = match &record.body {
            Body::Verdict(verdict) if verdict.outcome != Outcome::Moot => {
                (verdict.run.as_ref(), verdict.subject)
            }
            Body::Attempt(attempt) if attempt.result.is_some_and(says_something) => {
                (attempt.run.as_ref(), attempt.subject)
            }
            _ => continue,
        };
        if let (Some(run), Some(subject), Some(criterion)) = (run, subject, &record.criterion) {
            let key = (criterion.as_str(), subject, run.argv.as_slice());
            groups.entry(key).or_default().push(record);
        }
    }
    let differ = |runs: &Vec<&Record>| {
        let words: BTreeSet<&str> = runs
            .iter()
            .map(|run| crate::ui::record::word(run))
            .collect();
        words.len() > 1 && words.contains("PASS")
    };
    let groups = groups.into_iter().filter(|(_, runs)| differ(runs));
    let mut found: Vec<Flaky<'_>> = groups
        .map(|((criterion, subject, _), runs)| Flaky {
            criterion,
            subject,
            runs,
        })
        .collect();
    let newest = |one: &Flaky<'_>| one.runs.last().map(|run| run.order());
    found.sort_by_key(|one| std::cmp::Reverse(newest(one)));
    found
}
