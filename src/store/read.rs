//! What a reader takes for the tip, without a lock and without writing.

use std::{thread, time::Duration};

use super::{EVIDENCE, Error, LEDGER, REMOTES, SHADOW, Store, Warning, union::Union};
use crate::{git, model::Oid};

/// How often, and after what pause, a ledger is looked for whose traces are there and which is not: its
/// first writer may be at work.
const BEGINNINGS: usize = 3;
const BEGINNING: Duration = Duration::from_millis(20);

impl Store {
    /// Returns the ledger's tip; `None` when there is no ledger.
    ///
    /// Where the ref does not tell all that was recorded here, it is the tip a writer would make:
    /// the union of the ref, the journal's last line and the shadow, in memory. Where the ref is
    /// absent, the tracking refs stand in.
    pub fn tip(&self) -> Result<Option<Oid>, Error> {
        for _ in 1..BEGINNINGS {
            match self.read_tip() {
                Err(Error::Lost { .. }) => thread::sleep(BEGINNING),
                found => return found,
            }
        }
        self.read_tip()
    }

    fn read_tip(&self) -> Result<Option<Oid>, Error> {
        let live = self.repo().read_ref(LEDGER);
        let promised = self.journal.tail()?.last().map(|line| line.ledger);
        if let (Ok(Some(live)), Some(promised)) = (&live, promised)
            && *live == promised
        {
            return Ok(Some(promised));
        }
        let state = self.state();
        let shadow = self.repo().read_ref(SHADOW).ok().flatten();
        let known: Vec<Oid> = [shadow, state.tip].into_iter().flatten().collect();
        // A writer beside us moves the ref and then says so: what is known now, the ref held before now.
        let live = self.live(self.repo().read_ref(LEDGER), &known)?;
        let mut tips: Vec<Oid> = Vec::new();
        for tip in live
            .into_iter()
            .chain(promised)
            .chain(known.iter().copied())
        {
            if !tips.contains(&tip) && self.is_readable(tip) {
                tips.push(tip);
            }
        }
        if let (Some(live), true) = (live, tips.len() > 1) {
            self.warn_if_moved(live, &known)?;
        }
        if tips.is_empty() {
            tips = self.tracked("ledger")?;
        }
        if tips.is_empty() {
            return self.no_ledger().map(|()| None);
        }
        self.unite(&tips, |one, other| self.union_of(one, other))
            .map(Some)
    }

    /// Returns the tip of the evidence ref, as [`Self::tip`] finds the ledger's.
    pub fn evidence_tip(&self) -> Result<Option<Oid>, Error> {
        let live = self.repo().read_ref(EVIDENCE).ok().flatten();
        let tail = self.journal.tail()?;
        let promised = tail.iter().rev().find_map(|line| line.evidence);
        let known = self.state().evidence;
        let as_known = |tip: Option<Oid>| tip.is_none() || tip == live;
        if live.is_some() && as_known(promised) && as_known(known) {
            return Ok(live);
        }
        let mut tips: Vec<Oid> = live.into_iter().chain(promised).chain(known).collect();
        tips.dedup();
        tips.retain(|tip| self.is_readable(*tip));
        if tips.is_empty() {
            tips = self.tracked("evidence")?;
        }
        if tips.is_empty() {
            return Ok(None);
        }
        let gone = self.redacted(self.tip()?)?;
        self.unite(&tips, |one, other| {
            self.union_of_evidence(one, other, &gone)
        })
        .map(Some)
    }

