use thiserror::Error;

use crate::{
    gate, git,
    model::{Explain, Fault},
    store,
};

/// Why there is no report.
#[derive(Debug, Error)]
pub enum Error {
    #[error(transparent)]
    Git(#[from] git::Error),
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Gate(#[from] gate::Error),
}

impl Explain for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::Git(error) => error.fault(),
            Self::Store(error) => error.fault(),
            Self::Gate(error) => error.fault(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Gate(error) => error.hint(),
        }
    }
}
