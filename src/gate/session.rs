//! What this clone remembers of a session in one worktree: `<common-dir>/operator/sessions/<key>`.

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::Error;
use crate::git::FileLock;

const LIMIT: u64 = 1 << 20;
/// How long a hook waits for another that changes a session.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often one gate state refuses a Stop before it is let go.
pub const REFUSALS: u32 = 7;

/// A session's local state. A file that cannot be read is as good as none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// The client's session id; empty for Stops whose session is unknown.
    pub session: String,
    pub worktree: String,
    /// When a hook of the session ran last, ms of wall clock.
    pub seen: u64,
    pub pid: Option<u32>,
    pub ended: bool,
    /// Whether the session opened a task, or had one opened for it.
    pub opened: bool,
    /// Paths that were dirty when the session started; `None` when that was not measured.
    pub baseline: Option<Vec<String>>,
    pub refusal: Refusal,
    /// The gate state and background ids that were let through once.
    pub background: Option<String>,
}

/// The refusals of one gate state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Refusal {
    pub state: String,
    pub count: u32,
    /// When the last one was written, µs of wall clock.
    pub at: u64,
    pub released: bool,
}

/// The files of all sessions of a repository.
#[derive(Clone, Debug)]
pub struct Sessions {
    dir: PathBuf,
}

impl Sessions {
    /// Returns the sessions kept under `operator`, the directory of local state.
    pub fn new(operator: &Path) -> Self {
        Self {
            dir: operator.join("sessions"),
        }
    }

    /// Returns where the state of `session` in the worktree with this git directory lies.
    pub fn path(&self, git_dir: &Path, session: &str) -> PathBuf {
        let mut hasher = blake3::Hasher::new();
        hasher.update(git_dir.as_os_str().as_encoded_bytes());
        hasher.update(b"\0");
        hasher.update(session.as_bytes());
        self.dir.join(&hasher.finalize().to_hex()[..16])
    }

    /// Returns what is known of a session.
    pub fn read(&self, git_dir: &Path, session: &str) -> Session {
        read(&self.path(git_dir, session)).unwrap_or_default()
    }

    /// Returns every readable session.
    pub fn all(&self) -> Vec<Session> {
        let Ok(entries) = fs::read_dir(&self.dir) else {
            return Vec::new();
        };
        entries
            .filter_map(|entry| read(&entry.ok()?.path()))
            .collect()
    }

    /// Changes what is known of a session, alone among all processes, and returns what `change` does.
    pub fn update<T>(
        &self,
        git_dir: &Path,
        session: &str,
        change: impl FnOnce(&mut Session) -> T,
    ) -> Result<T, Error> {
        let path = self.path(git_dir, session);
        let failed = |source| Error::Session {
            path: path.clone(),
            source,
        };
        fs::create_dir_all(&self.dir).map_err(failed)?;
        let _lock = FileLock::take(&self.dir.join("lock"), PATIENCE)
            .map_err(|error| failed(error.into()))?;
        let mut state = read(&path).unwrap_or_default();
        session.clone_into(&mut state.session);
        let before = state.clone();
        let answer = change(&mut state);
        if state != before || !path.exists() {
            self.write(&path, &state).map_err(failed)?;
        }
        Ok(answer)
    }

    fn write(&self, path: &Path, state: &Session) -> std::io::Result<()> {
        let mut file = tempfile::Builder::new()
            .prefix(".new-")
            .tempfile_in(&self.dir)?;
        file.write_all(serde_json::to_string(state)?.as_bytes())?;
        file.persist(path)?;
        Ok(())
    }
}

fn read(path: &Path) -> Option<Session> {
    let mut text = String::new();
    let file = File::open(path)
        .ok()
        .filter(|file| file.metadata().is_ok_and(|meta| meta.is_file()))?;
    file.take(LIMIT).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// What becomes of a Stop that has something against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It is refused for the n-th time in this state.
    Refuse { count: u32 },
    /// It is let go, this once with a record.
    Release,
    /// The state was let go before.
    Released,
}

impl Session {
    /// Counts a Stop in the gate state `state`. One that began before the last refusal was written is
    /// its duplicate: same answer, not counted.
    pub fn turn(&mut self, state: &str, began: u64, now: u64) -> Turn {
        if self.refusal.state != state {
            self.refusal = Refusal {
                state: state.to_owned(),
                ..Refusal::default()
            };
        }
        let refusal = &mut self.refusal;
        if refusal.released {
            return Turn::Released;
        }
        if began < refusal.at && refusal.count > 0 {
            return Turn::Refuse {
                count: refusal.count,
            };
        }
        if refusal.count >= REFUSALS {
            refusal.released = true;
            return Turn::Release;
        }
        refusal.count += 1;
        refusal.at = now;
        Turn::Refuse {
            count: refusal.count,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{REFUSALS, Session, Sessions, Turn};

    #[test]
    fn the_eighth_stop_of_a_state_is_released_once() {
        let mut session = Session::default();
        for count in 1..=REFUSALS {
            let now = u64::from(count) * 10;
            assert_eq!(session.turn("a", now, now + 1), Turn::Refuse { count });
        }
        assert_eq!(session.turn("a", 1000, 1001), Turn::Release);
        assert_eq!(session.turn("a", 1002, 1003), Turn::Released);
        assert_eq!(session.turn("b", 1004, 1005), Turn::Refuse { count: 1 });
    }

    #[test]
    fn a_duplicate_stop_gets_the_same_answer_uncounted() {
        let mut session = Session::default();
        assert_eq!(session.turn("a", 10, 15), Turn::Refuse { count: 1 });
        assert_eq!(session.turn("a", 11, 16), Turn::Refuse { count: 1 });
        assert_eq!(session.turn("a", 20, 25), Turn::Refuse { count: 2 });
    }

    #[test]
    fn parallel_updates_lose_nothing() {
        let dir = assert_fs::TempDir::new().unwrap();
        let sessions = Sessions::new(dir.path());
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        sessions
                            .update(Path::new("/r/.git"), "S1", |state| state.seen += 1)
                            .unwrap();
                    }
                });
            }
        });
        assert_eq!(sessions.read(Path::new("/r/.git"), "S1").seen, 40);
        assert_eq!(
            sessions.read(Path::new("/w/.git"), "S1"),
            Session::default()
        );
        assert_eq!(sessions.all().len(), 1);
    }

    #[test]
    fn a_broken_file_is_as_good_as_none() {
        let dir = assert_fs::TempDir::new().unwrap();
        let sessions = Sessions::new(dir.path());
        sessions
            .update(Path::new("/r"), "S1", |state| state.opened = true)
            .unwrap();
        std::fs::write(sessions.path(Path::new("/r"), "S1"), "{\"seen\":").unwrap();
        assert_eq!(sessions.read(Path::new("/r"), "S1"), Session::default());
        sessions
            .update(Path::new("/r"), "S1", |state| state.opened = true)
            .unwrap();
        assert!(sessions.read(Path::new("/r"), "S1").opened);
    }
}
