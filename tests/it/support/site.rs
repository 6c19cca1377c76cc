use git_operator::{
    gate::{Gate, Place},
    git::{self, Clock, Env, locate},
    store::Store,
};

use super::Repo;

/// The ledger and the gate of a repository, for calls below the command line.
pub(crate) struct Site {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) place: Place,
}

impl Site {
    pub(crate) fn of(repo: &Repo) -> Self {
        let env = Env::new(repo.env());
        let location = locate(repo.path(), &env).unwrap().unwrap();
        Self {
            place: Place::of(&location),
            store: Store::open(git::Repo::open(&location, &env).unwrap()),
            clock: Clock::new(&env).unwrap(),
        }
    }

    pub(crate) fn gate(&self) -> Gate<'_> {
        Gate {
            store: &self.store,
            clock: &self.clock,
            place: &self.place,
            session: None,
        }
    }
}
