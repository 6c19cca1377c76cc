use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use gix::odb::HeaderExt as _;

use super::{Error, HashKind, Repo};
use crate::model::Oid;

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    Commit,
    Tree,
    Blob,
    Tag,
}

/// An object's kind and its raw bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub kind: ObjectKind,
    pub bytes: Vec<u8>,
}

/// Whether an object just written is read back and hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    Yes,
    No,
}

/// A commit's header and message; unknown headers are kept in `raw`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    pub tree: Oid,
    pub parents: Vec<Oid>,
    /// Seconds since 1970.
    pub committer_time: i64,
    /// The whole object.
    pub raw: Vec<u8>,
    message: usize,
}

impl ObjectKind {
    pub(crate) fn of_gix(self) -> gix::objs::Kind {
        match self {
            Self::Commit => gix::objs::Kind::Commit,
            Self::Tree => gix::objs::Kind::Tree,
            Self::Blob => gix::objs::Kind::Blob,
            Self::Tag => gix::objs::Kind::Tag,
        }
    }

    fn from_gix(kind: gix::objs::Kind) -> Self {
        match kind {
            gix::objs::Kind::Commit => Self::Commit,
            gix::objs::Kind::Tree => Self::Tree,
            gix::objs::Kind::Blob => Self::Blob,
            gix::objs::Kind::Tag => Self::Tag,
        }
    }

    /// Returns git's word for the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
            Self::Blob => "blob",
            Self::Tag => "tag",
        }
    }
}

impl Commit {
    /// Reads a commit's raw bytes; `None` when they are no commit.
    pub fn parse(raw: Vec<u8>) -> Option<Self> {
        let mut tree = None;
        let mut parents = Vec::new();
        let mut committer_time = None;
        let mut at = 0;
        while let Some(end) = raw[at..].iter().position(|c| *c == b'\n') {
            let line = &raw[at..at + end];
            at += end + 1;
            if line.is_empty() {
                break;
            }
            if let Some(id) = line.strip_prefix(b"tree ") {
                tree = tree.or(oid(id));
            } else if let Some(id) = line.strip_prefix(b"parent ") {
                parents.push(oid(id)?);
            } else if let Some(who) = line.strip_prefix(b"committer ") {
                committer_time = committer_time.or(time(who));
            }
        }
        Some(Self {
            tree: tree?,
            parents,
            committer_time: committer_time.unwrap_or(0),
            raw,
            message: at,
        })
    }

    /// Returns the message's bytes, as they lie.
    pub fn message(&self) -> &[u8] {
        &self.raw[self.message..]
    }
}

fn oid(hex: &[u8]) -> Option<Oid> {
    std::str::from_utf8(hex).ok()?.parse().ok()
}

