use std::{io, path::PathBuf};

use thiserror::Error;

use crate::{
    gate, git,
    model::{Explain, Fault},
    policy::FactsError,
    store, work,
};

/// Policies cannot be read, or what was decided cannot be kept.
#[derive(Debug, Error)]
pub enum Error {
    #[error("cannot read '{path}': {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write '{path}': {source}")]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot judge the event: {0}")]
    Facts(#[from] FactsError),
    #[error(transparent)]
    Git(#[from] git::Error),
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Gate(#[from] gate::Error),
    #[error(transparent)]
    Work(#[from] work::Error),
}

impl Error {
    pub(super) fn read(path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Read { path, source }
    }

    pub(super) fn write(path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Write { path, source }
    }
}

impl Explain for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::Git(error) => error.fault(),
            Self::Store(error) => error.fault(),
            Self::Gate(error) => error.fault(),
            Self::Work(error) => error.fault(),
            Self::Read { .. } | Self::Write { .. } | Self::Facts(_) => Fault::Fatal,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Gate(error) => error.hint(),
            Self::Work(error) => error.hint(),
            _ => None,
        }
    }
}
