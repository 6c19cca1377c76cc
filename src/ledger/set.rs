use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::OnceLock,
};

use crate::model::{Body, Decoded, Prefix, Quarantine, Record, RecordId, decode};

/// A line that is set aside: it travels, and it means nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quarantined {
    /// Where the line lies, for people: a commit and a line of its message.
    pub place: String,
    /// Why it is set aside.
    pub reason: String,
}

/// A record of a later version of the format.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Newer {
    pub id: RecordId,
    pub version: u64,
    pub task: Option<String>,
}

/// What one line of a ledger turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    Record(Box<Record>),
    Newer(Newer),
    Quarantined(Quarantined),
}

impl Entry {
    /// Reads the line that lies at `place`.
    pub fn read(line: &[u8], place: impl FnOnce() -> String) -> Self {
        match decode(line) {
            Ok(Decoded::Record(record)) => Self::Record(record),
            Ok(Decoded::Newer { id, version, task }) => Self::Newer(Newer { id, version, task }),
            Err(reason) => Self::quarantined(&reason, place()),
        }
    }

    /// Returns the entry of a line that is set aside for `reason`.
    pub fn quarantined(reason: &Quarantine, place: String) -> Self {
        Self::Quarantined(Quarantined {
            place,
            reason: reason.to_string(),
        })
    }
}

/// A set of records.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// As they came.
    #[expect(
        clippy::vec_box,
        reason = "a hundred thousand grow the list often, and a record is large"
    )]
    records: Vec<Box<Record>>,
    places: HashMap<RecordId, usize>,
    /// Ids that came with two different lines; neither counts.
    split: BTreeSet<RecordId>,
    newer: BTreeSet<Newer>,
    quarantined: BTreeSet<Quarantined>,
    /// Forgotten whenever a record comes or goes.
    sorted: OnceLock<Sorted>,
    retracts: HashMap<RecordId, Vec<RecordId>>,
}

/// The places of the records, oldest first.
#[derive(Clone, Debug, Default)]
struct Sorted {
    order: Vec<usize>,
    by_task: OnceLock<BTreeMap<String, Vec<usize>>>,
}

impl Ledger {
    /// Returns the set of these entries.
    pub fn of(entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut ledger = Self::default();
        for entry in entries {
            ledger.insert(entry);
        }
        ledger
    }

    /// Adds an entry. Equal id and equal bytes are one record; equal id and unequal bytes set both aside.
    pub fn insert(&mut self, entry: Entry) {
        match entry {
            Entry::Record(record) => self.insert_record(record),
            Entry::Newer(newer) => {
                self.newer.insert(newer);
            }
            Entry::Quarantined(quarantined) => {
                self.quarantined.insert(quarantined);
            }
        }
    }

    fn insert_record(&mut self, record: Box<Record>) {
        if self.split.contains(&record.id) {
            return;
        }
        match self.get(&record.id) {
            Some(known) if known.line() == record.line() => {}
            Some(_) => self.set_aside(record.id),
            None => {
                if let Body::Retract(retract) = &record.body {
                    self.retracts.entry(retract.of).or_default().push(record.id);
                }
                self.sorted.take();
                self.places.insert(record.id, self.records.len());
                self.records.push(record);
            }
        }
    }

    fn set_aside(&mut self, id: RecordId) {
        let Some(place) = self.places.remove(&id) else {
            return;
        };
        let record = self.records.swap_remove(place);
        if let Some(moved) = self.records.get(place) {
            self.places.insert(moved.id, place);
        }
        self.sorted.take();
        if let Body::Retract(retract) = &record.body
            && let Some(ids) = self.retracts.get_mut(&retract.of)
        {
            ids.retain(|retracting| *retracting != id);
        }
        self.split.insert(id);
        let reason = "two different lines carry this id".to_owned();
        self.quarantined.insert(Quarantined {
            place: id.to_string(),
            reason,
        });
    }

    /// Adds everything another ledger holds.
    pub fn union(&mut self, other: Self) {
        for id in &other.split {
            if self.places.contains_key(id) {
                self.set_aside(*id);
            }
            self.split.insert(*id);
        }
        for record in other.records {
            self.insert_record(record);
        }
        self.newer.extend(other.newer);
        self.quarantined.extend(other.quarantined);
    }

    fn sorted(&self) -> &Sorted {
        self.sorted.get_or_init(|| {
            let mut order: Vec<usize> = (0..self.records.len()).collect();
            order.sort_by_key(|at| self.records[*at].order());
            Sorted {
                order,
                by_task: OnceLock::new(),
            }
        })
    }

    fn by_task(&self) -> &BTreeMap<String, Vec<usize>> {
        let sorted = self.sorted();
        sorted.by_task.get_or_init(|| {
            let mut tasks: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for at in &sorted.order {
                let Some(task) = &self.records[*at].task else {
                    continue;
                };
                match tasks.get_mut(task) {
                    Some(places) => places.push(*at),
                    None => {
                        tasks.insert(task.clone(), vec![*at]);
                    }
                }
            }
            tasks
        })
    }

    /// Lets go of the records without giving their memory back, which of a long ledger takes a tenth of
    /// the time of reading it: for a process that is about to end.
    pub fn abandon(self) {
        std::mem::forget(self);
    }

    /// Returns how many records there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Says whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the record with this id.
    pub fn get(&self, id: &RecordId) -> Option<&Record> {
        self.places.get(id).map(|at| &*self.records[*at])
    }

    /// Returns every record, oldest first by (`seq`, `id`).
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Record> {
        self.sorted().order.iter().map(|at| &*self.records[*at])
    }

    /// Returns the records on a task, oldest first.
    pub fn of_task(&self, task: &str) -> impl DoubleEndedIterator<Item = &Record> {
        let places = self.by_task().get(task).into_iter().flatten();
        places.map(|at| &*self.records[*at])
    }

    /// Returns the names of all tasks that records speak of.
    pub fn tasks(&self) -> impl Iterator<Item = &str> {
        self.by_task().keys().map(String::as_str)
    }

    /// Returns the records that a typed prefix may mean, oldest first.
    pub fn find(&self, prefix: &Prefix) -> Vec<&Record> {
        self.iter()
            .filter(|record| prefix.matches(&record.id))
            .collect()
    }

    /// Returns the records of a later version.
    pub fn newer(&self) -> impl Iterator<Item = &Newer> {
        self.newer.iter()
    }

    /// Returns the lines that are set aside.
    pub fn quarantined(&self) -> impl Iterator<Item = &Quarantined> {
        self.quarantined.iter()
    }

    /// Returns the record that takes `record` back: one of the same replica and owner.
    pub fn retracted_by(&self, record: &Record) -> Option<&Record> {
        self.retracts
            .get(&record.id)?
            .iter()
            .filter_map(|id| self.get(id))
            .find(|retract| {
                retract.replica.is_some()
                    && retract.replica == record.replica
                    && retract.owner == record.owner
            })
    }
}

#[cfg(test)]
#[path = "set_tests.rs"]
mod tests;
