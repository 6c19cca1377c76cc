//! Tasks, verdicts, deferral, adoption, decisions; what blocks a Stop.
//!
//! The gate is local: what blocks is decided by files that only commands run in this clone write.
//! Records that came by sync never open, close, adopt or present anything here.

mod brief;
mod close;
mod decide;
mod error;
mod failing;
mod handoff;
mod intake;
mod legacy;
mod open;
mod redact;
mod rewrite;
mod run;
mod session;
mod stop;
mod who;

use std::path::PathBuf;

pub use brief::{Brief, Ended, Life, Other, Stage, brief, end_session, note_seen};
pub use close::{Closing, EVIDENCE_LIMIT, NewDefer, NewVerdict, Recorded, Secrets, defer, record};
pub use decide::{Mark, NewDecision, bar, decide, mark_handoff, retract};
pub use error::Error;
pub use failing::{Failing, failing};
pub use handoff::{Handoff, Section, handoff, write_handoff};
pub use intake::take_in;
pub use open::{Adopted, Opening, adopt, import_pending, open};
pub use redact::redact;
pub use rewrite::rewritten;
pub use run::{Kept, Purpose, begin_attempt, check_output, end_attempt, record_run};
pub use session::{REFUSALS, Session, Sessions, Turn};
pub use stop::{
    Answer, Background, Moment, Reason, Release, Survey, arm, fault, judge, note_session, survey,
};
pub use who::{Open, Partition, Who, partition};

use crate::{
    git::{Clock, Location, Project},
    model::Owner,
    store::{Store, Transaction, Wait},
};

/// Where a session stands: the directories that decide what concerns it.
#[derive(Clone, Debug)]
pub struct Place {
    /// The directory of local state, `<common-dir>/operator`.
    pub operator: PathBuf,
    pub git_dir: PathBuf,
    /// The top of the working tree.
    pub top: Option<PathBuf>,
    /// The worktree by the name records use.
    pub worktree: String,
}

impl Place {
    /// Returns the place of a repository's worktree.
    pub fn of(location: &Location) -> Self {
        Self {
            operator: location.common_dir.join("operator"),
            git_dir: location.git_dir.clone(),
            top: location.top.clone(),
            worktree: location.worktree_name(),
        }
    }

    /// Returns the place of a project, which may lie outside any repository.
    pub fn of_project(project: &Project) -> Self {
        let worktree = if project.is_store() {
            ".".to_owned()
        } else {
            project.location.worktree_name()
        };
        Self {
            operator: project.operator_dir(),
            git_dir: project.location.git_dir.clone(),
            top: project.top.clone(),
            worktree,
        }
    }

    /// Says whether the project was started: `.operator/` lies at the top.
    pub fn is_started(&self) -> bool {
        self.top
            .as_ref()
            .is_some_and(|top| top.join(".operator").is_dir())
    }

    /// Returns what this clone remembers of sessions.
    pub fn sessions(&self) -> Sessions {
        Sessions::new(&self.operator)
    }
}

/// The gate of a repository, as one command uses it.
#[derive(Clone, Copy)]
pub struct Gate<'a> {
    pub store: &'a Store,
    pub clock: &'a Clock,
    pub place: &'a Place,
    /// The session whose command this is.
    pub session: Option<&'a Owner>,
}

impl Gate<'_> {
    /// Takes the ledger's lock; the predecessor's open tasks are taken over first.
    fn begin(&self) -> Result<Transaction<'_>, Error> {
        let mut tx = self.store.begin(Wait::Command, *self.clock)?;
        open::take_over(self, &mut tx)?;
        Ok(tx)
    }
}
