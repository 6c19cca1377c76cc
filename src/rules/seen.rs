//! Which policy files a worktree had when a hook last looked: one that is gone since is asked for at
//! HEAD, which costs nothing where none is.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::Error;

/// The policy files that a worktree had.
#[derive(Clone, Debug)]
pub struct Seen {
    path: PathBuf,
}

impl Seen {
    /// Returns those of a worktree, kept under `operator`, the directory of local state.
    pub fn new(operator: &Path, worktree: &str) -> Self {
        let name = match worktree {
            "." => "main",
            name => name,
        };
        Self {
            path: operator.join("policy-files").join(name),
        }
    }

    /// Returns their paths; none where they are not known.
    pub fn read(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Keeps the paths for the next look.
    pub fn write(&self, paths: &[String]) -> Result<(), Error> {
        if paths.is_empty() {
            return match fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(Error::write(&self.path)(error))
                }
                Ok(()) | Err(_) => Ok(()),
            };
        }
        if let Some(dir) = self.path.parent() {
            fs::create_dir_all(dir).map_err(Error::write(dir))?;
        }
        let lines: String = paths.iter().map(|path| format!("{path}\n")).collect();
        // A hook beside this one reads all of it or what was there before.
        let beside = self
            .path
            .with_extension(format!("{}.new", std::process::id()));
        fs::write(&beside, lines)
            .and_then(|()| fs::rename(&beside, &self.path))
            .map_err(Error::write(&self.path))
    }
}
