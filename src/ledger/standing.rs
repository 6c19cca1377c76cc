use std::collections::{BTreeMap, BTreeSet};

use super::Ledger;
use crate::model::{Body, Class, Outcome, Record, RecordId, ReplicaId, Verdict};

/// What the heads on a criterion come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// One head, or several that agree.
    Agreed(Outcome),
    /// Heads that differ: never counted as passed.
    Contested,
}

/// The state of one criterion of one task.
#[derive(Clone, Debug)]
pub struct Standing<'a> {
    pub criterion: &'a str,
    pub state: State,
    /// The records no other names, oldest first.
    pub heads: Vec<&'a Record>,
}

/// Returns the verdict a record holds.
fn verdict(record: &Record) -> Option<&Verdict> {
    if let Body::Verdict(verdict) = &record.body {
        Some(verdict)
    } else {
        None
    }
}

impl Ledger {
    /// Returns the newest opening of a task in each clone.
    pub fn openings(&self, task: &str) -> Vec<&Record> {
        let mut newest: BTreeMap<Option<ReplicaId>, &Record> = BTreeMap::new();
        for record in self.of_task(task) {
            if matches!(record.body, Body::Task(_)) {
                newest.insert(record.replica, record);
            }
        }
        newest.into_values().collect()
    }

    /// Says whether a verdict answers its task as it was last opened: it names one of the newest
    /// `openings`, or the task was never opened where it was written. One for an older opening counts for nothing.
    pub fn answers_current(&self, record: &Record, openings: &[&Record]) -> bool {
        let Some(opened) = record.opened.id() else {
            return true;
        };
        openings.iter().any(|opening| opening.id == opened) || self.get(&opened).is_none()
    }

    /// Returns the state of each criterion of `task`, by criterion.
    pub fn standings(&self, task: &str) -> Vec<Standing<'_>> {
        let openings = self.openings(task);
        let mut by_criterion: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
        for record in self.of_task(task) {
            let counts = verdict(record).is_some()
                && self.retracted_by(record).is_none()
                && self.answers_current(record, &openings);
            if let (true, Some(criterion)) = (counts, &record.criterion) {
                by_criterion.entry(criterion).or_default().push(record);
            }
        }
        by_criterion
            .into_iter()
            .filter_map(|(criterion, records)| {
                let heads = self.heads(&records);
                let outcomes: BTreeSet<Outcome> = heads
                    .iter()
                    .filter_map(|record| verdict(record))
                    .map(|verdict| verdict.outcome)
                    .collect();
                let state = match (outcomes.len(), outcomes.first()) {
                    (1, Some(outcome)) => State::Agreed(*outcome),
                    (0, _) | (_, None) => return None,
                    _ => State::Contested,
                };
                Some(Standing {
                    criterion,
                    state,
                    heads,
                })
            })
            .collect()
    }

    /// Returns the records of `records` that no other of them names. Imported rows come before every
    /// record made here; among them the lower row of the file wins unless the stamps are equal.
    fn heads<'a>(&self, records: &[&'a Record]) -> Vec<&'a Record> {
        let named = self.named(records);
        let (imported, made): (Vec<&Record>, Vec<&Record>) = records
            .iter()
            .copied()
            .partition(|record| verdict(record).is_some_and(|v| v.class == Class::Imported));
        if made.is_empty() {
            return self.imported_heads(imported);
        }
        made.into_iter()
            .filter(|record| !named.contains(&record.id))
            .collect()
    }

    /// Returns the ids that come before one of `records`, also by way of a record that does not count.
    fn named(&self, records: &[&Record]) -> BTreeSet<RecordId> {
        let counts: BTreeSet<RecordId> = records.iter().map(|record| record.id).collect();
        let mut pending: Vec<RecordId> = records
            .iter()
            .flat_map(|record| record.after.iter().copied())
            .collect();
        let mut named = BTreeSet::new();
        while let Some(id) = pending.pop() {
            let passes = named.insert(id) && !counts.contains(&id);
            if let (true, Some(record)) = (passes, self.get(&id)) {
                pending.extend(&record.after);
            }
        }
        named
    }

    fn imported_heads<'a>(&self, mut rows: Vec<&'a Record>) -> Vec<&'a Record> {
        let places = self.layout_places();
        rows.sort_by_key(|record| {
            (
                places.get(&record.id).copied().unwrap_or(usize::MAX),
                record.id,
            )
        });
        let Some(last) = rows
            .last()
            .and_then(|record| verdict(record))
            .map(|verdict| verdict.stamp.clone())
        else {
            return rows;
        };
        rows.into_iter()
            .filter(|record| verdict(record).is_some_and(|verdict| verdict.stamp == last))
            .collect()
    }

    /// Returns where the newest layouts put imported rows and blocks.
    pub fn layout_places(&self) -> BTreeMap<RecordId, usize> {
        let mut places = BTreeMap::new();
        let mut next = 0;
        for record in self.iter() {
            if let Body::Layout(layout) = &record.body {
                for id in &layout.order {
                    next += 1;
                    places.insert(*id, next);
                }
            }
        }
        places
    }
}
