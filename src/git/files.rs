//! Files of a working tree, reached component by component without following links.
//!
//! A link below `top` is refused and named, so that nothing a checkout plants there leads a write or a
//! read out of the tree.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{Read as _, Write as _},
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::ffi::OsStrExt as _,
    },
    path::{Path, PathBuf},
};

use nix::{
    dir::Dir,
    errno::Errno,
    fcntl::{AtFlags, OFlag, open, openat, renameat},
    sys::stat::{Mode, SFlag, fchmod, fstatat, mkdirat},
    unistd::{UnlinkatFlags, unlinkat},
};
use thiserror::Error;

/// A file under a working tree cannot be reached.
#[derive(Debug, Error)]
pub enum FileError {
    #[error("'{0}' is a symbolic link, and nothing under it is read or written")]
    Link(PathBuf),
    #[error("'{0}' is not a directory")]
    NotADirectory(PathBuf),
    #[error("'{0}' is not a regular file")]
    NotAFile(PathBuf),
    #[error("'{0}' is larger than {1} bytes")]
    TooLarge(PathBuf, u64),
    #[error("cannot {verb} '{path}': {source}")]
    Io {
        verb: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
}

/// A directory of a working tree, opened without following links below its top.
#[derive(Debug)]
pub struct Tree {
    top: PathBuf,
    fd: OwnedFd,
}

/// What lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lies {
    Nothing,
    File,
    Directory,
    Link,
    Other,
}

const DIRECTORY: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_DIRECTORY)
    .union(OFlag::O_CLOEXEC);

impl Tree {
    /// Opens the top; the way to it may lead through links.
    pub fn open(top: &Path) -> Result<Self, FileError> {
        let fd = open(top, DIRECTORY, Mode::empty()).map_err(|errno| io("open", top, errno))?;
        Ok(Self {
            top: top.to_owned(),
            fd,
        })
    }

    /// Says what lies at `path`, which is relative to the top; an error where a component on the way
    /// is a link.
    pub fn lies(&self, path: &(impl AsRef<OsStr> + ?Sized)) -> Result<Lies, FileError> {
        let path = path.as_ref();
        let Some((dir, name)) = self.parent(path, Missing::Leave)? else {
            return Ok(Lies::Nothing);
        };
        self.lies_at(&dir, name, path)
    }

