//! A write: under the lock from the first look at the tip to the last local effect.

use std::collections::HashMap;

use super::{
    Error, State, Step, Store, Wait, Warning, decisions,
    heal::Tips,
    journal::Line,
    lock::Lock,
    message,
    object::{Object, Signed},
    tasks::{self, Effects, Heads, OpenTask, Tasks},
};
use crate::{
    git::{Clock, ObjectKind, Role},
    ledger::Ledger,
    model::{Body, Draft, Oid, Record, ReplicaId, Seal, TaskId},
};

/// Above this many bytes objects go into a pack of their own instead of the journal.
const LOOSE_LIMIT: usize = 64 * 1024;
/// What every clone accepts in one commit.
pub(super) const COMMIT_RECORDS: usize = 1_000;
pub(super) const COMMIT_BYTES: usize = 3 * 1024 * 1024;
/// The largest number a record may carry.
const MAX_SEQ: u64 = 1 << 52;

/// The ledger under its lock. Nobody else writes until this is dropped; signals that would end or
/// stop the process wait as long.
pub struct Transaction<'store> {
    pub(super) store: &'store Store,
    pub(super) clock: Clock,
    pub(super) state: State,
    pub(super) tips: Tips,
    /// What is newest on the tasks this transaction dealt with.
    pub(super) heads: HashMap<String, Heads>,
    _lock: Lock,
}

/// What was recorded, for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// In the order of the drafts.
    pub records: Vec<Record>,
    /// The ledger's tip that holds them.
    pub tip: Option<Oid>,
    /// Why git does not see them yet: a ref could not be moved in time. The next write moves it.
    pub pending: Option<String>,
    /// Why local files do not show them yet. The next write finishes that.
    pub unfinished: Option<String>,
}

impl Store {
    /// Takes the lock, heals what a killed writer or a pruning git left, and finishes local effects
    /// left undone. Where this clone has no ledger of its own, that of the tracking refs is taken over:
    /// what is recorded comes after it, and never beside it.
    pub fn begin(&self, wait: Wait, clock: Clock) -> Result<Transaction<'_>, Error> {
        let mut transaction = self.begin_apart(wait, clock)?;
        for reason in transaction.adopt_tracked()? {
            self.warn(Warning::Refused { reason });
        }
        Ok(transaction)
    }

    /// Begins as [`Self::begin`] does, and leaves the tracking refs to the caller.
    pub(crate) fn begin_apart(&self, wait: Wait, clock: Clock) -> Result<Transaction<'_>, Error> {
        self.repo().make_dir(self.dir())?;
        let lock = Lock::take(&self.dir().join("lock"), wait)?;
        self.stepped(Step::Locked)?;
        let state = self.state();
        let tips = self.settled_tips(&state)?;
        let mut transaction = Transaction {
            store: self,
            clock,
            state,
            tips,
            heads: HashMap::new(),
            _lock: lock,
        };
        transaction.catch_up()?;
        Ok(transaction)
    }
}

