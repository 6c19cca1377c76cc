//! Finishing what records of this clone mean for its local files, when their writer could not.

use std::{collections::HashSet, fs::File, io::Read};

use super::{
    Append, Error, Newest, State, Store, Transaction, decisions,
    journal::Line,
    tasks::{self, Effects},
};
use crate::model::{Oid, Record, ReplicaId};

/// How many commits are read to learn how many there are.
const SHORT: usize = 100;

impl Transaction<'_> {
    /// Applies the effects of this clone's records that were not, and lets open tasks know what
    /// others recorded on them.
    ///
    /// Only commits that our own journal names have effects: a record that came from elsewhere opens
    /// and closes nothing, even one that bears our name.
    pub(super) fn settle(&mut self, tip: Oid) -> Result<(), Error> {
        let own = self.own_commits()?;
        let fresh = self.unsettled(tip)?;
        let dir = self.store.dir();
        let mut effects = Effects::default();
        for (commit, record) in fresh
            .iter()
            .flat_map(|append| append.records().map(|record| (append.commit, record)))
        {
            if own.contains(&commit) && record.replica == self.state.replica {
                effects.add(dir, record)?;
                decisions::apply(dir, record)?;
            }
        }
        for task in effects.opened() {
            let heads = self.heads_in_history(&task)?;
            self.heads.insert(task.to_string(), heads);
        }
        let records: Vec<&Record> = fresh.iter().flat_map(Append::records).collect();
        for mut open in tasks::list(dir)?.open {
            if effects.concern(&open.task) {
                continue;
            }
            let before = open.heads.clone();
            for record in &records {
                if record.task.as_deref() == Some(open.task.as_str()) {
                    open.heads.add(record);
                }
            }
            if open.heads != before {
                self.heads.insert(open.task.to_string(), open.heads.clone());
                effects.refresh(open);
            }
        }
        effects.apply(dir, &self.heads)
    }

    /// Returns the ids of what this clone made since the last cut but one.
    fn own_commits(&self) -> Result<HashSet<Oid>, Error> {
        let lines = self.store.journal.read()?;
        Ok(lines.iter().flat_map(|line| line.made()).collect())
    }

    /// Returns what was not settled, oldest first. Without a settled tip that is what the journal
    /// names.
    fn unsettled(&self, tip: Oid) -> Result<Vec<Append>, Error> {
        let repo = self.store.repo();
        let settled = self
            .state
            .settled
            .filter(|settled| self.store.is_readable(*settled));
        let mut commits = match settled {
            Some(settled) => repo.difference(tip, settled)?.left,
            None => self
                .store
                .journal
                .read()?
                .iter()
                .flat_map(Line::made)
                .filter(|id| repo.commit(*id).is_ok())
                .collect(),
        };
        let mut seen = HashSet::new();
        commits.retain(|commit| seen.insert(*commit));
        let mut appends = commits
            .into_iter()
            .map(|commit| self.store.append_at(commit))
            .collect::<Result<Vec<_>, _>>()?;
        appends.sort_by_key(|append| (append.seq, append.time));
        Ok(appends)
    }
}

impl Store {
    /// Returns this clone's name as the journal remembers it, or a new one.
    pub(super) fn name_of_clone(&self) -> Result<ReplicaId, Error> {
        let lines = self.journal.read()?;
        if let Some(replica) = lines.iter().rev().find_map(|line| line.replica) {
            return Ok(replica);
        }
        let mut bytes = [0; 32];
        let source = "/dev/urandom";
        File::open(source)
            .and_then(|mut file| file.read_exact(&mut bytes))
            .map_err(Error::read(source))?;
        let digest = blake3::hash(&bytes);
        let digest = digest.as_bytes();
        let mut name = [0; 8];
        name.copy_from_slice(&digest[..8]);
        Ok(ReplicaId::new(name))
    }

    /// Returns how many records `tip` reaches, as far as that follows from what was known before.
    pub(super) fn count_at(&self, tip: Oid, before: &State) -> Result<Option<u64>, Error> {
        let (Some(known), Some(count)) = (before.tip, before.count) else {
            return self.count_if_short(tip);
        };
        if !self.is_readable(known) {
            return Ok(None);
        }
        let differ = self.repo().difference(tip, known)?;
        if !differ.right.is_empty() {
            return Ok(None);
        }
        let mut count = count;
        for commit in differ.left {
            count += self.append_at(commit)?.records().count() as u64;
        }
        Ok(Some(count))
    }

    /// Counts the records of a ledger that is read in no time; `None` for a longer one.
    fn count_if_short(&self, tip: Oid) -> Result<Option<u64>, Error> {
        let mut count = 0;
        for (read, append) in Newest::from(self, Some(tip))?.enumerate() {
            if read >= SHORT {
                return Ok(None);
            }
            count += append?.records().count() as u64;
        }
        Ok(Some(count))
    }
}
