//! Reading the ledger's history: commits into records, newest first, as far as somebody asks.

use std::{
    collections::{BinaryHeap, HashSet},
    rc::Rc,
};

use super::{Error, Store, Warning, ahead::Ahead, message};
use crate::{
    git,
    ledger::{Entry, Ledger},
    model::{Oid, Record},
};

/// One commit of the ledger and what its lines turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Append {
    pub commit: Oid,
    pub parents: Vec<Oid>,
    /// The committer's time, seconds since 1970.
    pub time: i64,
    /// The largest `seq` among its records, or the one a union carries; `None` when it says none.
    pub seq: Option<u64>,
    /// In the order of the lines.
    pub entries: Vec<Entry>,
}

impl Append {
    pub(super) fn of(commit: Oid, read: &git::Commit) -> Self {
        let mut seq = message::union_seq(read.message());
        let mut entries = Vec::new();
        if seq.is_none() {
            for (index, line) in message::lines(read.message()).enumerate() {
                let place = || format!("commit {}, record {}", commit.short(), index + 1);
                let entry = Entry::read(line, place);
                if let Entry::Record(record) = &entry {
                    seq = seq.max(Some(record.seq).filter(|seq| *seq > 0));
                }
                entries.push(entry);
            }
        }
        Self {
            commit,
            parents: read.parents.clone(),
            time: read.committer_time,
            seq,
            entries,
        }
    }

    /// Returns the records, in the order of the lines.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = &Record> {
        self.entries.iter().filter_map(|entry| {
            if let Entry::Record(record) = entry {
                Some(&**record)
            } else {
                None
            }
        })
    }
}

/// Orders what is to be visited: the largest `seq` first, as records are shown.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    seq: u64,
    time: i64,
    commit: Oid,
}

struct Queued {
    key: Key,
    append: Append,
}

impl PartialEq for Queued {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Queued {}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Queued {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// The commits of a ledger, newest first; a commit is read when those newer than it were taken.
pub struct Newest<'store> {
    store: &'store Store,
    queue: BinaryHeap<Queued>,
    seen: HashSet<Oid>,
    cut: Rc<HashSet<Oid>>,
    ahead: Ahead,
    failed: Option<Error>,
}

impl<'store> Newest<'store> {
    pub(super) fn from(store: &'store Store, tip: Option<Oid>) -> Result<Self, Error> {
        Self::with(store, tip, Ahead::new())
    }

    /// Walks as [`Self::from`] does, with commits that were read before.
    fn with(store: &'store Store, tip: Option<Oid>, ahead: Ahead) -> Result<Self, Error> {
        let mut newest = Self {
            store,
            queue: BinaryHeap::new(),
            seen: HashSet::new(),
            cut: Rc::new(store.repo().cut_off()?),
            ahead,
            failed: None,
        };
        if let Some(tip) = tip {
            newest.push(tip, u64::MAX)?;
        }
        Ok(newest)
    }

    /// Queues a commit; one that says no `seq` follows at once after its child.
    fn push(&mut self, commit: Oid, of_child: u64) -> Result<(), Error> {
        if !self.seen.insert(commit) {
            return Ok(());
        }
        let append = match self.ahead.remove(&commit) {
            Some(append) => append,
            None => self.store.append_at(commit)?,
        };
        self.queue.push(Queued {
            key: Key {
                seq: append.seq.unwrap_or(of_child),
                time: append.time,
                commit,
            },
            append,
        });
        Ok(())
    }
}

impl Iterator for Newest<'_> {
    type Item = Result<Append, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            self.queue.clear();
            return Some(Err(error));
        }
        let Queued { key, append } = self.queue.pop()?;
        if self.cut.contains(&append.commit) {
            self.store.warn(Warning::Shallow {
                commit: append.commit,
            });
        } else {
            let pushed = append
                .parents
                .iter()
                .try_for_each(|parent| self.push(*parent, key.seq));
            self.failed = pushed.err();
        }
        Some(Ok(append))
    }
}

impl Store {
    /// Returns the commits of the ledger, newest first; only what is taken is read.
    pub fn newest(&self) -> Result<Newest<'_>, Error> {
        Newest::from(self, self.tip()?)
    }

    /// Returns everything: records, lines set aside with commit and reason, newer versions.
    pub fn load(&self) -> Result<Ledger, Error> {
        self.load_at(self.tip()?)
    }

    pub(super) fn load_at(&self, tip: Option<Oid>) -> Result<Ledger, Error> {
        let mut ledger = Ledger::default();
        let ahead = match tip {
            Some(_) => self.read_ahead(),
            None => Ahead::new(),
        };
        for append in Newest::with(self, tip, ahead)? {
            for entry in append?.entries {
                ledger.insert(entry);
            }
        }
        Ok(ledger)
    }

    pub(super) fn append_at(&self, commit: Oid) -> Result<Append, Error> {
        let read = self.overlaid(|| Ok(self.repo().commit(commit)?))?;
        Ok(Append::of(commit, &read))
    }

    /// Returns the largest `seq` reachable from `tip`: that of the nearest commits which say one.
    pub(super) fn seq_at(&self, tip: Oid) -> Result<u64, Error> {
        let mut pending = vec![tip];
        let mut seen = HashSet::new();
        let mut largest = 0;
        let cut = self.repo().cut_off()?;
        while let Some(commit) = pending.pop() {
            if !seen.insert(commit) {
                continue;
            }
            let append = self.append_at(commit)?;
            match append.seq {
                Some(seq) => largest = largest.max(seq),
                None if cut.contains(&commit) => {}
                None => pending.extend(append.parents),
            }
        }
        Ok(largest)
    }
}