    fn lies_at(&self, dir: &OwnedFd, name: &OsStr, path: &OsStr) -> Result<Lies, FileError> {
        let stat = match fstatat(dir, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::ENOENT) => return Ok(Lies::Nothing),
            Err(errno) => return Err(io("look at", &self.top.join(path), errno)),
        };
        let kind = SFlag::from_bits_truncate(stat.st_mode & SFlag::S_IFMT.bits());
        Ok(match kind {
            SFlag::S_IFREG => Lies::File,
            SFlag::S_IFDIR => Lies::Directory,
            SFlag::S_IFLNK => Lies::Link,
            _ => Lies::Other,
        })
    }

    /// Returns the bytes of the regular file at `path`, at most `limit`; `None` where there is none.
    pub fn read(
        &self,
        path: &(impl AsRef<OsStr> + ?Sized),
        limit: u64,
    ) -> Result<Option<Vec<u8>>, FileError> {
        let Some(file) = self.open_file(path)? else {
            return Ok(None);
        };
        let whole = self.top.join(path.as_ref());
        let mut bytes = Vec::new();
        let failed = |source| FileError::Io {
            verb: "read",
            path: whole.clone(),
            source,
        };
        file.take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        if bytes.len() as u64 > limit {
            return Err(FileError::TooLarge(whole, limit));
        }
        Ok(Some(bytes))
    }

    /// Opens the regular file at `path` to be read; `None` where there is none.
    pub fn open_file(
        &self,
        path: &(impl AsRef<OsStr> + ?Sized),
    ) -> Result<Option<File>, FileError> {
        let path = path.as_ref();
        let Some((dir, name)) = self.parent(path, Missing::Leave)? else {
            return Ok(None);
        };
        let whole = self.top.join(path);
        match self.lies_at(&dir, name, path)? {
            Lies::Nothing => return Ok(None),
            Lies::Link => return Err(FileError::Link(whole)),
            Lies::Directory | Lies::Other => return Err(FileError::NotAFile(whole)),
            Lies::File => {}
        }
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let fd =
            openat(&dir, name, flags, Mode::empty()).map_err(|errno| io("open", &whole, errno))?;
        Ok(Some(File::from(fd)))
    }

    /// Replaces or creates the file at `path` in one step, making missing directories on the way.
    pub fn write(
        &self,
        path: &(impl AsRef<OsStr> + ?Sized),
        bytes: &[u8],
        mode: u32,
    ) -> Result<(), FileError> {
        let path = path.as_ref();
        let whole = self.top.join(path);
        let Some((dir, name)) = self.parent(path, Missing::Create)? else {
            return Err(FileError::NotADirectory(whole));
        };
        match self.lies_at(&dir, name, path)? {
            Lies::Link => return Err(FileError::Link(whole)),
            Lies::Directory | Lies::Other => return Err(FileError::NotAFile(whole)),
            Lies::Nothing | Lies::File => {}
        }
        let bits = Mode::from_bits_truncate(mode as nix::libc::mode_t);
        let temporary = self.temporary(&dir, &whole, bits)?.allow(bits, &whole)?;
        temporary
            .fill(&dir, name, bytes)
            .map_err(|source| FileError::Io {
                verb: "write",
                path: whole,
                source,
            })
    }

    pub(super) fn temporary(
        &self,
        dir: &OwnedFd,
        whole: &Path,
        bits: Mode,
    ) -> Result<Temporary, FileError> {
        let name = format!(".git-operator.{}.new", std::process::id());
        let _ = unlinkat(dir, name.as_str(), UnlinkatFlags::NoRemoveDir);
        let flags =
            OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let fd =
            openat(dir, name.as_str(), flags, bits).map_err(|errno| io("create", whole, errno))?;
        Ok(Temporary { name, fd })
    }

    /// Appends to the regular file at `path`.
    pub fn append(
        &self,
        path: &(impl AsRef<OsStr> + ?Sized),
        bytes: &[u8],
    ) -> Result<(), FileError> {
        let path = path.as_ref();
        let whole = self.top.join(path);
        let Some((dir, name)) = self.parent(path, Missing::Leave)? else {
            return Err(FileError::NotAFile(whole));
        };
        let flags = OFlag::O_WRONLY | OFlag::O_APPEND | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let fd = openat(&dir, name, flags, Mode::empty()).map_err(|errno| match errno {
            Errno::ELOOP => FileError::Link(whole.clone()),
            errno => io("open", &whole, errno),
        })?;
        let failed = |source| FileError::Io {
            verb: "append to",
            path: whole.clone(),
            source,
        };
        File::from(fd).write_all(bytes).map_err(failed)
    }

    /// Removes the regular file at `path`; says whether there was one.
    pub fn remove(&self, path: &(impl AsRef<OsStr> + ?Sized)) -> Result<bool, FileError> {
        let path = path.as_ref();
        let Some((dir, name)) = self.parent(path, Missing::Leave)? else {
            return Ok(false);
        };
        match self.lies_at(&dir, name, path)? {
            Lies::File => {}
            Lies::Nothing => return Ok(false),
            Lies::Link => return Err(FileError::Link(self.top.join(path))),
            Lies::Directory | Lies::Other => return Err(FileError::NotAFile(self.top.join(path))),
        }
        unlinkat(&dir, name, UnlinkatFlags::NoRemoveDir)
            .map(|()| true)
            .map_err(|errno| io("remove", &self.top.join(path), errno))
    }

    /// Removes the directory at `path` if it is empty; says whether it is gone.
    pub fn remove_directory(&self, path: &(impl AsRef<OsStr> + ?Sized)) -> Result<bool, FileError> {
        let path = path.as_ref();
        let Some((dir, name)) = self.parent(path, Missing::Leave)? else {
            return Ok(true);
        };
        match unlinkat(&dir, name, UnlinkatFlags::RemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => Ok(true),
            Err(Errno::ENOTEMPTY | Errno::EEXIST) => Ok(false),
            Err(errno) => Err(io("remove", &self.top.join(path), errno)),
        }
    }

    /// Makes the directory at `path` and those on the way.
    pub fn make_directory(&self, path: &(impl AsRef<OsStr> + ?Sized)) -> Result<(), FileError> {
        let path = path.as_ref();
        self.parent(&inside(path), Missing::Create).map(|_| ())
    }

    /// Opens the directory at `path` as a tree of its own; `None` where there is none.
    pub fn below(&self, path: &(impl AsRef<OsStr> + ?Sized)) -> Result<Option<Self>, FileError> {
        let path = path.as_ref();
        let inside = inside(path);
        let found = self.parent(&inside, Missing::Leave)?;
        Ok(found.map(|(fd, _)| Self {
            top: self.top.join(path),
            fd,
        }))
    }

    /// Returns the names in the directory at `path`, sorted; none where it is not there.
    pub fn names(&self, path: &(impl AsRef<OsStr> + ?Sized)) -> Result<Vec<OsString>, FileError> {
        let path = path.as_ref();
        let whole = self.top.join(path);
        let Some((fd, _)) = self.parent(&inside(path), Missing::Leave)? else {
            return Ok(Vec::new());
        };
        let mut dir = Dir::from_fd(fd).map_err(|errno| io("list", &whole, errno))?;
        let mut names = Vec::new();
        for entry in dir.iter() {
            let entry = entry.map_err(|errno| io("list", &whole, errno))?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    pub(super) fn whole(&self, path: &OsStr) -> PathBuf {
        self.top.join(path)
    }

    /// Returns the opened directory that holds the last component of `path`, and that component.
    pub(super) fn parent<'p>(
        &self,
        path: &'p OsStr,
        missing: Missing,
    ) -> Result<Option<(OwnedFd, &'p OsStr)>, FileError> {
        let mut at = self.fd.try_clone().map_err(|source| FileError::Io {
            verb: "open",
            path: self.top.clone(),
            source,
        })?;
        let mut done = self.top.clone();
        let parts = path.as_bytes().split(|byte| *byte == b'/');
        let parts = parts.filter(|part| !part.is_empty()).map(OsStr::from_bytes);
        let mut parts = parts.peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return Ok(Some((at, part)));
            }
            done.push(part);
            at = match open_dir(&at, part) {
                Ok(fd) => fd,
                Err(Errno::ENOENT) => match missing {
                    Missing::Leave => return Ok(None),
                    Missing::Create => {
                        make_dir(&at, part).map_err(|errno| io("create", &done, errno))?
                    }
                },
                Err(Errno::ELOOP) => return Err(FileError::Link(done)),
                Err(Errno::ENOTDIR) => return Err(self.not_a_directory(&at, part, done)),
                Err(errno) => return Err(io("open", &done, errno)),
            };
        }
        Ok(None)
    }

    fn not_a_directory(&self, at: &OwnedFd, part: &OsStr, done: PathBuf) -> FileError {
        match self.lies_at(at, part, part) {
            Ok(Lies::Link) => FileError::Link(done),
            _ => FileError::NotADirectory(done),
        }
    }
}

