//! Making the repository hold what the journal promised.

use std::{
    io, thread,
    time::{Duration, Instant},
};

use super::{
    EVIDENCE, Error, LEDGER, SHADOW, State, Step, Store, Warning, journal::Line, object::Object,
    union::Union,
};
use crate::{
    git::{self, Expected, Swap, Swapped, Verify},
    model::Oid,
};

/// How long a writer tries to move the refs before it leaves that to the next one.
pub(super) const BUDGET: Duration = Duration::from_secs(1);
/// Prune removes directories of objects between their making and their use.
const TRIES: u32 = 10;

/// The tips a writer goes on from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tips {
    pub(super) ledger: Option<Oid>,
    pub(super) evidence: Option<Oid>,
}

/// What became of an attempt to move the refs.
enum Landed {
    Done,
    /// Promised, and not visible to git yet: the next writer moves the refs.
    Pending,
    /// Somebody else moved a ref meanwhile.
    Overtaken,
}

impl Store {
    /// Returns the tips to go on from; heals where the last lines of the journal and the refs differ
    /// or an object of theirs is gone.
    pub(super) fn settled_tips(&self, state: &State) -> Result<Tips, Error> {
        self.refuse_cut_off()?;
        let tail = self.journal.tail()?;
        let (Ok(ledger), Ok(evidence)) =
            (self.repo().read_ref(LEDGER), self.repo().read_ref(EVIDENCE))
        else {
            return self.heal();
        };
        let tips = Tips { ledger, evidence };
        let as_promised = match tail.last() {
            Some(last) => Some(last.ledger) == ledger && self.holds(&tail),
            None => {
                let nothing = ledger.is_none() && evidence.is_none() && state.tip.is_none();
                nothing && self.no_ledger().is_ok()
            }
        };
        let promised = tail.iter().rev().find_map(|line| line.evidence);
        let promised = promised.or(state.evidence);
        if as_promised && (promised.is_none() || promised == evidence) {
            return Ok(tips);
        }
        self.heal()
    }

    /// Says whether everything the lines promised is there.
    fn holds(&self, lines: &[Line]) -> bool {
        lines
            .iter()
            .all(|line| self.repo().has(line.ledger) && line.made().all(|id| self.repo().has(id)))
    }

    /// Rewrites what is bad or missing from the journal, then unites the refs with its last line.
    pub(super) fn heal(&self) -> Result<Tips, Error> {
        let lines = self.journal.read()?;
        for object in lines.iter().flat_map(|line| &line.objects) {
            self.write_object(object, Verify::Yes)?;
        }
        let started = Instant::now();
        loop {
            let tips = self.united(&lines)?;
            match self.land(tips, started)? {
                Landed::Done | Landed::Pending => {
                    self.promise_foreign(tips)?;
                    return Ok(tips);
                }
                Landed::Overtaken if started.elapsed() > BUDGET => return Ok(tips),
                Landed::Overtaken => {}
            }
        }
    }

    /// Returns the unions of the refs, the shadow, the last tip known and the journal's last
    /// readable line; new commits are promised and written.
    fn united(&self, lines: &[Line]) -> Result<Tips, Error> {
        let state = self.state();
        let ledger = self.united_ledger(lines, &state)?;
        let evidence = self.united_evidence(lines, &state, ledger)?;
        Ok(Tips { ledger, evidence })
    }

    fn united_ledger(&self, lines: &[Line], state: &State) -> Result<Option<Oid>, Error> {
        let live = self.readable_ref(LEDGER)?;
        let shadow = self.repo().read_ref(SHADOW).ok().flatten();
        let promised = lines.iter().rev().map(|line| line.ledger);
        let promised = promised.into_iter().find(|tip| self.is_readable(*tip));
        let mut ledger = live;
        if let Some(tip) = promised {
            ledger = Some(match ledger {
                None => tip,
                Some(known) => self.merged(self.union_of(known, tip)?, Tips::of_ledger)?,
            });
        }
        let hints: Vec<Oid> = [shadow, state.tip].into_iter().flatten().collect();
        match live {
            Some(live) => self.warn_if_moved(live, &hints)?,
            None if !hints.is_empty() => self.warn_of_absence(),
            None => {}
        }
        for tip in hints.into_iter().filter(|tip| self.is_readable(*tip)) {
            ledger = match ledger {
                None => Some(tip),
                Some(known) => match self.union_of(known, tip) {
                    Ok(union) => Some(self.merged(union, Tips::of_ledger)?),
                    // A hole below: what can be read goes on.
                    Err(Error::Git(git::Error::MissingObject { .. })) => Some(known),
                    Err(error) => return Err(error),
                },
            };
        }
        if ledger.is_none() {
            self.no_ledger()?;
        }
        Ok(ledger)
    }

