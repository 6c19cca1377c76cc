//! What a writer could not finish, and left to the next one.

use std::fmt;

use super::{EVIDENCE, Error, LEDGER, Store};
use crate::{git::Ancestry, model::Oid};

/// Something that was recorded and is not done yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backlog {
    /// A ref could not be moved in time.
    Ref,
    /// Local files could not be written.
    Effects,
    /// Evidence could not be taken out.
    Evidence,
}

impl fmt::Display for Backlog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ref => "records wait in the journal: 'refs/operator/ledger' lacks them",
            Self::Effects => "local files do not show all that was recorded here",
            Self::Evidence => "evidence that was redacted still lies in 'refs/operator/evidence'",
        })
    }
}

impl Store {
    /// Returns what the last writer left to the next one; empty when all is done.
    pub fn backlog(&self) -> Result<Vec<Backlog>, Error> {
        let mut found = Vec::new();
        if let Some(promised) = self.journal.tail()?.last().map(|line| line.ledger) {
            let live = self.repo().read_ref(LEDGER).ok().flatten();
            if !self.reaches(live, promised)? {
                found.push(Backlog::Ref);
            }
            if !self.reaches(self.state().settled, promised)? {
                found.push(Backlog::Effects);
            }
        }
        if let Some(evidence) = self.repo().read_ref(EVIDENCE).ok().flatten() {
            let gone = self.redacted(self.tip()?)?;
            let root = self.tree_at(evidence)?;
            if !gone.is_empty() && self.without(root, &gone, &mut Vec::new())? != root {
                found.push(Backlog::Evidence);
            }
        }
        Ok(found)
    }

    fn reaches(&self, tip: Option<Oid>, commit: Oid) -> Result<bool, Error> {
        let Some(tip) = tip else {
            return Ok(false);
        };
        if tip == commit {
            return Ok(true);
        }
        self.overlaid(|| Ok(self.repo().is_ancestor(commit, tip)? == Ancestry::Yes))
    }
}