/// A new file beside the one it will replace.
pub(super) struct Temporary {
    name: String,
    fd: OwnedFd,
}

impl Temporary {
    pub(super) fn allow(self, bits: Mode, whole: &Path) -> Result<Self, FileError> {
        fchmod(self.fd.as_fd(), bits).map_err(|errno| io("write", whole, errno))?;
        Ok(self)
    }

    /// Writes the bytes and moves the file to `name`; nothing is left of it on an error.
    pub(super) fn fill(self, dir: &OwnedFd, name: &OsStr, bytes: &[u8]) -> std::io::Result<()> {
        let written = File::from(self.fd).write_all(bytes);
        let moved = written.and_then(|()| {
            renameat(dir, self.name.as_str(), dir, name).map_err(std::io::Error::from)
        });
        moved.inspect_err(|_| {
            let _ = unlinkat(dir, self.name.as_str(), UnlinkatFlags::NoRemoveDir);
        })
    }
}

#[derive(Clone, Copy)]
pub(super) enum Missing {
    Leave,
    Create,
}

fn open_dir(at: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    openat(at, name, DIRECTORY | OFlag::O_NOFOLLOW, Mode::empty())
}

fn make_dir(at: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    match mkdirat(at, name, Mode::from_bits_truncate(0o777)) {
        Ok(()) | Err(Errno::EEXIST) => open_dir(at, name),
        Err(errno) => Err(errno),
    }
}

