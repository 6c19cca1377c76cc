//! The state of one session in one worktree, on disk and under its lock.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use fs4::{FileExt, TryLockError};

use super::{
    Error,
    rescue::Rescued,
    state::{State, VERSION},
    vault::{Open, Space},
};
use crate::{
    git::Repo,
    model::{Digest, Oid},
};

/// How long a hook waits for another hook of its session.
pub(crate) const HOOK: Duration = Duration::from_secs(5);
/// How long the end of a session waits: the client allows it 1.5 s in all.
pub(crate) const END: Duration = Duration::from_millis(500);

/// A session's state, locked.
pub(crate) struct Session<'a> {
    pub(crate) repo: &'a Repo,
    pub(crate) key: String,
    pub(crate) state: State,
    pub(crate) rescued: Rescued,
    dir: PathBuf,
    _lock: File,
}

/// Returns the directory of all states.
pub(crate) fn home(repo: &Repo) -> PathBuf {
    repo.operator_dir().join("work")
}

/// Returns the key of a session in a worktree: of the ref, and the name of the directory.
pub(crate) fn key(worktree: &str, session: &str) -> String {
    let digest = Digest::of(&[worktree.as_bytes(), b"\0", session.as_bytes()].concat());
    digest.to_hex()[..16].to_owned()
}

/// Reads a session's state without a lock; `None` where there is none.
pub(crate) fn read(repo: &Repo, session: &str) -> Result<Option<State>, Error> {
    let key = key(&repo.worktree_name(), session);
    read_state(&home(repo).join(key))
}

/// Reads the states of all sessions and worktrees; those that cannot be read are left out.
pub(crate) fn read_all(repo: &Repo) -> Vec<(PathBuf, State)> {
    let entries = fs::read_dir(home(repo)).into_iter().flatten().flatten();
    let state = |entry: fs::DirEntry| {
        let dir = entry.path();
        let state = read_state(&dir).ok()??;
        Some((dir, state))
    };
    entries.filter_map(state).collect()
}

fn read_state(dir: &Path) -> Result<Option<State>, Error> {
    let path = dir.join("state");
    let Some(bytes) = read_file(&path)? else {
        return Ok(None);
    };
    let state: State = serde_json::from_slice(&bytes).map_err(|error| Error::Unreadable {
        path: path.clone(),
        reason: error.to_string(),
    })?;
    match state.v == VERSION {
        true => Ok(Some(state)),
        false => Err(Error::Unreadable {
            path,
            reason: format!("its version {} is unknown", state.v),
        }),
    }
}

pub(crate) fn read_file(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        }),
    }
}

impl<'a> Session<'a> {
    /// Takes the lock of a session in the repository's worktree and reads its state; a new one where
    /// there is none, or none that can be read.
    pub(crate) fn open(repo: &'a Repo, session: &str, wait: Duration) -> Result<Self, Error> {
        Self::open_in(repo, (&repo.worktree_name(), session), wait)
    }

    /// The same for a session in any worktree of the repository.
    pub(crate) fn open_in(
        repo: &'a Repo,
        (worktree, session): (&str, &str),
        wait: Duration,
    ) -> Result<Self, Error> {
        let dir = home(repo).join(key(worktree, session));
        let lock = lock(repo, &dir, wait)?;
        let state = match read_state(&dir) {
            Ok(state) => state,
            Err(error) => {
                set_aside(&dir.join("state"), error)?;
                None
            }
        };
        Self::with(repo, dir, lock, move || {
            state.unwrap_or_else(|| State::new(session, worktree))
        })
    }

    /// Takes the lock of a state found by [`read_all`]; `None` when it is gone meanwhile.
    pub(crate) fn reopen(
        repo: &'a Repo,
        dir: &Path,
        wait: Duration,
    ) -> Result<Option<Self>, Error> {
        if !dir.is_dir() {
            return Ok(None);
        }
        let lock = lock(repo, dir, wait)?;
        match read_state(dir)? {
            Some(state) => Self::with(repo, dir.to_owned(), lock, || state).map(Some),
            None => Ok(None),
        }
    }

    fn with(
        repo: &'a Repo,
        dir: PathBuf,
        lock: File,
        state: impl FnOnce() -> State,
    ) -> Result<Self, Error> {
        let key = dir.file_name().unwrap_or_default().to_string_lossy();
        Ok(Self {
            repo,
            key: key.into_owned(),
            state: state(),
            rescued: rescued_in(&dir)?,
            dir,
            _lock: lock,
        })
    }

