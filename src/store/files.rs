//! Small files of ours in `operator/`: replaced or made in one step, never half-written.

use std::{
    fs, io,
    io::Write,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
};

use tempfile::NamedTempFile;

use super::Error;

/// Replaces the file `name` below `dir`.
pub(crate) fn replace(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let path = dir.join(name);
    write_temp(dir, &path, bytes)
        .and_then(|file| file.persist(&path).map_err(|error| error.error))
        .map(|_| ())
        .map_err(Error::write(&path))
}

/// Removes the file `name` below `dir`, if there is one.
pub(crate) fn remove(dir: &Path, name: &str) -> Result<(), Error> {
    let path = dir.join(name);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::write(path)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn write_temp(dir: &Path, path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let temp = dir.join("tmp");
    make_dir(&temp)?;
    if let Some(parent) = path.parent() {
        make_dir(parent)?;
    }
    let mut file = tempfile::Builder::new()
        .prefix("file.")
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(&temp)?;
    file.write_all(bytes)?;
    share(file.path())?;
    Ok(file)
}

fn make_dir(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(dir)?;
    share(dir)
}

/// Opens a file just made to those its directory is open to: `operator/` has the mode that
/// core.sharedRepository asks for.
pub(super) fn share(path: &Path) -> io::Result<()> {
    const GROUP_WRITES: u32 = 0o020;
    let dir = path.parent().unwrap_or(path);
    let mode = fs::metadata(dir)?.mode() & 0o7777;
    if mode & GROUP_WRITES == 0 {
        return Ok(());
    }
    let wanted = match fs::metadata(path)?.is_dir() {
        true => mode,
        false => mode & 0o666,
    };
    fs::set_permissions(path, fs::Permissions::from_mode(wanted))
}
