//! Locks between processes, on every file system git works on.
//!
//! The kernel's lock (flock(2)) is used where it is to be had: it goes with its holder, however that
//! ends. A file system without it (some NFS, SMB and FUSE mounts) gets a marker beside the file, made
//! as git makes its `*.lock` files, that says who holds it.

mod marker;

use std::{
    fs::{self, File, OpenOptions},
    hash::{BuildHasher as _, Hasher as _, RandomState},
    io,
    os::unix::fs::MetadataExt as _,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use fs4::{FileExt, TryLockError};
use nix::errno::Errno;

use marker::Marker;

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub struct FileLock {
    _held: Held,
}

#[derive(Debug)]
#[expect(dead_code, reason = "held for what its drop does")]
enum Held {
    Kernel(File),
    Marker(Marker),
}

/// Why a lock was not had.
#[derive(Debug, thiserror::Error)]
pub enum NoLock {
    /// Somebody else held it all the time.
    #[error("another process holds it")]
    Held,
    /// It could not be asked for.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<NoLock> for io::Error {
    fn from(error: NoLock) -> Self {
        match error {
            NoLock::Held => Self::new(io::ErrorKind::TimedOut, error.to_string()),
            NoLock::Io(error) => error,
        }
    }
}

impl FileLock {
    /// Locks the file at `path`, made if it is not there; waits, each process at its own pace.
    pub fn take(path: &Path, wait: Duration) -> Result<Self, NoLock> {
        retry(wait, || Self::try_take(path))
    }

    /// Locks the file at `path`, made if it is not there; `None` while somebody else holds it, or when
    /// the file or its directory went meanwhile.
    pub fn try_take(path: &Path) -> io::Result<Option<Self>> {
        let opened = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        match FileExt::try_lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) if is_unsupported(&error) => {
                let marker = Marker::try_take(path)?;
                return Ok(marker.map(Held::Marker).map(|_held| Self { _held }));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Somebody may have deleted the file between the open and the lock: a lock nobody can find.
        let is_same = fs::metadata(path).is_ok_and(|there| {
            file.metadata()
                .is_ok_and(|held| (held.dev(), held.ino()) == (there.dev(), there.ino()))
        });
        Ok(is_same.then_some(Self {
            _held: Held::Kernel(file),
        }))
    }
}

/// Asks until the answer is a lock, or the time is over; no two processes ask in step.
pub fn retry<T>(
    wait: Duration,
    mut attempt: impl FnMut() -> io::Result<Option<T>>,
) -> Result<T, NoLock> {
    let started = Instant::now();
    let mut round = 0;
    loop {
        if let Some(lock) = attempt()? {
            return Ok(lock);
        }
        let left = wait.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Err(NoLock::Held);
        }
        round += 1;
        thread::sleep(pause(round).min(left));
    }
}

/// Says whether the file system has no locks, as flock(2) and fcntl(2) report it.
fn is_unsupported(error: &io::Error) -> bool {
    [Errno::ENOLCK, Errno::ENOSYS, Errno::EOPNOTSUPP]
        .iter()
        .any(|errno| error.raw_os_error() == Some(*errno as i32))
}

/// Returns a pause of 1 to 3, then of 8 to 24 ms, no two processes alike: who waits must come by a lock
/// that is free for moments only.
fn pause(round: u32) -> Duration {
    let ceiling = 1_000_u64 << round.min(4);
    let random = RandomState::new().build_hasher().finish();
    Duration::from_micros(ceiling / 2 + random % ceiling)
}

#[cfg(test)]
mod tests {
    use std::{io, time::Duration};

    use super::{FileLock, NoLock, is_unsupported};

    #[test]
    fn a_lock_that_is_held_is_not_had_twice() {
        let dir = assert_fs::TempDir::new().unwrap();
        let path = dir.path().join("lock");
        let held = FileLock::take(&path, Duration::ZERO).unwrap();
        let other = FileLock::take(&path, Duration::ZERO);
        assert!(matches!(other, Err(NoLock::Held)), "{other:?}");
        drop(held);
        FileLock::take(&path, Duration::ZERO).unwrap();
    }

    #[test]
    fn a_lock_in_no_directory_is_not_there_yet() {
        let dir = assert_fs::TempDir::new().unwrap();
        let lock = FileLock::try_take(&dir.path().join("gone/lock")).unwrap();
        assert!(lock.is_none());
    }

    #[test]
    fn only_want_of_locks_is_made_up_for() {
        let error = |errno: nix::errno::Errno| io::Error::from_raw_os_error(errno as i32);
        assert!(is_unsupported(&error(nix::errno::Errno::ENOLCK)));
        assert!(!is_unsupported(&error(nix::errno::Errno::EIO)));
    }
}
