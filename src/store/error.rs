use std::{io, path::PathBuf};

use thiserror::Error;

use crate::{
    git,
    model::{Explain, Fault, Oid, Quarantine},
};

/// Why the ledger could not be read or extended.
#[derive(Debug, Error)]
pub enum Error {
    #[error(transparent)]
    Git(#[from] git::Error),
    #[error("cannot read '{}': {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write '{}': {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot lock the ledger: '{}' is held by another process; not recorded", path.display())]
    Busy { path: PathBuf },
    #[error("cannot lock the ledger: '{}': {source}; not recorded", path.display())]
    Lock { path: PathBuf, source: io::Error },
    #[error("cannot append to '{}': {source}; not recorded", path.display())]
    NotRecorded { path: PathBuf, source: io::Error },
    #[error("{0}; not recorded")]
    NotPacked(git::Error),
    #[error("cannot record this: {0}")]
    Refused(#[from] Quarantine),
    #[error("cannot record this: it has {0} bytes of evidence, more than 16 MiB")]
    LongEvidence(usize),
    #[error("cannot read the ledger: {trace} says there is one and none of it is readable")]
    Lost { trace: String },
    #[error("cannot extend the ledger: it is cut off at commit '{commit}' by a shallow fetch")]
    Shallow { commit: Oid },
    #[error("cannot read task file '{}': {reason}", path.display())]
    TaskFile { path: PathBuf, reason: String },
}

impl Explain for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::Git(error) => error.fault(),
            Self::Read { .. } | Self::Write { .. } => Fault::Fatal,
            Self::Busy { .. }
            | Self::Lock { .. }
            | Self::NotRecorded { .. }
            | Self::NotPacked(_)
            | Self::Refused(_)
            | Self::LongEvidence(_)
            | Self::Lost { .. }
            | Self::Shallow { .. }
            | Self::TaskFile { .. } => Fault::Refused,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.hint(),
            Self::Lost { .. } | Self::TaskFile { .. } => Some("git operator doctor".to_owned()),
            Self::Shallow { .. } => Some("git fetch --unshallow".to_owned()),
            Self::Read { .. }
            | Self::Write { .. }
            | Self::Busy { .. }
            | Self::Lock { .. }
            | Self::NotRecorded { .. }
            | Self::NotPacked(_)
            | Self::Refused(_)
            | Self::LongEvidence(_) => None,
        }
    }
}

impl Error {
    /// Says whether another process held the lock for the whole wait.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Busy { .. })
    }

    pub(super) fn read(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Read { path, source }
    }

    pub(super) fn write(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Write { path, source }
    }
}
