//! Taking in the ledger of another clone, after a look at every commit that is new here.
//!
//! A tip that keeps the form of a ledger is united with ours. One that breaks it is not: its valid
//! records are appended by us, and the rest is named.

use std::collections::HashSet;

use super::{
    Append, Error, Transaction,
    append::{self, COMMIT_RECORDS},
    message,
    object::Object,
    union::Union,
};
use crate::{
    git::ObjectKind,
    model::{Body, Decoded, MAX_LINE, Oid, RecordId, decode},
};

const COMMIT_BYTES: u64 = 4 << 20;
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
        let (kind, _) = repo.header(theirs)?;
        if kind != ObjectKind::Commit {
            return Ok(Adopted {
                records: 0,
                refused: vec![format!("ledger {}: it is no commit", theirs.short())],
            });
        }
        let fresh = match self.tips.ledger {
            Some(ours) => repo.difference(theirs, ours)?.left,
            None => repo.ancestors(&[theirs], &[])?,
        };
        if fresh.is_empty() {
            return Ok(Adopted::default());
        }
        let mut look = Look::default();
        // Oldest first: what a commit may say depends on what came before it.
        for commit in fresh.iter().rev() {
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
        let records = if look.refused.is_empty() {
            let union = match self.tips.ledger {
                Some(ours) => self.store.union_of(ours, theirs)?,
                None => Union::One(theirs),
            };
            self.land_union(union)?;
            look.records
        } else {
            let lines = self.valid_lines(&fresh, &look)?;
            self.append_lines(theirs, lines)?
        };
        if look.redacts {
            self.drop_redacted()?;
        }
        if let Some(tip) = self.tips.ledger {
            self.store.index_if_due(tip)?;
        }
        Ok(Adopted {
            records,
            refused: look.refused,
        })
    }

    /// Takes over what the tracking refs hold where this clone has no ledger of its own, as readers do
    /// in memory; returns what was not taken, and why.
    pub fn adopt_tracked(&mut self) -> Result<Vec<String>, Error> {
        let mut refused = Vec::new();
        if self.tips.ledger.is_some() {
            return Ok(refused);
        }
        for tip in self.store.tracked("ledger")? {
            refused.extend(self.adopt_ledger(tip, Limits::USUAL)?.refused);
        }
        if self.tips.evidence.is_none() {
            for tip in self.store.tracked("evidence")? {
                refused.extend(self.adopt_evidence(tip)?.refused);
            }
        }
        Ok(refused)
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
        let gone = self.store.redacted(self.tips.ledger)?;
        let union = match self.tips.evidence {
            Some(ours) => self.store.union_of_evidence(ours, theirs, &gone)?,
            None => self.store.union_of_evidence(theirs, theirs, &gone)?,
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
        if read.tree != self.store.empty_tree().id {
            look.refuse(commit, "its tree is not empty");
        }
        if read.parents.len() > 2 {
            look.refuse(commit, "it has more than two parents");
        }
        if append.entries.len() > COMMIT_RECORDS {
            look.refuse(commit, "it holds more than 1,000 records");
        }
        if message::lines(read.message()).any(|line| line.len() > MAX_LINE) {
            look.refuse(commit, "it holds a line of more than 64 KiB");
        }
        look.records += append.entries.len() as u64;
        let ahead = self.ahead(look);
        if append.records().any(|record| record.seq > ahead)
            || message::union_seq(read.message()).is_some_and(|seq| seq > ahead)
        {
            look.refuse(commit, "it numbers a record far beyond what is known");
        }
        look.redacts |= append
            .records()
            .any(|record| matches!(record.body, Body::Redact(_)));
        Ok(())
    }

    /// Returns the largest number a record may carry after those looked at.
    fn ahead(&self, look: &Look) -> u64 {
        let known = self.state.seq.saturating_add(look.records);
        known.saturating_add(SEQ_JUMP)
    }

    /// Returns the lines of commits not taken as they are that can be records here, oldest commit
    /// first; those that bear this clone's name without being known here are nobody's.
    fn valid_lines(&self, fresh: &[Oid], look: &Look) -> Result<Vec<(RecordId, String)>, Error> {
        let ahead = self.ahead(look);
        let mut lines = Vec::new();
        for commit in fresh.iter().rev() {
            let (kind, size) = self.store.repo().header(*commit)?;
            if kind != ObjectKind::Commit || size > COMMIT_BYTES {
                continue;
            }
            let read = self.store.repo().commit(*commit)?;
            for line in message::lines(read.message()) {
                let id = match decode(line) {
                    Ok(Decoded::Record(record)) => {
                        let forged =
                            record.replica.is_some() && record.replica == self.state.replica;
                        if forged || record.seq > ahead {
                            continue;
                        }
                        record.id
                    }
                    Ok(Decoded::Newer { id, .. }) => id,
                    Err(_) => continue,
                };
                let text = std::str::from_utf8(line).expect("a line that decodes is UTF-8");
                lines.push((id, text.to_owned()));
            }
        }
        Ok(lines)
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
    pub(super) fn land_tips(
        &mut self,
        objects: &[Object],
        new: super::heal::Tips,
    ) -> Result<(), Error> {
        // Evidence that no record names means nothing.
        if new == self.tips || new.ledger.is_none() {
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

    /// Appends the lines of a tip that is not united, those that are not here yet.
    pub(super) fn append_lines(
        &mut self,
        tip: Oid,
        lines: Vec<(RecordId, String)>,
    ) -> Result<u64, Error> {
        let known = self.load()?;
        let mut seen: HashSet<RecordId> = known
            .iter()
            .map(|record| record.id)
            .chain(known.newer().map(|newer| newer.id))
            .collect();
        let fresh: Vec<String> = lines
            .into_iter()
            .filter(|(id, _)| seen.insert(*id))
            .map(|(_, line)| line)
            .collect();
        if fresh.is_empty() {
            return Ok(0);
        }
        let count = fresh.len() as u64;
        let messages: Vec<Vec<u8>> = in_groups(fresh)
            .iter()
            .map(|group| message::carry(tip, group))
            .collect();
        let (objects, new) = self.build(&messages, Vec::new())?;
        self.land_tips(&objects, new)?;
        Ok(count)
    }
}

/// Returns the lines in groups that each fit one commit.
fn in_groups(lines: Vec<String>) -> Vec<Vec<String>> {
    let mut groups: Vec<Vec<String>> = Vec::new();
    let mut bytes = 0;
    for line in lines {
        bytes += line.len() + 1;
        match groups.last_mut() {
            Some(group) if group.len() < COMMIT_RECORDS && bytes < append::COMMIT_BYTES => {
                group.push(line);
            }
            Some(_) | None => {
                bytes = line.len();
                groups.push(vec![line]);
            }
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
    /// Whether evidence is to go.
    redacts: bool,
}

impl Look {
    fn refuse(&mut self, commit: Oid, why: &str) {
        self.refused
            .push(format!("commit {}: {why}", commit.short()));
    }
}
