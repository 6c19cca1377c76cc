//! Taking in the ledger of another clone, after a look at every commit that is new here.
//!
//! A tip that keeps the form of a ledger is united with ours. One that breaks it is not: its valid
//! records are appended by us, and the rest is named.

use std::collections::HashSet;

use super::{Error, Transaction, history::Append, message, object::Object, union::Union};
use crate::{
    git::ObjectKind,
    ledger::Entry,
    model::{MAX_LINE, Oid, Record, RecordId},
};

const COMMIT_BYTES: u64 = 4 << 20;
const COMMIT_RECORDS: usize = 1_000;
/// How far a record's `seq` may run ahead of what is known.
const SEQ_JUMP: u64 = 1_000_000;
const TREE: u32 = 0o40000;
const BLOB: u32 = 0o100_644;

/// How much a foreign ledger may bring at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most new records.
    pub records: u64,
}

impl Limits {
    /// What a sync takes when nobody says otherwise.
    pub const USUAL: Self = Self { records: 100_000 };
    /// As much as there is.
    pub const LARGE: Self = Self { records: u64::MAX };
}

/// What came of a foreign tip.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adopted {
    /// How many records are new here.
    pub records: u64,
    /// What was not taken, and why, one line each.
    pub refused: Vec<String>,
}

impl Transaction<'_> {
    /// Unites the ledger with the history that ends in `theirs`, whose objects are here.
    pub fn adopt_ledger(&mut self, theirs: Oid, limits: Limits) -> Result<Adopted, Error> {
        let repo = self.store.repo();
        let fresh = match self.tips.ledger {
            Some(ours) => repo.difference(theirs, ours)?.left,
            None => repo.ancestors(&[theirs], &[])?,
        };
        if fresh.is_empty() {
            return Ok(Adopted::default());
        }
        let mut look = Look::default();
        for commit in &fresh {
            self.judge(*commit, &mut look)?;
        }
        if look.records > limits.records {
            let line = format!(
                "{} new records, more than {}: sync with --large",
                look.records, limits.records
            );
            return Ok(Adopted {
                records: 0,
                refused: vec![line],
            });
        }
        if look.refused.is_empty() {
            let union = match self.tips.ledger {
                Some(ours) => self.store.union_of(ours, theirs)?,
                None => Union::One(theirs),
            };
            self.land_union(union)?;
            return Ok(Adopted {
                records: look.records,
                refused: Vec::new(),
            });
        }
        let records = self.append_valid(look.valid)?;
        Ok(Adopted {
            records,
            refused: look.refused,
        })
    }

    /// Unites the long evidence with that of `theirs`; a tree that holds anything but evidence is
    /// named and not taken.
    pub fn adopt_evidence(&mut self, theirs: Oid) -> Result<Adopted, Error> {
        if let Some(reason) = self.not_evidence(theirs)? {
            return Ok(Adopted {
                records: 0,
                refused: vec![reason],
            });
        }
        let union = match self.tips.evidence {
            Some(ours) => self.store.union_of_evidence(ours, theirs)?,
            None => Union::One(theirs),
        };
        let mut new = self.tips;
        let objects = objects_of(&union);
        new.evidence = Some(tip_of(&union));
        self.land_tips(&objects, new)?;
        Ok(Adopted::default())
    }

    fn judge(&self, commit: Oid, look: &mut Look) -> Result<(), Error> {
        let repo = self.store.repo();
        let (kind, size) = repo.header(commit)?;
        if kind != ObjectKind::Commit || size > COMMIT_BYTES {
            look.refuse(commit, "it is no commit of at most 4 MiB");
            return Ok(());
        }
        let read = repo.commit(commit)?;
        let append = Append::of(commit, &read);
        let before = look.refused.len();
        if read.tree != self.store.empty_tree().id {
            look.refuse(commit, "its tree is not empty");
        }
        if read.parents.len() > 2 {
            look.refuse(commit, "it has more than two parents");
        }
        if append.entries.len() > COMMIT_RECORDS {
            look.refuse(commit, "it holds more than 1,000 records");
        }
        if message::lines(read.message()).any(|line| line.len() > MAX_LINE) && append.seq.is_some()
        {
            look.refuse(commit, "it holds a line of more than 64 KiB");
        }
        let ahead = self
            .state
            .seq
            .saturating_add(look.records)
            .saturating_add(SEQ_JUMP);
        if append.records().any(|record| record.seq > ahead) {
            look.refuse(commit, "it numbers a record far beyond what is known");
        }
        look.records += append.entries.len() as u64;
        let clean = look.refused.len() == before;
        let known = append.entries.into_iter().filter_map(|entry| match entry {
            Entry::Record(record) if clean || record.seq <= ahead => Some(*record),
            Entry::Record(_) | Entry::Newer(_) | Entry::Quarantined(_) => None,
        });
        look.valid.extend(known);
        Ok(())
    }

    fn not_evidence(&self, tip: Oid) -> Result<Option<String>, Error> {
        let repo = self.store.repo();
        let (kind, size) = repo.header(tip)?;
        if kind != ObjectKind::Commit || size > COMMIT_BYTES {
            return Ok(Some(format!("evidence {}: it is no commit", tip.short())));
        }
        for dir in self.store.entries(repo.commit(tip)?.tree)? {
            let named = dir.mode == TREE && dir.name.len() == 2 && is_hex(&dir.name);
            if !named {
                return Ok(Some(odd(tip, &dir.name)));
            }
            for blob in self.store.entries(dir.id)? {
                let named = blob.mode == BLOB
                    && blob.name.len() == 64
                    && is_hex(&blob.name)
                    && blob.name.starts_with(&dir.name);
                if !named {
                    return Ok(Some(odd(tip, &blob.name)));
                }
            }
        }
        Ok(None)
    }

    fn land_union(&mut self, union: Union) -> Result<(), Error> {
        let objects = objects_of(&union);
        let mut new = self.tips;
        new.ledger = Some(tip_of(&union));
        self.land_tips(&objects, new)
    }

    /// Promises the objects, moves the refs, and lets open tasks know what came.
    fn land_tips(&mut self, objects: &[Object], new: super::heal::Tips) -> Result<(), Error> {
        if new == self.tips {
            return Ok(());
        }
        let kept = self.promise(objects, new)?;
        let loose = if kept.is_some() { &[][..] } else { objects };
        let published = self.store.publish(loose, self.tips, new);
        self.tips = *published.as_ref().unwrap_or(&new);
        if let (Some(kept), Ok(_)) = (kept, &published) {
            let _ = self.store.repo().release_keep(kept);
        }
        self.catch_up()?;
        published.map(|_| ())
    }

    /// Appends the records of a tip that is not united; those that bear this clone's name without
    /// being known here are nobody's.
    fn append_valid(&mut self, records: Vec<Record>) -> Result<u64, Error> {
        let known: HashSet<RecordId> = self.load()?.iter().map(|record| record.id).collect();
        let own = self.state.replica;
        let mut seen = known;
        let mut fresh: Vec<Record> = records
            .into_iter()
            .filter(|record| {
                (record.replica.is_none() || record.replica != own) && seen.insert(record.id)
            })
            .collect();
        if fresh.is_empty() {
            return Ok(0);
        }
        fresh.sort_by_key(Record::order);
        let count = fresh.len() as u64;
        let (objects, new) = self.build(&in_groups(fresh), Vec::new())?;
        self.land_tips(&objects, new)?;
        Ok(count)
    }
}

