//! `refs/operator-local/pins`: commits that records are stamped with, kept for good.
//!
//! A chain of commits whose parents are the stamped ones, so that a commit that was rebased away can
//! still be looked at after git has collected garbage. It never leaves this clone.

use std::collections::{BTreeSet, HashSet};

use super::{Error, Store};
use crate::{
    git::{self, Clock, Expected, NewCommit, ObjectKind, Role, Swap, Swapped, Verify},
    model::{Body, Oid, Record},
};

/// The ref of the pins.
pub const PINS: &str = "refs/operator-local/pins";

/// git itself makes no commit of more parents.
const PARENTS: usize = 15;
const ROUNDS: u32 = 5;
const SEEN: &str = "pins up to ";

/// How far back stamps are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// To where the last pin looked.
    New,
    /// Over the whole ledger: also commits that were not here when their record came.
    All,
}

impl Store {
    /// Pins the commits that records are stamped with and that are here; returns how many are new.
    pub fn pin(&self, clock: &Clock, reach: Reach) -> Result<usize, Error> {
        let Some(tip) = self.tip()? else {
            return Ok(0);
        };
        for _ in 0..ROUNDS {
            let mut chain = Chain::read(self)?;
            if reach == Reach::New && chain.seen == Some(tip) {
                return Ok(0);
            }
            let known = match reach {
                Reach::New => chain.newest.clone(),
                Reach::All => match chain.all(self)? {
                    Some(held) => held,
                    None => {
                        chain.forget();
                        HashSet::new()
                    }
                },
            };
            let stamped = self.stamped(tip, chain.seen.filter(|_| reach == Reach::New))?;
            let fresh: Vec<Oid> = stamped
                .into_iter()
                .filter(|commit| !known.contains(commit) && self.repo().commit(*commit).is_ok())
                .collect();
            if fresh.is_empty() {
                return Ok(0);
            }
            if self.extend(clock, &chain, (tip, &fresh))? == Swapped::Done {
                return Ok(fresh.len());
            }
        }
        Ok(0)
    }

    /// Returns the commits that records of `tip`, and not of `seen`, are stamped with.
    fn stamped(&self, tip: Oid, seen: Option<Oid>) -> Result<BTreeSet<Oid>, Error> {
        let mut stamped = BTreeSet::new();
        let hide: Vec<Oid> = seen
            .into_iter()
            .filter(|seen| self.is_readable(*seen))
            .collect();
        let commits = self.overlaid(|| Ok(self.repo().ancestors(&[tip], &hide)?))?;
        for commit in commits {
            let append = self.append_at(commit)?;
            stamped.extend(append.records().flat_map(commits_of));
        }
        Ok(stamped)
    }

    fn extend(
        &self,
        clock: &Clock,
        chain: &Chain,
        (tip, fresh): (Oid, &[Oid]),
    ) -> Result<Swapped, Error> {
        let repo = self.repo();
        let (author, committer) = (
            repo.identity(Role::Author)?,
            repo.identity(Role::Committer)?,
        );
        let message = format!("{SEEN}{tip}\n");
        let commit = NewCommit {
            author: &author,
            committer: &committer,
            time: clock.now_ms() / 1_000,
            message: message.as_bytes(),
        };
        let tree = repo.write_object(ObjectKind::Tree, b"", Verify::No)?;
        let mut last = chain.last;
        for some in fresh.chunks(PARENTS) {
            let parents: Vec<Oid> = last.into_iter().chain(some.iter().copied()).collect();
            let bytes = commit.bytes(tree, &parents);
            last = Some(repo.write_object(ObjectKind::Commit, &bytes, Verify::No)?);
        }
        let Some(new) = last else {
            return Ok(Swapped::Done);
        };
        Ok(repo.swap_ref(Swap {
            name: PINS,
            old: Expected::from_read(chain.tip),
            new,
            own: &[],
            wait: super::heal::BUDGET,
        })?)
    }
}

/// The commits a record is stamped with.
fn commits_of(record: &Record) -> Vec<Oid> {
    let of_stamp = |stamp: Option<&crate::model::Stamp>| stamp?.commit()?.parse().ok();
    let both = |head: Option<Oid>, stamp| head.or_else(|| of_stamp(stamp));
    match &record.body {
        Body::Verdict(verdict) => both(verdict.head, Some(&verdict.stamp)),
        Body::Attempt(attempt) => both(attempt.head, attempt.stamp.as_ref()),
        _ => None,
    }
    .into_iter()
    .collect()
}

/// The pins as they are.
struct Chain {
    tip: Option<Oid>,
    /// What the next pin stands on: nothing where objects of the chain are gone, as after a
    /// `git gc --prune=now` beside a writer (git-gc(1)).
    last: Option<Oid>,
    /// The ledger's tip when the newest pin was made.
    seen: Option<Oid>,
    /// What the newest pin holds.
    newest: HashSet<Oid>,
}

impl Chain {
    fn read(store: &Store) -> Result<Self, Error> {
        let tip = store.repo().read_ref(PINS)?;
        let mut chain = Self {
            tip,
            last: tip,
            seen: None,
            newest: HashSet::new(),
        };
        match tip.map(|tip| store.repo().commit(tip)) {
            Some(Ok(read)) => {
                chain.seen = seen(read.message());
                chain.newest = read.parents.into_iter().collect();
            }
            Some(Err(git::Error::MissingObject { .. })) => chain.forget(),
            Some(Err(error)) => return Err(error.into()),
            None => {}
        }
        Ok(chain)
    }

    /// Begins a new chain in place of this one.
    fn forget(&mut self) {
        self.last = None;
        self.seen = None;
        self.newest.clear();
    }

    /// Returns what all pins hold; `None` where something of it is gone.
    fn all(&self, store: &Store) -> Result<Option<HashSet<Oid>>, Error> {
        let mut held = HashSet::new();
        let mut next = self.last;
        while let Some(pin) = next {
            next = None;
            for (at, parent) in store.repo().commit(pin)?.parents.into_iter().enumerate() {
                let read = match store.repo().commit(parent) {
                    Err(git::Error::MissingObject { .. }) => return Ok(None),
                    read => read?,
                };
                match at == 0 && seen(read.message()).is_some() {
                    true => next = Some(parent),
                    false => drop(held.insert(parent)),
                }
            }
        }
        Ok(Some(held))
    }
}

fn seen(message: &[u8]) -> Option<Oid> {
    let text = std::str::from_utf8(message).ok()?;
    text.strip_prefix(SEEN)?.trim_end().parse().ok()
}
