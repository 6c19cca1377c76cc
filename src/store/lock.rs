use std::{fs, io, path::Path, time::Duration};

use nix::sys::signal::{SigSet, SigmaskHow, Signal};

use super::{Error, files};
use crate::git::{FileLock, NoLock, retry};

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
    _lock: FileLock,
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
        let attempt = || {
            // Only a try is masked: a person may interrupt the wait.
            let mask = Mask::set()?;
            let lock = try_lock(path)?;
            Ok(lock.map(|lock| Self {
                _lock: lock,
                _mask: mask,
            }))
        };
        retry(wait.limit(), attempt).map_err(|error| match error {
            NoLock::Held => Error::Busy {
                path: path.to_owned(),
            },
            NoLock::Io(source) => Error::Lock {
                path: path.to_owned(),
                source,
            },
        })
    }
}

/// Returns the lock, or `None` while somebody else holds it or its path is being replaced.
fn try_lock(path: &Path) -> io::Result<Option<FileLock>> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let is_new = !path.exists();
    let lock = FileLock::try_take(path)?;
    if is_new && path.exists() {
        files::share(path)?;
    }
    Ok(lock)
}
