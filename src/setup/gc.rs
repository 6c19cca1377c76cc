use super::Error;
use crate::{
    git::Clock,
    store::{Reach, Store, Wait},
    view::notes::{self, Projection},
    work,
};

/// Which notes are written anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notes {
    Leave,
    All,
}

/// What a collection did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Objects that went into packs.
    pub packed: usize,
    /// Temporary files of dead processes.
    pub leftovers: usize,
    /// Stamped commits that nothing kept.
    pub pinned: usize,
    /// Commits whose notes changed.
    pub noted: usize,
    /// Sessions whose claims and rescues were more than 14 days old.
    pub sessions: usize,
}

/// Packs what we wrote and drops what has had its time. Records are never dropped.
pub fn gc(store: &Store, clock: &Clock, notes: Notes) -> Result<Collected, Error> {
    let mut done = Collected::default();
    if store.tip()?.is_some() {
        done.packed = store.begin(Wait::Command, *clock)?.tidy()?;
    }
    let repo = store.repo();
    done.leftovers = repo.remove_leftovers(clock.wall_ms())?;
    if !repo.is_store() {
        done.sessions = work::sweep(repo, clock.wall_ms())?.len();
        done.pinned = store.pin(clock, Reach::All)?;
        if notes == Notes::All {
            done.noted = notes::project(store, clock, Projection::Whole)?;
        }
        // A projection that misses objects stops git's own collection too.
        done.packed += match repo.pack_loose(&[notes::NOTES]) {
            Ok(packed) => packed,
            Err(error) => {
                if repo.is_connected(notes::NOTES)? {
                    return Err(error.into());
                }
                done.noted += notes::mend(store, clock)?;
                repo.pack_loose(&[notes::NOTES])?
            }
        };
    }
    Ok(done)
}
