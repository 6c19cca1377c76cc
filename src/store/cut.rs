//! Keeping the journal short: its objects move into a pack of ours, made from its own bytes.

use std::collections::HashSet;

use super::{
    Error, LEDGER, SHADOW, Step, Store,
    heal::{Tips, own_ids},
    journal::Line,
};
use crate::{
    git::{Expected, ObjectKind, Swap},
    model::{Oid, ReplicaId},
};

/// How long the journal may get.
const LIMIT: u64 = 512 * 1024;

impl Store {
    /// Cuts the journal when it is long; only behind a ref that holds all it promised.
    pub(super) fn cut_if_due(&self, tips: Tips, replica: Option<ReplicaId>) -> Result<(), Error> {
        if self.journal.len() < LIMIT {
            return Ok(());
        }
        self.cut(tips, replica)
    }

    pub(super) fn cut(&self, tips: Tips, replica: Option<ReplicaId>) -> Result<(), Error> {
        let Some(ledger) = tips.ledger else {
            return Ok(());
        };
        if self.repo().read_ref(LEDGER)? != Some(ledger) {
            return Ok(());
        }
        self.repo().sweep_packs()?;
        let lines = self.journal.read()?;
        let mut seen = HashSet::new();
        let objects: Vec<_> = lines
            .iter()
            .flat_map(|line| &line.objects)
            .filter(|object| seen.insert(object.id))
            .collect();
        let parts: Vec<(ObjectKind, &[u8])> = objects
            .iter()
            .map(|object| (object.kind, object.bytes.as_slice()))
            .collect();
        // Packs of others never justify a cut: a gc that runs now may drop them.
        let kept = match parts.is_empty() {
            true => None,
            false => Some(self.repo().write_pack(&parts)?),
        };
        self.stepped(Step::CutPacked)?;
        self.journal
            .cut(&Line::bare(ledger, tips.evidence, replica))?;
        self.stepped(Step::CutJournal)?;
        if let Some(kept) = kept {
            self.repo().release_keep(kept)?;
        }
        self.stepped(Step::CutReleased)?;
        let ids: Vec<Oid> = objects.iter().map(|object| object.id).collect();
        self.repo().remove_loose_copies(&ids)?;
        self.move_shadow(ledger)?;
        self.index_if_due(ledger)
    }

    fn move_shadow(&self, tip: Oid) -> Result<(), Error> {
        let old = self.repo().read_ref(SHADOW)?;
        if old == Some(tip) {
            return Ok(());
        }
        let own = own_ids(&self.journal.read()?);
        self.repo().swap_ref(Swap {
            name: SHADOW,
            old: Expected::from_read(old),
            new: tip,
            own: &own,
            wait: super::heal::BUDGET,
        })?;
        Ok(())
    }
}
