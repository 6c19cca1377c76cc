use std::{io, path::PathBuf};

use thiserror::Error;

use crate::{
    git,
    model::{Explain, Fault},
};

/// Why evidence could not be captured or judged.
#[derive(Debug, Error)]
pub enum Error {
    #[error("cannot run a command here: the repository has no working tree")]
    NoWorktree,
    #[error("cannot run a command in '{}': it lies outside the working tree", .0.display())]
    Outside(PathBuf),
    #[error("cannot run a command in '{}': the subject has no such directory", .0.display())]
    NoDirectory(PathBuf),
    #[error("cannot run the command: its source cannot be named: {0}")]
    NoSnapshot(String),
    #[error("cannot make the control run: {0}")]
    Control(io::Error),
    #[error(transparent)]
    Git(#[from] git::Error),
}

impl Explain for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::NoWorktree | Self::Outside(_) | Self::NoDirectory(_) => Fault::Refused,
            Self::NoSnapshot(_) | Self::Control(_) => Fault::Fatal,
            Self::Git(error) => error.fault(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.hint(),
            Self::NoWorktree
            | Self::Outside(_)
            | Self::NoDirectory(_)
            | Self::NoSnapshot(_)
            | Self::Control(_) => None,
        }
    }
}
