use std::{
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use super::{Error, Location, Repo};
use crate::model::RepoPath;

impl Repo {
    /// Returns the linked worktrees whose directories are there, sorted by name.
    pub fn linked_worktrees(&self) -> Result<Vec<Location>, Error> {
        let dir = self.common_dir().join("worktrees");
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::read(dir)(error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let git_dir = entry.map_err(Error::read(&dir))?.path();
            if let Some(top) = top_of(&git_dir) {
                found.push(Location {
                    top: Some(top),
                    git_dir,
                    common_dir: self.common_dir().to_owned(),
                });
            }
        }
        found.sort_by(|one, other| one.git_dir.cmp(&other.git_dir));
        Ok(found)
    }

    /// Says of each path whether git ignores it; a tracked one is never ignored. One child for all.
    pub fn ignored(&self, paths: &[RepoPath]) -> Result<Vec<bool>, Error> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let mut stdin = Vec::new();
        for path in paths {
            // A path that begins with ':' would be a pathspec of some magic.
            stdin.extend_from_slice(b"./");
            stdin.extend_from_slice(path.as_bytes());
            stdin.push(0);
        }
        let finished = self
            .git([
                "check-ignore",
                "-z",
                "--stdin",
                "--verbose",
                "--non-matching",
            ])
            .read_only()
            .stdin(stdin)
            .run()?;
        let fields: Vec<&[u8]> = finished.stdout.split(|c| *c == 0).collect();
        let answers: Vec<bool> = fields
            .chunks_exact(4)
            .map(|field| !field[2].is_empty() && !field[2].starts_with(b"!"))
            .collect();
        match finished.code {
            0 | 1 if answers.len() == paths.len() => Ok(answers),
            _ => Err(finished.error()),
        }
    }
}

/// A worktree's git directory names its `.git` file; a moved or deleted one has none.
fn top_of(git_dir: &Path) -> Option<PathBuf> {
    let bytes = fs::read(git_dir.join("gitdir")).ok()?;
    let path = git_dir.join(OsStr::from_bytes(bytes.trim_ascii_end()));
    path.parent()?
        .canonicalize()
        .ok()
        .filter(|top| top.join(".git").exists())
}
