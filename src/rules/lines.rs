//! Files of lines that many hooks append to at once.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use super::Error;
use crate::git::FileLock;

const PATIENCE: Duration = Duration::from_millis(500);

/// Locks a path. Another writer is waited for a moment only: a hook must answer.
pub(super) fn lock(path: &Path) -> Result<FileLock, Error> {
    FileLock::take(path, PATIENCE).map_err(|error| Error::write(path)(error.into()))
}

/// A file of lines, oldest first; one that grows over its limit begins anew, and the one before it is
/// kept.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    path: PathBuf,
    limit: u64,
}

impl Lines {
    pub(super) fn new(path: PathBuf, limit: u64) -> Self {
        Self { path, limit }
    }

    /// Appends a line, nobody else's in between.
    pub(super) fn add(&self, mut line: String) -> Result<(), Error> {
        if let Some(dir) = self.path.parent() {
            fs::create_dir_all(dir).map_err(Error::write(dir))?;
        }
        // The file itself is renamed when it is long: a lock on it would guard the wrong one.
        let path = self.path.with_extension("lock");
        let _lock = lock(&path)?;
        if fs::metadata(&self.path).is_ok_and(|found| found.len() > self.limit) {
            fs::rename(&self.path, self.before()).map_err(Error::write(&self.path))?;
        }
        line.push('\n');
        appended(&self.path)
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(Error::write(&self.path))
    }

    pub(super) fn before(&self) -> PathBuf {
        self.path.with_extension("1")
    }

    /// Returns what the lines hold; lines that cannot be read are left out.
    pub(super) fn read<T: serde::de::DeserializeOwned>(&self) -> Result<Vec<T>, Error> {
        let mut found = Vec::new();
        for path in [self.before(), self.path.clone()] {
            let bytes = match fs::read(&path) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::read(&path)(error)),
            };
            let lines = bytes.split(|byte| *byte == b'\n');
            found.extend(lines.filter_map(|line| serde_json::from_slice(line).ok()));
        }
        Ok(found)
    }
}

fn appended(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o600).open(path)
}
