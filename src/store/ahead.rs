//! Reading a long history with every processor: the index says which commits there are, and each thread
//! reads its share of them.

use std::{collections::HashMap, num::NonZero, thread};

use super::{Append, Store};
use crate::{git::Source, model::Oid};

/// A shorter history is read by one thread.
const LONG: usize = 500;
const MOST_THREADS: usize = 8;

/// Commits that were read before anybody asked for them.
pub(super) type Ahead = HashMap<Oid, Append>;

impl Store {
    /// Reads the commits that the index names where those are many. What is not among them, or could not
    /// be read here, is left to the walk, which also says what of it all belongs to the ledger.
    pub(super) fn read_ahead(&self) -> Ahead {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let threads = threads.min(MOST_THREADS);
        let named = (threads > 1).then(|| self.indexed(LONG)).flatten();
        let Some(commits) = named else {
            return Ahead::new();
        };
        let source = self.repo().source();
        let mut shares = commits.chunks(commits.len().div_ceil(threads));
        let own = shares.next().unwrap_or_default();
        let read = thread::scope(|scope| {
            let source = &source;
            let others: Vec<_> = shares
                .map(|share| scope.spawn(move || read(source, share)))
                .collect();
            let mut parts = vec![read(source, own)];
            parts.extend(others.into_iter().map(|other| {
                other
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }));
            parts
        });
        let mut ahead = Ahead::with_capacity(commits.len());
        ahead.extend(
            read.into_iter()
                .flatten()
                .map(|append| (append.commit, append)),
        );
        ahead
    }
}

fn read(source: &Source, commits: &[Oid]) -> Vec<Append> {
    let Ok(reader) = source.open() else {
        return Vec::new();
    };
    let read = |id: &Oid| Some(Append::of(*id, &reader.commit(*id)?));
    commits.iter().filter_map(read).collect()
}
