//! The files of the views in a working tree.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
};

use super::{Error, View};
use crate::git::files::{FileError, Lies, Tree};

const IGNORE: &str = include_str!("../../templates/gitignore");
/// A view is never near this size; what is larger is somebody's mistake.
const LIMIT: u64 = 256 * 1024 * 1024;
/// A fragment over this size is refused, and the others are read.
const FRAGMENT_LIMIT: u64 = 8 * 1024 * 1024;
const FRAGMENTS: &str = ".operator/verdicts.d";

/// The predecessor's fragments.
#[derive(Default)]
pub(super) struct Fragments {
    /// Path and bytes of each that can be read.
    pub(super) read: Vec<(String, Vec<u8>)>,
    /// Why others cannot.
    pub(super) refused: Vec<String>,
}

/// The `.operator/` of a working tree.
pub(super) struct Files {
    top: PathBuf,
    tree: Tree,
}

impl Files {
    pub(super) fn open(top: &Path) -> Result<Self, Error> {
        Ok(Self {
            top: top.to_owned(),
            tree: Tree::open(top)?,
        })
    }

    /// Says whether the project has a place for views.
    pub(super) fn is_started(&self) -> Result<bool, Error> {
        match self.tree.lies(".operator")? {
            Lies::Directory => Ok(true),
            Lies::Nothing | Lies::File | Lies::Other => Ok(false),
            Lies::Link => Err(FileError::Link(self.top.join(".operator")).into()),
        }
    }

    /// Makes `.operator/` with its list of what is tracked, where there is none.
    pub(super) fn create(&self) -> Result<(), Error> {
        if self.tree.lies(".operator")? == Lies::Nothing {
            self.tree
                .write(".operator/.gitignore", IGNORE.as_bytes(), 0o644)?;
        }
        Ok(())
    }

    pub(super) fn read(&self, view: View) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.tree.read(&path(view), LIMIT)?)
    }

    /// Says of each line, its LF included, whether it stands in the view.
    pub(super) fn find(&self, view: View, lines: &[String]) -> Result<Vec<bool>, Error> {
        let mut found = vec![false; lines.len()];
        let Some(file) = self.tree.open_file(&path(view))? else {
            return Ok(found);
        };
        let mut reader = BufReader::with_capacity(1 << 18, file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line);
            let read = read.map_err(|source| FileError::Io {
                verb: "read",
                path: self.top.join(path(view)),
                source,
            })?;
            if read == 0 {
                return Ok(found);
            }
            for (found, wanted) in found.iter_mut().zip(lines) {
                *found |= line == wanted.as_bytes();
            }
        }
    }

    pub(super) fn write(&self, view: View, bytes: &[u8]) -> Result<(), Error> {
        Ok(self.tree.write(&path(view), bytes, 0o644)?)
    }

    pub(super) fn append(&self, view: View, bytes: &[u8]) -> Result<(), Error> {
        Ok(self.tree.append(&path(view), bytes)?)
    }

    /// Returns the predecessor's fragments that can be read, by name.
    pub(super) fn fragments(&self) -> Result<Fragments, Error> {
        let mut found = Fragments::default();
        if self.tree.lies(FRAGMENTS)? != Lies::Directory {
            if self.tree.lies(FRAGMENTS)? == Lies::Link {
                found
                    .refused
                    .push(format!("'{FRAGMENTS}' is a symbolic link"));
            }
            return Ok(found);
        }
        for name in self.tree.names(FRAGMENTS)? {
            let Some(name) = name.to_str().filter(|name| name.ends_with(".md")) else {
                continue;
            };
            let path = format!("{FRAGMENTS}/{name}");
            match self.tree.read(&path, FRAGMENT_LIMIT) {
                Ok(Some(bytes)) => found.read.push((path, bytes)),
                Ok(None) => {}
                Err(error) => found.refused.push(error.to_string()),
            }
        }
        Ok(found)
    }
}

/// Returns the path of a view below the top.
pub(super) fn path(view: View) -> String {
    format!(".operator/{}", view.file_name())
}
