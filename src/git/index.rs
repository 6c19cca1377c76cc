//! What the index says of a file beyond its content.

use std::{os::unix::ffi::OsStrExt, path::PathBuf};

use gix::{bstr::ByteSlice as _, index::entry::Flags};

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
    /// filters make them; sizes are compared, and only where attributes or settings ask for either. A
    /// file that a configured filter is asked for differs whatever its size.
    pub fn has_filtered(&self, until: Until) -> Result<bool, Error> {
        let Some(index) = self.index()? else {
            return Ok(false);
        };
        let attributes = self.attributes(&index)?;
        if !self.converts(&attributes)? {
            return Ok(false);
        }
        if self.is_filtered(&attributes)? {
            return Ok(true);
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

    fn converts(&self, attributes: &[Vec<u8>]) -> Result<bool, Error> {
        let auto = self.config()?.text("core.autocrlf");
        let words: [&[u8]; 6] = [b"text", b"eol", b"crlf", b"filter", b"ident", b"encoding"];
        let asks = |text: &Vec<u8>| words.iter().any(|word| text.find(word).is_some());
        Ok(
            auto.is_some_and(|value| !value.eq_ignore_ascii_case("false"))
                || attributes.iter().any(asks),
        )
    }

    /// Says whether a file in the index has a filter that runs a program here.
    fn is_filtered(&self, attributes: &[Vec<u8>]) -> Result<bool, Error> {
        let config = self.config()?;
        let runs = |name: &String| {
            let key = |what: &str| config.text(&format!("filter.{name}.{what}"));
            key("clean").or(key("process")).is_some()
        };
        let named = |name: &String| {
            let asked = format!("filter={name}");
            attributes.iter().any(|text| text.find(&asked).is_some())
        };
        let names = config.subsections("filter");
        let filters: Vec<String> = names.into_iter().filter(named).filter(runs).collect();
        if filters.is_empty() {
            return Ok(false);
        }
        let paths = filters
            .iter()
            .map(|name| format!(":(top,attr:filter={name})"));
        let found = self
            .git(["ls-files", "-z", "--"])
            .args(paths)
            .read_only()
            .output()?;
        Ok(!found.is_empty())
    }

    /// Returns what the files say that give attributes to paths (gitattributes(5)), those of the
    /// working tree as they lie there.
    fn attributes(&self, index: &gix::index::File) -> Result<Vec<Vec<u8>>, Error> {
        let env = self.env();
        let named = self.config()?.text("core.attributesFile");
        let users = match (named, env.path("XDG_CONFIG_HOME"), env.home()) {
            (Some(named), _, home) => Some(match (named.strip_prefix("~/"), home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => PathBuf::from(named),
            }),
            (None, Some(dir), _) => Some(dir.join("git/attributes")),
            (None, None, home) => home.map(|home| home.join(".config/git/attributes")),
        };
        let systems = PathBuf::from("/etc/gitattributes");
        let mut files = vec![self.common_dir().join("info/attributes")];
        files.extend(users);
        files.extend((!env.flag("GIT_ATTR_NOSYSTEM")).then_some(systems));
        if let Some(top) = self.top() {
            files.push(top.join(".gitattributes"));
            let paths = index.entries().iter().map(|entry| entry.path(index));
            let nested = paths.filter(|path| {
                path.ends_with(b"/.gitattributes") && !path.starts_with(b".operator/")
            });
            files.extend(nested.map(|path| top.join(std::ffi::OsStr::from_bytes(path))));
        }
        let texts = files
            .into_iter()
            .filter_map(|file| std::fs::read(file).ok());
        Ok(texts.collect())
    }
}