    /// Returns the vault of what calls may need to be undone.
    pub(crate) fn vault(&mut self) -> Open<'_> {
        Open {
            repo: self.repo,
            space: Space::Work,
            key: &self.key,
            vault: &mut self.state.vault,
        }
    }

    /// Returns the vault of rescued bytes.
    pub(crate) fn rescue_vault(&mut self) -> Open<'_> {
        Open {
            repo: self.repo,
            space: Space::Rescue,
            key: &self.key,
            vault: &mut self.rescued.vault,
        }
    }

    /// Writes the state, and then lets go of the packs that it no longer names.
    pub(crate) fn save(mut self, now: u64) -> Result<(), Error> {
        self.state.last = now;
        if self.vault().is_full() {
            let needed = self.state.needed();
            self.vault().find_orphans()?;
            self.vault().merge(&needed)?;
        }
        // Rescues first: what they hold may be what the state lets go of.
        self.save_rescues()?;
        write_json(&self.dir.join("state"), &self.state)?;
        self.rescue_vault().sweep()?;
        self.vault().sweep()
    }

    /// Writes what was rescued so far.
    pub(crate) fn save_rescues(&mut self) -> Result<(), Error> {
        self.rescued.write(&self.dir.join("rescue"))
    }

    /// Removes a state that holds nothing any more.
    pub(crate) fn remove(mut self) -> Result<(), Error> {
        self.vault().clear()?;
        self.vault().sweep()?;
        self.rescue_vault().clear()?;
        self.rescue_vault().sweep()?;
        for name in ["state", "rescue", "baseline", "lock"] {
            match fs::remove_file(self.dir.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::write(self.dir.join(name))(error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        // A directory in which somebody put something stays.
        let _ = fs::remove_dir(&self.dir);
        Ok(())
    }
}

impl State {
    /// Returns the blobs that an undo may need.
    fn needed(&self) -> std::collections::HashSet<Oid> {
        use super::state::{Before, Phase};
        let mut needed = std::collections::HashSet::new();
        for call in &self.calls {
            match &call.phase {
                Phase::Open { snapshot } | Phase::Dropped { snapshot } => {
                    needed.extend(snapshot.values().filter_map(|held| held.content.blob()));
                }
                Phase::Finished { changes, .. } => {
                    needed.extend(changes.iter().filter_map(|change| match &change.before {
                        Before::Dirty(held) => held.content.blob(),
                        Before::Clean(_) => None,
                    }));
                }
                Phase::Denied => {}
            }
        }
        needed
    }
}

fn rescued_in(dir: &Path) -> Result<Rescued, Error> {
    let path = dir.join("rescue");
    Rescued::read(&path).or_else(|error| set_aside(&path, error).map(|()| Rescued::default()))
}

/// A state of a newer program, or a damaged one, is put aside, never overwritten.
fn set_aside(path: &Path, error: Error) -> Result<(), Error> {
    match fs::rename(path, path.with_extension("unreadable")) {
        Ok(()) => Ok(()),
        Err(_) => Err(error),
    }
}

/// Writes a file whole or not at all.
pub(crate) fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), Error> {
    let bytes = serde_json::to_vec(value).map_err(|error| Error::Write {
        path: path.to_owned(),
        source: error.into(),
    })?;
    let new = path.with_extension("new");
    let mut file = File::create(&new).map_err(Error::write(&new))?;
    file.write_all(&bytes).map_err(Error::write(&new))?;
    fs::rename(&new, path).map_err(Error::write(path))
}

/// Takes the lock; the kernel frees it when its holder dies.
fn lock(repo: &Repo, dir: &Path, wait: Duration) -> Result<File, Error> {
    let path = dir.join("lock");
    let started = Instant::now();
    let mut pause = 1;
    loop {
        repo.make_dir(dir)?;
        let file = match OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
        {
            Ok(file) => file,
            // Its directory was removed between the two.
            Err(error) if error.kind() == io::ErrorKind::NotFound && started.elapsed() < wait => {
                continue;
            }
            Err(error) => return Err(Error::write(path)(error)),
        };
        match FileExt::try_lock(&file) {
            Ok(()) if is_at(&file, &path) => return Ok(file),
            Ok(()) => continue,
            Err(TryLockError::WouldBlock) if started.elapsed() < wait => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Busy { path }),
            Err(TryLockError::Error(error)) => return Err(Error::write(path)(error)),
        }
        thread::sleep(Duration::from_millis(
            pause + u64::from(std::process::id() % 3),
        ));
        pause = (pause * 2).min(16);
    }
}

/// Says whether the file that was locked still is the one at its path: a sweep removes it.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(there)) => open.ino() == there.ino() && open.dev() == there.dev(),
        _ => false,
    }
}
