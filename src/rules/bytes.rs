//! What a file holds, as far as policies may ask.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _},
    path::Path,
};

use crate::{
    git::files::{FileError, Tree},
    policy::derive::{self, Content},
};

/// The largest file that is read whole.
const READ_LIMIT: u64 = 16 << 20;
/// How much is read of a larger one; expressions see no more.
const BEGIN: u64 = 1 << 20;
/// How much of a larger one is gone through to count its lines: what comes after is not counted.
const COUNT_LIMIT: u64 = 1 << 30;

/// The bytes of a file, where they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bytes {
    Known(Vec<u8>),
    /// The file is too large to be read whole.
    Large {
        begin: Vec<u8>,
        bytes: u64,
        lines: u64,
    },
    Absent,
    Unknown,
}

impl Bytes {
    pub(super) fn content(&self) -> Content<'_> {
        match self {
            Self::Known(bytes) => Content::Known(bytes),
            Self::Large {
                begin,
                bytes,
                lines,
            } => Content::Large {
                begin,
                bytes: *bytes,
                lines: *lines,
            },
            Self::Absent => Content::Absent,
            Self::Unknown => Content::Unknown,
        }
    }
}

/// Returns the bytes of a file below the top; links are not followed.
pub fn bytes(top: &Path, path: &str) -> Bytes {
    match Tree::open(top) {
        Ok(tree) => at(&tree, path),
        Err(_) => Bytes::Unknown,
    }
}

/// Returns the bytes of a file in a tree that is open.
pub(super) fn at(tree: &Tree, path: &(impl AsRef<std::ffi::OsStr> + ?Sized)) -> Bytes {
    match tree.open_file(path) {
        Ok(Some(file)) => read(file).unwrap_or(Bytes::Unknown),
        Ok(None) => Bytes::Absent,
        Err(FileError::Link(_) | FileError::NotADirectory(_) | FileError::NotAFile(_))
        | Err(FileError::TooLarge(..) | FileError::Io { .. }) => Bytes::Unknown,
    }
}

fn read(mut file: File) -> io::Result<Bytes> {
    let size = file.metadata()?.len();
    let mut begin = Vec::new();
    let limit = if size > READ_LIMIT { BEGIN } else { READ_LIMIT };
    file.by_ref().take(limit).read_to_end(&mut begin)?;
    if size <= READ_LIMIT {
        return Ok(Bytes::Known(begin));
    }
    let lines = match derive::is_binary(&begin) {
        true => 0,
        false => lines(&mut file)?,
    };
    Ok(Bytes::Large {
        begin,
        bytes: size,
        lines,
    })
}

/// Counts the lines of a file without holding it.
fn lines(file: &mut File) -> io::Result<u64> {
    file.rewind()?;
    let mut rest = file.take(COUNT_LIMIT);
    let mut part = vec![0; 256 << 10];
    let (mut lines, mut last) = (0, b'\n');
    loop {
        let length = rest.read(&mut part)?;
        let Some(end) = part[..length].last() else {
            return Ok(lines + u64::from(last != b'\n'));
        };
        last = *end;
        lines += derive::line_ends(&part[..length]);
    }
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, Bytes, bytes};

    #[test]
    fn a_file_is_known_absent_or_not_known() {
        let dir = assert_fs::TempDir::new().unwrap();
        std::fs::write(dir.path().join("a"), "x").unwrap();
        assert_eq!(bytes(dir.path(), "a"), Bytes::Known(b"x".to_vec()));
        assert_eq!(bytes(dir.path(), "b"), Bytes::Absent);
        assert_eq!(bytes(dir.path(), "."), Bytes::Unknown);
    }

    #[test]
    fn a_large_file_is_counted_and_its_beginning_is_known() {
        let dir = assert_fs::TempDir::new().unwrap();
        let text = "a line\n".repeat(3_000_000) + "x";
        std::fs::write(dir.path().join("a"), &text).unwrap();
        let expected = Bytes::Large {
            begin: text.as_bytes()[..usize::try_from(BEGIN).unwrap()].to_vec(),
            bytes: text.len() as u64,
            lines: 3_000_001,
        };
        assert!(bytes(dir.path(), "a") == expected);
    }
}
