use std::{io, path::PathBuf};

use thiserror::Error;

use crate::{
    gate, git,
    model::{Explain, Fault, NameError},
    store,
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
    #[error("cannot run the command: its line holds what looks like {0}")]
    Secret(String),
    #[error("cannot make the control run: {0}")]
    Control(io::Error),
    #[error("cannot sign the record: {0}")]
    Sign(String),
    #[error("cannot sign the record: gpg.format '{0}' is none we know")]
    SignFormat(String),
    #[error("cannot check a signature: {0}")]
    Keygen(io::Error),
    #[error("cannot use '{}': {source}", path.display())]
    Temporary { path: PathBuf, source: io::Error },
    #[error("cannot read requirements '{at}': {reason}")]
    Requirements { at: String, reason: String },
    #[error(transparent)]
    View(git::files::FileError),
    #[error("cannot go on from the ledger that was fetched: {0}")]
    Fetched(String),
    #[error("cannot judge '{what}': this clone was not given it")]
    NotGiven { what: String, remedy: String },
    #[error("cannot relink '{0}': it is no range of commits")]
    Relink(String),
    #[error(transparent)]
    Name(#[from] NameError),
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
            Self::NoWorktree
            | Self::Outside(_)
            | Self::NoDirectory(_)
            | Self::Fetched(_)
            | Self::Secret(_)
            | Self::Name(_) => Fault::Refused,
            Self::NoSnapshot(_)
            | Self::Control(_)
            | Self::Sign(_)
            | Self::SignFormat(_)
            | Self::Keygen(_)
            | Self::View(_)
            | Self::Temporary { .. } => Fault::Fatal,
            Self::Relink(_) => Fault::Refused,
            Self::Requirements { .. } | Self::NotGiven { .. } => Fault::Undecided,
            Self::Store(error) => error.fault(),
            Self::Gate(error) => error.fault(),
            // What this clone was not given cannot be judged.
            Self::Git(error) if error.is_absence() => Fault::Undecided,
            Self::Git(error) => error.fault(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Secret(_) => Some(ALLOW.to_owned()),
            Self::Git(error) => error.hint(),
            Self::NotGiven { remedy, .. } => Some(remedy.clone()),
            Self::NoWorktree
            | Self::Outside(_)
            | Self::NoDirectory(_)
            | Self::NoSnapshot(_)
            | Self::Control(_)
            | Self::Sign(_)
            | Self::SignFormat(_)
            | Self::Keygen(_)
            | Self::Temporary { .. }
            | Self::View(_)
            | Self::Relink(_)
            | Self::Fetched(_)
            | Self::Name(_)
            | Self::Requirements { .. } => None,
            Self::Store(error) => error.hint(),
            Self::Gate(error) => hint_of_gate(error),
        }
    }
}

/// What lets a secret through.
const ALLOW: &str = "git operator run --allow-secret …";

/// The gate speaks of the command that usually brings evidence; here it is another.
fn hint_of_gate(error: &gate::Error) -> Option<String> {
    match error {
        gate::Error::Secret { .. } => Some(ALLOW.to_owned()),
        error => error.hint(),
    }
}
