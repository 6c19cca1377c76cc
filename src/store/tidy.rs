//! `gc`: what was written bit by bit is packed, and what was to go is gone.

use super::{EVIDENCE, Error, LEDGER, Transaction};

impl Transaction<'_> {
    /// Cuts the journal, takes out evidence that records of others say is to go, and packs the loose
    /// objects of the records; returns how many objects went into packs.
    pub fn tidy(&mut self) -> Result<usize, Error> {
        self.drop_redacted()?;
        let lines = self.store.journal.since_cut()?;
        let journaled: usize = lines.iter().map(|line| line.objects.len()).sum();
        if journaled > 0 {
            self.store.cut(self.tips, self.state.replica)?;
        }
        let loose = self.store.repo().pack_loose(&[LEDGER, EVIDENCE])?;
        if let Some(tip) = self.tips.ledger {
            self.store.index_if_due(tip)?;
        }
        Ok(journaled + loose)
    }
}
