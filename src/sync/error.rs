use thiserror::Error;

use crate::{
    git,
    model::{Explain, Fault},
    store,
};

/// Why ledgers were not exchanged. What was united before stays.
#[derive(Debug, Error)]
pub enum Error {
    #[error("cannot sync: this project's ledger is kept outside git")]
    NoGit,
    #[error("cannot sync: this repository has no remote")]
    NoRemote,
    #[error("cannot sync: there are several remotes ({})", .0.join(", "))]
    ManyRemotes(Vec<String>),
    #[error("cannot sync with '{0}': there is no such remote")]
    UnknownRemote(String),
    #[error("cannot sync with '{name}': what it holds would mix with that of the remote '{other}'")]
    NestedRemotes { name: String, other: String },
    #[error("cannot fetch from '{remote}': {reason}")]
    Fetch { remote: String, reason: String },
    #[error("cannot push to '{remote}': {reason}")]
    Push { remote: String, reason: String },
    #[error("cannot sync: the push that called this is not accepted yet")]
    Quarantine,
    #[error(transparent)]
    Git(#[from] git::Error),
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Explain for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::NoGit
            | Self::NoRemote
            | Self::ManyRemotes(_)
            | Self::UnknownRemote(_)
            | Self::NestedRemotes { .. } => Fault::Refused,
            Self::Fetch { .. } | Self::Push { .. } | Self::Quarantine => Fault::Fatal,
            Self::Git(error) => error.fault(),
            Self::Store(error) => error.fault(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NoGit => Some("git init && git operator start".to_owned()),
            Self::NoRemote => Some("git remote add origin <url>".to_owned()),
            Self::ManyRemotes(names) => Some(format!("git operator sync {}", names.first()?)),
            Self::UnknownRemote(_) => Some("git remote".to_owned()),
            Self::NestedRemotes { name, other } => {
                let inner = if name.len() > other.len() {
                    name
                } else {
                    other
                };
                Some(format!(
                    "git remote rename {inner} {}",
                    inner.replace('/', "-")
                ))
            }
            Self::Fetch { reason, .. } if reason.starts_with("bad object") => {
                Some("git fsck".to_owned())
            }
            Self::Fetch { .. } | Self::Push { .. } | Self::Quarantine => None,
            Self::Git(error) => error.hint(),
            Self::Store(error) => error.hint(),
        }
    }
}