impl Transaction<'_> {
    /// Returns the ledger's tip.
    pub fn tip(&self) -> Option<Oid> {
        self.tips.ledger
    }

    /// Returns this clone's name.
    pub fn replica(&self) -> ReplicaId {
        self.state.replica.unwrap_or(ReplicaId::new([0; 8]))
    }

    /// Returns the time records of this transaction carry, ms since 1970.
    pub fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// Returns the store.
    pub fn store(&self) -> &Store {
        self.store
    }

    /// Returns the open task of this name.
    pub fn task(&self, task: &TaskId) -> Result<Option<OpenTask>, Error> {
        tasks::find(self.store.dir(), task)
    }

    /// Returns all open tasks.
    pub fn tasks(&self) -> Result<Tasks, Error> {
        tasks::list(self.store.dir())
    }

    /// Returns the records on a task.
    pub fn records(&self, task: &TaskId) -> Result<Ledger, Error> {
        self.store
            .index_if_missing(self.tips.ledger, self.state.count);
        self.store.of_task_at(self.tips.ledger, task.as_str())
    }

    /// Returns everything that is recorded.
    pub fn load(&self) -> Result<Ledger, Error> {
        self.store.load_at(self.tips.ledger)
    }

    /// Records the drafts as one: all of them or, after an error, none.
    ///
    /// `after` is filled in where the draft leaves it empty. `evidence` is the long evidence that the
    /// drafts name by digest; it is as safe as they are. What this returns is on the disk.
    pub fn commit(&mut self, drafts: &[Draft], evidence: Vec<Vec<u8>>) -> Result<Committed, Error> {
        if drafts.is_empty() {
            return Ok(Committed {
                records: Vec::new(),
                tip: self.tips.ledger,
                pending: None,
                unfinished: None,
            });
        }
        let evidence = self.kept(evidence)?;
        let (groups, heads) = self.seal(drafts)?;
        let messages: Vec<Vec<u8>> = groups.iter().map(|group| message::compose(group)).collect();
        let (objects, new) = self.build(&messages, evidence)?;
        let kept = self.promise(&objects, new)?;
        let records: Vec<Record> = groups.into_iter().flatten().collect();
        // From here it is recorded, whatever fails.
        let loose = if kept.is_some() { &[][..] } else { &objects };
        let published = self.store.publish(loose, self.tips, new);
        let pending = published.as_ref().err().map(ToString::to_string);
        self.tips = published.unwrap_or(new);
        if let (Some(kept), None) = (kept, &pending) {
            // A mark that stays is removed by the next sweep.
            let _ = self.store.repo().release_keep(kept);
        }
        self.heads.extend(heads);
        let landing = match (&pending, self.tips == new) {
            (Some(_), _) => Landing::Pending,
            (None, true) => Landing::AsMade,
            (None, false) => Landing::United,
        };
        let unfinished = self.finish(&records, landing).err();
        if pending.is_none() && unfinished.is_none() {
            // A journal that could not be cut is cut by the next writer.
            let _ = self.store.cut_if_due(self.tips, self.state.replica);
        }
        Ok(Committed {
            records,
            tip: self.tips.ledger,
            pending,
            unfinished: unfinished.map(|error| error.to_string()),
        })
    }

    /// Seals the drafts in order, each after what the ones before it said, in groups that each make
    /// one commit.
    fn seal(&mut self, drafts: &[Draft]) -> Result<Sealed, Error> {
        let mut heads: HashMap<String, Heads> = HashMap::new();
        let mut groups: Vec<Vec<Record>> = vec![Vec::new()];
        let mut bytes = 0;
        let mut seq = self.state.seq;
        for draft in drafts {
            let mut draft = draft.clone();
            let task = draft.task.as_ref().map(TaskId::to_string);
            if let Some(task) = &task {
                if !heads.contains_key(task) {
                    heads.insert(task.clone(), self.heads_of(task)?);
                }
                if draft.after.is_empty() {
                    let criterion = draft.criterion.as_ref().map(|criterion| criterion.as_str());
                    draft.after = heads[task].of(&draft.body, criterion);
                }
            }
            if !draft.body.is_imported() {
                seq = (seq + 1).min(MAX_SEQ);
            }
            let record = draft.seal(Seal {
                time: self.clock.now_ms(),
                seq,
                replica: self.replica(),
            })?;
            if let Some(heads) = task.and_then(|task| heads.get_mut(&task)) {
                heads.add(&record);
            }
            bytes += record.line().len();
            let full = groups
                .last()
                .is_some_and(|group| group.len() >= COMMIT_RECORDS);
            if full || bytes > COMMIT_BYTES {
                groups.push(Vec::new());
                bytes = record.line().len();
            }
            groups.last_mut().expect("never empty").push(record);
        }
        Ok((groups, heads))
    }

    fn heads_of(&self, task: &str) -> Result<Heads, Error> {
        if let Some(known) = self.heads.get(task) {
            return Ok(known.clone());
        }
        let Ok(task) = TaskId::new(task) else {
            return Ok(Heads::default());
        };
        match self.task(&task) {
            Ok(Some(open)) => return Ok(open.heads),
            Ok(None) | Err(Error::TaskFile { .. }) => {}
            Err(error) => return Err(error),
        }
        self.heads_in_history(&task)
    }

    pub(super) fn heads_in_history(&self, task: &TaskId) -> Result<Heads, Error> {
        let mut heads = Heads::default();
        for record in self.records(task)?.iter() {
            heads.add(record);
        }
        Ok(heads)
    }

    /// Makes the objects of a write and the tips they lead to.
    pub(super) fn build(
        &self,
        messages: &[Vec<u8>],
        evidence: Vec<Vec<u8>>,
    ) -> Result<(Vec<Object>, Tips), Error> {
        let repo = self.store.repo();
        let mut new = self.tips;
        let mut signed = self.signed()?;
        let mut objects = Vec::new();
        if !evidence.is_empty() {
            let of_evidence = self.at_least(&signed, self.tips.evidence)?;
            objects = self
                .store
                .add_evidence(self.tips.evidence, evidence, &of_evidence)?;
            new.evidence = objects
                .last()
                .map_or(new.evidence, |commit| Some(commit.id));
        }
        signed = self.at_least(&signed, self.tips.ledger)?;
        let tree = self.store.empty_tree();
        let tree_id = tree.id;
        if new.ledger.is_none() {
            objects.push(tree);
        }
        for message in messages {
            let parents: Vec<Oid> = new.ledger.into_iter().collect();
            let commit = Object::commit(repo.hash_kind(), (tree_id, &parents), &signed, message);
            new.ledger = Some(commit.id);
            objects.push(commit);
        }
        Ok((objects, new))
    }

    fn signed(&self) -> Result<Signed, Error> {
        let repo = self.store.repo();
        let now = i64::try_from(self.clock.now_ms() / 1_000).unwrap_or(i64::MAX);
        Ok(Signed {
            author: repo.identity(Role::Author)?,
            committer: repo.identity(Role::Committer)?,
            author_time: now,
            committer_time: now,
        })
    }

    /// git walks history by committer time: a child is never older than its parent.
    fn at_least(&self, signed: &Signed, parent: Option<Oid>) -> Result<Signed, Error> {
        let mut signed = signed.clone();
        if let Some(parent) = parent {
            signed.committer_time = signed.committer_time.max(self.store.time_at(parent)?);
        }
        Ok(signed)
    }

    /// Makes the objects outlive a kill and a power cut, in the journal or in a pack.
    pub(super) fn promise(
        &self,
        objects: &[Object],
        new: Tips,
    ) -> Result<Option<crate::git::Kept>, Error> {
        let Some(ledger) = new.ledger else {
            return Ok(None);
        };
        let bytes: usize = objects.iter().map(|object| object.bytes.len()).sum();
        let mut line = Line {
            ledger,
            evidence: new.evidence.filter(|_| new.evidence != self.tips.evidence),
            replica: self.state.replica,
            objects: Vec::new(),
            packed: Vec::new(),
        };
        let kept = if bytes > LOOSE_LIMIT {
            let parts: Vec<(ObjectKind, &[u8])> = objects
                .iter()
                .map(|object| (object.kind, object.bytes.as_slice()))
                .collect();
            let kept = self
                .store
                .repo()
                .write_pack(&parts)
                .map_err(Error::NotPacked)?;
            self.store.stepped(Step::PackWritten)?;
            line.packed = objects.iter().map(|object| object.id).collect();
            Some(kept)
        } else {
            line.objects = objects.to_vec();
            None
        };
        self.store.journal.append(&line)?;
        // What a test makes fail here fails behind the promise.
        let _ = self.store.step(Step::Promised);
        Ok(kept)
    }

    /// Does what the records mean for local files. Where others wrote meanwhile, what they wrote is
    /// taken in too.
    fn finish(&mut self, records: &[Record], landing: Landing) -> Result<(), Error> {
        self.store.stepped(Step::Effects)?;
        let dir = self.store.dir();
        let mut effects = Effects::default();
        for record in records {
            effects.add(dir, record)?;
            decisions::apply(dir, record)?;
        }
        effects.apply(dir, &self.heads)?;
        let largest = records.iter().map(|record| record.seq).max();
        self.state.seq = self.state.seq.max(largest.unwrap_or(0));
        if let Some(roots) = records.iter().rev().find_map(roots) {
            self.state.roots = roots.to_vec();
        }
        match landing {
            Landing::AsMade => {}
            Landing::United => return self.catch_up(),
            // The state speaks of what the refs hold.
            Landing::Pending => return Ok(()),
        }
        let added = records.len() as u64;
        self.state.count = self.state.count.map(|count| count + added);
        self.state.tip = self.tips.ledger;
        self.state.evidence = self.tips.evidence;
        self.state.settled = self.tips.ledger;
        self.state.write(dir)
    }

    /// Brings `seq`, the count, our name and the task files to the tip.
    pub(super) fn catch_up(&mut self) -> Result<(), Error> {
        let is_known = self.state.tip == self.tips.ledger
            && self.state.evidence == self.tips.evidence
            && self.state.settled == self.tips.ledger
            && self.state.replica.is_some();
        if is_known {
            return Ok(());
        }
        let before = self.state.clone();
        self.state.replica = match before.replica {
            Some(replica) => Some(replica),
            None => Some(self.store.name_of_clone()?),
        };
        let Some(tip) = self.tips.ledger else {
            self.state.count = Some(0);
            return self.state.write(self.store.dir());
        };
        if before.settled != Some(tip) {
            self.settle(tip)?;
        }
        if before.tip != Some(tip) {
            self.state.seq = self.store.seq_at(tip)?.max(before.seq);
            self.state.count = self.store.count_at(tip, &before)?;
        }
        self.state.tip = Some(tip);
        self.state.evidence = self.tips.evidence;
        self.state.settled = Some(tip);
        self.state.write(self.store.dir())
    }
}

/// How a write came to its end.
#[derive(Clone, Copy)]
enum Landing {
    AsMade,
    /// Somebody else had moved a ref.
    United,
    Pending,
}

type Sealed = (Vec<Vec<Record>>, HashMap<String, Heads>);

/// Returns the root commits that a record was made over, which later ones need not look for.
fn roots(record: &Record) -> Option<&[Oid]> {
    let Body::Verdict(verdict) = &record.body else {
        return None;
    };
    verdict.repo.as_deref()
}
