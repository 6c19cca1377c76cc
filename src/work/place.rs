use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Component, Path, PathBuf},
};

use super::{Error, look::top};
use crate::{
    git::Repo,
    model::{Mapped, RepoPath, System, map_path},
};

/// Where a file that a tool names lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Inside(RepoPath),
    /// In a repository or submodule inside this one.
    Nested(RepoPath),
    /// Not in the working tree, or in the repository's own directory.
    Outside,
}

/// Finds the file that a tool named in `cwd`: links on the way lead where they lead, for the tool
/// follows them, too.
pub fn place(repo: &Repo, cwd: &Path, named: &OsStr) -> Result<Place, Error> {
    let top = top(repo)?;
    let path = resolved(&cwd.join(named));
    let mapped = map_path(
        top.as_os_str().as_bytes(),
        path.as_os_str().as_bytes(),
        System::Unix,
    );
    let path = match mapped {
        Mapped::Inside(path) => path,
        Mapped::Top | Mapped::Outside => return Ok(Place::Outside),
    };
    let mut dir = top.to_owned();
    let names = path.as_bytes().split(|byte| *byte == b'/');
    for (depth, name) in names.enumerate() {
        if name == b".git" {
            return Ok(Place::Outside);
        }
        if depth > 0 && dir.join(".git").symlink_metadata().is_ok() {
            return Ok(Place::Nested(path));
        }
        dir.push(OsStr::from_bytes(name));
    }
    Ok(Place::Inside(path))
}

/// The real path of what is there, and what follows it as it is written.
fn resolved(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    let mut at = path;
    loop {
        if let Ok(real) = at.canonicalize() {
            return rest.iter().rev().fold(real, |path, part| push(path, *part));
        }
        match (at.parent(), at.components().next_back()) {
            (Some(parent), Some(last)) => {
                rest.push(last);
                at = parent;
            }
            _ => return path.to_owned(),
        }
    }
}

fn push(mut path: PathBuf, part: Component<'_>) -> PathBuf {
    match part {
        Component::ParentDir => _ = path.pop(),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        Component::Normal(name) => path.push(name),
    }
    path
}

/// Returns the path of the working tree that a person names in `cwd`; `None` when it lies outside.
///
/// Unlike a tool's file it need not be there, and a link on the way is not followed: what is asked
/// for is what git calls by this name.
pub fn named(repo: &Repo, cwd: &Path, name: &OsStr) -> Result<Option<RepoPath>, Error> {
    let top = top(repo)?;
    let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    let under = |path: &Path| {
        map_path(
            top.as_os_str().as_bytes(),
            path.as_os_str().as_bytes(),
            System::Unix,
        )
    };
    let path = cwd.join(name);
    let found = match under(&path) {
        Mapped::Inside(path) => Some(path),
        Mapped::Top | Mapped::Outside => match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => match under(&resolved(parent).join(name)) {
                Mapped::Inside(path) => Some(path),
                Mapped::Top | Mapped::Outside => None,
            },
            _ => None,
        },
    };
    Ok(found)
}
