//! Any kind of thing at a path of a working tree: looked at, put there, taken away, links never
//! followed.

use std::{
    ffi::{OsStr, OsString},
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
};

use nix::{
    errno::Errno,
    fcntl::{AtFlags, readlinkat},
    sys::stat::{FileStat, Mode, SFlag, fstatat},
    unistd::{UnlinkatFlags, symlinkat, unlinkat},
};

use super::files::{FileError, Lies, Missing, Tree, io};

/// What lstat says of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    pub lies: Lies,
    pub size: u64,
    pub modified_ns: i64,
    pub changed_ns: i64,
    pub inode: u64,
    /// The permission bits.
    pub mode: u32,
}

/// What is to lie at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lay<'a> {
    File {
        bytes: &'a [u8],
        executable: bool,
    },
    /// A file with exactly these permissions.
    Exact {
        bytes: &'a [u8],
        mode: u32,
    },
    /// A symbolic link with this target.
    Link(&'a [u8]),
}

impl Stat {
    /// Says whether the owner may execute it, which is all git knows of a mode.
    pub fn executable(&self) -> bool {
        self.mode & 0o100 != 0
    }
}

/// The directory that was looked into last, kept open for its other files.
#[derive(Debug, Default)]
pub struct Near(Option<(OsString, OwnedFd)>);

impl Tree {
    /// Looks at a path; `None` where nothing lies, also where a link or a file stands on the way.
    pub fn stat(&self, path: &(impl AsRef<OsStr> + ?Sized)) -> Result<Option<Stat>, FileError> {
        self.stat_near(path, &mut Near::default())
    }

    /// The same for many paths of few directories: each is looked for once.
    pub fn stat_near(
        &self,
        path: &(impl AsRef<OsStr> + ?Sized),
        near: &mut Near,
    ) -> Result<Option<Stat>, FileError> {
        let path = path.as_ref();
        let bytes = path.as_bytes();
        let (above, name) = match bytes.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => (&bytes[..slash], &bytes[slash + 1..]),
            None => (&bytes[..0], bytes),
        };
        let is_same = |(dir, _): &&(OsString, OwnedFd)| dir.as_bytes() == above;
        let known = near.0.as_ref().filter(is_same).filter(|_| !name.is_empty());
        if let Some((_, dir)) = known {
            return self.stat_in(dir, OsStr::from_bytes(name), path);
        }
        let (dir, name) = match self.parent(path, Missing::Leave) {
            Ok(Some(found)) => found,
            Ok(None) | Err(FileError::Link(_) | FileError::NotADirectory(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let stat = self.stat_in(&dir, name, path);
        near.0 = Some((OsStr::from_bytes(above).to_owned(), dir));
        stat
    }

    fn stat_in(
        &self,
        dir: &OwnedFd,
        name: &OsStr,
        path: &OsStr,
    ) -> Result<Option<Stat>, FileError> {
        match fstatat(dir, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat_of(&stat))),
            Err(Errno::ENOENT | Errno::ENAMETOOLONG) => Ok(None),
            Err(errno) => Err(io("look at", &self.whole(path), errno)),
        }
    }

    /// Returns the text of the symbolic link at `path`.
    pub fn target(&self, path: &(impl AsRef<OsStr> + ?Sized)) -> Result<Vec<u8>, FileError> {
        let path = path.as_ref();
        let Some((dir, name)) = self.parent(path, Missing::Leave)? else {
            return Err(io("read", &self.whole(path), Errno::ENOENT));
        };
        let target =
            readlinkat(&dir, name).map_err(|errno| io("read", &self.whole(path), errno))?;
        Ok(target.as_bytes().to_vec())
    }