    fn united_evidence(
        &self,
        lines: &[Line],
        state: &State,
        ledger: Option<Oid>,
    ) -> Result<Option<Oid>, Error> {
        let mut evidence = self.readable_ref(EVIDENCE)?;
        let promised = lines.iter().rev().filter_map(|line| line.evidence);
        let promised = promised.into_iter().find(|tip| self.is_readable(*tip));
        let known = state.evidence.filter(|tip| self.is_readable(*tip));
        for tip in [promised, known].into_iter().flatten() {
            evidence = Some(match evidence {
                None => tip,
                Some(live) if live == tip => live,
                Some(live) => {
                    let gone = self.redacted(ledger)?;
                    let union = self.union_of_evidence(live, tip, &gone)?;
                    self.merged(union, |tip| Tips {
                        ledger,
                        evidence: Some(tip),
                    })?
                }
            });
        }
        Ok(evidence)
    }

    /// Returns the commit a ref names, if it can be read; what a damaged file hides counts.
    fn readable_ref(&self, name: &'static str) -> Result<Option<Oid>, Error> {
        let read = match self.repo().read_ref(name) {
            Err(git::Error::UnreadableRef { .. }) => self.repo().read_packed_ref(name)?,
            other => other?,
        };
        Ok(read.filter(|tip| self.is_readable(*tip)))
    }

    /// Removes the file of a ref that holds no id, so that the ref can be moved again.
    fn drop_damaged(&self, name: &'static str, new: Oid, own: &[Oid]) -> Result<(), Error> {
        let Err(error @ git::Error::UnreadableRef { .. }) = self.repo().read_ref(name) else {
            return Ok(());
        };
        let reason = error.to_string();
        self.warn(Warning::Unreadable { reason });
        self.repo().drop_unreadable_ref(Swap {
            name,
            old: Expected::Absent,
            new,
            own,
            wait: BUDGET,
        })?;
        Ok(())
    }

    /// Returns the tip of a union; a merge is promised and written first.
    fn merged(&self, union: Union, tips: impl Fn(Oid) -> Tips) -> Result<Oid, Error> {
        match union {
            Union::One(tip) => Ok(tip),
            Union::Merge(commit, needs) => {
                let id = commit.id;
                let tips = tips(id);
                let objects: Vec<Object> = needs.into_iter().chain([commit]).collect();
                if let Some(ledger) = tips.ledger {
                    let bare = Line::bare(ledger, tips.evidence, self.state().replica);
                    self.journal.append(&Line {
                        objects: objects.clone(),
                        ..bare
                    })?;
                }
                for object in &objects {
                    self.write_object(object, Verify::Yes)?;
                }
                Ok(id)
            }
        }
    }

    /// Names a tip that others made as the journal's last, so that the next append need not look
    /// further.
    fn promise_foreign(&self, tips: Tips) -> Result<(), Error> {
        let Some(ledger) = tips.ledger else {
            return Ok(());
        };
        let tail = self.journal.tail()?;
        let evidence = tail.iter().rev().find_map(|line| line.evidence);
        let known = evidence.is_none() || evidence == tips.evidence;
        if known && tail.last().is_some_and(|line| line.ledger == ledger) {
            return Ok(());
        }
        let line = Line::bare(ledger, tips.evidence, self.state().replica);
        self.journal.append(&line)
    }

