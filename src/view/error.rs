use thiserror::Error;

use crate::{
    git::{self, files::FileError},
    model::{Explain, Fault},
    store,
};

/// A view cannot be read or written. What the ledger holds is not touched by that.
#[derive(Debug, Error)]
pub enum Error {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("cannot keep the state of the views: {0}")]
    State(std::io::Error),
    #[error(
        "cannot write '{path}': line {line} is the marker of a conflict, which only reconcile takes out"
    )]
    Conflict { path: String, line: usize },
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Git(#[from] git::Error),
}

impl Explain for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::File(_) | Self::State(_) => Fault::Fatal,
            Self::Conflict { .. } => Fault::Refused,
            Self::Store(error) => error.fault(),
            Self::Git(error) => error.fault(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::File(_) | Self::State(_) => None,
            Self::Conflict { .. } => Some("git operator reconcile".to_owned()),
            Self::Store(error) => error.hint(),
            Self::Git(error) => error.hint(),
        }
    }
}
