use std::path::PathBuf;

use super::{Commit, Error, HashKind, Location, ObjectKind, Repo, object, repo::open_odb};
use crate::model::Oid;

/// Where a thread finds the objects of a repository that another one has open.
pub struct Source {
    objects: PathBuf,
    location: Location,
    hash: HashKind,
}

/// A thread's own view of a repository's objects; it sees nothing that was laid over them.
pub struct Reader {
    odb: gix::odb::Handle,
}

impl Repo {
    /// Returns where its objects are found.
    pub fn source(&self) -> Source {
        Source {
            objects: self.objects.clone(),
            location: self.location.clone(),
            hash: self.hash_kind(),
        }
    }
}

impl Source {
    /// Opens the objects for one thread.
    pub fn open(&self) -> Result<Reader, Error> {
        let odb = open_odb(&self.objects, &self.location, self.hash)?;
        Ok(Reader { odb })
    }
}

impl Reader {
    /// Reads a commit; `None` when there is none that can be read.
    pub fn commit(&self, id: Oid) -> Option<Commit> {
        let object = object::find(&self.odb, id).ok()?;
        (object.kind == ObjectKind::Commit).then(|| Commit::parse(object.bytes))?
    }
}
