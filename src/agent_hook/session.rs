//! What the events of a session have in common: the project, the gate, who asks.

use super::Event;
use crate::{
    gate::{self, Gate, Who},
    git::{Clock, Project},
    model::{Explain as _, Owner, shell_quoted},
    payload::{Place, Session},
    store::Store,
    ui::Failure,
};

/// The project an event is about, as the gate sees it.
pub(super) struct Site {
    pub(super) project: Project,
    pub(super) place: gate::Place,
    pub(super) clock: Clock,
}

/// Why there is no project to look at.
pub(super) enum Missing {
    /// The session is in none.
    Nowhere,
    /// Something is wrong with it; the text says what.
    Fault(String),
}

impl Site {
    /// Finds the project of an event.
    pub(super) fn of(event: &Event) -> Result<Self, Missing> {
        match event.place() {
            Place::Found(project) => Ok(Self {
                place: gate::Place::of_project(project),
                project: project.clone(),
                // A date that nobody can read opens no gate: a hook's records have the real time then.
                clock: Clock::new(&event.env).unwrap_or_default(),
            }),
            Place::Nowhere => Err(Missing::Nowhere),
            Place::Gone(cwd) => Err(Missing::Fault(format!(
                "'{}' is gone and no project is set",
                cwd.display()
            ))),
            Place::Fault(error) => {
                let hint = error
                    .hint()
                    .map(|hint| format!("; run: {hint}"))
                    .unwrap_or_default();
                Err(Missing::Fault(format!("{error}{hint}")))
            }
        }
    }

    /// Says whether anything of ours is here, so that a hook may write.
    pub(super) fn is_ours(&self) -> bool {
        self.project.is_started() || self.place.operator.is_dir()
    }

    /// Opens the ledger.
    pub(super) fn store(&self, event: &Event) -> Result<Store, Failure> {
        Ok(Store::open(self.project.open(&event.env)?))
    }

    /// Returns the gate over an opened ledger.
    pub(super) fn gate<'a>(&'a self, store: &'a Store, session: Option<&'a Owner>) -> Gate<'a> {
        Gate {
            store,
            clock: &self.clock,
            place: &self.place,
            session,
        }
    }

    /// Returns who asks, and why that is not known.
    pub(super) fn who(&self, event: &Event) -> (Who, Option<String>) {
        match event.payload.session() {
            Session::Known(owner) => (Who::Session(owner), None),
            Session::Unknown(why) => (
                Who::Unknown {
                    worktree: self.place.worktree.clone(),
                },
                Some(why),
            ),
        }
    }

    /// Returns `git -C <top> operator`, which works from any directory.
    pub(super) fn command(&self) -> String {
        let top = self.place.top.as_ref().unwrap_or(&self.place.git_dir);
        format!(
            "git -C {} operator",
            shell_quoted(&top.display().to_string())
        )
    }
}

/// Returns the session, when the payload says which.
pub(super) fn known(event: &Event) -> Option<Owner> {
    match event.payload.session() {
        Session::Known(owner) => Some(owner),
        Session::Unknown(_) => None,
    }
}
