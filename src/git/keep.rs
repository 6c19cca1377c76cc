//! Packs that keep what nothing but one of our refs reaches, each with a mark of its own.

use std::{
    collections::{BTreeSet, HashSet},
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{Error, ObjectKind, Repo, config::shown, pack::carries};
use crate::model::Oid;

/// How many bytes one pack is made of when packs are dropped.
const GROUP: usize = 64 << 20;
/// What only packs without a mark hold.
const HANDED_OVER: &[u8] = b"git-operator: blobs that were kept, and are git's to prune\n";

/// What the `.keep` of a pack holds: which of our refs it is for. The general sweep of half-made
/// packs does not know these and leaves them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark(String);

impl Mark {
    /// Returns the mark of the packs of `owner`, which holds no white space.
    pub fn new(owner: &str) -> Self {
        Self(format!("git-operator {owner}\n"))
    }
}

impl Repo {
    /// Writes these objects as one pack that stays until [`Self::drop_packs`]; returns its name.
    ///
    /// The caller sees to it that no other mark's pack holds exactly the same objects: they would be
    /// one pack.
    pub fn keep_pack(&self, objects: &[(ObjectKind, &[u8])], mark: &Mark) -> Result<String, Error> {
        let placed = self.pack_in("keep.", objects, &mark.0)?;
        let name = placed.keep.file_stem().unwrap_or_default();
        Ok(name.to_string_lossy().into_owned())
    }

    /// Removes the packs that carry `mark`; any other, and one that is gone, is left alone.
    ///
    /// A git that finds a blob in a pack writes it nowhere else, and a repack leaves kept packs out: a
    /// commit may need what only these hold. Their blobs, but for those of `kept`, go to a pack that a
    /// repack takes apart, and are git's to prune.
    pub fn drop_packs(
        &self,
        names: &[String],
        mark: &Mark,
        kept: &HashSet<Oid>,
    ) -> Result<(), Error> {
        let packs: Vec<(&String, PathBuf)> = names
            .iter()
            .filter_map(|name| Some((name, self.marked(name, mark)?)))
            .collect();
        let mut blobs = BTreeSet::new();
        for (_, path) in &packs {
            blobs.extend(self.listed(path)?);
        }
        self.hand_over(blobs.iter().filter(|id| !kept.contains(id)))?;
        for (name, path) in packs {
            self.remove_pack(name, &path)?;
        }
        Ok(())
    }

    /// Returns the ids that the index of a pack lists; none where it has no index, and nobody sees it.
    fn listed(&self, keep: &Path) -> Result<Vec<Oid>, Error> {
        let index = keep.with_extension("idx");
        if !index.exists() {
            return Ok(Vec::new());
        }
        let file = gix_pack::index::File::at(&index, self.hash_kind().of_gix());
        let file = file.map_err(|error| Error::Invalid {
            path: index,
            reason: shown(&error),
        })?;
        Ok(file
            .iter()
            .map(|entry| super::object::oid_of(&entry.oid))
            .collect())
    }

    /// Writes blobs to packs without a mark.
    fn hand_over<'a>(&self, ids: impl Iterator<Item = &'a Oid>) -> Result<(), Error> {
        let mut group: Vec<Vec<u8>> = Vec::new();
        let mut size = 0;
        for id in ids {
            // The trees of a vault and what is gone are nobody's.
            let Ok(bytes) = self.blob(*id) else {
                continue;
            };
            if size > 0 && size + bytes.len() > GROUP {
                self.write_unmarked(&std::mem::take(&mut group))?;
                size = 0;
            }
            size += bytes.len();
            group.push(bytes);
        }
        self.write_unmarked(&group)
    }

    fn write_unmarked(&self, blobs: &[Vec<u8>]) -> Result<(), Error> {
        if blobs.is_empty() {
            return Ok(());
        }
        let blobs = blobs.iter().map(Vec::as_slice);
        // A pack is named by what it holds, and must not be one of those that go.
        let objects: Vec<(ObjectKind, &[u8])> = blobs
            .chain([HANDED_OVER])
            .map(|bytes| (ObjectKind::Blob, bytes))
            .collect();
        let written = self.write_pack(&objects)?;
        self.release_keep(written)
    }

    fn remove_pack(&self, name: &str, path: &Path) -> Result<(), Error> {
        self.forget_multi_pack_index(name)?;
        // The index goes first: without it nobody looks for the data.
        for extension in ["idx", "rev", "pack", "keep"] {
            let path = path.with_extension(extension);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::write(path)(error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Returns the names of the packs that carry `mark` and are older than `age`.
    pub fn marked_packs(&self, mark: &Mark, age: Duration) -> Result<Vec<String>, Error> {
        let dir = self.packs();
        let mut names = Vec::new();
        for entry in fs::read_dir(&dir).map_err(Error::read(&dir))?.flatten() {
            let path = entry.path();
            let is_keep = path
                .extension()
                .is_some_and(|extension| extension == "keep");
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            if is_keep && self.marked(&name, mark).is_some() && is_older(&path, age) {
                names.push(name.into_owned());
            }
        }
        Ok(names)
    }

    fn marked(&self, name: &str, mark: &Mark) -> Option<PathBuf> {
        let plain = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let path = self.packs().join(format!("{name}.keep"));
        (plain && carries(&path, &mark.0)).then_some(path)
    }

    fn packs(&self) -> PathBuf {
        self.common_dir().join("objects/pack")
    }

    /// A multi-pack-index that names a pack must not outlive it. git deletes it, too, when it removes
    /// a pack, and writes it anew when it likes.
    fn forget_multi_pack_index(&self, name: &str) -> Result<(), Error> {
        let dir = self.packs();
        let chain = dir.join("multi-pack-index.d");
        let one = dir.join("multi-pack-index");
        let named = names_pack(&one, name);
        if !named && !files_in(&chain).iter().any(|path| names_pack(path, name)) {
            return Ok(());
        }
        let mut stale = vec![one];
        stale.extend(files_in(&chain));
        let of_index = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("multi-pack-index-")
        };
        stale.extend(files_in(&dir).into_iter().filter(of_index));
        for path in stale {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::write(path)(error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }
}

fn is_older(path: &Path, age: Duration) -> bool {
    let modified = fs::metadata(path).and_then(|meta| meta.modified());
    modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|elapsed| elapsed >= age))
}

fn names_pack(index: &Path, name: &str) -> bool {
    let wanted = format!("{name}.idx");
    fs::read(index).is_ok_and(|bytes| {
        bytes
            .windows(wanted.len())
            .any(|window| window == wanted.as_bytes())
    })
}

fn files_in(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect()
}