    /// Moves the refs to `tips`, which contain what the refs held.
    fn land(&self, tips: Tips, started: Instant) -> Result<Landed, Error> {
        let own = own_ids(&self.journal.tail()?);
        for (name, tip) in [(EVIDENCE, tips.evidence), (LEDGER, tips.ledger)] {
            let Some(tip) = tip else { continue };
            self.drop_damaged(name, tip, &own)?;
            let found = self.repo().read_ref(name)?;
            if found == Some(tip) {
                continue;
            }
            let readable = found.filter(|found| self.is_readable(*found));
            if let Some(live) = readable
                && !self.repo().difference(live, tip)?.left.is_empty()
                && !(name == EVIDENCE && self.is_without_redacted(tip, live, tips.ledger)?)
            {
                return Ok(Landed::Overtaken);
            }
            let swap = Swap {
                name,
                old: Expected::from_read(found),
                new: tip,
                own: &own,
                wait: BUDGET.saturating_sub(started.elapsed()),
            };
            match self.repo().swap_ref(swap) {
                Ok(Swapped::Done) => {}
                Ok(Swapped::Mismatch { .. }) => return Ok(Landed::Overtaken),
                Err(git::Error::RefLocked { .. }) => return Ok(Landed::Pending),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Landed::Done)
    }

    /// Writes the objects and moves the refs from `old` to `new`, all within [`BUDGET`]. The journal
    /// has them already: whatever fails here is finished by the next writer.
    pub(super) fn publish(&self, objects: &[Object], old: Tips, new: Tips) -> Result<Tips, Error> {
        let started = Instant::now();
        for object in objects {
            self.stepped(Step::Object)?;
            self.write_object(object, Verify::No)?;
        }
        let own = own_ids(&self.journal.tail()?);
        let moves = [
            (EVIDENCE, old.evidence, new.evidence),
            (LEDGER, old.ledger, new.ledger),
        ];
        for (name, old, new) in moves {
            let Some(new) = new.filter(|_| old != new) else {
                continue;
            };
            let swap = Swap {
                name,
                old: Expected::from_read(old),
                new,
                own: &own,
                wait: BUDGET.saturating_sub(started.elapsed()),
            };
            if let Swapped::Mismatch { .. } = self.repo().swap_ref(swap)? {
                return self.heal();
            }
        }
        self.stepped(Step::RefMoved)?;
        let is_whole =
            |tip: Option<Oid>| tip.is_none_or(|tip| self.repo().read_verified(tip).is_ok());
        if !is_whole(new.ledger) || !is_whole(new.evidence.filter(|_| new.evidence != old.evidence))
        {
            return self.heal();
        }
        self.stepped(Step::ReadBack)?;
        Ok(new)
    }

    pub(super) fn stepped(&self, step: Step) -> Result<(), Error> {
        self.step(step).map_err(Error::write(self.dir()))
    }

    /// Writes an object; tries again when its directory vanishes.
    pub(super) fn write_object(&self, object: &Object, verify: Verify) -> Result<(), Error> {
        for round in 0.. {
            match self.repo().write_object(object.kind, &object.bytes, verify) {
                Ok(_) => return Ok(()),
                Err(git::Error::Write { source, .. })
                    if source.kind() == io::ErrorKind::NotFound && round < TRIES =>
                {
                    thread::yield_now();
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Refuses a ledger whose older part a shallow fetch left out: what is built on it would claim
    /// to know what came before.
    fn refuse_cut_off(&self) -> Result<(), Error> {
        if !self.repo().is_shallow() {
            return Ok(());
        }
        let empty = self.empty_tree().id;
        for commit in self.repo().cut_off()? {
            let Ok(read) = self.repo().commit(commit) else {
                continue;
            };
            let append = super::Append::of(commit, &read);
            if read.tree == empty && (append.seq.is_some() || !append.entries.is_empty()) {
                return Err(Error::Shallow { commit });
            }
        }
        Ok(())
    }
}

impl Tips {
    fn of_ledger(tip: Oid) -> Self {
        Self {
            ledger: Some(tip),
            evidence: None,
        }
    }
}

/// Returns the ids a dead writer of ours may have left in a ref's lock.
pub(super) fn own_ids(lines: &[Line]) -> Vec<Oid> {
    lines
        .iter()
        .flat_map(|line| [Some(line.ledger), line.evidence])
        .flatten()
        .collect()
}
