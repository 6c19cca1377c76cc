use std::path::PathBuf;

use thiserror::Error;

use crate::{
    git,
    model::{Digest, Explain, Fault, NameError, Owner, RecordId, TaskId, shell_quoted},
    store, view,
};

/// Why the gate did not do what was asked. Nothing was recorded.
#[derive(Debug, Error)]
pub enum Error {
    #[error("cannot open '{task}': it is open and {}", owned(.owner.as_ref()))]
    OpenElsewhere { task: TaskId, owner: Option<Owner> },
    #[error("cannot {verb} '{task}': the task is owned by session '{owner}'")]
    Foreign {
        verb: &'static str,
        task: TaskId,
        owner: Owner,
        session: Owner,
    },
    #[error("cannot {verb} '{task}': it was never opened, and no session is known")]
    NeverOpened { verb: &'static str, task: TaskId },
    #[error("cannot adopt '{task}': it is not open")]
    NotOpen { task: TaskId },
    #[error("cannot record a verdict for '{task}': the evidence is blank")]
    BlankEvidence { task: TaskId },
    #[error(
        "cannot record a verdict for '{task}': the evidence is {size} bytes, more than {limit}"
    )]
    LargeEvidence { task: TaskId, size: u64, limit: u64 },
    #[error("cannot record a verdict for '{task}': the evidence holds what looks like {what}")]
    Secret { task: TaskId, what: String },
    #[error(
        "cannot record a verdict for '{task}': evidence '{}' was redacted before",
        &digest.to_hex()[..12]
    )]
    Redacted { task: TaskId, digest: Digest },
    #[error("cannot mark a handoff: no session is known")]
    NoSession,
    #[error("cannot record the bar '{title}': line {line} of its text would be read as {what}")]
    Bar {
        title: String,
        line: usize,
        what: String,
    },
    #[error("cannot retract '{id}': {reason}")]
    Retract { id: RecordId, reason: &'static str },
    #[error("cannot use '{}': {source}", path.display())]
    Session {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error(transparent)]
    Name(#[from] NameError),
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    View(#[from] view::Error),
    #[error(transparent)]
    Git(#[from] git::Error),
    #[error(transparent)]
    File(#[from] git::files::FileError),
}

fn owned(owner: Option<&Owner>) -> String {
    owner.map_or_else(
        || "unowned".to_owned(),
        |owner| format!("owned by session '{owner}'"),
    )
}

impl Explain for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::Session { .. } | Self::File(_) => Fault::Fatal,
            Self::Store(error) => error.fault(),
            Self::View(error) => error.fault(),
            Self::Git(error) => error.fault(),
            Self::OpenElsewhere { .. }
            | Self::Foreign { .. }
            | Self::NeverOpened { .. }
            | Self::NotOpen { .. }
            | Self::BlankEvidence { .. }
            | Self::LargeEvidence { .. }
            | Self::Redacted { .. }
            | Self::Secret { .. }
            | Self::NoSession
            | Self::Bar { .. }
            | Self::Retract { .. }
            | Self::Name(_) => Fault::Refused,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::OpenElsewhere { task, .. } => Some(format!(
                "git operator adopt --owner <session> {}",
                shell_quoted(task.as_str())
            )),
            Self::Foreign { task, session, .. } => Some(format!(
                "git operator adopt --owner {session} {}",
                shell_quoted(task.as_str())
            )),
            Self::NeverOpened { task, .. } => {
                Some(format!("git operator task {}", shell_quoted(task.as_str())))
            }
            Self::NotOpen { .. } => Some("git operator status".to_owned()),
            Self::NoSession => Some("git operator handoff --mark --owner <session>".to_owned()),
            Self::Secret { .. } => Some("git operator verdict --allow-secret …".to_owned()),
            Self::Store(error) => error.hint(),
            Self::View(error) => error.hint(),
            Self::Git(error) => error.hint(),
            Self::BlankEvidence { .. }
            | Self::LargeEvidence { .. }
            | Self::Redacted { .. }
            | Self::Bar { .. }
            | Self::Retract { .. }
            | Self::Session { .. }
            | Self::Name(_)
            | Self::File(_) => None,
        }
    }
}
