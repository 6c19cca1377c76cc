//! What `doctor --fix` and `start` do to a ledger beyond writing to it.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
};

use super::{
    Error, Store, Transaction, decisions, message,
    tasks::{self, Effects, OpenTask},
};
use crate::{
    git::Repo,
    ledger::Ledger,
    model::{Body, Decoded, Digest, Oid, RecordId, TaskId, decode},
};

/// Evidence that is moved in one write.
const PIECES_BYTES: usize = 32 << 20;

/// What was moved from the store outside git.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakenOver {
    pub records: u64,
    pub tasks: Vec<TaskId>,
}

impl Transaction<'_> {
    /// Makes the files of this clone's open tasks and unpresented decisions anew where they are lost
    /// or cannot be read; closes nothing. Returns the tasks.
    pub fn rebuild(&mut self) -> Result<Vec<TaskId>, Error> {
        let ledger = self.load()?;
        let dir = self.store.dir();
        let mut effects = Effects::default();
        let mut made = Vec::new();
        for open in self.store.lost_tasks(&ledger)? {
            let heads = self.heads_in_history(&open.task)?;
            self.heads.insert(open.task.to_string(), heads);
            made.push(open.task.clone());
            effects.refresh(open);
        }
        effects.apply(dir, &self.heads)?;
        let covered: HashSet<RecordId> = ledger
            .iter()
            .filter_map(|record| match &record.body {
                Body::Decision(decision) => Some(&decision.covers),
                _ => None,
            })
            .flatten()
            .copied()
            .collect();
        let own = self.state.replica;
        for record in ledger.iter().filter(|record| record.replica == own) {
            if !covered.contains(&record.id) {
                decisions::apply(dir, record)?;
            }
        }
        Ok(made)
    }

    /// Moves the ledger of `from`, a store outside git, in here: records byte for byte, long evidence,
    /// open tasks. Records that are here already stay as they are; doing it again changes nothing.
    pub fn take_over(&mut self, from: &Store) -> Result<TakenOver, Error> {
        // Nobody writes there meanwhile.
        let source = from.begin(super::Wait::Command, self.clock)?;
        let Some(tip) = source.tip() else {
            return Ok(TakenOver::default());
        };
        if self.tips.ledger.is_none() {
            self.state.replica = Some(source.replica());
            self.state.write(self.store.dir())?;
        }
        let records = self.move_lines(from, tip)?;
        self.move_evidence(from)?;
        let tasks = self.move_tasks(&source)?;
        Ok(TakenOver { records, tasks })
    }

    fn move_lines(&mut self, from: &Store, tip: Oid) -> Result<u64, Error> {
        let mut lines = Vec::new();
        let commits: Result<Vec<Oid>, Error> = from
            .newest()?
            .map(|append| append.map(|append| append.commit))
            .collect();
        for commit in commits?.into_iter().rev() {
            let read = from.repo().commit(commit)?;
            for line in message::lines(read.message()) {
                let id = match decode(line) {
                    Ok(Decoded::Record(record)) => record.id,
                    Ok(Decoded::Newer { id, .. }) => id,
                    Err(_) => continue,
                };
                let text = std::str::from_utf8(line).expect("a line that decodes is UTF-8");
                lines.push((id, text.to_owned()));
            }
        }
        self.append_lines(tip, lines)
    }

    fn move_evidence(&mut self, from: &Store) -> Result<(), Error> {
        let mut pieces: Vec<Vec<u8>> = Vec::new();
        let mut bytes = 0;
        for digest in from.digests()? {
            if self.store.evidence(&digest)?.is_some() {
                continue;
            }
            let Some(piece) = from.evidence(&digest)? else {
                continue;
            };
            bytes += piece.len();
            pieces.push(piece);
            if bytes > PIECES_BYTES {
                self.add_pieces(std::mem::take(&mut pieces))?;
                bytes = 0;
            }
        }
        self.add_pieces(pieces)
    }

    fn add_pieces(&mut self, pieces: Vec<Vec<u8>>) -> Result<(), Error> {
        if pieces.is_empty() {
            return Ok(());
        }
        let (objects, new) = self.build(&[], pieces)?;
        self.land_tips(&objects, new)
    }

    fn move_tasks(&mut self, source: &Transaction<'_>) -> Result<Vec<TaskId>, Error> {
        let dir = self.store.dir();
        let theirs = source.store.dir();
        let mut effects = Effects::default();
        let mut moved = Vec::new();
        let open = source.tasks()?.open;
        for task in &open {
            let history = self.records(&task.task)?;
            let closed = history.iter().any(|record| task.is_closed_by(record));
            match self.task(&task.task)? {
                None if !closed => {
                    moved.push(task.task.clone());
                    effects.refresh(task.clone());
                }
                Some(here) if here.opened == task.opened => moved.push(here.task),
                Some(_) | None => {}
            }
        }
        effects.apply(dir, &HashMap::new())?;
        let waiting: Vec<RecordId> = decisions::unpresented(theirs)?
            .into_iter()
            .map(|decision| decision.id)
            .collect();
        for id in &waiting {
            if let Some(record) = self.store.get(id)? {
                decisions::apply(dir, &record)?;
            }
        }
        for task in open {
            tasks::remove(theirs, &task.task)?;
        }
        for id in waiting {
            decisions::remove(theirs, &id)?;
        }
        Ok(moved)
    }
}

impl Store {
    /// Returns the tasks that this clone's records leave open and that have no file which says so.
    pub fn lost_tasks(&self, ledger: &Ledger) -> Result<Vec<OpenTask>, Error> {
        let Some(own) = self.state().replica else {
            return Ok(Vec::new());
        };
        let mut open: BTreeMap<String, OpenTask> = BTreeMap::new();
        for record in ledger.iter().filter(|record| record.replica == Some(own)) {
            let Some(task) = record.task.clone() else {
                continue;
            };
            match open.get_mut(&task) {
                Some(known) if known.is_closed_by(record) => {
                    open.remove(&task);
                }
                Some(known) => known.follow(record),
                None => {}
            }
            open.extend(OpenTask::of(record).map(|opened| (task, opened)));
        }
        let mut lost = Vec::new();
        for open in open.into_values() {
            match tasks::find(self.dir(), &open.task) {
                Ok(Some(_)) => {}
                Ok(None) | Err(Error::TaskFile { .. }) => lost.push(open),
                Err(error) => return Err(error),
            }
        }
        Ok(lost)
    }

    /// Returns the digests of all long evidence.
    pub fn digests(&self) -> Result<Vec<Digest>, Error> {
        let Some(tip) = self.evidence_tip()? else {
            return Ok(Vec::new());
        };
        let mut digests = Vec::new();
        for dir in self.entries(self.tree_at(tip)?)? {
            for blob in self.entries(dir.id)? {
                let name = std::str::from_utf8(&blob.name).ok();
                digests.extend(name.and_then(|name| name.parse::<Digest>().ok()));
            }
        }
        Ok(digests)
    }

    /// Opens the store outside git that lies in `path` for a project that has a repository now.
    pub fn outside(path: &Path) -> Result<Self, Error> {
        Ok(Self::open(Repo::open_bare_store(path)?))
    }
}
