use std::{fs, io, path::Path};

use super::{Error, RefStorage, Repo, refs};
use crate::model::Oid;

/// What HEAD says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// A branch without a commit, by its full name.
    Unborn { branch: String },
    /// A branch, by its full name, and its commit.
    Branch { name: String, commit: Oid },
    /// A commit and no branch.
    Detached { commit: Oid },
}

impl Head {
    /// Returns the commit, if there is one.
    pub fn commit(&self) -> Option<Oid> {
        match self {
            Self::Unborn { .. } => None,
            Self::Branch { commit, .. } | Self::Detached { commit } => Some(*commit),
        }
    }
}

impl Repo {
    /// Reads HEAD; one that names neither a ref nor a commit is an error.
    pub fn head(&self) -> Result<Head, Error> {
        match self.ref_storage() {
            RefStorage::Files => self.head_of_files(),
            RefStorage::Commands => self.head_by_git(),
        }
    }

    fn head_of_files(&self) -> Result<Head, Error> {
        let path = self.git_dir().join("HEAD");
        let bytes = fs::read(&path).map_err(Error::read(&path))?;
        match refs::parse("HEAD", &bytes)? {
            refs::Value::Id(commit) => Ok(Head::Detached { commit }),
            refs::Value::Symbolic(name) => Ok(match self.read_ref(&name)? {
                Some(commit) => Head::Branch { name, commit },
                None => Head::Unborn { branch: name },
            }),
        }
    }

    fn head_by_git(&self) -> Result<Head, Error> {
        let finished = self.git(["symbolic-ref", "-q", "HEAD"]).read_only().run()?;
        let commit = self
            .git(["rev-parse", "-q", "--verify", "HEAD^{commit}"])
            .read_only()
            .run()?;
        let commit = match commit.code {
            0 => Some(refs::oid_of("HEAD", &commit.stdout)?),
            _ => None,
        };
        let name = String::from_utf8_lossy(&finished.stdout)
            .trim_end()
            .to_owned();
        match (finished.code, commit) {
            (0, Some(commit)) => Ok(Head::Branch { name, commit }),
            (0, None) => Ok(Head::Unborn { branch: name }),
            (_, Some(commit)) => Ok(Head::Detached { commit }),
            (_, None) => Err(finished.error()),
        }
    }
}

/// Returns the full name of the branch that `git_dir` has checked out, for `includeIf.onbranch`.
pub(crate) fn branch_name(git_dir: &Path) -> Option<String> {
    let bytes: io::Result<Vec<u8>> = fs::read(git_dir.join("HEAD"));
    match refs::parse("HEAD", &bytes.ok()?) {
        Ok(refs::Value::Symbolic(name)) => Some(name),
        Ok(refs::Value::Id(_)) | Err(_) => None,
    }
}