    /// Puts something at `path` in one step, in the place of whatever lies there but a directory
    /// that is not empty; makes missing directories on the way.
    ///
    /// A file that replaces a file keeps its permissions but for the executable bits.
    pub fn lay(&self, path: &(impl AsRef<OsStr> + ?Sized), lay: Lay<'_>) -> Result<(), FileError> {
        let path = path.as_ref();
        let old = self.stat(path)?;
        if old.is_some_and(|old| old.lies == Lies::Directory) {
            self.remove_directory(path)?;
        }
        let Some((dir, name)) = self.parent(path, Missing::Create)? else {
            return Err(FileError::NotADirectory(self.whole(path)));
        };
        let whole = self.whole(path);
        match lay {
            Lay::File { bytes, executable } => {
                let kept = old.filter(|old| old.lies == Lies::File);
                let temporary = self.temporary(&dir, &whole, fresh(executable))?;
                let temporary = match kept.map(|old| permissions(old.mode, executable)) {
                    Some(bits) => temporary.allow(bits, &whole)?,
                    None => temporary,
                };
                let written = temporary.fill(&dir, name, bytes);
                written.map_err(|source| not_written(whole, source))
            }
            Lay::Exact { bytes, mode } => {
                let bits = bits(mode);
                let temporary = self.temporary(&dir, &whole, bits)?.allow(bits, &whole)?;
                let written = temporary.fill(&dir, name, bytes);
                written.map_err(|source| not_written(whole, source))
            }
            Lay::Link(target) => {
                let _ = unlinkat(&dir, name, UnlinkatFlags::NoRemoveDir);
                symlinkat(OsStr::from_bytes(target), &dir, name)
                    .map_err(|errno| io("create", &whole, errno))
            }
        }
    }

    /// Removes what lies at `path` unless it is a directory; says whether there was anything.
    pub fn unlay(&self, path: &(impl AsRef<OsStr> + ?Sized)) -> Result<bool, FileError> {
        let path = path.as_ref();
        let Some((dir, name)) = self.parent(path, Missing::Leave)? else {
            return Ok(false);
        };
        match unlinkat(&dir, name, UnlinkatFlags::NoRemoveDir) {
            Ok(()) => Ok(true),
            Err(Errno::ENOENT) => Ok(false),
            Err(errno) => Err(io("remove", &self.whole(path), errno)),
        }
    }
}

fn fresh(executable: bool) -> Mode {
    match executable {
        true => Mode::from_bits_truncate(0o777),
        false => Mode::from_bits_truncate(0o666),
    }
}

/// Who may read may execute, as git's own checkout does it.
fn permissions(old: u32, executable: bool) -> Mode {
    let bits = match executable {
        true => old | ((old & 0o444) >> 2),
        false => old & !0o111,
    };
    self::bits(bits)
}

fn bits(mode: u32) -> Mode {
    Mode::from_bits_truncate((mode & 0o777) as nix::libc::mode_t)
}

fn not_written(path: std::path::PathBuf, source: std::io::Error) -> FileError {
    FileError::Io {
        verb: "write",
        path,
        source,
    }
}

