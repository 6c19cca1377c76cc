use std::{
    fs::{self, File, OpenOptions},
    hash::{BuildHasher, Hasher, RandomState},
    io,
    os::unix::fs::MetadataExt,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use fs4::{FileExt, TryLockError};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};

use super::{Error, files};

/// How long a writer waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// 5 s: a command somebody typed.
    Command,
    /// 1 s: a session waits to start.
    SessionStart,
    /// 0.5 s: a session's end is not held up.
    SessionEnd,
}

impl Wait {
    fn limit(self) -> Duration {
        Duration::from_millis(match self {
            Self::Command => 5_000,
            Self::SessionStart => 1_000,
            Self::SessionEnd => 500,
        })
    }
}

/// The ledger's lock: the kernel frees it when its holder dies, and nobody else ever breaks it.
#[derive(Debug)]
pub(super) struct Lock {
    // Freed first, then the signals come through.
    _file: File,
    _mask: Mask,
}

/// Holds back the signals that would end or stop a writer half-way.
#[derive(Debug)]
struct Mask(SigSet);

impl Mask {
    fn set() -> Result<Self, io::Error> {
        let held: SigSet = [
            Signal::SIGTERM,
            Signal::SIGINT,
            Signal::SIGHUP,
            Signal::SIGQUIT,
            Signal::SIGTSTP,
        ]
        .into_iter()
        .collect();
        held.thread_swap_mask(SigmaskHow::SIG_BLOCK)
            .map(Self)
            .map_err(io::Error::from)
    }
}

impl Drop for Mask {
    fn drop(&mut self) {
        // The mask was valid before; setting it again cannot fail.
        let _ = self.0.thread_set_mask();
    }
}

impl Lock {
    /// Takes the lock at `path`, making its directory; waits, each process at its own pace.
    pub(super) fn take(path: &Path, wait: Wait) -> Result<Self, Error> {
        let started = Instant::now();
        let failed = |source| Error::Lock {
            path: path.to_owned(),
            source,
        };
        let mut round = 0;
        loop {
            // Only a try is masked: a person may interrupt the wait.
            let mask = Mask::set().map_err(failed)?;
            if let Some(file) = try_lock(path).map_err(failed)? {
                return Ok(Self {
                    _file: file,
                    _mask: mask,
                });
            }
            drop(mask);
            let left = wait.limit().saturating_sub(started.elapsed());
            if left.is_zero() {
                return Err(Error::Busy {
                    path: path.to_owned(),
                });
            }
            round += 1;
            thread::sleep(pause(round).min(left));
        }
    }
}

/// Returns the locked file, or `None` while somebody else holds it or its path is being replaced.
fn try_lock(path: &Path) -> io::Result<Option<File>> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let is_new = !path.exists();
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
    if is_new {
        files::share(path)?;
    }
    match FileExt::try_lock(&file) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // Somebody may have deleted the file between the open and the lock: a lock nobody can find.
    let is_same = fs::metadata(path).is_ok_and(|there| {
        file.metadata()
            .is_ok_and(|held| (held.dev(), held.ino()) == (there.dev(), there.ino()))
    });
    Ok(is_same.then_some(file))
}

/// Returns a pause of 1 to 2, then up to 50 ms, no two processes alike.
fn pause(round: u32) -> Duration {
    let ceiling = (1_000_u64 << round.min(6)).min(50_000);
    Duration::from_micros(ceiling / 2 + random() % ceiling)
}

/// Returns 64 bits that differ from process to process.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
