//! What the index says of a file beyond its content.

use std::os::unix::ffi::OsStrExt;

use gix::index::entry::Flags;

use super::{Error, Repo, Until};
use crate::model::RepoPath;

/// What the index keeps git from looking at.
#[derive(Debug, Default)]
pub(crate) struct Hidden {
    /// Files whose edits assume-unchanged or skip-worktree hide.
    pub(crate) edits: Vec<RepoPath>,
    /// Some tracked files are left out of the working tree.
    pub(crate) sparse: bool,
}

impl Repo {
    pub(crate) fn index(&self) -> Result<Option<gix::index::File>, Error> {
        let path = self.git_dir().join("index");
        if !path.exists() {
            return Ok(None);
        }
        let options = gix::index::decode::Options {
            thread_limit: Some(1),
            ..Default::default()
        };
        let file = gix::index::File::at(&path, self.hash_kind().of_gix(), true, options);
        file.map(Some).map_err(|error| Error::Invalid {
            path,
            reason: super::config::shown(&error),
        })
    }

    pub(crate) fn hidden(&self) -> Result<Hidden, Error> {
        let mut hidden = Hidden::default();
        let (Some(index), Some(top)) = (self.index()?, self.top()) else {
            return Ok(hidden);
        };
        let flags = Flags::ASSUME_VALID | Flags::SKIP_WORKTREE;
        for entry in index.entries() {
            if !entry.flags.intersects(flags) {
                continue;
            }
            let path = entry.path(&index);
            let there = top
                .join(std::ffi::OsStr::from_bytes(path))
                .symlink_metadata()
                .is_ok();
            let skipped = entry.flags.contains(Flags::SKIP_WORKTREE);
            if skipped && !there {
                hidden.sparse = true;
            } else if !entry.mode.is_sparse() {
                hidden.edits.push(RepoPath::new(path.to_vec()));
            }
        }
        Ok(hidden)
    }

    /// Says whether a file's bytes differ from the blob it stands for, as end-of-line conversion and
    /// filters make them; sizes are compared, and only where attributes or settings ask for either.
    pub fn has_filtered(&self, until: Until) -> Result<bool, Error> {
        let Some(index) = self.index()? else {
            return Ok(false);
        };
        if !self.converts(&index)? {
            return Ok(false);
        }
        for (count, entry) in index.entries().iter().enumerate() {
            if count % 256 == 0 && until.is_over() {
                break;
            }
            if !entry.mode.contains(gix::index::entry::Mode::FILE) || entry.stat.size == 0 {
                continue;
            }
            let id = super::object::oid_of(&entry.id);
            let size = self.header(id).map(|(_, size)| size);
            // The index keeps the low 32 bits.
            if size.is_ok_and(|size| size as u32 != entry.stat.size) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn converts(&self, index: &gix::index::File) -> Result<bool, Error> {
        let config = self.config()?;
        let asks = |text: &[u8]| {
            let text = String::from_utf8_lossy(text);
            ["text", "eol", "crlf", "filter", "ident", "encoding"]
                .iter()
                .any(|word| text.contains(word))
        };
        let auto = config.text("core.autocrlf");
        if auto.is_some_and(|value| !value.eq_ignore_ascii_case("false")) {
            return Ok(true);
        }
        let named = config.text("core.attributesFile");
        let files = [
            Some(self.common_dir().join("info/attributes")),
            named.map(std::path::PathBuf::from),
        ];
        let mut files: Vec<_> = files.into_iter().flatten().collect();
        if let Some(top) = self.top() {
            files.push(top.join(".gitattributes"));
            let paths = index.entries().iter().map(|entry| entry.path(index));
            let nested = paths.filter(|path| {
                path.ends_with(b"/.gitattributes") && !path.starts_with(b".operator/")
            });
            files.extend(nested.map(|path| top.join(std::ffi::OsStr::from_bytes(path))));
        }
        Ok(files
            .into_iter()
            .any(|file| std::fs::read(file).is_ok_and(|text| asks(&text))))
    }
}
