//! What became of the last sync that nobody waited for.

use std::{fs, path::PathBuf};

use super::Error;
use crate::{git, store::Store};

const LIMIT: usize = 4 << 10;

fn path(store: &Store) -> PathBuf {
    store.dir().join("sync")
}

/// Keeps why a sync failed; one that succeeded leaves nothing.
pub fn note_outcome(store: &Store, failed: Option<&Error>) -> Result<(), Error> {
    let path = path(store);
    let written = match failed {
        Some(error) => fs::write(&path, format!("{error}\n")),
        None => match fs::remove_file(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            other => other,
        },
    };
    written.map_err(|error| git::Error::write(path)(error).into())
}

/// Returns why the last sync that nobody waited for failed, if it did.
pub fn last_failure(store: &Store) -> Option<String> {
    let bytes = fs::read(path(store)).ok()?;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LIMIT)]).into_owned();
    text.lines().next().map(str::to_owned)
}
