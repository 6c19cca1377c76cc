use std::path::PathBuf;

use thiserror::Error;

use crate::{
    gate, git,
    model::{Explain, Fault},
    store, work,
};

/// Why a project could not be set up or taken down.
#[derive(Debug, Error)]
pub enum Error {
    #[error("cannot set up '{}': it is a bare repository, and the views need a working tree", .0.display())]
    Bare(PathBuf),
    #[error("cannot set up the project: {0}")]
    File(#[from] git::files::FileError),
    #[error("cannot set up '{}': it is not UTF-8 text", .0.display())]
    NotText(PathBuf),
    #[error("cannot set up '{}': it is a link that leads out of the project", .0.display())]
    Outside(PathBuf),
    #[error(transparent)]
    Gate(#[from] gate::Error),
    #[error(transparent)]
    Work(#[from] work::Error),
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Git(#[from] git::Error),
}

impl Explain for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::Gate(error) => error.fault(),
            Self::Work(error) => error.fault(),
            Self::Store(error) => error.fault(),
            Self::Git(error) => error.fault(),
            Self::Bare(_) | Self::NotText(_) | Self::Outside(_) => Fault::Refused,
            Self::File(_) => Fault::Fatal,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Gate(error) => error.hint(),
            Self::Work(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Git(error) => error.hint(),
            Self::Bare(_) | Self::File(_) | Self::NotText(_) | Self::Outside(_) => None,
        }
    }
}
