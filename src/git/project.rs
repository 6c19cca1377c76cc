use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{Env, Error, Location, Repo, locate};

/// Where a store lies in a project that is in no repository.
const STORE: &str = ".operator/store.git";

/// What a directory belongs to: a repository, or a project outside git that `start` made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The repository, or the store that stands for one.
    pub location: Location,
    /// The directory `.operator/` lies in, or would; none in a bare repository.
    pub top: Option<PathBuf>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Repository,
    Store,
}

impl Project {
    /// Finds what `start` belongs to. A store is looked for only where there is no repository.
    pub fn find(start: &Path, env: &Env) -> Result<Option<Self>, Error> {
        if let Some(location) = locate(start, env)? {
            return Ok(Some(Self {
                top: location.top.clone(),
                location,
                kind: Kind::Repository,
            }));
        }
        let start = start.canonicalize().map_err(Error::read(start))?;
        let found = start.ancestors().find(|dir| is_dir(&dir.join(STORE)));
        Ok(found.map(|top| {
            let git_dir = top.join(STORE);
            Self {
                location: Location {
                    top: None,
                    common_dir: git_dir.clone(),
                    git_dir,
                },
                top: Some(top.to_owned()),
                kind: Kind::Store,
            }
        }))
    }

    /// Opens the repository or the store.
    pub fn open(&self, env: &Env) -> Result<Repo, Error> {
        match self.kind {
            Kind::Repository => Repo::open(&self.location, env),
            Kind::Store => Repo::open_bare_store(&self.location.git_dir),
        }
    }

    /// Says whether this is a project outside git.
    pub fn is_store(&self) -> bool {
        self.kind == Kind::Store
    }

    /// Returns our own directory, `<git-common-dir>/operator`, which need not be there.
    pub fn operator_dir(&self) -> PathBuf {
        self.location.common_dir.join("operator")
    }

    /// Returns the top of the main checkout, of which this may be a linked worktree.
    pub fn main_top(&self) -> Option<&Path> {
        let Location {
            git_dir,
            common_dir,
            ..
        } = &self.location;
        if git_dir == common_dir {
            return self.top.as_deref();
        }
        common_dir.parent().filter(|_| common_dir.ends_with(".git"))
    }

    /// Says whether somebody set the project up: `.operator/` is at the top of this worktree or of the
    /// main checkout.
    pub fn is_started(&self) -> bool {
        let tops = [self.top.as_deref(), self.main_top()];
        tops.into_iter()
            .flatten()
            .any(|top| is_dir(&top.join(".operator")))
    }
}

/// Says whether `path` is a directory itself, no link to one.
fn is_dir(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}
