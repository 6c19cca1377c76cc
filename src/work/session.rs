//! The state of one session in one worktree, on disk and under its lock.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, de::IgnoredAny};

use super::{
    Content, Error,
    rescue::Rescued,
    state::{State, VERSION},
    vault::{Open, Space},
};
use crate::{
    git::{FileLock, NoLock, Repo, Status, StatusEntry, retry},
    model::{Digest, Oid, RepoPath},
};

/// How long a hook waits for another hook of its session: less than the 10 s that hooks.json allows it.
pub(crate) const HOOK: Duration = Duration::from_secs(8);
/// How long the end of a session waits: the client allows it 1.5 s in all.
pub(crate) const END: Duration = Duration::from_millis(500);

/// A session's state, locked.
pub(crate) struct Session<'a> {
    pub(crate) repo: &'a Repo,
    pub(crate) key: String,
    pub(crate) state: State,
    pub(crate) rescued: Rescued,
    dir: PathBuf,
    _lock: FileLock,
    /// A look at the working tree that has begun.
    status: Option<Status<'a>>,
}

/// Whether git looks at the working tree while the state is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ahead {
    Status,
    Nothing,
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

/// What one session needs to know of another, without reading all of its state.
#[derive(Debug, Deserialize)]
pub(crate) struct Brief {
    v: u32,
    pub(crate) worktree: String,
    /// What was others' is nobody else's concern.
    paths: (IgnoredAny, BTreeMap<RepoPath, BriefTrail>),
}

#[derive(Debug, Deserialize)]
struct BriefTrail {
    claim: Option<BriefClaim>,
}

#[derive(Debug, Deserialize)]
struct BriefClaim {
    content: Content,
}

impl Brief {
    /// Returns the paths the session claims, and their contents.
    pub(crate) fn claims(self) -> impl Iterator<Item = (RepoPath, Content)> {
        let claim = |(path, trail): (_, BriefTrail)| Some((path, trail.claim?.content));
        self.paths.1.into_iter().filter_map(claim)
    }
}

/// Says whether a session knows a call, without reading all of its state: calls and objects have ids,
/// and within a text a quote is escaped.
pub(crate) fn knows(repo: &Repo, session: &str, id: &str) -> bool {
    let state = home(repo)
        .join(key(&repo.worktree_name(), session))
        .join("state");
    let Ok(member) = serde_json::to_string(id).map(|id| format!("\"id\":{id}")) else {
        return false;
    };
    fs::read_to_string(state).is_ok_and(|text| text.contains(&member))
}

/// Reads of all sessions but one what it needs of them.
pub(crate) fn read_others(repo: &Repo, state: &State) -> Vec<Brief> {
    let own = key(&state.worktree, &state.session);
    let entries = fs::read_dir(home(repo)).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name() != own.as_str())
        .filter_map(|entry| brief_in(&entry.path()))
        .filter(|brief| brief.worktree == state.worktree)
        .collect()
}

fn brief_in(dir: &Path) -> Option<Brief> {
    let bytes = read_file(&dir.join("state")).ok()??;
    let brief: Brief = serde_json::from_slice(&bytes).ok()?;
    (brief.v == VERSION).then_some(brief)
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
        Self::open_ahead(repo, (worktree, session), (wait, Ahead::Nothing))
    }

    /// Opens the state of a session in this worktree, as [`Self::open`] does; what git says is from
    /// after the lock was taken, so no other hook of the session comes between.
    pub(crate) fn open_looking(
        repo: &'a Repo,
        session: &str,
        wait: Duration,
    ) -> Result<Self, Error> {
        let worktree = repo.worktree_name();
        Self::open_ahead(repo, (&worktree, session), (wait, Ahead::Status))
    }

    fn open_ahead(
        repo: &'a Repo,
        (worktree, session): (&str, &str),
        (wait, ahead): (Duration, Ahead),
    ) -> Result<Self, Error> {
        let dir = home(repo).join(key(worktree, session));
        let lock = lock(repo, &dir, wait)?;
        let status = match ahead {
            Ahead::Status => Some(repo.start_status()?),
            Ahead::Nothing => None,
        };
        let state = match read_state(&dir) {
            Ok(state) => state,
            Err(error) => {
                set_aside(&dir.join("state"), error)?;
                None
            }
        };
        let state = state.unwrap_or_else(|| State::new(session, worktree));
        let opened = Self::with(repo, dir, lock, state)?;
        Ok(Self { status, ..opened })
    }

    /// Returns what git says of the working tree, and the linked worktrees inside it.
    pub(crate) fn entries(&mut self) -> Result<(Vec<StatusEntry>, Vec<RepoPath>), Error> {
        let status = match self.status.take() {
            Some(status) => status,
            None => self.repo.start_status()?,
        };
        Ok(status.parted()?)
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
            Some(state) => Self::with(repo, dir.to_owned(), lock, state).map(Some),
            None => Ok(None),
        }
    }

    fn with(repo: &'a Repo, dir: PathBuf, lock: FileLock, state: State) -> Result<Self, Error> {
        let key = dir.file_name().unwrap_or_default().to_string_lossy();
        Ok(Self {
            repo,
            key: key.into_owned(),
            state,
            rescued: rescued_in(&dir)?,
            dir,
            _lock: lock,
            status: None,
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
        // What the state on disk says is stale can go, and needs to be said no more.
        self.vault().sweep()?;
        self.rescued.changed |= self.rescue_vault().sweep()?;
        if self.vault().is_full() {
            let needed = self.state.needed();
            self.vault().find_orphans()?;
            self.vault().merge(&needed)?;
        }
        // Rescues first: what they hold may be what the state lets go of.
        self.save_rescues()?;
        write_json(&self.dir.join("state"), &self.state)?;
        self.rescue_vault().sweep()?;
        self.vault().sweep()?;
        Ok(())
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
                        Before::Clean(_) | Before::Unseen => None,
                    }));
                }
                Phase::Denied => {}
            }
        }
        needed.extend(self.shelf.needed());
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

/// Takes the lock; its directory is made again where a sweep removed it.
fn lock(repo: &Repo, dir: &Path, wait: Duration) -> Result<FileLock, Error> {
    let path = dir.join("lock");
    retry(wait, || {
        repo.make_dir_io(dir)?;
        FileLock::try_take(&path)
    })
    .map_err(|error| match error {
        NoLock::Held => Error::Busy { path: path.clone() },
        NoLock::Io(source) => Error::write(path.clone())(source),
    })
}
