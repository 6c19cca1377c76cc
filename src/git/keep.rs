//! Packs that keep what nothing but one of our refs reaches, each with a mark of its own.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{Error, ObjectKind, Repo, pack::carries};
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

/// Blobs on their way to a pack without a mark.
#[derive(Default)]
struct Group {
    blobs: Vec<Vec<u8>>,
    size: usize,
    /// Those and what was written before.
    seen: HashSet<Oid>,
}

/// What became of the blobs of a pack.
enum Handed {
    All,
    /// The pack is damaged.
    Unreadable,
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
    /// repack takes apart, and are git's to prune. A pack that is damaged is not removed, and only loses its mark.
    pub fn drop_packs(
        &self,
        names: &[String],
        mark: &Mark,
        kept: &HashSet<Oid>,
    ) -> Result<(), Error> {
        let mut group = Group::default();
        let mut done = Vec::new();
        for name in names {
            let Some(keep) = self.marked(name, mark) else {
                continue;
            };
            match self.hand_over(&keep, kept, &mut group)? {
                Handed::All => done.push((name, keep)),
                // Without its mark it is a pack like any other, for git to complain of.
                Handed::Unreadable => fs::remove_file(&keep).map_err(Error::write(keep))?,
            }
        }
        self.write_unmarked(&mut group)?;
        for (name, path) in done {
            self.remove_pack(name, &path)?;
        }
        Ok(())
    }

    /// Adds the blobs of a pack to `group`, and writes it where it is full.
    fn hand_over(
        &self,
        keep: &Path,
        kept: &HashSet<Oid>,
        group: &mut Group,
    ) -> Result<Handed, Error> {
        let index = keep.with_extension("idx");
        if !index.exists() {
            // Nobody sees what is in it.
            return Ok(Handed::All);
        }
        let Ok(file) = gix_pack::index::File::at(&index, self.hash_kind().of_gix()) else {
            return Ok(Handed::Unreadable);
        };
        for entry in file.iter() {
            let id = super::object::oid_of(&entry.oid);
            if kept.contains(&id) || group.seen.contains(&id) {
                continue;
            }
            let bytes = match self.header(id) {
                Ok((ObjectKind::Blob, _)) => self.blob(id),
                // Its trees are the mark's own.
                Ok(_) => continue,
                Err(error) => Err(error),
            };
            let Ok(bytes) = bytes else {
                return Ok(Handed::Unreadable);
            };
            if group.size > 0 && group.size + bytes.len() > GROUP {
                self.write_unmarked(group)?;
            }
            group.size += bytes.len();
            group.seen.insert(id);
            group.blobs.push(bytes);
        }
        Ok(Handed::All)
    }

    fn write_unmarked(&self, group: &mut Group) -> Result<(), Error> {
        if group.blobs.is_empty() {
            return Ok(());
        }
        group.size = 0;
        let blobs = std::mem::take(&mut group.blobs);
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
