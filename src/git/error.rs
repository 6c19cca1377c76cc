use std::{io, path::PathBuf, time::Duration};

use thiserror::Error;

use crate::model::{Explain, Fault, Oid, shell_quotes};

/// Why the repository could not do what was asked.
#[derive(Debug, Error)]
pub enum Error {
    #[error("cannot read '{}': {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write '{}': {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot open repository '{}': {reason}", path.display())]
    Invalid { path: PathBuf, reason: String },
    #[error("cannot open repository '{}': it is owned by another user", path.display())]
    DubiousOwnership { path: PathBuf },
    #[error("cannot open store '{}': {reason}", path.display())]
    Store { path: PathBuf, reason: String },
    #[error("cannot read ref '{name}': {reason}")]
    UnreadableRef { name: String, reason: String },
    #[error("cannot update ref '{name}': {reason}")]
    UpdateRef { name: String, reason: String },
    #[error("cannot lock ref '{name}': '{}' is held by another process", path.display())]
    RefLocked { name: String, path: PathBuf },
    #[error("cannot read object '{id}': it is missing")]
    MissingObject { id: Oid },
    #[error("cannot read object '{id}': this partial clone left it out")]
    Promised { id: Oid },
    #[error("cannot read object '{id}': {reason}")]
    Object { id: Oid, reason: String },
    #[error("cannot write an object: its bytes are made to collide under SHA-1")]
    Collision,
    #[error("cannot write pack '{}': {reason}", path.display())]
    Pack { path: PathBuf, reason: String },
    #[error("cannot resolve revision '{spec}': {reason}")]
    Revision { spec: String, reason: String },
    #[error("cannot read config '{key}': {reason}")]
    Config { key: String, reason: String },
    #[error("cannot read date '{0}': it is in no form git knows")]
    Date(String),
    #[error("cannot run 'git {command}': there is no git on PATH")]
    GitMissing { command: String },
    #[error("cannot run 'git {command}': {reason}")]
    Git { command: String, reason: String },
    #[error("cannot run 'git {command}': it was not done after {deadline:?}")]
    Deadline { command: String, deadline: Duration },
    #[error("cannot open repository '{}': a push into it is not accepted yet", path.display())]
    Quarantine { path: PathBuf },
}

impl Explain for Error {
    fn fault(&self) -> Fault {
        // The repository is whole; git was told not to trust it, and nothing was done.
        match self {
            Self::DubiousOwnership { .. } => Fault::Refused,
            _ => Fault::Fatal,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::DubiousOwnership { path } => Some(format!(
                "git config --global --add safe.directory {}",
                shell_quotes(&path.display().to_string())
            )),
            Self::Promised { .. } => Some("git fetch --refetch --no-filter".to_owned()),
            Self::MissingObject { .. } | Self::Object { .. } => Some("git fsck".to_owned()),
            Self::Read { .. }
            | Self::Write { .. }
            | Self::Invalid { .. }
            | Self::Store { .. }
            | Self::UnreadableRef { .. }
            | Self::UpdateRef { .. }
            | Self::RefLocked { .. }
            | Self::Collision
            | Self::Pack { .. }
            | Self::Revision { .. }
            | Self::Config { .. }
            | Self::Date(_)
            | Self::GitMissing { .. }
            | Self::Git { .. }
            | Self::Deadline { .. }
            | Self::Quarantine { .. } => None,
        }
    }
}

impl Error {
    /// Says whether an object is not there, for whatever reason.
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::MissingObject { .. } | Self::Promised { .. })
    }

    pub(crate) fn read(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Read { path, source }
    }

    pub(crate) fn write(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Write { path, source }
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, Explain};

    #[test]
    fn the_hint_for_another_owner_is_the_command_that_trusts() {
        let error = Error::DubiousOwnership {
            path: "/a b/it's".into(),
        };
        assert_eq!(
            error.hint().unwrap(),
            r"git config --global --add safe.directory '/a b/it'\''s'"
        );
    }
}