/// Returns the records in groups that each fit one commit.
fn in_groups(records: Vec<Record>) -> Vec<Vec<Record>> {
    let mut groups: Vec<Vec<Record>> = vec![Vec::new()];
    let mut bytes = 0;
    for record in records {
        bytes += record.line().len() + 1;
        let full = groups
            .last()
            .is_some_and(|group| group.len() >= COMMIT_RECORDS);
        if full || bytes as u64 > COMMIT_BYTES / 2 {
            groups.push(Vec::new());
            bytes = record.line().len();
        }
        if let Some(group) = groups.last_mut() {
            group.push(record);
        }
    }
    groups
}

fn objects_of(union: &Union) -> Vec<Object> {
    match union {
        Union::One(_) => Vec::new(),
        Union::Merge(commit, needs) => needs.iter().chain([commit]).cloned().collect(),
    }
}

fn tip_of(union: &Union) -> Oid {
    match union {
        Union::One(tip) => *tip,
        Union::Merge(commit, _) => commit.id,
    }
}

fn is_hex(name: &[u8]) -> bool {
    name.iter()
        .all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(c))
}

fn odd(tip: Oid, name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    format!(
        "evidence {}: '{}' is no piece of evidence",
        tip.short(),
        name.escape_debug()
    )
}

/// What a look at the new commits found.
#[derive(Default)]
struct Look {
    records: u64,
    refused: Vec<String>,
    valid: Vec<Record>,
}

impl Look {
    fn refuse(&mut self, commit: Oid, why: &str) {
        self.refused
            .push(format!("commit {}: {why}", commit.short()));
    }
}