    /// Takes the ref as it was read; damage and absence are warned of where something was there.
    fn live(
        &self,
        read: Result<Option<Oid>, git::Error>,
        known: &[Oid],
    ) -> Result<Option<Oid>, Error> {
        match read {
            Ok(None) if !known.is_empty() => {
                self.warn_of_absence();
                Ok(None)
            }
            Ok(live) => Ok(live),
            Err(error @ git::Error::UnreadableRef { .. }) => {
                let reason = error.to_string();
                self.warn(Warning::Unreadable { reason });
                Ok(self.repo().read_packed_ref(LEDGER)?)
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn warn_of_absence(&self) {
        let by = self.mover();
        self.warn(Warning::Missing { by });
    }

    pub(super) fn warn_if_moved(&self, live: Oid, known: &[Oid]) -> Result<(), Error> {
        for tip in known.iter().filter(|tip| self.is_readable(**tip)) {
            let differ = self.overlaid(|| Ok(self.repo().difference(live, *tip)?));
            // Where the way is cut off nothing can be said.
            if differ.is_ok_and(|differ| !differ.right.is_empty()) {
                let by = self.mover();
                self.warn(Warning::Moved { found: live, by });
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns the refspec that lets a fetch move our refs, if one is configured.
    pub(super) fn mover(&self) -> Option<String> {
        let config = self.repo().config().ok()?;
        config.subsections("remote").into_iter().find_map(|remote| {
            let specs = config.strings(&format!("remote.{remote}.fetch"));
            let spec = specs.iter().map(ToString::to_string).find(|spec| {
                let target = spec.rsplit(':').next().unwrap_or_default();
                let fixed = target.trim_end_matches('*');
                LEDGER.starts_with(fixed) && (target.ends_with('*') || target == LEDGER)
            })?;
            Some(format!("remote.{remote}.fetch {spec}"))
        })
    }

    /// Says whether there is a commit of this id that hashes to it.
    pub(super) fn is_readable(&self, commit: Oid) -> bool {
        self.overlaid(|| {
            self.repo().read_verified(commit)?;
            Ok(self.repo().commit(commit)?)
        })
        .is_ok()
    }

    /// Returns the tips of the tracking refs that can be read, each once, in order.
    pub(super) fn tracked(&self, name: &str) -> Result<Vec<Oid>, Error> {
        let mut tips: Vec<Oid> = self
            .repo()
            .list_refs(REMOTES)?
            .into_iter()
            .filter(|(full, _)| {
                full.strip_prefix(REMOTES)
                    .and_then(|rest| rest.strip_suffix(name))
                    .is_some_and(|remote| remote.len() > 1 && remote.ends_with('/'))
            })
            .map(|(_, tip)| tip)
            .collect();
        tips.sort_unstable();
        tips.dedup();
        tips.retain(|tip| self.is_readable(*tip));
        Ok(tips)
    }

    /// Unites tips in memory.
    fn unite(
        &self,
        tips: &[Oid],
        union: impl Fn(Oid, Oid) -> Result<Union, Error>,
    ) -> Result<Oid, Error> {
        let mut united = tips[0];
        for tip in &tips[1..] {
            united = match union(united, *tip)? {
                Union::One(tip) => tip,
                Union::Merge(commit, needs) => {
                    let id = commit.id;
                    let objects = needs.into_iter().chain([commit]);
                    self.repo()
                        .lay_over(objects.map(|object| (object.kind, object.bytes)));
                    id
                }
            };
        }
        Ok(united)
    }

    /// Fails where something says that there was a ledger: a second one is never begun.
    pub(super) fn no_ledger(&self) -> Result<(), Error> {
        let lost = |trace: String| Err(Error::Lost { trace });
        if self
            .repo()
            .read_ref(LEDGER)
            .map_or(true, |tip| tip.is_some())
        {
            return lost(format!("'{LEDGER}'"));
        }
        if self
            .repo()
            .read_ref(SHADOW)
            .map_or(true, |tip| tip.is_some())
        {
            return lost(format!("'{SHADOW}'"));
        }
        if self.journal.was_promised()? {
            return lost(format!("'{}'", self.journal.path().display()));
        }
        let index = self.dir().join("index");
        if index.exists() {
            return lost(format!("'{}'", index.display()));
        }
        match self.state().tip {
            Some(_) => lost(format!("'{}'", self.dir().join("state").display())),
            None => Ok(()),
        }
    }
}