/// `Name <email> <seconds> <zone>`
fn time(who: &[u8]) -> Option<i64> {
    let after = who.iter().rposition(|c| *c == b'>')? + 1;
    let text = std::str::from_utf8(&who[after..]).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

impl HashKind {
    /// Returns the id an object has or would have; all zeros, which no object has, for bytes made to
    /// collide under SHA-1, which git refuses.
    pub fn hash(self, kind: ObjectKind, bytes: &[u8]) -> Oid {
        let kind_of = self.of_gix();
        let id = gix::objs::compute_hash(kind_of, kind.of_gix(), bytes);
        oid_of(&id.unwrap_or_else(|_| kind_of.null()))
    }
}

pub(crate) fn oid_of(id: &gix::oid) -> Oid {
    Oid::from_bytes(id.as_bytes()).expect("gix has ids of 20 and 32 bytes only")
}

pub(crate) fn gix_of(id: Oid) -> gix::ObjectId {
    gix::ObjectId::from_bytes_or_panic(id.as_bytes())
}

/// Reads an object of what `odb` knows of.
pub(super) fn find(odb: &gix::odb::Handle, id: Oid) -> Result<Object, Error> {
    let mut bytes = Vec::new();
    let found = gix::objs::Find::try_find(odb, &gix_of(id), &mut bytes);
    let kind = match found {
        Ok(Some(data)) => ObjectKind::from_gix(data.kind),
        Ok(None) => return Err(Error::MissingObject { id }),
        Err(error) => {
            return Err(Error::Object {
                id,
                reason: super::config::shown(&error),
            });
        }
    };
    Ok(Object { kind, bytes })
}

impl Repo {
    /// Returns the id an object has or would have, without writing it; see [`HashKind::hash`].
    pub fn hash(&self, kind: ObjectKind, bytes: &[u8]) -> Oid {
        self.hash_kind().hash(kind, bytes)
    }

    /// Says whether an object is there; its bytes are not looked at.
    pub fn has(&self, id: Oid) -> bool {
        if id.as_bytes().len() * 2 != self.hash_kind().hex_len() {
            return false;
        }
        let path = self.loose_path(id);
        match fs::metadata(path) {
            Ok(meta) => meta.len() > 0,
            Err(_) => self
                .odb()
                .is_ok_and(|odb| gix::objs::Exists::exists(&*odb, &gix_of(id))),
        }
    }

    /// Returns an object's kind and size without decoding it.
    pub fn header(&self, id: Oid) -> Result<(ObjectKind, u64), Error> {
        self.check_len(id)?;
        let found = self.odb()?.header(gix_of(id));
        match found {
            Ok(header) => Ok((ObjectKind::from_gix(header.kind()), header.size())),
            Err(_) => {
                let object = self.read(id)?;
                Ok((object.kind, object.bytes.len() as u64))
            }
        }
    }

    /// Reads an object; on a miss from what was laid over, then with the packs listed anew.
    pub fn read(&self, id: Oid) -> Result<Object, Error> {
        self.check_len(id)?;
        if let Ok(object) = self.read_once(id) {
            return Ok(object);
        }
        if let Some(object) = self.overlay.borrow().get(&id) {
            return Ok(object.clone());
        }
        self.reopen();
        match self.read_once(id) {
            Err(Error::MissingObject { id }) if self.is_partial() => Err(Error::Promised { id }),
            other => other,
        }
    }

    /// Says whether a clone left objects out that its remote promised to have.
    pub fn is_partial(&self) -> bool {
        let packs = fs::read_dir(self.common_dir().join("objects/pack"));
        packs.is_ok_and(|mut packs| {
            packs.any(|pack| {
                let path = pack.map(|pack| pack.path()).unwrap_or_default();
                path.extension().is_some_and(|name| name == "promisor")
            })
        })
    }

    /// Reads an object and checks that its bytes have its id.
    pub fn read_verified(&self, id: Oid) -> Result<Object, Error> {
        let object = self.read(id)?;
        match self.hash(object.kind, &object.bytes) == id {
            true => Ok(object),
            false => Err(Error::Object {
                id,
                reason: "its bytes have another id".to_owned(),
            }),
        }
    }

    /// Reads a commit.
    pub fn commit(&self, id: Oid) -> Result<Commit, Error> {
        let bytes = self.read_kind(id, ObjectKind::Commit)?;
        Commit::parse(bytes).ok_or_else(|| Error::Object {
            id,
            reason: "its header is no commit's".to_owned(),
        })
    }

    /// Reads a blob.
    pub fn blob(&self, id: Oid) -> Result<Vec<u8>, Error> {
        self.read_kind(id, ObjectKind::Blob)
    }

    pub(crate) fn read_kind(&self, id: Oid, kind: ObjectKind) -> Result<Vec<u8>, Error> {
        let object = self.read(id)?;
        match object.kind == kind {
            true => Ok(object.bytes),
            false => Err(Error::Object {
                id,
                reason: format!("it is a {}, not a {}", object.kind.as_str(), kind.as_str()),
            }),
        }
    }

    fn read_once(&self, id: Oid) -> Result<Object, Error> {
        find(&*self.odb()?, id)
    }

    fn check_len(&self, id: Oid) -> Result<(), Error> {
        match id.as_bytes().len() * 2 == self.hash_kind().hex_len() {
            true => Ok(()),
            false => Err(Error::MissingObject { id }),
        }
    }

    /// Returns the path of an object's loose file, which need not be there.
    pub fn loose_path(&self, id: Oid) -> PathBuf {
        let hex = id.to_hex();
        self.common_dir()
            .join("objects")
            .join(&hex[..2])
            .join(&hex[2..])
    }

    /// Writes an object loose, unless it is there; returns its id. Nothing is synced to the disk.
    ///
    /// An empty or damaged loose file (damage is only looked for with [`Verify::Yes`]) is replaced.
    pub fn write_object(
        &self,
        kind: ObjectKind,
        bytes: &[u8],
        verify: Verify,
    ) -> Result<Oid, Error> {
        let id = self.hash(kind, bytes);
        if id.is_null() {
            return Err(Error::Collision);
        }
        let path = self.loose_path(id);
        match fs::metadata(&path) {
            Ok(meta) if meta.len() == 0 => remove(&path)?,
            Ok(_) if verify == Verify::Yes && self.loose_is_bad(id) => remove(&path)?,
            Ok(_) => {
                freshen(&path);
                return Ok(id);
            }
            // A commit of ours is new but for a retry; packs are not searched for it.
            Err(_) if kind != ObjectKind::Commit && self.has(id) => match verify {
                Verify::Yes if self.read_verified(id).is_err() => {}
                Verify::Yes | Verify::No => return Ok(id),
            },
            Err(_) => {}
        }
        self.write_loose(&path, kind, bytes)?;
        if verify == Verify::Yes && self.loose_is_bad(id) {
            return Err(Error::Object {
                id,
                reason: "it is damaged just after it was written".to_owned(),
            });
        }
        Ok(id)
    }

    /// Deletes an object's loose file, if there is one.
    pub fn remove_loose(&self, id: Oid) -> Result<(), Error> {
        remove(&self.loose_path(id))
    }

    fn loose_is_bad(&self, id: Oid) -> bool {
        let objects = self.common_dir().join("objects");
        let store = gix::odb::loose::Store::at(objects, self.hash_kind().of_gix());
        let mut bytes = Vec::new();
        match store.try_find(&gix_of(id), &mut bytes) {
            Ok(Some(data)) => self.hash(ObjectKind::from_gix(data.kind), data.data) != id,
            Ok(None) | Err(_) => true,
        }
    }

    fn write_loose(&self, path: &Path, kind: ObjectKind, bytes: &[u8]) -> Result<(), Error> {
        let mut tries = 0;
        loop {
            match self.write_loose_once(path, kind, bytes) {
                Ok(()) => return Ok(()),
                // A prune removes empty directories between our making and using them.
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries < 20 => tries += 1,
                Err(error) => return Err(Error::write(path)(error)),
            }
        }
    }

    fn write_loose_once(&self, path: &Path, kind: ObjectKind, bytes: &[u8]) -> io::Result<()> {
        let dir = path.parent().expect("a loose object lies in a directory");
        self.make_dir_io(dir)?;
        // git prune removes what is left of these, and knows them by their name.
        let file = tempfile::Builder::new()
            .prefix("tmp_obj_")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o444))
            .tempfile_in(dir)?;
        let level = gix::zlib::Compression::BEST_SPEED;
        let mut out = gix::zlib::stream::deflate::Write::new(file, level);
        let header = gix::objs::encode::loose_header(kind.of_gix(), bytes.len() as u64);
        out.write_all(&header)?;
        out.write_all(bytes)?;
        out.flush()?;
        let file = out.into_inner();
        self.share_io(file.path())?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Makes an object young again, so that a prune that is about to remove it lets it be.
fn freshen(path: &Path) {
    if let Ok(file) = fs::File::open(path) {
        // One of another user cannot be touched; git leaves it, too.
        let _ = nix::sys::stat::futimens(
            &file,
            &nix::sys::time::TimeSpec::UTIME_NOW,
            &nix::sys::time::TimeSpec::UTIME_NOW,
        );
    }
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::write(path)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Commit;

    const TREE: &str = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n";

    #[test]
    fn a_header_in_the_message_is_no_header() {
        let text =
            format!("{TREE}author a <a> 1 +0000\ncommitter c <c> 2 +0000\n\n{TREE}parent x\n");
        let commit = Commit::parse(text.into_bytes()).unwrap();
        assert_eq!(commit.parents, []);
        assert_eq!(commit.committer_time, 2);
        assert_eq!(commit.message(), format!("{TREE}parent x\n").as_bytes());
    }

    #[test]
    fn a_signature_and_a_strange_name_do_not_confuse_it() {
        let text = format!(
            "{TREE}committer a > b <c> -5 +0000\ngpgsig x\n tree y\n \n committer z <z> 9 +0000\n\nm"
        );
        let commit = Commit::parse(text.into_bytes()).unwrap();
        assert_eq!(commit.committer_time, -5);
        assert_eq!(commit.message(), b"m");
    }

    #[test]
    fn what_is_no_commit_is_refused() {
        for text in ["", "x", "tree abc\n\n", "parent x\n\n"] {
            assert_eq!(Commit::parse(text.into()), None, "{text}");
        }
        let headless = Commit::parse(TREE.into()).unwrap();
        assert_eq!(headless.message(), b"");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Commit::parse(bytes.clone());
            let _ = Commit::parse([TREE.as_bytes(), &bytes].concat());
        }
    }
}
