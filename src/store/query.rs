//! Questions about records, answered from the index where there is one, else from the whole history.

use super::{
    Error, Store,
    index::{self, Key},
};
use crate::{
    ledger::{Entry, Ledger},
    model::{Oid, Prefix, Record, RecordId},
};

impl Store {
    /// Returns the record with this id; `None` also where two different lines carry it.
    pub fn get(&self, id: &RecordId) -> Result<Option<Record>, Error> {
        let ledger = self.pick(self.tip()?, &[Key::id(id)], |record| record.id == *id)?;
        Ok(ledger.get(id).cloned())
    }

    /// Returns the records that a typed prefix may mean, oldest first.
    pub fn find(&self, prefix: &Prefix) -> Result<Vec<Record>, Error> {
        let keys: Vec<Key> = prefix.hash_starts().map(Key::hash_start).collect();
        let ledger = self.pick(self.tip()?, &keys, |record| prefix.matches(&record.id))?;
        Ok(ledger.iter().cloned().collect())
    }

    /// Returns the records on a task.
    pub fn of_task(&self, task: &str) -> Result<Ledger, Error> {
        self.of_task_at(self.tip()?, task)
    }

    pub(super) fn of_task_at(&self, tip: Option<Oid>, task: &str) -> Result<Ledger, Error> {
        self.pick(tip, &[Key::task(task)], |record| {
            record.task.as_deref() == Some(task)
        })
    }

    /// Returns the records of these kinds.
    pub fn of_kinds(&self, kinds: &[&str]) -> Result<Ledger, Error> {
        self.of_kinds_at(self.tip()?, kinds)
    }

    pub(super) fn of_kinds_at(&self, tip: Option<Oid>, kinds: &[&str]) -> Result<Ledger, Error> {
        let keys: Vec<Key> = kinds.iter().map(|kind| Key::kind(kind)).collect();
        self.pick(tip, &keys, |record| kinds.contains(&record.body.kind()))
    }

    /// Returns the records that speak of a commit of the project: verdicts and attempts made at it,
    /// its work record, its rewrites.
    pub fn of_commit(&self, commit: &Oid) -> Result<Ledger, Error> {
        self.pick(self.tip()?, &[Key::commit(commit)], |record| {
            index::commits(record).contains(commit)
        })
    }

    /// Returns the verdicts and attempts whose subject is this tree.
    pub fn of_subject(&self, tree: &Oid) -> Result<Ledger, Error> {
        self.pick(self.tip()?, &[Key::subject(tree)], |record| {
            index::subject(record) == Some(*tree)
        })
    }

    /// Returns the records that speak of a record: signatures, retractions, verdicts on attempts,
    /// marks that cover it.
    pub fn about(&self, id: &RecordId) -> Result<Ledger, Error> {
        self.pick(self.tip()?, &[Key::about(id)], |record| {
            index::about(record).contains(id)
        })
    }

    /// Returns the records of a later version and the lines that are set aside.
    pub fn unread(&self) -> Result<Ledger, Error> {
        let keys = [Key::newer(), Key::set_aside()];
        let entries = self.query(self.tip()?, &keys, |entry| {
            !matches!(entry, Entry::Record(_))
        })?;
        Ok(Ledger::of(entries))
    }

    fn pick(
        &self,
        tip: Option<Oid>,
        keys: &[Key],
        wanted: impl Fn(&Record) -> bool,
    ) -> Result<Ledger, Error> {
        let entries = self.query(tip, keys, |entry| match entry {
            Entry::Record(record) => wanted(record),
            Entry::Newer(_) | Entry::Quarantined(_) => false,
        })?;
        Ok(Ledger::of(entries))
    }
}
