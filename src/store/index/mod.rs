//! Where records of a kind, task, criterion, commit, subject or id lie: a file that can be thrown away.
//!
//! It only ever says which commits to read; what they hold is checked as always. A file that is
//! absent, damaged, of another version or of a tip that ours does not contain is not used.

mod file;
mod key;

use std::{collections::BTreeSet, path::PathBuf};

pub(super) use key::{Key, about, commits, subject};

use file::{Contents, File};

use super::{Append, Error, Newest, Store, files};
use crate::{ledger::Entry, model::Oid};

/// How many commits readers catch up with in memory before a cut makes the file anew.
const BEHIND: usize = 500;
const NAME: &str = "index";

impl Store {
    fn index_path(&self) -> PathBuf {
        self.dir().join(NAME)
    }

    /// Returns the entries of `tip` under any of the keys that `wanted` picks, newest commit first.
    pub(super) fn query(
        &self,
        tip: Option<Oid>,
        keys: &[Key],
        wanted: impl Fn(&Entry) -> bool,
    ) -> Result<Vec<Entry>, Error> {
        let Some(tip) = tip else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        let mut take = |append: Append| {
            let entries = append.entries.into_iter().rev();
            found.extend(entries.filter(|entry| wanted(entry)));
        };
        match self.candidates(tip, keys)? {
            Some(commits) => {
                let mut appends = commits
                    .into_iter()
                    .map(|commit| self.append_at(commit))
                    .collect::<Result<Vec<_>, _>>()?;
                appends.sort_by_key(|append| std::cmp::Reverse((append.seq, append.time)));
                appends.into_iter().for_each(&mut take);
            }
            None => {
                for append in Newest::from(self, Some(tip))? {
                    take(append?);
                }
            }
        }
        Ok(found)
    }

    /// Returns the commits that may hold an entry under any of the keys; `None` where the file is no
    /// help.
    fn candidates(&self, tip: Oid, keys: &[Key]) -> Result<Option<BTreeSet<Oid>>, Error> {
        let Some(file) = File::open(&self.index_path(), self.repo().hash_kind()) else {
            return Ok(None);
        };
        let Some(fresh) = self.since(tip, file.tip())? else {
            return Ok(None);
        };
        let mut commits: BTreeSet<Oid> = fresh.into_iter().collect();
        for key in keys {
            match file.find(key) {
                Some(found) => commits.extend(found),
                None => return Ok(None),
            }
        }
        Ok(Some(commits))
    }

    /// Returns the commits the file names, newest first but for those added later; `None` where there are
    /// fewer than `least` or the file is no help.
    pub(super) fn indexed(&self, least: usize) -> Option<Vec<Oid>> {
        File::open(&self.index_path(), self.repo().hash_kind())
            .filter(|file| file.count() >= least)?
            .commits()
    }

    /// Returns the commits that `tip` has and `known` has not; `None` when it lacks some of its own.
    fn since(&self, tip: Oid, known: Oid) -> Result<Option<Vec<Oid>>, Error> {
        if tip == known {
            return Ok(Some(Vec::new()));
        }
        if !self.is_readable(known) {
            return Ok(None);
        }
        let differ = self.overlaid(|| Ok(self.repo().difference(tip, known)?))?;
        Ok(differ.right.is_empty().then_some(differ.left))
    }

    /// Makes the file anew when it is far behind `tip`; call it under the lock.
    pub(super) fn index_if_due(&self, tip: Oid) -> Result<(), Error> {
        let known = File::open(&self.index_path(), self.repo().hash_kind());
        let mut contents = match known {
            Some(file) => match self.since(tip, file.tip())? {
                Some(fresh) if fresh.len() <= BEHIND => return Ok(()),
                Some(fresh) => {
                    let Some(mut contents) = file.read() else {
                        return self.index_whole(tip);
                    };
                    for commit in fresh {
                        contents.add(&self.append_at(commit)?);
                    }
                    contents
                }
                None => return self.index_whole(tip),
            },
            None => return self.index_whole(tip),
        };
        contents.tip = Some(tip);
        files::replace(
            self.dir(),
            NAME,
            &contents.into_bytes(self.repo().hash_kind()),
        )
    }

    /// Makes the file where there is none and a query would read a long history instead; call it under
    /// the lock. What fails here is looked for without an index.
    pub(super) fn index_if_missing(&self, tip: Option<Oid>, count: Option<u64>) {
        let long = count.is_none_or(|count| count > BEHIND as u64);
        if let Some(tip) = tip.filter(|_| long && !self.dir().join(NAME).exists()) {
            let _ = self.index_whole(tip);
        }
    }

    /// Makes the file from the whole history of `tip`; call it under the lock.
    pub(super) fn index_whole(&self, tip: Oid) -> Result<(), Error> {
        let mut contents = Contents::default();
        for append in Newest::from(self, Some(tip))? {
            contents.add(&append?);
        }
        contents.tip = Some(tip);
        files::replace(
            self.dir(),
            NAME,
            &contents.into_bytes(self.repo().hash_kind()),
        )
    }
}