/// Returns a path in the directory `path`.
fn inside(path: &OsStr) -> OsString {
    let mut inside = path.to_owned();
    inside.push("/x");
    inside
}

pub(super) fn io(verb: &'static str, path: &Path, errno: Errno) -> FileError {
    FileError::Io {
        verb,
        path: path.to_owned(),
        source: errno.into(),
    }
}

#[cfg(test)]
mod tests {
    use assert_fs::{TempDir, prelude::*};

    use super::{FileError, Lies, Tree};

    #[test]
    fn files_are_written_whole_and_read_back() {
        let dir = TempDir::new().unwrap();
        let tree = Tree::open(dir.path()).unwrap();
        tree.write(".operator/bin/x.sh", b"one", 0o755).unwrap();
        tree.write(".operator/bin/x.sh", b"two", 0o755).unwrap();
        tree.append(".operator/bin/x.sh", b"!").unwrap();
        assert_eq!(
            tree.read(".operator/bin/x.sh", 10).unwrap().as_deref(),
            Some(&b"two!"[..])
        );
        assert_eq!(tree.read(".operator/none/y", 10).unwrap(), None);
        assert!(matches!(
            tree.read(".operator/bin/x.sh", 2),
            Err(FileError::TooLarge(_, 2))
        ));
        assert_eq!(tree.names(".operator/bin").unwrap(), ["x.sh"]);
        assert!(tree.remove(".operator/bin/x.sh").unwrap());
        assert!(!tree.remove(".operator/bin/x.sh").unwrap());
        assert!(tree.remove_directory(".operator/bin").unwrap());
    }

    #[test]
    fn links_are_refused_wherever_they_stand() {
        let dir = TempDir::new().unwrap();
        let other = TempDir::new().unwrap();
        other.child("victim").write_str("keep").unwrap();
        std::os::unix::fs::symlink(other.path(), dir.child("link").path()).unwrap();
        std::os::unix::fs::symlink(other.child("victim").path(), dir.child("file").path()).unwrap();
        let tree = Tree::open(dir.path()).unwrap();
        assert!(matches!(
            tree.write("link/victim", b"x", 0o644),
            Err(FileError::Link(_))
        ));
        assert!(matches!(
            tree.read("link/victim", 9),
            Err(FileError::Link(_))
        ));
        assert!(matches!(
            tree.write("file", b"x", 0o644),
            Err(FileError::Link(_))
        ));
        assert!(matches!(tree.append("file", b"x"), Err(FileError::Link(_))));
        assert!(matches!(tree.remove("file"), Err(FileError::Link(_))));
        assert_eq!(tree.lies("file").unwrap(), Lies::Link);
        other.child("victim").assert("keep");
    }

    #[test]
    fn a_directory_in_the_place_of_a_file_is_named() {
        let dir = TempDir::new().unwrap();
        dir.child(".operator/VERDICTS.md").create_dir_all().unwrap();
        let tree = Tree::open(dir.path()).unwrap();
        let error = tree
            .write(".operator/VERDICTS.md", b"x", 0o644)
            .unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("VERDICTS.md' is not a regular file"),
            "{error}"
        );
    }
}
