use std::path::PathBuf;

use thiserror::Error;

use crate::{
    git::{self, files::FileError},
    model::{Explain, Fault},
};

/// Why the work ledger could not do what was asked.
#[derive(Debug, Error)]
pub enum Error {
    #[error(transparent)]
    Git(#[from] git::Error),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("cannot read '{}': {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("cannot write '{}': {source}", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot lock '{}': another hook of the session holds it", path.display())]
    Busy { path: PathBuf },
    #[error("cannot track work in '{}': it has no working tree", path.display())]
    NoWorkTree { path: PathBuf },
    #[error("cannot restore call '{0}': no such call is kept for the session")]
    UnknownCall(String),
    #[error("cannot restore '{0}': no call of the session changed it")]
    UnknownPath(String),
    #[error("cannot find the session: give --owner, or run it inside one")]
    NoSession,
}

impl Error {
    pub(super) fn write(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Write { path, source }
    }
}

impl Explain for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::Git(error) => error.fault(),
            Self::File(_)
            | Self::Unreadable { .. }
            | Self::Write { .. }
            | Self::NoWorkTree { .. } => Fault::Fatal,
            Self::Busy { .. } | Self::UnknownCall(_) | Self::UnknownPath(_) | Self::NoSession => {
                Fault::Refused
            }
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.hint(),
            Self::UnknownCall(_) | Self::UnknownPath(_) => Some("git operator work".to_owned()),
            Self::File(_)
            | Self::Unreadable { .. }
            | Self::Write { .. }
            | Self::NoWorkTree { .. }
            | Self::Busy { .. } => None,
            Self::NoSession => Some("git operator restore --owner <session> <path>".to_owned()),
        }
    }
}