#[expect(
    clippy::unnecessary_cast,
    clippy::useless_conversion,
    reason = "the fields of stat have other types on other systems"
)]
fn stat_of(stat: &FileStat) -> Stat {
    let kind = SFlag::from_bits_truncate(stat.st_mode & SFlag::S_IFMT.bits());
    let lies = match kind {
        SFlag::S_IFREG => Lies::File,
        SFlag::S_IFDIR => Lies::Directory,
        SFlag::S_IFLNK => Lies::Link,
        _ => Lies::Other,
    };
    let ns = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
    Stat {
        lies,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified_ns: ns(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        changed_ns: ns(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        inode: stat.st_ino as u64,
        mode: u32::from(stat.st_mode) & 0o7777,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use assert_fs::{TempDir, prelude::*};

    use super::{Lay, Lies, Near, Tree};

    fn file(bytes: &[u8]) -> Lay<'_> {
        Lay::File {
            bytes,
            executable: false,
        }
    }

    #[test]
    fn a_link_is_replaced_and_what_it_points_at_is_not() {
        let dir = TempDir::new().unwrap();
        let other = TempDir::new().unwrap();
        other.child("victim").write_str("keep").unwrap();
        symlink(other.child("victim").path(), dir.child("f").path()).unwrap();
        let tree = Tree::open(dir.path()).unwrap();
        assert_eq!(tree.stat("f").unwrap().unwrap().lies, Lies::Link);
        tree.lay("f", file(b"new")).unwrap();
        dir.child("f").assert("new");
        tree.lay("f", Lay::Link(b"victim")).unwrap();
        assert_eq!(tree.target("f").unwrap(), b"victim");
        assert!(tree.unlay("f").unwrap());
        assert!(!tree.unlay("f").unwrap());
        other.child("victim").assert("keep");
    }

    #[test]
    fn nothing_lies_behind_a_link_or_a_file() {
        let dir = TempDir::new().unwrap();
        let other = TempDir::new().unwrap();
        other.child("x").write_str("keep").unwrap();
        symlink(other.path(), dir.child("dir").path()).unwrap();
        dir.child("plain").write_str("").unwrap();
        let tree = Tree::open(dir.path()).unwrap();
        assert_eq!(tree.stat("dir/x").unwrap(), None);
        assert_eq!(tree.stat("plain/x").unwrap(), None);
        assert!(tree.lay("dir/x", file(b"no")).is_err());
        assert!(tree.unlay("dir/x").is_err());
        other.child("x").assert("keep");
    }

    #[test]
    fn many_files_of_one_directory_are_looked_at_in_it() {
        let dir = TempDir::new().unwrap();
        let other = TempDir::new().unwrap();
        other.child("x").write_str("keep").unwrap();
        symlink(other.path(), dir.child("link").path()).unwrap();
        for name in ["x", "d/x", "d/y", "d/e/x", "de/x"] {
            dir.child(name).write_str(name).unwrap();
        }
        let tree = Tree::open(dir.path()).unwrap();
        let mut near = Near::default();
        for (path, size) in [
            ("d/x", Some(3)),
            ("d/y", Some(3)),
            ("d/z", None),
            ("x", Some(1)),
            ("y", None),
            ("d/e/x", Some(5)),
            ("link/x", None),
            ("x/x", None),
            ("de/x", Some(4)),
            ("none/x", None),
            ("de/x", Some(4)),
        ] {
            let stat = tree.stat_near(path, &mut near).unwrap();
            assert_eq!(stat.map(|stat| stat.size), size, "{path}");
        }
    }

    #[test]
    fn a_replaced_file_keeps_who_may_read_it() {
        let dir = TempDir::new().unwrap();
        dir.child("secret").write_str("old").unwrap();
        let path = dir.child("secret").path().to_owned();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let tree = Tree::open(dir.path()).unwrap();
        tree.lay("secret", file(b"new")).unwrap();
        assert_eq!(tree.stat("secret").unwrap().unwrap().mode, 0o600);
        let executable = Lay::File {
            bytes: b"#!/bin/sh\n",
            executable: true,
        };
        tree.lay("secret", executable).unwrap();
        let stat = tree.stat("secret").unwrap().unwrap();
        assert_eq!(stat.mode, 0o700);
        assert!(stat.executable());
        assert_eq!(stat.size, 10);
    }

    #[test]
    fn an_empty_directory_makes_way_and_a_full_one_does_not() {
        let dir = TempDir::new().unwrap();
        dir.child("empty").create_dir_all().unwrap();
        dir.child("full/x").write_str("keep").unwrap();
        let tree = Tree::open(dir.path()).unwrap();
        tree.lay("empty", file(b"a")).unwrap();
        assert!(tree.lay("full", file(b"a")).is_err());
        tree.lay("made/deep/x", file(b"a")).unwrap();
        dir.child("full/x").assert("keep");
        dir.child("made/deep/x").assert("a");
        assert_eq!(tree.names("").unwrap(), ["empty", "full", "made"]);
    }
}
