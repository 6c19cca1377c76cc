use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use gix::error::ErrorExt as _;
use gix_pack::data::output;

use super::{Error, ObjectKind, Repo, config::shown, object::gix_of};
use crate::model::Oid;

/// What our `.keep` files hold, so that nobody else's is ever removed.
const MARK: &str = "git-operator\n";

/// A pack that no repack drops as long as its `.keep` lies beside it.
#[derive(Debug)]
#[must_use = "a keep that is not released stays until the next sweep"]
pub struct Kept {
    /// `None` when somebody else keeps the same pack.
    keep: Option<PathBuf>,
}

/// Where a pack came to lie.
pub(super) struct Placed {
    pub(super) keep: PathBuf,
    /// The mark is the writer's.
    own: bool,
}

impl Repo {
    /// Writes these objects as one pack, synced to the disk and marked to be kept.
    ///
    /// The pack is made from the bytes given, never from what the repository holds, so it also
    /// replaces objects that are damaged or gone.
    pub fn write_pack(&self, objects: &[(ObjectKind, &[u8])]) -> Result<Kept, Error> {
        if objects.is_empty() {
            return Ok(Kept { keep: None });
        }
        let placed = self.pack_in("pack.", objects, MARK)?;
        Ok(Kept {
            keep: placed.own.then_some(placed.keep),
        })
    }

    /// Writes a pack by way of a directory whose name begins with `prefix`: the sweep knows those of
    /// [`Self::write_pack`] only.
    pub(super) fn pack_in(
        &self,
        prefix: &str,
        objects: &[(ObjectKind, &[u8])],
        mark: &str,
    ) -> Result<Placed, Error> {
        let temp = self.operator_dir().join("tmp");
        self.make_dir(&temp)?;
        let dir = tempfile::Builder::new()
            .prefix(prefix)
            .tempdir_in(&temp)
            .map_err(Error::write(&temp))?;
        let wrong = |reason: String| Error::Pack {
            path: temp.clone(),
            reason,
        };
        let bytes = self
            .pack_bytes(objects)
            .map_err(|error| wrong(shown(&error)))?;
        let outcome = gix_pack::Bundle::write_to_directory(
            &mut bytes.as_slice(),
            Some(dir.path()),
            &mut gix::progress::Discard,
            &AtomicBool::new(false),
            None::<gix::objs::find::Never>,
            self.hash_kind().of_gix(),
            gix_pack::bundle::write::Options {
                thread_limit: Some(1),
                ..Default::default()
            },
        )
        .map_err(|error| wrong(shown(&error)))?;
        match (outcome.data_path, outcome.index_path) {
            (Some(pack), Some(index)) => self.move_pack(&pack, &index, mark),
            _ => Err(wrong("gix wrote none".to_owned())),
        }
    }

    fn pack_bytes(&self, objects: &[(ObjectKind, &[u8])]) -> gix::Result<Vec<u8>> {
        let mut entries = Vec::with_capacity(objects.len());
        let mut seen = HashSet::new();
        for (kind, data) in objects {
            let id = self.hash(*kind, data);
            if id.is_null() {
                return Err(
                    gix::error::validation("its bytes are made to collide under SHA-1").raise(),
                );
            }
            if !seen.insert(id) {
                continue;
            }
            let count = output::Count::from_data(gix_of(id), None);
            let data = gix::objs::Data {
                kind: kind.of_gix(),
                object_hash: self.hash_kind().of_gix(),
                data,
            };
            let level = gix::zlib::Compression::BEST_SPEED;
            entries.push(output::Entry::from_data(&count, &data, level)?);
        }
        let count = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        let mut writer = output::bytes::FromEntriesIter::new(
            std::iter::once(Ok(entries)),
            Vec::new(),
            count,
            gix_pack::data::Version::V2,
            self.hash_kind().of_gix(),
        );
        for written in writer.by_ref() {
            written?;
        }
        Ok(writer.into_write())
    }

    /// Moves a finished pack in: first the mark, then the data, the index last, as it makes a pack
    /// visible.
    fn move_pack(&self, pack: &Path, index: &Path, mark: &str) -> Result<Placed, Error> {
        let packs = self.common_dir().join("objects/pack");
        self.make_dir(&packs)?;
        let target = |path: &Path| packs.join(path.file_name().unwrap_or_default());
        let (new_pack, new_index) = (target(pack), target(index));
        let keep = new_pack.with_extension("keep");
        for path in [pack, index] {
            read_only(path).map_err(Error::write(path))?;
            self.share(path)?;
            sync(path)?;
        }
        let own = match File::create_new(&keep) {
            Ok(mut file) => {
                file.write_all(mark.as_bytes())
                    .and_then(|()| file.sync_all())
                    .map_err(Error::write(&keep))?;
                true
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => carries(&keep, mark),
            Err(error) => return Err(Error::write(&keep)(error)),
        };
        fs::rename(pack, &new_pack).map_err(Error::write(&new_pack))?;
        fs::rename(index, &new_index).map_err(Error::write(&new_index))?;
        sync(&packs)?;
        Ok(Placed { keep, own })
    }

    /// Removes the mark of a pack whose objects refs now reach.
    pub fn release_keep(&self, kept: Kept) -> Result<(), Error> {
        match kept.keep {
            Some(keep) => fs::remove_file(&keep).map_err(Error::write(keep)),
            None => Ok(()),
        }
    }

    /// Removes marks of ours that dead processes left, and what they left half-made; call it under
    /// the ledger's lock.
    pub fn sweep_packs(&self) -> Result<(), Error> {
        let packs = self.common_dir().join("objects/pack");
        for path in files(&packs)? {
            let is_keep = path
                .extension()
                .is_some_and(|extension| extension == "keep");
            if is_keep && carries(&path, MARK) {
                fs::remove_file(&path).map_err(Error::write(&path))?;
            }
        }
        let temp = self.operator_dir().join("tmp");
        for path in files(&temp)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with("pack.") {
                fs::remove_dir_all(&path).map_err(Error::write(&path))?;
            } else if name.starts_with("ref.") {
                fs::remove_file(&path).map_err(Error::write(&path))?;
            }
        }
        Ok(())
    }

    /// Deletes the loose copies of objects that are in a pack.
    pub fn remove_loose_copies(&self, ids: &[Oid]) -> Result<(), Error> {
        ids.iter().try_for_each(|id| self.remove_loose(*id))
    }
}

pub(super) fn carries(keep: &Path, mark: &str) -> bool {
    fs::read(keep).is_ok_and(|bytes| bytes == mark.as_bytes())
}

fn files(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::read(dir)(error)),
    };
    entries
        .map(|entry| entry.map(|entry| entry.path()).map_err(Error::read(dir)))
        .collect()
}

fn sync(path: &Path) -> Result<(), Error> {
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(Error::write(path))
}

fn read_only(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o444))
}
