//! Other people's uncommitted work that vanished during a session, kept for a while.

use std::{collections::HashSet, path::Path};

use serde::{Deserialize, Serialize};

use super::{
    Content, Error,
    rules::Lost,
    session::{Session, read_file, write_json},
    vault::Vault,
};
use crate::model::{Oid, RepoPath};

/// How long a rescue is kept, in ms.
pub(crate) const RETENTION: u64 = 14 * 24 * 3_600 * 1_000;

/// What was rescued of one session.
#[derive(Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(crate) struct Rescued {
    pub(crate) vault: Vault,
    pub(crate) found: Vec<Rescue>,
    #[serde(skip)]
    pub(crate) changed: bool,
}

/// One content that is no longer where it was.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Rescue {
    pub path: RepoPath,
    pub content: Content,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// When it was found missing, in ms.
    pub time: u64,
    /// The call that ran meanwhile.
    pub call: String,
    pub why: Why,
}

/// How a content came to be gone.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// A call changed or removed it.
    Call,
    /// A call that never reported its end may have.
    Dropped,
    /// A call put it into the stash.
    Stashed,
    /// A restore replaced it.
    Restore,
}

impl Why {
    /// Returns it in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Call => "changed during",
            Self::Dropped => "changed during unfinished",
            Self::Stashed => "stashed during",
            Self::Restore => "replaced by the restore of",
        }
    }
}

impl Rescued {
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let Some(bytes) = read_file(path)? else {
            return Ok(Self::default());
        };
        serde_json::from_slice(&bytes).map_err(|error| Error::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        })
    }

    pub(crate) fn write(&mut self, path: &Path) -> Result<(), Error> {
        match self.changed {
            true => write_json(path, self),
            false => Ok(()),
        }
    }
}

impl Rescued {
    /// Forgets a content of a path.
    pub(crate) fn forget(&mut self, lost: &Lost) {
        let before = self.found.len();
        self.found
            .retain(|rescue| rescue.path != lost.path || rescue.content != lost.content);
        self.changed |= self.found.len() != before;
    }
}

impl Session<'_> {
    /// Keeps what was lost, as far as its bytes are there.
    pub(crate) fn rescue(
        &mut self,
        lost: &[Lost],
        call: &str,
        (time, why): (u64, Why),
    ) -> Result<(), Error> {
        let kept = self.rescued.vault.kept();
        let mut fresh: Vec<(Oid, Vec<u8>)> = Vec::new();
        let mut taken = HashSet::new();
        for one in lost {
            let Lost {
                path,
                content,
                mode,
            } = one;
            self.rescued.forget(one);
            self.rescued.found.push(Rescue {
                path: path.clone(),
                content: content.clone(),
                mode: *mode,
                time,
                call: call.to_owned(),
                why,
            });
            if let Some(id) = content.blob()
                && !kept.contains(&id)
                && taken.insert(id)
                && let Ok(bytes) = self.repo.blob(id)
            {
                fresh.push((id, bytes));
            }
        }
        self.rescued.changed |= !lost.is_empty();
        self.rescue_vault().add(fresh)
    }

    /// Lets go of rescues that are too old.
    pub(crate) fn expire_rescues(&mut self, now: u64) -> Result<(), Error> {
        let before = self.rescued.found.len();
        self.rescued
            .found
            .retain(|rescue| rescue.time + RETENTION > now);
        let changed = self.rescued.found.len() != before;
        if !changed && !self.rescue_vault().is_full() {
            return Ok(());
        }
        self.rescued.changed = true;
        let needed = self
            .rescued
            .found
            .iter()
            .filter_map(|rescue| rescue.content.blob())
            .collect();
        self.rescue_vault().find_orphans()?;
        self.rescue_vault().merge(&needed)
    }
}
